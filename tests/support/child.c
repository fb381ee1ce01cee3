/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/child.h"

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

int child_verdict(int (*judge)(void *argument), void *argument)
{
    int status, verdict;
    pid_t child = fork();

    if (child == 0) {
        (void)alarm(300);
        verdict = judge(argument);
        if (verdict == 0)
            (void)execlp("true", "true", (char *)NULL);
        _exit(verdict == 0 ? 126 : verdict);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 126;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 126;
}
