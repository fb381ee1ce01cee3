/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries of streams. */
#include "config.h"

#include "stream.h"

#include <stdlib.h>

#include "action.h"
#include "capture.h"
#include "entry.h"
#include "event.h"

#define PRIORITY_LEAST    0
#define PRIORITY_GREATEST (-5)

struct index streams;

static uint64_t last_id;
static _Thread_local bool own_default;

static struct stream *make(const struct context *context)
{
    struct stream *stream = machine_object(&streams, sizeof(*stream));

    if (stream == NULL)
        return NULL;
    stream->context = context->id;
    stream->device = context->device;
    stream->id = ++last_id;
    stream->held = machine.settings.held;
    return stream;
}

/* A default stream of a context: the thread's, or of thread 0, everybody's. */
static struct stream *find_default(const struct context *context,
                                   uint64_t thread)
{
    struct stream *stream;
    size_t i;

    for (i = 0; i < streams.count; i++) {
        stream = (struct stream *)streams.items[i];
        if (stream->context == context->id && stream->thread == thread &&
            (thread != 0 || stream->legacy))
            return stream;
    }
    stream = make(context);
    if (stream != NULL) {
        stream->thread = thread;
        stream->legacy = thread == 0;
    }
    return stream;
}

struct stream *stream_default(const struct context *context)
{
    return find_default(context, 0);
}

static CUresult resolve_default(uint64_t thread, struct stream **stream_out)
{
    struct context *context;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    *stream_out = find_default(context, thread);
    return *stream_out == NULL ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
}

void stream_own_default(bool own)
{
    own_default = own;
}

CUresult stream_resolve(CUstream handle, struct stream **stream_out)
{
    struct stream *stream;
    struct context *context;

    if (handle == NULL && own_default)
        handle = CU_STREAM_PER_THREAD;
    if (handle == NULL || handle == CU_STREAM_LEGACY)
        return resolve_default(0, stream_out);
    if (handle == CU_STREAM_PER_THREAD)
        return resolve_default(machine_thread(), stream_out);
    stream = index_find(&streams, (uint64_t)(uintptr_t)handle);
    if (stream == NULL || stream->destroyed) {
        machine.bogus++;
        return CUDA_ERROR_INVALID_HANDLE;
    }
    context = context_of(stream->context);
    if (context->failure != CUDA_SUCCESS)
        return context->failure;
    *stream_out = stream;
    return CUDA_SUCCESS;
}

static CUresult create(CUstream *handle, unsigned flags, int priority)
{
    struct context *context;
    struct stream *stream;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (handle == NULL || (flags & ~(unsigned)CU_STREAM_NON_BLOCKING) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    stream = make(context);
    if (stream == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream->flags = flags;
    stream->priority = priority > PRIORITY_LEAST      ? PRIORITY_LEAST
                       : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST
                                                      : priority;
    *handle = (CUstream)(uintptr_t)stream->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamCreate(CUstream *stream, unsigned flags)
{
    CUresult result;

    if (enter("cuStreamCreate", &result))
        result = leave(create(stream, flags, 0));
    return result;
}

CUresult CUDAAPI cuStreamCreateWithPriority(CUstream *stream, unsigned flags,
                                            int priority)
{
    CUresult result;

    if (enter("cuStreamCreateWithPriority", &result))
        result = leave(create(stream, flags, priority));
    return result;
}

/* What is queued is still done. In a context that failed, that is said, and the
 * stream is gone all the same. */
static CUresult destroy(CUstream handle)
{
    struct stream *stream = index_find(&streams, (uint64_t)(uintptr_t)handle);
    CUresult failure;

    if (stream == NULL || stream->destroyed || stream->legacy ||
        stream->thread != 0) {
        machine.bogus++;
        return CUDA_ERROR_INVALID_HANDLE;
    }
    failure = context_of(stream->context)->failure;
    capture_lose(stream);
    stream->destroyed = true;
    if (stream->first == NULL) {
        index_remove(&streams, &stream->handle);
        free(stream);
    }
    return failure;
}

CUresult CUDAAPI cuStreamDestroy(CUstream stream)
{
    CUresult result;

    if (enter("cuStreamDestroy", &result))
        result = leave(destroy(stream));
    return result;
}

static CUresult query(CUstream handle)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (result == CUDA_SUCCESS)
        result = capture_forbid(stream);
    if (result != CUDA_SUCCESS)
        return result;
    stream_run();
    return moment_passed(stream_moment(stream)) ? CUDA_SUCCESS
                                                : CUDA_ERROR_NOT_READY;
}

CUresult CUDAAPI cuStreamQuery(CUstream stream)
{
    CUresult result;

    if (enter("cuStreamQuery", &result))
        result = leave(query(stream));
    return result;
}

static CUresult synchronize(CUstream handle)
{
    struct stream *stream;
    struct context *context;
    uint64_t id;
    CUresult result = stream_resolve(handle, &stream);

    if (result == CUDA_SUCCESS)
        result = capture_forbid(stream);
    if (result != CUDA_SUCCESS)
        return result;
    id = stream->context;
    stream_await(stream_moment(stream));
    context = context_of(id);
    return context == NULL ? CUDA_ERROR_CONTEXT_IS_DESTROYED : context->failure;
}

CUresult CUDAAPI cuStreamSynchronize(CUstream stream)
{
    CUresult result;

    if (enter("cuStreamSynchronize", &result))
        result = leave(synchronize(stream));
    return result;
}

static CUresult get_context(CUstream handle, CUcontext *context)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (context == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *context =
            (CUcontext)(uintptr_t)context_of(stream->context)->handle.start;
    return result;
}

CUresult CUDAAPI cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    CUresult result;

    if (enter("cuStreamGetCtx", &result))
        result = leave(get_context(stream, context));
    return result;
}

static CUresult get_id(CUstream handle, unsigned long long *id)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *id = stream->id;
    return result;
}

CUresult CUDAAPI cuStreamGetId(CUstream stream, unsigned long long *id)
{
    CUresult result;

    if (enter("cuStreamGetId", &result))
        result = leave(get_id(stream, id));
    return result;
}

static CUresult get_flags(CUstream handle, unsigned *flags)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (flags == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *flags = stream->flags;
    return result;
}

CUresult CUDAAPI cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    CUresult result;

    if (enter("cuStreamGetFlags", &result))
        result = leave(get_flags(stream, flags));
    return result;
}

static CUresult get_priority(CUstream handle, int *priority)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (priority == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *priority = stream->priority;
    return result;
}

CUresult CUDAAPI cuStreamGetPriority(CUstream stream, int *priority)
{
    CUresult result;

    if (enter("cuStreamGetPriority", &result))
        result = leave(get_priority(stream, priority));
    return result;
}

static CUresult call_later(CUstream handle, CUhostFn function, void *user)
{
    struct stream *stream;
    struct action action = {
        .kind = ACTION_CALL, .function = function, .user = user};
    CUresult result = stream_resolve(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return capture_or_queue(stream, &action);
}

CUresult CUDAAPI cuLaunchHostFunc(CUstream stream, CUhostFn function,
                                  void *user)
{
    CUresult result;

    if (enter("cuLaunchHostFunc", &result))
        result = leave(call_later(stream, function, user));
    return result;
}

static void forget(struct stream *stream)
{
    struct work *work;

    while (stream->first != NULL) {
        work = stream->first;
        stream->first = work->next;
        action_release(&work->action);
        free(work);
    }
    capture_lose(stream);
    index_remove(&streams, &stream->handle);
    free(stream);
}

/* A stream of a context, 0: of any; NULL: there is none. */
static struct stream *find_any(uint64_t context)
{
    struct stream *stream;
    size_t i;

    for (i = 0; i < streams.count; i++) {
        stream = (struct stream *)streams.items[i];
        if (context == 0 || stream->context == context)
            return stream;
    }
    return NULL;
}

/* Whoever is at the work of a stream just now comes to its end first. */
static void forget_all(uint64_t context)
{
    struct stream *stream = find_any(context);

    for (; stream != NULL; stream = find_any(context)) {
        if (stream->running)
            machine_wait();
        else
            forget(stream);
    }
    event_drop(context);
}

void stream_drop(uint64_t context)
{
    forget_all(context);
}

void stream_clear(void)
{
    forget_all(0);
    index_clear(&streams);
    index_clear(&events);
}
