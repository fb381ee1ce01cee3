/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What a driver knows of addresses and memory, kept apart from any source, and
 * the rules by which it may be used.
 *
 *     spaces    [ one reservation        ][ another ]
 *     mappings  [ chunk A ][ chunk B ]      rights per location
 *     chunks    A B C
 *
 * Each operation is first asked for by may_...(), which says no when a rule
 * is broken, and noted once it has been done. Models can be copied and
 * compared.
 *
 * Invariants: lists are sorted by key; spaces do not overlap, nor do mappings;
 * `wrong` keeps the first rule that was broken.
 */
#ifndef ASHLAR_TESTS_SUPPORT_DRIVER_MODEL_H
#define ASHLAR_TESTS_SUPPORT_DRIVER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/plugin.h>

#define MODEL_LOCATIONS 8

struct model_item {
    uint64_t key; /* an address; of a chunk and a fence, its handle */
    uint64_t bytes;
    uint64_t chunk; /* of a mapping */
    uint8_t rights[MODEL_LOCATIONS];
};

struct model_list {
    struct model_item *items;
    size_t count;
    size_t room;
};

struct model {
    uint64_t granule;
    struct model_list spaces;
    struct model_list chunks;
    struct model_list mappings;
    struct model_list fences;
    char wrong[256]; /* "": nothing */
};

void model_free(struct model *model);

/* A copy of its own; to be freed. */
struct model model_copy(const struct model *model);

/* What of two models differs, by name; NULL for nothing. */
const char *model_differs(const struct model *a, const struct model *b);

/* Whether nothing is given out. */
bool model_is_empty(const struct model *model);

/* The item that overlaps a stretch; NULL for none. */
const struct model_item *model_over(const struct model_list *list,
                                    uint64_t address, uint64_t bytes);
const struct model_item *model_chunk(const struct model *model,
                                     uint64_t handle);

/* Note what is wrong, if nothing was before. Returns false. */
bool model_wrong(struct model *model, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the rules allow it; noted as wrong when not. */
bool model_may_reserve(struct model *model, uint64_t bytes, uint64_t alignment,
                       uint64_t hint);
bool model_may_release(struct model *model, uint64_t address, uint64_t bytes);
bool model_may_create(struct model *model, uint64_t bytes);
bool model_may_destroy(struct model *model, uint64_t chunk, uint64_t bytes);
bool model_may_map(struct model *model, uint64_t address, uint64_t chunk,
                   uint64_t bytes);
/* Both for unmap and allow. */
bool model_is_whole(struct model *model, uint64_t address, uint64_t bytes,
                    const char *what);
bool model_may_allow(struct model *model, uint64_t address, uint64_t bytes,
                     const struct ashlar_access *access, size_t count);
bool model_has_fence(struct model *model, uint64_t fence, const char *what);

/* It was done. */
void model_reserved(struct model *model, uint64_t address, uint64_t bytes);
void model_released(struct model *model, uint64_t address);
void model_created(struct model *model, uint64_t chunk, uint64_t bytes);
void model_destroyed(struct model *model, uint64_t chunk);
void model_mapped(struct model *model, uint64_t address, uint64_t chunk,
                  uint64_t bytes);
void model_unmapped(struct model *model, uint64_t address, uint64_t bytes);
void model_allowed(struct model *model, uint64_t address, uint64_t bytes,
                   const struct ashlar_access *access, size_t count);
void model_fenced(struct model *model, uint64_t fence);
void model_dropped(struct model *model, uint64_t fence);

#endif
