/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "context.h"

#include <stdlib.h>

#include "capture.h"
#include "entry.h"
#include "module.h"
#include "space.h"
#include "stream.h"
#include "versions.h"

#define STACK_DEPTH 64

/* A thread's contexts, by handle. Those of an earlier machine do not count. */
struct stack {
    uint64_t generation;
    unsigned depth;
    uint64_t handles[STACK_DEPTH];
};

static struct index contexts;
static struct context *primaries[MAX_DEVICES];
static uint64_t last_id;

static struct stack *stack(void)
{
    static _Thread_local struct stack stack;
    uint64_t generation = atomic_load(&machine.generation);

    if (stack.generation != generation) {
        stack.generation = generation;
        stack.depth = 0;
    }
    return &stack;
}

struct context *context_find(CUcontext handle)
{
    struct context *context =
        index_find(&contexts, (uint64_t)(uintptr_t)handle);

    machine.bogus += context == NULL;
    return context;
}

struct context *context_of(uint64_t id)
{
    struct context *context;
    size_t i;

    for (i = 0; i < contexts.count; i++) {
        context = (struct context *)contexts.items[i];
        if (context->id == id && context->alive)
            return context;
    }
    return NULL;
}

CUresult context_current(struct context **context_out)
{
    const struct stack *mine = stack();
    struct context *context;

    if (mine->depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    context = index_find(&contexts, mine->handles[mine->depth - 1]);
    if (context == NULL || !context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *context_out = context;
    return context->failure;
}

void context_fail(struct context *context, CUresult failure)
{
    if (context->failure == CUDA_SUCCESS)
        context->failure = failure;
}

/* Contexts that are gone stay known, so that their handles mean nothing else. */
static struct context *make(int device, unsigned flags)
{
    struct context *context = machine_object(&contexts, sizeof(*context));

    if (context == NULL)
        return NULL;
    context->device = device;
    context->flags = flags;
    return context;
}

static void begin(struct context *context)
{
    context->id = ++last_id;
    context->alive = true;
    context->failure = CUDA_SUCCESS;
}

static void end(struct context *context)
{
    if (!context->alive)
        return;
    stream_drop(context->id);
    module_drop(context->id);
    space_drop(context->id);
    context->alive = false;
}

struct context *context_primary(int device)
{
    if (primaries[device] == NULL) {
        primaries[device] = make(device, 0);
        if (primaries[device] != NULL)
            primaries[device]->primary = true;
    }
    return primaries[device];
}

uint64_t context_retained(void)
{
    uint64_t retained = 0;
    unsigned i;

    for (i = 0; i < MAX_DEVICES; i++)
        if (primaries[i] != NULL)
            retained += primaries[i]->retained;
    return retained;
}

static bool is_device(CUdevice device)
{
    return device >= 0 && (unsigned)device < machine.settings.devices;
}

static CUcontext handle_of(const struct context *context)
{
    return (CUcontext)(uintptr_t)context->handle.start;
}

static CUresult retain(CUcontext *handle, CUdevice device)
{
    struct context *context;

    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    context = context_primary(device);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!context->alive)
        begin(context);
    context->retained++;
    *handle = handle_of(context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult result;

    if (enter("cuDevicePrimaryCtxRetain", &result))
        result = leave(retain(context, device));
    return result;
}

static CUresult release(CUdevice device)
{
    struct context *context;

    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    context = primaries[device];
    if (context == NULL || context->retained == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->retained == 0)
        end(context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUresult result;

    if (enter("cuDevicePrimaryCtxRelease", &result))
        result = leave(release(device));
    return result;
}

/* Who retained it has still to release it. */
static CUresult reset(CUdevice device)
{
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    if (primaries[device] != NULL)
        end(primaries[device]);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxReset(CUdevice device)
{
    CUresult result;

    if (enter("cuDevicePrimaryCtxReset", &result))
        result = leave(reset(device));
    return result;
}

static CUresult get_state(CUdevice device, unsigned *flags, int *active)
{
    const struct context *context;

    if (flags == NULL || active == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    context = primaries[device];
    *flags = context == NULL ? 0 : context->flags;
    *active = context != NULL && context->alive;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
                                            int *active)
{
    CUresult result;

    if (enter("cuDevicePrimaryCtxGetState", &result))
        result = leave(get_state(device, flags, active));
    return result;
}

static CUresult push(CUcontext handle)
{
    struct stack *mine = stack();
    const struct context *context;

    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    context = context_find(handle);
    if (context == NULL)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    if (mine->depth == STACK_DEPTH)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mine->handles[mine->depth++] = context->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxPushCurrent(CUcontext context)
{
    CUresult result;

    if (enter("cuCtxPushCurrent", &result))
        result = leave(push(context));
    return result;
}

static CUresult pop(CUcontext *handle)
{
    struct stack *mine = stack();

    if (mine->depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    mine->depth--;
    if (handle != NULL)
        *handle = (CUcontext)(uintptr_t)mine->handles[mine->depth];
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxPopCurrent(CUcontext *context)
{
    CUresult result;

    if (enter("cuCtxPopCurrent", &result))
        result = leave(pop(context));
    return result;
}

/* The last one is replaced; NULL takes it away. */
static CUresult set_current(CUcontext handle)
{
    struct stack *mine = stack();
    struct stack before = *mine;
    CUresult result;

    if (mine->depth > 0)
        mine->depth--;
    if (handle == NULL)
        return CUDA_SUCCESS;
    result = push(handle);
    if (result != CUDA_SUCCESS)
        *mine = before;
    return result;
}

CUresult CUDAAPI cuCtxSetCurrent(CUcontext context)
{
    CUresult result;

    if (enter("cuCtxSetCurrent", &result))
        result = leave(set_current(context));
    return result;
}

static CUresult get_current(CUcontext *handle)
{
    const struct stack *mine = stack();

    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *handle = mine->depth == 0
                  ? NULL
                  : (CUcontext)(uintptr_t)mine->handles[mine->depth - 1];
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *context)
{
    CUresult result;

    if (enter("cuCtxGetCurrent", &result))
        result = leave(get_current(context));
    return result;
}

static CUresult get_device(CUdevice *device)
{
    struct context *context;
    CUresult result = context_current(&context);

    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        *device = context->device;
    return result;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device)
{
    CUresult result;

    if (enter("cuCtxGetDevice", &result))
        result = leave(get_device(device));
    return result;
}

static CUresult get_id(CUcontext handle, unsigned long long *id)
{
    struct context *context;
    CUresult result = CUDA_SUCCESS;

    if (id == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle == NULL) {
        result = context_current(&context);
    } else {
        context = context_find(handle);
        if (context == NULL)
            return CUDA_ERROR_INVALID_CONTEXT;
        if (!context->alive)
            return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    }
    if (result == CUDA_SUCCESS)
        *id = context->id;
    return result;
}

CUresult CUDAAPI cuCtxGetId(CUcontext context, unsigned long long *id)
{
    CUresult result;

    if (enter("cuCtxGetId", &result))
        result = leave(get_id(context, id));
    return result;
}

static CUresult synchronize(void)
{
    struct context *context;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    result = capture_forbid_context(context->id);
    if (result != CUDA_SUCCESS)
        return result;
    stream_await_context(context->id);
    return context->failure;
}

CUresult CUDAAPI cuCtxSynchronize(void)
{
    CUresult result;

    if (enter("cuCtxSynchronize", &result))
        result = leave(synchronize());
    return result;
}

static CUresult create(CUcontext *handle, unsigned flags, CUdevice device)
{
    struct context *context;
    CUresult result;

    if (handle == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    context = make(device, flags);
    if (context == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    begin(context);
    result = push(handle_of(context));
    if (result != CUDA_SUCCESS) {
        end(context);
        return result;
    }
    *handle = handle_of(context);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned flags,
                                CUdevice device)
{
    CUresult result;

    if (enter("cuCtxCreate", &result))
        result = leave(create(context, flags, device));
    return result;
}

#if CUDA_VERSION >= 12050
/* Its parameters ask for parts of a device, of which this one has none. */
CUresult CUDAAPI cuCtxCreate_v4(CUcontext *context,
                                CUctxCreateParams *parameters, unsigned flags,
                                CUdevice device)
{
    CUresult result;

    if (enter("cuCtxCreate", &result))
        result = leave(parameters != NULL ? CUDA_ERROR_NOT_SUPPORTED
                                          : create(context, flags, device));
    return result;
}
#endif

/* It leaves the calling thread's stack if it is current there. */
static CUresult destroy(CUcontext handle)
{
    struct stack *mine = stack();
    struct context *context = context_find(handle);

    if (context == NULL || context->primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    end(context);
    if (mine->depth > 0 &&
        mine->handles[mine->depth - 1] == context->handle.start)
        mine->depth--;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuCtxDestroy(CUcontext context)
{
    CUresult result;

    if (enter("cuCtxDestroy", &result))
        result = leave(destroy(context));
    return result;
}

void context_clear(void)
{
    size_t i;

    for (i = 0; i < contexts.count; i++) {
        end((struct context *)contexts.items[i]);
        free(contexts.items[i]);
    }
    index_clear(&contexts);
    for (i = 0; i < MAX_DEVICES; i++)
        primaries[i] = NULL;
    last_id = 0;
}
