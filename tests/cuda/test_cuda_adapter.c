/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The adapter on the source "cuda": what a stream that is captured frees. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "adapter.h"
#include "cuda/rig.h"

#define MIB ((size_t)1 << 20)

static void start(void)
{
    char source[4400];

    rig_start("memory=1G", NULL);
    OK(ashlar_source_close(rig.source));
    (void)snprintf(source, sizeof(source), "cuda:driver=%s", sim_path());
    ck_assert_int_eq(setenv("ASHLAR_ADAPTER_SOURCE", source, 1), 0);
}

static uint64_t waiting(void)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;

    OK(ashlar_arena_query(ashlar_adapter_arena(0), &stats));
    return stats.waiting_blocks;
}

START_TEST(a_block_comes_back_with_the_work_of_its_stream)
{
    CUstream stream = rig_stream();
    void *block = ashlar_torch_alloc((ssize_t)(4 * MIB), 0, stream);

    ck_assert_ptr_nonnull(block);
    CU(cu.MemsetD8Async((CUdeviceptr)(uintptr_t)block, 7, 64, stream));
    ck_assert_int_eq(sim.hold(stream), 0);
    ashlar_torch_free(block, (ssize_t)(4 * MIB), 0, stream);
    ck_assert_uint_eq(waiting(), 1);
    sim.finish_all();
    ck_assert_uint_eq(waiting(), 0);
    ck_assert_uint_eq(ashlar_adapter_kept(), 0);
}
END_TEST

START_TEST(what_a_captured_stream_frees_comes_back_with_the_graph)
{
    CUstream stream = rig_stream();
    void *block = ashlar_torch_alloc((ssize_t)(4 * MIB), 0, stream);
    CUgraph graph;

    ck_assert_ptr_nonnull(block);
    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CU(cu.MemsetD8Async((CUdeviceptr)(uintptr_t)block, 7, 64, stream));
    ashlar_torch_free(block, (ssize_t)(4 * MIB), 0, stream);
    CU(cu.StreamEndCapture(stream, &graph));
    ck_assert_uint_eq(ashlar_adapter_kept(), 0);
    ck_assert_uint_eq(waiting(), 1);
    CU(cu.GraphDestroy(graph));
    ck_assert_uint_eq(waiting(), 0);
}
END_TEST

static Suite *cuda_adapter_suite(void)
{
    Suite *suite = suite_create("cuda_adapter");
    TCase *test = tcase_create("adapter");

    /* The arena of a device is there for good: nothing is given back. */
    tcase_add_checked_fixture(test, start, NULL);
    tcase_add_test(test, a_block_comes_back_with_the_work_of_its_stream);
    tcase_add_test(test,
                   what_a_captured_stream_frees_comes_back_with_the_graph);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(cuda_adapter_suite());
}
