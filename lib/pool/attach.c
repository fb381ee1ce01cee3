/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/attach.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread.h"
#include "pool/direct.h"
#include "pool/grow.h"
#include "pool/pending.h"
#include "pool/pool.h"
#include "pool/spare.h"
#include "pool/state.h"

/* One cache may have this part of max_slots, all together half of them. */
#define SHARE_OF_MAX 32

/* With the lock held: how large a new cache may be, for max_slots' sake. */
static uint32_t fair_limit(const struct ashlar_pool *pool, uint32_t wanted)
{
    uint64_t half = pool->max_slots / 2;
    uint64_t most = pool->max_slots / SHARE_OF_MAX;

    if (most > half - (pool->granted < half ? pool->granted : half))
        most = half - (pool->granted < half ? pool->granted : half);
    return wanted < most ? wanted : (uint32_t)most;
}

/* With the lock held: no more than the promise leaves. */
static uint32_t promised_limit(const struct ashlar_pool *pool, uint32_t limit)
{
    uint64_t taken = pool->promised + pool->granted;
    uint64_t left = pool->singles > taken ? pool->singles - taken : 0;

    if (pool->promised == 0)
        return limit;
    return limit < left ? limit : (uint32_t)left;
}

static void link_cache(struct ashlar_pool *pool, struct cache *cache)
{
    cache->next = pool->caches;
    cache->previous = NULL;
    if (pool->caches != NULL)
        pool->caches->previous = cache;
    pool->caches = cache;
    pool->cache_count++;
    pool->granted += cache->limit;
}

static void unlink_cache(struct ashlar_pool *pool, struct cache *cache)
{
    if (cache->previous != NULL)
        cache->previous->next = cache->next;
    else
        pool->caches = cache->next;
    if (cache->next != NULL)
        cache->next->previous = cache->previous;
    pool->cache_count--;
    pool->granted -= cache->limit;
}

/* With the lock held: single slots that a promise asks for with one cache more. */
static uint64_t target_with(const struct ashlar_pool *pool, uint32_t limit)
{
    return pool->promised == 0 ? 0 : pool->promised + pool->granted + limit;
}

/*
 * The promise counts caches in: grow for this one, as far as it goes. With the
 * lock held, which is given up meanwhile; others may attach in that time.
 */
static void grow_for_promise(struct ashlar_pool *pool, uint32_t limit)
{
    enum ashlar_status status = ASHLAR_OK;
    uint64_t target = target_with(pool, limit);
    struct error before;

    if (pool->singles >= target)
        return;
    error_copy(&before);
    while (status == ASHLAR_OK && pool->singles < target) {
        pool_unlock(pool);
        status = grow_singles_to(pool, target);
        pool_lock(pool);
        target = target_with(pool, limit);
    }
    if (status != ASHLAR_OK)
        error_restore(&before);
}

struct cache *attach_cache(struct ashlar_pool *pool, uint32_t wanted,
                           struct thread *owner)
{
    struct cache *cache;

    pool_lock(pool);
    wanted = fair_limit(pool, wanted);
    pool_unlock(pool);
    cache = cache_create(pool, wanted);
    if (cache == NULL)
        return NULL;
    cache->owner = owner;
    pool_lock(pool);
    grow_for_promise(pool, wanted);
    cache->limit = promised_limit(pool, fair_limit(pool, wanted));
    link_cache(pool, cache);
    pool_unlock(pool);
    return cache;
}

struct cache *attach_self(struct ashlar_pool *pool)
{
    struct cache *cache = thread_local_get(pool->key);
    struct thread *thread;

    if (cache != NULL)
        return cache;
    /* Without caches too: its first error shall find the record made. */
    thread = thread_record();
    if (thread == NULL || pool->cache_slots == 0)
        return NULL;
    cache = attach_cache(pool, pool->cache_slots, thread);
    if (cache == NULL)
        return NULL;
    if (thread_local_set(pool->key, cache) != 0) {
        attach_end(cache);
        return NULL;
    }
    return cache;
}

/* Racing puts that came to light; told when no lock is held any more. */
struct finding {
    uint64_t duplicates;
    char name[POOL_NAME_BYTES];
};

/* With the life lock held. */
static struct finding end_cache(struct cache *cache)
{
    struct ashlar_pool *pool = cache->pool;
    struct finding finding = {0, ""};
    uint64_t before;

    if (pool != NULL) {
        pool_lock(pool);
        before = pool->duplicates;
        cache_empty(cache);
        unlink_cache(pool, cache);
        finding.duplicates = pool->duplicates - before;
        if (finding.duplicates != 0)
            memcpy(finding.name, pool->name, sizeof(finding.name));
        pool_unlock(pool);
    }
    memory_free(cache);
    return finding;
}

void attach_end(struct cache *cache)
{
    struct finding finding;

    life_lock();
    finding = end_cache(cache);
    life_unlock();
    direct_log_duplicates(finding.name, finding.duplicates);
}

/*
 * End what the calling thread has under a key, a cache or spare runs: false, it
 * has nothing.
 */
static bool end_local(struct thread *self, uint32_t key)
{
    struct finding finding = {0, ""};
    void *local;

    if (thread_local_get(key) == NULL)
        return false;
    life_lock();
    thread_lock();
    local = self->locals->at[key];
    thread_local_clear(self, key);
    thread_unlock();
    /* NULL: the pool was destroyed at this moment. */
    if (local != NULL && key % POOL_KEYS == 0)
        finding = end_cache(local);
    else if (local != NULL)
        spare_end(local);
    life_unlock();
    direct_log_duplicates(finding.name, finding.duplicates);
    return true;
}

void attach_flush_self(struct ashlar_pool *pool)
{
    struct cache *own = thread_local_get(pool->key);
    uint64_t duplicates;

    if (own == NULL)
        return;
    pool_lock(pool);
    duplicates = pool->duplicates;
    cache_empty(own);
    duplicates = pool->duplicates - duplicates;
    pool_unlock(pool);
    direct_log_duplicates(pool->name, duplicates);
}

void attach_detach_self(struct ashlar_pool *pool)
{
    (void)end_local(thread_peek(), pool->key);
    (void)end_local(thread_peek(), spare_key(pool));
}

void attach_end_all(struct ashlar_pool *pool)
{
    struct cache *cache;
    struct cache *next;

    spare_end_all(pool);
    for (cache = pool->caches; cache != NULL; cache = next) {
        next = cache->next;
        if (cache->owner != NULL) {
            thread_lock();
            thread_local_clear(cache->owner, pool->key);
            thread_unlock();
            memory_free(cache);
            continue;
        }
        cache->pool = NULL;
        cache->limit = 0;
        cache_reset(cache);
    }
    pool->caches = NULL;
    pool->ahead = NULL;
    pool->cache_count = 0;
    pool->granted = 0;
}

uint64_t attach_kept(const struct ashlar_pool *pool)
{
    const struct cache *cache;
    uint64_t kept = 0;

    for (cache = pool->caches; cache != NULL; cache = cache->next)
        kept += cache_kept(cache);
    return kept;
}

/*
 * The end of a cache may have something to log, and the log's function may get
 * a slot, which attaches the thread again: so until nothing is left.
 */
void attach_thread_exit(struct thread *thread)
{
    bool again = true;
    uint32_t key;

    while (again) {
        again = false;
        for (key = 0; key < thread->locals->count; key++)
            again |= end_local(thread, key);
    }
}

/* --- in a child of fork(2) ------------------------------------------------ */

/* Slots w * 64 on that are not live, as bits. */
static uint64_t dead_bits(const struct slab *slab, uint32_t w)
{
    const unsigned char *state = slab->state + (size_t)w * 64;
    uint32_t n = slab->count - w * 64;
    uint64_t live = 0;
    uint32_t i;

    n = n < 64 ? n : 64;
    for (i = 0; i < n; i += 8)
        live |= state_bits(state_live(state_get_word(state + i))) << i;
    return ~live & UINT64_MAX >> (64 - n);
}

/*
 * Everything that is not live is free. A dead thread may have been caught in
 * the middle of a call; the states tell what is live all the same.
 */
static void free_what_is_not_live(struct ashlar_pool *pool, struct slab *slab)
{
    struct extent extent = {slab, 0, 0};
    uint64_t bits;
    uint32_t w;

    for (w = 0; w < slab->words; w++) {
        bits = dead_bits(slab, w) & ~slab->free[w];
        while (bits != 0) {
            extent.begin = w * 64 + (uint32_t)__builtin_ctzll(bits);
            extent.end = extent.begin + 1;
            bits &= bits - 1;
            (void)store_give(pool, &extent, 1);
        }
    }
}

/* An unchecked pool has no states: what a cache says it keeps is free. */
static void give_kept(struct ashlar_pool *pool, const struct cache *cache)
{
    struct extent window = {cache->slab, cache->window.begin,
                            cache->window.end};

    (void)store_give(pool, cache->stack, cache->depth);
    if (window.begin < window.end)
        (void)store_give(pool, &window, 1);
}

/* A caller's cache may have been in use by a thread that is no more. */
static void take_caches_back(struct ashlar_pool *pool)
{
    struct cache *cache;
    struct cache *next;

    for (cache = pool->caches; cache != NULL; cache = next) {
        next = cache->next;
        if (!pool->checked)
            give_kept(pool, cache);
        ahead_close_locked(cache);
        cache_reset(cache);
        if (cache->owner != NULL && cache->owner->foreign) {
            unlink_cache(pool, cache);
            memory_free(cache);
        }
    }
}

void attach_recover(struct ashlar_pool *pool)
{
    struct slab_map *map = pool->map;
    uint64_t duplicates = pool->duplicates;
    uint64_t gives = pool->gives;
    uint32_t i;

    take_caches_back(pool);
    spare_recover(pool);
    pending_recover(pool);
    for (i = 0; pool->checked && map != NULL && i < map->count; i++)
        if (map->order[i]->kind == SLAB_SINGLES)
            free_what_is_not_live(pool, map->order[i]);
    pool->duplicates = duplicates;
    pool->gives = gives;
}
