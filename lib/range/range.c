/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The life of ranges, and questions about them. */
#include "config.h"

#include "base/align.h"
#include "base/error.h"
#include "base/options.h"
#include "range/transaction.h"

/* What is reserved on a source that does not say how much memory it has. */
#define RESERVE_UNKNOWN (UINT64_C(1) << 40)

#define KNOWN_FLAGS (ASHLAR_RANGE_MAY_MOVE | ASHLAR_RANGE_EXPORT)

enum ashlar_status range_check(struct ashlar_range *range, const char *call)
{
    if (range == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for range",
                         call);
    return source_check(range->source, call);
}

enum ashlar_status range_check_own(struct ashlar_range *range, const char *call)
{
    enum ashlar_status status = range_check(range, call);

    if (status != ASHLAR_OK || !range->imported)
        return status;
    return error_set(ASHLAR_ERR_UNSUPPORTED,
                     "%s: the range at 0x%lx was imported; its exporter says "
                     "how large it is",
                     call, (unsigned long)range->base);
}

enum ashlar_status range_check_part(const struct ashlar_range *range,
                                    uint64_t offset, uint64_t bytes)
{
    if (bytes != 0 && offset <= range->used && bytes <= range->used - offset)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID,
                     "the part of %lu bytes at offset %lu is not within the "
                     "%lu bytes that are used, or is empty",
                     (unsigned long)bytes, (unsigned long)offset,
                     (unsigned long)range->used);
}

enum ashlar_status range_result_check(const struct ashlar_range_result *result)
{
    if (result == NULL || result->size >= sizeof(result->size))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID,
                     "the size of struct ashlar_range_result is %zu; set it "
                     "with ASHLAR_RANGE_RESULT_INIT",
                     result->size);
}

void range_result(const struct ashlar_range *range,
                  struct ashlar_range_result *facts,
                  struct ashlar_range_result *result)
{
    if (result == NULL)
        return;
    facts->base = range->base;
    facts->used_bytes = range->used;
    facts->committed_bytes = range->committed;
    (void)result_write(result, facts, sizeof(*facts),
                       "struct ashlar_range_result");
}

uint32_t range_chunk_at(const struct ashlar_range *range, uint64_t offset)
{
    const struct range_chunk *chunks = range->chunks.items;
    uint32_t low = 0;
    uint32_t high = range->chunks.count;
    uint32_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (chunks[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool range_chunk_from(struct ashlar_range *range, uint64_t offset,
                      struct ashlar_range_chunk *chunk_out)
{
    const struct range_chunk *chunk;
    uint32_t i;
    bool found;

    lock_take(&range->lock);
    i = range_chunk_at(range, offset);
    found = i < range->chunks.count;
    if (found) {
        chunk = (const struct range_chunk *)range->chunks.items + i;
        *chunk_out = (struct ashlar_range_chunk){chunk->offset, chunk->bytes};
    }
    lock_give(&range->lock);
    return found;
}

bool range_haunted(struct ashlar_range *range, uint64_t offset, uint64_t bytes)
{
    struct range_ghost *ghosts = range->ghosts.items;
    bool haunted = false;
    uint32_t kept = 0;
    uint32_t i;

    for (i = 0; i < range->ghosts.count; i++) {
        if (__atomic_load_n(&ghosts[i].item->unmapped, __ATOMIC_ACQUIRE)) {
            retire_item_drop(ghosts[i].item);
            continue;
        }
        haunted = haunted || (ghosts[i].offset < offset + bytes &&
                              offset < ghosts[i].offset + ghosts[i].bytes);
        ghosts[kept++] = ghosts[i];
    }
    range->ghosts.count = kept;
    return haunted;
}

/*
 * Collect, also through other threads' hands: one may have asked an item's fences
 * before this call began. Whoever takes it in hand after that finds them passed,
 * so the second round ends it.
 */
static bool lay_ghosts(struct ashlar_range *range, uint64_t from,
                       uint64_t bytes)
{
    unsigned round;

    for (round = 0; round < 2; round++) {
        range_collect(range);
        if (!range_haunted(range, from, bytes))
            return true;
        retire_settle(range->source, range->owner);
    }
    return !range_haunted(range, from, bytes);
}

enum ashlar_status range_check_unmapped(struct ashlar_range *range,
                                        uint64_t from, uint64_t bytes)
{
    if (lay_ghosts(range, from, bytes))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_BUSY,
                     "the addresses from 0x%lx on are still mapped: %lu "
                     "retired bytes wait for their fences; see "
                     "ashlar_source_drain()",
                     (unsigned long)(range->base + from),
                     (unsigned long)retire_bytes(range->source));
}

/* --- create --------------------------------------------------------------- */

static enum ashlar_status
check_sizes(const struct ashlar_source *source,
            const struct ashlar_range_options *options)
{
    uint64_t granule = source->info.granule;

    if (options->alignment != 0 && !is_power_of_two(options->alignment))
        return error_set(ASHLAR_ERR_INVALID,
                         "alignment is %lu; it must be a power of two, or 0 "
                         "for the granule of %lu",
                         (unsigned long)options->alignment,
                         (unsigned long)granule);
    if (options->chunk_max_bytes % granule != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "chunk_max_bytes is %lu; it must be a multiple of the "
                         "granule, %lu, or 0 for no bound",
                         (unsigned long)options->chunk_max_bytes,
                         (unsigned long)granule);
    if (options->reserve_bytes > UINT64_MAX - granule)
        return error_set(ASHLAR_ERR_INVALID,
                         "reserve_bytes is %lu, which is more than any machine "
                         "can address",
                         (unsigned long)options->reserve_bytes);
    return ASHLAR_OK;
}

static enum ashlar_status
check_options(const struct ashlar_source *source,
              const struct ashlar_range_options *options)
{
    if ((options->flags & ~KNOWN_FLAGS) != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "flags is 0x%x; known are 0x1 (may move) and 0x2 "
                         "(export)",
                         options->flags);
    if (options->reserved != 0)
        return error_set(ASHLAR_ERR_INVALID, "reserved is %u; it must be 0",
                         options->reserved);
    if (!source_can(source, ASHLAR_CAN_RANGES))
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "the source \"%s\" has no ranges; \"vm\" has",
                         source->name);
    if ((options->flags & ASHLAR_RANGE_EXPORT) != 0 &&
        !source_can(source, ASHLAR_CAN_EXPORT))
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "the source \"%s\" cannot export ranges",
                         source->name);
    return check_sizes(source, options);
}

static void fill_record(struct ashlar_range *range,
                        struct ashlar_source *source,
                        const struct ashlar_range_options *options)
{
    static uint64_t last_group;

    lock_init(&range->lock);
    range->source = source;
    range->owner = retire_owner();
    range->granule = source->info.granule;
    range->alignment = max_size(options->alignment, range->granule);
    range->chunk_max = options->chunk_max_bytes;
    range->keep_bytes = options->keep_bytes;
    range->may_move = (options->flags & ASHLAR_RANGE_MAY_MOVE) != 0;
    if ((options->flags & ASHLAR_RANGE_EXPORT) != 0)
        range->export_group =
            __atomic_add_fetch(&last_group, 1, __ATOMIC_RELAXED);
}

/* What is asked for; or the source's memory, halved until it is granted. */
static enum ashlar_status reserve(struct ashlar_range *range,
                                  struct transaction *transaction,
                                  uint64_t reserve_bytes)
{
    uint64_t memory_bytes = range->source->info.memory_bytes;
    uint64_t bytes = reserve_bytes;
    struct range_space space;
    enum ashlar_status status;
    struct error before;

    if (bytes == 0)
        bytes = memory_bytes != 0 ? memory_bytes : RESERVE_UNKNOWN;
    bytes = max_size(align_up(bytes, range->granule), range->granule);
    error_copy(&before);
    for (;;) {
        space.bytes = bytes;
        status = transaction_reserve(transaction, bytes, 0, &space.address);
        if (status == ASHLAR_OK || reserve_bytes != 0 ||
            status != ASHLAR_ERR_NO_ADDRESS_SPACE || bytes == range->granule)
            break;
        bytes = align_up(bytes / 2, range->granule);
    }
    if (status != ASHLAR_OK)
        return status;
    error_restore(&before);
    range->base = space.address;
    range->reserved = space.bytes;
    vector_append(&range->spaces, &space, sizeof(space));
    return ASHLAR_OK;
}

static enum ashlar_status start(struct ashlar_range *range,
                                const struct ashlar_range_options *options)
{
    enum ashlar_status status = access_start(range, options);
    struct transaction transaction;

    if (status != ASHLAR_OK)
        return status;
    if (vector_make_room(&range->spaces, 1, sizeof(struct range_space)) != 0)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the record of a reservation");
    status = transaction_begin(&transaction, range, 1);
    if (status != ASHLAR_OK)
        return status;
    range_collect(range);
    status = reserve(range, &transaction, options->reserve_bytes);
    if (status == ASHLAR_OK &&
        table_enter(range, range->base, range->reserved) != 0)
        status = error_set(ASHLAR_ERR_NO_MEMORY,
                           "no host memory for the table of ranges");
    if (status == ASHLAR_OK)
        transaction_commit(&transaction);
    else
        transaction_abort(&transaction);
    return status;
}

enum ashlar_status
ashlar_range_create(struct ashlar_source *source,
                    const struct ashlar_range_options *options,
                    struct ashlar_range **range_out)
{
    static const struct ashlar_range_options defaults =
        ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_options own = defaults;
    enum ashlar_status status = source_check(source, "ashlar_range_create()");
    struct ashlar_range *range;

    if (status == ASHLAR_OK && range_out == NULL)
        status = error_set(ASHLAR_ERR_INVALID,
                           "ashlar_range_create() was given NULL for "
                           "range_out");
    if (status == ASHLAR_OK && options != NULL)
        status = options_read(&own, sizeof(own), options,
                              "struct ashlar_range_options");
    if (status == ASHLAR_OK)
        status = check_options(source, &own);
    if (status != ASHLAR_OK)
        return status;
    range = table_start() == 0 ? memory_zalloc(sizeof(*range)) : NULL;
    if (range == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for a range's record of %zu bytes",
                         sizeof(*range));
    fill_record(range, source, &own);
    status = start(range, &own);
    if (status != ASHLAR_OK) {
        vector_free(&range->access);
        vector_free(&range->spaces);
        vector_free(&range->ghosts);
        if (range->end != NULL)
            retire_item_drop(range->end);
        memory_free(range);
        return status;
    }
    (void)source_hold(source);
    *range_out = range;
    return ASHLAR_OK;
}

/* --- questions ------------------------------------------------------------ */

enum ashlar_status ashlar_range_query(struct ashlar_range *range,
                                      struct ashlar_range_info *info)
{
    struct ashlar_range_info own = ASHLAR_RANGE_INFO_INIT;
    enum ashlar_status status = range_check(range, "ashlar_range_query()");
    const struct range_old *olds;
    uint32_t i;

    if (status != ASHLAR_OK)
        return status;
    if (info == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_range_query() was given NULL for info");
    lock_take(&range->lock);
    own.source = range->source;
    own.base = range->base;
    own.used_bytes = range->used;
    own.committed_bytes = range->committed;
    own.prepared_bytes = range->prepared_bytes;
    own.reserved_bytes = range->reserved;
    own.granule = range->granule;
    own.chunk_count = range->chunks.count;
    own.epoch = range->epoch;
    olds = range->olds.items;
    for (i = 0; i < range->olds.count; i++)
        own.old_bytes += olds[i].mapped_bytes;
    for (i = 0; i < 4; i++)
        own.grows[i] = range->grows[i];
    lock_give(&range->lock);
    return result_write(info, &own, sizeof(own), "struct ashlar_range_info");
}

enum ashlar_status ashlar_range_chunks(struct ashlar_range *range,
                                       struct ashlar_range_chunk *chunks,
                                       size_t room, size_t *count_out)
{
    enum ashlar_status status = range_check(range, "ashlar_range_chunks()");
    const struct range_chunk *own;
    uint32_t i;

    if (status != ASHLAR_OK)
        return status;
    if ((chunks == NULL && room != 0) || count_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_range_chunks() was given NULL for %s",
                         count_out == NULL ? "count_out" : "chunks");
    lock_take(&range->lock);
    own = range->chunks.items;
    for (i = 0; i < range->chunks.count && i < room; i++)
        chunks[i] = (struct ashlar_range_chunk){own[i].offset, own[i].bytes};
    *count_out = range->chunks.count;
    lock_give(&range->lock);
    return ASHLAR_OK;
}

/* The chunk that an offset lies in; NULL for none. */
static const struct range_chunk *chunk_over(const struct vector *chunks,
                                            uint64_t offset)
{
    const struct range_chunk *chunk = chunks->items;
    uint32_t low = 0;
    uint32_t high = chunks->count;
    uint32_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (chunk[middle].offset + chunk[middle].bytes <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < chunks->count && chunk[low].offset <= offset ? &chunk[low]
                                                              : NULL;
}

/* The place a move left behind that an address lies in; NULL for none. */
static const struct range_old *old_over(const struct ashlar_range *range,
                                        uint64_t address)
{
    const struct range_old *olds = range->olds.items;
    uint32_t i;

    for (i = 0; i < range->olds.count; i++)
        if (address - olds[i].base < olds[i].reserved)
            return &olds[i];
    return NULL;
}

/* With the lock held: where an address lies; false: nowhere in the range. */
static bool locate(const struct ashlar_range *range, uint64_t address,
                   struct ashlar_range_place *place)
{
    const struct range_chunk *chunk;
    const struct range_old *old = NULL;

    place->base = range->base;
    if (address - range->base >= range->reserved) {
        old = old_over(range, address);
        if (old == NULL)
            return false;
        place->base = old->base;
    }
    place->offset = address - place->base;
    chunk =
        chunk_over(old == NULL ? &range->chunks : &old->chunks, place->offset);
    if (chunk != NULL) {
        place->chunk_offset = chunk->offset;
        place->chunk_bytes = chunk->bytes;
    }
    if (old != NULL)
        place->state = chunk != NULL ? ASHLAR_RANGE_OLD : ASHLAR_RANGE_RESERVED;
    else if (place->offset < range->used)
        place->state = chunk != NULL ? ASHLAR_RANGE_USABLE : ASHLAR_RANGE_HOLE;
    else
        place->state =
            chunk != NULL ? ASHLAR_RANGE_AHEAD : ASHLAR_RANGE_RESERVED;
    return true;
}

enum ashlar_status ashlar_range_locate(struct ashlar_range *range,
                                       uint64_t address,
                                       struct ashlar_range_place *place)
{
    struct ashlar_range_place own = ASHLAR_RANGE_PLACE_INIT;
    enum ashlar_status status = range_check(range, "ashlar_range_locate()");
    bool found;

    if (status != ASHLAR_OK)
        return status;
    if (place == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_range_locate() was given NULL for place");
    lock_take(&range->lock);
    found = locate(range, address, &own);
    lock_give(&range->lock);
    if (!found)
        return error_set(ASHLAR_ERR_NOT_FOUND,
                         "0x%lx is no address of the range at 0x%lx",
                         (unsigned long)address, (unsigned long)own.base);
    return result_write(place, &own, sizeof(own), "struct ashlar_range_place");
}
