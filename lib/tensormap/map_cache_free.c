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

/* Rounds of the clock in which what was used lately is passed by. */
#define SPARING_ROUNDS 2

/* What the hand of the clock found. */
enum find {
    FOUND_EVICTED,
    FOUND_HELD,  /* since it was last looked at */
    FOUND_MOVING /* it was used since, or is in the hand of a get */
};

/* Whether it was taken since the hand of the clock last passed it. */
static bool was_used(struct ashlar_tensormap_cache *cache,
                     const struct cache_entry *entry, uint64_t word)
{
    struct cache_detail *detail = cache_detail_of(cache, entry);
    bool used = word_times(word) != detail->passed_time;

    detail->passed_time = word_times(word);
    return used;
}

/* An entry that is READY goes. The stripe's lock is held. */
static void evict(struct ashlar_tensormap_cache *cache,
                  struct cache_stripe *stripe, struct cache_entry *entry)
{
    cache_unlink(cache, entry);
    cache_set_state(cache, entry, CACHE_FREE);
    stripe->hits += cache_hits_of(cache, entry);
    stripe->evictions++;
}

/* Evict an entry if nobody holds it; if that is asked for, not if it was used. */
static enum find look_at(struct ashlar_tensormap_cache *cache,
                         struct cache_entry *entry, bool sparing)
{
    struct cache_stripe *stripe = cache_stripe_of(cache, entry);
    enum find find = FOUND_MOVING;
    enum cache_state state;
    uint64_t word;
    bool used;

    lock_take(&stripe->lock);
    state = cache_state_under(cache, entry, stripe);
    word = word_read(&entry->word);
    used = was_used(cache, entry, word);
    if (state == CACHE_READY && !(used && sparing) &&
        word_close_idle(&entry->word)) {
        evict(cache, stripe, entry);
        find = FOUND_EVICTED;
    } else if (!used && state != CACHE_FREE &&
               (state != CACHE_READY || word_is_held(word))) {
        find = FOUND_HELD;
    }
    lock_give(&stripe->lock);
    return find;
}

/*
 * One round, until an entry is evicted. NULL: there was none to be had; if all
 * were held before the round and in it, there was a moment when all were.
 */
static struct cache_entry *turn_the_clock(struct ashlar_tensormap_cache *cache,
                                          bool sparing, bool *all_held_out)
{
    struct cache_entry *entry;
    enum find find;
    size_t i;

    *all_held_out = true;
    for (i = 0; i < cache->slots; i++) {
        entry = &cache->entries[cache->hand];
        cache->hand = (cache->hand + 1) % cache->slots;
        find = look_at(cache, entry, sparing);
        if (find == FOUND_EVICTED)
            return entry;
        *all_held_out = *all_held_out && find == FOUND_HELD;
    }
    return NULL;
}

/*
 * A hand may pass by slots that are held in turn, and by some that other gets
 * have taken, and will use or give back at once: that none was found does not say
 * that there is none.
 */
struct cache_entry *cache_take(struct ashlar_tensormap_cache *cache)
{
    struct cache_entry *entry;
    bool all_held = false;
    unsigned round;

    for (round = 0;; round++) {
        lock_take(&cache->free_lock);
        entry = cache->free_first;
        if (entry != NULL)
            cache->free_first = cache_detail_of(cache, entry)->next;
        else
            entry = turn_the_clock(cache, round < SPARING_ROUNDS, &all_held);
        lock_give(&cache->free_lock);
        if (entry != NULL || all_held)
            return entry;
        if (round >= SPARING_ROUNDS)
            (void)sched_yield();
    }
}
