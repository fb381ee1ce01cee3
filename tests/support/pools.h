/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the tests of pools share: pools with caches wherever they run, a
 * comparison of before and after, and numbers drawn from a seed.
 */
#ifndef ASHLAR_TESTS_SUPPORT_POOLS_H
#define ASHLAR_TESTS_SUPPORT_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "support/suite.h"

/* As ck_assert(), but without its record of every success: for loops. */
#define REQUIRE(_condition)                                                    \
    do {                                                                       \
        if (!(_condition))                                                     \
            ck_abort_msg("%s", #_condition);                                   \
    } while (0)

/* How many times as long a test takes here, as a sanitizer or Valgrind looks
 * on: 1, 5 or 50. */
unsigned pools_pace(void);

/*
 * The source that pools are made on by pools_make() when their options name
 * none: the heap, or one that pools_start() is told. A program of tests can so
 * be compiled for another source as well.
 */
#ifndef POOLS_SOURCE
#define POOLS_SOURCE "heap"
#endif
void pools_start(const char *source);

/* The type of that size and alignment, registered under a name of both. */
const struct ashlar_type *pools_type(size_t bytes, size_t alignment);

/* Options with some members set; the rest default. */
struct ashlar_pool_options pools_options(size_t initial_slots, size_t max_slots,
                                         size_t cache_slots, uint32_t flags);

/*
 * A pool. Where AddressSanitizer or Valgrind looks on, pools have no caches;
 * this one has them all the same, as everywhere, and in return is not watched.
 */
struct ashlar_pool *pools_make(const struct ashlar_type *type,
                               const struct ashlar_pool_options *options);

/* Destroy such a pool; it must not be busy. */
void pools_end(struct ashlar_pool *pool);

/* The statistics, of which live + cached + free + waiting is the capacity. */
struct ashlar_pool_stats pools_stats(struct ashlar_pool *pool);

/* A pool as it is at a moment. */
struct snapshot {
    struct ashlar_pool_stats stats;
    size_t count; /* live slots and runs; 0 in an unchecked pool */
    struct piece {
        void *first;
        size_t n;
    } * pieces; /* count of them, by address; malloc'ed */
};

struct snapshot snapshot_take(struct ashlar_pool *pool);
void snapshot_free(struct snapshot *snapshot);

/*
 * What of a pool differs from a snapshot, as the name of a statistic or of the
 * live slots; NULL for nothing. Not compared are what counts work done (calls,
 * takes, gives, peak) and refusals.
 */
const char *snapshot_differs(const struct snapshot *before,
                             struct ashlar_pool *pool);

/* The same, and the work done: a refusal that did nothing at all. */
const char *snapshot_differs_at_all(const struct snapshot *before,
                                    struct ashlar_pool *pool);

/* Whether the last error has the status, and its sentence holds the text. */
bool last_error_is(enum ashlar_status status, const char *text);

/* The same for an address as the library writes it. */
bool last_error_names(enum ashlar_status status, const void *address);

/* The n-th number, from 0, in the last error's sentence; UINT64_MAX: none. */
uint64_t last_error_number(unsigned nth);

/* Run a function on a thread of its own, to its end. */
void in_thread(void *(*work)(void *), void *argument);

/* Numbers without order that a seed repeats. */
struct dice {
    uint64_t state;
};

struct dice dice_from(uint64_t seed);
uint64_t dice_roll(struct dice *dice);

/* 0 to limit - 1. */
uint64_t dice_below(struct dice *dice, uint64_t limit);

/* Put n pointers in no order. */
void dice_shuffle(struct dice *dice, void **pointers, size_t n);

#endif
