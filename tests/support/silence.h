/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * System calls forbidden to a thread, by a seccomp filter of its own: what
 * strace would show, without strace.
 *
 * A thread that has been silenced stays so until its process ends. So it is
 * done in a child, whose silenced threads wait at a futex in the end, or leave
 * by silence_leave().
 */
#ifndef ASHLAR_TESTS_SUPPORT_SILENCE_H
#define ASHLAR_TESTS_SUPPORT_SILENCE_H

#include <stdbool.h>

/* Why threads cannot be silenced here: a kernel or a container without seccomp,
 * a tool that makes system calls of its own. NULL when they can. */
const char *silence_obstacle(void);

/* From now on any system call of the calling thread but futex (if that is
 * allowed) and exit_group ends the process, and is noted as a failure of the
 * case with its number. False: it could not be done, which is noted too. */
bool silence_thread(bool futex_allowed);

/* End the process of a silenced thread. It never returns; told to the compiler,
 * AddressSanitizer would look at the stack first, by a system call. */
void silence_leave(void);

#endif
