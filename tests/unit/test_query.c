/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What can be asked of a pool.
 */
#include "config.h"

#include <ashlar/stats.h>

#include "support/pools.h"
#include "support/stub_source.h"

#include <stdlib.h>
#include <string.h>

#include "pool/cache.h"
#include "pool/grow.h"
#include "pool/pool.h"

#define SLABS 6

static struct ashlar_pool *pool;
static size_t stride;

/* Some slabs, the last of them of runs. */
static void start(size_t bytes, size_t alignment, uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(0, 0, ASHLAR_POOL_CACHE_NONE, flags);
    void *run;
    unsigned i;

    stub_reset();
    options.source = &stub_source;
    pool = pools_make(pools_type(bytes, alignment), &options);
    for (i = 1; i < SLABS; i++)
        REQUIRE(grow_singles_to(pool, pool->singles + 1) == ASHLAR_OK);
    run = ashlar_pool_get_run(pool, 10);
    REQUIRE(run != NULL && ashlar_pool_put_run(pool, run, 10) == ASHLAR_OK);
    REQUIRE(pool->map->count == SLABS);
    stride = pools_stats(pool).stride;
}

static void end(void)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
    ck_assert_msg(stub.wrong == NULL, "%s", stub.wrong);
}

/* --- owns, index, at ------------------------------------------------------ */

static const struct {
    size_t bytes;
    size_t alignment;
} types[] = {{1, 1}, {3, 1}, {128, 128}, {160, 32}, {5000, 8}, {70000, 4096}};

#define TYPES ((int)(sizeof(types) / sizeof(types[0])))

static void check_slot(char *slot, size_t index)
{
    static const size_t steps[] = {0, 1, 7, 100};
    size_t found = SIZE_MAX;
    size_t i, inside;

    REQUIRE(ashlar_pool_at(pool, index) == slot);
    for (i = 0; i < 5; i++) {
        inside = i == 4 ? stride - 1 : steps[i] % stride;
        REQUIRE(ashlar_pool_owns(pool, slot + inside) == 1);
        REQUIRE(ashlar_pool_index(pool, slot + inside, &found) == ASHLAR_OK);
        REQUIRE(found == index);
    }
}

START_TEST(address_and_index_lead_to_each_other)
{
    size_t index = 0;
    uint32_t number, i;

    start(types[_i].bytes, types[_i].alignment, 0);
    for (number = 0; number < SLABS; number++) {
        const struct slab *slab = pool->map->order[number];

        for (i = 0; i < slab->count; i++)
            check_slot(slab->base + i * stride, index++);
    }
    ck_assert_uint_eq(index, pools_stats(pool).capacity_slots);
    end();
}
END_TEST

static void expect_stranger(const void *address)
{
    size_t index = 77;

    REQUIRE(ashlar_pool_owns(pool, address) == 0);
    REQUIRE(ashlar_pool_index(pool, address, &index) == ASHLAR_ERR_WRONG_OWNER);
    REQUIRE(last_error_names(ASHLAR_ERR_WRONG_OWNER, address));
    REQUIRE(index == 77);
}

START_TEST(no_other_address_is_owned)
{
    void *foreign = malloc(100);
    uint32_t i;

    start(types[_i].bytes, types[_i].alignment, 0);
    expect_stranger(foreign);
    expect_stranger(&foreign);
    expect_stranger((void *)UINTPTR_MAX);
    expect_stranger((void *)1);
    for (i = 0; i < SLABS; i++) {
        const struct slab *slab = pool->map->order[i];
        const char *past = slab->base + slab->count * stride;

        if (slab_map_find(pool->map, (uintptr_t)slab->base - 1) == NULL)
            expect_stranger(slab->base - 1);
        if (slab_map_find(pool->map, (uintptr_t)past) == NULL)
            expect_stranger(past);
    }
    ck_assert_int_eq(ashlar_pool_owns(pool, NULL), 0);
    ck_assert_int_eq(ashlar_pool_owns(NULL, foreign), 0);
    free(foreign);
    end();
}
END_TEST

START_TEST(an_index_beyond_the_capacity_is_refused)
{
    size_t capacity, i;

    start(128, 128, 0);
    capacity = pools_stats(pool).capacity_slots;
    for (i = 0; i < 3; i++) {
        size_t index = i == 0 ? capacity : i == 1 ? UINT32_MAX : SIZE_MAX;

        REQUIRE(ashlar_pool_at(pool, index) == NULL);
        REQUIRE(ashlar_last_error() == ASHLAR_ERR_INVALID);
        REQUIRE(last_error_number(0) == index);
    }
    ck_assert_ptr_nonnull(ashlar_pool_at(pool, capacity - 1));
    end();
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    size_t index = 77;
    uint64_t refusals;

    start(128, 128, 0);
    refusals = pools_stats(pool).refusals;
    ck_assert_int_eq(ashlar_pool_index(pool, NULL, &index), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_index(pool, &index, NULL), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_for_each_live(pool, NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_query(pool, NULL), ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(pools_stats(pool).refusals, refusals + 4);
    ck_assert_int_eq(ashlar_pool_index(NULL, &index, &index),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_query(NULL, &stats), ASHLAR_ERR_INVALID);
    ck_assert_ptr_null(ashlar_pool_at(NULL, 0));
    ck_assert_ptr_null(ashlar_pool_type(NULL));
    ck_assert_ptr_null(ashlar_pool_name(NULL));
    ck_assert_uint_eq(index, 77);
    end();
}
END_TEST

/* --- walking -------------------------------------------------------------- */

/* What a walk has seen, in order. */
struct walk {
    struct piece pieces[4000];
    size_t count;
    size_t end_after; /* 0: never */
    int (*more)(struct walk *walk);
};

static int see(void *first, size_t n, void *user)
{
    struct walk *walk = user;

    REQUIRE(walk->count < 4000);
    walk->pieces[walk->count++] = (struct piece){first, n};
    if (walk->more != NULL)
        return walk->more(walk);
    return walk->end_after != 0 && walk->count == walk->end_after ? -5 : 0;
}

static struct walk walk;

static void do_walk(size_t end_after)
{
    memset(&walk, 0, sizeof(walk));
    walk.end_after = end_after;
    REQUIRE(ashlar_pool_for_each_live(pool, see, &walk) == ASHLAR_OK);
}

static size_t seen(const void *first, size_t n)
{
    size_t count = 0;
    size_t i;

    for (i = 0; i < walk.count; i++)
        count += walk.pieces[i].first == first && walk.pieces[i].n == n;
    return count;
}

START_TEST(a_walk_sees_every_live_slot_and_run_once)
{
    static const size_t lengths[] = {1, 2, 33, 64};
    struct dice dice = dice_from((uint64_t)_i);
    void *slots[2000];
    void *runs[100];
    size_t i, live = 0;

    start(128, 128, 0);
    do_walk(0);
    ck_assert_uint_eq(walk.count, 0);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, 2000) == ASHLAR_OK);
    for (i = 0; i < 100; i++)
        runs[i] = ashlar_pool_get_run(pool, lengths[i % 4]);
    dice_shuffle(&dice, slots, 2000);
    REQUIRE(ashlar_pool_put_bulk(pool, slots, 1200, NULL) == ASHLAR_OK);
    for (i = 0; i < 100; i += 3)
        REQUIRE(ashlar_pool_put_run(pool, runs[i], lengths[i % 4]) ==
                ASHLAR_OK);
    do_walk(0);
    for (i = 1200; i < 2000; i++)
        REQUIRE(seen(slots[i], 1) == 1);
    for (i = 0; i < 100; i++) {
        REQUIRE(seen(runs[i], lengths[i % 4]) == (i % 3 != 0));
        live += i % 3 != 0;
    }
    ck_assert_uint_eq(walk.count, 800 + live);
    end();
}
END_TEST

START_TEST(a_walk_ends_when_the_function_says_so)
{
    void *slots[50];
    size_t i;

    start(128, 128, 0);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, 50) == ASHLAR_OK);
    for (i = 0; i < 70; i++)
        REQUIRE(ashlar_pool_get_run(pool, 3) != NULL);
    for (i = 1; i <= 120; i++) {
        do_walk(i);
        REQUIRE(walk.count == i);
    }
    do_walk(0);
    ck_assert_uint_eq(walk.count, 120);
    end();
}
END_TEST

static int put_what_is_seen(struct walk *at)
{
    const struct piece *piece = &at->pieces[at->count - 1];

    if (piece->n == 1)
        REQUIRE(ashlar_pool_put(pool, piece->first) == ASHLAR_OK);
    else
        REQUIRE(ashlar_pool_put_run(pool, piece->first, piece->n) == ASHLAR_OK);
    return 0;
}

START_TEST(a_walk_may_put_what_it_sees)
{
    void *slots[500];
    size_t i;

    start(128, 128, 0);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, 500) == ASHLAR_OK);
    for (i = 0; i < 70; i++)
        REQUIRE(ashlar_pool_get_run(pool, 2 + i % 5) != NULL);
    memset(&walk, 0, sizeof(walk));
    walk.more = put_what_is_seen;
    ck_assert_int_eq(ashlar_pool_for_each_live(pool, see, &walk), ASHLAR_OK);
    ck_assert_uint_eq(walk.count, 570);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    end();
}
END_TEST

START_TEST(a_walk_does_not_see_what_caches_keep)
{
    struct ashlar_cache *cache;
    void *slot;

    start(128, 128, 0);
    ck_assert_int_eq(ashlar_cache_open(pool, 64, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_OK);
    slot = ashlar_cache_get(cache);
    ck_assert_uint_gt(pools_stats(pool).cached_slots, 0);
    do_walk(0);
    ck_assert_uint_eq(walk.count, 1);
    ck_assert_ptr_eq(walk.pieces[0].first, slot);
    ck_assert_int_eq(ashlar_cache_close(cache), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(an_unchecked_pool_cannot_be_walked)
{
    start(128, 128, ASHLAR_POOL_UNCHECKED);
    ck_assert_int_eq(ashlar_pool_for_each_live(pool, see, &walk),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert(last_error_is(ASHLAR_ERR_UNSUPPORTED, "unchecked"));
    end();
}
END_TEST

/* --- statistics ----------------------------------------------------------- */

START_TEST(statistics_follow_what_happens)
{
    struct ashlar_pool_stats stats;
    void *slots[1000];
    uint64_t refusals;
    void *run;

    start(20, 16, 0);
    stats = pools_stats(pool);
    ck_assert_uint_eq(stats.stride, 32);
    ck_assert_uint_eq(stats.slabs, SLABS);
    ck_assert_uint_eq(stats.slab_bytes, stub.bytes);
    ck_assert_uint_eq(stats.source_calls, stub.allocs);
    ck_assert_uint_eq(stats.max_slots, ASHLAR_POOL_SLOTS_MAX);
    ck_assert_uint_eq(stats.waste_bytes, 0);
    ck_assert_uint_eq(stats.live_slots, 0);
    ck_assert_uint_eq(stats.free_runs, 1);
    ck_assert_uint_eq(stats.peak_slots, 10);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, 1000) == ASHLAR_OK);
    run = ashlar_pool_get_run(pool, 10);
    stats = pools_stats(pool);
    ck_assert_uint_eq(stats.live_slots, 1010);
    ck_assert_uint_eq(stats.live_runs, 1);
    ck_assert_uint_eq(stats.free_runs, 0);
    ck_assert_uint_eq(stats.waste_bytes, 1010 * 12);
    ck_assert_uint_eq(stats.peak_slots, 1010);
    refusals = stats.refusals;
    REQUIRE(ashlar_pool_put_run(pool, run, 10) == ASHLAR_OK);
    REQUIRE(ashlar_pool_put_bulk(pool, slots, 1000, NULL) == ASHLAR_OK);
    REQUIRE(ashlar_pool_put(pool, slots[0]) == ASHLAR_ERR_NOT_LIVE);
    stats = pools_stats(pool);
    ck_assert_uint_eq(stats.refusals, refusals + 1);
    ck_assert_uint_eq(stats.live_slots, 0);
    ck_assert_uint_eq(stats.peak_slots, 1010);
    end();
}
END_TEST

START_TEST(bookkeeping_is_a_byte_or_so_a_slot)
{
    struct ashlar_pool_stats stats;

    start(128, 128, 0);
    REQUIRE(grow_singles_to(pool, 1000000) == ASHLAR_OK);
    stats = pools_stats(pool);
    ck_assert_uint_ge(stats.bookkeeping_bytes, stats.capacity_slots);
    ck_assert_uint_le(stats.bookkeeping_bytes, stats.capacity_slots * 5 / 4);
    end();
}
END_TEST

START_TEST(no_more_is_written_than_the_caller_knows_of)
{
    union {
        struct ashlar_pool_stats stats;
        unsigned char bytes[sizeof(struct ashlar_pool_stats) + 64];
    } given;
    size_t size, i;

    start(128, 128, 0);
    for (size = sizeof(size_t); size <= sizeof(given); size++) {
        memset(&given, 0xa5, sizeof(given));
        given.stats.size = size;
        REQUIRE(ashlar_pool_query(pool, &given.stats) == ASHLAR_OK);
        REQUIRE(given.stats.size == size);
        for (i = size; i < sizeof(given); i++)
            REQUIRE(given.bytes[i] == 0xa5);
        for (i = sizeof(given.stats); i < size; i++)
            REQUIRE(given.bytes[i] == 0);
    }
    given.stats.size = 0;
    ck_assert_int_eq(ashlar_pool_query(pool, &given.stats), ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "ashlar_pool_stats"));
    given.stats.size = 3;
    ck_assert_int_eq(ashlar_pool_query(pool, &given.stats), ASHLAR_ERR_INVALID);
    end();
}
END_TEST

START_TEST(the_initialiser_zeroes_all_but_the_size)
{
    static const struct ashlar_pool_stats none;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    ck_assert_uint_eq(stats.size, sizeof(stats));
    stats.size = 0;
    ck_assert_mem_eq(&stats, &none, sizeof(stats));
}
END_TEST

START_TEST(type_and_name_are_told)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    char name[64];

    start(128, 128, 0);
    ck_assert_ptr_eq(ashlar_pool_type(pool), pools_type(128, 128));
    ck_assert_str_eq(ashlar_pool_name(pool), "128 bytes at 128");
    end();
    memset(name, 'x', 63);
    name[63] = '\0';
    options.name = name;
    ck_assert_int_eq(ashlar_pool_create(pools_type(128, 128), &options, &pool),
                     ASHLAR_OK);
    memset(name, 'y', 63);
    ck_assert_uint_eq(strspn(ashlar_pool_name(pool), "x"), 63);
    ck_assert_uint_eq(strlen(ashlar_pool_name(pool)), 63);
    end();
}
END_TEST

static Suite *query_suite(void)
{
    Suite *suite = suite_create("query");
    TCase *places = tcase_create("places");
    TCase *walking = tcase_create("walking");
    TCase *statistics = tcase_create("statistics");

    tcase_add_loop_test(places, address_and_index_lead_to_each_other, 0, TYPES);
    tcase_add_loop_test(places, no_other_address_is_owned, 0, TYPES);
    tcase_add_test(places, an_index_beyond_the_capacity_is_refused);
    tcase_add_test(places, null_arguments_are_refused);
    suite_add_tcase(suite, places);
    tcase_add_loop_test(walking, a_walk_sees_every_live_slot_and_run_once, 0,
                        3);
    tcase_add_test(walking, a_walk_ends_when_the_function_says_so);
    tcase_add_test(walking, a_walk_may_put_what_it_sees);
    tcase_add_test(walking, a_walk_does_not_see_what_caches_keep);
    tcase_add_test(walking, an_unchecked_pool_cannot_be_walked);
    suite_add_tcase(suite, walking);
    tcase_add_test(statistics, statistics_follow_what_happens);
    tcase_add_test(statistics, bookkeeping_is_a_byte_or_so_a_slot);
    tcase_add_test(statistics, no_more_is_written_than_the_caller_knows_of);
    tcase_add_test(statistics, the_initialiser_zeroes_all_but_the_size);
    tcase_add_test(statistics, type_and_name_are_told);
    suite_add_tcase(suite, statistics);
    return suite;
}

int main(void)
{
    return suite_run(query_suite());
}
