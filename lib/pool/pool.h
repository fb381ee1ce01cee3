/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The pool's record, and how the files of this floor hang together.
 *
 *     pool.c   the public calls on slots ┐
 *     caller.c the caller-held cache     ├─> cache.c ─> store.c ─> (bitmaps)
 *     attach.c a thread and its cache    ┘       └────> grow.c ──> slab.c
 *     ahead.c  windows marked ahead
 *     run.c    the public calls on runs ──> spare.c ──> runs.c ───> grow.c
 *     life.c   create, destroy, list, fork;  reserve.c promises and trim
 *     query.c  owns, index, at, walk, statistics
 *     pending.c  put_after      vacate.c  the far end of pools on ranges
 *
 *     slots of a singles slab are, each, in exactly one place:
 *
 *         caller (state 1) <─> cache (extent) <─> store (bit set)
 *
 * Invariants, while no call runs:
 *   - singles = sum of count over singles slabs, runs.slots over run slabs,
 *     and both together are at most max_slots;
 *   - store.free = number of bits set; singles - store.free = live + cached;
 *   - granted = sum of the caches' limits, and where nothing stood in the way
 *     (max_slots, memory) singles >= promised + granted;
 *   - a record is never freed, so a stale handle can be told.
 *
 * Locks, in the order in which they may be held together: life (life.c), grow,
 * lock, thread_lock(). `lock` guards what changes often and is never held over
 * a call into the source, but for a trim; `grow` is.
 */
#ifndef ASHLAR_POOL_POOL_H
#define ASHLAR_POOL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/pool.h>

#include "base/lock.h"
#include "pool/pending.h"
#include "pool/runs.h"
#include "pool/slab.h"
#include "pool/store.h"

#define POOL_NAME_BYTES 64

/** Locals of a thread for each pool: its cache, at key, and its spare runs. */
#define POOL_KEYS 2u

struct cache;
struct spares;

enum pool_life {
    POOL_DEAD = 0,
    POOL_LIVE = 1,
    POOL_FORKED = 2 /* on a range of the parent's */
};

struct ashlar_pool {
    /* Written when the pool is made, read by every call. */
    uint32_t key;         /* of the threads' locals; the record's for ever */
    uint32_t life;        /* enum pool_life; atomic */
    uint32_t flags;       /* as given */
    bool checked;         /* puts are checked */
    bool watched;         /* Valgrind or AddressSanitizer looks on: no caches */
    uint32_t cache_slots; /* most in a thread's cache; 0: no such caches */
    uint64_t max_slots;
    size_t object_bytes;
    struct slab_plan plan;
    const struct ashlar_type *type;
    struct slab_map *map; /* atomic; NULL without slabs */
    char name[POOL_NAME_BYTES];

    /* Counted without a lock. */
    uint64_t refusals;
    uint64_t source_calls;

    struct lock grow __attribute__((aligned(64))); /* one grows at a time */
    struct lock lock __attribute__((aligned(64)));

    /* Under lock; singles and runs.slots change with grow held too. */
    struct store store;
    struct runs runs;
    uint64_t singles;  /* slots of singles slabs */
    uint64_t promised; /* reserve(): so many may be live at once */
    uint64_t granted;  /* sum of the caches' limits */
    uint32_t cache_count;
    struct cache *caches;
    struct cache *ahead; /* those whose window is marked ahead */
    struct spares *spares;
    uint64_t takes;
    uint64_t gives;
    uint64_t duplicates;
    uint64_t peak;

    struct pending pending;

    /* Written under lock, and read without it: see ahead.h. */
    uint64_t ahead_serial __attribute__((aligned(64)));

    /* Under the life lock. */
    struct ashlar_pool *next;
    struct ashlar_pool *previous;
};

/** Set the error of a NULL or destroyed pool. */
enum ashlar_status pool_refuse_handle(struct ashlar_pool *pool,
                                      const char *call);

/** Refuse NULL and destroyed pools: ASHLAR_OK, or the error set. */
static inline enum ashlar_status pool_check(struct ashlar_pool *pool,
                                            const char *call)
{
    if (ASHLAR_LIKELY(pool != NULL &&
                      __atomic_load_n(&pool->life, __ATOMIC_ACQUIRE) ==
                          POOL_LIVE))
        return ASHLAR_OK;
    return pool_refuse_handle(pool, call);
}

/** Count a refusal, and return its status. */
enum ashlar_status pool_refuse(struct ashlar_pool *pool,
                               enum ashlar_status status);

/** The slabs; no lock needed. NULL without slabs. */
static inline struct slab_map *pool_map(struct ashlar_pool *pool)
{
    return __atomic_load_n(&pool->map, __ATOMIC_ACQUIRE);
}

/** All slots, of both kinds. */
static inline uint64_t pool_capacity(const struct ashlar_pool *pool)
{
    return pool->singles + pool->runs.slots;
}

/** Keep the highest number of slots that were outside the store. */
static inline void pool_note_peak(struct ashlar_pool *pool)
{
    uint64_t out = pool->singles - pool->store.free + pool->runs.out_slots;

    if (out > pool->peak)
        pool->peak = out;
}

/** Take and give back the pool's lock. */
static inline void pool_lock(struct ashlar_pool *pool)
{
    lock_take(&pool->lock);
}

static inline void pool_unlock(struct ashlar_pool *pool)
{
    lock_give(&pool->lock);
}

/** The bin of a run's length; NULL when there is no memory to make it. */
static inline struct run_bin *runs_bin(struct ashlar_pool *pool,
                                       uint32_t length)
{
    const struct runs *runs = &pool->runs;
    uint32_t hint = runs->hints[length % RUNS_HINTS];

    if (ASHLAR_LIKELY(hint < runs->bin_count &&
                      runs->bins[hint].length == length))
        return &runs->bins[hint];
    return runs_bin_search(pool, length);
}

/** Start what all pools need: jemalloc, hooks. 0, or -1 when it failed. */
int life_start(void);

/** The lock over the list of pools, and over caches that change hands. */
void life_lock(void);
void life_unlock(void);

#endif
