/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Bits of a table: a bit that is set stands for a slot, or a unit of staging,
 * that is free.
 */
#ifndef ASHLAR_TENSORMAP_MAP_TABLE_BITS_H
#define ASHLAR_TENSORMAP_MAP_TABLE_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Not a bit: nothing was found. */
#define BITS_NONE SIZE_MAX

static inline size_t bits_words(size_t count)
{
    return (count + 63) / 64;
}

static inline bool bits_has(const uint64_t *bits, size_t i)
{
    return (bits[i / 64] >> i % 64 & 1) != 0;
}

/** Of a stretch, the part that lies in the word of its first bit. */
static inline size_t bits_part(size_t first, size_t n, uint64_t *mask_out)
{
    size_t room = 64 - first % 64;
    size_t count = n < room ? n : room;

    *mask_out = (UINT64_MAX >> (64 - count)) << first % 64;
    return count;
}

static inline void bits_set(uint64_t *bits, size_t first, size_t n)
{
    uint64_t mask;
    size_t count;

    for (; n != 0; first += count, n -= count) {
        count = bits_part(first, n, &mask);
        bits[first / 64] |= mask;
    }
}

static inline void bits_clear(uint64_t *bits, size_t first, size_t n)
{
    uint64_t mask;
    size_t count;

    for (; n != 0; first += count, n -= count) {
        count = bits_part(first, n, &mask);
        bits[first / 64] &= ~mask;
    }
}

/** The lowest bit set from one on, below end; BITS_NONE for none. */
static inline size_t bits_next(const uint64_t *bits, size_t from, size_t end)
{
    uint64_t word;

    while (from < end) {
        word = bits[from / 64] >> from % 64;
        if (word != 0) {
            from += (size_t)__builtin_ctzll(word);
            return from < end ? from : BITS_NONE;
        }
        from += 64 - from % 64;
    }
    return BITS_NONE;
}

/** How many bits are set in a row from one on, n at the most. */
static inline size_t bits_length(const uint64_t *bits, size_t from, size_t end,
                                 size_t n)
{
    size_t length = 0;
    size_t most = end - from < n ? end - from : n;
    uint64_t word;
    size_t count;

    while (length < most) {
        word = ~(bits[(from + length) / 64] >> (from + length) % 64);
        count = word == 0 ? 64 : (size_t)__builtin_ctzll(word);
        if (count == 0)
            break;
        length += count;
        if ((from + length) % 64 != 0)
            break;
    }
    return length < most ? length : most;
}

/** The lowest n bits in a row that are set; BITS_NONE for none. */
static inline size_t bits_find(const uint64_t *bits, size_t end, size_t n)
{
    size_t at = bits_next(bits, 0, end);
    size_t length;

    while (at != BITS_NONE) {
        length = bits_length(bits, at, end, n);
        if (length == n)
            return at;
        at = bits_next(bits, at + length, end);
    }
    return BITS_NONE;
}

#endif
