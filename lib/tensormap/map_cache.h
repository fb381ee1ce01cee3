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
 *     details  [ 0 ][ 1 ][ 2 ] ...                   and so is detail i
 *                  ^            ^
 *     buckets  ────┘ chains ────┘     by hash; bucket b is of stripe b % STRIPES
 *     guesses  [ 4 of bucket 0 ][ 4 of bucket 1 ] ...  the way of a hit
 *     places   [ thread 0 ][ thread 1 ] ...          and its short cut
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
 *   - chains, their entries' states, and guesses change under the stripe's lock;
 *   - a hit takes no lock. It goes by a guess, which may be old: what it reads is
 *     atomic, and the entry's word decides (map_cache_word.h). Who guesses wrong
 *     goes on under the lock, finds what there is, and leaves a guess. Chains
 *     would serve, but which step is the last cannot be foreseen, and a
 *     processor that foresees wrongly loses all that it did ahead;
 *   - free entries are taken from the first to the last, so maps that were first
 *     asked for one after another lie side by side. Launchers ask in the same
 *     order again: a thread that did so twice tries the next entry without a
 *     hash, for as long as it is the right one;
 *   - an entry with holds is not evicted, and its slot not written;
 *   - hash says which lock guards an entry that is not FREE; it changes while
 *     the entry is FREE and taken. So whoever comes by index takes the lock that
 *     hash names, and looks at the state, and then at hash again
 *     (cache_state_under());
 *   - the free list has every FREE entry that no thread has taken; and a thread
 *     that has taken one uses it or gives it back, and waits for nobody before.
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
#include "base/thread.h"
#include "source/source.h"
#include "tensormap/key.h"
#include "tensormap/map_cache_word.h"

/** Locks of a cache: more than the threads that are busy with it. */
#define CACHE_STRIPES 64u

enum cache_state { CACHE_FREE = 0, CACHE_ENCODING, CACHE_READY, CACHE_DOOMED };

/*
 * What a hit reads, and nothing else: one line of rank 2, and the one beside it
 * of the longest key. Processors fetch lines in such pairs, and no pair has two
 * entries, so threads that hit different ones do not meet.
 */
struct cache_entry {
    uint64_t word;                /* who holds it: map_cache_word.h */
    uint64_t key[KEY_WORDS_MOST]; /* atomic */
    uint64_t hash;                /* of key; atomic */
} __attribute__((aligned(128)));

/* The rest of an entry. */
struct cache_detail {
    struct cache_entry *next; /* in its chain, or in the free list */
    uint64_t end;             /* behind the tensor's last byte */
    uint64_t first_time;      /* word_times() when it was opened */
    uint64_t passed_time;     /* when the clock's hand passed; free_lock's */
    uint8_t state;            /* enum cache_state; atomic */
    bool doomed;              /* invalidated while it was encoded */
};

/*
 * Where entries of a bucket are: an entry's number, under the highest bits of
 * its hash. 0 is none, and leads to entry 0, whose key will tell.
 */
#define CACHE_GUESSES      4u
#define CACHE_GUESS_NUMBER ((uint32_t)ASHLAR_TENSORMAP_CACHE_SLOTS_MAX - 1)

struct cache_guesses {
    uint32_t of[CACHE_GUESSES]; /* atomic */
} __attribute__((aligned(16)));

/* What the hits of one thread lead to; another's, when that one has ended. */
struct cache_place {
    uint32_t next; /* an entry's number; atomic */
    uint32_t sure; /* the last hit was where it was expected; atomic */
} __attribute__((aligned(128)));

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
    struct cache_guesses *guesses; /* as many */
    struct cache_place *places;    /* THREAD_NUMBERS */
    struct cache_entry *entries;
    struct cache_detail *details;
    struct cache_stripe *stripes;

    struct lock free_lock; /* all below */
    struct cache_entry *free_first;
    size_t hand; /* of the clock */
};

/** Whether cache_check() lets it pass. */
static inline bool cache_is_usable(const struct ashlar_tensormap_cache *cache)
{
    return cache != NULL && cache->process == thread_process();
}

/** Refuse NULL, and the parent's caches in a child of fork(2). */
enum ashlar_status cache_check(struct ashlar_tensormap_cache *cache,
                               const char *call);

/** An entry that is FREE, the caller's; NULL: all are held or taken. */
struct cache_entry *cache_take(struct ashlar_tensormap_cache *cache);

/** A FREE entry, in no chain, that nobody needs. */
void cache_give(struct ashlar_tensormap_cache *cache,
                struct cache_entry *entry);

static inline struct cache_detail *
cache_detail_of(const struct ashlar_tensormap_cache *cache,
                const struct cache_entry *entry)
{
    return &cache->details[entry - cache->entries];
}

/** The hits of a map that is there. */
static inline uint64_t cache_hits_of(const struct ashlar_tensormap_cache *cache,
                                     const struct cache_entry *entry)
{
    return word_times_since(word_read(&entry->word),
                            cache_detail_of(cache, entry)->first_time);
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
    return &cache->stripes[__atomic_load_n(&entry->hash, __ATOMIC_RELAXED) %
                           CACHE_STRIPES];
}

/** Say what an entry is, and all that was written before. */
static inline void cache_set_state(const struct ashlar_tensormap_cache *cache,
                                   const struct cache_entry *entry,
                                   enum cache_state state)
{
    __atomic_store_n(&cache_detail_of(cache, entry)->state, (uint8_t)state,
                     __ATOMIC_RELEASE);
}

/** What an entry is; with its stripe's lock, for as long as that is held. */
static inline enum cache_state
cache_state_of(const struct ashlar_tensormap_cache *cache,
               const struct cache_entry *entry)
{
    return (enum cache_state)__atomic_load_n(
        &cache_detail_of(cache, entry)->state, __ATOMIC_ACQUIRE);
}

/**
 * What an entry is, by index, under a stripe's lock; CACHE_FREE as well if
 * another lock guards it.
 */
static inline enum cache_state
cache_state_under(const struct ashlar_tensormap_cache *cache,
                  const struct cache_entry *entry,
                  const struct cache_stripe *stripe)
{
    enum cache_state state = cache_state_of(cache, entry);

    return cache_stripe_of(cache, entry) == stripe ? state : CACHE_FREE;
}

#endif
