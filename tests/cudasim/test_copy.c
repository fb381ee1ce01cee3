/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Copies, fills, and memory that has its address at once. */
#include "config.h"

#include "sim.h"

#include <string.h>

START_TEST(bytes_go_to_the_device_and_back)
{
    CUdeviceptr address = sim_map(2);
    char from[100];
    char to[100] = "";

    memset(from, 7, sizeof(from));
    OK(cuMemcpyHtoD(address + GRANULE - 50, from, sizeof(from)));
    OK(cuMemcpyDtoD(address, address + GRANULE - 50, sizeof(from)));
    OK(cuMemcpyDtoH(to, address, sizeof(to)));
    ck_assert_mem_eq(to, from, sizeof(to));
    OK(cuMemsetD32(address, 0x01020304, 3));
    OK(cuMemsetD8(address + 12, 9, 3));
    OK(cuMemcpy((CUdeviceptr)(uintptr_t)to, address, 16));
    ck_assert_mem_eq(to, "\4\3\2\1\4\3\2\1\4\3\2\1\11\11\11\7", 16);
    sim_unmap(address, 2);
    sim_end();
}
END_TEST

START_TEST(queued_copies_are_done_in_order)
{
    CUdeviceptr address = sim_map(1);
    char value = 1;
    char read = 0;

    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuMemcpyHtoDAsync(address, &value, 1, sim_stream));
    value = 2;
    OK(cuMemcpyDtoDAsync(address + 1, address, 1, sim_stream));
    OK(cuMemsetD8Async(address, 3, 1, sim_stream));
    ck_assert_int_eq(*(char *)(uintptr_t)address, 0);
    OK(cuMemcpyDtoHAsync(&read, address + 1, 1, sim_stream));
    ck_assert_int_eq(read, 1);
    ck_assert_int_eq(*(char *)(uintptr_t)address, 3);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

/* What may be done where the device may only read, nothing, or nothing is. */
enum { READ_ONLY, WITHOUT_RIGHTS, UNMAPPED, UNRESERVED };

static CUdeviceptr forbidden_place(int kind)
{
    CUdeviceptr address = sim_map(1);
    CUmemAccessDesc desc = sim_rights;

    if (kind == READ_ONLY || kind == WITHOUT_RIGHTS) {
        desc.flags = kind == READ_ONLY ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                       : CU_MEM_ACCESS_FLAGS_PROT_NONE;
        OK(cuMemSetAccess(address, GRANULE, &desc, 1));
    } else {
        OK(cuMemUnmap(address, GRANULE));
    }
    if (kind == UNRESERVED)
        OK(cuMemAddressFree(address, GRANULE));
    return address;
}

START_TEST(a_copy_without_rights_is_refused_and_harms_nothing)
{
    CUdeviceptr address = forbidden_place(_i);
    CUresult reading =
        _i == READ_ONLY ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    char byte = 0;

    IS(cuMemcpyHtoD(address, &byte, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoDAsync(address, &byte, 1, sim_stream),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(address, 1, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD32Async(address, 1, 1, sim_stream), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyDtoH(&byte, address, 1), reading);
    IS(cuMemcpyDtoHAsync(&byte, address, 1, sim_stream), reading);
    OK(cuCtxSynchronize());
    OK(cuStreamSynchronize(sim_stream));
}
END_TEST

START_TEST(what_is_taken_away_under_a_copy_fails_the_context)
{
    CUdeviceptr address = sim_map(1);

    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuMemsetD8Async(address, 1, GRANULE, sim_stream));
    OK(cuMemUnmap(address, GRANULE));
    OK(cuStreamIsCapturing(sim_stream, &(CUstreamCaptureStatus){0}));
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuMemsetD8(address, 1, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(bytes_beyond_a_mapping_are_no_part_of_a_copy)
{
    CUdeviceptr address = sim_map(1);

    OK(cuMemsetD8(address, 1, GRANULE));
    IS(cuMemsetD8(address, 1, GRANULE + 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD8(address - 1, 1, 2), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemsetD32(address + 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemcpyHtoD(address, NULL, 1), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemcpyHtoD(address, NULL, 0));
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

START_TEST(allocated_memory_is_as_long_as_was_asked)
{
    CUdeviceptr address;
    CUdeviceptr base;
    size_t bytes;

    IS(cuMemAlloc(&address, 0), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAlloc(&address, 1000));
    ck_assert_uint_eq(sim_account().allocations, 1);
    ck_assert_uint_eq(sim_account().allocated_bytes, 1000);
    OK(cuMemsetD8(address, 1, 1000));
    IS(cuMemsetD8(address, 1, 1001), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemGetAddressRange(&base, &bytes, address + 999));
    ck_assert_uint_eq(base, address);
    ck_assert_uint_eq(bytes, 1000);
    IS(cuMemFree(address + 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemFreeHost((void *)(uintptr_t)address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(address));
    IS(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemFree(0));
    sim_end();
}
END_TEST

START_TEST(pinned_memory_is_read_by_host_and_device)
{
    CUdeviceptr device;
    void *host;

    OK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&device, host, 0));
    strcpy(host, "from the host");
    ck_assert_str_eq((char *)(uintptr_t)device, "from the host");
    OK(cuStreamWriteValue32(sim_stream, device, 0x41424344, 0));
    ck_assert_str_eq(host, "DCBA the host");
    OK(cuMemFreeHost(host));
    IS(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
    IS(cuMemHostAlloc(&host, 1, 0x1000), CUDA_ERROR_INVALID_VALUE);
    OK(cuMemAllocHost(&host, 1));
    OK(cuMemFreeHost(host));
    sim_end();
}
END_TEST

START_TEST(freeing_waits_and_unmapping_does_not)
{
    CUdeviceptr allocated;
    CUdeviceptr address = sim_map(1);

    OK(cuMemAlloc(&allocated, 1));
    ck_assert_int_eq(cudasim_touch(sim_stream, allocated, 1, 1), 0);
    OK(cuMemUnmap(address, GRANULE));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_NOT_READY);
    OK(cuMemFree(allocated));
    OK(cuStreamQuery(sim_stream));
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

START_TEST(a_pointer_tells_what_it_points_to)
{
    CUdeviceptr address = sim_map(1);
    CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                    CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
                                    CU_POINTER_ATTRIBUTE_RANGE_SIZE};
    unsigned type;
    int device;
    size_t bytes;
    void *data[] = {&type, &device, &bytes};

    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             address + 5));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    IS(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                             address + GRANULE),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuPointerGetAttribute(&type, (CUpointer_attribute)999, address),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuPointerGetAttributes(3, wanted, data, address));
    ck_assert_uint_eq(type, CU_MEMORYTYPE_DEVICE);
    ck_assert_int_eq(device, 0);
    ck_assert_uint_eq(bytes, GRANULE);
    OK(cuPointerGetAttributes(3, wanted, data, (CUdeviceptr)(uintptr_t)&type));
    ck_assert_uint_eq(type, 0);
    ck_assert_int_eq(device, -2);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

static Suite *copy_suite(void)
{
    Suite *suite = suite_create("cudasim copy");
    TCase *test = tcase_create("copies");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, bytes_go_to_the_device_and_back);
    tcase_add_test(test, queued_copies_are_done_in_order);
    tcase_add_loop_test(test,
                        a_copy_without_rights_is_refused_and_harms_nothing,
                        READ_ONLY, UNRESERVED + 1);
    tcase_add_test(test, what_is_taken_away_under_a_copy_fails_the_context);
    tcase_add_test(test, bytes_beyond_a_mapping_are_no_part_of_a_copy);
    suite_add_tcase(suite, test);

    test = tcase_create("allocations");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, allocated_memory_is_as_long_as_was_asked);
    tcase_add_test(test, pinned_memory_is_read_by_host_and_device);
    tcase_add_test(test, freeing_waits_and_unmapping_does_not);
    tcase_add_test(test, a_pointer_tells_what_it_points_to);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(copy_suite());
}
