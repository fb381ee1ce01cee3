/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The straight way: from the store to pointers and back, without a cache.
 *
 *     take   store bits -> extents -> state live -> pointers
 *     accept pointers -> extents, each checked, state free    (all or nothing)
 *     give   extents -> store bits
 */
#ifndef ASHLAR_POOL_DIRECT_H
#define ASHLAR_POOL_DIRECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/status.h>

#include "pool/ahead.h"
#include "pool/slab.h"

struct ashlar_pool;

/** Entries that a batch of puts is kept as; what is more is read again. */
#define BATCH_EXTENTS 256

/** A batch of pointers that was checked and marked free. */
struct batch {
    struct extent extents[BATCH_EXTENTS];
    uint32_t count; /* entries used */
    size_t covered; /* pointers they stand for; the rest is to be read again */
};

/** Mark a stretch live and write out its pointers. */
void direct_hand_out(struct ashlar_pool *pool, const struct extent *extent,
                     void **slots_out);

/**
 * Get n slots from the store, which grows as it must.
 *
 * @param got_out  Receives how many were got: n on success; on failure fewer,
 *                 and they are the caller's to put back or keep.
 */
enum ashlar_status direct_get(struct ashlar_pool *pool, void **slots_out,
                              size_t n, size_t *got_out);

/**
 * Read the stretch of neighbours that a list of pointers starts with.
 *
 * @param hint  A slab that is tried first; may be NULL.
 *
 * @return 0 when the first pointer is no slot of a singles slab of the pool;
 *         else how many pointers the stretch has.
 */
size_t direct_read(struct ashlar_pool *pool, struct slab *hint,
                   void *const *slots, size_t n, struct extent *extent_out);

/**
 * Mark a stretch that is live free; false when not all of it is live. Without
 * locks.
 *
 * @param known  What the caller knows of windows marked ahead.
 */
bool direct_make_free(struct ashlar_pool *pool, struct ahead_known *known,
                      const struct extent *extent);

/**
 * Check n pointers and mark them free, all or none.
 *
 * @return n; or the index of the first that is refused, with nothing changed.
 */
size_t direct_accept(struct ashlar_pool *pool, struct slab *hint,
                     void *const *slots, size_t n, struct batch *batch_out);

/** Give stretches to the store; takes the lock, and logs duplicates. */
void direct_give(struct ashlar_pool *pool, const struct extent *extents,
                 uint32_t count);

/**
 * Say that racing puts put slots of a pool twice; nothing when count is 0.
 * Without any lock.
 */
void direct_log_duplicates(const char *name, uint64_t count);

/** Give an accepted batch to the store. */
void direct_give_batch(struct ashlar_pool *pool, void *const *slots, size_t n,
                       const struct batch *batch);

/**
 * Set the error that says why an element of a put is refused; counts it.
 *
 * @param single  The put had one slot: the sentence has no index.
 */
enum ashlar_status direct_refuse(struct ashlar_pool *pool, void *const *slots,
                                 size_t culprit, bool single);

#endif
