/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * ashlar. By default through the pool's handle; with ASHLAR_BENCH_CACHE through
 * a caller-held cache. ASHLAR_BENCH_FLAGS are the pool's.
 */
#include "../harness/driver.h"

#include <ashlar.h>

#define DRIVER_CAN  (BENCH_CAN_THREADS | BENCH_CAN_HAND_OVER | BENCH_CAN_COLD)
#define DRIVER_TRIM trim
#define DRIVER_RUNS
#define DRIVER_RESERVE_RUN reserve_run

#ifndef ASHLAR_BENCH_FLAGS
#define ASHLAR_BENCH_FLAGS 0
#endif

static struct ashlar_pool *pool;
#ifdef ASHLAR_BENCH_CACHE
static __thread struct ashlar_cache *cache;
#endif

static const char *driver_version(void)
{
    return ashlar_version_string();
}

static void demand(enum ashlar_status status)
{
    if (__builtin_expect(status != ASHLAR_OK, 0))
        bench_die("%s", ashlar_last_error_message());
}

static void driver_begin(size_t slots)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;

    options.flags = ASHLAR_BENCH_FLAGS;
    demand(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &pool));
    if (slots <= BENCH_SLOTS)
        demand(ashlar_pool_reserve(pool, slots));
}

static void driver_thread_begin(void)
{
#ifdef ASHLAR_BENCH_CACHE
    demand(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache));
#endif
}

static void driver_thread_end(void)
{
#ifdef ASHLAR_BENCH_CACHE
    demand(ashlar_cache_close(cache));
#endif
}

/* The cache's slots are held back by the cache, not by the pool's trim. */
static void trim(void)
{
#ifdef ASHLAR_BENCH_CACHE
    driver_thread_end();
    driver_thread_begin();
#endif
    demand(ashlar_pool_trim(pool, NULL));
}

BENCH_INLINE void *get_one(void)
{
#ifdef ASHLAR_BENCH_CACHE
    return ashlar_cache_get(cache);
#else
    return ashlar_pool_get(pool);
#endif
}

BENCH_INLINE enum ashlar_status put_one(void *slot)
{
#ifdef ASHLAR_BENCH_CACHE
    return ashlar_cache_put(cache, slot);
#else
    return ashlar_pool_put(pool, slot);
#endif
}

BENCH_INLINE enum ashlar_status get_many(void **slots, unsigned n)
{
#ifdef ASHLAR_BENCH_CACHE
    return ashlar_cache_get_bulk(cache, slots, n);
#else
    return ashlar_pool_get_bulk(pool, slots, n);
#endif
}

BENCH_INLINE enum ashlar_status put_many(void **slots, unsigned n)
{
#ifdef ASHLAR_BENCH_CACHE
    return ashlar_cache_put_bulk(cache, slots, n, NULL);
#else
    return ashlar_pool_put_bulk(pool, slots, n, NULL);
#endif
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    int got;

    if (n == 1) {
        slots[0] = get_one();
        got = slots[0] != NULL;
    } else {
        got = get_many(slots, n) == ASHLAR_OK;
    }
    if (__builtin_expect(!got, 0))
        bench_die("%s", ashlar_last_error_message());
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    demand(n == 1 ? put_one(slots[0]) : put_many(slots, n));
}

static void reserve_run(unsigned n)
{
    demand(ashlar_pool_reserve_runs(pool, n, 1));
}

BENCH_INLINE void *driver_get_run(unsigned n)
{
    void *run = ashlar_pool_get_run(pool, n);

    if (__builtin_expect(run == NULL, 0))
        bench_die("%s", ashlar_last_error_message());
    return run;
}

BENCH_INLINE void driver_put_run(void *run, unsigned n)
{
    demand(ashlar_pool_put_run(pool, run, n));
}

#include "../harness/loops.h"
