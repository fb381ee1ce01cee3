/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_cache.h"

void cache_give(struct ashlar_tensormap_cache *cache, struct cache_entry *entry)
{
    lock_take(&cache->free_lock);
    cache_detail_of(cache, entry)->next = cache->free_first;
    cache->free_first = entry;
    lock_give(&cache->free_lock);
}

/* Whether it was taken since the hand of the clock last passed it. */
static bool was_used(struct ashlar_tensormap_cache *cache,
                     const struct cache_entry *entry)
{
    struct cache_detail *detail = cache_detail_of(cache, entry);
    uint64_t time = word_times(word_read(&entry->word));
    bool used = time != detail->passed_time;

    detail->passed_time = time;
    return used;
}

/* Evict an entry if nobody holds it and it was not used lately. */
static bool evict(struct ashlar_tensormap_cache *cache,
                  struct cache_entry *entry)
{
    struct cache_stripe *stripe = cache_stripe_of(cache, entry);
    bool gone = false;

    lock_take(&stripe->lock);
    if (cache_state_under(cache, entry, stripe) == CACHE_READY &&
        !was_used(cache, entry))
        gone = word_close_idle(&entry->word);
    if (gone) {
        cache_unlink(cache, entry);
        cache_set_state(cache, entry, CACHE_FREE);
        stripe->hits += cache_hits_of(cache, entry);
        stripe->evictions++;
    }
    lock_give(&stripe->lock);
    return gone;
}

/* Two rounds: one may only find that all were used. */
static struct cache_entry *turn_the_clock(struct ashlar_tensormap_cache *cache)
{
    struct cache_entry *entry;
    size_t i;

    for (i = 0; i < 2 * cache->slots; i++) {
        entry = &cache->entries[cache->hand];
        cache->hand = (cache->hand + 1) % cache->slots;
        if (evict(cache, entry))
            return entry;
    }
    return NULL;
}

struct cache_entry *cache_take(struct ashlar_tensormap_cache *cache)
{
    struct cache_entry *entry;

    lock_take(&cache->free_lock);
    entry = cache->free_first;
    if (entry != NULL)
        cache->free_first = cache_detail_of(cache, entry)->next;
    else
        entry = turn_the_clock(cache);
    lock_give(&cache->free_lock);
    return entry;
}
