/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The cache: free slots that one thread, or one caller, keeps for itself.
 *
 *     window  { slab A, 10 .. 64 }      get takes 10, put of 9 gives it back
 *     stack   { slab A, 200 .. 264 }    the window of before, and of before that
 *             { slab B, 7 .. 8 }
 *
 * Stretches of neighbours instead of a stack of pointers: 256 slots are one
 * entry, are checked and marked eight at a time, and are handed out by adding
 * the stride, so that a checked bulk costs less than an unchecked copy of
 * pointers; slots that come in no order cost an entry each, which is what a
 * pointer would.
 *
 * Invariants:
 *   - kept = spilled + (end - begin) <= limit, where spilled is the sum over
 *     stack[0 .. depth - 1];
 *   - depth <= room; a cache that is full of stretches gives the oldest away,
 *     as one that is full of slots does;
 *   - floor is the lowest begin for which kept <= limit would still hold; end,
 *     when the window is marked ahead (ahead.h);
 *   - marks[i & mark_mask] is the state of slot i of the window's slab; where
 *     window.state is NULL it is no_state, which always says live;
 *   - pool is NULL iff the pool was destroyed under a caller-held cache, and
 *     then it keeps nothing.
 *
 * Owned by one thread at a time. Others read begin, end and spilled, for
 * statistics; the pool's lock guards next, previous and limit's share of
 * pool->granted.
 */
#ifndef ASHLAR_POOL_CACHE_H
#define ASHLAR_POOL_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/cache.h>

#include "pool/address.h"
#include "pool/ahead.h"
#include "pool/slab.h"
#include "pool/state.h"

struct thread;

struct cache {
    struct ashlar_cache window; /* first: what callers hold */
    unsigned char *marks;       /* the window's states; unchecked: &no_state */
    uint32_t mark_mask;         /* of an index into them; unchecked: 0 */
    unsigned char mark_free;    /* what a put leaves; unchecked: SLOT_LIVE */
    unsigned char no_state;     /* always SLOT_LIVE */
    struct ashlar_pool *pool;
    struct slab *slab; /* the window's; NULL before the first */
    uint64_t spilled;  /* atomic */
    uint32_t limit;
    uint32_t depth;
    uint32_t room;        /* entries of stack */
    struct thread *owner; /* NULL: a caller's */
    struct ahead ahead;
    struct ahead_known known; /* of windows that others marked ahead */
    struct cache *next;
    struct cache *previous;
    struct extent stack[];
};

/**
 * Slots that go to or come from the store together, on behalf of fewer: so many
 * that what two threads share (the lock, the store's counts, words of free bits)
 * goes from one to the other once for four bulks of 256.
 */
#define CACHE_BATCH 1024u

/** The most stretches that a cache keeps. */
#define CACHE_ROOM 512u

/** The cache of which a caller holds the window. */
static inline struct cache *cache_of(struct ashlar_cache *window)
{
    return (struct cache *)(void *)window;
}

/** How many slots a cache keeps when nobody says: see pool.h. */
static inline uint32_t cache_default(size_t stride)
{
    size_t slots = ASHLAR_POOL_CACHE_DEFAULT_BYTES / stride;

    if (slots > ASHLAR_POOL_CACHE_DEFAULT)
        slots = ASHLAR_POOL_CACHE_DEFAULT;
    return slots == 0 ? 1 : (uint32_t)slots;
}

/**
 * ashlar_cache_get() without its jump over the states that an unchecked pool has
 * not: behind a call it would cost an eighth of the time.
 */
static inline void *cache_get_next(struct cache *cache)
{
    struct ashlar_cache *window = &cache->window;
    uint32_t begin = window->begin;

    if (ASHLAR_UNLIKELY(begin == window->end))
        return ashlar_cache_get_slow(window);
    state_set(&cache->marks[begin & cache->mark_mask], SLOT_LIVE);
    __atomic_store_n(&window->begin, begin + 1, __ATOMIC_RELAXED);
    return window->base + begin * window->stride;
}

/** ashlar_cache_put() without that jump. */
static inline enum ashlar_status cache_put_next(struct cache *cache, void *slot)
{
    struct ashlar_cache *window = &cache->window;
    uint32_t front = window->begin - 1;
    unsigned char *mark;

    if (ASHLAR_UNLIKELY(window->begin <= window->floor ||
                        (char *)slot != window->base + front * window->stride))
        return ashlar_cache_put_slow(window, slot);
    mark = &cache->marks[front & cache->mark_mask];
    if (ASHLAR_UNLIKELY(state_get(mark) != SLOT_LIVE))
        return ashlar_cache_put_slow(window, slot);
    state_set(mark, cache->mark_free);
    __atomic_store_n(&window->begin, front, __ATOMIC_RELAXED);
    return ASHLAR_OK;
}

/** A cache that keeps nothing, of no pool's list; NULL: no memory. */
struct cache *cache_create(struct ashlar_pool *pool, uint32_t limit);

/** The window's states are those that a get and a put write, or none are. */
void cache_mark_states(struct cache *cache);
void cache_mark_nothing(struct cache *cache);

/** How far begin may go back until the cache is full. */
void cache_set_floor(struct cache *cache);

/** Slots kept; exact for the owner, about right for others. */
uint64_t cache_kept(const struct cache *cache);

/** Those of them that are of one slab; for the owner. */
uint64_t cache_kept_of(const struct cache *cache, const struct slab *slab);

/** Give everything to the store; the pool's lock is held. */
void cache_empty(struct cache *cache);

/** Keep nothing any more, and give nothing: where it goes is known. */
void cache_reset(struct cache *cache);

/** Keep less from now on. Takes the pool's lock. */
void cache_lower(struct cache *cache, uint32_t limit);

/** What an inline get does when the window is empty. */
void *cache_get(struct cache *cache);

/** What an inline put does when the slot is not the window's neighbour. */
enum ashlar_status cache_put(struct cache *cache, void *slot);

/** The same without a cache: to the store. */
enum ashlar_status cache_put_one(struct ashlar_pool *pool, void *slot);

/** Set the error of a cache whose pool is gone. */
enum ashlar_status cache_refuse_orphan(const char *call);

/** Get up to n; fewer leave the reason as the last error. */
size_t cache_get_some(struct ashlar_pool *pool, struct cache *cache,
                      void **slots_out, size_t n);

/**
 * Get n slots, all or none, that the window has not. cache may be NULL: then
 * from the store.
 */
enum ashlar_status cache_get_more(struct ashlar_pool *pool, struct cache *cache,
                                  void **slots_out, size_t n);

/**
 * Put n slots, all or none, in any order. It takes a large frame. cache may be
 * NULL: then to the store.
 */
enum ashlar_status cache_put_batch(struct ashlar_pool *pool,
                                   struct cache *cache, void *const *slots,
                                   size_t n, size_t *culprit_out);

/** The window's front, which others read for statistics. */
static inline void cache_set_begin(struct cache *cache, uint32_t begin)
{
    __atomic_store_n(&cache->window.begin, begin, __ATOMIC_RELAXED);
}

/** Hand out the first n slots of the window, which has them. */
static inline void cache_drain_window(struct cache *cache, void **slots_out,
                                      size_t n)
{
    const struct ashlar_cache *window = &cache->window;
    uint32_t begin = window->begin;

    cache_set_begin(cache, begin + (uint32_t)n);
    if (window->state != NULL)
        state_fill(window->state + begin, n, SLOT_LIVE);
    address_write_row(slots_out, window->base + begin * window->stride, n,
                      window->stride);
}

/** Get n slots, all or none: from the window, if it has them. */
static inline enum ashlar_status cache_get_bulk(struct ashlar_pool *pool,
                                                struct cache *cache,
                                                void **slots_out, size_t n)
{
    size_t room = cache->window.end - cache->window.begin;

    if (ASHLAR_UNLIKELY(n - 1 >= room || slots_out == NULL)) /* or n is 0 */
        return cache_get_more(pool, cache, slots_out, n);
    cache_drain_window(cache, slots_out, n);
    return ASHLAR_OK;
}

/**
 * Put the window's left neighbours, 1 or more, in order, which is how they were
 * got. False: the batch is another, and nothing was done.
 */
static inline bool cache_put_before_window(struct cache *cache,
                                           void *const *slots, size_t n)
{
    struct ashlar_cache *window = &cache->window;
    size_t stride = window->stride;
    uint32_t front;

    if (window->begin <= window->floor || n > window->begin - window->floor)
        return false;
    front = window->begin - (uint32_t)n;
    if ((char *)slots[0] != window->base + front * stride ||
        (n > 1 && address_count_row(slots, n, stride) != n))
        return false;
    if (window->state != NULL) {
        if (state_count_live(window->state + front, n) != n)
            return false;
        state_fill(window->state + front, n, SLOT_FREE);
    }
    cache_set_begin(cache, front);
    return true;
}

/** Put n slots, all or none: most often before the window. */
static inline enum ashlar_status cache_put_bulk(struct ashlar_pool *pool,
                                                struct cache *cache,
                                                void *const *slots, size_t n,
                                                size_t *culprit_out)
{
    if (ASHLAR_LIKELY(n != 0 && slots != NULL) &&
        cache_put_before_window(cache, slots, n))
        return ASHLAR_OK;
    return cache_put_batch(pool, cache, slots, n, culprit_out);
}

#endif
