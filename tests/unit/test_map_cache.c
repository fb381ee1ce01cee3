/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_cache.h"

#include <ashlar.h>

#include "support/caches.h"
#include "support/encode_source.h"
#include "support/stress.h"
#include "support/stub_source.h"
#include "support/suite.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define SLOTS 16

static void setup(void)
{
    caches_begin(SLOTS);
}

/* --- get and put ---------------------------------------------------------- */

START_TEST(a_spec_is_encoded_once)
{
    struct ashlar_spec spec = encode_spec(1);
    const void *map = caches_get(&spec);
    int i;

    ck_assert_uint_eq((uintptr_t)map % 128, 0);
    for (i = 0; i < 10; i++) {
        ck_assert_ptr_eq(caches_get(&spec), map);
        caches_put(map);
    }
    caches_put(map);
    ck_assert_uint_eq(encoder.encodes, 1);
    ck_assert_uint_eq(caches_stats().hits, 10);
    ck_assert_uint_eq(caches_stats().misses, 1);
    ck_assert_uint_eq(caches_stats().maps, 1);
    ck_assert_uint_eq(caches_stats().held, 0);
}
END_TEST

/* Keyed by values: not by what lies behind the rank, and not by the pointer. */
START_TEST(equal_specs_are_one_wherever_they_lie_and_whatever_else_is_in_them)
{
    struct ashlar_spec spec = encode_spec(1), other = encode_spec(1);

    other.dims[3] = 99;
    other.strides[2] = 3;
    other.box[4] = 12345;
    other.channels = 7;
    other.wide_mode = 9;
    caches_put(caches_get(&spec));
    encoder.encodes = 0;
    ck_assert_uint_eq(encoder.encodes, 0);
    {
        const void *map = NULL;

        ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &other, 0, &map),
                         ASHLAR_OK);
        ck_assert(encode_is(map, &spec));
        caches_put(map);
    }
    ck_assert_uint_eq(encoder.encodes, 0);
}
END_TEST

/* Specs 0 to 7 from a cache that may expect another order by now. */
static void touch_as_listed(const unsigned *order, const void *const *maps)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        ck_assert_ptr_eq(caches_touch(order[i]), maps[order[i]]);
}

START_TEST(maps_are_found_in_the_usual_order_and_in_any_other)
{
    static const unsigned usual[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const unsigned other[8] = {7, 6, 6, 0, 1, 2, 4, 3};
    const void *maps[8];
    unsigned i;

    for (i = 0; i < 8; i++)
        maps[i] = caches_touch(i);
    for (i = 0; i < 3; i++) {
        touch_as_listed(usual, maps);
        touch_as_listed(usual, maps);
        touch_as_listed(other, maps);
    }
    ck_assert_uint_eq(encoder.encodes, 8);
    ck_assert_uint_eq(caches_stats().hits, 72);
}
END_TEST

/* With the last slot in use, the first is next again. */
START_TEST(the_usual_order_may_go_around_all_slots)
{
    unsigned i;

    for (i = 0; i < 4 * SLOTS; i++)
        ck_assert(caches_has(i % SLOTS) == (i >= SLOTS));
    ck_assert_uint_eq(encoder.encodes, SLOTS);
}
END_TEST

START_TEST(contexts_have_maps_of_their_own)
{
    struct ashlar_spec spec = encode_spec(1);
    const void *one = NULL, *two = NULL;

    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 1, &one),
                     ASHLAR_OK);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 2, &two),
                     ASHLAR_OK);
    ck_assert_ptr_ne(one, two);
    caches_put(one);
    caches_put(two);
}
END_TEST

START_TEST(a_refused_spec_leaves_nothing)
{
    struct ashlar_spec spec = encode_spec(1);
    const void *map = &spec;

    spec.strides[0] = 2050;
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                     ASHLAR_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(ashlar_last_error_message(), "pad it to 2064"));
    spec = encode_spec(1);
    spec.rank = 6; /* has no key */
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                     ASHLAR_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), "rank is 6"));
    ck_assert_ptr_eq(map, &spec);
    ck_assert_uint_eq(caches_stats().maps, 0);
    ck_assert_uint_eq(caches_stats().refusals, 2);
    spec = encode_spec(1);
    caches_put(caches_get(&spec));
}
END_TEST

START_TEST(failing_encodes_take_no_slots)
{
    struct ashlar_spec spec;
    const void *map;
    uint64_t i;

    for (i = 0; i < 4 * SLOTS; i++) {
        spec = encode_spec(i);
        encoder.fail_at = 1;
        encoder.fail_with = ASHLAR_ERR_CONTEXT_FAILED;
        ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                         ASHLAR_ERR_CONTEXT_FAILED);
    }
    for (i = 0; i < SLOTS; i++)
        (void)caches_touch(i);
    ck_assert_uint_eq(caches_stats().evictions, 0);
}
END_TEST

START_TEST(a_wrong_put_is_refused)
{
    struct ashlar_spec spec = encode_spec(1);
    const char *map = caches_get(&spec);
    char elsewhere[8];

    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, elsewhere),
                     ASHLAR_ERR_WRONG_OWNER);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, map + 64),
                     ASHLAR_ERR_MISALIGNED);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, map + 128),
                     ASHLAR_ERR_NOT_LIVE);
    caches_put(map);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, map),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert(caches_has(1));
}
END_TEST

/* --- arguments, memory, fork ---------------------------------------------- */

START_TEST(null_is_refused_everywhere)
{
    struct ashlar_tensormap_cache *made;
    struct ashlar_spec spec = encode_spec(0);
    const void *map;

    ck_assert_int_eq(ashlar_tensormap_cache_create(NULL, NULL, &made),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_create(&encode_source, NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_create(&stub_source, NULL, &made),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(ashlar_tensormap_cache_get(NULL, &spec, 0, &map),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, NULL, 0, &map),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_put(NULL, &spec),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_invalidate(NULL, 0, 1, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_query(NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_query(cache, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(NULL), ASHLAR_ERR_INVALID);
}
END_TEST

START_TEST(options_are_checked)
{
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    struct ashlar_tensormap_cache *made = NULL;
    char name[65];

    options.slots = ASHLAR_TENSORMAP_CACHE_SLOTS_MAX + 1;
    ck_assert_int_eq(
        ashlar_tensormap_cache_create(&encode_source, &options, &made),
        ASHLAR_ERR_INVALID);
    options.slots = 1;
    memset(name, 'x', 64);
    name[64] = '\0';
    options.name = name;
    ck_assert_int_eq(
        ashlar_tensormap_cache_create(&encode_source, &options, &made),
        ASHLAR_ERR_INVALID);
    options.size = 0;
    ck_assert_int_eq(
        ashlar_tensormap_cache_create(&encode_source, &options, &made),
        ASHLAR_ERR_INVALID);
    ck_assert_ptr_null(made);
    ck_assert_uint_eq(encode_source.holders, 1);
}
END_TEST

START_TEST(a_failing_allocation_at_any_place_makes_no_cache)
{
    struct ashlar_tensormap_cache *made = NULL;
    enum ashlar_status status = ASHLAR_ERR_NO_MEMORY;
    unsigned long n;

    for (n = 1; status != ASHLAR_OK; n++) {
        memory_fail_nth(n, _i != 0);
        status = ashlar_tensormap_cache_create(&encode_source, NULL, &made);
        memory_fail_nth(0, false);
        if (status != ASHLAR_OK) {
            ck_assert_int_eq(status, ASHLAR_ERR_NO_MEMORY);
            ck_assert_ptr_null(made);
            ck_assert_uint_eq(encode_source.holders, 1);
            ck_assert_ptr_null(ashlar_pool_find("tensor maps 2"));
        }
    }
    ck_assert_uint_gt(n, 5);
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(made), ASHLAR_OK);
}
END_TEST

START_TEST(a_get_needs_no_memory)
{
    memory_fail_nth(1, true);
    (void)caches_touch(3);
    ck_assert(caches_has(3));
    memory_fail_nth(0, false);
}
END_TEST

static void use_it_in_the_child(void *user)
{
    struct ashlar_spec spec = encode_spec(1);
    const void *map = NULL;

    (void)user;
    STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0, &map) ==
                      ASHLAR_ERR_FORKED,
                  "%s", ashlar_last_error_message());
    STRESS_EXPECT(ashlar_tensormap_cache_destroy(cache) == ASHLAR_ERR_FORKED,
                  "%s", ashlar_last_error_message());
}

START_TEST(in_a_child_of_fork_it_is_the_parents)
{
    (void)caches_touch(1);
    stress_child(use_it_in_the_child, NULL);
    stress_verdict();
    ck_assert(caches_has(1));
}
END_TEST

/* --- threads -------------------------------------------------------------- */

#define THREADS 8

static unsigned arrived;
static const void *theirs[THREADS];

static void dawdle(void)
{
    usleep(20000);
}

static void get_the_same(unsigned number, void *user)
{
    struct ashlar_spec spec = encode_spec(5);

    (void)user;
    stress_meet(&arrived, THREADS);
    STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0,
                                             &theirs[number]) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
}

START_TEST(a_spec_that_many_ask_for_at_once_is_encoded_once)
{
    int i;

    encoder.during = dawdle;
    stress_threads(THREADS, get_the_same, NULL);
    stress_verdict();
    ck_assert_uint_eq(encoder.encodes, 1);
    ck_assert_uint_eq(caches_stats().misses, 1);
    ck_assert_uint_eq(caches_stats().hits, THREADS - 1);
    for (i = 0; i < THREADS; i++) {
        ck_assert_ptr_eq(theirs[i], theirs[0]);
        caches_put(theirs[i]);
    }
    ck_assert_uint_eq(caches_stats().held, 0);
}
END_TEST

static void get_a_refused_one(unsigned number, void *user)
{
    struct ashlar_spec spec = encode_spec(5);
    const void *map = NULL;

    (void)user, (void)number;
    spec.strides[0] = 8;
    stress_meet(&arrived, THREADS);
    STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0, &map) ==
                      ASHLAR_ERR_INVALID,
                  "%s", ashlar_last_error_message());
}

START_TEST(a_refusal_reaches_all_who_wait)
{
    encoder.during = dawdle;
    stress_threads(THREADS, get_a_refused_one, NULL);
    stress_verdict();
    ck_assert_uint_eq(caches_stats().maps, 0);
    ck_assert_uint_eq(caches_stats().refusals, THREADS);
}
END_TEST

static Suite *map_cache_suite(void)
{
    Suite *suite = suite_create("map_cache");
    TCase *basic = tcase_create("get and put"),
          *rest = tcase_create("arguments, memory, fork"),
          *threads = tcase_create("threads");

    tcase_add_checked_fixture(basic, setup, caches_end);
    tcase_add_test(basic, a_spec_is_encoded_once);
    tcase_add_test(
        basic,
        equal_specs_are_one_wherever_they_lie_and_whatever_else_is_in_them);
    tcase_add_test(basic, maps_are_found_in_the_usual_order_and_in_any_other);
    tcase_add_test(basic, the_usual_order_may_go_around_all_slots);
    tcase_add_test(basic, contexts_have_maps_of_their_own);
    tcase_add_test(basic, a_refused_spec_leaves_nothing);
    tcase_add_test(basic, failing_encodes_take_no_slots);
    tcase_add_test(basic, a_wrong_put_is_refused);
    suite_add_tcase(suite, basic);
    tcase_add_checked_fixture(rest, setup, caches_end);
    tcase_add_test(rest, null_is_refused_everywhere);
    tcase_add_test(rest, options_are_checked);
    tcase_add_loop_test(rest, a_failing_allocation_at_any_place_makes_no_cache,
                        0, 2);
    tcase_add_test(rest, a_get_needs_no_memory);
    tcase_add_test(rest, in_a_child_of_fork_it_is_the_parents);
    suite_add_tcase(suite, rest);
    tcase_add_checked_fixture(threads, setup, caches_end);
    tcase_add_test(threads, a_spec_that_many_ask_for_at_once_is_encoded_once);
    tcase_add_test(threads, a_refusal_reaches_all_who_wait);
    suite_add_tcase(suite, threads);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(map_cache_suite());
}
