/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/range.h"

#include "support/child.h"
#include "support/engine.h"
#include "support/ranges.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static struct trial trial;

static void open_trial(void)
{
    trial_open(&trial, NULL);
}

static void close_trial(void)
{
    trial_close(&trial);
}

/* --- creation ------------------------------------------------------------- */

START_TEST(a_new_range_has_addresses_and_no_memory)
{
    struct ashlar_range_info info;

    trial_create(&trial, 10, 0, 0);
    info = trial_info(&trial);
    ck_assert_ptr_eq(info.source, trial.source);
    ck_assert_uint_ne(info.base, 0);
    ck_assert_uint_eq(info.base % trial.granule, 0);
    ck_assert_uint_eq(info.reserved_bytes, 10 * trial.granule);
    ck_assert_uint_eq(info.granule, trial.granule);
    ck_assert_uint_eq(info.used_bytes + info.committed_bytes +
                          info.prepared_bytes + info.old_bytes +
                          info.chunk_count,
                      0);
    ck_assert_ptr_null(trial_wrong(&trial));
}
END_TEST

START_TEST(a_reservation_is_rounded_up_to_granules)
{
    struct ashlar_range_options options = trial_options(&trial, 0, 0, 0);

    options.reserve_bytes = 3 * trial.granule + 1;
    OK(ashlar_range_create(trial.source, &options, &trial.range));
    ck_assert_uint_eq(trial_info(&trial).reserved_bytes, 4 * trial.granule);
}
END_TEST

START_TEST(a_base_has_the_alignment_that_was_asked_for)
{
    struct ashlar_range_options options = trial_options(&trial, 5, 0, 0);
    struct ashlar_range *ranges[8];
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    unsigned i;

    for (i = 0; i < 8; i++) {
        options.alignment = trial.granule << i;
        OK(ashlar_range_create(trial.source, &options, &ranges[i]));
        OK(ashlar_range_query(ranges[i], &info));
        ck_assert_uint_eq(info.base % options.alignment, 0);
        ck_assert_uint_eq(info.reserved_bytes, 5 * trial.granule);
    }
    /* Weaker than the granule is met by it. */
    options.alignment = 1;
    OK(ashlar_range_create(trial.source, &options, &trial.range));
    for (i = 0; i < 8; i++)
        OK(ashlar_range_destroy(ranges[i], ASHLAR_QUIET, 1));
}
END_TEST

START_TEST(a_range_reserves_the_memory_of_its_source_by_default)
{
    struct ashlar_source *source;
    struct ashlar_range *range;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(engine_open(engine_memory(96), &source));
    OK(ashlar_range_create(source, NULL, &range));
    OK(ashlar_range_query(range, &info));
    ck_assert_uint_eq(info.reserved_bytes, 96 * trial.granule);
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(source));
}
END_TEST

START_TEST(the_default_reservation_is_halved_until_it_is_granted)
{
    struct ashlar_source *source;
    struct ashlar_range *range;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    uint64_t before = ashlar_range_set_address_budget(30 * trial.granule);

    OK(engine_open(engine_memory(96), &source));
    ashlar_clear_error();
    OK(ashlar_range_create(source, NULL, &range));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    OK(ashlar_range_query(range, &info));
    ck_assert_uint_eq(info.reserved_bytes, 24 * trial.granule);
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(source));
    (void)ashlar_range_set_address_budget(before);
}
END_TEST

START_TEST(what_is_asked_for_is_not_halved)
{
    uint64_t before = ashlar_range_set_address_budget(8 * trial.granule);
    struct ashlar_range_options options = trial_options(&trial, 9, 0, 0);

    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "ashlar_range_set_address_budget()",
            ashlar_range_create(trial.source, &options, &trial.range));
    ck_assert_uint_eq(wrap_calls(trial.source), 0);
    (void)ashlar_range_set_address_budget(before);
}
END_TEST

/* --- bad input ------------------------------------------------------------ */

/* One option changed, and the words that tell of it. */
static void refuse_options(const struct ashlar_range_options *options,
                           enum ashlar_status status, const char *words)
{
    struct ashlar_range *range = (struct ashlar_range *)&trial;

    REFUSED(status, words, ashlar_range_create(trial.source, options, &range));
    ck_assert_ptr_eq(range, &trial);
    ck_assert_uint_eq(wrap_calls(trial.source), 0);
}

START_TEST(bad_options_are_refused_with_what_would_be_right)
{
    const struct ashlar_range_options good = trial_options(&trial, 4, 0, 0);
    struct ashlar_range_options bad = good;
    char words[64];

    bad.size = 0;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "struct ashlar_range_options");
    bad = good;
    bad.flags = 4;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "flags is 0x4");
    bad = good;
    bad.reserved = 1;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "reserved is 1; it must be 0");
    bad = good;
    bad.alignment = 3 * trial.granule;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "must be a power of two");
    bad = good;
    bad.chunk_max_bytes = trial.granule + 1;
    (void)snprintf(words, sizeof(words), "multiple of the granule, %lu",
                   (unsigned long)trial.granule);
    refuse_options(&bad, ASHLAR_ERR_INVALID, words);
    bad = good;
    bad.reserve_bytes = UINT64_MAX;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "more than any machine");
}
END_TEST

START_TEST(bad_rights_are_refused_with_what_would_be_right)
{
    static const struct ashlar_access far[] = {{8, ASHLAR_RIGHTS_READ}};
    static const struct ashlar_access odd[] = {{1, 2}};
    struct ashlar_access many[9] = {{0, 0}};
    struct ashlar_range_options bad = trial_options(&trial, 4, 0, 0);

    bad.access_count = 1;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "access is NULL");
    bad.access = far;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "location is 8");
    bad.access = odd;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "rights are 2; give 0");
    bad.access = many;
    bad.access_count = 9;
    refuse_options(&bad, ASHLAR_ERR_INVALID, "access_count is 9");
}
END_TEST

START_TEST(an_option_from_the_future_must_be_zero)
{
    struct {
        struct ashlar_range_options options;
        uint64_t more;
    } future = {trial_options(&trial, 4, 0, 0), 1};

    future.options.size = sizeof(future);
    refuse_options(&future.options, ASHLAR_ERR_INVALID,
                   "struct ashlar_range_options");
    future.more = 0;
    OK(ashlar_range_create(trial.source, &future.options, &trial.range));
}
END_TEST

START_TEST(null_is_refused_by_name)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    size_t count;

    REFUSED(ASHLAR_ERR_INVALID, "NULL for source",
            ashlar_range_create(NULL, NULL, &trial.range));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for range_out",
            ashlar_range_create(trial.source, NULL, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_grow_to() was given NULL",
            ashlar_range_grow_to(NULL, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_prepare() was given NULL",
            ashlar_range_prepare(NULL, 1, ASHLAR_RANGE_MAPPED));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_shrink_to() was given NULL",
            ashlar_range_shrink_to(NULL, 1, ASHLAR_QUIET, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_decommit() was given NULL",
            ashlar_range_decommit(NULL, 0, 1, ASHLAR_QUIET, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_commit() was given NULL",
            ashlar_range_commit(NULL, 0, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_retire_old() was given NULL",
            ashlar_range_retire_old(NULL, ASHLAR_QUIET, 1));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_allow() was given NULL",
            ashlar_range_allow(NULL, 0, ASHLAR_RIGHTS_READ));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_destroy() was given NULL",
            ashlar_range_destroy(NULL, ASHLAR_QUIET, 1));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_query() was given NULL",
            ashlar_range_query(NULL, &info));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_chunks() was given NULL",
            ashlar_range_chunks(NULL, NULL, 0, &count));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_locate() was given NULL",
            ashlar_range_locate(NULL, 0, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_source_drain() was given NULL",
            ashlar_source_drain(NULL, 0));
    trial_create(&trial, 4, 0, 0);
    REFUSED(ASHLAR_ERR_INVALID, "NULL for info",
            ashlar_range_query(trial.range, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for count_out",
            ashlar_range_chunks(trial.range, NULL, 0, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for chunks",
            ashlar_range_chunks(trial.range, NULL, 1, &count));
}
END_TEST

START_TEST(a_source_without_ranges_is_refused)
{
    struct ashlar_source *heap;

    OK(ashlar_source_open("heap", NULL, &heap));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "\"heap\" has no ranges",
            ashlar_range_create(heap, NULL, &trial.range));
    OK(ashlar_source_close(heap));
}
END_TEST

START_TEST(results_and_infos_without_their_size_are_refused_before_anything)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct before before;

    trial_create(&trial, 8, 1, 0);
    trial_grow(&trial, 3);
    before_take(&before, &trial);
    result.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "ASHLAR_RANGE_RESULT_INIT",
            ashlar_range_grow_to(trial.range, 5 * trial.granule, &result));
    REFUSED(ASHLAR_ERR_INVALID, "ASHLAR_RANGE_RESULT_INIT",
            ashlar_range_shrink_to(trial.range, 1, ASHLAR_QUIET, 1, &result));
    REFUSED(ASHLAR_ERR_INVALID, "ASHLAR_RANGE_RESULT_INIT",
            ashlar_range_decommit(trial.range, 0, trial.granule, ASHLAR_QUIET,
                                  1, &result));
    REFUSED(ASHLAR_ERR_INVALID, "ASHLAR_RANGE_RESULT_INIT",
            ashlar_range_commit(trial.range, 0, trial.granule, &result));
    info.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "struct ashlar_range_info",
            ashlar_range_query(trial.range, &info));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
}
END_TEST

START_TEST(an_older_result_is_filled_as_far_as_it_goes)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;

    trial_create(&trial, 8, 0, 0);
    memset((char *)&result + sizeof(result.size), 0x5a,
           sizeof(result) - sizeof(result.size));
    result.size = offsetof(struct ashlar_range_result, used_bytes);
    OK(ashlar_range_grow_to(trial.range, 5, &result));
    ck_assert_uint_eq(result.base, trial_info(&trial).base);
    ck_assert_uint_eq(result.used_bytes, UINT64_C(0x5a5a5a5a5a5a5a5a));
    trial_sync(&trial);
}
END_TEST

/* --- questions ------------------------------------------------------------ */

START_TEST(chunks_are_listed_by_offset_without_the_holes)
{
    struct ashlar_range_chunk chunks[8] = {{0, 0}};
    uint64_t granule = trial.granule;
    size_t count = 0;

    trial_create(&trial, 16, 2, 0);
    trial_grow(&trial, 7);
    OK(ashlar_range_decommit(trial.range, 2 * granule, 2 * granule,
                             ASHLAR_QUIET, 1, NULL));
    OK(ashlar_range_chunks(trial.range, NULL, 0, &count));
    ck_assert_uint_eq(count, 3);
    chunks[2].bytes = 7;
    OK(ashlar_range_chunks(trial.range, chunks, 2, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert_uint_eq(chunks[0].offset, 0);
    ck_assert_uint_eq(chunks[0].bytes, 2 * granule);
    ck_assert_uint_eq(chunks[1].offset, 4 * granule);
    ck_assert_uint_eq(chunks[2].bytes, 7);
    OK(ashlar_range_chunks(trial.range, chunks, 8, &count));
    ck_assert_uint_eq(chunks[2].offset, 6 * granule);
    ck_assert_uint_eq(chunks[2].bytes, granule);
}
END_TEST

static struct ashlar_range_place place_of(uint64_t address)
{
    struct ashlar_range_place place = ASHLAR_RANGE_PLACE_INIT;

    ck_assert_ptr_eq(ashlar_range_find(address), trial.range);
    OK(ashlar_range_locate(trial.range, address, &place));
    ck_assert_uint_eq(place.base + place.offset, address);
    return place;
}

/* The chunk, in granules, and the state of what lies at a byte. */
static void expect_place(uint64_t address, enum ashlar_range_state state,
                         uint64_t chunk, uint64_t granules)
{
    struct ashlar_range_place place = place_of(address);

    ck_assert_uint_eq(place.state, state);
    ck_assert_uint_eq(place.chunk_offset, chunk * trial.granule);
    ck_assert_uint_eq(place.chunk_bytes, granules * trial.granule);
}

START_TEST(what_lies_at_an_address_is_told)
{
    struct ashlar_range_place place = ASHLAR_RANGE_PLACE_INIT;
    uint64_t granule;
    uint64_t base;

    trial_create(&trial, 16, 2, 0);
    base = trial.range->base;
    granule = trial.granule;
    expect_place(base, ASHLAR_RANGE_RESERVED, 0, 0);
    OK(ashlar_range_grow_to(trial.range, 5 * granule - 8, NULL));
    OK(ashlar_range_prepare(trial.range, 7 * granule, ASHLAR_RANGE_MAPPED));
    OK(ashlar_range_decommit(trial.range, 2 * granule, 2 * granule,
                             ASHLAR_QUIET, 1, NULL));
    expect_place(base, ASHLAR_RANGE_USABLE, 0, 2);
    expect_place(base + 2 * granule - 1, ASHLAR_RANGE_USABLE, 0, 2);
    expect_place(base + 2 * granule, ASHLAR_RANGE_HOLE, 0, 0);
    expect_place(base + 4 * granule - 1, ASHLAR_RANGE_HOLE, 0, 0);
    expect_place(base + 4 * granule, ASHLAR_RANGE_USABLE, 4, 1);
    expect_place(base + 5 * granule - 9, ASHLAR_RANGE_USABLE, 4, 1);
    expect_place(base + 5 * granule - 8, ASHLAR_RANGE_AHEAD, 4, 1);
    expect_place(base + 5 * granule, ASHLAR_RANGE_AHEAD, 5, 2);
    expect_place(base + 7 * granule, ASHLAR_RANGE_RESERVED, 0, 0);
    expect_place(base + 16 * granule - 1, ASHLAR_RANGE_RESERVED, 0, 0);
    REFUSED(ASHLAR_ERR_NOT_FOUND, "is no address of the range",
            ashlar_range_locate(trial.range, base + 16 * granule, &place));
    REFUSED(ASHLAR_ERR_NOT_FOUND, "is no address of the range",
            ashlar_range_locate(trial.range, base - 1, &place));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for place",
            ashlar_range_locate(trial.range, base, NULL));
    place.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_place",
            ashlar_range_locate(trial.range, base, &place));
}
END_TEST

START_TEST(what_a_move_left_behind_is_told_from_what_is_used)
{
    uint64_t old;

    trial_create(&trial, 4, 2, ASHLAR_RANGE_MAY_MOVE);
    trial_grow(&trial, 3);
    old = trial.range->base;
    wrap_of(trial.source)->hint = WRAP_REFUSED;
    trial_grow(&trial, 6);
    expect_place(old + 2 * trial.granule, ASHLAR_RANGE_OLD, 2, 1);
    expect_place(old + 3 * trial.granule, ASHLAR_RANGE_RESERVED, 0, 0);
    ck_assert_uint_eq(place_of(old + 8).base, old);
    expect_place(trial.range->base, ASHLAR_RANGE_USABLE, 0, 2);
    OK(ashlar_range_retire_old(trial.range, ASHLAR_QUIET, 1));
    ck_assert_ptr_null(ashlar_range_find(old));
}
END_TEST

START_TEST(any_address_inside_leads_to_the_range)
{
    struct ashlar_range_options options = trial_options(&trial, 4, 0, 0);
    struct ashlar_range *ranges[20];
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    unsigned i;

    for (i = 0; i < 20; i++) {
        OK(ashlar_range_create(trial.source, &options, &ranges[i]));
        OK(ashlar_range_grow_to(ranges[i], 4 * trial.granule, NULL));
    }
    for (i = 0; i < 20; i++) {
        OK(ashlar_range_query(ranges[i], &info));
        ck_assert_ptr_eq(ashlar_range_find(info.base), ranges[i]);
        ck_assert_ptr_eq(ashlar_range_find(info.base + info.used_bytes - 1),
                         ranges[i]);
        ck_assert_ptr_null(ashlar_range_find(info.base - 1));
        ck_assert(ranges_error_is(ASHLAR_ERR_NOT_FOUND, "lies in no range"));
        ck_assert_ptr_null(ashlar_range_find(info.base + info.reserved_bytes));
    }
    ck_assert_ptr_null(ashlar_range_find(0));
    ck_assert_ptr_null(ashlar_range_find(UINT64_MAX));
    for (i = 0; i < 20; i++) {
        OK(ashlar_range_query(ranges[i], &info));
        OK(ashlar_range_destroy(ranges[i], ASHLAR_QUIET, 1));
        ck_assert_ptr_null(ashlar_range_find(info.base));
    }
}
END_TEST

START_TEST(a_source_with_ranges_is_not_closed)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    trial_create(&trial, 4, 0, 0);
    OK(ashlar_source_query(trial.source, &info));
    ck_assert_uint_eq(info.holders, 1);
    REFUSED(ASHLAR_ERR_BUSY, "1 pool(s), arena(s), range(s)",
            ashlar_source_close(trial.source));
    trial_grow(&trial, 2);
    ck_assert_ptr_null(trial_wrong(&trial));
}
END_TEST

/* --- many ----------------------------------------------------------------- */

#define MANY 10000

static unsigned open_files(void)
{
    unsigned count = 0;
    int fd;

    for (fd = 0; fd < 4096; fd++)
        count += dup2(fd, fd) == fd;
    return count;
}

static void limit_files(rlim_t files)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur > files)
        limit.rlim_cur = files;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

START_TEST(ten_thousand_ranges_need_one_file_descriptor)
{
    static struct ashlar_range *ranges[MANY];
    struct ashlar_range_options options = trial_options(&trial, 2, 0, 0);
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;
    struct ashlar_source *source;
    unsigned before = open_files();
    unsigned i;

    limit_files(1024);
    OK(engine_open(NULL, &source));
    for (i = 0; i < MANY; i++) {
        OK(ashlar_range_create(source, &options, &ranges[i]));
        OK(ashlar_range_grow_to(ranges[i], 1, NULL));
        *(unsigned *)(uintptr_t)ranges[i]->base = i;
    }
    ck_assert_uint_eq(open_files(), before + 1);
    for (i = 0; i < MANY; i++)
        ck_assert_uint_eq(*(unsigned *)(uintptr_t)ranges[i]->base, i);
    /* Behind work, so that all of them wait together. */
    OK(engine_hold(source, 1));
    for (i = 0; i < MANY; i++) {
        const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL, 1};

        OK(ashlar_range_destroy(ranges[i], &fence, 1));
    }
    REFUSED(ASHLAR_ERR_BUSY, "in 10000 items", ashlar_source_drain(source, 0));
    REFUSED(ASHLAR_ERR_BUSY, "wait for their fences",
            ashlar_source_close(source));
    OK(engine_finish(source, 1));
    OK(ashlar_source_drain(source, 0));
    OK(ashlar_vm_query(source, &account));
    ck_assert_uint_eq(account.reservations + account.chunks + account.mappings +
                          account.fences + account.files,
                      0);
    OK(ashlar_source_close(source));
    ck_assert_uint_eq(open_files(), before);
}
END_TEST

/* --- fork ----------------------------------------------------------------- */

#define CHILD(_condition)                                                      \
    do {                                                                       \
        if (!(_condition))                                                     \
            return __LINE__ % 125 + 1;                                         \
    } while (0)

static int judge_child(void *argument)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range *range = trial.range;
    struct ashlar_range *other = NULL;
    struct ashlar_range_place place = ASHLAR_RANGE_PLACE_INIT;
    struct ashlar_source *source = NULL;
    size_t count;

    (void)argument;
    CHILD(ashlar_range_grow_to(range, trial.granule * 5, NULL) ==
          ASHLAR_ERR_FORKED);
    CHILD(ranges_error_is(ASHLAR_ERR_FORKED, "not usable after fork"));
    CHILD(ashlar_range_prepare(range, 1, ASHLAR_RANGE_MAPPED) ==
          ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_shrink_to(range, 1, ASHLAR_QUIET, 1, NULL) ==
          ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_decommit(range, 0, 1, ASHLAR_QUIET, 1, NULL) ==
          ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_commit(range, 0, 1, NULL) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_allow(range, 1, ASHLAR_RIGHTS_READ) ==
          ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_retire_old(range, ASHLAR_QUIET, 1) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_query(range, &info) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_chunks(range, NULL, 0, &count) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_locate(range, range->base, &place) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_range_create(trial.source, NULL, &other) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_source_drain(trial.source, 0) == ASHLAR_ERR_FORKED);
    CHILD(ashlar_source_close(trial.source) == ASHLAR_ERR_FORKED);
    if (!engine_is_vm())
        return 0; /* a driver is of no use in a child */
    /* A source of its own works. */
    CHILD(engine_open(NULL, &source) == ASHLAR_OK);
    CHILD(ashlar_range_create(source, NULL, &other) == ASHLAR_OK);
    CHILD(ashlar_range_grow_to(other, 5, NULL) == ASHLAR_OK);
    memset((void *)(uintptr_t)other->base, 1, 5);
    CHILD(ashlar_range_destroy(other, ASHLAR_QUIET, 1) == ASHLAR_OK);
    CHILD(ashlar_source_close(source) == ASHLAR_OK);
    return 0;
}

START_TEST(a_child_of_fork_is_refused_and_the_parent_is_undisturbed)
{
    struct before before;

    trial_create(&trial, 8, 0, 0);
    trial_grow(&trial, 3);
    before_take(&before, &trial);
    ck_assert_int_eq(child_verdict(judge_child, NULL), 0);
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
    trial_grow(&trial, 5);
}
END_TEST

/* -------------------------------------------------------------------------- */

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *test = tcase_create(name);

    tcase_add_checked_fixture(test, open_trial, close_trial);
    suite_add_tcase(suite, test);
    return test;
}

static Suite *range_suite(void)
{
    Suite *suite = suite_create("range");
    TCase *test = add_case(suite, "create");

    tcase_add_test(test, a_new_range_has_addresses_and_no_memory);
    tcase_add_test(test, a_reservation_is_rounded_up_to_granules);
    tcase_add_test(test, a_base_has_the_alignment_that_was_asked_for);
    tcase_add_test(test, a_range_reserves_the_memory_of_its_source_by_default);
    tcase_add_test(test, the_default_reservation_is_halved_until_it_is_granted);
    tcase_add_test(test, what_is_asked_for_is_not_halved);

    test = add_case(suite, "bad input");
    tcase_add_test(test, bad_options_are_refused_with_what_would_be_right);
    tcase_add_test(test, bad_rights_are_refused_with_what_would_be_right);
    tcase_add_test(test, an_option_from_the_future_must_be_zero);
    tcase_add_test(test, null_is_refused_by_name);
    tcase_add_test(test, a_source_without_ranges_is_refused);
    tcase_add_test(
        test, results_and_infos_without_their_size_are_refused_before_anything);
    tcase_add_test(test, an_older_result_is_filled_as_far_as_it_goes);

    test = add_case(suite, "questions");
    tcase_add_test(test, chunks_are_listed_by_offset_without_the_holes);
    tcase_add_test(test, any_address_inside_leads_to_the_range);
    tcase_add_test(test, what_lies_at_an_address_is_told);
    tcase_add_test(test, what_a_move_left_behind_is_told_from_what_is_used);
    tcase_add_test(test, a_source_with_ranges_is_not_closed);

    test = add_case(suite, "many");
    if (engine_is_vm())
        tcase_add_test(test, ten_thousand_ranges_need_one_file_descriptor);

    test = add_case(suite, "fork");
    tcase_add_test(test,
                   a_child_of_fork_is_refused_and_the_parent_is_undisturbed);
    return suite;
}

int main(void)
{
    return suite_run(range_suite());
}
