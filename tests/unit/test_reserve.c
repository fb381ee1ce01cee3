/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What a pool promises.
 */
#include "config.h"

#include <ashlar/pool.h>

#include "support/crew.h"
#include "support/pools.h"

#include <string.h>

#include "base/thread.h"
#include "pool/cache.h"
#include "pool/pool.h"

#define SLOTS_MAX 40000

static struct ashlar_pool *pool;
static struct crew crew;

/* What each member of the crew holds. */
static struct holder {
    void *slots[SLOTS_MAX];
    size_t count;
    size_t share; /* to get */
    bool failed;
} holders[CREW_MAX + 1];

static void start(size_t max_slots, size_t cache_slots, uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(0, max_slots, cache_slots, flags);
    unsigned i;

    options.name = "promises"; /* no digits, for last_error_number() */
    pool = pools_make(pools_type(128, 128), &options);
    for (i = 0; i <= CREW_MAX; i++)
        holders[i].count = holders[i].share = holders[i].failed = 0;
}

static void end(void)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
}

/* --- what members do ------------------------------------------------------ */

/* Get a share, some one by one and some in bulk. */
static void get_share(unsigned number, void *argument)
{
    struct holder *holder = &holders[number];
    struct dice dice = dice_from(number);
    size_t n;

    (void)argument;
    while (holder->share != 0) {
        void **to = holder->slots + holder->count;

        n = 1 + dice_below(&dice, holder->share);
        n = dice_below(&dice, 3) != 0 ? 1 : n;
        if (n == 1)
            holder->failed |= (*to = ashlar_pool_get(pool)) == NULL;
        else
            holder->failed |= ashlar_pool_get_bulk(pool, to, n) != ASHLAR_OK;
        if (holder->failed)
            return;
        holder->count += n;
        holder->share -= n;
    }
}

static void put_all(unsigned number, void *argument)
{
    struct holder *holder = &holders[number];

    (void)argument;
    holder->failed |= ashlar_pool_put_bulk(pool, holder->slots, holder->count,
                                           NULL) != ASHLAR_OK;
    holder->count = 0;
}

/* Get and put, so that the cache is as full as can be; hold two. */
static void fill_cache(unsigned number, void *argument)
{
    struct holder *holder = &holders[number];
    size_t n = 700;

    (void)argument;
    while (holder->count < n)
        holder->failed |=
            (holder->slots[holder->count++] = ashlar_pool_get(pool)) == NULL;
    while (holder->count > 2 && !holder->failed)
        holder->failed |=
            ashlar_pool_put(pool, holder->slots[--holder->count]) != ASHLAR_OK;
}

/* One after the other, which is all that Valgrind can do anyway. */
static void fill_caches(void)
{
    unsigned i;

    for (i = 0; i < crew.count; i++)
        crew_work_one(&crew, i, fill_cache, NULL);
}

static void expect_no_failure(void)
{
    unsigned i;

    for (i = 0; i <= CREW_MAX; i++)
        if (holders[i].failed)
            ck_abort_msg("member %u failed, with %zu slots and %zu to get", i,
                         holders[i].count, holders[i].share);
}

/* Divide n gets among the members, in one of several ways. */
static void share_out(unsigned way, size_t n)
{
    struct dice dice = dice_from(n);
    unsigned i;

    if (way == 0) { /* the last gets all */
        holders[crew.count - 1].share = n;
    } else if (way == 1) { /* everyone the same */
        for (i = 0; i < crew.count; i++)
            holders[i].share = n / crew.count + (i < n % crew.count);
    } else {
        while (n-- != 0)
            holders[dice_below(&dice, crew.count)].share++;
    }
}

/* --- n gets by anybody ---------------------------------------------------- */

static void check_promise(unsigned way, size_t n)
{
    uint64_t calls = pools_stats(pool).source_calls;
    size_t live = pools_stats(pool).live_slots;

    share_out(way, n);
    crew_work(&crew, get_share, NULL);
    expect_no_failure();
    REQUIRE(pools_stats(pool).live_slots == live + n);
    REQUIRE(pools_stats(pool).source_calls == calls);
}

static const struct setting {
    unsigned threads;
    size_t cache_slots;
    uint32_t flags;
} settings[] = {
    {1, 0, 0},
    {2, 0, 0},
    {4, 64, 0},
    {16, 0, 0},
    {16, 1, 0},
    {16, ASHLAR_POOL_CACHE_NONE, 0},
    {8, 100, ASHLAR_POOL_UNCHECKED},
};

#define SETTINGS ((int)(sizeof(settings) / sizeof(settings[0])))

START_TEST(after_a_reserve_its_gets_succeed_however_they_are_shared)
{
    static const size_t sizes[] = {1, 10, 1000, 20000};
    const struct setting *setting = &settings[_i];
    unsigned way, i;

    crew_start(&crew, setting->threads);
    for (i = 0; i < 4 && sizes[i] * pools_pace() <= 100000; i++)
        for (way = 0; way < 3; way++) {
            start(0, setting->cache_slots, setting->flags);
            fill_caches();
            REQUIRE(ashlar_pool_reserve(pool, sizes[i]) == ASHLAR_OK);
            check_promise(way, sizes[i]);
            crew_work(&crew, put_all, NULL);
            end();
        }
    crew_end(&crew);
}
END_TEST

START_TEST(a_promise_outlives_gets_and_puts)
{
    const struct setting *setting = &settings[_i];
    size_t n = 12000 / (1 + pools_pace() / 5);
    unsigned round;

    start(0, setting->cache_slots, setting->flags);
    crew_start(&crew, setting->threads);
    fill_caches();
    crew_work(&crew, put_all, NULL);
    REQUIRE(ashlar_pool_reserve(pool, n) == ASHLAR_OK);
    for (round = 0; round < 6; round++) {
        check_promise(round % 3, n);
        crew_work(&crew, put_all, NULL);
        expect_no_failure();
    }
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(a_reserve_counts_from_what_is_live)
{
    uint64_t calls;

    start(0, 0, 0);
    holders[0].share = 5000;
    get_share(0, NULL);
    REQUIRE(ashlar_pool_reserve(pool, 3000) == ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).promised_slots, 8000);
    calls = pools_stats(pool).source_calls;
    REQUIRE(ashlar_pool_reserve(pool, 3000) == ASHLAR_OK); /* no more */
    REQUIRE(ashlar_pool_reserve(pool, 1) == ASHLAR_OK);    /* nor less */
    REQUIRE(ashlar_pool_reserve(pool, 0) == ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).promised_slots, 8000);
    holders[0].share = 3000;
    get_share(0, NULL);
    expect_no_failure();
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    end();
}
END_TEST

static void attach(unsigned number, void *argument)
{
    uint64_t *calls = argument;

    holders[number].share = 1;
    get_share(number, NULL);
    *calls = pools_stats(pool).source_calls;
}

START_TEST(a_thread_that_attaches_later_grows_when_it_attaches)
{
    uint64_t calls;
    unsigned i;

    start(0, 0, 0);
    REQUIRE(ashlar_pool_reserve(pool, 2000) == ASHLAR_OK);
    crew_start(&crew, 16);
    for (i = 0; i < 16; i++) {
        crew_work_one(&crew, i, attach, &calls);
        holders[i].share = 100;
        crew_work_one(&crew, i, get_share, NULL);
        expect_no_failure();
        REQUIRE(pools_stats(pool).source_calls == calls);
    }
    ck_assert_uint_ge(pool->singles, pool->promised + pool->granted);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(a_reserve_touches_its_records)
{
    uint32_t i;

    start(0, 0, 0);
    holders[0].share = 100;
    get_share(0, NULL);
    REQUIRE(ashlar_pool_reserve(pool, 100000) == ASHLAR_OK);
    ck_assert_uint_ge(pool->map->count, 2);
    for (i = 0; i < pool->map->count; i++)
        ck_assert(pool->map->order[i]->prefaulted);
    end();
}
END_TEST

/* --- at max_slots --------------------------------------------------------- */

START_TEST(all_of_max_slots_can_be_reserved_and_got_by_one_thread)
{
    static const size_t cache_slots[] = {0, 7, ASHLAR_POOL_CACHE_NONE};
    uint64_t calls;
    size_t i;

    for (i = 0; i < 3; i++) {
        start(9999, cache_slots[i], 0);
        holders[0].share = 500;
        get_share(0, NULL);
        put_all(0, NULL);
        REQUIRE(ashlar_pool_reserve(pool, 9999) == ASHLAR_OK);
        calls = pools_stats(pool).source_calls;
        holders[0].share = 9999;
        get_share(0, NULL);
        expect_no_failure();
        REQUIRE(pools_stats(pool).source_calls == calls);
        REQUIRE(ashlar_pool_get(pool) == NULL);
        REQUIRE(last_error_is(ASHLAR_ERR_LIMIT, "9999"));
        put_all(0, NULL);
        expect_no_failure();
        end();
    }
}
END_TEST

START_TEST(a_refused_reserve_changes_nothing)
{
    struct snapshot before;
    struct cache *cache;
    uint32_t limit;

    start(9999, 0, 0);
    crew_start(&crew, 4);
    fill_caches();
    holders[CREW_MAX].share = 100;
    get_share(CREW_MAX, NULL);
    cache = thread_local_get(pool->key);
    limit = cache->limit;
    before = snapshot_take(pool);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 9999), ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(ashlar_pool_reserve(pool, ASHLAR_POOL_SLOTS_MAX),
                     ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(ashlar_pool_reserve(pool, ASHLAR_POOL_SLOTS_MAX + 1),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_reserve(pool, SIZE_MAX), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 10, 1000),
                     ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 10, SIZE_MAX / 5),
                     ASHLAR_ERR_LIMIT);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    ck_assert_uint_eq(cache->limit, limit);
    snapshot_free(&before);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(the_sentence_says_how_many_could_be_reserved)
{
    unsigned threads = 1u << _i;
    uint64_t most;
    char *end_of_sentence;

    start(9999, 0, 0);
    crew_start(&crew, threads);
    fill_caches();
    holders[CREW_MAX].share = 100;
    get_share(CREW_MAX, NULL);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 9998), ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(last_error_number(0), 9998);
    ck_assert_uint_eq(last_error_number(1), 9999);
    ck_assert_uint_eq(last_error_number(2), 100 + 2 * threads);
    most = last_error_number(4);
    end_of_sentence = strstr(ashlar_last_error_message(), "can be reserved");
    ck_assert_ptr_nonnull(end_of_sentence);
    ck_assert_int_eq(ashlar_pool_reserve(pool, most + 1), ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(ashlar_pool_reserve(pool, most), ASHLAR_OK);
    holders[CREW_MAX].share = most;
    get_share(CREW_MAX, NULL);
    expect_no_failure();
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(near_max_slots_a_promise_holds_for_any_thread)
{
    unsigned way = (unsigned)_i % 3;
    unsigned round;

    start(9999, 0, 0);
    crew_start(&crew, 16);
    fill_caches();
    crew_work(&crew, put_all, NULL);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 9999), ASHLAR_ERR_LIMIT);
    ck_assert_uint_gt(last_error_number(4), 5000);
    ck_assert_int_eq(ashlar_pool_reserve(pool, last_error_number(4)),
                     ASHLAR_OK);
    for (round = 0; round < 5; round++) {
        check_promise(way, pools_stats(pool).promised_slots);
        crew_work(&crew, put_all, NULL);
    }
    expect_no_failure();
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(near_max_slots_no_thread_takes_more_than_its_share)
{
    unsigned i;

    start(1000, 0, 0);
    crew_start(&crew, 4);
    share_out(1, 4);
    crew_work(&crew, get_share, NULL);
    crew_work(&crew, put_all, NULL);
    /* Main takes what is in the store but for 20. */
    holders[CREW_MAX].count = 0;
    while (pool->store.free > 20 || pool->singles < 1000) {
        holders[CREW_MAX].share = 1;
        get_share(CREW_MAX, NULL);
    }
    for (i = 0; i < 4; i++) {
        holders[i].share = 4;
        crew_work_one(&crew, i, get_share, NULL);
    }
    expect_no_failure();
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(live_runs_leave_less_to_reserve)
{
    void *run;

    start(3000, ASHLAR_POOL_CACHE_NONE, 0);
    run = ashlar_pool_get_run(pool, 1000);
    ck_assert_ptr_nonnull(run);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 2001), ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(last_error_number(4), 2000);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 1000), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 3000), ASHLAR_OK);
    holders[0].share = 3000;
    get_share(0, NULL);
    expect_no_failure();
    end();
}
END_TEST

/* --- runs ----------------------------------------------------------------- */

static void get_runs(unsigned number, void *argument)
{
    struct holder *holder = &holders[number];
    const size_t *length = argument;

    for (; holder->share != 0 && !holder->failed; holder->share--)
        holder->failed |= (holder->slots[holder->count++] =
                               ashlar_pool_get_run(pool, *length)) == NULL;
}

START_TEST(after_a_reserve_of_runs_they_can_be_got_by_any_thread)
{
    static const size_t lengths[] = {1, 4, 33, 500};
    uint64_t calls;
    unsigned way, i;

    start(0, 0, 0);
    crew_start(&crew, 8);
    for (i = 0; i < 4; i++)
        for (way = 0; way < 3; way++) {
            size_t length = lengths[i];
            size_t count = 4000 / length;

            REQUIRE(ashlar_pool_reserve_runs(pool, length, count) == ASHLAR_OK);
            calls = pools_stats(pool).source_calls;
            share_out(way, count);
            crew_work(&crew, get_runs, &length);
            expect_no_failure();
            REQUIRE(pools_stats(pool).source_calls == calls);
        }
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(promises_of_runs_and_of_slots_hold_side_by_side)
{
    size_t length = 10;
    uint64_t calls;

    start(4000, ASHLAR_POOL_CACHE_NONE, 0);
    REQUIRE(ashlar_pool_reserve(pool, 2000) == ASHLAR_OK);
    REQUIRE(ashlar_pool_reserve_runs(pool, length, 100) == ASHLAR_OK);
    REQUIRE(ashlar_pool_reserve_runs(pool, 5, 100) == ASHLAR_OK);
    calls = pools_stats(pool).source_calls;
    holders[0].share = 2000;
    get_share(0, NULL);
    holders[1].share = 100;
    get_runs(1, &length);
    length = 5;
    holders[2].share = 100;
    get_runs(2, &length);
    expect_no_failure();
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    end();
}
END_TEST

START_TEST(runs_of_more_than_max_slots_are_refused)
{
    start(1000, 0, 0);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 1000, 2), ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(last_error_number(0), 2);
    ck_assert_uint_eq(last_error_number(1), 1000);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 1000, 1), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 1000, 1), ASHLAR_OK);
    ck_assert_ptr_nonnull(ashlar_pool_get_run(pool, 1000));
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 1, 1), ASHLAR_ERR_LIMIT);
    end();
}
END_TEST

static Suite *reserve_suite(void)
{
    Suite *suite = suite_create("reserve");
    TCase *slots = tcase_create("slots");
    TCase *limits = tcase_create("limits");
    TCase *runs = tcase_create("runs");

    tcase_add_loop_test(
        slots, after_a_reserve_its_gets_succeed_however_they_are_shared, 0,
        SETTINGS);
    tcase_add_loop_test(slots, a_promise_outlives_gets_and_puts, 0, SETTINGS);
    tcase_add_test(slots, a_reserve_counts_from_what_is_live);
    tcase_add_test(slots, a_thread_that_attaches_later_grows_when_it_attaches);
    tcase_add_test(slots, a_reserve_touches_its_records);
    suite_add_tcase(suite, slots);
    tcase_add_test(limits,
                   all_of_max_slots_can_be_reserved_and_got_by_one_thread);
    tcase_add_test(limits, a_refused_reserve_changes_nothing);
    tcase_add_loop_test(limits, the_sentence_says_how_many_could_be_reserved, 0,
                        5);
    tcase_add_loop_test(limits, near_max_slots_a_promise_holds_for_any_thread,
                        0, 3);
    tcase_add_test(limits, near_max_slots_no_thread_takes_more_than_its_share);
    tcase_add_test(limits, live_runs_leave_less_to_reserve);
    suite_add_tcase(suite, limits);
    tcase_add_test(runs, after_a_reserve_of_runs_they_can_be_got_by_any_thread);
    tcase_add_test(runs, promises_of_runs_and_of_slots_hold_side_by_side);
    tcase_add_test(runs, runs_of_more_than_max_slots_are_refused);
    suite_add_tcase(suite, runs);
    return suite;
}

int main(void)
{
    pools_start(POOLS_SOURCE);
    return suite_run(reserve_suite());
}
