/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Rows of addresses a stride apart: written, and recognised.
 *
 * Two addresses to a register, four registers to a step: what every 64-bit
 * machine has, and written out, since compilers do not unroll it at -O2. A bulk
 * of 256 spends most of its time here.
 */
#ifndef ASHLAR_POOL_ADDRESS_H
#define ASHLAR_POOL_ADDRESS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint64_t address_pair __attribute__((vector_size(16)));

_Static_assert(sizeof(void *) == sizeof(uint64_t), "addresses have 64 bits");

/** Eight addresses of a row, the next ones to come. */
struct address_row {
    address_pair pairs[4];
    address_pair step;
};

static inline struct address_row address_row_from(const char *first,
                                                  size_t stride)
{
    const address_pair two = {2 * stride, 2 * stride};
    struct address_row row;

    row.pairs[0] =
        (address_pair){(uintptr_t)first, (uintptr_t)first + stride};
    row.pairs[1] = row.pairs[0] + two;
    row.pairs[2] = row.pairs[1] + two;
    row.pairs[3] = row.pairs[2] + two;
    row.step = two * 4;
    return row;
}

static inline void address_row_advance(struct address_row *row)
{
    row->pairs[0] += row->step;
    row->pairs[1] += row->step;
    row->pairs[2] += row->step;
    row->pairs[3] += row->step;
}

/** What of eight addresses is not as in the row: 0 when all are. */
static inline uint64_t address_row_differs(const struct address_row *row,
                                           void *const *slots)
{
    address_pair found[4];
    address_pair differs;

    memcpy(found, slots, sizeof(found));
    differs = (found[0] ^ row->pairs[0]) | (found[1] ^ row->pairs[1]) |
              (found[2] ^ row->pairs[2]) | (found[3] ^ row->pairs[3]);
    return differs[0] | differs[1];
}

/** Write n addresses that are a stride apart. */
static inline void address_write(void **slots_out, char *first, size_t n,
                                 size_t stride)
{
    struct address_row row = address_row_from(first, stride);
    size_t i;

    for (i = 0; i + 8 <= n; i += 8) {
        memcpy(slots_out + i, row.pairs, sizeof(row.pairs));
        address_row_advance(&row);
    }
    for (first += i * stride; i < n; i++, first += stride)
        slots_out[i] = first;
}

/** How many addresses, from the first on, are a stride apart; n is 1 or more. */
static inline size_t address_count(void *const *slots, size_t n, size_t stride)
{
    char *expected = slots[0];
    struct address_row row = address_row_from(expected, stride);
    size_t i;

    for (i = 0; i + 8 <= n && address_row_differs(&row, slots + i) == 0; i += 8)
        address_row_advance(&row);
    for (expected += i * stride; i < n && slots[i] == expected; i++)
        expected += stride;
    return i;
}

#endif
