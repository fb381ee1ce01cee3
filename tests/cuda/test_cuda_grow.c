/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Growth on the simulated driver: what others got wrong with the same calls,
 * one by one. That each of all calls may fail, in every verb, is swept by
 * fault_cuda_range; here are the cases by name.
 */
#include "config.h"

#include "cuda/rig.h"

#include <string.h>

static const uint32_t may_move = ASHLAR_RANGE_MAY_MOVE;

static void start(void)
{
    rig_start("devices=2,memory=1G", "peers=1");
}

static void inject(const char *entry, uint64_t nth, CUresult result)
{
    ck_assert_int_eq(sim.inject(entry, nth, result, 0), 0);
}

static void hints(const char *policy)
{
    ck_assert_int_eq(sim.hints(policy), 0);
}

/* Memory that a test has not, for the range that is to be refused. */
static const uint64_t too_many = 4096;

/* --- a grow that fails ---------------------------------------------------------- */

START_TEST(a_grow_that_fails_at_any_call_leaves_size_contents_and_rights)
{
    struct ashlar_range_info before;
    struct ashlar_range_info after;
    struct cudasim_account given;
    struct cudasim_account now;
    uint64_t calls;
    uint64_t n;

    rig_make(64, 2, 0);
    OK(rig_grow(5));
    rig_stamp(5);
    sim.count_none();
    OK(ashlar_range_prepare(rig.range, 9 * GRANULE, ASHLAR_RANGE_MAPPED));
    calls = sim.calls(NULL);
    OK(ashlar_range_shrink_to(rig.range, 5 * GRANULE, QUIET, NULL));
    for (n = 1; n <= calls; n++) {
        before = rig_info();
        given = sim_account();
        inject(NULL, n, CUDA_ERROR_OUT_OF_MEMORY);
        ck_assert_int_ne(rig_grow(9), ASHLAR_OK);
        sim.inject_none();
        after = rig_info();
        now = sim_account();
        ck_assert_mem_eq(&before, &after, sizeof(before));
        ck_assert_mem_eq(&given, &now, sizeof(given));
        ck_assert_uint_eq(rig_rights(after.base + 4 * GRANULE, 0), 3);
        ck_assert_uint_eq(rig_rights(after.base + 4 * GRANULE, 1), 3);
        rig_check(5);
    }
    ck_assert_uint_ge(calls, 5);
    OK(rig_grow(9));
}
END_TEST

START_TEST(a_failed_map_is_not_unmapped_and_is_what_is_reported)
{
    rig_make(8, 0, 0);
    sim.count_none();
    inject("cuMemMap", 1, CUDA_ERROR_INVALID_HANDLE);
    REFUSED(ASHLAR_ERR_INVALID, "cuMemMap() of 8388608 bytes at 0x",
            rig_grow(4));
    ck_assert(strstr(ashlar_last_error_message(),
                     "CUDA_ERROR_INVALID_HANDLE (400)") != NULL);
    ck_assert_uint_eq(sim.calls("cuMemUnmap"), 0);
    ck_assert_uint_eq(sim.calls("cuMemRelease"), 1);
}
END_TEST

START_TEST(rights_that_fail_leave_nothing_mapped_and_a_retry_works)
{
    rig_make(8, 2, 0);
    OK(rig_grow(2));
    rig_stamp(2);
    inject("cuMemSetAccess", 1, CUDA_ERROR_OUT_OF_MEMORY);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "cuMemSetAccess()", rig_grow(8));
    ck_assert_uint_eq(sim_account().mappings, 1);
    ck_assert_uint_eq(sim_account().handles, 1);
    OK(rig_grow(8));
    ck_assert_uint_eq(sim_account().accesses, 8);
    rig_check(2);
}
END_TEST

START_TEST(memory_that_runs_out_after_some_chunks_gives_them_all_back)
{
    rig_make(64, 2, 0);
    OK(rig_grow(2));
    inject("cuMemCreate", 4, CUDA_ERROR_OUT_OF_MEMORY);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "cuMemCreate()", rig_grow(20));
    ck_assert_uint_eq(sim_account().handles, 1);
    ck_assert_uint_eq(sim_account().mappings, 1);
    OK(rig_grow(20));
}
END_TEST

START_TEST(rights_that_are_not_ready_are_tried_again)
{
    rig_make(8, 0, 0);
    ck_assert_int_eq(
        sim.inject_times("cuMemSetAccess", 1, CUDA_ERROR_NOT_READY, 4), 0);
    sim.count_none();
    OK(rig_grow(4));
    ck_assert_uint_eq(sim.calls("cuMemSetAccess"), 5);
}
END_TEST

START_TEST(rights_that_never_are_ready_are_an_error_and_no_wait_without_end)
{
    rig_make(8, 0, 0);
    ck_assert_int_eq(sim.inject("cuMemSetAccess", 1, CUDA_ERROR_NOT_READY, 1),
                     0);
    REFUSED(ASHLAR_ERR_DRIVER, "CUDA_ERROR_NOT_READY (600)", rig_grow(4));
    sim.inject_none();
    ck_assert_uint_eq(sim_account().handles + sim_account().mappings, 0);
    OK(rig_grow(4));
}
END_TEST

/* --- where it grows --------------------------------------------------------------- */

START_TEST(growth_is_in_the_reservation_and_says_so)
{
    uint64_t base;
    uint64_t i;

    rig_make(100, 0, 0);
    base = rig_info().base;
    for (i = 1; i <= 100; i++) {
        OK(rig_grow(i));
        ck_assert_uint_eq(rig.result.path, ASHLAR_RANGE_PATH_IN_RESERVATION);
        ck_assert_uint_eq(rig.result.base, base);
    }
    ck_assert_uint_eq(sim_account().reservations, 1);
}
END_TEST

START_TEST(a_hint_that_is_granted_is_growth_in_place)
{
    uint64_t base;

    rig_make(2, 0, 0);
    OK(rig_grow(2));
    rig_stamp(2);
    base = rig_info().base;
    OK(rig_grow(4));
    ck_assert_uint_eq(rig.result.path, ASHLAR_RANGE_PATH_ADJACENT);
    ck_assert_uint_eq(rig.result.base, base);
    rig_check(2);
}
END_TEST

START_TEST(a_hint_that_is_granted_elsewhere_is_given_back)
{
    rig_make(2, 0, 0);
    OK(rig_grow(2));
    hints("move");
    REFUSED(ASHLAR_ERR_NO_ROOM, "", rig_grow(4));
    ck_assert_uint_eq(sim_account().reservations, 1);
    ck_assert_uint_eq(rig_info().used_bytes, 2 * GRANULE);
}
END_TEST

/* The refused call leaves garbage where the address should be. */
START_TEST(an_address_that_was_not_granted_is_never_freed)
{
    rig_make(2, 0, 0);
    OK(rig_grow(2));
    hints("refuse");
    sim.count_none();
    REFUSED(ASHLAR_ERR_NO_ROOM, "", rig_grow(4));
    ck_assert_uint_ge(sim.calls("cuMemAddressReserve"), 1);
    ck_assert_uint_eq(sim.calls("cuMemAddressFree"), 0);
    hints("grant");
    OK(rig_grow(4));
}
END_TEST

START_TEST(a_refused_hint_is_no_error_where_the_range_may_move)
{
    uint64_t base;

    rig_make(2, 1, may_move);
    OK(rig_grow(2));
    rig_stamp(2);
    base = rig_info().base;
    hints("refuse");
    ashlar_clear_error();
    OK(rig_grow(4));
    ck_assert_uint_eq(rig.result.path, ASHLAR_RANGE_PATH_MOVED);
    ck_assert_uint_eq(rig.result.old_base, base);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    rig_check(2);
}
END_TEST

START_TEST(when_a_move_fails_too_its_own_error_is_reported)
{
    rig_make(2, 0, may_move);
    OK(rig_grow(2));
    hints("refuse");
    inject("cuMemAddressReserve", 2, CUDA_ERROR_OUT_OF_MEMORY);
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "cuMemAddressReserve()", rig_grow(4));
    sim.inject_none();
    OK(rig_grow(4));
}
END_TEST

START_TEST(an_alignment_above_the_granule_does_not_spoil_growth_in_place)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;

    options.reserve_bytes = 3 * GRANULE;
    options.alignment = 16 * GRANULE;
    OK(ashlar_range_create(rig.source, &options, &rig.range));
    ck_assert_uint_eq(rig_info().base % (16 * GRANULE), 0);
    OK(rig_grow(3));
    OK(rig_grow(7));
    ck_assert_uint_eq(rig.result.path, ASHLAR_RANGE_PATH_ADJACENT);
}
END_TEST

/* A range of three granules that has to move to grow to five. */
static void make_stuck(void)
{
    rig_make(3, 1, may_move);
    OK(rig_grow(3));
    rig_stamp(3);
}

static void destroy(void)
{
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
}

START_TEST(a_move_that_fails_at_any_call_never_touches_the_old_place)
{
    unsigned failed = 0;
    uint64_t calls;
    uint64_t base;
    uint64_t n;

    hints("refuse");
    make_stuck();
    sim.count_none();
    OK(rig_grow(5));
    calls = sim.calls(NULL);
    destroy();
    for (n = 1; n <= calls; n++) {
        make_stuck();
        base = rig_info().base;
        inject(NULL, n, CUDA_ERROR_OUT_OF_MEMORY);
        /* A hint may fail: it is refused as it is. */
        failed += rig_grow(5) != ASHLAR_OK;
        sim.inject_none();
        ck_assert_uint_eq(rig_rights(base + 2 * GRANULE, 1), 3);
        ck_assert_uint_eq(*(volatile uint64_t *)(uintptr_t)(base + 2 * GRANULE),
                          *rig_word(2));
        rig_check(3);
        destroy();
        ck_assert_uint_eq(sim_account().mappings, 0);
    }
    ck_assert_uint_gt(failed, 6);
}
END_TEST

START_TEST(a_moved_range_is_torn_down_once)
{
    hints("refuse");
    rig_make(2, 1, may_move);
    OK(rig_grow(2));
    OK(rig_grow(4));
    ck_assert_uint_eq(rig.result.path, ASHLAR_RANGE_PATH_MOVED);
    OK(ashlar_range_retire_old(rig.range, QUIET));
    sim.count_none();
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    ck_assert_uint_eq(sim.calls("cuMemRelease"), 4);
    ck_assert_uint_eq(sim.calls("cuMemAddressFree"), 1);
    ck_assert_uint_eq(sim_account().handles + sim_account().reservations, 0);
}
END_TEST

START_TEST(ten_grows_with_hints_granted_and_refused_by_turns_keep_the_contents)
{
    uint64_t i;

    rig_make(1, 1, may_move);
    OK(rig_grow(1));
    for (i = 1; i <= 10; i++) {
        rig_stamp(i);
        hints(i % 2 == 0 ? "grant" : "refuse");
        OK(rig_grow(i + 1));
        rig_check(i);
    }
    OK(ashlar_range_retire_old(rig.range, QUIET));
    rig_stamp(11);
    rig_check(11);
}
END_TEST

/* Each AddressFree is of exactly one reservation, else the driver refuses. */
START_TEST(a_range_of_many_reservations_gives_back_each_of_them)
{
    uint64_t k;
    uint64_t i;

    for (k = 1; k <= 64; k *= 2) {
        rig_make(1, 0, 0);
        for (i = 1; i <= k + 1; i++)
            OK(rig_grow(i));
        ck_assert_uint_eq(sim_account().reservations, k + 1);
        sim.count_none();
        OK(ashlar_range_destroy(rig.range, QUIET));
        rig.range = NULL;
        ck_assert_uint_eq(sim.calls("cuMemAddressFree"), k + 1);
        ck_assert_uint_eq(sim_account().reservations + sim_account().mappings +
                              sim_account().handles,
                          0);
    }
}
END_TEST

/* The driver itself maps there, over what is somebody else's. */
START_TEST(a_mapping_beyond_the_end_of_a_reservation_is_refused)
{
    const struct ashlar_chunk_request request = {sizeof(request), 2 * GRANULE,
                                                 0};
    const struct ashlar_plugin *ops = &rig.source->ops;
    void *state = rig.source->state;
    uint64_t address;
    uint64_t chunk;

    OK(ops->reserve(state, 8 * GRANULE, GRANULE, 0, &address));
    OK(ops->chunk_create(state, &request, &chunk));
    REFUSED(ASHLAR_ERR_INVALID, "are not in one reservation",
            ops->map(state, address + 7 * GRANULE, chunk, 2 * GRANULE));
    REFUSED(ASHLAR_ERR_INVALID, "are not in one reservation",
            ops->map(state, address + 8 * GRANULE, chunk, 2 * GRANULE));
    OK(ops->map(state, address + 6 * GRANULE, chunk, 2 * GRANULE));
    OK(ops->unmap(state, address + 6 * GRANULE, 2 * GRANULE));
    OK(ops->chunk_destroy(state, chunk, 2 * GRANULE));
    OK(ops->release(state, address, 8 * GRANULE));
}
END_TEST

/* --- sizes ------------------------------------------------------------------------ */

START_TEST(a_total_of_zero_never_reaches_the_driver)
{
    rig_make(8, 0, 0);
    sim.count_none();
    REFUSED(ASHLAR_ERR_INVALID, "0", rig_grow(0));
    ck_assert_uint_eq(sim.calls("cuMemCreate"), 0);
}
END_TEST

START_TEST(a_smaller_total_is_neither_a_shrink_nor_a_change_of_rights)
{
    rig_make(8, 0, 0);
    OK(rig_grow(4));
    sim.count_none();
    OK(rig_grow(2));
    ck_assert_uint_eq(rig.result.path, ASHLAR_RANGE_PATH_NONE);
    ck_assert_uint_eq(rig_info().used_bytes, 4 * GRANULE);
    ck_assert_uint_eq(sim.calls(NULL), 0);
}
END_TEST

START_TEST(a_few_bytes_are_a_granule_of_the_driver_and_given_back_as_one)
{
    rig_make(8, 0, 0);
    OK(ashlar_range_grow_to(rig.range, 128, NULL));
    ck_assert_uint_eq(rig_info().used_bytes, 128);
    ck_assert_uint_eq(rig_info().committed_bytes, GRANULE);
    ck_assert_uint_eq(sim_account().handle_bytes, GRANULE);
    OK(ashlar_range_grow_to(rig.range, 3 * GRANULE + 1, NULL));
    ck_assert_uint_eq(rig_info().committed_bytes, 4 * GRANULE);
}
END_TEST

START_TEST(the_granule_is_one_for_addresses_and_memory)
{
    rig_make(0, 0, 0);
    ck_assert_uint_eq(rig_info().granule, GRANULE);
    ck_assert_uint_eq(rig_info().reserved_bytes, UINT64_C(1) << 30);
}
END_TEST

START_TEST(a_reservation_that_is_refused_is_halved_until_it_is_granted)
{
    ck_assert_int_eq(
        sim.inject_times("cuMemAddressReserve", 1, CUDA_ERROR_OUT_OF_MEMORY, 3),
        0);
    rig_make(0, 0, 0);
    ck_assert_uint_eq(rig_info().reserved_bytes, UINT64_C(1) << 27);
}
END_TEST

START_TEST(addresses_that_run_out_are_told_apart_from_memory)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range;
    uint64_t before = ashlar_range_set_address_budget(UINT64_C(1) << 60);

    options.reserve_bytes = UINT64_C(1) << 47;
    REFUSED(ASHLAR_ERR_NO_ADDRESS_SPACE, "cuMemAddressReserve()",
            ashlar_range_create(rig.source, &options, &range));
    (void)ashlar_range_set_address_budget(before);
    rig_make(too_many, 0, 0);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "cuMemCreate()", rig_grow(too_many));
}
END_TEST

START_TEST(the_chunk_list_covers_the_whole_range)
{
    struct ashlar_range_chunk chunks[8];
    uint64_t end = 0;
    size_t count = 0;
    size_t i;

    rig_make(64, 3, 0);
    OK(rig_grow(7));
    OK(rig_grow(11));
    OK(ashlar_range_chunks(rig.range, chunks, 8, &count));
    for (i = 0; i < count; i++) {
        ck_assert_uint_eq(chunks[i].offset, end);
        end += chunks[i].bytes;
    }
    ck_assert_uint_eq(end, 11 * GRANULE);
    ck_assert_ptr_eq(ashlar_range_find(rig_info().base + end - 1), rig.range);
}
END_TEST

/* --- calls ------------------------------------------------------------------------ */

START_TEST(a_grow_makes_one_create_one_map_and_one_access_for_all_locations)
{
    rig_make(64, 0, 0);
    sim.count_none();
    OK(rig_grow(20));
    ck_assert_uint_eq(sim.calls("cuMemCreate"), 1);
    ck_assert_uint_eq(sim.calls("cuMemMap"), 1);
    ck_assert_uint_eq(sim.calls("cuMemSetAccess"), 1);
    ck_assert_uint_eq(sim.calls(NULL), 3);
    ck_assert_uint_eq(rig_rights(rig_info().base, 1), 3);
}
END_TEST

START_TEST(a_grow_into_what_was_prepared_makes_no_create_or_no_call_at_all)
{
    rig_make(64, 0, 0);
    OK(rig_grow(4));
    OK(ashlar_range_prepare(rig.range, 8 * GRANULE, ASHLAR_RANGE_CREATED));
    sim.count_none();
    OK(rig_grow(8));
    ck_assert_uint_eq(sim.calls("cuMemCreate"), 0);
    ck_assert_uint_eq(sim.calls(NULL), 2);
    OK(ashlar_range_prepare(rig.range, 12 * GRANULE, ASHLAR_RANGE_MAPPED));
    sim.count_none();
    OK(rig_grow(12));
    ck_assert_uint_eq(sim.calls(NULL), 0);
}
END_TEST

START_TEST(every_handle_that_was_made_is_released_once)
{
    rig_make(64, 1, 0);
    sim.count_none();
    OK(rig_grow(32));
    OK(ashlar_range_shrink_to(rig.range, 7 * GRANULE, QUIET, NULL));
    OK(rig_grow(20));
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    ck_assert_uint_eq(sim.calls("cuMemRelease"), sim.calls("cuMemCreate"));
    ck_assert_uint_eq(sim.calls("cuMemUnmap") <= sim.calls("cuMemMap"), 1);
    ck_assert_uint_eq(sim_account().references, 0);
}
END_TEST

START_TEST(decommitting_and_committing_twice_releases_and_makes_once)
{
    rig_make(8, 1, 0);
    OK(rig_grow(6));
    sim.count_none();
    OK(ashlar_range_decommit(rig.range, GRANULE, 2 * GRANULE, QUIET, NULL));
    OK(ashlar_range_decommit(rig.range, GRANULE, 2 * GRANULE, QUIET, NULL));
    ck_assert_uint_eq(sim.calls("cuMemRelease"), 2);
    OK(ashlar_range_commit(rig.range, GRANULE, 2 * GRANULE, NULL));
    OK(ashlar_range_commit(rig.range, GRANULE, 2 * GRANULE, NULL));
    ck_assert_uint_eq(sim.calls("cuMemCreate"), 2);
}
END_TEST

START_TEST(a_commit_that_runs_out_of_memory_is_all_or_nothing)
{
    rig_make(16, 1, 0);
    OK(rig_grow(12));
    OK(ashlar_range_decommit(rig.range, GRANULE, 3 * GRANULE, QUIET, NULL));
    OK(ashlar_range_decommit(rig.range, 6 * GRANULE, 3 * GRANULE, QUIET, NULL));
    ck_assert_uint_eq(sim_account().handles, 6);
    inject("cuMemCreate", 5, CUDA_ERROR_OUT_OF_MEMORY);
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "cuMemCreate()",
            ashlar_range_commit(rig.range, 0, 12 * GRANULE, NULL));
    ck_assert_uint_eq(sim_account().handles, 6);
    ck_assert_uint_eq(sim_account().mappings, 6);
    OK(ashlar_range_commit(rig.range, 0, 12 * GRANULE, NULL));
    ck_assert_uint_eq(sim_account().mappings, 12);
}
END_TEST

/* -------------------------------------------------------------------------- */

static Suite *cuda_grow_suite(void)
{
    Suite *suite = suite_create("cuda_grow");
    TCase *test = rig_case(suite, start, "failures");

    tcase_add_test(
        test, a_grow_that_fails_at_any_call_leaves_size_contents_and_rights);
    tcase_add_test(test, a_failed_map_is_not_unmapped_and_is_what_is_reported);
    tcase_add_test(test,
                   rights_that_fail_leave_nothing_mapped_and_a_retry_works);
    tcase_add_test(test,
                   memory_that_runs_out_after_some_chunks_gives_them_all_back);
    tcase_add_test(test, rights_that_are_not_ready_are_tried_again);
    tcase_add_test(
        test, rights_that_never_are_ready_are_an_error_and_no_wait_without_end);

    test = rig_case(suite, start, "places");
    tcase_add_test(test, growth_is_in_the_reservation_and_says_so);
    tcase_add_test(test, a_hint_that_is_granted_is_growth_in_place);
    tcase_add_test(test, a_hint_that_is_granted_elsewhere_is_given_back);
    tcase_add_test(test, an_address_that_was_not_granted_is_never_freed);
    tcase_add_test(test, a_refused_hint_is_no_error_where_the_range_may_move);
    tcase_add_test(test, when_a_move_fails_too_its_own_error_is_reported);
    tcase_add_test(
        test, an_alignment_above_the_granule_does_not_spoil_growth_in_place);
    tcase_add_test(test,
                   a_move_that_fails_at_any_call_never_touches_the_old_place);
    tcase_add_test(test, a_moved_range_is_torn_down_once);
    tcase_add_test(
        test,
        ten_grows_with_hints_granted_and_refused_by_turns_keep_the_contents);
    tcase_add_test(test, a_range_of_many_reservations_gives_back_each_of_them);

    tcase_add_test(test, a_mapping_beyond_the_end_of_a_reservation_is_refused);

    test = rig_case(suite, start, "sizes");
    tcase_add_test(test, a_total_of_zero_never_reaches_the_driver);
    tcase_add_test(test,
                   a_smaller_total_is_neither_a_shrink_nor_a_change_of_rights);
    tcase_add_test(
        test, a_few_bytes_are_a_granule_of_the_driver_and_given_back_as_one);
    tcase_add_test(test, the_granule_is_one_for_addresses_and_memory);
    tcase_add_test(test,
                   a_reservation_that_is_refused_is_halved_until_it_is_granted);
    tcase_add_test(test, addresses_that_run_out_are_told_apart_from_memory);
    tcase_add_test(test, the_chunk_list_covers_the_whole_range);

    test = rig_case(suite, start, "calls");
    tcase_add_test(
        test, a_grow_makes_one_create_one_map_and_one_access_for_all_locations);
    tcase_add_test(
        test, a_grow_into_what_was_prepared_makes_no_create_or_no_call_at_all);
    tcase_add_test(test, every_handle_that_was_made_is_released_once);
    tcase_add_test(test,
                   decommitting_and_committing_twice_releases_and_makes_once);
    tcase_add_test(test, a_commit_that_runs_out_of_memory_is_all_or_nothing);
    return suite;
}

int main(void)
{
    return suite_run(cuda_grow_suite());
}
