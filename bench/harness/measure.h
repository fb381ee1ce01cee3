/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The measurements. Each warms up, then times windows until three of them were
 * undisturbed: the system ran nothing else on the processor. The figure is the
 * median of the three. After many disturbed ones it makes do with what it has.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "driver.h"

#define BENCH_WINDOWS 3
#define BENCH_TRIES   12

/* Nanoseconds per slot for get and put together; per run for runs. */
struct bench_figure {
    double undisturbed[BENCH_WINDOWS];
    int count; /* of these */
    double last;
    int tries;
};

/* 1 as long as another window is wanted. */
int bench_figure_wants(const struct bench_figure *figure);
void bench_figure_add(struct bench_figure *figure, double ns, int disturbed);

/* The median; of the last window, when all were disturbed. */
double bench_figure_ns(const struct bench_figure *figure);

/* Length of a window in nanoseconds: $BENCH_WINDOW_MS. */
double bench_window_ns(void);

struct bench_buffers bench_buffers_make(void);

/* A count of batches that takes about one window, found by doubling, which
 * warms up. */
long bench_calibrate(const struct bench_driver *driver,
                     const struct bench_cell *cell,
                     const struct bench_buffers *buffers);

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
