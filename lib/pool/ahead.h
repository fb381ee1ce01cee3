/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Slots marked ahead: what lets one thread get and another put, one at a time,
 * without a line of states going from one to the other with each slot.
 *
 *     window that came from the store, marked ahead as it was opened:
 *
 *       state  ... |  0 |  2 |  2 |  1 |  2 |  2 |  2 |  0 | ...
 *                                           ^begin         ^end
 *                              handed out     not yet
 *
 * Before a get from such a window there is nothing to write: its slots say
 * SLOT_AHEAD from the first on, which is live for those before begin, and free
 * for the others. Who puts one asks where begin is, once for all slots that were
 * handed out by then, and remembers it; the get's thread is not disturbed again.
 *
 * Invariants:
 *   - a slot that says SLOT_AHEAD is free iff it lies in the rest, begin to
 *     end - 1, of a window in pool->ahead; if not, it is live;
 *   - window.begin of such a cache only grows, its slab and end stand, and a put
 *     of its own thread closes it first: so what was handed out once, and says
 *     SLOT_AHEAD still, is live, until somebody opens a window;
 *   - that comes with another pool->ahead_serial before the first state changes;
 *   - window.state of such a cache is NULL, and floor is end, so that neither an
 *     inline get nor an inline put looks at states.
 *
 * The pool's lock guards pool->ahead, and the struct ahead of each cache.
 */
#ifndef ASHLAR_POOL_AHEAD_H
#define ASHLAR_POOL_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "pool/pool.h"

/** A window with fewer slots is not worth the lock. */
#define AHEAD_LEAST 256u

/** What makes a cache's window one that was marked ahead. */
struct ahead {
    struct slab *slab; /* NULL: it is not */
    uint32_t end;
    struct cache *next; /* in pool->ahead */
};

/**
 * What somebody knows: of the slots low to high - 1 all that say SLOT_AHEAD are
 * live, while the pool's serial is this one.
 */
struct ahead_known {
    const struct slab *slab; /* NULL: nothing */
    uint32_t low;
    uint32_t high;
    uint64_t serial;
};

/** Mark the window ahead, which came from the store. Takes the pool's lock. */
void ahead_open(struct cache *cache);

/**
 * From now on the window's states say what is free and live, if they do not
 * already. ahead_close_locked(): the pool's lock is held.
 */
void ahead_close(struct cache *cache);
void ahead_close_locked(struct cache *cache);

/**
 * Whether a slot that says SLOT_AHEAD is live. Takes the pool's lock.
 *
 * @param known  Receives what is known from now on, when it is.
 */
bool ahead_ask(struct ashlar_pool *pool, struct ahead_known *known,
               struct slab *slab, uint32_t index);

/** The same without the lock, if it is known; false: it is not. */
static inline bool ahead_knows(const struct ashlar_pool *pool,
                               const struct ahead_known *known,
                               const struct slab *slab, uint32_t index)
{
    /* Had a window been opened, its serial would have come before the state. */
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return known->slab == slab &&
           index - known->low < known->high - known->low &&
           known->serial ==
               __atomic_load_n(&pool->ahead_serial, __ATOMIC_RELAXED);
}

/** Whether a slot is live; may take the pool's lock. */
static inline bool ahead_is_live(struct ashlar_pool *pool,
                                 struct ahead_known *known, struct slab *slab,
                                 uint32_t index)
{
    unsigned char state = state_get(&slab->state[index]);

    if (state != SLOT_AHEAD)
        return state == SLOT_LIVE;
    return ahead_knows(pool, known, slab, index) ||
           ahead_ask(pool, known, slab, index);
}

/**
 * Of slots that a caller puts, up to the first that is not live, those that were
 * marked ahead say SLOT_LIVE from now on. False: there were none. May take the
 * pool's lock.
 */
bool ahead_settle(struct ashlar_pool *pool, struct ahead_known *known,
                  const struct extent *extent);

#endif
