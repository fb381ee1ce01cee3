/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The model of stress_model: actors that do random things to one pool, and
 * what each of them must hold afterwards.
 *
 *     actor ── thread ── singles[], runs[]    what it holds, with stamps
 *        │                 ▲   │
 *        └── cache         │   ▼              a caller-held cache, or none
 *                        mailbox              slots on their way to another
 */
#ifndef ASHLAR_TESTS_STRESS_MODEL_H
#define ASHLAR_TESTS_STRESS_MODEL_H

#include <pthread.h>

#include <ashlar.h>

#include "support/ledger.h"
#include "support/stress.h"

#define ACTORS_MAX  16
#define SINGLES_MAX 1500
#define RUNS_MAX    40
#define RUN_SLOTS   48
#define BATCH_MAX   300
#define MAILBOX     200

/* How a case is played. */
struct model_plan {
    unsigned actors;
    uint32_t flags;
    bool limited; /* max_slots lies below what the actors would take */
    bool plain;   /* no runs and no callers' caches */
};

struct held {
    void *slot;
    size_t n; /* of a run; 0 for a slot */
    uint64_t stamp;
};

struct model;

struct actor {
    struct model *model;
    struct stress_random random;
    uint64_t sequence;
    struct ashlar_cache *cache; /* NULL: none now */
    void *last_put;             /* the slot put last, perhaps live again */
    struct held singles[SINGLES_MAX];
    size_t single_count;
    size_t single_most;
    struct held runs[RUNS_MAX];
    size_t run_count;
};

struct model {
    struct model_plan plan;
    struct ledger ledger;
    struct ledger other;         /* a pool that the slots do not belong to */
    void *foreign;               /* a live slot of it */
    struct stress_random random; /* the referee's */
    struct actor actors[ACTORS_MAX];
    pthread_mutex_t mailbox_lock;
    struct held mailbox[MAILBOX];
    size_t mailbox_count;
    pthread_barrier_t barrier;
    size_t operations; /* of one actor between two barriers */
    size_t rounds;
};

/* One random operation; notes a failure when the pool did not do as it must. */
void model_step(struct actor *actor);

/* A put that must be refused, and change nothing. */
void model_put_wrong(struct actor *actor);

/* Put all that the actor holds, and close its cache. */
void model_clear(struct actor *actor);

/* Slots that the actor, or all and the mailbox, hold. */
size_t model_held(const struct actor *actor);
size_t model_live(struct model *model);

/* Whether one actor alone uses a pool so plain that it can be told which calls
 * must succeed. */
static inline bool model_is_exact(const struct model *model)
{
    return model->plan.actors == 1 && model->plan.plain;
}

/* A put by the way that chance picks: the pool, or the actor's cache. */
enum ashlar_status model_put(struct actor *actor, void *slot);
enum ashlar_status model_put_bulk(struct actor *actor, void *const *slots,
                                  size_t n, size_t *culprit_out);

#endif
