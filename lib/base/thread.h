/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The thread's record: three initial-exec variables lead to all that ashlar keeps
 * per thread.
 *
 *     thread_self  ──> struct thread { error, number, locals ─┐ }
 *     thread_locals ──> struct thread_locals { count, [key] -> void * }
 *     thread_number
 *
 * Initial-exec, because a lookup costs 0.3 ns against 4 to 6 for the dynamic
 * models, and 24 bytes fit the static TLS surplus that any dlopen may use. The
 * second saves each get and put a load and a branch, the third the same to each
 * count.
 *
 * Invariants:
 *   - thread_self is a mark, or the thread's own record. A mark is a number
 *     below THREAD_MARKS: 0 while there is no record yet; otherwise bit 0 says
 *     that the thread's destructor has run, and the rest is the status, negated,
 *     of a last error that found no record to be kept in;
 *   - a record lies in the list of all records from its making to its end;
 *   - thread_locals is the record's table, or an empty one, never NULL;
 *   - thread_number is the record's number, or THREAD_NUMBERS;
 *   - an entry of it is written by any thread under thread_lock(), and read
 *     without it by the owner alone.
 *
 * One pthread key serves the process: its destructor runs the exit hook (which
 * gives the thread's caches back) and frees the record. After that the thread
 * has no record, and what needs one takes its path without.
 *
 * One pthread_atfork serves the process too. Its handlers must be registered
 * after jemalloc's, so that ours run first at a fork and take our locks before
 * jemalloc's own. jemalloc registers its handlers when it starts, which its
 * own constructor does at load; the pool floor starts it explicitly all the
 * same before it calls thread_start(), for a build without that constructor.
 */
#ifndef ASHLAR_BASE_THREAD_H
#define ASHLAR_BASE_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/** Pointers of upper floors, by key; NULL for none. */
struct thread_locals {
    uint32_t count;
    void *at[];
};

struct thread {
    struct thread_locals *locals;
    bool foreign;    /* belongs to a thread that fork left behind */
    bool logging;    /* inside the log callback */
    uint32_t number; /* no other living thread's; see THREAD_NUMBERS */
    struct thread *next;
    struct thread *previous;
    struct error error;
    char message[ERROR_MESSAGE_BYTES]; /* the last rendered sentence */
};

/**
 * Threads beyond so many share this as their number; the others have one of
 * their own below it, which goes to another thread when they have ended. For
 * counters that one thread at a time adds to.
 */
#define THREAD_NUMBERS 64u

extern __thread struct thread *thread_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern __thread struct thread_locals *thread_locals
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

extern __thread uint32_t thread_number
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** No record lies below this address: such a thread_self is a mark. */
#define THREAD_MARKS ((uintptr_t)4096)

/** The bit of a mark that says the thread's destructor has run. */
#define THREAD_ENDED ((uintptr_t)1)

/**
 * The calling thread's record, made when it is missing; NULL when there is no
 * memory for it, or the thread is ending.
 */
struct thread *thread_record(void);

/** The record if there is one; never makes it. */
static inline struct thread *thread_peek(void)
{
    struct thread *self = thread_self;

    return (uintptr_t)self < THREAD_MARKS ? NULL : self;
}

/** What the calling thread keeps under a key; NULL for nothing. */
static inline void *thread_local_get(uint32_t key)
{
    struct thread_locals *locals = thread_locals;

    if (key >= locals->count)
        return NULL;
    return __atomic_load_n(&locals->at[key], __ATOMIC_RELAXED);
}

/**
 * Keep a pointer under a key, for the calling thread. Takes thread_lock().
 *
 * @return 0, or -1 when there was no memory for the record or for its table,
 *         or the thread is ending.
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
 * Who takes part in a fork. Before it, `before` of each part is called in this
 * order, which is the order in which their locks nest, and thread_lock() is
 * taken last. After it the locks are given back the other way round: first
 * thread_lock() becomes free, then `parent` or `child` of each part is called
 * from the last to the first.
 */
enum thread_fork_part {
    THREAD_FORK_ARENA = 0,
    THREAD_FORK_POOL = 1,
    THREAD_FORK_RANGE = 2,
    THREAD_FORK_TYPE = 3,
    THREAD_FORK_LOG = 4,
    THREAD_FORK_PARTS = 5
};

/**
 * What a part does around fork(2): before, after in the parent, after in the
 * child; all three set. In the child the records of all other threads are
 * marked foreign before any hook runs.
 *
 * @return As thread_start(), which it calls; the hooks are set in any case.
 */
int thread_set_fork_part(enum thread_fork_part part, void (*before)(void),
                         void (*parent)(void), void (*child)(void));

/** The hooks of THREAD_FORK_POOL. */
void thread_set_fork_hooks(void (*before)(void), void (*parent)(void),
                           void (*child)(void));

/**
 * Start what has to be there once for the process: the key and the fork
 * handlers. Done by thread_record() and by whoever sets fork hooks; repeatable.
 * A fork is covered from the first return of this on; one that overlaps it, in
 * another thread, may leave the child with a lock taken.
 *
 * @return 0, or -1 when the process has no pthread key left or no memory for
 *         the handlers; then threads have no records.
 */
int thread_start(void);

/** What thread_process() returns; written in a child of fork(2) alone. */
extern unsigned thread_process_number __attribute__((visibility("hidden")));

/**
 * Which process this is: 0 for the first, one more in each child of fork(2).
 * A load, where getpid(2) is a system call.
 */
static inline unsigned thread_process(void)
{
    return thread_process_number;
}

/** The first record of the list; walk `next` under thread_lock(). */
struct thread *thread_first(void);

#endif
