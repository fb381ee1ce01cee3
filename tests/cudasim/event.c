/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "event.h"

#include <stdlib.h>
#include <time.h>

#include "capture.h"
#include "entry.h"
#include "versions.h"

struct index events;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

void event_passed(uint64_t handle, struct moment moment)
{
    struct event *event = index_find(&events, handle);

    if (event != NULL && event->moment.stream == moment.stream &&
        event->moment.number == moment.number)
        event->milliseconds = now();
}

void event_recorded(uint64_t handle, struct moment moment)
{
    struct event *event = index_find(&events, handle);

    if (event == NULL)
        return;
    event->recorded = true;
    event->moment = moment;
    event->capture = 0;
    frontier_clear(&event->frontier);
}

static struct event *find(CUevent handle)
{
    struct event *event = index_find(&events, (uint64_t)(uintptr_t)handle);

    machine.bogus += event == NULL;
    return event;
}

/* An event by its handle, in a context that works. */
static CUresult resolve(CUevent handle, struct event **event_out)
{
    struct event *event = find(handle);
    CUresult failure;

    if (event == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    failure = context_of(event->context)->failure;
    if (failure == CUDA_SUCCESS)
        *event_out = event;
    return failure;
}

static CUresult create(CUevent *handle, unsigned flags)
{
    const unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING |
                           CU_EVENT_INTERPROCESS;
    struct context *context;
    struct event *event;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || (flags & ~known) != 0 ||
        ((flags & CU_EVENT_INTERPROCESS) != 0 &&
         (flags & CU_EVENT_DISABLE_TIMING) == 0))
        return CUDA_ERROR_INVALID_VALUE;
    event = machine_object(&events, sizeof(*event));
    if (event == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->context = context->id;
    event->flags = flags;
    *handle = (CUevent)(uintptr_t)event->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventCreate(CUevent *event, unsigned flags)
{
    CUresult result;

    if (enter("cuEventCreate", &result))
        result = leave(create(event, flags));
    return result;
}

static void forget(struct event *event)
{
    index_remove(&events, &event->handle);
    frontier_clear(&event->frontier);
    free(event);
}

/* Also one of a context that failed, which is said all the same. Work that waits
 * for it knows the moment. */
static CUresult destroy(CUevent handle)
{
    struct event *event = find(handle);
    CUresult failure;

    if (event == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    failure = context_of(event->context)->failure;
    forget(event);
    return failure;
}

CUresult CUDAAPI cuEventDestroy(CUevent event)
{
    CUresult result;

    if (enter("cuEventDestroy", &result))
        result = leave(destroy(event));
    return result;
}

/* An external record is a node of the graph, which records when it runs. */
static CUresult record_on(struct stream *stream, struct event *event,
                          bool external)
{
    struct action action = {.kind = ACTION_RECORD,
                            .event = event->handle.start};
    CUresult result;

    if (stream->capture != NULL && !external)
        return capture_record(stream, event);
    result = capture_or_queue(stream, &action);
    if (result != CUDA_SUCCESS || stream->capture != NULL)
        return result;
    event_recorded(event->handle.start, stream_moment(stream));
    return CUDA_SUCCESS;
}

static CUresult record(CUevent handle, CUstream on, unsigned flags)
{
    struct stream *stream;
    struct event *event;
    CUresult result = resolve(handle, &event);

    if (result == CUDA_SUCCESS)
        result = stream_resolve(on, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (event->context != stream->context)
        return CUDA_ERROR_INVALID_HANDLE;
    if ((flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL) != 0 ||
        (flags != 0 && stream->capture == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    return record_on(stream, event, flags != 0);
}

CUresult CUDAAPI cuEventRecord(CUevent event, CUstream stream)
{
    CUresult result;

    if (enter("cuEventRecord", &result))
        result = leave(record(event, stream, 0));
    return result;
}

CUresult CUDAAPI cuEventRecordWithFlags(CUevent event, CUstream stream,
                                        unsigned flags)
{
    CUresult result;

    if (enter("cuEventRecordWithFlags", &result))
        result = leave(record(event, stream, flags));
    return result;
}

/* The same to ask whether it passed, which a capture may forbid. */
static CUresult resolve_to_ask(CUevent handle, struct event **event_out)
{
    CUresult result = resolve(handle, event_out);

    if (result == CUDA_SUCCESS)
        result = capture_forbid_event(*event_out);
    if (result == CUDA_SUCCESS)
        result = capture_forbid_unsafe();
    return result;
}

static CUresult query(CUevent handle)
{
    struct event *event;
    CUresult result = resolve_to_ask(handle, &event);

    if (result != CUDA_SUCCESS)
        return result;
    return !event->recorded || moment_passed(event->moment)
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_READY;
}

CUresult CUDAAPI cuEventQuery(CUevent event)
{
    CUresult result;

    if (enter("cuEventQuery", &result))
        result = leave(query(event));
    return result;
}

static CUresult synchronize(CUevent handle)
{
    struct event *event;
    CUresult result = resolve_to_ask(handle, &event);

    if (result != CUDA_SUCCESS || !event->recorded)
        return result;
    stream_await(event->moment);
    return resolve(handle, &event);
}

CUresult CUDAAPI cuEventSynchronize(CUevent event)
{
    CUresult result;

    if (enter("cuEventSynchronize", &result))
        result = leave(synchronize(event));
    return result;
}

static CUresult wait_for(CUstream on, CUevent handle, unsigned flags)
{
    struct action action = {.kind = ACTION_WAIT};
    struct stream *stream;
    struct event *event;
    CUresult result = stream_resolve(on, &stream);

    if (result == CUDA_SUCCESS)
        result = resolve(handle, &event);
    if (result != CUDA_SUCCESS)
        return result;
    if ((flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL) != 0 ||
        (flags != 0 && stream->capture == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    if (flags == 0 && (event->capture != 0 || stream->capture != NULL))
        return capture_wait(stream, event);
    if (event->recorded)
        action.until = event->moment;
    return capture_or_queue(stream, &action);
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream, CUevent event,
                                   unsigned flags)
{
    CUresult result;

    if (enter("cuStreamWaitEvent", &result))
        result = leave(wait_for(stream, event, flags));
    return result;
}

static CUresult elapsed(float *milliseconds, CUevent start, CUevent end)
{
    struct event *first;
    struct event *second;
    CUresult result = resolve(start, &first);

    if (result == CUDA_SUCCESS)
        result = resolve(end, &second);
    if (result != CUDA_SUCCESS)
        return result;
    if (milliseconds == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!first->recorded || !second->recorded ||
        first->context != second->context ||
        ((first->flags | second->flags) & CU_EVENT_DISABLE_TIMING) != 0)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!moment_passed(first->moment) || !moment_passed(second->moment))
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)(second->milliseconds - first->milliseconds);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *milliseconds, CUevent start,
                                       CUevent end)
{
    CUresult result;

    if (enter("cuEventElapsedTime", &result))
        result = leave(elapsed(milliseconds, start, end));
    return result;
}

CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start,
                                    CUevent end)
{
    return cuEventElapsedTime_v2(milliseconds, start, end);
}

void event_drop(uint64_t context)
{
    struct event *event;
    size_t i = events.count;

    while (i-- > 0) {
        event = (struct event *)events.items[i];
        if (context == 0 || event->context == context)
            forget(event);
    }
}
