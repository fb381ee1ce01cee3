/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A source that stands before another (engine.h): it makes operations fail,
 * decides what becomes of hints, counts, and holds all that is asked for against
 * the rules of a driver (driver_model.h).
 *
 *     range ──> wrap ──> vm, or cuda on the simulated driver
 *                 └── model
 *
 * A failing operation does nothing, and leaves garbage where its output should
 * be. One lock over all of it: what the model says is what has been done.
 */
#ifndef ASHLAR_TESTS_SUPPORT_WRAP_SOURCE_H
#define ASHLAR_TESTS_SUPPORT_WRAP_SOURCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

#include "source/source.h"
#include "support/driver_model.h"

enum wrap_op {
    WRAP_RESERVE,
    WRAP_RELEASE,
    WRAP_CREATE,
    WRAP_DESTROY,
    WRAP_MAP,
    WRAP_UNMAP,
    WRAP_ALLOW,
    WRAP_FENCE_RECORD,
    WRAP_FENCE_EVENT,
    WRAP_FENCE_CAPTURE,
    WRAP_FENCE_GRAPH,
    WRAP_FENCE_QUERY,
    WRAP_EXPORT,
    WRAP_IMPORT,
    WRAP_COPY,
    WRAP_SCATTER_LOAD,
    WRAP_SCATTER,
    WRAP_OPS
};

/* What becomes of a hint that is free. */
enum wrap_hint {
    WRAP_GRANTED,
    WRAP_ELSEWHERE,
    WRAP_REFUSED, /* with an error, and garbage in the output */
    WRAP_HINTS
};

/* What is to fail, counted over all operations from now on. */
struct wrap_fault {
    uint64_t at;   /* 1: the next; 0: nothing */
    uint64_t then; /* and this one, later; 0: no other */
    bool for_ever; /* all from `at` on */
    bool stuck;    /* and whatever gives something back, or takes rights away */
    enum ashlar_status status; /* 0: what each operation says as a rule */
    uint64_t only;             /* a set of 1 << enum wrap_op; 0: all */
};

struct wrap {
    struct ashlar_source inner; /* works with engine_...() */
    struct model model;
    pthread_mutex_t lock; /* all below, and the model */
    enum wrap_hint hint;
    uint64_t calls[WRAP_OPS];
    uint64_t hints;    /* reservations asked for with a hint */
    uint64_t captured; /* a stream that is being captured; 0: none */
    struct wrap_fault fault;
    uint64_t counted;  /* operations since wrap_arm() */
    uint64_t failures; /* of those */
    const struct ashlar_host *host;
    uint64_t arena; /* addresses kept free, so that neighbours are */
    bool lost;      /* somebody else has a part of it: it stays as it is */
};

/* Open one; more options than engine_options(), or NULL. Fails the test case
 * when it cannot. */
struct ashlar_source *wrap_open(const char *more);
/* The same by these options alone. */
struct ashlar_source *wrap_open_as(const char *options);

/* The record behind such a source. */
struct wrap *wrap_of(const struct ashlar_source *source);

/* Fail what is said, from now on; forget what was counted. */
void wrap_arm(struct ashlar_source *source, struct wrap_fault fault);

/* Nothing fails any more. Returns how many failed. */
uint64_t wrap_lift(struct ashlar_source *source);

/* All calls so far. */
uint64_t wrap_calls(struct ashlar_source *source);

/* The model as it is, to be freed. */
struct model wrap_model(struct ashlar_source *source);

/* Nothing may be given out, no rule broken, the source must close. */
void wrap_close(struct ashlar_source *source);

#endif
