/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The registry used by many threads at once, and across a fork.
 */
#include "config.h"

#include "type/type.h"

#include "support/child.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/thread.h"

#define THREADS 8
#define NAMES   300

/* What one thread got for each name. Threads only collect; the test judges
 * when they have ended. */
struct worker {
    pthread_t thread;
    unsigned int number;
    enum ashlar_status status[NAMES];
    const struct ashlar_type *type[NAMES];
};

static struct worker workers[THREADS];
static pthread_barrier_t barrier;

static void run_workers(void *(*work)(void *))
{
    unsigned int i;

    memset(workers, 0, sizeof(workers));
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, THREADS), 0);
    for (i = 0; i < THREADS; i++) {
        workers[i].number = i;
        ck_assert_int_eq(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    ck_assert_int_eq(pthread_barrier_destroy(&barrier), 0);
}

static struct ashlar_type_info info_of(const struct ashlar_type *type)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_OK);
    return info;
}

/* Every thread meets the names in an order of its own: 7 and NAMES have no
 * factor in common. */
static size_t nth_name(const struct worker *worker, size_t i)
{
    return (i * 7 + worker->number * 37) % NAMES;
}

static void do_register(struct worker *worker, const char *set, size_t n,
                        size_t size, size_t alignment)
{
    char name[64];

    (void)snprintf(name, sizeof(name), "%s %zu", set, n);
    worker->status[n] =
        ashlar_type_register(name, size, alignment, &worker->type[n]);
}

static void *register_same(void *argument)
{
    struct worker *worker = argument;
    size_t i;

    for (i = 0; i < NAMES; i++) {
        (void)pthread_barrier_wait(&barrier);
        do_register(worker, "same", i, 40, 8);
    }
    return NULL;
}

START_TEST(threads_that_register_the_same_get_the_same)
{
    unsigned int i;
    size_t n;

    run_workers(register_same);
    for (n = 0; n < NAMES; n++) {
        for (i = 0; i < THREADS; i++) {
            ck_assert_int_eq(workers[i].status[n], ASHLAR_OK);
            ck_assert_ptr_eq(workers[i].type[n], workers[0].type[n]);
        }
        ck_assert_uint_eq(info_of(workers[0].type[n]).object_size, 40);
    }
}
END_TEST

START_TEST(a_walk_meets_each_of_them_once)
{
    const struct ashlar_type *type = NULL;
    size_t met = 0;

    run_workers(register_same);
    while ((type = ashlar_type_next(type)) != NULL)
        met += strncmp(info_of(type).name, "same ", 5) == 0;
    ck_assert_uint_eq(met, NAMES);
}
END_TEST

static void *register_other_sizes(void *argument)
{
    struct worker *worker = argument;
    size_t i;

    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < NAMES; i++)
        do_register(worker, "size", nth_name(worker, i),
                    worker->number % 2 == 0 ? 40 : 48, 8);
    return NULL;
}

START_TEST(of_conflicting_sizes_one_wins_everywhere)
{
    unsigned int i;
    size_t n;

    run_workers(register_other_sizes);
    for (n = 0; n < NAMES; n++) {
        const struct ashlar_type *type;
        char name[64];
        size_t size;

        (void)snprintf(name, sizeof(name), "size %zu", n);
        type = ashlar_type_find(name);
        ck_assert_ptr_nonnull(type);
        size = info_of(type).object_size;
        for (i = 0; i < THREADS; i++) {
            bool won = (workers[i].number % 2 == 0 ? 40 : 48) == size;

            ck_assert_int_eq(workers[i].status[n],
                             won ? ASHLAR_OK : ASHLAR_ERR_CONFLICT);
            ck_assert_ptr_eq(workers[i].type[n], won ? type : NULL);
        }
    }
}
END_TEST

static void *register_other_alignments(void *argument)
{
    struct worker *worker = argument;
    size_t i;

    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < NAMES; i++)
        do_register(worker, "alignment", nth_name(worker, i), 40,
                    (size_t)8 << worker->number);
    return NULL;
}

START_TEST(of_different_alignments_the_strongest_stays)
{
    unsigned int i;
    size_t n;

    run_workers(register_other_alignments);
    for (n = 0; n < NAMES; n++) {
        for (i = 0; i < THREADS; i++)
            ck_assert_int_eq(workers[i].status[n], ASHLAR_OK);
        ck_assert_uint_eq(info_of(workers[0].type[n]).alignment,
                          (size_t)8 << (THREADS - 1));
    }
}
END_TEST

/* Half of the threads make the first pool while the others strengthen. */
static size_t frozen_at[THREADS][NAMES];

static void *freeze_or_strengthen(void *argument)
{
    struct worker *worker = argument;
    size_t i;

    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < NAMES; i++) {
        size_t n = nth_name(worker, i), size, stride;

        if (worker->number % 2 == 0) {
            do_register(worker, "freeze", n, 40, (size_t)8 << worker->number);
        } else {
            do_register(worker, "freeze", n, 40, 8);
            do
                type_layout(worker->type[n], &size,
                            &frozen_at[worker->number][n], &stride);
            while (!type_freeze(worker->type[n], frozen_at[worker->number][n]));
        }
    }
    return NULL;
}

START_TEST(a_pool_made_meanwhile_fixes_one_alignment_for_all)
{
    unsigned int i;
    size_t n;

    run_workers(freeze_or_strengthen);
    for (n = 0; n < NAMES; n++) {
        size_t alignment = info_of(workers[1].type[n]).alignment;

        for (i = 0; i < THREADS; i++) {
            size_t asked = (size_t)8 << i;

            if (i % 2 != 0)
                ck_assert_uint_eq(frozen_at[i][n], alignment);
            else if (asked <= alignment)
                ck_assert_int_eq(workers[i].status[n], ASHLAR_OK);
            else
                ck_assert_int_eq(workers[i].status[n], ASHLAR_ERR_CONFLICT);
        }
    }
}
END_TEST

/* A fork holds the registry's lock from its first hook to its last. The log's
 * part comes after the registry's, so a hook set there can let threads run up
 * to the lock and then proceed one by one: each finds the registry changed
 * since it looked without the lock. */
static void let_threads_queue(void)
{
    const struct timespec while_they_queue = {0, 50 * 1000 * 1000};

    (void)pthread_barrier_wait(&barrier);
    (void)nanosleep(&while_they_queue, NULL);
}

static void do_nothing(void)
{
}

static int judge_nothing(void *unused)
{
    (void)unused;
    return 0;
}

static void run_queued_workers(void *(*work)(void *))
{
    unsigned int i;

    memset(workers, 0, sizeof(workers));
    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
    for (i = 0; i < THREADS; i++) {
        workers[i].number = i;
        ck_assert_int_eq(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    ck_assert_int_eq(thread_set_fork_part(THREAD_FORK_LOG, let_threads_queue,
                                          do_nothing, do_nothing),
                     0);
    ck_assert_int_eq(child_verdict(judge_nothing, NULL), 0);
    (void)thread_set_fork_part(THREAD_FORK_LOG, NULL, NULL, NULL);
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(workers[i].thread, NULL), 0);
    ck_assert_int_eq(pthread_barrier_destroy(&barrier), 0);
}

static void *register_one(void *argument)
{
    (void)pthread_barrier_wait(&barrier);
    do_register(argument, "queued", 0, 40, 8);
    return NULL;
}

START_TEST(who_waits_for_the_lock_gets_what_the_first_added)
{
    const struct ashlar_type *type;
    unsigned int i;

    ck_assert_int_eq(ashlar_type_register("queue", 40, 8, &type), ASHLAR_OK);
    run_queued_workers(register_one);
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(workers[i].status[0], ASHLAR_OK);
        ck_assert_ptr_eq(workers[i].type[0], workers[0].type[0]);
    }
}
END_TEST

static void *strengthen_one(void *argument)
{
    struct worker *worker = argument;

    (void)pthread_barrier_wait(&barrier);
    do_register(worker, "queued stronger", 0, 40, (size_t)16 << worker->number);
    return NULL;
}

START_TEST(who_waits_for_the_lock_does_not_weaken_what_came_before)
{
    const struct ashlar_type *type;
    unsigned int i;

    ck_assert_int_eq(ashlar_type_register("queued stronger 0", 40, 8, &type),
                     ASHLAR_OK);
    run_queued_workers(strengthen_one);
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(workers[i].status[0], ASHLAR_OK);
    ck_assert_uint_eq(info_of(type).alignment, (size_t)16 << (THREADS - 1));
}
END_TEST

static bool stop;
static size_t bad_reads;

/* Whatever is met on a walk is whole, also while it is being strengthened. */
static void *walk(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        const struct ashlar_type *type = NULL;

        while ((type = ashlar_type_next(type)) != NULL) {
            struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

            if (ashlar_type_query(type, &info) != ASHLAR_OK ||
                info.name == NULL || info.object_size == 0 ||
                info.stride % info.alignment != 0 ||
                info.stride - info.object_size >= info.alignment ||
                !type_is_known(type))
                __atomic_add_fetch(&bad_reads, 1, __ATOMIC_RELAXED);
        }
    }
    return unused;
}

static void *register_for_walkers(void *argument)
{
    struct worker *worker = argument;
    size_t i;

    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < NAMES; i++)
        do_register(worker, "walked", nth_name(worker, i), 40,
                    (size_t)8 << worker->number);
    return NULL;
}

START_TEST(who_walks_meanwhile_sees_whole_types)
{
    pthread_t walker;

    stop = false;
    bad_reads = 0;
    ck_assert_int_eq(pthread_create(&walker, NULL, walk, NULL), 0);
    run_workers(register_for_walkers);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    ck_assert_int_eq(pthread_join(walker, NULL), 0);
    ck_assert_uint_eq(bad_reads, 0);
}
END_TEST

static void *register_on_and_on(void *unused)
{
    size_t i;

    for (i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        const struct ashlar_type *type;
        char name[64];

        (void)snprintf(name, sizeof(name), "fork %zu", i);
        (void)ashlar_type_register(name, 40, 8, &type);
        (void)ashlar_type_register(name, 40, 64, &type);
    }
    return unused;
}

static int child_can_register(void *number)
{
    const struct ashlar_type *type = NULL;
    char name[64];

    (void)snprintf(name, sizeof(name), "child %d", *(int *)number);
    if (ashlar_type_find("CUtensorMap") == NULL)
        return 1;
    if (ashlar_type_register(name, 40, 8, &type) != ASHLAR_OK ||
        ashlar_type_register(name, 40, 64, &type) != ASHLAR_OK)
        return 2;
    return ashlar_type_find(name) == type && type_is_known(type) ? 0 : 3;
}

START_TEST(a_child_can_register_whenever_it_was_forked)
{
    const struct ashlar_type *type;
    pthread_t thread;
    int i;

    /* A fork is covered once one call of the process has returned. */
    ck_assert_int_eq(ashlar_type_register("fork", 40, 8, &type), ASHLAR_OK);
    stop = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, register_on_and_on, NULL),
                     0);
    for (i = 0; i < 50; i++)
        ck_assert_int_eq(child_verdict(child_can_register, &i), 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

static Suite *type_threads_suite(void)
{
    Suite *suite = suite_create("type, threads");
    TCase *threads = tcase_create("threads");
    TCase *forks = tcase_create("fork");

    tcase_add_test(threads, threads_that_register_the_same_get_the_same);
    tcase_add_test(threads, a_walk_meets_each_of_them_once);
    tcase_add_test(threads, of_conflicting_sizes_one_wins_everywhere);
    tcase_add_test(threads, of_different_alignments_the_strongest_stays);
    tcase_add_test(threads, a_pool_made_meanwhile_fixes_one_alignment_for_all);
    tcase_add_test(threads, who_waits_for_the_lock_gets_what_the_first_added);
    tcase_add_test(threads,
                   who_waits_for_the_lock_does_not_weaken_what_came_before);
    tcase_add_test(threads, who_walks_meanwhile_sees_whole_types);
    suite_add_tcase(suite, threads);
    tcase_add_test(forks, a_child_can_register_whenever_it_was_forked);
    suite_add_tcase(suite, forks);
    return suite;
}

int main(void)
{
    return suite_run(type_threads_suite());
}
