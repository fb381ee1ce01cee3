/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Long rows of addresses, for a machine with wide registers: the loops of
 * address.h for one width. Included by address.c once for each, which defines
 *
 *     WIDE_BYTES       bytes of a register: 32 or 64
 *     WIDE_TARGET      what the compiler calls such a machine
 *     WIDE(name)       the name that a function gets here
 */

#define WIDE_LANES (WIDE_BYTES / sizeof(uint64_t))

typedef uint64_t WIDE(lanes) __attribute__((vector_size(WIDE_BYTES)));
typedef uint64_t WIDE(stored)
    __attribute__((vector_size(WIDE_BYTES), aligned(8), may_alias));

/* The addresses of one register: first, first + stride, ... */
__attribute__((target(WIDE_TARGET))) static inline WIDE(lanes)
    WIDE(from)(uintptr_t first, size_t stride)
{
    WIDE(lanes) lanes = {0};
    size_t i;

    for (i = 0; i < WIDE_LANES; i++)
        lanes[i] = first + i * stride;
    return lanes;
}

__attribute__((target(WIDE_TARGET))) static void
WIDE(write)(void **slots_out, char *first, size_t n, size_t stride)
{
    const WIDE(lanes) step = WIDE(from)(4 * WIDE_LANES * stride, 0);
    const WIDE(lanes) next = WIDE(from)(WIDE_LANES * stride, 0);
    WIDE(lanes) a = WIDE(from)((uintptr_t)first, stride);
    WIDE(lanes) b = a + next;
    WIDE(lanes) c = b + next;
    WIDE(lanes) d = c + next;
    WIDE(stored) *place = (WIDE(stored) *)slots_out;
    size_t i;

    for (i = 0; i + 4 * WIDE_LANES <= n; i += 4 * WIDE_LANES, place += 4) {
        place[0] = a;
        place[1] = b;
        place[2] = c;
        place[3] = d;
        a += step;
        b += step;
        c += step;
        d += step;
    }
    address_write(slots_out + i, first + i * stride, n - i, stride);
}

__attribute__((target(WIDE_TARGET))) static size_t
WIDE(count)(void *const *slots, size_t n, size_t stride)
{
    const WIDE(lanes) step = WIDE(from)(4 * WIDE_LANES * stride, 0);
    const WIDE(lanes) next = WIDE(from)(WIDE_LANES * stride, 0);
    const WIDE(stored) *found = (const WIDE(stored) *)slots;
    WIDE(lanes) a = WIDE(from)((uintptr_t)slots[0], stride);
    WIDE(lanes) b = a + next;
    WIDE(lanes) c = b + next;
    WIDE(lanes) d = c + next;
    WIDE(lanes) differs;
    uint64_t any;
    size_t i;
    size_t j;

    for (i = 0; i + 4 * WIDE_LANES <= n; i += 4 * WIDE_LANES, found += 4) {
        differs = (found[0] ^ a) | (found[1] ^ b) | (found[2] ^ c) |
                  (found[3] ^ d);
        for (any = 0, j = 0; j < WIDE_LANES; j++)
            any |= differs[j];
        if (any != 0)
            break;
        a += step;
        b += step;
        c += step;
        d += step;
    }
    return address_count_on(slots, i, n, stride);
}

#undef WIDE_LANES
