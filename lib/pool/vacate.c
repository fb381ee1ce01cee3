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
    __atomic_store_n(&slab->kind, SLAB_VACANT, __ATOMIC_RELAXED);
}

/* With both locks held: a vacant slab's slots are the pool's again. */
static void occupy(struct ashlar_pool *pool, struct slab *slab,
                   enum slab_kind kind)
{
    __atomic_store_n(&slab->kind, kind, __ATOMIC_RELAXED);
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

/* The first vacant slab; NULL when there is none. */
static struct slab *first_vacant(const struct ashlar_pool *pool)
{
    uint32_t i = pool->map == NULL ? 0 : pool->map->count;

    while (i != 0 && pool->map->order[i - 1]->kind == SLAB_VACANT)
        i--;
    return pool->map == NULL || i == pool->map->count ? NULL
                                                      : pool->map->order[i];
}

enum ashlar_status vacate_revive(struct ashlar_pool *pool, uint64_t missing,
                                 uint64_t room, enum slab_kind kind,
                                 uint64_t *made_out)
{
    enum ashlar_status status;
    struct slab *slab;

    *made_out = 0;
    for (slab = first_vacant(pool);
         slab != NULL && *made_out < missing && slab->count <= room - *made_out;
         slab = first_vacant(pool)) {
        /* Not a new slab instead: it would lie over this one. */
        if (kind == SLAB_RUNS && slab_make_tags(slab) != 0)
            return error_set(ASHLAR_ERR_NO_MEMORY,
                             "no host memory for the tags of %lu slots of pool "
                             "\"%s\"",
                             (unsigned long)slab->count, pool->name);
        status = slab_refill(&pool->plan, slab);
        if (status != ASHLAR_OK)
            return status;
        pool_lock(pool);
        occupy(pool, slab, kind);
        pool_unlock(pool);
        *made_out += slab->count;
    }
    return ASHLAR_OK;
}
