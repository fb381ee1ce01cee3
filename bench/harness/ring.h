/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A ring of pointers from one thread to another. Its cost is part of every
 * producer-to-consumer figure; floor-ring shows how much it is.
 *
 *     slots [ .... | tail: next to read ... | head: next to write ... ]
 *
 * Each side keeps its own index and looks at the other's only when what it saw
 * last does not suffice. Batches divide the ring's size, so none wraps round.
 */
#ifndef BENCH_RING_H
#define BENCH_RING_H

#include "system.h"

#include <string.h>

#define BENCH_RING_SLOTS 16384u

struct bench_ring {
    unsigned long head __attribute__((aligned(128)));
    unsigned long tail __attribute__((aligned(128)));
    void *slots[BENCH_RING_SLOTS] __attribute__((aligned(128)));
};

/* One side's view. */
struct bench_ring_end {
    unsigned long mine;
    unsigned long other;
};

BENCH_INLINE void bench_copy(void **to, void *const *from, unsigned n)
{
    if (n == 1)
        to[0] = from[0];
    else
        memcpy(to, from, n * sizeof(void *));
}

BENCH_INLINE void bench_ring_push(struct bench_ring *ring,
                                  struct bench_ring_end *end, void **slots,
                                  unsigned n)
{
    while (end->mine + n - end->other > BENCH_RING_SLOTS) {
        end->other = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
        if (end->mine + n - end->other > BENCH_RING_SLOTS)
            bench_pause();
    }
    bench_copy(&ring->slots[end->mine % BENCH_RING_SLOTS], slots, n);
    end->mine += n;
    __atomic_store_n(&ring->head, end->mine, __ATOMIC_RELEASE);
}

BENCH_INLINE void bench_ring_pop(struct bench_ring *ring,
                                 struct bench_ring_end *end, void **slots,
                                 unsigned n)
{
    while (end->other - end->mine < n) {
        end->other = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
        if (end->other - end->mine < n)
            bench_pause();
    }
    bench_copy(slots, &ring->slots[end->mine % BENCH_RING_SLOTS], n);
    end->mine += n;
    __atomic_store_n(&ring->tail, end->mine, __ATOMIC_RELEASE);
}

#endif
