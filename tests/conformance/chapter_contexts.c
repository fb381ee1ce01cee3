/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Contexts, streams and events. */
#include "conformance.h"

#include <time.h>

void chapter_contexts(void)
{
    unsigned long long id = 0, same = 0;
    CUcontext context, again, current;
    unsigned int flags;
    CUdevice device;
    int active;

    ASK("cuInit", CUDA_SUCCESS, cu.Init(0));
    ASK("retain of device 99", CUDA_ERROR_INVALID_DEVICE,
        cu.DevicePrimaryCtxRetain(&context, 99));
    ASK("retain", CUDA_SUCCESS, cu.DevicePrimaryCtxRetain(&context, 0));
    ASK("retain again", CUDA_SUCCESS, cu.DevicePrimaryCtxRetain(&again, 0));
    ask_number("the same", 1, context == again);
    ASK("its state", CUDA_SUCCESS,
        cu.DevicePrimaryCtxGetState(0, &flags, &active));
    ask_number("active", 1, (uint64_t)active);
    ASK("its id", CUDA_SUCCESS, cu.CtxGetId(context, &id));
    ASK("cuCtxGetCurrent", CUDA_SUCCESS, cu.CtxGetCurrent(&current));
    ask_number("retaining makes it current", 0, current != NULL);
    ASK("push it", CUDA_SUCCESS, cu.CtxPushCurrent(context));
    ASK("push it again", CUDA_SUCCESS, cu.CtxPushCurrent(context));
    ASK("push NULL", CUDA_ERROR_INVALID_VALUE, cu.CtxPushCurrent(NULL));
    ASK("the current one's id", CUDA_SUCCESS, cu.CtxGetId(NULL, &same));
    ask_number("the same", 1, id == same);
    ASK("its device", CUDA_SUCCESS, cu.CtxGetDevice(&device));
    ask_number("which is", 0, (uint64_t)device);
    ASK("pop", CUDA_SUCCESS, cu.CtxPopCurrent(&current));
    ask_number("it", 1, current == context);
    ASK("set none", CUDA_SUCCESS, cu.CtxSetCurrent(NULL));
    ASK("pop when none is there", CUDA_ERROR_INVALID_CONTEXT,
        cu.CtxPopCurrent(&current));
    ASK("set it", CUDA_SUCCESS, cu.CtxSetCurrent(context));
    ASK("release one", CUDA_SUCCESS, cu.DevicePrimaryCtxRelease(0));
    ASK("cuCtxSynchronize", CUDA_SUCCESS, cu.CtxSynchronize());
    ASK("release the other", CUDA_SUCCESS, cu.DevicePrimaryCtxRelease(0));
    ASK("its state", CUDA_SUCCESS,
        cu.DevicePrimaryCtxGetState(0, &flags, &active));
    ask_number("active", 0, (uint64_t)active);
    ASK("cuCtxSynchronize", CUDA_ERROR_CONTEXT_IS_DESTROYED,
        cu.CtxSynchronize());
    ASK("its id", CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.CtxGetId(context, &id));
    ASK("release once more", CUDA_ERROR_INVALID_CONTEXT,
        cu.DevicePrimaryCtxRelease(0));
    ASK("retain", CUDA_SUCCESS, cu.DevicePrimaryCtxRetain(&again, 0));
    ask_number("the same handle", 1, context == again);
    ASK("its id", CUDA_SUCCESS, cu.CtxGetId(again, &same));
    ask_number("another id", 1, id != same);
}

void chapter_reset(void)
{
    unsigned long long id = 0, later = 0;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address, plain;
    CUcontext context, again;
    size_t bytes;

    if (!begin_with_context())
        return;
    bytes = granule();
    address = usable(bytes, &handle);
    cu.CtxGetCurrent(&context);
    ASK("its id", CUDA_SUCCESS, cu.CtxGetId(context, &id));
    ASK("reset", CUDA_SUCCESS, cu.DevicePrimaryCtxReset(0));
    ASK("cuMemAlloc", CUDA_ERROR_CONTEXT_IS_DESTROYED,
        cu.MemAlloc(&plain, 4096));
    ASK("its id", CUDA_ERROR_CONTEXT_IS_DESTROYED, cu.CtxGetId(context, &id));
    ASK("retain", CUDA_SUCCESS, cu.DevicePrimaryCtxRetain(&again, 0));
    ask_number("the same handle", 1, context == again);
    ASK("its id", CUDA_SUCCESS, cu.CtxGetId(again, &later));
    ask_number("another id", 1, id != later);
    ASK("cuMemAlloc", CUDA_SUCCESS, cu.MemAlloc(&plain, 4096));
    ASK("the mapping is still there", CUDA_SUCCESS,
        cu.MemsetD8(address, 1, bytes));
    ASK("unmap it", CUDA_SUCCESS, cu.MemUnmap(address, bytes));
    ASK("release it", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("free the addresses", CUDA_SUCCESS, cu.MemAddressFree(address, bytes));
}

void chapter_streams(void)
{
    CUmemGenericAllocationHandle handle;
    CUstream one, two, blocking;
    CUdeviceptr address;
    struct held held;
    CUevent event;
    size_t bytes;

    if (!begin_with_context())
        return;
    bytes = granule();
    address = usable(bytes, &handle);
    ASK("create with unknown flags", CUDA_ERROR_INVALID_VALUE,
        cu.StreamCreate(&one, 0x40));
    ASK("create into NULL", CUDA_ERROR_INVALID_VALUE,
        cu.StreamCreate(NULL, CU_STREAM_NON_BLOCKING));
    ASK("create", CUDA_SUCCESS, cu.StreamCreate(&one, CU_STREAM_NON_BLOCKING));
    ASK("create another", CUDA_SUCCESS,
        cu.StreamCreate(&two, CU_STREAM_NON_BLOCKING));
    ASK("create one that heeds the default stream", CUDA_SUCCESS,
        cu.StreamCreate(&blocking, CU_STREAM_DEFAULT));
    ASK("query an idle one", CUDA_SUCCESS, cu.StreamQuery(one));
    ASK("query the default one", CUDA_SUCCESS, cu.StreamQuery(NULL));
    ASK("query it by its number", CUDA_SUCCESS,
        cu.StreamQuery(CU_STREAM_LEGACY));
    ASK("query the thread's", CUDA_SUCCESS,
        cu.StreamQuery(CU_STREAM_PER_THREAD));
    ASK("an event", CUDA_SUCCESS,
        cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK("work on it", CUDA_SUCCESS, hold(&held, one));
    ASK("query it", CUDA_ERROR_NOT_READY, cu.StreamQuery(one));
    ASK("query the other", CUDA_SUCCESS, cu.StreamQuery(two));
    ASK("query the default one", CUDA_SUCCESS, cu.StreamQuery(NULL));
    ASK("record the event on it", CUDA_SUCCESS, cu.EventRecord(event, one));
    ASK("query the event", CUDA_ERROR_NOT_READY, cu.EventQuery(event));
    ASK("let the other wait for it", CUDA_SUCCESS,
        cu.StreamWaitEvent(two, event, 0));
    ASK("query the other", CUDA_ERROR_NOT_READY, cu.StreamQuery(two));
    ASK("unmap while it works", CUDA_SUCCESS, cu.MemUnmap(address, bytes));
    ASK("release while it works", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("free addresses while it works", CUDA_SUCCESS,
        cu.MemAddressFree(address, bytes));
    ASK("it still works", CUDA_ERROR_NOT_READY, cu.StreamQuery(one));
    let_go(&held);
    ASK("wait for the other", CUDA_SUCCESS, cu.StreamSynchronize(two));
    ASK("query the event", CUDA_SUCCESS, cu.EventQuery(event));
    ASK("query it", CUDA_SUCCESS, cu.StreamQuery(one));

    ASK("work on the one that heeds", CUDA_SUCCESS, hold(&held, blocking));
    ASK("record on the default stream", CUDA_SUCCESS,
        cu.EventRecord(event, NULL));
    ASK("which waits for it", CUDA_ERROR_NOT_READY, cu.EventQuery(event));
    ASK("destroy a stream at work", CUDA_SUCCESS, cu.StreamDestroy(blocking));
    ASK("the event still waits", CUDA_ERROR_NOT_READY, cu.EventQuery(event));
    let_go(&held);
    ASK("wait for the event", CUDA_SUCCESS, cu.EventSynchronize(event));
    ASK("destroy NULL", CUDA_ERROR_INVALID_HANDLE, cu.StreamDestroy(NULL));
    ASK("destroy one", CUDA_SUCCESS, cu.StreamDestroy(one));
}

void chapter_events(void)
{
    CUevent event, timed;
    CUstream stream;
    float ms;

    if (!begin_with_context() ||
        !works("a stream", cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING)))
        return;
    ASK("create with unknown flags", CUDA_ERROR_INVALID_VALUE,
        cu.EventCreate(&event, 0x40));
    ASK("create for other processes, with times", CUDA_ERROR_INVALID_VALUE,
        cu.EventCreate(&event, CU_EVENT_INTERPROCESS));
    ASK("create", CUDA_SUCCESS,
        cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK("create with times", CUDA_SUCCESS,
        cu.EventCreate(&timed, CU_EVENT_DEFAULT));
    ASK("query what was never recorded", CUDA_SUCCESS, cu.EventQuery(event));
    ASK("wait for what was never recorded", CUDA_SUCCESS,
        cu.EventSynchronize(event));
    ASK("let a stream wait for it", CUDA_SUCCESS,
        cu.StreamWaitEvent(stream, event, 0));
    ASK("query NULL", CUDA_ERROR_INVALID_HANDLE, cu.EventQuery(NULL));
    ASK("record NULL", CUDA_ERROR_INVALID_HANDLE, cu.EventRecord(NULL, stream));
    ASK("destroy NULL", CUDA_ERROR_INVALID_HANDLE, cu.EventDestroy(NULL));
    ASK("record", CUDA_SUCCESS, cu.EventRecord(event, stream));
    ASK("record on the default stream", CUDA_SUCCESS,
        cu.EventRecord(event, NULL));
    ASK("record on the thread's", CUDA_SUCCESS,
        cu.EventRecord(event, CU_STREAM_PER_THREAD));
    ASK("wait", CUDA_SUCCESS, cu.EventSynchronize(event));
    ASK("the time between two without times", CUDA_ERROR_INVALID_HANDLE,
        cu.EventElapsedTime(&ms, event, event));
    ASK("the time of what was never recorded", CUDA_ERROR_INVALID_HANDLE,
        cu.EventElapsedTime(&ms, timed, timed));
    ASK("destroy", CUDA_SUCCESS, cu.EventDestroy(event));
    ASK("destroy the other", CUDA_SUCCESS, cu.EventDestroy(timed));
}
