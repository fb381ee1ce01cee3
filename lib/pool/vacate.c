/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/vacate.h"

#include "base/error.h"
#include "pool/pool.h"

/* With both locks held: whether all of a slab is free. */
static bool is_free(const struct ashlar_pool *pool, const struct slab *slab)
{
    if (slab->kind == SLAB_SINGLES)
        return slab->free_slots == slab->count;
    return slab->kind == SLAB_RUNS && runs_slab_is_free(pool, slab);
}

/* With both locks held: a free slab's slots are nobody's. */
static void vacate(struct ashlar_pool *pool, struct slab *slab)
{
    if (slab->kind == SLAB_SINGLES) {
        pool->singles -= slab->count;
        pool->store.free -= slab->count;
        slab_set_all_free(slab, false);
    } else {
        runs_remove_slab(pool, slab);
    }
    slab_set_kind(slab, SLAB_VACANT);
}

/* With both locks held: a vacant slab's slots are the pool's again. */
static void occupy(struct ashlar_pool *pool, struct slab *slab,
                   enum slab_kind kind)
{
    slab_set_kind(slab, kind);
    if (kind == SLAB_RUNS) {
        runs_add_slab(pool, slab);
        return;
    }
    slab_set_all_free(slab, true);
    pool->singles += slab->count;
    pool->store.free += slab->count;
    if (slab->number < pool->store.low)
        pool->store.low = slab->number;
}

/* With both locks held: the first of the free slabs at the far end. */
static uint32_t first_free(const struct ashlar_pool *pool)
{
    uint32_t i = pool->map->count;

    while (i != 0 && (pool->map->order[i - 1]->kind == SLAB_VACANT ||
                      is_free(pool, pool->map->order[i - 1])))
        i--;
    return i;
}

enum ashlar_status vacate_trim(struct ashlar_pool *pool, size_t *bytes_out)
{
    enum ashlar_status status = ASHLAR_OK;
    uint64_t bytes = 0;
    uint32_t first;
    uint32_t i;

    lock_take(&pool->grow);
    pool_lock(pool);
    first = pool->map == NULL ? 0 : first_free(pool);
    if (pool->map != NULL && first < pool->map->count)
        status = slab_cut(&pool->plan, pool->map->order[first], &bytes);
    for (i = first;
         status == ASHLAR_OK && pool->map != NULL && i < pool->map->count; i++)
        if (pool->map->order[i]->kind != SLAB_VACANT)
            vacate(pool, pool->map->order[i]);
    pool_unlock(pool);
    lock_give(&pool->grow);
    *bytes_out = bytes;
    return status;
}

/* Where the vacant slabs begin. */
static uint32_t first_vacant(const struct ashlar_pool *pool)
{
    uint32_t i = pool->map == NULL ? 0 : pool->map->count;

    while (i != 0 && pool->map->order[i - 1]->kind == SLAB_VACANT)
        i--;
    return i;
}

static enum ashlar_status no_tags(const struct ashlar_pool *pool,
                                  const struct slab *slab)
{
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory for the tags of %lu slots of pool \"%s\"",
                     (unsigned long)slab->count, pool->name);
}

enum ashlar_status vacate_begin(struct ashlar_pool *pool, uint64_t missing,
                                uint64_t room, enum slab_kind kind,
                                struct revival *revival_out)
{
    const uint32_t count = pool->map == NULL ? 0 : pool->map->count;
    struct revival revival = {.begin = first_vacant(pool), .kind = kind};
    struct slab *slab;

    for (revival.end = revival.begin;
         revival.end < count && revival.slots < missing; revival.end++) {
        slab = pool->map->order[revival.end];
        if (slab->count > room - revival.slots)
            break;
        /* Not a new slab instead: it would lie over this one. */
        if (kind == SLAB_RUNS && slab_make_tags(slab) != 0)
            return no_tags(pool, slab);
        revival.slots += slab->count;
    }
    *revival_out = revival;
    if (revival.slots == 0)
        return ASHLAR_OK;
    return slab_refill(&pool->plan, pool->map->order[revival.end - 1]);
}

void vacate_commit(struct ashlar_pool *pool, const struct revival *revival)
{
    uint32_t i;

    pool_lock(pool);
    for (i = revival->begin; i < revival->end; i++)
        occupy(pool, pool->map->order[i], revival->kind);
    pool_unlock(pool);
}

void vacate_abort(struct ashlar_pool *pool, const struct revival *revival)
{
    struct slab *first;
    struct error before;
    uint64_t bytes;

    if (revival->begin == revival->end)
        return;
    first = pool->map->order[revival->begin];
    error_copy(&before);
    /* What cannot be noted to go stays mapped, for the next time. */
    if (slab_cut(&pool->plan, first, &bytes) != ASHLAR_OK)
        pool->plan.placed = first->first;
    error_restore(&before);
}
