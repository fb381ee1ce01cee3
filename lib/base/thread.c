/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/thread.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/align.h"
#include "base/lock.h"
#include "base/memory.h"

/* The first table of locals; later ones double. */
#define LOCALS_MIN 8

struct fork_hooks {
    void (*before)(void);
    void (*parent)(void);
    void (*child)(void);
};

/* What a thread without locals has. */
static struct thread_locals no_locals;

__thread struct thread *thread_self;
__thread struct thread_locals *thread_locals = &no_locals;
__thread uint32_t thread_number = THREAD_NUMBERS;

/* Guards the list, numbers, all records' locals, fork_parts, fork_taken. */
static struct lock lock = LOCK_INIT;
static struct thread *first;

/* A bit for each number that a thread has. */
static uint64_t numbers;
static_assert(THREAD_NUMBERS == 64, "numbers has a bit for each");

static void (*exit_hook)(struct thread *thread);

/* The pthread key plus 1; 0 while there is none. */
static unsigned int key_plus_1;

static pthread_once_t handlers_once = PTHREAD_ONCE_INIT;
static int handlers_result = -1;

/* Counts the forks that led here. */
unsigned thread_process_number;

static struct fork_hooks fork_parts[THREAD_FORK_PARTS];

/* The hooks whose `before` ran: the ones to call after the fork. Written and
 * read with the lock held, which it is across the fork. */
static struct fork_hooks fork_taken[THREAD_FORK_PARTS];

void thread_lock(void)
{
    lock_take(&lock);
}

void thread_unlock(void)
{
    lock_give(&lock);
}

struct thread *thread_first(void)
{
    return first;
}

void thread_set_exit_hook(void (*hook)(struct thread *thread))
{
    __atomic_store_n(&exit_hook, hook, __ATOMIC_RELEASE);
}

/* With the lock held: the lowest number that no thread has. */
static uint32_t take_number(void)
{
    uint32_t number = THREAD_NUMBERS;

    if (numbers != UINT64_MAX) {
        number = (uint32_t)__builtin_ctzll(~numbers);
        numbers |= UINT64_C(1) << number;
    }
    return number;
}

static void give_number(uint32_t number)
{
    if (number != THREAD_NUMBERS)
        numbers &= ~(UINT64_C(1) << number);
}

static void link_record(struct thread *self)
{
    thread_lock();
    self->number = take_number();
    self->next = first;
    if (first != NULL)
        first->previous = self;
    first = self;
    thread_unlock();
}

static void unlink_record(struct thread *self)
{
    thread_lock();
    give_number(self->number);
    if (self->previous != NULL)
        self->previous->next = self->next;
    else
        first = self->next;
    if (self->next != NULL)
        self->next->previous = self->previous;
    thread_unlock();
}

/* The destructor of the pthread key. */
static void end_thread(void *record)
{
    struct thread *self = record;
    void (*hook)(struct thread *) =
        __atomic_load_n(&exit_hook, __ATOMIC_ACQUIRE);
    uintptr_t mark;

    if (hook != NULL)
        hook(self);
    thread_number = THREAD_NUMBERS;
    unlink_record(self);
    mark = (uintptr_t)-self->error.status << 1 | THREAD_ENDED;
    thread_self = (struct thread *)mark;
    thread_locals = &no_locals;
    if (self->locals != &no_locals)
        memory_free(self->locals);
    memory_free(self);
}

/* Make the key, unless there is one. Without a lock, so that a fork at this
 * moment cannot leave one taken; who comes second drops its key again. */
static int start_key(void)
{
    unsigned int none = 0;
    pthread_key_t key;

    if (__atomic_load_n(&key_plus_1, __ATOMIC_ACQUIRE) != 0)
        return 0;
    if (pthread_key_create(&key, end_thread) != 0)
        return -1;
    if (!__atomic_compare_exchange_n(&key_plus_1, &none, key + 1, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        (void)pthread_key_delete(key);
    return 0;
}

/* Give back what the parts' `before` took, from the last to the first. */
static void leave_fork(const struct fork_hooks *parts, bool in_child)
{
    size_t i;

    for (i = THREAD_FORK_PARTS; i-- > 0;) {
        void (*hook)(void) = in_child ? parts[i].child : parts[i].parent;

        if (hook != NULL)
            hook();
    }
}

static void fork_before(void)
{
    struct fork_hooks parts[THREAD_FORK_PARTS];
    size_t i;

    thread_lock();
    for (;;) {
        memcpy(parts, fork_parts, sizeof(parts));
        thread_unlock();
        for (i = 0; i < THREAD_FORK_PARTS; i++) {
            if (parts[i].before != NULL)
                parts[i].before();
        }
        thread_lock();
        if (memcmp(parts, fork_parts, sizeof(parts)) == 0)
            break;
        /* A part joined meanwhile, and its lock must be taken too. */
        thread_unlock();
        leave_fork(parts, false);
        thread_lock();
    }
    memcpy(fork_taken, parts, sizeof(parts));
}

static void fork_parent(void)
{
    struct fork_hooks parts[THREAD_FORK_PARTS];

    memcpy(parts, fork_taken, sizeof(parts));
    thread_unlock();
    leave_fork(parts, false);
}

static void fork_child(void)
{
    struct fork_hooks parts[THREAD_FORK_PARTS];
    const struct thread *self = thread_peek();
    struct thread *thread;

    thread_process_number++;
    for (thread = first; thread != NULL; thread = thread->next)
        thread->foreign = thread != self;
    memcpy(parts, fork_taken, sizeof(parts));
    thread_unlock();
    leave_fork(parts, true);
}

static void start_handlers(void)
{
    static bool entered;

    /* A fork in the middle of this makes pthread_once start over in the
     * child, where a second registration would take each lock twice. */
    if (entered)
        return;
    entered = true;
    if (pthread_atfork(fork_before, fork_parent, fork_child) == 0)
        handlers_result = 0;
}

int thread_start(void)
{
    (void)pthread_once(&handlers_once, start_handlers);
    return handlers_result == 0 ? start_key() : -1;
}

int thread_set_fork_part(enum thread_fork_part part, void (*before)(void),
                         void (*parent)(void), void (*child)(void))
{
    const struct fork_hooks hooks = {before, parent, child};

    thread_lock();
    fork_parts[part] = hooks;
    thread_unlock();
    return thread_start();
}

void thread_set_fork_hooks(void (*before)(void), void (*parent)(void),
                           void (*child)(void))
{
    (void)thread_set_fork_part(THREAD_FORK_POOL, before, parent, child);
}

struct thread *thread_record(void)
{
    uintptr_t mark = (uintptr_t)thread_self;
    struct thread *self;
    unsigned int key;

    if (mark >= THREAD_MARKS)
        return thread_self;
    if ((mark & THREAD_ENDED) != 0 || thread_start() != 0)
        return NULL;
    self = memory_zalloc(sizeof(*self));
    if (self == NULL)
        return NULL;
    key = __atomic_load_n(&key_plus_1, __ATOMIC_ACQUIRE) - 1;
    if (pthread_setspecific(key, self) != 0) {
        memory_free(self);
        return NULL;
    }
    self->error.status = (enum ashlar_status)(-(int)(mark >> 1));
    self->locals = &no_locals;
    link_record(self);
    thread_self = self;
    thread_number = self->number;
    return self;
}

/* Give the calling thread's record a table that has the key. */
static int grow_locals(struct thread *self, uint32_t key)
{
    struct thread_locals *old = self->locals;
    struct thread_locals *grown;
    size_t count = max_size(LOCALS_MIN, (size_t)old->count * 2);

    while (count <= key)
        count *= 2;
    grown = memory_zalloc(sizeof(*grown) + count * sizeof(*grown->at));
    if (grown == NULL)
        return -1;
    grown->count = (uint32_t)count;
    thread_lock();
    memcpy(grown->at, old->at, old->count * sizeof(*grown->at));
    self->locals = grown;
    thread_unlock();
    thread_locals = grown;
    if (old != &no_locals)
        memory_free(old);
    return 0;
}

int thread_local_set(uint32_t key, void *value)
{
    struct thread *self = thread_record();

    if (self == NULL)
        return -1;
    if (key >= self->locals->count && grow_locals(self, key) != 0)
        return -1;
    thread_lock();
    __atomic_store_n(&self->locals->at[key], value, __ATOMIC_RELAXED);
    thread_unlock();
    return 0;
}

void thread_local_clear(struct thread *thread, uint32_t key)
{
    if (key < thread->locals->count)
        __atomic_store_n(&thread->locals->at[key], NULL, __ATOMIC_RELAXED);
}
