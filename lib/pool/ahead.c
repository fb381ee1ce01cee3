/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/ahead.h"

#include "pool/cache.h"

void ahead_open(struct cache *cache)
{
    struct ashlar_cache *window = &cache->window;
    struct ashlar_pool *pool = cache->pool;

    if (window->state == NULL || window->end - window->begin < AHEAD_LEAST)
        return;
    pool_lock(pool);
    __atomic_store_n(&pool->ahead_serial, pool->ahead_serial + 1,
                     __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    state_fill(window->state + window->begin, window->end - window->begin,
               SLOT_AHEAD);
    cache->ahead = (struct ahead){cache->slab, window->end, pool->ahead};
    pool->ahead = cache;
    window->state = NULL;
    window->floor = window->end;
    cache_mark_nothing(cache);
    pool_unlock(pool);
}

static void unlink_ahead(struct ashlar_pool *pool, struct cache *cache)
{
    struct cache **place = &pool->ahead;

    while (*place != cache)
        place = &(*place)->ahead.next;
    *place = cache->ahead.next;
}

void ahead_close_locked(struct cache *cache)
{
    struct ashlar_cache *window = &cache->window;
    struct slab *slab = cache->ahead.slab;

    if (slab == NULL)
        return;
    state_fill(slab->state + window->begin, window->end - window->begin,
               SLOT_FREE);
    unlink_ahead(cache->pool, cache);
    cache->ahead = (struct ahead){NULL, 0, NULL};
    window->state = slab->state;
    cache_mark_states(cache);
    cache_set_floor(cache);
}

void ahead_close(struct cache *cache)
{
    if (cache->ahead.slab == NULL)
        return;
    pool_lock(cache->pool);
    ahead_close_locked(cache);
    pool_unlock(cache->pool);
}

/*
 * With the lock held: what a window says about a slot, and about how many of its
 * neighbours the same is true. False: the slot is free, in the window.
 */
static bool narrow(const struct cache *cache, uint32_t index,
                   struct ahead_known *known)
{
    const struct ahead *ahead = &cache->ahead;
    uint32_t begin = __atomic_load_n(&cache->window.begin, __ATOMIC_ACQUIRE);

    if (ahead->slab != known->slab)
        return true;
    if (index >= begin && index < ahead->end)
        return false;
    if (index >= ahead->end && ahead->end > known->low)
        known->low = ahead->end;
    if (index < begin && begin < known->high)
        known->high = begin;
    return true;
}

bool ahead_ask(struct ashlar_pool *pool, struct ahead_known *known,
               struct slab *slab, uint32_t index)
{
    struct ahead_known now = {slab, 0, slab->count, 0};
    const struct cache *cache;
    bool live;

    pool_lock(pool);
    now.serial = pool->ahead_serial;
    /* It may have been put meanwhile, and the window closed. */
    live = state_get(&slab->state[index]) != SLOT_FREE;
    for (cache = pool->ahead; cache != NULL && live; cache = cache->ahead.next)
        live = narrow(cache, index, &now);
    pool_unlock(pool);
    if (live)
        *known = now;
    return live;
}

bool ahead_settle(struct ashlar_pool *pool, struct ahead_known *known,
                  const struct extent *extent)
{
    struct slab *slab = extent->slab;
    bool settled = false;
    uint32_t i;

    for (i = extent->begin; i < extent->end; i++) {
        if (!ahead_is_live(pool, known, slab, i))
            break;
        if (state_get(&slab->state[i]) != SLOT_AHEAD)
            continue;
        state_set(&slab->state[i], SLOT_LIVE);
        settled = true;
    }
    return settled;
}
