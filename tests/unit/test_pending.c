/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Slots that are put with fences, on the heap and on a range: nobody's until
 * the work before them is done.
 */
#include "config.h"

#include "pool/pending.h"

#include "support/child.h"
#include "support/pools.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pool/direct.h"
#include "pool/pool.h"

#define STREAM    7
#define MAX_SLOTS 300

static struct ashlar_source *vm;
static struct ashlar_pool *pool;
static struct ashlar_fence fence;
static void *slots[MAX_SLOTS];

/* A pool of 300 slots, all got: 0 on the heap, 1 on a range of vm. */
static void start_with(int kind, uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(0, MAX_SLOTS, ASHLAR_POOL_CACHE_NONE, flags);

    memory_fail_nth(0, false);
    REQUIRE(ashlar_source_open("vm", NULL, &vm) == ASHLAR_OK);
    options.source = kind == 0 ? NULL : vm;
    pool = pools_make(pools_type(128, 128), &options);
    fence = (struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(vm, STREAM);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, MAX_SLOTS) == ASHLAR_OK);
}

static void start(int kind)
{
    start_with(kind, 0);
}

static void end(void)
{
    REQUIRE(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK);
    REQUIRE(ashlar_source_close(vm) == ASHLAR_OK);
}

static void hold(void)
{
    REQUIRE(ashlar_vm_hold(vm, STREAM) == ASHLAR_OK);
}

static void finish(void)
{
    REQUIRE(ashlar_vm_finish(vm, STREAM) == ASHLAR_OK);
}

static void put_after(size_t from, size_t n)
{
    REQUIRE(ashlar_pool_put_after(pool, slots + from, n, &fence, 1, NULL) ==
            ASHLAR_OK);
}

/* --- waiting -------------------------------------------------------------- */

START_TEST(slots_wait_for_their_fence_and_come_back_when_asked_for)
{
    void *again[MAX_SLOTS];

    start(_i);
    hold();
    put_after(0, 100);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 100);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 200);
    ck_assert_uint_eq(pools_stats(pool).free_slots, 0);
    ck_assert_ptr_null(ashlar_pool_get(pool));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    finish();
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, again, 100), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 300);
    end();
}
END_TEST

START_TEST(each_batch_waits_for_its_own_fence)
{
    struct ashlar_fence other;

    start(_i);
    other =
        (struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(vm, (uintptr_t)STREAM + 1);
    REQUIRE(ashlar_vm_hold(vm, STREAM + 1) == ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_after(pool, slots, 10, &other, 1, NULL),
                     ASHLAR_OK);
    hold();
    put_after(10, 20);
    REQUIRE(ashlar_vm_finish(vm, STREAM + 1) == ASHLAR_OK);
    put_after(30, 1); /* whoever comes by collects */
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 21);
    ck_assert_uint_eq(pools_stats(pool).free_slots, 10);
    finish();
    ck_assert_int_eq(ashlar_pool_trim(pool, NULL), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 269);
    end();
}
END_TEST

START_TEST(a_fence_that_has_passed_is_not_waited_for)
{
    start(_i);
    put_after(0, 10);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 0);
    ck_assert_int_eq(
        ashlar_pool_put_after(pool, slots + 10, 10, ASHLAR_QUIET, 1, NULL),
        ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 280);
    end();
}
END_TEST

START_TEST(a_batch_waits_for_all_its_fences)
{
    struct ashlar_fence fences[3];
    uint64_t i;

    start(_i);
    for (i = 0; i < 3; i++) {
        fences[i] = (struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(vm, i + 1);
        REQUIRE(ashlar_vm_hold(vm, i + 1) == ASHLAR_OK);
    }
    ck_assert_int_eq(ashlar_pool_put_after(pool, slots, 10, fences, 3, NULL),
                     ASHLAR_OK);
    for (i = 0; i < 3; i++) {
        ck_assert_ptr_null(ashlar_pool_get(pool));
        ck_assert_uint_eq(pools_stats(pool).waiting_slots, 10);
        REQUIRE(ashlar_vm_finish(vm, 3 - i) == ASHLAR_OK);
    }
    ck_assert_ptr_nonnull(ashlar_pool_get(pool));
    end();
}
END_TEST

static int count_live(void *first, size_t n, void *user)
{
    (void)first;
    *(size_t *)user += n;
    return 0;
}

START_TEST(what_waits_is_not_live)
{
    size_t live = 0;

    start(_i);
    hold();
    put_after(0, 300);
    ck_assert_int_eq(ashlar_pool_put(pool, slots[5]), ASHLAR_ERR_NOT_LIVE);
    ck_assert_int_eq(ashlar_pool_put_after(pool, slots + 5, 1, &fence, 1, NULL),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert_int_eq(ashlar_pool_for_each_live(pool, count_live, &live),
                     ASHLAR_OK);
    ck_assert_uint_eq(live, 0);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 300);
    finish();
    end();
}
END_TEST

START_TEST(a_reserve_takes_back_what_may_come)
{
    start(_i);
    hold();
    put_after(0, 300);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 300), ASHLAR_ERR_LIMIT);
    finish();
    ck_assert_int_eq(ashlar_pool_reserve(pool, 300), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 300), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(a_run_may_take_what_comes_back)
{
    start(_i);
    hold();
    put_after(0, 300);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 100));
    finish();
    ck_assert_ptr_nonnull(ashlar_pool_get_run(pool, 100));
    end();
}
END_TEST

/* --- destroying ----------------------------------------------------------- */

START_TEST(a_pool_with_waiting_slots_is_destroyed_when_they_may_go)
{
    start(_i);
    hold();
    put_after(0, 300);
    finish();
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_close(vm), ASHLAR_OK);
}
END_TEST

/* --- in a child of fork(2) ------------------------------------------------ */

/* The parent's work does not read the child's copy. */
static int judge_child(void *argument)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    (void)argument;
    if (ashlar_pool_query(pool, &stats) != ASHLAR_OK)
        return 1;
    if (stats.waiting_slots != 0 || stats.live_slots != 200 ||
        stats.free_slots != 100 || stats.duplicates != 0)
        return 2;
    if (ashlar_pool_get_bulk(pool, slots, 100) != ASHLAR_OK)
        return 3;
    if (ashlar_pool_get(pool) != NULL)
        return 4;
    if (ashlar_pool_put_bulk(pool, slots, 100, NULL) != ASHLAR_OK)
        return 5;
    return ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK ? 0 : 6;
}

START_TEST(a_child_has_what_waits_for_the_parents_work)
{
    static const uint32_t flags[] = {0, ASHLAR_POOL_UNCHECKED};

    start_with(0, flags[_i]);
    hold();
    put_after(0, 100);
    ck_assert_int_eq(child_verdict(judge_child, NULL), 0);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 100);
    finish();
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 100), ASHLAR_OK);
    end();
}
END_TEST

/* --- refusing ------------------------------------------------------------- */

START_TEST(a_batch_is_refused_for_one_slot_at_any_place)
{
    struct snapshot before;
    size_t place, culprit;
    void *kept;

    start(_i);
    hold();
    before = snapshot_take(pool);
    for (place = 0; place < MAX_SLOTS; place += pools_pace()) {
        kept = slots[place];
        slots[place] = (char *)kept + 1;
        culprit = SIZE_MAX;
        REQUIRE(ashlar_pool_put_after(pool, slots, MAX_SLOTS, &fence, 1,
                                      &culprit) == ASHLAR_ERR_MISALIGNED);
        REQUIRE(culprit == place);
        REQUIRE(last_error_names(ASHLAR_ERR_MISALIGNED, slots[place]));
        slots[place] = slots[(place + 1) % MAX_SLOTS];
        REQUIRE(ashlar_pool_put_after(pool, slots, MAX_SLOTS, &fence, 1,
                                      NULL) == ASHLAR_ERR_NOT_LIVE);
        slots[place] = NULL;
        REQUIRE(ashlar_pool_put_after(pool, slots, MAX_SLOTS, &fence, 1,
                                      NULL) == ASHLAR_ERR_INVALID);
        slots[place] = kept;
        REQUIRE(snapshot_differs_at_all(&before, pool) == NULL);
    }
    snapshot_free(&before);
    finish();
    end();
}
END_TEST

START_TEST(a_wrong_fence_is_refused_and_changes_nothing)
{
    struct ashlar_fence wrong = {99, 0, NULL, 0};
    struct snapshot before;

    start(_i);
    before = snapshot_take(pool);
    ck_assert_int_eq(ashlar_pool_put_after(pool, slots, 10, NULL, 1, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_after(pool, slots, 10, &fence, 0, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_after(pool, slots, 10, &wrong, 1, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_after(pool, NULL, 10, &fence, 1, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_after(pool, NULL, 0, &fence, 1, NULL),
                     ASHLAR_OK);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    snapshot_free(&before);
    end();
}
END_TEST

START_TEST(without_memory_nothing_changes)
{
    struct snapshot before;
    enum ashlar_status status;
    unsigned long nth;

    start(_i);
    hold();
    before = snapshot_take(pool);
    for (nth = 1;; nth++) {
        memory_fail_nth(nth, false);
        status = ashlar_pool_put_after(pool, slots, 10, &fence, 1, NULL);
        memory_fail_nth(0, false);
        if (status == ASHLAR_OK)
            break;
        REQUIRE(status == ASHLAR_ERR_NO_MEMORY);
        REQUIRE(snapshot_differs_at_all(&before, pool) == NULL);
    }
    ck_assert_uint_ge(nth, 3);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 10);
    snapshot_free(&before);
    finish();
    end();
}
END_TEST

/* --- what racing puts leave ----------------------------------------------- */

static unsigned line_count;

static void call_the_library(enum ashlar_log_level level, const char *message,
                             void *user)
{
    (void)message;
    (void)user;
    if (level == ASHLAR_LOG_ERROR) {
        line_count++;
        /* No lock is held: what collects can be called. */
        if (ashlar_pool_trim(pool, NULL) != ASHLAR_OK)
            line_count = 77;
    }
}

START_TEST(a_racing_put_is_logged_without_a_lock)
{
    struct extent extent;

    start(_i);
    hold();
    put_after(0, 10);
    /* As if another put had raced. */
    REQUIRE(direct_read(pool, NULL, slots + 3, 1, &extent) == 1);
    direct_give(pool, &extent, 1);
    line_count = 0;
    ashlar_set_log(call_the_library, NULL);
    finish();
    ck_assert_int_eq(ashlar_pool_trim(pool, NULL), ASHLAR_OK);
    ashlar_set_log(NULL, NULL);
    ck_assert_uint_eq(line_count, 1);
    ck_assert_uint_eq(pools_stats(pool).duplicates, 1);
    ck_assert_uint_eq(pools_stats(pool).waiting_slots, 0);
    end();
}
END_TEST

static Suite *pending_suite(void)
{
    Suite *suite = suite_create("pending");
    TCase *waiting = tcase_create("waiting");
    TCase *refusing = tcase_create("refusing");

    tcase_add_loop_test(
        waiting, slots_wait_for_their_fence_and_come_back_when_asked_for, 0, 2);
    tcase_add_loop_test(waiting, each_batch_waits_for_its_own_fence, 0, 2);
    tcase_add_loop_test(waiting, a_fence_that_has_passed_is_not_waited_for, 0,
                        2);
    tcase_add_loop_test(waiting, a_batch_waits_for_all_its_fences, 0, 2);
    tcase_add_loop_test(waiting, what_waits_is_not_live, 0, 2);
    tcase_add_loop_test(waiting, a_reserve_takes_back_what_may_come, 0, 2);
    tcase_add_loop_test(waiting, a_run_may_take_what_comes_back, 0, 2);
    tcase_add_loop_test(waiting, a_child_has_what_waits_for_the_parents_work, 0,
                        2);
    tcase_add_loop_test(
        waiting, a_pool_with_waiting_slots_is_destroyed_when_they_may_go, 0, 2);
    tcase_add_loop_test(waiting, a_racing_put_is_logged_without_a_lock, 0, 2);
    suite_add_tcase(suite, waiting);
    tcase_add_loop_test(refusing, a_batch_is_refused_for_one_slot_at_any_place,
                        0, 2);
    tcase_add_loop_test(refusing, a_wrong_fence_is_refused_and_changes_nothing,
                        0, 2);
    tcase_add_loop_test(refusing, without_memory_nothing_changes, 0, 2);
    suite_add_tcase(suite, refusing);
    return suite;
}

int main(void)
{
    return suite_run(pending_suite());
}
