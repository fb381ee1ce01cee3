/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A cell: one thing that is measured, and its name. The name is the command
 * that a benchmark program takes and the key under which the figure is kept.
 *
 *     1t 32                  one thread gets and puts 32 at a time
 *     1t 32 filled           and writes every byte of each slot in between
 *     1t 256 shuffled        and puts them back in random order
 *     2t 1                   two threads do so, each for itself
 *     pc 256                 one thread gets, another puts
 *     run 100                one run of 100 slots
 *     run mix                runs of many lengths, in random order
 */
#ifndef BENCH_CELL_H
#define BENCH_CELL_H

enum bench_pattern {
    BENCH_ALONE = 0,
    BENCH_BESIDE = 1,
    BENCH_HANDED = 2,
    BENCH_RUN = 3
};

struct bench_cell {
    enum bench_pattern pattern;
    unsigned n; /* slots at a time; 0 for many lengths of runs */
    int filled;
    int shuffled;
};

/* The batch sizes that the loops are compiled for. */
#define BENCH_BATCH_MAX 4096u
static const unsigned bench_batches[] = {1, 32, 256, BENCH_BATCH_MAX};
#define BENCH_BATCHES (sizeof(bench_batches) / sizeof(bench_batches[0]))

#ifdef __cplusplus
extern "C" {
#endif

/* 1 when text names a cell. */
int bench_cell_parse(const char *text, struct bench_cell *cell_out);

#ifdef __cplusplus
}
#endif

#endif
