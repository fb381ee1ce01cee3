/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The operations of the model that must succeed, or fail for a good reason.
 */
#include "config.h"

#include "stress/model.h"

static uint64_t new_stamp(struct actor *actor)
{
    struct stress_random mix = {
        (uint64_t)(actor - actor->model->actors + 1) << 48 | actor->sequence++};

    return stress_next(&mix);
}

size_t model_held(const struct actor *actor)
{
    size_t slots = actor->single_count;
    size_t i;

    for (i = 0; i < actor->run_count; i++)
        slots += actor->runs[i].n;
    return slots;
}

size_t model_live(struct model *model)
{
    size_t slots = model->mailbox_count;
    unsigned i;

    for (i = 0; i < model->plan.actors; i++)
        slots += model_held(&model->actors[i]);
    return slots;
}

/* A get of n failed, or gave fewer: that must have a reason. */
static void expect_reason(struct actor *actor, size_t n)
{
    struct model *model = actor->model;
    enum ashlar_status status = ashlar_last_error();

    if (!STRESS_EXPECT(model->plan.limited && status == ASHLAR_ERR_LIMIT,
                       "a get of %zu failed: %s", n,
                       ashlar_last_error_message()))
        return;
    if (model_is_exact(model))
        STRESS_EXPECT(model_live(model) + n >
                          ledger_stats(&model->ledger).max_slots,
                      "with %zu slots live a get of %zu failed: %s",
                      model_live(model), n, ashlar_last_error_message());
}

/* Take what a get gave. */
static void hold(struct actor *actor, void *slot)
{
    struct held *held = &actor->singles[actor->single_count];

    *held = (struct held){slot, 0, new_stamp(actor)};
    if (ledger_take(&actor->model->ledger, slot, 0, held->stamp))
        actor->single_count++;
}

static bool through_cache(struct actor *actor)
{
    return actor->cache != NULL && stress_chance(&actor->random, 2);
}

/* --- gets ----------------------------------------------------------------- */

static size_t room(const struct actor *actor)
{
    return actor->single_most - actor->single_count;
}

static void get_one(struct actor *actor)
{
    void *slot;

    if (room(actor) == 0)
        return;
    slot = through_cache(actor) ? ashlar_cache_get(actor->cache)
                                : ashlar_pool_get(actor->model->ledger.pool);
    if (slot == NULL)
        expect_reason(actor, 1);
    else
        hold(actor, slot);
}

/* Mostly small, sometimes as large as it gets. */
static size_t batch_size(struct actor *actor, size_t most)
{
    size_t bound = stress_chance(&actor->random, 3) ? BATCH_MAX : 20;

    if (most > bound)
        most = bound;
    return most == 0 ? 0 : 1 + stress_below(&actor->random, most);
}

static void get_many(struct actor *actor)
{
    struct ashlar_pool *pool = actor->model->ledger.pool;
    size_t n = batch_size(actor, room(actor));
    void *slots[BATCH_MAX];
    enum ashlar_status status;
    size_t i;

    status = through_cache(actor)
                 ? ashlar_cache_get_bulk(actor->cache, slots, n)
                 : ashlar_pool_get_bulk(pool, slots, n);
    if (status != ASHLAR_OK)
        expect_reason(actor, n);
    for (i = 0; status == ASHLAR_OK && i < n; i++)
        hold(actor, slots[i]);
}

static void get_some(struct actor *actor)
{
    size_t n = batch_size(actor, room(actor));
    void *slots[BATCH_MAX];
    size_t got = ashlar_pool_get_up_to(actor->model->ledger.pool, slots, n);
    size_t i;

    for (i = 0; i < got; i++)
        hold(actor, slots[i]);
    if (got < n)
        expect_reason(actor, 1);
}

static void get_run(struct actor *actor)
{
    struct model *model = actor->model;
    size_t n = 1 + stress_below(&actor->random, RUN_SLOTS);
    struct held *held = &actor->runs[actor->run_count];
    enum ashlar_status status;
    void *run;

    if (actor->run_count == RUNS_MAX || n > actor->single_most / 2)
        return;
    run = ashlar_pool_get_run(model->ledger.pool, n);
    if (run == NULL) {
        status = ashlar_last_error();
        STRESS_EXPECT(model->plan.limited && (status == ASHLAR_ERR_LIMIT ||
                                              status == ASHLAR_ERR_FRAGMENTED),
                      "a run of %zu: %s", n, ashlar_last_error_message());
        return;
    }
    *held = (struct held){run, n, new_stamp(actor)};
    if (ledger_take(&model->ledger, run, n, held->stamp))
        actor->run_count++;
}

/* --- puts ----------------------------------------------------------------- */

enum ashlar_status model_put(struct actor *actor, void *slot)
{
    return through_cache(actor)
               ? ashlar_cache_put(actor->cache, slot)
               : ashlar_pool_put(actor->model->ledger.pool, slot);
}

enum ashlar_status model_put_bulk(struct actor *actor, void *const *slots,
                                  size_t n, size_t *culprit_out)
{
    return through_cache(actor)
               ? ashlar_cache_put_bulk(actor->cache, slots, n, culprit_out)
               : ashlar_pool_put_bulk(actor->model->ledger.pool, slots, n,
                                      culprit_out);
}

/* Take one out of the actor's hands, by its place. */
static struct held let_go(struct actor *actor, size_t i)
{
    struct held held = actor->singles[i];

    actor->singles[i] = actor->singles[--actor->single_count];
    return held;
}

static void put_one(struct actor *actor)
{
    struct held held;

    if (actor->single_count == 0)
        return;
    /* The last one got is what most callers put first. */
    held =
        let_go(actor, stress_chance(&actor->random, 2)
                          ? actor->single_count - 1
                          : stress_below(&actor->random, actor->single_count));
    if (!ledger_give(&actor->model->ledger, held.slot, 0, held.stamp))
        return;
    actor->last_put = held.slot;
    STRESS_EXPECT(model_put(actor, held.slot) == ASHLAR_OK, "put: %s",
                  ashlar_last_error_message());
}

/* In the order in which they were got, backwards, or in none. */
static void put_many(struct actor *actor)
{
    size_t n = batch_size(actor, actor->single_count);
    size_t order = stress_below(&actor->random, 3);
    void *slots[BATCH_MAX];
    size_t culprit = SIZE_MAX;
    struct held held;
    size_t i;

    for (i = 0; i < n; i++) {
        held = let_go(actor, order == 2 ? stress_below(&actor->random,
                                                       actor->single_count)
                                        : actor->single_count - 1);
        slots[order == 0 ? n - 1 - i : i] = held.slot;
        if (!ledger_give(&actor->model->ledger, held.slot, 0, held.stamp))
            return;
    }
    if (n != 0)
        actor->last_put = slots[0];
    STRESS_EXPECT(model_put_bulk(actor, slots, n, &culprit) == ASHLAR_OK,
                  "put of %zu, culprit %zu: %s", n, culprit,
                  ashlar_last_error_message());
    STRESS_EXPECT(culprit == SIZE_MAX, "a culprit where none is");
}

static void put_run(struct actor *actor)
{
    struct held held;
    size_t i;

    if (actor->run_count == 0)
        return;
    i = stress_below(&actor->random, actor->run_count);
    held = actor->runs[i];
    actor->runs[i] = actor->runs[--actor->run_count];
    if (ledger_give(&actor->model->ledger, held.slot, held.n, held.stamp))
        STRESS_EXPECT(ashlar_pool_put_run(actor->model->ledger.pool, held.slot,
                                          held.n) == ASHLAR_OK,
                      "put of a run: %s", ashlar_last_error_message());
}

/* --- to another actor, and from one --------------------------------------- */

static void post(struct actor *actor)
{
    struct model *model = actor->model;
    size_t n = batch_size(actor, actor->single_count);

    (void)pthread_mutex_lock(&model->mailbox_lock);
    for (; n != 0 && model->mailbox_count < MAILBOX; n--)
        model->mailbox[model->mailbox_count++] =
            let_go(actor, stress_below(&actor->random, actor->single_count));
    (void)pthread_mutex_unlock(&model->mailbox_lock);
}

static void fetch(struct actor *actor)
{
    struct model *model = actor->model;
    size_t n = batch_size(actor, room(actor));

    (void)pthread_mutex_lock(&model->mailbox_lock);
    for (; n != 0 && model->mailbox_count != 0; n--)
        actor->singles[actor->single_count++] =
            model->mailbox[--model->mailbox_count];
    (void)pthread_mutex_unlock(&model->mailbox_lock);
}

/* --- the rest ------------------------------------------------------------- */

static void turn_cache(struct actor *actor)
{
    static const size_t sizes[] = {0, 1, 2, 7, 64, 2000};
    size_t slots = sizes[stress_below(&actor->random, 6)];

    if (actor->cache == NULL) {
        STRESS_EXPECT(ashlar_cache_open(actor->model->ledger.pool, slots,
                                        ASHLAR_CACHE_LAYOUT,
                                        &actor->cache) == ASHLAR_OK,
                      "open: %s", ashlar_last_error_message());
        return;
    }
    STRESS_EXPECT(ashlar_cache_close(actor->cache) == ASHLAR_OK, "close: %s",
                  ashlar_last_error_message());
    actor->cache = NULL;
}

static void reserve(struct actor *actor)
{
    size_t n = stress_below(&actor->random, actor->single_most);

    if (ashlar_pool_reserve(actor->model->ledger.pool, n) != ASHLAR_OK)
        STRESS_EXPECT(actor->model->plan.limited &&
                          ashlar_last_error() == ASHLAR_ERR_LIMIT,
                      "reserve of %zu: %s", n, ashlar_last_error_message());
}

static void reserve_runs(struct actor *actor)
{
    size_t n = 1 + stress_below(&actor->random, RUN_SLOTS);
    size_t count = stress_below(&actor->random, 5);
    enum ashlar_status status;

    if (n > actor->single_most / 2)
        return;
    status = ashlar_pool_reserve_runs(actor->model->ledger.pool, n, count);
    STRESS_EXPECT(status == ASHLAR_OK || (actor->model->plan.limited &&
                                          (status == ASHLAR_ERR_LIMIT ||
                                           status == ASHLAR_ERR_FRAGMENTED)),
                  "reserve of %zu runs of %zu: %s", count, n,
                  ashlar_last_error_message());
}

static void trim(struct actor *actor)
{
    STRESS_EXPECT(ashlar_pool_trim(actor->model->ledger.pool, NULL) ==
                      ASHLAR_OK,
                  "trim: %s", ashlar_last_error_message());
}

static void detach(struct actor *actor)
{
    STRESS_EXPECT(ashlar_pool_detach(actor->model->ledger.pool) == ASHLAR_OK,
                  "detach: %s", ashlar_last_error_message());
}

void model_clear(struct actor *actor)
{
    while (actor->single_count != 0 && !stress_failed())
        put_many(actor);
    while (actor->run_count != 0 && !stress_failed())
        put_run(actor);
    if (actor->cache != NULL)
        turn_cache(actor);
}

/* How often each operation comes, in a thousand. */
static const struct {
    unsigned weight;
    bool plain; /* also where no runs and no callers' caches are wanted */
    void (*step)(struct actor *actor);
} steps[] = {
    {220, true, get_one},     {210, true, put_one},
    {110, true, get_many},    {110, true, put_many},
    {40, true, get_some},     {60, false, get_run},
    {60, false, put_run},     {85, true, model_put_wrong},
    {40, true, post},         {40, true, fetch},
    {12, false, turn_cache},  {4, true, reserve},
    {3, false, reserve_runs}, {1, true, trim},
    {4, true, detach},        {1, true, model_clear},
};

void model_step(struct actor *actor)
{
    size_t pick = stress_below(&actor->random, 1000);
    size_t i = 0;

    while (pick >= steps[i].weight)
        pick -= steps[i++].weight;
    if (steps[i].plain || !actor->model->plan.plain)
        steps[i].step(actor);
}
