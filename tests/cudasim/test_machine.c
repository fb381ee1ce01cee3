/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The machine: its settings, its devices, how its entries are found. */
#include "config.h"

#include "sim.h"

#include "support/child.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "entry.h"

/* --- settings ------------------------------------------------------------- */

static const char *const good_settings[] = {
    "",
    "devices=1",
    "devices=8",
    "memory=2M",
    "memory=128T",
    "peers=all",
    "peers=none",
    "numa=8",
    "driver=12000",
    "sm=80",
    "hints=move",
    "work=held",
    "hints=grant",
    "hints=refuse",
    "fabric=yes",
    "rdma=no",
    "report=no",
    "devices=2,memory=64M,peers=none",
};

START_TEST(a_setting_is_accepted)
{
    ck_assert_int_eq(cudasim_reset(good_settings[_i]), 0);
    OK(cuInit(0));
}
END_TEST

static const char *const bad_settings[] = {
    "devices=0",    "devices=9",
    "devices=",     "devices=-1",
    "devices=two",  "memory=0",
    "memory=1M",    "memory=3000000",
    "memory=2X",    "memory=2MB",
    "memory=1000T", "peers=some",
    "numa=0",       "numa=9",
    "driver=13",    "sm=8",
    "hints=maybe",  "work=later",
    "fabric=1",     "report",
    "colour=red",   "devices=2,memory=1",
};

START_TEST(a_wrong_setting_is_refused_and_changes_nothing)
{
    int count;

    ck_assert_int_eq(cudasim_reset("devices=3"), 0);
    OK(cuInit(0));
    ck_assert_int_eq(cudasim_reset(bad_settings[_i]), -1);
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 3);
}
END_TEST

START_TEST(settings_come_from_the_environment)
{
    int count;

    ck_assert_int_eq(setenv("CUDASIM", "devices=5", 1), 0);
    ck_assert_int_eq(cudasim_reset(NULL), 0);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    ck_assert_int_eq(count, 5);
    ck_assert_int_eq(unsetenv("CUDASIM"), 0);
}
END_TEST

/* --- beginning and end ---------------------------------------------------- */

START_TEST(before_init_calls_are_refused)
{
    CUdeviceptr address = 1;
    int version;

    ck_assert_int_eq(cudasim_reset("driver=12040"), 0);
    IS(cuMemAddressReserve(&address, GRANULE, 0, 0, 0),
       CUDA_ERROR_NOT_INITIALIZED);
    ck_assert_uint_eq(address, 1);
    OK(cuDriverGetVersion(&version));
    ck_assert_int_eq(version, 12040);
    IS(cuInit(1), CUDA_ERROR_INVALID_VALUE);
    OK(cuInit(0));
    OK(cuInit(0));
    OK(cuMemAddressReserve(&address, GRANULE, 0, 0, 0));
    OK(cuMemAddressFree(address, GRANULE));
}
END_TEST

START_TEST(a_driver_that_is_gone_says_so_to_all)
{
    const char *name;
    CUdeviceptr address;

    sim_begin();
    address = sim_map(1);
    cudasim_deinitialize();
    IS(cuMemUnmap(address, GRANULE), CUDA_ERROR_DEINITIALIZED);
    IS(cuMemAddressFree(address, GRANULE), CUDA_ERROR_DEINITIALIZED);
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_DEINITIALIZED);
    IS(cuInit(0), CUDA_ERROR_DEINITIALIZED);
    OK(cuGetErrorName(CUDA_ERROR_DEINITIALIZED, &name));
    ck_assert_str_eq(name, "CUDA_ERROR_DEINITIALIZED");
    ck_assert_uint_eq(sim_account().mappings, 1);
    sim_begin();
    sim_end();
}
END_TEST

START_TEST(a_reset_forgets_all)
{
    CUstream stream;
    CUdeviceptr address;

    sim_begin();
    stream = sim_stream;
    address = sim_map(2);
    ck_assert_int_eq(cudasim_fail("cuMemMap", 1, CUDA_ERROR_UNKNOWN, 1), 0);
    sim_begin();
    IS(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
    IS(cuMemUnmap(address, 2 * GRANULE), CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(cudasim_calls("cuMemMap"), 0);
    sim_unmap(sim_map(1), 1);
    sim_end();
}
END_TEST

/* --- devices -------------------------------------------------------------- */

START_TEST(a_device_says_what_it_is)
{
    char name[64];
    CUuuid uuid;
    CUuuid other;
    size_t bytes;
    int value;

    sim_begin_with("devices=2,memory=64M,numa=2");
    OK(cuDeviceGetName(name, sizeof(name), 1));
    ck_assert_str_eq(name, "cudasim device 1");
    OK(cuDeviceGetName(name, 4, 1));
    ck_assert_str_eq(name, "cud");
    OK(cuDeviceGetUuid(&uuid, 0));
    OK(cuDeviceGetUuid(&other, 1));
    ck_assert_int_ne(memcmp(&uuid, &other, sizeof(uuid)), 0);
    OK(cuDeviceTotalMem(&bytes, 0));
    ck_assert_uint_eq(bytes, (size_t)64 << 20);
    OK(cuDeviceGetAttribute(
        &value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    ck_assert_int_eq(value, 1);
    IS(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MAX, 0),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuDeviceTotalMem(&bytes, 2), CUDA_ERROR_INVALID_DEVICE);
    IS(cuDeviceTotalMem(&bytes, -1), CUDA_ERROR_INVALID_DEVICE);
    sim_end();
}
END_TEST

START_TEST(devices_are_peers_if_the_machine_says_so)
{
    int can;

    sim_begin_with("devices=2");
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 1);
    OK(cuDeviceCanAccessPeer(&can, 1, 1));
    ck_assert_int_eq(can, 0);
    sim_begin_with("devices=2,peers=none");
    OK(cuDeviceCanAccessPeer(&can, 0, 1));
    ck_assert_int_eq(can, 0);
    sim_end();
}
END_TEST

/* --- entries -------------------------------------------------------------- */

START_TEST(the_table_of_entries_is_in_order)
{
    size_t i;
    int order;

    for (i = 1; i < entry_count; i++) {
        order = strcmp(entries[i - 1].name, entries[i].name);
        ck_assert_msg(order < 0 || (order == 0 && entries[i - 1].version <
                                                      entries[i].version),
                      "%s", entries[i].name);
    }
}
END_TEST

START_TEST(each_entry_is_found_by_its_name)
{
    CUdriverProcAddressQueryResult status;
    void *function = NULL;

    cudasim_reset("");
    OK(cuGetProcAddress(entries[_i].name, &function, 13000, 0, &status));
    ck_assert_ptr_nonnull(function);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress(entries[_i].name, &function, 1000, 0, &status));
    ck_assert_ptr_null(function);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
}
END_TEST

static const struct {
    const char *name;
    int asked;
    const char *machine;
    CUdriverProcAddressQueryResult status;
} lookups[] = {
    {"cuMemCreate", 10020, "", CU_GET_PROC_ADDRESS_SUCCESS},
    {"cuMemCreate", 10010, "", CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT},
    {"cuMemCreate_v2", 13000, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
    {"cuNoSuchThing", 13000, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
    {"", 13000, "", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
    {"cuCtxGetId", 12000, "", CU_GET_PROC_ADDRESS_SUCCESS},
    {"cuCtxGetId", 13000, "driver=11080", CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND},
    {"cuMemCreate", 13000, "driver=11080", CU_GET_PROC_ADDRESS_SUCCESS},
};

START_TEST(an_entry_is_found_if_driver_and_caller_are_new_enough)
{
    CUdriverProcAddressQueryResult status;
    void *function = &status;

    cudasim_reset(lookups[_i].machine);
    OK(cuGetProcAddress(lookups[_i].name, &function, lookups[_i].asked, 0,
                        &status));
    ck_assert_int_eq(status, lookups[_i].status);
    ck_assert_int_eq(function != NULL, status == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress(lookups[_i].name, &function, lookups[_i].asked, 0,
                        NULL));
}
END_TEST

START_TEST(the_newest_version_that_both_know_is_given)
{
    void *older;
    void *newer;

    cudasim_reset("");
    OK(cuGetProcAddress("cuStreamGetCaptureInfo", &older, 12000, 0, NULL));
    OK(cuGetProcAddress("cuStreamGetCaptureInfo", &newer, 12030, 0, NULL));
    ck_assert_ptr_ne(older, newer);
    cudasim_reset("driver=12000");
    OK(cuGetProcAddress("cuStreamGetCaptureInfo", &newer, 13000, 0, NULL));
    ck_assert_ptr_eq(older, newer);
}
END_TEST

START_TEST(a_result_has_a_name_and_a_sentence)
{
    const char *text;

    OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
    ck_assert_str_eq(text, "an illegal memory access was encountered");
    IS(cuGetErrorName((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    ck_assert_ptr_null(text);
}
END_TEST

/* --- fork ----------------------------------------------------------------- */

static CUevent forked_event;

static int judge(void *argument)
{
    CUdeviceptr address;
    const char *name;

    (void)argument;
    if (cuMemAddressReserve(&address, GRANULE, 0, 0, 0) !=
        CUDA_ERROR_NOT_INITIALIZED)
        return 1;
    if (cuInit(0) != CUDA_ERROR_NOT_INITIALIZED)
        return 2;
    if (cuEventQuery(forked_event) != CUDA_SUCCESS)
        return 3;
    if (cuEventDestroy(forked_event) != CUDA_ERROR_NOT_INITIALIZED)
        return 4;
    if (cuGetErrorName(CUDA_SUCCESS, &name) != CUDA_SUCCESS)
        return 5;
    return 0;
}

START_TEST(a_forked_child_has_no_driver)
{
    sim_begin();
    OK(cuEventCreate(&forked_event, 0));
    ck_assert_int_eq(cudasim_touch(sim_stream, 0, 0, 0), 0);
    OK(cuEventRecord(forked_event, sim_stream));
    ck_assert_int_eq(child_verdict(judge, NULL), 0);
    IS(cuEventQuery(forked_event), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuEventQuery(forked_event));
    OK(cuEventDestroy(forked_event));
    sim_end();
}
END_TEST

static Suite *machine_suite(void)
{
    Suite *suite = suite_create("cudasim machine");
    TCase *test = tcase_create("settings");

    tcase_add_loop_test(test, a_setting_is_accepted, 0,
                        sizeof(good_settings) / sizeof(good_settings[0]));
    tcase_add_loop_test(test, a_wrong_setting_is_refused_and_changes_nothing, 0,
                        sizeof(bad_settings) / sizeof(bad_settings[0]));
    tcase_add_test(test, settings_come_from_the_environment);
    suite_add_tcase(suite, test);

    test = tcase_create("beginning and end");
    tcase_add_test(test, before_init_calls_are_refused);
    tcase_add_test(test, a_driver_that_is_gone_says_so_to_all);
    tcase_add_test(test, a_reset_forgets_all);
    tcase_add_test(test, a_forked_child_has_no_driver);
    suite_add_tcase(suite, test);

    test = tcase_create("devices");
    tcase_add_test(test, a_device_says_what_it_is);
    tcase_add_test(test, devices_are_peers_if_the_machine_says_so);
    suite_add_tcase(suite, test);

    test = tcase_create("entries");
    tcase_add_test(test, the_table_of_entries_is_in_order);
    tcase_add_loop_test(test, each_entry_is_found_by_its_name, 0,
                        (int)entry_count);
    tcase_add_loop_test(test,
                        an_entry_is_found_if_driver_and_caller_are_new_enough,
                        0, sizeof(lookups) / sizeof(lookups[0]));
    tcase_add_test(test, the_newest_version_that_both_know_is_given);
    tcase_add_test(test, a_result_has_a_name_and_a_sentence);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(machine_suite());
}
