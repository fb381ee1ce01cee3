/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Free runs of a pool: slabs kept apart from single slots.
 *
 *     run slab  [ 3 live ][ 5 free ][ 3 free ][ 120 free            ]
 *     tags       ^3,live   ^5,free   ^3,free   ^120,free
 *
 *     bins[]    one per length that was ever asked for, sorted by length: free
 *               runs of exactly that length, so taking one is a list's head
 *     rest[k]   free stretches of 2^k to 2^(k+1) - 1 slots of any length, to
 *               be cut
 *
 * A run that is put goes to its length's bin uncut. Neighbours are joined only
 * when nothing else can serve (runs_join): then all free runs that no promise
 * keeps go to rest[], as long as they can be made.
 *
 * Invariants:
 *   - the runs of a slab tile it: tags[i].length leads from one to the next;
 *   - a free run is in exactly one list, of a bin or of rest[]; the others are
 *     out of them: live, or spare with a thread (spare.h);
 *   - a bin exists for each length of a run that is out, so a put needs no
 *     memory;
 *   - slots = sum of count over run slabs = out_slots + slots of free runs.
 *
 * All functions: under the pool's lock, unless they say otherwise.
 */
#ifndef ASHLAR_POOL_RUNS_H
#define ASHLAR_POOL_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/slab.h"

struct ashlar_pool;

#define RUNS_CLASSES 32
#define RUNS_HINTS   64 /* a power of two */

/** The free runs of one length. */
struct run_bin {
    uint32_t length;
    uint32_t free; /* runs in the list */
    uint32_t out;  /* runs out of the list */
    uint32_t keep; /* promised: as many shall exist, out or free */
    uint64_t head; /* place of the first free run; 0 for none */
};

struct runs {
    struct run_bin *bins;
    uint32_t bin_count;
    uint32_t bin_room;
    uint32_t hints[RUNS_HINTS];  /* where lengths were last seen among bins */
    uint64_t rest[RUNS_CLASSES]; /* places of first free stretches */
    uint64_t slots;              /* of run slabs */
    uint64_t out_slots;          /* of runs that are out */
    uint64_t out_runs;
    bool loose; /* runs were put since runs_join() */
};

/** The bin of a length, made when missing; NULL when there is no memory. */
struct run_bin *runs_bin_search(struct ashlar_pool *pool, uint32_t length);

/**
 * Take a run from its bin, or cut one from the rest.
 *
 * @return Its slab, and its first slot in *index_out; NULL when neither has
 *         one.
 */
struct slab *runs_take(struct ashlar_pool *pool, struct run_bin *bin,
                       uint32_t *index_out);

/** Put a run back that is out, and nobody's: it was claimed. */
void runs_give(struct ashlar_pool *pool, struct slab *slab, uint32_t index);

/** Cut one free run for a bin from the rest: false when it has none. */
bool runs_stock(struct ashlar_pool *pool, struct run_bin *bin);

/** How many runs of a length the rest could be cut into. */
uint64_t runs_in_rest(struct ashlar_pool *pool, uint32_t length);

/** Call spare runs in and join free neighbours; returns the longest stretch in
 * the rest. */
uint32_t runs_join(struct ashlar_pool *pool);

/** Take a fresh or wholly free slab in: all of it one free stretch. */
void runs_add_slab(struct ashlar_pool *pool, struct slab *slab);

/** Take a slab that is wholly free, and joined, out of the lists. */
void runs_remove_slab(struct ashlar_pool *pool, struct slab *slab);

/** Whether a slab is one stretch of the rest; meaningful after runs_join(). */
bool runs_slab_is_free(const struct ashlar_pool *pool, const struct slab *slab);

#endif
