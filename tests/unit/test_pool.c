/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Slots of every size and alignment, and what the calls on them refuse.
 */
#include "config.h"

#include "pool/pool.h"

#include "support/crew.h"
#include "support/pools.h"

#include <stdlib.h>
#include <string.h>

static struct ashlar_pool *pool;

static void start(size_t bytes, size_t alignment, size_t max_slots,
                  uint32_t flags)
{
    struct ashlar_pool_options options = pools_options(0, max_slots, 0, flags);

    pool = pools_make(pools_type(bytes, alignment), &options);
}

static void end(void)
{
    REQUIRE(pools_stats(pool).live_slots == 0);
    pools_end(pool);
}

/* --- every size at every alignment ---------------------------------------- */

#define SLABS 3

static const size_t sizes[] = {1,   2,   3,   8,   12,   24,   31,    64,
                               100, 128, 160, 200, 4096, 5000, 65536, 1 << 20};

#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

/* All slots of some slabs. */
static struct {
    void **slots;
    unsigned char *seen; /* per index */
    size_t count;
    size_t bytes;
    size_t alignment;
} all;

static void get_all(void)
{
    size_t n = 0, got;

    all.count = 0;
    do {
        /* Growth adds a slab; what it has beyond the one slot is taken too. */
        all.slots = realloc(all.slots, (all.count + 1) * sizeof(*all.slots));
        REQUIRE(all.slots != NULL);
        all.slots[all.count] = ashlar_pool_get(pool);
        REQUIRE(all.slots[all.count++] != NULL);
        n = pools_stats(pool).capacity_slots - all.count;
        all.slots = realloc(all.slots, (all.count + n) * sizeof(*all.slots));
        got = ashlar_pool_get_up_to(pool, all.slots + all.count, n);
        REQUIRE(got == n);
        all.count += n;
    } while (pools_stats(pool).slabs < SLABS);
    REQUIRE(pools_stats(pool).live_slots == all.count);
}

/* Aligned, and at an index that no other has. */
static void check_place(size_t i)
{
    size_t index;

    if ((uintptr_t)all.slots[i] % all.alignment != 0)
        ck_abort_msg("%zu bytes at %zu: slot %zu of %zu is at %p", all.bytes,
                     all.alignment, i, all.count, all.slots[i]);
    REQUIRE(ashlar_pool_index(pool, all.slots[i], &index) == ASHLAR_OK);
    REQUIRE(index < all.count && all.seen[index] == 0);
    REQUIRE(ashlar_pool_at(pool, index) == all.slots[i]);
    all.seen[index] = 1;
}

static void check_all(void)
{
    size_t i;

    all.seen = calloc(all.count, 1);
    REQUIRE(all.seen != NULL);
    for (i = 0; i < all.count; i++)
        check_place(i);
    free(all.seen);
}

/* Whether what is written at both ends of each slot is there in the end. */
static void check_apart(void)
{
    size_t i;

    for (i = 0; i < all.count; i++) {
        unsigned char *slot = all.slots[i];

        slot[all.bytes - 1] = (unsigned char)(i % 251);
        slot[0] = (unsigned char)(i % 251);
    }
    for (i = 0; i < all.count; i++) {
        const unsigned char *slot = all.slots[i];

        REQUIRE(slot[0] == i % 251 && slot[all.bytes - 1] == i % 251);
    }
}

START_TEST(every_slot_is_aligned_and_apart_also_after_growth)
{
    size_t step = pools_pace() < 50 ? 2 : 64;

    all.bytes = sizes[_i];
    for (all.alignment = 1; all.alignment <= 2 << 20; all.alignment *= step) {
        start(all.bytes, all.alignment, 0, 0);
        get_all();
        check_all();
        check_apart();
        REQUIRE(ashlar_pool_put_bulk(pool, all.slots, all.count, NULL) ==
                ASHLAR_OK);
        end();
    }
}
END_TEST

START_TEST(every_run_is_aligned_and_apart)
{
    static const size_t lengths[] = {1, 2, 3, 7, 16};
    char *runs[5];
    size_t i, alignment;

    for (alignment = 1; alignment <= 2 << 20; alignment *= 32) {
        size_t stride;

        start(sizes[_i], alignment, 0, 0);
        stride = pools_stats(pool).stride;
        for (i = 0; i < 5; i++) {
            runs[i] = ashlar_pool_get_run(pool, lengths[i]);
            REQUIRE(runs[i] != NULL && (uintptr_t)runs[i] % alignment == 0);
            runs[i][0] = (char)i;
            runs[i][lengths[i] * stride - 1] = (char)i;
        }
        for (i = 0; i < 5; i++) {
            REQUIRE(runs[i][0] == (char)i || stride == 1);
            REQUIRE(runs[i][lengths[i] * stride - 1] == (char)i);
            REQUIRE(ashlar_pool_put_run(pool, runs[i], lengths[i]) ==
                    ASHLAR_OK);
        }
        end();
    }
}
END_TEST

START_TEST(huge_pages_change_no_alignment)
{
    for (all.alignment = 1; all.alignment <= 2 << 20; all.alignment *= 128) {
        all.bytes = 5000;
        start(all.bytes, all.alignment, 0, ASHLAR_POOL_HUGE_PAGES);
        get_all();
        check_all();
        check_apart();
        REQUIRE(ashlar_pool_put_bulk(pool, all.slots, all.count, NULL) ==
                ASHLAR_OK);
        end();
    }
}
END_TEST

/* Each member gets, checks and puts. */
static void use_slots(unsigned number, void *argument)
{
    bool *failed = (bool *)argument + number;
    void *slots[200];
    unsigned round;
    size_t i;

    for (round = 0; round < 50; round++) {
        for (i = 0; i < 100; i++)
            slots[i] = ashlar_pool_get(pool);
        *failed |= ashlar_pool_get_bulk(pool, slots + 100, 100) != ASHLAR_OK;
        for (i = 0; i < 200; i++) {
            *failed |= slots[i] == NULL || (uintptr_t)slots[i] % 128 != 0;
            *(unsigned *)slots[i] = number * 1000 + (unsigned)i;
        }
        for (i = 0; i < 200; i++)
            *failed |= *(unsigned *)slots[i] != number * 1000 + (unsigned)i;
        *failed |= ashlar_pool_put_bulk(pool, slots, 200, NULL) != ASHLAR_OK;
    }
}

START_TEST(threads_get_aligned_slots_that_are_theirs_alone)
{
    bool failed[8] = {false};
    struct crew crew;
    unsigned i;

    start(128, 128, 0, 0);
    crew_start(&crew, 8);
    crew_work(&crew, use_slots, failed);
    for (i = 0; i < 8; i++)
        ck_assert_msg(!failed[i], "thread %u", i);
    crew_end(&crew);
    ck_assert_uint_eq(pools_stats(pool).duplicates, 0);
    end();
}
END_TEST

/* --- more than there can be ----------------------------------------------- */

START_TEST(more_than_memory_is_refused_and_changes_nothing)
{
    struct snapshot before;

    start((size_t)1 << 30, 1 << 20, 0, 0);
    before = snapshot_take(pool);
    ck_assert_int_eq(ashlar_pool_reserve(pool, UINT32_MAX),
                     ASHLAR_ERR_NO_MEMORY);
    ck_assert(last_error_is(ASHLAR_ERR_NO_MEMORY, "1073741824 bytes"));
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, UINT32_MAX, 1),
                     ASHLAR_ERR_NO_MEMORY);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, UINT32_MAX));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NO_MEMORY);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 1 << 18));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NO_MEMORY);
    before.stats.caches = 1; /* reserve() attaches */
    ck_assert_ptr_null(snapshot_differs(&before, pool));
    snapshot_free(&before);
    end();
}
END_TEST

START_TEST(up_to_n_says_why_it_is_fewer)
{
    void *slots[1001];

    ashlar_clear_error();
    start(128, 128, 1000, 0);
    ck_assert_uint_eq(ashlar_pool_get_up_to(pool, slots, 0), 0);
    ck_assert_uint_eq(ashlar_pool_get_up_to(pool, slots, 400), 400);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    ck_assert_uint_eq(ashlar_pool_get_up_to(pool, slots + 400, 601), 600);
    ck_assert(last_error_is(ASHLAR_ERR_LIMIT, "1000"));
    ck_assert_uint_eq(ashlar_pool_get_up_to(pool, slots + 1000, 1), 0);
    ck_assert_uint_eq(pools_stats(pool).refusals, 2);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, 1000, NULL), ASHLAR_OK);
    end();
}
END_TEST

START_TEST(all_or_nothing_is_nothing_at_max_slots)
{
    struct snapshot before;
    void *slots[1001];
    size_t n;

    start(128, 128, 1000, _i == 0 ? 0 : ASHLAR_POOL_UNCHECKED);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 600), ASHLAR_OK);
    ck_assert_uint_eq(ashlar_pool_get_up_to(pool, slots + 600, 400), 400);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots + 600, 400, NULL),
                     ASHLAR_OK);
    before = snapshot_take(pool);
    for (n = 401; n < 2000; n += 100) {
        void *more[2000];

        REQUIRE(ashlar_pool_get_bulk(pool, more, n) == ASHLAR_ERR_LIMIT);
        REQUIRE(snapshot_differs(&before, pool) == NULL);
    }
    snapshot_free(&before);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots + 600, 400), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, 1000, NULL), ASHLAR_OK);
    end();
}
END_TEST

/* --- no pool -------------------------------------------------------------- */

#define REFUSED(_call)                                                         \
    do {                                                                       \
        ashlar_clear_error();                                                  \
        if (!(_call) || !last_error_is(ASHLAR_ERR_INVALID, "pool"))            \
            ck_abort_msg("%s: %s", #_call, ashlar_last_error_message());       \
    } while (0)

START_TEST(null_is_no_pool)
{
    struct ashlar_cache *cache = NULL;
    size_t number = 77;
    void *slot = &cache;

    REFUSED(ashlar_pool_get(NULL) == NULL);
    REFUSED(ashlar_pool_put(NULL, slot) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_get_bulk(NULL, &slot, 1) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_get_bulk(NULL, NULL, 0) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_put_bulk(NULL, &slot, 1, &number) ==
            ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_put_after(NULL, &slot, 1, ASHLAR_QUIET, 1, &number) ==
            ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_range(NULL) == NULL);
    REFUSED(ashlar_pool_get_up_to(NULL, &slot, 1) == 0);
    REFUSED(ashlar_pool_get_run(NULL, 1) == NULL);
    REFUSED(ashlar_pool_put_run(NULL, slot, 1) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_reserve(NULL, 1) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_reserve_runs(NULL, 1, 1) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_trim(NULL, &number) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_detach(NULL) == ASHLAR_ERR_INVALID);
    REFUSED(ashlar_pool_at(NULL, 0) == NULL);
    REFUSED(ashlar_cache_open(NULL, 1, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(number, 77);
    ck_assert_ptr_null(cache);
    ck_assert_ptr_eq(slot, &cache);
}
END_TEST

/* --- unchecked ------------------------------------------------------------ */

START_TEST(an_unchecked_pool_drops_a_second_put_in_its_store)
{
    void *slots[2];

    start(128, 128, 0, ASHLAR_POOL_UNCHECKED);
    slots[0] = ashlar_pool_get(pool);
    slots[1] = ashlar_pool_get(pool);
    ck_assert_int_eq(ashlar_pool_put(pool, slots[0]), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put(pool, slots[0]), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put(pool, slots[1]), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_detach(pool), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).duplicates, 1);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    end();
}
END_TEST

static Suite *pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *places = tcase_create("places");
    TCase *refusals = tcase_create("refusals");

    tcase_add_loop_test(
        places, every_slot_is_aligned_and_apart_also_after_growth, 0, SIZES);
    tcase_add_loop_test(places, every_run_is_aligned_and_apart, 0, SIZES);
    tcase_add_test(places, huge_pages_change_no_alignment);
    tcase_add_test(places, threads_get_aligned_slots_that_are_theirs_alone);
    suite_add_tcase(suite, places);
    tcase_add_test(refusals, more_than_memory_is_refused_and_changes_nothing);
    tcase_add_test(refusals, up_to_n_says_why_it_is_fewer);
    tcase_add_loop_test(refusals, all_or_nothing_is_nothing_at_max_slots, 0, 2);
    tcase_add_test(refusals, null_is_no_pool);
    tcase_add_test(refusals, an_unchecked_pool_drops_a_second_put_in_its_store);
    suite_add_tcase(suite, refusals);
    return suite;
}

int main(void)
{
    return suite_run(pool_suite());
}
