/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Things in the order of a number: spans of addresses, or handles.
 *
 *     items ──> [ 0x1000, 16 ] [ 0x1010, 16 ] [ 0x4000, 4096 ] ...
 *                start   bytes
 *
 * Invariants: ascending by start; no two overlap. A handle is a span of one, and
 * finding it is finding what contains it. An item is the first member of what is
 * kept, which belongs to whoever added it.
 */
#ifndef CUDASIM_INDEX_H
#define CUDASIM_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct item {
    uint64_t start;
    uint64_t bytes;
};

struct index {
    struct item **items;
    size_t count;
    size_t capacity;
};

/* Position of the first item that ends after an address; count if none does. */
size_t index_at(const struct index *index, uint64_t where);

/* The item that contains an address; NULL: none. */
void *index_find(const struct index *index, uint64_t where);

/* Whether some item has a part of [start, start + bytes). */
int index_overlaps(const struct index *index, uint64_t start, uint64_t bytes);

/* Add an item that overlaps no other. -1: no host memory. */
int index_add(struct index *index, struct item *item);

/* Take an item out that is in. */
void index_remove(struct index *index, const struct item *item);

/* Forget the items and free the array. */
void index_clear(struct index *index);

#endif
