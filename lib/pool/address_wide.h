/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Long rows of addresses, for a machine with wide registers: the loops of
 * address.h for one width. Included by address.c once for each, which defines
 *
 *     WIDE_BYTES       bytes of a register: 32 or 64
 *     WIDE_TARGET      what the compiler calls such a machine
 *     WIDE(name)       the name that a function gets here
 *     WIDE_IS_ZERO(v)  whether all lanes of a register are 0
 */

#define WIDE_LANES (WIDE_BYTES / sizeof(uint64_t))

typedef uint64_t WIDE(lanes) __attribute__((vector_size(WIDE_BYTES)));
typedef uint64_t WIDE(stored)
    __attribute__((vector_size(WIDE_BYTES), aligned(8), may_alias));

/* A number in each lane. */
__attribute__((target(WIDE_TARGET))) static inline WIDE(lanes)
    WIDE(all)(uint64_t number)
{
    return (WIDE(lanes)){0} + number;
}

/*
 * The addresses of one register: first, first + stride, ... By the bits of a
 * lane's number, since putting one lane after the other takes as long as a row
 * of 32.
 */
__attribute__((target(WIDE_TARGET))) static inline WIDE(lanes)
    WIDE(from)(uintptr_t first, size_t stride)
{
    const uint64_t set = UINT64_MAX;
#if WIDE_BYTES == 64
    const WIDE(lanes) fours = {0, 0, 0, 0, set, set, set, set};
    const WIDE(lanes) twos = {0, 0, set, set, 0, 0, set, set};
    const WIDE(lanes) ones = {0, set, 0, set, 0, set, 0, set};

    return WIDE(all)(first) + (WIDE(all)(stride) & ones) +
           (WIDE(all)(2 * stride) & twos) + (WIDE(all)(4 * stride) & fours);
#else
    const WIDE(lanes) twos = {0, 0, set, set};
    const WIDE(lanes) ones = {0, set, 0, set};

    return WIDE(all)(first) + (WIDE(all)(stride) & ones) +
           (WIDE(all)(2 * stride) & twos);
#endif
}

__attribute__((target(WIDE_TARGET))) static void
WIDE(write)(void **slots_out, char *first, size_t n, size_t stride)
{
    const WIDE(lanes) step = WIDE(all)(4 * WIDE_LANES * stride);
    const WIDE(lanes) next = WIDE(all)(WIDE_LANES * stride);
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
    if (i != n)
        address_write(slots_out + i, first + i * stride, n - i, stride);
}

__attribute__((target(WIDE_TARGET))) static size_t
WIDE(count)(void *const *slots, size_t n, size_t stride)
{
    const WIDE(lanes) step = WIDE(all)(4 * WIDE_LANES * stride);
    const WIDE(lanes) next = WIDE(all)(WIDE_LANES * stride);
    const WIDE(stored) *found = (const WIDE(stored) *)slots;
    WIDE(lanes) a = WIDE(from)((uintptr_t)slots[0], stride);
    WIDE(lanes) b = a + next;
    WIDE(lanes) c = b + next;
    WIDE(lanes) d = c + next;
    WIDE(lanes) differs;
    size_t i;

    if (n < ADDRESS_LONG)
        return address_count(slots, n, stride);
    for (i = 0; i + 4 * WIDE_LANES <= n; i += 4 * WIDE_LANES, found += 4) {
        differs = (found[0] ^ a) | (found[1] ^ b) | (found[2] ^ c) |
                  (found[3] ^ d);
        if (!WIDE_IS_ZERO(differs))
            break;
        a += step;
        b += step;
        c += step;
        d += step;
    }
    return address_count_on(slots, i, n, stride);
}

#undef WIDE_LANES
