/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/direct.h"

#include "support/pools.h"

#include <string.h>

#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/state.h"

#define SLOTS 2000

static struct ashlar_pool *pool;
static void *slots[SLOTS];

static void make_pool_of(size_t bytes, size_t alignment, uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(SLOTS / 2, 0, ASHLAR_POOL_CACHE_NONE, flags);
    size_t got;

    pool = pools_make(pools_type(bytes, alignment), &options);
    /* A second slab, so that stretches end. */
    ck_assert_int_eq(grow_singles_to(pool, pool->singles + SLOTS), ASHLAR_OK);
    ck_assert_int_eq(direct_get(pool, slots, SLOTS, &got), ASHLAR_OK);
    ck_assert_uint_eq(got, SLOTS);
}

static void make_pool(void)
{
    make_pool_of(128, 128, 0);
}

static void end_pool(void)
{
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, SLOTS, NULL), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    pools_end(pool);
}

static unsigned char *state_of(const void *slot)
{
    struct slab *slab = slab_map_find(pool->map, (uintptr_t)slot);
    size_t offset = (uintptr_t)slot - (uintptr_t)slab->base;

    return &slab->state[offset / pool->plan.geometry.stride];
}

static size_t count_live(void)
{
    size_t count = 0;
    size_t i;

    for (i = 0; i < SLOTS; i++)
        count += state_get(state_of(slots[i])) == SLOT_LIVE;
    return count;
}

/* --- handing out ---------------------------------------------------------- */

START_TEST(addresses_handed_out_are_a_stride_apart)
{
    static const size_t sizes[] = {1, 8, 24, 128, 160, 5000};
    struct extent extent;
    void *out[80];
    size_t i, j, n;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        make_pool_of(sizes[i], 1, 0);
        for (n = 1; n <= 70; n++) {
            out[n] = NULL;
            extent = (struct extent){pool->map->order[0], 7, 7 + (uint32_t)n};
            direct_hand_out(pool, &extent, out);
            for (j = 0; j < n; j++)
                REQUIRE((char *)out[j] ==
                        extent.slab->base + (7 + j) * sizes[i]);
            REQUIRE(out[n] == NULL);
        }
        end_pool();
    }
}
END_TEST

START_TEST(what_is_handed_out_is_live_and_aligned)
{
    size_t i;

    for (i = 0; i < SLOTS; i++)
        REQUIRE((uintptr_t)slots[i] % 128 == 0);
    ck_assert_uint_eq(count_live(), SLOTS);
}
END_TEST

START_TEST(a_get_beyond_max_slots_says_how_many_it_got)
{
    struct ashlar_pool_options options =
        pools_options(100, 100, ASHLAR_POOL_CACHE_NONE, 0);
    struct ashlar_pool *small = pools_make(pools_type(128, 128), &options);
    void *out[101];
    size_t got = 0;

    ck_assert_int_eq(direct_get(small, out, 101, &got), ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(got, 100);
    ck_assert_uint_eq(pools_stats(small).live_slots, 100);
    ck_assert_int_eq(ashlar_pool_put_bulk(small, out, 100, NULL), ASHLAR_OK);
    pools_end(small);
}
END_TEST

/* --- reading -------------------------------------------------------------- */

/* The stretch that a list starts with, one pointer at a time. */
static size_t naive_read(void *const *list, size_t n)
{
    const struct slab *slab = slab_map_find(pool->map, (uintptr_t)list[0]);
    size_t length = 1;

    while (length < n &&
           (char *)list[length] == (char *)list[0] + length * 128 &&
           slab_map_find(pool->map, (uintptr_t)list[length]) == slab)
        length++;
    return length;
}

static void check_read(void *const *list, size_t n)
{
    size_t expected = naive_read(list, n);
    struct extent extent;
    uint32_t hint;

    for (hint = 0; hint <= pool->map->count; hint++) {
        struct slab *slab =
            hint == pool->map->count ? NULL : pool->map->order[hint];

        REQUIRE(direct_read(pool, slab, list, n, &extent) == expected);
        REQUIRE(slab_slot(extent.slab, 128, extent.begin) == list[0]);
        REQUIRE(extent.end - extent.begin == expected);
    }
}

START_TEST(a_stretch_ends_where_neighbours_end_whatever_the_hint)
{
    struct dice dice = dice_from(3);
    size_t i, n;

    for (i = 0; i < SLOTS; i++) {
        n = 1 + dice_below(&dice, SLOTS - i);
        check_read(slots + i, n);
    }
    for (n = 1; n < 200; n++) {
        void *kept;

        i = dice_below(&dice, n);
        kept = slots[i];
        slots[i] = slots[SLOTS - 1]; /* of another place */
        check_read(slots, n);
        slots[i] = kept;
        check_read(slots, n);
    }
}
END_TEST

START_TEST(what_is_no_slot_reads_as_nothing)
{
    static uint64_t foreign;
    struct extent extent;
    void *run = ashlar_pool_get_run(pool, 3);
    void *wrong[5];
    size_t i;

    wrong[0] = NULL;
    wrong[1] = &foreign;
    wrong[2] = (char *)slots[0] + 1;
    wrong[3] = run;
    wrong[4] = pool->map->order[0]->base - 128;
    for (i = 0; i < 5; i++) {
        REQUIRE(direct_read(pool, NULL, &wrong[i], 1, &extent) == 0);
        REQUIRE(direct_read(pool, pool->map->order[0], &wrong[i], 1, &extent) ==
                0);
    }
    ck_assert_int_eq(ashlar_pool_put_run(pool, run, 3), ASHLAR_OK);
}
END_TEST

/* --- accepting and giving ------------------------------------------------- */

/* The entries of a batch stand for the first `covered` pointers, in order. */
static void check_batch(const struct batch *batch, size_t n)
{
    size_t covered = 0;
    uint32_t i, j;

    REQUIRE(batch->count <= BATCH_EXTENTS);
    for (i = 0; i < batch->count; i++)
        for (j = batch->extents[i].begin; j < batch->extents[i].end; j++)
            REQUIRE(slab_slot(batch->extents[i].slab, 128, j) ==
                    slots[covered++]);
    REQUIRE(covered == batch->covered && covered <= n);
}

static void accept_and_give(size_t n)
{
    struct batch batch;
    size_t got;

    REQUIRE(direct_accept(pool, NULL, slots, n, &batch) == n);
    check_batch(&batch, n);
    REQUIRE(count_live() == SLOTS - n);
    direct_give_batch(pool, slots, n, &batch);
    REQUIRE(pools_stats(pool).live_slots == SLOTS - n);
    REQUIRE(direct_get(pool, slots, n, &got) == ASHLAR_OK);
    REQUIRE(pools_stats(pool).live_slots == SLOTS);
    REQUIRE(pools_stats(pool).duplicates == 0);
}

START_TEST(a_batch_is_accepted_and_given_whatever_its_order)
{
    static const size_t sizes[] = {1,   2,   63,  64,  65,   127,
                                   128, 129, 130, 500, SLOTS};
    struct dice dice = dice_from(5);
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        accept_and_give(sizes[i]);
        dice_shuffle(&dice, slots, SLOTS);
        accept_and_give(sizes[i]);
    }
}
END_TEST

START_TEST(stretches_of_any_length_are_accepted)
{
    struct dice dice = dice_from((uint64_t)_i);
    unsigned round;

    for (round = 0; round < 30; round++) {
        size_t cut = dice_below(&dice, SLOTS);
        void *rest[SLOTS];

        /* Turn the list, so that stretches begin and end elsewhere. */
        memcpy(rest, slots, sizeof(rest));
        memcpy(slots, rest + cut, (SLOTS - cut) * sizeof(*slots));
        memcpy(slots + SLOTS - cut, rest, cut * sizeof(*slots));
        dice_shuffle(&dice, slots + dice_below(&dice, SLOTS / 2),
                     dice_below(&dice, SLOTS / 2));
        accept_and_give(1 + dice_below(&dice, SLOTS));
    }
}
END_TEST

START_TEST(a_batch_that_is_refused_is_live_as_before)
{
    struct dice dice = dice_from(7);
    struct batch batch;
    size_t round, wrong;

    for (round = 0; round < 200; round++) {
        void *kept;

        dice_shuffle(&dice, slots, SLOTS / 2);
        wrong = dice_below(&dice, SLOTS);
        kept = slots[wrong];
        slots[wrong] = (char *)kept + 1;
        REQUIRE(direct_accept(pool, NULL, slots, SLOTS, &batch) == wrong);
        slots[wrong] = kept;
        REQUIRE(count_live() == SLOTS);
    }
}
END_TEST

START_TEST(a_stretch_that_is_not_all_live_is_not_made_free)
{
    struct ahead_known known = {NULL, 0, 0, 0};
    struct extent extent = {pool->map->order[0], 3, 40};

    ck_assert(direct_make_free(pool, &known, &extent));
    ck_assert(!direct_make_free(pool, &known, &extent));
    extent.begin = 0;
    ck_assert(!direct_make_free(pool, &known, &extent));
    ck_assert_uint_eq(count_live(), SLOTS - 37);
    extent.begin = 3;
    direct_hand_out(pool, &extent, slots + 3);
}
END_TEST

static Suite *direct_suite(void)
{
    Suite *suite = suite_create("direct");
    TCase *strides = tcase_create("strides");
    TCase *batches = tcase_create("batches");

    tcase_add_test(strides, addresses_handed_out_are_a_stride_apart);
    tcase_add_test(strides, a_get_beyond_max_slots_says_how_many_it_got);
    suite_add_tcase(suite, strides);
    tcase_add_checked_fixture(batches, make_pool, end_pool);
    tcase_add_test(batches, what_is_handed_out_is_live_and_aligned);
    tcase_add_test(batches,
                   a_stretch_ends_where_neighbours_end_whatever_the_hint);
    tcase_add_test(batches, what_is_no_slot_reads_as_nothing);
    tcase_add_test(batches, a_batch_is_accepted_and_given_whatever_its_order);
    tcase_add_loop_test(batches, stretches_of_any_length_are_accepted, 0, 5);
    tcase_add_test(batches, a_batch_that_is_refused_is_live_as_before);
    tcase_add_test(batches, a_stretch_that_is_not_all_live_is_not_made_free);
    suite_add_tcase(suite, batches);
    return suite;
}

int main(void)
{
    return suite_run(direct_suite());
}
