/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The shared store: the free single slots of a pool that no cache has.
 *
 * A bit per slot, in the slabs. Neighbours that were put one by one grow
 * together by themselves, in no particular order; what is taken comes from the
 * lowest slab and slot, so that the pool's far end becomes free for a trim;
 * and a slot that two racing puts both give back is found, as its bit is set.
 *
 * All functions: under the pool's lock.
 */
#ifndef ASHLAR_POOL_STORE_H
#define ASHLAR_POOL_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "pool/slab.h"

struct ashlar_pool;

struct store {
    uint64_t free; /* bits set in all slabs */
    uint32_t low;  /* no slab of a lower number has a bit set */
};

/**
 * Take up to `want` slots, as stretches.
 *
 * @param extents_out  Receives the stretches.
 * @param room         Room in extents_out.
 * @param taken_out    Receives the slots taken: fewer than want when there are
 *                     no more, or room is used up.
 *
 * @return How many stretches were taken.
 */
uint32_t store_take(struct ashlar_pool *pool, uint64_t want,
                    struct extent *extents_out, uint32_t room,
                    uint64_t *taken_out);

/**
 * Give stretches back.
 *
 * @return How many slots were in the store already, and were dropped.
 */
uint64_t store_give(struct ashlar_pool *pool, const struct extent *extents,
                    uint32_t count);

/** The next stretch of set bits of a slab from `from` on; begin == end: none. */
struct extent store_stretch(struct slab *slab, uint32_t from, uint32_t want);

#endif
