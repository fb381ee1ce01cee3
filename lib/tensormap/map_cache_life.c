/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_cache.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"
#include "tensormap/tensormap.h"

/* --- create --------------------------------------------------------------- */

static enum ashlar_status
read_options(const struct ashlar_tensormap_cache_options *given,
             struct ashlar_tensormap_cache_options *own)
{
    static const struct ashlar_tensormap_cache_options defaults =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    enum ashlar_status status =
        options_read(own, sizeof(*own), given == NULL ? &defaults : given,
                     "struct ashlar_tensormap_cache_options");

    if (status != ASHLAR_OK)
        return status;
    if (own->slots == 0)
        own->slots = ASHLAR_TENSORMAP_CACHE_SLOTS_DEFAULT;
    if (own->name == NULL)
        own->name = "tensor maps";
    if (own->slots > ASHLAR_TENSORMAP_CACHE_SLOTS_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "slots is %zu; a cache has at most %zu", own->slots,
                         ASHLAR_TENSORMAP_CACHE_SLOTS_MAX);
    return ASHLAR_OK;
}

/* Its pool, with all slots as one run. */
static enum ashlar_status
make_maps(struct ashlar_tensormap_cache *cache,
          const struct ashlar_tensormap_cache_options *options)
{
    struct ashlar_pool_options pool = ASHLAR_POOL_OPTIONS_INIT;
    enum ashlar_status status;

    pool.name = options->name;
    pool.cache_slots = ASHLAR_POOL_CACHE_NONE;
    status = ashlar_pool_create(ashlar_type_find("CUtensorMap"), &pool,
                                &cache->pool);
    if (status != ASHLAR_OK)
        return status;
    cache->maps = ashlar_pool_get_run(cache->pool, options->slots);
    if (cache->maps != NULL)
        return ASHLAR_OK;
    status = ashlar_last_error();
    (void)ashlar_pool_destroy(cache->pool, 0);
    return status;
}

static void drop_maps(struct ashlar_tensormap_cache *cache)
{
    (void)ashlar_pool_put_run(cache->pool, cache->maps, cache->slots);
    (void)ashlar_pool_destroy(cache->pool, 0);
}

static size_t bucket_count(size_t slots)
{
    size_t count = CACHE_STRIPES;

    while (count < slots)
        count *= 2;
    return count;
}

static void start(struct ashlar_tensormap_cache *cache)
{
    size_t i;

    lock_init(&cache->free_lock);
    for (i = 0; i < CACHE_STRIPES; i++) {
        lock_init(&cache->stripes[i].lock);
        (void)pthread_cond_init(&cache->stripes[i].encoded, NULL);
    }
    /* The first slots first. */
    for (i = cache->slots; i-- > 0;) {
        cache->entries[i].word = WORD_INIT;
        cache->details[i].next = cache->free_first;
        cache->free_first = &cache->entries[i];
    }
}

static void drop_records(struct ashlar_tensormap_cache *cache)
{
    memory_free(cache->stripes);
    memory_free(cache->details);
    memory_free(cache->entries);
    memory_free(cache->places);
    memory_free(cache->guesses);
    memory_free(cache->buckets);
    memory_free(cache);
}

/* NULL when there is no memory. */
static struct ashlar_tensormap_cache *make_records(size_t slots)
{
    struct ashlar_tensormap_cache *cache = memory_zalloc(sizeof(*cache));
    size_t buckets = bucket_count(slots);

    if (cache == NULL)
        return NULL;
    cache->slots = slots;
    cache->bucket_mask = buckets - 1;
    cache->buckets = memory_zalloc(buckets * sizeof(cache->buckets[0]));
    if (cache->buckets != NULL)
        cache->guesses =
            memory_zalloc_aligned(buckets * sizeof(cache->guesses[0]), 64);
    if (cache->guesses != NULL)
        cache->places = memory_zalloc_aligned(
            THREAD_NUMBERS * sizeof(cache->places[0]), 128);
    if (cache->places != NULL)
        cache->entries =
            memory_zalloc_aligned(slots * sizeof(cache->entries[0]), 128);
    if (cache->entries != NULL)
        cache->details = memory_zalloc(slots * sizeof(cache->details[0]));
    if (cache->details != NULL)
        cache->stripes = memory_zalloc_aligned(
            CACHE_STRIPES * sizeof(cache->stripes[0]), 64);
    if (cache->stripes != NULL)
        return cache;
    drop_records(cache);
    return NULL;
}

enum ashlar_status ashlar_tensormap_cache_create(
    struct ashlar_source *source,
    const struct ashlar_tensormap_cache_options *options,
    struct ashlar_tensormap_cache **cache_out)
{
    struct ashlar_tensormap_cache_options own;
    struct ashlar_tensormap_cache *cache;
    enum ashlar_status status =
        encode_check(source, "ashlar_tensormap_cache_create()");

    if (status == ASHLAR_OK)
        status = read_options(options, &own);
    if (status != ASHLAR_OK)
        return status;
    if (cache_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_tensormap_cache_create() was given NULL for "
                         "cache_out");
    cache = make_records(own.slots);
    if (cache == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the records of a cache of %zu "
                         "maps",
                         own.slots);
    status = make_maps(cache, &own);
    if (status != ASHLAR_OK) {
        drop_records(cache);
        return status;
    }
    cache->source = source_hold(source);
    cache->process = thread_process();
    start(cache);
    *cache_out = cache;
    return ASHLAR_OK;
}

/* --- query and destroy ---------------------------------------------------- */

/* A map that is there. Its stripe's lock is taken, so it does not go meanwhile. */
static void add_map(struct ashlar_tensormap_cache *cache,
                    struct cache_entry *entry,
                    struct ashlar_tensormap_cache_stats *sum)
{
    struct cache_stripe *stripe = cache_stripe_of(cache, entry);
    enum cache_state state;
    uint64_t word;

    lock_take(&stripe->lock);
    state = cache_state_under(cache, entry, stripe);
    if (state == CACHE_READY || state == CACHE_DOOMED) {
        word = word_read(&entry->word);
        sum->maps++;
        sum->held += (word & WORD_HOLDS) != 0;
        if (state == CACHE_READY)
            sum->hits += cache_hits_of(cache, entry);
    }
    lock_give(&stripe->lock);
}

static void add_up(struct ashlar_tensormap_cache *cache,
                   struct ashlar_tensormap_cache_stats *sum)
{
    struct cache_stripe *stripe;
    size_t i;

    for (i = 0; i < cache->slots; i++)
        add_map(cache, &cache->entries[i], sum);
    for (i = 0; i < CACHE_STRIPES; i++) {
        stripe = &cache->stripes[i];
        lock_take(&stripe->lock);
        sum->hits += stripe->hits;
        sum->misses += stripe->misses;
        sum->waits += stripe->waits;
        sum->evictions += stripe->evictions;
        sum->invalidations += stripe->invalidations;
        sum->refusals += stripe->refusals;
        lock_give(&stripe->lock);
    }
}

enum ashlar_status cache_check(struct ashlar_tensormap_cache *cache,
                               const char *call)
{
    if (cache_is_usable(cache))
        return ASHLAR_OK;
    if (cache == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for cache",
                         call);
    return error_set(ASHLAR_ERR_FORKED,
                     "%s: the cache was made by the parent process, and is not "
                     "usable after fork; make one here",
                     call);
}

enum ashlar_status
ashlar_tensormap_cache_query(struct ashlar_tensormap_cache *cache,
                             struct ashlar_tensormap_cache_stats *stats)
{
    struct ashlar_tensormap_cache_stats own = {.size = sizeof(own)};
    enum ashlar_status status =
        cache_check(cache, "ashlar_tensormap_cache_query()");

    if (status != ASHLAR_OK)
        return status;
    own.slots = cache->slots;
    add_up(cache, &own);
    return result_write(stats, &own, sizeof(own),
                        "struct ashlar_tensormap_cache_stats");
}

enum ashlar_status
ashlar_tensormap_cache_destroy(struct ashlar_tensormap_cache *cache)
{
    struct ashlar_tensormap_cache_stats stats = {.size = sizeof(stats)};
    enum ashlar_status status =
        cache_check(cache, "ashlar_tensormap_cache_destroy()");
    size_t i;

    if (status != ASHLAR_OK)
        return status;
    add_up(cache, &stats);
    if (stats.held != 0)
        return error_set(ASHLAR_ERR_BUSY,
                         "%llu maps of the cache are held; put them first",
                         (unsigned long long)stats.held);
    for (i = 0; i < CACHE_STRIPES; i++)
        (void)pthread_cond_destroy(&cache->stripes[i].encoded);
    drop_maps(cache);
    source_drop(cache->source);
    drop_records(cache);
    return ASHLAR_OK;
}
