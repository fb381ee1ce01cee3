/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The simulated driver, for tests: the one that was built, found by its path,
 * with what it exports beside the driver's own entries.
 */
#ifndef ASHLAR_TESTS_SUPPORT_SIM_H
#define ASHLAR_TESTS_SUPPORT_SIM_H

#include "cudasim.h"

#include "support/cu.h"

#define SIM_ENTRIES(_X)                                                        \
    _X(reset, cudasim_reset)                                                   \
    _X(inject, cudasim_fail)                                                   \
    _X(inject_times, cudasim_fail_times)                                       \
    _X(inject_none, cudasim_fail_none)                                         \
    _X(calls, cudasim_calls)                                                   \
    _X(count_none, cudasim_count_none)                                         \
    _X(hints, cudasim_hints)                                                   \
    _X(hold, cudasim_hold)                                                     \
    _X(finish, cudasim_finish)                                                 \
    _X(finish_all, cudasim_finish_all)                                         \
    _X(touch, cudasim_touch)                                                   \
    _X(fail_context, cudasim_fail_context)                                     \
    _X(deinitialize, cudasim_deinitialize)                                     \
    _X(query, cudasim_query)                                                   \
    _X(report, cudasim_report)

struct sim {
    SIM_ENTRIES(CU_MEMBER)
    CUcontext context; /* device 0's primary one */
};

extern struct sim sim;

/* Its path, in a static buffer. */
const char *sim_path(void);

/*
 * Begin with a fresh machine, whose settings are as in cudasim.h, and make the
 * primary context of device 0 current.
 */
void sim_start(const char *settings);

/* The same, without starting the driver or a context. */
void sim_start_cold(const char *settings);

/* What is given out. */
struct cudasim_account sim_account(void);

#endif
