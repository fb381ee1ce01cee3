/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Contexts: whose they are, when they end, and what fails with them. */
#include "config.h"

#include "sim.h"
#include "versions.h"

static unsigned long long id_of(CUcontext context)
{
    unsigned long long id = 0;

    OK(cuCtxGetId(context, &id));
    return id;
}

START_TEST(a_reset_context_keeps_its_handle_and_gets_another_id)
{
    CUcontext again;
    unsigned long long id = id_of(sim_context);
    CUevent event;

    OK(cuEventCreate(&event, 0));
    OK(cuDevicePrimaryCtxReset(0));
    IS(cuCtxGetId(sim_context, &id), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    IS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    ck_assert_ptr_eq(again, sim_context);
    ck_assert_uint_ne(id_of(again), id);
    IS(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_INVALID_HANDLE);
    ck_assert_uint_eq(sim_account().contexts_retained, 2);
}
END_TEST

START_TEST(mappings_outlive_a_context)
{
    CUdeviceptr address = sim_map(1);
    CUdeviceptr allocated;
    CUcontext again;

    OK(cuMemAlloc(&allocated, 100));
    OK(cuMemsetD8(address, 5, 1));
    OK(cuDevicePrimaryCtxReset(0));
    ck_assert_uint_eq(sim_account().allocations, 0);
    OK(cuDevicePrimaryCtxRetain(&again, 0));
    OK(cuMemsetD8(address + 1, 5, 1));
    ck_assert_int_eq(*(char *)(uintptr_t)address, 5);
    sim_unmap(address, 1);
}
END_TEST

START_TEST(the_last_release_ends_a_primary_context)
{
    unsigned bits;
    int active;

    OK(cuDevicePrimaryCtxGetState(0, &bits, &active));
    ck_assert_int_eq(active, 1);
    OK(cuDevicePrimaryCtxRelease(0));
    OK(cuDevicePrimaryCtxGetState(0, &bits, &active));
    ck_assert_int_eq(active, 0);
    IS(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    IS(cuDevicePrimaryCtxRetain(&sim_context, 1), CUDA_ERROR_INVALID_DEVICE);
    ck_assert_uint_eq(sim_account().streams, 0);
}
END_TEST

START_TEST(contexts_stack)
{
    CUcontext made;
    CUcontext read;
    CUdevice device;

    sim_begin_with("devices=2");
    OK(cuCtxPopCurrent(&read));
    ck_assert_ptr_eq(read, sim_context);
    IS(cuCtxPopCurrent(&read), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuCtxPushCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuCtxPushCurrent(sim_context));
    OK(cuCtxCreate_v2(&made, 0, 1));
    OK(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 1);
    OK(cuCtxPopCurrent(&read));
    ck_assert_ptr_eq(read, made);
    OK(cuCtxGetDevice(&device));
    ck_assert_int_eq(device, 0);
    IS(cuCtxDestroy(sim_context), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxDestroy(made));
    IS(cuCtxPushCurrent(made), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    IS(cuCtxSetCurrent(made), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    OK(cuCtxGetCurrent(&read));
    ck_assert_ptr_eq(read, sim_context);
    OK(cuCtxSetCurrent(NULL));
    OK(cuCtxGetCurrent(&read));
    ck_assert_ptr_null(read);
    OK(cuCtxSetCurrent(sim_context));
    sim_end();
}
END_TEST

static void expect_none(void)
{
    CUcontext read = sim_context;

    OK(cuCtxGetCurrent(&read));
    ck_assert_ptr_null(read);
    IS(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuStreamQuery(sim_stream));
    IS(cuStreamQuery(NULL), CUDA_ERROR_INVALID_CONTEXT);
}

START_TEST(a_current_context_is_the_threads)
{
    sim_elsewhere(expect_none);
    sim_end();
}
END_TEST

START_TEST(without_a_context_memory_can_be_mapped_but_not_touched)
{
    CUdeviceptr address;
    CUevent event;

    OK(cuCtxSetCurrent(NULL));
    address = sim_map(1);
    IS(cuMemsetD8(address, 1, 1), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuMemAlloc(&address, 1), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
    sim_unmap(address, 1);
    OK(cuCtxSetCurrent(sim_context));
    sim_end();
}
END_TEST

START_TEST(a_context_that_failed_says_so_and_mappings_go_on)
{
    CUdeviceptr address = sim_map(1);
    CUevent event;
    CUcontext read;

    OK(cuEventCreate(&event, 0));
    ck_assert_int_eq(cudasim_fail_context(0, CUDA_ERROR_LAUNCH_FAILED), 0);
    ck_assert_int_eq(cudasim_fail_context(0, CUDA_ERROR_ASSERT), 0);
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_LAUNCH_FAILED);
    IS(cuEventRecord(event, sim_stream), CUDA_ERROR_LAUNCH_FAILED);
    IS(cuEventQuery(event), CUDA_ERROR_LAUNCH_FAILED);
    IS(cuMemsetD8(address, 1, 1), CUDA_ERROR_LAUNCH_FAILED);
    IS(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
    OK(cuCtxGetCurrent(&read));
    ck_assert_uint_ne(id_of(sim_context), 0);
    sim_unmap(address, 1);
    sim_unmap(sim_map(1), 1);
    IS(cuEventDestroy(event), CUDA_ERROR_LAUNCH_FAILED);
    IS(cuStreamDestroy(sim_stream), CUDA_ERROR_LAUNCH_FAILED);
    ck_assert_uint_eq(sim_account().events, 0);
    OK(cuDevicePrimaryCtxRelease(0));
}
END_TEST

START_TEST(only_a_context_that_is_there_fails)
{
    ck_assert_int_eq(cudasim_fail_context(1, CUDA_ERROR_ASSERT), -1);
    ck_assert_int_eq(cudasim_fail_context(-1, CUDA_ERROR_ASSERT), -1);
    ck_assert_int_eq(cudasim_fail_context(0, CUDA_SUCCESS), -1);
    OK(cuStreamDestroy(sim_stream));
    OK(cuDevicePrimaryCtxRelease(0));
    ck_assert_int_eq(cudasim_fail_context(0, CUDA_ERROR_ASSERT), -1);
}
END_TEST

START_TEST(what_belongs_to_another_context_is_not_mixed)
{
    CUcontext made;
    CUevent event;

    OK(cuCtxCreate_v2(&made, 0, 0));
    OK(cuEventCreate(&event, 0));
    IS(cuEventRecord(event, sim_stream), CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(event, NULL));
    OK(cuStreamWaitEvent(sim_stream, event, 0));
    OK(cuCtxDestroy(made));
    IS(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
    OK(cuStreamQuery(sim_stream));
    sim_end();
}
END_TEST

static Suite *context_suite(void)
{
    Suite *suite = suite_create("cudasim context");
    TCase *test = tcase_create("life");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, a_reset_context_keeps_its_handle_and_gets_another_id);
    tcase_add_test(test, mappings_outlive_a_context);
    tcase_add_test(test, the_last_release_ends_a_primary_context);
    suite_add_tcase(suite, test);

    test = tcase_create("the current one");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, contexts_stack);
    tcase_add_test(test, a_current_context_is_the_threads);
    tcase_add_test(test,
                   without_a_context_memory_can_be_mapped_but_not_touched);
    tcase_add_test(test, what_belongs_to_another_context_is_not_mixed);
    suite_add_tcase(suite, test);

    test = tcase_create("failure");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, a_context_that_failed_says_so_and_mappings_go_on);
    tcase_add_test(test, only_a_context_that_is_there_fails);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(context_suite());
}
