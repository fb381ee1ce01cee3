/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The timed loops, compiled into each driver so that what its allocator offers
 * inline is inlined, and nothing else is between the loop and the allocator.
 *
 * A driver defines, before it includes this file,
 *
 *     DRIVER_CAN                           a sum of BENCH_CAN_...
 *     const char *driver_version(void)
 *     void driver_begin(size_t slots)
 *     void driver_thread_begin(void)
 *     void driver_thread_end(void)
 *     void driver_get(void **slots, unsigned n)    all n, or bench_die()
 *     void driver_put(void **slots, unsigned n)
 *     #define DRIVER_TRIM function                 optional
 *     #define DRIVER_RESERVE_RUN function          optional
 *     #define DRIVER_RUNS                          optional, then
 *     void *driver_get_run(unsigned n)
 *     void driver_put_run(void *run, unsigned n)
 *
 * all static. n is a constant wherever driver_get and driver_put are called.
 */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include "driver.h"

/* The batch sizes again, each as a constant, and that of fresh memory. */
#define EACH_BATCH(_n, _call)                                                  \
    do {                                                                       \
        switch (_n) {                                                          \
        case 1:                                                                \
            _call(1u);                                                         \
            break;                                                             \
        case 32:                                                               \
            _call(32u);                                                        \
            break;                                                             \
        case 250:                                                              \
            _call(250u);                                                       \
            break;                                                             \
        case 256:                                                              \
            _call(256u);                                                       \
            break;                                                             \
        case 4096:                                                             \
            _call(4096u);                                                      \
            break;                                                             \
        default:                                                               \
            bench_die("no loop for batches of %u", _n);                        \
        }                                                                      \
    } while (0)

BENCH_INLINE void fill(void **slots, size_t n)
{
    for (size_t i = 0; i < n; i++)
        memset(slots[i], 0x5a, BENCH_SLOT);
    BENCH_KEEP(slots);
}

BENCH_INLINE void batch_loop(void **slots, unsigned n, int filled, long count)
{
    for (; count > 0; count--) {
        driver_get(slots, n);
        BENCH_KEEP(slots);
        if (filled)
            fill(slots, n);
        driver_put(slots, n);
        BENCH_KEEP(slots);
    }
}

BENCH_INLINE void shuffled_loop(const struct bench_buffers *buffers,
                                const struct bench_shuffle *shuffle, unsigned n,
                                int filled, long count)
{
    void **slots = buffers->slots, **back = buffers->back;
    unsigned turn = 0;

    for (; count > 0; count--, turn = (turn + 1) % BENCH_SHUFFLES) {
        const uint16_t *places = shuffle->places + (size_t)turn * n;

        driver_get(slots, n);
        BENCH_KEEP(slots);
        if (filled)
            fill(slots, n);
        for (unsigned i = 0; i < n; i++)
            back[i] = slots[places[i]];
        BENCH_KEEP(back);
        driver_put(back, n);
        BENCH_KEEP(back);
    }
}

/* noinline here and below: each loop gets the registers to itself */
static __attribute__((noinline)) void
loop_batches(const struct bench_cell *cell, const struct bench_buffers *buffers,
             long count)
{
#define EMPTY(_n)  batch_loop(buffers->slots, _n, 0, count)
#define FILLED(_n) batch_loop(buffers->slots, _n, 1, count)
    if (cell->filled)
        EACH_BATCH(cell->n, FILLED);
    else
        EACH_BATCH(cell->n, EMPTY);
#undef EMPTY
#undef FILLED
}

static __attribute__((noinline)) void
loop_shuffled(const struct bench_cell *cell,
              const struct bench_buffers *buffers, long count)
{
    const struct bench_shuffle *shuffle = buffers->shuffles;

    while (shuffle->n != cell->n)
        shuffle++;
#define EMPTY(_n)  shuffled_loop(buffers, shuffle, _n, 0, count)
#define FILLED(_n) shuffled_loop(buffers, shuffle, _n, 1, count)
    if (cell->filled)
        EACH_BATCH(cell->n, FILLED);
    else
        EACH_BATCH(cell->n, EMPTY);
#undef EMPTY
#undef FILLED
}

static void loop_any_order(const struct bench_cell *cell,
                           const struct bench_buffers *buffers, long count)
{
    if (cell->shuffled)
        loop_shuffled(cell, buffers, count);
    else
        loop_batches(cell, buffers, count);
}

BENCH_INLINE void produce_loop(struct bench_ring *ring, void **slots,
                               unsigned n, int filled, long count)
{
    struct bench_ring_end end = {0, 0};

    for (; count > 0; count--) {
        driver_get(slots, n);
        BENCH_KEEP(slots);
        if (filled)
            fill(slots, n);
        bench_ring_push(ring, &end, slots, n);
    }
}

BENCH_INLINE void consume_loop(struct bench_ring *ring, void **slots,
                               unsigned n, long count)
{
    struct bench_ring_end end = {0, 0};

    for (; count > 0; count--) {
        bench_ring_pop(ring, &end, slots, n);
        BENCH_KEEP(slots);
        driver_put(slots, n);
        BENCH_KEEP(slots);
    }
}

static __attribute__((noinline)) void
loop_produce(const struct bench_cell *cell, struct bench_ring *ring,
             void **slots, long count)
{
#define EMPTY(_n)  produce_loop(ring, slots, _n, 0, count)
#define FILLED(_n) produce_loop(ring, slots, _n, 1, count)
    if (cell->filled)
        EACH_BATCH(cell->n, FILLED);
    else
        EACH_BATCH(cell->n, EMPTY);
#undef EMPTY
#undef FILLED
}

static __attribute__((noinline)) void
loop_consume(const struct bench_cell *cell, struct bench_ring *ring,
             void **slots, long count)
{
#define CONSUME(_n) consume_loop(ring, slots, _n, count)
    EACH_BATCH(cell->n, CONSUME);
#undef CONSUME
}

/* The last few come one at a time when n does not divide total. */
BENCH_INLINE void take_loop(void **slots, size_t total, unsigned n)
{
    size_t i = 0;

    for (; i + n <= total; i += n)
        driver_get(slots + i, n);
    for (; i < total; i++)
        driver_get(slots + i, 1);
}

BENCH_INLINE void give_loop(void **slots, size_t total, unsigned n)
{
    size_t i = 0;

    for (; i + n <= total; i += n)
        driver_put(slots + i, n);
    for (; i < total; i++)
        driver_put(slots + i, 1);
}

static __attribute__((noinline)) void loop_take(void **slots, size_t total,
                                                unsigned n)
{
#define TAKE(_n) take_loop(slots, total, _n)
    EACH_BATCH(n, TAKE);
#undef TAKE
}

static __attribute__((noinline)) void loop_give(void **slots, size_t total,
                                                unsigned n)
{
#define GIVE(_n) give_loop(slots, total, _n)
    EACH_BATCH(n, GIVE);
#undef GIVE
}

#ifdef DRIVER_RUNS
static __attribute__((noinline)) void
loop_runs(const unsigned *lengths, size_t lengths_count, long count)
{
    size_t i = 0;

    for (; count > 0; count--) {
        void *run = driver_get_run(lengths[i]);

        BENCH_KEEP(run);
        driver_put_run(run, lengths[i]);
        if (++i == lengths_count)
            i = 0;
    }
}
#endif

void bench_describe(struct bench_driver *driver_out)
{
    memset(driver_out, 0, sizeof(*driver_out));
    driver_out->can = DRIVER_CAN;
    driver_out->version = driver_version;
    driver_out->begin = driver_begin;
    driver_out->thread_begin = driver_thread_begin;
    driver_out->thread_end = driver_thread_end;
    driver_out->batches = loop_any_order;
    driver_out->produce = loop_produce;
    driver_out->consume = loop_consume;
    driver_out->take = loop_take;
    driver_out->give = loop_give;
#ifdef DRIVER_TRIM
    driver_out->trim = DRIVER_TRIM;
#endif
#ifdef DRIVER_RESERVE_RUN
    driver_out->reserve_run = DRIVER_RESERVE_RUN;
#endif
#ifdef DRIVER_RUNS
    driver_out->can |= BENCH_CAN_RUN;
    driver_out->runs = loop_runs;
#endif
}

#endif
