/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "stop.h"

#include <signal.h>
#include <stddef.h>

/* Lock-free, so that a handler may write it and threads read it. */
static int caught;

static void on_signal(int number)
{
    __atomic_store_n(&caught, number, __ATOMIC_RELAXED);
}

/* A signal that is ignored stays so: this is how a shell keeps Ctrl-C from
 * what it runs in the background. */
static void catch_one(int number)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void stop_catch(void)
{
    catch_one(SIGINT);
    catch_one(SIGTERM);
}

bool stop_wanted(void)
{
    return __atomic_load_n(&caught, __ATOMIC_RELAXED) != 0;
}

int stop_exit_status(void)
{
    return 128 + __atomic_load_n(&caught, __ATOMIC_RELAXED);
}
