/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Host slots: taken in hand, encoded or filled, and looked at. */
#include "config.h"

#include "tensormap/map_table.h"

#include <string.h>

#include "base/align.h"
#include "base/error.h"
#include "base/options.h"
#include "base/write_back.h"
#include "tensormap/tensormap.h"

/* --- claims ---------------------------------------------------------------- */

enum ashlar_status
map_table_refuse_handle(const struct ashlar_tensormap_table *table,
                        struct ashlar_tensormap_handle handle, size_t i,
                        enum claim what)
{
    if (!is_live(table, handle))
        return error_set(ASHLAR_ERR_NOT_LIVE,
                         "handle %zu (slot %u, generation %u) is of no lease "
                         "that goes on: the slot was retired, or never leased",
                         i, handle.index, handle.generation);
    if ((table->words[handle.index] & WORD_IN_HAND) != 0)
        return error_set(ASHLAR_ERR_BUSY,
                         "handle %zu: slot %u is in the hands of another "
                         "thread, or the handle is there twice",
                         i, handle.index);
    switch (table->words[handle.index] & WORD_STATE) {
    case ASHLAR_TENSORMAP_PUBLISHED:
        if (what == CLAIM_REWRITE)
            break;
        return error_set(ASHLAR_ERR_BUSY,
                         "handle %zu: slot %u is published, and stays as it "
                         "is; lease another, or see "
                         "ashlar_tensormap_table_rewrite()",
                         i, handle.index);
    default:
        if (what == CLAIM_REWRITE)
            return error_set(ASHLAR_ERR_INVALID,
                             "handle %zu: slot %u is not published; encode and "
                             "publish it",
                             i, handle.index);
        if (what == CLAIM_PUBLISH &&
            (table->words[handle.index] & WORD_STATE) == ASHLAR_TENSORMAP_EMPTY)
            return error_set(ASHLAR_ERR_INVALID,
                             "handle %zu: slot %u is empty; encode or fill it "
                             "first",
                             i, handle.index);
        break;
    }
    if (table->publications[handle.index]->graph)
        return error_set(ASHLAR_ERR_BUSY,
                         "handle %zu: slot %u belongs to a graph that it was "
                         "published in, which would undo it; lease another",
                         i, handle.index);
    return error_set(
        ASHLAR_ERR_BUSY,
        "handle %zu: what was queued for slot %u on stream 0x%llx "
        "is not done yet",
        i, handle.index,
        (unsigned long long)table->publications[handle.index]->stream);
}

/* The states that a claim takes: one, or one and the next. */
struct claimed {
    uint32_t first;
    uint32_t more; /* 1: the next, too; else 0 */
};

static const struct claimed claimed_by[] = {
    [CLAIM_FILL] = {ASHLAR_TENSORMAP_EMPTY, 1}, /* or ENCODED */
    [CLAIM_PUBLISH] = {ASHLAR_TENSORMAP_ENCODED, 0},
    [CLAIM_REWRITE] = {ASHLAR_TENSORMAP_PUBLISHED, 0},
};

_Static_assert(ASHLAR_TENSORMAP_EMPTY + 1 == ASHLAR_TENSORMAP_ENCODED,
               "what is filled is one or the other");

/* Whether what was queued for a slot before stands in the way. */
static bool is_in_the_way(struct ashlar_tensormap_table *table, uint32_t index,
                          enum claim what, uint64_t stream)
{
    const struct publication *last = table->publications[index];

    if (last == NULL || !map_table_is_pending(table, index))
        return false;
    last = table->publications[index];
    switch (what) {
    case CLAIM_FILL:
        return last->reads_host;
    case CLAIM_PUBLISH: /* again, after a failure */
        return last->graph || last->stream != stream;
    case CLAIM_REWRITE:
        return last->graph || last->reads_host ||
               (last->lost && last->stream != stream);
    }
    return true;
}

/*
 * Take a block if it is as most are: leased slots side by side, in a state that
 * the claim takes, in nobody's hands, and naming no publication. If not, nothing
 * is done. The test of the last handle spares scattered ones the rest.
 */
static bool claim_block(struct ashlar_tensormap_table *table,
                        const struct ashlar_tensormap_handle *handles,
                        struct claimed claimed)
{
    const uint32_t mask = WORD_STATE | WORD_IN_HAND | WORD_NAMES;
    uint32_t first = handles[0].index, differs = 0, i;
    uint32_t *words;

    if (handles[SLOT_BLOCK - 1].index != first + SLOT_BLOCK - 1 ||
        (size_t)first + SLOT_BLOCK > table->max_slots)
        return false;
    words = &table->words[first];
    for (i = 0; i < SLOT_BLOCK; i++)
        differs |= (handles[i].index ^ (first + i)) |
                   (words[i] >> WORD_GENERATION_SHIFT ^ handles[i].generation) |
                   (((words[i] & mask) - claimed.first) & ~claimed.more);
    if (differs != 0)
        return false;
    for (i = 0; i < SLOT_BLOCK; i++)
        words[i] |= WORD_IN_HAND;
    return true;
}

/* Take them one by one, up to one that is refused; how many were taken. */
static size_t claim_each(struct ashlar_tensormap_table *table,
                         const struct ashlar_tensormap_handle *handles,
                         size_t n, enum claim what, uint64_t stream)
{
    const struct claimed claimed = claimed_by[what];
    uint32_t index, word;
    size_t i;

    for (i = 0; i < n; i++) {
        index = handles[i].index;
        if (!is_live(table, handles[i]))
            break;
        word = table->words[index];
        if (((word & (WORD_STATE | WORD_IN_HAND)) - claimed.first) >
                claimed.more ||
            ((word & WORD_NAMES) != 0 &&
             is_in_the_way(table, index, what, stream)))
            break;
        table->words[index] = word | WORD_IN_HAND;
    }
    return i;
}

/* One is refused: those before it are out of hand again. */
static enum ashlar_status
give_back(struct ashlar_tensormap_table *table,
          const struct ashlar_tensormap_handle *handles, size_t culprit,
          enum claim what)
{
    enum ashlar_status status =
        map_table_refuse_handle(table, handles[culprit], culprit, what);

    map_table_unclaim(table, handles, culprit);
    return status;
}

enum ashlar_status
map_table_claim(struct ashlar_tensormap_table *table,
                const struct ashlar_tensormap_handle *handles, size_t n,
                enum claim what, uint64_t stream, size_t *run_out,
                size_t *culprit_out)
{
    size_t i, count, taken, run = 0;

    for (i = 0; i < n; i += count) {
        count = min_size(n - i, SLOT_BLOCK);
        if (count == SLOT_BLOCK &&
            claim_block(table, handles + i, claimed_by[what])) {
            if (run == i && handles[i].index == handles[0].index + i)
                run += count;
            continue;
        }
        taken = claim_each(table, handles + i, count, what, stream);
        if (taken < count) {
            *culprit_out = i + taken;
            return give_back(table, handles, i + taken, what);
        }
    }
    *run_out = run;
    return ASHLAR_OK;
}

void map_table_unclaim(struct ashlar_tensormap_table *table,
                       const struct ashlar_tensormap_handle *handles, size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        table->words[handles[i].index] &= ~WORD_IN_HAND;
}

/* Slots of a block that are side by side, into a state; else nothing is done. */
static bool put_block(struct ashlar_tensormap_table *table,
                      const struct ashlar_tensormap_handle *handles,
                      enum ashlar_tensormap_state state)
{
    uint32_t first = handles[0].index, differs = 0, i;
    uint32_t *words = &table->words[first];

    for (i = 0; i < SLOT_BLOCK; i++)
        differs |= handles[i].index ^ (first + i);
    if (differs != 0)
        return false;
    for (i = 0; i < SLOT_BLOCK; i++)
        words[i] = (words[i] & ~(WORD_STATE | WORD_IN_HAND)) | state;
    return true;
}

/* Out of hand, into a state. */
static void put_down(struct ashlar_tensormap_table *table,
                     const struct ashlar_tensormap_handle *handles, size_t n,
                     enum ashlar_tensormap_state state)
{
    size_t i = 0;

    lock_take(&table->lock);
    while (i < n)
        if (n - i >= SLOT_BLOCK && put_block(table, handles + i, state))
            i += SLOT_BLOCK;
        else
            set_state(table, handles[i++].index, state);
    lock_give(&table->lock);
}

static enum ashlar_status pick_up(struct ashlar_tensormap_table *table,
                                  const struct ashlar_tensormap_handle *handles,
                                  size_t n, size_t *culprit_out)
{
    enum ashlar_status status;
    size_t run;

    lock_take(&table->lock);
    status =
        map_table_claim(table, handles, n, CLAIM_FILL, 0, &run, culprit_out);
    lock_give(&table->lock);
    return status;
}

/* --- encode and fill ------------------------------------------------------- */

/* All that are in hand, block by block, as their places make an array. */
static enum ashlar_status
encode_blocks(struct ashlar_tensormap_table *table,
              const struct ashlar_tensormap_handle *handles,
              const struct ashlar_spec *specs, size_t n, size_t *done_out)
{
    struct encode_array array;
    enum ashlar_status status = ASHLAR_OK;
    void *maps[SLOT_BLOCK];
    size_t i, k, count, done;

    encode_array_begin(&array, table->source, specs, specs->size, n,
                       table->write_back);
    for (i = 0; i < n && status == ASHLAR_OK; i += done) {
        count = min_size(n - i, SLOT_BLOCK);
        for (k = 0; k < count; k++)
            maps[k] = host_slot(table, handles[i + k].index);
        status = encode_array(&array, i, maps, count, &done);
    }
    *done_out = i;
    return status;
}

static enum ashlar_status
encode_all(struct ashlar_tensormap_table *table,
           const struct ashlar_tensormap_handle *handles,
           const struct ashlar_spec *specs, size_t n, size_t *culprit_out)
{
    enum ashlar_status status = pick_up(table, handles, n, culprit_out);

    if (status != ASHLAR_OK)
        return status;
    status = encode_blocks(table, handles, specs, n, culprit_out);
    put_down(table, handles, n,
             status == ASHLAR_OK ? ASHLAR_TENSORMAP_ENCODED
                                 : ASHLAR_TENSORMAP_EMPTY);
    return status;
}

enum ashlar_status ashlar_tensormap_table_encode_many(
    struct ashlar_tensormap_table *table,
    const struct ashlar_tensormap_handle *handles,
    const struct ashlar_spec *specs, size_t n, size_t *culprit_out)
{
    static const char call[] = "ashlar_tensormap_table_encode_many()";
    enum ashlar_status status = map_table_check(table, call);
    size_t culprit = n;

    if (status == ASHLAR_OK)
        status = encode_check(table->source, call);
    if (status == ASHLAR_OK && n != 0 && handles == NULL)
        status = map_table_refuse_null(call, "handles");
    if (status == ASHLAR_OK && n != 0 && specs == NULL)
        status = map_table_refuse_null(call, "specs");
    if (status == ASHLAR_OK && n != 0 && specs->size == 0)
        status = error_set(ASHLAR_ERR_INVALID,
                           "the size member of specs[0] is 0; begin with "
                           "ASHLAR_SPEC_INIT");
    if (status == ASHLAR_OK && n != 0)
        status = encode_all(table, handles, specs, n, &culprit);
    if (culprit_out != NULL)
        *culprit_out = culprit;
    return status;
}

enum ashlar_status
ashlar_tensormap_table_encode(struct ashlar_tensormap_table *table,
                              struct ashlar_tensormap_handle handle,
                              const struct ashlar_spec *spec)
{
    static const char call[] = "ashlar_tensormap_table_encode()";
    enum ashlar_status status = map_table_check(table, call);
    size_t culprit;

    if (status == ASHLAR_OK)
        status = encode_check(table->source, call);
    if (status == ASHLAR_OK && spec == NULL)
        status = map_table_refuse_null(call, "spec");
    if (status != ASHLAR_OK)
        return status;
    return encode_all(table, &handle, spec, 1, &culprit);
}

enum ashlar_status
ashlar_tensormap_table_fill(struct ashlar_tensormap_table *table,
                            struct ashlar_tensormap_handle handle,
                            const void *map)
{
    static const char call[] = "ashlar_tensormap_table_fill()";
    enum ashlar_status status = map_table_check(table, call);
    size_t culprit;

    if (status == ASHLAR_OK && map == NULL)
        status = map_table_refuse_null(call, "map");
    if (status == ASHLAR_OK)
        status = pick_up(table, &handle, 1, &culprit);
    if (status != ASHLAR_OK)
        return status;
    memmove(host_slot(table, handle.index), map, ASHLAR_TENSOR_MAP_BYTES);
    if (table->write_back)
        write_back(host_slot(table, handle.index), ASHLAR_TENSOR_MAP_BYTES);
    put_down(table, &handle, 1, ASHLAR_TENSORMAP_ENCODED);
    return ASHLAR_OK;
}

/* --- look ------------------------------------------------------------------ */

/* The word of a leased slot; 0 when the handle is of none. */
static uint32_t look_at(struct ashlar_tensormap_table *table,
                        struct ashlar_tensormap_handle handle)
{
    uint32_t word = 0;

    lock_take(&table->lock);
    if (is_live(table, handle))
        word = table->words[handle.index];
    else
        (void)map_table_refuse_handle(table, handle, 0, CLAIM_FILL);
    lock_give(&table->lock);
    return word;
}

enum ashlar_status
ashlar_tensormap_table_look(struct ashlar_tensormap_table *table,
                            struct ashlar_tensormap_handle handle,
                            struct ashlar_tensormap_slot *slot)
{
    static const char call[] = "ashlar_tensormap_table_look()";
    struct ashlar_tensormap_slot own = {.size = sizeof(own)};
    enum ashlar_status status = map_table_check(table, call);
    uint32_t word;

    if (status != ASHLAR_OK)
        return status;
    word = look_at(table, handle);
    if (word == 0)
        return ashlar_last_error();
    own.state = (word & WORD_IN_HAND) != 0 ? ASHLAR_TENSORMAP_IN_HAND
                                           : word & WORD_STATE;
    own.fresh = (word & WORD_STALE) == 0;
    own.address = slot_at(&table->device, handle.index);
    if ((word & WORD_STATE) != ASHLAR_TENSORMAP_EMPTY)
        own.map = host_slot(table, handle.index);
    return result_write(slot, &own, sizeof(own),
                        "struct ashlar_tensormap_slot");
}

const void *ashlar_tensormap_table_map(struct ashlar_tensormap_table *table,
                                       struct ashlar_tensormap_handle handle)
{
    static const char call[] = "ashlar_tensormap_table_map()";
    uint32_t word;

    if (map_table_check(table, call) != ASHLAR_OK)
        return NULL;
    word = look_at(table, handle);
    if (word == 0)
        return NULL;
    if ((word & WORD_STATE) == ASHLAR_TENSORMAP_EMPTY)
        return error_null(ASHLAR_ERR_INVALID,
                          "slot %u is empty; encode or fill it first",
                          handle.index);
    return host_slot(table, handle.index);
}
