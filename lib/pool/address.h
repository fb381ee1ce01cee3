/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Rows of addresses a stride apart: written, and recognised.
 *
 * Two addresses to a register, four registers to a step: what every 64-bit
 * machine has, and written out, since compilers do not unroll it at -O2. Long
 * rows go through registers of 32 bytes where the machine has them, and not
 * through those of 64 (address.c says why). A bulk of 256 spends most of its time
 * here.
 */
#ifndef ASHLAR_POOL_ADDRESS_H
#define ASHLAR_POOL_ADDRESS_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t address_pair __attribute__((vector_size(16)));

/** The same where pointers lie: at a multiple of 8 only, and seen as numbers. */
typedef uint64_t address_pair_stored
    __attribute__((vector_size(16), aligned(8), may_alias));

_Static_assert(sizeof(void *) == sizeof(uint64_t), "addresses have 64 bits");

/** Eight addresses of a row, the next ones to come. */
struct address_row {
    address_pair a, b, c, d;
    address_pair step;
};

static inline struct address_row address_row_from(const char *first,
                                                  size_t stride)
{
    const address_pair two = {2 * stride, 2 * stride};
    struct address_row row;

    row.a = (address_pair){(uintptr_t)first, (uintptr_t)first + stride};
    row.b = row.a + two;
    row.c = row.b + two;
    row.d = row.c + two;
    row.step = two * 4;
    return row;
}

static inline void address_row_advance(struct address_row *row)
{
    row->a += row->step;
    row->b += row->step;
    row->c += row->step;
    row->d += row->step;
}

/** What of eight addresses is not as in the row: 0 when all are. */
static inline uint64_t address_row_differs(const struct address_row *row,
                                           void *const *slots)
{
    const address_pair_stored *found = (const address_pair_stored *)slots;
    address_pair differs;

    differs = (found[0] ^ row->a) | (found[1] ^ row->b) | (found[2] ^ row->c) |
              (found[3] ^ row->d);
    return differs[0] | differs[1];
}

static inline void address_row_write(const struct address_row *row,
                                     void **slots_out)
{
    address_pair_stored *place = (address_pair_stored *)slots_out;

    place[0] = row->a;
    place[1] = row->b;
    place[2] = row->c;
    place[3] = row->d;
}

/** Write n addresses that are a stride apart. */
static inline void address_write(void **slots_out, char *first, size_t n,
                                 size_t stride)
{
    struct address_row row = address_row_from(first, stride);
    size_t i;

    for (i = 0; i + 8 <= n; i += 8) {
        address_row_write(&row, slots_out + i);
        address_row_advance(&row);
    }
    for (first += i * stride; i < n; i++, first += stride)
        slots_out[i] = first;
}

/** address_count(), when the first i are known to be as they should. */
static inline size_t address_count_on(void *const *slots, size_t i, size_t n,
                                      size_t stride)
{
    char *expected = (char *)slots[0] + i * stride;

    for (; i < n && slots[i] == expected; i++)
        expected += stride;
    return i;
}

/** How many addresses, from the first on, are a stride apart; n is 1 or more. */
static inline size_t address_count(void *const *slots, size_t n, size_t stride)
{
    struct address_row row = address_row_from(slots[0], stride);
    size_t i;

    for (i = 0; i + 8 <= n && address_row_differs(&row, slots + i) == 0; i += 8)
        address_row_advance(&row);
    return address_count_on(slots, i, n, stride);
}

/** The same for long rows, by the widest registers that this machine has. */
struct address_rows {
    void (*write)(void **slots_out, char *first, size_t n, size_t stride);
    size_t (*count)(void *const *slots, size_t n, size_t stride);
};

/** Written once, before the first pool. */
extern struct address_rows address_rows;

/**
 * Choose the widest registers that this machine has, up to so many bytes: 16
 * or 32. Returns how wide they are.
 */
unsigned address_choose(unsigned most_bytes);

/** From so many on a row is worth wide registers. */
#define ADDRESS_LONG 32

static inline void address_write_row(void **slots_out, char *first, size_t n,
                                     size_t stride)
{
    if (n < ADDRESS_LONG)
        address_write(slots_out, first, n, stride);
    else
        address_rows.write(slots_out, first, n, stride);
}

/* Always by a call: its registers, inline, would cost a put of any length more. */
static inline size_t address_count_row(void *const *slots, size_t n,
                                       size_t stride)
{
    return address_rows.count(slots, n, stride);
}

#endif
