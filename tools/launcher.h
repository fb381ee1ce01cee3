/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A launcher, played: threads take a kernel's run of slots, fill it and put it
 * back, again and again, as a program that launches kernels does.
 */
#ifndef ASHLAR_TOOLS_LAUNCHER_H
#define ASHLAR_TOOLS_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "histogram.h"
#include "preparation.h"
#include "progress.h"

struct launcher_options {
    unsigned threads;
    uint64_t launches; /* of each thread */
    bool shuffled;     /* instances at random, else in the model's order */
    uint64_t seed;     /* for shuffled */
};

struct launcher_result {
    uint64_t launches; /* done by all threads */
    uint64_t slots;    /* taken, filled and put back */
    uint64_t wall_ns;  /* from the first launch to the end of the last */
    uint64_t clashes;  /* launches that found foreign bytes in their slots */
    uint64_t residue;  /* address % alignment of all runs, or-ed */
    uint64_t clock_ns; /* what reading the clock adds to each latency */
    struct histogram latency; /* ns from taking a run to having put it back */
    char *refusal;            /* what the library said, or NULL; to be freed */
};

/**
 * Launch until each thread has done its launches, or stop_wanted().
 *
 * @param preparation  With its runs put back.
 * @param result       Receives what was done.
 *
 * @return False when a thread could not be started, or a run was refused:
 *         result->refusal says why.
 */
bool launcher_run(const struct preparation *preparation,
                  const struct launcher_options *options,
                  struct progress *progress, struct launcher_result *result);

#endif
