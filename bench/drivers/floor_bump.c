/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Floor: a pointer that moves through an array, inline. Puts in order move it
 * back; others are forgotten. With FLOOR_HUGE the array asks for huge pages.
 */
#include "../harness/driver.h"

#ifndef FLOOR_HUGE
#define FLOOR_HUGE 0
#endif

#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_HAND_OVER | BENCH_CAN_COLD)

static __thread char *base;
static __thread size_t used;
static size_t capacity;

static const char *driver_version(void)
{
    return "";
}

static void driver_begin(size_t slots)
{
    capacity = slots;
}

static void driver_thread_begin(void)
{
    base = (char *)bench_map_untouched(capacity * BENCH_SLOT, FLOOR_HUGE);
}

static void driver_thread_end(void)
{
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    char *slot;

    if (__builtin_expect(used + n > capacity, 0))
        used = 0;
    slot = base + used * BENCH_SLOT;
    for (unsigned i = 0; i < n; i++)
        slots[i] = slot + i * BENCH_SLOT;
    used += n;
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    if ((char *)slots[0] == base + (used - n) * BENCH_SLOT)
        used -= n;
}

#include "../harness/loops.h"
