/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The two sides of a table: staging, and slots behind it. */
#include "config.h"

#include "tensormap/map_table.h"

#include "base/align.h"
#include "base/error.h"
#include "base/write_back.h"

static uint64_t bytes_of(const struct side *side, size_t slots)
{
    return side->staging_bytes + slots * ASHLAR_TENSOR_MAP_BYTES;
}

uint64_t map_table_side_bytes(const struct side *side)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    if (side->range == NULL)
        return side->block_bytes;
    (void)ashlar_range_query(side->range, &info);
    return info.committed_bytes;
}

/* --- make ------------------------------------------------------------------ */

/* A range for all slots that there may be, grown to hold its staging. */
static enum ashlar_status make_range(struct ashlar_source *source,
                                     size_t max_slots, struct side *side)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    enum ashlar_status status;

    options.reserve_bytes = bytes_of(side, max_slots);
    status = ashlar_range_create(source, &options, &side->range);
    if (status != ASHLAR_OK)
        return status;
    if (side->staging_bytes != 0)
        status = ashlar_range_grow_to(side->range, side->staging_bytes, NULL);
    if (status != ASHLAR_OK) {
        map_table_drop_side(side);
        return status;
    }
    (void)ashlar_range_query(side->range, &info);
    __atomic_fetch_add(&side->range->holders, 1, __ATOMIC_RELAXED);
    side->base = info.base + side->staging_bytes;
    return ASHLAR_OK;
}

/* A block for all slots; pages that are not used take no memory. */
static enum ashlar_status make_block(size_t max_slots, struct side *side)
{
    const struct ashlar_plugin *heap = &source_heap()->ops;
    uint64_t bytes = bytes_of(side, max_slots);

    side->block =
        heap->block_alloc(source_heap()->state, bytes, ASHLAR_TENSOR_MAP_BYTES);
    if (side->block == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for a table of %zu slots, %llu bytes",
                         max_slots, (unsigned long long)bytes);
    side->block_bytes = bytes;
    side->base = (uint64_t)(uintptr_t)side->block + side->staging_bytes;
    return ASHLAR_OK;
}

void map_table_drop_side(struct side *side)
{
    const struct ashlar_plugin *heap = &source_heap()->ops;

    if (side->range != NULL)
        range_abandon(side->range, side->range->end);
    else if (side->block != NULL)
        heap->block_free(source_heap()->state, side->block, side->block_bytes,
                         ASHLAR_TENSOR_MAP_BYTES);
    side->range = NULL;
    side->block = NULL;
}

void map_table_drop_sides(struct ashlar_tensormap_table *table)
{
    map_table_drop_side(&table->device);
    map_table_drop_side(&table->host);
}

static struct ashlar_source *
host_source(struct ashlar_source *source,
            const struct ashlar_tensormap_table_options *options)
{
    if (options->host != NULL)
        return options->host;
    return source_can(source, ASHLAR_CAN_HOST_ACCESS) ? source : NULL;
}

enum ashlar_status
map_table_make_sides(struct ashlar_tensormap_table *table,
                     const struct ashlar_tensormap_table_options *options)
{
    struct ashlar_source *host = host_source(table->source, options);
    uint64_t staging = table->staging_units * ASHLAR_TENSOR_MAP_BYTES;
    enum ashlar_status status;

    table->host_is_reached = host != NULL;
    table->write_back = host != NULL && write_back_is_there() &&
                        !source_can(table->source, ASHLAR_CAN_HOST_ACCESS);
    table->host.staging_bytes = staging;
    if (!table->host_is_reached && table->can_scatter)
        table->device.staging_bytes = staging;
    status = host == NULL ? make_block(table->max_slots, &table->host)
                          : make_range(host, table->max_slots, &table->host);
    if (status != ASHLAR_OK)
        return status;
    status = make_range(table->source, table->max_slots, &table->device);
    if (status != ASHLAR_OK)
        map_table_drop_side(&table->host);
    return status;
}

/* --- grow ------------------------------------------------------------------ */

/* As many slots as the device's last granule has room for. */
static size_t round_up(const struct ashlar_tensormap_table *table, size_t slots)
{
    uint64_t bytes =
        align_up(bytes_of(&table->device, slots), table->source->info.granule);

    return min_size((bytes - table->device.staging_bytes) /
                        ASHLAR_TENSOR_MAP_BYTES,
                    table->max_slots);
}

/*
 * The host's first, which is shrunk again when the device's fails. If that fails
 * too, for want of memory for its record, the next growth finds it there.
 */
static enum ashlar_status grow(struct ashlar_tensormap_table *table,
                               size_t slots)
{
    struct ashlar_range *host = table->host.range;
    enum ashlar_status status = ASHLAR_OK;
    struct error why;

    if (host != NULL)
        status =
            ashlar_range_grow_to(host, bytes_of(&table->host, slots), NULL);
    if (status != ASHLAR_OK)
        return status;
    status = ashlar_range_grow_to(table->device.range,
                                  bytes_of(&table->device, slots), NULL);
    if (status != ASHLAR_OK && host != NULL) {
        error_copy(&why);
        (void)range_shrink(host, bytes_of(&table->host, table->slots), NULL);
        error_restore(&why);
    }
    return status;
}

/* New slots: their first lease is number 1, as a zeroed handle is of none. */
static void start_words(struct ashlar_tensormap_table *table, size_t slots)
{
    size_t i;

    for (i = table->slots; i < slots; i++)
        table->words[i] = UINT32_C(1) << WORD_GENERATION_SHIFT;
}

enum ashlar_status map_table_grow_sides(struct ashlar_tensormap_table *table,
                                        size_t slots)
{
    enum ashlar_status status = ASHLAR_OK;

    lock_take(&table->grow_lock);
    slots = round_up(table, slots);
    /* Only who has grow_lock writes it. */
    if (slots > table->slots) {
        status = grow(table, slots);
        if (status == ASHLAR_OK) {
            lock_take(&table->lock);
            start_words(table, slots);
            bits_set(table->free, table->slots, slots - table->slots);
            table->free_count += slots - table->slots;
            table->slots = slots;
            table->grows++;
            lock_give(&table->lock);
        }
    }
    lock_give(&table->grow_lock);
    return status;
}
