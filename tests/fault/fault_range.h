/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The sweep of ranges: what each verb starts from, does, and must have done.
 */
#ifndef ASHLAR_TESTS_FAULT_RANGE_H
#define ASHLAR_TESTS_FAULT_RANGE_H

#include <stdbool.h>

#include "support/ranges.h"

/* Streams that fences are recorded on; the second has work to do. */
#define STREAM_IDLE UINT64_C(11)
#define STREAM_BUSY UINT64_C(12)

struct verb {
    const char *name;
    /* Open the source and make the range as the verb is to find it. */
    void (*setup)(struct trial *trial);
    enum ashlar_status (*run)(struct trial *trial);
    /* After success, everything drained: whether it did what it should. */
    bool (*done)(const struct trial *trial, const struct before *before);
    /* What it says when nothing fails, but hints are not granted. */
    enum ashlar_status without_hint;
    bool pairs; /* try every two failures as well */
    /* Ranges beside it, so that the table of ranges is full. */
    unsigned others;
};

extern const struct verb verbs[];
extern const unsigned verb_count;

/* Those by which a range goes to another process. */
extern const struct verb share_verbs[];
extern const unsigned share_verb_count;

#endif
