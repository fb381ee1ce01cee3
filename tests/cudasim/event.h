/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Events: the moment that was recorded last, and when it came.
 */
#ifndef CUDASIM_EVENT_H
#define CUDASIM_EVENT_H

#include "stream.h"

struct event {
    struct item handle;
    uint64_t context; /* id */
    unsigned flags;
    bool recorded;
    struct moment moment;
    double milliseconds; /* when it came */
    uint64_t capture;    /* that it was recorded in last; 0: none */
    struct frontier frontier;
};

extern struct index events;

/* Work that records an event is queued: this is its moment now. */
void event_recorded(uint64_t handle, struct moment moment);

/* The work that records an event is done. */
void event_passed(uint64_t handle, struct moment moment);

void event_drop(uint64_t context);

#endif
