/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/store.h"

#include "support/pools.h"
#include "support/stub_source.h"

#include <stdlib.h>
#include <string.h>

#include "pool/cache.h"
#include "pool/direct.h"
#include "pool/grow.h"
#include "pool/pool.h"

#define SLABS 5

static struct ashlar_pool *pool;
static bool *stored; /* the naive store: per pool index */
static size_t total;

/* A pool of some slabs of about 1,024 slots, all of them in the store. */
static void make_pool(void)
{
    struct ashlar_pool_options options =
        pools_options(0, 0, ASHLAR_POOL_CACHE_NONE, 0);
    size_t i;

    stub_reset();
    options.source = &stub_source;
    pool = pools_make(pools_type(64, 64), &options);
    for (i = 0; i < SLABS; i++) {
        stub.extra = i * 64 * 37; /* so that no slab is as large as another */
        ck_assert_int_eq(grow_singles_to(pool, pool->singles + 1), ASHLAR_OK);
    }
    total = pool->singles;
    stored = malloc(total * sizeof(*stored));
    ck_assert_ptr_nonnull(stored);
    memset(stored, true, total * sizeof(*stored));
}

static void end_pool(void)
{
    ashlar_set_log(NULL, NULL);
    free(stored);
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
    ck_assert_uint_eq(stub.count, 0);
    ck_assert_msg(stub.wrong == NULL, "%s", stub.wrong);
}

/* --- the bitmaps against the naive store ---------------------------------- */

static void check_slab(const struct slab *slab)
{
    uint32_t count = 0;
    uint32_t i;

    for (i = 0; i < slab->count; i++) {
        bool bit = (slab->free[i / 64] >> i % 64 & 1) != 0;

        REQUIRE(bit == stored[slab->first + i]);
        count += bit;
    }
    REQUIRE(count == slab->free_slots);
    for (i = 0; i < slab->words; i++)
        REQUIRE((slab->summary[i / 64] >> i % 64 & 1) == (slab->free[i] != 0));
    for (i = 0; i < slab->low && i < (slab->words + 63) / 64; i++)
        REQUIRE(slab->summary[i] == 0);
}

static void check_store(void)
{
    uint64_t count = 0;
    uint32_t i;

    for (i = 0; i < pool->map->count; i++) {
        check_slab(pool->map->order[i]);
        count += pool->map->order[i]->free_slots;
        REQUIRE(i >= pool->store.low || pool->map->order[i]->free_slots == 0);
    }
    REQUIRE(count == pool->store.free);
}

static size_t lowest_stored(size_t from)
{
    while (from < total && !stored[from])
        from++;
    return from;
}

/* What is taken are the lowest slots, in stretches as long as can be. */
static uint64_t take(uint64_t want, uint32_t room)
{
    struct extent extents[64];
    uint64_t taken, sum = 0;
    uint32_t count, i;
    size_t at = 0;

    pool_lock(pool);
    count = store_take(pool, want, extents, room, &taken);
    pool_unlock(pool);
    REQUIRE(count <= room && taken <= want);
    for (i = 0; i < count; i++) {
        const struct extent *extent = &extents[i];
        size_t end = extent->slab->first + extent->end;

        REQUIRE(extent->begin < extent->end);
        at = lowest_stored(at);
        REQUIRE(extent->slab->first + extent->begin == at);
        for (; at < end; at++) {
            REQUIRE(stored[at]);
            stored[at] = false;
        }
        sum += extent->end - extent->begin;
        REQUIRE(extent->end == extent->slab->count || !stored[at] ||
                sum == want);
    }
    REQUIRE(sum == taken);
    REQUIRE(taken == want || count == room || lowest_stored(0) == total);
    return taken;
}

/* Give a stretch, some of which may be in the store already. */
static void give(const struct extent *extent)
{
    uint64_t before = pool->duplicates;
    uint64_t doubled = 0;
    uint64_t reported;
    uint32_t i;

    for (i = extent->begin; i < extent->end; i++) {
        doubled += stored[extent->slab->first + i];
        stored[extent->slab->first + i] = true;
    }
    pool_lock(pool);
    reported = store_give(pool, extent, 1);
    pool_unlock(pool);
    REQUIRE(reported == doubled);
    REQUIRE(pool->duplicates == before + doubled);
}

static struct extent random_extent(struct dice *dice)
{
    struct slab *slab = pool->map->order[dice_below(dice, SLABS)];
    uint32_t begin = (uint32_t)dice_below(dice, slab->count);
    uint32_t most = dice_below(dice, 3) == 0 ? slab->count : 70;
    uint32_t length = 1 + (uint32_t)dice_below(dice, most);

    if (length > slab->count - begin)
        length = slab->count - begin;
    return (struct extent){slab, begin, begin + length};
}

START_TEST(the_store_is_what_a_naive_one_is)
{
    struct dice dice = dice_from((uint64_t)_i);
    unsigned steps = 2000 / (1 + pools_pace());

    while (steps-- != 0) {
        struct extent extent = random_extent(&dice);

        switch (dice_below(&dice, 3)) {
        case 0:
            (void)take(1 + dice_below(&dice, 200),
                       1 + (uint32_t)dice_below(&dice, 64));
            break;
        case 1:
            (void)take(1 + dice_below(&dice, total), 64);
            break;
        default:
            give(&extent);
            break;
        }
        check_store();
    }
}
END_TEST

START_TEST(taking_ends_when_there_is_no_more)
{
    uint64_t taken = 0;

    while (pool->store.free != 0)
        taken += take(total, 1);
    ck_assert_uint_eq(taken, total);
    ck_assert_uint_eq(take(1, 1), 0);
    check_store();
}
END_TEST

START_TEST(one_slot_in_a_whole_slab_is_found)
{
    uint32_t s, i;

    while (pool->store.free != 0)
        (void)take(total, 64);
    for (s = 0; s < SLABS; s++)
        for (i = 0; i < pool->map->order[s]->count; i += 61) {
            struct extent extent = {pool->map->order[s], i, i + 1};

            give(&extent);
            REQUIRE(take(10, 10) == 1);
        }
    check_store();
}
END_TEST

/* The next stretch of set bits, the slow way. */
static struct extent naive_stretch(struct slab *slab, uint32_t from,
                                   uint32_t want)
{
    struct extent extent = {slab, from, from};

    while (extent.begin < slab->count && !stored[slab->first + extent.begin])
        extent.begin++;
    extent.end = extent.begin;
    while (extent.end < slab->count && stored[slab->first + extent.end] &&
           extent.end - extent.begin < want)
        extent.end++;
    return extent;
}

START_TEST(a_stretch_is_what_a_walk_bit_by_bit_finds)
{
    struct dice dice = dice_from((uint64_t)_i);
    unsigned round;
    uint32_t from;

    for (round = 0; round < 10; round++) {
        struct extent extent = random_extent(&dice);
        struct slab *slab = extent.slab;

        if (dice_below(&dice, 2) == 0)
            give(&extent);
        while (dice_below(&dice, 4) != 0)
            (void)take(1 + dice_below(&dice, 500), 64);
        for (from = 0; from <= slab->count + 1; from++) {
            uint32_t want = 1 + (uint32_t)dice_below(&dice, 300);
            struct extent found = store_stretch(slab, from, want);
            struct extent expected = naive_stretch(slab, from, want);

            REQUIRE(found.slab == slab);
            REQUIRE(found.end - found.begin == expected.end - expected.begin);
            REQUIRE(found.begin == found.end || found.begin == expected.begin);
        }
    }
}
END_TEST

START_TEST(the_peak_is_the_most_that_was_out)
{
    struct extent extent = {pool->map->order[0], 0, 50};

    (void)take(100, 1);
    ck_assert_uint_eq(pool->peak, 100);
    give(&extent);
    (void)take(20, 1);
    ck_assert_uint_eq(pool->peak, 100);
    (void)take(60, 4);
    ck_assert_uint_eq(pool->peak, 130);
}
END_TEST

/* --- what racing puts leave ----------------------------------------------- */

struct lines {
    unsigned count;
    enum ashlar_log_level level;
    char last[512];
};

static void keep_line(enum ashlar_log_level level, const char *message,
                      void *user)
{
    struct lines *lines = user;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    lines->count++;
    lines->level = level;
    (void)strncpy(lines->last, message, sizeof(lines->last) - 1);
    /* No lock is held: the library can be called. */
    REQUIRE(ashlar_pool_query(pool, &stats) == ASHLAR_OK);
    REQUIRE(ashlar_pool_reserve(pool, 1) == ASHLAR_OK);
}

START_TEST(a_slot_given_twice_is_dropped_counted_and_logged)
{
    struct lines lines = {0, 0, ""};
    struct extent extent = {pool->map->order[0], 10, 14};

    ashlar_set_log(keep_line, &lines);
    (void)take(20, 1);
    direct_give(pool, &extent, 1);
    ck_assert_uint_eq(lines.count, 0);
    direct_give(pool, &extent, 1);
    memset(stored + 10, true, 4);
    check_store();
    ck_assert_uint_eq(lines.count, 1);
    ck_assert_int_eq(lines.level, ASHLAR_LOG_ERROR);
    ck_assert_ptr_nonnull(strstr(lines.last, ashlar_pool_name(pool)));
    ck_assert_ptr_nonnull(strstr(lines.last, "4 slot"));
    ck_assert_uint_eq(pools_stats(pool).duplicates, 4);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 16);
}
END_TEST

static Suite *store_suite(void)
{
    Suite *suite = suite_create("store");
    TCase *model = tcase_create("model");
    TCase *races = tcase_create("races");

    tcase_add_checked_fixture(model, make_pool, end_pool);
    tcase_add_loop_test(model, the_store_is_what_a_naive_one_is, 0, 5);
    tcase_add_test(model, taking_ends_when_there_is_no_more);
    tcase_add_test(model, one_slot_in_a_whole_slab_is_found);
    tcase_add_loop_test(model, a_stretch_is_what_a_walk_bit_by_bit_finds, 0, 5);
    tcase_add_test(model, the_peak_is_the_most_that_was_out);
    suite_add_tcase(suite, model);
    tcase_add_checked_fixture(races, make_pool, end_pool);
    tcase_add_test(races, a_slot_given_twice_is_dropped_counted_and_logged);
    suite_add_tcase(suite, races);
    return suite;
}

int main(void)
{
    return suite_run(store_suite());
}
