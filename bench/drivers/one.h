/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * For an allocator that serves one block at a time: the driver defines
 *
 *     void *get_one(void)           may fail with NULL
 *     void put_one(void *slot)
 *     const char *driver_version(void)
 *
 * and, where they are needed, the macros below.
 */
#ifndef BENCH_ONE_H
#define BENCH_ONE_H

#include "../harness/driver.h"

#ifndef DRIVER_CAN
#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_HAND_OVER | BENCH_CAN_COLD)
#endif

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        slots[i] = get_one();
        if (__builtin_expect(slots[i] == NULL, 0))
            bench_die("out of memory");
    }
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put_one(slots[i]);
}

#ifndef DRIVER_OWN_BEGIN
static void driver_begin(size_t slots)
{
    (void)slots;
}
#endif

#ifndef DRIVER_OWN_THREADS
static void driver_thread_begin(void)
{
}

static void driver_thread_end(void)
{
}
#endif

#include "../harness/loops.h"

#endif
