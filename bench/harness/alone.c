/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "measure.h"

#include "system.h"

#include <stdlib.h>

#define LENGTHS 128u

double bench_window_ns(void)
{
    const char *wanted = getenv("BENCH_WINDOW_MS");
    double ms = wanted != NULL ? strtod(wanted, NULL) : 1;

    if (!(ms > 0))
        bench_die("BENCH_WINDOW_MS should be a number of milliseconds");
    return ms * 1e6;
}

struct bench_buffers bench_buffers_make(void)
{
    struct bench_buffers buffers;

    buffers.slots = bench_map(BENCH_BATCH_MAX * sizeof(void *));
    buffers.back = bench_map(BENCH_BATCH_MAX * sizeof(void *));
    for (size_t i = 0; i < BENCH_BATCHES; i++)
        buffers.shuffles[i] = bench_shuffle_make(bench_batches[i]);
    return buffers;
}

long bench_calibrate(const struct bench_driver *driver,
                     const struct bench_cell *cell,
                     const struct bench_buffers *buffers)
{
    double window = bench_window_ns();
    long count = 1 + 2048 / cell->n;

    for (;;) {
        double start = bench_now_ns(), taken;

        driver->batches(cell, buffers, count);
        taken = bench_now_ns() - start;
        if (taken > window / 4)
            return (long)((double)count * window / taken) + 1;
        count *= 2;
    }
}

static struct bench_figure measure_batches(const struct bench_driver *driver,
                                           const struct bench_cell *cell,
                                           const struct bench_buffers *buffers)
{
    long count = bench_calibrate(driver, cell, buffers);
    struct bench_figure figure = {{0}, 0, 0, 0};

    while (bench_figure_wants(&figure)) {
        long before = bench_preemptions();
        double start = bench_now_ns(), taken;

        driver->batches(cell, buffers, count);
        taken = bench_now_ns() - start;
        bench_figure_add(&figure, taken / (double)count / cell->n,
                         bench_preemptions() != before);
    }
    return figure;
}

/* 1, BENCH_BATCH_MAX, and lengths between them. */
static void choose_lengths(unsigned lengths[LENGTHS])
{
    uint64_t seed = 1;

    lengths[0] = 1;
    lengths[1] = BENCH_BATCH_MAX;
    for (unsigned i = 2; i < LENGTHS; i++)
        lengths[i] = 1 + bench_random(&seed) % BENCH_BATCH_MAX;
}

static double time_runs(const struct bench_driver *driver,
                        const unsigned *lengths, size_t lengths_count,
                        long count)
{
    double start = bench_now_ns();

    driver->runs(lengths, lengths_count, count);
    return bench_now_ns() - start;
}

static struct bench_figure measure_runs(const struct bench_driver *driver,
                                        const struct bench_cell *cell)
{
    struct bench_figure figure = {{0}, 0, 0, 0};
    unsigned lengths[LENGTHS];
    size_t lengths_count = 1;
    long count = LENGTHS;

    if (cell->n == 0) {
        choose_lengths(lengths);
        lengths_count = LENGTHS;
    } else {
        lengths[0] = cell->n;
    }
    for (size_t i = 0; driver->reserve_run != NULL && i < lengths_count; i++)
        driver->reserve_run(lengths[i]);
    /* the first time round, runs are cut: from then on they are returned */
    time_runs(driver, lengths, lengths_count, count);
    while (time_runs(driver, lengths, lengths_count, count) <
           bench_window_ns() / 2)
        count *= 2;
    while (bench_figure_wants(&figure)) {
        long before = bench_preemptions();
        double taken = time_runs(driver, lengths, lengths_count, count);

        bench_figure_add(&figure, taken / (double)count,
                         bench_preemptions() != before);
    }
    return figure;
}

struct bench_figure bench_alone(const struct bench_driver *driver,
                                const struct bench_cell *cell)
{
    static struct bench_buffers buffers;

    if (buffers.slots == NULL)
        buffers = bench_buffers_make();
    if (cell->pattern == BENCH_RUN)
        return measure_runs(driver, cell);
    return measure_batches(driver, cell, &buffers);
}
