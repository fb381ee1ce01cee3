/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Blocks that were freed with fences: they wait until the work that uses them
 * is done.
 *
 *     arena->waiting ─> block, its fences ─> ...      oldest first
 *
 * They are nobody's meanwhile: not live, so that a second free is refused, and
 * not jemalloc's. Calls that need memory look whether fences have passed; there
 * is no thread for it.
 *
 * Invariant: count is the length of the list.
 */
#ifndef ASHLAR_ARENA_WAITING_H
#define ASHLAR_ARENA_WAITING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/lock.h"

struct ashlar_arena;
struct retire_item;

struct waiting_block {
    struct waiting_block *next;
    struct retire_item *fences; /* an item without steps */
    void *block;
};

struct waiting {
    struct lock lock;
    struct waiting_block *first;
    struct waiting_block *last;
    uint64_t count; /* atomic */
};

/** Blocks that wait: one load. */
static inline uint64_t waiting_count(const struct waiting *waiting)
{
    return __atomic_load_n(&waiting->count, __ATOMIC_RELAXED);
}

/** Give jemalloc the oldest few whose fences have passed. */
void waiting_glance(struct ashlar_arena *arena);

/** All whose fences have passed; true when there was one. */
bool waiting_collect(struct ashlar_arena *arena);

/**
 * In a child of fork(2): what waits for the parent's work is free here. Its
 * fences are the parent's, and left alone. The lock is held.
 */
void waiting_recover(struct ashlar_arena *arena);

#endif
