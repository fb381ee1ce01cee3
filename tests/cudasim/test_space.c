/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Addresses: what is reserved, where, and what becomes of hints. */
#include "config.h"

#include "sim.h"

static const struct {
    size_t bytes;
    size_t alignment;
    uint64_t hint;
    unsigned long long flags;
    CUresult result;
} requests[] = {
    {GRANULE, 0, 0, 0, CUDA_SUCCESS},
    {GRANULE, 4096, 0, 0, CUDA_SUCCESS},
    {GRANULE, (size_t)1 << 30, 0, 0, CUDA_SUCCESS},
    {(size_t)1 << 32, 0, 0, 0, CUDA_SUCCESS},
    {0, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {100, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {4096, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE + 4096, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, 3 << 20, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, (size_t)1 << 30, 64 << 20, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, 0, 4096, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, 0, 0, 1, CUDA_ERROR_INVALID_VALUE},
    {(size_t)1 << 47, 0, 0, 0, CUDA_ERROR_OUT_OF_MEMORY},
};

START_TEST(a_reservation_is_granted_or_refused)
{
    CUdeviceptr address = 1;

    IS(cuMemAddressReserve(&address, requests[_i].bytes, requests[_i].alignment,
                           requests[_i].hint, requests[_i].flags),
       requests[_i].result);
    if (requests[_i].result == CUDA_SUCCESS) {
        ck_assert_uint_eq(address % GRANULE, 0);
        if (requests[_i].alignment != 0)
            ck_assert_uint_eq(address % requests[_i].alignment, 0);
        ck_assert_uint_eq(sim_account().reserved_bytes, requests[_i].bytes);
        OK(cuMemAddressFree(address, requests[_i].bytes));
    } else {
        ck_assert_uint_eq(address, 1);
    }
    sim_end();
}
END_TEST

START_TEST(only_one_whole_reservation_is_freed)
{
    CUdeviceptr address = sim_reserve(4);
    CUdeviceptr beside;

    OK(cuMemAddressReserve(&beside, 2 * GRANULE, 0, address + 4 * GRANULE, 0));
    ck_assert_uint_eq(beside, address + 4 * GRANULE);
    IS(cuMemAddressFree(address, 3 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(address, 5 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(address, 6 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(address + GRANULE, 3 * GRANULE),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(address, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemAddressFree(0, GRANULE), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(address, 4 * GRANULE));
    IS(cuMemAddressFree(address, 4 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(beside, 2 * GRANULE));
    sim_end();
}
END_TEST

START_TEST(a_reservation_with_a_mapping_is_not_freed)
{
    CUdeviceptr address = sim_reserve(4);
    CUmemGenericAllocationHandle handle = sim_create(1);

    OK(cuMemMap(address + 3 * GRANULE, GRANULE, 0, handle, 0));
    IS(cuMemAddressFree(address, 4 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemUnmap(address + 3 * GRANULE, GRANULE));
    OK(cuMemAddressFree(address, 4 * GRANULE));
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

START_TEST(a_hint_that_is_taken_gets_other_addresses)
{
    CUdeviceptr address = sim_reserve(4);
    CUdeviceptr other;

    OK(cuMemAddressReserve(&other, GRANULE, 0, address + GRANULE, 0));
    ck_assert(other + GRANULE <= address || other >= address + 4 * GRANULE);
    OK(cuMemAddressFree(other, GRANULE));
    OK(cuMemAddressReserve(&other, 4 * GRANULE, 0, address - 2 * GRANULE, 0));
    ck_assert(other + 4 * GRANULE <= address || other >= address + 4 * GRANULE);
    OK(cuMemAddressFree(other, 4 * GRANULE));
    OK(cuMemAddressFree(address, 4 * GRANULE));
    sim_end();
}
END_TEST

START_TEST(the_neighbour_is_granted_time_and_again)
{
    CUdeviceptr addresses[64];
    CUdeviceptr other;
    unsigned i;

    addresses[0] = sim_reserve(1);
    for (i = 1; i < 64; i++) {
        other = sim_reserve(1);
        OK(cuMemAddressReserve(&addresses[i], GRANULE, 0,
                               addresses[i - 1] + GRANULE, 0));
        ck_assert_uint_eq(addresses[i], addresses[i - 1] + GRANULE);
        OK(cuMemAddressFree(other, GRANULE));
    }
    for (i = 0; i < 64; i++)
        OK(cuMemAddressFree(addresses[i], GRANULE));
    sim_end();
}
END_TEST

START_TEST(hints_may_be_moved)
{
    CUdeviceptr address = sim_reserve(1);
    CUdeviceptr other;

    ck_assert_int_eq(cudasim_hints("move"), 0);
    OK(cuMemAddressReserve(&other, GRANULE, 0, address + GRANULE, 0));
    ck_assert_uint_ne(other, address + GRANULE);
    OK(cuMemAddressFree(other, GRANULE));
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

START_TEST(hints_may_be_refused_and_leave_garbage)
{
    CUdeviceptr address;
    CUdeviceptr other = 1;

    ck_assert_int_eq(cudasim_hints("refuse"), 0);
    address = sim_reserve(1);
    IS(cuMemAddressReserve(&other, GRANULE, 0, address + GRANULE, 0),
       CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_ne(other, 1);
    IS(cuMemAddressFree(other, GRANULE), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cudasim_hints("grant"), 0);
    ck_assert_int_eq(cudasim_hints("whatever"), -1);
    OK(cuMemAddressReserve(&other, GRANULE, 0, address + GRANULE, 0));
    ck_assert_uint_eq(other, address + GRANULE);
    OK(cuMemAddressFree(other, GRANULE));
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

/* As much as there is differs: a memory checker leaves little. */
START_TEST(addresses_come_to_an_end_and_come_back)
{
    CUdeviceptr held[256];
    size_t sizes[256];
    size_t bytes;
    unsigned count = 0;
    unsigned i;

    for (bytes = (size_t)1 << 46; bytes >= (size_t)1 << 30; bytes /= 2) {
        while (count < 256 && cuMemAddressReserve(&held[count], bytes, 0, 0,
                                                  0) == CUDA_SUCCESS)
            sizes[count++] = bytes;
    }
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_lt(count, 256);
    IS(cuMemAddressReserve(&held[count], (size_t)1 << 30, 0, 0, 0),
       CUDA_ERROR_OUT_OF_MEMORY);
    for (i = 0; i < count; i++)
        OK(cuMemAddressFree(held[i], sizes[i]));
    OK(cuMemAddressReserve(&held[0], sizes[0], 0, 0, 0));
    OK(cuMemAddressFree(held[0], sizes[0]));
    sim_end();
}
END_TEST

static Suite *space_suite(void)
{
    Suite *suite = suite_create("cudasim space");
    TCase *test = tcase_create("reservations");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_loop_test(test, a_reservation_is_granted_or_refused, 0,
                        sizeof(requests) / sizeof(requests[0]));
    tcase_add_test(test, only_one_whole_reservation_is_freed);
    tcase_add_test(test, a_reservation_with_a_mapping_is_not_freed);
    tcase_add_test(test, addresses_come_to_an_end_and_come_back);
    suite_add_tcase(suite, test);

    test = tcase_create("hints");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, a_hint_that_is_taken_gets_other_addresses);
    tcase_add_test(test, the_neighbour_is_granted_time_and_again);
    tcase_add_test(test, hints_may_be_moved);
    tcase_add_test(test, hints_may_be_refused_and_leave_garbage);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(space_suite());
}
