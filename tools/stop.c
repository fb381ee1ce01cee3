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

void stop_catch(void)
{
    struct sigaction action = {.sa_handler = on_signal,
                               .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool stop_wanted(void)
{
    return __atomic_load_n(&caught, __ATOMIC_RELAXED) != 0;
}

int stop_exit_status(void)
{
    return 128 + __atomic_load_n(&caught, __ATOMIC_RELAXED);
}
