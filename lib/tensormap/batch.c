/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Many maps, encoded part by part by whoever comes.
 *
 *     specs  [ done ][ done ][ in hand ][ in hand ][ ..........not taken.. ]
 *                                                    ^ next
 *
 * Invariants:
 *   - a part is taken by one thread, by moving next past it, and in order;
 *   - culprit is the lowest index that failed so far, n when none did, and why
 *     is its error. A thread stops at its first failure, and no part is taken
 *     after one; but those before it were taken before, and are done to their
 *     end or their own failure. So at the end culprit is the lowest of all;
 *   - n slots are live, in maps, until the batch ends.
 */
#include "config.h"

#include "tensormap/tensormap.h"

#include <string.h>

#include "base/align.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory.h"
#include "pool/pool.h"
#include "type/type.h"

/*
 * A part is a share of what is left: so large at first that the trip to next is
 * worth it, while other threads go there, and at last so small that none waits
 * long for another.
 */
#define PART_SHARE 16
#define PART_LEAST ((size_t)32)
#define PART_MOST  ((size_t)256)

/* What every map reads, what every part writes, and what failures do: each has
 * lines of its own. */
struct ashlar_tensormap_batch {
    struct ashlar_source *source; /* held, but by a batch of one call */
    struct ashlar_pool *pool;
    const struct ashlar_spec *specs;
    size_t step; /* bytes from spec to spec */
    size_t n;
    void **maps;
    size_t culprit; /* atomic; written under lock */
    struct lock lock;
    struct error why;          /* under lock */
    _Alignas(128) size_t next; /* atomic */
    size_t working;            /* threads in batch_work(); atomic */
    char rest[128 - 2 * sizeof(size_t)];
};

/* --- the pool ------------------------------------------------------------- */

static enum ashlar_status refuse_type(const struct ashlar_pool *pool)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    (void)ashlar_type_query(pool->type, &info);
    return error_set(ASHLAR_ERR_INVALID,
                     "pool \"%s\" is of \"%s\", %zu bytes at multiples "
                     "of %zu; tensor maps go into one of \"CUtensorMap\"",
                     pool->name, info.name, info.object_size, info.alignment);
}

static enum ashlar_status check_pool(struct ashlar_pool *pool, const char *call)
{
    enum ashlar_status status = pool_check(pool, call);
    size_t size, alignment, stride;

    if (status != ASHLAR_OK)
        return status;
    type_layout(pool->type, &size, &alignment, &stride);
    if (size != ASHLAR_TENSOR_MAP_BYTES ||
        alignment % ASHLAR_TENSOR_MAP_BYTES != 0)
        return refuse_type(pool);
    if (!source_can(pool->plan.source, ASHLAR_CAN_HOST_ACCESS))
        return error_set(ASHLAR_ERR_INVALID,
                         "pool \"%s\" is on memory of \"%s\", which the host "
                         "does not write; encode into a pool on the heap",
                         pool->name, pool->plan.source->name);
    return ASHLAR_OK;
}

static enum ashlar_status check_arguments(struct ashlar_source *source,
                                          struct ashlar_pool *pool,
                                          const struct ashlar_spec *specs,
                                          size_t n, void **maps,
                                          const char *call)
{
    enum ashlar_status status = encode_check(source, call);

    if (status == ASHLAR_OK)
        status = check_pool(pool, call);
    if (status != ASHLAR_OK)
        return status;
    if (n != 0 && (specs == NULL || maps == NULL))
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for %s", call,
                         specs == NULL ? "specs" : "maps_out");
    if (n != 0 && specs->size == 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "the size member of specs[0] is 0: use "
                         "ASHLAR_SPEC_INIT, or set size to the sizeof of the "
                         "struct");
    return ASHLAR_OK;
}

/* --- the work ------------------------------------------------------------- */

static void blame(struct ashlar_tensormap_batch *batch, size_t i)
{
    lock_take(&batch->lock);
    if (i < batch->culprit) {
        error_copy(&batch->why);
        __atomic_store_n(&batch->culprit, i, __ATOMIC_RELEASE);
    }
    lock_give(&batch->lock);
}

static enum ashlar_status encode_part(struct ashlar_tensormap_batch *batch,
                                      size_t from, size_t to)
{
    struct encode_array array = {
        .source = batch->source,
        .specs = batch->specs,
        .step = batch->step,
        .n = to,
    };
    enum ashlar_status status;
    size_t done;

    status = encode_array(&array, from, batch->maps + from, to - from, &done);
    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        blame(batch, from + done);
    return status;
}

/* Take a part, the size of which may be that of one taken meanwhile. */
static bool take_part(struct ashlar_tensormap_batch *batch, size_t *from_out,
                      size_t *to_out)
{
    size_t next = __atomic_load_n(&batch->next, __ATOMIC_RELAXED);
    size_t part;

    if (next >= batch->n)
        return false;
    part = min_size(max_size((batch->n - next) / PART_SHARE, PART_LEAST),
                    PART_MOST);
    *from_out = __atomic_fetch_add(&batch->next, part, __ATOMIC_RELAXED);
    *to_out = min_size(*from_out + part, batch->n);
    return *from_out < batch->n;
}

/* Take parts until none is left, or one has failed. */
static enum ashlar_status work(struct ashlar_tensormap_batch *batch)
{
    enum ashlar_status status = ASHLAR_OK;
    size_t from, to;

    while (status == ASHLAR_OK &&
           __atomic_load_n(&batch->culprit, __ATOMIC_ACQUIRE) == batch->n &&
           take_part(batch, &from, &to))
        status = encode_part(batch, from, to);
    return status;
}

/* --- beginning and end ---------------------------------------------------- */

static enum ashlar_status begin(struct ashlar_tensormap_batch *batch,
                                struct ashlar_source *source,
                                struct ashlar_pool *pool,
                                const struct ashlar_spec *specs, size_t n,
                                void **maps)
{
    enum ashlar_status status = ASHLAR_OK;

    batch->source = source;
    batch->pool = pool;
    batch->specs = specs;
    batch->step = n == 0 ? 0 : specs->size;
    batch->n = n;
    batch->maps = maps;
    batch->next = 0;
    batch->working = 0;
    batch->culprit = n;
    lock_init(&batch->lock);
    if (n != 0)
        status = ashlar_pool_get_bulk(pool, maps, n);
    return status;
}

/* Slots are the caller's, or the pool's again. */
static enum ashlar_status end(struct ashlar_tensormap_batch *batch,
                              size_t *culprit_out)
{
    enum ashlar_status status = ASHLAR_OK;

    if (batch->culprit != batch->n) {
        status = batch->why.status;
        (void)ashlar_pool_put_bulk(batch->pool, batch->maps, batch->n, NULL);
        memset(batch->maps, 0, batch->n * sizeof(batch->maps[0]));
        error_restore(&batch->why);
    }
    if (culprit_out != NULL)
        *culprit_out = batch->culprit;
    return status;
}

enum ashlar_status ashlar_tensormap_encode_many(struct ashlar_source *source,
                                                struct ashlar_pool *pool,
                                                const struct ashlar_spec *specs,
                                                size_t n, void **maps_out,
                                                size_t *culprit_out)
{
    struct ashlar_tensormap_batch batch;
    enum ashlar_status status = check_arguments(
        source, pool, specs, n, maps_out, "ashlar_tensormap_encode_many()");

    if (status == ASHLAR_OK)
        status = begin(&batch, source, pool, specs, n, maps_out);
    if (status != ASHLAR_OK) {
        if (culprit_out != NULL)
            *culprit_out = n;
        return status;
    }
    if (n != 0)
        (void)encode_part(&batch, 0, n);
    return end(&batch, culprit_out);
}

enum ashlar_status ashlar_tensormap_batch_create(
    struct ashlar_source *source, struct ashlar_pool *pool,
    const struct ashlar_spec *specs, size_t n, void **maps_out,
    struct ashlar_tensormap_batch **batch_out)
{
    struct ashlar_tensormap_batch *batch;
    enum ashlar_status status = check_arguments(
        source, pool, specs, n, maps_out, "ashlar_tensormap_batch_create()");

    if (status != ASHLAR_OK)
        return status;
    if (batch_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_tensormap_batch_create() was given NULL for "
                         "batch_out");
    batch = memory_zalloc_aligned(sizeof(*batch), 128);
    if (batch == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the record of a batch");
    status = begin(batch, source, pool, specs, n, maps_out);
    if (status != ASHLAR_OK) {
        memory_free(batch);
        return status;
    }
    (void)source_hold(source);
    *batch_out = batch;
    return ASHLAR_OK;
}

/* Refuse NULL, and the parent's batches in a child of fork(2). */
static enum ashlar_status check_batch(struct ashlar_tensormap_batch *batch,
                                      const char *call)
{
    if (batch == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for batch",
                         call);
    return source_check(batch->source, call);
}

enum ashlar_status
ashlar_tensormap_batch_work(struct ashlar_tensormap_batch *batch)
{
    enum ashlar_status status =
        check_batch(batch, "ashlar_tensormap_batch_work()");

    if (status != ASHLAR_OK)
        return status;
    __atomic_fetch_add(&batch->working, 1, __ATOMIC_ACQUIRE);
    status = work(batch);
    __atomic_fetch_sub(&batch->working, 1, __ATOMIC_RELEASE);
    return status;
}

enum ashlar_status
ashlar_tensormap_batch_finish(struct ashlar_tensormap_batch *batch,
                              size_t *culprit_out)
{
    enum ashlar_status status =
        check_batch(batch, "ashlar_tensormap_batch_finish()");
    size_t working;

    if (status != ASHLAR_OK)
        return status;
    working = __atomic_load_n(&batch->working, __ATOMIC_ACQUIRE);
    if (working != 0)
        return error_set(ASHLAR_ERR_BUSY,
                         "%zu thread(s) encode maps of this batch still; end "
                         "it when they have returned",
                         working);
    (void)work(batch);
    status = end(batch, culprit_out);
    source_drop(batch->source);
    memory_free(batch);
    return status;
}
