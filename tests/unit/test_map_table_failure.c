/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * What becomes of slots and staging when a publish fails, or the fence behind it:
 * nothing is used again before it is done, or somebody knows that it is.
 */
#include "config.h"

#include "support/tables.h"

#define SLOW     UINT64_C(6) /* its work is held */
#define OTHER    UINT64_C(7)
#define CAPTURED UINT64_C(8)
#define SLOTS    8

static struct tables_rig rig;

static void setup(void)
{
    tables_begin(&rig, 0, SLOTS, 8);
}

static void teardown(void)
{
    tables_end(&rig);
}

static void publish(const struct ashlar_tensormap_handle *handles, size_t n,
                    uint64_t stream)
{
    OK(ashlar_tensormap_table_publish(rig.table, handles, n, stream));
}

/* All slots are leased: one of these can only be one that was retired. */
static void lease_all(struct ashlar_tensormap_handle *handles)
{
    tables_lease(rig.table, SLOTS, 1, handles);
}

static bool one_is_free(struct ashlar_tensormap_handle *handle_out)
{
    return ashlar_tensormap_table_lease(rig.table, 1, handle_out) == ASHLAR_OK;
}

/* --- what fails ---------------------------------------------------------------- */

static void fail_nth(enum wrap_op op, uint64_t nth)
{
    wrap_arm(rig.source, (struct wrap_fault){.at = nth, .only = 1u << op});
}

START_TEST(a_stream_that_takes_no_fence_has_nothing_queued)
{
    struct ashlar_tensormap_handle handle;

    tables_lease(rig.table, 1, 1, &handle);
    fail_nth(WRAP_FENCE_RECORD, 1);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, &handle, 1, OTHER));
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    ck_assert_uint_eq(tables_on_device(rig.table, handle), 0);
    ck_assert_ptr_null(rig.table->pending);
    publish(&handle, 1, OTHER);
}
END_TEST

/* What was queued before stays queued: its source is not to change. */
START_TEST(what_a_failed_publish_queued_is_waited_for)
{
    struct ashlar_tensormap_handle handles[SLOTS], picked[3], next;

    lease_all(handles);
    picked[0] = handles[1];
    picked[1] = handles[3];
    picked[2] = handles[5];
    tables_hold(&rig, SLOW);
    fail_nth(WRAP_COPY, 2);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, picked, 3, SLOW));
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    tables_check(rig.table);
    ck_assert_uint_eq(tables_state(rig.table, picked[0]),
                      ASHLAR_TENSORMAP_ENCODED);
    ck_assert_uint_eq(tables_look(rig.table, picked[0]).fresh, 0);
    REFUSED(ASHLAR_ERR_BUSY, "is not done yet",
            ashlar_tensormap_table_fill(rig.table, picked[0], tables_map(9)));
    REFUSED(ASHLAR_ERR_BUSY, "on stream 0x6",
            ashlar_tensormap_table_publish(rig.table, picked, 3, OTHER));
    OK(ashlar_tensormap_table_retire(rig.table, picked, 1, QUIET));
    ck_assert(!one_is_free(&next));
    /* Behind it on its own stream it goes on. */
    publish(&picked[1], 2, SLOW);
    tables_finish(&rig, SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

/* What it has queued is a part of the graph, and is done again by each replay. */
START_TEST(what_failed_in_a_capture_is_its_graphs_all_the_same)
{
    struct ashlar_tensormap_handle handles[SLOTS], picked[3];

    lease_all(handles);
    picked[0] = handles[1];
    picked[1] = handles[3];
    picked[2] = handles[5];
    fail_nth(WRAP_COPY, 2);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            tables_capture(&rig, picked, 3, CAPTURED));
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 3);
    REFUSED(ASHLAR_ERR_BUSY, "belongs to a graph",
            ashlar_tensormap_table_publish(rig.table, picked, 3, CAPTURED));
    tables_check(rig.table);
    tables_finish(&rig, CAPTURED);
    publish(picked, 3, CAPTURED);
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 0);
}
END_TEST

START_TEST(a_context_that_failed_is_waited_for_no_more)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    wrap_arm(rig.source,
             (struct wrap_fault){.at = 2,
                                 .only = 1u << WRAP_FENCE_RECORD,
                                 .status = ASHLAR_ERR_CONTEXT_FAILED});
    REFUSED(ASHLAR_ERR_CONTEXT_FAILED, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, handles, 2, SLOW));
    (void)wrap_lift(rig.source);
    ck_assert_ptr_null(rig.table->pending);
    ck_assert_uint_eq(tables_state(rig.table, handles[0]),
                      ASHLAR_TENSORMAP_ENCODED);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(one_is_free(&next));
}
END_TEST

/* --- without a fence ------------------------------------------------------------ */

/* From the nth on, all copies and all fences of streams. */
static void fail_from(uint64_t nth, uint64_t operations)
{
    wrap_arm(rig.source, (struct wrap_fault){
                             .at = nth, .for_ever = true, .only = operations});
}

static void publish_unfenced(const struct ashlar_tensormap_handle *handles,
                             size_t n, uint64_t stream)
{
    fail_from(2, 1u << WRAP_FENCE_RECORD);
    publish(handles, n, stream);
    ck_assert_uint_eq(wrap_lift(rig.source), 2);
    ck_assert(rig.table->pending_last->lost);
    ck_assert_uint_eq(tables_info(rig.table).unfenced, 1);
}

/* Somebody else had the event that was left for it. */
START_TEST(a_fence_that_fails_once_is_made_all_the_same)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    tables_hold(&rig, SLOW);
    fail_nth(WRAP_FENCE_RECORD, 2);
    publish(handles, 2, SLOW);
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(!one_is_free(&next));
    tables_finish(&rig, SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

/* Another stream may have its number by now. */
START_TEST(what_has_no_fence_gets_none_by_the_number_of_its_stream)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    publish_unfenced(handles, 2, SLOW);
    ck_assert_uint_eq(tables_on_device(rig.table, handles[1]), 2);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    publish(&handles[2], 1, SLOW);
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
}
END_TEST

/* Who rewrites a slot has ordered that behind what published it. */
START_TEST(a_rewrite_makes_up_the_fence_of_what_published_its_slot)
{
    struct ashlar_tensormap_handle handles[SLOTS], picked[5], next;
    size_t i;

    lease_all(handles);
    for (i = 0; i < 5; i++)
        picked[i] = handles[SLOTS - 1 - i]; /* as scattered as can be */
    publish_unfenced(picked, 5, SLOW);
    ck_assert_uint_eq(tables_info(rig.table).scatters, 1);
    OK(ashlar_tensormap_table_retire(rig.table, picked, 4, QUIET));
    tables_hold(&rig, SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, picked[4], tables_map(50),
                                      SLOW));
    ck_assert(!one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).unfenced, 0);
    tables_check(rig.table);
    tables_finish(&rig, SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 0);
    tables_check(rig.table);
}
END_TEST

START_TEST(a_publish_that_failed_without_its_fence_is_tried_again)
{
    struct ashlar_tensormap_handle handles[SLOTS], picked[2], next;

    lease_all(handles);
    picked[0] = handles[1];
    picked[1] = handles[3];
    fail_from(3, 1u << WRAP_FENCE_RECORD | 1u << WRAP_COPY);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, picked, 2, SLOW));
    ck_assert_uint_eq(wrap_lift(rig.source), 3);
    REFUSED(ASHLAR_ERR_BUSY, "on stream 0x6",
            ashlar_tensormap_table_publish(rig.table, picked, 2, OTHER));
    publish(picked, 2, SLOW);
    OK(ashlar_tensormap_table_retire(rig.table, picked, 2, QUIET));
    ck_assert(one_is_free(&next));
    ck_assert_ptr_null(rig.table->pending);
}
END_TEST

/* Its fence passes when it is gone, whatever was queued before. */
START_TEST(a_graph_makes_up_no_fence_and_is_held_up_by_none)
{
    struct ashlar_tensormap_handle handles[SLOTS], picked[5], next;
    struct wrap *wrap = wrap_of(rig.source);
    size_t i;

    lease_all(handles);
    for (i = 0; i < 5; i++)
        picked[i] = handles[SLOTS - 1 - i];
    publish_unfenced(picked, 5, SLOW);
    OK(tables_capture(&rig, handles, 1, CAPTURED));
    tables_finish(&rig, CAPTURED);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 1, QUIET));
    ck_assert(one_is_free(&next));
    tables_hold(&rig, SLOW);
    wrap->captured = SLOW;
    OK(ashlar_tensormap_table_rewrite(rig.table, picked[4], tables_map(50),
                                      SLOW));
    wrap->captured = 0;
    tables_finish(&rig, SLOW);
    OK(ashlar_tensormap_table_retire(rig.table, picked, 5, QUIET));
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
}
END_TEST

/* --- the end -------------------------------------------------------------------- */

/* Nobody can ask whether it is done. */
START_TEST(a_table_with_an_unfenced_publish_goes_by_the_callers_word_alone)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish_unfenced(handles, SLOTS, OTHER);
    REFUSED(ASHLAR_ERR_BUSY, "published on stream 0x7",
            ashlar_tensormap_table_destroy(rig.table, ON_STREAM(OTHER)));
    OK(ashlar_tensormap_table_retire(rig.table, handles, SLOTS, QUIET));
    REFUSED(ASHLAR_ERR_BUSY, "published on stream 0x7",
            ashlar_tensormap_table_destroy(rig.table, NULL, 0));
    tables_check(rig.table);
    fail_from(1, 1u << WRAP_FENCE_RECORD);
    OK(ashlar_tensormap_table_destroy(rig.table, QUIET));
    (void)wrap_lift(rig.source);
    ck_assert(model_is_empty(&wrap_of(rig.source)->model));
    rig.table = tables_make(rig.source, SLOTS, 8);
}
END_TEST

START_TEST(that_word_may_stand_beside_fences_that_are_waited_for)
{
    const struct ashlar_fence fences[2] = {ASHLAR_FENCE_OF_STREAM(NULL, SLOW),
                                           {ASHLAR_FENCE_QUIET, 0, NULL, 0}};
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish_unfenced(handles, SLOTS, OTHER);
    tables_hold(&rig, SLOW);
    OK(ashlar_tensormap_table_destroy(rig.table, fences, 2));
    REFUSED(ASHLAR_ERR_BUSY, "wait", ashlar_source_drain(rig.source, 0));
    tables_finish(&rig, SLOW);
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert(model_is_empty(&wrap_of(rig.source)->model));
    rig.table = tables_make(rig.source, SLOTS, 8);
}
END_TEST

/* --- the suite ------------------------------------------------------------------- */

static Suite *failure_suite(void)
{
    Suite *suite = suite_create("map_table_failure");
    TCase *tcase = tcase_create("failures");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_stream_that_takes_no_fence_has_nothing_queued);
    tcase_add_test(tcase, what_a_failed_publish_queued_is_waited_for);
    tcase_add_test(tcase, what_failed_in_a_capture_is_its_graphs_all_the_same);
    tcase_add_test(tcase, a_fence_that_fails_once_is_made_all_the_same);
    tcase_add_test(tcase,
                   what_has_no_fence_gets_none_by_the_number_of_its_stream);
    tcase_add_test(tcase,
                   a_rewrite_makes_up_the_fence_of_what_published_its_slot);
    tcase_add_test(tcase,
                   a_publish_that_failed_without_its_fence_is_tried_again);
    tcase_add_test(tcase, a_graph_makes_up_no_fence_and_is_held_up_by_none);
    tcase_add_test(tcase, a_context_that_failed_is_waited_for_no_more);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("end");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(
        tcase, a_table_with_an_unfenced_publish_goes_by_the_callers_word_alone);
    tcase_add_test(tcase,
                   that_word_may_stand_beside_fences_that_are_waited_for);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(failure_suite());
}
