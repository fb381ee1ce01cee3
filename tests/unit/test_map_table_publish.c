/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tables of tensor maps: how maps get into slots, and to the device. */
#include "config.h"

#include "support/tables.h"

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

/* --- publish --------------------------------------------------------------- */

START_TEST(neighbours_take_one_copy)
{
    struct ashlar_tensormap_handle handles[200];
    size_t i;

    tables_lease(rig.table, 200, 1, handles);
    OK(publish(handles, 200));
    ck_assert_uint_eq(tables_info(rig.table).copies, 1);
    ck_assert_uint_eq(tables_info(rig.table).scatters, 0);
    ck_assert_uint_eq(tables_info(rig.table).published_slots, 200);
    for (i = 0; i < 200; i++)
        ck_assert_uint_eq(tables_on_device(rig.table, handles[i]), 1 + i);
}
END_TEST

/* Every other one, from behind. */
static void lease_scattered(size_t n, struct ashlar_tensormap_handle *out)
{
    struct ashlar_tensormap_handle all[SLOTS];
    size_t i;

    tables_lease(rig.table, 2 * n, 1, all);
    for (i = 0; i < n; i++)
        out[i] = all[2 * (n - 1 - i)];
}

static void check_scattered(size_t n,
                            const struct ashlar_tensormap_handle *handles)
{
    const char *base = (void *)(uintptr_t)tables_info(rig.table).base;
    size_t i;

    for (i = 0; i < n; i++) {
        ck_assert_uint_eq(tables_on_device(rig.table, handles[i]),
                          handles[i].index + 1);
        /* What lies between may change meanwhile, and is left alone. */
        ck_assert_uint_eq(
            tables_number(base + (handles[i].index + 1) * UINT64_C(128)), 0);
    }
}

START_TEST(scattered_slots_take_one_kernel)
{
    struct ashlar_tensormap_handle handles[60];

    lease_scattered(60, handles);
    OK(publish(handles, 60));
    ck_assert_uint_eq(tables_info(rig.table).copies, 0);
    ck_assert_uint_eq(tables_info(rig.table).scatters, 1);
    check_scattered(60, handles);
}
END_TEST

START_TEST(a_few_stretches_take_a_copy_each)
{
    struct ashlar_tensormap_handle handles[4];

    lease_scattered(4, handles);
    OK(publish(handles, 4));
    ck_assert_uint_eq(tables_info(rig.table).copies, 4);
    ck_assert_uint_eq(tables_info(rig.table).scatters, 0);
    check_scattered(4, handles);
}
END_TEST

START_TEST(more_than_staging_holds_takes_copies_and_is_counted)
{
    struct ashlar_tensormap_handle handles[100];

    lease_scattered(100, handles);
    OK(publish(handles, 100));
    ck_assert_uint_eq(tables_info(rig.table).scatters, 0);
    ck_assert_uint_eq(tables_info(rig.table).copies, 100);
    ck_assert_uint_eq(tables_info(rig.table).staging_full, 1);
    check_scattered(100, handles);
}
END_TEST

START_TEST(nothing_is_published_when_nothing_is_given)
{
    uint64_t calls = wrap_calls(rig.source);

    OK(publish(NULL, 0));
    OK(ashlar_tensormap_table_retire(rig.table, NULL, 0, QUIET));
    OK(ashlar_tensormap_table_lease(rig.table, 0, NULL));
    ck_assert_uint_eq(wrap_calls(rig.source), calls);
}
END_TEST

/* --- rewrite --------------------------------------------------------------- */

START_TEST(a_rewrite_changes_both_sides_and_keeps_the_handle)
{
    struct ashlar_tensormap_handle handles[2];
    uint64_t i;

    tables_lease(rig.table, 2, 1, handles);
    OK(publish(handles, 2));
    for (i = 10; i < 200; i++) {
        OK(ashlar_tensormap_table_rewrite(rig.table, handles[0], tables_map(i),
                                          STREAM));
        ck_assert_uint_eq(tables_on_host(rig.table, handles[0]), i);
        ck_assert_uint_eq(tables_on_device(rig.table, handles[0]), i);
    }
    ck_assert_uint_eq(tables_on_device(rig.table, handles[1]), 2);
    ck_assert_uint_eq(tables_info(rig.table).rewrites, 190);
    ck_assert_uint_eq(tables_info(rig.table).staging_used, 0);
}
END_TEST

/* --- encode ---------------------------------------------------------------- */

START_TEST(many_are_encoded_into_their_slots)
{
    struct ashlar_tensormap_handle handles[20];
    struct ashlar_spec specs[20];
    size_t culprit = 99, i;

    tables_lend_encoder(rig.source);
    OK(ashlar_tensormap_table_lease(rig.table, 20, handles));
    for (i = 0; i < 20; i++)
        specs[i] = encode_spec(i);
    OK(ashlar_tensormap_table_encode_many(rig.table, handles, specs, 20,
                                          &culprit));
    ck_assert_uint_eq(culprit, 20);
    OK(publish(handles, 20));
    for (i = 0; i < 20; i++)
        ck_assert(encode_is(
            (void *)(uintptr_t)tables_look(rig.table, handles[i]).address,
            &specs[i]));
    REFUSED(ASHLAR_ERR_BUSY, "is published",
            ashlar_tensormap_table_encode(rig.table, handles[0], specs));
}
END_TEST

START_TEST(one_spec_that_is_refused_leaves_all_empty)
{
    struct ashlar_tensormap_handle handles[5];
    struct ashlar_spec specs[5];
    size_t culprit = 99, i;

    tables_lend_encoder(rig.source);
    tables_lease(rig.table, 5, 1, handles);
    for (i = 0; i < 5; i++)
        specs[i] = encode_spec(i);
    specs[3].strides[0] = 2050;
    REFUSED(ASHLAR_ERR_INVALID, "pad it to 2064",
            ashlar_tensormap_table_encode_many(rig.table, handles, specs, 5,
                                               &culprit));
    ck_assert_uint_eq(culprit, 3);
    for (i = 0; i < 5; i++)
        ck_assert_uint_eq(tables_look(rig.table, handles[i]).state,
                          ASHLAR_TENSORMAP_EMPTY);
    handles[4] = handles[0];
    REFUSED(ASHLAR_ERR_BUSY, "handle 4: slot 0",
            ashlar_tensormap_table_encode_many(rig.table, handles, specs, 5,
                                               &culprit));
    ck_assert_uint_eq(culprit, 4);
}
END_TEST

START_TEST(the_culprit_is_counted_from_the_first_of_many)
{
    struct ashlar_tensormap_handle handles[100];
    struct ashlar_spec specs[100];
    size_t culprit = 0, i;

    tables_lend_encoder(rig.source);
    tables_lease(rig.table, 100, 1, handles);
    for (i = 0; i < 100; i++)
        specs[i] = encode_spec(i);
    OK(publish(&handles[70], 1));
    REFUSED(ASHLAR_ERR_BUSY, "handle 70: slot 70 is published",
            ashlar_tensormap_table_encode_many(rig.table, handles, specs, 100,
                                               &culprit));
    ck_assert_uint_eq(culprit, 70);
}
END_TEST

START_TEST(a_source_without_an_encoder_says_so)
{
    struct ashlar_tensormap_handle handle;
    struct ashlar_spec spec = encode_spec(1);

    OK(ashlar_tensormap_table_lease(rig.table, 1, &handle));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no encoder",
            ashlar_tensormap_table_encode(rig.table, handle, &spec));
}
END_TEST

/* --- sources that lack something -------------------------------------------- */

START_TEST(without_a_kernel_each_stretch_takes_a_copy)
{
    struct ashlar_tensormap_handle handles[60];

    tables_begin(&rig, ASHLAR_CAN_SCATTER, SLOTS, 64);
    ck_assert_uint_eq(tables_info(rig.table).scatters_by_kernel, 0);
    lease_scattered(60, handles);
    OK(publish(handles, 60));
    ck_assert_uint_eq(tables_info(rig.table).copies, 60);
    ck_assert_uint_eq(tables_info(rig.table).staging_full, 0);
    check_scattered(60, handles);
}
END_TEST

START_TEST(a_kernel_that_cannot_be_loaded_is_done_without)
{
    struct ashlar_tensormap_handle handles[60];

    rig.source = tables_source(0);
    wrap_arm(rig.source, (struct wrap_fault){.at = 1,
                                             .only = 1u << WRAP_SCATTER_LOAD,
                                             .status = ASHLAR_ERR_UNSUPPORTED});
    rig.table = tables_make(rig.source, SLOTS, 64);
    ck_assert_uint_eq(wrap_lift(rig.source), 1);
    ck_assert_uint_eq(tables_info(rig.table).scatters_by_kernel, 0);
    lease_scattered(60, handles);
    OK(publish(handles, 60));
    check_scattered(60, handles);
}
END_TEST

/* Staging is copied to the device in one piece, and scattered from there. */
START_TEST(what_the_device_does_not_reach_takes_one_copy_more)
{
    struct ashlar_tensormap_handle handles[60];

    tables_begin(&rig, ASHLAR_CAN_HOST_ACCESS, SLOTS, 64);
    ck_assert_uint_eq(tables_info(rig.table).host_is_reached, 0);
    lease_scattered(60, handles);
    OK(publish(handles, 60));
    ck_assert_uint_eq(tables_info(rig.table).copies, 1);
    ck_assert_uint_eq(tables_info(rig.table).scatters, 1);
    check_scattered(60, handles);
    OK(ashlar_tensormap_table_rewrite(rig.table, handles[0], tables_map(1000),
                                      STREAM));
    ck_assert_uint_eq(tables_on_device(rig.table, handles[0]), 1000);
}
END_TEST

START_TEST(host_slots_lie_on_the_source_that_the_options_name)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    struct ashlar_source *host = wrap_open(NULL);
    struct ashlar_tensormap_handle handles[100];

    rig.source = tables_source(ASHLAR_CAN_HOST_ACCESS);
    options.host = host;
    options.max_slots = SLOTS;
    OK(ashlar_tensormap_table_create(rig.source, &options, &rig.table));
    ck_assert_uint_eq(tables_info(rig.table).host_is_reached, 1);
    tables_lease(rig.table, 100, 1, handles);
    ck_assert_ptr_nonnull(
        ashlar_range_find((uintptr_t)tables_look(rig.table, handles[99]).map));
    OK(publish(handles, 100));
    ck_assert_uint_eq(tables_on_device(rig.table, handles[99]), 100);
    OK(ashlar_tensormap_table_destroy(rig.table, QUIET));
    wrap_close(host);
    rig.table = tables_make(rig.source, SLOTS, 64);
}
END_TEST

/* --- the suite --------------------------------------------------------------- */

static Suite *publish_suite(void)
{
    Suite *suite = suite_create("map_table_publish");
    TCase *tcase = tcase_create("publish");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, neighbours_take_one_copy);
    tcase_add_test(tcase, scattered_slots_take_one_kernel);
    tcase_add_test(tcase, a_few_stretches_take_a_copy_each);
    tcase_add_test(tcase, more_than_staging_holds_takes_copies_and_is_counted);
    tcase_add_test(tcase, nothing_is_published_when_nothing_is_given);
    tcase_add_test(tcase, a_rewrite_changes_both_sides_and_keeps_the_handle);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("encode");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, many_are_encoded_into_their_slots);
    tcase_add_test(tcase, one_spec_that_is_refused_leaves_all_empty);
    tcase_add_test(tcase, the_culprit_is_counted_from_the_first_of_many);
    tcase_add_test(tcase, a_source_without_an_encoder_says_so);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("lacking");
    tcase_add_checked_fixture(tcase, NULL, teardown);
    tcase_add_test(tcase, without_a_kernel_each_stretch_takes_a_copy);
    tcase_add_test(tcase, a_kernel_that_cannot_be_loaded_is_done_without);
    tcase_add_test(tcase, what_the_device_does_not_reach_takes_one_copy_more);
    tcase_add_test(tcase, host_slots_lie_on_the_source_that_the_options_name);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(publish_suite());
}
