/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A range in another process: export here, import there, over a Unix socket;
 * the other process is this program, started anew. Both run on sources that
 * hold every operation against a driver's rules.
 */
#include "config.h"

#include "unit/share_rig.h"

#include <string.h>

#include "range/range.h"
#include "support/engine.h"

#define EXPORTS ASHLAR_RANGE_EXPORT

/* --- the same memory ------------------------------------------------------ */

START_TEST(both_sides_see_what_either_writes)
{
    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 5);
    (void)share_new(IMPORTER_IMPORT, 0, 0);
    share_stamps_there(5);
    OK(share_ask(IMPORTER_WRITE, share_bytes(3) + 64).status);
    ck_assert_uint_eq(
        *(uint64_t *)(uintptr_t)(share.trial.range->base + share_bytes(3) + 64),
        ~(share_bytes(3) + 64));
    ck_assert_ptr_null(trial_wrong(&share.trial));
}
END_TEST

START_TEST(growth_after_the_export_arrives_where_it_is)
{
    struct importer_answer there;
    uint64_t epoch;
    uint64_t base;

    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 5);
    epoch = share_new(IMPORTER_IMPORT, share_bytes(64), 0);
    base = share_ask(IMPORTER_COUNT, 0).base;
    trial_grow(&share.trial, 9);
    epoch = share_new(IMPORTER_MORE, 0, epoch);
    trial_grow(&share.trial, 33);
    (void)share_new(IMPORTER_MORE, 0, epoch);
    there = share_ask(IMPORTER_COUNT, 0);
    ck_assert_uint_eq(there.base, base);
    ck_assert_uint_eq(there.used_bytes, share_bytes(33));
    ck_assert_uint_eq(there.reserved_bytes, share_bytes(64));
    share_stamps_there(33);
}
END_TEST

START_TEST(growth_into_what_is_mapped_is_told_without_descriptors)
{
    struct ashlar_range_exported made;
    struct importer_answer there;
    uint64_t epoch;

    trial_create(&share.trial, 64, 4, EXPORTS);
    trial_grow(&share.trial, 1);
    OK(ashlar_range_prepare(share.trial.range, share_bytes(8),
                            ASHLAR_RANGE_MAPPED));
    trial_sync(&share.trial);
    epoch = share_new(IMPORTER_IMPORT, 0, 0);
    ck_assert_uint_eq(share_ask(IMPORTER_COUNT, 0).used_bytes, share_bytes(1));
    trial_grow(&share.trial, 8);
    made = share_export(epoch, 0);
    ck_assert_uint_eq(made.fd_count, 0);
    there = share_send(IMPORTER_MORE, 0, &made);
    ck_assert_uint_eq(there.used_bytes, share_bytes(8));
    ck_assert_uint_eq(there.calls, 0);
    ashlar_range_export_free(&made);
    share_stamps_there(8);
}
END_TEST

START_TEST(chunks_that_go_and_come_are_counted_as_calls)
{
    struct ashlar_source_calls calls = ASHLAR_SOURCE_CALLS_INIT;
    struct ashlar_range_exported made;
    struct ashlar_range *other;

    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 6);
    made = share_export(0, 0);
    OK(ashlar_range_import(share.trial.source, made.description,
                           made.description_bytes, made.fds, made.fd_count, 0,
                           &other));
    OK(ashlar_source_query_calls(share.trial.source, &calls));
    ck_assert_uint_eq(calls.chunk_export.count, 3);
    ck_assert_uint_eq(calls.chunk_import.count, 3);
    ck_assert_uint_eq(calls.chunk_import.refused, 0);
    OK(ashlar_range_destroy(other, ASHLAR_QUIET, 1));
    ashlar_range_export_free(&made);
}
END_TEST

START_TEST(an_empty_range_can_be_shared_and_grows)
{
    uint64_t epoch;

    trial_create(&share.trial, 64, 0, EXPORTS);
    epoch = share_new(IMPORTER_IMPORT, share_bytes(64), 0);
    ck_assert_uint_eq(share_ask(IMPORTER_COUNT, 0).used_bytes, 0);
    trial_grow(&share.trial, 3);
    (void)share_new(IMPORTER_MORE, 0, epoch);
    share_stamps_there(3);
}
END_TEST

START_TEST(many_chunks_go_in_batches_also_those_of_one_grow)
{
    enum importer_verb verb = IMPORTER_IMPORT;
    struct ashlar_range_exported made;
    struct importer_answer answer;
    uint64_t epoch = 0;
    unsigned batches = 0;
    uint32_t more = 1;

    trial_create(&share.trial, 512, 1, EXPORTS);
    trial_grow(&share.trial, 300);
    for (; more; batches++) {
        made = share_export(epoch, 100);
        ck_assert_uint_eq(made.fd_count, 100);
        answer = share_send(verb, share_bytes(512), &made);
        ck_assert_msg(answer.status == ASHLAR_OK, "%s", answer.sentence);
        epoch = made.epoch;
        more = made.more;
        verb = IMPORTER_MORE;
        ashlar_range_export_free(&made);
    }
    ck_assert_uint_eq(batches, 3);
    /* One file for all of them, on both sides. */
    ck_assert_uint_eq(answer.files, share.importer_files + 1);
    share_stamps_there(300);
}
END_TEST

/* --- lives ---------------------------------------------------------------- */

START_TEST(an_importer_may_die_at_any_time)
{
    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 5);
    (void)share_new(IMPORTER_IMPORT, 0, 0);
    importer_kill(&share.importer);
    ck_assert_ptr_null(trial_wrong(&share.trial));
    trial_grow(&share.trial, 9);
    share.importer = importer_start(engine_options());
    (void)share_new(IMPORTER_IMPORT, 0, 0);
    share_stamps_there(9);
}
END_TEST

START_TEST(memory_outlives_its_exporter)
{
    uint64_t stamps[5];
    unsigned i;

    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 5);
    memcpy(stamps, share.trial.stamps, sizeof(stamps));
    (void)share_new(IMPORTER_IMPORT, 0, 0);
    trial_close(&share.trial);
    trial_open(&share.trial, NULL);
    for (i = 0; i < 5; i++)
        ck_assert_uint_eq(share_ask(IMPORTER_READ, share_bytes(i)).number,
                          stamps[i]);
    OK(share_ask(IMPORTER_WRITE, 0).status);
}
END_TEST

START_TEST(what_the_exporter_takes_away_stays_there)
{
    struct ashlar_range_exported made;
    struct importer_answer answer;
    uint64_t stamp;
    uint64_t epoch;

    trial_create(&share.trial, 64, 1, EXPORTS);
    trial_grow(&share.trial, 4);
    stamp = share.trial.stamps[3];
    epoch = share_new(IMPORTER_IMPORT, share_bytes(64), 0);
    OK(ashlar_range_shrink_to(share.trial.range, share_bytes(2), ASHLAR_QUIET,
                              1, NULL));
    trial_forget(&share.trial);
    trial_grow(&share.trial, 4);
    ck_assert_uint_eq(share_ask(IMPORTER_READ, share_bytes(3)).number, stamp);
    made = share_export(epoch, 0);
    answer = share_send(IMPORTER_MORE, 0, &made);
    share_refused(&answer, ASHLAR_ERR_INVALID, "import the range anew");
    ashlar_range_export_free(&made);
    OK(share_ask(IMPORTER_DESTROY, 0).status);
    (void)share_new(IMPORTER_IMPORT, 0, 0);
    share_stamps_there(4);
}
END_TEST

START_TEST(no_file_stays_open_on_either_side)
{
    unsigned i;

    for (i = 0; i < 3; i++) {
        trial_create(&share.trial, 64, 1, EXPORTS);
        trial_grow(&share.trial, 40);
        (void)share_new(IMPORTER_IMPORT, 0, 0);
        /* The one file that the chunks of a range have. */
        ck_assert_uint_eq(share_ask(IMPORTER_COUNT, 0).files,
                          share.importer_files + 1);
        OK(share_ask(IMPORTER_DESTROY, 0).status);
        OK(ashlar_range_destroy(share.trial.range, ASHLAR_QUIET, 1));
        share.trial.range = NULL;
        ck_assert_uint_eq(share_ask(IMPORTER_COUNT, 0).files,
                          share.importer_files);
        /* Here, the socket to the other process. */
        ck_assert_uint_eq(importer_count_files(), share.files + 1);
    }
}
END_TEST

/* --- what does not fit together ------------------------------------------- */

START_TEST(an_importer_may_not_do_what_is_the_exporters)
{
    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 5);
    (void)share_new(IMPORTER_IMPORT, 0, 0);
    ck_assert_uint_eq(share_ask(IMPORTER_FORBID, 0).number, 0);
    share_stamps_there(5);
}
END_TEST

START_TEST(growth_beyond_what_is_reserved_there_is_refused)
{
    struct ashlar_range_exported made;
    struct importer_answer answer;
    uint64_t epoch;

    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 4);
    epoch = share_new(IMPORTER_IMPORT, share_bytes(8), 0);
    trial_grow(&share.trial, 9);
    made = share_export(epoch, 0);
    answer = share_send(IMPORTER_MORE, 0, &made);
    share_refused(&answer, ASHLAR_ERR_NO_ROOM, "larger reserve_bytes");
    ck_assert_uint_eq(answer.calls, 0);
    ck_assert_uint_eq(answer.used_bytes, share_bytes(4));
    ashlar_range_export_free(&made);
    share_stamps_there(4);
}
END_TEST

START_TEST(descriptions_come_in_order_and_of_one_range)
{
    struct ashlar_range *first;
    struct ashlar_range_exported made, later;
    struct importer_answer answer;

    trial_create(&share.trial, 64, 2, EXPORTS);
    trial_grow(&share.trial, 4);
    made = share_export(0, 0);
    trial_grow(&share.trial, 8);
    later = share_export(made.epoch, 0);
    answer = share_send(IMPORTER_IMPORT, 0, &later);
    share_refused(&answer, ASHLAR_ERR_INVALID, "import one that starts at 0");
    share_nothing_there(&answer);
    (void)share_send(IMPORTER_IMPORT, share_bytes(64), &made);
    answer = share_send(IMPORTER_MORE, 0, &made);
    share_refused(&answer, ASHLAR_ERR_INVALID, "ask the exporter from there");
    ck_assert_uint_eq(answer.calls, 0);
    ashlar_range_export_free(&made);

    first = share.trial.range;
    trial_create(&share.trial, 64, 2, EXPORTS);
    made = share_export(0, 0);
    answer = share_send(IMPORTER_MORE, 0, &made);
    share_refused(&answer, ASHLAR_ERR_WRONG_OWNER, "of another range");
    ck_assert_uint_eq(answer.calls, 0);
    answer = share_send(IMPORTER_MORE, 0, &later);
    ck_assert_int_eq(answer.status, ASHLAR_OK);
    ashlar_range_export_free(&made);
    ashlar_range_export_free(&later);
    OK(ashlar_range_destroy(first, ASHLAR_QUIET, 1));
}
END_TEST

/* -------------------------------------------------------------------------- */

static Suite *share_suite(void)
{
    Suite *suite = suite_create("share");
    TCase *test = tcase_create("memory");

    tcase_add_checked_fixture(test, share_open, share_close);
    tcase_add_test(test, both_sides_see_what_either_writes);
    tcase_add_test(test, growth_after_the_export_arrives_where_it_is);
    tcase_add_test(test,
                   growth_into_what_is_mapped_is_told_without_descriptors);
    tcase_add_test(test, chunks_that_go_and_come_are_counted_as_calls);
    tcase_add_test(test, an_empty_range_can_be_shared_and_grows);
    tcase_add_test(test, many_chunks_go_in_batches_also_those_of_one_grow);
    tcase_add_test(test, an_importer_may_die_at_any_time);
    tcase_add_test(test, memory_outlives_its_exporter);
    tcase_add_test(test, what_the_exporter_takes_away_stays_there);
    tcase_add_test(test, no_file_stays_open_on_either_side);
    tcase_add_test(test, an_importer_may_not_do_what_is_the_exporters);
    tcase_add_test(test, growth_beyond_what_is_reserved_there_is_refused);
    tcase_add_test(test, descriptions_come_in_order_and_of_one_range);
    suite_add_tcase(suite, test);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], IMPORTER_ARGUMENT) == 0)
        return importer_main(argc, argv);
    return suite_run(share_suite());
}
