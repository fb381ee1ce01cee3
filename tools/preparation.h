/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The main job: a pool of descriptor slots that has a run ready for every
 * instance of every kernel of a manifest.
 *
 *     kernels  [0]      [1]  [2]
 *     first    0        2    3        a kernel's first run in runs; and their
 *     runs     [r0][r1] [r2] [r3]...  number behind the last kernel's
 *               |
 *               v
 *     pool     [slot][slot]...        tensor_count slots side by side
 *
 * A kernel without tensors has no runs.
 */
#ifndef ASHLAR_TOOLS_PREPARATION_H
#define ASHLAR_TOOLS_PREPARATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/pool.h>

#include "manifest.h"
#include "progress.h"

struct preparation {
    const struct manifest *manifest;
    struct ashlar_pool *pool;
    size_t stride; /* bytes of a slot */
    size_t alignment;
    uint64_t *first;     /* per kernel, and one more */
    uint64_t *taken;     /* per kernel: runs of it in hand, or once in hand */
    size_t *residues;    /* per kernel: the most of address % alignment */
    void **runs;         /* NULL where none is in hand */
    uint64_t slots;      /* descriptors taken */
    size_t residue;      /* the most of all kernels */
    uint64_t reserve_ns; /* to reserve all runs */
    uint64_t take_ns;    /* to get them */
    uint64_t slabs;      /* asked of the source */
    uint64_t slab_bytes;
    uint64_t calls_reserved; /* into the source, when all was reserved */
    bool interrupted;        /* stop_wanted() came before the last run */
};

/**
 * Make the pool, reserve and take all runs, and look at every slot's address.
 *
 * @param manifest     Borrowed until preparation_end().
 * @param concurrent   How many runs of one kernel may be in hand at once
 *                     later, when more than its instances.
 * @param preparation  Receives it; to be given to preparation_end() in any
 *                     case.
 *
 * @return False when the library refused; ashlar_last_error_message() says
 *         why.
 */
bool preparation_make(const struct manifest *manifest, uint64_t concurrent,
                      struct progress *progress,
                      struct preparation *preparation);

/** Put all runs back into the pool, for launchers to take. */
bool preparation_return(struct preparation *preparation);

/** Calls into the source since everything was reserved. */
uint64_t preparation_source_calls(const struct preparation *preparation);

void preparation_end(struct preparation *preparation);

#endif
