/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The sources that are there, and the files that were refused, and why.
 */
#ifndef ASHLAR_TOOLS_SOURCES_H
#define ASHLAR_TOOLS_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum found_state {
    FOUND_GOOD,    /* loaded, not opened */
    FOUND_OPENED,  /* opened, and closed again */
    FOUND_CLOSED,  /* loaded, but it does not open: see reason */
    FOUND_REFUSED, /* not loaded: see reason */
    FOUND_HIDDEN   /* behind another of its name */
};

struct found {
    char *name;
    char *path; /* "" when built in */
    char *version;
    char *description; /* "" unless opened */
    char *reason;      /* "" for none */
    char *options;     /* what it was opened by, such as "device=1"; "" */
    enum found_state state;
    uint64_t can; /* the groups it has; when opened, what works */
    uint64_t granule;
    uint64_t memory_bytes;
};

struct sources {
    size_t count;
    struct found *list;
};

/**
 * Find them all, and open each if that is wished. One that takes "device=N"
 * comes once for each of its devices. False: the error is set.
 */
bool sources_find(struct sources *sources, bool open);
void sources_clear(struct sources *sources);

/** "found", "opened", "does not open", "refused", "hidden". */
const char *found_state_text(enum found_state state);

#endif
