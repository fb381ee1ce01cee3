/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What a pool promises, and what it gives back. */
#include "config.h"

#include <unistd.h>

#include "base/align.h"
#include "base/error.h"
#include "base/thread.h"
#include "pool/attach.h"
#include "pool/cache.h"
#include "pool/direct.h"
#include "pool/grow.h"
#include "pool/pending.h"
#include "pool/pool.h"
#include "pool/spare.h"
#include "pool/vacate.h"

/* How far a promise of n slots more goes, and what stands against it. */
struct promise {
    uint64_t target;  /* slots that shall be live at once */
    uint64_t granted; /* to caches, beside */
    uint64_t ceiling; /* single slots that max_slots allows */
};

static struct promise promise_read(struct ashlar_pool *pool, uint64_t n)
{
    struct promise promise;
    uint64_t out;
    uint64_t kept;

    pool_lock(pool);
    spare_call_in(pool);
    out = pool->singles - pool->store.free;
    kept = attach_kept(pool);
    promise.target = n + (out > kept ? out - kept : 0);
    promise.granted = pool->granted;
    promise.ceiling = pool->max_slots - pool->runs.out_slots;
    pool_unlock(pool);
    return promise;
}

/*
 * Near max_slots the calling thread's own cache makes way: what its limit
 * becomes if all else succeeds.
 */
static uint32_t own_limit(const struct cache *cache, struct promise *promise)
{
    uint64_t excess;

    if (cache == NULL)
        return 0;
    if (promise->target + promise->granted <= promise->ceiling)
        return cache->limit;
    excess = promise->target + promise->granted - promise->ceiling;
    if (excess > cache->limit)
        excess = cache->limit;
    promise->granted -= excess;
    return cache->limit - (uint32_t)excess;
}

static enum ashlar_status refuse_promise(struct ashlar_pool *pool, size_t n,
                                         const struct promise *promise)
{
    uint64_t taken = promise->target - n + promise->granted;
    uint64_t most = promise->ceiling > taken ? promise->ceiling - taken : 0;

    return error_set(ASHLAR_ERR_LIMIT,
                     "%zu slots cannot be reserved in pool \"%s\": of its "
                     "max_slots of %lu, %lu are live or in runs and %lu are "
                     "set aside for other caches; %lu can be reserved",
                     n, pool->name, (unsigned long)pool->max_slots,
                     (unsigned long)(pool->max_slots - promise->ceiling +
                                     promise->target - n),
                     (unsigned long)promise->granted, (unsigned long)most);
}

/* Make the promise, if it still stands with what has been attached since. */
static bool promise_make(struct ashlar_pool *pool, uint64_t target)
{
    struct slab_map *map;
    bool stands;
    uint32_t i;

    pool_lock(pool);
    if (target < pool->promised)
        target = pool->promised;
    stands = pool->singles >= target + pool->granted;
    if (stands)
        pool->promised = target;
    map = pool->map;
    for (i = 0; stands && map != NULL && i < map->count; i++)
        if (map->order[i]->kind == SLAB_SINGLES)
            slab_prefault(map->order[i]);
    pool_unlock(pool);
    return stands;
}

enum ashlar_status ashlar_pool_reserve(struct ashlar_pool *pool, size_t n)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_reserve()");
    struct promise promise;
    struct cache *cache;
    uint32_t limit;

    if (status != ASHLAR_OK)
        return status;
    if (n > ASHLAR_POOL_SLOTS_MAX)
        return pool_refuse(pool, error_set(ASHLAR_ERR_INVALID,
                                           "n is %zu; a pool has at most %zu "
                                           "slots",
                                           n, ASHLAR_POOL_SLOTS_MAX));
    (void)pending_collect(pool);
    cache = attach_self(pool);
    do {
        promise = promise_read(pool, n);
        limit = own_limit(cache, &promise);
        if (promise.target + promise.granted > promise.ceiling)
            return pool_refuse(pool, refuse_promise(pool, n, &promise));
        status = grow_singles_to(pool, promise.target + promise.granted);
        if (status != ASHLAR_OK)
            return pool_refuse(pool, status);
        if (cache != NULL)
            cache_lower(cache, limit);
    } while (!promise_make(pool, promise.target));
    return ASHLAR_OK;
}

enum ashlar_status ashlar_pool_reserve_runs(struct ashlar_pool *pool, size_t n,
                                            size_t count)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_reserve_runs()");
    struct run_bin *bin;
    size_t slots;

    if (status != ASHLAR_OK)
        return status;
    if (n == 0 || n > pool->max_slots)
        return pool_refuse(
            pool, error_set(ASHLAR_ERR_INVALID,
                            "runs of %zu slots were asked of pool \"%s\"; give "
                            "1 to %lu",
                            n, pool->name, (unsigned long)pool->max_slots));
    if (!multiply_size(n, count, &slots) || slots > pool->max_slots)
        return pool_refuse(
            pool,
            error_set(ASHLAR_ERR_LIMIT,
                      "%zu runs of %zu slots are more than the max_slots "
                      "of pool \"%s\", which is %lu",
                      count, n, pool->name, (unsigned long)pool->max_slots));
    pool_lock(pool);
    bin = runs_bin(pool, (uint32_t)n);
    pool_unlock(pool);
    if (bin == NULL)
        status = error_set(ASHLAR_ERR_NO_MEMORY,
                           "no host memory for the list of runs of %zu slots "
                           "in pool \"%s\"",
                           n, pool->name);
    else
        status = grow_run_stock(pool, (uint32_t)n, count);
    return status == ASHLAR_OK ? ASHLAR_OK : pool_refuse(pool, status);
}

/* Give the whole pages of some slots back; returns their bytes. */
static size_t purge(struct ashlar_pool *pool, const struct slab *slab,
                    uint32_t begin, uint32_t end)
{
    size_t stride = pool->plan.geometry.stride;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)slab_slot(slab, stride, begin);
    uintptr_t to = (uintptr_t)slab_slot(slab, stride, end);

    from = align_up(from, page);
    to = align_down(to, page);
    if (from >= to)
        return 0;
    __atomic_fetch_add(&pool->source_calls, 1, __ATOMIC_RELAXED);
    pool->plan.source->ops.block_purge(pool->plan.source->state, (void *)from,
                                       to - from);
    return to - from;
}

static size_t trim_singles(struct ashlar_pool *pool, struct slab *slab)
{
    struct extent extent = store_stretch(slab, 0, slab->count);
    size_t bytes = 0;

    while (extent.begin < extent.end) {
        bytes += purge(pool, slab, extent.begin, extent.end);
        extent = store_stretch(slab, extent.end, slab->count);
    }
    return bytes;
}

static size_t trim_runs(struct ashlar_pool *pool, struct slab *slab)
{
    size_t bytes = 0;
    uint32_t next;
    uint32_t i;

    for (i = 0; i < slab->count; i = next) {
        next = i + slab->tags[i].length;
        if (run_state_of(&slab->tags[i]) == RUN_FREE)
            bytes += purge(pool, slab, i, next);
    }
    return bytes;
}

/* Promises end, and free neighbours grow together. */
static void drop_promises(struct ashlar_pool *pool)
{
    uint32_t i;

    pool_lock(pool);
    pool->promised = 0;
    for (i = 0; i < pool->runs.bin_count; i++)
        pool->runs.bins[i].keep = 0;
    (void)runs_join(pool);
    pool_unlock(pool);
}

enum ashlar_status ashlar_pool_trim(struct ashlar_pool *pool, size_t *bytes_out)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_trim()");
    struct slab_map *map;
    struct slab *slab;
    size_t bytes = 0;
    uint32_t i;

    if (status != ASHLAR_OK)
        return status;
    (void)pending_collect(pool);
    attach_flush_self(pool);
    drop_promises(pool);
    if (pool->plan.range != NULL) {
        status = vacate_trim(pool, &bytes);
        if (status == ASHLAR_OK && bytes_out != NULL)
            *bytes_out = bytes;
        return status == ASHLAR_OK ? ASHLAR_OK : pool_refuse(pool, status);
    }
    map = pool_map(pool);
    for (i = 0; map != NULL && i < map->count; i++) {
        /* One slab at a time, so that others come in between. */
        slab = map->order[i];
        pool_lock(pool);
        bytes += slab->kind == SLAB_SINGLES ? trim_singles(pool, slab)
                                            : trim_runs(pool, slab);
        pool_unlock(pool);
    }
    if (bytes_out != NULL)
        *bytes_out = bytes;
    return ASHLAR_OK;
}
