/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Fences of the source "cuda": streams, events, contexts that go. */
#include "config.h"

#include "cuda/rig.h"

/* --- streams and events ---------------------------------------------------------- */

START_TEST(nothing_is_unmapped_before_the_work_of_a_stream_is_done)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);

    rig_use(stream);
    sim.count_none();
    OK(rig_shrink(&fence));
    rig_waits();
    ck_assert_uint_eq(sim.calls("cuMemUnmap"), 0);
    ck_assert_int_eq(sim.finish(stream), 0);
    rig_goes();
    rig_is_well();
}
END_TEST

START_TEST(the_default_stream_is_waited_for_and_is_not_quiet)
{
    static const uint64_t numbers[] = {0, 1, 2};
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL,
                                       numbers[_i]};

    rig_use((CUstream)(uintptr_t)numbers[_i]);
    OK(rig_shrink(&fence));
    rig_waits();
    ck_assert_int_eq(sim.finish((CUstream)(uintptr_t)numbers[_i]), 0);
    rig_goes();
    rig_is_well();
}
END_TEST

START_TEST(a_quiet_release_is_done_at_once_whatever_runs)
{
    CUstream stream = rig_stream();

    ck_assert_int_eq(sim.hold(stream), 0);
    CU(cu.MemsetD8Async(rig_info().base, 0, 16, stream));
    OK(rig_shrink(ASHLAR_QUIET));
    rig_goes();
}
END_TEST

START_TEST(an_event_of_the_callers_is_waited_for)
{
    struct ashlar_fence fence = {ASHLAR_FENCE_EVENT, 0, NULL, 0};
    CUstream stream = rig_stream();
    CUevent event;

    REFUSED(ASHLAR_ERR_INVALID, "the event of a fence is NULL",
            rig_shrink(&fence));
    CU(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    rig_use(stream);
    CU(cu.EventRecord(event, stream));
    fence.handle = (uint64_t)(uintptr_t)event;
    OK(rig_shrink(&fence));
    rig_waits();
    ck_assert_int_eq(sim.finish(stream), 0);
    rig_goes();
    CU(cu.EventDestroy(event));
}
END_TEST

START_TEST(recording_makes_no_event_once_there_are_some)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);
    uint64_t events;
    unsigned i;

    OK(ashlar_range_shrink_to(rig.range, 7 * GRANULE, &fence, 1, NULL));
    events = sim_account().events;
    sim.count_none();
    for (i = 7; i > 0; i--)
        OK(ashlar_range_shrink_to(rig.range, i * GRANULE, &fence, 1, NULL));
    ck_assert_uint_eq(sim.calls("cuEventCreate"), 0);
    ck_assert_uint_eq(sim_account().events, events);
    /* Nor does a query wait. */
    ck_assert_uint_eq(sim.calls("cuEventSynchronize") +
                          sim.calls("cuStreamSynchronize") +
                          sim.calls("cuCtxSynchronize"),
                      0);
}
END_TEST

START_TEST(a_fence_that_cannot_be_made_changes_nothing)
{
    static const char *const entries[] = {
        "cuThreadExchangeStreamCaptureMode",
        "cuStreamGetCtx",
        "cuCtxGetId",
        "cuCtxPushCurrent",
        "cuStreamIsCapturing",
        "cuEventRecord",
    };
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);
    CUcontext context;

    ck_assert_int_eq(sim.inject(entries[_i], 1, CUDA_ERROR_UNKNOWN, 0), 0);
    REFUSED(ASHLAR_ERR_DRIVER, entries[_i], rig_shrink(&fence));
    ck_assert_uint_eq(rig_info().used_bytes, 8 * GRANULE);
    ck_assert_uint_eq(sim_account().mappings, 8);
    CU(cu.CtxGetCurrent(&context));
    ck_assert_ptr_eq(context, sim.context);
    OK(rig_shrink(&fence));
    rig_goes();
}
END_TEST

/* --- contexts --------------------------------------------------------------------- */

START_TEST(a_fence_goes_by_its_stream_and_not_by_the_current_device)
{
    CUcontext other;
    CUdevice device;
    CUstream stream;
    struct ashlar_fence fence;

    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&other, device));
    CU(cu.CtxSetCurrent(other));
    stream = rig_stream();
    ck_assert_int_eq(sim.hold(stream), 0);
    CU(cu.MemsetD8Async(rig_info().base, 0, 0, stream));
    fence = rig_fence(stream);
    /* Released from device 0's context, then asked from none. */
    CU(cu.CtxSetCurrent(sim.context));
    ck_assert_int_eq(sim.touch(stream, rig_info().base, 0, 0), 0);
    OK(rig_shrink(&fence));
    CU(cu.CtxSetCurrent(NULL));
    rig_waits();
    ck_assert_int_eq(sim.finish(stream), 0);
    rig_goes();
    CU(cu.CtxSetCurrent(sim.context));
    CU(cu.DevicePrimaryCtxRelease(device));
}
END_TEST

/* An event of one context is none for a stream of another. */
START_TEST(events_are_kept_by_context)
{
    struct ashlar_fence fences[2] = {rig_fence(rig_stream())};
    CUcontext other;
    CUdevice device;
    unsigned i;

    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&other, device));
    CU(cu.CtxSetCurrent(other));
    fences[1] = rig_fence(rig_stream());
    for (i = 8; i > 2; i--)
        OK(ashlar_range_shrink_to(rig.range, (i - 1) * GRANULE, &fences[i % 2],
                                  1, NULL));
    OK(ashlar_range_shrink_to(rig.range, GRANULE, fences, 2, NULL));
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().mappings, 1);
    CU(cu.CtxSetCurrent(sim.context));
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    OK(ashlar_source_close(rig.source));
    ck_assert_uint_eq(sim_account().events, 0);
    CU(cu.DevicePrimaryCtxRelease(device));
    OK(rig_open_source(NULL, &rig.source));
}
END_TEST

START_TEST(the_default_stream_is_the_sources_devices_whatever_is_current)
{
    const struct ashlar_fence fence = rig_fence(NULL);
    CUcontext other;
    CUdevice device;

    rig_use(NULL);
    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&other, device));
    CU(cu.CtxSetCurrent(other));
    OK(rig_shrink(&fence));
    rig_waits();
    CU(cu.CtxSetCurrent(sim.context));
    ck_assert_int_eq(sim.finish(NULL), 0);
    rig_goes();
    CU(cu.DevicePrimaryCtxRelease(device));
}
END_TEST

START_TEST(a_device_that_no_context_uses_has_no_work_to_wait_for)
{
    const struct ashlar_fence fence = rig_fence(NULL);
    CUdevice device;

    CU(cu.CtxSetCurrent(NULL));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRelease(device));
    sim.count_none();
    OK(rig_shrink(&fence));
    rig_goes();
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 0);
}
END_TEST

/* The same handle afterwards, and none of the events. */
START_TEST(a_context_that_was_reset_has_no_work_left)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);
    struct ashlar_fence next;
    CUcontext again;
    CUdevice device;

    rig_use(stream);
    OK(ashlar_range_shrink_to(rig.range, 4 * GRANULE, &fence, 1, NULL));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxReset(device));
    CU(cu.DevicePrimaryCtxRetain(&again, device));
    ck_assert_ptr_eq(again, sim.context);
    CU(cu.CtxSetCurrent(again));
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().mappings, 4);
    stream = rig_stream();
    next = rig_fence(stream);
    rig_use(stream);
    OK(rig_shrink(&next));
    ck_assert_int_eq(ashlar_source_drain(rig.source, 0), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(sim.finish(stream), 0);
    rig_goes();
}
END_TEST

static void copy_on_the_default_stream(void)
{
    uint64_t base = rig.result.base;

    OK(rig.source->ops.copy(rig.source->state, base, base + GRANULE, 4096, 0));
    (void)sim.finish_all();
}

/* It is the source's from the first copy on, until it is reset. */
START_TEST(copies_without_a_context_retain_the_primary_one_once)
{
    CUdevice device;

    CU(cu.CtxSetCurrent(NULL));
    copy_on_the_default_stream();
    sim.count_none();
    copy_on_the_default_stream();
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 0);
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRelease"), 0);
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxReset(device));
    copy_on_the_default_stream();
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 1);
    CU(cu.CtxSetCurrent(sim.context));
}
END_TEST

START_TEST(what_waits_for_a_context_that_failed_is_given_back)
{
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);

    rig_use(stream);
    OK(rig_shrink(&fence));
    rig_waits();
    ck_assert_int_eq(sim.fail_context(0, CUDA_ERROR_ILLEGAL_ADDRESS), 0);
    rig_goes();
    REFUSED(ASHLAR_ERR_CONTEXT_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS (700)",
            ashlar_range_destroy(rig.range, &fence, 1));
    /* Memory goes by no context. */
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    ck_assert_uint_eq(sim_account().handles, 0);
}
END_TEST

START_TEST(teardown_after_the_driver_is_gone_is_quiet)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    CUstream stream = rig_stream();
    const struct ashlar_fence fence = rig_fence(stream);

    rig_use(stream);
    OK(ashlar_range_shrink_to(rig.range, 4 * GRANULE, &fence, 1, NULL));
    sim.deinitialize();
    REFUSED(ASHLAR_ERR_NO_DRIVER, "CUDA_ERROR_DEINITIALIZED (4)", rig_grow(9));
    OK(ashlar_range_destroy(rig.range, QUIET));
    rig.range = NULL;
    OK(ashlar_source_drain(rig.source, 0));
    OK(ashlar_source_query(rig.source, &info));
    ck_assert_uint_eq(info.retired_bytes + info.retired_items, 0);
    ck_assert_uint_gt(info.dropped_items, 0);
    OK(ashlar_source_close(rig.source));
    rig.source = NULL;
}
END_TEST

/* -------------------------------------------------------------------------- */

static Suite *cuda_fence_suite(void)
{
    Suite *suite = suite_create("cuda_fence");
    TCase *test = rig_case(suite, rig_start_full, "streams");

    tcase_add_test(test,
                   nothing_is_unmapped_before_the_work_of_a_stream_is_done);
    tcase_add_loop_test(test, the_default_stream_is_waited_for_and_is_not_quiet,
                        0, 3);
    tcase_add_test(test, a_quiet_release_is_done_at_once_whatever_runs);
    tcase_add_test(test, an_event_of_the_callers_is_waited_for);
    tcase_add_test(test, recording_makes_no_event_once_there_are_some);
    tcase_add_loop_test(test, a_fence_that_cannot_be_made_changes_nothing, 0,
                        6);

    test = rig_case(suite, rig_start_full, "contexts");
    tcase_add_test(test,
                   a_fence_goes_by_its_stream_and_not_by_the_current_device);
    tcase_add_test(test, events_are_kept_by_context);
    tcase_add_test(
        test, the_default_stream_is_the_sources_devices_whatever_is_current);
    tcase_add_test(test, a_device_that_no_context_uses_has_no_work_to_wait_for);
    tcase_add_test(test, a_context_that_was_reset_has_no_work_left);
    tcase_add_test(test, copies_without_a_context_retain_the_primary_one_once);
    tcase_add_test(test, what_waits_for_a_context_that_failed_is_given_back);

    test = tcase_create("end");
    tcase_add_checked_fixture(test, rig_start_full, NULL);
    tcase_add_test(test, teardown_after_the_driver_is_gone_is_quiet);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(cuda_fence_suite());
}
