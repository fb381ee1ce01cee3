/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/direct.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "pool/address.h"
#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/state.h"
#include "pool/watch.h"

#define TAKE_EXTENTS 32

/* So many stretches are read before they are given under one lock. */
#define GIVE_EXTENTS 256

void direct_hand_out(struct ashlar_pool *pool, const struct extent *extent,
                     void **slots_out)
{
    struct slab *slab = extent->slab;
    size_t stride = pool->plan.geometry.stride;
    char *first = slab_slot(slab, stride, extent->begin);
    size_t n = extent->end - extent->begin;

    if (n == 1) {
        slots_out[0] = slab_hand_out(slab, stride, extent->begin);
        return;
    }
    if (slab->state != NULL)
        state_fill(slab->state + extent->begin, n, SLOT_LIVE);
    address_write_row(slots_out, first, n, stride);
}

enum ashlar_status direct_get(struct ashlar_pool *pool, void **slots_out,
                              size_t n, size_t *got_out)
{
    enum ashlar_status status = ASHLAR_OK;
    struct extent extents[TAKE_EXTENTS];
    uint32_t count;
    uint32_t i;
    uint64_t taken;
    size_t got = 0;

    while (got < n) {
        pool_lock(pool);
        count = store_take(pool, n - got, extents, TAKE_EXTENTS, &taken);
        pool_unlock(pool);
        for (i = 0; i < count; i++) {
            direct_hand_out(pool, &extents[i], slots_out + got);
            got += extents[i].end - extents[i].begin;
        }
        if (count == 0 && status != ASHLAR_OK)
            break;
        if (count == 0)
            status = grow_free(pool, n - got);
    }
    watch_get(pool, slots_out, got);
    *got_out = got;
    return got == n ? ASHLAR_OK : status;
}

/* Reads pointers one after another; the slab of the last one is at hand. */
struct reader {
    struct ashlar_pool *pool;
    struct geometry geometry;
    struct slab *slab;
    uintptr_t base;
    uint64_t count;
    unsigned char *state;
};

static inline void reader_at(struct reader *reader, struct slab *slab)
{
    reader->slab = slab;
    reader->base = (uintptr_t)slab->base;
    reader->count = slab_kind_of(slab) == SLAB_SINGLES ? slab->count : 0;
    reader->state = slab->state;
}

static inline struct reader reader_of(struct ashlar_pool *pool,
                                      struct slab *hint)
{
    struct reader reader = {pool, pool->plan.geometry, NULL, 0, 0, NULL};

    if (hint != NULL)
        reader_at(&reader, hint);
    return reader;
}

/* The index of a slot in the reader's slab; count or more: no slot of ours. */
static inline uint64_t reader_index(struct reader *reader, const void *slot)
{
    uintptr_t address = (uintptr_t)slot;
    uint64_t index = geometry_index(&reader->geometry, address - reader->base);
    struct slab *slab;

    if (ASHLAR_LIKELY(index < reader->count))
        return index;
    slab = slab_map_find(pool_map(reader->pool), address);
    if (slab == NULL)
        return UINT64_MAX;
    reader_at(reader, slab);
    return geometry_index(&reader->geometry, address - reader->base);
}

/*
 * The stretch that some pointers start with: how many they are, 0 when the
 * first is no slot of ours.
 */
static inline size_t reader_next(struct reader *reader, void *const *slots,
                                 size_t n, struct extent *extent_out)
{
    size_t stride = reader->geometry.stride;
    uint64_t index = reader_index(reader, slots[0]);
    size_t length = 1;

    if (ASHLAR_UNLIKELY(index >= reader->count))
        return 0;
    if (n > 1 && (char *)slots[1] == (char *)slots[0] + stride) {
        if (n > reader->count - index)
            n = reader->count - index;
        length = address_count_row(slots, n, stride);
    }
    extent_out->slab = reader->slab;
    extent_out->begin = (uint32_t)index;
    extent_out->end = (uint32_t)(index + length);
    return length;
}

size_t direct_read(struct ashlar_pool *pool, struct slab *hint,
                   void *const *slots, size_t n, struct extent *extent_out)
{
    struct reader reader = reader_of(pool, hint);

    return reader_next(&reader, slots, n, extent_out);
}

/* Take a stretch from its caller: how many of it were live; all, or none. */
static inline size_t make_free(unsigned char *state, size_t n)
{
    size_t live;

    if (n == 1) {
        if (ASHLAR_UNLIKELY(state_get(state) != SLOT_LIVE))
            return 0;
        state_set(state, SLOT_FREE);
        return 1;
    }
    live = state_count_live(state, n);
    if (ASHLAR_LIKELY(live == n))
        state_fill(state, n, SLOT_FREE);
    return live;
}

/* The same, of slots that may have been marked ahead. */
static inline size_t make_stretch_free(struct ashlar_pool *pool,
                                       struct ahead_known *known,
                                       const struct extent *extent)
{
    unsigned char *state = extent->slab->state + extent->begin;
    size_t n = extent->end - extent->begin;
    size_t live = make_free(state, n);

    if (ASHLAR_UNLIKELY(live != n) && ahead_settle(pool, known, extent))
        live = make_free(state, n);
    return live;
}

bool direct_make_free(struct ashlar_pool *pool, struct ahead_known *known,
                      const struct extent *extent)
{
    size_t n = extent->end - extent->begin;

    return extent->slab->state == NULL ||
           make_stretch_free(pool, known, extent) == n;
}

/* Undo direct_accept() of the first n pointers. */
static void make_live_again(struct ashlar_pool *pool, void *const *slots,
                            size_t n)
{
    struct reader reader = reader_of(pool, NULL);
    struct extent extent = {NULL, 0, 0};
    size_t i;

    for (i = 0; pool->checked && i < n; i += extent.end - extent.begin) {
        (void)reader_next(&reader, slots + i, n - i, &extent);
        state_fill(extent.slab->state + extent.begin, extent.end - extent.begin,
                   SLOT_LIVE);
    }
}

/* A batch that is being accepted. */
struct accepting {
    struct reader reader;
    struct ahead_known known;
    struct batch *batch;
    bool checked;
};

static inline void batch_add(struct batch *batch, struct slab *slab,
                             uint64_t begin, uint64_t end, size_t covered)
{
    if (batch->count == BATCH_EXTENTS)
        return;
    batch->extents[batch->count++] =
        (struct extent){slab, (uint32_t)begin, (uint32_t)end};
    batch->covered = covered;
}

/*
 * Accept the slots that stand alone, from the i-th on, as far as they lie in
 * the reader's slab; returns the first that does not, or is refused. What comes
 * in no order comes by here.
 */
static size_t accept_singles(struct accepting *accepting, void *const *slots,
                             size_t i, size_t n)
{
    const struct reader reader = accepting->reader;
    size_t stride = reader.geometry.stride;
    unsigned char *state = accepting->checked ? reader.state : NULL;
    struct batch *batch = accepting->batch;
    struct extent *place = &batch->extents[batch->count];
    size_t covered = batch->covered;
    uint64_t index;

    for (; i < n; i++) {
        index =
            geometry_index(&reader.geometry, (uintptr_t)slots[i] - reader.base);
        if (index >= reader.count ||
            (i + 1 < n && (char *)slots[i + 1] == (char *)slots[i] + stride))
            break;
        if (state != NULL) {
            if (state_get(state + index) != SLOT_LIVE)
                break;
            state_set(state + index, SLOT_FREE);
        }
        if (place == &batch->extents[BATCH_EXTENTS])
            continue;
        *place++ =
            (struct extent){reader.slab, (uint32_t)index, (uint32_t)index + 1};
        covered = i + 1;
    }
    batch->count = (uint32_t)(place - batch->extents);
    batch->covered = covered;
    return i;
}

/*
 * Accept the stretch that starts with the i-th; returns the first behind it,
 * or, when one of it is refused, that one, with *refused_out set.
 */
static size_t accept_stretch(struct accepting *accepting, void *const *slots,
                             size_t i, size_t n, bool *refused_out)
{
    struct extent extent;
    size_t length = reader_next(&accepting->reader, slots + i, n - i, &extent);
    size_t live = length;

    if (accepting->checked && length != 0)
        live = make_stretch_free(accepting->reader.pool, &accepting->known,
                                 &extent);
    *refused_out = length == 0 || live != length;
    if (!*refused_out)
        batch_add(accepting->batch, extent.slab, extent.begin, extent.end,
                  i + length);
    return i + live;
}

size_t direct_accept(struct ashlar_pool *pool, struct slab *hint,
                     void *const *slots, size_t n, struct batch *batch_out)
{
    struct accepting accepting = {
        reader_of(pool, hint), {NULL, 0, 0, 0}, batch_out, pool->checked};
    bool refused = false;
    size_t accepted = 0; /* so many are marked free */
    size_t i = 0;

    batch_out->count = 0;
    batch_out->covered = 0;
    while (i < n && !refused) {
        i = accept_singles(&accepting, slots, i, n);
        accepted = i;
        if (i < n)
            i = accept_stretch(&accepting, slots, i, n, &refused);
    }
    if (refused)
        make_live_again(pool, slots, accepted);
    return i;
}

void direct_log_duplicates(const char *name, uint64_t count)
{
    if (count != 0)
        log_line(ASHLAR_LOG_ERROR,
                 "pool \"%s\": %lu slot(s) were put twice by puts that raced; "
                 "the second puts were dropped",
                 name, (unsigned long)count);
}

void direct_give(struct ashlar_pool *pool, const struct extent *extents,
                 uint32_t count)
{
    uint64_t duplicates;

    pool_lock(pool);
    duplicates = store_give(pool, extents, count);
    pool_unlock(pool);
    direct_log_duplicates(pool->name, duplicates);
}

/* Give accepted pointers by reading them again; returns how many were. */
static size_t give_some(struct reader *reader, void *const *slots, size_t n)
{
    struct extent extents[GIVE_EXTENTS];
    uint32_t count = 0;
    size_t i;

    for (i = 0; i < n && count < GIVE_EXTENTS; count++)
        i += reader_next(reader, slots + i, n - i, &extents[count]);
    direct_give(reader->pool, extents, count);
    return i;
}

void direct_give_batch(struct ashlar_pool *pool, void *const *slots, size_t n,
                       const struct batch *batch)
{
    struct reader reader = reader_of(pool, NULL);
    size_t i = batch->covered;

    if (batch->count != 0)
        direct_give(pool, batch->extents, batch->count);
    while (i < n)
        i += give_some(&reader, slots + i, n - i);
}

static enum ashlar_status refuse_address(struct ashlar_pool *pool,
                                         const char *what, const void *slot)
{
    const struct geometry *geometry = &pool->plan.geometry;
    uintptr_t address = (uintptr_t)slot;
    struct slab *slab = slab_map_find(pool_map(pool), address);
    size_t offset;
    uint64_t index;

    if (slot == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "%s is NULL; give a live slot of "
                         "pool \"%s\"",
                         what, pool->name);
    if (slab == NULL)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "%s is %p, which is no address of pool \"%s\"; put it "
                         "to the pool it came from",
                         what, slot, pool->name);
    if (slab_kind_of(slab) == SLAB_VACANT)
        return error_set(ASHLAR_ERR_NOT_LIVE,
                         "%s is %p, where pool \"%s\" has no slots since it "
                         "was trimmed",
                         what, slot, pool->name);
    if (slab_kind_of(slab) == SLAB_RUNS)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "%s is %p, which pool \"%s\" hands out as part of a "
                         "run; a run goes back whole, by ashlar_pool_put_run()",
                         what, slot, pool->name);
    offset = address - (uintptr_t)slab->base;
    index = slab->first + offset / geometry->stride;
    if (offset % geometry->stride != 0)
        return error_set(ASHLAR_ERR_MISALIGNED,
                         "%s is %p, which is %zu bytes inside slot %lu of pool "
                         "\"%s\"; that slot starts at %p",
                         what, slot, offset % geometry->stride,
                         (unsigned long)index, pool->name,
                         (const char *)slot - offset % geometry->stride);
    return error_set(ASHLAR_ERR_NOT_LIVE,
                     "%s is %p, slot %lu of pool \"%s\", which is not live: it "
                     "was put already, or never handed out",
                     what, slot, (unsigned long)index, pool->name);
}

/* Where a pointer stands in the batch before its second place; i for nowhere. */
static size_t first_place(void *const *slots, size_t i)
{
    size_t j = 0;

    while (j < i && slots[j] != slots[i])
        j++;
    return j;
}

enum ashlar_status direct_refuse(struct ashlar_pool *pool, void *const *slots,
                                 size_t culprit, bool single)
{
    char what[32] = "slot";
    size_t earlier = first_place(slots, culprit);

    if (!single && earlier < culprit)
        return pool_refuse(
            pool, error_set(ASHLAR_ERR_NOT_LIVE,
                            "slots[%zu] is %p, which stands in the batch "
                            "already, as slots[%zu]",
                            culprit, slots[culprit], earlier));
    if (!single)
        (void)snprintf(what, sizeof(what), "slots[%zu]", culprit);
    return pool_refuse(pool, refuse_address(pool, what, slots[culprit]));
}
