/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Many neighbours of a table at once: the library looks at them block by block,
 * which must not be seen but in the time that it takes.
 */
#include "config.h"

#include "support/tables.h"

#include <stdio.h>
#include <string.h>

#include "support/encode_source.h"

#define STREAM UINT64_C(5)
#define SLOW   UINT64_C(6) /* its work is held */
#define BLOCK  SLOT_BLOCK
#define N      (3 * BLOCK + 4) /* in blocks, and a rest */
#define SLOTS  (2 * N)

static struct tables_rig rig;
static struct ashlar_tensormap_handle all[SLOTS]; /* slot i has map i + 1 */

static void setup(void)
{
    tables_begin(&rig, ASHLAR_CAN_SCATTER, SLOTS, 8);
    tables_lease(rig.table, SLOTS, 1, all);
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

static uint64_t copies(void)
{
    return tables_info(rig.table).copies;
}

/* Of some slots exactly, and of no others, the map is on the device. */
static void check_there(size_t first, size_t n)
{
    size_t i;

    for (i = 0; i < SLOTS; i++)
        ck_assert_uint_eq(tables_on_device(rig.table, all[i]),
                          i >= first && i < first + n ? i + 1 : 0);
}

static void check_state(const struct ashlar_tensormap_handle *handles, size_t n,
                        uint32_t state)
{
    size_t i;

    for (i = 0; i < n; i++)
        ck_assert_uint_eq(tables_state(rig.table, handles[i]), state);
}

/* --- runs that are as they should be ---------------------------------------- */

static const size_t lengths[] = {1,         2,         BLOCK - 1,     BLOCK,
                                 BLOCK + 1, 2 * BLOCK, 2 * BLOCK + 1, N};

#define LENGTHS (int)(sizeof(lengths) / sizeof(lengths[0]))

START_TEST(a_run_of_any_length_takes_one_copy)
{
    size_t n = lengths[_i];

    OK(publish(&all[5], n));
    ck_assert_uint_eq(copies(), 1);
    check_there(5, n);
    check_state(&all[5], n, ASHLAR_TENSORMAP_PUBLISHED);
    check_state(&all[5 + n], SLOTS - 5 - n, ASHLAR_TENSORMAP_ENCODED);
    tables_check(rig.table);
}
END_TEST

START_TEST(the_last_slots_of_a_table_are_a_run_like_others)
{
    OK(publish(&all[SLOTS - BLOCK], BLOCK));
    ck_assert_uint_eq(copies(), 1);
    check_there(SLOTS - BLOCK, BLOCK);
}
END_TEST

/* Neighbours need not have been leased together, nor be fresh. */
START_TEST(a_run_may_be_of_leases_of_any_age)
{
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;
    size_t i;

    OK(publish(all, N));
    OK(ashlar_tensormap_table_retire(rig.table, all, N, QUIET));
    tables_lease(rig.table, N, 1, all);
    OK(ashlar_tensormap_table_retire(rig.table, &all[BLOCK + 3], 2, QUIET));
    tables_lease(rig.table, 2, BLOCK + 4, &all[BLOCK + 3]);
    ck_assert_uint_eq(all[BLOCK + 3].generation, all[BLOCK].generation + 1);
    OK(publish(all, SLOTS));
    ck_assert_uint_eq(copies(), 2);
    check_there(0, SLOTS);
    for (i = 0; i < SLOTS; i++) {
        OK(ashlar_tensormap_table_look(rig.table, all[i], &slot));
        ck_assert_uint_eq(slot.fresh, i >= N);
        ck_assert_uint_eq(slot.state, ASHLAR_TENSORMAP_PUBLISHED);
    }
}
END_TEST

/* --- what looks like a run, and is none ------------------------------------- */

static void swap(size_t i, size_t j)
{
    struct ashlar_tensormap_handle one = all[i];

    all[i] = all[j];
    all[j] = one;
}

START_TEST(neighbours_in_another_order_take_a_copy_for_each_stretch)
{
    swap(10, 11);
    OK(publish(all, 2 * BLOCK));
    ck_assert_uint_eq(copies(), 4);
    check_state(all, 2 * BLOCK, ASHLAR_TENSORMAP_PUBLISHED);
    swap(10, 11);
    check_there(0, 2 * BLOCK);
}
END_TEST

/* The first block and the third are as if all were one run. */
START_TEST(a_run_ends_where_a_block_between_is_none)
{
    swap(BLOCK, BLOCK + 1);
    OK(publish(all, N));
    ck_assert_uint_eq(copies(), 4);
    swap(BLOCK, BLOCK + 1);
    check_there(0, N);
}
END_TEST

START_TEST(a_run_ends_where_the_next_block_is_elsewhere)
{
    struct ashlar_tensormap_handle two[2 * BLOCK];

    memcpy(two, &all[BLOCK], BLOCK * sizeof(two[0]));
    memcpy(two + BLOCK, all, BLOCK * sizeof(two[0]));
    OK(publish(two, 2 * BLOCK));
    ck_assert_uint_eq(copies(), 2);
    check_there(0, 2 * BLOCK);
    memcpy(two, &all[2 * BLOCK], BLOCK * sizeof(two[0]));
    memcpy(two + BLOCK, &all[3 * BLOCK + 1], BLOCK * sizeof(two[0]));
    OK(publish(two, 2 * BLOCK));
    ck_assert_uint_eq(copies(), 4);
    ck_assert_uint_eq(tables_on_device(rig.table, all[3 * BLOCK - 1]),
                      3 * BLOCK);
    ck_assert_uint_eq(tables_on_device(rig.table, all[3 * BLOCK]), 0);
    ck_assert_uint_eq(tables_on_device(rig.table, all[3 * BLOCK + 1]),
                      3 * BLOCK + 2);
}
END_TEST

/* --- one that is refused ---------------------------------------------------- */

/* First, middle and last ones of blocks, and the rest's. */
static const size_t places[] = {0,         1,         BLOCK / 2, BLOCK - 1,
                                BLOCK,     BLOCK + 9, 2 * BLOCK, 3 * BLOCK - 1,
                                3 * BLOCK, N - 1};

#define PLACES (int)(sizeof(places) / sizeof(places[0]))

/* A publish of all is refused so, and nothing has changed. */
static void refused_as(enum ashlar_status status, const char *text)
{
    struct tables_state *before = tables_save(rig.table), *after;

    REFUSED(status, text, publish(all, N));
    after = tables_save(rig.table);
    ck_assert_ptr_null(tables_differ(before, after));
    ck_assert_uint_eq(copies(), 0);
    tables_forget(before);
    tables_forget(after);
}

/* For the one at a place. */
static void refused(size_t at, enum ashlar_status status, const char *text)
{
    char place[32];

    (void)snprintf(place, sizeof(place), "handle %zu%s", at,
                   status == ASHLAR_ERR_NOT_LIVE ? " (" : ": ");
    refused_as(status, place);
    ck_assert(ranges_error_is(status, text));
}

/* As refused(), with these bits of its slot's word changed. */
static void refused_with(size_t at, uint32_t change, enum ashlar_status status,
                         const char *text)
{
    rig.table->words[at] ^= change;
    refused(at, status, text);
    rig.table->words[at] ^= change;
}

START_TEST(one_whose_slot_is_not_ready_is_found_at_any_place)
{
    const uint32_t encoded = ASHLAR_TENSORMAP_ENCODED;
    size_t at = places[_i];

    refused_with(at, UINT32_C(1) << WORD_GENERATION_SHIFT, ASHLAR_ERR_NOT_LIVE,
                 "of no lease");
    refused_with(at, UINT32_C(1) << 31, ASHLAR_ERR_NOT_LIVE, "of no lease");
    refused_with(at, WORD_IN_HAND, ASHLAR_ERR_BUSY, "another thread");
    refused_with(at, encoded ^ ASHLAR_TENSORMAP_EMPTY, ASHLAR_ERR_INVALID,
                 "is empty");
    refused_with(at, encoded ^ ASHLAR_TENSORMAP_PUBLISHED, ASHLAR_ERR_BUSY,
                 "is published, and stays");
    OK(publish(all, N));
}
END_TEST

START_TEST(one_that_is_no_handle_is_found_at_any_place)
{
    size_t at = places[_i];
    struct ashlar_tensormap_handle good = all[at];

    all[at].generation++;
    refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    all[at].generation = good.generation | UINT32_C(1) << 27;
    refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    all[at] = good;
    all[at].index = SLOTS;
    refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    all[at].index = UINT32_MAX;
    refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    all[at] = good;
    OK(publish(all, N));
}
END_TEST

START_TEST(one_that_is_there_twice_is_found_at_any_place)
{
    size_t at = places[_i];
    struct ashlar_tensormap_handle good = all[at];

    if (at == 0)
        return;
    all[at] = all[at / 2];
    refused(at, ASHLAR_ERR_BUSY, "the handle is there twice");
    all[at] = good;
    OK(publish(all, N));
}
END_TEST

START_TEST(a_block_that_is_there_twice_is_refused)
{
    memcpy(&all[2 * BLOCK], all, BLOCK * sizeof(all[0]));
    refused(2 * BLOCK, ASHLAR_ERR_BUSY, "the handle is there twice");
}
END_TEST

/* Indices in a row, past the table's slots and past all numbers. */
START_TEST(a_block_beyond_the_table_is_refused)
{
    size_t i;

    for (i = 0; i < BLOCK; i++)
        all[BLOCK + i].index = (uint32_t)(SLOTS - 3 + i);
    refused(BLOCK + 3, ASHLAR_ERR_NOT_LIVE, "of no lease");
    for (i = 0; i < BLOCK; i++)
        all[BLOCK + i].index = (uint32_t)(UINT32_MAX - 3 + i);
    refused(BLOCK, ASHLAR_ERR_NOT_LIVE, "of no lease");
}
END_TEST

/* --- encoding into runs ----------------------------------------------------- */

static struct ashlar_spec specs[N];

/* Slots of every state that takes a map: empty ones, and encoded ones. */
static void begin_encoding(void)
{
    size_t i;

    tables_lend_encoder(rig.source);
    OK(ashlar_tensormap_table_retire(rig.table, all, N, QUIET));
    OK(ashlar_tensormap_table_lease(rig.table, N, all));
    for (i = 0; i < N; i++) {
        specs[i] = encode_spec(i);
        specs[i].dims[1] += i % 3; /* three shapes, in turn */
        if (i % 2 == 0)
            OK(ashlar_tensormap_table_fill(rig.table, all[i], &specs[i]));
    }
}

static enum ashlar_status encode_all(size_t *culprit_out)
{
    return ashlar_tensormap_table_encode_many(rig.table, all, specs, N,
                                              culprit_out);
}

static void check_encoded(void)
{
    size_t i;

    check_state(all, SLOTS, ASHLAR_TENSORMAP_ENCODED);
    for (i = 0; i < N; i++)
        ck_assert_msg(
            encode_is(ashlar_tensormap_table_map(rig.table, all[i]), &specs[i]),
            "slot %zu", i);
}

START_TEST(a_run_is_encoded_as_its_slots_would_be)
{
    begin_encoding();
    OK(encode_all(NULL));
    check_encoded();
    tables_check(rig.table);
    OK(publish(all, N));
    ck_assert_uint_eq(copies(), 1);
}
END_TEST

START_TEST(a_run_in_another_order_is_encoded_in_that_order)
{
    begin_encoding();
    swap(places[_i], places[_i] / 2);
    OK(encode_all(NULL));
    check_encoded();
    tables_check(rig.table);
}
END_TEST

/* An encode of all is refused for the one at a place; nothing has changed. */
static void encode_refused(size_t at, enum ashlar_status status,
                           const char *text)
{
    struct tables_state *before = tables_save(rig.table), *after;
    size_t culprit = N + 1;

    REFUSED(status, text, encode_all(&culprit));
    ck_assert_uint_eq(culprit, at);
    after = tables_save(rig.table);
    ck_assert_ptr_null(tables_differ(before, after));
    tables_forget(before);
    tables_forget(after);
}

START_TEST(one_that_takes_no_map_is_found_at_any_place)
{
    size_t at = places[_i];
    struct ashlar_tensormap_handle good;
    uint32_t word;

    begin_encoding();
    good = all[at];
    word = rig.table->words[at];
    rig.table->words[at] = word | WORD_IN_HAND;
    encode_refused(at, ASHLAR_ERR_BUSY, "another thread");
    rig.table->words[at] = word | ASHLAR_TENSORMAP_PUBLISHED;
    encode_refused(at, ASHLAR_ERR_BUSY, "is published, and stays");
    rig.table->words[at] = word & ~WORD_STATE;
    encode_refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    rig.table->words[at] = word;
    all[at].generation++;
    encode_refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    all[at].generation--;
    all[at].index = SLOTS;
    encode_refused(at, ASHLAR_ERR_NOT_LIVE, "of no lease");
    all[at] = good;
    OK(encode_all(NULL));
    check_encoded();
}
END_TEST

START_TEST(one_spec_that_is_refused_empties_the_run_and_no_more)
{
    size_t at = places[_i], culprit = N + 1;

    begin_encoding();
    specs[at].box[0] = 100;
    REFUSED(ASHLAR_ERR_INVALID, "box[0] is 100", encode_all(&culprit));
    ck_assert_uint_eq(culprit, at);
    tables_check(rig.table);
    check_state(all, N, ASHLAR_TENSORMAP_EMPTY);
    check_state(&all[N], SLOTS - N, ASHLAR_TENSORMAP_ENCODED);
    specs[at].box[0] = 64;
    OK(encode_all(NULL));
    check_encoded();
}
END_TEST

/* --- runs and failures ------------------------------------------------------ */

static void fail_copy(uint64_t nth)
{
    wrap_arm(rig.source,
             (struct wrap_fault){.at = nth, .only = 1u << WRAP_COPY});
}

/* What was not queued is as if nothing had been. */
START_TEST(a_run_whose_copy_fails_is_as_before)
{
    fail_copy(1);
    refused_as(ASHLAR_ERR_DRIVER, "failed on purpose");
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    OK(publish(all, N));
    check_there(0, N);
}
END_TEST

/* A copy of one, held, whose publish then failed: it is still to come. */
static void leave_pending(size_t at)
{
    struct ashlar_tensormap_handle two[2] = {all[at], all[N + 1]};

    tables_hold(&rig, SLOW);
    fail_copy(2);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, two, 2, SLOW));
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
}

START_TEST(one_that_is_still_being_written_is_found_at_any_place)
{
    size_t at = places[_i];
    char place[32];

    leave_pending(at);
    (void)snprintf(place, sizeof(place), "handle %zu: what was", at);
    REFUSED(ASHLAR_ERR_BUSY, place, publish(all, N));
    tables_check(rig.table);
    check_state(all, N, ASHLAR_TENSORMAP_ENCODED);
    /* Behind it, on its own stream, it goes with the others. */
    OK(ashlar_tensormap_table_publish(rig.table, all, N, SLOW));
    tables_check(rig.table);
    check_state(all, N, ASHLAR_TENSORMAP_PUBLISHED);
    tables_finish(&rig, SLOW);
    check_there(0, N);
}
END_TEST

/* Two runs, of which the second failed: all are to be had again, behind it. */
START_TEST(runs_that_were_queued_in_part_are_stale_and_wait)
{
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;
    struct ashlar_tensormap_handle two[2 * BLOCK];
    size_t i;

    memcpy(two, all, BLOCK * sizeof(two[0]));
    memcpy(two + BLOCK, &all[BLOCK + 1], BLOCK * sizeof(two[0]));
    tables_hold(&rig, SLOW);
    fail_copy(2);
    REFUSED(ASHLAR_ERR_DRIVER, "failed on purpose",
            ashlar_tensormap_table_publish(rig.table, two, 2 * BLOCK, SLOW));
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    tables_check(rig.table);
    for (i = 0; i < 2 * BLOCK; i++) {
        OK(ashlar_tensormap_table_look(rig.table, two[i], &slot));
        ck_assert_uint_eq(slot.state, ASHLAR_TENSORMAP_ENCODED);
        ck_assert_uint_eq(slot.fresh, 0);
    }
    REFUSED(ASHLAR_ERR_BUSY, "handle 0: what was", publish(two, 2 * BLOCK));
    tables_finish(&rig, SLOW);
    OK(publish(two, 2 * BLOCK));
    check_state(two, 2 * BLOCK, ASHLAR_TENSORMAP_PUBLISHED);
    ck_assert_uint_eq(tables_on_device(rig.table, all[BLOCK]), 0);
    ck_assert_uint_eq(tables_on_device(rig.table, all[2 * BLOCK]),
                      2 * BLOCK + 1);
}
END_TEST

/* --- the suite -------------------------------------------------------------- */

static TCase *run_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_add_checked_fixture(tcase, setup, teardown);
    suite_add_tcase(suite, tcase);
    return tcase;
}

static Suite *run_suite(void)
{
    Suite *suite = suite_create("map_table_run");
    TCase *tcase = run_case(suite, "runs");

    tcase_add_loop_test(tcase, a_run_of_any_length_takes_one_copy, 0, LENGTHS);
    tcase_add_test(tcase, the_last_slots_of_a_table_are_a_run_like_others);
    tcase_add_test(tcase, a_run_may_be_of_leases_of_any_age);
    tcase_add_test(tcase,
                   neighbours_in_another_order_take_a_copy_for_each_stretch);
    tcase_add_test(tcase, a_run_ends_where_a_block_between_is_none);
    tcase_add_test(tcase, a_run_ends_where_the_next_block_is_elsewhere);
    tcase = run_case(suite, "refused");
    tcase_add_loop_test(
        tcase, one_whose_slot_is_not_ready_is_found_at_any_place, 0, PLACES);
    tcase_add_loop_test(tcase, one_that_is_no_handle_is_found_at_any_place, 0,
                        PLACES);
    tcase_add_loop_test(tcase, one_that_is_there_twice_is_found_at_any_place, 0,
                        PLACES);
    tcase_add_test(tcase, a_block_that_is_there_twice_is_refused);
    tcase_add_test(tcase, a_block_beyond_the_table_is_refused);
    tcase = run_case(suite, "encode");
    tcase_add_test(tcase, a_run_is_encoded_as_its_slots_would_be);
    tcase_add_loop_test(tcase, a_run_in_another_order_is_encoded_in_that_order,
                        0, PLACES);
    tcase_add_loop_test(tcase, one_that_takes_no_map_is_found_at_any_place, 0,
                        PLACES);
    tcase_add_loop_test(
        tcase, one_spec_that_is_refused_empties_the_run_and_no_more, 0, PLACES);
    tcase = run_case(suite, "failures");
    tcase_add_test(tcase, a_run_whose_copy_fails_is_as_before);
    tcase_add_loop_test(tcase,
                        one_that_is_still_being_written_is_found_at_any_place,
                        0, PLACES);
    tcase_add_test(tcase, runs_that_were_queued_in_part_are_stale_and_wait);
    return suite;
}

int main(void)
{
    return suite_run(run_suite());
}
