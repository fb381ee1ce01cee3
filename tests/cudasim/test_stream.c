/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Streams and events: what waits for what, and when it is done. */
#include "config.h"

#include "per_thread.h"
#include "sim.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>

static CUstream other;
static CUevent event;

static void begin(void)
{
    sim_begin();
    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
}

static void end(void)
{
    OK(cuStreamDestroy(other));
    OK(cuEventDestroy(event));
    sim_end();
}

/* Work that lasts until it is finished. */
static void work_on(CUstream stream)
{
    ck_assert_int_eq(cudasim_touch(stream, 0, 0, 0), 0);
}

START_TEST(an_event_passes_with_the_work_before_it)
{
    OK(cuEventQuery(event));
    work_on(sim_stream);
    OK(cuEventRecord(event, sim_stream));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_NOT_READY);
    OK(cuStreamQuery(other));
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuEventQuery(event));
    OK(cuStreamQuery(sim_stream));
    end();
}
END_TEST

START_TEST(recording_again_counts_from_the_later_work)
{
    work_on(sim_stream);
    OK(cuEventRecord(event, sim_stream));
    work_on(other);
    OK(cuEventRecord(event, other));
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(other), 0);
    OK(cuEventQuery(event));
    end();
}
END_TEST

START_TEST(a_stream_waits_for_the_event_of_another)
{
    work_on(sim_stream);
    OK(cuEventRecord(event, sim_stream));
    OK(cuStreamWaitEvent(other, event, 0));
    IS(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(other), 0);
    IS(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuStreamQuery(other));
    end();
}
END_TEST

START_TEST(waiting_lets_time_pass_for_what_is_waited_for)
{
    CUstream third;

    OK(cuStreamCreate(&third, CU_STREAM_NON_BLOCKING));
    work_on(third);
    work_on(sim_stream);
    OK(cuEventRecord(event, sim_stream));
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuStreamSynchronize(other));
    OK(cuStreamQuery(sim_stream));
    IS(cuStreamQuery(third), CUDA_ERROR_NOT_READY);
    OK(cuCtxSynchronize());
    OK(cuStreamQuery(third));
    OK(cuStreamDestroy(third));
    end();
}
END_TEST

START_TEST(an_event_can_be_waited_for)
{
    work_on(sim_stream);
    OK(cuEventRecord(event, sim_stream));
    work_on(sim_stream);
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_NOT_READY);
    cudasim_finish_all();
    OK(cuStreamQuery(sim_stream));
    end();
}
END_TEST

START_TEST(blocking_streams_and_the_default_stream_wait_for_each_other)
{
    CUstream blocking;

    OK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    work_on(blocking);
    OK(cuEventRecord(event, NULL));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(blocking), 0);
    OK(cuEventQuery(event));
    work_on(CU_STREAM_LEGACY);
    OK(cuEventRecord(event, blocking));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    OK(cuEventRecord(event, sim_stream));
    OK(cuEventQuery(event));
    ck_assert_int_eq(cudasim_finish(NULL), 0);
    OK(cuStreamQuery(blocking));
    OK(cuStreamDestroy(blocking));
    end();
}
END_TEST

static void expect_idle(void)
{
    OK(cuCtxSetCurrent(sim_context));
    OK(cuStreamQuery(CU_STREAM_PER_THREAD));
}

START_TEST(each_thread_has_a_default_stream_of_its_own)
{
    work_on(CU_STREAM_PER_THREAD);
    IS(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
    sim_elsewhere(expect_idle);
    ck_assert_int_eq(cudasim_finish(CU_STREAM_PER_THREAD), 0);
    OK(cuStreamQuery(CU_STREAM_PER_THREAD));
    ck_assert_uint_eq(sim_account().streams, 2);
    end();
}
END_TEST

START_TEST(a_program_may_mean_the_threads_own_by_zero)
{
    CUdeviceptr address = sim_map(1);
    void *function;
    CUresult (*query)(CUstream) = NULL;

    OK(cuGetProcAddress_v2("cuStreamQuery", &function, 12000,
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                           NULL));
    memcpy(&query, &function, sizeof(query));
    work_on(NULL);
    OK(query(NULL));
    IS(query(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
    IS(cuStreamQuery(NULL), CUDA_ERROR_NOT_READY);
    cudasim_finish(NULL);
    work_on(CU_STREAM_PER_THREAD);
    IS(cuStreamQuery_ptsz(NULL), CUDA_ERROR_NOT_READY);
    OK(cuStreamQuery(NULL));
    OK(cuMemsetD8_v2_ptds(address, 5, 1));
    ck_assert_int_eq(*(char *)(uintptr_t)address, 0);
    cudasim_finish(CU_STREAM_PER_THREAD);
    ck_assert_int_eq(*(volatile char *)(uintptr_t)address, 5);
    sim_unmap(address, 1);
    end();
}
END_TEST

START_TEST(a_held_stream_holds_until_it_is_finished)
{
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuEventRecord(event, sim_stream));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, sim_stream));
    OK(cuEventQuery(event));
    end();
}
END_TEST

START_TEST(a_machine_may_hold_all_work)
{
    sim_begin_with("work=held");
    OK(cuEventCreate(&event, 0));
    OK(cuEventRecord(event, sim_stream));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, sim_stream));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    cudasim_finish_all();
    OK(cuEventQuery(event));
    OK(cuEventDestroy(event));
    sim_end();
}
END_TEST

START_TEST(a_destroyed_stream_does_its_work_still)
{
    CUstream brief;

    OK(cuStreamCreateWithPriority(&brief, CU_STREAM_NON_BLOCKING, -100));
    work_on(brief);
    OK(cuEventRecord(event, brief));
    OK(cuStreamDestroy(brief));
    IS(cuStreamQuery(brief), CUDA_ERROR_INVALID_HANDLE);
    IS(cuStreamDestroy(brief), CUDA_ERROR_INVALID_HANDLE);
    ck_assert_int_eq(cudasim_finish(brief), -1);
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    ck_assert_uint_eq(sim_account().streams, 2);
    cudasim_finish_all();
    OK(cuEventQuery(event));
    end();
}
END_TEST

START_TEST(work_that_loses_its_memory_fails_the_context)
{
    CUdeviceptr address = sim_map(1);

    ck_assert_int_eq(cudasim_touch(sim_stream, address, GRANULE, 1), 0);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuStreamQuery(sim_stream));
    ck_assert_int_eq(cudasim_touch(sim_stream, address, GRANULE, 0), 0);
    OK(cuMemUnmap(address, GRANULE));
    OK(cuMemAddressFree(address, GRANULE));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_NOT_READY);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(work_that_writes_what_it_may_read_fails_the_context)
{
    CUdeviceptr address = sim_map(1);
    CUmemAccessDesc desc = sim_rights;

    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    OK(cuMemSetAccess(address, GRANULE, &desc, 1));
    ck_assert_int_eq(cudasim_touch(sim_stream, address, 1, 0), 0);
    ck_assert_int_eq(cudasim_finish(sim_stream), 0);
    OK(cuStreamQuery(sim_stream));
    ck_assert_int_eq(cudasim_touch(sim_stream, address, 1, 1), 0);
    IS(cuStreamSynchronize(sim_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

/* --- functions of the user's ---------------------------------------------- */

/* A function that waits, who called it, and what the driver said to it. */
struct call {
    sem_t may_go_on;
    pthread_t thread;
    CUresult said;
};

static void CUDA_CB wait_in(void *user)
{
    struct call *call = user;
    CUdeviceptr address;

    call->thread = pthread_self();
    call->said = cuMemAddressReserve(&address, GRANULE, 0, 0, 0);
    while (sem_wait(&call->may_go_on) != 0)
        continue;
}

static void CUDA_CB do_nothing(void *user)
{
    (void)user;
}

START_TEST(a_function_is_called_by_another_thread_and_holds_its_stream)
{
    struct call calls[2];
    unsigned i;

    for (i = 0; i < 2; i++)
        ck_assert_int_eq(sem_init(&calls[i].may_go_on, 0, 0), 0);
    OK(cuLaunchHostFunc(sim_stream, wait_in, &calls[0]));
    OK(cuEventRecord(event, sim_stream));
    OK(cuLaunchHostFunc(other, wait_in, &calls[1]));
    sem_post(&calls[1].may_go_on);
    OK(cuStreamSynchronize(other));
    IS(cuEventQuery(event), CUDA_ERROR_NOT_READY);
    sem_post(&calls[0].may_go_on);
    OK(cuStreamSynchronize(sim_stream));
    OK(cuEventQuery(event));
    for (i = 0; i < 2; i++) {
        ck_assert(!pthread_equal(calls[i].thread, pthread_self()));
        IS(calls[i].said, CUDA_ERROR_NOT_PERMITTED);
    }
    IS(cuLaunchHostFunc(sim_stream, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    end();
}
END_TEST

START_TEST(the_context_of_a_function_at_work_ends_after_it)
{
    struct call call;

    ck_assert_int_eq(sem_init(&call.may_go_on, 0, 1), 0);
    OK(cuLaunchHostFunc(sim_stream, wait_in, &call));
    OK(cuLaunchHostFunc(sim_stream, do_nothing, NULL));
    OK(cuDevicePrimaryCtxReset(0));
    ck_assert_uint_eq(sim_account().streams, 0);
}
END_TEST

/* --- refusals ------------------------------------------------------------- */

START_TEST(time_is_told_between_events_that_keep_it)
{
    CUevent timeless;
    CUevent later;
    float milliseconds = -1;

    OK(cuEventCreate(&timeless, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&later, 0));
    IS(cuEventElapsedTime(&milliseconds, event, later),
       CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventRecord(event, sim_stream));
    OK(cuEventRecord(timeless, sim_stream));
    work_on(sim_stream);
    OK(cuEventRecord(later, sim_stream));
    IS(cuEventElapsedTime(&milliseconds, event, later), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(sim_stream));
    OK(cuEventElapsedTime(&milliseconds, event, later));
    ck_assert(milliseconds >= 0);
    IS(cuEventElapsedTime(&milliseconds, event, timeless),
       CUDA_ERROR_INVALID_HANDLE);
    OK(cuEventDestroy(timeless));
    OK(cuEventDestroy(later));
    end();
}
END_TEST

START_TEST(wrong_handles_and_flags_are_refused)
{
    CUstream stream;
    CUevent made;

    IS(cuStreamCreate(&stream, 2), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamDestroy(NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuStreamQuery((CUstream)event), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventCreate(&made, 0x100), CUDA_ERROR_INVALID_VALUE);
    IS(cuEventCreate(&made, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    IS(cuEventQuery(NULL), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventRecord(NULL, sim_stream), CUDA_ERROR_INVALID_HANDLE);
    IS(cuEventRecordWithFlags(event, sim_stream, 1), CUDA_ERROR_INVALID_VALUE);
    IS(cuStreamWaitEvent(sim_stream, event, 2), CUDA_ERROR_INVALID_VALUE);
    ck_assert_int_eq(cudasim_hold((CUstream)event), -1);
    ck_assert_int_eq(cudasim_touch((CUstream)event, 0, 0, 0), -1);
    end();
}
END_TEST

START_TEST(a_stream_tells_about_itself)
{
    unsigned long long id;
    unsigned long long other_id;
    unsigned flags;
    int priority;
    CUcontext context;

    OK(cuStreamGetId(sim_stream, &id));
    OK(cuStreamGetId(other, &other_id));
    ck_assert_uint_ne(id, other_id);
    OK(cuStreamGetFlags(sim_stream, &flags));
    ck_assert_uint_eq(flags, CU_STREAM_NON_BLOCKING);
    OK(cuStreamGetPriority(sim_stream, &priority));
    ck_assert_int_eq(priority, 0);
    OK(cuStreamGetCtx(sim_stream, &context));
    ck_assert_ptr_eq(context, sim_context);
    end();
}
END_TEST

static Suite *stream_suite(void)
{
    Suite *suite = suite_create("cudasim stream");
    TCase *test = tcase_create("order");

    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, an_event_passes_with_the_work_before_it);
    tcase_add_test(test, recording_again_counts_from_the_later_work);
    tcase_add_test(test, a_stream_waits_for_the_event_of_another);
    tcase_add_test(test, waiting_lets_time_pass_for_what_is_waited_for);
    tcase_add_test(test, an_event_can_be_waited_for);
    tcase_add_test(test,
                   blocking_streams_and_the_default_stream_wait_for_each_other);
    tcase_add_test(test, each_thread_has_a_default_stream_of_its_own);
    tcase_add_test(test, a_program_may_mean_the_threads_own_by_zero);
    suite_add_tcase(suite, test);

    test = tcase_create("work");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, a_held_stream_holds_until_it_is_finished);
    tcase_add_test(test, a_machine_may_hold_all_work);
    tcase_add_test(test, a_destroyed_stream_does_its_work_still);
    tcase_add_test(test, work_that_loses_its_memory_fails_the_context);
    tcase_add_test(test, work_that_writes_what_it_may_read_fails_the_context);
    suite_add_tcase(suite, test);

    test = tcase_create("functions");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test,
                   a_function_is_called_by_another_thread_and_holds_its_stream);
    tcase_add_test(test, the_context_of_a_function_at_work_ends_after_it);
    suite_add_tcase(suite, test);

    test = tcase_create("refusals");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, time_is_told_between_events_that_keep_it);
    tcase_add_test(test, wrong_handles_and_flags_are_refused);
    tcase_add_test(test, a_stream_tells_about_itself);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(stream_suite());
}
