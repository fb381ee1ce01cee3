/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_table.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"

enum ashlar_status map_table_refuse_null(const char *call, const char *name)
{
    return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for %s", call,
                     name);
}

enum ashlar_status map_table_check(struct ashlar_tensormap_table *table,
                                   const char *call)
{
    if (table == NULL)
        return map_table_refuse_null(call, "table");
    if (table->process == thread_process())
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_FORKED,
                     "%s: the table was made by the parent process, and is not "
                     "usable after fork; make one here",
                     call);
}

/* --- create ---------------------------------------------------------------- */

static enum ashlar_status
check_numbers(const struct ashlar_tensormap_table_options *own)
{
    if (own->max_slots > ASHLAR_TENSORMAP_TABLE_SLOTS_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "max_slots is %zu; a table has at most %zu",
                         own->max_slots, ASHLAR_TENSORMAP_TABLE_SLOTS_MAX);
    if (own->staging_slots > ASHLAR_TENSORMAP_TABLE_SLOTS_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "staging_slots is %zu; staging has room for at most "
                         "%zu maps",
                         own->staging_slots, ASHLAR_TENSORMAP_TABLE_SLOTS_MAX);
    if (own->initial_slots > own->max_slots)
        return error_set(ASHLAR_ERR_INVALID,
                         "initial_slots is %zu, above max_slots, which is %zu",
                         own->initial_slots, own->max_slots);
    return ASHLAR_OK;
}

static enum ashlar_status
read_options(const struct ashlar_tensormap_table_options *given,
             struct ashlar_tensormap_table_options *own)
{
    static const struct ashlar_tensormap_table_options defaults =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    enum ashlar_status status =
        options_read(own, sizeof(*own), given == NULL ? &defaults : given,
                     "struct ashlar_tensormap_table_options");

    if (status != ASHLAR_OK)
        return status;
    if (own->max_slots == 0)
        own->max_slots = ASHLAR_TENSORMAP_TABLE_SLOTS_DEFAULT;
    if (own->staging_slots == 0)
        own->staging_slots = ASHLAR_TENSORMAP_TABLE_STAGING_DEFAULT;
    return check_numbers(own);
}

static enum ashlar_status check_host(struct ashlar_source *host)
{
    enum ashlar_status status =
        source_check(host, "ashlar_tensormap_table_create()");

    if (status == ASHLAR_OK &&
        !source_can(host, ASHLAR_CAN_RANGES | ASHLAR_CAN_HOST_ACCESS))
        status = error_set(ASHLAR_ERR_UNSUPPORTED,
                           "options.host is the source \"%s\", which has no "
                           "ranges of memory that the host reaches; give one "
                           "such as \"cuda\" with \"location=host\", or NULL",
                           host->name);
    return status;
}

static enum ashlar_status check_source(struct ashlar_source *source)
{
    enum ashlar_status status =
        source_check(source, "ashlar_tensormap_table_create()");

    if (status == ASHLAR_OK &&
        !source_can(source,
                    ASHLAR_CAN_RANGES | ASHLAR_CAN_COPY | ASHLAR_CAN_FENCE))
        status = error_set(ASHLAR_ERR_UNSUPPORTED,
                           "the source \"%s\" cannot have a table of tensor "
                           "maps: that takes ranges, copies and fences; "
                           "\"cuda\" and \"vm\" have them",
                           source->name);
    return status;
}

static void drop_records(struct ashlar_tensormap_table *table)
{
    memory_free(table->words);
    memory_free(table->next);
    memory_free(table->publications);
    memory_free(table->free);
    memory_free(table->staging_free);
    memory_free(table);
}

/* All records that there will ever be, so that growing needs none; a large one
 * takes memory as it is used. NULL: no memory. */
static struct ashlar_tensormap_table *
make_records(const struct ashlar_tensormap_table_options *options)
{
    struct ashlar_tensormap_table *table = memory_zalloc(sizeof(*table));
    size_t slots = options->max_slots;

    if (table == NULL)
        return NULL;
    table->max_slots = slots;
    /* The indices of 32 maps take as much room as one map. */
    table->staging_units =
        options->staging_slots + (options->staging_slots + 31) / 32;
    table->words = memory_zalloc(slots * sizeof(table->words[0]));
    if (table->words != NULL)
        table->next = memory_zalloc(slots * sizeof(table->next[0]));
    if (table->next != NULL)
        table->publications =
            memory_zalloc(slots * sizeof(table->publications[0]));
    if (table->publications != NULL)
        table->free = memory_zalloc(bits_words(slots) * sizeof(uint64_t));
    if (table->free != NULL)
        table->staging_free =
            memory_zalloc(bits_words(table->staging_units) * sizeof(uint64_t));
    if (table->staging_free != NULL)
        return table;
    drop_records(table);
    return NULL;
}

/* The last part of destroying, once nothing of it is used any more. */
static void end_table(struct retire_call *self)
{
    struct ashlar_tensormap_table *table =
        (void *)((char *)self - offsetof(struct ashlar_tensormap_table, ended));

    map_table_drop_side(&table->host);
    drop_records(table);
}

/* What scattering takes. A source that cannot is copied to instead. */
static enum ashlar_status load(struct ashlar_tensormap_table *table)
{
    struct ashlar_source *source = table->source;
    enum ashlar_status status;
    struct error before;

    if (!source_can(source, ASHLAR_CAN_SCATTER))
        return ASHLAR_OK;
    error_copy(&before);
    status = source->ops.scatter_load(source->state);
    table->can_scatter = status == ASHLAR_OK;
    if (status != ASHLAR_ERR_UNSUPPORTED && status != ASHLAR_ERR_DRIVER_TOO_OLD)
        return status;
    error_restore(&before);
    return ASHLAR_OK;
}

static enum ashlar_status
start(struct ashlar_tensormap_table *table,
      const struct ashlar_tensormap_table_options *options)
{
    enum ashlar_status status = load(table);

    if (status == ASHLAR_OK)
        status = map_table_make_sides(table, options);
    if (status != ASHLAR_OK)
        return status;
    if (options->initial_slots != 0)
        status = map_table_grow_sides(table, options->initial_slots);
    if (status != ASHLAR_OK)
        map_table_drop_sides(table);
    return status;
}

static enum ashlar_status
make_table(struct ashlar_source *source,
           const struct ashlar_tensormap_table_options *options,
           struct ashlar_tensormap_table **table_out)
{
    struct ashlar_tensormap_table *table = make_records(options);
    enum ashlar_status status;

    if (table == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the records of a table of %zu "
                         "slots",
                         options->max_slots);
    table->source = source;
    table->process = thread_process();
    table->ended.call = end_table;
    lock_init(&table->grow_lock);
    lock_init(&table->lock);
    bits_set(table->staging_free, 0, table->staging_units);
    status = start(table, options);
    if (status != ASHLAR_OK) {
        drop_records(table);
        return status;
    }
    *table_out = table;
    return ASHLAR_OK;
}

enum ashlar_status ashlar_tensormap_table_create(
    struct ashlar_source *source,
    const struct ashlar_tensormap_table_options *options,
    struct ashlar_tensormap_table **table_out)
{
    struct ashlar_tensormap_table_options own;
    enum ashlar_status status = check_source(source);

    if (status == ASHLAR_OK)
        status = read_options(options, &own);
    if (status == ASHLAR_OK && own.host != NULL)
        status = check_host(own.host);
    if (status != ASHLAR_OK)
        return status;
    if (table_out == NULL)
        return map_table_refuse_null("ashlar_tensormap_table_create()",
                                     "table_out");
    return make_table(source, &own, table_out);
}

/* --- query ----------------------------------------------------------------- */

static uint64_t count_lost(const struct ashlar_tensormap_table *table)
{
    const struct publication *publication = table->pending;
    uint64_t count = 0;

    for (; publication != NULL; publication = publication->next)
        count += publication->lost;
    return count;
}

enum ashlar_status
ashlar_tensormap_table_query(struct ashlar_tensormap_table *table,
                             struct ashlar_tensormap_table_info *info)
{
    struct ashlar_tensormap_table_info own = {.size = sizeof(own)};
    enum ashlar_status status =
        map_table_check(table, "ashlar_tensormap_table_query()");

    if (status != ASHLAR_OK)
        return status;
    own.source = table->source;
    own.base = table->device.base;
    own.max_slots = table->max_slots;
    own.device_bytes = map_table_side_bytes(&table->device);
    own.host_bytes = map_table_side_bytes(&table->host);
    own.staging_slots = table->staging_units;
    own.scatters_by_kernel = table->can_scatter;
    own.host_is_reached = table->host_is_reached;
    lock_take(&table->lock);
    map_table_settle(table, SIZE_MAX);
    own.slots = table->slots;
    own.leased = table->leased;
    own.waiting = table->waiting;
    own.in_graphs = table->in_graphs;
    own.staging_used = table->staging_used;
    own.publishes = table->publishes;
    own.published_slots = table->published_slots;
    own.rewrites = table->rewrites;
    own.copies = table->copies;
    own.scatters = table->scatters;
    own.staging_full = table->staging_full;
    own.grows = table->grows;
    own.unfenced = count_lost(table);
    lock_give(&table->lock);
    return result_write(info, &own, sizeof(own),
                        "struct ashlar_tensormap_table_info");
}

/* --- destroy --------------------------------------------------------------- */

static uint32_t count_fences(const struct ashlar_tensormap_table *table)
{
    const struct publication *publication;
    const struct batch *batch;
    uint32_t count = 0;

    for (publication = table->pending; publication != NULL;
         publication = publication->next)
        count += publication->fences->fence_count;
    for (batch = table->batches; batch != NULL; batch = batch->next)
        count += batch->fences->fence_count;
    return count;
}

/* The fences of one record become those of the table's end. */
static void move_fences(struct retire_item *from, struct retire_item *to)
{
    if (to != NULL) {
        while (from->fence_count != 0)
            to->fences[to->fence_count++] = from->fences[--from->fence_count];
    }
    retire_item_drop(from);
}

/* Slots that name a publication do so no more. */
static void forget_slots(struct ashlar_tensormap_table *table)
{
    size_t i;

    for (i = 0; i < table->fresh_from; i++)
        map_table_set_publication(table, (uint32_t)i, NULL);
}

static void forget_all(struct ashlar_tensormap_table *table,
                       struct retire_item *item)
{
    struct publication *publication;
    struct batch *batch;

    forget_slots(table);
    while ((publication = table->pending) != NULL) {
        table->pending = publication->next;
        move_fences(publication->fences, item);
        memory_free(publication);
    }
    while ((batch = table->batches) != NULL) {
        table->batches = batch->next;
        move_fences(batch->fences, item);
        memory_free(batch);
    }
}

/* How many fences say that all is quiet. */
static size_t count_quiet(const struct ashlar_fence *fences, size_t n)
{
    size_t i, count = 0;

    for (i = 0; i < n; i++)
        count += fences[i].kind == ASHLAR_FENCE_QUIET;
    return count;
}

/*
 * Nobody can ask any more whether what was queued without a fence is done: its
 * stream may be gone. So it takes the caller's word.
 */
static enum ashlar_status check_lost(const struct ashlar_tensormap_table *table,
                                     const struct ashlar_fence *fences,
                                     size_t n)
{
    const struct publication *publication = table->pending;

    while (publication != NULL && !publication->lost)
        publication = publication->next;
    if (publication == NULL || count_quiet(fences, n) != 0)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_BUSY,
                     "no fence could be made behind what was published on "
                     "stream 0x%llx; when it is done, destroy the table with "
                     "ASHLAR_QUIET, which may stand beside other fences",
                     (unsigned long long)publication->stream);
}

/* Nothing is to be waited for, and nothing needs memory. */
static enum ashlar_status destroy_now(struct ashlar_tensormap_table *table)
{
    forget_all(table, NULL);
    map_table_drop_side(&table->device);
    end_table(&table->ended);
    return ASHLAR_OK;
}

static enum ashlar_status destroy_later(struct ashlar_tensormap_table *table,
                                        const struct ashlar_fence *fences,
                                        size_t n)
{
    struct ashlar_range *range = table->device.range;
    struct retire_item *item =
        range_make_item(range, 1, (uint32_t)n + count_fences(table));
    enum ashlar_status status;

    if (item == NULL)
        return ashlar_last_error();
    status = fences_record(table->source, fences, n, item);
    if (status != ASHLAR_OK) {
        retire_item_drop(item);
        return status;
    }
    forget_all(table, item);
    retire_item_add(item, RETIRE_CALL, (uint64_t)(uintptr_t)&table->ended, 0);
    range_abandon(range, item);
    return ASHLAR_OK;
}

enum ashlar_status
ashlar_tensormap_table_destroy(struct ashlar_tensormap_table *table,
                               const struct ashlar_fence *fences, size_t n)
{
    static const char call[] = "ashlar_tensormap_table_destroy()";
    enum ashlar_status status = map_table_check(table, call);

    if (status == ASHLAR_OK && (fences != NULL || n != 0))
        status = fences_check(fences, n, call);
    if (status != ASHLAR_OK)
        return status;
    if (fences == NULL && table->leased != 0)
        return error_set(ASHLAR_ERR_BUSY,
                         "%zu slots of the table are leased; retire them, or "
                         "name the fences of the work that uses them",
                         table->leased);
    lock_take(&table->lock);
    map_table_settle(table, SIZE_MAX);
    lock_give(&table->lock);
    status = check_lost(table, fences, n);
    if (status != ASHLAR_OK)
        return status;
    if (count_quiet(fences, n) == n && count_fences(table) == 0)
        return destroy_now(table);
    return destroy_later(table, fences, n);
}
