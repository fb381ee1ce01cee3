/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "stress/fork_load.h"

#include <string.h>
#include <time.h>

/* How each pool is made. */
static const struct {
    size_t bytes;
    size_t alignment;
    uint32_t flags;
    size_t max_slots;
    size_t cache_slots;
} shapes[LOAD_POOLS] = {
    {128, 128, 0, 0, 0},
    {128, 128, ASHLAR_POOL_UNCHECKED, 0, 0},
    {40, 8, 0, 1500, 16},
    {24, 8, ASHLAR_POOL_UNCHECKED, 1500, 16},
    {64, 64, 0, 0, ASHLAR_POOL_CACHE_NONE},
};

/* --- holdings ------------------------------------------------------------- */

static struct holding *find_holding(struct loader *loader, unsigned valid)
{
    size_t start = stress_below(&loader->random, LOAD_HOLDINGS);
    size_t i;

    for (i = 0; i < LOAD_HOLDINGS; i++) {
        struct holding *holding =
            &loader->holdings[(start + i) % LOAD_HOLDINGS];

        if (holding->valid == valid)
            return holding;
    }
    return NULL;
}

/* Stamped, and only then to be seen by a child. */
static void publish(struct loader *loader, struct holding *holding,
                    unsigned pool, void *slot, size_t n)
{
    struct stress_random mix = {
        (uint64_t)(loader - loader->load->loaders) << 48 | loader->sequence++};

    holding->pool = pool;
    holding->slot = slot;
    holding->n = n;
    holding->stamp = stress_next(&mix);
    if (ledger_take(&loader->load->pools[pool], slot, n, holding->stamp))
        __atomic_store_n(&holding->valid, 1, __ATOMIC_RELEASE);
}

/* No child may count on it any more; the put comes later. */
static void withdraw(struct loader *loader, struct holding *holding)
{
    __atomic_store_n(&holding->valid, 0, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    (void)ledger_give(&loader->load->pools[holding->pool], holding->slot,
                      holding->n, holding->stamp);
}

/* --- operations ----------------------------------------------------------- */

/* A cache of the loader's own, every other time it has one. */
static struct ashlar_cache *cache_of_choice(struct loader *loader,
                                            unsigned pool)
{
    return stress_chance(&loader->random, 2) ? loader->caches[pool] : NULL;
}

static bool get_failed_for_a_reason(const struct loader *loader, unsigned pool)
{
    return STRESS_EXPECT(shapes[pool].max_slots != 0 &&
                             (ashlar_last_error() == ASHLAR_ERR_LIMIT ||
                              ashlar_last_error() == ASHLAR_ERR_FRAGMENTED),
                         "a get of pool %u failed (%p): %s", pool,
                         (const void *)loader, ashlar_last_error_message());
}

static void get_one(struct loader *loader, unsigned pool)
{
    struct holding *holding = find_holding(loader, 0);
    struct ashlar_cache *cache = cache_of_choice(loader, pool);
    void *slot;

    if (holding == NULL)
        return;
    slot = cache != NULL ? ashlar_cache_get(cache)
                         : ashlar_pool_get(loader->load->pools[pool].pool);
    if (slot == NULL)
        (void)get_failed_for_a_reason(loader, pool);
    else
        publish(loader, holding, pool, slot, 0);
}

static void get_many(struct loader *loader, unsigned pool)
{
    struct ashlar_cache *cache = cache_of_choice(loader, pool);
    size_t n = 1 + stress_below(&loader->random, LOAD_BATCH);
    struct holding *holding;
    enum ashlar_status status;
    void *slots[LOAD_BATCH];
    size_t i;

    status =
        cache != NULL
            ? ashlar_cache_get_bulk(cache, slots, n)
            : ashlar_pool_get_bulk(loader->load->pools[pool].pool, slots, n);
    if (status != ASHLAR_OK) {
        (void)get_failed_for_a_reason(loader, pool);
        return;
    }
    for (i = 0; i < n; i++) {
        holding = find_holding(loader, 0);
        if (holding != NULL)
            publish(loader, holding, pool, slots[i], 0);
        else
            STRESS_EXPECT(ashlar_pool_put(loader->load->pools[pool].pool,
                                          slots[i]) == ASHLAR_OK,
                          "put: %s", ashlar_last_error_message());
    }
}

static void get_run(struct loader *loader, unsigned pool)
{
    struct holding *holding = find_holding(loader, 0);
    size_t n = 1 + stress_below(&loader->random, LOAD_RUN);
    void *run;

    if (holding == NULL)
        return;
    run = ashlar_pool_get_run(loader->load->pools[pool].pool, n);
    if (run == NULL)
        (void)get_failed_for_a_reason(loader, pool);
    else
        publish(loader, holding, pool, run, n);
}

static enum ashlar_status put_held(struct loader *loader,
                                   const struct holding *holding)
{
    struct ashlar_pool *pool = loader->load->pools[holding->pool].pool;
    struct ashlar_cache *cache = cache_of_choice(loader, holding->pool);

    if (holding->n != 0)
        return ashlar_pool_put_run(pool, holding->slot, holding->n);
    return cache != NULL ? ashlar_cache_put(cache, holding->slot)
                         : ashlar_pool_put(pool, holding->slot);
}

static void put_one(struct loader *loader)
{
    struct holding *holding = find_holding(loader, 1);

    if (holding == NULL)
        return;
    withdraw(loader, holding);
    STRESS_EXPECT(put_held(loader, holding) == ASHLAR_OK, "put: %s",
                  ashlar_last_error_message());
}

/* Slots of one pool, as a batch; runs as they come. */
static void put_many(struct loader *loader)
{
    size_t n = 1 + stress_below(&loader->random, LOAD_BATCH);
    struct holding *holding = NULL;
    struct ashlar_cache *cache;
    void *slots[LOAD_BATCH];
    unsigned pool = 0;
    size_t count = 0;

    while (n-- != 0 && (holding = find_holding(loader, 1)) != NULL) {
        if (holding->n != 0 || (count != 0 && holding->pool != pool)) {
            put_one(loader);
            continue;
        }
        pool = holding->pool;
        withdraw(loader, holding);
        slots[count++] = holding->slot;
    }
    cache = cache_of_choice(loader, pool);
    STRESS_EXPECT((cache != NULL
                       ? ashlar_cache_put_bulk(cache, slots, count, NULL)
                       : ashlar_pool_put_bulk(loader->load->pools[pool].pool,
                                              slots, count, NULL)) == ASHLAR_OK,
                  "put: %s", ashlar_last_error_message());
}

/* --- what needs memory ---------------------------------------------------- */

static void turn_cache(struct loader *loader, unsigned pool)
{
    struct ashlar_cache **cache = &loader->caches[pool];

    if (*cache != NULL) {
        /* A child shall not find a cache that is half closed. */
        struct ashlar_cache *old = *cache;

        __atomic_store_n(cache, NULL, __ATOMIC_RELEASE);
        (void)ashlar_cache_close(old);
        return;
    }
    STRESS_EXPECT(ashlar_cache_open(loader->load->pools[pool].pool,
                                    1 + stress_below(&loader->random, 100),
                                    ASHLAR_CACHE_LAYOUT, cache) == ASHLAR_OK,
                  "open: %s", ashlar_last_error_message());
}

static void use_pool_of_its_own(struct loader *loader)
{
    struct ashlar_pool *pool = NULL;
    void *slot;

    (void)loader;
    STRESS_EXPECT(ashlar_pool_create(ashlar_type_find("float4"), NULL, &pool) ==
                      ASHLAR_OK,
                  "create: %s", ashlar_last_error_message());
    slot = ashlar_pool_get(pool);
    STRESS_EXPECT(slot != NULL && ashlar_pool_put(pool, slot) == ASHLAR_OK &&
                      ashlar_pool_destroy(pool, 0) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
}

static void step_wildly(struct loader *loader, unsigned pool)
{
    switch (stress_below(&loader->random, 5)) {
    case 0:
    case 1:
        turn_cache(loader, pool);
        break;
    case 2:
        (void)ashlar_pool_detach(loader->load->pools[pool].pool);
        break;
    case 3:
        (void)ashlar_pool_trim(loader->load->pools[pool].pool, NULL);
        break;
    default:
        use_pool_of_its_own(loader);
    }
}

void load_step(struct loader *loader)
{
    unsigned pool = (unsigned)stress_below(&loader->random, LOAD_POOLS);
    size_t pick = stress_below(&loader->random, 100);

    if (pick < 30)
        get_one(loader, pool);
    else if (pick < 60)
        put_one(loader);
    else if (pick < 72)
        get_many(loader, pool);
    else if (pick < 88)
        put_many(loader);
    else if (pick < 93)
        get_run(loader, pool);
    else if (pick < 98)
        put_one(loader);
    else if (loader->load->wild)
        step_wildly(loader, pool);
}

void load_clear(struct loader *loader)
{
    unsigned pool;

    while (find_holding(loader, 1) != NULL && !stress_failed())
        put_many(loader);
    for (pool = 0; pool < LOAD_POOLS; pool++) {
        if (loader->caches[pool] != NULL)
            (void)ashlar_cache_close(loader->caches[pool]);
        loader->caches[pool] = NULL;
    }
}

/* --- the threads ---------------------------------------------------------- */

/* At work half of the time, so that children get on too. */
static void *work(void *argument)
{
    static const struct timespec pause = {0, 50000};
    struct loader *loader = argument;
    size_t i;

    while (__atomic_load_n(&loader->load->stop, __ATOMIC_RELAXED) == 0 &&
           !stress_failed()) {
        for (i = stress_below(&loader->random, 200); i != 0; i--)
            load_step(loader);
        (void)nanosleep(&pause, NULL);
    }
    load_clear(loader);
    return NULL;
}

static bool open_pools(struct load *load)
{
    unsigned i;

    for (i = 0; i < LOAD_POOLS; i++) {
        struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;

        options.flags = shapes[i].flags;
        options.max_slots = shapes[i].max_slots;
        options.cache_slots = shapes[i].cache_slots;
        if (!ledger_open(&load->pools[i], shapes[i].bytes, shapes[i].alignment,
                         &options))
            return false;
    }
    return true;
}

bool load_start(struct load *load, bool wild)
{
    unsigned pool;
    unsigned i;

    memset(load, 0, sizeof(*load));
    load->wild = wild;
    if (!open_pools(load))
        return false;
    for (i = 0; i < LOADERS; i++) {
        load->loaders[i].load = load;
        load->loaders[i].random = stress_stream(i);
        for (pool = 0; pool < LOAD_POOLS; pool += 2)
            STRESS_EXPECT(ashlar_cache_open(
                              load->pools[pool].pool, 32, ASHLAR_CACHE_LAYOUT,
                              &load->loaders[i].caches[pool]) == ASHLAR_OK,
                          "open: %s", ashlar_last_error_message());
    }
    for (i = 0; i < LOAD_THREADS; i++)
        ck_assert_int_eq(
            pthread_create(&load->threads[i], NULL, work, &load->loaders[i]),
            0);
    return !stress_failed();
}

void load_end(struct load *load)
{
    unsigned i;

    __atomic_store_n(&load->stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < LOAD_THREADS; i++)
        ck_assert_int_eq(pthread_join(load->threads[i], NULL), 0);
    for (i = LOAD_THREADS; i < LOADERS; i++)
        load_clear(&load->loaders[i]);
    for (i = 0; i < LOAD_POOLS && !stress_failed(); i++) {
        (void)ashlar_pool_detach(load->pools[i].pool);
        (void)ledger_balances(&load->pools[i], 0);
        ledger_close(&load->pools[i], 0);
    }
}
