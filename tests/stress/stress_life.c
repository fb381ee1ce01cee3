/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Pools that come and go: destroyed while other threads hold caches of them,
 * ten thousand at once, a hundred thousand one after the other; and handles of
 * pools that are no more.
 */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar.h>

#include "support/ledger.h"
#include "support/stress.h"

#define THREADS 4

static pthread_barrier_t barrier;

static struct ashlar_pool *make(const struct ashlar_pool_options *options)
{
    struct ashlar_pool *pool = NULL;

    STRESS_EXPECT(ashlar_pool_create(ashlar_type_find("CUtensorMap"), options,
                                     &pool) == ASHLAR_OK,
                  "create: %s", ashlar_last_error_message());
    return pool;
}

static void unmake(struct ashlar_pool *pool, uint32_t flags)
{
    STRESS_EXPECT(ashlar_pool_destroy(pool, flags) == ASHLAR_OK, "destroy: %s",
                  ashlar_last_error_message());
}

/* Get, write, put, by one and by many. */
static void use(struct ashlar_pool *pool)
{
    void *slots[8];
    void *slot = ashlar_pool_get(pool);
    size_t i;

    if (!STRESS_EXPECT(slot != NULL && ((uintptr_t)slot & 127) == 0 &&
                           ashlar_pool_get_bulk(pool, slots, 8) == ASHLAR_OK,
                       "get: %s", ashlar_last_error_message()))
        return;
    for (i = 0; i < 8; i++) {
        STRESS_EXPECT(slots[i] != slot && ((uintptr_t)slots[i] & 127) == 0,
                      "%p and %p", slot, slots[i]);
        memset(slots[i], (int)i, 128);
    }
    STRESS_EXPECT(ashlar_pool_put_bulk(pool, slots, 8, NULL) == ASHLAR_OK &&
                      ashlar_pool_put(pool, slot) == ASHLAR_OK,
                  "put: %s", ashlar_last_error_message());
}

/* --- stale handles -------------------------------------------------------- */

static int never(void *first, size_t n, void *user)
{
    (void)first;
    (void)user;
    return STRESS_EXPECT(n == 0, "a stale pool has live slots");
}

/* Every call refuses the handle, and says why. */
static void expect_stale(struct ashlar_pool *pool, void *slot)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_cache *cache = NULL;
    size_t index = 0;
    void *slots[2] = {slot, slot};
    bool right = true;

#define STALE(_call) (right = right && (_call) == ASHLAR_ERR_STALE)
#define NOTHING(_call)                                                         \
    (ashlar_clear_error(),                                                     \
     right = right && !(_call) && ashlar_last_error() == ASHLAR_ERR_STALE)
    NOTHING(ashlar_pool_get(pool));
    NOTHING(ashlar_pool_get_run(pool, 3));
    NOTHING(ashlar_pool_get_up_to(pool, slots, 2));
    NOTHING(ashlar_pool_at(pool, 0));
    NOTHING(ashlar_pool_type(pool));
    NOTHING(ashlar_pool_name(pool));
    STALE(ashlar_pool_put(pool, slot));
    STALE(ashlar_pool_put_run(pool, slot, 3));
    STALE(ashlar_pool_get_bulk(pool, slots, 2));
    slots[0] = slots[1] = slot;
    STALE(ashlar_pool_put_bulk(pool, slots, 2, NULL));
    STALE(ashlar_pool_reserve(pool, 1));
    STALE(ashlar_pool_reserve_runs(pool, 3, 1));
    STALE(ashlar_pool_index(pool, slot, &index));
    STALE(ashlar_pool_for_each_live(pool, never, NULL));
    STALE(ashlar_pool_trim(pool, NULL));
    STALE(ashlar_pool_detach(pool));
    STALE(ashlar_pool_query(pool, &stats));
    STALE(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache));
    STALE(ashlar_pool_destroy(pool, 0));
    STALE(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE));
#undef STALE
#undef NOTHING
    STRESS_EXPECT(right && ashlar_pool_owns(pool, slot) == 0,
                  "a handle of a destroyed pool was followed");
}

#define LATER 1024

START_TEST(a_handle_is_refused_until_a_thousand_more_have_died)
{
    static struct ashlar_pool *old[LATER];
    struct ashlar_pool *pool;
    void *slots[LATER];
    size_t i;
    size_t k;

    for (i = 0; i < LATER && !stress_failed(); i++) {
        pool = make(NULL);
        slots[i] = ashlar_pool_get(pool);
        /* None of the old handles is any of the new pools. */
        for (k = 0; k < i; k++)
            ck_assert_ptr_ne(old[k], pool);
        unmake(pool, ASHLAR_POOL_FORCE);
        old[i] = pool;
        expect_stale(old[0], slots[0]);
        expect_stale(old[i / 2], slots[i / 2]);
        expect_stale(pool, slots[i]);
    }
    for (i = 0; i < LATER && !stress_failed(); i++)
        expect_stale(old[i], slots[i]);
    stress_verdict();
}
END_TEST

/* --- destroyed under threads' caches -------------------------------------- */

#define GENERATIONS 3

struct family {
    struct ashlar_pool *pools[GENERATIONS];
    void *slots[GENERATIONS];
    size_t rounds;
};

static void expect_orphan(struct ashlar_cache *cache, void *slot)
{
    void *slots[2] = {slot, slot};

    STRESS_EXPECT(ashlar_cache_get(cache) == NULL &&
                      ashlar_last_error() == ASHLAR_ERR_STALE,
                  "an orphaned cache gave a slot");
    STRESS_EXPECT(
        ashlar_cache_put(cache, slot) == ASHLAR_ERR_STALE &&
            ashlar_cache_get_bulk(cache, slots, 2) == ASHLAR_ERR_STALE &&
            ashlar_cache_put_bulk(cache, slots, 2, NULL) == ASHLAR_ERR_STALE,
        "an orphaned cache took a slot");
    STRESS_EXPECT(ashlar_cache_close(cache) == ASHLAR_OK, "close: %s",
                  ashlar_last_error_message());
}

/* Fill caches of all pools; afterwards the pools are gone. */
static void outlive(unsigned number, void *user)
{
    struct ashlar_cache *caches[GENERATIONS] = {NULL};
    struct family *family = user;
    size_t round;
    size_t i;

    for (round = 0; round < family->rounds; round++) {
        (void)pthread_barrier_wait(&barrier);
        for (i = 0; i < GENERATIONS; i++) {
            use(family->pools[i]);
            STRESS_EXPECT(
                ashlar_cache_open(family->pools[i], 20, ASHLAR_CACHE_LAYOUT,
                                  &caches[i]) == ASHLAR_OK &&
                    ashlar_cache_put(caches[i], ashlar_cache_get(caches[i])) ==
                        ASHLAR_OK,
                "cache: %s", ashlar_last_error_message());
        }
        (void)pthread_barrier_wait(&barrier);
        /* The pools are destroyed. */
        (void)pthread_barrier_wait(&barrier);
        for (i = 0; i < GENERATIONS; i++) {
            if (number % 2 == 0)
                expect_stale(family->pools[i], family->slots[i]);
            expect_orphan(caches[i], family->slots[i]);
        }
        (void)pthread_barrier_wait(&barrier);
    }
}

/* Not by force: what is in caches is not live. */
static void *destroy_under_caches(void *argument)
{
    struct family *family = argument;
    size_t round;
    size_t i;

    for (round = 0; round < family->rounds; round++) {
        for (i = 0; i < GENERATIONS; i++) {
            family->pools[i] = make(NULL);
            family->slots[i] = ashlar_pool_get(family->pools[i]);
        }
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_barrier_wait(&barrier);
        for (i = 0; i < GENERATIONS; i++) {
            STRESS_EXPECT(ashlar_pool_destroy(family->pools[i], 0) ==
                              ASHLAR_ERR_BUSY,
                          "a pool with a live slot was destroyed");
            STRESS_EXPECT(ashlar_pool_put(family->pools[i], family->slots[i]) ==
                              ASHLAR_OK,
                          "put: %s", ashlar_last_error_message());
            unmake(family->pools[i], 0);
        }
        (void)pthread_barrier_wait(&barrier);
        (void)pthread_barrier_wait(&barrier);
    }
    return NULL;
}

START_TEST(pools_are_destroyed_under_the_caches_of_idle_threads)
{
    struct family family = {.rounds = stress_count(250, 5000)};
    pthread_t thread;

    (void)pthread_barrier_init(&barrier, NULL, THREADS + 1);
    ck_assert_int_eq(
        pthread_create(&thread, NULL, destroy_under_caches, &family), 0);
    stress_threads(THREADS, outlive, &family);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    (void)pthread_barrier_destroy(&barrier);
    stress_verdict();
}
END_TEST

/* --- ten thousand at once ------------------------------------------------- */

#define CROWD 10000

static struct ashlar_pool *crowd[CROWD];

static void use_crowd(unsigned number, void *user)
{
    struct stress_random random = stress_stream(number);
    const size_t *count = user;
    size_t start = stress_below(&random, *count);
    size_t i;

    for (i = 0; i < *count && !stress_failed(); i++)
        use(crowd[(start + i) % *count]);
}

static void expect_idle(struct ashlar_pool *pool)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    ck_assert_int_eq(ashlar_pool_query(pool, &stats), ASHLAR_OK);
    ck_assert_uint_eq(stats.live_slots, 0);
    ck_assert_uint_eq(stats.cached_slots + stats.free_slots,
                      stats.capacity_slots);
    ck_assert_uint_ge(stats.capacity_slots, 9);
}

static void make_crowd(size_t count)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    char name[32];
    size_t i;

    options.name = name;
    for (i = 0; i < count; i++) {
        (void)snprintf(name, sizeof(name), "pool %zu", i);
        crowd[i] = make(&options);
    }
    stress_verdict();
}

START_TEST(ten_thousand_pools_are_used_by_all_threads)
{
    size_t count = stress_is_watched() || stress_is_tsan() ? CROWD / 10 : CROWD;
    struct ashlar_pool *pool = NULL;
    size_t i = 0;

    make_crowd(count);
    use_crowd(0, &count);
    stress_threads(THREADS, use_crowd, &count);
    stress_verdict();
    while ((pool = ashlar_pool_next(pool)) != NULL) {
        ck_assert_ptr_eq(pool, crowd[i++]);
        expect_idle(pool);
    }
    ck_assert_uint_eq(i, count);
    ck_assert_ptr_eq(ashlar_pool_find("pool 777"), crowd[777]);
    for (i = 0; i < count; i++)
        unmake(crowd[(i * 7919 + 13) % count], 0);
    stress_verdict();
    ck_assert_ptr_null(ashlar_pool_next(NULL));
}
END_TEST

/* --- one after the other -------------------------------------------------- */

/* Pools with and without slots left, caches left, runs, promises. */
static void churn(unsigned number, void *user)
{
    struct stress_random random = stress_stream(100 + number);
    const size_t *count = user;
    struct ashlar_cache *cache;
    struct ashlar_pool *pool;
    uint32_t flags;
    size_t i;

    for (i = 0; i < *count && !stress_failed(); i++) {
        pool = make(NULL);
        cache = NULL;
        flags = 0;
        use(pool);
        if (stress_chance(&random, 2))
            flags = ashlar_pool_get(pool) != NULL ? ASHLAR_POOL_FORCE : 0;
        if (stress_chance(&random, 3))
            flags =
                ashlar_pool_get_run(pool, 1 + stress_below(&random, 9)) != NULL
                    ? ASHLAR_POOL_FORCE
                    : flags;
        if (stress_chance(&random, 4))
            (void)ashlar_pool_reserve(pool, stress_below(&random, 1000));
        if (stress_chance(&random, 4))
            (void)ashlar_cache_open(pool, 10, ASHLAR_CACHE_LAYOUT, &cache);
        unmake(pool, flags);
        if (cache != NULL)
            expect_orphan(cache, pool);
    }
}

START_TEST(pools_that_come_and_go_leave_no_memory_behind)
{
    size_t count = stress_count(5000, 100000) / THREADS;
    size_t warm = count / 4 + LATER;
    size_t bytes;

    stress_threads(THREADS, churn, &warm);
    bytes = stress_resident();
    stress_threads(THREADS, churn, &count);
    if (!stress_is_watched() && !stress_is_tsan())
        ck_assert_uint_le(stress_resident(), bytes + ((size_t)8 << 20));
    stress_verdict();
    ck_assert_ptr_null(ashlar_pool_next(NULL));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_life");
    TCase *tcase = tcase_create("life");

    stress_begin();
    tcase_add_test(tcase, a_handle_is_refused_until_a_thousand_more_have_died);
    tcase_add_test(tcase, pools_are_destroyed_under_the_caches_of_idle_threads);
    tcase_add_test(tcase, ten_thousand_pools_are_used_by_all_threads);
    tcase_add_test(tcase, pools_that_come_and_go_leave_no_memory_behind);
    suite_add_tcase(suite, tcase);
    return stress_run(suite);
}
