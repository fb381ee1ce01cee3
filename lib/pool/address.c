/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/address.h"

static void narrow_write(void **slots_out, char *first, size_t n, size_t stride)
{
    address_write(slots_out, first, n, stride);
}

static size_t narrow_count(void *const *slots, size_t n, size_t stride)
{
    return address_count(slots, n, stride);
}

struct address_rows address_rows = {narrow_write, narrow_count};

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

/*
 * The loops of address.h, four addresses to a register and eight registers to a
 * step. Not more: arithmetic in registers of 64 bytes makes a core slower for
 * most of a millisecond, also for what else it does (doc/measurements.md).
 */
#define AVX2 __attribute__((target("avx2")))

typedef uint64_t address_four __attribute__((vector_size(32)));
typedef uint64_t address_four_stored
    __attribute__((vector_size(32), aligned(8), may_alias));

#define STEP (8 * sizeof(address_four) / sizeof(uint64_t))

/* The addresses of a step, the next ones to come. */
struct wide_row {
    address_four a, b, c, d, e, f, g, h;
    address_four step;
};

AVX2 static inline address_four all(uint64_t number)
{
    return (address_four){0} + number;
}

/*
 * By the bits of a lane's number, and multiples of the stride by adding it to
 * itself: a number takes longer to get into a register, all lanes or one of them,
 * than an addition there.
 */
AVX2 static inline struct wide_row row_from(uintptr_t first, size_t stride)
{
    const uint64_t set = UINT64_MAX;
    const address_four ones = {0, set, 0, set};
    const address_four twos = {0, 0, set, set};
    const address_four by1 = all(stride);
    const address_four by2 = by1 + by1, by4 = by2 + by2, by8 = by4 + by4;
    const address_four by16 = by8 + by8;
    struct wide_row row;

    row.a = all(first) + (by1 & ones) + (by2 & twos);
    row.b = row.a + by4;
    row.c = row.a + by8;
    row.d = row.b + by8;
    row.e = row.a + by16;
    row.f = row.b + by16;
    row.g = row.c + by16;
    row.h = row.d + by16;
    row.step = by16 + by16;
    return row;
}

AVX2 static inline void row_advance(struct wide_row *row)
{
    row->a += row->step;
    row->b += row->step;
    row->c += row->step;
    row->d += row->step;
    row->e += row->step;
    row->f += row->step;
    row->g += row->step;
    row->h += row->step;
}

/* Of ADDRESS_LONG and more. */
AVX2 static void avx2_write(void **slots_out, char *first, size_t n,
                            size_t stride)
{
    struct wide_row row = row_from((uintptr_t)first, stride);
    address_four_stored *place = (address_four_stored *)slots_out;
    size_t left = n;

    for (;;) {
        place[0] = row.a;
        place[1] = row.b;
        place[2] = row.c;
        place[3] = row.d;
        place[4] = row.e;
        place[5] = row.f;
        place[6] = row.g;
        place[7] = row.h;
        left -= STEP;
        if (left < STEP)
            break;
        row_advance(&row);
        place += 8;
    }
    if (left != 0)
        address_write(slots_out + (n - left), first + (n - left) * stride, left,
                      stride);
}

AVX2 static size_t avx2_count(void *const *slots, size_t n, size_t stride)
{
    const address_four_stored *found = (const address_four_stored *)slots;
    struct wide_row row;
    address_four differs;
    size_t i;

    if (n < ADDRESS_LONG)
        return address_count(slots, n, stride);
    row = row_from((uintptr_t)slots[0], stride);
    for (i = 0;;) {
        differs = (found[0] ^ row.a) | (found[1] ^ row.b) | (found[2] ^ row.c) |
                  (found[3] ^ row.d) | (found[4] ^ row.e) | (found[5] ^ row.f) |
                  (found[6] ^ row.g) | (found[7] ^ row.h);
        if (!_mm256_testz_si256((__m256i)differs, (__m256i)differs))
            break;
        i += STEP;
        if (n - i < STEP)
            break;
        row_advance(&row);
        found += 8;
    }
    return address_count_on(slots, i, n, stride);
}

_Static_assert(ADDRESS_LONG >= STEP, "a long row has a step at least");

/* Bits of cpuid leaf 7, and of what the kernel saves at a task switch. */
#define LEAF_1_ECX_OSXSAVE (1u << 27)
#define LEAF_7_EBX_AVX2    (1u << 5)
#define SAVED_AVX          0x06u

static unsigned saved_state(void)
{
    unsigned low;
    unsigned high;

    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/* By hand, since the compiler's own test brings a constructor along. */
static unsigned register_bytes(void)
{
    unsigned a, b, c, d;

    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & LEAF_1_ECX_OSXSAVE) == 0 ||
        __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
        return 16;
    return (saved_state() & SAVED_AVX) == SAVED_AVX &&
                   (b & LEAF_7_EBX_AVX2) != 0
               ? 32
               : 16;
}

unsigned address_choose(unsigned most_bytes)
{
    unsigned bytes = register_bytes();

    if (bytes > most_bytes)
        bytes = most_bytes;
    if (bytes == 32)
        address_rows = (struct address_rows){avx2_write, avx2_count};
    else
        address_rows = (struct address_rows){narrow_write, narrow_count};
    return bytes;
}

#else

unsigned address_choose(unsigned most_bytes)
{
    (void)most_bytes;
    return 16;
}

#endif
