/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * What the harness knows of an allocator: one table of functions, which
 * loops.h makes from the few that a driver writes.
 */
#ifndef BENCH_DRIVER_H
#define BENCH_DRIVER_H

#include "cell.h"
#include "ring.h"
#include "shuffle.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of a slot, and the alignment that every driver must give. */
#define BENCH_SLOT ((size_t)128)

/* Slots that a driver must be able to hand out, live at once. */
#define BENCH_SLOTS ((size_t)65536)
/* The same for the measurement of fresh memory. */
#define BENCH_COLD_SLOTS ((size_t)1000000)

/* struct bench_driver::can */
#define BENCH_CAN_THREADS   1u /* several threads may get and put */
#define BENCH_CAN_HAND_OVER 2u /* any thread may put what another got */
#define BENCH_CAN_RUN       4u /* slots side by side */
#define BENCH_CAN_COLD      8u /* a million slots */

/* Buffers of one thread. */
struct bench_buffers {
    void **slots; /* as they were got */
    void **back;  /* as they are put, when shuffled */
    struct bench_shuffle shuffles[BENCH_BATCHES];
};

struct bench_driver {
    unsigned can;
    /* The allocator's version, or "". */
    const char *(*version)(void);
    /* Once, before anything else; so many slots will be live at once. */
    void (*begin)(size_t slots);
    /* In each thread that gets or puts, the first one too. */
    void (*thread_begin)(void);
    void (*thread_end)(void);
    /* Give free memory back to the system; may be NULL. */
    void (*trim)(void);
    /* A run of n will be wanted, beside those of other lengths; may be NULL. */
    void (*reserve_run)(unsigned n);

    /* The loops. count is in batches, or in runs. */
    void (*batches)(const struct bench_cell *cell,
                    const struct bench_buffers *buffers, long count);
    void (*produce)(const struct bench_cell *cell, struct bench_ring *ring,
                    void **slots, long count);
    void (*consume)(const struct bench_cell *cell, struct bench_ring *ring,
                    void **slots, long count);
    void (*take)(void **slots, size_t total, unsigned n);
    void (*give)(void **slots, size_t total, unsigned n);
    /* Runs of lengths[0], lengths[1] ... lengths[lengths_count - 1], again and
     * again; NULL unless BENCH_CAN_RUN. */
    void (*runs)(const unsigned *lengths, size_t lengths_count, long count);
};

#ifdef __cplusplus
extern "C" {
#endif

/* Defined by loops.h, once in each program. */
void bench_describe(struct bench_driver *driver_out);

#ifdef __cplusplus
}
#endif

#endif
