/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/grow.h"

#include "support/pools.h"
#include "support/stub_source.h"

#include <pthread.h>

#include "base/memory.h"
#include "pool/pool.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static struct ashlar_pool *pool;

static void start(size_t bytes, size_t max_slots)
{
    struct ashlar_pool_options options =
        pools_options(0, max_slots, ASHLAR_POOL_CACHE_NONE, 0);

    options.source = &stub_source;
    pool = pools_make(pools_type(bytes, 1), &options);
}

static void end(void)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
    ck_assert_uint_eq(stub.count, 0);
    ck_assert_uint_eq(stub_source.holders, 0);
    ck_assert_msg(stub.wrong == NULL, "%s", stub.wrong);
}

static void start_clean(void)
{
    memory_fail_nth(0, false);
    stub_reset();
}

static void grow_to(uint64_t target)
{
    enum ashlar_status status = grow_singles_to(pool, target);

    if (status != ASHLAR_OK)
        ck_abort_msg("growing to %lu: %s", (unsigned long)target,
                     ashlar_last_error_message());
    REQUIRE(pool->singles >= target && pool_capacity(pool) <= pool->max_slots);
}

static uint32_t slab_count(void)
{
    return pool->map == NULL ? 0 : pool->map->count;
}

static uint64_t slab_slots(uint32_t number)
{
    return pool->map->order[number]->count;
}

/* --- how much ------------------------------------------------------------- */

START_TEST(growth_gives_what_is_missing_and_not_much_more)
{
    struct dice dice = dice_from((uint64_t)_i);
    uint64_t before, target;
    unsigned round;

    start(128, 0);
    for (round = 0; round < 30; round++) {
        before = pool->singles;
        target = before + 1 + dice_below(&dice, 3000);
        grow_to(target);
        /* 64 KiB, half of what there was, or just what was missing. */
        REQUIRE(pool->singles == target || pool->singles <= before + 512 ||
                pool->singles <= before + before / 2);
    }
    end();
}
END_TEST

START_TEST(many_small_growths_make_few_slabs)
{
    start(128, 0);
    while (pool->singles < 4000000 / pools_pace())
        grow_to(pool->singles + 1);
    /* 512 at first, by halves up to 64 MiB, and 64 MiB at a time. */
    ck_assert_uint_le(slab_count(), 40);
    end();
}
END_TEST

START_TEST(a_small_growth_is_64_kib_and_a_large_one_exact)
{
    start(1, 0);
    grow_to(1);
    ck_assert_uint_eq(pool->singles, 64 * KIB);
    end();
    start(100000, 0);
    grow_to(1);
    ck_assert_uint_eq(pool->singles, 1);
    end();
    start(128, 0);
    grow_to(100001);
    ck_assert_uint_eq(pool->singles, 100001);
    ck_assert_uint_eq(slab_count(), 1);
    end();
}
END_TEST

START_TEST(growth_ahead_of_need_ends_at_64_mib)
{
    start(4096, 0);
    grow_to(100 * MIB / 4096);
    ck_assert_uint_eq(slab_count(), 1);
    grow_to(200 * MIB / 4096);
    grow_to(pool->singles + 1);
    ck_assert_uint_eq(slab_slots(2), 64 * MIB / 4096);
    end();
}
END_TEST

START_TEST(a_slab_takes_what_the_source_gives_beyond_the_wish)
{
    start(128, 0);
    stub.extra = 128 * 20 + 127;
    grow_to(1);
    ck_assert_uint_eq(pool->singles, 512 + 20);
    end();
}
END_TEST

START_TEST(growth_that_is_there_already_asks_for_nothing)
{
    start(128, 0);
    grow_to(1000);
    ck_assert_uint_eq(stub.allocs, 1);
    ck_assert_uint_eq(pools_stats(pool).source_calls, 1);
    grow_to(1000);
    grow_to(0);
    ck_assert_int_eq(grow_free(pool, 1000), ASHLAR_OK);
    ck_assert_uint_eq(stub.allocs, 1);
    ck_assert_uint_eq(pools_stats(pool).source_calls, 1);
    ck_assert_int_eq(grow_free(pool, 1001), ASHLAR_OK);
    ck_assert_uint_eq(stub.allocs, 2);
    end();
}
END_TEST

/* --- max_slots ------------------------------------------------------------ */

START_TEST(growth_reaches_max_slots_and_never_passes_it)
{
    struct dice dice = dice_from((uint64_t)_i);
    uint64_t most = 1 + dice_below(&dice, 20000);
    struct snapshot before;

    start(128, most);
    stub.extra = dice_below(&dice, 100000);
    while (pool->singles < most)
        grow_to(pool->singles + 1 +
                dice_below(&dice, most - pool->singles) / 4);
    ck_assert_uint_eq(pool->singles, most);
    before = snapshot_take(pool);
    ck_assert_int_eq(grow_singles_to(pool, most + 1), ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(last_error_number(2), most);
    ck_assert_int_eq(grow_free(pool, most + 1), ASHLAR_ERR_LIMIT);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    snapshot_free(&before);
    end();
}
END_TEST

START_TEST(growth_up_to_a_need_takes_what_max_slots_leaves)
{
    start(128, 1000);
    grow_to(900);
    ck_assert_int_eq(grow_free_up_to(pool, 5000), ASHLAR_OK);
    ck_assert_uint_eq(pool->singles, 1000);
    ck_assert_int_eq(grow_free_up_to(pool, 1), ASHLAR_ERR_LIMIT);
    end();
}
END_TEST

static void *grow_in_thread(void *argument)
{
    uint64_t target;

    for (target = 1; target <= 9999; target += 7)
        if (grow_singles_to(pool, target) != ASHLAR_OK)
            return argument;
    return NULL;
}

START_TEST(threads_that_grow_at_once_grow_once)
{
    pthread_t threads[8];
    void *failed;
    size_t i;

    start(128, 9999);
    for (i = 0; i < 8; i++)
        REQUIRE(pthread_create(&threads[i], NULL, grow_in_thread, pool) == 0);
    for (i = 0; i < 8; i++)
        REQUIRE(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    ck_assert_uint_le(pool->singles, 9999);
    ck_assert_uint_le(slab_count(), 12);
    end();
}
END_TEST

/* --- no memory ------------------------------------------------------------ */

START_TEST(where_the_wish_is_too_large_what_is_missing_serves)
{
    start(128, 0);
    grow_to(100000);
    stub.bytes_limit = stub.bytes + 128 * 10;
    grow_to(100010);
    ck_assert_uint_eq(pool->singles, 100010);
    ck_assert_int_eq(grow_singles_to(pool, 100011), ASHLAR_ERR_NO_MEMORY);
    end();
}
END_TEST

START_TEST(without_memory_the_pool_is_as_before)
{
    struct snapshot before;
    unsigned long nth;

    start(128, 0);
    grow_to(100);
    (void)ashlar_pool_put(NULL, NULL); /* so that there is room for an error */
    before = snapshot_take(pool);
    for (nth = 1;; nth++) {
        memory_fail_nth(nth, true);
        if (grow_singles_to(pool, 5000) == ASHLAR_OK)
            break;
        memory_fail_nth(0, false);
        REQUIRE(last_error_is(ASHLAR_ERR_NO_MEMORY, ashlar_pool_name(pool)));
        REQUIRE(snapshot_differs(&before, pool) == NULL);
        REQUIRE(stub.count == 1);
    }
    memory_fail_nth(0, false);
    ck_assert_uint_gt(nth, 4);
    ck_assert_uint_ge(pool->singles, 5000);
    snapshot_free(&before);
    end();
}
END_TEST

/* --- from one kind to the other ------------------------------------------- */

#define HALF 700

/* Two slabs that fill max_slots. */
static void start_full(void)
{
    start(128, 2 * HALF);
    grow_to(HALF);
    grow_to(2 * HALF);
    ck_assert_uint_eq(slab_count(), 2);
}

START_TEST(at_max_slots_a_free_slab_turns_to_what_is_needed)
{
    void *slots[2 * HALF];
    void *run;
    unsigned round;

    start_full();
    for (round = 0; round < 5; round++) {
        run = ashlar_pool_get_run(pool, HALF);
        REQUIRE(run != NULL);
        REQUIRE(pools_stats(pool).live_slots == HALF);
        REQUIRE(pool->singles == HALF && pool->runs.slots == HALF);
        REQUIRE(ashlar_pool_get_bulk(pool, slots, HALF) == ASHLAR_OK);
        REQUIRE(ashlar_pool_get(pool) == NULL);
        REQUIRE(last_error_is(ASHLAR_ERR_LIMIT, "1400"));
        REQUIRE(ashlar_pool_put_run(pool, run, HALF) == ASHLAR_OK);
        REQUIRE(ashlar_pool_get_bulk(pool, slots + HALF, HALF) == ASHLAR_OK);
        REQUIRE(pool->singles == 2 * HALF && pool->runs.slots == 0);
        REQUIRE(ashlar_pool_put_bulk(pool, slots, 2 * HALF, NULL) == ASHLAR_OK);
    }
    ck_assert_uint_eq(slab_count(), 2);
    ck_assert_uint_eq(stub.allocs, 2);
    end();
}
END_TEST

START_TEST(all_slabs_turn_there_and_back)
{
    void *slots[2 * HALF];
    void *runs[2];
    unsigned round;

    start_full();
    for (round = 0; round < 3; round++) {
        runs[0] = ashlar_pool_get_run(pool, HALF);
        runs[1] = ashlar_pool_get_run(pool, HALF);
        REQUIRE(runs[0] != NULL && runs[1] != NULL && pool->singles == 0);
        REQUIRE(ashlar_pool_put_run(pool, runs[round % 2], HALF) == ASHLAR_OK);
        REQUIRE(ashlar_pool_put_run(pool, runs[1 - round % 2], HALF) ==
                ASHLAR_OK);
        REQUIRE(ashlar_pool_get_bulk(pool, slots, 2 * HALF) == ASHLAR_OK);
        REQUIRE(pool->runs.slots == 0 && pool->singles == 2 * HALF);
        REQUIRE(ashlar_pool_put_bulk(pool, slots, 2 * HALF, NULL) == ASHLAR_OK);
    }
    end();
}
END_TEST

START_TEST(a_slab_with_a_live_slot_does_not_turn)
{
    void *slots[HALF + 1];

    start_full();
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, HALF + 1), ASHLAR_OK);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 1));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_FRAGMENTED);
    ck_assert_int_eq(ashlar_pool_put(pool, slots[HALF]), ASHLAR_OK);
    ck_assert_ptr_nonnull(ashlar_pool_get_run(pool, 1));
    /* And one with a live run stays with the runs. */
    ck_assert_ptr_null(ashlar_pool_get(pool));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    end();
}
END_TEST

START_TEST(a_slab_that_a_reserve_needs_does_not_turn)
{
    void *slots[HALF + 1];

    start_full();
    ck_assert_int_eq(ashlar_pool_reserve(pool, HALF + 1), ASHLAR_OK);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 10));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_FRAGMENTED);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, HALF + 1), ASHLAR_OK);
    end();
    start_full();
    ck_assert_int_eq(ashlar_pool_reserve(pool, HALF), ASHLAR_OK);
    ck_assert_ptr_nonnull(ashlar_pool_get_run(pool, 10));
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, HALF), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(a_slab_that_reserved_runs_need_does_not_turn)
{
    void *slots[2 * HALF];
    unsigned i;

    start_full();
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 70, 10), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 2 * HALF),
                     ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, HALF), ASHLAR_OK);
    for (i = 0; i < 10; i++)
        REQUIRE(ashlar_pool_get_run(pool, 70) != NULL);
    end();
}
END_TEST

START_TEST(a_turned_slab_keeps_its_addresses_and_indexes)
{
    void *slots[2 * HALF];
    size_t index;
    void *run;
    size_t i;

    start_full();
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 2 * HALF), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, 2 * HALF, NULL),
                     ASHLAR_OK);
    run = ashlar_pool_get_run(pool, HALF);
    ck_assert(run == slots[0] || run == slots[HALF]);
    for (i = 0; i < 2 * HALF; i++) {
        REQUIRE(ashlar_pool_index(pool, slots[i], &index) == ASHLAR_OK);
        REQUIRE(index == i && ashlar_pool_at(pool, i) == slots[i]);
    }
    end();
}
END_TEST

static Suite *grow_suite(void)
{
    Suite *suite = suite_create("grow");
    TCase *amount = tcase_create("amount");
    TCase *limits = tcase_create("limits");
    TCase *turning = tcase_create("turning");

    tcase_add_checked_fixture(amount, start_clean, start_clean);
    tcase_add_loop_test(amount, growth_gives_what_is_missing_and_not_much_more,
                        0, 3);
    tcase_add_test(amount, many_small_growths_make_few_slabs);
    tcase_add_test(amount, a_small_growth_is_64_kib_and_a_large_one_exact);
    tcase_add_test(amount, growth_ahead_of_need_ends_at_64_mib);
    tcase_add_test(amount, a_slab_takes_what_the_source_gives_beyond_the_wish);
    tcase_add_test(amount, growth_that_is_there_already_asks_for_nothing);
    suite_add_tcase(suite, amount);
    tcase_add_checked_fixture(limits, start_clean, start_clean);
    tcase_add_loop_test(limits, growth_reaches_max_slots_and_never_passes_it, 0,
                        10);
    tcase_add_test(limits, growth_up_to_a_need_takes_what_max_slots_leaves);
    tcase_add_test(limits, threads_that_grow_at_once_grow_once);
    tcase_add_test(limits, where_the_wish_is_too_large_what_is_missing_serves);
    tcase_add_test(limits, without_memory_the_pool_is_as_before);
    suite_add_tcase(suite, limits);
    tcase_add_checked_fixture(turning, start_clean, start_clean);
    tcase_add_test(turning, at_max_slots_a_free_slab_turns_to_what_is_needed);
    tcase_add_test(turning, all_slabs_turn_there_and_back);
    tcase_add_test(turning, a_slab_with_a_live_slot_does_not_turn);
    tcase_add_test(turning, a_slab_that_a_reserve_needs_does_not_turn);
    tcase_add_test(turning, a_slab_that_reserved_runs_need_does_not_turn);
    tcase_add_test(turning, a_turned_slab_keeps_its_addresses_and_indexes);
    suite_add_tcase(suite, turning);
    return suite;
}

int main(void)
{
    return suite_run(grow_suite());
}
