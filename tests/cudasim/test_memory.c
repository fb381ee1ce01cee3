/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Memory: who holds it, where it is mapped, how much there is. */
#include "config.h"

#include "sim.h"

#include <string.h>

/* --- making it ------------------------------------------------------------ */

static const struct {
    size_t bytes;
    int type;
    int id;
    int handle_type;
    CUresult result;
} creations[] = {
    {GRANULE, CU_MEM_LOCATION_TYPE_DEVICE, 0, 0, CUDA_SUCCESS},
    {GRANULE, CU_MEM_LOCATION_TYPE_DEVICE, 0,
     CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_SUCCESS},
    {GRANULE, 2 /* host */, 0, 0, CUDA_SUCCESS},
    {GRANULE, 3 /* host node */, 0, 0, CUDA_SUCCESS},
    {GRANULE, 3, -1, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, 3, 1, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, 4 /* the current node */, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, 0, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE, CU_MEM_LOCATION_TYPE_DEVICE, 1, 0, CUDA_ERROR_INVALID_DEVICE},
    {GRANULE, CU_MEM_LOCATION_TYPE_DEVICE, -1, 0, CUDA_ERROR_INVALID_DEVICE},
    {GRANULE, CU_MEM_LOCATION_TYPE_DEVICE, 0, 8 /* fabric */,
     CUDA_ERROR_NOT_PERMITTED},
    {GRANULE, CU_MEM_LOCATION_TYPE_DEVICE, 0, CU_MEM_HANDLE_TYPE_WIN32,
     CUDA_ERROR_INVALID_VALUE},
    {0, CU_MEM_LOCATION_TYPE_DEVICE, 0, 0, CUDA_ERROR_INVALID_VALUE},
    {GRANULE + 4096, CU_MEM_LOCATION_TYPE_DEVICE, 0, 0,
     CUDA_ERROR_INVALID_VALUE},
    {(size_t)1 << 40, CU_MEM_LOCATION_TYPE_DEVICE, 0, 0,
     CUDA_ERROR_OUT_OF_MEMORY},
};

START_TEST(memory_is_made_or_refused)
{
    CUmemAllocationProp properties = sim_properties;
    CUmemAllocationProp read;
    CUmemGenericAllocationHandle handle = 1;

    properties.location.type = (CUmemLocationType)creations[_i].type;
    properties.location.id = creations[_i].id;
    properties.requestedHandleTypes =
        (CUmemAllocationHandleType)creations[_i].handle_type;
    IS(cuMemCreate(&handle, creations[_i].bytes, &properties, 0),
       creations[_i].result);
    ck_assert_uint_eq(sim_account().handles,
                      creations[_i].result == CUDA_SUCCESS);
    if (creations[_i].result == CUDA_SUCCESS) {
        OK(cuMemGetAllocationPropertiesFromHandle(&read, handle));
        ck_assert_int_eq(memcmp(&read, &properties, sizeof(read)), 0);
        OK(cuMemRelease(handle));
    } else {
        ck_assert_uint_eq(handle, 1);
    }
    sim_end();
}
END_TEST

START_TEST(fabric_and_rdma_go_by_the_machine)
{
    CUmemAllocationProp properties = sim_properties;
    CUmemGenericAllocationHandle handle;

    sim_begin_with("fabric=yes,rdma=no");
    properties.requestedHandleTypes = (CUmemAllocationHandleType)8;
    OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    OK(cuMemRelease(handle));
    properties.allocFlags.gpuDirectRDMACapable = 1;
    IS(cuMemCreate(&handle, GRANULE, &properties, 0),
       CUDA_ERROR_INVALID_DEVICE);
    sim_begin();
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

START_TEST(a_device_has_so_much_memory_and_no_more)
{
    CUmemGenericAllocationHandle first;
    CUmemGenericAllocationHandle second;
    CUdeviceptr allocated;
    size_t left;
    size_t total;

    sim_begin_with("memory=8M");
    first = sim_create(3);
    IS(cuMemCreate(&second, 2 * GRANULE, &sim_properties, 0),
       CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemGetInfo(&left, &total));
    ck_assert_uint_eq(left, GRANULE);
    ck_assert_uint_eq(total, 4 * GRANULE);
    IS(cuMemAlloc(&allocated, 2 * GRANULE), CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemAlloc(&allocated, GRANULE));
    IS(cuMemCreate(&second, GRANULE, &sim_properties, 0),
       CUDA_ERROR_OUT_OF_MEMORY);
    OK(cuMemFree(allocated));
    second = sim_create(1);
    OK(cuMemRelease(first));
    OK(cuMemRelease(second));
    OK(cuMemGetInfo(&left, &total));
    ck_assert_uint_eq(left, total);
    sim_end();
}
END_TEST

/* --- holding it ----------------------------------------------------------- */

START_TEST(memory_lives_while_it_is_held_or_mapped)
{
    CUdeviceptr address = sim_reserve(1);
    CUmemGenericAllocationHandle handle = sim_create(1);
    CUmemGenericAllocationHandle again;

    OK(cuMemMap(address, GRANULE, 0, handle, 0));
    OK(cuMemRelease(handle));
    ck_assert_uint_eq(sim_account().handles, 1);
    ck_assert_uint_eq(sim_account().references, 0);
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(address + 77)));
    ck_assert_uint_eq(again, handle);
    OK(cuMemUnmap(address, GRANULE));
    ck_assert_uint_eq(sim_account().handles, 1);
    OK(cuMemMap(address, GRANULE, 0, again, 0));
    OK(cuMemUnmap(address, GRANULE));
    OK(cuMemRelease(again));
    ck_assert_uint_eq(sim_account().handles, 0);
    IS(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)address),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

START_TEST(a_handle_that_is_none_is_refused_and_counted)
{
    CUmemGenericAllocationHandle handle = sim_create(1);
    CUdeviceptr address = sim_reserve(1);

    IS(cuMemRelease(handle + 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(address, GRANULE, 0, 12345, 0), CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(sim_account().bogus_handles, 2);
    OK(cuMemRelease(handle));
    IS(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(sim_account().bogus_handles, 3);
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

/* --- mapping it ----------------------------------------------------------- */

/* In granules, in a reservation of eight where three and four are mapped. */
static const struct {
    unsigned at;
    unsigned count;
    unsigned offset;
    unsigned of; /* how many the handle has */
    CUresult result;
} maps[] = {
    {0, 1, 0, 1, CUDA_SUCCESS},
    {0, 3, 0, 3, CUDA_SUCCESS},
    {5, 3, 0, 3, CUDA_SUCCESS},
    {0, 1, 0, 2, CUDA_ERROR_NOT_SUPPORTED},
    {0, 1, 1, 2, CUDA_ERROR_NOT_SUPPORTED},
    {0, 2, 0, 1, CUDA_ERROR_NOT_SUPPORTED},
    {0, 0, 0, 1, CUDA_ERROR_INVALID_VALUE},
    {3, 1, 0, 1, CUDA_ERROR_INVALID_VALUE},
    {2, 2, 0, 2, CUDA_ERROR_INVALID_VALUE},
    {4, 2, 0, 2, CUDA_ERROR_INVALID_VALUE},
    {7, 2, 0, 2, CUDA_ERROR_INVALID_VALUE},
    {8, 1, 0, 1, CUDA_ERROR_INVALID_VALUE},
    {1 << 20, 1, 0, 1, CUDA_ERROR_INVALID_VALUE},
};

START_TEST(a_handle_is_mapped_whole_where_there_is_room)
{
    CUdeviceptr address = sim_reserve(8);
    CUmemGenericAllocationHandle there = sim_create(2);
    CUmemGenericAllocationHandle handle = sim_create(maps[_i].of);
    bool fine = maps[_i].result == CUDA_SUCCESS;

    OK(cuMemMap(address + 3 * GRANULE, 2 * GRANULE, 0, there, 0));
    IS(cuMemMap(address + maps[_i].at * GRANULE, maps[_i].count * GRANULE,
                maps[_i].offset * GRANULE, handle, 0),
       maps[_i].result);
    ck_assert_uint_eq(sim_account().mappings, fine ? 2 : 1);
    OK(cuMemUnmap(address, 8 * GRANULE));
    ck_assert_uint_eq(sim_account().mappings, 0);
    OK(cuMemAddressFree(address, 8 * GRANULE));
    OK(cuMemRelease(there));
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

START_TEST(a_mapping_stays_off_other_reservations)
{
    CUdeviceptr address = sim_reserve(1);
    CUdeviceptr beside;
    CUmemGenericAllocationHandle handle = sim_create(2);

    OK(cuMemAddressReserve(&beside, GRANULE, 0, address + GRANULE, 0));
    IS(cuMemMap(address, 2 * GRANULE, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemMap(address + 4096, 2 * GRANULE, 0, handle, 0),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAddressFree(beside, GRANULE));
    OK(cuMemAddressFree(address, GRANULE));
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

/* In granules: mapped are 0 and 1 as one, 2, 4 of eight, and the first of the
 * neighbour, which is the ninth. */
static const struct {
    unsigned at;
    unsigned count;
    CUresult result;
    unsigned left;
} unmaps[] = {
    {0, 2, CUDA_SUCCESS, 3},
    {0, 3, CUDA_SUCCESS, 2},
    {0, 8, CUDA_SUCCESS, 1},
    {0, 9, CUDA_SUCCESS, 0},
    {2, 1, CUDA_SUCCESS, 3},
    {3, 1, CUDA_SUCCESS, 4},
    {3, 5, CUDA_SUCCESS, 3},
    {0, 1, CUDA_ERROR_INVALID_VALUE, 4},
    {1, 2, CUDA_ERROR_INVALID_VALUE, 4},
    {0, 0, CUDA_ERROR_INVALID_VALUE, 4},
    {0, 10, CUDA_ERROR_INVALID_VALUE, 4},
};

START_TEST(whole_mappings_are_unmapped_holes_or_not)
{
    CUdeviceptr address = sim_reserve(8);
    CUdeviceptr beside;
    CUmemGenericAllocationHandle one = sim_create(1);
    CUmemGenericAllocationHandle two = sim_create(2);

    OK(cuMemAddressReserve(&beside, GRANULE, 0, address + 8 * GRANULE, 0));
    OK(cuMemMap(address, 2 * GRANULE, 0, two, 0));
    OK(cuMemMap(address + 2 * GRANULE, GRANULE, 0, one, 0));
    OK(cuMemMap(address + 4 * GRANULE, GRANULE, 0, one, 0));
    OK(cuMemMap(beside, GRANULE, 0, one, 0));
    IS(cuMemUnmap(address + unmaps[_i].at * GRANULE,
                  unmaps[_i].count * GRANULE),
       unmaps[_i].result);
    ck_assert_uint_eq(sim_account().mappings, unmaps[_i].left);
    OK(cuMemUnmap(address, 9 * GRANULE));
    OK(cuMemAddressFree(address, 8 * GRANULE));
    OK(cuMemAddressFree(beside, GRANULE));
    OK(cuMemRelease(one));
    OK(cuMemRelease(two));
    sim_end();
}
END_TEST

START_TEST(unmapping_off_the_granule_or_unreserved_is_refused)
{
    CUdeviceptr address = sim_map(2);

    IS(cuMemUnmap(address + 4096, GRANULE), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemUnmap(address, GRANULE + 4096), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemUnmap(address + 4 * GRANULE, GRANULE), CUDA_ERROR_INVALID_VALUE);
    sim_unmap(address, 2);
    sim_end();
}
END_TEST

START_TEST(two_mappings_of_one_handle_show_the_same_bytes)
{
    CUdeviceptr address = sim_reserve(2);
    CUmemGenericAllocationHandle handle = sim_create(1);
    volatile char *bytes = (volatile char *)(uintptr_t)address;

    OK(cuMemMap(address, GRANULE, 0, handle, 0));
    OK(cuMemMap(address + GRANULE, GRANULE, 0, handle, 0));
    bytes[5] = 42;
    ck_assert_int_eq(bytes[GRANULE + 5], 42);
    OK(cuMemUnmap(address, 2 * GRANULE));
    OK(cuMemMap(address + GRANULE, GRANULE, 0, handle, 0));
    ck_assert_int_eq(bytes[GRANULE + 5], 42);
    OK(cuMemUnmap(address + GRANULE, GRANULE));
    OK(cuMemAddressFree(address, 2 * GRANULE));
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

START_TEST(a_thousand_chunks_take_one_descriptor)
{
    CUdeviceptr address;
    CUmemGenericAllocationHandle handle;
    unsigned i;

    sim_begin_with("memory=4G");
    address = sim_reserve(1000);
    for (i = 0; i < 1000; i++) {
        handle = sim_create(1);
        OK(cuMemMap(address + i * GRANULE, GRANULE, 0, handle, 0));
        OK(cuMemRelease(handle));
    }
    OK(cuMemSetAccess(address, 1000 * GRANULE, &sim_rights, 1));
    ck_assert_uint_eq(sim_account().fds, 1);
    ck_assert_uint_eq(sim_account().accesses, 1000);
    *(char *)(uintptr_t)(address + 999 * GRANULE) = 1;
    sim_unmap(address, 1000);
    sim_end();
}
END_TEST

static const struct {
    int type;
    int id;
    int option;
    CUresult result;
} granularities[] = {
    {CU_MEM_LOCATION_TYPE_DEVICE, 0, 0, CUDA_SUCCESS},
    {CU_MEM_LOCATION_TYPE_DEVICE, 0, 1, CUDA_SUCCESS},
    {3, 0, 0, CUDA_SUCCESS},
    {CU_MEM_LOCATION_TYPE_DEVICE, 0, 2, CUDA_ERROR_INVALID_VALUE},
    {CU_MEM_LOCATION_TYPE_DEVICE, 7, 0, CUDA_ERROR_INVALID_DEVICE},
    {0, 0, 0, CUDA_ERROR_INVALID_VALUE},
};

START_TEST(the_granule_is_told)
{
    CUmemAllocationProp properties = sim_properties;
    size_t granule = 0;

    properties.location.type = (CUmemLocationType)granularities[_i].type;
    properties.location.id = granularities[_i].id;
    IS(cuMemGetAllocationGranularity(
           &granule, &properties,
           (CUmemAllocationGranularity_flags)granularities[_i].option),
       granularities[_i].result);
    ck_assert_uint_eq(granule,
                      granularities[_i].result == CUDA_SUCCESS ? GRANULE : 0);
    sim_end();
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("cudasim memory");
    TCase *test = tcase_create("making");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_loop_test(test, memory_is_made_or_refused, 0,
                        sizeof(creations) / sizeof(creations[0]));
    tcase_add_test(test, fabric_and_rdma_go_by_the_machine);
    tcase_add_test(test, a_device_has_so_much_memory_and_no_more);
    tcase_add_loop_test(test, the_granule_is_told, 0,
                        sizeof(granularities) / sizeof(granularities[0]));
    suite_add_tcase(suite, test);

    test = tcase_create("holding");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, memory_lives_while_it_is_held_or_mapped);
    tcase_add_test(test, a_handle_that_is_none_is_refused_and_counted);
    suite_add_tcase(suite, test);

    test = tcase_create("mapping");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_loop_test(test, a_handle_is_mapped_whole_where_there_is_room, 0,
                        sizeof(maps) / sizeof(maps[0]));
    tcase_add_test(test, a_mapping_stays_off_other_reservations);
    tcase_add_loop_test(test, whole_mappings_are_unmapped_holes_or_not, 0,
                        sizeof(unmaps) / sizeof(unmaps[0]));
    tcase_add_test(test, unmapping_off_the_granule_or_unreserved_is_refused);
    tcase_add_test(test, two_mappings_of_one_handle_show_the_same_bytes);
    tcase_add_test(test, a_thousand_chunks_take_one_descriptor);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(memory_suite());
}
