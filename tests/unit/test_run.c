/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The public calls on runs, and what they refuse.
 */
#include "config.h"

#include <ashlar/pool.h>

#include "support/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pool/pool.h"

#define MAX_SLOTS 2000

static struct ashlar_pool *pool;
static const uint32_t flags[] = {0, ASHLAR_POOL_UNCHECKED};

static void start(int number)
{
    struct ashlar_pool_options options =
        pools_options(0, MAX_SLOTS, 0, flags[number]);

    memory_fail_nth(0, false);
    options.name = "runs"; /* no digits, for last_error_number() */
    pool = pools_make(pools_type(128, 128), &options);
}

static void end(void)
{
    REQUIRE(pools_stats(pool).live_slots == 0);
    REQUIRE(pools_stats(pool).live_runs == 0);
    pools_end(pool);
}

static char *get(size_t n)
{
    char *run = ashlar_pool_get_run(pool, n);

    REQUIRE(run != NULL && (uintptr_t)run % 128 == 0);
    return run;
}

static void put(void *run, size_t n)
{
    REQUIRE(ashlar_pool_put_run(pool, run, n) == ASHLAR_OK);
}

/* A pool whose slots are all side by side. */
static void start_whole(int number)
{
    start(number);
    put(get(MAX_SLOTS), MAX_SLOTS);
    REQUIRE(pools_stats(pool).slabs == 1);
}

/* --- getting -------------------------------------------------------------- */

START_TEST(a_run_is_n_slots_that_nobody_else_has)
{
    static const size_t lengths[] = {1, 2, 3, 7, 64, 65, 127, 500};
    char *runs[8];
    size_t i, j;

    start(_i);
    for (i = 0; i < 8; i++) {
        runs[i] = get(lengths[i]);
        memset(runs[i], (int)i + 1, lengths[i] * 128);
    }
    ck_assert_uint_eq(pools_stats(pool).live_runs, 8);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 769);
    for (i = 0; i < 8; i++) {
        for (j = 0; j < lengths[i] * 128; j++)
            REQUIRE(runs[i][j] == (char)(i + 1));
        put(runs[i], lengths[i]);
    }
    end();
}
END_TEST

START_TEST(a_returned_length_comes_again_from_its_list)
{
    char *runs[10];
    uint64_t calls;
    size_t i;

    start(_i);
    for (i = 0; i < 10; i++)
        runs[i] = get(100);
    calls = pools_stats(pool).source_calls;
    for (i = 0; i < 10; i++)
        put(runs[i], 100);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 10);
    for (i = 10; i-- > 0;)
        REQUIRE(get(100) == runs[i]);
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    for (i = 0; i < 10; i++)
        put(runs[i], 100);
    end();
}
END_TEST

START_TEST(a_length_that_cannot_be_is_refused)
{
    static const size_t wrong[] = {0, MAX_SLOTS + 1, UINT32_MAX,
                                   (size_t)UINT32_MAX + 1, SIZE_MAX};
    struct snapshot before;
    size_t i;

    start(_i);
    before = snapshot_take(pool);
    for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        REQUIRE(ashlar_pool_get_run(pool, wrong[i]) == NULL);
        REQUIRE(last_error_is(ASHLAR_ERR_INVALID, "2000"));
        REQUIRE(last_error_number(0) == wrong[i]);
        REQUIRE(ashlar_pool_reserve_runs(pool, wrong[i], 1) ==
                ASHLAR_ERR_INVALID);
        REQUIRE(last_error_number(0) == wrong[i]);
        REQUIRE(snapshot_differs_at_all(&before, pool) == NULL);
    }
    ck_assert_ptr_null(ashlar_pool_get_run(NULL, 1));
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "pool"));
    ck_assert_uint_eq(pools_stats(pool).refusals, 10);
    end();
}
END_TEST

START_TEST(runs_are_limited_by_what_is_left)
{
    char *run;
    char *rest;

    start_whole(_i);
    run = get(1500);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 501));
    ck_assert(last_error_is(ASHLAR_ERR_LIMIT, "2000"));
    ck_assert_uint_eq(last_error_number(0), 500);
    rest = get(500);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 1));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    put(run, 1500);
    put(rest, 500);
    end();
}
END_TEST

START_TEST(enough_but_not_side_by_side_is_fragmented)
{
    char *runs[20];
    uint64_t longest;
    size_t i;

    start_whole(_i);
    for (i = 0; i < 20; i++)
        runs[i] = get(100);
    for (i = 0; i < 20; i += 2)
        put(runs[i], 100);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 101));
    ck_assert(last_error_is(ASHLAR_ERR_FRAGMENTED, "side by side"));
    ck_assert_uint_eq(last_error_number(0), 1000);
    ck_assert_uint_eq(last_error_number(2), 101);
    longest = last_error_number(3);
    ck_assert_uint_eq(longest, 100);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 1000));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_FRAGMENTED);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 1001));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    runs[0] = get(longest);
    put(runs[0], longest);
    for (i = 1; i < 20; i += 2)
        put(runs[i], 100);
    end();
}
END_TEST

/* A pool of single slots, of which the thread's cache keeps some. */
static void start_cached(int number)
{
    struct ashlar_pool_options options =
        pools_options(MAX_SLOTS, MAX_SLOTS, 0, flags[number]);
    void *slots[50];

    pool = pools_make(pools_type(128, 128), &options);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, 50) == ASHLAR_OK);
    REQUIRE(ashlar_pool_put_bulk(pool, slots, 50, NULL) == ASHLAR_OK);
    REQUIRE(pools_stats(pool).cached_slots >= 50);
}

START_TEST(the_threads_own_cache_makes_way_for_a_run)
{
    char *run;

    start_cached(_i);
    ashlar_clear_error();
    run = get(MAX_SLOTS);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).cached_slots, 0);
    ck_assert_ptr_null(ashlar_pool_get(pool));
    ck_assert(last_error_is(ASHLAR_ERR_LIMIT, "2000 are set apart for runs"));
    put(run, MAX_SLOTS);
    end();
}
END_TEST

START_TEST(a_cache_that_is_not_in_the_way_keeps_what_it_has)
{
    struct snapshot before;
    void *slot;

    start_cached(_i);
    slot = ashlar_pool_get(pool);
    before = snapshot_take(pool);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 100));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_FRAGMENTED);
    ck_assert_ptr_null(snapshot_differs(&before, pool));
    snapshot_free(&before);
    REQUIRE(ashlar_pool_put(pool, slot) == ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 100, 20), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(without_memory_no_run_is_had_and_nothing_changes)
{
    struct snapshot before;
    unsigned long nth;
    char *run;

    start(_i);
    run = get(10);
    put(run, 10);
    before = snapshot_take(pool);
    for (nth = 1;; nth++) {
        memory_fail_nth(nth, false);
        run = ashlar_pool_get_run(pool, 900);
        memory_fail_nth(0, false);
        if (run != NULL)
            break;
        REQUIRE(ashlar_last_error() == ASHLAR_ERR_NO_MEMORY);
        REQUIRE(snapshot_differs(&before, pool) == NULL);
    }
    snapshot_free(&before);
    put(run, 900);
    end();
}
END_TEST

/* --- putting -------------------------------------------------------------- */

struct wrong {
    const char *name;
    void *run;
    size_t n;
    enum ashlar_status status;
};

#define WRONGS 20

/* All that can be wrong about a put, beside a live run of 10 slots. */
static size_t make_wrongs(struct wrong *wrongs, char *run, char *dead,
                          void *single, void *foreign)
{
    const struct wrong all[] = {
        {"NULL", NULL, 10, ASHLAR_ERR_INVALID},
        {"foreign", foreign, 10, ASHLAR_ERR_WRONG_OWNER},
        {"on the stack", wrongs, 10, ASHLAR_ERR_WRONG_OWNER},
        {"single", single, 1, ASHLAR_ERR_WRONG_OWNER},
        {"single, inside", (char *)single + 5, 1, ASHLAR_ERR_WRONG_OWNER},
        {"too short", run, 9, ASHLAR_ERR_INVALID},
        {"too long", run, 11, ASHLAR_ERR_INVALID},
        {"of none", run, 0, ASHLAR_ERR_INVALID},
        {"of very many", run, SIZE_MAX, ASHLAR_ERR_INVALID},
        {"of 2^32 more", run, ((size_t)1 << 32) + 10, ASHLAR_ERR_INVALID},
        {"its second slot", run + 128, 9, ASHLAR_ERR_MISALIGNED},
        {"its second slot, of none", run + 128, 0, ASHLAR_ERR_MISALIGNED},
        {"its last slot", run + 9 * 128, 1, ASHLAR_ERR_MISALIGNED},
        {"inside its first slot", run + 1, 10, ASHLAR_ERR_MISALIGNED},
        {"inside its last slot", run + 1279, 10, ASHLAR_ERR_MISALIGNED},
        {"put already", dead, 20, ASHLAR_ERR_NOT_LIVE},
        {"put already, too short", dead, 5, ASHLAR_ERR_NOT_LIVE},
        {"inside one put already", dead + 128, 19, ASHLAR_ERR_NOT_LIVE},
        {"never handed out", run + 200 * 128, 10, ASHLAR_ERR_NOT_LIVE},
    };

    memcpy(wrongs, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static void expect_refused(const struct wrong *wrong)
{
    enum ashlar_status status = ashlar_pool_put_run(pool, wrong->run, wrong->n);

    if (status != wrong->status)
        ck_abort_msg("a run %s: %s", wrong->name, ashlar_status_name(status));
    if (!last_error_names(status, wrong->run))
        ck_abort_msg("a run %s: \"%s\" does not name it", wrong->name,
                     ashlar_last_error_message());
}

START_TEST(a_wrong_put_is_refused_and_changes_nothing)
{
    void *foreign = malloc(2000);
    struct wrong wrongs[WRONGS];
    struct snapshot before;
    size_t count, i;
    void *single;
    char *dead;
    char *run;

    start(_i);
    run = get(10);
    dead = get(20);
    put(dead, 20);
    single = ashlar_pool_get(pool);
    count = make_wrongs(wrongs, run, dead, single, foreign);
    before = snapshot_take(pool);
    for (i = 0; i < count; i++) {
        expect_refused(&wrongs[i]);
        if (snapshot_differs_at_all(&before, pool) != NULL)
            ck_abort_msg("a run %s changed %s", wrongs[i].name,
                         snapshot_differs_at_all(&before, pool));
    }
    ck_assert_uint_eq(pools_stats(pool).refusals, count);
    snapshot_free(&before);
    put(run, 10);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 10), ASHLAR_ERR_NOT_LIVE);
    ck_assert_int_eq(ashlar_pool_put(pool, single), ASHLAR_OK);
    free(foreign);
    end();
}
END_TEST

START_TEST(the_sentence_tells_both_lengths)
{
    char *run;

    start(_i);
    run = get(10);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 7), ASHLAR_ERR_INVALID);
    ck_assert(last_error_names(ASHLAR_ERR_INVALID, run));
    ck_assert_uint_eq(last_error_number(1), 10);
    ck_assert_uint_eq(last_error_number(2), 7);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run + 256, 8),
                     ASHLAR_ERR_MISALIGNED);
    ck_assert(last_error_names(ASHLAR_ERR_MISALIGNED, run));
    ck_assert_uint_eq(last_error_number(1), 256);
    ck_assert_uint_eq(last_error_number(3), 10);
    put(run, 10);
    end();
}
END_TEST

START_TEST(the_sentence_tells_where_what_is_no_run_belongs)
{
    void *single;

    start(_i);
    single = ashlar_pool_get(pool);
    ck_assert_int_eq(ashlar_pool_put_run(pool, single, 1),
                     ASHLAR_ERR_WRONG_OWNER);
    ck_assert(last_error_is(ASHLAR_ERR_WRONG_OWNER, "ashlar_pool_put()"));
    ck_assert_int_eq(ashlar_pool_put_run(pool, &single, 1),
                     ASHLAR_ERR_WRONG_OWNER);
    ck_assert(last_error_is(ASHLAR_ERR_WRONG_OWNER, "no address of pool"));
    ck_assert_int_eq(ashlar_pool_put(pool, single), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(a_run_of_another_pool_is_refused)
{
    struct ashlar_pool *other = pools_make(pools_type(128, 128), NULL);
    void *run = ashlar_pool_get_run(other, 10);

    start(_i);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 10),
                     ASHLAR_ERR_WRONG_OWNER);
    ck_assert_uint_eq(pools_stats(other).live_runs, 1);
    ck_assert_int_eq(ashlar_pool_put_run(other, run, 10), ASHLAR_OK);
    pools_end(other);
    end();
}
END_TEST

START_TEST(a_run_of_one_is_no_single_slot)
{
    char *run;

    start(_i);
    run = get(1);
    ck_assert_int_eq(ashlar_pool_put(pool, run), ASHLAR_ERR_WRONG_OWNER);
    ck_assert(last_error_is(ASHLAR_ERR_WRONG_OWNER, "ashlar_pool_put_run"));
    put(run, 1);
    end();
}
END_TEST

static void *put_and_get(void *argument)
{
    void **run = argument;

    if (ashlar_pool_put_run(pool, *run, 33) != ASHLAR_OK)
        return NULL;
    *run = ashlar_pool_get_run(pool, 33);
    return NULL;
}

START_TEST(another_thread_may_put_a_run)
{
    void *run;

    start(_i);
    run = get(33);
    in_thread(put_and_get, &run);
    ck_assert_ptr_nonnull(run);
    put(run, 33);
    end();
}
END_TEST

START_TEST(after_a_run_was_put_its_slots_may_be_other_runs)
{
    char *runs[20];
    char *run;
    size_t i;

    start(_i);
    run = get(2000);
    put(run, 2000);
    for (i = 0; i < 20; i++)
        runs[i] = get(100);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 2000), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run + 128, 1999),
                     ASHLAR_ERR_MISALIGNED);
    for (i = 0; i < 20; i++)
        put(runs[i], 100);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 2000), ASHLAR_ERR_NOT_LIVE);
    end();
}
END_TEST

static Suite *run_suite(void)
{
    Suite *suite = suite_create("run");
    TCase *getting = tcase_create("getting");
    TCase *putting = tcase_create("putting");

    tcase_add_loop_test(getting, a_run_is_n_slots_that_nobody_else_has, 0, 2);
    tcase_add_loop_test(getting, a_returned_length_comes_again_from_its_list, 0,
                        2);
    tcase_add_loop_test(getting, a_length_that_cannot_be_is_refused, 0, 2);
    tcase_add_loop_test(getting, runs_are_limited_by_what_is_left, 0, 2);
    tcase_add_loop_test(getting, enough_but_not_side_by_side_is_fragmented, 0,
                        2);
    tcase_add_loop_test(getting, the_threads_own_cache_makes_way_for_a_run, 0,
                        2);
    tcase_add_loop_test(getting,
                        a_cache_that_is_not_in_the_way_keeps_what_it_has, 0, 2);
    tcase_add_loop_test(getting,
                        without_memory_no_run_is_had_and_nothing_changes, 0, 2);
    suite_add_tcase(suite, getting);
    tcase_add_loop_test(putting, a_wrong_put_is_refused_and_changes_nothing, 0,
                        2);
    tcase_add_loop_test(putting, the_sentence_tells_both_lengths, 0, 2);
    tcase_add_loop_test(putting,
                        the_sentence_tells_where_what_is_no_run_belongs, 0, 2);
    tcase_add_loop_test(putting, a_run_of_another_pool_is_refused, 0, 2);
    tcase_add_loop_test(putting, a_run_of_one_is_no_single_slot, 0, 2);
    tcase_add_loop_test(putting, another_thread_may_put_a_run, 0, 2);
    tcase_add_loop_test(putting,
                        after_a_run_was_put_its_slots_may_be_other_runs, 0, 2);
    suite_add_tcase(suite, putting);
    return suite;
}

int main(void)
{
    pools_start(POOLS_SOURCE);
    return suite_run(run_suite());
}
