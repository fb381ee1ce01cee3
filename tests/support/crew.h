/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Threads that live on between the pieces of work they are given, so that what
 * they keep, they keep.
 */
#ifndef ASHLAR_TESTS_SUPPORT_CREW_H
#define ASHLAR_TESTS_SUPPORT_CREW_H

#include <pthread.h>

#define CREW_MAX 16

/* Work for member `number`, 0 to count - 1. */
typedef void crew_fn(unsigned number, void *argument);

struct crew {
    unsigned count;
    crew_fn *work; /* NULL: leave */
    void *argument;
    unsigned only; /* who is to work; count: all */
    pthread_barrier_t barrier;
    struct crew_member {
        pthread_t thread;
        struct crew *crew;
        unsigned number;
    } members[CREW_MAX];
};

void crew_start(struct crew *crew, unsigned count);

/* All at once; returns when all are done. */
void crew_work(struct crew *crew, crew_fn *work, void *argument);

/* One of them alone. */
void crew_work_one(struct crew *crew, unsigned number, crew_fn *work,
                   void *argument);

/* Let all threads end, and wait for them. */
void crew_end(struct crew *crew);

#endif
