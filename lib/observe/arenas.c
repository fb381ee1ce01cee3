/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "observe/arenas.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include <ashlar/arena.h>

#define NAME_WIDTH 20

/* False for an arena that is gone, or the parent's: it is left out. */
static bool read_stats(struct ashlar_arena *arena,
                       struct ashlar_arena_stats *stats)
{
    static const struct ashlar_arena_stats none = ASHLAR_ARENA_STATS_INIT;

    *stats = none;
    return ashlar_arena_name(arena) != NULL &&
           ashlar_arena_query(arena, stats) == ASHLAR_OK;
}

static const char *kind_name(uint32_t kind)
{
    switch ((enum ashlar_arena_kind)kind) {
    case ASHLAR_ARENA_KIND_SHARED:
        return "shared";
    case ASHLAR_ARENA_KIND_ISOLATED:
        return "isolated";
    case ASHLAR_ARENA_KIND_RANGE:
        return "range";
    }
    return "unknown";
}

static void add_row(struct text *text, const char *name,
                    const struct ashlar_arena_stats *stats)
{
    text_column(text, name, NAME_WIDTH);
    text_say(text, " ");
    text_column(text, kind_name(stats->kind), 8);
    text_count(text, stats->live_blocks, 7);
    text_count(text, stats->waiting_blocks, 8);
    text_bytes(text, stats->committed_bytes, 9);
    text_bytes(text, stats->peak_committed_bytes, 9);
    text_bytes(text, stats->reserved_bytes, 9);
    text_count(text, stats->refusals, 8);
    text_say(text, "\n");
}

void arenas_add_text(struct text *text)
{
    struct ashlar_arena *arena = NULL;
    struct ashlar_arena_stats stats;

    if (ashlar_arena_next(NULL) == NULL)
        return;
    text_say(text, "\narenas               kind       live waiting   memory"
                   "     most    range refused\n");
    while ((arena = ashlar_arena_next(arena)) != NULL)
        if (read_stats(arena, &stats))
            add_row(text, ashlar_arena_name(arena), &stats);
}

/* --- JSON: the struct's members under their own names -------------------- */

#define MEMBER(_name)                                                          \
    {                                                                          \
        offsetof(struct ashlar_arena_stats, _name), #_name                     \
    }

static const struct {
    size_t offset;
    const char *name;
} members[] = {
    MEMBER(live_blocks),
    MEMBER(waiting_blocks),
    MEMBER(refusals),
    MEMBER(committed_bytes),
    MEMBER(peak_committed_bytes),
    MEMBER(reserved_bytes),
    MEMBER(commits),
    MEMBER(releases),
    MEMBER(bookkeeping_bytes),
};

#define MEMBER_COUNT (sizeof(members) / sizeof(members[0]))

/* Neither size nor reserved is told, and kind by its name. */
static_assert((MEMBER_COUNT + 2) * sizeof(uint64_t) ==
                  sizeof(struct ashlar_arena_stats),
              "every member of struct ashlar_arena_stats is in the JSON");

static void add_object(struct json *json, const char *name,
                       const struct ashlar_arena_stats *stats)
{
    uint64_t number;
    size_t i;

    json_open(json, '{');
    json_key(json, "name");
    json_string(json, name);
    json_key(json, "kind");
    json_string(json, kind_name(stats->kind));
    for (i = 0; i < MEMBER_COUNT; i++) {
        memcpy(&number, (const char *)stats + members[i].offset,
               sizeof(number));
        json_key(json, members[i].name);
        json_number(json, number);
    }
    json_close(json, '}');
}

void arenas_add_json(struct json *json)
{
    struct ashlar_arena *arena = NULL;
    struct ashlar_arena_stats stats;

    json_open(json, '[');
    while ((arena = ashlar_arena_next(arena)) != NULL)
        if (read_stats(arena, &stats))
            add_object(json, ashlar_arena_name(arena), &stats);
    json_close(json, ']');
}
