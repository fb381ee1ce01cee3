/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Ranges on a real card while a stream is being captured, in each mode. */
#include "config.h"

#include "gpu/card.h"

#include <stdio.h>
#include <string.h>

#define QUIET       ASHLAR_QUIET, 1
#define PATIENCE_NS UINT64_C(10000000000)

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};

static struct ashlar_source *source;
static uint64_t granule;
static CUstream captured;
static CUstream other;
static struct ashlar_range *range; /* that the graph uses */
static struct ashlar_range *spare; /* that goes meanwhile */

static struct ashlar_range *make(uint64_t granules)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *made;

    options.reserve_bytes = 64 * granule;
    options.chunk_max_bytes = granule;
    OK(ashlar_range_create(source, &options, &made));
    OK(ashlar_range_grow_to(made, granules * granule, NULL));
    return made;
}

static uint64_t base_of(struct ashlar_range *of)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_query(of, &info));
    return info.base;
}

static void start(void)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    card_start();
    OK(ashlar_source_open("cuda", NULL, &source));
    OK(ashlar_source_query(source, &info));
    granule = info.granule;
    captured = card_stream();
    other = card_stream();
    range = make(2);
    spare = make(8);
}

static void finish(void)
{
    OK(ashlar_source_drain(source, PATIENCE_NS));
    OK(ashlar_source_close(source));
    CU(cu.StreamDestroy(captured));
    CU(cu.StreamDestroy(other));
}

/* End the capture, which must be good, and make it executable. */
static CUgraphExec end_capture(CUgraph *graph_out)
{
    CUgraphExec executable;

    CU(cu.StreamEndCapture(captured, graph_out));
    CU(cu.GraphInstantiate(&executable, *graph_out, 0));
    return executable;
}

static void replay(CUgraphExec executable)
{
    CU(cu.GraphLaunch(executable, other));
    CU(cu.StreamSynchronize(other));
}

START_TEST(ranges_grow_and_go_during_a_capture_that_stays_good)
{
    const struct ashlar_fence on_other = ASHLAR_FENCE_OF_STREAM(NULL, other);
    uint64_t base = base_of(range);
    CUgraphExec executable;
    CUgraph graph;
    unsigned i;

    CU(cu.StreamBeginCapture(captured, modes[_i]));
    card_fill(captured, base, 2 * granule, 3);
    OK(ashlar_range_grow_to(range, 6 * granule, NULL));
    card_fill(captured, base + 2 * granule, 4 * granule, 4);
    OK(ashlar_range_prepare(range, 8 * granule, ASHLAR_RANGE_MAPPED));
    OK(ashlar_range_shrink_to(spare, 4 * granule, &on_other, 1, NULL));
    OK(ashlar_range_decommit(spare, 0, granule, &on_other, 1, NULL));
    OK(ashlar_range_allow(range, 0, ASHLAR_RIGHTS_READ_WRITE));
    OK(ashlar_range_destroy(spare, &on_other, 1));
    OK(ashlar_source_drain(source, PATIENCE_NS));
    executable = end_capture(&graph);
    for (i = 0; i < 2; i++) {
        card_fill(NULL, base, 6 * granule, 99);
        CU(cu.CtxSynchronize());
        replay(executable);
        ck_assert_uint_eq(card_count_wrong(base, 2 * granule, 3), 0);
        ck_assert_uint_eq(card_count_wrong(base + 2 * granule, 4 * granule, 4),
                          0);
    }
    CU(cu.GraphExecDestroy(executable));
    CU(cu.GraphDestroy(graph));
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(a_capturing_stream_is_refused_as_a_fence_and_stays_good)
{
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, captured);
    struct ashlar_range_info before = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range_info after = ASHLAR_RANGE_INFO_INIT;
    CUgraphExec executable;
    CUgraph graph;

    CU(cu.StreamBeginCapture(captured, modes[_i]));
    card_fill(captured, base_of(range), 2 * granule, 3);
    OK(ashlar_range_query(spare, &before));
    ck_assert_int_eq(ashlar_range_shrink_to(spare, granule, &fence, 1, NULL),
                     ASHLAR_ERR_CAPTURE);
    ck_assert_ptr_nonnull(
        strstr(ashlar_last_error_message(), "ASHLAR_FENCE_CAPTURE"));
    OK(ashlar_range_query(spare, &after));
    ck_assert_mem_eq(&before, &after, sizeof(before));
    executable = end_capture(&graph);
    replay(executable);
    ck_assert_uint_eq(card_count_wrong(base_of(range), 2 * granule, 3), 0);
    CU(cu.GraphExecDestroy(executable));
    CU(cu.GraphDestroy(graph));
    OK(ashlar_range_destroy(range, QUIET));
    OK(ashlar_range_destroy(spare, QUIET));
}
END_TEST

START_TEST(what_a_graph_uses_stays_until_the_graph_and_its_executable_are_gone)
{
    const struct ashlar_fence fence = {ASHLAR_FENCE_CAPTURE, 0, NULL,
                                       (uint64_t)(uintptr_t)captured};
    uint64_t base = base_of(range);
    CUgraphExec executable;
    CUgraph graph;

    CU(cu.StreamBeginCapture(captured, modes[_i]));
    card_fill(captured, base, 2 * granule, 3);
    OK(ashlar_range_destroy(range, &fence, 1));
    executable = end_capture(&graph);
    CU(cu.GraphDestroy(graph));
    ck_assert_int_eq(ashlar_source_drain(source, 0), ASHLAR_ERR_BUSY);
    replay(executable);
    ck_assert_uint_eq(card_count_wrong(base, 2 * granule, 3), 0);
    CU(cu.GraphExecDestroy(executable));
    OK(ashlar_source_drain(source, PATIENCE_NS));
    OK(ashlar_range_destroy(spare, QUIET));
}
END_TEST

START_TEST(a_graph_at_hand_is_a_fence_too)
{
    struct ashlar_fence fence = {ASHLAR_FENCE_GRAPH, 0, NULL, 0};
    CUgraphExec executable;
    CUgraph graph;

    CU(cu.StreamBeginCapture(captured, modes[_i]));
    card_fill(captured, base_of(range), 2 * granule, 3);
    CU(cu.StreamEndCapture(captured, &graph));
    fence.handle = (uint64_t)(uintptr_t)graph;
    OK(ashlar_range_destroy(range, &fence, 1));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.GraphDestroy(graph));
    replay(executable);
    ck_assert_int_eq(ashlar_source_drain(source, 0), ASHLAR_ERR_BUSY);
    CU(cu.GraphExecDestroy(executable));
    OK(ashlar_source_drain(source, PATIENCE_NS));
    OK(ashlar_range_destroy(spare, QUIET));
}
END_TEST

static Suite *card_capture_suite(void)
{
    Suite *suite = suite_create("card_capture");
    TCase *test = tcase_create("capture");

    tcase_add_checked_fixture(test, start, finish);
    tcase_set_timeout(test, 120);
    tcase_add_loop_test(
        test, ranges_grow_and_go_during_a_capture_that_stays_good, 0, 3);
    tcase_add_loop_test(
        test, a_capturing_stream_is_refused_as_a_fence_and_stays_good, 0, 3);
    tcase_add_loop_test(
        test,
        what_a_graph_uses_stays_until_the_graph_and_its_executable_are_gone, 0,
        3);
    tcase_add_loop_test(test, a_graph_at_hand_is_a_fence_too, 0, 3);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    const char *missing = card_missing();

    return missing != NULL ? suite_skip(missing)
                           : suite_run(card_capture_suite());
}
