/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/range.h"

#include "support/child.h"
#include "support/engine.h"
#include "support/ranges.h"

#include <stdio.h>
#include <string.h>

static struct trial trial;

static void open_trial(void)
{
    trial_open(&trial, NULL);
}

static void close_trial(void)
{
    trial_close(&trial);
}

/* The rights of a location on the granule at an offset, as it is recorded. */
static uint32_t rights_at(uint64_t granules, uint32_t location)
{
    uint32_t rights = UINT32_MAX;

    OK(engine_rights(&wrap_of(trial.source)->inner,
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
    OK(engine_rights(&wrap_of(trial.source)->inner, old, 6, &rights));
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

/* --- what a source names --------------------------------------------------- */

static struct ashlar_plugin_info named;

static enum ashlar_status open_named(const struct ashlar_host *host,
                                     const struct ashlar_plugin_option *options,
                                     size_t option_count,
                                     struct ashlar_plugin_info *info,
                                     void **state_out)
{
    enum ashlar_status status =
        vm_plugin.open(host, options, option_count, info, state_out);

    memcpy(info->access, named.access, sizeof(info->access));
    info->access_count = named.access_count;
    return status;
}

/* A source vm that names rights for its ranges: these, and location 5's. */
static enum ashlar_status open_naming(uint32_t count, uint32_t location,
                                      uint32_t rights,
                                      struct ashlar_source **source_out)
{
    struct ashlar_plugin plugin = vm_plugin;

    plugin.open = open_named;
    named.access_count = count;
    named.access[0] = (struct ashlar_access){location, rights};
    named.access[1] = (struct ashlar_access){5, ASHLAR_RIGHTS_READ};
    return source_open_plugin(&plugin, "vm", engine_options(), source_out);
}

/* What vm has recorded for the first page of a range. */
static uint32_t rights_of(const struct ashlar_range *range, uint32_t location)
{
    struct ashlar_source source = *range->source;
    uint32_t rights = UINT32_MAX;

    source.ops = vm_plugin;
    OK(ashlar_vm_rights(&source, range->base, location, &rights));
    return rights;
}

START_TEST(a_range_starts_with_the_rights_that_its_source_names)
{
    static const struct ashlar_access other = {5, ASHLAR_RIGHTS_NONE};
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *plain;
    struct ashlar_range *differs;
    struct ashlar_source *source;

    options.access = &other;
    options.access_count = 1;
    OK(open_naming(2, 2, ASHLAR_RIGHTS_READ_WRITE, &source));
    OK(ashlar_range_create(source, NULL, &plain));
    OK(ashlar_range_create(source, &options, &differs));
    OK(ashlar_range_grow_to(plain, 1, NULL));
    OK(ashlar_range_grow_to(differs, 1, NULL));
    ck_assert_uint_eq(rights_of(plain, 0), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_of(plain, 2), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_of(plain, 5), ASHLAR_RIGHTS_READ);
    ck_assert_uint_eq(rights_of(differs, 2), ASHLAR_RIGHTS_READ_WRITE);
    ck_assert_uint_eq(rights_of(differs, 5), ASHLAR_RIGHTS_NONE);
    OK(ashlar_range_destroy(plain, ASHLAR_QUIET, 1));
    OK(ashlar_range_destroy(differs, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(source));
}
END_TEST

START_TEST(rights_that_no_range_can_have_are_refused_at_the_source)
{
    struct ashlar_source *source = NULL;

    REFUSED(ASHLAR_ERR_NO_PLUGIN, "rights 2 for location 1 of 8",
            open_naming(1, 1, 2, &source));
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "rights 3 for location 8 of 8",
            open_naming(1, 8, ASHLAR_RIGHTS_READ_WRITE, &source));
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "of 17 locations for new ranges; 16",
            open_naming(17, 1, ASHLAR_RIGHTS_READ, &source));
    ck_assert_ptr_null(source);
}
END_TEST

/* -------------------------------------------------------------------------- */

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

    if (!engine_is_vm())
        return suite;
    test = tcase_create("pages");
    tcase_add_checked_fixture(test, open_trial, close_trial);
    tcase_add_test(test, memory_is_not_in_a_child_of_fork);
    tcase_add_test(test, pages_are_protected_by_the_rights_of_location_0);
    suite_add_tcase(suite, test);

    test = tcase_create("named");
    tcase_add_test(test, a_range_starts_with_the_rights_that_its_source_names);
    tcase_add_test(test,
                   rights_that_no_range_can_have_are_refused_at_the_source);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(range_access_suite());
}
