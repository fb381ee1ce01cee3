/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tables of tensor maps: leases, what slots hold, and a table's life. */
#include "config.h"

#include "support/tables.h"

#include <stdlib.h>

#include "support/child.h"
#include "support/encode_source.h"

#define STREAM UINT64_C(5)
#define SLOTS  256

static struct tables_rig rig;

static void setup(void)
{
    tables_begin(&rig, 0, SLOTS, 64);
}

static void teardown(void)
{
    tables_end(&rig);
}

static enum ashlar_status publish(const struct ashlar_tensormap_handle *handles,
                                  size_t n)
{
    return ashlar_tensormap_table_publish(rig.table, handles, n, STREAM);
}

static enum ashlar_status retire(const struct ashlar_tensormap_handle *handles,
                                 size_t n)
{
    return ashlar_tensormap_table_retire(rig.table, handles, n, QUIET);
}

/* --- leases ---------------------------------------------------------------- */

START_TEST(a_slot_is_at_base_and_128_bytes_an_index)
{
    struct ashlar_tensormap_handle handles[100];
    uint64_t base = tables_info(rig.table).base;
    size_t i;

    ck_assert_uint_eq(base % 128, 0);
    tables_lease(rig.table, 100, 1, handles);
    for (i = 0; i < 100; i++) {
        ck_assert_uint_eq(tables_look(rig.table, handles[i]).address,
                          base + handles[i].index * UINT64_C(128));
        ck_assert_uint_eq(
            (uintptr_t)tables_look(rig.table, handles[i]).map % 128, 0);
        ck_assert_ptr_eq(ashlar_tensormap_table_map(rig.table, handles[i]),
                         tables_look(rig.table, handles[i]).map);
    }
}
END_TEST

START_TEST(slots_are_side_by_side_where_there_are_as_many_neighbours)
{
    struct ashlar_tensormap_handle all[64], rest[SLOTS - 64], some[8];
    size_t i;

    OK(ashlar_tensormap_table_lease(rig.table, 64, all));
    for (i = 1; i < 64; i++)
        ck_assert_uint_eq(all[i].index, all[0].index + i);
    /* Of those that are free again, a run is found first. */
    OK(ashlar_tensormap_table_lease(rig.table, SLOTS - 64, rest));
    OK(retire(&all[3], 1));
    OK(retire(&all[9], 1));
    OK(retire(&all[20], 8));
    OK(ashlar_tensormap_table_lease(rig.table, 8, some));
    for (i = 0; i < 8; i++)
        ck_assert_uint_eq(some[i].index, all[20].index + i);
    OK(ashlar_tensormap_table_lease(rig.table, 2, some));
    ck_assert_uint_eq(some[0].index, all[3].index);
    ck_assert_uint_eq(some[1].index, all[9].index);
}
END_TEST

START_TEST(a_run_without_neighbours_is_refused_as_fragmented)
{
    struct ashlar_tensormap_handle all[SLOTS], some[2];
    size_t i;

    OK(ashlar_tensormap_table_lease(rig.table, SLOTS, all));
    for (i = 0; i < SLOTS; i += 2)
        OK(retire(&all[i], 1));
    REFUSED(ASHLAR_ERR_FRAGMENTED, "128 of 256 slots are free",
            ashlar_tensormap_table_lease_run(rig.table, 2, some));
    tables_check(rig.table);
    OK(ashlar_tensormap_table_lease(rig.table, 2, some));
    ck_assert_uint_eq(some[1].index, some[0].index + 2);
}
END_TEST

/* Free slots at the end, and more that may come behind them. */
START_TEST(a_run_is_made_of_the_last_free_slots_and_new_ones)
{
    size_t granule = tables_granule(rig.source);
    size_t most = granule + granule / 2, i;
    struct ashlar_tensormap_handle *handles =
        calloc(most, sizeof(struct ashlar_tensormap_handle));

    ck_assert_ptr_nonnull(handles);
    OK(ashlar_tensormap_table_destroy(rig.table, QUIET));
    rig.table = tables_make(rig.source, most, 0);
    OK(ashlar_tensormap_table_reserve(rig.table, 1));
    i = rig.table->slots;
    ck_assert_uint_lt(i, most);
    OK(ashlar_tensormap_table_lease(rig.table, i, handles));
    OK(retire(&handles[8], i - 8));
    OK(ashlar_tensormap_table_lease_run(rig.table, most - 8, handles));
    ck_assert_uint_eq(handles[0].index, 8);
    ck_assert_uint_eq(handles[most - 9].index, most - 1);
    tables_check(rig.table);
    free(handles);
}
END_TEST

START_TEST(a_lease_beyond_the_most_slots_says_what_has_them)
{
    struct ashlar_tensormap_handle all[SLOTS], more = {7, 7};
    struct tables_state *before, *after;

    OK(ashlar_tensormap_table_lease(rig.table, SLOTS, all));
    before = tables_save(rig.table);
    REFUSED(ASHLAR_ERR_LIMIT, "of 256 that the table may have 256 are leased",
            ashlar_tensormap_table_lease(rig.table, 1, &more));
    REFUSED(ASHLAR_ERR_LIMIT, "1 slots were asked for",
            ashlar_tensormap_table_lease_run(rig.table, 1, &more));
    REFUSED(ASHLAR_ERR_LIMIT, "1 slots were asked for",
            ashlar_tensormap_table_reserve(rig.table, 1));
    ck_assert_uint_eq(more.index, 7);
    after = tables_save(rig.table);
    ck_assert_ptr_null(tables_differ(before, after));
    tables_forget(before);
    tables_forget(after);
}
END_TEST

/* A workspace that is resized under graphs that hold its address. */
START_TEST(slots_never_move_while_the_table_grows)
{
    size_t granule = tables_granule(rig.source), n = 8 * granule;
    struct ashlar_tensormap_table *table = tables_make(rig.source, n, 8);
    struct ashlar_tensormap_handle *handles = calloc(n, sizeof(*handles));
    uint64_t base = tables_info(table).base;
    const void *map;

    tables_lease(table, 3, 1, handles);
    OK(ashlar_tensormap_table_publish(table, handles, 3, STREAM));
    map = ashlar_tensormap_table_map(table, handles[2]);
    ck_assert_uint_eq(tables_info(table).slots, granule);
    tables_lease(table, n - 3, 4, handles + 3);
    ck_assert_uint_eq(tables_info(table).slots, n);
    ck_assert_uint_eq(tables_info(table).grows, 2);
    ck_assert_uint_eq(tables_info(table).base, base);
    ck_assert_ptr_eq(ashlar_tensormap_table_map(table, handles[2]), map);
    ck_assert_uint_eq(tables_on_device(table, handles[2]), 3);
    OK(ashlar_tensormap_table_publish(table, handles + 3, n - 3, STREAM));
    ck_assert_uint_eq(tables_on_device(table, handles[n - 1]), n);
    tables_check(table);
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    free(handles);
}
END_TEST

START_TEST(what_was_reserved_is_leased_without_a_call_into_the_source)
{
    struct ashlar_tensormap_handle handles[100];
    uint64_t calls;

    OK(ashlar_tensormap_table_reserve(rig.table, 100));
    calls = wrap_calls(rig.source);
    OK(ashlar_tensormap_table_lease(rig.table, 60, handles));
    OK(ashlar_tensormap_table_lease_run(rig.table, 40, handles));
    ck_assert_uint_eq(wrap_calls(rig.source), calls);
    OK(ashlar_tensormap_table_reserve(rig.table, 0));
    ck_assert_uint_eq(wrap_calls(rig.source), calls);
}
END_TEST

/* --- states ---------------------------------------------------------------- */

/* A descriptor that is used before there is what it describes. */
START_TEST(a_slot_is_empty_then_encoded_then_published)
{
    struct ashlar_tensormap_handle handle;

    OK(ashlar_tensormap_table_lease(rig.table, 1, &handle));
    ck_assert_uint_eq(tables_look(rig.table, handle).state,
                      ASHLAR_TENSORMAP_EMPTY);
    ck_assert_ptr_null(tables_look(rig.table, handle).map);
    REFUSED(ASHLAR_ERR_INVALID, "slot 0 is empty", publish(&handle, 1));
    ck_assert_ptr_null(ashlar_tensormap_table_map(rig.table, handle));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "is empty"));
    REFUSED(ASHLAR_ERR_INVALID, "is not published",
            ashlar_tensormap_table_rewrite(rig.table, handle, tables_map(1),
                                           STREAM));
    OK(ashlar_tensormap_table_fill(rig.table, handle, tables_map(1)));
    ck_assert_uint_eq(tables_look(rig.table, handle).state,
                      ASHLAR_TENSORMAP_ENCODED);
    OK(ashlar_tensormap_table_fill(rig.table, handle, tables_map(2)));
    OK(publish(&handle, 1));
    ck_assert_uint_eq(tables_look(rig.table, handle).state,
                      ASHLAR_TENSORMAP_PUBLISHED);
    ck_assert_uint_eq(tables_on_device(rig.table, handle), 2);
    ck_assert_uint_eq(tables_look(rig.table, handle).fresh, 1);
}
END_TEST

/* A map that others may read does not change under them. */
START_TEST(what_is_published_stays_as_it_is)
{
    struct ashlar_tensormap_handle handle;

    tables_lease(rig.table, 1, 1, &handle);
    OK(publish(&handle, 1));
    REFUSED(ASHLAR_ERR_BUSY, "is published, and stays as it is",
            ashlar_tensormap_table_fill(rig.table, handle, tables_map(2)));
    REFUSED(ASHLAR_ERR_BUSY, "ashlar_tensormap_table_rewrite()",
            publish(&handle, 1));
    ck_assert_uint_eq(tables_on_host(rig.table, handle), 1);
    ck_assert_uint_eq(tables_on_device(rig.table, handle), 1);
}
END_TEST

START_TEST(a_handle_of_another_lease_is_refused_by_all)
{
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;
    struct ashlar_tensormap_handle wrong[4] = {
        {0, 0}, {0, 1}, {SLOTS, 1}, {3, UINT32_C(1) << 27}};
    struct ashlar_tensormap_handle rest[SLOTS - 1], again;
    size_t i;

    tables_lease(rig.table, 1, 1, &wrong[1]);
    OK(retire(&wrong[1], 1));
    OK(ashlar_tensormap_table_lease(rig.table, SLOTS - 1, rest));
    OK(ashlar_tensormap_table_lease(rig.table, 1, &again));
    ck_assert_uint_eq(again.index, wrong[1].index);
    ck_assert_uint_eq(again.generation, wrong[1].generation + 1);
    for (i = 0; i < 4; i++) {
        REFUSED(ASHLAR_ERR_NOT_LIVE, "of no lease", publish(&wrong[i], 1));
        REFUSED(ASHLAR_ERR_NOT_LIVE, "never leased", retire(&wrong[i], 1));
        REFUSED(
            ASHLAR_ERR_NOT_LIVE, "of no lease",
            ashlar_tensormap_table_fill(rig.table, wrong[i], tables_map(1)));
        REFUSED(ASHLAR_ERR_NOT_LIVE, "of no lease",
                ashlar_tensormap_table_look(rig.table, wrong[i], &slot));
        REFUSED(ASHLAR_ERR_NOT_LIVE, "of no lease",
                ashlar_tensormap_table_rewrite(rig.table, wrong[i],
                                               tables_map(1), STREAM));
        ck_assert_ptr_null(ashlar_tensormap_table_map(rig.table, wrong[i]));
    }
}
END_TEST

/* As if it had been leased so often. A zeroed handle stays one of no lease. */
START_TEST(behind_the_last_generation_comes_the_first)
{
    struct ashlar_tensormap_handle handle, zero = {0, 0};
    uint32_t last = WORD_GENERATIONS - 1, *word;

    tables_lease(rig.table, 1, 1, &handle);
    word = &rig.table->words[handle.index];
    *word |= last << WORD_GENERATION_SHIFT;
    handle.generation = last;
    ck_assert_uint_eq(tables_on_host(rig.table, handle), 1);
    OK(retire(&handle, 1));
    ck_assert_uint_eq(*word >> WORD_GENERATION_SHIFT, 1);
    ck_assert_uint_eq(tables_state(rig.table, handle), 0);
    ck_assert_uint_eq(tables_state(rig.table, zero), 0);
}
END_TEST

START_TEST(a_slot_is_retired_once)
{
    struct ashlar_tensormap_handle handles[3];

    tables_lease(rig.table, 3, 1, handles);
    OK(retire(handles, 1));
    REFUSED(ASHLAR_ERR_NOT_LIVE, "handle 0 (slot 0, generation 1)",
            retire(handles, 3));
    handles[0] = handles[2];
    REFUSED(ASHLAR_ERR_BUSY,
            "handle 2: slot 2 is in the hands of another "
            "thread, or the handle is there twice",
            retire(handles, 3));
    tables_check(rig.table);
    ck_assert_uint_eq(tables_info(rig.table).leased, 2);
    OK(retire(&handles[1], 2));
    ck_assert_uint_eq(tables_info(rig.table).leased, 0);
}
END_TEST

START_TEST(a_refused_batch_names_the_handle_and_changes_nothing)
{
    struct ashlar_tensormap_handle handles[40];
    struct tables_state *before, *after;

    tables_lease(rig.table, 39, 1, handles);
    OK(ashlar_tensormap_table_lease(rig.table, 1, &handles[39]));
    before = tables_save(rig.table);
    REFUSED(ASHLAR_ERR_INVALID, "handle 39: slot 39 is empty",
            publish(handles, 40));
    handles[39] = handles[4];
    REFUSED(ASHLAR_ERR_BUSY,
            "handle 39: slot 4 is in the hands of another "
            "thread, or the handle is there twice",
            publish(handles, 40));
    after = tables_save(rig.table);
    ck_assert_ptr_null(tables_differ(before, after));
    ck_assert_uint_eq(tables_on_device(rig.table, handles[0]), 0);
    tables_forget(before);
    tables_forget(after);
}
END_TEST

START_TEST(a_slot_that_was_published_before_is_not_fresh)
{
    struct ashlar_tensormap_handle handles[SLOTS];

    OK(ashlar_tensormap_table_lease(rig.table, SLOTS, handles));
    OK(retire(handles, 1));
    OK(ashlar_tensormap_table_lease(rig.table, 1, handles));
    ck_assert_uint_eq(tables_look(rig.table, handles[0]).fresh, 1);
    OK(ashlar_tensormap_table_fill(rig.table, handles[0], tables_map(1)));
    OK(publish(handles, 1));
    ck_assert_uint_eq(tables_look(rig.table, handles[0]).fresh, 1);
    OK(retire(handles, 1));
    OK(ashlar_tensormap_table_lease(rig.table, 1, handles));
    ck_assert_uint_eq(tables_look(rig.table, handles[0]).fresh, 0);
}
END_TEST

/* --- create, query, destroy -------------------------------------------------- */

static enum ashlar_status create(struct ashlar_source *source, size_t max,
                                 size_t initial, size_t staging)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    struct ashlar_tensormap_table *made = NULL;
    enum ashlar_status status;

    options.max_slots = max;
    options.initial_slots = initial;
    options.staging_slots = staging;
    status = ashlar_tensormap_table_create(source, &options, &made);
    if (status == ASHLAR_OK) {
        ck_assert_uint_ge(tables_info(made).slots, initial);
        OK(ashlar_tensormap_table_destroy(made, NULL, 0));
    }
    return status;
}

START_TEST(options_are_refused_with_the_value_and_what_would_be_right)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    struct ashlar_tensormap_table *made = (void *)&options;
    struct ashlar_source *heap = NULL;

    OK(ashlar_source_open("heap", NULL, &heap));
    REFUSED(ASHLAR_ERR_INVALID, "max_slots is 4194305; a table has at most",
            create(rig.source, 4194305, 0, 0));
    REFUSED(ASHLAR_ERR_INVALID, "initial_slots is 9, above max_slots",
            create(rig.source, 8, 9, 0));
    REFUSED(ASHLAR_ERR_INVALID, "staging_slots is 4194305",
            create(rig.source, 8, 0, 4194305));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "ranges, copies and fences",
            create(heap, 8, 0, 0));
    options.host = heap;
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "options.host is the source \"heap\"",
            ashlar_tensormap_table_create(rig.source, &options, &made));
    options.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "ashlar_tensormap_table_options",
            ashlar_tensormap_table_create(rig.source, &options, &made));
    ck_assert_ptr_eq(made, &options);
    REFUSED(ASHLAR_ERR_INVALID, "table_out",
            ashlar_tensormap_table_create(rig.source, NULL, NULL));
    OK(create(rig.source, 1, 1, 1));
    OK(create(rig.source, 0, 100, 0));
    OK(ashlar_source_close(heap));
}
END_TEST

START_TEST(null_is_refused_by_name)
{
    struct ashlar_tensormap_handle handle = {0, 1};
    struct ashlar_spec spec = encode_spec(1);

    REFUSED(ASHLAR_ERR_INVALID, "NULL for table",
            ashlar_tensormap_table_publish(NULL, &handle, 1, 0));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for handles", publish(NULL, 1));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for handles", retire(NULL, 1));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for handles_out",
            ashlar_tensormap_table_lease(rig.table, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for map",
            ashlar_tensormap_table_fill(rig.table, handle, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for map",
            ashlar_tensormap_table_rewrite(rig.table, handle, NULL, 0));
    REFUSED(ASHLAR_ERR_INVALID, "was given no fences",
            ashlar_tensormap_table_retire(rig.table, &handle, 1, NULL, 0));
    tables_lend_encoder(rig.source);
    REFUSED(ASHLAR_ERR_INVALID, "NULL for spec",
            ashlar_tensormap_table_encode(rig.table, handle, NULL));
    REFUSED(
        ASHLAR_ERR_INVALID, "NULL for specs",
        ashlar_tensormap_table_encode_many(rig.table, &handle, NULL, 1, NULL));
    spec.size = 0;
    REFUSED(
        ASHLAR_ERR_INVALID, "specs[0] is 0",
        ashlar_tensormap_table_encode_many(rig.table, &handle, &spec, 1, NULL));
}
END_TEST

START_TEST(a_table_with_leases_is_destroyed_only_behind_fences)
{
    struct ashlar_tensormap_table *table = tables_make(rig.source, 8, 8);
    struct ashlar_tensormap_handle handles[3];

    tables_lease(table, 3, 1, handles);
    REFUSED(ASHLAR_ERR_BUSY, "3 slots of the table are leased",
            ashlar_tensormap_table_destroy(table, NULL, 0));
    REFUSED(ASHLAR_ERR_INVALID, "was given no fences",
            ashlar_tensormap_table_destroy(table, NULL, 1));
    OK(ashlar_tensormap_table_destroy(table, ON_STREAM(STREAM)));
}
END_TEST

/* A stray ashlar_range_destroy() of what lies at an address that is known. */
START_TEST(the_range_of_a_table_is_not_destroyed_under_it)
{
    struct ashlar_range *range = ashlar_range_find(tables_info(rig.table).base);

    ck_assert_ptr_nonnull(range);
    REFUSED(ASHLAR_ERR_BUSY, "table(s) or arena(s) stand on the range",
            ashlar_range_destroy(range, QUIET));
}
END_TEST

static int use_in_child(void *table)
{
    struct ashlar_tensormap_handle handle;

    if (ashlar_tensormap_table_lease(table, 1, &handle) != ASHLAR_ERR_FORKED)
        return 1;
    return ashlar_tensormap_table_destroy(table, NULL, 0) != ASHLAR_ERR_FORKED;
}

START_TEST(a_child_of_fork_is_refused)
{
    ck_assert_int_eq(child_verdict(use_in_child, rig.table), 0);
}
END_TEST

/* --- free slots -------------------------------------------------------------- */

START_TEST(runs_of_bits_are_found_as_by_trying_each)
{
    uint64_t bits[4], seed = 1;
    size_t round, n, at, length, end = 250;

    for (round = 0; round < 2000; round++) {
        for (at = 0; at < 4; at++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            bits[at] = round % 3 == 0 ? seed : seed | seed << 7 | seed >> 13;
        }
        if (round % 5 == 0)
            bits_set(bits, round % 100, 90 + round % 50);
        if (round % 7 == 0)
            bits_clear(bits, round % 130, 70);
        n = 1 + round % 140;
        for (at = 0, length = 0; at < end && length < n; at++)
            length = bits_has(bits, at) ? length + 1 : 0;
        ck_assert_uint_eq(bits_find(bits, end, n),
                          length == n ? at - n : BITS_NONE);
    }
}
END_TEST

/* --- the suite --------------------------------------------------------------- */

static TCase *table_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, setup, teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static void add_leases(Suite *suite)
{
    TCase *tcase = table_case(suite, "leases");

    tcase_add_test(tcase, a_slot_is_at_base_and_128_bytes_an_index);
    tcase_add_test(tcase,
                   slots_are_side_by_side_where_there_are_as_many_neighbours);
    tcase_add_test(tcase, a_run_without_neighbours_is_refused_as_fragmented);
    tcase_add_test(tcase, a_run_is_made_of_the_last_free_slots_and_new_ones);
    tcase_add_test(tcase, a_lease_beyond_the_most_slots_says_what_has_them);
    tcase_add_test(tcase, slots_never_move_while_the_table_grows);
    tcase_add_test(tcase,
                   what_was_reserved_is_leased_without_a_call_into_the_source);
}

static void add_states(Suite *suite)
{
    TCase *tcase = table_case(suite, "states");

    tcase_add_test(tcase, a_slot_is_empty_then_encoded_then_published);
    tcase_add_test(tcase, what_is_published_stays_as_it_is);
    tcase_add_test(tcase, a_handle_of_another_lease_is_refused_by_all);
    tcase_add_test(tcase, behind_the_last_generation_comes_the_first);
    tcase_add_test(tcase, a_slot_is_retired_once);
    tcase_add_test(tcase, a_refused_batch_names_the_handle_and_changes_nothing);
    tcase_add_test(tcase, a_slot_that_was_published_before_is_not_fresh);
}

static Suite *table_suite(void)
{
    Suite *suite = suite_create("map_table");
    TCase *tcase;

    add_leases(suite);
    add_states(suite);
    tcase = table_case(suite, "life");
    tcase_add_test(tcase,
                   options_are_refused_with_the_value_and_what_would_be_right);
    tcase_add_test(tcase, null_is_refused_by_name);
    tcase_add_test(tcase, a_table_with_leases_is_destroyed_only_behind_fences);
    tcase_add_test(tcase, the_range_of_a_table_is_not_destroyed_under_it);
    tcase_add_test(tcase, a_child_of_fork_is_refused);
    tcase = tcase_create("bits");
    tcase_add_test(tcase, runs_of_bits_are_found_as_by_trying_each);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(table_suite());
}
