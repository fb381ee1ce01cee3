/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A thread and its cache of a pool: how it is attached, and how it ends.
 *
 * Each pool record has a key for life; a thread's cache stands under it among
 * the thread's locals, and its spare runs (spare.h) under the next. That a
 * local is not NULL says all at once that the pool is alive, and where the cache
 * is: destroying a pool clears the locals.
 */
#ifndef ASHLAR_POOL_ATTACH_H
#define ASHLAR_POOL_ATTACH_H

#include <stdint.h>

#include "pool/cache.h"

struct ashlar_pool;
struct thread;

/**
 * The calling thread's cache, made if it has none. NULL when it is to go
 * without: a pool without caches, no memory, a thread that is ending.
 */
struct cache *attach_self(struct ashlar_pool *pool);

/**
 * Make a cache of up to `wanted` slots part of a pool; grows the pool if a
 * promise asks for it.
 *
 * @param owner  The thread it belongs to; NULL: a caller.
 *
 * @return NULL: no memory for it; the error is not set.
 */
struct cache *attach_cache(struct ashlar_pool *pool, uint32_t wanted,
                           struct thread *owner);

/** Give all it keeps back, take it out of the pool, free it. Without locks. */
void attach_end(struct cache *cache);

/** Empty the calling thread's cache, if it has one. Without locks. */
void attach_flush_self(struct ashlar_pool *pool);

/** Take the calling thread's cache and spare runs away, if it has them. */
void attach_detach_self(struct ashlar_pool *pool);

/**
 * The pool goes: what threads have of it ends, callers' caches become orphans.
 * Both locks.
 */
void attach_end_all(struct ashlar_pool *pool);

/** Sum of what the caches keep; the pool's lock is held. */
uint64_t attach_kept(const struct ashlar_pool *pool);

/** What the thread floor calls when a thread ends. */
void attach_thread_exit(struct thread *thread);

/**
 * In a child of fork(2), at once: all that is not live is free, the caches of
 * dead threads end, others are empty. With the lock held.
 */
void attach_recover(struct ashlar_pool *pool);

#endif
