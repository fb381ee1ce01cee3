/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Threads and their caches: how they come, and how they end.
 */
#include "config.h"

#include "pool/attach.h"

#include "support/child.h"
#include "support/crew.h"
#include "support/pools.h"

#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "pool/direct.h"
#include "pool/pool.h"

/*
 * ThreadSanitizer's check of the order of locks ends the process when 64 are
 * held, and at a fork jemalloc takes more. Its run-time reads this; nobody else
 * does.
 */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "detect_deadlocks=0";
}

static struct ashlar_pool *pool;
static struct crew crew;

static void start(size_t max_slots, size_t cache_slots, uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(0, max_slots, cache_slots, flags);

    memory_fail_nth(0, false);
    pool = pools_make(pools_type(128, 128), &options);
}

static void end(void)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
}

/* Get n slots and put all but one of them, which stays live. */
static void *leave_one(void *argument)
{
    void *slots[100];
    size_t n = *(size_t *)argument;

    if (ashlar_pool_get_bulk(pool, slots, n) != ASHLAR_OK)
        return argument;
    return ashlar_pool_put_bulk(pool, slots + 1, n - 1, NULL) == ASHLAR_OK
               ? NULL
               : argument;
}

static void crew_leave_one(unsigned number, void *argument)
{
    (void)number;
    (void)leave_one(argument);
}

/* --- coming --------------------------------------------------------------- */

START_TEST(the_first_call_attaches_and_the_next_do_not)
{
    void *slots[3];

    start(0, 0, 0);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    slots[0] = ashlar_pool_get(pool);
    ck_assert_uint_eq(pools_stats(pool).caches, 1);
    slots[1] = ashlar_pool_get(pool);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, 2, NULL), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).caches, 1);
    end();
}
END_TEST

static void *just_put(void *argument)
{
    return ashlar_pool_put(pool, argument) == ASHLAR_OK ? NULL : argument;
}

START_TEST(a_put_attaches_as_well)
{
    void *slot;

    start(0, 0, 0);
    slot = ashlar_pool_get(pool);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    ck_assert_ptr_null(just_put(slot));
    ck_assert_uint_eq(pools_stats(pool).caches, 1);
    ck_assert_uint_eq(pools_stats(pool).cached_slots, 1);
    end();
}
END_TEST

START_TEST(a_pool_without_caches_works_and_has_none)
{
    size_t n = 100;

    start(0, ASHLAR_POOL_CACHE_NONE, 0);
    ck_assert_ptr_null(leave_one(&n));
    in_thread(leave_one, &n);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    ck_assert_uint_eq(pools_stats(pool).cached_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 2);
    end();
}
END_TEST

START_TEST(without_memory_a_thread_goes_without_a_cache_for_once)
{
    unsigned long nth;
    void *slot;

    start(0, 0, 0);
    slot = ashlar_pool_get(pool);
    for (nth = 1; nth <= 3; nth++) {
        ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_OK);
        ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
        memory_fail_nth(nth, true);
        slot = ashlar_pool_get(pool);
        memory_fail_nth(0, false);
        ck_assert_ptr_nonnull(slot);
    }
    ck_assert_uint_eq(pools_stats(pool).live_slots, 1);
    ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).caches, 1);
    end();
}
END_TEST

START_TEST(caches_share_half_of_max_slots)
{
    unsigned i;

    start(3200, 0, 0);
    crew_start(&crew, 16);
    crew_work(&crew, crew_leave_one, &(size_t){10});
    ck_assert_uint_eq(pool->granted, 1600); /* a 32nd each */
    ck_assert_ptr_null(leave_one(&(size_t){10}));
    ck_assert_uint_eq(pools_stats(pool).caches, 17);
    ck_assert_uint_eq(pool->granted, 1600); /* the 17th gets nothing */
    ck_assert_uint_eq(pools_stats(pool).live_slots, 17);
    for (i = 0; i < 16; i++)
        crew_work_one(&crew, i, crew_leave_one, &(size_t){10});
    ck_assert_uint_eq(pools_stats(pool).live_slots, 33);
    crew_end(&crew);
    ck_assert_uint_eq(pool->granted, 0);
    end();
}
END_TEST

START_TEST(a_cache_that_comes_after_a_promise_leaves_it_whole)
{
    void *slots[2000];

    start(2000, 0, 0);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 2000), ASHLAR_OK);
    crew_start(&crew, 4);
    crew_work(&crew, crew_leave_one, &(size_t){1});
    ck_assert_uint_eq(pool->granted, 0);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 1996), ASHLAR_OK);
    crew_end(&crew);
    end();
}
END_TEST

/* --- ending --------------------------------------------------------------- */

START_TEST(detaching_gives_the_cache_back)
{
    size_t n = 50;

    start(0, 0, 0);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK); /* none so far */
    ck_assert_ptr_null(leave_one(&n));
    ck_assert_uint_ge(pools_stats(pool).cached_slots, 49);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).cached_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 1);
    ck_assert_int_eq(ashlar_pool_detach(NULL), ASHLAR_ERR_INVALID);
    end();
}
END_TEST

START_TEST(a_threads_cache_goes_back_when_it_ends)
{
    size_t n = 100;
    unsigned i;

    start(0, 0, 0);
    for (i = 0; i < 50; i++) {
        in_thread(leave_one, &n);
        REQUIRE(pools_stats(pool).caches == 0);
        REQUIRE(pools_stats(pool).cached_slots == 0);
        REQUIRE(pools_stats(pool).live_slots == i + 1);
    }
    ck_assert_uint_eq(pools_stats(pool).slabs, 1);
    end();
}
END_TEST

START_TEST(a_thread_may_be_attached_to_many_pools)
{
    struct ashlar_pool *pools[200];
    void *slots[200];
    size_t i;

    start(0, 0, 0);
    for (i = 0; i < 200; i++) {
        pools[i] = pools_make(pools_type(128, 128), NULL);
        slots[i] = ashlar_pool_get(pools[i]);
        REQUIRE(slots[i] != NULL);
    }
    for (i = 0; i < 200; i++) {
        REQUIRE(pools_stats(pools[i]).caches == 1);
        REQUIRE(ashlar_pool_put(pools[(i + 1) % 200], slots[i]) ==
                ASHLAR_ERR_WRONG_OWNER);
        REQUIRE(ashlar_pool_put(pools[i], slots[i]) == ASHLAR_OK);
    }
    for (i = 0; i < 200; i++)
        pools_end(pools[i]);
    end();
}
END_TEST

static pthread_key_t late_key;

/* A destructor that runs after ours: the thread is ending, and goes without. */
static void use_late(void *argument)
{
    size_t *rounds = argument;
    void *slot;

    if (--*rounds != 0) {
        (void)pthread_setspecific(late_key, rounds);
        return;
    }
    slot = ashlar_pool_get(pool);
    if (slot == NULL || ashlar_pool_put(pool, slot) != ASHLAR_OK)
        *rounds = 77;
}

static void *end_late(void *argument)
{
    size_t n = 10;

    (void)pthread_setspecific(late_key, argument);
    return leave_one(&n);
}

START_TEST(a_thread_that_is_ending_may_still_get_and_put)
{
    size_t rounds;

    start(0, 0, 0);
    ck_assert_int_eq(pthread_key_create(&late_key, use_late), 0);
    for (rounds = 1; rounds <= 3; rounds++) {
        size_t left = rounds;

        in_thread(end_late, &left);
        ck_assert_uint_eq(left, 0);
        ck_assert_uint_eq(pools_stats(pool).caches, 0);
        ck_assert_uint_eq(pools_stats(pool).cached_slots, 0);
    }
    ck_assert_uint_eq(pools_stats(pool).live_slots, 3);
    (void)pthread_key_delete(late_key);
    end();
}
END_TEST

/* --- what racing puts leave in caches ------------------------------------- */

static struct {
    unsigned count;
    char last[256];
} lines;

static void keep_line(enum ashlar_log_level level, const char *message,
                      void *user)
{
    (void)user;
    if (level != ASHLAR_LOG_ERROR)
        return;
    lines.count++;
    (void)strncpy(lines.last, message, sizeof(lines.last) - 1);
    /* No lock is held: the library can be called. */
    if (ashlar_pool_reserve(pool, 10) != ASHLAR_OK)
        lines.count = 77;
}

/* As if another put had raced: the slot is in the store, and in the cache. */
static void double_put(struct ashlar_cache *cache)
{
    struct extent extent;
    void *slot = ashlar_cache_get(cache);

    REQUIRE(slot != NULL && ashlar_cache_put(cache, slot) == ASHLAR_OK);
    REQUIRE(direct_read(pool, NULL, &slot, 1, &extent) == 1);
    direct_give(pool, &extent, 1);
    memset(&lines, 0, sizeof(lines));
    ashlar_set_log(keep_line, NULL);
}

static void expect_one_line(void)
{
    ashlar_set_log(NULL, NULL);
    ck_assert_uint_eq(lines.count, 1);
    ck_assert_ptr_nonnull(strstr(lines.last, ashlar_pool_name(pool)));
    ck_assert_ptr_nonnull(strstr(lines.last, "1 slot"));
    ck_assert_uint_eq(pools_stats(pool).duplicates, 1);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).cached_slots, 0);
}

START_TEST(a_racing_put_is_logged_when_a_callers_cache_is_closed)
{
    struct ashlar_cache *cache;

    start(0, 0, 0);
    ck_assert_int_eq(ashlar_cache_open(pool, 64, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_OK);
    double_put(cache);
    ck_assert_int_eq(ashlar_cache_close(cache), ASHLAR_OK);
    expect_one_line();
    end();
}
END_TEST

START_TEST(a_racing_put_is_logged_when_a_full_cache_gives_back)
{
    struct ashlar_cache *cache;
    void *slots[40];
    size_t i;

    start(0, ASHLAR_POOL_CACHE_NONE, 0);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 40), ASHLAR_OK);
    ck_assert_int_eq(ashlar_cache_open(pool, 8, ASHLAR_CACHE_LAYOUT, &cache),
                     ASHLAR_OK);
    double_put(cache);
    for (i = 0; i < 40; i += 2)
        REQUIRE(ashlar_cache_put(cache, slots[i]) == ASHLAR_OK);
    ck_assert_uint_eq(lines.count, 1);
    ck_assert_int_eq(ashlar_cache_close(cache), ASHLAR_OK);
    for (i = 1; i < 40; i += 2)
        REQUIRE(ashlar_pool_put(pool, slots[i]) == ASHLAR_OK);
    expect_one_line();
    end();
}
END_TEST

static struct ashlar_cache *own_cache(void)
{
    return &attach_self(pool)->window;
}

START_TEST(a_racing_put_is_logged_when_a_thread_detaches)
{
    start(0, 0, 0);
    double_put(own_cache());
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    expect_one_line();
    end();
}
END_TEST

START_TEST(a_racing_put_is_logged_when_a_trim_empties_the_cache)
{
    start(0, 0, 0);
    double_put(own_cache());
    ck_assert_int_eq(ashlar_pool_trim(pool, NULL), ASHLAR_OK);
    expect_one_line();
    end();
}
END_TEST

static void *put_double(void *argument)
{
    (void)argument;
    double_put(own_cache());
    return NULL;
}

START_TEST(a_racing_put_is_logged_when_a_thread_ends)
{
    start(0, 0, 0);
    in_thread(put_double, NULL);
    expect_one_line();
    end();
}
END_TEST

/* --- in a child of fork(2) ------------------------------------------------ */

#define FORK_SLOTS 3200

/* What the parent's threads kept is free, and all can be got. */
static int judge_child(void *argument)
{
    const struct ashlar_pool_stats *before = argument;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    void *slots[FORK_SLOTS];
    size_t n;

    if (ashlar_pool_query(pool, &stats) != ASHLAR_OK)
        return 1;
    if (stats.live_slots != before->live_slots)
        return 2;
    if (stats.cached_slots != 0 ||
        stats.live_slots + stats.free_slots != stats.capacity_slots)
        return 3;
    if (stats.caches != 1) /* the thread that forked */
        return 4;
    n = ashlar_pool_get_up_to(pool, slots, FORK_SLOTS);
    if (n != FORK_SLOTS - stats.live_slots)
        return 5;
    if (ashlar_pool_put_bulk(pool, slots, n, NULL) != ASHLAR_OK)
        return 6;
    if (ashlar_pool_destroy(pool, 0) != ASHLAR_ERR_BUSY)
        return 7;
    return ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK ? 0 : 8;
}

START_TEST(a_child_has_what_the_parents_threads_kept)
{
    static const uint32_t flags[] = {0, ASHLAR_POOL_UNCHECKED};
    struct ashlar_pool_stats stats;
    struct snapshot before;

    start(FORK_SLOTS, 0, flags[_i]);
    crew_start(&crew, 8);
    crew_work(&crew, crew_leave_one, &(size_t){60});
    ck_assert_ptr_null(leave_one(&(size_t){60}));
    before = snapshot_take(pool);
    stats = before.stats;
    ck_assert_uint_eq(stats.live_slots, 9);
    ck_assert_uint_gt(stats.cached_slots, 100);
    ck_assert_int_eq(child_verdict(judge_child, &stats), 0);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    snapshot_free(&before);
    crew_end(&crew);
    end();
}
END_TEST

static Suite *attach_suite(void)
{
    Suite *suite = suite_create("attach");
    TCase *coming = tcase_create("coming");
    TCase *ending = tcase_create("ending");
    TCase *races = tcase_create("races");
    TCase *forks = tcase_create("forks");

    tcase_add_test(coming, the_first_call_attaches_and_the_next_do_not);
    tcase_add_test(coming, a_put_attaches_as_well);
    tcase_add_test(coming, a_pool_without_caches_works_and_has_none);
    tcase_add_test(coming,
                   without_memory_a_thread_goes_without_a_cache_for_once);
    tcase_add_test(coming, caches_share_half_of_max_slots);
    tcase_add_test(coming, a_cache_that_comes_after_a_promise_leaves_it_whole);
    suite_add_tcase(suite, coming);
    tcase_add_test(ending, detaching_gives_the_cache_back);
    tcase_add_test(ending, a_threads_cache_goes_back_when_it_ends);
    tcase_add_test(ending, a_thread_may_be_attached_to_many_pools);
    tcase_add_test(ending, a_thread_that_is_ending_may_still_get_and_put);
    suite_add_tcase(suite, ending);
    tcase_add_test(races,
                   a_racing_put_is_logged_when_a_callers_cache_is_closed);
    tcase_add_test(races, a_racing_put_is_logged_when_a_full_cache_gives_back);
    tcase_add_test(races, a_racing_put_is_logged_when_a_thread_detaches);
    tcase_add_test(races, a_racing_put_is_logged_when_a_trim_empties_the_cache);
    tcase_add_test(races, a_racing_put_is_logged_when_a_thread_ends);
    suite_add_tcase(suite, races);
    tcase_add_loop_test(forks, a_child_has_what_the_parents_threads_kept, 0, 2);
    suite_add_tcase(suite, forks);
    return suite;
}

int main(void)
{
    return suite_run(attach_suite());
}
