/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/driver_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct model_item) == 32, "compared by memcmp()");

/* --- lists ---------------------------------------------------------------- */

/* Where the first item with a key of at least `key` stands. */
static size_t place_of(const struct model_list *list, uint64_t key)
{
    size_t low = 0;
    size_t high = list->count;
    size_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (list->items[middle].key < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct model_item *find(const struct model_list *list, uint64_t key)
{
    size_t i = place_of(list, key);

    return i < list->count && list->items[i].key == key ? &list->items[i]
                                                        : NULL;
}

static void insert(struct model_list *list, uint64_t key, uint64_t bytes,
                   uint64_t chunk)
{
    struct model_item item = {key, bytes, chunk, {0}};
    size_t i = place_of(list, key);

    if (list->count == list->room) {
        list->room = list->room == 0 ? 16 : list->room * 2;
        list->items = realloc(list->items, list->room * sizeof(item));
        if (list->items == NULL)
            abort();
    }
    memmove(&list->items[i + 1], &list->items[i],
            (list->count - i) * sizeof(item));
    list->items[i] = item;
    list->count++;
}

static void take_out(struct model_list *list, uint64_t key)
{
    size_t i = place_of(list, key);

    list->count--;
    memmove(&list->items[i], &list->items[i + 1],
            (list->count - i) * sizeof(*list->items));
}

static void copy_list(struct model_list *to, const struct model_list *from)
{
    size_t i;

    *to = (struct model_list){NULL, 0, 0};
    for (i = 0; i < from->count; i++) {
        insert(to, from->items[i].key, 0, 0);
        to->items[i] = from->items[i];
    }
}

static bool lists_differ(const struct model_list *a, const struct model_list *b)
{
    return a->count != b->count ||
           (a->count != 0 &&
            memcmp(a->items, b->items, a->count * sizeof(*a->items)) != 0);
}

const struct model_item *model_over(const struct model_list *list,
                                    uint64_t address, uint64_t bytes)
{
    size_t i = place_of(list, address + 1);

    if (i != 0 && list->items[i - 1].key + list->items[i - 1].bytes > address)
        return &list->items[i - 1];
    if (i < list->count && list->items[i].key < address + bytes)
        return &list->items[i];
    return NULL;
}

/* --- models --------------------------------------------------------------- */

void model_free(struct model *model)
{
    free(model->spaces.items);
    free(model->chunks.items);
    free(model->mappings.items);
    free(model->fences.items);
    *model = (struct model){.granule = model->granule};
}

struct model model_copy(const struct model *model)
{
    struct model copy = *model;

    copy_list(&copy.spaces, &model->spaces);
    copy_list(&copy.chunks, &model->chunks);
    copy_list(&copy.mappings, &model->mappings);
    copy_list(&copy.fences, &model->fences);
    return copy;
}

const char *model_differs(const struct model *a, const struct model *b)
{
    if (lists_differ(&a->spaces, &b->spaces))
        return "reservations";
    if (lists_differ(&a->chunks, &b->chunks))
        return "chunks";
    if (a->mappings.count != b->mappings.count)
        return "mappings";
    if (lists_differ(&a->mappings, &b->mappings))
        return "mappings or their rights";
    return lists_differ(&a->fences, &b->fences) ? "fences" : NULL;
}

bool model_is_empty(const struct model *model)
{
    return model->spaces.count == 0 && model->chunks.count == 0 &&
           model->mappings.count == 0 && model->fences.count == 0;
}

const struct model_item *model_chunk(const struct model *model, uint64_t handle)
{
    return find(&model->chunks, handle);
}

bool model_wrong(struct model *model, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    if (model->wrong[0] == '\0')
        (void)vsnprintf(model->wrong, sizeof(model->wrong), format, arguments);
    va_end(arguments);
    return false;
}

/* --- the rules ------------------------------------------------------------ */

static bool is_multiple(const struct model *model, uint64_t bytes)
{
    return bytes != 0 && bytes % model->granule == 0;
}

bool model_may_reserve(struct model *model, uint64_t bytes, uint64_t alignment,
                       uint64_t hint)
{
    if (is_multiple(model, bytes) && alignment >= model->granule &&
        (alignment & (alignment - 1)) == 0 && hint % alignment == 0)
        return true;
    return model_wrong(model, "reserved %lx bytes at %lx, alignment %lx",
                       (unsigned long)bytes, (unsigned long)hint,
                       (unsigned long)alignment);
}

bool model_may_release(struct model *model, uint64_t address, uint64_t bytes)
{
    const struct model_item *space = find(&model->spaces, address);

    if (space == NULL || space->bytes != bytes)
        return model_wrong(model, "released %lx bytes at %lx: no reservation",
                           (unsigned long)bytes, (unsigned long)address);
    if (model_over(&model->mappings, address, bytes) == NULL)
        return true;
    return model_wrong(model, "released %lx bytes at %lx: still mapped",
                       (unsigned long)bytes, (unsigned long)address);
}

bool model_may_create(struct model *model, uint64_t bytes)
{
    if (is_multiple(model, bytes))
        return true;
    return model_wrong(model, "created a chunk of %lx bytes",
                       (unsigned long)bytes);
}

bool model_may_destroy(struct model *model, uint64_t chunk, uint64_t bytes)
{
    const struct model_item *item = find(&model->chunks, chunk);
    size_t i;

    if (item == NULL || item->bytes != bytes)
        return model_wrong(model, "destroyed %lx, no chunk of %lx bytes",
                           (unsigned long)chunk, (unsigned long)bytes);
    for (i = 0; i < model->mappings.count; i++)
        if (model->mappings.items[i].chunk == chunk)
            return model_wrong(model, "destroyed chunk %lx, mapped at %lx",
                               (unsigned long)chunk,
                               (unsigned long)model->mappings.items[i].key);
    return true;
}

bool model_may_map(struct model *model, uint64_t address, uint64_t chunk,
                   uint64_t bytes)
{
    const struct model_item *item = find(&model->chunks, chunk);
    const struct model_item *space = model_over(&model->spaces, address, 1);

    if (item == NULL || item->bytes != bytes)
        return model_wrong(model, "mapped %lx, no chunk of %lx bytes",
                           (unsigned long)chunk, (unsigned long)bytes);
    if (address % model->granule != 0 || space == NULL ||
        address + bytes > space->key + space->bytes)
        return model_wrong(model,
                           "mapped %lx bytes at %lx: not in one "
                           "reservation",
                           (unsigned long)bytes, (unsigned long)address);
    if (model_over(&model->mappings, address, bytes) == NULL)
        return true;
    return model_wrong(model, "mapped %lx bytes at %lx: over another",
                       (unsigned long)bytes, (unsigned long)address);
}

bool model_is_whole(struct model *model, uint64_t address, uint64_t bytes,
                    const char *what)
{
    uint64_t at = address;
    const struct model_item *item;

    while (bytes != 0 && at < address + bytes) {
        item = find(&model->mappings, at);
        if (item == NULL || at + item->bytes > address + bytes)
            break;
        at += item->bytes;
    }
    if (bytes != 0 && at == address + bytes)
        return true;
    return model_wrong(model, "%s %lx bytes at %lx: not whole mappings", what,
                       (unsigned long)bytes, (unsigned long)address);
}

bool model_may_allow(struct model *model, uint64_t address, uint64_t bytes,
                     const struct ashlar_access *access, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (access[i].location >= MODEL_LOCATIONS || access[i].rights > 3 ||
            access[i].rights == 2)
            return model_wrong(model, "allowed rights %u to location %u",
                               access[i].rights, access[i].location);
    if (count == 0)
        return model_wrong(model, "allowed nothing");
    return model_is_whole(model, address, bytes, "allowed");
}

bool model_has_fence(struct model *model, uint64_t fence, const char *what)
{
    if (find(&model->fences, fence) != NULL)
        return true;
    return model_wrong(model, "%s %lx, no fence", what, (unsigned long)fence);
}

/* --- what was done -------------------------------------------------------- */

void model_reserved(struct model *model, uint64_t address, uint64_t bytes)
{
    if (model_over(&model->spaces, address, bytes) != NULL)
        (void)model_wrong(model, "the source granted %lx twice",
                          (unsigned long)address);
    insert(&model->spaces, address, bytes, 0);
}

void model_released(struct model *model, uint64_t address)
{
    take_out(&model->spaces, address);
}

void model_created(struct model *model, uint64_t chunk, uint64_t bytes)
{
    insert(&model->chunks, chunk, bytes, 0);
}

void model_destroyed(struct model *model, uint64_t chunk)
{
    take_out(&model->chunks, chunk);
}

void model_mapped(struct model *model, uint64_t address, uint64_t chunk,
                  uint64_t bytes)
{
    insert(&model->mappings, address, bytes, chunk);
}

void model_unmapped(struct model *model, uint64_t address, uint64_t bytes)
{
    const struct model_item *item;

    while ((item = model_over(&model->mappings, address, bytes)) != NULL)
        take_out(&model->mappings, item->key);
}

void model_allowed(struct model *model, uint64_t address, uint64_t bytes,
                   const struct ashlar_access *access, size_t count)
{
    struct model_item *item;
    uint64_t at;
    size_t i;

    for (at = address; at < address + bytes; at += item->bytes) {
        item = find(&model->mappings, at);
        for (i = 0; i < count; i++)
            item->rights[access[i].location] = (uint8_t)access[i].rights;
    }
}

void model_fenced(struct model *model, uint64_t fence)
{
    insert(&model->fences, fence, 0, 0);
}

void model_dropped(struct model *model, uint64_t fence)
{
    take_out(&model->fences, fence);
}
