/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "fence.h"

#include "context.h"
#include "error.h"

/* Events made at once when a context has no idle one. */
#define BATCH 8

static struct cuda_fence *fence_of(uint64_t handle)
{
    return (struct cuda_fence *)(uintptr_t)handle;
}

static uint64_t handle_of(const struct cuda_fence *fence)
{
    return (uint64_t)(uintptr_t)fence;
}

void cuda_fences_free(const struct cuda *cuda, struct cuda_fence *fences,
                      bool there)
{
    struct cuda_fence *fence;

    while (fences != NULL) {
        fence = fences;
        fences = fence->next;
        if (there)
            (void)cuda->driver.event_destroy(fence->event);
        cuda->host->free(fence);
    }
}

/* --- events of ours -------------------------------------------------------- */

static struct cuda_fence *take_idle(struct cuda *cuda,
                                    struct cuda_context *context)
{
    struct cuda_fence *fence;

    (void)pthread_mutex_lock(&cuda->lock);
    fence = context->idle;
    if (fence != NULL)
        context->idle = fence->next;
    (void)pthread_mutex_unlock(&cuda->lock);
    return fence;
}

static void put_idle(struct cuda *cuda, struct cuda_fence *fence)
{
    (void)pthread_mutex_lock(&cuda->lock);
    fence->next = fence->context->idle;
    fence->context->idle = fence;
    (void)pthread_mutex_unlock(&cuda->lock);
}

/*
 * Its context has been entered. NULL, no error set: *result_out is the driver's,
 * or CUDA_SUCCESS when there was no record.
 */
static struct cuda_fence *
make_own(struct cuda *cuda, struct cuda_context *context, CUresult *result_out)
{
    struct cuda_fence *fence = cuda->host->alloc(sizeof(*fence));

    *result_out = CUDA_SUCCESS;
    if (fence == NULL)
        return NULL;
    fence->kind = CUDA_FENCE_OWN;
    fence->context = context;
    *result_out =
        cuda->driver.event_create(&fence->event, CU_EVENT_DISABLE_TIMING);
    if (*result_out == CUDA_SUCCESS)
        return fence;
    cuda->host->free(fence);
    return NULL;
}

/* An idle one, or a new one, and some more for next time if there can be. */
static enum ashlar_status take_own(struct cuda *cuda,
                                   struct cuda_context *context,
                                   struct cuda_fence **fence_out)
{
    struct cuda_fence *fence = take_idle(cuda, context);
    struct cuda_fence *more;
    CUresult result = CUDA_SUCCESS;
    int i;

    if (fence == NULL) {
        fence = make_own(cuda, context, &result);
        for (more = fence, i = 1; more != NULL && i < BATCH; i++) {
            more = make_own(cuda, context, &(CUresult){CUDA_SUCCESS});
            if (more != NULL)
                put_idle(cuda, more);
        }
    }
    if (fence == NULL)
        return result == CUDA_SUCCESS
                   ? cuda_no_records(cuda)
                   : cuda_fail(cuda, result, "cuEventCreate");
    *fence_out = fence;
    return ASHLAR_OK;
}

/* Recording on a stream that is captured would make the event a part of it. */
static enum ashlar_status check_capture(const struct cuda *cuda,
                                        CUstream stream)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result;

    result = cuda->driver.stream_is_capturing(stream, &capture);
    if (result == CUDA_SUCCESS && capture == CU_STREAM_CAPTURE_STATUS_NONE)
        return ASHLAR_OK;
    if (result != CUDA_SUCCESS &&
        cuda_status(result, ASHLAR_ERR_DRIVER) != ASHLAR_ERR_CAPTURE)
        return cuda_fail(cuda, result, "cuStreamIsCapturing");
    return cuda->host->fail(
        ASHLAR_ERR_CAPTURE,
        "stream 0x%lx %s, and so is no fence; a fence of kind "
        "ASHLAR_FENCE_CAPTURE waits for its graph",
        (unsigned long)(uintptr_t)stream,
        result == CUDA_SUCCESS ? "is being captured"
                               : "waits for one that is being captured");
}

/* The context has been entered. */
static enum ashlar_status record(struct cuda *cuda,
                                 const struct cuda_visit *visit,
                                 CUstream stream, struct cuda_fence **fence_out)
{
    enum ashlar_status status = check_capture(cuda, stream);
    struct cuda_context *context;
    struct cuda_fence *fence = NULL;
    CUresult result;

    if (status != ASHLAR_OK)
        return status;
    context = cuda_context_of(cuda, visit);
    if (context == NULL)
        return cuda_no_records(cuda);
    status = take_own(cuda, context, &fence);
    if (status != ASHLAR_OK)
        return status;
    result = cuda->driver.event_record(fence->event, stream);
    if (result != CUDA_SUCCESS) {
        put_idle(cuda, fence);
        return cuda_fail(cuda, result, "cuEventRecord");
    }
    *fence_out = fence;
    return ASHLAR_OK;
}

/* A fence of a kind that has no event of ours. */
static enum ashlar_status make_plain(const struct cuda *cuda,
                                     enum cuda_fence_kind kind,
                                     struct cuda_fence **fence_out)
{
    struct cuda_fence *fence = cuda->host->alloc(sizeof(*fence));

    if (fence == NULL)
        return cuda_no_records(cuda);
    fence->kind = kind;
    *fence_out = fence;
    return ASHLAR_OK;
}

enum ashlar_status cuda_fence_record(void *state, uint64_t stream,
                                     uint64_t *fence_out)
{
    struct cuda *cuda = state;
    CUstream handle = (CUstream)(uintptr_t)stream;
    struct cuda_fence *fence = NULL;
    struct cuda_visit visit;
    enum ashlar_status status;

    status = cuda_visit_begin(cuda, handle, false, &visit);
    if (status != ASHLAR_OK)
        return status;
    if (visit.context == NULL)
        status = make_plain(cuda, CUDA_FENCE_PASSED, &fence);
    else
        status = record(cuda, &visit, handle, &fence);
    cuda_visit_end(cuda, &visit);
    if (status == ASHLAR_OK)
        *fence_out = handle_of(fence);
    return status;
}

enum ashlar_status cuda_fence_event(void *state, uint64_t event,
                                    uint64_t *fence_out)
{
    struct cuda *cuda = state;
    struct cuda_fence *fence = NULL;
    enum ashlar_status status;

    if (event == 0)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "the event of a fence is NULL");
    status = make_plain(cuda, CUDA_FENCE_CALLERS, &fence);
    if (status != ASHLAR_OK)
        return status;
    fence->event = (CUevent)(uintptr_t)event;
    *fence_out = handle_of(fence);
    return ASHLAR_OK;
}

/* --- asking ---------------------------------------------------------------- */

/* With the mode of capture relaxed. */
static CUresult ask_event(const struct cuda *cuda,
                          const struct cuda_fence *fence)
{
    CUresult result = CUDA_SUCCESS;
    bool there = true;

    if (fence->kind == CUDA_FENCE_OWN)
        result = cuda_context_is_there(cuda, fence->context, &there);
    /* A context that is gone has taken its work with it. */
    if (result != CUDA_SUCCESS || !there)
        return result;
    return cuda->driver.event_query(fence->event);
}

/* A mark asks no driver; but one that is gone destroys no graph any more. */
static CUresult ask_mark(const struct cuda *cuda,
                         const struct cuda_fence *fence)
{
    CUcontext current;
    CUresult result;

    if (cuda_mark_is_reached(fence->mark))
        return CUDA_SUCCESS;
    result = cuda->driver.ctx_get_current(&current);
    return result == CUDA_SUCCESS ? CUDA_ERROR_NOT_READY : result;
}

enum ashlar_status cuda_fence_query(void *state, uint64_t fence)
{
    struct cuda *cuda = state;
    const struct cuda_fence *own = fence_of(fence);
    CUstreamCaptureMode mode;
    CUresult result;

    if (own->kind == CUDA_FENCE_PASSED)
        return ASHLAR_OK;
    result = cuda_relax(cuda, &mode);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuThreadExchangeStreamCaptureMode");
    result = own->kind == CUDA_FENCE_GRAPH ? ask_mark(cuda, own)
                                           : ask_event(cuda, own);
    cuda_unrelax(cuda, mode);
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    if (result == CUDA_ERROR_NOT_READY)
        return ASHLAR_ERR_BUSY;
    return cuda_fail(cuda, result, "cuEventQuery");
}

void cuda_fence_drop(void *state, uint64_t fence)
{
    struct cuda *cuda = state;
    struct cuda_fence *own = fence_of(fence);

    if (own->kind == CUDA_FENCE_OWN) {
        put_idle(cuda, own);
        return;
    }
    if (own->kind == CUDA_FENCE_GRAPH)
        cuda_mark_drop(own->mark);
    cuda->host->free(own);
}
