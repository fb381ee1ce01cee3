/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A range in another process: export here, import there, over a Unix socket;
 * the other process is this program, started anew. Both run on sources that
 * hold every operation against a driver's rules.
 */
#include "config.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "range/description.h"
#include "support/engine.h"
#include "support/ranges.h"
#include "unit/share_importer.h"

#define EXPORTS ASHLAR_RANGE_EXPORT

static struct trial trial; /* the exporter */
static struct importer importer;
static uint64_t files_at_start;
static uint64_t importer_files_at_start;

/* An order without anything beside it. */
static struct importer_answer ask(enum importer_verb verb, uint64_t number)
{
    return importer_ask(&importer, verb, number, NULL, 0, NULL, 0);
}

static void open_both(void)
{
    files_at_start = importer_count_files();
    trial_open(&trial, NULL);
    importer = importer_start(engine_options());
    importer_files_at_start = ask(IMPORTER_COUNT, 0).files;
}

/* Whatever a case did, no descriptor is left on either side. */
static void close_both(void)
{
    if (importer.process != 0)
        importer_end(&importer);
    if (trial.source != NULL)
        trial_close(&trial);
    ck_assert_uint_eq(importer_count_files(), files_at_start);
}

static uint64_t bytes_of(uint64_t granules)
{
    return granules * trial.granule;
}

static struct ashlar_range_exported export(uint64_t since, size_t fds_max)
{
    struct ashlar_range_exported made = ASHLAR_RANGE_EXPORTED_INIT;

    OK(ashlar_range_export(trial.range, since, fds_max, &made));
    return made;
}

/* Send an export there. */
static struct importer_answer send(enum importer_verb verb, uint64_t number,
                                   const struct ashlar_range_exported *made)
{
    return importer_ask(&importer, verb, number, made->description,
                        made->description_bytes, made->fds, made->fd_count);
}

/* Export what is new since then, have it imported; returns up to where. */
static uint64_t share(enum importer_verb verb, uint64_t number, uint64_t since)
{
    struct ashlar_range_exported made = export(since, 0);
    struct importer_answer answer = send(verb, number, &made);
    uint64_t epoch = made.epoch;

    ck_assert_msg(answer.status == ASHLAR_OK, "%s", answer.sentence);
    ck_assert_uint_eq(made.more, 0);
    ashlar_range_export_free(&made);
    return epoch;
}

/* It was refused there, with these words, after so many operations, and all of
 * them were undone. */
static void expect_refusal(const struct importer_answer *answer,
                           enum ashlar_status status, const char *words)
{
    ck_assert_msg(answer->status == status, "%s: %s",
                  ashlar_status_name(answer->status), answer->sentence);
    ck_assert_msg(strstr(answer->sentence, words) != NULL, "%s",
                  answer->sentence);
}

static void expect_nothing_there(const struct importer_answer *answer)
{
    ck_assert_uint_eq(answer->base, 0);
    ck_assert_uint_eq(answer->given_out, 0);
    ck_assert_uint_eq(answer->files, importer_files_at_start);
}

/* The other side reads what this side has stamped, granule for granule. */
static void expect_stamps_there(uint64_t granules)
{
    uint64_t i;

    for (i = 0; i < granules; i++)
        ck_assert_uint_eq(ask(IMPORTER_READ, bytes_of(i)).number,
                          trial.stamps[i]);
}

/* --- the same memory ------------------------------------------------------ */

START_TEST(both_sides_see_what_either_writes)
{
    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 5);
    (void)share(IMPORTER_IMPORT, 0, 0);
    expect_stamps_there(5);
    OK(ask(IMPORTER_WRITE, bytes_of(3) + 64).status);
    ck_assert_uint_eq(
        *(uint64_t *)(uintptr_t)(trial.range->base + bytes_of(3) + 64),
        ~(bytes_of(3) + 64));
    ck_assert_ptr_null(trial_wrong(&trial));
}
END_TEST

START_TEST(growth_after_the_export_arrives_where_it_is)
{
    struct importer_answer there;
    uint64_t epoch;
    uint64_t base;

    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 5);
    epoch = share(IMPORTER_IMPORT, bytes_of(64), 0);
    base = ask(IMPORTER_COUNT, 0).base;
    trial_grow(&trial, 9);
    epoch = share(IMPORTER_MORE, 0, epoch);
    trial_grow(&trial, 33);
    (void)share(IMPORTER_MORE, 0, epoch);
    there = ask(IMPORTER_COUNT, 0);
    ck_assert_uint_eq(there.base, base);
    ck_assert_uint_eq(there.used_bytes, bytes_of(33));
    ck_assert_uint_eq(there.reserved_bytes, bytes_of(64));
    expect_stamps_there(33);
}
END_TEST

START_TEST(growth_into_what_is_mapped_is_told_without_descriptors)
{
    struct ashlar_range_exported made;
    struct importer_answer there;
    uint64_t epoch;

    trial_create(&trial, 64, 4, EXPORTS);
    trial_grow(&trial, 1);
    OK(ashlar_range_prepare(trial.range, bytes_of(8), ASHLAR_RANGE_MAPPED));
    trial_sync(&trial);
    epoch = share(IMPORTER_IMPORT, 0, 0);
    ck_assert_uint_eq(ask(IMPORTER_COUNT, 0).used_bytes, bytes_of(1));
    trial_grow(&trial, 8);
    made = export(epoch, 0);
    ck_assert_uint_eq(made.fd_count, 0);
    there = send(IMPORTER_MORE, 0, &made);
    ck_assert_uint_eq(there.used_bytes, bytes_of(8));
    ck_assert_uint_eq(there.calls, 0);
    ashlar_range_export_free(&made);
    expect_stamps_there(8);
}
END_TEST

START_TEST(chunks_that_go_and_come_are_counted_as_calls)
{
    struct ashlar_source_calls calls = ASHLAR_SOURCE_CALLS_INIT;
    struct ashlar_range_exported made;
    struct ashlar_range *other;

    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 6);
    made = export(0, 0);
    OK(ashlar_range_import(trial.source, made.description,
                           made.description_bytes, made.fds, made.fd_count, 0,
                           &other));
    OK(ashlar_source_query_calls(trial.source, &calls));
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

    trial_create(&trial, 64, 0, EXPORTS);
    epoch = share(IMPORTER_IMPORT, bytes_of(64), 0);
    ck_assert_uint_eq(ask(IMPORTER_COUNT, 0).used_bytes, 0);
    trial_grow(&trial, 3);
    (void)share(IMPORTER_MORE, 0, epoch);
    expect_stamps_there(3);
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

    trial_create(&trial, 512, 1, EXPORTS);
    trial_grow(&trial, 300);
    for (; more; batches++) {
        made = export(epoch, 100);
        ck_assert_uint_eq(made.fd_count, 100);
        answer = send(verb, bytes_of(512), &made);
        ck_assert_msg(answer.status == ASHLAR_OK, "%s", answer.sentence);
        epoch = made.epoch;
        more = made.more;
        verb = IMPORTER_MORE;
        ashlar_range_export_free(&made);
    }
    ck_assert_uint_eq(batches, 3);
    /* One file for all of them, on both sides. */
    ck_assert_uint_eq(answer.files, importer_files_at_start + 1);
    expect_stamps_there(300);
}
END_TEST

/* --- lives ---------------------------------------------------------------- */

START_TEST(an_importer_may_die_at_any_time)
{
    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 5);
    (void)share(IMPORTER_IMPORT, 0, 0);
    importer_kill(&importer);
    ck_assert_ptr_null(trial_wrong(&trial));
    trial_grow(&trial, 9);
    importer = importer_start(engine_options());
    (void)share(IMPORTER_IMPORT, 0, 0);
    expect_stamps_there(9);
}
END_TEST

START_TEST(memory_outlives_its_exporter)
{
    uint64_t stamps[5];
    unsigned i;

    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 5);
    memcpy(stamps, trial.stamps, sizeof(stamps));
    (void)share(IMPORTER_IMPORT, 0, 0);
    trial_close(&trial);
    trial_open(&trial, NULL);
    for (i = 0; i < 5; i++)
        ck_assert_uint_eq(ask(IMPORTER_READ, bytes_of(i)).number, stamps[i]);
    OK(ask(IMPORTER_WRITE, 0).status);
}
END_TEST

START_TEST(what_the_exporter_takes_away_stays_there)
{
    struct ashlar_range_exported made;
    struct importer_answer answer;
    uint64_t stamp;
    uint64_t epoch;

    trial_create(&trial, 64, 1, EXPORTS);
    trial_grow(&trial, 4);
    stamp = trial.stamps[3];
    epoch = share(IMPORTER_IMPORT, bytes_of(64), 0);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(2), ASHLAR_QUIET, 1, NULL));
    trial_forget(&trial);
    trial_grow(&trial, 4);
    ck_assert_uint_eq(ask(IMPORTER_READ, bytes_of(3)).number, stamp);
    made = export(epoch, 0);
    answer = send(IMPORTER_MORE, 0, &made);
    expect_refusal(&answer, ASHLAR_ERR_INVALID, "import the range anew");
    ashlar_range_export_free(&made);
    OK(ask(IMPORTER_DESTROY, 0).status);
    (void)share(IMPORTER_IMPORT, 0, 0);
    expect_stamps_there(4);
}
END_TEST

START_TEST(no_file_stays_open_on_either_side)
{
    unsigned i;

    for (i = 0; i < 3; i++) {
        trial_create(&trial, 64, 1, EXPORTS);
        trial_grow(&trial, 40);
        (void)share(IMPORTER_IMPORT, 0, 0);
        /* The one file that the chunks of a range have. */
        ck_assert_uint_eq(ask(IMPORTER_COUNT, 0).files,
                          importer_files_at_start + 1);
        OK(ask(IMPORTER_DESTROY, 0).status);
        OK(ashlar_range_destroy(trial.range, ASHLAR_QUIET, 1));
        trial.range = NULL;
        ck_assert_uint_eq(ask(IMPORTER_COUNT, 0).files,
                          importer_files_at_start);
        /* Here, the socket to the other process. */
        ck_assert_uint_eq(importer_count_files(), files_at_start + 1);
    }
}
END_TEST

/* --- what does not fit together ------------------------------------------- */

START_TEST(an_importer_may_not_do_what_is_the_exporters)
{
    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 5);
    (void)share(IMPORTER_IMPORT, 0, 0);
    ck_assert_uint_eq(ask(IMPORTER_FORBID, 0).number, 0);
    expect_stamps_there(5);
}
END_TEST

START_TEST(growth_beyond_what_is_reserved_there_is_refused)
{
    struct ashlar_range_exported made;
    struct importer_answer answer;
    uint64_t epoch;

    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 4);
    epoch = share(IMPORTER_IMPORT, bytes_of(8), 0);
    trial_grow(&trial, 9);
    made = export(epoch, 0);
    answer = send(IMPORTER_MORE, 0, &made);
    expect_refusal(&answer, ASHLAR_ERR_NO_ROOM, "larger reserve_bytes");
    ck_assert_uint_eq(answer.calls, 0);
    ck_assert_uint_eq(answer.used_bytes, bytes_of(4));
    ashlar_range_export_free(&made);
    expect_stamps_there(4);
}
END_TEST

START_TEST(descriptions_come_in_order_and_of_one_range)
{
    struct ashlar_range *first;
    struct ashlar_range_exported made, later;
    struct importer_answer answer;

    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 4);
    made = export(0, 0);
    trial_grow(&trial, 8);
    later = export(made.epoch, 0);
    answer = send(IMPORTER_IMPORT, 0, &later);
    expect_refusal(&answer, ASHLAR_ERR_INVALID, "import one that starts at 0");
    expect_nothing_there(&answer);
    (void)send(IMPORTER_IMPORT, bytes_of(64), &made);
    answer = send(IMPORTER_MORE, 0, &made);
    expect_refusal(&answer, ASHLAR_ERR_INVALID, "ask the exporter from there");
    ck_assert_uint_eq(answer.calls, 0);
    ashlar_range_export_free(&made);

    first = trial.range;
    trial_create(&trial, 64, 2, EXPORTS);
    made = export(0, 0);
    answer = send(IMPORTER_MORE, 0, &made);
    expect_refusal(&answer, ASHLAR_ERR_WRONG_OWNER, "of another range");
    ck_assert_uint_eq(answer.calls, 0);
    answer = send(IMPORTER_MORE, 0, &later);
    ck_assert_int_eq(answer.status, ASHLAR_OK);
    ashlar_range_export_free(&made);
    ashlar_range_export_free(&later);
    OK(ashlar_range_destroy(first, ASHLAR_QUIET, 1));
}
END_TEST

/* --- bytes that are wrong ------------------------------------------------- */

/* A good export that each case breaks: three chunks of two granules. */
static struct ashlar_range_exported good;

static void open_good(void)
{
    open_both();
    trial_create(&trial, 64, 2, EXPORTS);
    trial_grow(&trial, 6);
    good = export(0, 0);
    ck_assert_uint_eq(good.fd_count, 3);
}

/* A good one is taken after all that was refused. */
static void close_good(void)
{
    ck_assert_int_eq(send(IMPORTER_IMPORT, 0, &good).status, ASHLAR_OK);
    expect_stamps_there(6);
    ashlar_range_export_free(&good);
    close_both();
}

/* Refused there by its bytes alone: no operation of the source was called. */
static void expect_bad_bytes(const struct importer_answer *answer)
{
    ck_assert_msg(answer->status != ASHLAR_OK, "it was taken");
    ck_assert_uint_eq(answer->calls, 0);
    expect_nothing_there(answer);
}

START_TEST(one_that_is_cut_anywhere_is_refused_before_any_operation)
{
    struct importer_answer answer;
    size_t bytes;

    for (bytes = 0; bytes < good.description_bytes; bytes++) {
        answer = importer_ask(&importer, IMPORTER_IMPORT, 0, good.description,
                              bytes, good.fds, good.fd_count);
        ck_assert_int_eq(answer.status, ASHLAR_ERR_INVALID);
        expect_bad_bytes(&answer);
    }
}
END_TEST

START_TEST(one_that_is_changed_anywhere_is_refused_before_any_operation)
{
    unsigned char *description = good.description;
    struct importer_answer answer;
    size_t i;

    for (i = 0; i < good.description_bytes; i++) {
        description[i] ^= 1U << (i % 8);
        answer = send(IMPORTER_IMPORT, 0, &good);
        expect_bad_bytes(&answer);
        description[i] ^= 1U << (i % 8);
    }
}
END_TEST

/* A number of the description and what a forger makes of it. */
struct forgery {
    size_t at;
    size_t bytes;
    uint64_t value;
    enum ashlar_status status;
    const char *words;
};

#define HEADER(_member)                                                        \
    offsetof(struct description_header, _member),                              \
        sizeof(((struct description_header *)0)->_member)
#define CHUNK(_i, _member)                                                     \
    sizeof(struct description_header) +                                        \
        (_i) * sizeof(struct description_chunk) +                              \
        offsetof(struct description_chunk, _member),                           \
        sizeof(uint64_t)

/* With the checksum as it should be for the changed bytes. */
static struct importer_answer send_forged(const struct forgery *forgery)
{
    struct ashlar_range_exported forged = good;
    struct importer_answer answer;
    uint64_t checksum;

    forged.description = malloc(good.description_bytes);
    ck_assert_ptr_nonnull(forged.description);
    memcpy(forged.description, good.description, good.description_bytes);
    memcpy((char *)forged.description + forgery->at, &forgery->value,
           forgery->bytes < 8 ? forgery->bytes : 8);
    checksum =
        description_checksum(forged.description, forged.description_bytes);
    memcpy((char *)forged.description +
               offsetof(struct description_header, checksum),
           &checksum, sizeof(checksum));
    answer = send(IMPORTER_IMPORT, 0, &forged);
    free(forged.description);
    return answer;
}

START_TEST(a_forged_one_is_refused_before_any_operation)
{
    const uint64_t granule = trial.granule;
    const uint64_t huge = UINT64_MAX & ~(granule - 1);
    const struct forgery forgeries[] = {
        {HEADER(magic), 1, ASHLAR_ERR_INVALID, "no description"},
        {HEADER(version), 2, ASHLAR_ERR_INVALID, "has version 2"},
        {HEADER(header_bytes), 128, ASHLAR_ERR_INVALID, "has version"},
        {HEADER(bytes), 1 << 20, ASHLAR_ERR_INVALID, "it was cut"},
        {HEADER(chunk_count), 2, ASHLAR_ERR_INVALID, "it was cut"},
        {HEADER(chunk_count), UINT64_C(1) << 59, ASHLAR_ERR_INVALID, "cut"},
        {HEADER(since), 1, ASHLAR_ERR_INVALID, "starts at epoch 1"},
        {HEADER(granule), 0, ASHLAR_ERR_WRONG_OWNER, "granule of 0 bytes"},
        {HEADER(granule), 2 * granule, ASHLAR_ERR_WRONG_OWNER, "granule"},
        {HEADER(identity), 7, ASHLAR_ERR_WRONG_OWNER, "another device"},
        {HEADER(source), 0x6d76, ASHLAR_ERR_WRONG_OWNER, "source \"vm\""},
        {HEADER(fd_count), 2, ASHLAR_ERR_INVALID, "2 descriptors, but 3"},
        {HEADER(used), huge, ASHLAR_ERR_INVALID, "bytes are used"},
        {HEADER(used), 65 * granule, ASHLAR_ERR_INVALID, "bytes are used"},
        {HEADER(reserved_bytes), 0, ASHLAR_ERR_INVALID, "of 0 reserved"},
        {HEADER(reserved_bytes), huge, ASHLAR_ERR_INVALID, "reserved"},
        {HEADER(reserved_bytes), 6 * granule + 1, ASHLAR_ERR_INVALID, "res"},
        {CHUNK(0, bytes), 0, ASHLAR_ERR_INVALID, "chunk 0"},
        {CHUNK(0, bytes), 3 * granule, ASHLAR_ERR_INVALID, "chunk 1"},
        {CHUNK(1, bytes), granule + 1, ASHLAR_ERR_INVALID, "chunk 1"},
        {CHUNK(2, bytes), 61 * granule, ASHLAR_ERR_INVALID, "chunk 2"},
        {CHUNK(2, bytes), huge, ASHLAR_ERR_INVALID, "chunk 2"},
        {CHUNK(1, offset), 0, ASHLAR_ERR_INVALID, "chunk 1"},
        {CHUNK(1, offset), 2 * granule + 8, ASHLAR_ERR_INVALID, "chunk 1"},
        {CHUNK(2, offset), 64 * granule, ASHLAR_ERR_INVALID, "chunk 2"},
        {CHUNK(2, offset), huge, ASHLAR_ERR_INVALID, "chunk 2"},
        {CHUNK(0, fd), 3, ASHLAR_ERR_INVALID, "descriptor 3"},
        {CHUNK(2, fd), UINT64_MAX, ASHLAR_ERR_INVALID, "chunk 2"},
    };
    struct importer_answer answer;
    size_t i;

    for (i = 0; i < sizeof(forgeries) / sizeof(forgeries[0]); i++) {
        answer = send_forged(&forgeries[i]);
        ck_assert_msg(answer.status == forgeries[i].status &&
                          strstr(answer.sentence, forgeries[i].words) != NULL,
                      "forgery %zu gave %s: %s", i,
                      ashlar_status_name(answer.status), answer.sentence);
        expect_bad_bytes(&answer);
    }
}
END_TEST

START_TEST(too_few_or_too_many_descriptors_are_refused_before_any_operation)
{
    const int four[] = {good.fds[0], good.fds[1], good.fds[2], good.fds[2]};
    struct importer_answer answer;
    size_t count;

    for (count = 0; count <= 4; count++) {
        if (count == good.fd_count)
            continue;
        answer = importer_ask(&importer, IMPORTER_IMPORT, 0, good.description,
                              good.description_bytes, four, count);
        expect_refusal(&answer, ASHLAR_ERR_INVALID, "with 3 descriptors");
        expect_bad_bytes(&answer);
    }
}
END_TEST

START_TEST(one_of_another_granule_or_kind_of_source_is_refused)
{
    struct importer other = importer_start("granule=1M");
    struct importer_answer answer =
        importer_ask(&other, IMPORTER_IMPORT, 0, good.description,
                     good.description_bytes, good.fds, good.fd_count);
    struct ashlar_source *vm;
    struct ashlar_range *none = NULL;

    expect_refusal(&answer, ASHLAR_ERR_WRONG_OWNER, "this source one of");
    ck_assert_uint_eq(answer.calls, 0);
    importer_end(&other);
    OK(ashlar_source_open("vm", engine_options(), &vm));
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "of a source \"wrap\", not of \"vm\"",
            ashlar_range_import(vm, good.description, good.description_bytes,
                                good.fds, good.fd_count, 0, &none));
    ck_assert_ptr_null(none);
    OK(ashlar_source_close(vm));
}
END_TEST

/* --- descriptors that are wrong ------------------------------------------- */

/* The last descriptor is another one: what had been done is undone there. */
static void expect_foreign_fd(int fd)
{
    const int fds[] = {good.fds[0], good.fds[1], fd};
    struct importer_answer answer;

    ck_assert_int_ge(fd, 0);
    answer = importer_ask(&importer, IMPORTER_IMPORT, 0, good.description,
                          good.description_bytes, fds, 3);
    (void)close(fd);
    expect_refusal(&answer, ASHLAR_ERR_INVALID, "is no vm file");
    expect_nothing_there(&answer);
}

/* A file that is large enough, with these seals. */
static int large_file(unsigned seals)
{
    int fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    ck_assert_int_eq(ftruncate(fd, (off_t)bytes_of(64)), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

START_TEST(foreign_descriptors_are_refused_and_nothing_stays)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    (void)close(ends[1]);
    expect_foreign_fd(ends[0]);
    expect_foreign_fd(open("/dev/null", O_RDWR | O_CLOEXEC));
    expect_foreign_fd(open("/", O_RDONLY | O_CLOEXEC));
    /* One that its owner could cut short under the importer's feet. */
    expect_foreign_fd(large_file(0));
    expect_foreign_fd(large_file(F_SEAL_GROW));
}
END_TEST

START_TEST(a_file_that_is_too_short_is_refused)
{
    int fd = memfd_create("short", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    ck_assert_int_eq(ftruncate(fd, (off_t)bytes_of(5)), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    expect_foreign_fd(fd);
}
END_TEST

START_TEST(nobody_can_cut_an_exporters_file_short)
{
    ck_assert_int_ne(ftruncate(good.fds[0], 0), 0);
}
END_TEST

/* -------------------------------------------------------------------------- */

static void add_memory(Suite *suite)
{
    TCase *test = tcase_create("memory");

    tcase_add_checked_fixture(test, open_both, close_both);
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
}

static void add_refusals(Suite *suite)
{
    TCase *test = tcase_create("refusals");

    tcase_add_checked_fixture(test, open_good, close_good);
    tcase_add_test(test,
                   one_that_is_cut_anywhere_is_refused_before_any_operation);
    tcase_add_test(
        test, one_that_is_changed_anywhere_is_refused_before_any_operation);
    tcase_add_test(test, a_forged_one_is_refused_before_any_operation);
    tcase_add_test(
        test, too_few_or_too_many_descriptors_are_refused_before_any_operation);
    tcase_add_test(test, one_of_another_granule_or_kind_of_source_is_refused);
    tcase_add_test(test, foreign_descriptors_are_refused_and_nothing_stays);
    tcase_add_test(test, a_file_that_is_too_short_is_refused);
    tcase_add_test(test, nobody_can_cut_an_exporters_file_short);
    suite_add_tcase(suite, test);
}

static Suite *share_suite(void)
{
    Suite *suite = suite_create("share");

    add_memory(suite);
    add_refusals(suite);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], IMPORTER_ARGUMENT) == 0)
        return importer_main(argc, argv);
    return suite_run(share_suite());
}
