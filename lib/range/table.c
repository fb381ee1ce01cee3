/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* From an address to the range it lies in: a sorted table of the process. */
#include "config.h"

#include "base/error.h"
#include "base/thread.h"
#include "range/range.h"

struct entry {
    uint64_t base;
    uint64_t bytes;
    struct ashlar_range *range;
};

static struct lock table_lock = LOCK_INIT;
static struct vector table; /* struct entry, by base */

/* With the lock held: the first entry whose base is above an address. */
static uint32_t entry_above(uint64_t address)
{
    const struct entry *entries = table.items;
    uint32_t low = 0;
    uint32_t high = table.count;
    uint32_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (entries[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int table_enter(struct ashlar_range *range, uint64_t base, uint64_t bytes)
{
    struct entry entry = {base, bytes, range};
    int result;

    lock_take(&table_lock);
    result = vector_make_room(&table, 1, sizeof(entry));
    if (result == 0)
        vector_insert(&table, entry_above(base), &entry, sizeof(entry));
    lock_give(&table_lock);
    return result;
}

void table_extend(uint64_t base, uint64_t bytes)
{
    lock_take(&table_lock);
    ((struct entry *)table.items)[entry_above(base) - 1].bytes = bytes;
    lock_give(&table_lock);
}

void table_leave(uint64_t base)
{
    lock_take(&table_lock);
    vector_remove(&table, entry_above(base) - 1, 1, sizeof(struct entry));
    lock_give(&table_lock);
}

struct ashlar_range *ashlar_range_find(uint64_t address)
{
    struct ashlar_range *range = NULL;
    const struct entry *entry;
    uint32_t above;

    lock_take(&table_lock);
    above = entry_above(address);
    if (above != 0) {
        entry = (const struct entry *)table.items + above - 1;
        if (address - entry->base < entry->bytes)
            range = entry->range;
    }
    lock_give(&table_lock);
    if (range == NULL)
        return error_null(ASHLAR_ERR_NOT_FOUND, "0x%lx lies in no range",
                          (unsigned long)address);
    return range;
}

static void table_before_fork(void)
{
    lock_take(&table_lock);
}

static void table_after_fork(void)
{
    lock_give(&table_lock);
}

int table_start(void)
{
    return thread_set_fork_part(THREAD_FORK_RANGE, table_before_fork,
                                table_after_fork, table_after_fork);
}
