/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A source, as the floors above see it: blocks of memory.
 *
 * Invariant: a source is closed only when no pool holds it.
 */
#ifndef ASHLAR_SOURCE_SOURCE_H
#define ASHLAR_SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include <ashlar/source.h>

/** What a kind of source does. */
struct source_ops {
    const char *name;
    /** The bytes that alloc() would really give for so many; 0 for too many. */
    size_t (*usable)(size_t bytes, size_t alignment);
    /** NULL when there is no memory; sets no error. */
    void *(*alloc)(size_t bytes, size_t alignment);
    void (*free)(void *block, size_t bytes, size_t alignment);
    /** Give the pages of a part of a block back; they read as zero then. */
    void (*purge)(void *address, size_t bytes);
    /** Ask for huge pages under a block; a wish. */
    void (*prefer_huge)(void *address, size_t bytes);
};

struct ashlar_source {
    const struct source_ops *ops;
    unsigned holders; /* pools that stand on it; atomic */
};

/** The one heap of the process; what a NULL source stands for. */
extern struct ashlar_source source_heap;

/** The operations of the heap. */
extern const struct source_ops heap_ops;

/** Resolve NULL to the heap, and count a pool in. */
struct ashlar_source *source_hold(struct ashlar_source *source);

/** Count a pool out. */
void source_drop(struct ashlar_source *source);

#endif
