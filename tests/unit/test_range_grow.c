/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Growing, told by the public call which way was taken. */
#include "config.h"

#include "range/range.h"

#include "support/engine.h"
#include "support/ranges.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#define MOVES ASHLAR_RANGE_MAY_MOVE

static struct trial trial;
static struct ashlar_range_result result;

static void open_trial(void)
{
    trial_open(&trial, NULL);
}

static void close_trial(void)
{
    trial_close(&trial);
}

static void set_hint(enum wrap_hint hint)
{
    wrap_of(trial.source)->hint = hint;
}

/* Grow to so many granules; the result is there to be looked at. */
static enum ashlar_status grow(uint64_t granules)
{
    enum ashlar_status status;

    result = (struct ashlar_range_result)ASHLAR_RANGE_RESULT_INIT;
    status =
        ashlar_range_grow_to(trial.range, granules * trial.granule, &result);
    if (status == ASHLAR_OK)
        trial_sync(&trial);
    return status;
}

/* It took that way, and everything is as it should be. */
static void took(enum ashlar_range_path path, uint64_t old_base)
{
    const struct ashlar_range_info info = trial_info(&trial);
    const char *wrong = trial_wrong(&trial);

    ck_assert_uint_eq(result.path, path);
    ck_assert_uint_eq(result.old_base, old_base);
    ck_assert_uint_eq(result.base, info.base);
    ck_assert_uint_eq(result.used_bytes, info.used_bytes);
    ck_assert_uint_eq(result.committed_bytes, info.committed_bytes);
    ck_assert((result.base != old_base) == (path == ASHLAR_RANGE_PATH_MOVED));
    ck_assert_msg(wrong == NULL, "%s", wrong);
}

/* --- dispatch ------------------------------------------------------------- */

START_TEST(within_the_reservation_it_grows_in_place_whatever_hints_do)
{
    uint64_t base;

    set_hint((enum wrap_hint)_i);
    trial_create(&trial, 8, 2, MOVES);
    base = trial_info(&trial).base;
    OK(grow(3));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, base);
    OK(grow(8));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, base);
    ck_assert_uint_eq(wrap_of(trial.source)->hints, 0);
    ck_assert_uint_eq(trial_info(&trial).grows[1], 2);
}
END_TEST

START_TEST(a_hint_that_is_granted_gives_adjacent_with_the_same_base)
{
    uint64_t base;

    trial_create(&trial, 4, 0, (uint32_t)_i);
    base = trial_info(&trial).base;
    OK(grow(3));
    OK(grow(6));
    took(ASHLAR_RANGE_PATH_ADJACENT, base);
    ck_assert_uint_eq(trial_info(&trial).reserved_bytes, 6 * trial.granule);
    ck_assert_uint_eq(wrap_of(trial.source)->hints, 1);
    OK(grow(7));
    took(ASHLAR_RANGE_PATH_ADJACENT, base);
    ck_assert_uint_eq(trial_info(&trial).grows[2], 2);
    ck_assert_uint_eq(trial_info(&trial).old_bytes, 0);
}
END_TEST

START_TEST(a_hint_that_is_not_granted_moves_only_if_allowed)
{
    struct before before;

    set_hint((enum wrap_hint)_i);
    trial_create(&trial, 4, 2, 0);
    OK(grow(3));
    before_take(&before, &trial);
    REFUSED(ASHLAR_ERR_NO_ROOM, "ASHLAR_RANGE_MAY_MOVE", grow(6));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
    ck_assert_uint_eq(result.base, 0);
    OK(grow(4));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, trial_info(&trial).base);
}
END_TEST

START_TEST(a_hint_that_is_not_granted_moves_if_allowed)
{
    uint64_t base;

    set_hint((enum wrap_hint)_i);
    trial_create(&trial, 4, 2, MOVES);
    base = trial_info(&trial).base;
    OK(grow(3));
    OK(grow(6));
    took(ASHLAR_RANGE_PATH_MOVED, base);
    ck_assert_uint_eq(trial_info(&trial).old_bytes, 3 * trial.granule);
    ck_assert_ptr_eq(ashlar_range_find(base), trial.range);
    /* Twice the room, so that the next one need not. */
    OK(grow(8));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
    ck_assert_uint_eq(trial_info(&trial).grows[3], 1);
}
END_TEST

START_TEST(an_address_that_was_not_granted_is_never_freed)
{
    uint64_t releases;

    trial_create(&trial, 4, 2, MOVES);
    OK(grow(4));
    releases = wrap_of(trial.source)->calls[WRAP_RELEASE];
    set_hint(WRAP_REFUSED);
    ashlar_clear_error();
    OK(grow(5));
    took(ASHLAR_RANGE_PATH_MOVED, result.old_base);
    ck_assert_uint_eq(wrap_of(trial.source)->calls[WRAP_RELEASE], releases);
    /* What was refused on the way is no error of a call that worked. */
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
}
END_TEST

START_TEST(an_address_granted_elsewhere_is_given_back_at_once)
{
    trial_create(&trial, 4, 2, 0);
    OK(grow(4));
    set_hint(WRAP_ELSEWHERE);
    REFUSED(ASHLAR_ERR_NO_ROOM, "cannot grow", grow(5));
    ck_assert_uint_eq(wrap_of(trial.source)->calls[WRAP_RELEASE], 1);
    ck_assert_uint_eq(trial_waiting(&trial), 0);
}
END_TEST

START_TEST(a_move_that_finds_no_addresses_says_so)
{
    uint64_t before;

    trial_create(&trial, 4, 2, MOVES);
    OK(grow(4));
    set_hint(WRAP_REFUSED);
    before = ashlar_range_set_address_budget(4 * trial.granule + 1);
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "budget", grow(6));
    ck_assert_ptr_null(trial_wrong(&trial));
    (void)ashlar_range_set_address_budget(before);
    OK(grow(6));
}
END_TEST

START_TEST(growing_by_every_path_in_turn_keeps_contents)
{
    unsigned i;

    trial_create(&trial, 2, 3, MOVES);
    for (i = 1; trial_info(&trial).reserved_bytes < 200 * trial.granule; i++) {
        set_hint((enum wrap_hint)(i % WRAP_HINTS));
        OK(grow(trial_info(&trial).reserved_bytes / trial.granule + 2));
        took(i % WRAP_HINTS == WRAP_GRANTED ? ASHLAR_RANGE_PATH_ADJACENT
                                            : ASHLAR_RANGE_PATH_MOVED,
             result.old_base);
        if (i % 4 == 0)
            OK(ashlar_range_retire_old(trial.range, ASHLAR_QUIET, 1));
        ck_assert_ptr_null(trial_wrong(&trial));
    }
    ck_assert_uint_ge(i, 9);
}
END_TEST

START_TEST(neighbours_are_released_one_by_one)
{
    const struct wrap *wrap = wrap_of(trial.source);
    unsigned i;

    trial_create(&trial, 1, 0, 0);
    for (i = 1; i <= 64; i++)
        OK(grow(i));
    ck_assert_uint_eq(trial_info(&trial).grows[2], 63);
    ck_assert_uint_eq(wrap->model.spaces.count, 64);
    OK(ashlar_range_destroy(trial.range, ASHLAR_QUIET, 1));
    trial.range = NULL;
    ck_assert_uint_eq(wrap->calls[WRAP_RELEASE], 64);
    ck_assert(model_is_empty(&wrap->model));
}
END_TEST

/* --- chunks --------------------------------------------------------------- */

START_TEST(no_chunk_lies_across_two_reservations)
{
    uint64_t base;

    trial_create(&trial, 3, 0, 0);
    base = trial_info(&trial).base;
    OK(grow(2));
    /* Room is left before the neighbour. */
    OK(grow(5));
    took(ASHLAR_RANGE_PATH_ADJACENT, base);
    ck_assert_uint_eq(trial_info(&trial).chunk_count, 3);
    OK(grow(9));
    took(ASHLAR_RANGE_PATH_ADJACENT, base);
    /* All three filled again, prepared chunks first. */
    OK(ashlar_range_shrink_to(trial.range, 0, ASHLAR_QUIET, 1, NULL));
    trial_forget(&trial);
    OK(ashlar_range_prepare(trial.range, 7 * trial.granule,
                            ASHLAR_RANGE_CREATED));
    OK(grow(9));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, base);
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 0);
    ck_assert_uint_eq(trial_info(&trial).chunk_count, 4);
    /* And as one hole. */
    OK(ashlar_range_decommit(trial.range, 0, 9 * trial.granule, ASHLAR_QUIET, 1,
                             NULL));
    trial_forget(&trial);
    OK(ashlar_range_commit(trial.range, 0, 9 * trial.granule, NULL));
    trial_sync(&trial);
    ck_assert_ptr_null(trial_wrong(&trial));
}
END_TEST

START_TEST(a_prepared_chunk_waits_for_a_reservation_that_it_fits)
{
    uint64_t base;

    trial_create(&trial, 3, 0, 0);
    base = trial_info(&trial).base;
    OK(grow(2));
    OK(grow(3));
    OK(grow(5));
    OK(ashlar_range_shrink_to(trial.range, 3 * trial.granule, ASHLAR_QUIET, 1,
                              NULL));
    trial_forget(&trial);
    /* Made for [3, 5), but the next stretch is [2, 5). */
    OK(ashlar_range_prepare(trial.range, 5 * trial.granule,
                            ASHLAR_RANGE_CREATED));
    OK(ashlar_range_shrink_to(trial.range, 2 * trial.granule, ASHLAR_QUIET, 1,
                              NULL));
    trial_forget(&trial);
    OK(grow(5));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, base);
    ck_assert_uint_eq(trial_info(&trial).chunk_count, 3);
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 0);
}
END_TEST

START_TEST(chunks_are_no_larger_than_asked_for)
{
    struct ashlar_range_chunk chunks[8];
    size_t count;

    trial_create(&trial, 64, 3, 0);
    OK(grow(10));
    OK(ashlar_range_chunks(trial.range, chunks, 8, &count));
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(chunks[0].bytes, 3 * trial.granule);
    ck_assert_uint_eq(chunks[3].bytes, trial.granule);
}
END_TEST

START_TEST(without_a_bound_a_grow_makes_one_chunk)
{
    trial_create(&trial, 64, 0, 0);
    OK(grow(10));
    OK(grow(60));
    ck_assert_uint_eq(trial_info(&trial).chunk_count, 2);
    /* create, map, allow */
    ck_assert_uint_eq(result.source_calls, 3);
}
END_TEST

START_TEST(used_is_exact_and_memory_whole_granules)
{
    trial_create(&trial, 8, 0, 0);
    OK(ashlar_range_grow_to(trial.range, 1, NULL));
    ck_assert_uint_eq(trial_info(&trial).used_bytes, 1);
    ck_assert_uint_eq(trial_info(&trial).committed_bytes, trial.granule);
    OK(ashlar_range_grow_to(trial.range, trial.granule + 1, NULL));
    ck_assert_uint_eq(trial_info(&trial).used_bytes, trial.granule + 1);
    ck_assert_uint_eq(trial_info(&trial).committed_bytes, 2 * trial.granule);
    trial_sync(&trial);
}
END_TEST

START_TEST(asking_for_no_more_than_there_is_does_nothing)
{
    uint64_t calls;

    trial_create(&trial, 8, 0, 0);
    OK(grow(5));
    calls = wrap_calls(trial.source);
    OK(grow(5));
    took(ASHLAR_RANGE_PATH_NONE, result.base);
    OK(grow(2));
    took(ASHLAR_RANGE_PATH_NONE, result.base);
    ck_assert_uint_eq(result.used_bytes, 5 * trial.granule);
    ck_assert_uint_eq(result.source_calls, 0);
    ck_assert_uint_eq(wrap_calls(trial.source), calls);
    ck_assert_uint_eq(trial_info(&trial).grows[0], 2);
}
END_TEST

START_TEST(bad_totals_are_refused)
{
    struct before before;

    trial_create(&trial, 8, 1, 0);
    OK(grow(2));
    before_take(&before, &trial);
    REFUSED(ASHLAR_ERR_INVALID, "total is 0 bytes",
            ashlar_range_grow_to(trial.range, 0, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "total is 18446744073709551615",
            ashlar_range_grow_to(trial.range, UINT64_MAX, NULL));
    REFUSED(ASHLAR_ERR_NO_ROOM, "cannot grow",
            ashlar_range_grow_to(trial.range, UINT64_C(1) << 56, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "total is 0 bytes",
            ashlar_range_prepare(trial.range, 0, ASHLAR_RANGE_MAPPED));
    REFUSED(ASHLAR_ERR_INVALID, "depth is 3",
            ashlar_range_prepare(trial.range, 5, (enum ashlar_range_depth)3));
    REFUSED(ASHLAR_ERR_NO_ROOM, "cannot grow",
            ashlar_range_prepare(trial.range, 9 * trial.granule,
                                 ASHLAR_RANGE_CREATED));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
}
END_TEST

/* --- ahead of need -------------------------------------------------------- */

START_TEST(created_chunks_are_mapped_by_the_next_grow)
{
    const struct wrap *wrap = wrap_of(trial.source);
    uint64_t created;

    trial_create(&trial, 16, 4, 0);
    OK(grow(2));
    OK(ashlar_range_prepare(trial.range, 10 * trial.granule,
                            ASHLAR_RANGE_CREATED));
    ck_assert_uint_eq(trial_info(&trial).used_bytes, 2 * trial.granule);
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 8 * trial.granule);
    created = wrap->calls[WRAP_CREATE];
    /* Again: nothing to do. */
    OK(ashlar_range_prepare(trial.range, 10 * trial.granule,
                            ASHLAR_RANGE_CREATED));
    OK(grow(10));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
    ck_assert_uint_eq(wrap->calls[WRAP_CREATE], created);
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 0);
}
END_TEST

START_TEST(a_created_chunk_larger_than_needed_is_mapped_whole)
{
    trial_create(&trial, 16, 4, 0);
    OK(grow(2));
    OK(ashlar_range_prepare(trial.range, 6 * trial.granule,
                            ASHLAR_RANGE_CREATED));
    OK(grow(3));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
    ck_assert_uint_eq(trial_info(&trial).committed_bytes, 6 * trial.granule);
    OK(grow(6));
    took(ASHLAR_RANGE_PATH_NONE, result.base);
}
END_TEST

START_TEST(mapped_chunks_make_the_next_grow_free_of_calls)
{
    uint64_t calls;

    trial_create(&trial, 16, 4, 0);
    OK(grow(2));
    OK(ashlar_range_prepare(trial.range, 10 * trial.granule,
                            ASHLAR_RANGE_MAPPED));
    trial_sync(&trial);
    ck_assert_uint_eq(trial_info(&trial).used_bytes, 2 * trial.granule);
    calls = wrap_calls(trial.source);
    OK(grow(10));
    took(ASHLAR_RANGE_PATH_NONE, result.base);
    ck_assert_uint_eq(wrap_calls(trial.source), calls);
}
END_TEST

START_TEST(a_stretch_that_is_still_mapped_is_busy)
{
    struct ashlar_source *inner = &wrap_of(trial.source)->inner;
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL, 1};
    struct before before;

    trial_create(&trial, 16, 2, 0);
    OK(grow(4));
    OK(engine_hold(inner, 1));
    OK(ashlar_range_shrink_to(trial.range, 2 * trial.granule, &fence, 1, NULL));
    trial_forget(&trial);
    before_take(&before, &trial);
    REFUSED(ASHLAR_ERR_BUSY, "ashlar_source_drain()", grow(3));
    REFUSED(ASHLAR_ERR_BUSY, "ashlar_source_drain()",
            ashlar_range_prepare(trial.range, 4 * trial.granule,
                                 ASHLAR_RANGE_MAPPED));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
    OK(engine_finish(inner, 1));
    OK(grow(3));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
}
END_TEST

START_TEST(a_created_chunk_is_not_mapped_over_what_still_waits)
{
    struct ashlar_source *inner = &wrap_of(trial.source)->inner;
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL, 1};

    trial_create(&trial, 16, 0, 0);
    OK(grow(2));
    OK(grow(4));
    OK(grow(6));
    OK(ashlar_range_prepare(trial.range, 10 * trial.granule,
                            ASHLAR_RANGE_CREATED));
    OK(ashlar_range_decommit(trial.range, 2 * trial.granule, 2 * trial.granule,
                             ASHLAR_QUIET, 1, NULL));
    OK(engine_hold(inner, 1));
    OK(ashlar_range_decommit(trial.range, 4 * trial.granule, 2 * trial.granule,
                             &fence, 1, NULL));
    OK(ashlar_range_shrink_to(trial.range, 2 * trial.granule, ASHLAR_QUIET, 1,
                              NULL));
    trial_forget(&trial);
    /* A chunk of four is ready, but [4, 6) is still mapped. */
    OK(grow(3));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 4 * trial.granule);
    OK(engine_finish(inner, 1));
    OK(grow(4));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 0);
    ck_assert_uint_eq(trial_info(&trial).committed_bytes, 7 * trial.granule);
}
END_TEST

/* --- memory --------------------------------------------------------------- */

START_TEST(a_source_without_memory_says_what_waits)
{
    struct ashlar_source *inner;
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL, 1};
    char words[64];

    trial_close(&trial);
    trial_open(&trial, engine_memory(16));
    inner = &wrap_of(trial.source)->inner;
    trial_create(&trial, 64, 1, 0);
    OK(grow(16));
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "", grow(17));
    OK(engine_hold(inner, 1));
    OK(ashlar_range_decommit(trial.range, 0, trial.granule, &fence, 1, NULL));
    trial_forget(&trial);
    (void)snprintf(words, sizeof(words), "%lu retired bytes wait",
                   (unsigned long)trial.granule);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, words, grow(17));
    OK(engine_finish(inner, 1));
    /* Collected by the grow itself. */
    OK(grow(17));
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, result.base);
}
END_TEST

/* --- many ----------------------------------------------------------------- */

START_TEST(a_thousand_grows_keep_the_base_and_one_file_descriptor)
{
    struct rlimit limit;
    uint64_t base;
    unsigned i;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    trial_create(&trial, 1000, 0, MOVES);
    base = trial_info(&trial).base;
    for (i = 1; i <= 1000; i++) {
        OK(grow(i));
        ck_assert_uint_eq(result.path, ASHLAR_RANGE_PATH_IN_RESERVATION);
        ck_assert_uint_eq(result.base, base);
    }
    took(ASHLAR_RANGE_PATH_IN_RESERVATION, base);
    ck_assert_uint_eq(trial_info(&trial).grows[1], 1000);
    ck_assert_uint_eq(trial_info(&trial).grows[3], 0);
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

static void add_dispatch(Suite *suite)
{
    TCase *test = add_case(suite, "dispatch");

    tcase_add_loop_test(
        test, within_the_reservation_it_grows_in_place_whatever_hints_do, 0,
        WRAP_HINTS);
    tcase_add_loop_test(
        test, a_hint_that_is_granted_gives_adjacent_with_the_same_base, 0, 2);
    tcase_add_loop_test(test, a_hint_that_is_not_granted_moves_only_if_allowed,
                        WRAP_ELSEWHERE, WRAP_HINTS);
    tcase_add_loop_test(test, a_hint_that_is_not_granted_moves_if_allowed,
                        WRAP_ELSEWHERE, WRAP_HINTS);
    tcase_add_test(test, an_address_that_was_not_granted_is_never_freed);
    tcase_add_test(test, an_address_granted_elsewhere_is_given_back_at_once);
    tcase_add_test(test, a_move_that_finds_no_addresses_says_so);
    tcase_add_test(test, growing_by_every_path_in_turn_keeps_contents);
    tcase_add_test(test, neighbours_are_released_one_by_one);
}

static Suite *range_grow_suite(void)
{
    Suite *suite = suite_create("range_grow");
    TCase *test;

    add_dispatch(suite);
    test = add_case(suite, "chunks");
    tcase_add_test(test, no_chunk_lies_across_two_reservations);
    tcase_add_test(test, a_prepared_chunk_waits_for_a_reservation_that_it_fits);
    tcase_add_test(test, chunks_are_no_larger_than_asked_for);
    tcase_add_test(test, without_a_bound_a_grow_makes_one_chunk);
    tcase_add_test(test, used_is_exact_and_memory_whole_granules);
    tcase_add_test(test, asking_for_no_more_than_there_is_does_nothing);
    tcase_add_test(test, bad_totals_are_refused);

    test = add_case(suite, "ahead of need");
    tcase_add_test(test, created_chunks_are_mapped_by_the_next_grow);
    tcase_add_test(test, a_created_chunk_larger_than_needed_is_mapped_whole);
    tcase_add_test(test, mapped_chunks_make_the_next_grow_free_of_calls);
    tcase_add_test(test, a_stretch_that_is_still_mapped_is_busy);
    tcase_add_test(test, a_created_chunk_is_not_mapped_over_what_still_waits);

    test = add_case(suite, "memory");
    tcase_add_test(test, a_source_without_memory_says_what_waits);
    test = add_case(suite, "many");
    tcase_add_test(test,
                   a_thousand_grows_keep_the_base_and_one_file_descriptor);
    return suite;
}

int main(void)
{
    return suite_run(range_grow_suite());
}
