/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The cache's record, and how its files hang together.
 *
 *     map_cache_life.c  create, destroy, query
 *     map_cache.c       get, put, invalidate  ─> entries by key, under stripes
 *     map_cache_free.c  entries that are free, and how more become so (CLOCK)
 *
 *     maps     [ slot 0 ][ slot 1 ][ slot 2 ] ...    one run of a pool
 *     entries  [ entry 0 ][ entry 1 ][ entry 2 ] ... entry i is of slot i
 *                  ^            ^
 *     buckets  ────┘ chains ────┘     by hash; bucket b is of stripe b % STRIPES
 *
 * An entry is FREE, ENCODING, READY or DOOMED:
 *
 *     FREE ──taken──> ENCODING ──> READY ──evicted──> FREE
 *       ^                │           │ invalidated while it is held
 *       └─── refused ────┘           v
 *       ^──────── put ──────────── DOOMED
 *
 * Invariants:
 *   - ENCODING and READY entries are in the chain of their hash, others in none
 *     (one that is invalidated while it is encoded leaves its chain at once, and
 *     is DOOMED when it is done);
 *   - a hit walks its chain without a lock: what it may see is atomic, an entry
 *     that it finds is taken by its word (map_cache_word.h), and who finds none goes
 *     on under the stripe's lock, which decides. A chain, its entries' states,
 *     and a word that is not open change under that lock;
 *   - an entry with holds is not evicted, and its slot not written;
 *   - stripe says which lock guards an entry that is READY or DOOMED; it changes
 *     while the entry is FREE and taken, and before it is READY. So whoever comes
 *     by index takes the lock that stripe names, and looks at the state, and
 *     then at stripe again (cache_state_under());
 *   - the free list has every FREE entry that no thread has taken.
 *
 * Locks: free_lock, then a stripe's; never two stripes. A fork may leave the child
 * with any of them taken, so there the cache is the parent's.
 */
#ifndef ASHLAR_TENSORMAP_CACHE_INTERNAL_H
#define ASHLAR_TENSORMAP_CACHE_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/pool.h>
#include <ashlar/tensormap_cache.h>

#include "base/lock.h"
#include "source/source.h"
#include "tensormap/key.h"
#include "tensormap/map_cache_word.h"

/** Locks of a cache: more than the threads that are busy with it. */
#define CACHE_STRIPES 64u

enum cache_state { CACHE_FREE = 0, CACHE_ENCODING, CACHE_READY, CACHE_DOOMED };

struct cache_entry {
    uint64_t word;            /* who holds it: map_cache_word.h */
    struct cache_entry *next; /* in its chain, or in the free list; atomic */
    struct spec_key key;      /* atomic, as far as hits read it */
    uint32_t stripe;          /* atomic */
    uint8_t state;            /* enum cache_state; atomic */
    bool used;                /* since the hand of the clock passed; atomic */
    bool doomed;              /* invalidated while it was encoded */
    uint64_t end;             /* behind the tensor's last byte */
    uint64_t first_time;      /* word_times() when it was opened */
};

struct cache_stripe {
    struct lock lock;
    pthread_cond_t
        encoded;   /* an entry of the stripe is not ENCODING any more */
    uint64_t hits; /* of maps that are gone */
    uint64_t misses;
    uint64_t waits;
    uint64_t evictions;
    uint64_t invalidations;
    uint64_t refusals;
} __attribute__((aligned(64)));

struct ashlar_tensormap_cache {
    struct ashlar_source *source; /* held */
    unsigned process;             /* thread_process() at the making */
    struct ashlar_pool *pool;     /* its own */
    unsigned char *maps;          /* a run of it */
    size_t slots;
    size_t bucket_mask;
    struct cache_entry **buckets;
    struct cache_entry *entries;
    struct cache_stripe *stripes;

    struct lock free_lock; /* all below */
    struct cache_entry *free_first;
    size_t hand; /* of the clock */
};

/** Refuse NULL, and the parent's caches in a child of fork(2). */
enum ashlar_status cache_check(struct ashlar_tensormap_cache *cache,
                               const char *call);

/** An entry that is FREE, the caller's; NULL: all are held or taken. */
struct cache_entry *cache_take(struct ashlar_tensormap_cache *cache);

/** A FREE entry, in no chain, that nobody needs. */
void cache_give(struct ashlar_tensormap_cache *cache,
                struct cache_entry *entry);

/** Count the hits of a map that goes. The stripe's lock is held. */
static inline void cache_count_hits(struct cache_stripe *stripe,
                                    const struct cache_entry *entry)
{
    stripe->hits += word_times(word_read(&entry->word)) - entry->first_time;
}

static inline struct cache_entry *cache_next(const struct cache_entry *entry)
{
    return __atomic_load_n(&entry->next, __ATOMIC_ACQUIRE);
}

static inline void cache_link(struct cache_entry **at,
                              struct cache_entry *entry)
{
    __atomic_store_n(at, entry, __ATOMIC_RELEASE);
}

/** Take an entry out of its chain. The stripe's lock is held. */
void cache_unlink(struct ashlar_tensormap_cache *cache,
                  struct cache_entry *entry);

static inline void *cache_map_of(const struct ashlar_tensormap_cache *cache,
                                 const struct cache_entry *entry)
{
    return cache->maps +
           (size_t)(entry - cache->entries) * ASHLAR_TENSOR_MAP_BYTES;
}

static inline struct cache_stripe *
cache_stripe_of(const struct ashlar_tensormap_cache *cache,
                const struct cache_entry *entry)
{
    return &cache->stripes[__atomic_load_n(&entry->stripe, __ATOMIC_RELAXED)];
}

/** Say what an entry is, and all that was written before. */
static inline void cache_set_state(struct cache_entry *entry,
                                   enum cache_state state)
{
    __atomic_store_n(&entry->state, (uint8_t)state, __ATOMIC_RELEASE);
}

/**
 * What an entry is, by index, under a stripe's lock: READY or DOOMED only if the
 * lock is the one that guards it; else CACHE_FREE.
 */
static inline enum cache_state
cache_state_under(const struct ashlar_tensormap_cache *cache,
                  const struct cache_entry *entry,
                  const struct cache_stripe *stripe)
{
    uint8_t state = __atomic_load_n(&entry->state, __ATOMIC_ACQUIRE);

    if ((state != CACHE_READY && state != CACHE_DOOMED) ||
        cache_stripe_of(cache, entry) != stripe)
        return CACHE_FREE;
    return (enum cache_state)state;
}

#endif
