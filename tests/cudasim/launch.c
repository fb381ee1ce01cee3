/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Launching a kernel, if it is a known one. */
#include "config.h"

#include <string.h>

#include "capture.h"
#include "entry.h"
#include "module.h"

#define THREADS_MOST 1024
#define SHARED_MOST  (48u << 10) /* without asking for more */

/* Blocks of a grid, or threads of a block. */
struct shape {
    unsigned x;
    unsigned y;
    unsigned z;
};

static bool is_grid(struct shape grid)
{
    return grid.x > 0 && grid.y > 0 && grid.z > 0 && grid.x <= INT32_MAX &&
           grid.y <= UINT16_MAX && grid.z <= UINT16_MAX;
}

static bool is_block(struct shape block)
{
    return block.x > 0 && block.y > 0 && block.z > 0 &&
           block.x <= THREADS_MOST && block.y <= THREADS_MOST &&
           block.z <= 64 &&
           (uint64_t)block.x * block.y * block.z <= THREADS_MOST;
}

/* Copied at once: they are the caller's again when the call returns. */
static bool read_arguments(struct launch *launch, void *const *arguments)
{
    unsigned i;

    for (i = 0; i < launch->kernel->parameters; i++) {
        if (arguments == NULL || arguments[i] == NULL)
            return false;
        memcpy(&launch->arguments[i], arguments[i], launch->kernel->bytes[i]);
    }
    return true;
}

static CUresult check(const struct function *function, struct shape grid,
                      struct shape block, unsigned shared,
                      void *const *arguments, void *const *extra)
{
    if (!is_grid(grid) || !is_block(block) || shared > SHARED_MOST ||
        (arguments == NULL && extra == NULL && function->parameters > 0))
        return CUDA_ERROR_INVALID_VALUE;
    /* Of both, a driver takes the arguments. */
    return function->kernel == NULL || (arguments == NULL && extra != NULL)
               ? CUDA_ERROR_NOT_SUPPORTED
               : CUDA_SUCCESS;
}

static CUresult launch(CUfunction handle, struct shape grid, struct shape block,
                       unsigned shared, CUstream on, void *const *arguments,
                       void *const *extra)
{
    const struct function *function = module_function(handle);
    struct action action = {.kind = ACTION_KERNEL};
    struct stream *stream;
    CUresult result;

    if (function == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    result = stream_resolve(on, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (stream->context != function->module->context)
        return CUDA_ERROR_INVALID_HANDLE;
    result = check(function, grid, block, shared, arguments, extra);
    if (result != CUDA_SUCCESS)
        return result;
    action.launch.kernel = function->kernel;
    action.launch.threads = (uint64_t)grid.x * block.x;
    if (!read_arguments(&action.launch, arguments))
        return CUDA_ERROR_INVALID_VALUE;
    return capture_or_queue(stream, &action);
}

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned grid_x,
                                unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y,
                                unsigned block_z, unsigned shared,
                                CUstream stream, void **arguments, void **extra)
{
    const struct shape grid = {grid_x, grid_y, grid_z};
    const struct shape block = {block_x, block_y, block_z};
    CUresult result;

    if (enter("cuLaunchKernel", &result))
        result = leave(
            launch(function, grid, block, shared, stream, arguments, extra));
    return result;
}
