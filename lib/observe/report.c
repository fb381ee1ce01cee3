/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The reports walk through the pools by the public functions alone and keep
 * nothing between calls: they allocate nothing, so they work when memory is
 * short, which is when people ask for them.
 */
#include "config.h"

#include <ashlar/stats.h>

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <ashlar/version.h>

#include "observe/arenas.h"
#include "observe/json.h"
#include "observe/text.h"

/* One pool, as a report sees it. */
struct row {
    const char *name;
    const char *type;
    struct ashlar_pool_stats stats;
};

/* False for a pool that is gone: it is left out. */
static bool read_row(struct ashlar_pool *pool, struct row *row)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    const struct ashlar_type *type = ashlar_pool_type(pool);

    row->name = ashlar_pool_name(pool);
    if (row->name == NULL || type == NULL ||
        ashlar_type_query(type, &info) != ASHLAR_OK ||
        ashlar_pool_query(pool, &stats) != ASHLAR_OK)
        return false;
    row->type = info.name;
    row->stats = stats;
    return true;
}

typedef void row_fn(struct text *text, const struct row *row);

static void for_each_row(struct text *text, row_fn *fn)
{
    struct ashlar_pool *pool = NULL;
    struct row row;

    while ((pool = ashlar_pool_next(pool)) != NULL) {
        if (read_row(pool, &row))
            fn(text, &row);
    }
}

/* --- the text: tables of 80 columns ------------------------------------- */

#define NAME_WIDTH 24

static void add_slots(struct text *text, const struct row *row)
{
    const struct ashlar_pool_stats *stats = &row->stats;

    text_column(text, row->name, NAME_WIDTH);
    text_count(text, stats->live_slots, 8);
    text_count(text, stats->cached_slots, 8);
    text_count(text, stats->free_slots, 8);
    text_count(text, stats->capacity_slots, 8);
    text_count(text, stats->peak_slots, 8);
    text_count(text, stats->promised_slots, 8);
    if (stats->max_slots == ASHLAR_POOL_SLOTS_MAX)
        text_say(text, "    none\n");
    else {
        text_count(text, stats->max_slots, 8);
        text_say(text, "\n");
    }
}

static void add_memory(struct text *text, const struct row *row)
{
    const struct ashlar_pool_stats *stats = &row->stats;

    text_column(text, row->name, NAME_WIDTH);
    text_say(text, " ");
    text_column(text, row->type, 13);
    text_bytes(text, stats->stride, 9);
    text_count(text, stats->slabs, 6);
    text_bytes(text, stats->slab_bytes, 9);
    text_bytes(text, stats->bookkeeping_bytes, 9);
    text_bytes(text, stats->waste_bytes, 9);
    text_say(text, "\n");
}

static void add_calls(struct text *text, const struct row *row)
{
    const struct ashlar_pool_stats *stats = &row->stats;

    text_column(text, row->name, NAME_WIDTH);
    text_count(text, stats->live_runs, 8);
    text_count(text, stats->free_runs, 8);
    text_count(text, stats->caches, 8);
    text_count(text, stats->store_takes, 8);
    text_count(text, stats->store_gives, 8);
    text_count(text, stats->source_calls, 8);
    text_count(text, stats->refusals, 8);
    text_say(text, "\n");
}

static void add_remark(struct text *text, const struct row *row)
{
    if (row->stats.duplicates == 0)
        return;
    text_say(text, "\n");
    text_column(text, row->name, NAME_WIDTH);
    text_say(text, " slots put twice by racing threads, found and dropped: ");
    text_count(text, row->stats.duplicates, 0);
    text_say(text, "\n");
}

static void add_headline(struct text *text)
{
    struct ashlar_pool *pool = NULL;
    uint64_t pools = 0;
    uint64_t slabs = 0;
    uint64_t records = 0;
    struct row row;

    while ((pool = ashlar_pool_next(pool)) != NULL) {
        if (!read_row(pool, &row))
            continue;
        pools++;
        slabs += row.stats.slab_bytes;
        records += row.stats.bookkeeping_bytes;
    }
    text_format(text, "ashlar %s: %llu pool%s", ashlar_version_string(),
                (unsigned long long)pools, pools == 1 ? "" : "s");
    if (pools > 0) {
        text_say(text, ", ");
        text_bytes(text, slabs, 0);
        text_say(text, " in slabs, ");
        text_bytes(text, records, 0);
        text_say(text, " of records");
    }
    text_say(text, "\n");
}

static void add_tables(struct text *text)
{
    text_say(text,
             "\nslots                   "
             "    live  cached    free   total    peak reserve     max\n");
    for_each_row(text, add_slots);
    text_say(text, "\ntypes, memory            "
                   "type            stride slabs   memory  records rounding\n");
    for_each_row(text, add_memory);
    text_say(text,
             "\nruns, caches, calls     "
             "    runs    free  caches   takes   gives  source refused\n");
    for_each_row(text, add_calls);
    for_each_row(text, add_remark);
}

size_t ashlar_report_text(char *buffer, size_t bytes)
{
    struct text text;

    text_start(&text, buffer, bytes);
    add_headline(&text);
    if (ashlar_pool_next(NULL) != NULL)
        add_tables(&text);
    arenas_add_text(&text);
    return text.length;
}

/* --- JSON: the struct's members under their own names -------------------- */

#define MEMBER(_name)                                                          \
    {                                                                          \
        offsetof(struct ashlar_pool_stats, _name),                             \
            sizeof(((struct ashlar_pool_stats *)NULL)->_name), #_name          \
    }

static const struct {
    size_t offset;
    size_t bytes;
    const char *name;
} members[] = {
    MEMBER(live_slots),
    MEMBER(cached_slots),
    MEMBER(free_slots),
    MEMBER(capacity_slots),
    MEMBER(peak_slots),
    MEMBER(max_slots),
    MEMBER(promised_slots),
    MEMBER(live_runs),
    MEMBER(free_runs),
    MEMBER(stride),
    MEMBER(slab_bytes),
    MEMBER(waste_bytes),
    MEMBER(bookkeeping_bytes),
    MEMBER(slabs),
    MEMBER(caches),
    MEMBER(source_calls),
    MEMBER(store_takes),
    MEMBER(store_gives),
    MEMBER(refusals),
    MEMBER(duplicates),
    MEMBER(waiting_slots),
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

/* `size` is not told; a member added to the struct must be. */
static_assert((MEMBER_COUNT + 1) * sizeof(uint64_t) ==
                  sizeof(struct ashlar_pool_stats),
              "every member of struct ashlar_pool_stats is in the JSON");

static uint64_t read_member(const struct ashlar_pool_stats *stats, size_t i)
{
    const char *at = (const char *)stats + members[i].offset;
    uint64_t wide;
    size_t narrow;

    if (members[i].bytes == sizeof(wide)) {
        memcpy(&wide, at, sizeof(wide));
        return wide;
    }
    memcpy(&narrow, at, sizeof(narrow));
    return narrow;
}

static void add_pool(struct json *json, const struct row *row)
{
    json_open(json, '{');
    json_key(json, "name");
    json_string(json, row->name);
    json_key(json, "type");
    json_string(json, row->type);
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        json_key(json, members[i].name);
        json_number(json, read_member(&row->stats, i));
    }
    json_close(json, '}');
}

size_t ashlar_report_json(char *buffer, size_t bytes)
{
    struct ashlar_pool *pool = NULL;
    struct text text;
    struct json json;
    struct row row;

    text_start(&text, buffer, bytes);
    json_start(&json, &text);
    json_open(&json, '{');
    json_key(&json, "version");
    json_string(&json, ashlar_version_string());
    json_key(&json, "pools");
    json_open(&json, '[');
    while ((pool = ashlar_pool_next(pool)) != NULL) {
        if (read_row(pool, &row))
            add_pool(&json, &row);
    }
    json_close(&json, ']');
    json_key(&json, "arenas");
    arenas_add_json(&json);
    json_close(&json, '}');
    text_say(&text, "\n");
    return text.length;
}
