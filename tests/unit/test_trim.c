/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What a trim gives back, and what it leaves alone.
 */
#include "config.h"

#include <ashlar/pool.h>

#include "support/crew.h"
#include "support/pools.h"
#include "support/stub_source.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pool/pool.h"

static struct ashlar_pool *pool;
static size_t stride;

static void start(size_t bytes, size_t alignment, size_t max_slots,
                  uint32_t flags)
{
    struct ashlar_pool_options options = pools_options(0, max_slots, 0, flags);

    pool = pools_make(pools_type(bytes, alignment), &options);
    stride = pools_stats(pool).stride;
}

static void end(void)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
}

static size_t trim(void)
{
    size_t bytes = SIZE_MAX;

    REQUIRE(ashlar_pool_trim(pool, &bytes) == ASHLAR_OK);
    return bytes;
}

/* --- pages ---------------------------------------------------------------- */

/* Pages of the pool's slabs: resident ones, and those no live slot touches. */
struct pages {
    size_t resident;
    size_t free;
    size_t free_and_resident;
};

static int mark_live(void *first, size_t n, void *user)
{
    unsigned char *live = user;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const struct slab *slab = slab_map_find(pool->map, (uintptr_t)first);
    size_t offset = (size_t)((char *)first - slab->base);
    size_t i;
    uint32_t number;

    for (number = 0; pool->map->order[number] != slab; number++)
        live += pool->map->order[number]->block_bytes / page + 1;
    for (i = offset / page; i <= (offset + n * stride - 1) / page; i++)
        live[i] = 1;
    return 0;
}

static struct pages count_pages(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t count = pools_stats(pool).slab_bytes / page + pool->map->count;
    unsigned char *live = calloc(count, 1);
    unsigned char *here = calloc(count, 1);
    struct pages pages = {0, 0, 0};
    size_t i, at = 0;
    uint32_t number;

    REQUIRE(live != NULL && here != NULL);
    REQUIRE(ashlar_pool_for_each_live(pool, mark_live, live) == ASHLAR_OK);
    for (number = 0; number < pool->map->count; number++) {
        const struct slab *slab = pool->map->order[number];
        size_t whole = slab->count * stride / page;

        REQUIRE((uintptr_t)slab->base % page == 0);
        REQUIRE(mincore(slab->base, whole * page, here) == 0);
        for (i = 0; i < whole; i++) {
            pages.resident += here[i] & 1;
            pages.free += live[at + i] == 0;
            pages.free_and_resident += live[at + i] == 0 && (here[i] & 1) != 0;
        }
        at += slab->block_bytes / page + 1;
    }
    free(live);
    free(here);
    return pages;
}

/* --- single slots --------------------------------------------------------- */

static const struct shape {
    size_t bytes;
    size_t alignment;
    size_t count;
    uint32_t flags;
} shapes[] = {
    {128, 128, 20000, 0},  {160, 32, 20000, 0},
    {4096, 64, 1000, 0},   {5000, 8, 1000, 0},
    {1, 1, 300000, 0},     {65536, 128, 60, 0},
    {1 << 20, 4096, 5, 0}, {128, 128, 40000, ASHLAR_POOL_HUGE_PAGES},
};

#define SHAPES ((int)(sizeof(shapes) / sizeof(shapes[0])))

static void **get_all(const struct shape *shape)
{
    void **slots = malloc(shape->count * sizeof(*slots));
    size_t i;

    REQUIRE(slots != NULL);
    REQUIRE(ashlar_pool_get_bulk(pool, slots, shape->count) == ASHLAR_OK);
    for (i = 0; i < shape->count; i++)
        memset(slots[i], 0xa5, shape->bytes);
    return slots;
}

static bool all_bytes_are(const unsigned char *slot, size_t bytes,
                          unsigned char value)
{
    return slot[0] == value && memcmp(slot, slot + 1, bytes - 1) == 0;
}

START_TEST(a_trim_gives_nearly_all_pages_of_free_slots_back)
{
    const struct shape *shape = &shapes[_i];
    struct pages before, after;
    void **slots;
    size_t bytes;

    start(shape->bytes, shape->alignment, 0, shape->flags);
    slots = get_all(shape);
    before = count_pages();
    ck_assert_uint_ge(before.resident * (size_t)sysconf(_SC_PAGESIZE),
                      shape->count * stride / 2);
    REQUIRE(ashlar_pool_put_bulk(pool, slots, shape->count, NULL) == ASHLAR_OK);
    bytes = trim();
    after = count_pages();
    ck_assert_uint_le(after.resident * 20, after.free);
    ck_assert_uint_ge(bytes * 20, pools_stats(pool).slab_bytes * 19);
    ck_assert_uint_le(bytes, pools_stats(pool).slab_bytes);
    free(slots);
    end();
}
END_TEST

START_TEST(trimmed_slots_are_where_they_were_and_read_as_zero)
{
    const struct shape *shape = &shapes[_i];
    void **slots, **again;
    size_t i, first, last;

    start(shape->bytes, shape->alignment, shape->count, shape->flags);
    slots = get_all(shape);
    REQUIRE(ashlar_pool_put_bulk(pool, slots, shape->count, NULL) == ASHLAR_OK);
    (void)trim();
    again = malloc(shape->count * sizeof(*again));
    REQUIRE(ashlar_pool_reserve(pool, shape->count) == ASHLAR_OK);
    REQUIRE(ashlar_pool_get_bulk(pool, again, shape->count) == ASHLAR_OK);
    for (i = 0; i < shape->count; i++)
        REQUIRE(ashlar_pool_at(pool, i) == slots[i]);
    REQUIRE(pool->map->count == 1);
    /* Slots that share a page with what is no slot may have kept theirs. */
    first = (size_t)sysconf(_SC_PAGESIZE) / stride + 1;
    last = shape->count > first ? shape->count - first : 0;
    for (i = first; i < last; i++)
        REQUIRE(all_bytes_are(slots[i], shape->bytes, 0));
    free(slots);
    free(again);
    end();
}
END_TEST

START_TEST(live_slots_keep_their_bytes_and_free_pages_between_go)
{
    const struct shape *shape = &shapes[_i];
    struct pages after;
    void **slots;
    size_t i;

    start(shape->bytes, shape->alignment, 0, shape->flags);
    slots = get_all(shape);
    /* One of 150 stays; of large ones, the second. */
    for (i = 0; i < shape->count; i++)
        if (i % 150 != 1)
            REQUIRE(ashlar_pool_put(pool, slots[i]) == ASHLAR_OK);
    (void)trim();
    after = count_pages();
    ck_assert_uint_le(after.free_and_resident * 20, after.free);
    for (i = 1; i < shape->count; i += 150)
        REQUIRE(all_bytes_are(slots[i], shape->bytes, 0xa5));
    free(slots);
    end();
}
END_TEST

START_TEST(a_second_trim_gives_the_same)
{
    size_t bytes;
    void **slots;

    start(128, 128, 0, 0);
    ck_assert_uint_eq(trim(), 0); /* no slabs yet */
    slots = get_all(&shapes[0]);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, shapes[0].count, NULL),
                     ASHLAR_OK);
    bytes = trim();
    ck_assert_uint_eq(trim(), bytes);
    ck_assert_int_eq(ashlar_pool_trim(pool, NULL), ASHLAR_OK);
    free(slots);
    end();
}
END_TEST

START_TEST(a_slab_of_less_than_a_page_is_left_alone)
{
    void *slot;

    start(128, 128, 10, 0);
    slot = ashlar_pool_get(pool);
    ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_OK);
    ck_assert_uint_eq(trim(), 0);
    ck_assert_ptr_eq(ashlar_pool_get(pool), slot);
    end();
}
END_TEST

START_TEST(the_source_is_asked_for_whole_pages_of_its_blocks)
{
    struct ashlar_pool_options options = pools_options(0, 0, 0, 0);
    void *slots[5000];
    uint64_t calls;
    unsigned i;

    stub_reset();
    options.source = &stub_source;
    pool = pools_make(pools_type(192, 64), &options);
    stride = 192;
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 5000), ASHLAR_OK);
    for (i = 0; i < 5000; i++)
        memset(slots[i], 0xa5, 192);
    for (i = 0; i < 5000; i++)
        if (i % 100 != 0)
            ck_assert_int_eq(ashlar_pool_put(pool, slots[i]), ASHLAR_OK);
    calls = pools_stats(pool).source_calls;
    (void)trim();
    ck_assert_uint_gt(stub.purges, 40);
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls + stub.purges);
    for (i = 0; i < 5000; i += 100)
        ck_assert(all_bytes_are(slots[i], 192, 0xa5));
    end();
    ck_assert_msg(stub.wrong == NULL, "%s", stub.wrong);
}
END_TEST

/* --- runs ----------------------------------------------------------------- */

START_TEST(free_runs_go_and_live_ones_keep_their_bytes)
{
    struct pages after;
    char *runs[100];
    size_t i;

    start(128, 128, 0, 0);
    for (i = 0; i < 100; i++) {
        runs[i] = ashlar_pool_get_run(pool, 320);
        REQUIRE(runs[i] != NULL);
        memset(runs[i], 0xa5, (size_t)320 * 128);
    }
    for (i = 0; i < 100; i += 2)
        REQUIRE(ashlar_pool_put_run(pool, runs[i], 320) == ASHLAR_OK);
    (void)trim();
    after = count_pages();
    ck_assert_uint_gt(after.free, 400);
    ck_assert_uint_le(after.free_and_resident * 20, after.free);
    for (i = 0; i < 100; i++)
        REQUIRE(all_bytes_are((unsigned char *)runs[i], (size_t)320 * 128,
                              i % 2 == 0 ? 0 : 0xa5));
    end();
}
END_TEST

/* --- promises and caches -------------------------------------------------- */

START_TEST(a_trim_ends_promises)
{
    start(128, 128, 1000, 0);
    ck_assert_int_eq(ashlar_pool_reserve(pool, 300), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 10, 10), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).promised_slots, 300);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 10);
    (void)trim();
    ck_assert_uint_eq(pools_stats(pool).promised_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 0);
    end();
}
END_TEST

static void keep_some(unsigned number, void *argument)
{
    void *slot = ashlar_pool_get(pool);

    (void)number;
    (void)argument;
    if (slot != NULL)
        (void)ashlar_pool_put(pool, slot);
}

START_TEST(the_callers_cache_is_emptied_and_others_are_not)
{
    struct crew crew;
    size_t others;

    start(128, 128, 0, 0);
    crew_start(&crew, 2);
    crew_work(&crew, keep_some, NULL);
    others = pools_stats(pool).cached_slots;
    ck_assert_uint_gt(others, 2);
    keep_some(0, NULL);
    ck_assert_uint_gt(pools_stats(pool).cached_slots, others);
    (void)trim();
    ck_assert_uint_eq(pools_stats(pool).cached_slots, others);
    crew_end(&crew);
    end();
}
END_TEST

START_TEST(a_wrong_pool_is_refused)
{
    size_t bytes = 77;

    start(128, 128, 0, 0);
    ck_assert_int_eq(ashlar_pool_trim(NULL, &bytes), ASHLAR_ERR_INVALID);
    end();
    ck_assert_int_eq(ashlar_pool_trim(pool, &bytes), ASHLAR_ERR_STALE);
    ck_assert_uint_eq(bytes, 77);
}
END_TEST

/* --- while others get and put --------------------------------------------- */

#define HELD 300

static void churn(unsigned number, void *argument)
{
    struct dice dice = dice_from(number);
    unsigned char *slots[HELD] = {NULL};
    unsigned rounds = 40000 / pools_pace();
    bool *failed = argument;
    size_t i;

    while (rounds-- != 0) {
        i = dice_below(&dice, HELD);
        if (slots[i] == NULL) {
            slots[i] = ashlar_pool_get(pool);
            memset(slots[i], (int)(number * 10 + i % 10 + 1), 128);
        } else {
            *failed |= !all_bytes_are(
                slots[i], 128, (unsigned char)(number * 10 + i % 10 + 1));
            *failed |= ashlar_pool_put(pool, slots[i]) != ASHLAR_OK;
            slots[i] = NULL;
        }
        if (number == 0 && rounds % 50 == 0)
            (void)ashlar_pool_trim(pool, NULL);
    }
    for (i = 0; i < HELD; i++)
        if (slots[i] != NULL)
            *failed |= ashlar_pool_put(pool, slots[i]) != ASHLAR_OK;
}

static void churn_own(unsigned number, void *argument)
{
    churn(number, (bool *)argument + number);
}

START_TEST(a_trim_takes_nothing_from_under_live_slots)
{
    bool failed[4] = {false, false, false, false};
    struct crew crew;
    unsigned i;

    start(128, 128, 0, 0);
    crew_start(&crew, 4);
    crew_work(&crew, churn_own, failed);
    for (i = 0; i < 4; i++)
        ck_assert(!failed[i]);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    crew_end(&crew);
    end();
}
END_TEST

static Suite *trim_suite(void)
{
    Suite *suite = suite_create("trim");
    TCase *slots = tcase_create("slots");
    TCase *others = tcase_create("others");

    tcase_add_loop_test(slots, a_trim_gives_nearly_all_pages_of_free_slots_back,
                        0, SHAPES);
    tcase_add_loop_test(
        slots, trimmed_slots_are_where_they_were_and_read_as_zero, 0, SHAPES);
    tcase_add_loop_test(slots,
                        live_slots_keep_their_bytes_and_free_pages_between_go,
                        0, SHAPES);
    tcase_add_test(slots, a_second_trim_gives_the_same);
    tcase_add_test(slots, a_slab_of_less_than_a_page_is_left_alone);
    tcase_add_test(slots, the_source_is_asked_for_whole_pages_of_its_blocks);
    suite_add_tcase(suite, slots);
    tcase_add_test(others, free_runs_go_and_live_ones_keep_their_bytes);
    tcase_add_test(others, a_trim_ends_promises);
    tcase_add_test(others, the_callers_cache_is_emptied_and_others_are_not);
    tcase_add_test(others, a_wrong_pool_is_refused);
    tcase_add_test(others, a_trim_takes_nothing_from_under_live_slots);
    suite_add_tcase(suite, others);
    return suite;
}

int main(void)
{
    return suite_run(trim_suite());
}
