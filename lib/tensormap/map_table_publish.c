/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Publishing: queue what writes device slots, and note by which fence it is
 * done.
 *
 *     claim ─> fence of a graph, if the stream is captured ─> queue
 *                                                              │
 *     settle <── PUBLISHED, by its publication <── fence of the stream
 *
 * A fence on a stream has to be behind what it stands for; one that cannot be
 * made then would leave work that nobody can wait for. So one is made before
 * anything is queued, and given back: that shows that the stream takes fences,
 * whether it is being captured, and leaves an event to be had for the real one.
 * Where the real one cannot be made all the same, the publication is lost: nobody
 * can make it up later by the stream's number, which may be another stream's by
 * then, as that of a thread's default stream is in each thread.
 *
 * Of thousands of neighbours, what costs time for each stands on both sides of
 * the copy: their claim, which it waits for, and the end, where they name their
 * publication, which it runs beside. Both go block by block.
 */
#include "config.h"

#include "tensormap/map_table.h"

#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"

/*
 * As many stretches as are copied one by one. On an H200 a copy more takes
 * 2.6 us; a kernel takes 7 us more than the first copy, and 11 where its staging is
 * copied to the device before.
 */
#define COPIES_MOST 4

/* One publish or rewrite, while it goes on. */
struct errand {
    struct ashlar_tensormap_table *table;
    const struct ashlar_tensormap_handle *handles;
    size_t n;
    uint64_t stream;
    enum claim what;
    struct publication *publication;
    size_t first_run; /* handles whose slots are side by side, from the first */
    uint64_t copies;  /* queued */
    uint64_t scatters;
    bool staging_full;
};

/* --- staging --------------------------------------------------------------- */

/* Units for n maps and their indices. */
static size_t units_for(size_t n)
{
    return n + (n * sizeof(uint32_t) + ASHLAR_TENSOR_MAP_BYTES - 1) /
                   ASHLAR_TENSOR_MAP_BYTES;
}

/* Take units side by side for a publication. The lock is held. */
static bool take_staging(struct ashlar_tensormap_table *table,
                         struct publication *publication, size_t units)
{
    size_t first = bits_find(table->staging_free, table->staging_units, units);

    if (first == BITS_NONE) {
        map_table_settle(table, SIZE_MAX);
        first = bits_find(table->staging_free, table->staging_units, units);
    }
    if (first == BITS_NONE)
        return false;
    bits_clear(table->staging_free, first, units);
    table->staging_used += units;
    publication->staging_first = first;
    publication->staging_count = units;
    return true;
}

/* Where its staging is on a side. */
static uint64_t staging_at(const struct side *side,
                           const struct publication *publication)
{
    return side->base - side->staging_bytes +
           publication->staging_first * ASHLAR_TENSOR_MAP_BYTES;
}

/* --- queuing --------------------------------------------------------------- */

static enum ashlar_status queue_copy(struct errand *errand, uint64_t to,
                                     uint64_t from, uint64_t bytes)
{
    struct ashlar_source *source = errand->table->source;
    enum ashlar_status status =
        source->ops.copy(source->state, to, from, bytes, errand->stream);

    errand->copies += status == ASHLAR_OK;
    return status;
}

/* Handles from one on whose slots are side by side, when some are known to be. */
static size_t count_run(const struct errand *errand, size_t from, size_t known)
{
    const struct ashlar_tensormap_handle *handles = errand->handles + from;
    size_t most = errand->n - from;

    while (known < most && handles[known].index == handles[0].index + known)
        known++;
    return known;
}

static size_t run_length(const struct errand *errand, size_t from)
{
    return from == 0 ? errand->first_run : count_run(errand, from, 1);
}

/* Whether there are more stretches than are copied one by one. */
static bool is_scattered(const struct errand *errand)
{
    size_t i = errand->first_run, runs = 1;

    for (; i < errand->n && runs <= COPIES_MOST; runs++)
        i += run_length(errand, i);
    return runs > COPIES_MOST;
}

/* Out of the host slots, stretch by stretch. */
static enum ashlar_status queue_copies(struct errand *errand)
{
    const struct ashlar_tensormap_table *table = errand->table;
    enum ashlar_status status = ASHLAR_OK;
    size_t i, length;

    for (i = 0; i < errand->n && status == ASHLAR_OK; i += length) {
        length = run_length(errand, i);
        status = queue_copy(errand,
                            slot_at(&table->device, errand->handles[i].index),
                            slot_at(&table->host, errand->handles[i].index),
                            length * ASHLAR_TENSOR_MAP_BYTES);
    }
    return status;
}

/* Out of staging, all by one kernel. */
static enum ashlar_status queue_scatter(struct errand *errand)
{
    const struct ashlar_tensormap_table *table = errand->table;
    struct ashlar_source *source = table->source;
    uint64_t maps = errand->n * ASHLAR_TENSOR_MAP_BYTES;
    uint64_t from = staging_at(&table->host, errand->publication);
    unsigned char *staging = (void *)(uintptr_t)from;
    uint32_t *indices = (uint32_t *)(void *)(staging + maps);
    enum ashlar_status status = ASHLAR_OK;
    size_t i;

    for (i = 0; i < errand->n; i++) {
        indices[i] = errand->handles[i].index;
        memcpy(staging + i * ASHLAR_TENSOR_MAP_BYTES,
               host_slot(table, indices[i]), ASHLAR_TENSOR_MAP_BYTES);
    }
    if (!table->host_is_reached) {
        from = staging_at(&table->device, errand->publication);
        status = queue_copy(errand, from, (uint64_t)(uintptr_t)staging,
                            maps + errand->n * sizeof(*indices));
    }
    if (status == ASHLAR_OK)
        status = source->ops.scatter(source->state, table->device.base, from,
                                     from + maps, (uint32_t)errand->n,
                                     errand->stream);
    errand->scatters += status == ASHLAR_OK;
    return status;
}

/*
 * By a kernel if it is to be. A stream of a context that the kernel is not
 * loaded in, and cannot be, as while it is captured, takes copies.
 */
static enum ashlar_status queue_publish(struct errand *errand)
{
    enum ashlar_status status;

    if (errand->publication->reads_host)
        return queue_copies(errand);
    status = queue_scatter(errand);
    if (status != ASHLAR_ERR_CAPTURE && status != ASHLAR_ERR_UNSUPPORTED)
        return status;
    errand->publication->reads_host = true;
    return queue_copies(errand);
}

/* --- fences ---------------------------------------------------------------- */

/* Make one of a graph, whose slots and staging these will be. */
static enum ashlar_status fence_graph(struct errand *errand)
{
    const struct ashlar_fence fence = {ASHLAR_FENCE_CAPTURE, 0, NULL,
                                       errand->stream};
    struct ashlar_source *source = errand->table->source;

    if (!source_can(source, ASHLAR_CAN_GRAPH))
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "stream 0x%llx is being captured, and the source "
                         "\"%s\" cannot tell when its graph is gone; publish "
                         "before the capture",
                         (unsigned long long)errand->stream, source->name);
    errand->publication->graph = true;
    return fences_record(source, &fence, 1, errand->publication->fences);
}

static enum ashlar_status fence_before(struct errand *errand)
{
    struct ashlar_source *source = errand->table->source;
    enum ashlar_status status;
    uint64_t fence = 0;

    status = source->ops.fence_record(source->state, errand->stream, &fence);
    if (status == ASHLAR_OK)
        source->ops.fence_drop(source->state, fence);
    return status == ASHLAR_ERR_CAPTURE ? fence_graph(errand) : status;
}

/*
 * Behind what was queued; a graph's was made before. Other threads may have taken
 * the event that was left: what has passed meanwhile leaves some more.
 */
static enum ashlar_status fence_behind(struct errand *errand)
{
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL,
                                       errand->stream};
    struct ashlar_tensormap_table *table = errand->table;
    struct retire_item *fences = errand->publication->fences;
    enum ashlar_status status;

    if (errand->publication->graph)
        return ASHLAR_OK;
    status = fences_record(table->source, &fence, 1, fences);
    if (status == ASHLAR_OK || source_is_gone(status))
        return status;
    lock_take(&table->lock);
    map_table_settle(table, SIZE_MAX);
    lock_give(&table->lock);
    return fences_record(table->source, &fence, 1, fences);
}

/* --- the end of an errand -------------------------------------------------- */

/*
 * A slot goes from one publication to the next, whose caller has ordered it behind
 * the first; so its fence stands for both. That of a graph says nothing of what
 * was queued before: then nobody can tell when the slot is done with either.
 */
static void make_up(struct publication *earlier, struct publication *later)
{
    if (!earlier->lost || later->lost)
        return;
    if (later->graph) {
        later->lost = true;
        return;
    }
    retire_item_drop(earlier->fences);
    earlier->fences = later->fences;
    __atomic_fetch_add(&later->fences->references, 1, __ATOMIC_RELAXED);
    earlier->lost = false;
}

/* A slot names the publication, and its word changes in these bits. */
static void name_slot(struct errand *errand, uint32_t index, uint32_t clear,
                      uint32_t set)
{
    struct ashlar_tensormap_table *table = errand->table;
    uint32_t word = table->words[index];

    table->words[index] = (word & ~clear) | set | WORD_NAMES;
    if ((word & WORD_NAMES) != 0) {
        make_up(table->publications[index], errand->publication);
        map_table_set_publication(table, index, errand->publication);
    } else {
        table->publications[index] = errand->publication;
        errand->publication->references++;
    }
}

/* As name_slot(), of a block; nothing is done when one names another. */
static bool name_block(struct errand *errand, uint32_t first, uint32_t clear,
                       uint32_t set)
{
    struct publication **publications = &errand->table->publications[first];
    struct publication *publication = errand->publication;
    uint32_t *words = &errand->table->words[first];
    uint32_t bits = 0, i;

    for (i = 0; i < SLOT_BLOCK; i++)
        bits |= words[i];
    if ((bits & WORD_NAMES) != 0)
        return false;
    for (i = 0; i < SLOT_BLOCK; i++)
        words[i] = (words[i] & ~clear) | set | WORD_NAMES;
    for (i = 0; i < SLOT_BLOCK; i++)
        publications[i] = publication;
    publication->references += SLOT_BLOCK;
    return true;
}

/* As name_slot(), of slots side by side. */
static void name_run(struct errand *errand, uint32_t first, size_t n,
                     uint32_t clear, uint32_t set)
{
    uint32_t end = first + (uint32_t)n;

    while (first < end)
        if (end - first >= SLOT_BLOCK && name_block(errand, first, clear, set))
            first += SLOT_BLOCK;
        else
            name_slot(errand, first++, clear, set);
}

/*
 * What was queued is pending, and the slots are its: out of hand, and their words
 * change in these bits. The lock is held.
 */
static void enter(struct errand *errand, uint32_t clear, uint32_t set)
{
    struct ashlar_tensormap_table *table = errand->table;
    struct publication *publication = errand->publication;
    size_t i, length;

    for (i = 0; i < errand->n; i += length) {
        length = run_length(errand, i);
        name_run(errand, errand->handles[i].index, length, clear, set);
    }
    if (publication->graph)
        table->in_graphs += errand->n;
    publication->references++;
    publication->previous = table->pending_last;
    if (table->pending_last == NULL)
        table->pending = publication;
    else
        table->pending_last->next = publication;
    table->pending_last = publication;
    table->copies += errand->copies;
    table->scatters += errand->scatters;
}

/* Nothing was queued. */
static void drop(struct errand *errand)
{
    struct ashlar_tensormap_table *table = errand->table;
    struct publication *publication = errand->publication;

    bits_set(table->staging_free, publication->staging_first,
             publication->staging_count);
    table->staging_used -= publication->staging_count;
    retire_item_drop(publication->fences);
    memory_free(publication);
}

/* The slots are as before, but something may have been written over there. */
static void fail(struct errand *errand, enum ashlar_status why)
{
    if (errand->copies + errand->scatters == 0 || source_is_gone(why)) {
        map_table_unclaim(errand->table, errand->handles, errand->n);
        drop(errand);
    } else {
        enter(errand, WORD_IN_HAND, WORD_STALE);
    }
}

static void succeed(struct errand *errand)
{
    struct ashlar_tensormap_table *table = errand->table;

    enter(errand, WORD_STATE | WORD_IN_HAND, ASHLAR_TENSORMAP_PUBLISHED);
    if (errand->what == CLAIM_REWRITE) {
        table->rewrites++;
        return;
    }
    table->publishes++;
    table->published_slots += errand->n;
    table->staging_full += errand->staging_full;
}

/* --- an errand ------------------------------------------------------------- */

static enum ashlar_status make_publication(struct errand *errand)
{
    struct publication *publication = memory_zalloc(sizeof(*publication));

    if (publication != NULL) {
        publication->stream = errand->stream;
        publication->waiting = NO_SLOT;
        publication->fences = retire_item_create(0, 0, 1);
        if (publication->fences != NULL) {
            errand->publication = publication;
            return ASHLAR_OK;
        }
        memory_free(publication);
    }
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory to note what is published");
}

/* How it is to be written, and staging for it. The lock is held. */
static enum ashlar_status plan(struct errand *errand)
{
    struct ashlar_tensormap_table *table = errand->table;
    struct publication *publication = errand->publication;

    errand->first_run = count_run(errand, 0, errand->first_run);
    if (errand->what == CLAIM_REWRITE) {
        if (take_staging(table, publication, 1))
            return ASHLAR_OK;
        return error_set(ASHLAR_ERR_LIMIT,
                         "all of the staging, for %zu maps, is in use by work "
                         "that is not done yet, and by graphs; give the table "
                         "more",
                         table->staging_units);
    }
    publication->reads_host = true;
    if (table->can_scatter && is_scattered(errand)) {
        publication->reads_host =
            !take_staging(table, publication, units_for(errand->n));
        errand->staging_full = publication->reads_host;
    }
    return ASHLAR_OK;
}

/* Take all in hand, or nothing. */
static enum ashlar_status begin(struct errand *errand)
{
    struct ashlar_tensormap_table *table = errand->table;
    enum ashlar_status status = make_publication(errand);
    size_t culprit;

    if (status != ASHLAR_OK)
        return status;
    lock_take(&table->lock);
    status = map_table_claim(table, errand->handles, errand->n, errand->what,
                             errand->stream, &errand->first_run, &culprit);
    if (status == ASHLAR_OK) {
        status = plan(errand);
        if (status != ASHLAR_OK)
            map_table_unclaim(table, errand->handles, errand->n);
    }
    if (status != ASHLAR_OK)
        drop(errand);
    lock_give(&table->lock);
    return status;
}

static enum ashlar_status queue_rewrite(struct errand *errand, const void *map)
{
    const struct ashlar_tensormap_table *table = errand->table;
    uint64_t staging = staging_at(&table->host, errand->publication);

    memcpy((void *)(uintptr_t)staging, map, ASHLAR_TENSOR_MAP_BYTES);
    return queue_copy(errand, slot_at(&table->device, errand->handles->index),
                      staging, ASHLAR_TENSOR_MAP_BYTES);
}

/*
 * Queue it, between its fences. Where the second one cannot be made, the work is
 * queued all the same.
 */
static enum ashlar_status queue(struct errand *errand, const void *map)
{
    enum ashlar_status status = fence_before(errand);
    enum ashlar_status behind;
    struct error why;

    if (status != ASHLAR_OK)
        return status;
    if (errand->what == CLAIM_REWRITE)
        status = queue_rewrite(errand, map);
    else
        status = queue_publish(errand);
    if (errand->copies + errand->scatters == 0)
        return status;
    error_copy(&why);
    behind = fence_behind(errand);
    if (source_is_gone(behind))
        return behind;
    errand->publication->lost = behind != ASHLAR_OK;
    if (errand->publication->lost)
        log_line(ASHLAR_LOG_WARNING,
                 "what was published on stream 0x%llx cannot be waited for "
                 "(%s): its slots and staging are not had again, and to "
                 "destroy the table takes ASHLAR_QUIET",
                 (unsigned long long)errand->stream,
                 ashlar_last_error_message());
    error_restore(&why);
    return status;
}

static enum ashlar_status run(struct errand *errand, const void *map)
{
    struct ashlar_tensormap_table *table = errand->table;
    enum ashlar_status status = begin(errand);

    if (status != ASHLAR_OK)
        return status;
    status = queue(errand, map);
    if (status == ASHLAR_OK && errand->what == CLAIM_REWRITE)
        memmove(host_slot(table, errand->handles->index), map,
                ASHLAR_TENSOR_MAP_BYTES);
    lock_take(&table->lock);
    if (status == ASHLAR_OK)
        succeed(errand);
    else
        fail(errand, status);
    map_table_settle(table, GLANCE); /* what was queued goes on meanwhile */
    lock_give(&table->lock);
    return status;
}

enum ashlar_status
ashlar_tensormap_table_publish(struct ashlar_tensormap_table *table,
                               const struct ashlar_tensormap_handle *handles,
                               size_t n, uint64_t stream)
{
    static const char call[] = "ashlar_tensormap_table_publish()";
    struct errand errand = {.table = table,
                            .handles = handles,
                            .n = n,
                            .stream = stream,
                            .what = CLAIM_PUBLISH};
    enum ashlar_status status = map_table_check(table, call);

    if (status == ASHLAR_OK && n != 0 && handles == NULL)
        status = map_table_refuse_null(call, "handles");
    return status != ASHLAR_OK || n == 0 ? status : run(&errand, NULL);
}

enum ashlar_status
ashlar_tensormap_table_rewrite(struct ashlar_tensormap_table *table,
                               struct ashlar_tensormap_handle handle,
                               const void *map, uint64_t stream)
{
    static const char call[] = "ashlar_tensormap_table_rewrite()";
    struct errand errand = {.table = table,
                            .handles = &handle,
                            .n = 1,
                            .stream = stream,
                            .what = CLAIM_REWRITE};
    enum ashlar_status status = map_table_check(table, call);

    if (status == ASHLAR_OK && map == NULL)
        status = map_table_refuse_null(call, "map");
    return status != ASHLAR_OK ? status : run(&errand, map);
}
