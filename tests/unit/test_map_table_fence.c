/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * When slots and staging of a table are had again: streams whose work the test
 * finishes by hand stand for slow kernels, and for graphs.
 */
#include "config.h"

#include "support/tables.h"

#define SLOW     UINT64_C(6) /* its work is held */
#define OTHER    UINT64_C(7)
#define CAPTURED UINT64_C(8)
#define SLOTS    8

static struct tables_rig rig;

static void begin_with(uint64_t lacks)
{
    tables_begin(&rig, lacks, SLOTS, 8);
}

static void setup(void)
{
    begin_with(0);
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

static void retire(const struct ashlar_tensormap_handle *handles, size_t n,
                   uint64_t stream)
{
    OK(ashlar_tensormap_table_retire(rig.table, handles, n, ON_STREAM(stream)));
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
    tables_hold(&rig, SLOW);
    retire(handles, 1, SLOW);
    ck_assert(!one_is_free(&next));
    ck_assert(ranges_error_is(ASHLAR_ERR_LIMIT,
                              "7 are leased, and 1 retired and not to be had"));
    ck_assert_uint_eq(tables_info(rig.table).waiting, 1);
    ck_assert_uint_eq(tables_number(map), 1);
    tables_finish(&rig, SLOW);
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
    tables_hold(&rig, SLOW);
    tables_hold(&rig, OTHER);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 3, fences, 2));
    tables_finish(&rig, OTHER);
    ck_assert(!one_is_free(&next));
    tables_finish(&rig, SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).waiting, 0);
}
END_TEST

START_TEST(retires_are_had_again_in_the_order_their_fences_pass)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    tables_hold(&rig, SLOW);
    retire(handles, 2, SLOW);
    retire(&handles[2], 1, OTHER);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(next.index, handles[2].index);
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    tables_finish(&rig, SLOW);
    ck_assert(one_is_free(&next));
}
END_TEST

/* The copy would come after the next map is there, and bring the old one. */
START_TEST(a_slot_is_not_used_again_before_what_publishes_it_is_done)
{
    struct ashlar_tensormap_handle handles[SLOTS], next;

    lease_all(handles);
    tables_hold(&rig, SLOW);
    publish(handles, 2, SLOW);
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    tables_finish(&rig, SLOW);
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
    OK(tables_capture(&rig, handles, 3, SLOW));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 3);
    ck_assert_uint_eq(tables_state(rig.table, handles[0]),
                      ASHLAR_TENSORMAP_PUBLISHED);
    REFUSED(ASHLAR_ERR_BUSY, "belongs to a graph",
            ashlar_tensormap_table_rewrite(rig.table, handles[0],
                                           tables_map(50), OTHER));
    OK(ashlar_tensormap_table_retire(rig.table, handles, 2, QUIET));
    ck_assert(!one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 3);
    tables_finish(&rig, SLOW);
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
    OK(tables_capture(&rig, picked, 8, SLOW));
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
    tables_finish(&rig, SLOW);
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
            tables_capture(&rig, &handle, 1, SLOW));
    ck_assert_uint_eq(tables_state(rig.table, handle),
                      ASHLAR_TENSORMAP_ENCODED);
    ck_assert_uint_eq(tables_on_device(rig.table, handle), 0);
    publish(&handle, 1, OTHER);
    tables_finish(&rig, SLOW);
}
END_TEST

/* --- staging and host slots ---------------------------------------------------- */

START_TEST(staging_is_used_again_behind_a_fence_of_its_stream)
{
    struct ashlar_tensormap_handle handle, other;
    unsigned i;

    tables_lease(rig.table, 1, 1, &handle);
    tables_lease(rig.table, 1, 2, &other);
    publish(&handle, 1, OTHER);
    publish(&other, 1, OTHER);
    tables_hold(&rig, SLOW);
    for (i = 0; i < 9; i++)
        OK(ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(10 + i),
                                          SLOW));
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 9);
    REFUSED(ASHLAR_ERR_LIMIT, "work that is not done yet",
            ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30),
                                           SLOW));
    ck_assert_uint_eq(tables_on_host(rig.table, handle), 18);
    tables_check(rig.table);
    tables_finish(&rig, SLOW);
    /* Nothing but the want of it makes anybody look. */
    OK(ashlar_tensormap_table_rewrite(rig.table, other, tables_map(30), OTHER));
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
    tables_hold(&rig, SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, handles[0], tables_map(30),
                                      SLOW));
    tables_hold(&rig, CAPTURED);
    wrap->captured = CAPTURED;
    OK(ashlar_tensormap_table_rewrite(rig.table, handles[0], tables_map(40),
                                      CAPTURED));
    wrap->captured = 0;
    tables_finish(&rig, CAPTURED);
    retire(handles, 1, OTHER);
    ck_assert(!one_is_free(&next));
    tables_check(rig.table);
    tables_finish(&rig, SLOW);
    ck_assert(one_is_free(&next));
    ck_assert_uint_eq(tables_info(rig.table).in_graphs, 0);
}
END_TEST

/* A copy that is queued reads the host slot when its turn comes. */
START_TEST(a_host_slot_is_not_rewritten_while_a_copy_may_read_it)
{
    struct ashlar_tensormap_handle handle;

    tables_lease(rig.table, 1, 1, &handle);
    tables_hold(&rig, SLOW);
    publish(&handle, 1, SLOW);
    REFUSED(ASHLAR_ERR_BUSY, "what was queued for slot 0 on stream 0x6",
            ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30),
                                           SLOW));
    ck_assert_uint_eq(tables_on_host(rig.table, handle), 1);
    tables_finish(&rig, SLOW);
    OK(ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(30), SLOW));
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
    tables_finish(&rig, stream);
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
    tables_hold(&rig, SLOW);
    end_with(ON_STREAM(SLOW));
}
END_TEST

START_TEST(a_table_goes_when_what_was_published_is_done)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    tables_hold(&rig, SLOW);
    publish(handles, SLOTS, SLOW);
    end_with(QUIET);
}
END_TEST

START_TEST(a_table_goes_when_its_graphs_are_gone)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish(handles, 1, OTHER);
    OK(tables_capture(&rig, handles + 1, 1, SLOW));
    OK(ashlar_tensormap_table_retire(rig.table, handles, SLOTS, QUIET));
    end_with(NULL, 0);
}
END_TEST

START_TEST(a_table_goes_when_what_was_retired_is_done)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    publish(handles, SLOTS, OTHER);
    tables_hold(&rig, SLOW);
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
    tables_hold(&rig, SLOW);
    publish(handles, SLOTS, SLOW);
    end_with(QUIET);
}
END_TEST

START_TEST(a_refused_fence_leaves_the_table)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    lease_all(handles);
    tables_hold(&rig, SLOW);
    publish(handles, 2, SLOW);
    wrap_arm(rig.source,
             (struct wrap_fault){.at = 1, .only = 1u << WRAP_FENCE_RECORD});
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_destroy(rig.table, ON_STREAM(OTHER)));
    (void)wrap_lift(rig.source);
    tables_check(rig.table);
    ck_assert_uint_eq(tables_on_device(rig.table, handles[1]), 2);
    tables_finish(&rig, SLOW);
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

static void add_ends(Suite *suite)
{
    TCase *tcase = fence_case(suite, "end");

    tcase_add_test(tcase, a_table_goes_when_the_fences_of_its_end_have_passed);
    tcase_add_test(tcase, a_table_goes_when_what_was_published_is_done);
    tcase_add_test(tcase, a_table_goes_when_its_graphs_are_gone);
    tcase_add_test(tcase, a_table_goes_when_what_was_retired_is_done);
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
    add_ends(suite);
    return suite;
}

int main(void)
{
    return suite_run(fence_suite());
}
