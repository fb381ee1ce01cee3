/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * From a byte offset to a slot's index: one multiplication, one rotation.
 *
 * With stride = odd << shift, an offset that is an exact multiple q * stride
 * gives offset * odd^-1 = q << shift (mod 2^64), and rotating right by shift
 * gives q. Multiplication by an odd number and rotation are both bijections,
 * so any other offset gives a number that no multiple has. Hence one compare,
 * index < count, says at once that an address lies in a slab and starts a
 * slot: the test costs the same for a stride of 128 and for one of 160.
 */
#ifndef ASHLAR_POOL_GEOMETRY_H
#define ASHLAR_POOL_GEOMETRY_H

#include <stddef.h>
#include <stdint.h>

struct geometry {
    size_t stride;
    uint64_t inverse; /* of stride's odd part, modulo 2^64 */
    unsigned shift;   /* trailing zero bits of stride */
};

static inline struct geometry geometry_of(size_t stride)
{
    struct geometry geometry;
    uint64_t odd;
    int step;

    geometry.stride = stride;
    geometry.shift = (unsigned)__builtin_ctzll(stride);
    odd = (uint64_t)stride >> geometry.shift;
    /* Newton: 3 correct bits to begin with, twice as many each step. */
    geometry.inverse = odd;
    for (step = 0; step < 5; step++)
        geometry.inverse *= 2 - odd * geometry.inverse;
    return geometry;
}

/** The index of the slot at base + offset; huge when none starts there. */
static inline uint64_t geometry_index(const struct geometry *geometry,
                                      uint64_t offset)
{
    uint64_t product = offset * geometry->inverse;

    return product >> geometry->shift |
           product << ((64 - geometry->shift) & 63);
}

#endif
