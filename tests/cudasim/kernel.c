/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "kernel.h"

#include <string.h>

#include "space.h"

#define PIECE         16 /* bytes that a thread of scatter copies */
#define SLOT          128
#define PIECES        (SLOT / PIECE)
#define INDEX         sizeof(uint32_t)
#define COUNT(_array) (sizeof(_array) / sizeof((_array)[0]))

/* What a thread reads or writes in one piece. */
static CUresult check(int device, uint64_t address, uint64_t bytes, bool write)
{
    if (address % bytes != 0)
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    return space_reachable(device, address, bytes, write)
               ? CUDA_SUCCESS
               : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* One thread of scatter: a piece of a slot, to the slot that is listed. */
static CUresult scatter_piece(uint64_t table, uint64_t from, uint64_t indices,
                              uint64_t piece, int device)
{
    uint64_t listed = indices + piece / PIECES * INDEX;
    uint32_t index;
    CUresult result = check(device, listed, INDEX, false);

    from += piece * PIECE;
    if (result == CUDA_SUCCESS)
        result = check(device, from, PIECE, false);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&index, (const void *)(uintptr_t)listed, INDEX);
    table += (uint64_t)index * SLOT + piece % PIECES * PIECE;
    result = check(device, table, PIECE, true);
    if (result == CUDA_SUCCESS)
        memcpy((void *)(uintptr_t)table, (const void *)(uintptr_t)from, PIECE);
    return result;
}

/* ashlar_scatter(table, from, indices, count): slots of 128 bytes, side by side at
 * `from`, to table + index * 128. A thread copies the piece of its number. */
static CUresult scatter(const struct launch *launch, int device)
{
    uint64_t pieces = launch->arguments[3] * PIECES;
    CUresult result = CUDA_SUCCESS;
    uint64_t i;

    for (i = 0; i < launch->threads && i < pieces && result == CUDA_SUCCESS;
         i++)
        result = scatter_piece(launch->arguments[0], launch->arguments[1],
                               launch->arguments[2], i, device);
    return result;
}

static const struct kernel kernels[] = {
    {"ashlar_scatter", 4, {8, 8, 8, 4}, scatter},
};

const struct kernel *kernel_find(const char *name, size_t length)
{
    size_t i;

    for (i = 0; i < COUNT(kernels); i++)
        if (strlen(kernels[i].name) == length &&
            memcmp(kernels[i].name, name, length) == 0)
            return &kernels[i];
    return NULL;
}

CUresult kernel_run(const struct launch *launch, int device)
{
    return launch->kernel->run(launch, device);
}
