/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Growing: commit, prepare, and the three ways of grow_to. */
#include "config.h"

#include "base/align.h"
#include "base/error.h"
#include "range/filling.h"

/* No address of any machine we know has more bits. */
#define TOTAL_MAX (UINT64_C(1) << 56)

/* --- the three ways ------------------------------------------------------- */

/* Up to `need` within what is reserved. used stays. */
static enum ashlar_status grow_in_place(struct ashlar_range *range,
                                        uint64_t need, uint32_t *calls)
{
    struct stretch stretch = {range->base, &range->spaces, range->frontier,
                              need, true};
    struct filling filling;
    enum ashlar_status status;

    status = filling_begin(&filling, range, filling_pieces(range, &stretch), 0);
    if (status != ASHLAR_OK)
        return status;
    status = filling_fill(&filling, &stretch);
    *calls += filling.transaction.calls;
    if (status != ASHLAR_OK)
        return filling_abort(&filling, status);
    range->frontier = filling.end;
    filling_commit(&filling);
    return ASHLAR_OK;
}

/* Ask for a neighbouring reservation; whether it was granted there. */
static bool reserve_neighbour(struct transaction *transaction,
                              const struct range_space *space)
{
    enum ashlar_status status;
    struct error before;
    uint64_t granted = 0;

    error_copy(&before);
    status = transaction_reserve(transaction, space->bytes, space->address,
                                 &granted);
    /* Both are numbers: what was asked for, and what the driver granted. */
    if (status == ASHLAR_OK && granted == space->address)
        return true;
    if (status == ASHLAR_OK)
        transaction_give_up_space(transaction);
    error_restore(&before);
    return false;
}

/* The same with the neighbour among the range's spaces already. */
static enum ashlar_status fill_adjacent(struct ashlar_range *range,
                                        uint64_t need, uint32_t *calls,
                                        bool *adjacent_out)
{
    const struct range_space *space =
        (const struct range_space *)range->spaces.items + range->spaces.count -
        1;
    struct stretch stretch = {range->base, &range->spaces, range->frontier,
                              need, true};
    struct filling filling;
    enum ashlar_status status;

    *adjacent_out = true;
    status = filling_begin(&filling, range, filling_pieces(range, &stretch), 2);
    if (status != ASHLAR_OK)
        return status;
    *adjacent_out = reserve_neighbour(&filling.transaction, space);
    if (*adjacent_out)
        status = filling_fill(&filling, &stretch);
    *calls += filling.transaction.calls;
    if (!*adjacent_out || status != ASHLAR_OK)
        return filling_abort(&filling, status);
    range->reserved += space->bytes;
    table_extend(range->base, range->reserved);
    range->frontier = filling.end;
    filling_commit(&filling);
    return ASHLAR_OK;
}

/*
 * Reserve the neighbouring addresses and grow into them. *adjacent_out says
 * whether they were granted; when not, nothing has happened.
 */
static enum ashlar_status grow_adjacent(struct ashlar_range *range,
                                        uint64_t need, uint32_t *calls,
                                        bool *adjacent_out)
{
    struct range_space space = {range->base + range->reserved,
                                need - range->reserved};
    enum ashlar_status status;

    *adjacent_out = space.bytes <= source_budget_left();
    if (!*adjacent_out)
        return ASHLAR_OK;
    if (vector_make_room(&range->spaces, 1, sizeof(space)) != 0)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for the record of a reservation");
    vector_append(&range->spaces, &space, sizeof(space));
    status = fill_adjacent(range, need, calls, adjacent_out);
    if (status != ASHLAR_OK || !*adjacent_out)
        range->spaces.count--;
    return status;
}

/* What a move needs in memory, made before it starts. */
struct move {
    struct filling filling;
    struct range_old old; /* to be: the range as it is */
    struct vector spaces; /* of the new place */
    uint64_t base;
    uint64_t reserved;
};

static enum ashlar_status move_begin(struct move *move,
                                     struct ashlar_range *range, uint64_t need)
{
    /* The new place is one reservation: where it lies does not matter yet. */
    struct range_space space = {0, need};
    const struct vector spaces = {&space, 1, 1};
    struct stretch stretch = {0, &spaces, range->frontier, need, true};
    bool room;

    *move = (struct move){.base = 0};
    room =
        vector_make_room(&range->olds, 1, sizeof(move->old)) == 0 &&
        vector_make_room(&move->spaces, 1, sizeof(struct range_space)) == 0 &&
        vector_make_room(&move->old.chunks, range->chunks.count + 1,
                         sizeof(struct range_chunk)) == 0;
    if (room &&
        filling_begin(&move->filling, range, filling_pieces(range, &stretch),
                      range->chunks.count + 1) == ASHLAR_OK)
        return ASHLAR_OK;
    vector_free(&move->spaces);
    vector_free(&move->old.chunks);
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory for the records of a move");
}

/* Twice the room, so that the next grow need not move; else what is needed. */
static enum ashlar_status
move_reserve(struct move *move, struct ashlar_range *range, uint64_t need)
{
    struct transaction *transaction = &move->filling.transaction;
    struct range_space space;
    enum ashlar_status status = ASHLAR_ERR_NO_ADDRESS_SPACE;

    space.bytes = max_size(need, range->reserved * 2);
    if (space.bytes > need)
        status =
            transaction_reserve(transaction, space.bytes, 0, &space.address);
    if (status != ASHLAR_OK) {
        space.bytes = need;
        status = transaction_reserve(transaction, need, 0, &space.address);
    }
    if (status != ASHLAR_OK)
        return status;
    move->base = space.address;
    move->reserved = space.bytes;
    vector_append(&move->spaces, &space, sizeof(space));
    return ASHLAR_OK;
}

/* Map the chunks there are a second time, with their rights. */
static enum ashlar_status move_map(struct move *move,
                                   const struct ashlar_range *range)
{
    struct transaction *transaction = &move->filling.transaction;
    const struct range_chunk *chunks = range->chunks.items;
    enum ashlar_status status = ASHLAR_OK;
    uint64_t begin;
    uint64_t end;
    uint32_t i = 0;

    while (i < range->chunks.count && status == ASHLAR_OK) {
        begin = chunks[i].offset;
        end = begin;
        while (i < range->chunks.count && chunks[i].offset == end &&
               status == ASHLAR_OK) {
            status = transaction_map(transaction, move->base + end,
                                     chunks[i].handle, chunks[i].bytes);
            end += chunks[i].bytes;
            i++;
        }
        if (status == ASHLAR_OK)
            status =
                transaction_allow(transaction, move->base + begin, end - begin);
    }
    return status;
}

/* The old place is left behind as it is; its ghosts stay there. */
static void move_commit(struct move *move, struct ashlar_range *range)
{
    struct range_ghost *ghosts = range->ghosts.items;
    uint32_t i;

    if (range->chunks.count != 0)
        memcpy(move->old.chunks.items, range->chunks.items,
               range->chunks.count * sizeof(struct range_chunk));
    move->old.chunks.count = range->chunks.count;
    move->old.base = range->base;
    move->old.reserved = range->reserved;
    move->old.mapped_bytes = range->committed;
    move->old.spaces = range->spaces;
    vector_append(&range->olds, &move->old, sizeof(move->old));
    for (i = 0; i < range->ghosts.count; i++)
        retire_item_drop(ghosts[i].item);
    range->ghosts.count = 0;
    range->spaces = move->spaces;
    range->base = move->base;
    range->reserved = move->reserved;
    range->frontier = move->filling.end;
    filling_commit(&move->filling);
}

static enum ashlar_status grow_moved(struct ashlar_range *range, uint64_t need,
                                     uint32_t *calls)
{
    enum ashlar_status status;
    struct stretch stretch;
    struct move move;

    status = move_begin(&move, range, need);
    if (status != ASHLAR_OK)
        return status;
    status = move_reserve(&move, range, need);
    if (status == ASHLAR_OK)
        status = move_map(&move, range);
    stretch =
        (struct stretch){move.base, &move.spaces, range->frontier, need, true};
    if (status == ASHLAR_OK)
        status = filling_fill(&move.filling, &stretch);
    if (status == ASHLAR_OK &&
        table_enter(range, move.base, move.reserved) != 0)
        status = error_set(ASHLAR_ERR_NO_MEMORY,
                           "no host memory for the table of ranges");
    *calls += move.filling.transaction.calls;
    if (status != ASHLAR_OK) {
        vector_free(&move.spaces);
        vector_free(&move.old.chunks);
        return filling_abort(&move.filling, status);
    }
    move_commit(&move, range);
    return ASHLAR_OK;
}

/* --- the verbs ------------------------------------------------------------ */

static enum ashlar_status no_room(const struct ashlar_range *range,
                                  uint64_t total)
{
    return error_set(ASHLAR_ERR_NO_ROOM,
                     "the range at 0x%lx cannot grow to %lu bytes: %lu are "
                     "reserved, the addresses behind them are not free, and it "
                     "may not move; reserve more, or set "
                     "ASHLAR_RANGE_MAY_MOVE",
                     (unsigned long)range->base, (unsigned long)total,
                     (unsigned long)range->reserved);
}

static enum ashlar_status grow(struct ashlar_range *range, uint64_t total,
                               struct ashlar_range_result *facts)
{
    uint64_t need = align_up(total, range->granule);
    enum ashlar_status status;
    bool adjacent;

    facts->path = ASHLAR_RANGE_PATH_NONE;
    if (need <= range->frontier)
        return ASHLAR_OK;
    facts->path = ASHLAR_RANGE_PATH_IN_RESERVATION;
    status =
        range_check_unmapped(range, range->frontier, need - range->frontier);
    if (status != ASHLAR_OK)
        return status;
    if (need <= range->reserved)
        return grow_in_place(range, need, &facts->source_calls);
    facts->path = ASHLAR_RANGE_PATH_ADJACENT;
    status = grow_adjacent(range, need, &facts->source_calls, &adjacent);
    if (status != ASHLAR_OK || adjacent)
        return status;
    facts->path = ASHLAR_RANGE_PATH_MOVED;
    if (!range->may_move)
        return no_room(range, total);
    return grow_moved(range, need, &facts->source_calls);
}

static enum ashlar_status check_total(uint64_t total)
{
    if (total != 0 && total <= TOTAL_MAX)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID, "total is %lu bytes; give 1 to %lu",
                     (unsigned long)total, (unsigned long)TOTAL_MAX);
}

enum ashlar_status ashlar_range_grow_to(struct ashlar_range *range,
                                        uint64_t total,
                                        struct ashlar_range_result *result)
{
    struct ashlar_range_result facts = ASHLAR_RANGE_RESULT_INIT;
    enum ashlar_status status =
        range_check_own(range, "ashlar_range_grow_to()");

    if (status == ASHLAR_OK)
        status = check_total(total);
    if (status == ASHLAR_OK)
        status = range_result_check(result);
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    facts.old_base = range->base;
    if (total > range->used)
        status = grow(range, total, &facts);
    if (status == ASHLAR_OK) {
        range->used = max_size(range->used, total);
        range->grows[facts.path]++;
        range_result(range, &facts, result);
    }
    lock_give(&range->lock);
    return status;
}

/* Created chunks become the range's, mapped nowhere yet. */
static void keep_prepared(struct ashlar_range *range, struct filling *filling)
{
    const struct range_chunk *fresh = filling->fresh.items;
    uint32_t i;

    for (i = 0; i < filling->fresh.count; i++) {
        vector_append(&range->prepared, &fresh[i], sizeof(fresh[i]));
        range->prepared_bytes += fresh[i].bytes;
    }
    filling->fresh.count = 0;
    filling_commit(filling);
}

/* Chunks ahead of need: created only, as they will be mapped from `from` on. */
static enum ashlar_status prepare_chunks(struct ashlar_range *range,
                                         uint64_t from, uint64_t need)
{
    struct stretch stretch = {range->base, &range->spaces, from, need, false};
    uint64_t pieces = filling_pieces(range, &stretch);
    struct filling filling;
    enum ashlar_status status;
    uint64_t bytes;
    uint64_t at;

    status = filling_begin(&filling, range, pieces, 0);
    if (status != ASHLAR_OK)
        return status;
    if (vector_make_room(&range->prepared, (uint32_t)pieces,
                         sizeof(struct range_chunk)) != 0)
        return filling_abort(
            &filling, error_set(ASHLAR_ERR_NO_MEMORY,
                                "no host memory for the records of %lu chunks",
                                (unsigned long)pieces));
    for (at = from; at < need; at += bytes) {
        bytes = filling_piece(range, &stretch, at);
        status = filling_create(&filling, bytes);
        if (status != ASHLAR_OK)
            return filling_abort(&filling, status);
    }
    keep_prepared(range, &filling);
    return ASHLAR_OK;
}

static enum ashlar_status prepare(struct ashlar_range *range, uint64_t total,
                                  enum ashlar_range_depth depth)
{
    uint64_t need = align_up(total, range->granule);
    uint64_t ahead = range->frontier;
    enum ashlar_status status;
    uint32_t calls = 0;

    if (need > range->reserved)
        return no_room(range, total);
    if (depth == ASHLAR_RANGE_CREATED)
        ahead += range->prepared_bytes;
    if (need <= ahead)
        return ASHLAR_OK;
    if (depth == ASHLAR_RANGE_CREATED) {
        range_collect(range);
        return prepare_chunks(range, ahead, need);
    }
    status = range_check_unmapped(range, ahead, need - ahead);
    return status != ASHLAR_OK ? status : grow_in_place(range, need, &calls);
}

enum ashlar_status ashlar_range_prepare(struct ashlar_range *range,
                                        uint64_t total,
                                        enum ashlar_range_depth depth)
{
    enum ashlar_status status =
        range_check_own(range, "ashlar_range_prepare()");

    if (status == ASHLAR_OK)
        status = check_total(total);
    if (status != ASHLAR_OK)
        return status;
    if (depth != ASHLAR_RANGE_CREATED && depth != ASHLAR_RANGE_MAPPED)
        return error_set(ASHLAR_ERR_INVALID,
                         "depth is %d; give ASHLAR_RANGE_CREATED (%d) or "
                         "ASHLAR_RANGE_MAPPED (%d)",
                         (int)depth, ASHLAR_RANGE_CREATED, ASHLAR_RANGE_MAPPED);
    lock_take(&range->lock);
    status = prepare(range, total, depth);
    lock_give(&range->lock);
    return status;
}

/* The lock is held. */
static enum ashlar_status check_unused(struct ashlar_range *range)
{
    enum ashlar_status status = range_check_free(range);

    if (status != ASHLAR_OK || range->used == 0)
        return status;
    return error_set(ASHLAR_ERR_INVALID,
                     "%lu bytes of the range at 0x%lx are used; an arena "
                     "stands on one of which nothing is",
                     (unsigned long)range->used, (unsigned long)range->base);
}

enum ashlar_status range_check_unused(struct ashlar_range *range)
{
    enum ashlar_status status;

    lock_take(&range->lock);
    status = check_unused(range);
    lock_give(&range->lock);
    return status;
}

enum ashlar_status range_occupy(struct ashlar_range *range)
{
    enum ashlar_status status;

    lock_take(&range->lock);
    status = check_unused(range);
    if (status == ASHLAR_OK) {
        __atomic_fetch_add(&range->holders, 1, __ATOMIC_RELAXED);
        range->used = range->reserved;
        range->frontier = range->reserved;
    }
    lock_give(&range->lock);
    return status;
}

/* --- commit: memory for holes --------------------------------------------- */

/* The next hole in [from, to): *begin_out == to when there is none. */
static void next_hole(const struct ashlar_range *range, uint64_t from,
                      uint64_t to, uint64_t *begin_out, uint64_t *end_out)
{
    const struct range_chunk *chunks = range->chunks.items;
    uint32_t i = range_chunk_at(range, from);

    if (i != 0 && chunks[i - 1].offset + chunks[i - 1].bytes > from)
        from = chunks[i - 1].offset + chunks[i - 1].bytes;
    for (; i < range->chunks.count && chunks[i].offset == from; i++)
        from += chunks[i].bytes;
    *begin_out = from < to ? from : to;
    *end_out = i < range->chunks.count && chunks[i].offset < to
                   ? chunks[i].offset
                   : to;
}

static uint64_t pieces_for_holes(const struct ashlar_range *range,
                                 uint64_t from, uint64_t to)
{
    struct stretch hole = {.base = range->base, .spaces = &range->spaces};
    uint64_t pieces = 0;

    for (next_hole(range, from, to, &hole.from, &hole.to); hole.from < to;
         next_hole(range, hole.to, to, &hole.from, &hole.to))
        pieces += filling_pieces(range, &hole);
    return pieces;
}

static enum ashlar_status commit(struct ashlar_range *range, uint64_t from,
                                 uint64_t to, uint32_t *calls)
{
    struct stretch hole = {.base = range->base, .spaces = &range->spaces};
    uint64_t pieces = pieces_for_holes(range, from, to);
    enum ashlar_status status;
    struct filling filling;

    if (pieces == 0)
        return ASHLAR_OK;
    status = range_check_unmapped(range, from, to - from);
    if (status == ASHLAR_OK)
        status = filling_begin(&filling, range, pieces, 0);
    if (status != ASHLAR_OK)
        return status;
    for (next_hole(range, from, to, &hole.from, &hole.to);
         hole.from < to && status == ASHLAR_OK;
         next_hole(range, hole.to, to, &hole.from, &hole.to))
        status = filling_fill(&filling, &hole);
    *calls += filling.transaction.calls;
    if (status != ASHLAR_OK)
        return filling_abort(&filling, status);
    filling_commit(&filling);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_range_commit(struct ashlar_range *range,
                                       uint64_t offset, uint64_t bytes,
                                       struct ashlar_range_result *result)
{
    struct ashlar_range_result facts = ASHLAR_RANGE_RESULT_INIT;
    enum ashlar_status status = range_check_own(range, "ashlar_range_commit()");

    if (status == ASHLAR_OK)
        status = range_result_check(result);
    if (status != ASHLAR_OK)
        return status;
    lock_take(&range->lock);
    facts.old_base = range->base;
    status = range_check_part(range, offset, bytes);
    if (status == ASHLAR_OK)
        status = commit(range, align_down(offset, range->granule),
                        align_up(offset + bytes, range->granule),
                        &facts.source_calls);
    if (status == ASHLAR_OK)
        range_result(range, &facts, result);
    lock_give(&range->lock);
    return status;
}
