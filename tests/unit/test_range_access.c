/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/range.h"

#include "support/child.h"
#include "support/ranges.h"

#include <stdio.h>

static struct trial trial;

static void open_trial(void)
{
    trial_open(&trial, NULL);
}

static void close_trial(void)
{
    trial_close(&trial);
}

/* The rights of a location on the granule at an offset, as vm records them. */
static uint32_t rights_at(uint64_t granules, uint32_t location)
{
    uint32_t rights = UINT32_MAX;

    OK(ashlar_vm_rights(&wrap_of(trial.source)->inner,
                        trial_info(&trial).base + granules * trial.granule,
                        location, &rights));
    return rights;
}

static void nothing_wrong(void)
{
    const char *wrong = trial_wrong(&trial);

    ck_assert_msg(wrong == NULL, "%s", wrong);
}

START_TEST(every_chunk_has_the_rights_of_the_list_whenever_it_was_mapped)
{
    trial_create(&trial, 64, 2, 0);
    trial_grow(&trial, 4);
    ck_assert_uint_eq(rights_at(3, 0), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_at(3, 1), ASHLAR_RIGHTS_READ);
    ck_assert_uint_eq(rights_at(3, 2), ASHLAR_RIGHTS_NONE);
    OK(ashlar_range_allow(trial.range, 2, ASHLAR_RIGHTS_READ_WRITE));
    OK(ashlar_range_allow(trial.range, 1, ASHLAR_RIGHTS_NONE));
    trial_grow(&trial, 8);
    OK(ashlar_range_decommit(trial.range, 0, 2 * trial.granule, ASHLAR_QUIET, 1,
                             NULL));
    trial_forget(&trial);
    OK(ashlar_range_commit(trial.range, 0, 1, NULL));
    trial_sync(&trial);
    ck_assert_uint_eq(rights_at(0, 2), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_at(3, 2), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_at(7, 2), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_at(7, 1), ASHLAR_RIGHTS_NONE);
    nothing_wrong();
}
END_TEST

START_TEST(the_rights_follow_a_move_and_reach_the_old_place)
{
    uint64_t old;
    uint32_t rights;

    trial_create(&trial, 4, 2, ASHLAR_RANGE_MAY_MOVE);
    trial_grow(&trial, 4);
    old = trial_info(&trial).base;
    wrap_of(trial.source)->hint = WRAP_REFUSED;
    trial_grow(&trial, 6);
    ck_assert_uint_eq(rights_at(0, 1), ASHLAR_RIGHTS_READ);
    OK(ashlar_range_allow(trial.range, 6, ASHLAR_RIGHTS_READ));
    ck_assert_uint_eq(rights_at(5, 6), ASHLAR_RIGHTS_READ);
    OK(ashlar_vm_rights(&wrap_of(trial.source)->inner, old, 6, &rights));
    ck_assert_uint_eq(rights, ASHLAR_RIGHTS_READ);
    nothing_wrong();
}
END_TEST

START_TEST(rights_that_are_there_already_cost_no_call)
{
    uint64_t calls;

    trial_create(&trial, 64, 2, 0);
    trial_grow(&trial, 4);
    calls = wrap_calls(trial.source);
    OK(ashlar_range_allow(trial.range, 1, ASHLAR_RIGHTS_READ));
    OK(ashlar_range_allow(trial.range, 7, ASHLAR_RIGHTS_NONE));
    ck_assert_uint_eq(wrap_calls(trial.source), calls);
    OK(ashlar_range_allow(trial.range, 1, ASHLAR_RIGHTS_READ_WRITE));
    ck_assert_uint_eq(wrap_calls(trial.source), calls + 1);
}
END_TEST

START_TEST(bad_rights_are_refused)
{
    struct before before;

    trial_create(&trial, 64, 2, 0);
    trial_grow(&trial, 4);
    before_take(&before, &trial);
    REFUSED(ASHLAR_ERR_INVALID, "location is 8",
            ashlar_range_allow(trial.range, 8, ASHLAR_RIGHTS_READ));
    REFUSED(ASHLAR_ERR_INVALID, "rights are 2",
            ashlar_range_allow(trial.range, 1, (enum ashlar_rights)2));
    REFUSED(ASHLAR_ERR_INVALID, "rights are 4294967295",
            ashlar_range_allow(trial.range, 1, (enum ashlar_rights) - 1));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
}
END_TEST

/* Rights that could not be put back are, before anything else is set. */
START_TEST(rights_that_are_still_to_be_put_back_are_busy)
{
    trial_create(&trial, 64, 2, 0);
    trial_grow(&trial, 6);
    OK(ashlar_range_decommit(trial.range, 2 * trial.granule, 2 * trial.granule,
                             ASHLAR_QUIET, 1, NULL));
    trial_forget(&trial);
    /* The second stretch fails, and so does putting the first one back. */
    wrap_arm(trial.source, (struct wrap_fault){.at = 2, .for_ever = true});
    ck_assert_int_eq(ashlar_range_allow(trial.range, 5, ASHLAR_RIGHTS_READ),
                     ASHLAR_ERR_DRIVER);
    ck_assert_uint_eq(trial_waiting(&trial), 1);
    REFUSED(ASHLAR_ERR_BUSY, "could not be put back",
            ashlar_range_allow(trial.range, 5, ASHLAR_RIGHTS_READ_WRITE));
    (void)wrap_lift(trial.source);
    /* Growth goes on meanwhile; the undo is collected on the way. */
    trial_grow(&trial, 8);
    ck_assert_uint_eq(rights_at(0, 5), ASHLAR_RIGHTS_NONE);
    OK(ashlar_range_allow(trial.range, 5, ASHLAR_RIGHTS_READ_WRITE));
    ck_assert_uint_eq(rights_at(0, 5), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_at(7, 5), ASHLAR_RIGHTS_READ_WRITE);
    nothing_wrong();
}
END_TEST

/* --- pages ---------------------------------------------------------------- */

/* What the kernel says of an address, such as "rw-s"; "" when it is in none of
 * this process's mappings. */
static void protection_of(uint64_t address, char text[5])
{
    unsigned long begin, end;
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];

    text[0] = '\0';
    while (maps != NULL && fgets(line, sizeof(line), maps) != NULL)
        if (sscanf(line, "%lx-%lx %4s", &begin, &end, text) == 3 &&
            address >= begin && address < end)
            break;
        else
            text[0] = '\0';
    if (maps != NULL)
        (void)fclose(maps);
}

static int judge_absence(void *base)
{
    char text[5];

    protection_of((uint64_t)(uintptr_t)base, text);
    return text[0] != '\0' && text[0] != '-';
}

START_TEST(memory_is_not_in_a_child_of_fork)
{
    void *base;
    char text[5];

    trial_create(&trial, 8, 0, 0);
    trial_grow(&trial, 1);
    base = (void *)(uintptr_t)trial_info(&trial).base;
    protection_of((uint64_t)(uintptr_t)base, text);
    ck_assert_str_eq(text, "rw-s");
    ck_assert_int_eq(child_verdict(judge_absence, base), 0);
}
END_TEST

START_TEST(pages_are_protected_by_the_rights_of_location_0)
{
    uint64_t base;
    char text[5];

    trial_create(&trial, 8, 0, 0);
    trial_grow(&trial, 3);
    base = trial_info(&trial).base;
    OK(ashlar_range_allow(trial.range, 0, ASHLAR_RIGHTS_READ));
    protection_of(base + 2 * trial.granule, text);
    ck_assert_str_eq(text, "r--s");
    nothing_wrong();
    OK(ashlar_range_allow(trial.range, 0, ASHLAR_RIGHTS_NONE));
    OK(ashlar_range_grow_to(trial.range, 5 * trial.granule, NULL));
    protection_of(base + 4 * trial.granule, text);
    ck_assert_str_eq(text, "---s");
    OK(ashlar_range_allow(trial.range, 0, ASHLAR_RIGHTS_READ_WRITE));
    protection_of(base + 4 * trial.granule, text);
    ck_assert_str_eq(text, "rw-s");
    nothing_wrong();
}
END_TEST

static Suite *range_access_suite(void)
{
    Suite *suite = suite_create("range_access");
    TCase *test = tcase_create("rights");

    tcase_add_checked_fixture(test, open_trial, close_trial);
    tcase_add_test(
        test, every_chunk_has_the_rights_of_the_list_whenever_it_was_mapped);
    tcase_add_test(test, the_rights_follow_a_move_and_reach_the_old_place);
    tcase_add_test(test, rights_that_are_there_already_cost_no_call);
    tcase_add_test(test, bad_rights_are_refused);
    tcase_add_test(test, rights_that_are_still_to_be_put_back_are_busy);
    suite_add_tcase(suite, test);

    test = tcase_create("pages");
    tcase_add_checked_fixture(test, open_trial, close_trial);
    tcase_add_test(test, memory_is_not_in_a_child_of_fork);
    tcase_add_test(test, pages_are_protected_by_the_rights_of_location_0);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(range_access_suite());
}
