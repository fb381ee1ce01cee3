/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Growing: how a pool gets more slots, of either kind.
 *
 * More comes from a new slab, as long as max_slots allows; then from a wholly
 * free slab of the other kind: for one of runs, the calling thread's cache makes
 * way. A slab is as large as what is missing, or half as large as the pool if
 * that is more, within 64 KiB and 64 MiB: the number of slabs stays small, and
 * at most a third of a pool is ahead of need.
 *
 * All functions: without the pool's locks; they take `grow`, then `lock`. On
 * failure the error is set and the pool is as before.
 */
#ifndef ASHLAR_POOL_GROW_H
#define ASHLAR_POOL_GROW_H

#include <stdint.h>

#include <ashlar/status.h>

struct ashlar_pool;

/** Until the shared store has `need` free slots. */
enum ashlar_status grow_free(struct ashlar_pool *pool, uint64_t need);

/** By what max_slots still leaves, if that is less than `need`. */
enum ashlar_status grow_free_up_to(struct ashlar_pool *pool, uint64_t need);

/** Until there are `target` single slots. */
enum ashlar_status grow_singles_to(struct ashlar_pool *pool, uint64_t target);

/** Until a run of `length` can be taken. Its bin exists. */
enum ashlar_status grow_run(struct ashlar_pool *pool, uint32_t length);

/** Until `count` free runs of `length` are in their bin, kept. It exists. */
enum ashlar_status grow_run_stock(struct ashlar_pool *pool, uint32_t length,
                                  uint64_t count);

#endif
