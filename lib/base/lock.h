/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The lock: a pthread mutex that spins shortly before it sleeps.
 */
#ifndef ASHLAR_BASE_LOCK_H
#define ASHLAR_BASE_LOCK_H

#include <pthread.h>

struct lock {
    pthread_mutex_t mutex;
};

#define LOCK_INIT                                                              \
    {                                                                          \
        PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP                                  \
    }

static inline void lock_init(struct lock *lock)
{
    static const struct lock fresh = LOCK_INIT;

    *lock = fresh;
}

static inline void lock_take(struct lock *lock)
{
    (void)pthread_mutex_lock(&lock->mutex);
}

static inline void lock_give(struct lock *lock)
{
    (void)pthread_mutex_unlock(&lock->mutex);
}

#endif
