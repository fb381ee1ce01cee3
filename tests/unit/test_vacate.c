/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A pool on a range: one array, whose far end goes and comes again.
 */
#include "config.h"

#include "pool/vacate.h"

#include "support/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pool/pool.h"

#define SLOTS 60000

static struct ashlar_source *vm;
static struct ashlar_pool *pool;
static size_t stride;
static void *slots[SLOTS];
static size_t count;

static void start(size_t bytes, size_t alignment, size_t max_slots)
{
    struct ashlar_pool_options options =
        pools_options(0, max_slots, ASHLAR_POOL_CACHE_NONE, 0);

    memory_fail_nth(0, false);
    REQUIRE(ashlar_source_open("vm", NULL, &vm) == ASHLAR_OK);
    options.source = vm;
    pool = pools_make(pools_type(bytes, alignment), &options);
    stride = pools_stats(pool).stride;
    count = 0;
}

static void end(void)
{
    REQUIRE(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK);
    REQUIRE(ashlar_source_close(vm) == ASHLAR_OK);
}

static void get(size_t n)
{
    size_t i;

    REQUIRE(ashlar_pool_get_bulk(pool, slots + count, n) == ASHLAR_OK);
    for (i = count; i < count + n; i++)
        memset(slots[i], (int)(i % 250) + 1, stride < 4096 ? stride : 4096);
    count += n;
}

static void put_from(size_t first)
{
    REQUIRE(ashlar_pool_put_bulk(pool, slots + first, count - first, NULL) ==
            ASHLAR_OK);
    count = first;
}

static size_t trim(void)
{
    size_t bytes = SIZE_MAX;

    REQUIRE(ashlar_pool_trim(pool, &bytes) == ASHLAR_OK);
    return bytes;
}

static uint64_t committed(void)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    REQUIRE(ashlar_range_query(ashlar_pool_range(pool), &info) == ASHLAR_OK);
    return info.committed_bytes;
}

/* All slots that are held have their bytes, at the places of one array. */
static void check_array(void)
{
    char *base = ashlar_pool_at(pool, 0);
    size_t i, index;

    for (i = 0; i < count; i += pools_pace()) {
        REQUIRE(*(unsigned char *)slots[i] == i % 250 + 1);
        REQUIRE(ashlar_pool_index(pool, slots[i], &index) == ASHLAR_OK);
        REQUIRE((char *)slots[i] == base + index * stride);
        REQUIRE(ashlar_pool_at(pool, index) == slots[i]);
    }
}

START_TEST(a_pool_on_a_range_is_one_array_however_it_grows)
{
    struct dice dice = dice_from((uint64_t)_i);

    start(128, 128, 0);
    while (count < 40000) {
        get(1 + dice_below(&dice, 3000));
        check_array();
    }
    ck_assert_uint_ge(pools_stats(pool).slabs, 3);
    end();
}
END_TEST

START_TEST(slots_on_a_range_are_aligned)
{
    static const size_t sizes[] = {1, 24, 128, 160, 5000, 70000};
    size_t i, j, alignment;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (alignment = 1; alignment <= 2 << 20; alignment *= 8) {
            start(sizes[i], alignment, 0);
            get(40);
            get(pools_stats(pool).free_slots % 1000);
            get(40);
            for (j = 0; j < count; j++)
                REQUIRE((uintptr_t)slots[j] % alignment == 0);
            end();
        }
}
END_TEST

START_TEST(a_trim_gives_the_free_far_end_back)
{
    uint64_t before;
    size_t bytes;

    start(128, 128, 0);
    get(50000);
    before = committed();
    ck_assert_uint_ge(before, 50000 * 128);
    put_from(0);
    bytes = trim();
    ck_assert_uint_eq(bytes, before - committed());
    ck_assert_uint_le(committed() * 20, before);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    end();
}
END_TEST

START_TEST(what_is_live_stays_and_what_went_comes_again)
{
    void *kept[SLOTS];
    size_t at = 0, i;
    unsigned round;

    start(128, 128, 0);
    while (count < 50000)
        get(2500);
    memcpy(kept, slots, sizeof(kept));
    for (round = 0; round < 4; round++) {
        at = 10000 * (round + 1);
        put_from(at);
        (void)trim();
        check_array();
        REQUIRE(pools_stats(pool).live_slots == at);
        get(50000 - at);
        check_array();
        for (i = 0; i < count; i++)
            REQUIRE(ashlar_pool_owns(pool, slots[i]));
    }
    for (i = 0; i < at; i++)
        REQUIRE(kept[i] == slots[i]);
    end();
}
END_TEST

START_TEST(a_slot_at_the_far_end_keeps_all)
{
    uint64_t before;

    start(128, 128, 0);
    while (count < 50000)
        get(2500);
    before = committed();
    slots[0] = slots[count - 1];
    REQUIRE(ashlar_pool_put_bulk(pool, slots + 1, count - 2, NULL) ==
            ASHLAR_OK);
    ck_assert_uint_eq(trim(), 0);
    ck_assert_uint_eq(committed(), before);
    ck_assert_uint_eq(*(unsigned char *)slots[0], (count - 1) % 250 + 1);
    end();
}
END_TEST

START_TEST(a_slot_that_was_trimmed_away_is_not_live)
{
    void *slot;

    start(128, 128, 0);
    get(50000);
    slot = slots[40000];
    put_from(0);
    (void)trim();
    ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_ERR_NOT_LIVE);
    ck_assert(last_error_names(ASHLAR_ERR_NOT_LIVE, slot));
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, &slot, 1, NULL),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert_int_ne(ashlar_pool_put_run(pool, slot, 1), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(the_far_end_may_come_again_as_runs)
{
    char *run;

    start(128, 128, 30000);
    get(30000);
    put_from(0);
    ck_assert_uint_gt(trim(), 0);
    run = ashlar_pool_get_run(pool, 20000);
    ck_assert_msg(run != NULL, "%s", ashlar_last_error_message());
    memset(run, 1, 20000 * 128);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 20000), ASHLAR_OK);
    ck_assert_uint_gt(trim(), 0);
    get(30000);
    check_array();
    end();
}
END_TEST

START_TEST(after_a_trim_a_reserve_holds_again)
{
    uint64_t calls;

    start(128, 128, 30000);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 30000), ASHLAR_OK);
    (void)trim();
    ck_assert_int_eq(ashlar_pool_reserve(pool, 30000), ASHLAR_OK);
    calls = pools_stats(pool).source_calls;
    get(30000);
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    check_array();
    end();
}
END_TEST

START_TEST(without_memory_the_far_end_stays_away)
{
    struct snapshot before;
    unsigned long nth;
    enum ashlar_status status;

    start(128, 128, 30000);
    get(30000);
    put_from(100);
    (void)trim();
    before = snapshot_take(pool);
    for (nth = 1;; nth++) {
        memory_fail_nth(nth, false);
        status = ashlar_pool_get_bulk(pool, slots + count, 29900);
        memory_fail_nth(0, false);
        if (status == ASHLAR_OK)
            break;
        REQUIRE(status == ASHLAR_ERR_NO_MEMORY);
        REQUIRE(snapshot_differs(&before, pool) == NULL);
        check_array();
    }
    snapshot_free(&before);
    end();
}
END_TEST

START_TEST(slabs_come_again_together_or_not_at_all)
{
    struct snapshot before;
    enum ashlar_status status;
    unsigned long nth;
    unsigned slabs;

    start(128, 128, 60000);
    for (slabs = 0; slabs < 6; slabs++)
        get(6000);
    put_from(0);
    (void)trim();
    before = snapshot_take(pool);
    ck_assert_uint_lt(before.stats.capacity_slots, 6000);
    for (nth = 1;; nth++) {
        /* All that went, and a slab more. */
        memory_fail_nth(nth, _i != 0);
        status = ashlar_pool_get_bulk(pool, slots, 55000);
        memory_fail_nth(0, false);
        if (status == ASHLAR_OK)
            break;
        REQUIRE(status == ASHLAR_ERR_NO_MEMORY);
        REQUIRE(snapshot_differs(&before, pool) == NULL);
    }
    ck_assert_uint_gt(nth, 4);
    REQUIRE(ashlar_pool_put_bulk(pool, slots, 55000, NULL) == ASHLAR_OK);
    get(60000);
    check_array();
    snapshot_free(&before);
    end();
}
END_TEST

START_TEST(without_memory_no_slab_is_made_over_one_that_was_trimmed)
{
    unsigned long nth;
    char *run;

    start(128, 128, 30000);
    get(30000);
    put_from(0);
    for (nth = 1;; nth++) {
        (void)trim();
        memory_fail_nth(nth, false);
        run = ashlar_pool_get_run(pool, 20000);
        memory_fail_nth(0, false);
        if (run != NULL)
            break;
        REQUIRE(ashlar_last_error() == ASHLAR_ERR_NO_MEMORY);
    }
    ck_assert_uint_gt(nth, 2);
    REQUIRE(ashlar_pool_put_run(pool, run, 20000) == ASHLAR_OK);
    get(30000);
    check_array();
    end();
}
END_TEST

static Suite *vacate_suite(void)
{
    Suite *suite = suite_create("vacate");
    TCase *range = tcase_create("range");

    tcase_add_loop_test(range, a_pool_on_a_range_is_one_array_however_it_grows,
                        0, 3);
    tcase_add_test(range, slots_on_a_range_are_aligned);
    tcase_add_test(range, a_trim_gives_the_free_far_end_back);
    tcase_add_test(range, what_is_live_stays_and_what_went_comes_again);
    tcase_add_test(range, a_slot_at_the_far_end_keeps_all);
    tcase_add_test(range, a_slot_that_was_trimmed_away_is_not_live);
    tcase_add_test(range, the_far_end_may_come_again_as_runs);
    tcase_add_test(range, after_a_trim_a_reserve_holds_again);
    tcase_add_test(range, without_memory_the_far_end_stays_away);
    tcase_add_loop_test(range, slabs_come_again_together_or_not_at_all, 0, 2);
    tcase_add_test(range,
                   without_memory_no_slab_is_made_over_one_that_was_trimmed);
    suite_add_tcase(suite, range);
    return suite;
}

int main(void)
{
    return suite_run(vacate_suite());
}
