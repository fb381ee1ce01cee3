/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The operations of the model that must be refused: puts of what is not live,
 * not of this pool, or not at a slot's start, alone and at every place of a
 * batch. That nothing changed shows later, by the stamps and the balance.
 */
#include "config.h"

#include "stress/model.h"

#include <string.h>

/* Something that must not be put as a slot, and what is said of it. */
struct wrong {
    void *slot;
    enum ashlar_status status;
    enum ashlar_status or ; /* also right */
};

/* Whether a slot of the pool is surely not live: by our book, and with nobody
 * else about who may get it at this moment. */
static bool is_dead(struct actor *actor, void *slot)
{
    const struct model *model = actor->model;
    size_t index;

    return model->plan.actors == 1 && model->ledger.checked && slot != NULL &&
           ashlar_pool_index(model->ledger.pool, slot, &index) == ASHLAR_OK &&
           model->ledger.claims[index] == 0;
}

static void *random_slot(struct actor *actor)
{
    size_t capacity = ledger_stats(&actor->model->ledger).capacity_slots;

    if (capacity == 0)
        return NULL;
    return ashlar_pool_at(actor->model->ledger.pool,
                          stress_below(&actor->random, capacity));
}

/* One that was put, or was never handed out. It may lie among runs. */
static bool find_dead(struct actor *actor, struct wrong *wrong_out)
{
    void *slot =
        stress_chance(&actor->random, 2) ? actor->last_put : random_slot(actor);

    *wrong_out =
        (struct wrong){slot, ASHLAR_ERR_NOT_LIVE, ASHLAR_ERR_WRONG_OWNER};
    return is_dead(actor, slot);
}

/* Inside a slot that the actor holds, or inside one of nobody. */
static bool find_inside(struct actor *actor, struct wrong *wrong_out)
{
    size_t stride = actor->model->ledger.stride;
    char *slot;

    if (stride == 1 || actor->single_count == 0)
        return false;
    slot =
        actor->singles[stress_below(&actor->random, actor->single_count)].slot;
    slot += 1 + stress_below(&actor->random, stride - 1);
    *wrong_out =
        (struct wrong){slot, ASHLAR_ERR_MISALIGNED, ASHLAR_ERR_MISALIGNED};
    return true;
}

/* Part of a run that the actor holds. An unchecked pool that has singles and runs
 * in one slab may take it, and is not to be trusted then. */
static bool find_in_run(struct actor *actor, struct wrong *wrong_out)
{
    const struct held *run;

    if (actor->run_count == 0 || !actor->model->ledger.checked)
        return false;
    run = &actor->runs[stress_below(&actor->random, actor->run_count)];
    *wrong_out = (struct wrong){(char *)run->slot +
                                    stress_below(&actor->random, run->n) *
                                        actor->model->ledger.stride,
                                ASHLAR_ERR_WRONG_OWNER, ASHLAR_ERR_WRONG_OWNER};
    return true;
}

static bool find_wrong(struct actor *actor, struct wrong *wrong_out)
{
    static char elsewhere[64];

    switch (stress_below(&actor->random, 6)) {
    case 0:
        *wrong_out =
            (struct wrong){NULL, ASHLAR_ERR_INVALID, ASHLAR_ERR_INVALID};
        return true;
    case 1:
        *wrong_out =
            (struct wrong){actor->model->foreign, ASHLAR_ERR_WRONG_OWNER,
                           ASHLAR_ERR_WRONG_OWNER};
        return true;
    case 2:
        *wrong_out = (struct wrong){elsewhere, ASHLAR_ERR_WRONG_OWNER,
                                    ASHLAR_ERR_WRONG_OWNER};
        return true;
    case 3:
        return find_inside(actor, wrong_out);
    case 4:
        return find_in_run(actor, wrong_out);
    default:
        return find_dead(actor, wrong_out);
    }
}

static bool status_is(const struct wrong *wrong, enum ashlar_status status)
{
    return status == wrong->status || status == wrong->or ;
}

static void put_one(struct actor *actor)
{
    enum ashlar_status status;
    struct wrong wrong;

    if (!find_wrong(actor, &wrong))
        return;
    status = model_put(actor, wrong.slot);
    STRESS_EXPECT(status_is(&wrong, status),
                  "a put of %p gave %s, not %s; the last error is: %s",
                  wrong.slot, ashlar_status_name(status),
                  ashlar_status_name(wrong.status),
                  ashlar_last_error_message());
}

/* So many of the actor's slots, in any order. */
static size_t copy_some(struct actor *actor, void **slots_out, size_t most)
{
    void *slots[SINGLES_MAX];
    size_t n = actor->single_count;
    size_t i;

    for (i = 0; i < n; i++)
        slots[i] = actor->singles[i].slot;
    if (stress_chance(&actor->random, 2))
        stress_shuffle(&actor->random, slots, n);
    n = n < most ? n : stress_below(&actor->random, most);
    memcpy(slots_out, slots, n * sizeof(*slots));
    return n;
}

/* One wrong element among good ones. */
static void put_many(struct actor *actor)
{
    void *slots[BATCH_MAX + 1];
    size_t n = copy_some(actor, slots, BATCH_MAX);
    size_t place = stress_below(&actor->random, n + 1);
    size_t culprit = SIZE_MAX;
    enum ashlar_status status;
    struct wrong wrong;

    if (!find_wrong(actor, &wrong))
        return;
    memmove(slots + place + 1, slots + place, (n - place) * sizeof(*slots));
    slots[place] = wrong.slot;
    status = model_put_bulk(actor, slots, n + 1, &culprit);
    STRESS_EXPECT(status_is(&wrong, status) && culprit == place,
                  "a put of %zu with %p at %zu gave %s at %zu, not %s; the "
                  "last error is: %s",
                  n + 1, wrong.slot, place, ashlar_status_name(status), culprit,
                  ashlar_status_name(wrong.status),
                  ashlar_last_error_message());
}

/* One of the good ones a second time. */
static void put_twice(struct actor *actor)
{
    void *slots[BATCH_MAX + 1];
    size_t n = copy_some(actor, slots, BATCH_MAX);
    size_t culprit = SIZE_MAX;
    enum ashlar_status status;
    size_t place;
    size_t earlier;

    if (n == 0 || !actor->model->ledger.checked)
        return;
    place = 1 + stress_below(&actor->random, n);
    earlier = stress_below(&actor->random, place);
    memmove(slots + place + 1, slots + place, (n - place) * sizeof(*slots));
    slots[place] = slots[earlier];
    status = model_put_bulk(actor, slots, n + 1, &culprit);
    STRESS_EXPECT(status == ASHLAR_ERR_NOT_LIVE && culprit == place,
                  "a put of %zu with number %zu again at %zu gave %s at %zu",
                  n + 1, earlier, place, ashlar_status_name(status), culprit);
}

/* A live run, but not so. */
static void put_run_badly(struct actor *actor)
{
    struct ashlar_pool *pool = actor->model->ledger.pool;
    size_t stride = actor->model->ledger.stride;
    const struct held *run;
    enum ashlar_status status;
    size_t n;

    if (actor->run_count == 0)
        return;
    run = &actor->runs[stress_below(&actor->random, actor->run_count)];
    n = 1 + stress_below(&actor->random, 2 * RUN_SLOTS);
    if (n != run->n) {
        status = ashlar_pool_put_run(pool, run->slot, n);
        STRESS_EXPECT(status == ASHLAR_ERR_INVALID,
                      "a run of %zu put as one of %zu gave %s", run->n, n,
                      ashlar_status_name(status));
    }
    n = run->n * stride;
    if (n == 1)
        return;
    n = 1 + stress_below(&actor->random, n - 1);
    status = ashlar_pool_put_run(pool, (char *)run->slot + n, run->n);
    STRESS_EXPECT(status == ASHLAR_ERR_MISALIGNED,
                  "a put %zu bytes inside a run gave %s", n,
                  ashlar_status_name(status));
}

/* Slots that are no run of the actor's. */
static void put_no_run(struct actor *actor)
{
    struct ashlar_pool *pool = actor->model->ledger.pool;
    enum ashlar_status status;
    void *slot;

    if (actor->single_count != 0) {
        slot = actor->singles[actor->single_count - 1].slot;
        status = ashlar_pool_put_run(pool, slot, 1);
        STRESS_EXPECT(status == ASHLAR_ERR_WRONG_OWNER,
                      "a single slot put as a run gave %s",
                      ashlar_status_name(status));
    }
    slot = random_slot(actor);
    if (!is_dead(actor, slot))
        return;
    status = ashlar_pool_put_run(pool, slot, 1);
    STRESS_EXPECT(
        status == ASHLAR_ERR_WRONG_OWNER || status == ASHLAR_ERR_NOT_LIVE,
        "a free slot put as a run gave %s", ashlar_status_name(status));
}

void model_put_wrong(struct actor *actor)
{
    static void (*const ways[])(struct actor *) = {
        put_one,   put_one,       put_many,   put_many,
        put_twice, put_run_badly, put_no_run,
    };

    ways[stress_below(&actor->random, sizeof(ways) / sizeof(*ways))](actor);
}
