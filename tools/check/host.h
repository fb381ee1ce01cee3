/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The host that a plug-in under trial is given: it remembers what is said,
 * counts what is taken, and can be out of memory.
 *
 * A block that was given back is overwritten and kept, so that a plug-in that
 * uses it, or gives it back twice, shows.
 */
#ifndef ASHLAR_TOOLS_CHECK_HOST_H
#define ASHLAR_TOOLS_CHECK_HOST_H

#include "check/report.h"

/** The one host of the process, which blames plug-ins in a report. */
const struct ashlar_host *host_start(struct check_report *report);

/** Forget what was said on this thread. */
void host_forget(void);

/** What was said last on this thread; ASHLAR_OK and "" for nothing. */
enum ashlar_status host_status(void);
const char *host_sentence(void);

/** Fail the nth allocation of this thread from now; 0: none. */
void host_fail_nth(unsigned nth);

/** Whether one of this thread's failed since host_fail_nth(). */
bool host_has_failed(void);

/** Blocks that are out. */
uint64_t host_blocks(void);

#endif
