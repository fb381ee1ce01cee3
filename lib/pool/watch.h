/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Letting Valgrind and AddressSanitizer see slots as allocations.
 *
 * A pool is watched when the process runs under one of them. A watched pool
 * has no caches, so every get and put comes by here; any other pays nothing.
 * AddressSanitizer is found by its run-time functions, so that a library built
 * without it serves a program that was built with it.
 */
#ifndef ASHLAR_POOL_WATCH_H
#define ASHLAR_POOL_WATCH_H

#include <stdbool.h>
#include <stddef.h>

struct ashlar_pool;
struct slab;

/** Whether somebody looks on. */
bool watch_wanted(void);

/** All functions below do nothing for a pool that is not watched. */
void watch_create(struct ashlar_pool *pool);
void watch_destroy(struct ashlar_pool *pool);
void watch_slab(struct ashlar_pool *pool, struct slab *slab);
void watch_get(struct ashlar_pool *pool, void *const *slots, size_t n);
void watch_put(struct ashlar_pool *pool, void *const *slots, size_t n);
void watch_get_run(struct ashlar_pool *pool, void *run, size_t n);
void watch_put_run(struct ashlar_pool *pool, void *run, size_t n);

#endif
