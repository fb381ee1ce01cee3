/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Tensor maps to the slots that a list says, by one small kernel.
 *
 * A module is of one context. So the kernel is loaded once in each, and kept in
 * the context's record: ahead of need in the one that stream 0 is of, by
 * cuda_scatter_load(); in any other by the first that scatters there. Not while
 * the stream is being captured: to load allocates, and may wait for the device.
 * Drivers load lazily: not before cuModuleGetFunction(), which is called at once.
 *
 * To unload waits for all work of the context (an H200 was asked), so what was
 * loaded stays until the source is closed, and threads that want the kernel at
 * once take turns: none has a second one to get rid of.
 */
#include "config.h"

#include "context.h"
#include "error.h"
#include "scatter_ptx.h"

/* 32 maps a block: few blocks for many maps, and one for a few. */
#define THREADS 256
#define MAPS    (THREADS / CUDA_SCATTER_THREADS_PER_MAP)

/* What the kernel reads at a time of maps and of indices. */
#define STAGING_ALIGNMENT 16
#define INDEX_ALIGNMENT   4

/* --- loading --------------------------------------------------------------- */

/* The kernel in a context; NULL: it is not loaded there. */
static CUfunction find_kernel(struct cuda *cuda,
                              const struct cuda_context *context)
{
    CUfunction kernel;

    (void)pthread_mutex_lock(&cuda->lock);
    kernel = context->scatter;
    (void)pthread_mutex_unlock(&cuda->lock);
    return kernel;
}

static void keep(struct cuda *cuda, struct cuda_context *context,
                 CUmodule module, CUfunction kernel)
{
    (void)pthread_mutex_lock(&cuda->lock);
    context->module = module;
    context->scatter = kernel;
    (void)pthread_mutex_unlock(&cuda->lock);
}

static enum ashlar_status load_alone(struct cuda *cuda,
                                     struct cuda_context *context)
{
    CUfunction kernel;
    CUmodule module;
    CUresult result = cuda->driver.module_load_data(&module, cuda_scatter_ptx);

    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuModuleLoadData");
    result =
        cuda->driver.module_get_function(&kernel, module, CUDA_SCATTER_KERNEL);
    if (result != CUDA_SUCCESS) {
        (void)cuda->driver.module_unload(module);
        return cuda_fail(cuda, result, "cuModuleGetFunction");
    }
    keep(cuda, context, module, kernel);
    return ASHLAR_OK;
}

/* Have the kernel in the context of a visit, which is the current one. */
static enum ashlar_status load(struct cuda *cuda, struct cuda_context *context)
{
    enum ashlar_status status = ASHLAR_OK;

    (void)pthread_mutex_lock(&cuda->loading);
    if (find_kernel(cuda, context) == NULL)
        status = load_alone(cuda, context);
    (void)pthread_mutex_unlock(&cuda->loading);
    return status;
}

enum ashlar_status cuda_scatter_load(void *state)
{
    struct cuda *cuda = state;
    struct cuda_context *context;
    struct cuda_visit visit;
    enum ashlar_status status;

    status = cuda_visit_begin(cuda, NULL, true, &visit);
    if (status != ASHLAR_OK)
        return status;
    context = cuda_context_of(cuda, &visit);
    if (context == NULL)
        status = cuda_no_records(cuda);
    else
        status = load(cuda, context);
    cuda_visit_end(cuda, &visit);
    return status;
}

/* --- scattering ------------------------------------------------------------ */

static enum ashlar_status check_not_captured(const struct cuda *cuda,
                                             CUstream stream)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    CUresult result = cuda->driver.stream_is_capturing(stream, &capture);

    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuStreamIsCapturing");
    if (capture == CU_STREAM_CAPTURE_STATUS_NONE)
        return ASHLAR_OK;
    return cuda->host->fail(ASHLAR_ERR_CAPTURE,
                            "stream 0x%lx is being captured, and the kernel "
                            "that scatters is not loaded in its context; "
                            "scatter on a stream of that context before",
                            (unsigned long)(uintptr_t)stream);
}

/* In the context of a visit, which is the stream's. */
static enum ashlar_status launch(struct cuda *cuda,
                                 const struct cuda_visit *visit,
                                 CUstream stream, uint32_t count,
                                 void **arguments)
{
    struct cuda_context *context = cuda_context_of(cuda, visit);
    unsigned blocks = count / MAPS + (count % MAPS != 0);
    enum ashlar_status status = ASHLAR_OK;
    CUresult result;

    if (context == NULL)
        return cuda_no_records(cuda);
    if (find_kernel(cuda, context) == NULL) {
        status = check_not_captured(cuda, stream);
        if (status == ASHLAR_OK)
            status = load(cuda, context);
    }
    if (status != ASHLAR_OK)
        return status;
    result =
        cuda->driver.launch_kernel(find_kernel(cuda, context), blocks, 1, 1,
                                   THREADS, 1, 1, 0, stream, arguments, NULL);
    return result == CUDA_SUCCESS ? ASHLAR_OK
                                  : cuda_fail(cuda, result, "cuLaunchKernel");
}

static enum ashlar_status misaligned(const struct cuda *cuda, const char *what,
                                     uint64_t address, unsigned alignment)
{
    return cuda->host->fail(ASHLAR_ERR_MISALIGNED,
                            "%s are at 0x%lx; to be scattered they must be at "
                            "a multiple of %u",
                            what, (unsigned long)address, alignment);
}

/* A kernel that trips over an address takes its context along. */
static enum ashlar_status check(const struct cuda *cuda, uint64_t table,
                                uint64_t staging, uint64_t indices)
{
    if (table % ASHLAR_TENSOR_MAP_BYTES != 0)
        return misaligned(cuda, "the slots of a table", table,
                          ASHLAR_TENSOR_MAP_BYTES);
    if (staging % STAGING_ALIGNMENT != 0)
        return misaligned(cuda, "tensor maps", staging, STAGING_ALIGNMENT);
    if (indices % INDEX_ALIGNMENT != 0)
        return misaligned(cuda, "indices", indices, INDEX_ALIGNMENT);
    return ASHLAR_OK;
}

enum ashlar_status cuda_scatter(void *state, uint64_t table, uint64_t staging,
                                uint64_t indices, uint32_t count,
                                uint64_t stream)
{
    struct cuda *cuda = state;
    CUstream handle = (CUstream)(uintptr_t)stream;
    void *arguments[] = {&table, &staging, &indices, &count};
    struct cuda_visit visit;
    enum ashlar_status status = check(cuda, table, staging, indices);

    if (status != ASHLAR_OK || count == 0)
        return status;
    status = cuda_visit_begin(cuda, handle, true, &visit);
    if (status != ASHLAR_OK)
        return status;
    status = cuda_check_work(cuda, handle);
    if (status == ASHLAR_OK)
        status = launch(cuda, &visit, handle, count, arguments);
    cuda_visit_end(cuda, &visit);
    return status;
}
