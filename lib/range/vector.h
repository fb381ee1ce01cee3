/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A growing array. Room is made before, so that adding cannot fail.
 */
#ifndef ASHLAR_RANGE_VECTOR_H
#define ASHLAR_RANGE_VECTOR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/memory.h"

/** The most items, so that the room can be doubled. */
#define VECTOR_MOST (UINT32_C(1) << 30)

struct vector {
    void *items;
    uint32_t count;
    uint32_t room;
};

/** Room for `more` items behind those there are: 0, or -1 without memory. */
static inline int vector_make_room(struct vector *vector, uint32_t more,
                                   size_t item_bytes)
{
    uint32_t room = vector->room < 4 ? 4 : vector->room;
    void *items;

    if (vector->room - vector->count >= more)
        return 0;
    if (more > VECTOR_MOST - vector->count)
        return -1;
    while (room - vector->count < more)
        room *= 2;
    items = memory_realloc(vector->items, room * item_bytes);
    if (items == NULL)
        return -1;
    vector->items = items;
    vector->room = room;
    return 0;
}

/** Insert an item at a place; there is room. */
static inline void vector_insert(struct vector *vector, uint32_t at,
                                 const void *item, size_t item_bytes)
{
    char *place = (char *)vector->items + (size_t)at * item_bytes;

    memmove(place + item_bytes, place, (vector->count - at) * item_bytes);
    memcpy(place, item, item_bytes);
    vector->count++;
}

static inline void vector_append(struct vector *vector, const void *item,
                                 size_t item_bytes)
{
    vector_insert(vector, vector->count, item, item_bytes);
}

/** Remove `n` items from a place on. */
static inline void vector_remove(struct vector *vector, uint32_t at, uint32_t n,
                                 size_t item_bytes)
{
    char *place;

    /* An empty vector has no items that could be moved, nor pointed to. */
    if (n == 0)
        return;
    place = (char *)vector->items + (size_t)at * item_bytes;
    memmove(place, place + (size_t)n * item_bytes,
            (vector->count - at - n) * item_bytes);
    vector->count -= n;
}

static inline void vector_free(struct vector *vector)
{
    memory_free(vector->items);
    *vector = (struct vector){NULL, 0, 0};
}

#endif
