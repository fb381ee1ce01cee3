/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "range/filling.h"

#include "base/align.h"
#include "base/error.h"

/* More would not fit the records' counters, nor any memory. */
#define PIECES_MOST (UINT64_C(1) << 24)

/* --- pieces --------------------------------------------------------------- */

/* The reservation that an address lies in. */
static uint32_t space_at(const struct vector *spaces, uint64_t address)
{
    const struct range_space *space = spaces->items;
    uint32_t low = 0;
    uint32_t high = spaces->count;
    uint32_t middle;

    while (high - low > 1) {
        middle = low + (high - low) / 2;
        if (space[middle].address <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Bytes from an offset on to the end of its reservation. */
static uint64_t room_at(const struct stretch *stretch, uint64_t at)
{
    const struct range_space *space = stretch->spaces->items;
    uint64_t address = stretch->base + at;

    space += space_at(stretch->spaces, address);
    return space->address + space->bytes - address;
}

uint64_t filling_pieces(const struct ashlar_range *range,
                        const struct stretch *stretch)
{
    uint64_t bytes = stretch->to - stretch->from;
    uint64_t count = 0;

    if (bytes == 0)
        return 0;
    count =
        (uint64_t)space_at(stretch->spaces, stretch->base + stretch->to - 1) -
        space_at(stretch->spaces, stretch->base + stretch->from) + 1;
    if (stretch->prepared)
        count += range->prepared.count;
    if (range->chunk_max != 0)
        count += bytes / range->chunk_max;
    return count;
}

uint64_t filling_piece(const struct ashlar_range *range,
                       const struct stretch *stretch, uint64_t at)
{
    uint64_t bytes = min_size(stretch->to - at, room_at(stretch, at));

    return range->chunk_max == 0 ? bytes : min_size(bytes, range->chunk_max);
}

/* --- the transaction ------------------------------------------------------ */

enum ashlar_status filling_begin(struct filling *filling,
                                 struct ashlar_range *range, uint64_t pieces,
                                 uint32_t other_steps)
{
    uint32_t count = (uint32_t)min_size(pieces, PIECES_MOST);

    *filling = (struct filling){.prepared_taken = 0};
    if (pieces > PIECES_MOST ||
        vector_make_room(&filling->fresh, count, sizeof(struct range_chunk)) !=
            0 ||
        vector_make_room(&range->chunks, count, sizeof(struct range_chunk)) !=
            0) {
        vector_free(&filling->fresh);
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the records of %lu chunks",
                         (unsigned long)pieces);
    }
    if (transaction_begin(&filling->transaction, range,
                          2 * count + other_steps) == ASHLAR_OK)
        return ASHLAR_OK;
    vector_free(&filling->fresh);
    return ASHLAR_ERR_NO_MEMORY;
}

enum ashlar_status filling_create(struct filling *filling, uint64_t bytes)
{
    struct range_chunk chunk = {.bytes = bytes};
    enum ashlar_status status;

    status = transaction_create(&filling->transaction, bytes, &chunk.handle);
    if (status == ASHLAR_OK)
        vector_append(&filling->fresh, &chunk, sizeof(chunk));
    return status;
}

/*
 * The next prepared chunk, if it fits: in one reservation, and not over what
 * is still mapped behind the stretch.
 */
static const struct range_chunk *ready_chunk(const struct filling *filling,
                                             const struct stretch *stretch,
                                             uint64_t at)
{
    struct ashlar_range *range = filling->transaction.range;
    const struct range_chunk *ready = range->prepared.items;

    if (!stretch->prepared || filling->prepared_taken == range->prepared.count)
        return NULL;
    ready += filling->prepared_taken;
    if (ready->bytes > room_at(stretch, at))
        return NULL;
    if (ready->bytes > stretch->to - at && stretch->base == range->base &&
        range_haunted(range, at, ready->bytes))
        return NULL;
    return ready;
}

/* A chunk for the stretch from an offset on: a prepared one, or a new one. */
static enum ashlar_status next_chunk(struct filling *filling,
                                     const struct stretch *stretch, uint64_t at,
                                     struct range_chunk *chunk_out)
{
    const struct ashlar_range *range = filling->transaction.range;
    const struct range_chunk *ready = ready_chunk(filling, stretch, at);

    *chunk_out = (struct range_chunk){.offset = at};
    if (ready != NULL) {
        filling->prepared_taken++;
        chunk_out->bytes = ready->bytes;
        chunk_out->handle = ready->handle;
        return ASHLAR_OK;
    }
    chunk_out->bytes = filling_piece(range, stretch, at);
    return transaction_create(&filling->transaction, chunk_out->bytes,
                              &chunk_out->handle);
}

enum ashlar_status filling_fill(struct filling *filling,
                                const struct stretch *stretch)
{
    struct transaction *transaction = &filling->transaction;
    enum ashlar_status status;
    struct range_chunk chunk;
    uint64_t at = stretch->from;

    while (at < stretch->to) {
        status = next_chunk(filling, stretch, at, &chunk);
        if (status == ASHLAR_OK)
            status = transaction_map(transaction, stretch->base + at,
                                     chunk.handle, chunk.bytes);
        if (status != ASHLAR_OK)
            return status;
        vector_append(&filling->fresh, &chunk, sizeof(chunk));
        at += chunk.bytes;
    }
    filling->end = at;
    if (at == stretch->from)
        return ASHLAR_OK;
    return transaction_allow(transaction, stretch->base + stretch->from,
                             at - stretch->from);
}

void filling_commit(struct filling *filling)
{
    struct ashlar_range *range = filling->transaction.range;
    struct range_chunk *fresh = filling->fresh.items;
    uint64_t prepared = 0;
    uint32_t i;

    for (i = 0; i < filling->fresh.count; i++) {
        /* One each, so that an export can stop behind any of them. */
        fresh[i].epoch = ++range->epoch;
        vector_insert(&range->chunks, range_chunk_at(range, fresh[i].offset),
                      &fresh[i], sizeof(fresh[i]));
        range->committed += fresh[i].bytes;
    }
    for (i = 0; i < filling->prepared_taken; i++)
        prepared += ((struct range_chunk *)range->prepared.items)[i].bytes;
    vector_remove(&range->prepared, 0, filling->prepared_taken,
                  sizeof(struct range_chunk));
    range->prepared_bytes -= prepared;
    transaction_commit(&filling->transaction);
    vector_free(&filling->fresh);
}

enum ashlar_status filling_abort(struct filling *filling,
                                 enum ashlar_status status)
{
    struct ashlar_source *source = filling->transaction.range->source;
    struct error error;
    char sentence[ERROR_MESSAGE_BYTES];

    transaction_abort(&filling->transaction);
    vector_free(&filling->fresh);
    if (status == ASHLAR_OK || retire_bytes(source) == 0)
        return status;
    error_copy(&error);
    (void)error_format(&error, sentence, sizeof(sentence));
    return error_set(status, "%s; %lu retired bytes wait for their fences",
                     sentence, (unsigned long)retire_bytes(source));
}
