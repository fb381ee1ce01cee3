/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * System calls of growth on vm, counted by the kernel: a filter hands each call
 * of a thread to another thread, which counts it and lets it go on.
 */
#include "config.h"

#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FLAG_CONTINUE
int main(void)
{
    return suite_skip("the kernel's headers are too old for counting calls");
}
#else

#define CALLS 512

static int listener = -1;
static int finished;
static int counting;
static unsigned counts[CALLS]; /* by number */
static unsigned total;

/* --- counting ------------------------------------------------------------- */

/* All further calls of this thread go to the listener. Returns 0, or errno. */
static int hand_over(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
    };
    struct sock_fprog program = {1, filter};
    long fd;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return errno;
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0)
        return errno;
    __atomic_store_n(&listener, (int)fd, __ATOMIC_RELEASE);
    return 0;
}

/* One call of the other thread: count it, and let it go on. */
static void answer_call(int fd)
{
    struct seccomp_notif request;
    struct seccomp_notif_resp answer;

    memset(&request, 0, sizeof(request));
    if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0)
        return;
    if (__atomic_load_n(&counting, __ATOMIC_ACQUIRE) != 0) {
        total++;
        if (request.data.nr >= 0 && request.data.nr < CALLS)
            counts[request.data.nr]++;
    }
    memset(&answer, 0, sizeof(answer));
    answer.id = request.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Until the other thread has ended. */
static void *listen_on(void *argument)
{
    struct pollfd calls = {-1, POLLIN, 0};

    (void)argument;
    while (__atomic_load_n(&finished, __ATOMIC_ACQUIRE) == 0) {
        calls.fd = __atomic_load_n(&listener, __ATOMIC_ACQUIRE);
        if (calls.fd < 0)
            (void)sched_yield();
        else if (poll(&calls, 1, 50) == 1 && (calls.revents & POLLIN) != 0)
            answer_call(calls.fd);
    }
    return NULL;
}

static void count_from_here(void)
{
    memset(counts, 0, sizeof(counts));
    total = 0;
    __atomic_store_n(&counting, 1, __ATOMIC_RELEASE);
}

static void count_no_more(void)
{
    __atomic_store_n(&counting, 0, __ATOMIC_RELEASE);
}

/* --- what is counted ------------------------------------------------------ */

static struct ashlar_source *source;
static struct ashlar_range *range;
static uint64_t granule;

/* A range that has grown and shrunk, so that everybody has memory enough. */
static void make_range(void)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    unsigned i;

    OK(ashlar_source_open("vm", engine_options(), &source));
    granule = source->info.granule;
    options.reserve_bytes = 4096 * granule;
    OK(ashlar_range_create(source, &options, &range));
    for (i = 1; i <= 64; i++)
        OK(ashlar_range_grow_to(range, i * granule, NULL));
    OK(ashlar_range_shrink_to(range, 4 * granule, ASHLAR_QUIET, 1, NULL));
    for (i = 5; i <= 64; i++)
        OK(ashlar_range_grow_to(range, i * granule, NULL));
}

static void end_range(void)
{
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(source));
}

/* A thread's first allocations are system calls of malloc(3): not counted. */
static void begin_thread(void)
{
    STRESS_EXPECT(hand_over() == 0, "no filter");
    STRESS_EXPECT(
        ashlar_range_shrink_to(range, 62 * granule, ASHLAR_QUIET, 1, NULL) ==
                ASHLAR_OK &&
            ashlar_range_grow_to(range, 63 * granule, NULL) == ASHLAR_OK &&
            ashlar_range_grow_to(range, 64 * granule, NULL) == ASHLAR_OK,
        "%s", ashlar_last_error_message());
}

/* In a thread of its own, whose calls are counted. */
static void counted(void *(*work)(void *))
{
    pthread_t counter, worker;

    finished = 0;
    ck_assert_int_eq(pthread_create(&counter, NULL, listen_on, NULL), 0);
    ck_assert_int_eq(pthread_create(&worker, NULL, work, NULL), 0);
    ck_assert_int_eq(pthread_join(worker, NULL), 0);
    __atomic_store_n(&finished, 1, __ATOMIC_RELEASE);
    ck_assert_int_eq(pthread_join(counter, NULL), 0);
    (void)close(listener);
    listener = -1;
    stress_verdict();
}

static void *grow_into_what_is_mapped(void *argument)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    unsigned i;

    (void)argument;
    begin_thread();
    STRESS_EXPECT(ashlar_range_prepare(range, 128 * granule,
                                       ASHLAR_RANGE_MAPPED) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    count_from_here();
    for (i = 65; i <= 128; i++) {
        STRESS_EXPECT(ashlar_range_grow_to(range, i * granule, &result) ==
                          ASHLAR_OK,
                      "%s", ashlar_last_error_message());
        STRESS_EXPECT(result.path == ASHLAR_RANGE_PATH_NONE, "a path");
        STRESS_EXPECT(ashlar_range_query(range, &info) == ASHLAR_OK, "query");
        STRESS_EXPECT(ashlar_range_find(info.base) == range, "find");
    }
    count_no_more();
    STRESS_EXPECT(total == 0, "%u system calls", total);
    return NULL;
}

START_TEST(a_grow_into_what_is_mapped_makes_no_system_call)
{
    counted(grow_into_what_is_mapped);
}
END_TEST

static void *grow_by_one_chunk(void *argument)
{
    (void)argument;
    begin_thread();
    count_from_here();
    STRESS_EXPECT(ashlar_range_grow_to(range, 80 * granule, NULL) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    count_no_more();
    STRESS_EXPECT(total == 4 && counts[SYS_ftruncate] == 1 &&
                      counts[SYS_mmap] == 1 && counts[SYS_madvise] == 1 &&
                      counts[SYS_mprotect] == 1,
                  "%u system calls; ftruncate %u, mmap %u, madvise %u, "
                  "mprotect %u",
                  total, counts[SYS_ftruncate], counts[SYS_mmap],
                  counts[SYS_madvise], counts[SYS_mprotect]);
    return NULL;
}

START_TEST(a_grow_makes_one_call_for_each_thing_it_must_do)
{
    counted(grow_by_one_chunk);
}
END_TEST

static void *shrink_and_grow(void *argument)
{
    (void)argument;
    begin_thread();
    count_from_here();
    STRESS_EXPECT(ashlar_range_shrink_to(range, 63 * granule, ASHLAR_QUIET, 1,
                                         NULL) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    count_no_more();
    STRESS_EXPECT(total == 2 && counts[SYS_mmap] == 1 &&
                      counts[SYS_fallocate] == 1,
                  "%u system calls of a shrink", total);
    /* The file has room for it now. */
    count_from_here();
    STRESS_EXPECT(ashlar_range_grow_to(range, 64 * granule, NULL) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    count_no_more();
    STRESS_EXPECT(total == 3 && counts[SYS_ftruncate] == 0,
                  "%u system calls of a grow again", total);
    return NULL;
}

START_TEST(a_shrink_makes_two_and_growing_again_three)
{
    counted(shrink_and_grow);
}
END_TEST

/* -------------------------------------------------------------------------- */

/* Whether this system lets us count. */
static int can_count(void)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        pthread_t counter;

        if (pthread_create(&counter, NULL, listen_on, NULL) != 0)
            _exit(1);
        _exit(hand_over());
    }
    return child > 0 && waitpid(child, &status, 0) == child &&
           WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static Suite *range_calls_suite(void)
{
    Suite *suite = suite_create("range_calls");
    TCase *test = tcase_create("system calls");

    tcase_add_checked_fixture(test, make_range, end_range);
    tcase_add_test(test, a_grow_into_what_is_mapped_makes_no_system_call);
    tcase_add_test(test, a_grow_makes_one_call_for_each_thing_it_must_do);
    tcase_add_test(test, a_shrink_makes_two_and_growing_again_three);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    if (stress_is_watched() || stress_is_tsan())
        return suite_skip("a tool that looks on makes calls of its own");
    if (!can_count())
        return suite_skip("this system does not let calls be counted");
    stress_begin();
    return suite_run(range_calls_suite());
}

#endif
