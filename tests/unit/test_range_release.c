/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Giving back, behind fences: shrink, decommit, retire_old, destroy. */
#include "config.h"

#include "range/range.h"

#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"

#define QUIET ASHLAR_QUIET, 1

static struct trial trial;
static struct ashlar_source *inner; /* what is wrapped, for its streams */
static struct ashlar_range_result result;

static const struct ashlar_fence on_1 = {ASHLAR_FENCE_STREAM, 0, NULL, 1};

static void open_trial(void)
{
    trial_open(&trial, NULL);
    inner = &wrap_of(trial.source)->inner;
    result = (struct ashlar_range_result)ASHLAR_RANGE_RESULT_INIT;
}

static void close_trial(void)
{
    trial_close(&trial);
}

static uint64_t bytes_of(uint64_t granules)
{
    return granules * trial.granule;
}

/* So many granules used, in chunks of two. */
static void make(uint64_t granules, uint32_t flags)
{
    trial_create(&trial, 64, 2, flags);
    trial_grow(&trial, granules);
}

static uint64_t committed(void)
{
    const char *wrong;

    trial_forget(&trial);
    wrong = trial_wrong(&trial);
    ck_assert_msg(wrong == NULL, "%s", wrong);
    return trial_info(&trial).committed_bytes / trial.granule;
}

static uint64_t calls(enum wrap_op op)
{
    return wrap_of(trial.source)->calls[op];
}

/* --- shrink --------------------------------------------------------------- */

START_TEST(a_shrink_takes_whole_chunks_and_says_how_much)
{
    make(8, 0);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(3), QUIET, &result));
    ck_assert_uint_eq(result.used_bytes, bytes_of(3));
    ck_assert_uint_eq(result.committed_bytes, bytes_of(4));
    ck_assert_uint_eq(result.released_bytes, bytes_of(4));
    ck_assert_uint_eq(result.base, result.old_base);
    ck_assert_uint_eq(committed(), 4);
    /* What stays mapped is used without a call. */
    OK(ashlar_range_grow_to(trial.range, bytes_of(4), &result));
    ck_assert_uint_eq(result.path, ASHLAR_RANGE_PATH_NONE);
    ck_assert_uint_eq(committed(), 4);
}
END_TEST

START_TEST(what_grows_again_is_fresh)
{
    make(8, 0);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(4), QUIET, NULL));
    ck_assert_uint_eq(committed(), 4);
    OK(ashlar_range_grow_to(trial.range, bytes_of(8), NULL));
    ck_assert_uint_eq(committed(), 8); /* zeros where it was taken away */
}
END_TEST

START_TEST(a_shrink_to_nothing_leaves_the_addresses)
{
    make(8, 0);
    OK(ashlar_range_shrink_to(trial.range, 0, QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(8));
    ck_assert_uint_eq(committed(), 0);
    ck_assert_uint_eq(trial_info(&trial).reserved_bytes, bytes_of(64));
    trial_grow(&trial, 5);
    ck_assert_uint_eq(committed(), 5);
}
END_TEST

START_TEST(a_shrink_takes_what_was_mapped_ahead)
{
    make(3, 0);
    OK(ashlar_range_prepare(trial.range, bytes_of(9), ASHLAR_RANGE_MAPPED));
    trial_sync(&trial);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(3), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(6));
    ck_assert_uint_eq(committed(), 3);
}
END_TEST

START_TEST(a_shrink_takes_what_was_created_ahead)
{
    make(4, 0);
    OK(ashlar_range_prepare(trial.range, bytes_of(9), ASHLAR_RANGE_CREATED));
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, bytes_of(5));
    OK(ashlar_range_shrink_to(trial.range, bytes_of(4), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(5));
    ck_assert_uint_eq(trial_info(&trial).prepared_bytes, 0);
    ck_assert_uint_eq(calls(WRAP_DESTROY), 3);
    ck_assert_uint_eq(calls(WRAP_UNMAP), 0);
    ck_assert_uint_eq(committed(), 4);
    /* Nothing is ahead any more: no call. */
    OK(ashlar_range_shrink_to(trial.range, bytes_of(4), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, 0);
    trial_grow(&trial, 9);
    ck_assert_uint_eq(committed(), 9);
}
END_TEST

START_TEST(what_was_created_ahead_goes_with_what_was_used)
{
    make(6, 0);
    OK(ashlar_range_prepare(trial.range, bytes_of(9), ASHLAR_RANGE_CREATED));
    OK(engine_hold(inner, 1));
    OK(ashlar_range_shrink_to(trial.range, bytes_of(2), &on_1, 1, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(7));
    ck_assert_uint_eq(calls(WRAP_DESTROY), 0);
    OK(engine_finish(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(calls(WRAP_DESTROY), 4);
    ck_assert_uint_eq(committed(), 2);
}
END_TEST

START_TEST(keep_bytes_stay_mapped_for_the_next_grow)
{
    struct ashlar_range_options options = trial_options(&trial, 64, 2, 0);
    uint64_t before;

    options.keep_bytes = bytes_of(4);
    OK(ashlar_range_create(trial.source, &options, &trial.range));
    trial_grow(&trial, 12);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(2), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(6));
    ck_assert_uint_eq(committed(), 6);
    before = wrap_calls(trial.source);
    trial_grow(&trial, 6);
    ck_assert_uint_eq(wrap_calls(trial.source), before);
    options.keep_bytes = UINT64_MAX;
    OK(ashlar_range_destroy(trial.range, QUIET));
    OK(ashlar_range_create(trial.source, &options, &trial.range));
    trial_grow(&trial, 12);
    OK(ashlar_range_shrink_to(trial.range, 0, QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, 0);
}
END_TEST

START_TEST(a_shrink_into_a_hole_leaves_none_ahead)
{
    make(12, 0);
    OK(ashlar_range_decommit(trial.range, bytes_of(4), bytes_of(4), QUIET,
                             NULL));
    ck_assert_uint_eq(committed(), 8);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(6), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(4));
    ck_assert_uint_eq(committed(), 4);
    /* The hole stays one: growing maps what is behind it. */
    trial_grow(&trial, 9);
    ck_assert_uint_eq(committed(), 7);
    OK(ashlar_range_commit(trial.range, 0, bytes_of(9), NULL));
    ck_assert_uint_eq(committed(), 9);
}
END_TEST

START_TEST(bad_sizes_are_refused)
{
    struct before before;

    make(5, 0);
    OK(ashlar_range_shrink_to(trial.range, bytes_of(4) + 1, QUIET, NULL));
    before_take(&before, &trial);
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_range_grow_to()",
            ashlar_range_shrink_to(trial.range, bytes_of(5), QUIET, NULL));
    REFUSED(
        ASHLAR_ERR_INVALID, "is not within",
        ashlar_range_decommit(trial.range, 0, bytes_of(4) + 2, QUIET, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "or is empty",
            ashlar_range_decommit(trial.range, 0, 0, QUIET, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "is not within",
            ashlar_range_decommit(trial.range, UINT64_MAX, 2, QUIET, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "is not within",
            ashlar_range_decommit(trial.range, 2, UINT64_MAX, QUIET, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "is not within",
            ashlar_range_commit(trial.range, bytes_of(4), bytes_of(1), NULL));
    REFUSED(ASHLAR_ERR_INVALID, "or is empty",
            ashlar_range_commit(trial.range, bytes_of(1), 0, NULL));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
}
END_TEST

/* --- decommit and commit -------------------------------------------------- */

START_TEST(a_decommit_is_rounded_inwards_to_whole_chunks)
{
    make(8, 0);
    OK(ashlar_range_decommit(trial.range, 1, bytes_of(4) - 2, QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, 0);
    OK(ashlar_range_decommit(trial.range, 1, bytes_of(4) - 1, QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(2));
    ck_assert_uint_eq(result.used_bytes, bytes_of(8));
    ck_assert_uint_eq(committed(), 6);
    /* Twice is once. */
    OK(ashlar_range_decommit(trial.range, 0, bytes_of(4), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(2));
    OK(ashlar_range_decommit(trial.range, 0, bytes_of(4), QUIET, &result));
    ck_assert_uint_eq(result.released_bytes, 0);
    ck_assert_uint_eq(committed(), 4);
}
END_TEST

START_TEST(a_commit_gives_fresh_memory_where_there_is_none)
{
    uint64_t before;

    make(8, 0);
    OK(ashlar_range_decommit(trial.range, bytes_of(2), bytes_of(2), QUIET,
                             NULL));
    OK(ashlar_range_decommit(trial.range, bytes_of(6), bytes_of(2), QUIET,
                             NULL));
    ck_assert_uint_eq(committed(), 4);
    OK(ashlar_range_commit(trial.range, bytes_of(3), 1, NULL));
    ck_assert_uint_eq(committed(), 5);
    OK(ashlar_range_commit(trial.range, 0, bytes_of(8), &result));
    ck_assert_uint_eq(result.committed_bytes, bytes_of(8));
    ck_assert_uint_eq(committed(), 8);
    before = wrap_calls(trial.source);
    OK(ashlar_range_commit(trial.range, 0, bytes_of(8), NULL));
    ck_assert_uint_eq(wrap_calls(trial.source), before);
}
END_TEST

START_TEST(a_commit_over_what_still_waits_is_busy)
{
    make(8, 0);
    OK(engine_hold(inner, 1));
    OK(ashlar_range_decommit(trial.range, bytes_of(2), bytes_of(2), &on_1, 1,
                             NULL));
    trial_forget(&trial);
    REFUSED(ASHLAR_ERR_BUSY, "retired bytes wait",
            ashlar_range_commit(trial.range, bytes_of(2), 1, NULL));
    /* Elsewhere there is nothing to do. */
    OK(ashlar_range_commit(trial.range, bytes_of(4), 1, NULL));
    OK(engine_finish(inner, 1));
    OK(ashlar_range_commit(trial.range, bytes_of(2), 1, NULL));
    ck_assert_uint_eq(committed(), 7);
}
END_TEST

/* --- what a move left behind ---------------------------------------------- */

START_TEST(the_old_place_stays_readable_until_it_is_retired)
{
    uint64_t old;

    trial_create(&trial, 4, 2, ASHLAR_RANGE_MAY_MOVE);
    trial_grow(&trial, 4);
    old = trial_info(&trial).base;
    wrap_of(trial.source)->hint = WRAP_REFUSED;
    trial_grow(&trial, 5);
    /* One memory at two addresses. */
    *(uint64_t *)(uintptr_t)old = 77;
    ck_assert_uint_eq(*(uint64_t *)(uintptr_t)trial_info(&trial).base, 77);
    *(uint64_t *)(uintptr_t)old = trial.stamps[0];
    ck_assert_uint_eq(committed(), 5);
    ck_assert_uint_eq(trial_info(&trial).old_bytes, bytes_of(4));
    OK(engine_hold(inner, 1));
    OK(ashlar_range_retire_old(trial.range, &on_1, 1));
    ck_assert_uint_eq(trial_info(&trial).old_bytes, 0);
    ck_assert_uint_eq(*(uint64_t *)(uintptr_t)old, trial.stamps[0]);
    ck_assert_ptr_null(ashlar_range_find(old));
    ck_assert_uint_eq(calls(WRAP_UNMAP), 0);
    OK(engine_finish(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(committed(), 5);
    ck_assert_uint_eq(wrap_of(trial.source)->model.spaces.count, 1);
}
END_TEST

START_TEST(nothing_is_taken_away_while_an_old_place_is_left)
{
    trial_create(&trial, 4, 2, ASHLAR_RANGE_MAY_MOVE);
    trial_grow(&trial, 4);
    OK(ashlar_range_retire_old(trial.range, QUIET)); /* nothing to do */
    wrap_of(trial.source)->hint = WRAP_REFUSED;
    trial_grow(&trial, 5);
    REFUSED(ASHLAR_ERR_BUSY, "ashlar_range_retire_old()",
            ashlar_range_shrink_to(trial.range, 1, QUIET, NULL));
    REFUSED(ASHLAR_ERR_BUSY, "ashlar_range_retire_old()",
            ashlar_range_decommit(trial.range, 0, bytes_of(2), QUIET, NULL));
    ck_assert_uint_eq(committed(), 5);
    OK(ashlar_range_retire_old(trial.range, QUIET));
    OK(ashlar_range_shrink_to(trial.range, 1, QUIET, NULL));
    ck_assert_uint_eq(committed(), 2);
}
END_TEST

START_TEST(a_range_that_moved_is_destroyed_with_all_its_places)
{
    const struct wrap *wrap = wrap_of(trial.source);

    trial_create(&trial, 4, 2, ASHLAR_RANGE_MAY_MOVE);
    trial_grow(&trial, 3);
    wrap_of(trial.source)->hint = WRAP_ELSEWHERE;
    trial_grow(&trial, 5);
    trial_grow(&trial, 9);
    OK(ashlar_range_destroy(trial.range, QUIET));
    trial.range = NULL;
    ck_assert(model_is_empty(&wrap->model));
    ck_assert_msg(wrap->model.wrong[0] == '\0', "%s", wrap->model.wrong);
}
END_TEST

START_TEST(ghosts_of_the_old_place_do_not_haunt_the_new_one)
{
    trial_create(&trial, 4, 2, ASHLAR_RANGE_MAY_MOVE);
    trial_grow(&trial, 4);
    OK(engine_hold(inner, 1));
    OK(ashlar_range_decommit(trial.range, 0, bytes_of(2), &on_1, 1, NULL));
    trial_forget(&trial);
    wrap_of(trial.source)->hint = WRAP_REFUSED;
    trial_grow(&trial, 6);
    OK(ashlar_range_commit(trial.range, 0, bytes_of(1), NULL));
    OK(ashlar_range_retire_old(trial.range, QUIET)); /* behind the decommit */
    ck_assert_uint_eq(trial_waiting(&trial), 2);
    ck_assert_uint_eq(calls(WRAP_UNMAP), 0);
    OK(engine_finish(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(committed(), 5);
}
END_TEST

/* --- fences --------------------------------------------------------------- */

START_TEST(nothing_is_unmapped_before_all_fences_have_passed)
{
    const struct ashlar_fence fences[] = {
        {ASHLAR_FENCE_STREAM, 0, NULL, 1},
        {ASHLAR_FENCE_EVENT, 0, NULL, 2},
        {ASHLAR_FENCE_STREAM, 0, trial.source, 0},
        {ASHLAR_FENCE_CAPTURE, 0, NULL, 3},
        {ASHLAR_FENCE_GRAPH, 0, NULL, 4},
    };
    unsigned i;

    make(8, 0);
    for (i = 0; i < 5; i++)
        OK(engine_hold(inner, fences[i].handle));
    OK(ashlar_range_shrink_to(trial.range, bytes_of(2), fences, 5, &result));
    ck_assert_uint_eq(result.released_bytes, bytes_of(6));
    for (i = 0; i < 5; i++) {
        REFUSED(ASHLAR_ERR_BUSY, "still wait for their fences",
                ashlar_source_drain(trial.source, 100000));
        ck_assert_uint_eq(calls(WRAP_UNMAP) + calls(WRAP_DESTROY), 0);
        /* Still there: 0 is the default stream, and waits like any other. */
        ck_assert_uint_eq(
            *(uint64_t *)(uintptr_t)(trial.range->base + bytes_of(6)),
            trial.last_stamp - 1);
        OK(engine_finish(inner, fences[i].handle));
    }
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(calls(WRAP_DESTROY), 3);
    ck_assert_uint_eq(committed(), 2);
}
END_TEST

START_TEST(work_queued_after_the_call_does_not_delay_it)
{
    make(8, 0);
    OK(engine_hold(inner, 1));
    OK(ashlar_range_shrink_to(trial.range, bytes_of(2), &on_1, 1, NULL));
    OK(engine_finish(inner, 1));
    OK(engine_hold(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(committed(), 2);
    OK(engine_finish(inner, 1));
}
END_TEST

START_TEST(bad_fences_are_refused_and_change_nothing)
{
    const struct ashlar_fence odd[] = {{6, 0, NULL, 0}};
    const struct ashlar_fence held[] = {{ASHLAR_FENCE_QUIET, 1, NULL, 0}};
    static struct ashlar_fence many[65];
    struct ashlar_source *heap;
    struct ashlar_fence on_heap = {ASHLAR_FENCE_STREAM, 0, NULL, 0};
    struct ashlar_range *range;
    struct before before;

    make(6, 0);
    range = trial.range;
    before_take(&before, &trial);
    OK(ashlar_source_open("heap", NULL, &heap));
    on_heap.source = heap;
    REFUSED(ASHLAR_ERR_INVALID, "no fences",
            ashlar_range_shrink_to(range, 1, NULL, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "no fences",
            ashlar_range_destroy(range, ASHLAR_QUIET, 0));
    REFUSED(ASHLAR_ERR_INVALID, "too many fences",
            ashlar_range_decommit(range, 0, bytes_of(2), many, 65, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "fences[0].kind is 6",
            ashlar_range_destroy(range, odd, 1));
    /* Also where there is nothing to take away. */
    REFUSED(ASHLAR_ERR_INVALID, "fences[0].reserved is 1",
            ashlar_range_shrink_to(range, bytes_of(6), held, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "fences[0].kind is 6",
            ashlar_range_retire_old(range, odd, 1));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no fences",
            ashlar_range_destroy(range, &on_heap, 1));
    ck_assert_ptr_null(before_differs(&before, &trial));
    ck_assert_ptr_null(before_given_differs(&before, &trial));
    before_free(&before);
    OK(ashlar_source_close(heap));
}
END_TEST

START_TEST(a_fence_of_another_source_keeps_that_source_open)
{
    struct ashlar_source *other = wrap_open(NULL);
    struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, other, 9};
    struct ashlar_range *range;

    make(6, 0);
    range = trial.range;
    OK(engine_hold(&wrap_of(other)->inner, 9));
    OK(ashlar_range_destroy(range, &fence, 1));
    trial.range = NULL;
    REFUSED(ASHLAR_ERR_BUSY, "fence(s) stand", ashlar_source_close(other));
    REFUSED(ASHLAR_ERR_BUSY, "retired on the source \"wrap\"",
            ashlar_source_close(trial.source));
    OK(engine_finish(&wrap_of(other)->inner, 9));
    OK(ashlar_source_drain(trial.source, 0));
    wrap_close(other);
}
END_TEST

START_TEST(a_destroyed_range_is_gone_at_once_and_its_memory_later)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    uint64_t base;

    make(6, 0);
    base = trial_info(&trial).base;
    OK(engine_hold(inner, 1));
    OK(ashlar_range_destroy(trial.range, &on_1, 1));
    trial.range = NULL;
    ck_assert_ptr_null(ashlar_range_find(base));
    OK(ashlar_source_query(trial.source, &info));
    ck_assert_uint_eq(info.retired_items, 1);
    ck_assert_uint_eq(info.retired_bytes, bytes_of(6));
    ck_assert_uint_eq(*(uint64_t *)(uintptr_t)base, 1);
    /* Another range, perhaps at the same record, does not wait for it. */
    trial_create(&trial, 8, 0, 0);
    trial_grow(&trial, 4);
    OK(ashlar_range_destroy(trial.range, QUIET));
    trial.range = NULL;
    OK(ashlar_source_query(trial.source, &info));
    ck_assert_uint_eq(info.retired_items, 1);
    OK(engine_finish(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
}
END_TEST

START_TEST(a_fence_that_cannot_be_asked_has_not_passed)
{
    make(6, 0);
    OK(engine_hold(inner, 1));
    wrap_arm(trial.source, (struct wrap_fault){.at = 1,
                                               .for_ever = true,
                                               .only = 1 << WRAP_FENCE_QUERY});
    OK(ashlar_range_shrink_to(trial.range, 0, &on_1, 1, NULL));
    REFUSED(ASHLAR_ERR_BUSY, "still wait",
            ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(calls(WRAP_UNMAP), 0);
    (void)wrap_lift(trial.source);
    OK(engine_finish(inner, 1));
    OK(ashlar_source_drain(trial.source, 0));
    ck_assert_uint_eq(committed(), 0);
}
END_TEST

/* --- threads -------------------------------------------------------------- */

#define ROUNDS 1000

static int releasing;

/* The first takes away behind work, finishes that, and grows again; the others
 * collect all the time. */
static void release_or_collect(unsigned number, void *user)
{
    unsigned i;

    (void)user;
    while (number != 0 && __atomic_load_n(&releasing, __ATOMIC_ACQUIRE) != 0)
        (void)ashlar_source_drain(trial.source, 0);
    for (i = 0; number == 0 && i < ROUNDS && !stress_failed(); i++)
        STRESS_EXPECT(engine_hold(inner, 1) == ASHLAR_OK &&
                          ashlar_range_shrink_to(trial.range, bytes_of(2),
                                                 &on_1, 1, NULL) == ASHLAR_OK &&
                          engine_finish(inner, 1) == ASHLAR_OK &&
                          ashlar_range_grow_to(trial.range, bytes_of(8),
                                               NULL) == ASHLAR_OK,
                      "round %u: %s", i, ashlar_last_error_message());
    if (number == 0)
        __atomic_store_n(&releasing, 0, __ATOMIC_RELEASE);
}

START_TEST(whoever_collects_what_has_passed_is_no_longer_busy)
{
    make(8, 0);
    releasing = 1;
    stress_threads(3, release_or_collect, NULL);
    stress_verdict();
    trial_forget(&trial);
    OK(ashlar_range_shrink_to(trial.range, 0, QUIET, NULL));
    ck_assert_uint_eq(committed(), 0);
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

static void add_sizes(Suite *suite)
{
    TCase *test = add_case(suite, "shrink");

    tcase_add_test(test, a_shrink_takes_whole_chunks_and_says_how_much);
    tcase_add_test(test, what_grows_again_is_fresh);
    tcase_add_test(test, a_shrink_to_nothing_leaves_the_addresses);
    tcase_add_test(test, a_shrink_takes_what_was_mapped_ahead);
    tcase_add_test(test, a_shrink_takes_what_was_created_ahead);
    tcase_add_test(test, what_was_created_ahead_goes_with_what_was_used);
    tcase_add_test(test, keep_bytes_stay_mapped_for_the_next_grow);
    tcase_add_test(test, a_shrink_into_a_hole_leaves_none_ahead);
    tcase_add_test(test, bad_sizes_are_refused);

    test = add_case(suite, "holes");
    tcase_add_test(test, a_decommit_is_rounded_inwards_to_whole_chunks);
    tcase_add_test(test, a_commit_gives_fresh_memory_where_there_is_none);
    tcase_add_test(test, a_commit_over_what_still_waits_is_busy);
}

static Suite *range_release_suite(void)
{
    Suite *suite = suite_create("range_release");
    TCase *test;

    add_sizes(suite);
    test = add_case(suite, "moves");
    tcase_add_test(test, the_old_place_stays_readable_until_it_is_retired);
    tcase_add_test(test, nothing_is_taken_away_while_an_old_place_is_left);
    tcase_add_test(test, a_range_that_moved_is_destroyed_with_all_its_places);
    tcase_add_test(test, ghosts_of_the_old_place_do_not_haunt_the_new_one);

    test = add_case(suite, "fences");
    tcase_add_test(test, nothing_is_unmapped_before_all_fences_have_passed);
    tcase_add_test(test, work_queued_after_the_call_does_not_delay_it);
    tcase_add_test(test, bad_fences_are_refused_and_change_nothing);
    tcase_add_test(test, a_fence_of_another_source_keeps_that_source_open);
    tcase_add_test(test,
                   a_destroyed_range_is_gone_at_once_and_its_memory_later);
    tcase_add_test(test, a_fence_that_cannot_be_asked_has_not_passed);

    test = add_case(suite, "threads");
    tcase_add_test(test, whoever_collects_what_has_passed_is_no_longer_busy);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(range_release_suite());
}
