/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "sources.h"

#include <stdlib.h>
#include <string.h>

#include <ashlar/source.h>
#include <ashlar/status.h>

#include "must.h"

const char *found_state_text(enum found_state state)
{
    static const char *const texts[] = {
        [FOUND_GOOD] = "found",           [FOUND_OPENED] = "opened",
        [FOUND_CLOSED] = "does not open", [FOUND_REFUSED] = "refused",
        [FOUND_HIDDEN] = "hidden",
    };

    return texts[state];
}

static int add(const struct ashlar_source_candidate *candidate, void *user)
{
    struct sources *sources = user;
    struct found *found;

    sources->list =
        must_grow(sources->list, sources->count + 1, sizeof(sources->list[0]));
    found = &sources->list[sources->count++];
    *found = (struct found){
        .name = must_copy(candidate->name),
        .path = must_copy(candidate->path),
        .version = must_copy(candidate->version),
        .description = must_copy(""),
        .reason = must_copy(candidate->reason),
        .options = must_copy(""),
        .can = candidate->groups,
        .state = candidate->status == ASHLAR_OK             ? FOUND_GOOD
                 : candidate->status == ASHLAR_ERR_CONFLICT ? FOUND_HIDDEN
                                                            : FOUND_REFUSED,
    };
    return 0;
}

static void set(char **text, const char *value)
{
    free(*text);
    *text = must_copy(value);
}

/* What it can do here is known only when it is open. */
static void note_inside(struct found *found, struct ashlar_source *source)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    if (ashlar_source_query(source, &info) != ASHLAR_OK)
        return;
    found->state = FOUND_OPENED;
    found->can = info.can;
    found->granule = info.granule;
    found->memory_bytes = info.memory_bytes;
    set(&found->description, info.description);
}

static bool look_inside(struct found *found)
{
    struct ashlar_source *source;

    if (ashlar_source_open(found->name, NULL, &source) != ASHLAR_OK) {
        found->state = FOUND_CLOSED;
        set(&found->reason, ashlar_last_error_message());
        return false;
    }
    note_inside(found, source);
    (void)ashlar_source_close(source);
    return true;
}

/* The source at a place by another device, behind it; false: there is none. */
static bool add_device(struct sources *sources, size_t at, unsigned device)
{
    char *options = must_format("device=%u", device);
    struct ashlar_source *source;
    struct found *found;

    if (ashlar_source_open(sources->list[at].name, options, &source) !=
        ASHLAR_OK) {
        free(options);
        return false;
    }
    sources->list =
        must_grow(sources->list, sources->count + 1, sizeof(sources->list[0]));
    found = &sources->list[at + device];
    memmove(found + 1, found,
            (sources->count++ - at - device) * sizeof(*found));
    *found = (struct found){
        .name = must_copy(sources->list[at].name),
        .path = must_copy(sources->list[at].path),
        .version = must_copy(sources->list[at].version),
        .description = must_copy(""),
        .reason = must_copy(""),
        .options = options,
    };
    note_inside(found, source);
    (void)ashlar_source_close(source);
    return true;
}

static void look_at_all(struct sources *sources)
{
    unsigned device;
    size_t i;

    for (i = 0; i < sources->count; i += device) {
        device = 1;
        if (sources->list[i].state == FOUND_GOOD &&
            look_inside(&sources->list[i]))
            while (add_device(sources, i, device))
                device++;
    }
}

bool sources_find(struct sources *sources, bool open)
{
    *sources = (struct sources){0, NULL};
    if (ashlar_source_list(add, sources) != ASHLAR_OK)
        return false;
    if (open)
        look_at_all(sources);
    return true;
}

void sources_clear(struct sources *sources)
{
    size_t i;

    for (i = 0; i < sources->count; i++) {
        free(sources->list[i].name);
        free(sources->list[i].path);
        free(sources->list[i].version);
        free(sources->list[i].description);
        free(sources->list[i].reason);
        free(sources->list[i].options);
    }
    free(sources->list);
    *sources = (struct sources){0, NULL};
}
