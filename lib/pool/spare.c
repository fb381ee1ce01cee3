/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/spare.h"

#include <string.h>

#include "base/memory.h"
#include "base/thread.h"

/* With the lock held. */
static void give(struct ashlar_pool *pool, const struct run_tag *tag)
{
    struct slab *slab = slab_map_find(pool->map, (uintptr_t)run_link(tag));

    runs_give(pool, slab, (uint32_t)(tag - slab->tags));
}

void spare_give(struct ashlar_pool *pool, const struct run_tag *tag)
{
    pool_lock(pool);
    give(pool, tag);
    pool_unlock(pool);
}

/* --- for all threads ------------------------------------------------------ */

static void call_in(struct spares *spares)
{
    struct run_tag *tag;
    uint32_t i;

    for (i = 0; i < SPARE_SETS * SPARE_WAYS; i++) {
        tag =
            spare_take_out(&spares->sets[i / SPARE_WAYS].tags[i % SPARE_WAYS]);
        if (tag != NULL)
            give(spares->pool, tag);
    }
}

void spare_call_in(struct ashlar_pool *pool)
{
    struct spares *spares;

    for (spares = pool->spares; spares != NULL; spares = spares->next)
        call_in(spares);
}

uint32_t spare_puts(struct ashlar_pool *pool, uint32_t length)
{
    struct spares *spares;
    uint32_t puts = 0;

    for (spares = pool->spares; spares != NULL; spares = spares->next) {
        puts += __atomic_load_n(&spare_home(spares, length)->puts,
                                __ATOMIC_ACQUIRE);
        puts += __atomic_load_n(&spare_second(spares, length)->puts,
                                __ATOMIC_ACQUIRE);
    }
    return puts;
}

void spare_count(const struct ashlar_pool *pool, uint64_t *runs_out,
                 uint64_t *slots_out)
{
    const struct spares *spares;
    const struct spare_set *set;
    const struct run_tag *tag;
    uint32_t i;

    *runs_out = 0;
    *slots_out = 0;
    for (spares = pool->spares; spares != NULL; spares = spares->next) {
        for (i = 0; i < SPARE_SETS * SPARE_WAYS; i++) {
            set = &spares->sets[i / SPARE_WAYS];
            tag = __atomic_load_n(&set->tags[i % SPARE_WAYS], __ATOMIC_ACQUIRE);
            if (tag == NULL)
                continue;
            *runs_out += 1;
            *slots_out += run_length(tag);
        }
    }
}

/* --- threads come and go -------------------------------------------------- */

static void link_spares(struct ashlar_pool *pool, struct spares *spares)
{
    spares->next = pool->spares;
    if (pool->spares != NULL)
        pool->spares->previous = spares;
    pool->spares = spares;
}

static void unlink_spares(struct ashlar_pool *pool, struct spares *spares)
{
    if (spares->previous != NULL)
        spares->previous->next = spares->next;
    else
        pool->spares = spares->next;
    if (spares->next != NULL)
        spares->next->previous = spares->previous;
}

/* Spares of nobody, in no list; NULL: no memory. */
static struct spares *create(struct ashlar_pool *pool, struct thread *owner)
{
    struct spares *spares = memory_zalloc_aligned(sizeof(*spares), 64);

    if (spares == NULL)
        return NULL;
    spares->pool = pool;
    spares->owner = owner;
    return spares;
}

struct spares *spare_self(struct ashlar_pool *pool)
{
    struct thread *thread = thread_record();
    struct spares *spares;

    if (thread == NULL || pool->cache_slots == 0)
        return NULL;
    spares = thread_local_get(spare_key(pool));
    if (spares != NULL)
        return spares;
    spares = create(pool, thread);
    if (spares == NULL)
        return NULL;
    if (thread_local_set(spare_key(pool), spares) != 0) {
        memory_free(spares);
        return NULL;
    }
    pool_lock(pool);
    link_spares(pool, spares);
    pool_unlock(pool);
    return spares;
}

void spare_end(struct spares *spares)
{
    struct ashlar_pool *pool = spares->pool;

    pool_lock(pool);
    call_in(spares);
    unlink_spares(pool, spares);
    pool_unlock(pool);
    memory_free(spares);
}

void spare_end_all(struct ashlar_pool *pool)
{
    struct spares *spares;

    while ((spares = pool->spares) != NULL) {
        pool->spares = spares->next;
        thread_lock();
        thread_local_clear(spares->owner, spare_key(pool));
        thread_unlock();
        memory_free(spares);
    }
}

/* --- in a child of fork(2) ------------------------------------------------ */

/* A dead thread may have been caught with a run in neither place. */
static void free_what_is_spare(struct ashlar_pool *pool, struct slab *slab)
{
    uint32_t i;

    for (i = 0; i < slab->count; i += slab->tags[i].length)
        if (run_state_of(&slab->tags[i]) == RUN_SPARE)
            runs_give(pool, slab, i);
}

void spare_recover(struct ashlar_pool *pool)
{
    struct spares *spares;
    struct spares *next;
    uint32_t i;

    for (spares = pool->spares; spares != NULL; spares = next) {
        next = spares->next;
        memset(spares->sets, 0, sizeof(spares->sets));
        if (spares->owner->foreign) {
            unlink_spares(pool, spares);
            memory_free(spares);
        }
    }
    for (i = 0; pool->map != NULL && i < pool->map->count; i++)
        if (pool->map->order[i]->kind == SLAB_RUNS)
            free_what_is_spare(pool, pool->map->order[i]);
}
