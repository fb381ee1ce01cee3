/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Runs that a thread keeps for its next get, and that are free to all others.
 */
#include "config.h"

#include "pool/spare.h"

#include "support/child.h"
#include "support/crew.h"
#include "support/pools.h"

#include "base/memory.h"
#include "base/thread.h"

#define MAX_SLOTS 4000
#define LENGTHS   300 /* more than there are sets */

/* As in test_attach: at a fork more than 64 locks are held. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "detect_deadlocks=0";
}

static struct ashlar_pool *pool;
static struct crew crew;
static const uint32_t flags[] = {0, ASHLAR_POOL_UNCHECKED};

static void start(int number, size_t max_slots)
{
    struct ashlar_pool_options options =
        pools_options(0, max_slots, 0, flags[number]);

    memory_fail_nth(0, false);
    options.name = "runs"; /* no digits, for last_error_number() */
    pool = pools_make(pools_type(128, 128), &options);
}

static void end(void)
{
    ck_assert_uint_eq(pools_stats(pool).live_runs, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    pools_end(pool);
}

static char *get(size_t n)
{
    char *run = ashlar_pool_get_run(pool, n);

    if (run == NULL)
        ck_abort_msg("a run of %zu: %s", n, ashlar_last_error_message());
    return run;
}

static void put(void *run, size_t n)
{
    REQUIRE(ashlar_pool_put_run(pool, run, n) == ASHLAR_OK);
}

static uint64_t spare_runs(void)
{
    uint64_t runs;
    uint64_t slots;

    pool_lock(pool);
    spare_count(pool, &runs, &slots);
    pool_unlock(pool);
    return runs;
}

/* Some runs of a length, got and put again by a thread of a crew. */
struct work {
    size_t n;
    size_t count;
};

static void leave_spare(unsigned number, void *argument)
{
    const struct work *work = argument;
    void *runs[8];
    size_t i;

    (void)number;
    for (i = 0; i < work->count; i++)
        runs[i] = get(work->n);
    for (i = 0; i < work->count; i++)
        put(runs[i], work->n);
}

/* --- keeping -------------------------------------------------------------- */

START_TEST(a_run_that_was_put_is_got_again_without_the_lock)
{
    char *run;
    int round;

    start(_i, 0);
    run = get(10);
    pool_lock(pool);
    for (round = 0; round < 100; round++) {
        put(run, 10);
        REQUIRE(get(10) == run);
    }
    pool_unlock(pool);
    put(run, 10);
    end();
}
END_TEST

START_TEST(the_run_put_last_comes_first_however_many_were_put)
{
    char *runs[20];
    size_t count, i;

    start(_i, 0);
    for (count = 1; count <= 20; count++) {
        for (i = 0; i < count; i++)
            runs[i] = get(7);
        for (i = 0; i < count; i++)
            put(runs[i], 7);
        for (i = count; i-- > 0;)
            REQUIRE(get(7) == runs[i]);
        for (i = 0; i < count; i++)
            put(runs[i], 7);
    }
    end();
}
END_TEST

START_TEST(the_oldest_makes_way_and_can_be_had_by_all)
{
    uint64_t calls;

    start(_i, 0);
    leave_spare(0, &(struct work){5, 8});
    ck_assert_uint_eq(spare_runs(), SPARE_WAYS);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 8);
    calls = pools_stats(pool).source_calls;
    crew_start(&crew, 1);
    crew_work(&crew, leave_spare, &(struct work){5, 4});
    crew_end(&crew);
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    end();
}
END_TEST

START_TEST(each_of_many_lengths_gets_its_own_runs)
{
    char *runs[LENGTHS + 1];
    size_t n, i;

    start(_i, 0);
    for (n = 1; n <= LENGTHS; n++)
        runs[n] = get(n);
    for (n = 1; n <= LENGTHS; n++)
        put(runs[n], n);
    ck_assert_uint_gt(spare_runs(), SPARE_SETS);
    ck_assert_uint_eq(pools_stats(pool).free_runs, LENGTHS);
    for (i = 0; i < LENGTHS; i++) {
        n = 1 + i * 7 % LENGTHS;
        REQUIRE(get(n) == runs[n]);
    }
    for (n = 1; n <= LENGTHS; n++)
        put(runs[n], n);
    end();
}
END_TEST

START_TEST(a_hundred_lengths_do_not_displace_each_other)
{
    struct dice dice = dice_from(1);
    void *lengths[4096];
    char *runs[100];
    int round;
    size_t i;

    start(_i, 0);
    for (i = 0; i < 4096; i++)
        lengths[i] = (void *)(i + 1);
    dice_shuffle(&dice, lengths, 4096);
    for (i = 0; i < 100; i++)
        runs[i] = get((size_t)lengths[i]);
    for (i = 0; i < 100; i++)
        put(runs[i], (size_t)lengths[i]);
    ck_assert_uint_eq(spare_runs(), 100);
    pool_lock(pool); /* none takes it */
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 100; i++) {
            REQUIRE(get((size_t)lengths[i]) == runs[i]);
            put(runs[i], (size_t)lengths[i]);
        }
    }
    pool_unlock(pool);
    end();
}
END_TEST

START_TEST(a_pool_without_caches_keeps_no_run)
{
    struct ashlar_pool_options options =
        pools_options(0, 0, ASHLAR_POOL_CACHE_NONE, flags[_i]);

    pool = pools_make(pools_type(128, 128), &options);
    leave_spare(0, &(struct work){5, 4});
    ck_assert_ptr_null(pool->spares);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 4);
    end();
}
END_TEST

START_TEST(without_memory_a_run_goes_to_its_list)
{
    char *run;

    start(_i, 0);
    run = get(5);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    memory_fail_nth(1, false);
    put(run, 5);
    memory_fail_nth(0, false);
    ck_assert_uint_eq(spare_runs(), 0);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 1);
    ck_assert_ptr_eq(get(5), run);
    put(run, 5);
    ck_assert_uint_eq(spare_runs(), 1);
    end();
}
END_TEST

/* --- what it is to others ------------------------------------------------- */

START_TEST(a_spare_run_is_not_live)
{
    struct snapshot snapshot;
    char *run;

    start(_i, 0);
    run = get(10);
    put(run, 10);
    ck_assert_uint_eq(spare_runs(), 1);
    ck_assert_uint_eq(pools_stats(pool).live_runs, 0);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 1);
    snapshot = snapshot_take(pool);
    ck_assert_uint_eq(snapshot.count, 0);
    snapshot_free(&snapshot);
    end();
}
END_TEST

START_TEST(a_second_put_of_a_spare_run_is_refused)
{
    struct snapshot before;
    char *run;

    start(_i, 0);
    run = get(10);
    put(run, 10);
    ck_assert_int_eq(ashlar_pool_put(pool, run), ASHLAR_ERR_WRONG_OWNER);
    before = snapshot_take(pool);
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 10), ASHLAR_ERR_NOT_LIVE);
    ck_assert(last_error_names(ASHLAR_ERR_NOT_LIVE, run));
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 9), ASHLAR_ERR_NOT_LIVE);
    ck_assert_int_eq(ashlar_pool_put(pool, run), ASHLAR_ERR_WRONG_OWNER);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    snapshot_free(&before);
    ck_assert_uint_eq(spare_runs(), 1);
    ck_assert_ptr_eq(get(10), run);
    put(run, 10);
    end();
}
END_TEST

START_TEST(what_others_keep_is_called_in_before_the_pool_grows)
{
    uint64_t calls;
    size_t count, i;
    char *runs[16];

    start(_i, 0);
    crew_start(&crew, 4);
    crew_work(&crew, leave_spare, &(struct work){100, 4});
    calls = pools_stats(pool).source_calls;
    count = pools_stats(pool).free_runs;
    ck_assert_uint_ge(count, 4);
    for (i = 0; i < count; i++)
        runs[i] = get(100);
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    for (i = 0; i < count; i++)
        put(runs[i], 100);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(what_others_keep_serves_a_longer_run_at_max_slots)
{
    char *run;

    start(_i, MAX_SLOTS);
    run = get(MAX_SLOTS);
    put(run, MAX_SLOTS); /* all of it is one slab */
    crew_start(&crew, 2);
    crew_work(&crew, leave_spare, &(struct work){MAX_SLOTS / 8, 4});
    run = get(MAX_SLOTS);
    put(run, MAX_SLOTS);
    crew_work(&crew, leave_spare, &(struct work){MAX_SLOTS / 8, 4});
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(a_spare_run_of_all_slots_serves_single_ones)
{
    static void *slots[MAX_SLOTS];

    start(_i, MAX_SLOTS);
    crew_start(&crew, 1);
    crew_work(&crew, leave_spare, &(struct work){MAX_SLOTS, 1});
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, MAX_SLOTS), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, MAX_SLOTS, NULL),
                     ASHLAR_OK);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(a_spare_run_of_all_slots_can_be_reserved_as_single_ones)
{
    start(_i, MAX_SLOTS);
    crew_start(&crew, 1);
    crew_work(&crew, leave_spare, &(struct work){MAX_SLOTS, 1});
    ck_assert_int_eq(ashlar_pool_reserve(pool, MAX_SLOTS / 2), ASHLAR_OK);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(promised_runs_can_be_had_though_others_keep_them)
{
    uint64_t calls;
    char *runs[6];
    size_t i;

    start(_i, 0);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 50, 6), ASHLAR_OK);
    calls = pools_stats(pool).source_calls;
    crew_start(&crew, 3);
    crew_work_one(&crew, 0, leave_spare, &(struct work){50, 4});
    crew_work_one(&crew, 1, leave_spare, &(struct work){50, 2});
    ck_assert_uint_ge(spare_runs(), 4);
    /* Others would cut them up, if they were not promised. */
    crew_work_one(&crew, 2, leave_spare, &(struct work){51, 4});
    calls = pools_stats(pool).source_calls - calls;
    for (i = 0; i < 6; i++)
        runs[i] = get(50);
    ck_assert_uint_le(calls, 1);
    for (i = 0; i < 6; i++)
        put(runs[i], 50);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(a_promise_counts_what_is_spare_as_free)
{
    start(_i, 0);
    leave_spare(0, &(struct work){50, 3});
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 50, 3), ASHLAR_OK);
    ck_assert_uint_eq(runs_bin(pool, 50)->keep, 3);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 3);
    end();
}
END_TEST

START_TEST(each_put_of_a_length_can_be_told_from_none)
{
    uint32_t puts;
    void *runs[6];
    size_t i;

    start(_i, 0);
    for (i = 0; i < 6; i++)
        runs[i] = get(50);
    for (i = 0; i < 6; i++) {
        puts = spare_puts(pool, 50);
        put(runs[i], 50);
        REQUIRE(spare_puts(pool, 50) == puts + 1);
    }
    end();
}
END_TEST

START_TEST(a_trim_gives_back_the_pages_of_spare_runs)
{
    size_t bytes;
    size_t again;

    start(_i, 0);
    crew_start(&crew, 1);
    crew_work(&crew, leave_spare, &(struct work){1000, 4});
    ck_assert_int_eq(ashlar_pool_trim(pool, &bytes), ASHLAR_OK);
    ck_assert_uint_ge(bytes, (size_t)4 * 1000 * 128 - 2 * 65536);
    ck_assert_uint_eq(spare_runs(), 0);
    crew_end(&crew);
    ck_assert_int_eq(ashlar_pool_trim(pool, &again), ASHLAR_OK);
    ck_assert_uint_eq(again, bytes);
    end();
}
END_TEST

/* --- the thread, the pool and the process end ----------------------------- */

START_TEST(a_thread_that_ends_or_detaches_keeps_nothing)
{
    start(_i, 0);
    leave_spare(0, &(struct work){10, 2});
    crew_start(&crew, 2);
    crew_work(&crew, leave_spare, &(struct work){11, 2});
    crew_end(&crew);
    ck_assert_uint_eq(spare_runs(), 2);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    ck_assert_ptr_null(pool->spares);
    ck_assert_uint_ge(pools_stats(pool).free_runs, 4);
    leave_spare(0, &(struct work){10, 2});
    end();
}
END_TEST

START_TEST(a_pool_with_spare_runs_is_not_busy_and_gone_for_all)
{
    struct work work = {10, 4};

    start(_i, 0);
    leave_spare(0, &work);
    crew_start(&crew, 2);
    crew_work(&crew, leave_spare, &work);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_OK);
    ck_assert_ptr_null(thread_local_get(spare_key(pool)));
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 10));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_STALE);
    crew_end(&crew);
}
END_TEST

START_TEST(a_live_run_keeps_its_pool_though_others_are_spare)
{
    char *run;

    start(_i, 0);
    run = get(10);
    leave_spare(0, &(struct work){20, 3});
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_ERR_BUSY);
    ck_assert_uint_eq(last_error_number(0), 10);
    put(run, 10);
    end();
}
END_TEST

/* In the child: what was spare, or on its way, is free; the live run is not. */
static int judge_child(void *live)
{
    struct ashlar_pool_stats stats = pools_stats(pool);
    struct spares *own = thread_local_get(spare_key(pool));

    if (stats.live_runs != 1 || stats.live_slots != 9)
        return 1;
    if (spare_runs() != 0 || pool->spares != own || own->next != NULL)
        return 2;
    if (stats.free_runs < 7)
        return 3;
    leave_spare(0, &(struct work){10, 8});
    if (pools_stats(pool).source_calls != stats.source_calls)
        return 4;
    if (ashlar_pool_put_run(pool, live, 9) != ASHLAR_OK)
        return 5;
    return ashlar_pool_destroy(pool, 0) == ASHLAR_OK ? 0 : 6;
}

START_TEST(a_child_of_fork_has_what_was_spare)
{
    struct run_tag *tag;
    char *caught;
    char *live;

    start(_i, 0);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 10, 8), ASHLAR_OK);
    live = get(9);
    crew_start(&crew, 3);
    crew_work(&crew, leave_spare, &(struct work){10, 2});
    leave_spare(0, &(struct work){10, 1});
    /* Another thread is in the middle of a put: it has no entry yet. */
    caught = get(10);
    tag =
        &pool->map->order[0]->tags[(caught - pool->map->order[0]->base) / 128];
    ck_assert(run_claim(tag));
    ck_assert_int_eq(child_verdict(judge_child, live), 0);
    run_set_state(tag, RUN_LIVE);
    put(caught, 10);
    put(live, 9);
    crew_end(&crew);
    end();
}
END_TEST

static Suite *spare_suite(void)
{
    Suite *suite = suite_create("spare");
    TCase *keeping = tcase_create("keeping");
    TCase *others = tcase_create("others");
    TCase *ending = tcase_create("ending");

    tcase_add_loop_test(keeping,
                        a_run_that_was_put_is_got_again_without_the_lock, 0, 2);
    tcase_add_loop_test(
        keeping, the_run_put_last_comes_first_however_many_were_put, 0, 2);
    tcase_add_loop_test(keeping, the_oldest_makes_way_and_can_be_had_by_all, 0,
                        2);
    tcase_add_loop_test(keeping, each_of_many_lengths_gets_its_own_runs, 0, 2);
    tcase_add_loop_test(keeping, a_hundred_lengths_do_not_displace_each_other,
                        0, 2);
    tcase_add_loop_test(keeping, a_pool_without_caches_keeps_no_run, 0, 2);
    tcase_add_loop_test(keeping, without_memory_a_run_goes_to_its_list, 0, 2);
    suite_add_tcase(suite, keeping);
    tcase_add_test(others, a_spare_run_is_not_live);
    tcase_add_loop_test(others, a_second_put_of_a_spare_run_is_refused, 0, 2);
    tcase_add_loop_test(
        others, what_others_keep_is_called_in_before_the_pool_grows, 0, 2);
    tcase_add_loop_test(
        others, what_others_keep_serves_a_longer_run_at_max_slots, 0, 2);
    tcase_add_loop_test(others, a_spare_run_of_all_slots_serves_single_ones, 0,
                        2);
    tcase_add_loop_test(
        others, a_spare_run_of_all_slots_can_be_reserved_as_single_ones, 0, 2);
    tcase_add_loop_test(others,
                        promised_runs_can_be_had_though_others_keep_them, 0, 2);
    tcase_add_loop_test(others, a_promise_counts_what_is_spare_as_free, 0, 2);
    tcase_add_loop_test(others, each_put_of_a_length_can_be_told_from_none, 0,
                        2);
    tcase_add_loop_test(others, a_trim_gives_back_the_pages_of_spare_runs, 0,
                        2);
    suite_add_tcase(suite, others);
    tcase_add_loop_test(ending, a_thread_that_ends_or_detaches_keeps_nothing, 0,
                        2);
    tcase_add_loop_test(
        ending, a_pool_with_spare_runs_is_not_busy_and_gone_for_all, 0, 2);
    tcase_add_loop_test(
        ending, a_live_run_keeps_its_pool_though_others_are_spare, 0, 2);
    tcase_add_loop_test(ending, a_child_of_fork_has_what_was_spare, 0, 2);
    suite_add_tcase(suite, ending);
    return suite;
}

int main(void)
{
    return suite_run(spare_suite());
}
