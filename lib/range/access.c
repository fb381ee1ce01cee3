/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Rights: a list of the range's, on every chunk, whenever it was mapped. */
#include "config.h"

#include "base/error.h"
#include "range/transaction.h"

static enum ashlar_status check_rights(const struct ashlar_range *range,
                                       uint32_t location, uint32_t rights)
{
    uint32_t count = range->source->info.location_count;

    if (location >= count)
        return error_set(ASHLAR_ERR_INVALID,
                         "location is %u; the source \"%s\" has %u, from 0 on",
                         location, range->source->name, count);
    if (rights_are_known(rights))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID,
                     "rights are %u; give 0 (none), 1 (read) or 3 (read and "
                     "write)",
                     rights);
}

/* The entry of a location; NULL when the list has none. */
static struct ashlar_access *find_location(const struct ashlar_range *range,
                                           uint32_t location)
{
    struct ashlar_access *access = range->access.items;
    uint32_t i;

    for (i = 0; i < range->access.count; i++)
        if (access[i].location == location)
            return &access[i];
    return NULL;
}

static void set_rights(struct ashlar_range *range,
                       const struct ashlar_access *access)
{
    struct ashlar_access *entry = find_location(range, access->location);

    if (entry != NULL)
        entry->rights = access->rights;
    else
        vector_append(&range->access, access, sizeof(*access));
}

enum ashlar_status access_start(struct ashlar_range *range,
                                const struct ashlar_range_options *options)
{
    const struct ashlar_plugin_info *info = &range->source->info;
    struct ashlar_access home = {info->home_location, ASHLAR_RIGHTS_READ_WRITE};
    enum ashlar_status status = ASHLAR_OK;
    size_t i;

    if (options->access == NULL && options->access_count != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "access is NULL, but access_count is %zu",
                         options->access_count);
    if (options->access_count > info->location_count)
        return error_set(ASHLAR_ERR_INVALID,
                         "access_count is %zu; the source \"%s\" has %u "
                         "locations",
                         options->access_count, range->source->name,
                         info->location_count);
    for (i = 0; i < options->access_count && status == ASHLAR_OK; i++)
        status = check_rights(range, options->access[i].location,
                              options->access[i].rights);
    if (status != ASHLAR_OK)
        return status;
    if (vector_make_room(&range->access,
                         (uint32_t)options->access_count + info->access_count +
                             1,
                         sizeof(home)) != 0)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the list of rights");
    set_rights(range, &home);
    for (i = 0; i < info->access_count; i++)
        set_rights(range, &info->access[i]);
    for (i = 0; i < options->access_count; i++)
        set_rights(range, &options->access[i]);
    return ASHLAR_OK;
}

/* A place where chunks are mapped: the range's own, or one left behind. */
struct place {
    uint64_t base;
    const struct vector *chunks;
};

static struct place place_at(const struct ashlar_range *range, uint32_t i)
{
    const struct range_old *olds = range->olds.items;

    if (i < range->olds.count)
        return (struct place){olds[i].base, &olds[i].chunks};
    return (struct place){range->base, &range->chunks};
}

/* The stretch of neighbouring chunks from chunk i on; returns its end. */
static uint32_t stretch_from(const struct place *place, uint32_t i,
                             uint64_t *bytes_out)
{
    const struct range_chunk *chunks = place->chunks->items;
    uint64_t end = chunks[i].offset;

    *bytes_out = 0;
    for (; i < place->chunks->count && chunks[i].offset == end; i++) {
        end += chunks[i].bytes;
        *bytes_out += chunks[i].bytes;
    }
    return i;
}

/* How many stretches there are in all places: calls that set rights. */
static uint32_t count_stretches(const struct ashlar_range *range)
{
    uint32_t count = 0;
    struct place place;
    uint64_t bytes;
    uint32_t p;
    uint32_t i;

    for (p = 0; p <= range->olds.count; p++) {
        place = place_at(range, p);
        for (i = 0; i < place.chunks->count; count++)
            i = stretch_from(&place, i, &bytes);
    }
    return count;
}

static enum ashlar_status set_place(struct transaction *transaction,
                                    const struct place *place,
                                    const struct ashlar_access *access,
                                    const struct ashlar_access *before)
{
    const struct range_chunk *chunks = place->chunks->items;
    enum ashlar_status status = ASHLAR_OK;
    uint64_t begin;
    uint64_t bytes;
    uint32_t i = 0;

    while (i < place->chunks->count && status == ASHLAR_OK) {
        begin = place->base + chunks[i].offset;
        i = stretch_from(place, i, &bytes);
        status =
            transaction_set_rights(transaction, begin, bytes, access, before);
    }
    return status;
}

/* Whether no rights are to be put back any more. */
static bool is_undone(struct ashlar_range *range)
{
    struct retire_item *undo = range->rights_undo;

    if (undo == NULL)
        return true;
    if (!__atomic_load_n(&undo->unmapped, __ATOMIC_ACQUIRE))
        return false;
    retire_item_drop(undo);
    range->rights_undo = NULL;
    return true;
}

/*
 * Refuse while rights are to be put back that an earlier call set and could
 * not take away again: what is set now would be lost then.
 */
static enum ashlar_status check_undone(struct ashlar_range *range)
{
    unsigned round;

    /* Twice, as in range_check_unmapped(): others may have them in hand. */
    for (round = 0; round < 2 && !is_undone(range); round++) {
        range_collect(range);
        retire_settle(range->source, range->owner);
    }
    if (is_undone(range))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_BUSY,
                     "rights on the range at 0x%lx could not be put back after "
                     "a call that failed; see ashlar_source_drain()",
                     (unsigned long)range->base);
}

/* All chunks in all places get the rights, or none does. The lock is held. */
static enum ashlar_status set_everywhere(struct ashlar_range *range,
                                         const struct ashlar_access *access,
                                         const struct ashlar_access *before)
{
    struct transaction transaction;
    enum ashlar_status status;
    struct place place;
    uint32_t p;

    status = transaction_begin(&transaction, range, count_stretches(range));
    if (status != ASHLAR_OK)
        return status;
    for (p = 0; p <= range->olds.count && status == ASHLAR_OK; p++) {
        place = place_at(range, p);
        status = set_place(&transaction, &place, access, before);
    }
    if (status == ASHLAR_OK) {
        transaction_commit(&transaction);
        return ASHLAR_OK;
    }
    range->rights_undo = transaction.undo;
    __atomic_fetch_add(&transaction.undo->references, 1, __ATOMIC_RELAXED);
    transaction_abort(&transaction);
    (void)is_undone(range);
    return status;
}

/* The lock is held. */
static enum ashlar_status allow(struct ashlar_range *range,
                                const struct ashlar_access *access)
{
    struct ashlar_access *entry = find_location(range, access->location);
    struct ashlar_access before = {access->location, ASHLAR_RIGHTS_NONE};
    enum ashlar_status status;

    if (entry != NULL)
        before = *entry;
    if (before.rights == access->rights)
        return ASHLAR_OK;
    status = check_undone(range);
    if (status != ASHLAR_OK)
        return status;
    if (vector_make_room(&range->access, 1, sizeof(*access)) != 0)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the list of rights");
    status = set_everywhere(range, access, &before);
    if (status == ASHLAR_OK)
        set_rights(range, access);
    return status;
}

enum ashlar_status ashlar_range_allow(struct ashlar_range *range,
                                      uint32_t location,
                                      enum ashlar_rights rights)
{
    struct ashlar_access access = {location, (uint32_t)rights};
    enum ashlar_status status = range_check(range, "ashlar_range_allow()");

    if (status == ASHLAR_OK)
        status = check_rights(range, location, (uint32_t)rights);
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    status = allow(range, &access);
    lock_give(&range->lock);
    return status;
}
