/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The process's budget for addresses. */
#include "config.h"

#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"

#define TIB (UINT64_C(1) << 40)

static struct trial trial;

static void open_trial(void)
{
    trial_open(&trial, NULL);
}

static void close_trial(void)
{
    (void)ashlar_range_set_address_budget(0);
    trial_close(&trial);
    ck_assert_uint_eq(source_budget_left(), 16 * TIB);
}

START_TEST(it_is_sixteen_tebibytes_unless_set)
{
    ck_assert_uint_eq(source_budget_left(), 16 * TIB);
    ck_assert_uint_eq(ashlar_range_set_address_budget(TIB), 16 * TIB);
    ck_assert_uint_eq(ashlar_range_set_address_budget(0), TIB);
    ck_assert_uint_eq(ashlar_range_set_address_budget(0), 16 * TIB);
}
END_TEST

START_TEST(addresses_are_counted_and_given_back)
{
    uint64_t granule = trial.granule;

    trial_create(&trial, 8, 0, ASHLAR_RANGE_MAY_MOVE);
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 8 * granule);
    trial_grow(&trial, 12); /* its neighbour too */
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 12 * granule);
    wrap_of(trial.source)->hint = WRAP_REFUSED;
    trial_grow(&trial, 13); /* and a place of twice the room */
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 36 * granule);
    OK(ashlar_range_retire_old(trial.range, ASHLAR_QUIET, 1));
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 24 * granule);
    OK(ashlar_range_shrink_to(trial.range, 0, ASHLAR_QUIET, 1, NULL));
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 24 * granule);
    OK(ashlar_range_destroy(trial.range, ASHLAR_QUIET, 1));
    trial.range = NULL;
    ck_assert_uint_eq(source_budget_left(), 16 * TIB);
}
END_TEST

START_TEST(what_waits_counts_until_it_is_released)
{
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL, 1};
    struct ashlar_source *inner = &wrap_of(trial.source)->inner;

    trial_create(&trial, 8, 0, 0);
    OK(ashlar_vm_hold(inner, 1));
    OK(ashlar_range_destroy(trial.range, &fence, 1));
    trial.range = NULL;
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 8 * trial.granule);
    OK(ashlar_vm_finish(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(source_budget_left(), 16 * TIB);
}
END_TEST

START_TEST(the_limit_is_exact_and_what_is_reserved_stays)
{
    struct ashlar_range_options options = trial_options(&trial, 5, 0, 0);
    struct ashlar_range *other = NULL;

    trial_create(&trial, 8, 0, 0);
    (void)ashlar_range_set_address_budget(12 * trial.granule);
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "the process's budget",
            ashlar_range_create(trial.source, &options, &other));
    options.reserve_bytes -= trial.granule;
    OK(ashlar_range_create(trial.source, &options, &other));
    ck_assert_uint_eq(source_budget_left(), 0);
    OK(ashlar_range_destroy(other, ASHLAR_QUIET, 1));
    /* Below what is taken already. */
    (void)ashlar_range_set_address_budget(trial.granule);
    ck_assert_uint_eq(source_budget_left(), 0);
    trial_grow(&trial, 8);
    REFUSED(ASHLAR_ERR_NO_ROOM, "cannot grow",
            ashlar_range_grow_to(trial.range, 9 * trial.granule, NULL));
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "the process's budget",
            ashlar_range_create(trial.source, NULL, &other));
}
END_TEST

START_TEST(a_reservation_that_the_source_refuses_costs_nothing)
{
    struct ashlar_range_options options = trial_options(&trial, 5, 0, 0);

    wrap_arm(trial.source, (struct wrap_fault){.at = 1});
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "on purpose",
            ashlar_range_create(trial.source, &options, &trial.range));
    (void)wrap_lift(trial.source);
    ck_assert_uint_eq(source_budget_left(), 16 * TIB);
}
END_TEST

START_TEST(it_is_of_all_sources_together)
{
    struct ashlar_range_options options = trial_options(&trial, 5, 0, 0);
    struct ashlar_source *other;
    struct ashlar_range *range;

    OK(ashlar_source_open("vm", engine_options(), &other));
    OK(ashlar_range_create(other, &options, &range));
    trial_create(&trial, 8, 0, 0);
    ck_assert_uint_eq(source_budget_left(), 16 * TIB - 13 * trial.granule);
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(other));
}
END_TEST

static void reserve_and_release(unsigned number, void *user)
{
    uint64_t bytes = (number + 1) * trial.granule;
    uint64_t address;
    unsigned i;

    (void)user;
    for (i = 0; i < 200; i++) {
        if (source_reserve(trial.source, bytes, trial.granule, 0, &address) !=
            ASHLAR_OK)
            continue;
        STRESS_EXPECT(source_budget_left() <= 8 * trial.granule, "over it");
        STRESS_EXPECT(source_release(trial.source, address, bytes) == ASHLAR_OK,
                      "%s", ashlar_last_error_message());
    }
}

START_TEST(threads_never_exceed_it)
{
    (void)ashlar_range_set_address_budget(8 * trial.granule);
    stress_threads(4, reserve_and_release, NULL);
    stress_verdict();
    ck_assert_uint_eq(source_budget_left(), 8 * trial.granule);
}
END_TEST

static Suite *budget_suite(void)
{
    Suite *suite = suite_create("budget");
    TCase *test = tcase_create("budget");

    tcase_add_checked_fixture(test, open_trial, close_trial);
    tcase_add_test(test, it_is_sixteen_tebibytes_unless_set);
    tcase_add_test(test, addresses_are_counted_and_given_back);
    tcase_add_test(test, what_waits_counts_until_it_is_released);
    tcase_add_test(test, the_limit_is_exact_and_what_is_reserved_stays);
    tcase_add_test(test, a_reservation_that_the_source_refuses_costs_nothing);
    tcase_add_test(test, it_is_of_all_sources_together);
    tcase_add_test(test, threads_never_exceed_it);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(budget_suite());
}
