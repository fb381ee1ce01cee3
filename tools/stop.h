/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Ctrl-C: the work ends at the next good place, and what was done is told.
 */
#ifndef ASHLAR_TOOLS_STOP_H
#define ASHLAR_TOOLS_STOP_H

#include <stdbool.h>

/** Take SIGINT and SIGTERM. A second one ends the program at once. */
void stop_catch(void);

/** Whether one of them came. */
bool stop_wanted(void);

/** The exit status for it: 128 and the signal's number, so 130 for Ctrl-C. */
int stop_exit_status(void);

#endif
