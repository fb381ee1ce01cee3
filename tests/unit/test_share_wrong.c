/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * What an importer is sent that is wrong: bytes that were cut, changed or forged,
 * and descriptors of other files. It is refused, and leaves nothing there.
 */
#include "config.h"

#include "unit/share_rig.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "range/description.h"
#include "support/engine.h"

/* --- bytes that are wrong ------------------------------------------------- */

/* A good export that each case breaks: three chunks of two granules. */
static struct ashlar_range_exported good;

static void open_good(void)
{
    share_open();
    trial_create(&share.trial, 64, 2, ASHLAR_RANGE_EXPORT);
    trial_grow(&share.trial, 6);
    good = share_export(0, 0);
    ck_assert_uint_eq(good.fd_count, 3);
}

/* A good one is taken after all that was refused. */
static void close_good(void)
{
    ck_assert_int_eq(share_send(IMPORTER_IMPORT, 0, &good).status, ASHLAR_OK);
    share_stamps_there(6);
    ashlar_range_export_free(&good);
    share_close();
}

/* Refused there by its bytes alone: no operation of the source was called. */
static void expect_bad_bytes(const struct importer_answer *answer)
{
    ck_assert_msg(answer->status != ASHLAR_OK, "it was taken");
    ck_assert_uint_eq(answer->calls, 0);
    share_nothing_there(answer);
}

START_TEST(one_that_is_cut_anywhere_is_refused_before_any_operation)
{
    struct importer_answer answer;
    size_t bytes;

    for (bytes = 0; bytes < good.description_bytes; bytes++) {
        answer = importer_ask(&share.importer, IMPORTER_IMPORT, 0,
                              good.description, bytes, good.fds, good.fd_count);
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
        answer = share_send(IMPORTER_IMPORT, 0, &good);
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
    answer = share_send(IMPORTER_IMPORT, 0, &forged);
    free(forged.description);
    return answer;
}

START_TEST(a_forged_one_is_refused_before_any_operation)
{
    const uint64_t granule = share.trial.granule;
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
        answer =
            importer_ask(&share.importer, IMPORTER_IMPORT, 0, good.description,
                         good.description_bytes, four, count);
        share_refused(&answer, ASHLAR_ERR_INVALID, "with 3 descriptors");
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

    share_refused(&answer, ASHLAR_ERR_WRONG_OWNER, "this source one of");
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
    answer = importer_ask(&share.importer, IMPORTER_IMPORT, 0, good.description,
                          good.description_bytes, fds, 3);
    (void)close(fd);
    share_refused(&answer, ASHLAR_ERR_INVALID, "is no vm file");
    share_nothing_there(&answer);
}

/* A file that is large enough, with these seals. */
static int large_file(unsigned seals)
{
    int fd = memfd_create("foreign", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    ck_assert_int_eq(ftruncate(fd, (off_t)share_bytes(64)), 0);
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

    ck_assert_int_eq(ftruncate(fd, (off_t)share_bytes(5)), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    expect_foreign_fd(fd);
}
END_TEST

START_TEST(nobody_can_cut_an_exporters_file_short)
{
    ck_assert_int_ne(ftruncate(good.fds[0], 0), 0);
}
END_TEST

/* --- the suite ------------------------------------------------------------ */

static Suite *share_wrong_suite(void)
{
    Suite *suite = suite_create("share_wrong");
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
    return suite;
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], IMPORTER_ARGUMENT) == 0)
        return importer_main(argc, argv);
    return suite_run(share_wrong_suite());
}
