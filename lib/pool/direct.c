/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/direct.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/state.h"
#include "pool/watch.h"

#define TAKE_EXTENTS 32

/* Two addresses at a time: what every 64-bit machine has registers for. */
typedef uint64_t address_pair __attribute__((vector_size(16)));

_Static_assert(sizeof(void *) == sizeof(uint64_t), "addresses have 64 bits");

/* Write n addresses that are a stride apart. */
static void write_addresses(void **slots_out, char *first, size_t n,
                            size_t stride)
{
    address_pair pair = {(uintptr_t)first, (uintptr_t)first + stride};
    address_pair next = pair + 2 * stride;
    size_t i;

    for (i = 0; i + 4 <= n; i += 4) {
        memcpy(slots_out + i, &pair, sizeof(pair));
        memcpy(slots_out + i + 2, &next, sizeof(next));
        pair += 4 * stride;
        next += 4 * stride;
    }
    for (; i < n; i++)
        slots_out[i] = first + i * stride;
}

/* How many addresses, from the first on, are a stride apart. */
static size_t count_neighbours(void *const *slots, size_t n, size_t stride)
{
    char *first = slots[0];
    address_pair expected = {(uintptr_t)first, (uintptr_t)first + stride};
    address_pair low;
    address_pair high;
    address_pair differs;
    size_t i = 0;

    if (n < 2 || slots[1] != first + stride)
        return 1;
    for (; i + 4 <= n; i += 4) {
        memcpy(&low, slots + i, sizeof(low));
        memcpy(&high, slots + i + 2, sizeof(high));
        differs = (low ^ expected) | (high ^ (expected + 2 * stride));
        if ((differs[0] | differs[1]) != 0)
            break;
        expected += 4 * stride;
    }
    while (i < n && slots[i] == first + i * stride)
        i++;
    return i;
}

void direct_hand_out(struct ashlar_pool *pool, const struct extent *extent,
                     void **slots_out)
{
    struct slab *slab = extent->slab;
    size_t stride = pool->plan.geometry.stride;
    size_t n = extent->end - extent->begin;

    if (slab->state != NULL)
        state_fill(slab->state + extent->begin, n, SLOT_LIVE);
    write_addresses(slots_out, slab_slot(slab, stride, extent->begin), n,
                    stride);
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

size_t direct_read(struct ashlar_pool *pool, struct slab *hint,
                   void *const *slots, size_t n, struct extent *extent_out)
{
    const struct geometry *geometry = &pool->plan.geometry;
    uintptr_t address = (uintptr_t)slots[0];
    struct slab *slab = hint;
    uint64_t index = UINT64_MAX;

    if (slab != NULL)
        index = geometry_index(geometry, address - (uintptr_t)slab->base);
    if (slab == NULL || index >= slab->count) {
        slab = slab_map_find(pool_map(pool), address);
        if (slab == NULL)
            return 0;
        index = geometry_index(geometry, address - (uintptr_t)slab->base);
        if (index >= slab->count)
            return 0;
    }
    if (slab_kind_of(slab) != SLAB_SINGLES)
        return 0;
    if (n > slab->count - index)
        n = slab->count - index;
    n = count_neighbours(slots, n, geometry->stride);
    extent_out->slab = slab;
    extent_out->begin = (uint32_t)index;
    extent_out->end = (uint32_t)(index + n);
    return n;
}

/* Undo direct_accept() of the first n pointers. */
static void make_live_again(struct ashlar_pool *pool, void *const *slots,
                            size_t n)
{
    struct extent extent = {NULL, 0, 0};
    size_t i;

    if (!pool->checked)
        return;
    for (i = 0; i < n; i += extent.end - extent.begin) {
        (void)direct_read(pool, extent.slab, slots + i, n - i, &extent);
        state_fill(extent.slab->state + extent.begin,
                   extent.end - extent.begin, SLOT_LIVE);
    }
}

size_t direct_accept(struct ashlar_pool *pool, struct slab *hint,
                     void *const *slots, size_t n, struct batch *batch_out)
{
    struct extent extent = {hint, 0, 0};
    size_t length;
    size_t live;
    size_t i;

    batch_out->count = 0;
    batch_out->covered = 0;
    for (i = 0; i < n; i += length) {
        length = direct_read(pool, extent.slab, slots + i, n - i, &extent);
        live = length;
        if (pool->checked && length != 0)
            live = state_count_live(extent.slab->state + extent.begin, length);
        if (length == 0 || live != length) {
            make_live_again(pool, slots, i);
            return i + live;
        }
        if (pool->checked)
            state_fill(extent.slab->state + extent.begin, length, SLOT_FREE);
        if (batch_out->count == BATCH_EXTENTS)
            continue;
        batch_out->extents[batch_out->count++] = extent;
        batch_out->covered = i + length;
    }
    return n;
}

void direct_give(struct ashlar_pool *pool, const struct extent *extents,
                 uint32_t count)
{
    uint64_t duplicates;

    pool_lock(pool);
    duplicates = store_give(pool, extents, count);
    pool_unlock(pool);
    if (duplicates != 0)
        log_line(ASHLAR_LOG_ERROR,
                 "pool \"%s\": %lu slot(s) were put twice by puts that raced; "
                 "the second puts were dropped",
                 pool->name, (unsigned long)duplicates);
}

void direct_give_batch(struct ashlar_pool *pool, void *const *slots, size_t n,
                       const struct batch *batch)
{
    struct extent extents[BATCH_EXTENTS];
    struct slab *hint = NULL;
    uint32_t count = 0;
    size_t i;

    direct_give(pool, batch->extents, batch->count);
    for (i = batch->covered; i < n;) {
        i += direct_read(pool, hint, slots + i, n - i, &extents[count]);
        hint = extents[count].slab;
        if (++count == BATCH_EXTENTS || i >= n) {
            direct_give(pool, extents, count);
            count = 0;
        }
    }
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
        return error_set(ASHLAR_ERR_INVALID, "%s is NULL; give a live slot of "
                         "pool \"%s\"", what, pool->name);
    if (slab == NULL)
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "%s is %p, which is no address of pool \"%s\"; put it "
                         "to the pool it came from",
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
