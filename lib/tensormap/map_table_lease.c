/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Leasing: which slots are free, and having more. */
#include "config.h"

#include "tensormap/map_table.h"

#include "base/error.h"

/* --- what is free ---------------------------------------------------------- */

/* One slot, free until now. */
static struct ashlar_tensormap_handle
take_slot(struct ashlar_tensormap_table *table, uint32_t index)
{
    uint32_t generation = table->words[index] >> WORD_GENERATION_SHIFT;

    set_state(table, index, ASHLAR_TENSORMAP_EMPTY);
    return (struct ashlar_tensormap_handle){index, generation};
}

/* A run, all free until now. */
static void take_run(struct ashlar_tensormap_table *table, size_t first,
                     size_t n, struct ashlar_tensormap_handle *handles_out)
{
    size_t i;

    bits_clear(table->free, first, n);
    for (i = 0; i < n; i++)
        handles_out[i] = take_slot(table, (uint32_t)(first + i));
}

/* The lowest ones, run by run; there are as many. */
static void take_lowest(struct ashlar_tensormap_table *table, size_t n,
                        struct ashlar_tensormap_handle *handles_out)
{
    size_t first = 0, length;

    while (n != 0) {
        first = bits_next(table->free, first, table->slots);
        length = bits_length(table->free, first, table->slots, n);
        take_run(table, first, length, handles_out);
        first += length;
        handles_out += length;
        n -= length;
    }
}

/* Past the last slot that is leased, for the first time or again. */
static void note_taken(struct ashlar_tensormap_table *table, size_t n,
                       const struct ashlar_tensormap_handle *last)
{
    table->free_count -= n;
    table->leased += n;
    if (last->index >= table->fresh_from)
        table->fresh_from = (size_t)last->index + 1;
}

/*
 * Take n slots of those that there are: fresh ones, which are side by side and
 * ask no fence; a run of others; or any, unless only a run will do.
 */
static bool take(struct ashlar_tensormap_table *table, size_t n, bool run,
                 struct ashlar_tensormap_handle *handles_out)
{
    size_t first = table->fresh_from;

    if (table->slots - first < n) {
        map_table_settle(table, SIZE_MAX);
        if (table->free_count < n)
            return false;
        first = bits_find(table->free, table->slots, n);
        if (first == BITS_NONE && run)
            return false;
    }
    if (first != BITS_NONE)
        take_run(table, first, n, handles_out);
    else
        take_lowest(table, n, handles_out);
    note_taken(table, n, &handles_out[n - 1]);
    return true;
}

/* --- having more ----------------------------------------------------------- */

static enum ashlar_status
refuse_full(const struct ashlar_tensormap_table *table, size_t n, bool run)
{
    if (run && n <= table->free_count + (table->max_slots - table->slots))
        return error_set(ASHLAR_ERR_FRAGMENTED,
                         "%zu of %zu slots are free, but no %zu of them side "
                         "by side",
                         table->free_count + table->max_slots - table->slots,
                         table->max_slots, n);
    return error_set(ASHLAR_ERR_LIMIT,
                     "%zu slots were asked for; of %zu that the table may have "
                     "%zu are leased, and %zu retired and not to be had yet",
                     n, table->max_slots, table->leased, table->waiting);
}

/* Where the free slots begin that end with the last one. */
static size_t free_end(const struct ashlar_tensormap_table *table)
{
    size_t first = table->slots;

    while (first != 0 && bits_has(table->free, first - 1))
        first--;
    return first;
}

/* How many slots there have to be for n to be had; 0: too many. */
static size_t slots_for(const struct ashlar_tensormap_table *table, size_t n,
                        bool run)
{
    size_t first = table->fresh_from;

    if (n > table->max_slots)
        return 0;
    if (n > table->max_slots - first && run)
        first = free_end(table);
    if (n <= table->max_slots - first)
        return first + n;
    if (run || n - table->free_count > table->max_slots - table->slots)
        return 0;
    return table->slots + (n - table->free_count);
}

enum ashlar_status
ashlar_tensormap_table_reserve(struct ashlar_tensormap_table *table, size_t n)
{
    enum ashlar_status status =
        map_table_check(table, "ashlar_tensormap_table_reserve()");
    size_t slots = 0;

    if (status != ASHLAR_OK)
        return status;
    lock_take(&table->lock);
    if (n > table->free_count)
        map_table_settle(table, SIZE_MAX);
    if (n > table->free_count) {
        slots = n - table->free_count;
        if (slots > table->max_slots - table->slots)
            status = refuse_full(table, n, false);
        slots += table->slots;
    }
    lock_give(&table->lock);
    if (status != ASHLAR_OK || slots == 0)
        return status;
    return map_table_grow_sides(table, slots);
}

static enum ashlar_status lease(struct ashlar_tensormap_table *table, size_t n,
                                bool run,
                                struct ashlar_tensormap_handle *handles_out)
{
    enum ashlar_status status = ASHLAR_OK;
    size_t slots = 0;
    bool taken = false;

    /* Another thread may take what was grown for this one. */
    while (!taken && status == ASHLAR_OK) {
        lock_take(&table->lock);
        taken = take(table, n, run, handles_out);
        if (!taken) {
            slots = slots_for(table, n, run);
            if (slots == 0)
                status = refuse_full(table, n, run);
        }
        lock_give(&table->lock);
        if (!taken && status == ASHLAR_OK)
            status = map_table_grow_sides(table, slots);
    }
    return status;
}

static enum ashlar_status check(struct ashlar_tensormap_table *table, size_t n,
                                const struct ashlar_tensormap_handle *handles,
                                const char *call)
{
    enum ashlar_status status = map_table_check(table, call);

    if (status == ASHLAR_OK && n != 0 && handles == NULL)
        status = map_table_refuse_null(call, "handles_out");
    return status;
}

enum ashlar_status
ashlar_tensormap_table_lease(struct ashlar_tensormap_table *table, size_t n,
                             struct ashlar_tensormap_handle *handles_out)
{
    enum ashlar_status status =
        check(table, n, handles_out, "ashlar_tensormap_table_lease()");

    return status != ASHLAR_OK || n == 0 ? status
                                         : lease(table, n, false, handles_out);
}

enum ashlar_status
ashlar_tensormap_table_lease_run(struct ashlar_tensormap_table *table, size_t n,
                                 struct ashlar_tensormap_handle *handles_out)
{
    enum ashlar_status status =
        check(table, n, handles_out, "ashlar_tensormap_table_lease_run()");

    return status != ASHLAR_OK || n == 0 ? status
                                         : lease(table, n, true, handles_out);
}
