/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/store.h"

#include "pool/pool.h"

#define WORD_BITS 64u
#define ALL_BITS  UINT64_MAX

/* Bits low to high - 1 of a word, 0 <= low < high <= 64. */
static uint64_t bits_between(uint32_t low, uint32_t high)
{
    return ALL_BITS >> (WORD_BITS - (high - low)) << low;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The first word with a bit, at or behind word w; slab->words for none. */
static uint32_t word_with_bit(const struct slab *slab, uint32_t w)
{
    uint32_t last = (slab->words + WORD_BITS - 1) / WORD_BITS;
    uint32_t s = w / WORD_BITS;
    uint64_t summary;

    if (w >= slab->words)
        return slab->words;
    summary = slab->summary[s] & ALL_BITS << w % WORD_BITS;
    while (summary == 0) {
        if (++s == last)
            return slab->words;
        summary = slab->summary[s];
    }
    return s * WORD_BITS + (uint32_t)__builtin_ctzll(summary);
}

/* The length of the stretch of set bits that starts at bit i. */
static uint32_t stretch_length(const struct slab *slab, uint32_t i,
                               uint32_t want)
{
    uint32_t w = i / WORD_BITS;
    uint32_t length = 0;
    uint32_t bit = i % WORD_BITS;
    uint64_t clear;

    for (;;) {
        clear = ~slab->free[w] >> bit;
        if (clear != 0 && (uint32_t)__builtin_ctzll(clear) < WORD_BITS - bit)
            return min_u32(length + (uint32_t)__builtin_ctzll(clear), want);
        length += WORD_BITS - bit;
        bit = 0;
        if (length >= want || ++w == slab->words)
            return min_u32(length, want);
    }
}

struct extent store_stretch(struct slab *slab, uint32_t from, uint32_t want)
{
    struct extent extent = {slab, slab->count, slab->count};
    uint32_t w = from / WORD_BITS;
    uint64_t word;

    if (from >= slab->count)
        return extent;
    word = slab->free[w] & ALL_BITS << from % WORD_BITS;
    if (word == 0) {
        w = word_with_bit(slab, w + 1);
        if (w == slab->words)
            return extent;
        word = slab->free[w];
    }
    extent.begin = w * WORD_BITS + (uint32_t)__builtin_ctzll(word);
    extent.end = extent.begin + stretch_length(slab, extent.begin, want);
    return extent;
}

/* Clear bits that are set, word by word. */
static void bits_clear(struct slab *slab, uint32_t begin, uint32_t end)
{
    uint32_t high;
    uint32_t w;

    while (begin < end) {
        w = begin / WORD_BITS;
        high = min_u32(end - w * WORD_BITS, WORD_BITS);
        slab->free[w] &= ~bits_between(begin % WORD_BITS, high);
        if (slab->free[w] == 0)
            slab->summary[w / WORD_BITS] &= ~(UINT64_C(1) << w % WORD_BITS);
        begin = w * WORD_BITS + high;
    }
}

/* Set bits of one word; returns how many were set already. */
static inline uint32_t word_set(struct slab *slab, uint32_t w, uint64_t mask)
{
    uint64_t old = slab->free[w];

    slab->free[w] = old | mask;
    if (old == 0)
        slab->summary[w / WORD_BITS] |= UINT64_C(1) << w % WORD_BITS;
    if (ASHLAR_LIKELY((old & mask) == 0))
        return 0;
    return (uint32_t)__builtin_popcountll(old & mask);
}

/* Set bits word by word; returns how many were set already. */
static uint32_t bits_set(struct slab *slab, uint32_t begin, uint32_t end)
{
    uint32_t twice = 0;
    uint32_t high;
    uint32_t w;

    while (begin < end) {
        w = begin / WORD_BITS;
        high = min_u32(end - w * WORD_BITS, WORD_BITS);
        twice += word_set(slab, w, bits_between(begin % WORD_BITS, high));
        begin = w * WORD_BITS + high;
    }
    return twice;
}

/* The lowest stretch of a slab that has free slots. */
static struct extent slab_lowest(struct slab *slab, uint32_t want)
{
    while (slab->summary[slab->low] == 0)
        slab->low++;
    return store_stretch(slab, slab->low * WORD_BITS * WORD_BITS, want);
}

static struct slab *slab_with_free(struct ashlar_pool *pool)
{
    struct slab_map *map = pool->map;

    while (map->order[pool->store.low]->free_slots == 0)
        pool->store.low++;
    return map->order[pool->store.low];
}

uint32_t store_take(struct ashlar_pool *pool, uint64_t want,
                    struct extent *extents_out, uint32_t room,
                    uint64_t *taken_out)
{
    uint64_t taken = 0;
    uint32_t count = 0;
    struct extent extent;
    struct slab *slab;

    while (taken < want && count < room && pool->store.free != 0) {
        slab = slab_with_free(pool);
        extent = slab_lowest(slab, want - taken > slab->free_slots
                                       ? slab->free_slots
                                       : (uint32_t)(want - taken));
        bits_clear(slab, extent.begin, extent.end);
        slab->free_slots -= extent.end - extent.begin;
        pool->store.free -= extent.end - extent.begin;
        taken += extent.end - extent.begin;
        extents_out[count++] = extent;
    }
    pool->takes++;
    pool_note_peak(pool);
    *taken_out = taken;
    return count;
}

/*
 * Give stretches of one slab, which the first `count` are; returns how many
 * slots were in the store already.
 */
static uint32_t give_to_slab(struct ashlar_pool *pool,
                             const struct extent *extents, uint32_t count)
{
    struct slab *slab = extents[0].slab;
    uint32_t lowest = UINT32_MAX;
    uint32_t slots = 0;
    uint32_t twice = 0;
    uint32_t begin;
    uint32_t i;

    for (i = 0; i < count; i++) {
        begin = extents[i].begin;
        slots += extents[i].end - begin;
        lowest = min_u32(lowest, begin);
        if (extents[i].end - begin == 1)
            twice += word_set(slab, begin / WORD_BITS,
                              UINT64_C(1) << begin % WORD_BITS);
        else
            twice += bits_set(slab, begin, extents[i].end);
    }
    slab->free_slots += slots - twice;
    slab->low = min_u32(slab->low, lowest / (WORD_BITS * WORD_BITS));
    pool->store.free += slots - twice;
    pool->store.low = min_u32(pool->store.low, slab->number);
    return twice;
}

uint64_t store_give(struct ashlar_pool *pool, const struct extent *extents,
                    uint32_t count)
{
    uint64_t duplicates = 0;
    uint32_t alike;
    uint32_t i;

    for (i = 0; i < count; i += alike) {
        alike = 1;
        while (i + alike < count && extents[i + alike].slab == extents[i].slab)
            alike++;
        duplicates += give_to_slab(pool, extents + i, alike);
    }
    pool->gives++;
    pool->duplicates += duplicates;
    return duplicates;
}
