/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * An entry's word: who holds it, in one atomic number, so that a hit and a put
 * take no lock, and one locked instruction each.
 *
 *     63            26   25     24   23             0
 *     [ times taken   ][open][sound][ holds          ]
 *
 * Invariants:
 *   - open means READY: the map is there, in its chain, and may be taken;
 *   - the word is changed by atomic steps alone; that it is opened and closed,
 *     by whoever owns the entry, or has its stripe's lock;
 *   - times taken only grows, with each take and each opening. So whoever read
 *     a word, then a key, and then swaps that very word for one more hold, has
 *     read the key of the map that he holds: had the entry been another's
 *     meanwhile, the word would have changed;
 *   - a put takes its hold away before it knows that there was one. Where there
 *     was none, it borrows from sound, and gives back what it took at once.
 *     Until then nobody takes, opens or closes the entry: holds tells nothing.
 */
#ifndef ASHLAR_TENSORMAP_CACHE_WORD_H
#define ASHLAR_TENSORMAP_CACHE_WORD_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define WORD_HOLDS UINT64_C(0xffffff)
#define WORD_SOUND (UINT64_C(1) << 24)
#define WORD_OPEN  (UINT64_C(1) << 25)
#define WORD_TIME  (UINT64_C(1) << 26)

/** Times are counted up to so many, and then from 0. */
#define WORD_TIMES (UINT64_MAX / WORD_TIME)

/** A word that is closed, and holds nothing. */
#define WORD_INIT WORD_SOUND

static inline uint64_t word_read(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/** Read it when no put is about to give back what it took. */
static inline uint64_t word_read_sound(const uint64_t *word)
{
    uint64_t seen;

    while (((seen = word_read(word)) & WORD_SOUND) == 0)
        (void)sched_yield();
    return seen;
}

static inline bool word_swap(uint64_t *word, uint64_t seen, uint64_t wanted)
{
    return __atomic_compare_exchange_n(word, &seen, wanted, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline uint64_t word_times(uint64_t word)
{
    return word / WORD_TIME;
}

/** How often it was taken or opened between two times. */
static inline uint64_t word_times_since(uint64_t word, uint64_t first)
{
    return (word_times(word) - first) & WORD_TIMES;
}

/** Hold what was seen; false when it is not so any more, or held too often. */
static inline bool word_take(uint64_t *word, uint64_t seen)
{
    return (~seen & (WORD_OPEN | WORD_SOUND)) == 0 &&
           (~seen & WORD_HOLDS) != 0 &&
           word_swap(word, seen, seen + WORD_TIME + 1);
}

/** What became of a hold. */
enum word_drop {
    WORD_DROPPED,
    WORD_NOT_HELD,
    WORD_DROPPED_LAST /* of an entry that is closed */
};

/** Hold it once less. */
static inline enum word_drop word_drop(uint64_t *word)
{
    uint64_t was = __atomic_fetch_sub(word, 1, __ATOMIC_ACQ_REL);

    if ((was & WORD_SOUND) == 0 || (was & WORD_HOLDS) == 0) {
        (void)__atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
        return WORD_NOT_HELD;
    }
    return (was & WORD_OPEN) == 0 && (was & WORD_HOLDS) == 1 ? WORD_DROPPED_LAST
                                                             : WORD_DROPPED;
}

/**
 * Open it, or let it be closed, and hold it once; returns what it is then. The
 * entry is the caller's.
 */
static inline uint64_t word_settle(uint64_t *word, bool open)
{
    uint64_t seen, wanted;

    do {
        seen = word_read_sound(word);
        wanted = (seen + WORD_TIME + 1) | (open ? WORD_OPEN : 0);
    } while (!word_swap(word, seen, wanted));
    return wanted;
}

/** Whether somebody holds it: not when a put is about to give back. */
static inline bool word_is_held(uint64_t word)
{
    return (word & WORD_SOUND) != 0 && (word & WORD_HOLDS) != 0;
}

/** Close it if nobody holds it. The stripe's lock is held. */
static inline bool word_close_idle(uint64_t *word)
{
    uint64_t seen = word_read(word);

    return (seen & WORD_SOUND) != 0 && (seen & WORD_HOLDS) == 0 &&
           word_swap(word, seen, seen & ~WORD_OPEN);
}

/** Close it; returns what it was. The stripe's lock is held. */
static inline uint64_t word_close(uint64_t *word)
{
    uint64_t seen;

    do
        seen = word_read_sound(word);
    while (!word_swap(word, seen, seen & ~WORD_OPEN));
    return seen;
}

#endif
