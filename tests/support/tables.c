/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/tables.h"

#include "support/encode_source.h"
#include "support/engine.h"

#include <stdlib.h>
#include <string.h>

/* --- sources and tables ---------------------------------------------------- */

struct ashlar_source *tables_source(uint64_t lacks)
{
    struct ashlar_source *source = wrap_open(NULL);

    source->info.can &= ~lacks;
    return source;
}

void tables_lend_encoder(struct ashlar_source *source)
{
    encode_source_reset();
    source->ops.encode = encode_source.ops.encode;
    source->ops.encode_many = encode_source.ops.encode_many;
    source->ops.encode_rebase = encode_source.ops.encode_rebase;
    source->info.can |= ASHLAR_CAN_ENCODE;
}

size_t tables_granule(const struct ashlar_source *source)
{
    return source->info.granule / ASHLAR_TENSOR_MAP_BYTES;
}

struct ashlar_tensormap_table *tables_make(struct ashlar_source *source,
                                           size_t max_slots,
                                           size_t staging_slots)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    struct ashlar_tensormap_table *table = NULL;

    options.max_slots = max_slots;
    options.staging_slots = staging_slots;
    OK(ashlar_tensormap_table_create(source, &options, &table));
    return table;
}

void tables_begin(struct tables_rig *rig, uint64_t lacks, size_t max_slots,
                  size_t staging_slots)
{
    rig->source = tables_source(lacks);
    rig->table = tables_make(rig->source, max_slots, staging_slots);
}

void tables_end(struct tables_rig *rig)
{
    tables_check(rig->table);
    OK(ashlar_tensormap_table_destroy(rig->table, QUIET));
    OK(ashlar_source_drain(rig->source, 0));
    wrap_close(rig->source);
}

void tables_hold(struct tables_rig *rig, uint64_t stream)
{
    OK(engine_hold(&wrap_of(rig->source)->inner, stream));
}

void tables_finish(struct tables_rig *rig, uint64_t stream)
{
    OK(engine_finish(&wrap_of(rig->source)->inner, stream));
}

enum ashlar_status tables_capture(struct tables_rig *rig,
                                  const struct ashlar_tensormap_handle *handles,
                                  size_t n, uint64_t stream)
{
    struct wrap *wrap = wrap_of(rig->source);
    enum ashlar_status status;

    tables_hold(rig, stream);
    wrap->captured = stream;
    status = ashlar_tensormap_table_publish(rig->table, handles, n, stream);
    wrap->captured = 0;
    return status;
}

struct ashlar_tensormap_table_info
tables_info(struct ashlar_tensormap_table *table)
{
    struct ashlar_tensormap_table_info info = ASHLAR_TENSORMAP_TABLE_INFO_INIT;

    OK(ashlar_tensormap_table_query(table, &info));
    return info;
}

/* --- maps ------------------------------------------------------------------ */

const void *tables_map(uint64_t number)
{
    static _Thread_local uint64_t words[ASHLAR_TENSOR_MAP_BYTES / 8];
    size_t i;

    for (i = 0; i < ASHLAR_TENSOR_MAP_BYTES / 8; i++)
        words[i] = number * UINT64_C(0x9e3779b97f4a7c15) + i;
    words[0] = number;
    return words;
}

uint64_t tables_number(const void *at)
{
    uint64_t number;

    memcpy(&number, at, sizeof(number));
    return memcmp(at, tables_map(number), ASHLAR_TENSOR_MAP_BYTES) == 0 ? number
                                                                        : 0;
}

void tables_lease(struct ashlar_tensormap_table *table, size_t n,
                  uint64_t first, struct ashlar_tensormap_handle *handles)
{
    size_t i;

    OK(ashlar_tensormap_table_lease(table, n, handles));
    for (i = 0; i < n; i++)
        OK(ashlar_tensormap_table_fill(table, handles[i],
                                       tables_map(first + i)));
}

static struct ashlar_tensormap_slot look(struct ashlar_tensormap_table *table,
                                         struct ashlar_tensormap_handle handle)
{
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;

    (void)ashlar_tensormap_table_look(table, handle, &slot);
    return slot;
}

uint64_t tables_on_host(struct ashlar_tensormap_table *table,
                        struct ashlar_tensormap_handle handle)
{
    const void *map = look(table, handle).map;

    return map == NULL ? 0 : tables_number(map);
}

uint64_t tables_on_device(struct ashlar_tensormap_table *table,
                          struct ashlar_tensormap_handle handle)
{
    return tables_number((const void *)(uintptr_t)look(table, handle).address);
}

struct ashlar_tensormap_slot tables_look(struct ashlar_tensormap_table *table,
                                         struct ashlar_tensormap_handle handle)
{
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;

    OK(ashlar_tensormap_table_look(table, handle, &slot));
    return slot;
}

uint32_t tables_state(struct ashlar_tensormap_table *table,
                      struct ashlar_tensormap_handle handle)
{
    return look(table, handle).state;
}

/* --- records against each other -------------------------------------------- */

/* As ck_assert_msg(), which writes to a file each time that it is met. */
#define MUST(_condition, ...)                                                  \
    do {                                                                       \
        if (!(_condition))                                                     \
            ck_abort_msg(__VA_ARGS__);                                         \
    } while (0)

static void walk_chain(const struct ashlar_tensormap_table *table,
                       uint32_t first, uint8_t *seen, size_t *count)
{
    uint32_t index;

    for (index = first; index != NO_SLOT; index = table->next[index]) {
        ck_assert_uint_lt(index, table->slots);
        ck_assert_msg(seen[index] == 0, "slot %u is in two chains", index);
        seen[index] = 1;
        ++*count;
    }
}

/* Free, leased, or retired, and nothing of another's. */
static void check_slot(const struct ashlar_tensormap_table *table, size_t i,
                       bool is_retired)
{
    const struct publication *publication = table->publications[i];
    uint32_t word = table->words[i];
    bool is_free = bits_has(table->free, i);
    bool is_leased = (word & WORD_STATE) != 0;

    MUST(is_free + is_leased + is_retired == 1,
         "slot %zu: free %d, leased %d, retired %d", i, is_free, is_leased,
         is_retired);
    MUST(i < table->fresh_from || is_free, "slot %zu is not fresh", i);
    MUST(word >> WORD_GENERATION_SHIFT != 0, "slot %zu has no number", i);
    MUST((word & WORD_IN_HAND) == 0, "slot %zu is in hand", i);
    MUST(((word & WORD_NAMES) != 0) == (publication != NULL),
         "slot %zu does not know whether it names a publication", i);
    MUST(!is_free || publication == NULL, "slot %zu is free, and names one", i);
}

static void check_slots(const struct ashlar_tensormap_table *table,
                        const uint8_t *chained)
{
    size_t i, free = 0, leased = 0;

    for (i = 0; i < table->slots; i++) {
        check_slot(table, i, chained[i] != 0);
        free += bits_has(table->free, i);
        leased += (table->words[i] & WORD_STATE) != 0;
    }
    ck_assert_uint_eq(free, table->free_count);
    ck_assert_uint_eq(leased, table->leased);
    ck_assert_uint_eq(bits_next(table->free, table->slots, table->max_slots),
                      BITS_NONE);
}

static void check_references(const struct ashlar_tensormap_table *table)
{
    const struct publication *publication, *before = NULL;
    size_t i, named, in_graphs = 0;

    for (publication = table->pending; publication != NULL;
         publication = publication->next) {
        ck_assert_ptr_eq(publication->previous, before);
        ck_assert_ptr_nonnull(publication->fences);
        for (i = 0, named = 0; i < table->slots; i++)
            named += table->publications[i] == publication;
        ck_assert_uint_eq(publication->references, named + 1);
        in_graphs += publication->graph ? named : 0;
        before = publication;
    }
    ck_assert_ptr_eq(table->pending_last, before);
    ck_assert_uint_eq(table->in_graphs, in_graphs);
}

static void check_staging(const struct ashlar_tensormap_table *table)
{
    const struct publication *publication;
    size_t i, used = 0, free = 0;

    for (publication = table->pending; publication != NULL;
         publication = publication->next)
        for (i = 0; i < publication->staging_count; i++, used++)
            ck_assert(
                !bits_has(table->staging_free, publication->staging_first + i));
    for (i = 0; i < table->staging_units; i++)
        free += bits_has(table->staging_free, i);
    ck_assert_uint_eq(used, table->staging_used);
    ck_assert_uint_eq(free + used, table->staging_units);
}

static void check_batches(const struct ashlar_tensormap_table *table)
{
    const struct batch *batch, *last = NULL;

    for (batch = table->batches; batch != NULL; batch = batch->next)
        last = batch;
    ck_assert_ptr_eq(table->batches_last, last);
}

void tables_check(struct ashlar_tensormap_table *table)
{
    uint8_t *chained = calloc(table->slots + 1, 1);
    const struct publication *publication;
    const struct batch *batch;
    size_t waiting = 0;

    lock_take(&table->lock);
    for (batch = table->batches; batch != NULL; batch = batch->next)
        walk_chain(table, batch->first, chained, &waiting);
    for (publication = table->pending; publication != NULL;
         publication = publication->next)
        walk_chain(table, publication->waiting, chained, &waiting);
    ck_assert_uint_eq(waiting, table->waiting);
    check_slots(table, chained);
    check_references(table);
    check_staging(table);
    check_batches(table);
    lock_give(&table->lock);
    free(chained);
}

/* --- before and after ------------------------------------------------------ */

/* Of slots, those that were ever leased. */
struct tables_state {
    struct ashlar_tensormap_table_info info;
    size_t max_slots;
    size_t free_count;
    size_t fresh_from;
    uint64_t *free;
    uint32_t *words;
    unsigned char *host;
    struct model model;
};

static void *copy_of(const void *from, size_t bytes)
{
    void *copy = malloc(bytes + 1);

    memcpy(copy, from, bytes);
    return copy;
}

struct tables_state *tables_save(struct ashlar_tensormap_table *table)
{
    struct tables_state *state = calloc(1, sizeof(*state));

    state->info = tables_info(table);
    state->max_slots = table->max_slots;
    state->free_count = table->free_count;
    state->fresh_from = table->fresh_from;
    state->free = copy_of(table->free, bits_words(table->max_slots) * 8);
    state->words =
        copy_of(table->words, table->fresh_from * sizeof(table->words[0]));
    state->host = copy_of(host_slot(table, 0),
                          table->fresh_from * ASHLAR_TENSOR_MAP_BYTES);
    state->model = wrap_model(table->source);
    return state;
}

void tables_forget(struct tables_state *state)
{
    free(state->free);
    free(state->words);
    free(state->host);
    model_free(&state->model);
    free(state);
}

/* States, but for what may have been written, and by what. */
static bool words_differ(const struct tables_state *a,
                         const struct tables_state *b)
{
    size_t i;

    for (i = 0; i < a->fresh_from; i++)
        if ((a->words[i] | WORD_STALE | WORD_NAMES) !=
            (b->words[i] | WORD_STALE | WORD_NAMES))
            return true;
    return false;
}

const char *tables_differ(const struct tables_state *a,
                          const struct tables_state *b)
{
    if (a->info.base != b->info.base)
        return "base";
    if (a->info.slots != b->info.slots)
        return "slots";
    if (a->info.leased != b->info.leased ||
        a->info.waiting != b->info.waiting ||
        a->info.in_graphs != b->info.in_graphs ||
        a->free_count != b->free_count || a->fresh_from != b->fresh_from)
        return "counts";
    if (a->info.publishes != b->info.publishes ||
        a->info.published_slots != b->info.published_slots ||
        a->info.rewrites != b->info.rewrites)
        return "what it did";
    if (a->info.staging_used != b->info.staging_used)
        return "staging";
    if (a->info.device_bytes != b->info.device_bytes ||
        a->info.host_bytes != b->info.host_bytes)
        return "bytes";
    if (memcmp(a->free, b->free, bits_words(a->max_slots) * 8) != 0)
        return "free slots";
    if (words_differ(a, b))
        return "states";
    if (memcmp(a->host, b->host, a->fresh_from * ASHLAR_TENSOR_MAP_BYTES) != 0)
        return "host slots";
    return model_differs(&a->model, &b->model);
}
