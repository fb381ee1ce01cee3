/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What the source "cuda" does while streams are captured, and fences of graphs. */
#include "config.h"

#include "cuda/rig.h"

/* --- captures --------------------------------------------------------------------- */

/* Ends well, as a capture that nobody spoilt. */
static void end_capture(CUstream stream)
{
    CUgraphExec executable;
    CUgraph graph;

    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.GraphLaunch(executable, NULL));
    CU(cu.GraphExecDestroy(executable));
    CU(cu.GraphDestroy(graph));
}

static CUstream begin_capture(int mode)
{
    CUstream stream = rig_stream();

    CU(cu.StreamBeginCapture(stream, rig_modes[mode]));
    CU(cu.MemsetD8Async(rig_info().base, 7, 64, stream));
    return stream;
}

START_TEST(memory_grows_and_goes_during_a_capture_that_stays_good)
{
    CUstream idle = rig_stream();
    CUstream captured = begin_capture(_i);
    const struct ashlar_fence fence = rig_fence(idle);

    rig_use(idle);
    OK(rig_grow(12));
    OK(ashlar_range_prepare(rig.range, 14 * GRANULE, ASHLAR_RANGE_MAPPED));
    OK(ashlar_range_decommit(rig.range, 8 * GRANULE, GRANULE, &fence, 1, NULL));
    ck_assert_int_eq(ashlar_source_drain(rig.source, 0), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(sim.finish(idle), 0);
    OK(ashlar_source_drain(rig.source, 0));
    OK(ashlar_range_commit(rig.range, 8 * GRANULE, GRANULE, NULL));
    end_capture(captured);
}
END_TEST

START_TEST(a_range_is_destroyed_during_a_capture_that_stays_good)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range;
    CUstream captured = begin_capture(_i);
    const struct ashlar_fence fence = rig_fence((CUstream)CU_STREAM_PER_THREAD);

    options.reserve_bytes = 4 * GRANULE;
    OK(ashlar_range_create(rig.source, &options, &range));
    OK(ashlar_range_grow_to(range, 4 * GRANULE, NULL));
    OK(ashlar_range_destroy(range, &fence, 1));
    OK(ashlar_source_drain(rig.source, 0));
    end_capture(captured);
}
END_TEST

START_TEST(a_stream_that_is_captured_is_refused_with_nothing_recorded)
{
    CUstream captured = begin_capture(_i);
    const struct ashlar_fence fence = rig_fence(captured);

    sim.count_none();
    REFUSED(ASHLAR_ERR_CAPTURE, "ASHLAR_FENCE_CAPTURE", rig_shrink(&fence));
    ck_assert_uint_eq(sim.calls("cuEventRecord"), 0);
    ck_assert_uint_eq(rig_info().used_bytes, 8 * GRANULE);
    end_capture(captured);
    OK(rig_shrink(&fence));
    rig_goes();
}
END_TEST

/* The legacy stream waits for those that are made to heed it. */
START_TEST(the_default_stream_is_refused_while_one_that_heeds_it_is_captured)
{
    const struct ashlar_fence fence = rig_fence(NULL);
    CUstream stream;

    CU(cu.StreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(stream, rig_modes[_i]));
    CU(cu.MemsetD8Async(rig_info().base, 7, 64, stream));
    sim.count_none();
    REFUSED(ASHLAR_ERR_CAPTURE, "waits for one that is being captured",
            rig_shrink(&fence));
    ck_assert_uint_eq(sim.calls("cuEventRecord"), 0);
    end_capture(stream);
}
END_TEST

START_TEST(the_threads_mode_of_capture_is_as_it_was)
{
    static const char *const entries[] = {"cuStreamGetCtx", "cuEventRecord",
                                          "cuEventCreate", "cuCtxPushCurrent"};
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);
    CUstream captured;
    CUevent event;
    unsigned i;

    CU(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        ck_assert_int_eq(sim.inject(entries[i], 1, CUDA_ERROR_UNKNOWN, 0), 0);
        (void)rig_shrink(&fence);
        sim.inject_none();
    }
    OK(rig_shrink(&fence));
    /* Still the global mode: a bare query spoils a capture. */
    captured = begin_capture(0);
    ck_assert_int_ne(cu.EventQuery(event), CUDA_SUCCESS);
    {
        CUgraph graph = NULL;

        ck_assert_int_ne(cu.StreamEndCapture(captured, &graph), CUDA_SUCCESS);
    }
    CU(cu.EventDestroy(event));
}
END_TEST

/* --- graphs ----------------------------------------------------------------------- */

static struct ashlar_fence fence_of_kind(enum ashlar_fence_kind kind,
                                         void *handle)
{
    return (struct ashlar_fence){(uint32_t)kind, 0, NULL,
                                 (uint64_t)(uintptr_t)handle};
}

START_TEST(what_a_capture_uses_stays_until_graph_and_executable_are_gone)
{
    CUstream captured = begin_capture(_i);
    const struct ashlar_fence fence =
        fence_of_kind(ASHLAR_FENCE_CAPTURE, captured);
    CUgraphExec executable;
    CUgraph graph;

    OK(rig_shrink(&fence));
    rig_waits();
    CU(cu.StreamEndCapture(captured, &graph));
    rig_waits();
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.GraphDestroy(graph));
    rig_waits();
    CU(cu.GraphLaunch(executable, NULL));
    CU(cu.GraphExecDestroy(executable));
    rig_goes();
    rig_is_well();
}
END_TEST

START_TEST(a_graph_at_hand_is_a_fence_as_well)
{
    CUstream captured = begin_capture(_i);
    struct ashlar_fence fence;
    CUgraphExec executable;
    CUgraph graph;

    CU(cu.StreamEndCapture(captured, &graph));
    fence = fence_of_kind(ASHLAR_FENCE_GRAPH, graph);
    OK(rig_shrink(&fence));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.GraphDestroy(graph));
    rig_waits();
    CU(cu.GraphExecDestroy(executable));
    rig_goes();
}
END_TEST

START_TEST(a_capture_that_was_spoilt_lets_go_of_what_it_used)
{
    CUstream captured = begin_capture(0);
    const struct ashlar_fence fence =
        fence_of_kind(ASHLAR_FENCE_CAPTURE, captured);
    CUgraph graph = NULL;

    OK(rig_shrink(&fence));
    rig_waits();
    ck_assert_int_ne(cu.CtxSynchronize(), CUDA_SUCCESS);
    REFUSED(ASHLAR_ERR_CAPTURE, "was spoilt",
            ashlar_range_shrink_to(rig.range, GRANULE, &fence, 1, NULL));
    ck_assert_int_ne(cu.StreamEndCapture(captured, &graph), CUDA_SUCCESS);
    rig_goes();
}
END_TEST

START_TEST(a_stream_that_is_not_captured_is_no_capture_to_wait_for)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence =
        fence_of_kind(ASHLAR_FENCE_CAPTURE, stream);
    const struct ashlar_fence none = fence_of_kind(ASHLAR_FENCE_GRAPH, NULL);

    REFUSED(ASHLAR_ERR_INVALID,
            "is not being captured; a fence of kind "
            "ASHLAR_FENCE_STREAM",
            rig_shrink(&fence));
    REFUSED(ASHLAR_ERR_INVALID, "the graph of a fence is NULL",
            rig_shrink(&none));
    ck_assert_uint_eq(rig_info().used_bytes, 8 * GRANULE);
}
END_TEST

START_TEST(a_graph_fence_that_fails_leaves_no_user_object)
{
    static const char *const entries[] = {"cuStreamGetCaptureInfo",
                                          "cuUserObjectCreate",
                                          "cuGraphRetainUserObject"};
    CUstream captured = begin_capture(0);
    const struct ashlar_fence fence =
        fence_of_kind(ASHLAR_FENCE_CAPTURE, captured);

    ck_assert_int_eq(sim.inject(entries[_i], 1, CUDA_ERROR_UNKNOWN, 0), 0);
    REFUSED(ASHLAR_ERR_DRIVER, entries[_i], rig_shrink(&fence));
    ck_assert_uint_eq(sim_account().user_objects, 0);
    ck_assert_uint_eq(rig_info().used_bytes, 8 * GRANULE);
    end_capture(captured);
}
END_TEST

/* A pool of four slots, put behind the graph that a stream is captured into. */
static struct ashlar_pool *pool_behind(CUstream captured)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    const struct ashlar_fence fence = {ASHLAR_FENCE_CAPTURE, 0, rig.source,
                                       (uint64_t)(uintptr_t)captured};
    struct ashlar_pool *pool;
    void *slots[4];

    options.max_slots = 4;
    OK(ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &pool));
    OK(ashlar_pool_get_bulk(pool, slots, 4));
    OK(ashlar_pool_put_after(pool, slots, 4, &fence, 1, NULL));
    return pool;
}

START_TEST(a_graph_may_outlive_the_source_that_it_was_a_fence_of)
{
    CUstream captured = begin_capture(0);
    struct ashlar_pool *pool = pool_behind(captured);
    CUgraph graph;

    CU(cu.StreamEndCapture(captured, &graph));
    OK(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE));
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    OK(ashlar_source_close(rig.source));
    CU(cu.GraphDestroy(graph)); /* the destructor finds its mark */
    OK(rig_open_source(NULL, &rig.source));
}
END_TEST

START_TEST(slots_come_back_when_their_graph_is_gone)
{
    CUstream captured = begin_capture(0);
    struct ashlar_pool *pool = pool_behind(captured);
    CUgraph graph;
    void *again;

    ck_assert_ptr_null(ashlar_pool_get(pool));
    CU(cu.StreamEndCapture(captured, &graph));
    ck_assert_ptr_null(ashlar_pool_get(pool));
    CU(cu.GraphDestroy(graph));
    again = ashlar_pool_get(pool);
    ck_assert_ptr_nonnull(again);
    OK(ashlar_pool_put(pool, again));
    OK(ashlar_pool_destroy(pool, 0));
}
END_TEST

/* -------------------------------------------------------------------------- */

static Suite *cuda_capture_suite(void)
{
    Suite *suite = suite_create("cuda_capture");
    TCase *test = rig_case(suite, rig_start_full, "captures");
    tcase_add_loop_test(
        test, memory_grows_and_goes_during_a_capture_that_stays_good, 0, 3);
    tcase_add_loop_test(
        test, a_range_is_destroyed_during_a_capture_that_stays_good, 0, 3);
    tcase_add_loop_test(
        test, a_stream_that_is_captured_is_refused_with_nothing_recorded, 0, 3);
    tcase_add_loop_test(
        test, the_default_stream_is_refused_while_one_that_heeds_it_is_captured,
        0, 3);
    tcase_add_test(test, the_threads_mode_of_capture_is_as_it_was);

    test = rig_case(suite, rig_start_full, "graphs");
    tcase_add_loop_test(
        test, what_a_capture_uses_stays_until_graph_and_executable_are_gone, 0,
        3);
    tcase_add_loop_test(test, a_graph_at_hand_is_a_fence_as_well, 0, 3);
    tcase_add_test(test, a_capture_that_was_spoilt_lets_go_of_what_it_used);
    tcase_add_test(test,
                   a_stream_that_is_not_captured_is_no_capture_to_wait_for);
    tcase_add_loop_test(test, a_graph_fence_that_fails_leaves_no_user_object, 0,
                        3);
    tcase_add_test(test, a_graph_may_outlive_the_source_that_it_was_a_fence_of);
    tcase_add_test(test, slots_come_back_when_their_graph_is_gone);
    return suite;
}

int main(void)
{
    return suite_run(cuda_capture_suite());
}
