/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Three kernels that copy a matrix of 32-bit elements, tile by tile, from one
 * tensor map to another. They differ in where the maps come from:
 *
 *     copy_by_value    two parameters of the launch      a launch a matrix
 *     copy_by_index    a table on the device, 2 indices  a launch a matrix
 *     copy_grouped     a table on the device, jobs       a launch for all
 *
 * They are PTX, which the driver compiles when it loads them: no toolkit is
 * needed where this runs.
 */
#ifndef LAUNCHER_KERNELS_H
#define LAUNCHER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

/* A tile is a square of as many elements; a block copies one. */
#define KERNELS_TILE 32u

/* The most tiles across and down a matrix that copy_grouped takes. */
#define KERNELS_TILES_MOST 2u

/* What copy_grouped does for one matrix. It lies in the device's memory. */
struct kernels_job {
    uint32_t from, to; /* maps: indices in the table */
    uint32_t tiles_across, tiles_down;
};

/* The text, for the driver and for ptxas. */
extern const char kernels_ptx[];

/*
 * Load them into the current context. False when this driver runs no kernels,
 * as a simulated one: then the launches below do nothing.
 */
bool kernels_load(void);
void kernels_unload(void);

/* From *from to *to, which may be written again when the call returns. */
void kernels_copy_by_value(CUstream stream, const void *from, const void *to,
                           const struct kernels_job *job);

/* From the job's maps in the table that begins at this address. */
void kernels_copy_by_index(CUstream stream, uint64_t table,
                           const struct kernels_job *job);

/* All of `count` jobs that lie at this address of the device's. */
void kernels_copy_grouped(CUstream stream, uint64_t table, uint64_t jobs,
                          uint32_t count);

#endif
