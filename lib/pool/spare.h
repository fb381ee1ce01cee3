/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Spare runs: what a thread has put, and gets again without a lock.
 *
 *     spares of one thread ─> sets[hash of length] ─> tags[4]    a ring, whose
 *                                                     newest ^   oldest makes way
 *
 *     caller (RUN_LIVE) <── get, put ──> spare (RUN_SPARE, in one set)
 *                ^                         │
 *                └── runs_take ── bin <────┘ makes way, is called in
 *
 * To all others a spare run is as good as a free one. Whoever holds the pool's
 * lock may call the spare runs of all threads in, and does before the pool
 * grows, joins runs, promises, trims or is destroyed. So they stand in nobody's
 * way, and a promise of runs counts them as free.
 *
 * A length has two sets, a home and a second one for when other lengths have
 * filled the home: so a hundred lengths and more are kept before one displaces
 * another.
 *
 * Invariants:
 *   - an entry is filled by the thread it belongs to alone, and emptied by it
 *     or, under the pool's lock, by anybody. Each takes what is there in one
 *     atomic step: who has taken a run has it alone;
 *   - a run whose state is RUN_SPARE stands in one entry, but for moments
 *     inside a put, a get or a call in;
 *   - lengths[i] is that of the run which tags[i] was given last;
 *   - last is a tag, whoever has its run by now: who puts compares the address,
 *     which a tag has for ever while its run is out of the lists.
 *
 * The pool's lock guards the list of the threads' spares; pool->spares is its
 * head.
 */
#ifndef ASHLAR_POOL_SPARE_H
#define ASHLAR_POOL_SPARE_H

#include <stdint.h>

#include "pool/pool.h"

struct thread;

#define SPARE_SETS 64u /* a power of two */
#define SPARE_WAYS 4u  /* a power of two */

struct spare_set {
    struct run_tag *tags[SPARE_WAYS]; /* atomic; NULL: no run */
    uint32_t lengths[SPARE_WAYS];
    struct run_tag *last; /* of the run got last of the lengths at home here */
    uint32_t newest;
    uint32_t puts; /* how many there were; atomic */
} __attribute__((aligned(64)));

struct spares {
    struct spare_set sets[SPARE_SETS];
    struct ashlar_pool *pool;
    struct thread *owner;
    struct spares *next;
    struct spares *previous;
};

/** The key of a thread's spares of a pool: see thread.h. */
static inline uint32_t spare_key(const struct ashlar_pool *pool)
{
    return pool->key + 1;
}

/**
 * The calling thread's spares, made if it has none. NULL when it is to go
 * without: a pool without caches, no memory, a thread that is ending.
 */
struct spares *spare_self(struct ashlar_pool *pool);

/** Give a run that made way to its bin. Takes the pool's lock. */
void spare_give(struct ashlar_pool *pool, const struct run_tag *tag);

/** All spare runs become free ones; the pool's lock is held. */
void spare_call_in(struct ashlar_pool *pool);

/**
 * How many runs of a length, and of those that share its sets, became spare so
 * far. While this stands, what was called in is all there was: a run that moves
 * from a thread not yet asked to one that was asked cannot be missed.
 */
uint32_t spare_puts(struct ashlar_pool *pool, uint32_t length);

/** How many runs are spare, and their slots; the pool's lock is held. */
void spare_count(const struct ashlar_pool *pool, uint64_t *runs_out,
                 uint64_t *slots_out);

/** What a thread keeps becomes free, and its record goes. The life lock. */
void spare_end(struct spares *spares);

/** The pool goes, and with it the spares of all threads. Both locks. */
void spare_end_all(struct ashlar_pool *pool);

/**
 * In a child of fork(2), with the lock held: all that is spare is free, and the
 * spares of dead threads end.
 */
void spare_recover(struct ashlar_pool *pool);

static inline struct spare_set *spare_set_at(struct spares *spares,
                                             uint32_t hash)
{
    return &spares->sets[hash / (UINT32_MAX / SPARE_SETS + 1)];
}

/** The home of a length: neighbours, and powers of two, have theirs apart. */
static inline struct spare_set *spare_home(struct spares *spares, size_t n)
{
    return spare_set_at(spares, (uint32_t)n * UINT32_C(0x9e3779b1));
}

/** The other set of a length. */
static inline struct spare_set *spare_second(struct spares *spares, size_t n)
{
    return spare_set_at(spares, (uint32_t)n * UINT32_C(0x85ebca77));
}

/* The run of an entry, which is empty from now on; NULL: it was. */
static inline struct run_tag *spare_take_out(struct run_tag **entry)
{
    if (__atomic_load_n(entry, __ATOMIC_RELAXED) == NULL)
        return NULL;
    return __atomic_exchange_n(entry, NULL, __ATOMIC_ACQUIRE);
}

/** The tag of a run of n that is in the set, live from now on; NULL: none is. */
static inline struct run_tag *spare_get_from(struct spare_set *set, size_t n)
{
    uint32_t way = set->newest;
    struct run_tag *tag;
    uint32_t i;

    for (i = 0; i < SPARE_WAYS; i++, way = (way - 1) % SPARE_WAYS) {
        if (set->lengths[way] != n)
            continue;
        tag = spare_take_out(&set->tags[way]);
        if (tag == NULL)
            continue;
        /* Its place is the next to be filled. */
        set->newest = (way - 1) % SPARE_WAYS;
        run_set_state(tag, RUN_LIVE);
        return tag;
    }
    return NULL;
}

/** Get a run of n slots again; NULL when none is spare. */
static inline void *spare_get(struct spares *spares, size_t n)
{
    struct spare_set *home = spare_home(spares, n);
    struct run_tag *tag = spare_get_from(home, n);

    if (ASHLAR_UNLIKELY(tag == NULL))
        tag = spare_get_from(spare_second(spares, n), n);
    if (ASHLAR_UNLIKELY(tag == NULL))
        return NULL;
    home->last = tag;
    return (void *)(uintptr_t)run_link(tag);
}

/** The tag of the run got last, if it is this one; NULL: it is another. */
static inline struct run_tag *spare_last(struct spares *spares, const void *run,
                                         size_t n)
{
    struct run_tag *tag = spare_home(spares, n)->last;

    return tag != NULL && run_link(tag) == (uintptr_t)run ? tag : NULL;
}

/** Keep a run that was claimed. May take the pool's lock. */
static inline void spare_put(struct spares *spares, struct run_tag *tag,
                             size_t n)
{
    struct spare_set *set = spare_home(spares, n);
    uint32_t way = (set->newest + 1) % SPARE_WAYS;
    struct run_tag *oldest;

    if (ASHLAR_UNLIKELY(set->lengths[way] != n &&
                        __atomic_load_n(&set->tags[way], __ATOMIC_RELAXED) !=
                            NULL)) {
        set = spare_second(spares, n);
        way = (set->newest + 1) % SPARE_WAYS;
    }
    oldest = spare_take_out(&set->tags[way]);
    set->lengths[way] = (uint32_t)n;
    set->newest = way;
    __atomic_store_n(&set->tags[way], tag, __ATOMIC_RELEASE);
    __atomic_store_n(&set->puts, set->puts + 1, __ATOMIC_RELEASE);
    if (ASHLAR_UNLIKELY(oldest != NULL))
        spare_give(spares->pool, oldest);
}

#endif
