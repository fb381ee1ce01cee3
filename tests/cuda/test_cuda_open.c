/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Opening the source "cuda": its options, the driver, what the device can do. */
#include "config.h"

#include "cuda/rig.h"

#include <stdio.h>
#include <string.h>

static struct ashlar_source *source;

static void start(void)
{
    sim_start_cold("devices=2,numa=2");
    source = NULL;
}

/* It opens, and closes again with nothing left. */
static void opens(const char *options)
{
    struct cudasim_account account;

    OK(rig_open_source(options, &source));
    OK(ashlar_source_close(source));
    source = NULL;
    account = sim_account();
    ck_assert_uint_eq(account.handles + account.reservations + account.events +
                          account.contexts_retained,
                      0);
}

static void refused(const char *options, enum ashlar_status status,
                    const char *text)
{
    REFUSED(status, text, rig_open_source(options, &source));
    ck_assert_ptr_null(source);
    ck_assert_uint_eq(sim_account().handles, 0);
}

static struct ashlar_source_info info_with(const char *options)
{
    static char description[64];
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    OK(rig_open_source(options, &source));
    OK(ashlar_source_query(source, &info));
    (void)snprintf(description, sizeof(description), "%s", info.description);
    info.description = description;
    OK(ashlar_source_close(source));
    source = NULL;
    return info;
}

/* --- options ------------------------------------------------------------------ */

START_TEST(every_documented_value_is_accepted)
{
    static const char *const good[] = {
        "device=0",
        "device=1",
        "peers=1",
        "location=host",
        "location=device",
        "location=host:0",
        "location=host:1",
        "handle=none",
        "handle=posix_fd",
        "rdma=no",
        "rdma=preferred",
        "rdma=required",
        "device=1,peers=0,location=device,handle=posix_fd,rdma=preferred",
        "location=host,peers=1",
    };
    unsigned i;

    for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        opens(good[i]);
}
END_TEST

START_TEST(no_other_value_is_and_what_would_be_right_is_said)
{
    static const struct {
        const char *options;
        const char *text;
    } bad[] = {
        {"device=", "device is \"\"; it must be a device's number"},
        {"device=-1", "device is \"-1\""},
        {"device=0x1", "device is \"0x1\""},
        {"device=99999999999", "device is \"99999999999\""},
        {"device=2", "device is 2; this machine has 2 device(s)"},
        {"peers=", "peers is \"\"; it must be devices' numbers"},
        {"peers=1:", "peers is \"1:\""},
        {"peers=1;0", "peers is \"1;0\""},
        {"peers=2", "peers is 2; this machine has 2 device(s)"},
        {"peers=0", "peers has 0, which is the device itself"},
        {"peers=1:1", "peers has 1 twice"},
        {"location=gpu", "location is \"gpu\"; it must be device, host"},
        {"location=host:", "location is \"host:\""},
        {"location=hosts", "location is \"hosts\""},
        {"location=host:2", "location is host:2; this machine has 2 NUMA"},
        {"location=managed", "location is \"managed\""},
        {"handle=win32", "handle is \"win32\"; it must be none, posix_fd"},
        {"handle=", "handle is \"\""},
        {"rdma=yes", "rdma is \"yes\"; it must be no, preferred or"},
        {"colour=blue", "no option \"colour\"; it has device, peers"},
    };
    unsigned i;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        refused(bad[i].options, ASHLAR_ERR_INVALID, bad[i].text);
}
END_TEST

START_TEST(peers_that_cannot_reach_the_device_are_refused)
{
    sim_start_cold("devices=2,peers=none");
    refused("peers=1", ASHLAR_ERR_UNSUPPORTED,
            "peers has 1, which cannot reach the memory of device 0");
    opens("location=host,peers=1");
}
END_TEST

START_TEST(rdma_required_is_refused_and_preferred_says_so_where_there_is_none)
{
    ck_assert_str_eq(info_with("rdma=preferred").description,
                     "cudasim device 0, RDMA");
    sim_start_cold("rdma=no");
    refused("rdma=required", ASHLAR_ERR_UNSUPPORTED, "rdma=preferred does");
    ck_assert_str_eq(info_with("rdma=preferred").description,
                     "cudasim device 0, no RDMA");
    refused("rdma=required,location=host", ASHLAR_ERR_UNSUPPORTED,
            "memory of host node 0 cannot be registered");
}
END_TEST

START_TEST(fabric_handles_are_tried_and_not_only_asked_for)
{
    refused("handle=fabric", ASHLAR_ERR_UNSUPPORTED,
            "handle is fabric, but no such memory can be made");
    ck_assert(strstr(ashlar_last_error_message(), "NOT_PERMITTED") != NULL);
    sim_start_cold("fabric=yes");
    opens("handle=fabric");
}
END_TEST

START_TEST(without_handles_there_is_no_export)
{
    ck_assert_uint_eq(info_with("handle=none").can & ASHLAR_CAN_EXPORT, 0);
    ck_assert_uint_ne(info_with(NULL).can & ASHLAR_CAN_EXPORT, 0);
    ck_assert_uint_ne(info_with("location=host").can & ASHLAR_CAN_EXPORT, 0);
}
END_TEST

START_TEST(host_memory_is_of_the_node_that_was_named_or_else_the_devices_own)
{
    ck_assert_uint_eq(info_with(NULL).home_location, 0);
    ck_assert_uint_eq(info_with("device=1").home_location, 1);
    ck_assert_uint_eq(info_with("location=host:1").home_location, 3);
    ck_assert_uint_eq(info_with("location=host:0,device=1").home_location, 2);
    ck_assert_uint_ne(info_with("location=host").can & ASHLAR_CAN_HOST_ACCESS,
                      0);
    ck_assert_uint_eq(info_with(NULL).can & ASHLAR_CAN_HOST_ACCESS, 0);
}
END_TEST

START_TEST(a_source_knows_the_capability_of_its_device)
{
    ck_assert_uint_eq(info_with(NULL).capability, 90);
    ck_assert_uint_eq(info_with("location=host").capability, 90);
}
END_TEST

/* --- the driver --------------------------------------------------------------- */

START_TEST(a_machine_without_a_driver_is_told_how_to_get_one)
{
    opens(NULL);
    REFUSED(
        ASHLAR_ERR_NO_DRIVER, "no driver: driver=/nowhere/libcuda.so.1",
        ashlar_source_open("cuda", "driver=/nowhere/libcuda.so.1", &source));
}
END_TEST

START_TEST(a_driver_before_12_is_too_old_and_the_missing_entry_is_named)
{
    sim_start_cold("driver=11080");
    refused(NULL, ASHLAR_ERR_DRIVER_TOO_OLD,
            "for CUDA 11.8 and has no cuCtxGetId(); one for CUDA 12.0");
    sim_start_cold("driver=12000");
    opens(NULL);
}
END_TEST

START_TEST(a_driver_that_does_not_start_is_told_with_its_call_and_number)
{
    ck_assert_int_eq(sim.inject("cuInit", 1, CUDA_ERROR_NO_DEVICE, 0), 0);
    refused(NULL, ASHLAR_ERR_NOT_FOUND,
            "cuInit() failed: CUDA_ERROR_NO_DEVICE (100)");
    ck_assert_int_eq(
        sim.inject("cuInit", 1, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, 0), 0);
    refused(NULL, ASHLAR_ERR_DRIVER_TOO_OLD, "(803)");
    opens(NULL);
}
END_TEST

/* What is only asked for, such as an attribute, may fail and it opens. */
START_TEST(a_call_that_fails_while_opening_leaves_no_trace)
{
    enum ashlar_status status;
    unsigned refusals = 0;
    uint64_t calls;
    uint64_t n;

    opens("peers=1,location=host");
    calls = sim.calls(NULL);
    for (n = 1; n <= calls; n++) {
        ck_assert_int_eq(sim.inject(NULL, n, CUDA_ERROR_UNKNOWN, 0), 0);
        status = rig_open_source("peers=1,location=host", &source);
        sim.inject_none();
        if (status == ASHLAR_OK)
            OK(ashlar_source_close(source));
        else
            refusals++;
        source = NULL;
        ck_assert_uint_eq(sim_account().handles, 0);
    }
    ck_assert_uint_gt(refusals, 5);
}
END_TEST

static int count_candidates(const struct ashlar_source_candidate *found,
                            void *user)
{
    if (strcmp(found->name, "cuda") == 0)
        (*(unsigned *)user)++;
    return 0;
}

START_TEST(listing_sources_starts_no_driver)
{
    unsigned found = 0;

    opens(NULL);
    sim.count_none();
    OK(ashlar_source_list(count_candidates, &found));
    ck_assert_uint_eq(found, 1);
    ck_assert_uint_eq(sim.calls(NULL), 0);
}
END_TEST

START_TEST(opening_and_growing_retain_no_context)
{
    struct ashlar_range *range;

    OK(rig_open_source(NULL, &source));
    OK(ashlar_range_create(source, NULL, &range));
    OK(ashlar_range_grow_to(range, GRANULE, NULL));
    OK(ashlar_range_destroy(range, QUIET));
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 0);
    OK(ashlar_source_close(source));
}
END_TEST

/* -------------------------------------------------------------------------- */

static Suite *cuda_open_suite(void)
{
    Suite *suite = suite_create("cuda_open");
    TCase *test = tcase_create("options");

    tcase_add_checked_fixture(test, start, NULL);
    tcase_add_test(test, every_documented_value_is_accepted);
    tcase_add_test(test, no_other_value_is_and_what_would_be_right_is_said);
    tcase_add_test(test, peers_that_cannot_reach_the_device_are_refused);
    tcase_add_test(
        test,
        rdma_required_is_refused_and_preferred_says_so_where_there_is_none);
    tcase_add_test(test, fabric_handles_are_tried_and_not_only_asked_for);
    tcase_add_test(test, without_handles_there_is_no_export);
    tcase_add_test(
        test,
        host_memory_is_of_the_node_that_was_named_or_else_the_devices_own);
    tcase_add_test(test, a_source_knows_the_capability_of_its_device);
    suite_add_tcase(suite, test);

    test = tcase_create("driver");
    tcase_add_checked_fixture(test, start, NULL);
    tcase_add_test(test, a_machine_without_a_driver_is_told_how_to_get_one);
    tcase_add_test(
        test, a_driver_before_12_is_too_old_and_the_missing_entry_is_named);
    tcase_add_test(
        test, a_driver_that_does_not_start_is_told_with_its_call_and_number);
    tcase_add_test(test, a_call_that_fails_while_opening_leaves_no_trace);
    tcase_add_test(test, listing_sources_starts_no_driver);
    tcase_add_test(test, opening_and_growing_retain_no_context);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(cuda_open_suite());
}
