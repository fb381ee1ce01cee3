/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "context.h"

#include "error.h"
#include "fence.h"

/* Streams 0, 1 and 2 are the default ones of whatever context. */
static bool is_default(CUstream stream)
{
    return (uintptr_t)stream <= (uintptr_t)CU_STREAM_PER_THREAD;
}

CUresult cuda_relax(const struct cuda *cuda, CUstreamCaptureMode *mode_out)
{
    *mode_out = CU_STREAM_CAPTURE_MODE_RELAXED;
    return cuda->driver.exchange_capture_mode(mode_out);
}

void cuda_unrelax(const struct cuda *cuda, CUstreamCaptureMode mode)
{
    (void)cuda->driver.exchange_capture_mode(&mode);
}

/* --- which context --------------------------------------------------------- */

/* The current context, if it is of the source's device; else NULL. */
static CUresult find_current(const struct cuda *cuda, CUcontext *context_out)
{
    CUresult result = cuda->driver.ctx_get_current(context_out);
    CUdevice device = -1;

    if (result != CUDA_SUCCESS || *context_out == NULL)
        return result;
    result = cuda->driver.ctx_get_device(&device);
    if (result != CUDA_SUCCESS || device != cuda->device)
        *context_out = NULL;
    return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ? CUDA_SUCCESS : result;
}

/* Keep the primary context for the source, once for each that there is. */
static void keep_primary(struct cuda *cuda, struct cuda_visit *visit,
                         unsigned long long id)
{
    (void)pthread_mutex_lock(&cuda->lock);
    if (cuda->primary == NULL || cuda->primary_id != id) {
        cuda->primary = visit->context;
        cuda->primary_id = id;
        visit->held = false;
    }
    (void)pthread_mutex_unlock(&cuda->lock);
}

/* The primary context that the source keeps; NULL: none, or it was reset. */
static CUcontext kept_primary(struct cuda *cuda)
{
    unsigned long long kept, id;
    CUcontext primary;

    (void)pthread_mutex_lock(&cuda->lock);
    primary = cuda->primary;
    kept = cuda->primary_id;
    (void)pthread_mutex_unlock(&cuda->lock);
    if (primary == NULL ||
        cuda->driver.ctx_get_id(primary, &id) != CUDA_SUCCESS || id != kept)
        return NULL;
    return primary;
}

/*
 * The device's primary context, if it is active or to be started: retained for
 * the visit, unless the source keeps it anyway.
 */
static CUresult find_primary(struct cuda *cuda, bool start,
                             struct cuda_visit *visit)
{
    unsigned long long id;
    unsigned flags = 0;
    int active = 0;
    CUresult result;

    visit->context = kept_primary(cuda);
    if (visit->context != NULL)
        return CUDA_SUCCESS;
    result = cuda->driver.primary_get_state(cuda->device, &flags, &active);
    if (result != CUDA_SUCCESS || (!active && !start))
        return result;
    result = cuda->driver.primary_retain(&visit->context, cuda->device);
    visit->held = result == CUDA_SUCCESS;
    if (visit->held && start) {
        result = cuda->driver.ctx_get_id(visit->context, &id);
        if (result == CUDA_SUCCESS)
            keep_primary(cuda, visit, id);
    }
    return result;
}

static CUresult find_context(struct cuda *cuda, CUstream stream, bool start,
                             struct cuda_visit *visit)
{
    CUresult result;

    if (!is_default(stream))
        return cuda->driver.stream_get_ctx(stream, &visit->context);
    result = find_current(cuda, &visit->context);
    if (result != CUDA_SUCCESS || visit->context != NULL)
        return result;
    return find_primary(cuda, start, visit);
}

/* --- visits ---------------------------------------------------------------- */

void cuda_visit_end(const struct cuda *cuda, const struct cuda_visit *visit)
{
    CUcontext popped;

    if (visit->entered)
        (void)cuda->driver.ctx_pop(&popped);
    if (visit->held)
        (void)cuda->driver.primary_release(cuda->device);
    cuda_unrelax(cuda, visit->mode);
}

enum ashlar_status cuda_visit_begin(struct cuda *cuda, CUstream stream,
                                    bool start, struct cuda_visit *visit)
{
    const char *call = "cuStreamGetCtx";
    CUresult result;

    *visit = (struct cuda_visit){.context = NULL};
    result = cuda_relax(cuda, &visit->mode);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuThreadExchangeStreamCaptureMode");
    if (is_default(stream))
        call = start ? "cuDevicePrimaryCtxRetain" : "cuCtxGetCurrent";
    result = find_context(cuda, stream, start, visit);
    if (result == CUDA_SUCCESS && visit->context != NULL) {
        call = "cuCtxGetId";
        result = cuda->driver.ctx_get_id(visit->context, &visit->id);
    }
    if (result == CUDA_SUCCESS && visit->context != NULL) {
        call = "cuCtxPushCurrent";
        result = cuda->driver.ctx_push(visit->context);
        visit->entered = result == CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    cuda_visit_end(cuda, visit);
    return cuda_fail(cuda, result, call);
}

enum ashlar_status cuda_check_work(const struct cuda *cuda, CUstream stream)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result;

    if ((uintptr_t)stream > (uintptr_t)CU_STREAM_LEGACY)
        return ASHLAR_OK;
    result = cuda->driver.stream_is_capturing(stream, &capture);
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    if (cuda_status(result, ASHLAR_ERR_DRIVER) != ASHLAR_ERR_CAPTURE)
        return cuda_fail(cuda, result, "cuStreamIsCapturing");
    return cuda->host->fail(ASHLAR_ERR_CAPTURE,
                            "stream 0x%lx waits for one that is being "
                            "captured, which work on it would spoil; use "
                            "another, or wait for the end of the capture",
                            (unsigned long)(uintptr_t)stream);
}

/* --- records --------------------------------------------------------------- */

struct cuda_context *cuda_context_of(struct cuda *cuda,
                                     const struct cuda_visit *visit)
{
    struct cuda_context *context;

    (void)pthread_mutex_lock(&cuda->lock);
    context = cuda->contexts;
    while (context != NULL &&
           (context->handle != visit->context || context->id != visit->id))
        context = context->next;
    if (context == NULL)
        context = cuda->host->alloc(sizeof(*context));
    if (context != NULL && context->handle == NULL) {
        context->handle = visit->context;
        context->id = visit->id;
        context->next = cuda->contexts;
        cuda->contexts = context;
    }
    (void)pthread_mutex_unlock(&cuda->lock);
    return context;
}

CUresult cuda_context_is_there(const struct cuda *cuda,
                               const struct cuda_context *context,
                               bool *there_out)
{
    unsigned long long id = 0;
    CUresult result = cuda->driver.ctx_get_id(context->handle, &id);

    *there_out = result == CUDA_SUCCESS && id == context->id;
    return result == CUDA_ERROR_CONTEXT_IS_DESTROYED ? CUDA_SUCCESS : result;
}

/* One that was reset meanwhile is no longer the one that was retained. */
static void release_primary(const struct cuda *cuda)
{
    unsigned long long id;

    if (cuda->primary != NULL &&
        cuda->driver.ctx_get_id(cuda->primary, &id) == CUDA_SUCCESS &&
        id == cuda->primary_id)
        (void)cuda->driver.primary_release(cuda->device);
}

/* Modules are unloaded from the current context. */
static void unload(const struct cuda *cuda, const struct cuda_context *context)
{
    CUcontext popped;

    if (context->module == NULL ||
        cuda->driver.ctx_push(context->handle) != CUDA_SUCCESS)
        return;
    (void)cuda->driver.module_unload(context->module);
    (void)cuda->driver.ctx_pop(&popped);
}

void cuda_contexts_close(struct cuda *cuda)
{
    CUstreamCaptureMode mode;
    struct cuda_context *context;
    bool relaxed = cuda_relax(cuda, &mode) == CUDA_SUCCESS;
    bool there;

    while (cuda->contexts != NULL) {
        context = cuda->contexts;
        cuda->contexts = context->next;
        if (cuda_context_is_there(cuda, context, &there) != CUDA_SUCCESS)
            there = false;
        cuda_fences_free(cuda, context->idle, there);
        if (there)
            unload(cuda, context);
        cuda->host->free(context);
    }
    release_primary(cuda);
    if (relaxed)
        cuda_unrelax(cuda, mode);
}
