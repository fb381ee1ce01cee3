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

/** Vacant slabs that are to be used again: order[begin .. end - 1]. */
struct revival {
    uint32_t begin;
    uint32_t end;
    enum slab_kind kind;
    uint64_t slots; /* of all of them */
};

/**
 * Give vacant slabs what they need to be of a kind, memory first of all, until
 * they have `missing` slots and no more than `room`. They stay vacant. The grow
 * lock is held, up to the commit or the abort.
 */
enum ashlar_status vacate_begin(struct ashlar_pool *pool, uint64_t missing,
                                uint64_t room, enum slab_kind kind,
                                struct revival *revival_out);

/** Their slots are the pool's again. */
void vacate_commit(struct ashlar_pool *pool, const struct revival *revival);

/** They stay vacant after all; the error is kept. */
void vacate_abort(struct ashlar_pool *pool, const struct revival *revival);

#endif
