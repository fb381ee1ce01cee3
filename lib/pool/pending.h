/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Slots that were put with fences: they wait until the work that reads them is
 * done.
 *
 *     pool->pending ─> batch ─> batch ...   each: its fences, its slots
 *
 * They are nobody's meanwhile: not live (a second put is refused), not free.
 * Whoever finds the store empty collects first; there is no thread for it.
 *
 * Invariant: waiting is the sum of the batches' slots.
 */
#ifndef ASHLAR_POOL_PENDING_H
#define ASHLAR_POOL_PENDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"

struct ashlar_pool;
struct retire_item;

struct pending_batch {
    struct pending_batch *next;
    struct retire_item *fences; /* an item without steps */
    size_t count;
    void *slots[];
};

struct pending {
    struct lock lock; /* the list; below grow, above the pool's lock */
    struct pending_batch *first;
    uint64_t waiting; /* atomic */
};

/** Give back what may go; true when something was given. No lock is held. */
bool pending_collect(struct ashlar_pool *pool);

/**
 * The same where the grow lock is held: adds the racing puts that came to light
 * to *duplicates, to be logged when it is not held any more.
 */
bool pending_collect_locked(struct ashlar_pool *pool, uint64_t *duplicates);

/**
 * In a child of fork(2): what waits for the parent's work is free here. Its
 * fences are the parent's, and left alone. All locks are held.
 */
void pending_recover(struct ashlar_pool *pool);

/** Drop what waits, without asking: the pool is being destroyed. */
void pending_drop(struct ashlar_pool *pool);

#endif
