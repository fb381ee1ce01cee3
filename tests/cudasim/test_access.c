/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Rights: who may be given them, on what, and that they are heeded. */
#include "config.h"

#include "sim.h"

#include <stdio.h>

static const CUmemLocation device_0 = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

static unsigned long long rights_at(CUdeviceptr address)
{
    unsigned long long flags = 77;

    OK(cuMemGetAccess(&flags, &device_0, address));
    return flags;
}

START_TEST(a_fresh_mapping_has_no_rights)
{
    CUdeviceptr address = sim_reserve(1);
    CUmemGenericAllocationHandle handle = sim_create(1);
    unsigned round;

    for (round = 0; round < 2; round++) {
        OK(cuMemMap(address, GRANULE, 0, handle, 0));
        ck_assert_uint_eq(rights_at(address), 0);
        OK(cuMemSetAccess(address, GRANULE, &sim_rights, 1));
        ck_assert_uint_eq(rights_at(address + 12345), 3);
        OK(cuMemUnmap(address, GRANULE));
    }
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

static const int flags[] = {CU_MEM_ACCESS_FLAGS_PROT_NONE,
                            CU_MEM_ACCESS_FLAGS_PROT_READ,
                            CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

START_TEST(rights_read_back_as_given)
{
    CUdeviceptr address = sim_map(1);
    CUmemAccessDesc desc = sim_rights;

    desc.flags = (CUmemAccess_flags)flags[_i];
    OK(cuMemSetAccess(address, GRANULE, &desc, 1));
    ck_assert_uint_eq(rights_at(address), (unsigned)flags[_i]);
    ck_assert_uint_eq(sim_account().accesses, flags[_i] != 0);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

/* In granules: mapped are 0 and 1 as one, 2, and 4, of eight. */
static const struct {
    unsigned at;
    unsigned count;
    CUresult result;
} spans[] = {
    {0, 2, CUDA_SUCCESS},
    {0, 3, CUDA_SUCCESS},
    {4, 1, CUDA_SUCCESS},
    {0, 1, CUDA_ERROR_INVALID_VALUE},
    {1, 1, CUDA_ERROR_INVALID_VALUE},
    {1, 2, CUDA_ERROR_INVALID_VALUE},
    {2, 2, CUDA_ERROR_INVALID_VALUE},
    {2, 3, CUDA_ERROR_INVALID_VALUE},
    {3, 1, CUDA_ERROR_INVALID_VALUE},
    {0, 0, CUDA_ERROR_INVALID_VALUE},
};

START_TEST(rights_are_given_to_whole_mappings)
{
    CUdeviceptr address = sim_reserve(8);
    CUmemGenericAllocationHandle one = sim_create(1);
    CUmemGenericAllocationHandle two = sim_create(2);
    bool fine = spans[_i].result == CUDA_SUCCESS;

    OK(cuMemMap(address, 2 * GRANULE, 0, two, 0));
    OK(cuMemMap(address + 2 * GRANULE, GRANULE, 0, one, 0));
    OK(cuMemMap(address + 4 * GRANULE, GRANULE, 0, one, 0));
    IS(cuMemSetAccess(address + spans[_i].at * GRANULE,
                      spans[_i].count * GRANULE, &sim_rights, 1),
       spans[_i].result);
    ck_assert_int_eq(sim_account().accesses > 0, fine);
    OK(cuMemUnmap(address, 8 * GRANULE));
    OK(cuMemAddressFree(address, 8 * GRANULE));
    OK(cuMemRelease(one));
    OK(cuMemRelease(two));
    sim_end();
}
END_TEST

START_TEST(rights_may_span_neighbouring_reservations)
{
    CUdeviceptr address = sim_reserve(1);
    CUdeviceptr beside;
    CUmemGenericAllocationHandle handle = sim_create(1);

    OK(cuMemAddressReserve(&beside, GRANULE, 0, address + GRANULE, 0));
    OK(cuMemMap(address, GRANULE, 0, handle, 0));
    OK(cuMemMap(beside, GRANULE, 0, handle, 0));
    OK(cuMemSetAccess(address, 2 * GRANULE, &sim_rights, 1));
    ck_assert_uint_eq(rights_at(beside), 3);
    OK(cuMemUnmap(address, 2 * GRANULE));
    OK(cuMemAddressFree(address, GRANULE));
    OK(cuMemAddressFree(beside, GRANULE));
    OK(cuMemRelease(handle));
    sim_end();
}
END_TEST

static const struct {
    int type;
    int id;
    int flags;
    CUresult on_device; /* memory of device 0, on a machine with two */
    CUresult on_host;
} places[] = {
    {1, 0, 3, CUDA_SUCCESS, CUDA_SUCCESS},
    {1, 1, 3, CUDA_SUCCESS, CUDA_SUCCESS},
    {1, 2, 3, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
    {1, -1, 3, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
    {2, 0, 3, CUDA_ERROR_NOT_SUPPORTED, CUDA_SUCCESS},
    {3, 0, 3, CUDA_ERROR_NOT_SUPPORTED, CUDA_SUCCESS},
    {3, 99, 3, CUDA_ERROR_NOT_SUPPORTED, CUDA_SUCCESS},
    {0, 0, 3, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
    {1, 0, 2, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
    {1, 0, 4, CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE},
};

static CUdeviceptr map_at(CUmemLocation location)
{
    CUmemAllocationProp properties = sim_properties;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address = sim_reserve(1);

    properties.location = location;
    OK(cuMemCreate(&handle, GRANULE, &properties, 0));
    OK(cuMemMap(address, GRANULE, 0, handle, 0));
    OK(cuMemRelease(handle));
    return address;
}

START_TEST(rights_are_given_to_places_that_reach_the_memory)
{
    const CUmemLocation host = {(CUmemLocationType)3, 0};
    const CUmemLocation place = {(CUmemLocationType)places[_i].type,
                                 places[_i].id};
    const CUmemAccessDesc desc = {place, (CUmemAccess_flags)places[_i].flags};
    CUdeviceptr address;

    sim_begin_with("devices=2");
    address = map_at(device_0);
    IS(cuMemSetAccess(address, GRANULE, &desc, 1), places[_i].on_device);
    IS(cuMemSetAccess(address, GRANULE, &desc, 0), CUDA_ERROR_INVALID_VALUE);
    sim_unmap(address, 1);
    address = map_at(host);
    IS(cuMemSetAccess(address, GRANULE, &desc, 1), places[_i].on_host);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

START_TEST(a_device_that_is_no_peer_gets_no_rights)
{
    CUmemAccessDesc both[2] = {sim_rights, sim_rights};
    CUdeviceptr address;

    sim_begin_with("devices=2,peers=none");
    both[1].location.id = 1;
    address = map_at(device_0);
    IS(cuMemSetAccess(address, GRANULE, both, 2), CUDA_ERROR_INVALID_DEVICE);
    ck_assert_uint_eq(rights_at(address), 0);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

/* Whether this process may read there, as the kernel says. */
static bool host_may_read(CUdeviceptr address)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long long start;
    unsigned long long end;
    char line[512];
    char right;
    bool may = false;

    ck_assert_ptr_nonnull(maps);
    while (fgets(line, sizeof(line), maps) != NULL)
        if (sscanf(line, "%llx-%llx %c", &start, &end, &right) == 3 &&
            address >= start && address < end)
            may = right == 'r';
    fclose(maps);
    return may;
}

START_TEST(the_host_has_the_rights_of_its_node)
{
    const CUmemLocation node = {(CUmemLocationType)3, 0};
    CUmemAccessDesc desc = {node, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUdeviceptr address = map_at(node);

    OK(cuMemSetAccess(address, GRANULE, &sim_rights, 1));
    ck_assert(!host_may_read(address));
    OK(cuMemSetAccess(address, GRANULE, &desc, 1));
    ck_assert(host_may_read(address));
    *(char *)(uintptr_t)address = 1;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cuMemSetAccess(address, GRANULE, &desc, 1));
    ck_assert(!host_may_read(address));
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

START_TEST(nothing_is_readable_where_nothing_is_mapped)
{
    CUdeviceptr address = sim_map(1);

    ck_assert(host_may_read(address));
    OK(cuMemUnmap(address, GRANULE));
    ck_assert(!host_may_read(address));
    OK(cuMemAddressFree(address, GRANULE));
    ck_assert(!host_may_read(address));
    sim_end();
}
END_TEST

START_TEST(asking_for_rights_that_are_none_is_refused)
{
    CUdeviceptr address = sim_map(1);
    CUmemLocation place = device_0;
    unsigned long long read;

    IS(cuMemGetAccess(&read, &place, address + GRANULE),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemGetAccess(NULL, &place, address), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemGetAccess(&read, NULL, address), CUDA_ERROR_INVALID_VALUE);
    place.id = 9;
    IS(cuMemGetAccess(&read, &place, address), CUDA_ERROR_INVALID_DEVICE);
    place.type = CU_MEM_LOCATION_TYPE_INVALID;
    IS(cuMemGetAccess(&read, &place, address), CUDA_ERROR_INVALID_VALUE);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

static Suite *access_suite(void)
{
    Suite *suite = suite_create("cudasim access");
    TCase *test = tcase_create("rights");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, a_fresh_mapping_has_no_rights);
    tcase_add_loop_test(test, rights_read_back_as_given, 0, 3);
    tcase_add_loop_test(test, rights_are_given_to_whole_mappings, 0,
                        sizeof(spans) / sizeof(spans[0]));
    tcase_add_test(test, rights_may_span_neighbouring_reservations);
    tcase_add_loop_test(test, rights_are_given_to_places_that_reach_the_memory,
                        0, sizeof(places) / sizeof(places[0]));
    tcase_add_test(test, a_device_that_is_no_peer_gets_no_rights);
    tcase_add_test(test, asking_for_rights_that_are_none_is_refused);
    suite_add_tcase(suite, test);

    test = tcase_create("the host's");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, the_host_has_the_rights_of_its_node);
    tcase_add_test(test, nothing_is_readable_where_nothing_is_mapped);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(access_suite());
}
