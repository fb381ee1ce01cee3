/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The public calls on slots: find the thread's cache, and go through it. */
#include "config.h"

#include "pool/pool.h"

#include "base/error.h"
#include "base/thread.h"
#include "pool/attach.h"
#include "pool/cache.h"

enum ashlar_status pool_refuse_handle(struct ashlar_pool *pool,
                                      const char *call)
{
    if (pool == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for pool",
                         call);
    if (__atomic_load_n(&pool->life, __ATOMIC_ACQUIRE) == POOL_FORKED)
        return error_set(ASHLAR_ERR_FORKED,
                         "%s: pool \"%s\" stands on memory of the parent "
                         "process, and is not usable after fork",
                         call, pool->name);
    return error_set(ASHLAR_ERR_STALE,
                     "%s was given the handle of a pool that was destroyed",
                     call);
}

enum ashlar_status pool_refuse(struct ashlar_pool *pool,
                               enum ashlar_status status)
{
    __atomic_fetch_add(&pool->refusals, 1, __ATOMIC_RELAXED);
    return status;
}

/*
 * The calling thread's cache, if it has one already, which also says that the
 * pool is alive. Each call below has this short way, and a function of its own
 * for all else, so that the short one needs no frame.
 */
static inline struct cache *own_cache(const struct ashlar_pool *pool)
{
    return ASHLAR_LIKELY(pool != NULL) ? thread_local_get(pool->key) : NULL;
}

/* A get without a cache so far: attach, or go to the store. */
static __attribute__((noinline)) void *get_first(struct ashlar_pool *pool)
{
    struct cache *cache;
    void *slot;

    if (pool_check(pool, "ashlar_pool_get()") != ASHLAR_OK)
        return NULL;
    cache = attach_self(pool);
    if (cache != NULL)
        return ashlar_cache_get(&cache->window);
    if (cache_get_more(pool, NULL, &slot, 1) != ASHLAR_OK)
        return NULL;
    return slot;
}

void *ashlar_pool_get(struct ashlar_pool *pool)
{
    struct cache *cache = own_cache(pool);

    if (ASHLAR_UNLIKELY(cache == NULL))
        return get_first(pool);
    return cache_get_next(cache);
}

static __attribute__((noinline)) enum ashlar_status
put_first(struct ashlar_pool *pool, void *slot)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_put()");
    struct cache *cache;

    if (status != ASHLAR_OK)
        return status;
    cache = attach_self(pool);
    if (cache != NULL)
        return ashlar_cache_put(&cache->window, slot);
    return cache_put_one(pool, slot);
}

enum ashlar_status ashlar_pool_put(struct ashlar_pool *pool, void *slot)
{
    struct cache *cache = own_cache(pool);

    if (ASHLAR_UNLIKELY(cache == NULL))
        return put_first(pool, slot);
    return cache_put_next(cache, slot);
}

static __attribute__((noinline)) enum ashlar_status
get_bulk_first(struct ashlar_pool *pool, void **slots_out, size_t n)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_get_bulk()");

    if (status != ASHLAR_OK)
        return status;
    return cache_get_more(pool, attach_self(pool), slots_out, n);
}

enum ashlar_status ashlar_pool_get_bulk(struct ashlar_pool *pool,
                                        void **slots_out, size_t n)
{
    struct cache *cache = own_cache(pool);

    if (ASHLAR_UNLIKELY(cache == NULL))
        return get_bulk_first(pool, slots_out, n);
    return cache_get_bulk(pool, cache, slots_out, n);
}

static __attribute__((noinline)) enum ashlar_status
put_bulk_first(struct ashlar_pool *pool, void *const *slots, size_t n,
               size_t *culprit_out)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_put_bulk()");

    if (status != ASHLAR_OK)
        return status;
    return cache_put_batch(pool, attach_self(pool), slots, n, culprit_out);
}

enum ashlar_status ashlar_pool_put_bulk(struct ashlar_pool *pool,
                                        void *const *slots, size_t n,
                                        size_t *culprit_out)
{
    struct cache *cache = own_cache(pool);

    if (ASHLAR_UNLIKELY(cache == NULL))
        return put_bulk_first(pool, slots, n, culprit_out);
    return cache_put_bulk(pool, cache, slots, n, culprit_out);
}

size_t ashlar_pool_get_up_to(struct ashlar_pool *pool, void **slots_out,
                             size_t n)
{
    if (own_cache(pool) == NULL &&
        pool_check(pool, "ashlar_pool_get_up_to()") != ASHLAR_OK)
        return 0;
    return cache_get_some(pool, attach_self(pool), slots_out, n);
}

enum ashlar_status ashlar_pool_detach(struct ashlar_pool *pool)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_detach()");

    if (status == ASHLAR_OK)
        attach_detach_self(pool);
    return status;
}
