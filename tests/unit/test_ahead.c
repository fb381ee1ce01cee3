/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Windows that are marked ahead: whose slots are live, and whose are not.
 */
#include "config.h"

#include "pool/ahead.h"

#include "support/child.h"
#include "support/pools.h"

#include <string.h>

#include "pool/cache.h"

#define KEPT   1024 /* by a cache; half of it comes from the store at once */
#define WINDOW 512

static struct ashlar_pool *pool;
static struct ashlar_cache *producer;
static struct ashlar_cache *consumer;
static void *slots[WINDOW];

static void start(uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(2 * WINDOW, 0, ASHLAR_POOL_CACHE_NONE, flags);

    pool = pools_make(pools_type(128, 128), &options);
    REQUIRE(ashlar_cache_open(pool, KEPT, ASHLAR_CACHE_LAYOUT, &producer) ==
            ASHLAR_OK);
    REQUIRE(ashlar_cache_open(pool, KEPT, ASHLAR_CACHE_LAYOUT, &consumer) ==
            ASHLAR_OK);
}

static void end(void)
{
    (void)ashlar_cache_close(producer);
    (void)ashlar_cache_close(consumer);
    REQUIRE(pools_stats(pool).live_slots == 0);
    REQUIRE(pools_stats(pool).free_slots == pools_stats(pool).capacity_slots);
    pools_end(pool);
}

static bool is_ahead(const struct ashlar_cache *cache)
{
    return ((const struct cache *)(const void *)cache)->ahead.slab != NULL;
}

static void get_some(size_t from, size_t n)
{
    size_t i;

    for (i = from; i < from + n; i++) {
        slots[i] = ashlar_cache_get(producer);
        REQUIRE(slots[i] != NULL);
    }
}

static void put_some(struct ashlar_cache *cache, size_t from, size_t n)
{
    size_t i;

    for (i = from; i < from + n; i++)
        REQUIRE(ashlar_cache_put(cache, slots[i]) == ASHLAR_OK);
}

static unsigned char state_of(const void *slot)
{
    const struct slab *slab = slab_map_find(pool->map, (uintptr_t)slot);

    return state_get(
        &slab->state[((uintptr_t)slot - (uintptr_t)slab->base) / 128]);
}

/* The slot that the producer's window has at this place, not handed out. */
static void *slot_ahead(uint32_t place)
{
    return producer->base + (producer->begin + place) * producer->stride;
}

static void refuse_put(struct ashlar_cache *cache, void *slot)
{
    struct snapshot before = snapshot_take(pool);

    REQUIRE(ashlar_cache_put(cache, slot) == ASHLAR_ERR_NOT_LIVE);
    REQUIRE(last_error_names(ASHLAR_ERR_NOT_LIVE, slot));
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    snapshot_free(&before);
}

/* --- getting -------------------------------------------------------------- */

START_TEST(a_get_from_a_window_of_the_store_writes_no_state)
{
    void *next;

    start(0);
    get_some(0, 1);
    ck_assert(is_ahead(producer));
    next = slot_ahead(0);
    ck_assert_uint_eq(state_of(next), SLOT_AHEAD);
    get_some(1, 1);
    ck_assert_ptr_eq(slots[1], next);
    ck_assert_uint_eq(state_of(next), SLOT_AHEAD);
    put_some(consumer, 0, 2);
    ck_assert_uint_eq(state_of(next), SLOT_FREE);
    end();
}
END_TEST

START_TEST(a_window_of_few_slots_or_of_an_unchecked_pool_is_not_marked)
{
    struct ashlar_cache *small;
    void *slot;

    start(ASHLAR_POOL_UNCHECKED);
    get_some(0, 1);
    ck_assert(!is_ahead(producer));
    put_some(producer, 0, 1);
    end();
    start(0);
    ck_assert_int_eq(ashlar_cache_open(pool, 2 * AHEAD_LEAST - 2,
                                       ASHLAR_CACHE_LAYOUT, &small),
                     ASHLAR_OK);
    slot = ashlar_cache_get(small);
    ck_assert(!is_ahead(small));
    ck_assert_int_eq(ashlar_cache_put(small, slot), ASHLAR_OK);
    ck_assert_int_eq(ashlar_cache_close(small), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(a_walk_meets_what_was_handed_out_and_no_more)
{
    struct snapshot snapshot;
    size_t i;

    start(0);
    get_some(0, 300);
    put_some(consumer, 0, 100);
    snapshot = snapshot_take(pool);
    ck_assert_uint_eq(snapshot.count, 200);
    for (i = 0; i < snapshot.count; i++)
        ck_assert_ptr_eq(snapshot.pieces[i].first, slots[100 + i]);
    snapshot_free(&snapshot);
    put_some(consumer, 100, 200);
    end();
}
END_TEST

/* --- putting -------------------------------------------------------------- */

START_TEST(a_second_put_is_refused_wherever_the_first_one_was)
{
    start(0);
    get_some(0, 20);
    put_some(consumer, 0, 10);
    put_some(producer, 10, 10);
    refuse_put(consumer, slots[3]);
    refuse_put(producer, slots[3]);
    refuse_put(consumer, slots[13]);
    refuse_put(producer, slots[13]);
    end();
}
END_TEST

START_TEST(a_slot_that_was_not_handed_out_yet_is_refused)
{
    start(0);
    get_some(0, 20);
    refuse_put(consumer, slot_ahead(0));
    put_some(consumer, 0, 19); /* who knows now of the first 20 */
    refuse_put(consumer, slot_ahead(0));
    refuse_put(consumer, slot_ahead(100));
    ck_assert(is_ahead(producer));
    get_some(20, 1);
    put_some(consumer, 19, 2);
    refuse_put(producer, slot_ahead(0));
    end();
}
END_TEST

START_TEST(what_was_known_of_a_window_is_not_believed_of_the_next)
{
    struct ashlar_cache *third;

    start(0);
    ck_assert_int_eq(ashlar_cache_open(pool, KEPT, ASHLAR_CACHE_LAYOUT, &third),
                     ASHLAR_OK);
    get_some(0, WINDOW);
    put_some(consumer, 0, 1); /* the window is known to be handed out */
    put_some(third, 1, WINDOW - 1);
    ck_assert_int_eq(ashlar_cache_close(third), ASHLAR_OK);
    get_some(1, 1); /* opens it anew, from its second slot on */
    ck_assert(is_ahead(producer));
    ck_assert_uint_eq(state_of(slot_ahead(10)), SLOT_AHEAD);
    refuse_put(consumer, slot_ahead(10));
    put_some(consumer, 1, 1);
    end();
}
END_TEST

START_TEST(slots_of_two_windows_are_told_apart)
{
    void *other;

    start(0);
    get_some(0, 5);
    other = ashlar_cache_get(consumer);
    ck_assert(is_ahead(producer) && is_ahead(consumer));
    ck_assert_int_eq(ashlar_pool_put(pool, other), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put(pool, slots[0]), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put(pool, slot_ahead(0)), ASHLAR_ERR_NOT_LIVE);
    ck_assert_int_eq(ashlar_pool_put(pool, (char *)other + 128),
                     ASHLAR_ERR_NOT_LIVE);
    put_some(consumer, 1, 1); /* which closes its own */
    ck_assert(!is_ahead(consumer));
    put_some(consumer, 2, 3);
    refuse_put(consumer, (char *)other + 128);
    end();
}
END_TEST

START_TEST(a_put_of_its_own_thread_closes_a_window)
{
    void *again;

    start(0);
    get_some(0, 10);
    put_some(producer, 9, 1);
    ck_assert(!is_ahead(producer));
    ck_assert_uint_eq(state_of(slots[9]), SLOT_FREE);
    ck_assert_uint_eq(state_of(slot_ahead(1)), SLOT_FREE);
    again = ashlar_cache_get(producer);
    ck_assert_ptr_eq(again, slots[9]);
    ck_assert_uint_eq(state_of(again), SLOT_LIVE);
    put_some(producer, 0, 10);
    end();
}
END_TEST

START_TEST(a_bulk_of_slots_marked_ahead_is_put_all_or_none)
{
    struct snapshot before;
    size_t culprit;
    void *right;

    start(0);
    get_some(0, 100);
    before = snapshot_take(pool);
    right = slots[60];
    slots[60] = slot_ahead(7);
    ck_assert_int_eq(ashlar_cache_put_bulk(consumer, slots, 100, &culprit),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert_uint_eq(culprit, 60);
    slots[60] = slots[20];
    ck_assert_int_eq(ashlar_cache_put_bulk(consumer, slots, 100, &culprit),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert_uint_eq(culprit, 60);
    slots[60] = right;
    ck_assert_ptr_null(snapshot_differs(&before, pool));
    snapshot_free(&before);
    ck_assert_int_eq(ashlar_cache_put_bulk(consumer, slots, 100, &culprit),
                     ASHLAR_OK);
    end();
}
END_TEST

START_TEST(a_bulk_from_a_window_marked_ahead_is_live)
{
    void *bulk[64];

    start(0);
    get_some(0, 1);
    ck_assert_int_eq(ashlar_cache_get_bulk(producer, bulk, 64), ASHLAR_OK);
    refuse_put(consumer, slot_ahead(0));
    ck_assert_int_eq(ashlar_cache_put_bulk(producer, bulk, 64, NULL),
                     ASHLAR_OK);
    refuse_put(consumer, bulk[63]);
    put_some(producer, 0, 1);
    end();
}
END_TEST

/* --- ending --------------------------------------------------------------- */

START_TEST(a_cache_that_is_closed_gives_its_rest_back_as_free)
{
    void *rest;

    start(0);
    get_some(0, 3);
    rest = slot_ahead(0);
    ck_assert_int_eq(ashlar_cache_close(producer), ASHLAR_OK);
    ck_assert_uint_eq(state_of(rest), SLOT_FREE);
    refuse_put(consumer, rest);
    put_some(consumer, 0, 3);
    ck_assert_int_eq(
        ashlar_cache_open(pool, KEPT, ASHLAR_CACHE_LAYOUT, &producer),
        ASHLAR_OK);
    end();
}
END_TEST

START_TEST(a_pool_is_destroyed_under_a_window_marked_ahead)
{
    start(0);
    get_some(0, 3);
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
    ck_assert_ptr_null(ashlar_cache_get(producer));
    ck_assert_int_eq(ashlar_cache_put(producer, slots[0]), ASHLAR_ERR_STALE);
    ck_assert_int_eq(ashlar_cache_close(producer), ASHLAR_OK);
    ck_assert_int_eq(ashlar_cache_close(consumer), ASHLAR_OK);
}
END_TEST

/* What the parent holds is live, what its window kept is free. */
static int judge_child(void *rest)
{
    /* The lowest free slot, which the rest of the window begins with. */
    if (ashlar_pool_get(pool) != rest || ashlar_pool_put(pool, rest) != 0)
        return 5;
    if (pools_stats(pool).live_slots != 20 ||
        pools_stats(pool).cached_slots != 0)
        return 1;
    if (ashlar_cache_put(consumer, rest) != ASHLAR_ERR_NOT_LIVE)
        return 2;
    if (ashlar_cache_put_bulk(producer, slots, 20, NULL) != ASHLAR_OK)
        return 3;
    return ashlar_cache_put(consumer, slots[0]) == ASHLAR_ERR_NOT_LIVE ? 0 : 4;
}

START_TEST(a_child_finds_what_was_handed_out_live_and_the_rest_free)
{
    start(0);
    get_some(0, 20);
    ck_assert_int_eq(child_verdict(judge_child, slot_ahead(0)), 0);
    ck_assert(is_ahead(producer));
    put_some(consumer, 0, 20);
    end();
}
END_TEST

static Suite *ahead_suite(void)
{
    Suite *suite = suite_create("ahead");
    TCase *gets = tcase_create("gets");
    TCase *puts = tcase_create("puts");
    TCase *ends = tcase_create("ends");

    tcase_add_test(gets, a_get_from_a_window_of_the_store_writes_no_state);
    tcase_add_test(gets,
                   a_window_of_few_slots_or_of_an_unchecked_pool_is_not_marked);
    tcase_add_test(gets, a_walk_meets_what_was_handed_out_and_no_more);
    suite_add_tcase(suite, gets);
    tcase_add_test(puts, a_second_put_is_refused_wherever_the_first_one_was);
    tcase_add_test(puts, a_slot_that_was_not_handed_out_yet_is_refused);
    tcase_add_test(puts,
                   what_was_known_of_a_window_is_not_believed_of_the_next);
    tcase_add_test(puts, slots_of_two_windows_are_told_apart);
    tcase_add_test(puts, a_put_of_its_own_thread_closes_a_window);
    tcase_add_test(puts, a_bulk_of_slots_marked_ahead_is_put_all_or_none);
    tcase_add_test(puts, a_bulk_from_a_window_marked_ahead_is_live);
    suite_add_tcase(suite, puts);
    tcase_add_test(ends, a_cache_that_is_closed_gives_its_rest_back_as_free);
    tcase_add_test(ends, a_pool_is_destroyed_under_a_window_marked_ahead);
    tcase_add_test(ends,
                   a_child_finds_what_was_handed_out_live_and_the_rest_free);
    suite_add_tcase(suite, ends);
    return suite;
}

int main(void)
{
    pools_start(POOLS_SOURCE);
    return suite_run(ahead_suite());
}
