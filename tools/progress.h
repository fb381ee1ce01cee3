/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A bar on standard error, for work that takes more than half a second.
 *
 *     launching  [##########--------------]  41 %  2 s left
 */
#ifndef ASHLAR_TOOLS_PROGRESS_H
#define ASHLAR_TOOLS_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "look.h"

enum progress_when {
    PROGRESS_AUTO, /* on a terminal, from half a second on */
    PROGRESS_ALWAYS,
    PROGRESS_NEVER
};

struct progress {
    enum progress_when when;
    struct look look;
    const char *what; /* NULL between phases */
    uint64_t total;   /* 0: not known */
    uint64_t started_ns;
    uint64_t drawn_ns; /* 0: not drawn yet */
};

void progress_start(struct progress *progress, enum progress_when when);

/** Begin a piece of work; the words are borrowed. */
void progress_phase(struct progress *progress, const char *what,
                    uint64_t total);

/** So much of the total is done. Cheap, but not to be called for each slot. */
void progress_step(struct progress *progress, uint64_t done);

/** Take the bar away; at the end of each phase, and before anything prints. */
void progress_end(struct progress *progress);

#endif
