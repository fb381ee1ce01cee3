/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/silence.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/stress.h"

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#define ARCHITECTURE 0
#endif

#define LOAD(_member)                                                          \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, _member))
#define SKIP_UNLESS(_value, _count)                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (_value), 0, (_count))
#define DECIDE(_verdict) BPF_STMT(BPF_RET | BPF_K, (_verdict))

/* SIGSYS comes to the thread that made the call; only exit_group is left. */
static void tell(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    (void)stress_fail(__FILE__, __LINE__, "system call %d was made",
                      info->si_syscall);
    silence_leave();
}

static int install(bool futex_allowed)
{
    struct sock_filter filter[] = {
        LOAD(arch),
        SKIP_UNLESS(ARCHITECTURE, 6),
        LOAD(nr),
        SKIP_UNLESS(__NR_exit_group, 1),
        DECIDE(SECCOMP_RET_ALLOW),
        SKIP_UNLESS(futex_allowed ? __NR_futex : __NR_exit_group, 1),
        DECIDE(SECCOMP_RET_ALLOW),
        DECIDE(SECCOMP_RET_TRAP),
        DECIDE(SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

bool silence_thread(bool futex_allowed)
{
    struct sigaction action;

    memset(&action, 0, sizeof(action));
    action.sa_sigaction = tell;
    action.sa_flags = SA_SIGINFO;
    return STRESS_EXPECT(sigaction(SIGSYS, &action, NULL) == 0 &&
                             install(futex_allowed) == 0,
                         "no seccomp filter: %s", strerror(errno));
}

void silence_leave(void)
{
    for (;;)
        (void)syscall(__NR_exit_group, stress_failed() ? 1 : 0);
}

/* A child tries, with a call that must be trapped. */
static bool works(void)
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        (void)signal(SIGSYS, SIG_DFL);
        if (install(false) == 0)
            (void)syscall(__NR_getppid);
        (void)syscall(__NR_exit_group, 0);
    }
    if (child == -1 || waitpid(child, &status, 0) != child)
        return false;
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

const char *silence_obstacle(void)
{
    if (ARCHITECTURE == 0)
        return "the filter does not know this architecture";
    if (stress_is_tsan())
        return "ThreadSanitizer makes system calls of its own";
    if (stress_is_valgrind())
        return "Valgrind makes system calls of its own";
    if (!works())
        return "seccomp is not to be had here";
    return NULL;
}
