/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Arenas on the source "cuda": work that uses blocks, and captures. */
#include "config.h"

#include "cuda/rig.h"

#define MIB ((size_t)1 << 20)

static struct ashlar_arena *arena;

static void start(void)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;

    rig_start("devices=2,memory=1G", NULL);
    options.source = rig.source;
    OK(ashlar_arena_create(&options, &arena));
}

static void end(void)
{
    sim.finish_all();
    OK(ashlar_arena_destroy(arena, 0));
    rig_end();
}

static struct ashlar_arena_stats stats(void)
{
    struct ashlar_arena_stats own = ASHLAR_ARENA_STATS_INIT;

    OK(ashlar_arena_query(arena, &own));
    return own;
}

static void *alloc(size_t size)
{
    void *block = ashlar_arena_alloc(arena, size, 0);

    ck_assert_msg(block != NULL, "%s", ashlar_last_error_message());
    return block;
}

static struct ashlar_fence fence_on(CUstream stream, uint32_t kind)
{
    struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, stream);

    fence.kind = kind;
    return fence;
}

static uint64_t trim(void)
{
    uint64_t released = 0;

    OK(ashlar_arena_trim(arena, &released));
    return released;
}

START_TEST(a_block_that_work_uses_stays_mapped_until_it_is_done)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = fence_on(stream, ASHLAR_FENCE_STREAM);
    void *block = alloc(8 * MIB);

    CU(sim.touch(stream, (CUdeviceptr)(uintptr_t)block, 8 * MIB, 1));
    OK(ashlar_arena_free_after(arena, block, &fence, 1));
    ck_assert_uint_eq(trim(), 0);
    ck_assert_uint_eq(stats().waiting_blocks, 1);
    ck_assert_int_eq(sim.finish(stream), 0);
    ck_assert_uint_ge(trim(), 8 * MIB);
    ck_assert_uint_eq(sim_account().mappings, 0);
    CU(cu.CtxSynchronize());
}
END_TEST

START_TEST(blocks_come_and_go_during_a_capture_that_stays_good)
{
    CUstream stream = rig_stream();
    CUgraph graph;
    void *block;

    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    block = alloc(100 * MIB);
    CU(cu.MemsetD8Async((CUdeviceptr)(uintptr_t)block, 7, 64, stream));
    OK(ashlar_arena_free(arena, alloc(300 * MIB)));
    ck_assert_uint_gt(trim(), 200 * MIB);
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphDestroy(graph));
    OK(ashlar_arena_free(arena, block));
}
END_TEST

START_TEST(what_a_graph_uses_comes_back_with_it)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence queued = fence_on(stream, ASHLAR_FENCE_STREAM);
    const struct ashlar_fence captured = fence_on(stream, ASHLAR_FENCE_CAPTURE);
    void *block = alloc(4 * MIB);
    CUgraph graph;

    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cu.MemsetD8Async((CUdeviceptr)(uintptr_t)block, 7, 64, stream));
    REFUSED(ASHLAR_ERR_CAPTURE, "ASHLAR_FENCE_CAPTURE",
            ashlar_arena_free_after(arena, block, &queued, 1));
    ck_assert_uint_eq(stats().live_blocks, 1);
    OK(ashlar_arena_free_after(arena, block, &captured, 1));
    CU(cu.StreamEndCapture(stream, &graph));
    ck_assert_uint_eq(stats().waiting_blocks, 1);
    CU(cu.GraphDestroy(graph));
    ck_assert_uint_eq(stats().waiting_blocks, 0);
}
END_TEST

START_TEST(what_has_no_memory_left_is_told_and_can_be_freed)
{
    void *block = alloc(900 * MIB);

    ck_assert_ptr_null(ashlar_arena_alloc(arena, 200 * MIB, 0));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NO_DEVICE_MEMORY);
    ck_assert_ptr_null(ashlar_arena_calloc(arena, 100, 0));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_UNSUPPORTED);
    OK(ashlar_arena_free(arena, block));
    OK(ashlar_arena_free(arena, alloc(1000 * MIB)));
}
END_TEST

static Suite *cuda_arena_suite(void)
{
    Suite *suite = suite_create("cuda_arena");
    TCase *test = tcase_create("arena");

    tcase_add_checked_fixture(test, start, end);
    tcase_add_test(test, a_block_that_work_uses_stays_mapped_until_it_is_done);
    tcase_add_test(test, blocks_come_and_go_during_a_capture_that_stays_good);
    tcase_add_test(test, what_a_graph_uses_comes_back_with_it);
    tcase_add_test(test, what_has_no_memory_left_is_told_and_can_be_freed);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(cuda_arena_suite());
}
