/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The load of stress_fork: threads that get and put in every way, and publish
 * what they hold so that a child of fork(2) can tell.
 *
 *     holding.valid  0 ── get, stamp ──> 1 ── forget, put ──> 0
 *
 * What is valid at the moment of a fork is live in the child, with its stamp;
 * of what is not, a call may have been in the middle.
 */
#ifndef ASHLAR_TESTS_STRESS_FORK_LOAD_H
#define ASHLAR_TESTS_STRESS_FORK_LOAD_H

#include <pthread.h>

#include <ashlar.h>

#include "support/ledger.h"
#include "support/stress.h"

#define LOAD_POOLS    5
#define LOAD_THREADS  4
#define LOAD_HOLDINGS 400 /* of a thread */
#define LOAD_BATCH    40
#define LOAD_RUN      12

struct holding {
    unsigned valid;
    unsigned pool;
    void *slot;
    size_t n; /* of a run; 0 for a slot */
    uint64_t stamp;
};

/* One that gets and puts: a thread of the load, or one that forks. */
struct loader {
    struct load *load;
    struct stress_random random;
    uint64_t sequence;
    struct ashlar_cache *caches[LOAD_POOLS];
    struct holding holdings[LOAD_HOLDINGS];
};

#define LOADERS (LOAD_THREADS + 3)

struct load {
    struct ledger pools[LOAD_POOLS];
    struct loader loaders[LOADERS]; /* the last three belong to forkers */
    pthread_t threads[LOAD_THREADS];
    unsigned stop;
    bool wild; /* also caches and pools that come and go: needs malloc */
};

/* Make the pools and start the threads; false when that failed. */
bool load_start(struct load *load, bool wild);

/* Stop them, put everything, and see that nothing was disturbed. */
void load_end(struct load *load);

/* One operation of a loader. */
void load_step(struct loader *loader);

/* Put all that a loader holds, and close its caches. */
void load_clear(struct loader *loader);

#endif
