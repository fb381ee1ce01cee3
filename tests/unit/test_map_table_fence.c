/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * When slots and staging of a table are had again: streams whose work the test
 * finishes by hand stand for slow kernels, and for graphs.
 */
#include "config.h"

#include "support/tables.h"

#include "support/engine.h"

#define SLOW     UINT64_C(6) /* its work is held */
#define OTHER    UINT64_C(7)
#define CAPTURED UINT64_C(8)
#define SLOTS    8

static struct tables_rig rig;

static void begin_with(uint64_t lacks)
{
    rig.source = tables_source(lacks);
    rig.table = tables_make(rig.source, SLOTS, 8);
}

static void setup(void)
{
    begin_with(0);
}

static void teardown(void)
{
    tables_check(rig.table);
    OK(ashlar_tensormap_table_destroy(rig.table, QUIET));
    OK(ashlar_source_drain(rig.source, 0));
    wrap_close(rig.source);
}

/* A slow kernel is queued. */
static void hold(uint64_t stream)
{
    OK(engine_hold(&wrap_of(rig.source)->inner, stream));
}

static void finish(uint64_t stream)
{
    OK(engine_finish(&wrap_of(rig.source)->inner, stream));
}

static void publish(const struct ashlar_tensormap_handle *handles, size_t n,
                    uint64_t stream)
{
    OK(ashlar_tensormap_table_publish(rig.table, handles, n, stream));
}

static void retire(const struct ashlar_tensormap_handle *handles, size_t n,
                   uint64_t stream)
{
    OK(ashlar_tensormap_table_retire(rig.table, handles, n, ON_STREAM(stream)));
}

/* Publish during a capture of a stream; its graph is there until finish(). */
static enum ashlar_status capture(const struct ashlar_tensormap_handle *handles,
                                  size_t n, uint64_t stream)
{
    struct wrap *wrap = wrap_of(rig.source);
    enum ashlar_status status;

    hold(stream);
    wrap->captured = stream;
    status = ashlar_tensormap_table_publish(rig.table, handles, n, stream);
    wrap->captured = 0;
    return status;
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

/* --- retired slots ----------------------------------------------------------- */

/* It would read the map of whoever has the slot next. */
START_TEST(no_slot_is_used_again_while_a_kernel_that_reads_it_runs)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;
    const void *map;

    lease_all(handles);
    publish(handles, SLOTS, OTHER);
    map = (void *)(uintptr_t)(tables_info(rig.table).base);
    hold(SLOW);
    retire(handles, 1, SLOW);
    ck_assert(!one_is_free(&next));
    ck_assert(ranges_error_is(ASHLAR_ERR_LIMIT,
                              "7 are leased, and 1 retired and not to be had"));
    ck_assert_uint_eq(tables_info(rig.table).waiting, 1);
    ck_assert_uint_eq(tables_number(map), 1);
    finish(SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(next.index, handles[0].index);
    ck_assert_uint_eq(next.generation, handles[0].generation + 1);
    OK(ashlar_tensormap_table_fill(rig.table, next, tables_map(99)));
    ck_assert_uint_eq(tables_number(map), 1);
    publish(&next, 1, OTHER);
    ck_assert_uint_eq(tables_number(map), 99);
}
END_TEST

START_TEST(all_fences_of_a_retire_have_to_pass)
{
    const struct ashlar_fence fences[2] = {ASHLAR_FENCE_OF_STREAM(NULL, SLOW),
                                           ASHLAR_FENCE_OF_STREAM(NULL, OTHER)};
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    hold(SLOW);
    hold(OTHER);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 3, fences, 2));
    finish(OTHER);
    ck_assert(!one_is_free(&next));
    finish(SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).waiting, 0);
}
END_TEST

START_TEST(retires_are_had_again_in_the_order_their_fences_pass)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    hold(SLOW);
    retire(handles, 2, SLOW);
    retire(&handles[2], 1, OTHER);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(next.index, handles[2].index);
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    finish(SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

/* The copy would come after the next map is there, and bring the old one. */
START_TEST(a_slot_is_not_used_again_before_what_publishes_it_is_done)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    hold(SLOW);
    publish(handles, 2, SLOW);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    finish(SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

START_TEST(a_fence_that_is_refused_leaves_the_lease)
{
    struct ashlar_tensormap_handle handles[SLOTS];
    struct ashlar_fence bad = {77, 0, NULL, 0};

    lease_all(handles);
    REFUSED(ASHLAR_ERR_INVALID, "fences[0].kind is 77",
            ashlar_tensormap_table_retire(rig.table, handles, 1, &bad, 1));
    wrap_of(rig.source)->captured = SLOW;
    REFUSED(
        ASHLAR_ERR_CAPTURE, "is being captured",
        ashlar_tensormap_table_retire(rig.table, handles, 1, ON_STREAM(SLOW)));
    ck_assert_uint_eq(tables_info(rig.table).leased, SLOTS);
}
END_TEST

/* --- captures ---------------------------------------------------------------- */

/* Each replay copies it again, so that another map would be undone. */
START_TEST(what_is_published_in_a_capture_belongs_to_its_graph)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    OK(capture(handles, 3, SLOW));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 3);
    ck_assert_uint_eq(tables_state(rig.table, handles[0]),
                      ASHLAR_TENSORMAP_PUBLISHED);
    REFUSED(ASHLAR_ERR_BUSY, "belongs to a graph",
            ashlar_tensormap_table_rewrite(rig.table, handles[0],
                                           tables_map(50), OTHER));
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(!one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 3);
    finish(SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 0);
    OK(ashlar_tensormap_table_rewrite(rig.table, handles[2], tables_map(50),
                                      OTHER));
}
END_TEST

/* Staging is read by each replay: a local would be gone by then. */
START_TEST(staging_of_a_capture_is_its_graphs)
{
    struct ashlar_tensormap_handle handles[16], picked[8];
    size_t i;

    OK(ashlar_tensormap_table_destroy(rig.table, QUIET));
    rig.table = tables_make(rig.source, 16, 8);
    tables_lease(rig.table, 16, 1, handles);
    for (i = 0; i < 8; i++)
        picked[i] = handles[2 * i];
    OK(capture(picked, 8, SLOW));
    ck_assert_uint_eq(tables_info(rig.table).scatters, 1);
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 9);
    /* Others do without. */
    for (i = 0; i < 8; i++)
        picked[i] = handles[2 * i + 1];
    publish(picked, 8, OTHER);
    ck_assert_uint_eq(tables_info(rig.table).staging_full, 1);
    REFUSED(ASHLAR_ERR_LIMIT, "all of the staging",
            ashlar_tensormap_table_rewrite(rig.table, picked[0], tables_map(50),
                                           OTHER));
    ck_assert_uint_eq(tables_on_host(rig.table, picked[0]), 2);
    finish(SLOW);
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 0);
    OK(ashlar_tensormap_table_rewrite(rig.table, picked[0], tables_map(50),
                                      OTHER));
}
END_TEST

START_TEST(a_source_without_fences_on_graphs_refuses_a_capture)
{
    struct ashlar_tensormap_handle handle;

    begin_with(ASHLAR_CAN_GRAPH);
    tables_lease(rig.table, 1, 1, &handle);
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "publish before the capture",
            capture(&handle, 1, SLOW));
    ck_assert_uint_eq(tables_state(rig.table, handle),
                      ASHLAR_TENSORMAP_ENCODED);
    ck_assert_uint_eq(tables_on_device(rig.table, handle), 0);
    publish(&handle, 1, OTHER);
    finish(SLOW);
}
END_TEST

/* --- staging and host slots ---------------------------------------------------- */

START_TEST(staging_is_used_again_behind_a_fence_of_its_stream)
{
    struct ashlar_tensormap_handle handle;
    unsigned i;

    tables_lease(rig.table, 1, 1, &handle);
    publish(&handle, 1, OTHER);
    hold(SLOW);
    for (i = 0; i < 9; i++)
        OK(ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(10 + i),
                                          SLOW));
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 9);
    REFUSED(ASHLAR_ERR_LIMIT, "work that is not done yet",
            ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30),
                                           SLOW));
    ck_assert_uint_eq(tables_on_host(rig.table, handle), 18);
    tables_check(rig.table);
    finish(SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30),
                                      OTHER));
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 0);
}
END_TEST

/* Its graph may be gone, never launched, while what was queued before is not
 * done. */
START_TEST(a_slot_rewritten_in_a_capture_waits_for_what_came_before)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;
    struct wrap *wrap = wrap_of(rig.source);

    lease_all(handles);
    publish(handles, SLOTS, OTHER);
    hold(SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, handles[0], tables_map(30),
                                      SLOW));
    hold(CAPTURED);
    wrap->captured = CAPTURED;
    OK(ashlar_tensormap_table_rewrite(rig.table, handles[0], tables_map(40),
                                      CAPTURED));
    wrap->captured = 0;
    finish(CAPTURED);
    retire(handles, 1, OTHER);
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    finish(SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 0);
}
END_TEST

/* A copy that is queued reads the host slot when its turn comes. */
START_TEST(a_host_slot_is_not_rewritten_while_a_copy_may_read_it)
{
    struct ashlar_tensormap_handle handle;

    tables_lease(rig.table, 1, 1, &handle);
    hold(SLOW);
    publish(&handle, 1, SLOW);
    REFUSED(ASHLAR_ERR_BUSY, "what was queued for slot 0 on stream 0x6",
            ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30),
                                           SLOW));
    ck_assert_uint_eq(tables_on_host(rig.table, handle), 1);
    finish(SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30), SLOW));
}
END_TEST

/* --- failures ------------------------------------------------------------------ */

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
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;
    struct ashlar_tensormap_handle handles[SLOTS], picked[3], next;

    lease_all(handles);
    picked[0] = handles[1];
    picked[1] = handles[3];
    picked[2] = handles[5];
    hold(SLOW);
    fail_nth(WRAP_COPY, 2);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, picked, 3, SLOW));
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    tables_check(rig.table);
    ck_assert_uint_eq(tables_state(rig.table, picked[0]),
                      ASHLAR_TENSORMAP_ENCODED);
    OK(ashlar_tensormap_table_look(rig.table, picked[0], &slot));
    ck_assert_uint_eq(slot.fresh, 0);
    REFUSED(ASHLAR_ERR_BUSY, "is not done yet",
            ashlar_tensormap_table_fill(rig.table, picked[0], tables_map(9)));
    REFUSED(ASHLAR_ERR_BUSY, "on stream 0x6",
            ashlar_tensormap_table_publish(rig.table, picked, 3, OTHER));
    OK(ashlar_tensormap_table_retire(rig.table, picked, 1, QUIET));
    ck_assert(!one_is_free(&next));
    /* Behind it on its own stream it goes on. */
    publish(&picked[1], 2, SLOW);
    finish(SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

/* Somebody else had the event that was left for it. */
START_TEST(a_fence_that_fails_once_is_made_all_the_same)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    hold(SLOW);
    fail_nth(WRAP_FENCE_RECORD, 2);
    publish(handles, 2, SLOW);
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(!one_is_free(&next));
    finish(SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

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
}

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
    hold(SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, picked[4], tables_map(50),
                                      SLOW));
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    finish(SLOW);
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
    OK(capture(handles, 1, CAPTURED));
    finish(CAPTURED);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 1, QUIET));
    ck_assert(one_is_free(&next));
    hold(SLOW);
    wrap->captured = SLOW;
    OK(ashlar_tensormap_table_rewrite(rig.table, picked[4], tables_map(50),
                                      SLOW));
    wrap->captured = 0;
    finish(SLOW);
    OK(ashlar_tensormap_table_retire(rig.table, picked, 5, QUIET));
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
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

/* --- the end -------------------------------------------------------------------- */

/* Destroy the table: something of it waits until `stream` is finished. */
static void destroy_waits_for(uint64_t stream,
                              const struct ashlar_fence *fences, size_t n)
{
    const volatile uint64_t *host =
        (const volatile uint64_t *)(uintptr_t)rig.table->host.base;
    const volatile uint64_t *device =
        (const volatile uint64_t *)(uintptr_t)rig.table->device.base;

    OK(ashlar_tensormap_table_destroy(rig.table, fences, n));
    REFUSED(ASHLAR_ERR_BUSY, "wait", ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(*host, 1);
    ck_assert_uint_eq(*device, 1);
    finish(stream);
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert(model_is_empty(&wrap_of(rig.source)->model));
    begin_with(0);
}

static void end_with(const struct ashlar_fence *fences, size_t n)
{
    struct ashlar_source *source = rig.source;

    destroy_waits_for(SLOW, fences, n);
    wrap_close(source);
}

START_TEST(a_table_goes_when_the_fences_of_its_end_have_passed)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish(handles, SLOTS, OTHER);
    hold(SLOW);
    end_with(ON_STREAM(SLOW));
}
END_TEST

START_TEST(a_table_goes_when_what_was_published_is_done)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    hold(SLOW);
    publish(handles, SLOTS, SLOW);
    end_with(QUIET);
}
END_TEST

START_TEST(a_table_goes_when_its_graphs_are_gone)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish(handles, 1, OTHER);
    OK(capture(handles + 1, 1, SLOW));
    OK(ashlar_tensormap_table_retire(rig.table, handles, SLOTS, QUIET));
    end_with(NULL, 0);
}
END_TEST

START_TEST(a_table_goes_when_what_was_retired_is_done)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish(handles, SLOTS, OTHER);
    hold(SLOW);
    retire(handles, SLOTS, SLOW);
    end_with(NULL, 0);
}
END_TEST

/* Where host slots are a block of the heap, that waits as well. */
START_TEST(a_block_of_host_slots_goes_with_the_rest)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    begin_with(ASHLAR_CAN_HOST_ACCESS);
    lease_all(handles);
    hold(SLOW);
    publish(handles, SLOTS, SLOW);
    end_with(QUIET);
}
END_TEST

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
    wrap_arm(rig.source, (struct wrap_fault){.at = 1,
                                             .for_ever = true,
                                             .only = 1u << WRAP_FENCE_RECORD});
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
    hold(SLOW);
    end_with(fences, 2);
}
END_TEST

START_TEST(a_refused_fence_leaves_the_table)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    hold(SLOW);
    publish(handles, 2, SLOW);
    fail_nth(WRAP_FENCE_RECORD, 1);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_destroy(rig.table, ON_STREAM(OTHER)));
    (void)wrap_lift(rig.source);
    tables_check(rig.table);
    ck_assert_uint_eq(tables_on_device(rig.table, handles[1]), 2);
    finish(SLOW);
}
END_TEST

/* --- the suite ------------------------------------------------------------------- */

static TCase *fence_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, setup, teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static void add_slots(Suite *suite)
{
    TCase *tcase = fence_case(suite, "slots");

    tcase_add_test(tcase,
                   no_slot_is_used_again_while_a_kernel_that_reads_it_runs);
    tcase_add_test(tcase, all_fences_of_a_retire_have_to_pass);
    tcase_add_test(tcase, retires_are_had_again_in_the_order_their_fences_pass);
    tcase_add_test(tcase,
                   a_slot_is_not_used_again_before_what_publishes_it_is_done);
    tcase_add_test(tcase, a_fence_that_is_refused_leaves_the_lease);
    tcase_add_test(tcase, what_is_published_in_a_capture_belongs_to_its_graph);
    tcase_add_test(tcase, staging_of_a_capture_is_its_graphs);
    tcase_add_test(tcase, staging_is_used_again_behind_a_fence_of_its_stream);
    tcase_add_test(tcase,
                   a_slot_rewritten_in_a_capture_waits_for_what_came_before);
    tcase_add_test(tcase,
                   a_host_slot_is_not_rewritten_while_a_copy_may_read_it);
}

static void add_failures(Suite *suite)
{
    TCase *tcase = fence_case(suite, "failures");

    tcase_add_test(tcase, a_stream_that_takes_no_fence_has_nothing_queued);
    tcase_add_test(tcase, what_a_failed_publish_queued_is_waited_for);
    tcase_add_test(tcase, a_fence_that_fails_once_is_made_all_the_same);
    tcase_add_test(tcase,
                   what_has_no_fence_gets_none_by_the_number_of_its_stream);
    tcase_add_test(tcase,
                   a_rewrite_makes_up_the_fence_of_what_published_its_slot);
    tcase_add_test(tcase,
                   a_publish_that_failed_without_its_fence_is_tried_again);
    tcase_add_test(tcase, a_graph_makes_up_no_fence_and_is_held_up_by_none);
    tcase_add_test(tcase, a_context_that_failed_is_waited_for_no_more);
}

static void add_ends(Suite *suite)
{
    TCase *tcase = fence_case(suite, "end");

    tcase_add_test(tcase, a_table_goes_when_the_fences_of_its_end_have_passed);
    tcase_add_test(tcase, a_table_goes_when_what_was_published_is_done);
    tcase_add_test(tcase, a_table_goes_when_its_graphs_are_gone);
    tcase_add_test(tcase, a_table_goes_when_what_was_retired_is_done);
    tcase_add_test(
        tcase, a_table_with_an_unfenced_publish_goes_by_the_callers_word_alone);
    tcase_add_test(tcase,
                   that_word_may_stand_beside_fences_that_are_waited_for);
    tcase_add_test(tcase, a_refused_fence_leaves_the_table);
    tcase = tcase_create("lacking");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, a_block_of_host_slots_goes_with_the_rest);
    tcase_add_test(tcase, a_source_without_fences_on_graphs_refuses_a_capture);
    suite_add_tcase(suite, tcase);
}

static Suite *fence_suite(void)
{
    Suite *suite = suite_create("map_table_fence");

    add_slots(suite);
    add_failures(suite);
    add_ends(suite);
    return suite;
}

int main(void)
{
    return suite_run(fence_suite());
}
