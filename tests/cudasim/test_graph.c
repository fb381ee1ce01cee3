/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Graphs: their work at each launch, and the objects that live with them. */
#include "config.h"

#include "sim.h"
#include "versions.h"

#include <stdatomic.h>

static CUdeviceptr bytes; /* one granule */
static _Atomic int gone;  /* destructors that were called */
static CUresult said;     /* to a destructor that called the driver */

static void begin(void)
{
    sim_begin();
    bytes = sim_map(1);
    gone = 0;
}

static void end(void)
{
    sim_unmap(bytes, 1);
    sim_end();
}

static void CUDA_CB destroy_object(void *user)
{
    CUdeviceptr address;

    (void)user;
    said = cuMemAddressReserve(&address, GRANULE, 0, 0, 0);
    gone++;
}

static CUuserObject object_of(unsigned references)
{
    CUuserObject object;

    OK(cuUserObjectCreate(&object, NULL, destroy_object, references,
                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    return object;
}

/* The graph that the stream is captured into. */
static CUgraph captured(void)
{
    CUstreamCaptureStatus status;
    CUgraph graph;

    OK(cuStreamGetCaptureInfo_v2(sim_stream, &status, NULL, &graph, NULL,
                                 NULL));
    return graph;
}

/* A graph that sets the first byte to 7, and an object of which it has the only
 * reference. */
static CUgraph graph_with_object(void)
{
    CUgraph graph;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuMemsetD8Async(bytes, 7, 1, sim_stream));
    OK(cuGraphRetainUserObject(captured(), object_of(1), 1,
                               CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuStreamEndCapture(sim_stream, &graph));
    return graph;
}

static char first_byte(void)
{
    return *(char *)(uintptr_t)bytes;
}

START_TEST(a_graph_works_at_each_launch_and_not_before)
{
    CUgraph graph = graph_with_object();
    CUgraphExec exec;
    unsigned round;

    ck_assert_int_eq(first_byte(), 0);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (round = 0; round < 3; round++) {
        OK(cuGraphLaunch(exec, sim_stream));
        ck_assert_int_eq(first_byte(), 7);
        OK(cuMemsetD8Async(bytes, 0, 1, sim_stream));
    }
    OK(cuGraphExecDestroy(exec));
    IS(cuGraphLaunch(exec, sim_stream), CUDA_ERROR_INVALID_VALUE);
    end();
}
END_TEST

START_TEST(a_graph_reads_what_is_there_when_it_runs)
{
    CUgraph graph;
    CUgraphExec exec;
    char byte = 1;
    char read = 0;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemcpyHtoDAsync(bytes, &byte, 1, sim_stream));
    OK(cuMemcpyDtoDAsync(bytes + 1, bytes, 1, sim_stream));
    OK(cuMemcpyDtoHAsync(&read, bytes + 1, 1, sim_stream));
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    byte = 2;
    OK(cuGraphLaunch(exec, sim_stream));
    ck_assert_int_eq(read, 2);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    end();
}
END_TEST

START_TEST(a_launch_whose_memory_is_gone_fails_the_context)
{
    CUgraph graph = graph_with_object();
    CUgraphExec exec;

    OK(cuGraphInstantiate(&exec, graph, 0));
    sim_unmap(bytes, 1);
    OK(cuGraphLaunch(exec, sim_stream));
    IS(cuStreamSynchronize(sim_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_captured_touch_lasts_until_it_is_finished)
{
    CUgraph graph;
    CUgraphExec exec;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    ck_assert_int_eq(cudasim_touch(sim_stream, bytes, GRANULE, 1), 0);
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuStreamQuery(sim_stream));
    OK(cuGraphLaunch(exec, sim_stream));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuStreamQuery(sim_stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    end();
}
END_TEST

START_TEST(a_captured_function_is_called_at_launch)
{
    CUgraph graph;
    CUgraphExec exec;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchHostFunc(sim_stream, destroy_object, NULL));
    OK(cuMemsetD8Async(bytes, 9, 1, sim_stream));
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    ck_assert_int_eq(gone, 0);
    OK(cuGraphLaunch(exec, sim_stream));
    OK(cuStreamSynchronize(sim_stream));
    ck_assert_int_eq(gone, 1);
    ck_assert_int_eq(first_byte(), 9);
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    end();
}
END_TEST

START_TEST(an_external_record_counts_from_the_launch)
{
    CUgraph graph;
    CUgraphExec exec;
    CUevent event;

    OK(cuEventCreate(&event, 0));
    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuEventRecordWithFlags(event, sim_stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuEventQuery(event));
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuGraphLaunch(exec, sim_stream));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuEventQuery(event));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    end();
}
END_TEST

/* --- user objects --------------------------------------------------------- */

START_TEST(an_object_goes_with_the_last_graph_that_has_it)
{
    CUgraph graph = graph_with_object();
    CUgraph clone;
    CUgraphExec exec;

    ck_assert_uint_eq(sim_account().user_objects, 1);
    OK(cuGraphClone(&clone, graph));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    ck_assert_int_eq(gone, 0);
    OK(cuGraphDestroy(clone));
    ck_assert_int_eq(gone, 0);
    OK(cuGraphExecDestroy(exec));
    ck_assert_int_eq(gone, 1);
    IS(said, CUDA_ERROR_NOT_PERMITTED);
    ck_assert_uint_eq(sim_account().user_objects, 0);
    end();
}
END_TEST

START_TEST(an_object_stays_while_a_launch_is_under_way)
{
    CUgraph graph = graph_with_object();
    CUgraphExec exec;

    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuGraphLaunch(exec, sim_stream));
    OK(cuGraphExecDestroy(exec));
    ck_assert_int_eq(gone, 0);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    ck_assert_int_eq(gone, 1);
    end();
}
END_TEST

START_TEST(an_object_of_a_spoilt_capture_goes_at_its_end)
{
    CUgraph graph;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuGraphRetainUserObject(captured(), object_of(1), 1,
                               CU_GRAPH_USER_OBJECT_MOVE));
    IS(cuStreamQuery(NULL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    ck_assert_int_eq(gone, 0);
    IS(cuStreamEndCapture(sim_stream, &graph),
       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    ck_assert_int_eq(gone, 1);
    end();
}
END_TEST

START_TEST(references_of_owners_and_graphs_add_up)
{
    CUuserObject object = object_of(2);
    CUgraph graph;

    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphRetainUserObject(graph, object, 1, 0));
    OK(cuUserObjectRetain(object, 1));
    OK(cuUserObjectRelease(object, 2));
    IS(cuUserObjectRelease(object, 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuUserObjectRelease(object, 1));
    ck_assert_int_eq(gone, 0);
    IS(cuGraphReleaseUserObject(graph, object, 2), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphReleaseUserObject(graph, object, 1));
    ck_assert_int_eq(gone, 1);
    IS(cuUserObjectRetain(object, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(graph));
    end();
}
END_TEST

START_TEST(a_reset_calls_no_destructor)
{
    CUgraph graph = graph_with_object();

    object_of(3);
    OK(cuGraphInstantiate(&(CUgraphExec){NULL}, graph, 0));
    ck_assert_int_eq(cudasim_reset(""), 0);
    ck_assert_int_eq(gone, 0);
    ck_assert_uint_eq(sim_account().user_objects, 0);
}
END_TEST

START_TEST(wrong_graphs_and_objects_are_refused)
{
    CUuserObject object;
    CUgraph graph;
    CUgraphExec exec;

    IS(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuGraphDestroy(NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuUserObjectCreate(&object, NULL, destroy_object, 0,
                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuUserObjectCreate(&object, NULL, destroy_object, 1, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuUserObjectCreate(&object, NULL, NULL, 1,
                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphCreate(&graph, 0));
    IS(cuGraphInstantiate(&exec, graph, 1 << 20), CUDA_ERROR_INVALID_VALUE);
    object = object_of(1);
    IS(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuGraphRetainUserObject(graph, object, 1, 2), CUDA_ERROR_INVALID_VALUE);
    IS(cuGraphRetainUserObject(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuUserObjectRelease(object, 1));
    OK(cuGraphDestroy(graph));
    end();
}
END_TEST

START_TEST(a_launch_into_a_capture_spoils_it)
{
    CUgraph graph = graph_with_object();
    CUgraphExec exec;
    CUgraph other;

    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuGraphLaunch(exec, sim_stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    IS(cuStreamEndCapture(sim_stream, &other),
       CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    OK(cuGraphExecDestroy(exec));
    end();
}
END_TEST

static Suite *graph_suite(void)
{
    Suite *suite = suite_create("cudasim graph");
    TCase *test = tcase_create("launches");

    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, a_graph_works_at_each_launch_and_not_before);
    tcase_add_test(test, a_graph_reads_what_is_there_when_it_runs);
    tcase_add_test(test, a_launch_whose_memory_is_gone_fails_the_context);
    tcase_add_test(test, a_captured_touch_lasts_until_it_is_finished);
    tcase_add_test(test, a_captured_function_is_called_at_launch);
    tcase_add_test(test, an_external_record_counts_from_the_launch);
    tcase_add_test(test, a_launch_into_a_capture_spoils_it);
    suite_add_tcase(suite, test);

    test = tcase_create("objects");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, an_object_goes_with_the_last_graph_that_has_it);
    tcase_add_test(test, an_object_stays_while_a_launch_is_under_way);
    tcase_add_test(test, an_object_of_a_spoilt_capture_goes_at_its_end);
    tcase_add_test(test, references_of_owners_and_graphs_add_up);
    tcase_add_test(test, a_reset_calls_no_destructor);
    tcase_add_test(test, wrong_graphs_and_objects_are_refused);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(graph_suite());
}
