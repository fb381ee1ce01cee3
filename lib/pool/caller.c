/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The public calls on caches that a caller holds. */
#include "config.h"

#include <ashlar/cache.h>

#include "base/error.h"
#include "pool/attach.h"
#include "pool/cache.h"
#include "pool/pool.h"

enum ashlar_status ashlar_cache_open(struct ashlar_pool *pool, size_t slots,
                                     uint32_t layout,
                                     struct ashlar_cache **cache_out)
{
    enum ashlar_status status = pool_check(pool, "ashlar_cache_open()");
    struct cache *cache;

    if (status != ASHLAR_OK)
        return status;
    if (cache_out == NULL)
        return pool_refuse(pool,
                           error_set(ASHLAR_ERR_INVALID,
                                     "ashlar_cache_open() was given NULL for "
                                     "cache_out"));
    if (layout != ASHLAR_CACHE_LAYOUT)
        return pool_refuse(
            pool, error_set(ASHLAR_ERR_UNSUPPORTED,
                            "the caller was compiled against layout %u of "
                            "struct ashlar_cache, but this library has %u; "
                            "compile it again with this library's headers",
                            (unsigned)layout, ASHLAR_CACHE_LAYOUT));
    if (slots > ASHLAR_POOL_CACHE_MAX)
        return pool_refuse(pool,
                           error_set(ASHLAR_ERR_INVALID,
                                     "slots is %zu; a cache keeps at most %zu",
                                     slots, ASHLAR_POOL_CACHE_MAX));
    if (slots == 0)
        slots = cache_default(pool->plan.geometry.stride);
    if (pool->watched)
        slots = 0;
    cache = attach_cache(pool, (uint32_t)slots, NULL);
    if (cache == NULL)
        return pool_refuse(pool, error_set(ASHLAR_ERR_NO_MEMORY,
                                           "no host memory for a cache of %zu "
                                           "slots of pool \"%s\"",
                                           slots, pool->name));
    *cache_out = &cache->window;
    return ASHLAR_OK;
}

enum ashlar_status ashlar_cache_close(struct ashlar_cache *cache)
{
    if (cache == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_cache_close() was given NULL for cache");
    attach_end(cache_of(cache));
    return ASHLAR_OK;
}

void *ashlar_cache_get_slow(struct ashlar_cache *cache)
{
    return cache_get(cache_of(cache));
}

enum ashlar_status ashlar_cache_put_slow(struct ashlar_cache *cache, void *slot)
{
    return cache_put(cache_of(cache), slot);
}

static enum ashlar_status check_cache(struct ashlar_cache *cache,
                                      const char *call)
{
    if (cache == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for cache",
                         call);
    if (cache_of(cache)->pool == NULL)
        return cache_refuse_orphan(call);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_cache_get_bulk(struct ashlar_cache *cache,
                                         void **slots_out, size_t n)
{
    enum ashlar_status status = check_cache(cache, "ashlar_cache_get_bulk()");

    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        return status;
    return cache_get_bulk(cache_of(cache)->pool, cache_of(cache), slots_out, n);
}

enum ashlar_status ashlar_cache_put_bulk(struct ashlar_cache *cache,
                                         void *const *slots, size_t n,
                                         size_t *culprit_out)
{
    enum ashlar_status status = check_cache(cache, "ashlar_cache_put_bulk()");

    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        return status;
    return cache_put_bulk(cache_of(cache)->pool, cache_of(cache), slots, n,
                          culprit_out);
}
