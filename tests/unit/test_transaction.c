/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/transaction.h"

#include "support/ranges.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

static struct trial trial;
static struct transaction transaction;

static void open_trial(void)
{
    trial_open(&trial, NULL);
    trial_create(&trial, 16, 0, 0);
}

static void close_trial(void)
{
    trial_close(&trial);
}

static uint64_t granules(uint64_t n)
{
    return n * trial.granule;
}

/* Everything that a transaction can do, in an order of its own. */
static void do_much(void)
{
    uint64_t chunks[2];
    uint64_t address;
    unsigned i;

    OK(transaction_begin(&transaction, trial.range, 5));
    for (i = 0; i < 2; i++) {
        OK(transaction_create(&transaction, granules(2), &chunks[i]));
        OK(transaction_map(&transaction, trial.range->base + granules(2) * i,
                           chunks[i], granules(2)));
    }
    OK(transaction_allow(&transaction, trial.range->base, granules(4)));
    OK(transaction_reserve(&transaction, granules(3), 0, &address));
    ck_assert_uint_eq(transaction.calls, 6);
}

START_TEST(what_was_done_is_undone_whatever_its_order)
{
    struct before before;

    before_take(&before, &trial);
    do_much();
    ck_assert_ptr_nonnull(before_given_differs(&before, &trial));
    (void)error_set(ASHLAR_ERR_DRIVER, "the cause");
    transaction_abort(&transaction);
    ck_assert(ranges_error_is(ASHLAR_ERR_DRIVER, "the cause"));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_uint_eq(trial.range->ghosts.count, 0);
    before_free(&before);
}
END_TEST

START_TEST(what_cannot_be_undone_haunts_the_range_and_hides_no_cause)
{
    struct before before;

    before_take(&before, &trial);
    do_much();
    wrap_arm(trial.source, (struct wrap_fault){.at = 1, .for_ever = true});
    (void)error_set(ASHLAR_ERR_DRIVER, "the cause");
    transaction_abort(&transaction);
    ck_assert(ranges_error_is(ASHLAR_ERR_DRIVER, "the cause"));
    ck_assert_uint_eq(trial_waiting(&trial), 1);
    ck_assert(range_haunted(trial.range, 0, granules(1)));
    ck_assert(range_haunted(trial.range, granules(3), granules(9)));
    ck_assert(!range_haunted(trial.range, granules(4), granules(9)));
    REFUSED(ASHLAR_ERR_BUSY, "still mapped",
            ashlar_range_grow_to(trial.range, 1, NULL));
    (void)wrap_lift(trial.source);
    trial_grow(&trial, 6);
    ck_assert_uint_eq(trial_waiting(&trial), 0);
    ck_assert_ptr_null(trial_wrong(&trial));
    before_free(&before);
}
END_TEST

START_TEST(undoing_half_way_goes_on_where_it_stopped)
{
    struct before before;
    unsigned n;

    for (n = 1; n <= 5; n++) {
        before_take(&before, &trial);
        do_much();
        wrap_arm(trial.source, (struct wrap_fault){.at = n, .for_ever = true});
        transaction_abort(&transaction);
        (void)wrap_lift(trial.source);
        OK(ashlar_source_drain(trial.source, 0));
        ck_assert_ptr_null(before_given_differs(&before, &trial));
        before_free(&before);
    }
    ck_assert_str_eq(wrap_of(trial.source)->model.wrong, "");
}
END_TEST

START_TEST(a_commit_keeps_everything)
{
    struct model model;

    do_much();
    transaction_commit(&transaction);
    model = wrap_model(trial.source);
    ck_assert_uint_eq(model.mappings.count, 2);
    ck_assert_uint_eq(model.spaces.count, 2);
    ck_assert_uint_eq(trial_waiting(&trial), 0);
    /* By hand, since no record has it. */
    OK(trial.source->ops.unmap(trial.source->state, trial.range->base,
                               granules(4)));
    OK(trial.source->ops.chunk_destroy(trial.source->state,
                                       model.chunks.items[0].key, granules(2)));
    OK(trial.source->ops.chunk_destroy(trial.source->state,
                                       model.chunks.items[1].key, granules(2)));
    OK(source_release(trial.source,
                      model.spaces.items[0].key == trial.range->base
                          ? model.spaces.items[1].key
                          : model.spaces.items[0].key,
                      granules(3)));
    model_free(&model);
}
END_TEST

START_TEST(a_stray_reservation_is_released_later)
{
    uint64_t address;
    struct before before;

    before_take(&before, &trial);
    OK(transaction_begin(&transaction, trial.range, 2));
    OK(transaction_reserve(&transaction, granules(3), 0, &address));
    wrap_arm(trial.source, (struct wrap_fault){.at = 1});
    transaction_give_up_space(&transaction);
    ck_assert_uint_eq(wrap_lift(trial.source), 1);
    ck_assert_ptr_nonnull(before_given_differs(&before, &trial));
    transaction_commit(&transaction);
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
}
END_TEST

START_TEST(without_memory_nothing_begins)
{
    struct before before;

    before_take(&before, &trial);
    memory_fail_nth(1, false);
    REFUSED(ASHLAR_ERR_NO_MEMORY, "how 40 steps are undone",
            transaction_begin(&transaction, trial.range, 40));
    memory_fail_nth(0, false);
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
}
END_TEST

/* --- what another thread has in hand -------------------------------------- */

/* Operations that take their time, on another thread: until so many creations
 * were refused, and some milliseconds. */
static struct {
    struct ashlar_plugin real;
    uint64_t refusals;
    int in_hand; /* atomic */
    pthread_t thread;
    struct ashlar_range *range;
    enum ashlar_status status;
} slow;

static void take_time(void)
{
    static const struct timespec moment = {0, 20000000};
    const uint64_t *refused = &trial.source->calls.create.refused;

    __atomic_store_n(&slow.in_hand, 1, __ATOMIC_RELEASE);
    do
        (void)nanosleep(&moment, NULL);
    while (__atomic_load_n(refused, __ATOMIC_RELAXED) <
           __atomic_load_n(&slow.refusals, __ATOMIC_RELAXED));
}

static enum ashlar_status slow_destroy(void *state, uint64_t chunk,
                                       uint64_t bytes)
{
    take_time();
    return slow.real.chunk_destroy(state, chunk, bytes);
}

static enum ashlar_status slow_release(void *state, uint64_t address,
                                       uint64_t bytes)
{
    take_time();
    return slow.real.release(state, address, bytes);
}

static void *destroy_slowly(void *argument)
{
    (void)argument;
    slow.status = ashlar_range_destroy(slow.range, ASHLAR_QUIET, 1);
    return NULL;
}

/* Another range, of so many granules, that is being destroyed from now on. */
static void start_destroying(uint64_t n)
{
    const struct ashlar_range_options options = trial_options(&trial, n, 0, 0);

    slow.in_hand = 0;
    OK(ashlar_range_create(trial.source, &options, &slow.range));
    OK(ashlar_range_grow_to(slow.range, granules(n), NULL));
    ck_assert_int_eq(pthread_create(&slow.thread, NULL, destroy_slowly, NULL),
                     0);
    while (!__atomic_load_n(&slow.in_hand, __ATOMIC_ACQUIRE))
        (void)sched_yield();
}

static void end_destroying(void)
{
    ck_assert_int_eq(pthread_join(slow.thread, NULL), 0);
    OK(slow.status);
}

static void open_slow(void)
{
    char memory[64];

    (void)snprintf(memory, sizeof(memory), "memory=%ld",
                   8 * sysconf(_SC_PAGESIZE));
    trial_open(&trial, memory);
    trial_create(&trial, 16, 0, 0);
    slow.real = trial.source->ops;
}

START_TEST(memory_that_another_thread_is_giving_back_is_waited_for)
{
    slow.refusals = 1;
    trial.source->ops.chunk_destroy = slow_destroy;
    start_destroying(8);
    ashlar_clear_error();
    OK(ashlar_range_grow_to(trial.range, granules(8), NULL));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    end_destroying();
    trial.source->ops = slow.real;
}
END_TEST

START_TEST(addresses_that_another_thread_is_giving_back_are_waited_for)
{
    const struct ashlar_range_options options = trial_options(&trial, 8, 0, 0);
    struct ashlar_range *range;

    slow.refusals = 0;
    trial.source->ops.release = slow_release;
    (void)ashlar_range_set_address_budget(granules(16 + 8));
    start_destroying(8);
    ashlar_clear_error();
    OK(ashlar_range_create(trial.source, &options, &range));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    end_destroying();
    trial.source->ops = slow.real;
    (void)ashlar_range_set_address_budget(0);
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
}
END_TEST

START_TEST(a_thread_that_gives_nothing_back_is_not_waited_for_for_ever)
{
    slow.refusals = 2;
    trial.source->ops.chunk_destroy = slow_destroy;
    start_destroying(8);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "retired bytes wait",
            ashlar_range_grow_to(trial.range, granules(8), NULL));
    ck_assert_uint_eq(trial.source->calls.create.refused, 1);
    __atomic_store_n(&slow.refusals, 0, __ATOMIC_RELAXED);
    end_destroying();
    trial.source->ops = slow.real;
}
END_TEST

START_TEST(without_anything_on_its_way_nothing_is_tried_again)
{
    trial_grow(&trial, 8);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "option memory",
            ashlar_range_grow_to(trial.range, granules(9), NULL));
    ck_assert_uint_eq(trial.source->calls.create.refused, 1);
}
END_TEST

static Suite *transaction_suite(void)
{
    Suite *suite = suite_create("transaction");
    TCase *test = tcase_create("undo");

    tcase_add_checked_fixture(test, open_trial, close_trial);
    tcase_add_test(test, what_was_done_is_undone_whatever_its_order);
    tcase_add_test(test,
                   what_cannot_be_undone_haunts_the_range_and_hides_no_cause);
    tcase_add_test(test, undoing_half_way_goes_on_where_it_stopped);
    tcase_add_test(test, a_commit_keeps_everything);
    tcase_add_test(test, a_stray_reservation_is_released_later);
    tcase_add_test(test, without_memory_nothing_begins);
    suite_add_tcase(suite, test);

    test = tcase_create("others");
    tcase_add_checked_fixture(test, open_slow, close_trial);
    tcase_add_test(test,
                   memory_that_another_thread_is_giving_back_is_waited_for);
    tcase_add_test(test,
                   addresses_that_another_thread_is_giving_back_are_waited_for);
    tcase_add_test(test,
                   a_thread_that_gives_nothing_back_is_not_waited_for_for_ever);
    tcase_add_test(test, without_anything_on_its_way_nothing_is_tried_again);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(transaction_suite());
}
