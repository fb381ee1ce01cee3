/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Questions about a pool: whose address, which index, what is live, how much. */
#include "config.h"

#include <ashlar/stats.h>

#include "base/error.h"
#include "base/options.h"
#include "pool/attach.h"
#include "pool/pool.h"
#include "pool/spare.h"
#include "pool/state.h"

int ashlar_pool_owns(struct ashlar_pool *pool, const void *address)
{
    if (pool == NULL ||
        __atomic_load_n(&pool->life, __ATOMIC_ACQUIRE) != POOL_LIVE)
        return 0;
    return slab_map_find(pool_map(pool), (uintptr_t)address) != NULL;
}

enum ashlar_status ashlar_pool_index(struct ashlar_pool *pool,
                                     const void *address, size_t *index_out)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_index()");
    struct slab *slab;

    if (status != ASHLAR_OK)
        return status;
    if (address == NULL || index_out == NULL)
        return pool_refuse(
            pool, error_set(ASHLAR_ERR_INVALID,
                            "ashlar_pool_index() was given NULL for "
                            "%s",
                            address == NULL ? "address" : "index_out"));
    slab = slab_map_find(pool_map(pool), (uintptr_t)address);
    if (slab == NULL)
        return pool_refuse(pool, error_set(ASHLAR_ERR_WRONG_OWNER,
                                           "%p is no address of pool \"%s\"",
                                           address, pool->name));
    *index_out = slab->first + ((uintptr_t)address - (uintptr_t)slab->base) /
                                   pool->plan.geometry.stride;
    return ASHLAR_OK;
}

void *ashlar_pool_at(struct ashlar_pool *pool, size_t index)
{
    struct slab *slab;

    if (pool_check(pool, "ashlar_pool_at()") != ASHLAR_OK)
        return NULL;
    slab = slab_map_at(pool_map(pool), index);
    if (slab == NULL) {
        (void)pool_refuse(pool, error_set(ASHLAR_ERR_INVALID,
                                          "index is %zu, which pool \"%s\" has "
                                          "not reached",
                                          index, pool->name));
        return NULL;
    }
    return slab_slot(slab, pool->plan.geometry.stride,
                     (uint32_t)(index - slab->first));
}

struct walk {
    ashlar_pool_live_fn *fn;
    void *user;
    size_t stride;
};

static int walk_singles(struct ashlar_pool *pool, const struct walk *walk,
                        struct slab *slab)
{
    struct ahead_known known = {NULL, 0, 0, 0};
    uint32_t i;

    for (i = 0; i < slab->count; i++)
        if (ahead_is_live(pool, &known, slab, i) &&
            walk->fn(slab_slot(slab, walk->stride, i), 1, walk->user) != 0)
            return 1;
    return 0;
}

#define WALK_RUNS 32

/* Live runs of a slab from slot `from` on, a few at a time. */
static uint32_t read_runs(struct ashlar_pool *pool, struct slab *slab,
                          uint32_t from, struct extent *runs_out,
                          uint32_t *next_out)
{
    uint32_t count = 0;
    uint32_t i;

    pool_lock(pool);
    for (i = 0; slab->kind == SLAB_RUNS && i < slab->count && count < WALK_RUNS;
         i += slab->tags[i].length)
        if (i >= from && run_state_of(&slab->tags[i]) == RUN_LIVE)
            runs_out[count++] =
                (struct extent){slab, i, i + slab->tags[i].length};
    pool_unlock(pool);
    *next_out = i;
    return count;
}

static int walk_runs(struct ashlar_pool *pool, const struct walk *walk,
                     struct slab *slab)
{
    struct extent runs[WALK_RUNS];
    uint32_t count;
    uint32_t next = 0;
    uint32_t i;

    do {
        count = read_runs(pool, slab, next, runs, &next);
        for (i = 0; i < count; i++)
            if (walk->fn(slab_slot(slab, walk->stride, runs[i].begin),
                         runs[i].end - runs[i].begin, walk->user) != 0)
                return 1;
    } while (count == WALK_RUNS);
    return 0;
}

enum ashlar_status ashlar_pool_for_each_live(struct ashlar_pool *pool,
                                             ashlar_pool_live_fn *fn,
                                             void *user)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_for_each_live()");
    struct walk walk = {fn, user, 0};
    struct slab_map *map;
    int ended = 0;
    uint32_t i;

    if (status != ASHLAR_OK)
        return status;
    if (fn == NULL)
        return pool_refuse(pool,
                           error_set(ASHLAR_ERR_INVALID,
                                     "ashlar_pool_for_each_live() was given "
                                     "NULL for fn"));
    if (!pool->checked)
        return pool_refuse(pool,
                           error_set(ASHLAR_ERR_UNSUPPORTED,
                                     "pool \"%s\" is unchecked and does not "
                                     "know which slots are live",
                                     pool->name));
    walk.stride = pool->plan.geometry.stride;
    map = pool_map(pool);
    for (i = 0; map != NULL && i < map->count && !ended; i++)
        ended = slab_kind_of(map->order[i]) == SLAB_SINGLES
                    ? walk_singles(pool, &walk, map->order[i])
                    : walk_runs(pool, &walk, map->order[i]);
    return ASHLAR_OK;
}

struct ashlar_range *ashlar_pool_range(struct ashlar_pool *pool)
{
    if (pool_check(pool, "ashlar_pool_range()") != ASHLAR_OK)
        return NULL;
    if (pool->plan.range == NULL)
        (void)pool_refuse(pool, error_set(ASHLAR_ERR_UNSUPPORTED,
                                          "pool \"%s\" stands on blocks of the "
                                          "source \"%s\", not on a range",
                                          pool->name,
                                          pool->plan.source->name));
    return pool->plan.range;
}

const struct ashlar_type *ashlar_pool_type(struct ashlar_pool *pool)
{
    return pool_check(pool, "ashlar_pool_type()") == ASHLAR_OK ? pool->type
                                                               : NULL;
}

const char *ashlar_pool_name(struct ashlar_pool *pool)
{
    return pool_check(pool, "ashlar_pool_name()") == ASHLAR_OK ? pool->name
                                                               : NULL;
}

static void count_slabs(const struct ashlar_pool *pool,
                        struct ashlar_pool_stats *stats)
{
    const struct slab_map *map = pool->map;
    uint32_t i;

    stats->bookkeeping_bytes =
        sizeof(*pool) + pool->runs.bin_room * sizeof(*pool->runs.bins);
    for (i = 0; map != NULL && i < map->count; i++) {
        stats->slabs++;
        stats->slab_bytes += map->order[i]->block_bytes;
        stats->bookkeeping_bytes += slab_record_bytes(map->order[i]);
    }
    for (i = 0; i < pool->runs.bin_count; i++)
        stats->free_runs += pool->runs.bins[i].free;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void count_slots(const struct ashlar_pool *pool,
                        struct ashlar_pool_stats *stats)
{
    uint64_t out = pool->singles - pool->store.free;
    uint64_t kept = attach_kept(pool);
    uint64_t spare_slots;
    uint64_t spare_runs;

    /* Another thread may be at it: neither says more than there is. */
    kept = min_u64(kept, out);
    spare_count(pool, &spare_runs, &spare_slots);
    spare_runs = min_u64(spare_runs, pool->runs.out_runs);
    spare_slots = min_u64(spare_slots, pool->runs.out_slots);
    stats->cached_slots = kept;
    stats->live_slots = out - kept + pool->runs.out_slots - spare_slots;
    stats->capacity_slots = pool_capacity(pool);
    stats->waiting_slots =
        __atomic_load_n(&pool->pending.waiting, __ATOMIC_RELAXED);
    stats->live_slots -= stats->waiting_slots < stats->live_slots
                             ? stats->waiting_slots
                             : stats->live_slots;
    stats->free_slots = stats->capacity_slots - stats->live_slots - kept -
                        stats->waiting_slots;
    stats->peak_slots = pool->peak;
    stats->max_slots = pool->max_slots;
    stats->promised_slots = pool->promised;
    stats->live_runs = pool->runs.out_runs - spare_runs;
    stats->free_runs += spare_runs;
    stats->stride = pool->plan.geometry.stride;
    stats->waste_bytes =
        stats->live_slots * (stats->stride - pool->object_bytes);
    stats->caches = pool->cache_count;
    stats->store_takes = pool->takes;
    stats->store_gives = pool->gives;
    stats->duplicates = pool->duplicates;
}

enum ashlar_status ashlar_pool_query(struct ashlar_pool *pool,
                                     struct ashlar_pool_stats *stats)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_query()");
    struct ashlar_pool_stats own = ASHLAR_POOL_STATS_INIT;

    if (status != ASHLAR_OK)
        return status;
    if (stats == NULL)
        return pool_refuse(pool,
                           error_set(ASHLAR_ERR_INVALID,
                                     "ashlar_pool_query() was given NULL for "
                                     "stats"));
    pool_lock(pool);
    count_slots(pool, &own);
    count_slabs(pool, &own);
    pool_unlock(pool);
    own.source_calls = __atomic_load_n(&pool->source_calls, __ATOMIC_RELAXED);
    own.refusals = __atomic_load_n(&pool->refusals, __ATOMIC_RELAXED);
    return result_write(stats, &own, sizeof(own), "struct ashlar_pool_stats");
}
