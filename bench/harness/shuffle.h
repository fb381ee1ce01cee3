/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Random orders, made before the measuring starts. A loop goes through several
 * of them, so that the processor's branch predictor cannot learn one.
 */
#ifndef BENCH_SHUFFLE_H
#define BENCH_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

#define BENCH_SHUFFLES 16u

struct bench_shuffle {
    uint16_t *places; /* BENCH_SHUFFLES orders of n places, one after another */
    unsigned n;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The next of a sequence that is the same in every process. */
uint32_t bench_random(uint64_t *state);

/* For n up to BENCH_BATCH_MAX; the orders live as long as the process. */
struct bench_shuffle bench_shuffle_make(unsigned n);

#ifdef __cplusplus
}
#endif

#endif
