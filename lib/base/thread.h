/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The thread's record: one 8-byte initial-exec pointer leads to all that
 * ashlar keeps per thread.
 *
 *     thread_self ──> struct thread { error, locals ──> [key] -> void * }
 *
 * Initial-exec, because a lookup costs 0.3 ns against 4 to 6 for the dynamic
 * models, and 8 bytes fit the static TLS surplus that any dlopen may use.
 *
 * Invariants:
 *   - thread_self is NULL (no record yet), THREAD_ENDED, or the thread's own;
 *   - a record lies in the list of all records from its making to its end;
 *   - locals[key] is written by any thread under thread_lock(), and read
 *     without it by the owner alone.
 *
 * One pthread key serves the process: its destructor runs the exit hook (which
 * gives the thread's caches back) and frees the record. After that the thread
 * has no record, and what needs one takes its path without.
 */
#ifndef ASHLAR_BASE_THREAD_H
#define ASHLAR_BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct thread {
    uint32_t local_count; /* entries of locals */
    bool foreign;         /* belongs to a thread that fork left behind */
    void **locals;        /* per key: a pointer of an upper floor, or NULL */
    struct error error;
    char *message; /* the last rendered sentence */
    struct thread *next;
    struct thread *previous;
};

extern __thread struct thread *thread_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** What thread_self holds once the thread's destructor has run. */
#define THREAD_ENDED ((struct thread *)1)

/**
 * The calling thread's record, made when it is missing; NULL when there is no
 * memory for it, or the thread is ending.
 */
struct thread *thread_record(void);

/** The record if there is one; never makes it. */
static inline struct thread *thread_peek(void)
{
    return thread_self == THREAD_ENDED ? NULL : thread_self;
}

/** What the calling thread keeps under a key; NULL for nothing. */
static inline void *thread_local_get(uint32_t key)
{
    struct thread *self = thread_self;

    if ((uintptr_t)self <= (uintptr_t)THREAD_ENDED || key >= self->local_count)
        return NULL;
    return __atomic_load_n(&self->locals[key], __ATOMIC_RELAXED);
}

/**
 * Keep a pointer under a key, for the calling thread.
 *
 * @return 0, or -1 when the table had to grow and there was no memory.
 */
int thread_local_set(uint32_t key, void *value);

/** The lock over the list of records and over writing locals. */
void thread_lock(void);
void thread_unlock(void);

/** Take a local away from a thread; call it under thread_lock(). */
void thread_local_clear(struct thread *thread, uint32_t key);

/** Called with the ending thread's record, without any lock. */
void thread_set_exit_hook(void (*hook)(struct thread *thread));

/**
 * Called around fork(2): before, after in the parent, after in the child.
 * `before` runs first of all, then thread_lock() is taken; the two others run
 * after it is free again. In the child the records of all other threads are
 * marked foreign before the hook runs.
 */
void thread_set_fork_hooks(void (*before)(void), void (*parent)(void),
                           void (*child)(void));

/**
 * Start what has to be there once for the process: the key and the fork
 * handlers. Done by thread_record() and by whoever sets hooks; repeatable.
 */
int thread_start(void);

/** The first record of the list; walk `next` under thread_lock(). */
struct thread *thread_first(void);

#endif
