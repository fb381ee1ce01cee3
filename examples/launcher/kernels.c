/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "kernels.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver.h"

_Static_assert(sizeof(struct kernels_job) == 16, "copy_grouped reads 16 bytes");

static struct {
    CUmodule module;
    CUfunction nothing;
    CUfunction by_value;
    CUfunction by_index;
    CUfunction grouped;
    bool run; /* this driver runs kernels */
} kernels;

/* What the driver's compiler says is worth more than its result. */
static void load_module(void)
{
    static char log[4096];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof(log)};
    CUresult result = driver.ModuleLoadDataEx(&kernels.module, kernels_ptx, 2,
                                              options, values);

    if (result != CUDA_SUCCESS)
        fprintf(stderr, "%s\n", log);
    driver_must(result, "loading the kernels");
}

static CUfunction find(const char *name)
{
    CUfunction function;

    driver_must(driver.ModuleGetFunction(&function, kernels.module, name),
                name);
    return function;
}

bool kernels_load(void)
{
    CUresult result;

    load_module();
    kernels.nothing = find("nothing");
    kernels.by_value = find("copy_by_value");
    kernels.by_index = find("copy_by_index");
    kernels.grouped = find("copy_grouped");
    result = driver.LaunchKernel(kernels.nothing, 1, 1, 1, 1, 1, 1, 0, NULL,
                                 NULL, NULL);
    kernels.run = result == CUDA_SUCCESS;
    if (result != CUDA_ERROR_NOT_SUPPORTED)
        driver_must(result, "launching a kernel that does nothing");
    return kernels.run;
}

void kernels_unload(void)
{
    CU(driver.ModuleUnload(kernels.module));
}

/* Blocks of one thread. Arguments are read before this returns. */
static void launch(CUfunction function, CUstream stream, uint32_t x, uint32_t y,
                   uint32_t z, void **arguments)
{
    if (kernels.run)
        CU(driver.LaunchKernel(function, x, y, z, 1, 1, 1, 0, stream, arguments,
                               NULL));
}

void kernels_copy_by_value(CUstream stream, const void *from, const void *to,
                           const struct kernels_job *job)
{
    void *arguments[] = {(void *)(uintptr_t)from, (void *)(uintptr_t)to};

    launch(kernels.by_value, stream, job->tiles_across, job->tiles_down, 1,
           arguments);
}

void kernels_copy_by_index(CUstream stream, uint64_t table,
                           const struct kernels_job *job)
{
    struct kernels_job maps = *job;
    void *arguments[] = {&table, &maps.from, &maps.to};

    launch(kernels.by_index, stream, job->tiles_across, job->tiles_down, 1,
           arguments);
}

void kernels_copy_grouped(CUstream stream, uint64_t table, uint64_t jobs,
                          uint32_t count)
{
    void *arguments[] = {&table, &jobs};

    launch(kernels.grouped, stream, count, KERNELS_TILES_MOST,
           KERNELS_TILES_MOST, arguments);
}
