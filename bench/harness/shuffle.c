/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "shuffle.h"

#include "system.h"

uint32_t bench_random(uint64_t *state)
{
    /* Knuth's MMIX generator; the high half is the good one */
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

struct bench_shuffle bench_shuffle_make(unsigned n)
{
    struct bench_shuffle shuffle;
    uint64_t seed = n;

    shuffle.n = n;
    shuffle.places = (uint16_t *)bench_map(BENCH_SHUFFLES * n * 2);
    for (unsigned k = 0; k < BENCH_SHUFFLES; k++) {
        uint16_t *places = shuffle.places + (size_t)k * n;

        for (unsigned i = 0; i < n; i++) {
            unsigned j = bench_random(&seed) % (i + 1);

            places[i] = places[j];
            places[j] = (uint16_t)i;
        }
    }
    return shuffle;
}
