/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The measurements. Each warms up, then times one window; a window in which
 * the system ran something else on the processor is thrown away and tried
 * again, a few times.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "driver.h"

struct bench_figure {
    double ns;     /* per slot for get and put together; per run for runs */
    int disturbed; /* every try was: the figure is of the last */
};

/* Length of a window in nanoseconds: $BENCH_WINDOW_MS. */
double bench_window_ns(void);

struct bench_buffers bench_buffers_make(void);

/* A count of batches that takes about one window, found by doubling, which
 * warms up. */
long bench_calibrate(const struct bench_driver *driver,
                     const struct bench_cell *cell,
                     const struct bench_buffers *buffers);

/* Windows tried before a disturbed one is taken. */
#define BENCH_TRIES 8

/* One thread: 1t, run. */
struct bench_figure bench_alone(const struct bench_driver *driver,
                                const struct bench_cell *cell);

/* The second thread, which sleeps unless it is measured. */
void bench_pair_start(const struct bench_driver *driver);
void bench_pair_stop(void);

/* Have both threads do work(driver, side), the caller as side 0, and wait until
 * both are through. */
void bench_pair_call(void (*work)(const struct bench_driver *driver, int side));

/* Inside such work: wait for the other. */
void bench_pair_meet(void);

/* Two threads: 2t, pc. */
struct bench_figure bench_pair(const struct bench_driver *driver,
                               const struct bench_cell *cell);

/* Get and fill from one thread, and from two, and end the process unless all
 * slots that are live at once are aligned, apart, and keep what was written. */
void bench_check(const struct bench_driver *driver);

/* Sorts the pointers, and ends the process unless they are aligned and apart.
 */
void bench_check_slots(void **slots, size_t count);

/* A million slots from nothing, n at a time; prints what each step took. With
 * check, the slots are checked as well, which costs the later steps their warm
 * caches. */
void bench_cold(const struct bench_driver *driver, unsigned n, int check);

#endif
