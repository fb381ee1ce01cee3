/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A byte per slot that says whether it is live.
 *
 * A byte, not a bit: neighbours are put by different threads, and a bit would
 * need an atomic exchange (7 ns a put) where a byte needs a plain store. A byte
 * is written by whoever owns the slot at that moment and by nobody else; the
 * accesses are relaxed atomics so that a wrong put, which reads a byte that is
 * not its caller's, is well defined. Stretches go eight bytes at a time.
 */
#ifndef ASHLAR_POOL_STATE_H
#define ASHLAR_POOL_STATE_H

#include <stddef.h>
#include <stdint.h>

enum slot_state {
    SLOT_FREE = 0,
    SLOT_LIVE = 1,
    SLOT_AHEAD = 2 /* either, as ahead.h says */
};

static inline unsigned char state_get(const unsigned char *state)
{
    return __atomic_load_n(state, __ATOMIC_RELAXED);
}

static inline void state_set(unsigned char *state, enum slot_state value)
{
    __atomic_store_n(state, (unsigned char)value, __ATOMIC_RELAXED);
}

static inline uint64_t state_word(enum slot_state value)
{
    return value * UINT64_C(0x0101010101010101);
}

static inline void state_set_word(unsigned char *state, uint64_t word)
{
    __atomic_store_n((uint64_t *)(void *)state, word, __ATOMIC_RELAXED);
}

static inline uint64_t state_get_word(const unsigned char *state)
{
    return __atomic_load_n((const uint64_t *)(const void *)state,
                           __ATOMIC_RELAXED);
}

/** A word with what is marked ahead as live, when no window is open. */
static inline uint64_t state_live(uint64_t word)
{
    return (word | word >> 1) & state_word(SLOT_LIVE);
}

/** Bit i says whether byte i of a word is SLOT_LIVE; none is SLOT_AHEAD. */
static inline uint64_t state_bits(uint64_t word)
{
    /* Byte i, which is 0 or 1, arrives at bit 56 + i, and nothing collides. */
    return word * UINT64_C(0x0102040810204080) >> 56;
}

static inline void state_fill(unsigned char *state, size_t n,
                              enum slot_state value)
{
    uint64_t word = state_word(value);

    for (; n != 0 && ((uintptr_t)state & 7) != 0; n--)
        state_set(state++, value);
    for (; n >= 32; n -= 32, state += 32) {
        state_set_word(state, word);
        state_set_word(state + 8, word);
        state_set_word(state + 16, word);
        state_set_word(state + 24, word);
    }
    for (; n >= 8; n -= 8, state += 8)
        state_set_word(state, word);
    for (; n != 0; n--)
        state_set(state++, value);
}

/** How many from the first on are live; n when all are. */
static inline size_t state_count_live(const unsigned char *state, size_t n)
{
    const uint64_t live = state_word(SLOT_LIVE);
    size_t i = 0;

    for (; i < n && ((uintptr_t)(state + i) & 7) != 0; i++)
        if (state_get(state + i) != SLOT_LIVE)
            return i;
    for (; i + 32 <= n; i += 32)
        if (((state_get_word(state + i) ^ live) |
             (state_get_word(state + i + 8) ^ live) |
             (state_get_word(state + i + 16) ^ live) |
             (state_get_word(state + i + 24) ^ live)) != 0)
            break;
    for (; i < n; i++)
        if (state_get(state + i) != SLOT_LIVE)
            return i;
    return n;
}

#endif
