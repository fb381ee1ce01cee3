/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Capture: what is legal meanwhile in each mode, and what spoils it. */
#include "config.h"

#include "sim.h"
#include "versions.h"

#include <pthread.h>

static CUstream other;
static CUevent event;     /* recorded on the other stream, passed */
static CUdeviceptr bytes; /* one granule */

static void begin(void)
{
    sim_begin();
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cuEventRecord(event, other));
    bytes = sim_map(1);
}

static void end(void)
{
    sim_unmap(bytes, 1);
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(other));
    sim_end();
}

/* --- calls during a capture ----------------------------------------------- */

static CUresult nothing(void)
{
    return CUDA_SUCCESS;
}

static CUresult vmm_calls(void)
{
    sim_unmap(sim_map(1), 1);
    return CUDA_SUCCESS;
}

static CUresult query_event(void)
{
    return cuEventQuery(event);
}

static CUresult synchronize_event(void)
{
    return cuEventSynchronize(event);
}

static CUresult query_other(void)
{
    return cuStreamQuery(other);
}

static CUresult synchronize_other(void)
{
    return cuStreamSynchronize(other);
}

static CUresult query_own(void)
{
    return cuStreamQuery(sim_stream);
}

static CUresult synchronize_context(void)
{
    return cuCtxSynchronize();
}

static CUresult allocate(void)
{
    CUdeviceptr address;
    CUresult result = cuMemAlloc(&address, 1);

    if (result == CUDA_SUCCESS)
        OK(cuMemFree(address));
    return result;
}

static CUresult allocate_host(void)
{
    void *address;
    CUresult result = cuMemHostAlloc(&address, 1, 0);

    if (result == CUDA_SUCCESS)
        OK(cuMemFreeHost(address));
    return result;
}

static CUresult record_other(void)
{
    return cuEventRecord(event, other);
}

static CUresult record_own(void)
{
    return cuEventRecord(event, sim_stream);
}

static CUresult record_own_and_query(void)
{
    OK(cuEventRecord(event, sim_stream));
    return cuEventQuery(event);
}

static CUresult wait_for_uncaptured(void)
{
    return cuStreamWaitEvent(sim_stream, event, 0);
}

static CUresult copy_now(void)
{
    char byte = 1;

    return cuMemcpyHtoD(bytes, &byte, 1);
}

static CUresult write_value(void)
{
    return cuStreamWriteValue32(sim_stream, bytes, 1, 0);
}

static CUresult make_event(void)
{
    CUevent made;

    OK(cuEventCreate(&made, 0));
    return cuEventDestroy(made);
}

static CUresult begin_again(void)
{
    return cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

#define FINE        CUDA_SUCCESS
#define UNSUPPORTED CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
#define SPOILT      CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
#define WHOLE       CUDA_SUCCESS

struct outcome {
    CUresult result; /* of the call */
    CUresult end;    /* of the capture */
};

/* What a call comes to in a capture of each mode, by the thread that captures. */
static const struct {
    const char *what;
    CUresult (*call)(void);
    struct outcome global;
    struct outcome local;
    struct outcome relaxed;
} meanwhile[] = {
    {"nothing", nothing, {FINE, WHOLE}, {FINE, WHOLE}, {FINE, WHOLE}},
    {"vmm", vmm_calls, {FINE, WHOLE}, {FINE, WHOLE}, {FINE, WHOLE}},
    {"query of an event",
     query_event,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {FINE, WHOLE}},
    {"wait for an event",
     synchronize_event,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {FINE, WHOLE}},
    {"query of a stream",
     query_other,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {FINE, WHOLE}},
    {"wait for a stream",
     synchronize_other,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {FINE, WHOLE}},
    {"query of the stream itself",
     query_own,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT}},
    {"wait for the context",
     synchronize_context,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT}},
    {"cuMemAlloc",
     allocate,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {FINE, WHOLE}},
    {"cuMemHostAlloc",
     allocate_host,
     {UNSUPPORTED, SPOILT},
     {UNSUPPORTED, SPOILT},
     {FINE, WHOLE}},
    {"record elsewhere",
     record_other,
     {FINE, WHOLE},
     {FINE, WHOLE},
     {FINE, WHOLE}},
    {"record here", record_own, {FINE, WHOLE}, {FINE, WHOLE}, {FINE, WHOLE}},
    {"record here and query",
     record_own_and_query,
     {CUDA_ERROR_CAPTURED_EVENT, SPOILT},
     {CUDA_ERROR_CAPTURED_EVENT, SPOILT},
     {CUDA_ERROR_CAPTURED_EVENT, SPOILT}},
    {"wait for what is not captured",
     wait_for_uncaptured,
     {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, SPOILT},
     {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, SPOILT},
     {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, SPOILT}},
    {"copy at once", copy_now, {FINE, WHOLE}, {FINE, WHOLE}, {FINE, WHOLE}},
    {"write a value", write_value, {FINE, WHOLE}, {FINE, WHOLE}, {FINE, WHOLE}},
    {"make an event", make_event, {FINE, WHOLE}, {FINE, WHOLE}, {FINE, WHOLE}},
    {"begin again",
     begin_again,
     {CUDA_ERROR_ILLEGAL_STATE, WHOLE},
     {CUDA_ERROR_ILLEGAL_STATE, WHOLE},
     {CUDA_ERROR_ILLEGAL_STATE, WHOLE}},
};

static void begin_in(CUstreamCaptureMode mode)
{
    OK(cuStreamBeginCapture(sim_stream, mode));
    OK(cuMemsetD8Async(bytes, 1, 1, sim_stream));
}

static void end_as(CUresult result)
{
    CUgraph graph;

    IS(cuStreamEndCapture(sim_stream, &graph), result);
    if (result == CUDA_SUCCESS)
        OK(cuGraphDestroy(graph));
    else
        ck_assert_ptr_null(graph);
}

static void expect_outcome(unsigned i, CUstreamCaptureMode mode,
                           const struct outcome *outcome)
{
    CUresult result;

    begin_in(mode);
    result = meanwhile[i].call();
    ck_assert_msg(result == outcome->result, "%s: %d, not %d",
                  meanwhile[i].what, (int)result, (int)outcome->result);
    end_as(outcome->end);
}

START_TEST(a_call_is_legal_or_spoils_by_the_mode_of_the_capture)
{
    expect_outcome((unsigned)_i, CU_STREAM_CAPTURE_MODE_GLOBAL,
                   &meanwhile[_i].global);
    OK(cuEventRecord(event, other));
    expect_outcome((unsigned)_i, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                   &meanwhile[_i].local);
    OK(cuEventRecord(event, other));
    expect_outcome((unsigned)_i, CU_STREAM_CAPTURE_MODE_RELAXED,
                   &meanwhile[_i].relaxed);
    end();
}
END_TEST

static CUstreamCaptureMode exchange(CUstreamCaptureMode mode)
{
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    return mode;
}

/* In a thread that is relaxed, a call comes to what it would in such a capture. */
START_TEST(a_relaxed_thread_spoils_nothing_by_chance)
{
    CUresult result;

    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    ck_assert_int_eq(exchange(CU_STREAM_CAPTURE_MODE_RELAXED),
                     CU_STREAM_CAPTURE_MODE_GLOBAL);
    result = meanwhile[_i].call();
    ck_assert_int_eq(exchange(CU_STREAM_CAPTURE_MODE_GLOBAL),
                     CU_STREAM_CAPTURE_MODE_RELAXED);
    ck_assert_msg(result == meanwhile[_i].relaxed.result, "%s: %d",
                  meanwhile[_i].what, (int)result);
    end_as(meanwhile[_i].relaxed.end);
    end();
}
END_TEST

/* --- other threads -------------------------------------------------------- */

static CUstreamCaptureMode their_mode;
static CUresult their_result;

static void query_there(void)
{
    exchange(their_mode);
    OK(cuCtxSetCurrent(sim_context));
    their_result = cuEventQuery(event);
}

static const struct {
    CUstreamCaptureMode capture;
    CUstreamCaptureMode thread;
    struct outcome outcome;
} threads[] = {
    {CU_STREAM_CAPTURE_MODE_GLOBAL,
     CU_STREAM_CAPTURE_MODE_GLOBAL,
     {UNSUPPORTED, SPOILT}},
    {CU_STREAM_CAPTURE_MODE_GLOBAL,
     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
     {FINE, WHOLE}},
    {CU_STREAM_CAPTURE_MODE_GLOBAL,
     CU_STREAM_CAPTURE_MODE_RELAXED,
     {FINE, WHOLE}},
    {CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
     CU_STREAM_CAPTURE_MODE_GLOBAL,
     {FINE, WHOLE}},
    {CU_STREAM_CAPTURE_MODE_RELAXED,
     CU_STREAM_CAPTURE_MODE_GLOBAL,
     {FINE, WHOLE}},
};

START_TEST(another_thread_spoils_a_global_capture_alone)
{
    begin_in(threads[_i].capture);
    their_mode = threads[_i].thread;
    sim_elsewhere(query_there);
    IS(their_result, threads[_i].outcome.result);
    end_as(threads[_i].outcome.end);
    end();
}
END_TEST

static void end_there(void)
{
    CUgraph graph = NULL;

    OK(cuCtxSetCurrent(sim_context));
    their_result = cuStreamEndCapture(sim_stream, &graph);
    if (graph != NULL)
        OK(cuGraphDestroy(graph));
}

START_TEST(another_thread_ends_a_relaxed_capture_alone)
{
    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    sim_elsewhere(end_there);
    IS(their_result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    IS(cuStreamEndCapture(sim_stream, &(CUgraph){NULL}),
       CUDA_ERROR_ILLEGAL_STATE);
    begin_in(CU_STREAM_CAPTURE_MODE_RELAXED);
    sim_elsewhere(end_there);
    OK(their_result);
    end();
}
END_TEST

/* --- several streams ------------------------------------------------------ */

/* The other stream joins the capture. */
static void join(CUevent with)
{
    OK(cuEventRecord(with, sim_stream));
    OK(cuStreamWaitEvent(other, with, 0));
}

static CUstreamCaptureStatus status_of(CUstream stream)
{
    CUstreamCaptureStatus status;

    OK(cuStreamIsCapturing(stream, &status));
    return status;
}

START_TEST(a_stream_joins_and_comes_back)
{
    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    join(event);
    ck_assert_int_eq(status_of(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuMemsetD8Async(bytes, 2, 1, other));
    OK(cuEventRecord(event, other));
    OK(cuStreamWaitEvent(sim_stream, event, 0));
    end_as(CUDA_SUCCESS);
    ck_assert_int_eq(status_of(other), CU_STREAM_CAPTURE_STATUS_NONE);
    end();
}
END_TEST

START_TEST(a_stream_that_does_not_come_back_is_missed)
{
    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    join(event);
    OK(cuMemsetD8Async(bytes, 2, 1, other));
    end_as(CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    ck_assert_int_eq(status_of(other), CU_STREAM_CAPTURE_STATUS_NONE);
    end();
}
END_TEST

START_TEST(a_capture_ends_where_it_began)
{
    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    join(event);
    IS(cuStreamEndCapture(other, &(CUgraph){NULL}),
       CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    ck_assert_int_eq(status_of(sim_stream),
                     CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    IS(cuMemsetD8Async(bytes, 2, 1, other), SPOILT);
    IS(cuEventRecord(event, other), SPOILT);
    end_as(SPOILT);
    end();
}
END_TEST

START_TEST(two_captures_do_not_merge)
{
    begin_in(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    OK(cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(cuEventRecord(event, sim_stream));
    IS(cuStreamWaitEvent(other, event, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    IS(cuStreamEndCapture(other, &(CUgraph){NULL}), SPOILT);
    end_as(SPOILT);
    end();
}
END_TEST

START_TEST(an_event_stays_captured_until_it_is_recorded_again)
{
    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuEventRecord(event, sim_stream));
    end_as(CUDA_SUCCESS);
    IS(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
    IS(cuStreamWaitEvent(other, event, 0), CUDA_ERROR_CAPTURED_EVENT);
    OK(cuEventRecord(event, sim_stream));
    OK(cuEventQuery(event));
    end();
}
END_TEST

START_TEST(the_default_stream_cannot_be_used_while_a_blocking_one_captures)
{
    CUstream blocking;
    CUstreamCaptureStatus status;
    CUgraph graph;

    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuStreamIsCapturing(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    OK(cuStreamEndCapture(blocking, &graph));
    OK(cuGraphDestroy(graph));
    OK(cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
    IS(cuEventRecord(event, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    IS(cuStreamEndCapture(blocking, &graph), SPOILT);
    OK(cuStreamDestroy(blocking));
    end();
}
END_TEST

START_TEST(a_capture_goes_with_its_stream)
{
    CUstream brief;

    OK(cuStreamCreate(&brief, CU_STREAM_NON_BLOCKING));
    OK(cuStreamBeginCapture(brief, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD8Async(bytes, 1, 1, brief));
    OK(cuStreamDestroy(brief));
    OK(cuEventQuery(event));
    end();
}
END_TEST

/* --- refusals ------------------------------------------------------------- */

START_TEST(what_cannot_be_captured_is_refused)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)3;
    CUgraph graph;

    IS(cuStreamBeginCapture(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), UNSUPPORTED);
    IS(cuStreamBeginCapture(sim_stream, mode), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamEndCapture(sim_stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    IS(cuThreadExchangeStreamCaptureMode(&mode), CUDA_ERROR_INVALID_VALUE);
    IS(cuThreadExchangeStreamCaptureMode(NULL), CUDA_ERROR_INVALID_VALUE);
    end();
}
END_TEST

START_TEST(a_capture_tells_its_graph_and_where_it_stands)
{
    CUstreamCaptureStatus status;
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *nodes;
    size_t count;

    OK(cuStreamGetCaptureInfo_v2(sim_stream, &status, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_NONE);
    begin_in(CU_STREAM_CAPTURE_MODE_GLOBAL);
    OK(cuStreamGetCaptureInfo_v2(sim_stream, &status, &id, &graph, &nodes,
                                 &count));
    ck_assert_int_eq(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    ck_assert_uint_ne(id, 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_ptr_nonnull(nodes[0]);
    IS(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
    end_as(CUDA_SUCCESS);
    end();
}
END_TEST

static Suite *capture_suite(void)
{
    const int calls = sizeof(meanwhile) / sizeof(meanwhile[0]);
    Suite *suite = suite_create("cudasim capture");
    TCase *test = tcase_create("meanwhile");

    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_loop_test(
        test, a_call_is_legal_or_spoils_by_the_mode_of_the_capture, 0, calls);
    tcase_add_loop_test(test, a_relaxed_thread_spoils_nothing_by_chance, 0,
                        calls);
    suite_add_tcase(suite, test);

    test = tcase_create("threads");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_loop_test(test, another_thread_spoils_a_global_capture_alone, 0,
                        sizeof(threads) / sizeof(threads[0]));
    tcase_add_test(test, another_thread_ends_a_relaxed_capture_alone);
    suite_add_tcase(suite, test);

    test = tcase_create("streams");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, a_stream_joins_and_comes_back);
    tcase_add_test(test, a_stream_that_does_not_come_back_is_missed);
    tcase_add_test(test, a_capture_ends_where_it_began);
    tcase_add_test(test, two_captures_do_not_merge);
    tcase_add_test(test, an_event_stays_captured_until_it_is_recorded_again);
    tcase_add_test(
        test, the_default_stream_cannot_be_used_while_a_blocking_one_captures);
    tcase_add_test(test, a_capture_goes_with_its_stream);
    suite_add_tcase(suite, test);

    test = tcase_create("refusals");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, what_cannot_be_captured_is_refused);
    tcase_add_test(test, a_capture_tells_its_graph_and_where_it_stands);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(capture_suite());
}
