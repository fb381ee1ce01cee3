/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * An entry's word: who holds it, in one atomic number, so that a hit and a put
 * take no lock.
 *
 *     63            25   24   23             0
 *     [ times taken   ][open][ holds          ]
 *
 * Invariants:
 *   - open means READY: the map is there, in its chain, and may be taken. While
 *     it is open the word is changed by compare-and-swap alone; while it is
 *     not, by whoever owns the entry, or has its stripe's lock;
 *   - times taken only grows, with each take and each opening. So whoever read
 *     a word, then a key, and then swaps that very word for one more hold, has
 *     read the key of the map that he holds: had the entry been another's
 *     meanwhile, the word would have changed.
 */
#ifndef ASHLAR_TENSORMAP_CACHE_WORD_H
#define ASHLAR_TENSORMAP_CACHE_WORD_H

#include <stdbool.h>
#include <stdint.h>

#define WORD_HOLDS UINT64_C(0xffffff)
#define WORD_OPEN  (UINT64_C(1) << 24)
#define WORD_TIME  (UINT64_C(1) << 25)

static inline uint64_t word_read(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline bool word_swap(uint64_t *word, uint64_t *seen, uint64_t wanted)
{
    return __atomic_compare_exchange_n(word, seen, wanted, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static inline uint64_t word_times(uint64_t word)
{
    return word / WORD_TIME;
}

/** Hold what was seen; false when it is not so any more, or held too often. */
static inline bool word_take(uint64_t *word, uint64_t seen)
{
    return (seen & WORD_OPEN) != 0 && (seen & WORD_HOLDS) != WORD_HOLDS &&
           word_swap(word, &seen, seen + WORD_TIME + 1);
}

/** What became of a hold. */
enum word_drop {
    WORD_DROPPED,
    WORD_NOT_HELD,
    WORD_CLOSED /* and not dropped: that takes the lock */
};

/** Hold it once less. */
static inline enum word_drop word_drop(uint64_t *word)
{
    uint64_t seen = word_read(word);

    do {
        if ((seen & WORD_HOLDS) == 0)
            return WORD_NOT_HELD;
        if ((seen & WORD_OPEN) == 0)
            return WORD_CLOSED;
    } while (!word_swap(word, &seen, seen - 1));
    return WORD_DROPPED;
}

/** Close it if nobody holds it. */
static inline bool word_close_idle(uint64_t *word)
{
    uint64_t seen = word_read(word);

    do {
        if ((seen & WORD_HOLDS) != 0)
            return false;
    } while (!word_swap(word, &seen, seen & ~WORD_OPEN));
    return true;
}

/** Close it; returns what it was. */
static inline uint64_t word_close(uint64_t *word)
{
    return __atomic_fetch_and(word, ~WORD_OPEN, __ATOMIC_ACQ_REL);
}

/** Change a word that is closed, by its owner. */
static inline void word_write(uint64_t *word, uint64_t value)
{
    __atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif
