/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/pending.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "pool/direct.h"
#include "pool/pool.h"
#include "pool/watch.h"
#include "range/range.h"

/* Stretches given at once, so that the lock is not held for long. */
#define GIVE_EXTENTS 64

static void batch_free(struct pending_batch *batch)
{
    if (batch->fences != NULL)
        retire_item_drop(batch->fences);
    memory_free(batch);
}

/* With the pool's lock held: some slots of a batch, and how many they are. */
static size_t give_some(struct ashlar_pool *pool, void *const *slots, size_t n,
                        uint64_t *duplicates)
{
    struct extent extents[GIVE_EXTENTS];
    struct slab *hint = NULL;
    uint32_t count;
    size_t i = 0;

    for (count = 0; i < n && count < GIVE_EXTENTS; count++) {
        i += direct_read(pool, hint, slots + i, n - i, &extents[count]);
        hint = extents[count].slab;
    }
    *duplicates += store_give(pool, extents, count);
    return i;
}

/* The log is not told yet, as locks are held. */
static void batch_give(struct ashlar_pool *pool, struct pending_batch *batch,
                       uint64_t *duplicates)
{
    size_t i = 0;

    while (i < batch->count) {
        pool_lock(pool);
        i += give_some(pool, batch->slots + i, batch->count - i, duplicates);
        pool_unlock(pool);
    }
    __atomic_fetch_sub(&pool->pending.waiting, batch->count, __ATOMIC_RELAXED);
}

bool pending_collect_locked(struct ashlar_pool *pool, uint64_t *duplicates)
{
    struct pending_batch **link = &pool->pending.first;
    struct pending_batch *batch;
    bool given = false;

    if (__atomic_load_n(&pool->pending.waiting, __ATOMIC_RELAXED) == 0)
        return false;
    lock_take(&pool->pending.lock);
    while ((batch = *link) != NULL) {
        if (!retire_item_passed(batch->fences)) {
            link = &batch->next;
            continue;
        }
        *link = batch->next;
        batch_give(pool, batch, duplicates);
        batch_free(batch);
        given = true;
    }
    lock_give(&pool->pending.lock);
    return given;
}

bool pending_collect(struct ashlar_pool *pool)
{
    uint64_t duplicates = 0;
    bool given = pending_collect_locked(pool, &duplicates);

    direct_log_duplicates(pool->name, duplicates);
    return given;
}

void pending_drop(struct ashlar_pool *pool)
{
    struct pending_batch *batch;

    while ((batch = pool->pending.first) != NULL) {
        pool->pending.first = batch->next;
        batch_free(batch);
    }
    pool->pending.waiting = 0;
}

void pending_recover(struct ashlar_pool *pool)
{
    struct pending_batch *batch;
    uint64_t duplicates = 0;
    size_t i;

    while ((batch = pool->pending.first) != NULL) {
        /* In a checked pool they are free already, as they are not live. */
        for (i = 0; !pool->checked && i < batch->count;)
            i += give_some(pool, batch->slots + i, batch->count - i,
                           &duplicates);
        pool->pending.first = batch->next;
        memory_free(batch);
    }
    pool->pending.waiting = 0;
}

/* Records for a batch, its fences recorded; NULL with the error set. */
static struct pending_batch *batch_create(struct ashlar_pool *pool,
                                          void *const *slots, size_t n,
                                          const struct ashlar_fence *fences,
                                          size_t m)
{
    struct pending_batch *batch;

    batch = memory_zalloc(sizeof(*batch) + n * sizeof(*batch->slots));
    if (batch != NULL)
        batch->fences = retire_item_create(0, 0, (uint32_t)m);
    if (batch == NULL || batch->fences == NULL) {
        memory_free(batch);
        return error_null(ASHLAR_ERR_NO_MEMORY,
                          "no host memory to note %zu slots of pool \"%s\" "
                          "that wait for fences",
                          n, pool->name);
    }
    batch->count = n;
    memcpy(batch->slots, slots, n * sizeof(*slots));
    if (fences_record(pool->plan.source, fences, m, batch->fences) == ASHLAR_OK)
        return batch;
    batch_free(batch);
    return NULL;
}

static void batch_queue(struct ashlar_pool *pool, struct pending_batch *batch)
{
    struct pending_batch **link;

    lock_take(&pool->pending.lock);
    for (link = &pool->pending.first; *link != NULL; link = &(*link)->next)
        continue;
    *link = batch;
    __atomic_fetch_add(&pool->pending.waiting, batch->count, __ATOMIC_RELAXED);
    lock_give(&pool->pending.lock);
}

enum ashlar_status ashlar_pool_put_after(struct ashlar_pool *pool,
                                         void *const *slots, size_t n,
                                         const struct ashlar_fence *fences,
                                         size_t m, size_t *culprit_out)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_put_after()");
    struct pending_batch *pending;
    struct batch batch;
    size_t accepted;

    if (status == ASHLAR_OK)
        status = fences_check(fences, m, "ashlar_pool_put_after()");
    if (status == ASHLAR_OK && slots == NULL && n != 0)
        status =
            error_set(ASHLAR_ERR_INVALID, "slots is NULL, but n is %zu", n);
    if (status != ASHLAR_OK || n == 0)
        return status;
    pending = batch_create(pool, slots, n, fences, m);
    if (pending == NULL)
        return pool_refuse(pool, ashlar_last_error());
    accepted = direct_accept(pool, NULL, slots, n, &batch);
    if (accepted != n) {
        if (culprit_out != NULL)
            *culprit_out = accepted;
        status = direct_refuse(pool, slots, accepted, false);
        batch_free(pending);
        return status;
    }
    watch_put(pool, slots, n);
    batch_queue(pool, pending);
    (void)pending_collect(pool);
    return ASHLAR_OK;
}
