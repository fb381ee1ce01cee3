/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What may be called while a stream is being captured, and what spoils it. */
#include "conformance.h"

#include <stdlib.h>

/* What the calls below work with; made once a chapter, but for the stream. */
static struct {
    CUdeviceptr memory; /* device memory with access */
    CUmemGenericAllocationHandle handle;
    size_t bytes;
    CUstream stream; /* being captured */
    CUstream other;  /* not so */
    CUevent done;    /* recorded on the other, and passed */
    CUevent spare;
    CUcontext context;
    char *pageable;
    void *pinned;
} my;

static bool prepare(void)
{
    if (!begin_with_context())
        return false;
    my.bytes = granule();
    my.memory = usable(my.bytes, &my.handle);
    my.pageable = calloc(1, 4096);
    cu.CtxGetCurrent(&my.context);
    return my.memory != 0 && my.pageable != NULL &&
           works("a stream",
                 cu.StreamCreate(&my.other, CU_STREAM_NON_BLOCKING)) &&
           works("an event",
                 cu.EventCreate(&my.done, CU_EVENT_DISABLE_TIMING)) &&
           works("another",
                 cu.EventCreate(&my.spare, CU_EVENT_DISABLE_TIMING)) &&
           works("pinned memory", cu.MemHostAlloc(&my.pinned, 4096, 0)) &&
           works("recorded", cu.EventRecord(my.done, my.other)) &&
           works("passed", cu.EventSynchronize(my.done));
}

/* One call in a capture of its own: what it says, and how the capture ends. */
static void during(CUstreamCaptureMode mode, const char *question,
                   CUresult (*call)(void), CUresult expected,
                   CUresult expected_end)
{
    CUgraph graph = NULL;
    CUresult result, got, end;

    result = cu.StreamCreate(&my.stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        result = cu.StreamBeginCapture(my.stream, mode);
    if (result == CUDA_SUCCESS)
        result = cu.MemsetD8Async(my.memory, 1, 4096, my.stream);
    if (result != CUDA_SUCCESS) {
        works(question, result);
        return;
    }
    got = call();
    end = cu.StreamEndCapture(my.stream, &graph);
    ask_pair(question, expected, expected_end, got, end);
    if (graph != NULL)
        cu.GraphDestroy(graph);
    cu.StreamDestroy(my.stream);
}

/* --- the calls ------------------------------------------------------------ */

static CUresult nothing(void)
{
    return CUDA_SUCCESS;
}

static CUresult reserve_and_free(void)
{
    CUdeviceptr address;
    CUresult result = cu.MemAddressReserve(&address, my.bytes, 0, 0, 0);

    return result != CUDA_SUCCESS ? result
                                  : cu.MemAddressFree(address, my.bytes);
}

static CUresult grow_and_shrink(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUresult results[7] = {CUDA_SUCCESS};
    size_t i;

    results[0] = cu.MemAddressReserve(&address, my.bytes, 0, 0, 0);
    results[1] = cu.MemCreate(&handle, my.bytes, &prop, 0);
    results[2] = cu.MemMap(address, my.bytes, 0, handle, 0);
    results[3] = cu.MemSetAccess(address, my.bytes, &access, 1);
    results[4] = cu.MemUnmap(address, my.bytes);
    results[5] = cu.MemRelease(handle);
    results[6] = cu.MemAddressFree(address, my.bytes);
    for (i = 0; i < 6 && results[i] == CUDA_SUCCESS; i++)
        ;
    return results[i];
}

static CUresult alloc(void)
{
    CUdeviceptr address;

    return cu.MemAlloc(&address, 4096);
}

static CUresult host_alloc(void)
{
    void *memory;

    return cu.MemHostAlloc(&memory, 4096, 0);
}

static CUresult get_info(void)
{
    size_t available, total;

    return cu.MemGetInfo(&available, &total);
}

static CUresult get_kind(void)
{
    unsigned int kind;

    return cu.PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  my.memory);
}

static CUresult query_event(void)
{
    return cu.EventQuery(my.done);
}

static CUresult query_event_there(void *unused)
{
    (void)unused;
    cu.CtxSetCurrent(my.context);
    return cu.EventQuery(my.done);
}

static CUresult query_event_on_another_thread(void)
{
    return on_another_thread(query_event_there, NULL);
}

static CUresult query_event_relaxed(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result;

    cu.ThreadExchangeStreamCaptureMode(&mode);
    result = cu.EventQuery(my.done);
    cu.ThreadExchangeStreamCaptureMode(&mode);
    return result;
}

static CUresult query_event_relaxed_there(void *unused)
{
    (void)unused;
    cu.CtxSetCurrent(my.context);
    return query_event_relaxed();
}

static CUresult query_event_relaxed_on_another_thread(void)
{
    return on_another_thread(query_event_relaxed_there, NULL);
}

static CUresult host_alloc_relaxed(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result;

    cu.ThreadExchangeStreamCaptureMode(&mode);
    result = host_alloc();
    cu.ThreadExchangeStreamCaptureMode(&mode);
    return result;
}

static CUresult alloc_relaxed(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result;

    cu.ThreadExchangeStreamCaptureMode(&mode);
    result = alloc();
    cu.ThreadExchangeStreamCaptureMode(&mode);
    return result;
}

static CUresult synchronize_other_relaxed(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result;

    cu.ThreadExchangeStreamCaptureMode(&mode);
    result = cu.StreamSynchronize(my.other);
    cu.ThreadExchangeStreamCaptureMode(&mode);
    return result;
}

static CUresult query_other(void)
{
    return cu.StreamQuery(my.other);
}

static CUresult synchronize_other(void)
{
    return cu.StreamSynchronize(my.other);
}

static CUresult synchronize_event(void)
{
    return cu.EventSynchronize(my.done);
}

static CUresult query_captured(void)
{
    return cu.StreamQuery(my.stream);
}

static CUresult synchronize_captured(void)
{
    return cu.StreamSynchronize(my.stream);
}

static CUresult synchronize_context(void)
{
    return cu.CtxSynchronize();
}

static CUresult record_captured(void)
{
    return cu.EventRecord(my.spare, my.stream);
}

static CUresult record_and_query_captured(void)
{
    CUresult result = cu.EventRecord(my.spare, my.stream);

    return result != CUDA_SUCCESS ? result : cu.EventQuery(my.spare);
}

static CUresult record_and_query_captured_relaxed(void)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result;

    cu.ThreadExchangeStreamCaptureMode(&mode);
    result = record_and_query_captured();
    cu.ThreadExchangeStreamCaptureMode(&mode);
    return result;
}

static CUresult record_other(void)
{
    return cu.EventRecord(my.done, my.other);
}

static CUresult make_event(void)
{
    CUevent event;
    CUresult result = cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING);

    return result != CUDA_SUCCESS ? result : cu.EventDestroy(event);
}

static CUresult make_stream(void)
{
    CUstream stream;
    CUresult result = cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING);

    return result != CUDA_SUCCESS ? result : cu.StreamDestroy(stream);
}

static CUresult wait_for_uncaptured(void)
{
    return cu.StreamWaitEvent(my.stream, my.done, 0);
}

static CUresult join_other_and_leave_it(void)
{
    CUresult result = cu.EventRecord(my.spare, my.stream);

    if (result == CUDA_SUCCESS)
        result = cu.StreamWaitEvent(my.other, my.spare, 0);
    if (result == CUDA_SUCCESS)
        result = cu.MemsetD8Async(my.memory, 2, 64, my.other);
    return result;
}

static CUresult join_other_and_come_back(void)
{
    CUresult result = join_other_and_leave_it();

    if (result == CUDA_SUCCESS)
        result = cu.EventRecord(my.spare, my.other);
    if (result == CUDA_SUCCESS)
        result = cu.StreamWaitEvent(my.stream, my.spare, 0);
    return result;
}

static CUresult copy_pageable(void)
{
    return cu.MemcpyHtoDAsync(my.memory, my.pageable, 4096, my.stream);
}

static CUresult copy_pinned(void)
{
    return cu.MemcpyHtoDAsync(my.memory, my.pinned, 4096, my.stream);
}

static CUresult copy_at_once(void)
{
    return cu.MemcpyHtoD(my.memory, my.pageable, 4096);
}

static CUresult copy_on_other(void)
{
    return cu.MemcpyHtoDAsync(my.memory, my.pinned, 4096, my.other);
}

static CUresult set_at_once(void)
{
    return cu.MemsetD8(my.memory, 3, 4096);
}

static CUresult set_on_default(void)
{
    return cu.MemsetD8Async(my.memory, 3, 4096, NULL);
}

static CUresult default_is_capturing(void)
{
    CUstreamCaptureStatus status;

    return cu.StreamIsCapturing(NULL, &status);
}

static CUresult is_capturing(void)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = cu.StreamIsCapturing(my.stream, &status);

    return result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_ACTIVE
               ? CUDA_ERROR_UNKNOWN
               : result;
}

static CUresult write_value(void)
{
    return cu.StreamWriteValue32(my.stream, (CUdeviceptr)my.pinned, 7, 0);
}

static void CUDA_CB ignore(void *data)
{
    (void)data;
}

static CUresult host_function(void)
{
    return cu.LaunchHostFunc(my.stream, ignore, NULL);
}

static CUresult retain_context(void)
{
    CUcontext context;
    CUresult result = cu.DevicePrimaryCtxRetain(&context, 0);

    return result != CUDA_SUCCESS ? result : cu.DevicePrimaryCtxRelease(0);
}

static CUresult begin_again(void)
{
    return cu.StreamBeginCapture(my.stream, CU_STREAM_CAPTURE_MODE_RELAXED);
}

static CUresult end_there(void *unused)
{
    CUgraph graph;

    (void)unused;
    cu.CtxSetCurrent(my.context);
    return cu.StreamEndCapture(my.stream, &graph);
}

static CUresult end_on_another_thread(void)
{
    return on_another_thread(end_there, NULL);
}

static CUresult work_there(void *unused)
{
    (void)unused;
    cu.CtxSetCurrent(my.context);
    return cu.MemsetD8Async(my.memory, 4, 64, my.stream);
}

static CUresult work_on_another_thread(void)
{
    return on_another_thread(work_there, NULL);
}

static CUresult alloc_there(void *unused)
{
    (void)unused;
    cu.CtxSetCurrent(my.context);
    return alloc();
}

static CUresult alloc_on_another_thread(void)
{
    return on_another_thread(alloc_there, NULL);
}

static CUresult retain_user_object(void)
{
    CUstreamCaptureStatus status;
    CUuserObject object;
    cuuint64_t id;
    CUgraph graph;
    CUresult result = cu.StreamGetCaptureInfo(my.stream, &status, &id, &graph,
                                              NULL, NULL, NULL);

    if (result == CUDA_SUCCESS)
        result = cu.UserObjectCreate(&object, NULL, ignore, 1,
                                     CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result == CUDA_SUCCESS)
        result = cu.GraphRetainUserObject(graph, object, 1,
                                          CU_GRAPH_USER_OBJECT_MOVE);
    return result;
}

/* What is the same in every mode. */
static void ask_common(CUstreamCaptureMode mode)
{
    const CUresult unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const CUresult spoilt = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;

    during(mode, "nothing", nothing, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "reserve and free addresses", reserve_and_free, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "all VMM calls", grow_and_shrink, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "cuMemGetInfo", get_info, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "cuPointerGetAttribute", get_kind, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "relaxed: query of an event", query_event_relaxed,
           CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "relaxed, on another thread: query of an event",
           query_event_relaxed_on_another_thread, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "relaxed: cuMemHostAlloc", host_alloc_relaxed, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "relaxed: cuMemAlloc", alloc_relaxed, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "relaxed: wait for another stream", synchronize_other_relaxed,
           CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "query of the stream", query_captured, unsupported, spoilt);
    during(mode, "wait for the stream", synchronize_captured, unsupported,
           spoilt);
    during(mode, "wait for the context", synchronize_context, unsupported,
           spoilt);
    during(mode, "record an event on the stream", record_captured, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "record and query an event on the stream",
           record_and_query_captured, CUDA_ERROR_CAPTURED_EVENT, spoilt);
    during(mode, "relaxed: the same", record_and_query_captured_relaxed,
           CUDA_ERROR_CAPTURED_EVENT, spoilt);
    during(mode, "record an event on another stream", record_other,
           CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "make and destroy an event", make_event, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "make and destroy a stream", make_stream, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "wait for an event that is not captured", wait_for_uncaptured,
           CUDA_ERROR_STREAM_CAPTURE_ISOLATION, spoilt);
    during(mode, "let another stream join, and come back",
           join_other_and_come_back, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "let another stream join, and leave it",
           join_other_and_leave_it, CUDA_SUCCESS,
           CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
    during(mode, "copy from pinned memory", copy_pinned, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "copy on another stream", copy_on_other, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "set on the default stream", set_on_default, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "whether the stream is captured", is_capturing, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "whether the default stream is captured", default_is_capturing,
           CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "write a value on the stream", write_value, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "a host function", host_function, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "retain and release the context", retain_context, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "begin once more", begin_again, CUDA_ERROR_ILLEGAL_STATE,
           CUDA_SUCCESS);
    during(mode, "work on it by another thread", work_on_another_thread,
           CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "give a user object to the graph", retain_user_object,
           CUDA_SUCCESS, CUDA_SUCCESS);
}

/* What a mode forbids to the thread that captures, to others, or to nobody. */
static void ask_unsafe(CUstreamCaptureMode mode, bool own, bool others)
{
    const CUresult unsupported = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    const CUresult spoilt = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const CUresult here = own ? unsupported : CUDA_SUCCESS;
    const CUresult here_end = own ? spoilt : CUDA_SUCCESS;
    const CUresult there = others ? unsupported : CUDA_SUCCESS;
    const CUresult there_end = others ? spoilt : CUDA_SUCCESS;

    during(mode, "cuMemAlloc", alloc, here, here_end);
    during(mode, "cuMemAlloc on another thread", alloc_on_another_thread, there,
           there_end);
    during(mode, "cuMemHostAlloc", host_alloc, here, here_end);
    during(mode, "query of an event", query_event, here, here_end);
    during(mode, "query of an event on another thread",
           query_event_on_another_thread, there, there_end);
    during(mode, "wait for an event", synchronize_event, here, here_end);
    during(mode, "query of another stream", query_other, here, here_end);
    during(mode, "wait for another stream", synchronize_other, here, here_end);
    during(mode, "copy from pageable memory", copy_pageable, CUDA_SUCCESS,
           CUDA_SUCCESS);
    during(mode, "copy at once", copy_at_once, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "set at once", set_at_once, CUDA_SUCCESS, CUDA_SUCCESS);
    during(mode, "end on another thread", end_on_another_thread,
           own ? CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD : CUDA_SUCCESS,
           CUDA_ERROR_ILLEGAL_STATE);
}

static void ask_mode(CUstreamCaptureMode mode, bool own, bool others)
{
    if (!prepare())
        return;
    ask_common(mode);
    ask_unsafe(mode, own, others);
}

void chapter_capture_global(void)
{
    ask_mode(CU_STREAM_CAPTURE_MODE_GLOBAL, true, true);
}

void chapter_capture_thread(void)
{
    ask_mode(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, true, false);
}

void chapter_capture_relaxed(void)
{
    ask_mode(CU_STREAM_CAPTURE_MODE_RELAXED, false, false);
}

/* The order of begin and end, and streams that heed the default one. */
void chapter_capture_order(void)
{
    const CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUstreamCaptureMode exchanged = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUstreamCaptureStatus status;
    CUstream one, two;
    CUgraph graph;

    if (!prepare() ||
        !works("a stream that heeds the default one",
               cu.StreamCreate(&one, CU_STREAM_DEFAULT)) ||
        !works("another", cu.StreamCreate(&two, CU_STREAM_NON_BLOCKING)))
        return;
    ASK("end what was not begun", CUDA_ERROR_ILLEGAL_STATE,
        cu.StreamEndCapture(one, &graph));
    ASK("capture the default stream", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
        cu.StreamBeginCapture(NULL, mode));
    ASK("capture in an unknown mode", CUDA_ERROR_INVALID_VALUE,
        cu.StreamBeginCapture(one, (CUstreamCaptureMode)7));
    ASK("is it captured", CUDA_SUCCESS, cu.StreamIsCapturing(one, &status));
    ask_number("no", CU_STREAM_CAPTURE_STATUS_NONE, status);
    ASK("exchange the thread's mode", CUDA_SUCCESS,
        cu.ThreadExchangeStreamCaptureMode(&exchanged));
    ask_number("which was global", CU_STREAM_CAPTURE_MODE_GLOBAL, exchanged);
    ASK("exchange it back", CUDA_SUCCESS,
        cu.ThreadExchangeStreamCaptureMode(&exchanged));
    ask_number("which was relaxed", CU_STREAM_CAPTURE_MODE_RELAXED, exchanged);

    ASK("begin", CUDA_SUCCESS, cu.StreamBeginCapture(one, mode));
    ASK("whether the default stream is captured",
        CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        cu.StreamIsCapturing(NULL, &status));
    ASK("end", CUDA_SUCCESS, cu.StreamEndCapture(one, &graph));
    ASK("begin again", CUDA_SUCCESS, cu.StreamBeginCapture(one, mode));
    ASK("record on the default stream", CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
        cu.EventRecord(my.spare, NULL));
    ASK("end", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        cu.StreamEndCapture(one, &graph));
    ASK("begin two captures", CUDA_SUCCESS, cu.StreamBeginCapture(one, mode));
    ASK("the second", CUDA_SUCCESS, cu.StreamBeginCapture(two, mode));
    ASK("record on the first", CUDA_SUCCESS, cu.EventRecord(my.spare, one));
    ASK("let the second wait for it", CUDA_ERROR_STREAM_CAPTURE_MERGE,
        cu.StreamWaitEvent(two, my.spare, 0));
    ASK("end the first", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        cu.StreamEndCapture(one, &graph));
    ASK("end the second", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        cu.StreamEndCapture(two, &graph));
    ASK("begin", CUDA_SUCCESS, cu.StreamBeginCapture(one, mode));
    ASK("record on it", CUDA_SUCCESS, cu.EventRecord(my.spare, one));
    ASK("join another", CUDA_SUCCESS, cu.StreamWaitEvent(two, my.spare, 0));
    ASK("is the other captured", CUDA_SUCCESS,
        cu.StreamIsCapturing(two, &status));
    ask_number("yes", CU_STREAM_CAPTURE_STATUS_ACTIVE, status);
    ASK("end by the other", CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
        cu.StreamEndCapture(two, &graph));
    ASK("is it still captured", CUDA_SUCCESS,
        cu.StreamIsCapturing(one, &status));
    ask_number("spoilt", CU_STREAM_CAPTURE_STATUS_INVALIDATED, status);
    ASK("work on it", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        cu.MemsetD8Async(my.memory, 1, 64, one));
    ASK("end", CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
        cu.StreamEndCapture(one, &graph));
    ASK("begin", CUDA_SUCCESS, cu.StreamBeginCapture(two, mode));
    ASK("destroy the stream", CUDA_SUCCESS, cu.StreamDestroy(two));
    ASK("query of an event then", CUDA_SUCCESS, cu.EventQuery(my.done));
}
