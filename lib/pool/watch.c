/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/watch.h"

#include "pool/pool.h"

#ifdef HAVE_VALGRIND
#include <valgrind/memcheck.h>
#else
#define RUNNING_ON_VALGRIND                      0
#define VALGRIND_CREATE_MEMPOOL(_pool, _rz, _z)  ((void)(_pool))
#define VALGRIND_DESTROY_MEMPOOL(_pool)          ((void)(_pool))
#define VALGRIND_MEMPOOL_ALLOC(_pool, _addr, _n) ((void)(_addr), (void)(_n))
#define VALGRIND_MEMPOOL_FREE(_pool, _addr)      ((void)(_addr))
#define VALGRIND_MAKE_MEM_NOACCESS(_addr, _n)    ((void)(_addr), (void)(_n))
#define VALGRIND_MAKE_MEM_UNDEFINED(_addr, _n)   ((void)(_addr), (void)(_n))
#endif

extern void __asan_poison_memory_region(void const volatile *address,
                                        size_t bytes) __attribute__((weak));
extern void __asan_unpoison_memory_region(void const volatile *address,
                                          size_t bytes) __attribute__((weak));

bool watch_wanted(void)
{
    return RUNNING_ON_VALGRIND || __asan_poison_memory_region != NULL;
}

/*
 * One byte of AddressSanitizer's stands for eight of ours: slots that share such
 * a group, and are put and got by two threads at once, would spoil each other's.
 */
static void poison(const struct ashlar_pool *pool, const void *address,
                   size_t bytes)
{
    if (__asan_poison_memory_region != NULL &&
        pool->plan.geometry.stride % 8 == 0)
        __asan_poison_memory_region(address, bytes);
}

static void unpoison(const void *address, size_t bytes)
{
    if (__asan_unpoison_memory_region != NULL)
        __asan_unpoison_memory_region(address, bytes);
}

void watch_create(struct ashlar_pool *pool)
{
    if (pool->watched)
        VALGRIND_CREATE_MEMPOOL(pool, 0, 0);
}

void watch_destroy(struct ashlar_pool *pool)
{
    struct slab_map *map = pool->map;
    uint32_t i;

    if (!pool->watched)
        return;
    VALGRIND_DESTROY_MEMPOOL(pool);
    for (i = 0; map != NULL && i < map->count; i++) {
        unpoison(map->order[i]->base, map->order[i]->block_bytes);
        VALGRIND_MAKE_MEM_UNDEFINED(map->order[i]->base,
                                    map->order[i]->block_bytes);
    }
}

void watch_slab(struct ashlar_pool *pool, struct slab *slab)
{
    if (!pool->watched)
        return;
    poison(pool, slab->base, slab->block_bytes);
    VALGRIND_MAKE_MEM_NOACCESS(slab->base, slab->block_bytes);
}

void watch_get(struct ashlar_pool *pool, void *const *slots, size_t n)
{
    size_t i;

    for (i = 0; pool->watched && i < n; i++) {
        unpoison(slots[i], pool->object_bytes);
        VALGRIND_MEMPOOL_ALLOC(pool, slots[i], pool->object_bytes);
    }
}

void watch_put(struct ashlar_pool *pool, void *const *slots, size_t n)
{
    size_t i;

    for (i = 0; pool->watched && i < n; i++) {
        VALGRIND_MEMPOOL_FREE(pool, slots[i]);
        poison(pool, slots[i], pool->plan.geometry.stride);
    }
}

void watch_get_run(struct ashlar_pool *pool, void *run, size_t n)
{
    size_t bytes = n * pool->plan.geometry.stride;

    if (!pool->watched)
        return;
    unpoison(run, bytes);
    VALGRIND_MEMPOOL_ALLOC(pool, run, bytes);
}

void watch_put_run(struct ashlar_pool *pool, void *run, size_t n)
{
    if (!pool->watched)
        return;
    VALGRIND_MEMPOOL_FREE(pool, run);
    poison(pool, run, n * pool->plan.geometry.stride);
}
