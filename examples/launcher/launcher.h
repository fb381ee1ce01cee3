/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the launcher has, and the ways in which it gets its tensor maps to its
 * kernels. Each way copies all problems, is checked, and says a line.
 */
#ifndef LAUNCHER_LAUNCHER_H
#define LAUNCHER_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

#include <ashlar.h>

#include "driver.h"
#include "problems.h"

#define LAUNCHER_STREAMS 8u

struct launcher {
    struct ashlar_source *source; /* device 0 */
    struct ashlar_source *host;   /* memory of the host's that it reads */
    struct ashlar_pool *pool;     /* host slots, to be passed by value */
    struct ashlar_tensormap_table *table; /* and on the device */
    struct problems problems;
    CUstream streams[LAUNCHER_STREAMS];
    CUevent event; /* orders one stream behind another */
    bool kernels;  /* this driver runs them */
};

/* Have slots for all maps of the problems. */
void launcher_make_pool(struct launcher *launcher);

/* Have what there is on the device, and give it back. The device's memory goes
 * when the work on the streams is done. */
void launcher_begin(struct launcher *launcher);
void launcher_end(struct launcher *launcher);

/* The stream that problem i is copied on. */
CUstream launcher_stream(const struct launcher *launcher, size_t i);

/* Order the other streams behind the first, and the first behind the others. */
void launcher_fork(const struct launcher *launcher);
void launcher_join(const struct launcher *launcher);

/* "When the work on all streams so far is done": LAUNCHER_STREAMS fences. */
void launcher_fences(const struct launcher *launcher,
                     struct ashlar_fence *fences);

/* Wait, and see that all problems were copied rightly, if kernels run. */
void launcher_check(struct launcher *launcher);

/* What that has shown: the end of a line. */
const char *launcher_verdict(const struct launcher *launcher);

/* The ways. */
void by_value(struct launcher *launcher);
void by_table(struct launcher *launcher);
void graph(struct launcher *launcher);

/* How many launches a second each way makes. */
void compare(struct launcher *launcher);

#endif
