/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Floor of handing slots from one thread to another: the consumer hands them
 * back over a second ring. Gets and puts are of one thread each.
 */
#include "../harness/driver.h"

#define DRIVER_CAN BENCH_CAN_HAND_OVER

#define SLOTS 32768u

static struct {
    unsigned long head __attribute__((aligned(128))); /* the putting side's */
    unsigned long tail __attribute__((aligned(128))); /* the getting side's */
    unsigned long head_seen;
    void *slots[SLOTS] __attribute__((aligned(128)));
} returned;

static const char *driver_version(void)
{
    return "";
}

static void driver_begin(size_t slots)
{
    char *base = (char *)bench_map_untouched(SLOTS * BENCH_SLOT, 0);

    (void)slots;
    for (unsigned i = 0; i < SLOTS; i++)
        returned.slots[i] = base + i * BENCH_SLOT;
    returned.head = SLOTS;
    returned.head_seen = SLOTS;
}

static void driver_thread_begin(void)
{
}

static void driver_thread_end(void)
{
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    unsigned long tail = returned.tail;
    unsigned long first = tail % SLOTS, before_end = SLOTS - first;

    while (returned.head_seen - tail < n) {
        returned.head_seen = __atomic_load_n(&returned.head, __ATOMIC_ACQUIRE);
        if (returned.head_seen - tail < n)
            bench_pause();
    }
    if (before_end >= n) {
        bench_copy(slots, returned.slots + first, n);
    } else {
        memcpy(slots, returned.slots + first, before_end * sizeof(void *));
        memcpy(slots + before_end, returned.slots,
               (n - before_end) * sizeof(void *));
    }
    __atomic_store_n(&returned.tail, tail + n, __ATOMIC_RELEASE);
}

/* The ring is never full: it has room for every slot there is. */
BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    unsigned long head = returned.head;
    unsigned long first = head % SLOTS, before_end = SLOTS - first;

    if (before_end >= n) {
        bench_copy(returned.slots + first, slots, n);
    } else {
        memcpy(returned.slots + first, slots, before_end * sizeof(void *));
        memcpy(returned.slots, slots + before_end,
               (n - before_end) * sizeof(void *));
    }
    __atomic_store_n(&returned.head, head + n, __ATOMIC_RELEASE);
}

#include "../harness/loops.h"
