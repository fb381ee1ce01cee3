/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/thread.h"

#include "support/child.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/memory.h"

#define THREADS 8

static void start_clean(void)
{
    memory_fail_nth(0, false);
    thread_set_exit_hook(NULL);
}

static void in_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* The records in the list, and whether one of them is the given one. */
static size_t count_records(const struct thread *wanted, bool *found_out)
{
    const struct thread *thread;
    size_t count = 0;

    *found_out = false;
    thread_lock();
    for (thread = thread_first(); thread != NULL; thread = thread->next) {
        ck_assert(thread->previous == NULL || thread->previous->next == thread);
        *found_out = *found_out || thread == wanted;
        count++;
    }
    thread_unlock();
    return count;
}

/* --- records -------------------------------------------------------------- */

static void *peek_before_and_after(void *argument)
{
    bool *right = argument;
    const struct thread *none = thread_peek();
    const struct thread *self = thread_record();

    *right = none == NULL && self != NULL && thread_peek() == self &&
             thread_record() == self;
    return NULL;
}

START_TEST(a_record_is_made_when_it_is_asked_for)
{
    bool right = false;

    in_thread(peek_before_and_after, &right);
    ck_assert(right);
}
END_TEST

static void *keep_record(void *argument)
{
    struct thread **self = argument;
    bool found;

    *self = thread_record();
    (void)count_records(*self, &found);
    return found ? NULL : argument;
}

START_TEST(a_record_is_listed_until_its_thread_ends)
{
    struct thread *self = NULL;
    size_t before, after;
    bool found;

    before = count_records(NULL, &found);
    in_thread(keep_record, &self);
    ck_assert_ptr_nonnull(self);
    after = count_records(self, &found);
    ck_assert(!found);
    ck_assert_uint_eq(after, before);
}
END_TEST

static void *try_without_memory(void *argument)
{
    bool *right = argument;

    memory_fail_nth(1, false);
    *right = thread_record() == NULL && thread_peek() == NULL &&
             thread_local_get(0) == NULL && thread_record() != NULL;
    return NULL;
}

START_TEST(a_record_without_memory_is_tried_again)
{
    bool right = false;

    in_thread(try_without_memory, &right);
    ck_assert(right);
}
END_TEST

/* --- locals --------------------------------------------------------------- */

static int things[2000];

static void *set_and_get(void *argument)
{
    static const uint32_t keys[] = {0, 7, 8, 100, 1999};
    bool *right = argument;
    size_t i;

    *right = true;
    for (i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        *right &= thread_local_get(keys[i]) == NULL;
        *right &= thread_local_set(keys[i], &things[keys[i]]) == 0;
    }
    for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
        *right &= thread_local_get(keys[i]) == &things[keys[i]];
    *right &= thread_local_get(1) == NULL;
    *right &= thread_local_get(UINT32_MAX) == NULL;
    thread_lock();
    thread_local_clear(thread_peek(), 7);
    thread_local_clear(thread_peek(), UINT32_MAX);
    thread_unlock();
    *right &= thread_local_get(7) == NULL;
    *right &= thread_local_get(8) == &things[8];
    return NULL;
}

START_TEST(a_local_is_what_was_set_until_it_is_cleared)
{
    bool right = false;

    in_thread(set_and_get, &right);
    ck_assert(right);
}
END_TEST

static void *set_without_memory(void *argument)
{
    bool *right = argument;

    *right = thread_local_set(3, &things[3]) == 0;
    memory_fail_nth(1, false);
    *right &= thread_local_set(500, &things[500]) == -1;
    *right &= thread_local_get(3) == &things[3];
    *right &= thread_local_get(500) == NULL;
    *right &= thread_local_set(500, &things[500]) == 0;
    *right &= thread_local_get(3) == &things[3];
    return NULL;
}

START_TEST(a_table_that_cannot_grow_stays_as_it_was)
{
    bool right = false;

    in_thread(set_without_memory, &right);
    ck_assert(right);
}
END_TEST

static void *grow_while_others_clear(void *argument)
{
    uint32_t key;

    for (key = 0; key < 1000; key++) {
        if (thread_local_set(key, &things[key]) != 0)
            return argument;
        (void)thread_local_get(key / 2);
    }
    return NULL;
}

static void clear_everywhere(uint32_t key)
{
    struct thread *thread;

    thread_lock();
    for (thread = thread_first(); thread != NULL; thread = thread->next)
        thread_local_clear(thread, key);
    thread_unlock();
}

START_TEST(other_threads_clear_locals_while_the_table_grows)
{
    pthread_t threads[THREADS];
    uint32_t key;
    int i;

    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL,
                                        grow_while_others_clear, &threads),
                         0);
    for (key = 0; key < 1000; key++)
        clear_everywhere(key);
    for (i = 0; i < THREADS; i++) {
        void *failed;

        ck_assert_int_eq(pthread_join(threads[i], &failed), 0);
        ck_assert_ptr_null(failed);
    }
}
END_TEST

/* --- the end of a thread -------------------------------------------------- */

static struct {
    unsigned int count;
    const struct thread *thread;
    void *local;
    bool listed;
} ended;

static void remember_end(struct thread *thread)
{
    ended.count++;
    ended.thread = thread;
    ended.local = thread_local_get(5);
    (void)count_records(thread, &ended.listed);
}

static void *set_local(void *argument)
{
    const struct thread **self = argument;

    (void)thread_local_set(5, &things[5]);
    *self = thread_peek();
    return NULL;
}

START_TEST(the_exit_hook_sees_the_record_whole)
{
    const struct thread *self = NULL;

    memset(&ended, 0, sizeof(ended));
    thread_set_exit_hook(remember_end);
    in_thread(set_local, &self);
    ck_assert_uint_eq(ended.count, 1);
    ck_assert_ptr_nonnull(self);
    ck_assert_ptr_eq(ended.thread, self);
    ck_assert_ptr_eq(ended.local, &things[5]);
    ck_assert(ended.listed);
}
END_TEST

static void *do_nothing(void *unused)
{
    return unused;
}

START_TEST(a_thread_without_a_record_ends_without_the_hook)
{
    memset(&ended, 0, sizeof(ended));
    thread_set_exit_hook(remember_end);
    in_thread(do_nothing, NULL);
    ck_assert_uint_eq(ended.count, 0);
}
END_TEST

/* What another library's destructor sees, once ours has run. */
static pthread_key_t late_key;

static struct {
    bool no_record;
    enum ashlar_status first;
    enum ashlar_status second;
    int set;
} late;

static void late_destructor(void *unused)
{
    (void)unused;
    /* Keys are destroyed in an order nobody states: come again until the
     * record is gone, which is one round later at most. */
    if (thread_peek() != NULL) {
        (void)pthread_setspecific(late_key, &late);
        return;
    }
    late.first = ashlar_last_error();
    late.no_record = thread_record() == NULL;
    (void)error_set(ASHLAR_ERR_LIMIT, "%d", 1);
    late.second = ashlar_last_error();
    late.set = thread_local_set(5, &things[5]);
}

static void *use_both(void *unused)
{
    (void)pthread_setspecific(late_key, &late);
    (void)error_set(ASHLAR_ERR_BUSY, "%d", 1);
    return unused;
}

START_TEST(an_ended_thread_gets_no_record_and_keeps_its_status)
{
    memset(&late, 0, sizeof(late));
    ck_assert_int_eq(pthread_key_create(&late_key, late_destructor), 0);
    in_thread(use_both, NULL);
    ck_assert_int_eq(pthread_key_delete(late_key), 0);
    ck_assert(late.no_record);
    ck_assert_int_eq(late.first, ASHLAR_ERR_BUSY);
    ck_assert_int_eq(late.second, ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(late.set, -1);
}
END_TEST

/* --- fork ----------------------------------------------------------------- */

/* The order in which hooks ran: p, t and l for the three parts, upper case
 * before the fork. */
static char order[32];

static void note(char letter)
{
    size_t length = strlen(order);

    order[length] = letter;
    order[length + 1] = '\0';
}

/* The lock is nobody's while hooks run: trying it would hang otherwise. */
static void note_unlocked(char letter)
{
    thread_lock();
    thread_unlock();
    note(letter);
}

static void pool_before(void)
{
    note_unlocked('P');
}

static void pool_after(void)
{
    note_unlocked('p');
}

static void type_before(void)
{
    note_unlocked('T');
}

static void type_after(void)
{
    note_unlocked('t');
}

static void log_before(void)
{
    note_unlocked('L');
}

static void log_after(void)
{
    note_unlocked('l');
}

static int order_is_right(void *unused)
{
    (void)unused;
    return strcmp(order, "PTLltp") == 0 ? 0 : 1;
}

START_TEST(fork_takes_the_parts_in_order_and_gives_them_back_in_reverse)
{
    order[0] = '\0';
    ck_assert_int_eq(
        thread_set_fork_part(THREAD_FORK_LOG, log_before, log_after, log_after),
        0);
    ck_assert_int_eq(thread_set_fork_part(THREAD_FORK_TYPE, type_before,
                                          type_after, type_after),
                     0);
    thread_set_fork_hooks(pool_before, pool_after, pool_after);
    ck_assert_int_eq(child_verdict(order_is_right, NULL), 0);
    ck_assert_int_eq(order_is_right(NULL), 0);
    (void)thread_set_fork_part(THREAD_FORK_LOG, NULL, NULL, NULL);
    (void)thread_set_fork_part(THREAD_FORK_TYPE, NULL, NULL, NULL);
    thread_set_fork_hooks(NULL, NULL, NULL);
}
END_TEST

/* A part that joins while a fork is on its way is taken all the same. */
static void join_late(void)
{
    note('P');
    (void)thread_set_fork_part(THREAD_FORK_TYPE, type_before, type_after,
                               type_after);
}

static int late_order_is_right(void *unused)
{
    (void)unused;
    return strcmp(order, "PpPTtp") == 0 ? 0 : 1;
}

START_TEST(a_part_that_joins_during_a_fork_is_taken_too)
{
    order[0] = '\0';
    (void)thread_set_fork_part(THREAD_FORK_TYPE, NULL, NULL, NULL);
    thread_set_fork_hooks(join_late, pool_after, pool_after);
    ck_assert_int_eq(child_verdict(late_order_is_right, NULL), 0);
    ck_assert_int_eq(late_order_is_right(NULL), 0);
    (void)thread_set_fork_part(THREAD_FORK_TYPE, NULL, NULL, NULL);
    thread_set_fork_hooks(NULL, NULL, NULL);
}
END_TEST

static pthread_barrier_t barrier;

static void *wait_with_record(void *argument)
{
    struct thread **self = argument;

    *self = thread_record();
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    return NULL;
}

static struct thread *others[THREADS];

static int only_others_are_foreign(void *unused)
{
    const struct thread *self = thread_record();
    const struct thread *thread;
    size_t foreign = 0;

    (void)unused;
    for (thread = thread_first(); thread != NULL; thread = thread->next) {
        if (thread == self && thread->foreign)
            return 1;
        foreign += thread->foreign;
    }
    if (foreign < THREADS)
        return 2;
    for (size_t i = 0; i < THREADS; i++) {
        if (!others[i]->foreign)
            return 3;
    }
    return 0;
}

static void *fork_with_no_record(void *argument)
{
    int *status = argument;

    *status = thread_peek() == NULL
                  ? child_verdict(only_others_are_foreign, NULL)
                  : -1;
    return NULL;
}

START_TEST(in_the_child_the_records_of_other_threads_are_foreign)
{
    pthread_t threads[THREADS];
    int i, with, without = -1;

    ck_assert_int_eq(pthread_barrier_init(&barrier, NULL, THREADS + 1), 0);
    ck_assert_ptr_nonnull(thread_record());
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(
            pthread_create(&threads[i], NULL, wait_with_record, &others[i]), 0);
    (void)pthread_barrier_wait(&barrier);
    with = child_verdict(only_others_are_foreign, NULL);
    in_thread(fork_with_no_record, &without);
    for (i = 0; i < THREADS; i++)
        ck_assert(!others[i]->foreign);
    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_int_eq(with, 0);
    ck_assert_int_eq(without, 0);
    ck_assert_int_eq(pthread_barrier_destroy(&barrier), 0);
}
END_TEST

static bool stop;

static void *make_records(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        pthread_t thread;
        struct thread *self;

        if (pthread_create(&thread, NULL, keep_record, &self) == 0)
            (void)pthread_join(thread, NULL);
    }
    return unused;
}

static int list_works(void *unused)
{
    struct thread *thread;
    size_t count = 0;

    (void)unused;
    if (thread_local_set(9, &things[9]) != 0)
        return 1;
    thread_lock();
    for (thread = thread_first(); thread != NULL; thread = thread->next)
        count++;
    thread_unlock();
    return count > 0 && thread_local_get(9) == &things[9] ? 0 : 2;
}

START_TEST(a_child_forked_while_threads_come_and_go_is_sound)
{
    pthread_t makers[2];
    int i;

    /* A fork is covered once one call of the process has returned. */
    ck_assert_ptr_nonnull(thread_record());
    stop = false;
    for (i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&makers[i], NULL, make_records, NULL),
                         0);
    for (i = 0; i < 50; i++)
        ck_assert_int_eq(child_verdict(list_works, NULL), 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(makers[i], NULL), 0);
}
END_TEST

static void add_records(Suite *suite)
{
    TCase *records = tcase_create("records");
    TCase *locals = tcase_create("locals");

    tcase_add_checked_fixture(records, start_clean, start_clean);
    tcase_add_test(records, a_record_is_made_when_it_is_asked_for);
    tcase_add_test(records, a_record_is_listed_until_its_thread_ends);
    tcase_add_test(records, a_record_without_memory_is_tried_again);
    suite_add_tcase(suite, records);
    tcase_add_checked_fixture(locals, start_clean, start_clean);
    tcase_add_test(locals, a_local_is_what_was_set_until_it_is_cleared);
    tcase_add_test(locals, a_table_that_cannot_grow_stays_as_it_was);
    tcase_add_test(locals, other_threads_clear_locals_while_the_table_grows);
    suite_add_tcase(suite, locals);
}

static Suite *thread_suite(void)
{
    Suite *suite = suite_create("thread");
    TCase *end = tcase_create("end");
    TCase *forks = tcase_create("fork");

    add_records(suite);
    tcase_add_checked_fixture(end, start_clean, start_clean);
    tcase_add_test(end, the_exit_hook_sees_the_record_whole);
    tcase_add_test(end, a_thread_without_a_record_ends_without_the_hook);
    tcase_add_test(end, an_ended_thread_gets_no_record_and_keeps_its_status);
    suite_add_tcase(suite, end);
    tcase_add_checked_fixture(forks, start_clean, start_clean);
    tcase_add_test(
        forks, fork_takes_the_parts_in_order_and_gives_them_back_in_reverse);
    tcase_add_test(forks, a_part_that_joins_during_a_fork_is_taken_too);
    tcase_add_test(forks,
                   in_the_child_the_records_of_other_threads_are_foreign);
    tcase_add_test(forks, a_child_forked_while_threads_come_and_go_is_sound);
    suite_add_tcase(suite, forks);
    return suite;
}

int main(void)
{
    return suite_run(thread_suite());
}
