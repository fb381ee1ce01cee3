/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Caches that a caller holds.
 */
#include "config.h"

#include <ashlar/cache.h>

#include "support/pools.h"

#include <string.h>

#include "base/memory.h"
#include "pool/cache.h"
#include "pool/pool.h"

static struct ashlar_pool *pool;

static void make_pool(void)
{
    memory_fail_nth(0, false);
    pool = pools_make(pools_type(128, 128), NULL);
}

static void end_pool(void)
{
    struct ashlar_pool_stats stats = pools_stats(pool);

    ck_assert_uint_eq(stats.live_slots, 0);
    pools_end(pool);
}

static struct ashlar_cache *open_cache(size_t slots)
{
    struct ashlar_cache *cache;

    REQUIRE(ashlar_cache_open(pool, slots, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_OK);
    return cache;
}

static void close_cache(struct ashlar_cache *cache)
{
    REQUIRE(ashlar_cache_close(cache) == ASHLAR_OK);
}

/* --- opening -------------------------------------------------------------- */

START_TEST(opening_with_wrong_arguments_is_refused)
{
    struct ashlar_cache *cache = (struct ashlar_cache *)(void *)&pool;
    struct ashlar_cache *const before = cache;

    ck_assert_int_eq(ashlar_cache_open(NULL, 1, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_cache_open(pool, 1, ASHLAR_CACHE_LAYOUT, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "cache_out"));
    ck_assert_int_eq(ashlar_cache_open(pool, ASHLAR_POOL_CACHE_MAX + 1,
                                       ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "65537"));
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "65536"));
    ck_assert_ptr_eq(cache, before);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    ck_assert_uint_eq(pools_stats(pool).refusals, 2);
}
END_TEST

START_TEST(a_caller_compiled_against_another_layout_is_refused)
{
    struct ashlar_cache *cache = NULL;
    uint32_t layout;

    for (layout = 0; layout < 5; layout++) {
        if (layout == ASHLAR_CACHE_LAYOUT)
            continue;
        REQUIRE(ashlar_cache_open(pool, 1, layout, &cache) ==
                ASHLAR_ERR_UNSUPPORTED);
        REQUIRE(last_error_is(ASHLAR_ERR_UNSUPPORTED, "headers"));
        REQUIRE(last_error_number(0) == layout);
        REQUIRE(last_error_number(1) == ASHLAR_CACHE_LAYOUT);
    }
    ck_assert_ptr_null(cache);
}
END_TEST

START_TEST(the_layout_of_the_struct_is_layout_1)
{
    ck_assert_uint_eq(ASHLAR_CACHE_LAYOUT, 1);
    ck_assert_uint_eq(sizeof(struct ashlar_cache), 40);
    ck_assert_uint_eq(offsetof(struct ashlar_cache, base), 0);
    ck_assert_uint_eq(offsetof(struct ashlar_cache, state), 8);
    ck_assert_uint_eq(offsetof(struct ashlar_cache, stride), 16);
    ck_assert_uint_eq(offsetof(struct ashlar_cache, begin), 24);
    ck_assert_uint_eq(offsetof(struct ashlar_cache, end), 28);
    ck_assert_uint_eq(offsetof(struct ashlar_cache, floor), 32);
}
END_TEST

START_TEST(without_memory_there_is_no_cache)
{
    struct ashlar_cache *cache = NULL;
    struct snapshot before = snapshot_take(pool);

    memory_fail_nth(1, false);
    ck_assert_int_eq(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_ERR_NO_MEMORY);
    ck_assert_ptr_null(cache);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    ck_assert(last_error_is(ASHLAR_ERR_NO_MEMORY, ashlar_pool_name(pool)));
}
END_TEST

START_TEST(a_cache_keeps_no_more_than_was_asked)
{
    static const size_t sizes[] = {1, 2, 100, 0, ASHLAR_POOL_CACHE_MAX};
    size_t i, j;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct ashlar_cache *cache = open_cache(sizes[i]);
        size_t most = sizes[i] == 0 ? ASHLAR_POOL_CACHE_DEFAULT : sizes[i];
        void *slots[3000];

        REQUIRE(ashlar_pool_get_bulk(pool, slots, 3000) == ASHLAR_OK);
        REQUIRE(ashlar_pool_detach(pool) == ASHLAR_OK);
        for (j = 0; j < 3000; j++) {
            REQUIRE(ashlar_cache_put(cache, slots[(j * 7) % 3000]) ==
                    ASHLAR_OK);
            REQUIRE(pools_stats(pool).cached_slots <= most);
        }
        REQUIRE(pools_stats(pool).live_slots == 0);
        close_cache(cache);
        REQUIRE(pools_stats(pool).cached_slots == 0);
    }
}
END_TEST

/* --- using ---------------------------------------------------------------- */

START_TEST(slots_go_between_caches_and_the_pool)
{
    struct ashlar_cache *one = open_cache(16);
    struct ashlar_cache *two = open_cache(16);
    void *slots[60];
    size_t i;

    for (i = 0; i < 20; i++) {
        slots[i] = ashlar_cache_get(one);
        slots[20 + i] = ashlar_cache_get(two);
        slots[40 + i] = ashlar_pool_get(pool);
        REQUIRE(slots[i] != NULL && slots[20 + i] != NULL);
        REQUIRE(slots[40 + i] != NULL);
    }
    ck_assert_uint_eq(pools_stats(pool).live_slots, 60);
    for (i = 0; i < 20; i++) {
        REQUIRE(ashlar_cache_put(two, slots[i]) == ASHLAR_OK);
        REQUIRE(ashlar_pool_put(pool, slots[20 + i]) == ASHLAR_OK);
        REQUIRE(ashlar_cache_put(one, slots[40 + i]) == ASHLAR_OK);
    }
    close_cache(one);
    close_cache(two);
}
END_TEST

START_TEST(a_slot_is_live_in_whichever_way_it_was_got)
{
    struct ashlar_cache *cache = open_cache(8);
    void *slots[30];
    size_t i;

    for (i = 0; i < 10; i++)
        slots[i] = ashlar_cache_get(cache);
    ck_assert_int_eq(ashlar_cache_get_bulk(cache, slots + 10, 20), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 30);
    for (i = 0; i < 30; i++)
        memset(slots[i], 0xa5, 128);
    ck_assert_int_eq(ashlar_cache_put_bulk(cache, slots, 30, NULL), ASHLAR_OK);
    close_cache(cache);
}
END_TEST

static void *use_and_leave(void *argument)
{
    struct ashlar_cache *cache = argument;
    void *slots[100];
    size_t i;

    for (i = 0; i < 100; i++) {
        slots[i] = ashlar_cache_get(cache);
        memset(slots[i], (int)i, 128);
    }
    for (i = 0; i < 100; i++)
        if (ashlar_cache_put(cache, slots[i]) != ASHLAR_OK)
            return argument;
    return NULL;
}

START_TEST(a_cache_may_be_handed_from_thread_to_thread)
{
    struct ashlar_cache *cache = open_cache(32);
    unsigned i;

    for (i = 0; i < 10; i++) {
        in_thread(use_and_leave, cache);
        (void)use_and_leave(cache);
        ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
        ck_assert_uint_ge(cache_kept(cache_of(cache)), 16);
    }
    close_cache(cache);
}
END_TEST

START_TEST(a_cache_of_an_unchecked_pool_works_as_well)
{
    struct ashlar_pool_options options =
        pools_options(0, 0, 0, ASHLAR_POOL_UNCHECKED);
    struct ashlar_pool *unchecked = pools_make(pools_type(24, 8), &options);
    struct ashlar_cache *cache;

    ck_assert_int_eq(
        ashlar_cache_open(unchecked, 32, ASHLAR_CACHE_LAYOUT, &cache),
        ASHLAR_OK);
    ck_assert_ptr_null(use_and_leave(cache));
    ck_assert_uint_eq(pools_stats(unchecked).live_slots, 0);
    close_cache(cache);
    pools_end(unchecked);
}
END_TEST

START_TEST(at_max_slots_a_get_says_so)
{
    struct ashlar_pool_options options = pools_options(0, 100, 0, 0);
    struct ashlar_pool *small = pools_make(pools_type(128, 128), &options);
    struct ashlar_cache *cache;
    void *slots[101];
    size_t i;

    ck_assert_int_eq(ashlar_cache_open(small, 512, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_OK);
    for (i = 0; i < 100; i++)
        REQUIRE((slots[i] = ashlar_cache_get(cache)) != NULL);
    ck_assert_ptr_null(ashlar_cache_get(cache));
    ck_assert(last_error_is(ASHLAR_ERR_LIMIT, "100"));
    ck_assert_uint_eq(pools_stats(small).refusals, 1);
    ck_assert_int_eq(ashlar_cache_put(cache, slots[50]), ASHLAR_OK);
    ck_assert_ptr_eq(ashlar_cache_get(cache), slots[50]);
    ck_assert_int_eq(ashlar_cache_put_bulk(cache, slots, 100, NULL), ASHLAR_OK);
    close_cache(cache);
    pools_end(small);
}
END_TEST

/* --- closing -------------------------------------------------------------- */

START_TEST(closing_gives_all_back)
{
    struct ashlar_cache *cache = open_cache(64);
    void *slot = ashlar_cache_get(cache);

    ck_assert_uint_eq(pools_stats(pool).cached_slots, 31);
    close_cache(cache);
    ck_assert_uint_eq(pools_stats(pool).cached_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 1);
    ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_OK);
}
END_TEST

START_TEST(closing_null_is_refused)
{
    ck_assert_int_eq(ashlar_cache_close(NULL), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_cache_get_bulk(NULL, NULL, 0), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_cache_put_bulk(NULL, NULL, 0, NULL),
                     ASHLAR_ERR_INVALID);
}
END_TEST

/* Everything but closing is refused. */
static void expect_orphan(struct ashlar_cache *cache, void *slot)
{
    size_t culprit = 77;

    REQUIRE(ashlar_cache_get(cache) == NULL);
    REQUIRE(last_error_is(ASHLAR_ERR_STALE, "destroyed"));
    REQUIRE(ashlar_cache_put(cache, slot) == ASHLAR_ERR_STALE);
    REQUIRE(ashlar_cache_get_bulk(cache, &slot, 1) == ASHLAR_ERR_STALE);
    REQUIRE(ashlar_cache_put_bulk(cache, &slot, 1, &culprit) ==
            ASHLAR_ERR_STALE);
    REQUIRE(culprit == 77);
    close_cache(cache);
}

START_TEST(a_cache_outlives_its_pool_and_gives_nothing_more)
{
    struct ashlar_pool *doomed = pools_make(pools_type(128, 128), NULL);
    struct ashlar_cache *caches[3];
    void *slots[3];
    size_t i;

    for (i = 0; i < 3; i++) {
        REQUIRE(ashlar_cache_open(doomed, 64, ASHLAR_CACHE_LAYOUT,
                                  &caches[i]) == ASHLAR_OK);
        if (i != 0)
            slots[i] = ashlar_cache_get(caches[i]);
    }
    slots[0] = slots[1];
    /* What caches keep is not live: one slot of two makes it busy. */
    ck_assert_int_eq(ashlar_cache_put(caches[1], slots[1]), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_destroy(doomed, 0), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(ashlar_pool_destroy(doomed, ASHLAR_POOL_FORCE), ASHLAR_OK);
    for (i = 0; i < 3; i++)
        expect_orphan(caches[i], slots[i]);
}
END_TEST

START_TEST(an_orphan_stays_one_when_the_record_has_a_new_pool)
{
    struct ashlar_pool *doomed = pools_make(pools_type(128, 128), NULL);
    struct ashlar_cache *cache;
    unsigned i;

    ck_assert_int_eq(ashlar_cache_open(doomed, 64, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_destroy(doomed, 0), ASHLAR_OK);
    for (i = 0; i < 3000; i++) {
        struct ashlar_pool *next = pools_make(pools_type(128, 128), NULL);

        if (next == doomed)
            break;
        pools_end(next);
    }
    ck_assert_uint_lt(i, 3000);
    expect_orphan(cache, &cache);
    pools_end(doomed);
}
END_TEST

static Suite *caller_suite(void)
{
    Suite *suite = suite_create("caller");
    TCase *opening = tcase_create("opening");
    TCase *using = tcase_create("using");
    TCase *closing = tcase_create("closing");

    tcase_add_checked_fixture(opening, make_pool, end_pool);
    tcase_add_test(opening, opening_with_wrong_arguments_is_refused);
    tcase_add_test(opening,
                   a_caller_compiled_against_another_layout_is_refused);
    tcase_add_test(opening, the_layout_of_the_struct_is_layout_1);
    tcase_add_test(opening, without_memory_there_is_no_cache);
    tcase_add_test(opening, a_cache_keeps_no_more_than_was_asked);
    suite_add_tcase(suite, opening);
    tcase_add_checked_fixture(using, make_pool, end_pool);
    tcase_add_test(using, slots_go_between_caches_and_the_pool);
    tcase_add_test(using, a_slot_is_live_in_whichever_way_it_was_got);
    tcase_add_test(using, a_cache_may_be_handed_from_thread_to_thread);
    tcase_add_test(using, a_cache_of_an_unchecked_pool_works_as_well);
    tcase_add_test(using, at_max_slots_a_get_says_so);
    suite_add_tcase(suite, using);
    tcase_add_checked_fixture(closing, make_pool, end_pool);
    tcase_add_test(closing, closing_gives_all_back);
    tcase_add_test(closing, closing_null_is_refused);
    tcase_add_test(closing, a_cache_outlives_its_pool_and_gives_nothing_more);
    tcase_add_test(closing, an_orphan_stays_one_when_the_record_has_a_new_pool);
    suite_add_tcase(suite, closing);
    return suite;
}

int main(void)
{
    pools_start(POOLS_SOURCE);
    return suite_run(caller_suite());
}
