/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/grow.h"

#include "base/error.h"
#include "base/thread.h"
#include "pool/attach.h"
#include "pool/cache.h"
#include "pool/direct.h"
#include "pool/pending.h"
#include "pool/pool.h"
#include "pool/spare.h"
#include "pool/vacate.h"
#include "pool/watch.h"

#define SLAB_BYTES_MIN ((uint64_t)64 << 10)
#define SLAB_BYTES_MAX ((uint64_t)64 << 20)

/* How often spare runs are called in when others put runs all the while. */
#define CALL_IN_TRIES 100

static uint64_t min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t max_u64(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* How many slots a new slab should have when `missing` are needed. */
static uint64_t wish_for(const struct ashlar_pool *pool, uint64_t missing,
                         uint64_t room)
{
    uint64_t stride = pool->plan.geometry.stride;
    uint64_t wish = pool_capacity(pool) / 2;

    wish = min_u64(wish, SLAB_BYTES_MAX / stride);
    wish = max_u64(wish, SLAB_BYTES_MIN / stride);
    return min_u64(max_u64(wish, missing), room);
}

static enum ashlar_status no_memory(const struct ashlar_pool *pool,
                                    uint64_t missing)
{
    /* A range has said why, and how much waits for fences. */
    if (pool->plan.range != NULL)
        return ashlar_last_error();
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory for %lu more slots of %zu bytes in pool "
                     "\"%s\", which has %lu",
                     (unsigned long)missing, pool->plan.geometry.stride,
                     pool->name, (unsigned long)pool_capacity(pool));
}

/* With grow and lock held: the slab becomes part of the pool. */
static void publish(struct ashlar_pool *pool, struct slab *slab,
                    struct slab_map *map)
{
    __atomic_store_n(&pool->map, map, __ATOMIC_RELEASE);
    if (slab->kind == SLAB_RUNS) {
        runs_add_slab(pool, slab);
        return;
    }
    pool->singles += slab->count;
    pool->store.free += slab->count;
    if (slab->number < pool->store.low || slab->number == 0)
        pool->store.low = slab->number;
}

/* With grow held: one new slab, of `missing` slots at least. */
static enum ashlar_status make_slab(struct ashlar_pool *pool, uint64_t missing,
                                    uint64_t room, enum slab_kind kind)
{
    uint64_t wish = wish_for(pool, missing, room);
    struct error before;
    struct slab_map *map;
    struct slab *slab;

    error_copy(&before);
    slab = slab_create(&pool->plan, (uint32_t)wish, (uint32_t)room, kind);
    if (slab == NULL && wish > missing) {
        error_restore(&before);
        slab =
            slab_create(&pool->plan, (uint32_t)missing, (uint32_t)room, kind);
    }
    if (slab == NULL)
        return no_memory(pool, missing);
    map = slab_map_with(pool->map, slab, pool->plan.geometry.stride);
    if (map == NULL) {
        slab_undo(&pool->plan, slab);
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the map of the slabs of pool "
                         "\"%s\"",
                         pool->name);
    }
    watch_slab(pool, slab);
    pool_lock(pool);
    publish(pool, slab, map);
    pool_unlock(pool);
    return ASHLAR_OK;
}

/* With grow held: `missing` slots more, in slabs trimmed before or a new one. */
static enum ashlar_status add_slab(struct ashlar_pool *pool, uint64_t missing,
                                   uint64_t room, enum slab_kind kind)
{
    enum ashlar_status status;
    struct revival revival;

    __atomic_fetch_add(&pool->source_calls, 1, __ATOMIC_RELAXED);
    status = vacate_begin(pool, missing, room, kind, &revival);
    if (status != ASHLAR_OK)
        return status;
    if (revival.slots < missing)
        status = make_slab(pool, missing - revival.slots, room - revival.slots,
                           kind);
    if (status == ASHLAR_OK)
        vacate_commit(pool, &revival);
    else
        vacate_abort(pool, &revival);
    return status;
}

/*
 * With both locks held: make single slots of wholly free run slabs, until
 * `missing` are there; returns how many there are.
 */
static uint64_t singles_from_runs(struct ashlar_pool *pool, uint64_t missing)
{
    uint64_t made = 0;
    struct slab *slab;
    uint32_t i;

    spare_call_in(pool);
    if (pool->runs.slots == pool->runs.out_slots)
        return 0;
    if (pool->runs.loose)
        (void)runs_join(pool);
    for (i = 0; i < pool->map->count && made < missing; i++) {
        slab = pool->map->order[i];
        if (slab->kind != SLAB_RUNS || !runs_slab_is_free(pool, slab))
            continue;
        runs_remove_slab(pool, slab);
        slab_set_kind(slab, SLAB_SINGLES);
        slab_set_all_free(slab, true);
        pool->singles += slab->count;
        pool->store.free += slab->count;
        if (slab->number < pool->store.low)
            pool->store.low = slab->number;
        made += slab->count;
    }
    return made;
}

/*
 * Whether a slab of single slots can serve as one of runs, if `kept` of its
 * slots were free as well.
 */
static bool may_turn(const struct ashlar_pool *pool, const struct slab *slab,
                     uint32_t length, uint64_t kept)
{
    uint64_t needed = pool->promised == 0 ? 0 : pool->promised + pool->granted;

    return slab->kind == SLAB_SINGLES &&
           slab->free_slots + kept == slab->count && slab->count >= length &&
           pool->singles - slab->count >= needed;
}

/*
 * With both locks held: one wholly free singles slab becomes one of runs.
 * ASHLAR_ERR_FRAGMENTED says that there is none; then the error is not set.
 */
static enum ashlar_status runs_from_singles(struct ashlar_pool *pool,
                                            uint32_t length)
{
    struct slab *slab;
    uint32_t i;

    for (i = 0; pool->map != NULL && i < pool->map->count; i++) {
        slab = pool->map->order[i];
        if (!may_turn(pool, slab, length, 0))
            continue;
        if (slab_make_tags(slab) != 0)
            return error_set(ASHLAR_ERR_NO_MEMORY,
                             "no host memory for the tags of %lu slots of pool "
                             "\"%s\"",
                             (unsigned long)slab->count, pool->name);
        pool->singles -= slab->count;
        pool->store.free -= slab->count;
        slab_set_all_free(slab, false);
        slab_set_kind(slab, SLAB_RUNS);
        runs_add_slab(pool, slab);
        return ASHLAR_OK;
    }
    return ASHLAR_ERR_FRAGMENTED;
}

/* With grow held. */
static enum ashlar_status limit_reached(struct ashlar_pool *pool,
                                        uint64_t missing)
{
    uint64_t spare_runs, spare_slots, slots, live;

    pool_lock(pool);
    slots = pool->runs.slots;
    live = pool->runs.out_slots;
    spare_count(pool, &spare_runs, &spare_slots);
    pool_unlock(pool);
    /* Threads may be at their spare runs just now. */
    live = spare_slots < live ? live - spare_slots : 0;
    if (slots == 0)
        return error_set(ASHLAR_ERR_LIMIT,
                         "pool \"%s\" is at its max_slots of %lu and lacks "
                         "%lu; put slots back, or make the pool with a larger "
                         "max_slots",
                         pool->name, (unsigned long)pool->max_slots,
                         (unsigned long)missing);
    return error_set(ASHLAR_ERR_LIMIT,
                     "pool \"%s\" is at its max_slots of %lu and lacks %lu: "
                     "%lu are set apart for runs, %lu of them live; put slots "
                     "or runs back, or make the pool with a larger max_slots",
                     pool->name, (unsigned long)pool->max_slots,
                     (unsigned long)missing, (unsigned long)slots,
                     (unsigned long)live);
}

/* With grow held: `missing` single slots more. */
static enum ashlar_status add_singles(struct ashlar_pool *pool,
                                      uint64_t missing)
{
    uint64_t room = pool->max_slots - pool_capacity(pool);
    uint64_t made;

    if (missing <= room)
        return add_slab(pool, missing, room, SLAB_SINGLES);
    pool_lock(pool);
    made = singles_from_runs(pool, missing);
    pool_unlock(pool);
    if (made >= missing)
        return ASHLAR_OK;
    if (missing - made <= room)
        return add_slab(pool, missing - made, room, SLAB_SINGLES);
    return limit_reached(pool, missing - made);
}

enum ashlar_status grow_free(struct ashlar_pool *pool, uint64_t need)
{
    enum ashlar_status status = ASHLAR_OK;
    uint64_t duplicates = 0;
    uint64_t free_slots;

    lock_take(&pool->grow);
    pool_lock(pool);
    free_slots = pool->store.free;
    pool_unlock(pool);
    if (free_slots < need && pending_collect_locked(pool, &duplicates)) {
        pool_lock(pool);
        free_slots = pool->store.free;
        pool_unlock(pool);
    }
    if (free_slots < need)
        status = add_singles(pool, need - free_slots);
    lock_give(&pool->grow);
    direct_log_duplicates(pool->name, duplicates);
    return status;
}

enum ashlar_status grow_free_up_to(struct ashlar_pool *pool, uint64_t need)
{
    enum ashlar_status status;
    uint64_t room;

    lock_take(&pool->grow);
    room = pool->max_slots - pool_capacity(pool);
    status = room == 0 ? limit_reached(pool, need)
                       : add_singles(pool, min_u64(need, room));
    lock_give(&pool->grow);
    return status;
}

enum ashlar_status grow_singles_to(struct ashlar_pool *pool, uint64_t target)
{
    enum ashlar_status status = ASHLAR_OK;

    lock_take(&pool->grow);
    if (pool->singles < target)
        status = add_singles(pool, target - pool->singles);
    lock_give(&pool->grow);
    return status;
}

/*
 * With both locks held: the longest run that can be had where one of `length`
 * cannot; longer ones that are promised are none to cut it from.
 */
static uint64_t longest_run(struct ashlar_pool *pool, uint32_t length,
                            uint64_t room)
{
    uint64_t longest = max_u64(runs_join(pool), room);
    const struct slab *slab;
    uint32_t i;

    for (i = 0; i < pool->runs.bin_count; i++)
        if (pool->runs.bins[i].free != 0 && pool->runs.bins[i].length < length)
            longest = max_u64(longest, pool->runs.bins[i].length);
    for (i = 0; pool->map != NULL && i < pool->map->count; i++) {
        slab = pool->map->order[i];
        if (may_turn(pool, slab, 1, 0))
            longest = max_u64(longest, slab->count);
    }
    return longest;
}

/* With both locks held: why runs cannot be had at max_slots. */
static enum ashlar_status no_run(struct ashlar_pool *pool, uint32_t length,
                                 uint64_t missing)
{
    uint64_t room = pool->max_slots - pool_capacity(pool);
    uint64_t left =
        room + pool->store.free + pool->runs.slots - pool->runs.out_slots;

    if (left < missing)
        return error_set(ASHLAR_ERR_LIMIT,
                         "pool \"%s\" has %lu slots left below its max_slots "
                         "of %lu, and %lu are needed for runs of %lu",
                         pool->name, (unsigned long)left,
                         (unsigned long)pool->max_slots, (unsigned long)missing,
                         (unsigned long)length);
    return error_set(ASHLAR_ERR_FRAGMENTED,
                     "pool \"%s\" has %lu slots left below its max_slots of "
                     "%lu, but not enough of them side by side for a run of "
                     "%lu; the longest run that can be had is %lu",
                     pool->name, (unsigned long)left,
                     (unsigned long)pool->max_slots, (unsigned long)length,
                     (unsigned long)longest_run(pool, length, room));
}

/* With both locks held: runs of a length that need no growth. */
static uint64_t runs_at_hand(struct ashlar_pool *pool, uint32_t length)
{
    return runs_bin(pool, length)->free + runs_in_rest(pool, length);
}

/*
 * With both locks held: call spare runs in until there are so many of a length,
 * or nobody has put one meanwhile; returns how many there are. Threads that are
 * quicker than this all the time have theirs.
 */
static uint64_t call_in_for(struct ashlar_pool *pool, uint32_t length,
                            uint64_t count)
{
    unsigned tries = CALL_IN_TRIES;
    uint64_t have;
    uint32_t puts;

    do {
        puts = spare_puts(pool, length);
        spare_call_in(pool);
        have = runs_at_hand(pool, length);
    } while (have < count && spare_puts(pool, length) != puts && --tries != 0);
    return have;
}

/*
 * With both locks held: join free neighbours if that may help. It walks all
 * runs, so rather grow than do it for little.
 */
static void join_if_worth(struct ashlar_pool *pool, bool must)
{
    uint64_t free_slots = pool->runs.slots - pool->runs.out_slots;

    if (pool->runs.loose && (must || free_slots >= pool->runs.slots / 4))
        (void)runs_join(pool);
}

/*
 * With grow held: grow until `count` runs are at hand. What turning slabs of
 * single slots cannot give, a new slab does.
 */
static enum ashlar_status ensure_runs(struct ashlar_pool *pool, uint32_t length,
                                      uint64_t count)
{
    enum ashlar_status status = ASHLAR_OK;
    uint64_t room = pool->max_slots - pool_capacity(pool);
    uint64_t missing;
    uint64_t have;

    do {
        pool_lock(pool);
        have = runs_at_hand(pool, length);
        if (have < count)
            have = call_in_for(pool, length, count);
        if (have < count) {
            join_if_worth(pool, (count - have) * length > room);
            have = runs_at_hand(pool, length);
        }
        missing = have < count ? (count - have) * length : 0;
        if (missing > room)
            status = runs_from_singles(pool, length);
        if (status == ASHLAR_ERR_FRAGMENTED)
            status = no_run(pool, length, missing);
        pool_unlock(pool);
    } while (status == ASHLAR_OK && missing > room);
    if (status == ASHLAR_OK && missing != 0)
        status = add_slab(pool, missing, room, SLAB_RUNS);
    return status;
}

/* With both locks held: cut what is missing; the rest is known to have it. */
static void stock(struct ashlar_pool *pool, uint32_t length, uint64_t count)
{
    struct run_bin *bin = runs_bin(pool, length);

    /* Spare ones are among those that are promised. */
    spare_call_in(pool);
    while (bin->free < count && runs_stock(pool, bin))
        continue;
    bin->keep = (uint32_t)max_u64(bin->keep, bin->out + count);
}

static enum ashlar_status try_runs(struct ashlar_pool *pool, uint32_t length,
                                   uint64_t count, bool keep)
{
    enum ashlar_status status;

    lock_take(&pool->grow);
    status = ensure_runs(pool, length, count);
    if (status == ASHLAR_OK && keep) {
        pool_lock(pool);
        stock(pool, length, count);
        pool_unlock(pool);
    }
    lock_give(&pool->grow);
    return status;
}

/*
 * Whether all that a slab lacks to serve as one of runs is what the calling
 * thread's own cache keeps.
 */
static bool own_cache_bars(struct ashlar_pool *pool, uint32_t length)
{
    const struct cache *own = thread_local_get(pool->key);
    const struct slab *slab;
    bool bars = false;
    uint64_t kept;
    uint32_t i;

    if (own == NULL || cache_kept(own) == 0)
        return false;
    lock_take(&pool->grow);
    pool_lock(pool);
    for (i = 0; pool->map != NULL && i < pool->map->count && !bars; i++) {
        slab = pool->map->order[i];
        kept = cache_kept_of(own, slab);
        bars = kept != 0 && may_turn(pool, slab, length, kept);
    }
    pool_unlock(pool);
    lock_give(&pool->grow);
    return bars;
}

static enum ashlar_status grow_runs(struct ashlar_pool *pool, uint32_t length,
                                    uint64_t count, bool keep)
{
    enum ashlar_status status;
    struct error before;

    (void)pending_collect(pool);
    error_copy(&before);
    status = try_runs(pool, length, count, keep);
    if ((status != ASHLAR_ERR_FRAGMENTED && status != ASHLAR_ERR_LIMIT) ||
        !own_cache_bars(pool, length))
        return status;
    error_restore(&before);
    attach_flush_self(pool);
    return try_runs(pool, length, count, keep);
}

enum ashlar_status grow_run(struct ashlar_pool *pool, uint32_t length)
{
    return grow_runs(pool, length, 1, false);
}

enum ashlar_status grow_run_stock(struct ashlar_pool *pool, uint32_t length,
                                  uint64_t count)
{
    return grow_runs(pool, length, count, true);
}
