/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Tensor maps to the slots that a list says, by one small kernel.
 *
 * A module is of one context. So the kernel is loaded once in each, and kept in
 * the context's record: ahead of need in the one that stream 0 is of, by
 * cuda_scatter_load(); in any other by the first that scatters there. Not while
 * the stream is being captured: to load allocates, and may wait for the device.
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

static enum ashlar_status load(const struct cuda *cuda, CUmodule *module_out,
                               CUfunction *kernel_out)
{
    CUresult result =
        cuda->driver.module_load_data(module_out, cuda_scatter_ptx);

    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuModuleLoadData");
    result = cuda->driver.module_get_function(kernel_out, *module_out,
                                              CUDA_SCATTER_KERNEL);
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    (void)cuda->driver.module_unload(*module_out);
    return cuda_fail(cuda, result, "cuModuleGetFunction");
}

/* Keep what was loaded, unless another thread was faster. */
static CUfunction keep(struct cuda *cuda, struct cuda_context *context,
                       CUmodule module, CUfunction kernel)
{
    bool kept;

    (void)pthread_mutex_lock(&cuda->lock);
    kept = context->module == NULL;
    if (kept) {
        context->module = module;
        context->scatter = kernel;
    }
    kernel = context->scatter;
    (void)pthread_mutex_unlock(&cuda->lock);
    if (!kept)
        (void)cuda->driver.module_unload(module);
    return kernel;
}

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
                            "publish on a stream of that context before",
                            (unsigned long)(uintptr_t)stream);
}

/* The kernel in the context of a visit, which is for a stream. */
static enum ashlar_status find_kernel(struct cuda *cuda, CUstream stream,
                                      const struct cuda_visit *visit,
                                      CUfunction *kernel_out)
{
    struct cuda_context *context = cuda_context_of(cuda, visit);
    enum ashlar_status status;
    CUmodule module;

    if (context == NULL)
        return cuda_no_records(cuda);
    (void)pthread_mutex_lock(&cuda->lock);
    *kernel_out = context->scatter;
    (void)pthread_mutex_unlock(&cuda->lock);
    if (*kernel_out != NULL)
        return ASHLAR_OK;
    status = check_not_captured(cuda, stream);
    if (status == ASHLAR_OK)
        status = load(cuda, &module, kernel_out);
    if (status == ASHLAR_OK)
        *kernel_out = keep(cuda, context, module, *kernel_out);
    return status;
}

enum ashlar_status cuda_scatter_load(void *state)
{
    struct cuda *cuda = state;
    struct cuda_visit visit;
    enum ashlar_status status;
    CUfunction kernel;

    status = cuda_visit_begin(cuda, NULL, true, &visit);
    if (status != ASHLAR_OK)
        return status;
    status = find_kernel(cuda, NULL, &visit, &kernel);
    cuda_visit_end(cuda, &visit);
    return status;
}

/* --- scattering ------------------------------------------------------------ */

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
    unsigned blocks = count / MAPS + (count % MAPS != 0);
    struct cuda_visit visit;
    enum ashlar_status status = check(cuda, table, staging, indices);
    CUfunction kernel;
    CUresult result;

    if (status != ASHLAR_OK || count == 0)
        return status;
    status = cuda_visit_begin(cuda, handle, true, &visit);
    if (status != ASHLAR_OK)
        return status;
    status = find_kernel(cuda, handle, &visit, &kernel);
    if (status == ASHLAR_OK) {
        result = cuda->driver.launch_kernel(kernel, blocks, 1, 1, THREADS, 1, 1,
                                            0, handle, arguments, NULL);
        if (result != CUDA_SUCCESS)
            status = cuda_fail(cuda, result, "cuLaunchKernel");
    }
    cuda_visit_end(cuda, &visit);
    return status;
}
