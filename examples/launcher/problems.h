/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The work: matrices of many shapes to be copied, each from its place in one
 * part of the device's memory to the same place in another.
 *
 *     range    [ from: 0 | 1 |  2  | ... ][ to: 0 | 1 |  2  | ... ][ jobs ]
 *
 * Matrix i has two maps: 2 * i to read it, 2 * i + 1 to write it. Rows lie side
 * by side, so that a tile that is written across the edge of its matrix spoils
 * the next one, and is found.
 */
#ifndef LAUNCHER_PROBLEMS_H
#define LAUNCHER_PROBLEMS_H

#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "driver.h"
#include "kernels.h"

struct problem {
    uint32_t rows, columns;
    uint64_t offset; /* bytes from the start of its part */
};

struct problems {
    size_t count;
    struct problem *each;
    struct ashlar_spec *specs; /* 2 * count, as the maps */
    struct kernels_job *jobs;  /* with the maps' numbers as indices */
    uint32_t *given, *got;     /* what is copied, and what came */
    uint64_t part_bytes;
    struct ashlar_range *range; /* NULL until there is a device */
    uint64_t from, to;          /* the parts' addresses */
    uint64_t jobs_address;
};

/* Shapes, specs without an address, and contents; on the host alone. */
void problems_make(struct problems *problems, size_t count);

/* Memory of the device's for them, and addresses for the specs. */
void problems_place(struct problems *problems, struct ashlar_source *source);

/* The jobs to where copy_grouped finds them. */
void problems_place_jobs(struct problems *problems);

/* Spoil what was copied, in a stream's order. */
void problems_clear(const struct problems *problems, CUstream stream);

/* How many were copied rightly, and nothing beside them. Waits for nothing. */
size_t problems_count_right(struct problems *problems);

/* The device's memory goes when the work on the streams is done. */
void problems_destroy(struct problems *problems,
                      const struct ashlar_fence *fences, size_t n);

#endif
