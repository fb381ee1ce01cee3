/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "index.h"

#include <stdlib.h>
#include <string.h>

size_t index_at(const struct index *index, uint64_t where)
{
    size_t low = 0;
    size_t high = index->count;
    size_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (index->items[middle]->start + index->items[middle]->bytes > where)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void *index_find(const struct index *index, uint64_t where)
{
    size_t at = index_at(index, where);

    if (at == index->count || index->items[at]->start > where)
        return NULL;
    return index->items[at];
}

int index_overlaps(const struct index *index, uint64_t start, uint64_t bytes)
{
    size_t at = index_at(index, start);

    return at < index->count && index->items[at]->start < start + bytes;
}

int index_add(struct index *index, struct item *item)
{
    size_t at = index_at(index, item->start);
    struct item **items = index->items;
    size_t capacity;

    if (index->count == index->capacity) {
        capacity = index->capacity == 0 ? 16 : index->capacity * 2;
        items = realloc(items, capacity * sizeof(struct item *));
        if (items == NULL)
            return -1;
        index->items = items;
        index->capacity = capacity;
    }
    memmove(&items[at + 1], &items[at],
            (index->count - at) * sizeof(struct item *));
    items[at] = item;
    index->count++;
    return 0;
}

void index_remove(struct index *index, const struct item *item)
{
    size_t at = index_at(index, item->start);

    index->count--;
    memmove(&index->items[at], &index->items[at + 1],
            (index->count - at) * sizeof(struct item *));
}

void index_clear(struct index *index)
{
    free(index->items);
    index->items = NULL;
    index->count = 0;
    index->capacity = 0;
}
