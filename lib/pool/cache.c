/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/cache.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pool/direct.h"
#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/state.h"
#include "pool/watch.h"

struct cache *cache_create(struct ashlar_pool *pool, uint32_t limit)
{
    uint32_t room = limit < CACHE_ROOM ? limit : CACHE_ROOM;
    struct cache *cache;

    cache = memory_zalloc_aligned(sizeof(*cache) + room * sizeof(*cache->stack),
                                  64);
    if (cache == NULL)
        return NULL;
    cache->pool = pool;
    cache->limit = limit;
    cache->room = room;
    cache->window.stride = pool->plan.geometry.stride;
    cache->no_state = SLOT_LIVE;
    cache_mark_nothing(cache);
    return cache;
}

void cache_mark_states(struct cache *cache)
{
    cache->marks = cache->window.state;
    cache->mark_mask = UINT32_MAX;
    cache->mark_free = SLOT_FREE;
}

void cache_mark_nothing(struct cache *cache)
{
    cache->marks = &cache->no_state;
    cache->mark_mask = 0;
    cache->mark_free = SLOT_LIVE;
}

/* The window's members are read by others, for statistics. */
static void set_end(struct cache *cache, uint32_t end)
{
    __atomic_store_n(&cache->window.end, end, __ATOMIC_RELAXED);
}

static void set_spilled(struct cache *cache, uint64_t spilled)
{
    __atomic_store_n(&cache->spilled, spilled, __ATOMIC_RELAXED);
}

uint64_t cache_kept(const struct cache *cache)
{
    uint32_t begin = __atomic_load_n(&cache->window.begin, __ATOMIC_RELAXED);
    uint32_t end = __atomic_load_n(&cache->window.end, __ATOMIC_RELAXED);

    return __atomic_load_n(&cache->spilled, __ATOMIC_RELAXED) +
           (end > begin ? end - begin : 0);
}

uint64_t cache_kept_of(const struct cache *cache, const struct slab *slab)
{
    uint64_t kept = 0;
    uint32_t i;

    if (cache->slab == slab)
        kept = cache->window.end - cache->window.begin;
    for (i = 0; i < cache->depth; i++)
        if (cache->stack[i].slab == slab)
            kept += cache->stack[i].end - cache->stack[i].begin;
    return kept;
}

void cache_set_floor(struct cache *cache)
{
    uint64_t spare = cache->limit - cache_kept(cache);
    uint32_t begin = cache->window.begin;

    cache->window.floor = begin > spare ? begin - (uint32_t)spare : 0;
    if (cache->ahead.slab != NULL)
        cache->window.floor = cache->window.end;
}

/*
 * A fork may come between any two stores of another thread, and the child of it
 * believes what a cache of an unchecked pool says. So that it never says more
 * than it keeps, the order of some stores matters.
 */
static void order_for_fork(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void set_window(struct cache *cache, const struct extent *extent)
{
    set_end(cache, 0);
    order_for_fork();
    cache->slab = extent->slab;
    cache->window.base = extent->slab->base;
    cache->window.state = extent->slab->state;
    if (extent->slab->state != NULL)
        cache_mark_states(cache);
    cache_set_begin(cache, extent->begin);
    order_for_fork();
    set_end(cache, extent->end);
    cache_set_floor(cache);
}

/* The last stretch of the stack becomes the window, which is empty. */
static void pop_window(struct cache *cache)
{
    const struct extent *top = &cache->stack[--cache->depth];

    ahead_close(cache);
    order_for_fork();
    set_spilled(cache, cache->spilled - (top->end - top->begin));
    set_window(cache, top);
}

/* Keep a stretch; there is room for it below the limit. */
static void push(struct cache *cache, const struct extent *extent)
{
    struct ashlar_cache *window = &cache->window;

    if (window->begin == window->end) {
        set_window(cache, extent);
        return;
    }
    if (extent->slab == cache->slab && extent->end == window->begin) {
        cache_set_begin(cache, extent->begin);
    } else if (extent->slab == cache->slab && extent->begin == window->end) {
        set_end(cache, extent->end);
    } else {
        cache->stack[cache->depth] =
            (struct extent){cache->slab, window->begin, window->end};
        order_for_fork();
        cache->depth++;
        set_spilled(cache, cache->spilled + window->end - window->begin);
        set_window(cache, extent);
        return;
    }
    cache_set_floor(cache);
}

/*
 * Give `amount` slots or some more to the store: the oldest stretches, and
 * then the window's far end. All of it under the lock, so that a fork finds
 * each slot in one place.
 */
static void give_oldest(struct cache *cache, uint64_t amount)
{
    const struct ashlar_cache *window = &cache->window;
    struct extent cut = {cache->slab, window->end, window->end};
    struct ashlar_pool *pool = cache->pool;
    uint64_t duplicates = 0;
    uint64_t given = 0;
    uint32_t count = 0;

    ahead_close(cache);
    while (count < cache->depth && given < amount) {
        given += cache->stack[count].end - cache->stack[count].begin;
        count++;
    }
    if (given < amount)
        cut.begin = amount - given < window->end - window->begin
                        ? window->end - (uint32_t)(amount - given)
                        : window->begin;
    pool_lock(pool);
    if (count != 0)
        duplicates += store_give(pool, cache->stack, count);
    cache->depth -= count;
    memmove(cache->stack, cache->stack + count,
            cache->depth * sizeof(*cache->stack));
    set_spilled(cache, cache->spilled - given);
    if (cut.begin != cut.end)
        duplicates += store_give(pool, &cut, 1);
    set_end(cache, cut.begin);
    pool_unlock(pool);
    cache_set_floor(cache);
    direct_log_duplicates(pool->name, duplicates);
}

void cache_empty(struct cache *cache)
{
    struct extent rest = {cache->slab, cache->window.begin, cache->window.end};

    ahead_close_locked(cache);
    (void)store_give(cache->pool, cache->stack, cache->depth);
    if (rest.begin != rest.end)
        (void)store_give(cache->pool, &rest, 1);
    cache->depth = 0;
    set_spilled(cache, 0);
    set_end(cache, rest.begin);
    cache_set_floor(cache);
}

void cache_reset(struct cache *cache)
{
    cache->slab = NULL;
    cache->ahead.slab = NULL;
    cache->depth = 0;
    cache->spilled = 0;
    cache->window = (struct ashlar_cache){.stride = cache->window.stride};
}

void cache_lower(struct cache *cache, uint32_t limit)
{
    uint64_t kept = cache_kept(cache);

    if (limit >= cache->limit)
        return;
    if (kept > limit)
        give_oldest(cache, kept - limit);
    pool_lock(cache->pool);
    cache->pool->granted -= cache->limit - limit;
    cache->limit = limit;
    pool_unlock(cache->pool);
    cache_set_floor(cache);
}

/* What goes to the store, or comes from it, at a time. */
static uint32_t half_or_batch(const struct cache *cache)
{
    return cache->limit / 2 < CACHE_BATCH ? cache->limit / 2 : CACHE_BATCH;
}

/*
 * Make room for n slots in so many stretches, which are no more than half of
 * what the cache may have of either: the oldest go.
 */
static void make_room(struct cache *cache, uint64_t n, uint32_t stretches)
{
    uint64_t excess = cache_kept(cache) + n;

    excess = excess > cache->limit ? excess - cache->limit : 0;
    if (excess != 0 || cache->depth + stretches > cache->room)
        give_oldest(cache, excess > half_or_batch(cache)
                               ? excess
                               : half_or_batch(cache));
    /* Stretches of many slots: enough of them, too. */
    while (cache->depth + stretches > cache->room)
        give_oldest(cache, half_or_batch(cache));
}

/* How much a refill takes beside what is needed at once; with the lock held. */
static uint64_t batch_size(const struct cache *cache)
{
    const struct ashlar_pool *pool = cache->pool;
    uint64_t batch = half_or_batch(cache);
    uint64_t share;

    if (pool_capacity(pool) < pool->max_slots)
        return batch;
    /* The pool cannot grow: no more than a fair share of what is left. */
    share = pool->store.free / (pool->cache_count + (uint64_t)1);
    return batch < share ? batch : share;
}

/* Fill an empty cache of a limit above 0 with one slot at least. */
static enum ashlar_status refill(struct cache *cache)
{
    struct ashlar_pool *pool = cache->pool;
    enum ashlar_status status = ASHLAR_OK;
    uint64_t taken;
    uint64_t batch;

    for (;;) {
        pool_lock(pool);
        batch = batch_size(cache);
        cache->depth = store_take(pool, batch == 0 ? 1 : batch, cache->stack,
                                  cache->room, &taken);
        pool_unlock(pool);
        if (cache->depth != 0 || status != ASHLAR_OK)
            break;
        status = grow_free(pool, 1);
    }
    if (cache->depth == 0)
        return pool_refuse(pool, status);
    set_spilled(cache, taken);
    return ASHLAR_OK;
}

enum ashlar_status cache_refuse_orphan(const char *call)
{
    return error_set(ASHLAR_ERR_STALE,
                     "%s was given a cache whose pool was destroyed; close it "
                     "and open one of a living pool",
                     call);
}

void *cache_get(struct cache *cache)
{
    enum ashlar_status status;
    bool refilled;
    void *slot;
    size_t got;

    if (cache->pool == NULL) {
        (void)cache_refuse_orphan("ashlar_cache_get()");
        return NULL;
    }
    if (cache->depth == 0 && cache->limit == 0) {
        status = direct_get(cache->pool, &slot, 1, &got);
        if (status != ASHLAR_OK)
            (void)pool_refuse(cache->pool, status);
        return status == ASHLAR_OK ? slot : NULL;
    }
    refilled = cache->depth == 0;
    if (refilled && refill(cache) != ASHLAR_OK)
        return NULL;
    pop_window(cache);
    if (refilled)
        ahead_open(cache);
    return ashlar_cache_get(&cache->window);
}

/* Put a stretch that was checked where it belongs: here, or in the store. */
static void keep_or_give(struct cache *cache, const struct extent *extent)
{
    uint32_t n = extent->end - extent->begin;

    if (n > cache->limit) {
        direct_give(cache->pool, extent, 1);
        return;
    }
    make_room(cache, n, 1);
    push(cache, extent);
}

/* Take a slot of the window's slab from its caller; false: it is not live. */
static inline bool take_back(struct cache *cache, uint32_t index)
{
    unsigned char *state = cache->window.state;

    if (state == NULL)
        return true;
    if (!ahead_is_live(cache->pool, &cache->known, cache->slab, index))
        return false;
    state_set(state + index, SLOT_FREE);
    return true;
}

/*
 * The slot before the window, when it was marked ahead. False: it is another,
 * and nothing was done.
 */
static inline bool put_before_window(struct cache *cache, const void *slot)
{
    const struct ashlar_cache *window = &cache->window;
    uint32_t front = window->begin - 1;

    if (window->begin <= window->floor ||
        (const char *)slot != window->base + front * window->stride ||
        !take_back(cache, front))
        return false;
    cache_set_begin(cache, front);
    return true;
}

/*
 * The slot behind the window, which is how a consumer gives back what it was
 * handed in order. False: it is another, and nothing was done.
 */
static inline bool put_behind_window(struct cache *cache, const void *slot)
{
    struct ashlar_cache *window = &cache->window;
    uint32_t begin = window->begin;
    uint32_t end = window->end;
    uint64_t spare = cache->limit - cache->spilled - (end - begin);

    if (begin == end || spare == 0 ||
        (const char *)slot != window->base + end * window->stride ||
        end == cache->slab->count || !take_back(cache, end))
        return false;
    set_end(cache, end + 1);
    window->floor = begin >= spare ? begin - (uint32_t)(spare - 1) : 0;
    return true;
}

/* Put a slot that is nowhere near the window. */
static __attribute__((noinline)) enum ashlar_status
put_elsewhere(struct cache *cache, void *slot)
{
    struct extent extent;

    if (cache->pool == NULL)
        return cache_refuse_orphan("ashlar_cache_put()");
    if (direct_read(cache->pool, cache->slab, &slot, 1, &extent) == 0)
        return direct_refuse(cache->pool, &slot, 0, true);
    if (!direct_make_free(cache->pool, &cache->known, &extent))
        return direct_refuse(cache->pool, &slot, 0, true);
    watch_put(cache->pool, &slot, 1);
    keep_or_give(cache, &extent);
    return ASHLAR_OK;
}

enum ashlar_status cache_put(struct cache *cache, void *slot)
{
    if (ASHLAR_UNLIKELY(cache->ahead.slab != NULL))
        ahead_close(cache);
    if (ASHLAR_LIKELY(put_behind_window(cache, slot)) ||
        put_before_window(cache, slot))
        return ASHLAR_OK;
    return put_elsewhere(cache, slot);
}

enum ashlar_status cache_put_one(struct ashlar_pool *pool, void *slot)
{
    struct batch batch;

    if (direct_accept(pool, NULL, &slot, 1, &batch) != 1)
        return direct_refuse(pool, &slot, 0, true);
    watch_put(pool, &slot, 1);
    direct_give_batch(pool, &slot, 1, &batch);
    return ASHLAR_OK;
}

/*
 * Hand out up to n of the slots that stand alone on top of the stack, of the
 * slab that the first of them is of; returns how many. What was put in no order
 * goes by here.
 */
static size_t drain_singles(const struct cache *cache, uint32_t depth,
                            void **slots_out, size_t n)
{
    const struct extent *top = &cache->stack[depth - 1];
    const struct slab *slab = top->slab;
    size_t stride = cache->window.stride;
    unsigned char *state = slab->state;
    char *base = slab->base;
    size_t i;

    if (n > depth)
        n = depth;
    for (i = 0; i < n; i++, top--) {
        if (top->slab != slab || top->end - top->begin != 1)
            break;
        if (state != NULL)
            state_set(state + top->begin, SLOT_LIVE);
        slots_out[i] = base + top->begin * stride;
    }
    return i;
}

/*
 * Hand out up to n slots of the cache; returns how many. Stretches of the
 * stack that go as a whole need not become the window first.
 */
static size_t drain(struct cache *cache, void **slots_out, size_t n)
{
    size_t got = cache->window.end - cache->window.begin;
    uint32_t depth = cache->depth;
    const struct extent *top;
    size_t before;
    size_t singles;

    if (got > n)
        got = n;
    if (got != 0)
        cache_drain_window(cache, slots_out, got);
    for (before = got; got < n && depth != 0;) {
        singles = drain_singles(cache, depth, slots_out + got, n - got);
        if (singles != 0) {
            depth -= (uint32_t)singles;
            got += singles;
            continue;
        }
        top = &cache->stack[depth - 1];
        if (top->end - top->begin > n - got)
            break;
        direct_hand_out(cache->pool, top, slots_out + got);
        depth--;
        got += top->end - top->begin;
    }
    cache->depth = depth;
    set_spilled(cache, cache->spilled - (got - before));
    if (got < n && depth != 0) {
        pop_window(cache);
        cache_drain_window(cache, slots_out + got, n - got);
        return n;
    }
    cache_set_floor(cache);
    return got;
}

/*
 * What the cache lacks for n slots comes from the store first, so that a
 * failure finds the cache as it was.
 */
static enum ashlar_status get_beyond(struct ashlar_pool *pool,
                                     struct cache *cache, void **slots_out,
                                     size_t n)
{
    uint64_t kept = cache == NULL ? 0 : cache_kept(cache);
    enum ashlar_status status;
    struct batch batch;
    size_t got;

    status = direct_get(pool, slots_out + kept, n - kept, &got);
    if (status != ASHLAR_OK) {
        watch_put(pool, slots_out + kept, got);
        (void)direct_accept(pool, NULL, slots_out + kept, got, &batch);
        direct_give_batch(pool, slots_out + kept, got, &batch);
        return pool_refuse(pool, status);
    }
    if (kept != 0)
        (void)drain(cache, slots_out, kept);
    return ASHLAR_OK;
}

enum ashlar_status cache_get_more(struct ashlar_pool *pool, struct cache *cache,
                                  void **slots_out, size_t n)
{
    if (n == 0)
        return ASHLAR_OK;
    if (slots_out == NULL)
        return pool_refuse(pool, error_set(ASHLAR_ERR_INVALID,
                                           "slots_out is NULL; give room for "
                                           "%zu pointers",
                                           n));
    if (cache == NULL)
        return get_beyond(pool, NULL, slots_out, n);
    if (n > cache_kept(cache) && n <= half_or_batch(cache)) {
        /* Small: fill up, then serve from the cache what it can. */
        if (cache_kept(cache) == 0 && refill(cache) != ASHLAR_OK)
            return ashlar_last_error();
    }
    if (n <= cache_kept(cache)) {
        (void)drain(cache, slots_out, n);
        return ASHLAR_OK;
    }
    return get_beyond(pool, cache, slots_out, n);
}

size_t cache_get_some(struct ashlar_pool *pool, struct cache *cache,
                      void **slots_out, size_t n)
{
    enum ashlar_status status;
    size_t got = 0;
    size_t more = 0;

    if (slots_out == NULL && n != 0) {
        (void)pool_refuse(pool, error_set(ASHLAR_ERR_INVALID,
                                          "slots_out is NULL; give room for "
                                          "%zu pointers",
                                          n));
        return 0;
    }
    if (cache != NULL)
        got = drain(cache, slots_out, n);
    if (got == n)
        return n;
    status = direct_get(pool, slots_out + got, n - got, &more);
    got += more;
    if (status == ASHLAR_ERR_LIMIT &&
        grow_free_up_to(pool, n - got) == ASHLAR_OK) {
        status = direct_get(pool, slots_out + got, n - got, &more);
        got += more;
    }
    if (status != ASHLAR_OK)
        (void)pool_refuse(pool, status);
    return got;
}

/* Keep a batch of several stretches; there is room below the limit. */
static void push_batch(struct cache *cache, const struct batch *batch, size_t n)
{
    struct ashlar_cache *window = &cache->window;
    uint32_t last = batch->count - 1;
    uint32_t depth = cache->depth;

    if (window->begin != window->end)
        cache->stack[depth++] =
            (struct extent){cache->slab, window->begin, window->end};
    memcpy(cache->stack + depth, batch->extents,
           last * sizeof(*batch->extents));
    order_for_fork();
    cache->depth = depth + last;
    set_spilled(cache,
                cache_kept(cache) + n -
                    (batch->extents[last].end - batch->extents[last].begin));
    set_window(cache, &batch->extents[last]);
}

/* An accepted batch, to the cache if it fits there. */
static void settle(struct ashlar_pool *pool, struct cache *cache,
                   void *const *slots, size_t n, const struct batch *batch)
{
    if (cache == NULL || n > cache->limit || batch->covered != n ||
        batch->count > cache->room / 2) {
        direct_give_batch(pool, slots, n, batch);
        return;
    }
    make_room(cache, n, batch->count);
    if (batch->count == 1)
        push(cache, &batch->extents[0]);
    else
        push_batch(cache, batch, n);
}

enum ashlar_status cache_put_batch(struct ashlar_pool *pool,
                                   struct cache *cache, void *const *slots,
                                   size_t n, size_t *culprit_out)
{
    struct batch batch;
    size_t accepted;

    if (n == 0)
        return ASHLAR_OK;
    if (slots == NULL)
        return pool_refuse(pool, error_set(ASHLAR_ERR_INVALID,
                                           "slots is NULL, but n is %zu", n));
    if (cache != NULL)
        ahead_close(cache);
    accepted = direct_accept(pool, cache == NULL ? NULL : cache->slab, slots, n,
                             &batch);
    if (accepted != n) {
        if (culprit_out != NULL)
            *culprit_out = accepted;
        return direct_refuse(pool, slots, accepted, false);
    }
    watch_put(pool, slots, n);
    settle(pool, cache, slots, n, &batch);
    return ASHLAR_OK;
}
