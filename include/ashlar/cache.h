/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The caller-held cache: the shortest path to a slot, inline.
 *
 *     window of the cache, inside one slab:
 *
 *       slab  ... | live | live | free | free | free | live | ...
 *                                ^begin              ^end
 *       get takes the slot at begin; put of its left neighbour gives it back
 *
 * A cache keeps free slots as stretches of neighbours; the window is the one in
 * use. A get takes from its front; a put of the slot just before it, which is
 * what a put in reverse order of the gets is, moves the front back. All other
 * cases go out of line and do the same work as ashlar_pool_get() and
 * ashlar_pool_put().
 *
 * Invariants:
 *   - begin <= end, and slots begin to end - 1 of the slab at base
 *     are this cache's and free;
 *   - state[i] tells whether slot i is live; NULL when a get has nothing to
 *     write there: in an unchecked pool, and while the library tells live slots
 *     by begin instead;
 *   - begin <= floor when a put may not go to the window: it would overfill the
 *     cache, or the library is to see it.
 *
 * In a child of fork(2) every cache is empty: what it kept is free. One that
 * another thread of the parent held may be used or closed there all the same.
 *
 * The struct's layout is part of the library's ABI; ashlar_cache_open() refuses
 * a caller that was compiled against another one. Its members are not for the
 * caller to read or write.
 */
#ifndef ASHLAR_CACHE_H
#define ASHLAR_CACHE_H

#include <ashlar/export.h>
#include <ashlar/pool.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** Grows when struct ashlar_cache changes. */
#define ASHLAR_CACHE_LAYOUT 1u

/** A cache. Made by ashlar_cache_open() only. */
struct ashlar_cache {
    char *base;          /* slot 0 of the window's slab */
    unsigned char *state; /* per slot of it: 1 live, 0 not; or NULL */
    size_t stride;       /* bytes from slot to slot */
    uint32_t begin;      /* the next slot to hand out */
    uint32_t end;        /* one behind the last */
    uint32_t floor;      /* begin may not go below */
    uint32_t reserved;
};

/**
 * Make a cache for one user of a pool.
 *
 * @param pool       The pool.
 * @param slots      The most slots it keeps; 0 for ASHLAR_POOL_CACHE_DEFAULT.
 *                   Near max_slots it may keep fewer.
 * @param layout     ASHLAR_CACHE_LAYOUT.
 * @param cache_out  Receives the cache, owned by the caller until
 *                   ashlar_cache_close(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument, or slots above
 *                                 ASHLAR_POOL_CACHE_MAX;
 *         ASHLAR_ERR_STALE        the pool was destroyed;
 *         ASHLAR_ERR_UNSUPPORTED  the caller was compiled against headers with
 *                                 another layout;
 *         ASHLAR_ERR_NO_MEMORY    no host memory for it.
 *
 * @par Threads  Any thread at any time. The cache then belongs to one thread
 *               at a time; handing it on needs the order that handing any
 *               object on does.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_cache_open(struct ashlar_pool *pool,
                                                size_t slots, uint32_t layout,
                                                struct ashlar_cache **cache_out);

/**
 * Give a cache and all it keeps back to its pool.
 *
 * @param cache  From ashlar_cache_open(), gone after success; its pool may
 *               have been destroyed.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  cache is NULL.
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_cache_close(struct ashlar_cache *cache);

/**
 * What ashlar_cache_get() does when the window is empty.
 *
 * @param cache  The cache.
 *
 * @return As ashlar_pool_get().
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
ASHLAR_API void *
ashlar_cache_get_slow(struct ashlar_cache *cache) ASHLAR_NO_PLT;

/**
 * What ashlar_cache_put() does when the slot is not the window's neighbour.
 *
 * @param cache  The cache.
 * @param slot   A live slot.
 *
 * @return As ashlar_pool_put().
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_cache_put_slow(struct ashlar_cache *cache,
                                                    void *slot) ASHLAR_NO_PLT;

/**
 * Get n slots through a cache, all or none: see ashlar_pool_get_bulk().
 *
 * @param cache      The cache.
 * @param slots_out  Room for n pointers.
 * @param n          Slots; 0 succeeds.
 *
 * @return As ashlar_pool_get_bulk().
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_cache_get_bulk(struct ashlar_cache *cache,
                                                    void **slots_out,
                                                    size_t n) ASHLAR_NO_PLT;

/**
 * Put n slots through a cache, all or none: see ashlar_pool_put_bulk().
 *
 * @param cache        The cache.
 * @param slots        n live slots, in any order.
 * @param n            Slots; 0 succeeds.
 * @param culprit_out  Receives the index of a slot at fault; may be NULL.
 *
 * @return As ashlar_pool_put_bulk().
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_cache_put_bulk(struct ashlar_cache *cache, void *const *slots, size_t n,
                      size_t *culprit_out) ASHLAR_NO_PLT;

/**
 * Get one slot, inline: see ashlar_pool_get().
 *
 * @param cache  The cache; not NULL, which is not checked.
 *
 * @return As ashlar_pool_get().
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
static inline void *ashlar_cache_get(struct ashlar_cache *cache)
{
    uint32_t begin = cache->begin;

    if (ASHLAR_UNLIKELY(begin == cache->end))
        return ashlar_cache_get_slow(cache);
    if (cache->state != NULL)
        __atomic_store_n(&cache->state[begin], 1, __ATOMIC_RELAXED);
    __atomic_store_n(&cache->begin, begin + 1, __ATOMIC_RELAXED);
    return cache->base + begin * cache->stride;
}

/**
 * Put one slot, inline: see ashlar_pool_put().
 *
 * @param cache  The cache; not NULL, which is not checked.
 * @param slot   A live slot of the cache's pool.
 *
 * @return As ashlar_pool_put().
 *
 * @par Threads  The thread that holds the cache.
 * @since 0.1
 */
static inline enum ashlar_status ashlar_cache_put(struct ashlar_cache *cache,
                                                  void *slot)
{
    uint32_t front = cache->begin - 1;

    if (ASHLAR_UNLIKELY(cache->begin <= cache->floor ||
                        (char *)slot != cache->base + front * cache->stride))
        return ashlar_cache_put_slow(cache, slot);
    if (cache->state != NULL) {
        if (ASHLAR_UNLIKELY(__atomic_load_n(&cache->state[front],
                                            __ATOMIC_RELAXED) != 1))
            return ashlar_cache_put_slow(cache, slot);
        __atomic_store_n(&cache->state[front], 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&cache->begin, front, __ATOMIC_RELAXED);
    return ASHLAR_OK;
}

ASHLAR_END_DECLS

#endif
