/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Failures that are asked for, counts, accounts, what is left at exit. */
#include "config.h"

#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static CUresult reserve(CUdeviceptr *address)
{
    return cuMemAddressReserve(address, GRANULE, 0, 0, 0);
}

START_TEST(the_nth_call_fails_once)
{
    CUdeviceptr address[3];

    ck_assert_int_eq(
        cudasim_fail("cuMemAddressReserve", 2, CUDA_ERROR_UNKNOWN, 0), 0);
    OK(reserve(&address[0]));
    IS(reserve(&address[1]), CUDA_ERROR_UNKNOWN);
    OK(reserve(&address[1]));
    ck_assert_uint_eq(cudasim_calls("cuMemAddressReserve"), 3);
    ck_assert_uint_eq(sim_account().reservations, 2);
    OK(cuMemAddressFree(address[0], GRANULE));
    OK(cuMemAddressFree(address[1], GRANULE));
    sim_end();
}
END_TEST

START_TEST(calls_fail_for_ever_until_told_otherwise)
{
    CUdeviceptr address = 1;
    unsigned i;

    ck_assert_int_eq(
        cudasim_fail("cuMemAddressReserve", 1, CUDA_ERROR_OUT_OF_MEMORY, 1), 0);
    for (i = 0; i < 100; i++)
        IS(reserve(&address), CUDA_ERROR_OUT_OF_MEMORY);
    ck_assert_uint_eq(address, 1);
    cudasim_fail_none();
    OK(reserve(&address));
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

START_TEST(rights_are_not_ready_for_a_while)
{
    CUdeviceptr address = sim_map(1);
    unsigned calls = 1;

    ck_assert_int_eq(
        cudasim_fail_times("cuMemSetAccess", 1, CUDA_ERROR_NOT_READY, 3), 0);
    while (cuMemSetAccess(address, GRANULE, &sim_rights, 1) ==
           CUDA_ERROR_NOT_READY)
        calls++;
    ck_assert_uint_eq(calls, 4);
    sim_unmap(address, 1);
    sim_end();
}
END_TEST

START_TEST(any_call_can_be_the_one_that_fails)
{
    CUdeviceptr address;
    const char *name;

    ck_assert_int_eq(cudasim_fail(NULL, 2, CUDA_ERROR_UNKNOWN, 0), 0);
    OK(cuGetErrorName(CUDA_SUCCESS, &name));
    OK(cuStreamQuery(sim_stream));
    OK(cuGetErrorName(CUDA_SUCCESS, &name));
    IS(reserve(&address), CUDA_ERROR_UNKNOWN);
    OK(reserve(&address));
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

START_TEST(an_entry_with_two_names_fails_by_either)
{
    CUgraph graph;
    CUgraphExec exec;

    OK(cuGraphCreate(&graph, 0));
    ck_assert_int_eq(
        cudasim_fail("cuGraphInstantiateWithFlags", 1, CUDA_ERROR_UNKNOWN, 0),
        0);
    IS(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_UNKNOWN);
    ck_assert_int_eq(
        cudasim_fail("cuGraphInstantiate", 1, CUDA_ERROR_UNKNOWN, 0), 0);
    IS(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_UNKNOWN);
    ck_assert_uint_eq(cudasim_calls("cuGraphInstantiateWithFlags"), 2);
    OK(cuGraphDestroy(graph));
    sim_end();
}
END_TEST

START_TEST(a_failure_that_makes_no_sense_is_refused)
{
    unsigned i;

    ck_assert_int_eq(cudasim_fail("cuNone", 1, CUDA_ERROR_UNKNOWN, 0), -1);
    ck_assert_int_eq(cudasim_fail("cuInit", 0, CUDA_ERROR_UNKNOWN, 0), -1);
    ck_assert_int_eq(cudasim_fail("cuInit", 1, CUDA_SUCCESS, 0), -1);
    ck_assert_int_eq(cudasim_fail_times("cuInit", 1, CUDA_ERROR_UNKNOWN, 0),
                     -1);
    for (i = 0; i < 100; i++) {
        ck_assert_int_eq(cudasim_fail("cuInit", 1, CUDA_ERROR_UNKNOWN, 0), 0);
        IS(cuInit(0), CUDA_ERROR_UNKNOWN);
    }
    for (i = 0; i < 64; i++)
        ck_assert_int_eq(cudasim_fail("cuInit", 1000, CUDA_ERROR_UNKNOWN, 0),
                         0);
    ck_assert_int_eq(cudasim_fail("cuInit", 1000, CUDA_ERROR_UNKNOWN, 0), -1);
    ck_assert_uint_eq(cudasim_calls("cuNone"), 0);
    sim_end();
}
END_TEST

START_TEST(calls_are_counted)
{
    cudasim_count_none();
    OK(cuStreamQuery(sim_stream));
    OK(cuStreamQuery(sim_stream));
    IS(cuMemFree(12345), CUDA_ERROR_INVALID_VALUE);
    ck_assert_uint_eq(cudasim_calls("cuStreamQuery"), 2);
    ck_assert_uint_eq(cudasim_calls("cuMemFree"), 1);
    ck_assert_uint_eq(cudasim_calls(NULL), 3);
    sim_end();
}
END_TEST

START_TEST(the_account_has_all_that_was_given)
{
    CUdeviceptr address = sim_map(3);
    CUmemGenericAllocationHandle handle = sim_create(2);
    struct cudasim_account account = sim_account();

    ck_assert_uint_eq(account.size, sizeof(account));
    ck_assert_uint_eq(account.reservations, 1);
    ck_assert_uint_eq(account.reserved_bytes, 3 * GRANULE);
    ck_assert_uint_eq(account.handles, 2);
    ck_assert_uint_eq(account.references, 1);
    ck_assert_uint_eq(account.handle_bytes, 5 * GRANULE);
    ck_assert_uint_eq(account.mappings, 1);
    ck_assert_uint_eq(account.mapped_bytes, 3 * GRANULE);
    ck_assert_uint_eq(account.accesses, 1);
    ck_assert_uint_eq(account.streams, 1);
    ck_assert_uint_eq(account.fds, 1);
    ck_assert_uint_eq(account.contexts_retained, 1);
    OK(cuMemRelease(handle));
    sim_unmap(address, 3);
    sim_end();
}
END_TEST

START_TEST(an_account_of_another_size_is_filled_or_refused)
{
    struct cudasim_account account = CUDASIM_ACCOUNT_INIT;
    CUdeviceptr address = sim_reserve(1);

    account.size = offsetof(struct cudasim_account, reserved_bytes);
    account.reserved_bytes = 99;
    ck_assert_int_eq(cudasim_query(&account), 0);
    ck_assert_uint_eq(account.reservations, 1);
    ck_assert_uint_eq(account.reserved_bytes, 99);
    account.size = 0;
    ck_assert_int_eq(cudasim_query(&account), -1);
    account.size = sizeof(account) + 8;
    ck_assert_int_eq(cudasim_query(&account), -1);
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

START_TEST(what_is_left_is_said_in_words)
{
    CUdeviceptr address = sim_reserve(1);
    char text[256];
    char brief[10];
    int length;

    length = cudasim_report(text, sizeof(text));
    ck_assert_int_eq(length, (int)strlen(text));
    ck_assert_str_eq(text, "cudasim: reservations: 1 left (2097152 bytes)\n"
                           "cudasim: streams: 1 left\n"
                           "cudasim: retained primary contexts: 1 left\n");
    ck_assert_int_eq(cudasim_report(brief, sizeof(brief)), length);
    ck_assert_str_eq(brief, "cudasim: ");
    ck_assert_int_eq(cudasim_report(NULL, 0), length);
    OK(cuMemAddressFree(address, GRANULE));
    sim_end();
}
END_TEST

/* What a process says on stderr that leaves a stream, or nothing. */
static void said_at_exit(char *text, size_t bytes, bool leave_one)
{
    int ends[2];
    ssize_t length;
    pid_t child;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(cudasim_reset("report=yes"), 0);
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        if (leave_one && cuInit(0) == CUDA_SUCCESS)
            cuMemAddressReserve(&(CUdeviceptr){0}, GRANULE, 0, 0, 0);
        exit(0);
    }
    close(ends[1]);
    length = read(ends[0], text, bytes - 1);
    text[length > 0 ? length : 0] = '\0';
    close(ends[0]);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(a_process_reports_at_exit_what_it_left)
{
    char text[256];

    said_at_exit(text, sizeof(text), true);
    ck_assert_str_eq(text, "cudasim: reservations: 1 left (2097152 bytes)\n");
    said_at_exit(text, sizeof(text), false);
    ck_assert_str_eq(text, "");
}
END_TEST

static Suite *control_suite(void)
{
    Suite *suite = suite_create("cudasim control");
    TCase *test = tcase_create("failures");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, the_nth_call_fails_once);
    tcase_add_test(test, calls_fail_for_ever_until_told_otherwise);
    tcase_add_test(test, rights_are_not_ready_for_a_while);
    tcase_add_test(test, any_call_can_be_the_one_that_fails);
    tcase_add_test(test, an_entry_with_two_names_fails_by_either);
    tcase_add_test(test, a_failure_that_makes_no_sense_is_refused);
    suite_add_tcase(suite, test);

    test = tcase_create("accounts");
    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, calls_are_counted);
    tcase_add_test(test, the_account_has_all_that_was_given);
    tcase_add_test(test, an_account_of_another_size_is_filled_or_refused);
    tcase_add_test(test, what_is_left_is_said_in_words);
    suite_add_tcase(suite, test);

    test = tcase_create("exit");
    tcase_add_test(test, a_process_reports_at_exit_what_it_left);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(control_suite());
}
