/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Fences of the source "cuda": streams, events, graphs, contexts that go. */
#include "config.h"

#include "cuda/rig.h"

#include <string.h>

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};

static void start(void)
{
    rig_start("devices=2,memory=1G", NULL);
    rig_make(32, 1, 0);
    OK(rig_grow(8));
    rig_stamp(8);
}

static struct ashlar_fence fence_on(CUstream stream)
{
    return (struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(NULL, stream);
}

/* What is shrunk to two granules waits. */
static void waits(void)
{
    ck_assert_int_eq(ashlar_source_drain(rig.source, 0), ASHLAR_ERR_BUSY);
    ck_assert_uint_eq(sim_account().mappings, 8);
    ck_assert_uint_eq(sim_account().handles, 8);
}

static void goes(void)
{
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().mappings, 2);
    ck_assert_uint_eq(sim_account().handles, 2);
}

static enum ashlar_status shrink(const struct ashlar_fence *fence)
{
    return ashlar_range_shrink_to(rig.range, 2 * GRANULE, fence, 1, NULL);
}

/* The context runs on: nothing was taken away under its work. */
static void context_is_well(void)
{
    CU(cu.CtxSynchronize());
}

/* --- streams and events ---------------------------------------------------------- */

START_TEST(nothing_is_unmapped_before_the_work_of_a_stream_is_done)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);

    rig_use(stream);
    sim.count_none();
    OK(shrink(&fence));
    waits();
    ck_assert_uint_eq(sim.calls("cuMemUnmap"), 0);
    ck_assert_int_eq(sim.finish(stream), 0);
    goes();
    context_is_well();
}
END_TEST

START_TEST(the_default_stream_is_waited_for_and_is_not_quiet)
{
    static const uint64_t numbers[] = {0, 1, 2};
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL,
                                       numbers[_i]};

    rig_use((CUstream)(uintptr_t)numbers[_i]);
    OK(shrink(&fence));
    waits();
    ck_assert_int_eq(sim.finish((CUstream)(uintptr_t)numbers[_i]), 0);
    goes();
    context_is_well();
}
END_TEST

START_TEST(a_quiet_release_is_done_at_once_whatever_runs)
{
    CUstream stream = rig_stream();

    ck_assert_int_eq(sim.hold(stream), 0);
    CU(cu.MemsetD8Async(rig_info().base, 0, 16, stream));
    OK(shrink(ASHLAR_QUIET));
    goes();
}
END_TEST

START_TEST(an_event_of_the_callers_is_waited_for)
{
    struct ashlar_fence fence = {ASHLAR_FENCE_EVENT, 0, NULL, 0};
    CUstream stream = rig_stream();
    CUevent event;

    REFUSED(ASHLAR_ERR_INVALID, "the event of a fence is NULL", shrink(&fence));
    CU(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    rig_use(stream);
    CU(cu.EventRecord(event, stream));
    fence.handle = (uint64_t)(uintptr_t)event;
    OK(shrink(&fence));
    waits();
    ck_assert_int_eq(sim.finish(stream), 0);
    goes();
    CU(cu.EventDestroy(event));
}
END_TEST

START_TEST(recording_makes_no_event_once_there_are_some)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);
    uint64_t events;
    unsigned i;

    OK(ashlar_range_shrink_to(rig.range, 7 * GRANULE, &fence, 1, NULL));
    events = sim_account().events;
    sim.count_none();
    for (i = 7; i > 0; i--)
        OK(ashlar_range_shrink_to(rig.range, i * GRANULE, &fence, 1, NULL));
    ck_assert_uint_eq(sim.calls("cuEventCreate"), 0);
    ck_assert_uint_eq(sim_account().events, events);
    /* Nor does a query wait. */
    ck_assert_uint_eq(sim.calls("cuEventSynchronize") +
                          sim.calls("cuStreamSynchronize") +
                          sim.calls("cuCtxSynchronize"),
                      0);
}
END_TEST

START_TEST(a_fence_that_cannot_be_made_changes_nothing)
{
    static const char *const entries[] = {
        "cuThreadExchangeStreamCaptureMode",
        "cuStreamGetCtx",
        "cuCtxGetId",
        "cuCtxPushCurrent",
        "cuStreamIsCapturing",
        "cuEventRecord",
    };
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);
    CUcontext context;

    ck_assert_int_eq(sim.inject(entries[_i], 1, CUDA_ERROR_UNKNOWN, 0), 0);
    REFUSED(ASHLAR_ERR_DRIVER, entries[_i], shrink(&fence));
    ck_assert_uint_eq(rig_info().used_bytes, 8 * GRANULE);
    ck_assert_uint_eq(sim_account().mappings, 8);
    CU(cu.CtxGetCurrent(&context));
    ck_assert_ptr_eq(context, sim.context);
    OK(shrink(&fence));
    goes();
}
END_TEST

/* --- contexts --------------------------------------------------------------------- */

START_TEST(a_fence_goes_by_its_stream_and_not_by_the_current_device)
{
    CUcontext other;
    CUdevice device;
    CUstream stream;
    struct ashlar_fence fence;

    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&other, device));
    CU(cu.CtxSetCurrent(other));
    stream = rig_stream();
    ck_assert_int_eq(sim.hold(stream), 0);
    CU(cu.MemsetD8Async(rig_info().base, 0, 0, stream));
    fence = fence_on(stream);
    /* Released from device 0's context, then asked from none. */
    CU(cu.CtxSetCurrent(sim.context));
    ck_assert_int_eq(sim.touch(stream, rig_info().base, 0, 0), 0);
    OK(shrink(&fence));
    CU(cu.CtxSetCurrent(NULL));
    waits();
    ck_assert_int_eq(sim.finish(stream), 0);
    goes();
    CU(cu.CtxSetCurrent(sim.context));
    CU(cu.DevicePrimaryCtxRelease(device));
}
END_TEST

/* An event of one context is none for a stream of another. */
START_TEST(events_are_kept_by_context)
{
    struct ashlar_fence fences[2] = {fence_on(rig_stream())};
    CUcontext other;
    CUdevice device;
    unsigned i;

    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&other, device));
    CU(cu.CtxSetCurrent(other));
    fences[1] = fence_on(rig_stream());
    for (i = 8; i > 2; i--)
        OK(ashlar_range_shrink_to(rig.range, (i - 1) * GRANULE, &fences[i % 2],
                                  1, NULL));
    OK(ashlar_range_shrink_to(rig.range, GRANULE, fences, 2, NULL));
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().mappings, 1);
    CU(cu.CtxSetCurrent(sim.context));
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    OK(ashlar_source_close(rig.source));
    ck_assert_uint_eq(sim_account().events, 0);
    CU(cu.DevicePrimaryCtxRelease(device));
    OK(rig_open_source(NULL, &rig.source));
}
END_TEST

START_TEST(the_default_stream_is_the_sources_devices_whatever_is_current)
{
    const struct ashlar_fence fence = fence_on(NULL);
    CUcontext other;
    CUdevice device;

    rig_use(NULL);
    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&other, device));
    CU(cu.CtxSetCurrent(other));
    OK(shrink(&fence));
    waits();
    CU(cu.CtxSetCurrent(sim.context));
    ck_assert_int_eq(sim.finish(NULL), 0);
    goes();
    CU(cu.DevicePrimaryCtxRelease(device));
}
END_TEST

START_TEST(a_device_that_no_context_uses_has_no_work_to_wait_for)
{
    const struct ashlar_fence fence = fence_on(NULL);
    CUdevice device;

    CU(cu.CtxSetCurrent(NULL));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRelease(device));
    sim.count_none();
    OK(shrink(&fence));
    goes();
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 0);
}
END_TEST

/* The same handle afterwards, and none of the events. */
START_TEST(a_context_that_was_reset_has_no_work_left)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);
    struct ashlar_fence next;
    CUcontext again;
    CUdevice device;

    rig_use(stream);
    OK(ashlar_range_shrink_to(rig.range, 4 * GRANULE, &fence, 1, NULL));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxReset(device));
    CU(cu.DevicePrimaryCtxRetain(&again, device));
    ck_assert_ptr_eq(again, sim.context);
    CU(cu.CtxSetCurrent(again));
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().mappings, 4);
    stream = rig_stream();
    next = fence_on(stream);
    rig_use(stream);
    OK(shrink(&next));
    ck_assert_int_eq(ashlar_source_drain(rig.source, 0), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(sim.finish(stream), 0);
    goes();
}
END_TEST

static void copy_on_the_default_stream(void)
{
    uint64_t base = rig.result.base;

    OK(rig.source->ops.copy(rig.source->state, base, base + GRANULE, 4096, 0));
    (void)sim.finish_all();
}

/* It is the source's from the first copy on, until it is reset. */
START_TEST(copies_without_a_context_retain_the_primary_one_once)
{
    CUdevice device;

    CU(cu.CtxSetCurrent(NULL));
    copy_on_the_default_stream();
    sim.count_none();
    copy_on_the_default_stream();
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 0);
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRelease"), 0);
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxReset(device));
    copy_on_the_default_stream();
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 1);
    CU(cu.CtxSetCurrent(sim.context));
}
END_TEST

START_TEST(what_waits_for_a_context_that_failed_is_given_back)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);

    rig_use(stream);
    OK(shrink(&fence));
    waits();
    ck_assert_int_eq(sim.fail_context(0, CUDA_ERROR_ILLEGAL_ADDRESS), 0);
    goes();
    REFUSED(ASHLAR_ERR_CONTEXT_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
            ashlar_range_destroy(rig.range, &fence, 1));
    /* Memory goes by no context. */
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    ck_assert_uint_eq(sim_account().handles, 0);
}
END_TEST

START_TEST(teardown_after_the_driver_is_gone_is_quiet)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);

    rig_use(stream);
    OK(ashlar_range_shrink_to(rig.range, 4 * GRANULE, &fence, 1, NULL));
    sim.deinitialize();
    REFUSED(ASHLAR_ERR_NO_DRIVER, "CUDA_ERROR_DEINITIALIZED (4)", rig_grow(9));
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    OK(ashlar_source_drain(rig.source, 0));
    OK(ashlar_source_query(rig.source, &info));
    ck_assert_uint_eq(info.retired_bytes + info.retired_items, 0);
    ck_assert_uint_gt(info.dropped_items, 0);
    OK(ashlar_source_close(rig.source));
    rig.source = NULL;
}
END_TEST

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

    CU(cu.StreamBeginCapture(stream, modes[mode]));
    CU(cu.MemsetD8Async(rig_info().base, 7, 64, stream));
    return stream;
}

START_TEST(memory_grows_and_goes_during_a_capture_that_stays_good)
{
    CUstream idle = rig_stream();
    CUstream captured = begin_capture(_i);
    const struct ashlar_fence fence = fence_on(idle);

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
    const struct ashlar_fence fence = fence_on((CUstream)CU_STREAM_PER_THREAD);

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
    const struct ashlar_fence fence = fence_on(captured);

    sim.count_none();
    REFUSED(ASHLAR_ERR_CAPTURE, "ASHLAR_FENCE_CAPTURE", shrink(&fence));
    ck_assert_uint_eq(sim.calls("cuEventRecord"), 0);
    ck_assert_uint_eq(rig_info().used_bytes, 8 * GRANULE);
    end_capture(captured);
    OK(shrink(&fence));
    goes();
}
END_TEST

/* The legacy stream waits for those that are made to heed it. */
START_TEST(the_default_stream_is_refused_while_one_that_heeds_it_is_captured)
{
    const struct ashlar_fence fence = fence_on(NULL);
    CUstream stream;

    CU(cu.StreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(stream, modes[_i]));
    CU(cu.MemsetD8Async(rig_info().base, 7, 64, stream));
    sim.count_none();
    REFUSED(ASHLAR_ERR_CAPTURE, "waits for one that is being captured",
            shrink(&fence));
    ck_assert_uint_eq(sim.calls("cuEventRecord"), 0);
    end_capture(stream);
}
END_TEST

START_TEST(the_threads_mode_of_capture_is_as_it_was)
{
    static const char *const entries[] = {"cuStreamGetCtx", "cuEventRecord",
                                          "cuEventCreate", "cuCtxPushCurrent"};
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream);
    CUstream captured;
    CUevent event;
    unsigned i;

    CU(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        ck_assert_int_eq(sim.inject(entries[i], 1, CUDA_ERROR_UNKNOWN, 0), 0);
        (void)shrink(&fence);
        sim.inject_none();
    }
    OK(shrink(&fence));
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

    OK(shrink(&fence));
    waits();
    CU(cu.StreamEndCapture(captured, &graph));
    waits();
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.GraphDestroy(graph));
    waits();
    CU(cu.GraphLaunch(executable, NULL));
    CU(cu.GraphExecDestroy(executable));
    goes();
    context_is_well();
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
    OK(shrink(&fence));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.GraphDestroy(graph));
    waits();
    CU(cu.GraphExecDestroy(executable));
    goes();
}
END_TEST

START_TEST(a_capture_that_was_spoilt_lets_go_of_what_it_used)
{
    CUstream captured = begin_capture(0);
    const struct ashlar_fence fence =
        fence_of_kind(ASHLAR_FENCE_CAPTURE, captured);
    CUgraph graph = NULL;

    OK(shrink(&fence));
    waits();
    ck_assert_int_ne(cu.CtxSynchronize(), CUDA_SUCCESS);
    REFUSED(ASHLAR_ERR_CAPTURE, "was spoilt",
            ashlar_range_shrink_to(rig.range, GRANULE, &fence, 1, NULL));
    ck_assert_int_ne(cu.StreamEndCapture(captured, &graph), CUDA_SUCCESS);
    goes();
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
            shrink(&fence));
    REFUSED(ASHLAR_ERR_INVALID, "the graph of a fence is NULL", shrink(&none));
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
    REFUSED(ASHLAR_ERR_DRIVER, entries[_i], shrink(&fence));
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

static Suite *cuda_fence_suite(void)
{
    Suite *suite = suite_create("cuda_fence");
    TCase *test = rig_case(suite, start, "streams");

    tcase_add_test(test,
                   nothing_is_unmapped_before_the_work_of_a_stream_is_done);
    tcase_add_loop_test(test, the_default_stream_is_waited_for_and_is_not_quiet,
                        0, 3);
    tcase_add_test(test, a_quiet_release_is_done_at_once_whatever_runs);
    tcase_add_test(test, an_event_of_the_callers_is_waited_for);
    tcase_add_test(test, recording_makes_no_event_once_there_are_some);
    tcase_add_loop_test(test, a_fence_that_cannot_be_made_changes_nothing, 0,
                        6);

    test = rig_case(suite, start, "contexts");
    tcase_add_test(test,
                   a_fence_goes_by_its_stream_and_not_by_the_current_device);
    tcase_add_test(test, events_are_kept_by_context);
    tcase_add_test(
        test, the_default_stream_is_the_sources_devices_whatever_is_current);
    tcase_add_test(test, a_device_that_no_context_uses_has_no_work_to_wait_for);
    tcase_add_test(test, a_context_that_was_reset_has_no_work_left);
    tcase_add_test(test, copies_without_a_context_retain_the_primary_one_once);
    tcase_add_test(test, what_waits_for_a_context_that_failed_is_given_back);

    test = rig_case(suite, start, "captures");
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

    test = rig_case(suite, start, "graphs");
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

    test = tcase_create("end");
    tcase_add_checked_fixture(test, start, NULL);
    tcase_add_test(test, teardown_after_the_driver_is_gone_is_quiet);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(cuda_fence_suite());
}
