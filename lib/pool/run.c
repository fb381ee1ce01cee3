/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The public calls on runs. */
#include "config.h"

#include "base/error.h"
#include "base/thread.h"
#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/runs.h"
#include "pool/spare.h"
#include "pool/watch.h"

static void *refuse_length(struct ashlar_pool *pool, size_t n)
{
    (void)pool_refuse(
        pool, error_set(ASHLAR_ERR_INVALID,
                        "a run of %zu slots was asked of pool \"%s\"; give 1 "
                        "to %lu",
                        n, pool->name, (unsigned long)pool->max_slots));
    return NULL;
}

/* Take a run that is there; NULL in *slab_out when the pool must grow first. */
static enum ashlar_status take(struct ashlar_pool *pool, uint32_t n,
                               struct slab **slab_out, uint32_t *index_out)
{
    struct run_bin *bin;

    pool_lock(pool);
    bin = runs_bin(pool, n);
    *slab_out = bin == NULL ? NULL : runs_take(pool, bin, index_out);
    pool_unlock(pool);
    if (bin == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the list of runs of %lu slots in "
                         "pool \"%s\"",
                         (unsigned long)n, pool->name);
    return ASHLAR_OK;
}

/* Get a run from the lists, which grow as they must. */
static __attribute__((noinline)) void *get_listed(struct ashlar_pool *pool,
                                                  size_t n)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_get_run()");
    struct slab *slab = NULL;
    struct spares *spares;
    uint32_t index;
    void *run;

    if (status != ASHLAR_OK)
        return NULL;
    if (n == 0 || n > pool->max_slots)
        return refuse_length(pool, n);
    /* Now rather than at the put, which then needs no memory. */
    spares = spare_self(pool);
    for (;;) {
        status = take(pool, (uint32_t)n, &slab, &index);
        if (status != ASHLAR_OK || slab != NULL)
            break;
        status = grow_run(pool, (uint32_t)n);
        if (status != ASHLAR_OK)
            break;
    }
    if (status != ASHLAR_OK) {
        (void)pool_refuse(pool, status);
        return NULL;
    }
    if (spares != NULL)
        spare_home(spares, n)->last = &slab->tags[index];
    run = slab_slot(slab, pool->plan.geometry.stride, index);
    watch_get_run(pool, run, n);
    return run;
}

/* The calling thread's spares, if it has some; that says the pool is alive. */
static inline struct spares *find_spares(const struct ashlar_pool *pool)
{
    return ASHLAR_LIKELY(pool != NULL) ? thread_local_get(spare_key(pool))
                                       : NULL;
}

void *ashlar_pool_get_run(struct ashlar_pool *pool, size_t n)
{
    struct spares *spares = find_spares(pool);
    void *run;

    if (ASHLAR_UNLIKELY(spares == NULL))
        return get_listed(pool, n);
    run = spare_get(spares, n);
    return ASHLAR_LIKELY(run != NULL) ? run : get_listed(pool, n);
}

/* With the lock held: the start of the run that slot `index` lies in. */
static uint32_t run_start(const struct slab *slab, uint32_t index)
{
    uint32_t i = 0;

    while (i + slab->tags[i].length <= index)
        i += slab->tags[i].length;
    return i;
}

/*
 * With the lock held: why a put of a run is refused. One with which nothing is
 * wrong now was not live when it was put.
 */
static enum ashlar_status refuse_run(struct ashlar_pool *pool, void *run,
                                     size_t n, struct slab *slab)
{
    size_t stride = pool->plan.geometry.stride;
    size_t offset = (uintptr_t)run - (uintptr_t)slab->base;
    uint32_t start = run_start(slab, (uint32_t)(offset / stride));
    const struct run_tag *tag = &slab->tags[start];

    if (run_state_of(tag) != RUN_LIVE ||
        (offset == start * stride && tag->length == n))
        return error_set(ASHLAR_ERR_NOT_LIVE,
                         "run is %p, where pool \"%s\" has no live run: it was "
                         "put already, or never handed out",
                         run, pool->name);
    if (offset != start * stride)
        return error_set(ASHLAR_ERR_MISALIGNED,
                         "run is %p, which is %zu bytes inside a run of pool "
                         "\"%s\"; that run starts at %p and has %lu slots",
                         run, offset - start * stride, pool->name,
                         (void *)slab_slot(slab, stride, start),
                         (unsigned long)tag->length);
    return error_set(ASHLAR_ERR_INVALID,
                     "the run at %p of pool \"%s\" has %lu slots, but was put "
                     "as one of %zu; a run goes back whole",
                     run, pool->name, (unsigned long)tag->length, n);
}

static enum ashlar_status refuse_stranger(struct ashlar_pool *pool, void *run,
                                          const struct slab *slab)
{
    if (run == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_pool_put_run() was given NULL for run");
    if (slab == NULL)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "run is %p, which is no address of pool \"%s\"; put "
                         "it to the pool it came from",
                         run, pool->name);
    return error_set(ASHLAR_ERR_WRONG_OWNER,
                     "run is %p, which pool \"%s\" hands out as a single slot; "
                     "put it back by ashlar_pool_put()",
                     run, pool->name);
}

static __attribute__((noinline)) enum ashlar_status
refuse_put(struct ashlar_pool *pool, void *run, size_t n)
{
    struct slab *slab = slab_map_find(pool_map(pool), (uintptr_t)run);
    enum ashlar_status status;

    pool_lock(pool);
    if (slab == NULL || slab->kind != SLAB_RUNS)
        status = refuse_stranger(pool, run, slab);
    else
        status = refuse_run(pool, run, n, slab);
    pool_unlock(pool);
    return pool_refuse(pool, status);
}

/* Take a run from its caller; false when it is no live run of that length. */
static inline bool claim(struct run_tag *tag, size_t n)
{
    return run_length(tag) == n && run_claim(tag);
}

/* The tag of a slot in a slab of runs; NULL when none starts there. */
static struct run_tag *tag_at(const struct ashlar_pool *pool,
                              const struct slab *slab, const void *run)
{
    uint64_t index = geometry_index(&pool->plan.geometry,
                                    (uintptr_t)run - (uintptr_t)slab->base);

    if (index >= slab->count || slab_kind_of(slab) != SLAB_RUNS)
        return NULL;
    return &slab->tags[index];
}

/* Put a run that is not the one of its length that the thread got last. */
static __attribute__((noinline)) enum ashlar_status
put_another(struct ashlar_pool *pool, void *run, size_t n)
{
    enum ashlar_status status = pool_check(pool, "ashlar_pool_put_run()");
    struct run_tag *tag = NULL;
    struct spares *spares;
    struct slab *slab;

    if (status != ASHLAR_OK)
        return status;
    slab = slab_map_find(pool_map(pool), (uintptr_t)run);
    if (slab != NULL)
        tag = tag_at(pool, slab, run);
    if (tag == NULL || !claim(tag, n))
        return refuse_put(pool, run, n);
    watch_put_run(pool, run, n);
    spares = spare_self(pool);
    if (spares != NULL)
        spare_put(spares, tag, n);
    else
        spare_give(pool, tag);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_pool_put_run(struct ashlar_pool *pool, void *run,
                                       size_t n)
{
    struct spares *spares = find_spares(pool);
    struct run_tag *tag;

    if (ASHLAR_UNLIKELY(spares == NULL))
        return put_another(pool, run, n);
    tag = spare_last(spares, run, n);
    if (ASHLAR_UNLIKELY(tag == NULL || !claim(tag, n)))
        return put_another(pool, run, n);
    spare_put(spares, tag, n);
    return ASHLAR_OK;
}
