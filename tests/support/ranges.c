/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/ranges.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "range/range.h"
#include "support/engine.h"

static __thread char said[256];

static const char *say(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

static const char *say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(said, sizeof(said), format, arguments);
    va_end(arguments);
    return said;
}

bool ranges_error_is(enum ashlar_status status, const char *text)
{
    return ashlar_last_error() == status &&
           strstr(ashlar_last_error_message(), text) != NULL;
}

/* --- trials --------------------------------------------------------------- */

void trial_open(struct trial *trial, const char *more)
{
    memset(trial, 0, sizeof(*trial));
    trial->source = wrap_open(more);
    trial->granule = trial->source->info.granule;
}

struct ashlar_range_options trial_options(const struct trial *trial,
                                          uint64_t reserve_granules,
                                          uint64_t chunk_granules,
                                          uint32_t flags)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;

    options.reserve_bytes = reserve_granules * trial->granule;
    options.chunk_max_bytes = chunk_granules * trial->granule;
    options.flags = flags;
    return options;
}

void trial_create(struct trial *trial, uint64_t reserve_granules,
                  uint64_t chunk_granules, uint32_t flags)
{
    static const struct ashlar_access access[] = {
        {1, ASHLAR_RIGHTS_READ}, {3, ASHLAR_RIGHTS_READ_WRITE}};
    struct ashlar_range_options options =
        trial_options(trial, reserve_granules, chunk_granules, flags);

    options.access = access;
    options.access_count = 2;
    OK(ashlar_range_create(trial->source, &options, &trial->range));
}

void trial_grow(struct trial *trial, uint64_t granules)
{
    OK(ashlar_range_grow_to(trial->range, granules * trial->granule, NULL));
    trial_sync(trial);
}

struct ashlar_range_info trial_info(const struct trial *trial)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_query(trial->range, &info));
    return info;
}

uint64_t trial_waiting(const struct trial *trial)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    OK(ashlar_source_query(trial->source, &info));
    return info.retired_items;
}

void trial_close(struct trial *trial)
{
    if (trial->range != NULL)
        OK(ashlar_range_destroy(trial->range, ASHLAR_QUIET, 1));
    OK(ashlar_source_drain(trial->source, 0));
    wrap_close(trial->source);
    memset(trial, 0, sizeof(*trial));
}

/* --- contents ------------------------------------------------------------- */

/* The rights that location 0, the page tables, should have. */
static uint32_t page_rights(const struct ashlar_range *range)
{
    const struct ashlar_access *access = range->access.items;
    uint32_t i;

    for (i = 0; i < range->access.count; i++)
        if (access[i].location == 0)
            return access[i].rights;
    return ASHLAR_RIGHTS_NONE;
}

/* Which granules have memory: one byte each. */
static void find_mapped(const struct trial *trial, unsigned char *mapped)
{
    const struct range_chunk *chunks = trial->range->chunks.items;
    uint64_t granule = trial->granule;
    uint32_t i;

    memset(mapped, 0, TRIAL_GRANULES);
    for (i = 0; i < trial->range->chunks.count; i++) {
        if (chunks[i].offset + chunks[i].bytes > TRIAL_GRANULES * granule)
            ck_abort_msg("a trial has %d granules", TRIAL_GRANULES);
        memset(mapped + chunks[i].offset / granule, 1,
               chunks[i].bytes / granule);
    }
}

/* The first and the last word of a granule. */
static uint64_t *first_word(const struct trial *trial, uint64_t base, size_t i)
{
    return (uint64_t *)(uintptr_t)(base + i * trial->granule);
}

static uint64_t *last_word(const struct trial *trial, uint64_t base, size_t i)
{
    return first_word(trial, base, i + 1) - 1;
}

void trial_forget(struct trial *trial)
{
    unsigned char mapped[TRIAL_GRANULES];
    size_t i;

    find_mapped(trial, mapped);
    for (i = 0; i < TRIAL_GRANULES; i++)
        if (!mapped[i])
            trial->stamps[i] = 0;
}

void trial_sync(struct trial *trial)
{
    unsigned char mapped[TRIAL_GRANULES];
    uint64_t base = trial->range->base;
    size_t i;

    trial_forget(trial);
    find_mapped(trial, mapped);
    if (page_rights(trial->range) != ASHLAR_RIGHTS_READ_WRITE)
        return;
    for (i = 0; i < TRIAL_GRANULES; i++) {
        if (!mapped[i] || trial->stamps[i] != 0)
            continue;
        trial->stamps[i] = ++trial->last_stamp;
        *first_word(trial, base, i) = trial->stamps[i];
        *last_word(trial, base, i) = ~trial->stamps[i];
    }
}

static const char *check_granule(const struct trial *trial, uint64_t base,
                                 size_t i)
{
    uint64_t stamp = trial->stamps[i];

    if (*first_word(trial, base, i) == stamp &&
        *last_word(trial, base, i) == (stamp == 0 ? 0 : ~stamp))
        return NULL;
    return say("granule %zu at 0x%lx holds %lx, not %lx", i,
               (unsigned long)base, (unsigned long)*first_word(trial, base, i),
               (unsigned long)stamp);
}

static const char *check_chunks(const struct trial *trial, uint64_t base,
                                const struct vector *chunks)
{
    const struct range_chunk *chunk = chunks->items;
    const char *wrong = NULL;
    uint64_t at;
    uint32_t i;

    for (i = 0; i < chunks->count; i++)
        for (at = chunk[i].offset;
             at < chunk[i].offset + chunk[i].bytes && wrong == NULL;
             at += trial->granule)
            wrong = check_granule(trial, base, at / trial->granule);
    return wrong;
}

const char *trial_contents(const struct trial *trial)
{
    const struct ashlar_range *range = trial->range;
    const struct range_old *olds = range->olds.items;
    const char *wrong;
    uint32_t i;

    if (page_rights(range) == ASHLAR_RIGHTS_NONE)
        return NULL;
    wrong = check_chunks(trial, range->base, &range->chunks);
    for (i = 0; i < range->olds.count && wrong == NULL; i++)
        wrong = check_chunks(trial, olds[i].base, &olds[i].chunks);
    return wrong;
}

/* --- records -------------------------------------------------------------- */

/* What the ranges of a source say that they have. */
struct sum {
    const struct model *model;
    size_t spaces;
    size_t chunks;
    size_t mappings;
};

static const char *check_spaces(struct sum *sum, uint64_t base,
                                uint64_t reserved, const struct vector *spaces)
{
    const struct range_space *space = spaces->items;
    const struct model_item *item;
    uint64_t at = base;
    uint32_t i;

    for (i = 0; i < spaces->count; i++) {
        item = model_over(&sum->model->spaces, space[i].address, 1);
        if (space[i].address != at || item == NULL || item->key != at ||
            item->bytes != space[i].bytes)
            return say("space %u at 0x%lx is not reserved so", i,
                       (unsigned long)space[i].address);
        at += space[i].bytes;
    }
    sum->spaces += spaces->count;
    return at == base + reserved ? NULL : say("reserved is not the sum");
}

/* Whether a mapping has just the rights of the list, if none are to be put
 * back still. */
static bool has_rights(const struct ashlar_range *range,
                       const struct model_item *mapping)
{
    const struct ashlar_access *access = range->access.items;
    uint8_t rights[MODEL_LOCATIONS] = {0};
    uint32_t i;

    for (i = 0; i < range->access.count; i++)
        rights[access[i].location] = (uint8_t)access[i].rights;
    return range->rights_undo != NULL ||
           memcmp(rights, mapping->rights, sizeof(rights)) == 0;
}

static const char *check_mapped(struct sum *sum,
                                const struct ashlar_range *range, uint64_t base,
                                uint64_t reserved, const struct vector *chunks,
                                uint64_t *bytes_out)
{
    const struct range_chunk *chunk = chunks->items;
    const struct model_item *item;
    uint64_t end = 0;
    uint32_t i;

    *bytes_out = 0;
    for (i = 0; i < chunks->count; i++) {
        if (chunk[i].offset < end ||
            chunk[i].offset + chunk[i].bytes > reserved)
            return say("chunk %u is out of order", i);
        end = chunk[i].offset + chunk[i].bytes;
        *bytes_out += chunk[i].bytes;
        item = model_over(&sum->model->mappings, base + chunk[i].offset, 1);
        if (item == NULL || item->key != base + chunk[i].offset ||
            item->bytes != chunk[i].bytes || item->chunk != chunk[i].handle)
            return say("chunk %u at offset %lx is not mapped", i,
                       (unsigned long)chunk[i].offset);
        if (!has_rights(range, item))
            return say("chunk %u at offset %lx has other rights", i,
                       (unsigned long)chunk[i].offset);
    }
    sum->mappings += chunks->count;
    return NULL;
}

/* No hole between what is used and the frontier. */
static const char *check_frontier(const struct ashlar_range *range)
{
    const struct range_chunk *chunks = range->chunks.items;
    uint64_t at = (range->used + range->granule - 1) & ~(range->granule - 1);
    uint32_t i = range_chunk_at(range, at);

    if (i != 0 && chunks[i - 1].offset + chunks[i - 1].bytes > at)
        at = chunks[i - 1].offset + chunks[i - 1].bytes;
    for (; i < range->chunks.count && chunks[i].offset == at; i++)
        at += chunks[i].bytes;
    if (i == range->chunks.count && at == range->frontier &&
        range->frontier <= range->reserved)
        return NULL;
    return say("the frontier is %lx; chunks end at %lx, %u of %u",
               (unsigned long)range->frontier, (unsigned long)at, i,
               range->chunks.count);
}

static const char *check_prepared(struct sum *sum,
                                  const struct ashlar_range *range)
{
    const struct range_chunk *chunks = range->prepared.items;
    const struct model_item *item;
    uint64_t bytes = 0;
    uint32_t i;

    for (i = 0; i < range->prepared.count; i++) {
        item = model_chunk(sum->model, chunks[i].handle);
        if (item == NULL || item->bytes != chunks[i].bytes)
            return say("prepared chunk %u does not exist", i);
        bytes += chunks[i].bytes;
    }
    sum->chunks += range->chunks.count + range->prepared.count;
    return bytes == range->prepared_bytes ? NULL : say("prepared is no sum");
}

static const char *check_olds(struct sum *sum, const struct ashlar_range *range)
{
    const struct range_old *olds = range->olds.items;
    const char *wrong = NULL;
    uint64_t bytes;
    uint32_t i;

    for (i = 0; i < range->olds.count && wrong == NULL; i++) {
        wrong =
            check_spaces(sum, olds[i].base, olds[i].reserved, &olds[i].spaces);
        if (wrong == NULL)
            wrong = check_mapped(sum, range, olds[i].base, olds[i].reserved,
                                 &olds[i].chunks, &bytes);
        if (wrong == NULL && bytes != olds[i].mapped_bytes)
            wrong = say("mapped_bytes of old %u is no sum", i);
        if (wrong == NULL && ashlar_range_find(olds[i].base) != range)
            wrong = say("old %u is not found", i);
    }
    return wrong;
}

static const char *check_range(struct sum *sum, struct ashlar_range *range)
{
    const char *wrong;
    uint64_t bytes;

    wrong = check_spaces(sum, range->base, range->reserved, &range->spaces);
    if (wrong == NULL)
        wrong = check_mapped(sum, range, range->base, range->reserved,
                             &range->chunks, &bytes);
    if (wrong == NULL && bytes != range->committed)
        wrong = say("committed is no sum");
    if (wrong == NULL)
        wrong = check_frontier(range);
    if (wrong == NULL)
        wrong = check_prepared(sum, range);
    if (wrong == NULL)
        wrong = check_olds(sum, range);
    if (wrong == NULL && ashlar_range_find(range->base) != range)
        wrong = say("the range is not found");
    return wrong;
}

const char *ranges_records(struct ashlar_source *source,
                           struct ashlar_range *const *ranges, size_t count)
{
    struct model model = wrap_model(source);
    struct sum sum = {&model, 0, 0, 0};
    const char *wrong = NULL;
    size_t i;

    for (i = 0; i < count && wrong == NULL; i++)
        if (ranges[i] != NULL)
            wrong = check_range(&sum, ranges[i]);
    if (wrong == NULL && model.wrong[0] != '\0')
        wrong = say("%s", model.wrong);
    if (wrong == NULL)
        wrong = engine_differs(&wrap_of(source)->inner, &model);
    if (wrong == NULL && retire_is_empty(&source->retire) &&
        (sum.spaces != model.spaces.count || sum.chunks != model.chunks.count ||
         sum.mappings != model.mappings.count || model.fences.count != 0))
        wrong = say("of %zu reservations, %zu chunks, %zu mappings the ranges "
                    "know %zu, %zu, %zu",
                    model.spaces.count, model.chunks.count,
                    model.mappings.count, sum.spaces, sum.chunks, sum.mappings);
    model_free(&model);
    return wrong;
}

const char *trial_wrong(const struct trial *trial)
{
    const char *wrong = ranges_records(trial->source, &trial->range, 1);

    return wrong == NULL && trial->range != NULL ? trial_contents(trial)
                                                 : wrong;
}

/* --- before and after ----------------------------------------------------- */

void before_take(struct before *before, const struct trial *trial)
{
    memset(before, 0, sizeof(*before));
    before->exists = trial->range != NULL;
    if (before->exists) {
        before->info = trial_info(trial);
        OK(ashlar_range_chunks(trial->range, before->chunks, TRIAL_GRANULES,
                               &before->chunk_count));
        ck_assert_uint_le(before->chunk_count, TRIAL_GRANULES);
    }
    before->model = wrap_model(trial->source);
    before->budget = source_budget_left();
}

void before_free(struct before *before)
{
    model_free(&before->model);
}

/* The members by which a range that failed to change may not differ. */
static const char *info_differs(const struct ashlar_range_info *a,
                                const struct ashlar_range_info *b)
{
    if (a->base != b->base)
        return "base";
    if (a->used_bytes != b->used_bytes)
        return "used_bytes";
    if (a->committed_bytes != b->committed_bytes)
        return "committed_bytes";
    if (a->prepared_bytes != b->prepared_bytes)
        return "prepared_bytes";
    if (a->reserved_bytes != b->reserved_bytes)
        return "reserved_bytes";
    if (a->old_bytes != b->old_bytes)
        return "old_bytes";
    return memcmp(a, b, sizeof(*a)) == 0 ? NULL : "epoch or grows";
}

const char *before_differs(const struct before *before,
                           const struct trial *trial)
{
    struct before now;
    const char *differs;

    before_take(&now, trial);
    before_free(&now);
    if (before->exists != now.exists)
        return "existence";
    if (!now.exists)
        return NULL;
    differs = info_differs(&before->info, &now.info);
    if (differs == NULL &&
        (before->chunk_count != now.chunk_count ||
         memcmp(before->chunks, now.chunks,
                now.chunk_count * sizeof(now.chunks[0])) != 0))
        differs = "chunks";
    return differs == NULL ? trial_wrong(trial) : differs;
}

const char *before_given_differs(const struct before *before,
                                 const struct trial *trial)
{
    struct model now = wrap_model(trial->source);
    const char *differs = model_differs(&before->model, &now);

    if (differs == NULL && before->budget != source_budget_left())
        differs = "budget";
    model_free(&now);
    return differs;
}
