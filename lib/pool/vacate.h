/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Pools on a range, and their last slabs: trimmed away, and made again.
 *
 *     [ slab 0 ][ slab 1 ][ slab 2 (vacant) ][ slab 3 (vacant) ]
 *     range     used     ^ plan.placed
 *
 * A heap pool gives pages back and keeps the addresses. A pool on a range gives
 * chunks back, from its far end: the slabs there become vacant. They keep their
 * records, their addresses and their indices, and are the first to be used
 * again.
 *
 * Invariant: vacant slabs are the last ones of the pool; they count neither as
 * singles nor as runs.
 */
#ifndef ASHLAR_POOL_VACATE_H
#define ASHLAR_POOL_VACATE_H

#include <stdint.h>

#include <ashlar/status.h>

#include "pool/slab.h"

struct ashlar_pool;

/** Vacate what is wholly free at the far end. Takes the locks. */
enum ashlar_status vacate_trim(struct ashlar_pool *pool, size_t *bytes_out);

/**
 * Make slabs of a kind of vacant ones, until they have `missing` slots and no
 * more than `room`. The grow lock is held.
 *
 * @param made_out  Receives how many slots were made.
 */
enum ashlar_status vacate_revive(struct ashlar_pool *pool, uint64_t missing,
                                 uint64_t room, enum slab_kind kind,
                                 uint64_t *made_out);

#endif
