/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * How pools are made, found and destroyed, and what a handle is worth then.
 */
#include "config.h"

#include <ashlar/pool.h>

#include "support/crew.h"
#include "support/pools.h"
#include "support/stub_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/pool.h"

static const struct ashlar_type *type;

static void start_clean(void)
{
    stub_reset();
    type = pools_type(128, 128);
}

static size_t count_pools(void)
{
    struct ashlar_pool *pool = NULL;
    size_t count = 0;

    while ((pool = ashlar_pool_next(pool)) != NULL)
        count++;
    return count;
}

static struct ashlar_pool *make(const char *name)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;

    options.name = name;
    options.source = &stub_source;
    REQUIRE(ashlar_pool_create(type, &options, &pool) == ASHLAR_OK);
    return pool;
}

static void destroy(struct ashlar_pool *pool)
{
    REQUIRE(ashlar_pool_destroy(pool, 0) == ASHLAR_OK);
}

/* --- options -------------------------------------------------------------- */

static struct ashlar_pool *const untouched =
    (struct ashlar_pool *)(void *)&type;

static void expect_refused(const struct ashlar_pool_options *options,
                           const char *text)
{
    struct ashlar_pool *pool = untouched;
    size_t count = count_pools();

    if (ashlar_pool_create(type, options, &pool) != ASHLAR_ERR_INVALID)
        ck_abort_msg("expected to be refused: %s", text);
    if (!last_error_is(ASHLAR_ERR_INVALID, text))
        ck_abort_msg("\"%s\" does not say \"%s\"", ashlar_last_error_message(),
                     text);
    REQUIRE(pool == untouched);
    REQUIRE(count_pools() == count);
    REQUIRE(stub_source.holders == 0 && stub.allocs == 0);
}

START_TEST(wrong_options_are_refused_with_their_value)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    const struct ashlar_pool_options good = options;
    char name[65];

    memset(name, 'x', 64);
    name[64] = '\0';
    options.source = &stub_source;
    options.flags = 0x8000000cu;
    expect_refused(&options, "0x8000000c");
    options = good;
    options.reserved = 9;
    expect_refused(&options, "reserved is 9");
    options = good;
    options.name = name;
    expect_refused(&options, "64 bytes");
    options = good;
    options.max_slots = ASHLAR_POOL_SLOTS_MAX + 1;
    expect_refused(&options, "4294967296");
    options = good;
    options.initial_slots = ASHLAR_POOL_SLOTS_MAX + 2;
    expect_refused(&options, "4294967297");
    options = good;
    options.initial_slots = 11;
    options.max_slots = 10;
    expect_refused(&options, "initial_slots is 11");
    expect_refused(&options, "max_slots, 10");
    options = good;
    options.cache_slots = ASHLAR_POOL_CACHE_MAX + 1;
    expect_refused(&options, "65537");
}
END_TEST

START_TEST(a_stride_that_is_not_the_types_is_refused_and_freezes_nothing)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    const struct ashlar_type *apart;
    struct ashlar_pool *pool = NULL;

    REQUIRE(ashlar_type_register("forty", 40, 64, &apart) == ASHLAR_OK);
    options.source = &stub_source;
    options.stride = 40;
    REQUIRE(ashlar_pool_create(apart, &options, &pool) == ASHLAR_ERR_CONFLICT);
    REQUIRE(pool == NULL);
    ck_assert_ptr_nonnull(
        strstr(ashlar_last_error_message(), "64 bytes apart"));
    ck_assert_ptr_nonnull(
        strstr(ashlar_last_error_message(), "objects of 40 bytes"));
    REQUIRE(ashlar_type_query(apart, &info) == ASHLAR_OK);
    REQUIRE((info.flags & ASHLAR_TYPE_FROZEN) == 0);
    options.stride = 64;
    REQUIRE(ashlar_pool_create(apart, &options, &pool) == ASHLAR_OK);
    destroy(pool);
}
END_TEST

START_TEST(options_need_their_size)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;

    options.size = 0;
    expect_refused(&options, "size member of struct ashlar_pool_options is 0");
    options.size = sizeof(size_t) - 1;
    expect_refused(&options, "is 7");
    options.size = SIZE_MAX;
    expect_refused(&options, "struct ashlar_pool_options");
}
END_TEST

START_TEST(options_of_a_newer_caller_pass_only_when_zero)
{
    struct {
        struct ashlar_pool_options options;
        unsigned char newer[16];
    } given = {.options = ASHLAR_POOL_OPTIONS_INIT};
    struct ashlar_pool *pool;
    size_t i;

    given.options.size = sizeof(given);
    ck_assert_int_eq(ashlar_pool_create(type, &given.options, &pool),
                     ASHLAR_OK);
    destroy(pool);
    for (i = 0; i < sizeof(given.newer); i++) {
        given.newer[i] = 1;
        expect_refused(&given.options, "is not 0");
        REQUIRE(last_error_number(0) == sizeof(given.options) + i);
        given.newer[i] = 0;
    }
}
END_TEST

START_TEST(options_of_an_older_caller_leave_the_rest_default)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;

    options.name = "older";
    options.initial_slots = 5;
    options.max_slots = 3; /* beyond what it knows */
    options.cache_slots = SIZE_MAX - 1;
    options.flags = 0xffffffffu;
    options.reserved = 1;
    options.size = offsetof(struct ashlar_pool_options, max_slots);
    ck_assert_int_eq(ashlar_pool_create(type, &options, &pool), ASHLAR_OK);
    ck_assert_str_eq(ashlar_pool_name(pool), "older");
    ck_assert_uint_ge(pools_stats(pool).capacity_slots, 5);
    ck_assert_uint_eq(pools_stats(pool).max_slots, ASHLAR_POOL_SLOTS_MAX);
    destroy(pool);
    options.size = sizeof(size_t); /* nothing but the size */
    ck_assert_int_eq(ashlar_pool_create(type, &options, &pool), ASHLAR_OK);
    ck_assert_str_eq(ashlar_pool_name(pool), "128 bytes at 128");
    ck_assert_uint_eq(pools_stats(pool).capacity_slots, 0);
    destroy(pool);
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct ashlar_pool *pool = untouched;

    ck_assert_int_eq(ashlar_pool_create(NULL, NULL, &pool), ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "type"));
    ck_assert_int_eq(ashlar_pool_create(type, NULL, NULL), ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "pool_out"));
    ck_assert_ptr_eq(pool, untouched);
}
END_TEST

START_TEST(no_options_are_the_defaults)
{
    static const struct ashlar_pool_options none;
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;

    ck_assert_uint_eq(options.size, sizeof(options));
    options.size = 0;
    ck_assert_mem_eq(&options, &none, sizeof(options));
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool),
        ASHLAR_OK);
    ck_assert_str_eq(ashlar_pool_name(pool), "CUtensorMap");
    ck_assert_uint_eq(pools_stats(pool).max_slots, ASHLAR_POOL_SLOTS_MAX);
    ck_assert_uint_eq(pools_stats(pool).slabs, 0);
    ck_assert_uint_eq(pools_stats(pool).stride, 128);
    ck_assert(pool->checked);
    destroy(pool);
}
END_TEST

START_TEST(initial_slots_are_there_at_once)
{
    struct ashlar_pool_options options = pools_options(1000, 1000, 0, 0);
    struct ashlar_pool *pool;
    void *slots[1000];

    options.source = &stub_source;
    ck_assert_int_eq(ashlar_pool_create(type, &options, &pool), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).capacity_slots, 1000);
    ck_assert_uint_eq(stub.allocs, 1);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 1000), ASHLAR_OK);
    ck_assert_uint_eq(stub.allocs, 1);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, 1000, NULL), ASHLAR_OK);
    destroy(pool);
}
END_TEST

START_TEST(without_memory_for_the_initial_slots_there_is_no_pool)
{
    struct ashlar_pool_options options = pools_options(1000, 0, 0, 0);
    struct ashlar_pool *pool = untouched;

    options.source = &stub_source;
    stub.bytes_limit = 1000;
    ck_assert_int_eq(ashlar_pool_create(type, &options, &pool),
                     ASHLAR_ERR_NO_MEMORY);
    ck_assert(last_error_is(ASHLAR_ERR_NO_MEMORY, "1000"));
    ck_assert_ptr_eq(pool, untouched);
    ck_assert_uint_eq(stub_source.holders, 0);
    ck_assert_uint_eq(count_pools(), 0);
}
END_TEST

START_TEST(a_pool_that_could_not_be_made_leaves_its_type_free)
{
    static const char name[] = "of no pool";
    struct ashlar_pool_options options = pools_options(1000, 0, 0, 0);
    const struct ashlar_type *own;
    const struct ashlar_type *stronger;
    struct ashlar_pool *pool = untouched;

    ck_assert_int_eq(ashlar_type_register(name, 64, 64, &own), ASHLAR_OK);
    options.source = &stub_source;
    stub.bytes_limit = 1000;
    ck_assert_int_eq(ashlar_pool_create(own, &options, &pool),
                     ASHLAR_ERR_NO_MEMORY);
    ck_assert_int_eq(ashlar_type_register(name, 64, 128, &stronger), ASHLAR_OK);
    ck_assert_ptr_eq(stronger, own);
    stub.bytes_limit = 0;
    ck_assert_int_eq(ashlar_pool_create(own, &options, &pool), ASHLAR_OK);
    ck_assert_uint_eq((uintptr_t)ashlar_pool_at(pool, 1) % 128, 0);
    ck_assert_int_eq(ashlar_type_register(name, 64, 256, &stronger),
                     ASHLAR_ERR_CONFLICT);
    destroy(pool);
}
END_TEST

START_TEST(huge_pages_are_asked_for_whole_and_aligned)
{
    struct ashlar_pool_options options =
        pools_options(1, 0, 0, ASHLAR_POOL_HUGE_PAGES);
    struct ashlar_pool *pool;

    options.source = &stub_source;
    ck_assert_int_eq(ashlar_pool_create(type, &options, &pool), ASHLAR_OK);
    ck_assert_uint_eq(stub.huges, 1);
    ck_assert_uint_eq(stub.last_alignment, 2 << 20);
    ck_assert_uint_eq(pools_stats(pool).slab_bytes, 2 << 20);
    ck_assert_uint_eq((uintptr_t)ashlar_pool_at(pool, 0) % (2 << 20), 0);
    destroy(pool);
}
END_TEST

/* --- names and lists ------------------------------------------------------ */

START_TEST(a_name_finds_the_oldest_pool_that_has_it)
{
    struct ashlar_pool *first = make("name");
    struct ashlar_pool *second = make("name");
    struct ashlar_pool *other = make("another");

    ck_assert_ptr_eq(ashlar_pool_find("name"), first);
    ck_assert_ptr_eq(ashlar_pool_find("another"), other);
    destroy(first);
    ck_assert_ptr_eq(ashlar_pool_find("name"), second);
    destroy(second);
    ck_assert_ptr_null(ashlar_pool_find("name"));
    ck_assert(last_error_is(ASHLAR_ERR_NOT_FOUND, "\"name\""));
    ck_assert_ptr_null(ashlar_pool_find(NULL));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_INVALID);
    destroy(other);
}
END_TEST

START_TEST(a_walk_meets_pools_oldest_first)
{
    struct ashlar_pool *pools[50];
    struct ashlar_pool *at = NULL;
    size_t i;

    for (i = 0; i < 50; i++)
        pools[i] = make(NULL);
    destroy(pools[0]);
    destroy(pools[20]);
    destroy(pools[49]);
    for (i = 1; i < 49; i++) {
        if (i == 20)
            continue;
        at = ashlar_pool_next(at);
        REQUIRE(at == pools[i]);
    }
    ck_assert_ptr_null(ashlar_pool_next(at));
    ck_assert_ptr_null(ashlar_pool_next(pools[20])); /* destroyed since */
    for (i = 1; i < 49; i++)
        if (i != 20)
            destroy(pools[i]);
    ck_assert_ptr_null(ashlar_pool_next(NULL));
}
END_TEST

START_TEST(a_types_long_name_is_cut)
{
    const struct ashlar_type *long_type;
    struct ashlar_pool *pool;
    char name[101];

    memset(name, 'n', 100);
    name[100] = '\0';
    if (ashlar_type_register(name, 8, 8, &long_type) != ASHLAR_OK)
        return;
    ck_assert_int_eq(ashlar_pool_create(long_type, NULL, &pool), ASHLAR_OK);
    ck_assert_uint_eq(strlen(ashlar_pool_name(pool)), 63);
    destroy(pool);
}
END_TEST

/* --- destroying ----------------------------------------------------------- */

START_TEST(a_pool_with_live_slots_is_busy_unless_forced)
{
    struct ashlar_pool *pool = make("busy");
    struct snapshot before;
    void *slots[7];

    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 7), ASHLAR_OK);
    ck_assert_ptr_nonnull(ashlar_pool_get_run(pool, 5));
    before = snapshot_take(pool);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_ERR_BUSY);
    ck_assert(last_error_is(ASHLAR_ERR_BUSY, "\"busy\""));
    ck_assert_uint_eq(last_error_number(0), 12);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 2), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 3), ASHLAR_ERR_INVALID);
    ck_assert_ptr_null(snapshot_differs_at_all(&before, pool));
    ck_assert_ptr_eq(ashlar_pool_find("busy"), pool);
    snapshot_free(&before);
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
    ck_assert_uint_eq(stub.count, 0);
    ck_assert_uint_eq(stub_source.holders, 0);
    ck_assert_int_eq(ashlar_pool_destroy(NULL, 0), ASHLAR_ERR_INVALID);
}
END_TEST

static void get_and_put(unsigned number, void *argument)
{
    void *slots[10];

    (void)number;
    if (ashlar_pool_get_bulk(argument, slots, 10) == ASHLAR_OK)
        (void)ashlar_pool_put_bulk(argument, slots, 10, NULL);
}

/* Everything that takes a pool, given one that was destroyed. */
static const char *not_refused(struct ashlar_pool *pool)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_cache *cache = NULL;
    size_t number = 77;
    void *slot = &stats;

#define REFUSED(_call)                                                         \
    do {                                                                       \
        ashlar_clear_error();                                                  \
        if (!(_call) || ashlar_last_error() != ASHLAR_ERR_STALE)               \
            return #_call;                                                     \
    } while (0)
    REFUSED(ashlar_pool_get(pool) == NULL);
    REFUSED(ashlar_pool_put(pool, slot) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_get_bulk(pool, &slot, 1) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_get_bulk(pool, &slot, 0) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_put_bulk(pool, &slot, 1, &number) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_put_after(pool, &slot, 1, ASHLAR_QUIET, 1, &number) ==
            ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_range(pool) == NULL);
    REFUSED(ashlar_pool_get_up_to(pool, &slot, 1) == 0);
    REFUSED(ashlar_pool_get_run(pool, 1) == NULL);
    REFUSED(ashlar_pool_put_run(pool, slot, 1) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_reserve(pool, 1) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_reserve_runs(pool, 1, 1) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_index(pool, slot, &number) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_at(pool, 0) == NULL);
    REFUSED(ashlar_pool_for_each_live(pool, NULL, NULL) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_trim(pool, &number) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_detach(pool) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_query(pool, &stats) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_type(pool) == NULL);
    REFUSED(ashlar_pool_name(pool) == NULL);
    REFUSED(ashlar_pool_destroy(pool, 0) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_ERR_STALE);
    REFUSED(ashlar_cache_open(pool, 1, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_ERR_STALE);
#undef REFUSED
    if (number != 77 || cache != NULL || slot != &stats)
        return "an output";
    if (ashlar_pool_owns(pool, slot) != 0 || ashlar_pool_next(pool) != NULL)
        return "owns or next";
    return NULL;
}

static void try_stale(unsigned number, void *argument)
{
    const char **wrong = argument;

    wrong[number + 1] = not_refused((struct ashlar_pool *)(uintptr_t)wrong[0]);
}

START_TEST(a_stale_handle_is_refused_by_every_call_on_every_thread)
{
    struct ashlar_pool *pool = pools_make(type, NULL);
    const char *wrong[9] = {(const char *)pool};
    struct crew crew;
    unsigned i;

    crew_start(&crew, 8);
    /* Half of the threads, and main, have a cache of it. */
    for (i = 0; i < 4; i++)
        crew_work_one(&crew, i, get_and_put, pool);
    get_and_put(0, pool);
    destroy(pool);
    crew_work(&crew, try_stale, wrong);
    for (i = 1; i <= 8; i++)
        ck_assert_msg(wrong[i] == NULL, "thread %u: %s", i, wrong[i]);
    ck_assert_msg(not_refused(pool) == NULL, "%s", not_refused(pool));
    crew_end(&crew);
}
END_TEST

START_TEST(caches_of_other_threads_are_no_live_slots)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;
    struct crew crew;

    options.source = &stub_source;
    pool = pools_make(type, &options);
    crew_start(&crew, 4);
    crew_work(&crew, get_and_put, pool);
    ck_assert_uint_ge(pools_stats(pool).cached_slots, 4);
    destroy(pool);
    ck_assert_uint_eq(stub.count, 0);
    pool = pools_make(type, NULL);
    crew_work(&crew, get_and_put, pool);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).caches, 4);
    crew_end(&crew);
    ck_assert_uint_eq(pools_stats(pool).caches, 0);
    destroy(pool);
}
END_TEST

START_TEST(a_record_is_used_again_as_late_as_possible)
{
    struct ashlar_pool *stale = make(NULL);
    size_t i;

    destroy(stale);
    for (i = 0; i < 1000; i++) {
        struct ashlar_pool *pool = make(NULL);

        REQUIRE(pool != stale);
        destroy(pool);
        REQUIRE(ashlar_pool_get(stale) == NULL);
        REQUIRE(ashlar_last_error() == ASHLAR_ERR_STALE);
    }
}
END_TEST

static int compare_pointers(const void *a, const void *b)
{
    uintptr_t left = *(const uintptr_t *)a;
    uintptr_t right = *(const uintptr_t *)b;

    return (left > right) - (left < right);
}

START_TEST(records_are_used_again_in_the_end)
{
    static uintptr_t records[5000];
    size_t i, different = 1;

    for (i = 0; i < 5000; i++) {
        struct ashlar_pool *pool = make(NULL);

        records[i] = (uintptr_t)pool;
        destroy(pool);
    }
    qsort(records, 5000, sizeof(*records), compare_pointers);
    for (i = 1; i < 5000; i++)
        different += records[i] != records[i - 1];
    ck_assert_uint_le(different, 1100);
}
END_TEST

START_TEST(ten_thousand_pools_live_side_by_side)
{
    size_t count = 10000 / (1 + pools_pace() / 5);
    struct ashlar_pool **pools = calloc(count, sizeof(*pools));
    void **slots = calloc(count, sizeof(*slots));
    size_t i;

    ck_assert(pools != NULL && slots != NULL);
    for (i = 0; i < count; i++) {
        pools[i] = pools_make(type, NULL);
        slots[i] = ashlar_pool_get(pools[i]);
        REQUIRE(slots[i] != NULL && (uintptr_t)slots[i] % 128 == 0);
        memset(slots[i], (int)i, 128);
    }
    ck_assert_uint_eq(count_pools(), count);
    for (i = 0; i < count; i++) {
        REQUIRE(ashlar_pool_owns(pools[i], slots[i]) == 1);
        REQUIRE(ashlar_pool_owns(pools[(i + 1) % count], slots[i]) == 0);
        REQUIRE(*(unsigned char *)slots[i] == i % 256);
    }
    for (i = 0; i < count; i++) {
        REQUIRE(ashlar_pool_put(pools[i], slots[i]) == ASHLAR_OK);
        destroy(pools[i]);
    }
    free(pools);
    free(slots);
}
END_TEST

static Suite *life_suite(void)
{
    Suite *suite = suite_create("life");
    TCase *options = tcase_create("options");
    TCase *lists = tcase_create("lists");
    TCase *destroying = tcase_create("destroying");

    tcase_add_checked_fixture(options, start_clean, NULL);
    tcase_add_test(options, wrong_options_are_refused_with_their_value);
    tcase_add_test(
        options, a_stride_that_is_not_the_types_is_refused_and_freezes_nothing);
    tcase_add_test(options, options_need_their_size);
    tcase_add_test(options, options_of_a_newer_caller_pass_only_when_zero);
    tcase_add_test(options, options_of_an_older_caller_leave_the_rest_default);
    tcase_add_test(options, null_arguments_are_refused);
    tcase_add_test(options, no_options_are_the_defaults);
    tcase_add_test(options, initial_slots_are_there_at_once);
    tcase_add_test(options,
                   without_memory_for_the_initial_slots_there_is_no_pool);
    tcase_add_test(options, a_pool_that_could_not_be_made_leaves_its_type_free);
    tcase_add_test(options, huge_pages_are_asked_for_whole_and_aligned);
    suite_add_tcase(suite, options);
    tcase_add_checked_fixture(lists, start_clean, NULL);
    tcase_add_test(lists, a_name_finds_the_oldest_pool_that_has_it);
    tcase_add_test(lists, a_walk_meets_pools_oldest_first);
    tcase_add_test(lists, a_types_long_name_is_cut);
    suite_add_tcase(suite, lists);
    tcase_add_checked_fixture(destroying, start_clean, NULL);
    tcase_add_test(destroying, a_pool_with_live_slots_is_busy_unless_forced);
    tcase_add_test(destroying,
                   a_stale_handle_is_refused_by_every_call_on_every_thread);
    tcase_add_test(destroying, caches_of_other_threads_are_no_live_slots);
    tcase_add_test(destroying, a_record_is_used_again_as_late_as_possible);
    tcase_add_test(destroying, records_are_used_again_in_the_end);
    tcase_add_test(destroying, ten_thousand_pools_live_side_by_side);
    suite_add_tcase(suite, destroying);
    return suite;
}

int main(void)
{
    return suite_run(life_suite());
}
