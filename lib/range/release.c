/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Giving back: shrink, decommit, what a move left behind, and the end. */
#include "config.h"

#include "base/align.h"
#include "base/error.h"
#include "range/range.h"

static enum ashlar_status no_records(void)
{
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory to note what is to be taken away");
}

/* Add the unmapping of some chunks at a place: one step a stretch. */
static void add_unmaps(struct retire_item *item, uint64_t base,
                       const struct range_chunk *chunks, uint32_t count)
{
    uint64_t begin;
    uint64_t end;
    uint32_t i = 0;

    while (i < count) {
        begin = chunks[i].offset;
        for (end = begin; i < count && chunks[i].offset == end; i++)
            end += chunks[i].bytes;
        retire_item_add(item, RETIRE_UNMAP, base + begin, end - begin);
    }
}

static void add_destroys(struct retire_item *item,
                         const struct range_chunk *chunks, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        retire_item_add(item, RETIRE_DESTROY, chunks[i].handle,
                        chunks[i].bytes);
}

static void add_releases(struct retire_item *item, const struct vector *spaces)
{
    const struct range_space *space = spaces->items;
    uint32_t i;

    for (i = 0; i < spaces->count; i++)
        retire_item_add(item, RETIRE_RELEASE, space[i].address, space[i].bytes);
}

/* --- some chunks ---------------------------------------------------------- */

/* Where chunks were is haunted until their item has unmapped them. */
static void raise_ghost(struct ashlar_range *range,
                        const struct range_chunk *chunk,
                        struct retire_item *item)
{
    struct range_ghost ghost = {chunk->offset, chunk->bytes, item};

    __atomic_fetch_add(&item->references, 1, __ATOMIC_RELAXED);
    vector_append(&range->ghosts, &ghost, sizeof(ghost));
}

/* What a verb takes away. */
struct cut {
    uint32_t first; /* of the mapped chunks */
    uint32_t count; /* of them, from there on */
    bool prepared;  /* and all that are mapped nowhere */
};

/* An item with room for a cut, and ghosts for it; NULL: no memory. */
static struct retire_item *item_for_cut(struct ashlar_range *range,
                                        const struct cut *cut, size_t n)
{
    uint32_t steps =
        2 * cut->count + (cut->prepared ? range->prepared.count : 0);

    if (vector_make_room(&range->ghosts, cut->count,
                         sizeof(struct range_ghost)) != 0)
        return NULL;
    return retire_item_create(range->owner, steps, (uint32_t)n);
}

/* The records of mapped chunks go, their steps come. Returns the bytes. */
static uint64_t cut_mapped(struct ashlar_range *range, const struct cut *cut,
                           struct retire_item *item)
{
    const struct range_chunk *chunks = range->chunks.items; /* NULL for none */
    uint64_t bytes = 0;
    uint32_t i;

    if (cut->count == 0)
        return 0;
    chunks += cut->first;
    add_unmaps(item, range->base, chunks, cut->count);
    add_destroys(item, chunks, cut->count);
    for (i = 0; i < cut->count; i++) {
        raise_ghost(range, &chunks[i], item);
        bytes += chunks[i].bytes;
    }
    range->committed -= bytes;
    range->epoch++;
    vector_remove(&range->chunks, cut->first, cut->count,
                  sizeof(struct range_chunk));
    return bytes;
}

/* The same for those that are mapped nowhere. */
static uint64_t cut_prepared(struct ashlar_range *range, const struct cut *cut,
                             struct retire_item *item)
{
    uint64_t bytes = range->prepared_bytes;

    if (!cut->prepared)
        return 0;
    add_destroys(item, range->prepared.items, range->prepared.count);
    range->prepared.count = 0;
    range->prepared_bytes = 0;
    return bytes;
}

/* Retire a cut. The lock is held. */
static enum ashlar_status retire_cut(struct ashlar_range *range,
                                     const struct cut *cut,
                                     const struct ashlar_fence *fences,
                                     size_t n, uint64_t *released_out)
{
    struct retire_item *item;
    enum ashlar_status status;

    *released_out = 0;
    if (cut->count == 0 && (!cut->prepared || range->prepared.count == 0))
        return ASHLAR_OK;
    item = item_for_cut(range, cut, n);
    if (item == NULL)
        return no_records();
    status = fences_record(range->source, fences, n, item);
    if (status != ASHLAR_OK) {
        retire_item_drop(item);
        return status;
    }
    *released_out = cut_mapped(range, cut, item);
    *released_out += cut_prepared(range, cut, item);
    retire_item_queue(range->source, item);
    (void)range_haunted(range, 0, 0);
    return ASHLAR_OK;
}

static enum ashlar_status check_not_moved(const struct ashlar_range *range)
{
    const struct range_old *old = range->olds.items;

    if (range->olds.count == 0)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_BUSY,
                     "the range moved from 0x%lx, where its chunks are still "
                     "mapped; call ashlar_range_retire_old() first",
                     (unsigned long)old->base);
}

/*
 * Where a shrink cuts: behind the chunk that `keep` reaches into, or at the
 * first hole behind `used`, so that what stays has no hole ahead of it.
 */
static uint32_t first_to_go(const struct ashlar_range *range, uint64_t used,
                            uint64_t keep, uint64_t *frontier_out)
{
    const struct range_chunk *chunks = range->chunks.items;
    uint32_t i = range_chunk_at(range, used);
    uint64_t end = used;

    if (i != 0 && chunks[i - 1].offset + chunks[i - 1].bytes > used)
        end = chunks[i - 1].offset + chunks[i - 1].bytes;
    while (i < range->chunks.count && chunks[i].offset == end && end < keep)
        end += chunks[i++].bytes;
    *frontier_out = end;
    return i;
}

static enum ashlar_status shrink(struct ashlar_range *range, uint64_t total,
                                 const struct ashlar_fence *fences, size_t n,
                                 uint64_t *released_out)
{
    uint64_t used = align_up(total, range->granule);
    enum ashlar_status status = check_not_moved(range);
    struct cut cut = {.prepared = true};
    uint64_t frontier;
    uint64_t keep;

    if (status != ASHLAR_OK)
        return status;
    if (total > range->used)
        return error_set(ASHLAR_ERR_INVALID,
                         "total is %lu bytes, above the %lu that are used; a "
                         "range grows by ashlar_range_grow_to()",
                         (unsigned long)total, (unsigned long)range->used);
    if (!add_size(used, range->keep_bytes, &keep))
        keep = UINT64_MAX;
    cut.first = first_to_go(range, used, keep, &frontier);
    cut.count = range->chunks.count - cut.first;
    status = retire_cut(range, &cut, fences, n, released_out);
    if (status != ASHLAR_OK)
        return status;
    range->used = total;
    range->frontier = frontier;
    return ASHLAR_OK;
}

/* What every verb with fences asks first. */
static enum ashlar_status
check_release(struct ashlar_range *range, const struct ashlar_fence *fences,
              size_t n, const struct ashlar_range_result *result,
              const char *call)
{
    enum ashlar_status status = range_check(range, call);

    if (status == ASHLAR_OK)
        status = fences_check(fences, n, call);
    return status == ASHLAR_OK ? range_result_check(result) : status;
}

enum ashlar_status range_shrink(struct ashlar_range *range, uint64_t total,
                                uint64_t *released_out)
{
    uint64_t released = 0;
    enum ashlar_status status;

    lock_take(&range->lock);
    status = shrink(range, total, ASHLAR_QUIET, 1, &released);
    lock_give(&range->lock);
    if (released_out != NULL)
        *released_out = released;
    return status;
}

enum ashlar_status range_check_free(struct ashlar_range *range)
{
    unsigned holders = __atomic_load_n(&range->holders, __ATOMIC_ACQUIRE);

    if (holders == 0)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_BUSY,
                     "%u pool(s), table(s) or arena(s) stand on the range at "
                     "0x%lx; trim or destroy those instead",
                     holders, (unsigned long)range->base);
}

enum ashlar_status ashlar_range_shrink_to(struct ashlar_range *range,
                                          uint64_t total,
                                          const struct ashlar_fence *fences,
                                          size_t n,
                                          struct ashlar_range_result *result)
{
    struct ashlar_range_result facts = ASHLAR_RANGE_RESULT_INIT;
    enum ashlar_status status;

    status = range_check_own(range, "ashlar_range_shrink_to()");
    if (status == ASHLAR_OK)
        status =
            check_release(range, fences, n, result, "ashlar_range_shrink_to()");
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    facts.old_base = range->base;
    status = range_check_free(range);
    if (status == ASHLAR_OK)
        status = shrink(range, total, fences, n, &facts.released_bytes);
    if (status == ASHLAR_OK)
        range_result(range, &facts, result);
    lock_give(&range->lock);
    return status;
}

static enum ashlar_status decommit(struct ashlar_range *range, uint64_t from,
                                   uint64_t to,
                                   const struct ashlar_fence *fences, size_t n,
                                   uint64_t *released_out)
{
    const struct range_chunk *chunks = range->chunks.items;
    struct cut cut = {.first = range_chunk_at(range, from)};
    uint32_t end = cut.first;

    while (end < range->chunks.count &&
           chunks[end].offset + chunks[end].bytes <= to)
        end++;
    cut.count = end - cut.first;
    return retire_cut(range, &cut, fences, n, released_out);
}

enum ashlar_status range_vacate(struct ashlar_range *range, uint64_t offset,
                                uint64_t bytes)
{
    enum ashlar_status status;
    uint64_t released;

    lock_take(&range->lock);
    status =
        decommit(range, offset, offset + bytes, ASHLAR_QUIET, 1, &released);
    lock_give(&range->lock);
    return status;
}

enum ashlar_status ashlar_range_decommit(struct ashlar_range *range,
                                         uint64_t offset, uint64_t bytes,
                                         const struct ashlar_fence *fences,
                                         size_t n,
                                         struct ashlar_range_result *result)
{
    struct ashlar_range_result facts = ASHLAR_RANGE_RESULT_INIT;
    enum ashlar_status status;

    status = range_check_own(range, "ashlar_range_decommit()");
    if (status == ASHLAR_OK)
        status =
            check_release(range, fences, n, result, "ashlar_range_decommit()");
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    facts.old_base = range->base;
    status = range_check_part(range, offset, bytes);
    if (status == ASHLAR_OK)
        status = range_check_free(range);
    if (status == ASHLAR_OK)
        status = check_not_moved(range);
    if (status == ASHLAR_OK)
        status = decommit(range, offset, offset + bytes, fences, n,
                          &facts.released_bytes);
    if (status == ASHLAR_OK)
        range_result(range, &facts, result);
    lock_give(&range->lock);
    return status;
}

/* --- what moves left behind ----------------------------------------------- */

static uint32_t steps_for_olds(const struct ashlar_range *range)
{
    const struct range_old *olds = range->olds.items;
    uint32_t steps = 0;
    uint32_t i;

    for (i = 0; i < range->olds.count; i++)
        steps += olds[i].chunks.count + olds[i].spaces.count;
    return steps;
}

static void add_old_unmaps(const struct ashlar_range *range,
                           struct retire_item *item)
{
    const struct range_old *olds = range->olds.items;
    uint32_t i;

    for (i = 0; i < range->olds.count; i++)
        add_unmaps(item, olds[i].base, olds[i].chunks.items,
                   olds[i].chunks.count);
}

static void add_old_releases(const struct ashlar_range *range,
                             struct retire_item *item)
{
    const struct range_old *olds = range->olds.items;
    uint32_t i;

    for (i = 0; i < range->olds.count; i++)
        add_releases(item, &olds[i].spaces);
}

static void forget_olds(struct ashlar_range *range)
{
    struct range_old *olds = range->olds.items;
    uint32_t i;

    for (i = 0; i < range->olds.count; i++) {
        table_leave(olds[i].base);
        vector_free(&olds[i].chunks);
        vector_free(&olds[i].spaces);
    }
    range->olds.count = 0;
}

static enum ashlar_status retire_olds(struct ashlar_range *range,
                                      const struct ashlar_fence *fences,
                                      size_t n)
{
    struct retire_item *item;
    enum ashlar_status status;

    if (range->olds.count == 0)
        return ASHLAR_OK;
    item = retire_item_create(range->owner, steps_for_olds(range), (uint32_t)n);
    if (item == NULL)
        return no_records();
    status = fences_record(range->source, fences, n, item);
    if (status != ASHLAR_OK) {
        retire_item_drop(item);
        return status;
    }
    add_old_unmaps(range, item);
    add_old_releases(range, item);
    forget_olds(range);
    retire_item_queue(range->source, item);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_range_retire_old(struct ashlar_range *range,
                                           const struct ashlar_fence *fences,
                                           size_t n)
{
    enum ashlar_status status;

    status = check_release(range, fences, n, NULL, "ashlar_range_retire_old()");
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    status = retire_olds(range, fences, n);
    lock_give(&range->lock);
    return status;
}

/* --- the end -------------------------------------------------------------- */

static uint32_t steps_for_all(const struct ashlar_range *range)
{
    return 2 * range->chunks.count + range->prepared.count +
           range->spaces.count + steps_for_olds(range);
}

int range_make_end(struct ashlar_range *range, uint32_t more)
{
    uint32_t room = range->end == NULL ? 0 : range->end->step_room;
    uint32_t need = steps_for_all(range) + more;
    struct retire_item *end;

    if (range->end != NULL && need <= room)
        return 0;
    end = retire_item_create(range->owner,
                             (uint32_t)max_size(need, room + room / 2), 1);
    if (end == NULL)
        return -1;
    if (range->end != NULL)
        retire_item_drop(range->end);
    range->end = end;
    return 0;
}

static void add_all(const struct ashlar_range *range, struct retire_item *item)
{
    add_old_unmaps(range, item);
    add_unmaps(item, range->base, range->chunks.items, range->chunks.count);
    add_destroys(item, range->chunks.items, range->chunks.count);
    add_destroys(item, range->prepared.items, range->prepared.count);
    add_old_releases(range, item);
    add_releases(item, &range->spaces);
}

static void free_record(struct ashlar_range *range)
{
    struct range_ghost *ghosts = range->ghosts.items;
    uint32_t i;

    forget_olds(range);
    table_leave(range->base);
    if (range->end != NULL)
        retire_item_drop(range->end);
    for (i = 0; i < range->ghosts.count; i++)
        retire_item_drop(ghosts[i].item);
    if (range->rights_undo != NULL)
        retire_item_drop(range->rights_undo);
    vector_free(&range->spaces);
    vector_free(&range->chunks);
    vector_free(&range->prepared);
    vector_free(&range->access);
    vector_free(&range->ghosts);
    vector_free(&range->olds);
    memory_free(range);
}

void range_abandon(struct ashlar_range *range, struct retire_item *item)
{
    struct ashlar_source *source = range->source;

    add_all(range, item);
    if (item == range->end)
        range->end = NULL;
    free_record(range);
    retire_item_queue(source, item);
    source_drop(source);
}

struct retire_item *range_make_item(const struct ashlar_range *range,
                                    uint32_t calls, uint32_t fences)
{
    struct retire_item *item =
        retire_item_create(range->owner, calls + steps_for_all(range), fences);

    if (item == NULL)
        (void)no_records();
    return item;
}

/* One fence goes with what is there; more take an item of their own. */
static struct retire_item *item_for_all(const struct ashlar_range *range,
                                        size_t n)
{
    if (n == 1)
        return range->end;
    return range_make_item(range, 0, (uint32_t)n);
}

enum ashlar_status ashlar_range_destroy(struct ashlar_range *range,
                                        const struct ashlar_fence *fences,
                                        size_t n)
{
    struct retire_item *item;
    enum ashlar_status status;

    status = check_release(range, fences, n, NULL, "ashlar_range_destroy()");
    if (status != ASHLAR_OK)
        return status;
    status = range_check_free(range);
    if (status != ASHLAR_OK)
        return status;
    item = item_for_all(range, n);
    if (item == NULL)
        return ashlar_last_error();
    status = fences_record(range->source, fences, n, item);
    if (status == ASHLAR_OK)
        range_abandon(range, item);
    else if (item != range->end)
        retire_item_drop(item);
    return status;
}
