/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the stress tests have in common: how long, with which seed, many
 * threads, and failures that come from any thread or child process.
 *
 * ASHLAR_STRESS_SEED     the seed of a run that is to be repeated; decimal or
 *                        0x...; it is printed at the start, and with a failure.
 * ASHLAR_STRESS_SECONDS  full length: every case does its full count, and the
 *                        random ones go on with fresh seeds for so long.
 *                        Unset or 0: brief, for `make check`.
 *
 * Check's own assertions must not fail outside the thread that runs the case.
 * Threads and children say what is wrong by STRESS_EXPECT(), and the case ends
 * by stress_verdict().
 */
#ifndef ASHLAR_TESTS_SUPPORT_STRESS_H
#define ASHLAR_TESTS_SUPPORT_STRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "support/suite.h"

/* Read the environment and print the seed; what main() does first. */
void stress_begin(void);

/* Whether this is a run of full length. */
bool stress_full(void);

/* One of the two; of the brief one an eighth under the sanitizers, and a
 * fortieth under Valgrind. */
size_t stress_count(size_t brief, size_t full);

/* Whether a case that has done its count shall do it once more. */
bool stress_goes_on(void);

/* Whether a tool that sees all memory accesses looks on, so that pools have
 * no caches and everything is slow. */
bool stress_is_watched(void);

/* Whether this runs under Valgrind. */
bool stress_is_valgrind(void);

/* Which sanitizer this program was built with. */
bool stress_is_asan(void);
bool stress_is_tsan(void);

/* Bytes of memory that the process has in its pages now. */
size_t stress_resident(void);

/* suite_run(), and under ThreadSanitizer in this process: of suites in which
 * memory goes from thread to thread through jemalloc. That takes its locks
 * before a fork and makes them anew in the child, where ThreadSanitizer holds
 * them to be taken for ever and sees no order in what they guard. */
int stress_run(Suite *suite);

/* --- luck ----------------------------------------------------------------- */

struct stress_random {
    uint64_t state;
};

/* A stream of its own for each number, the same again for the same seed. */
struct stress_random stress_stream(uint64_t number);

uint64_t stress_next(struct stress_random *random);

/* 0 to bound - 1. */
size_t stress_below(struct stress_random *random, size_t bound);

/* True once in `odds` times. */
bool stress_chance(struct stress_random *random, size_t odds);

void stress_shuffle(struct stress_random *random, void **items, size_t count);

/* --- failures ------------------------------------------------------------- */

/* Note what is wrong; the first one counts, the rest is its consequence. Works
 * in threads, and in children of fork(2). Returns false. */
bool stress_fail(const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* So that the value of STRESS_EXPECT() may be left unused. */
static inline bool stress_right(void)
{
    return true;
}

/* The condition's value; when it is false, the failure is noted. */
#define STRESS_EXPECT(_condition, ...)                                         \
    ((_condition) ? stress_right()                                             \
                  : stress_fail(__FILE__, __LINE__, __VA_ARGS__))

/* Whether something went wrong: threads look, and stop. */
bool stress_failed(void);

/* Forget what was noted: it had to be. */
void stress_forgive(void);

/* Fail the case by what was noted, if anything was. */
void stress_verdict(void);

/* --- threads and children ------------------------------------------------- */

/* Run `work` in so many threads at once, numbered from 0, and join them. */
void stress_threads(unsigned count, void (*work)(unsigned number, void *user),
                    void *user);

/* Threads leave a barrier one after the other; here they leave together. The
 * counter starts at 0, and serves any number of meetings of as many threads. */
void stress_meet(unsigned *arrived, unsigned threads);

/* Fork a child that runs `work` and ends; it is killed after five minutes.
 * Note how it ended, unless it ended well. Returns whether it did. */
bool stress_child(void (*work)(void *user), void *user);

#endif
