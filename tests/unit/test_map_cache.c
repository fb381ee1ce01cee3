/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_cache.h"

#include <ashlar.h>

#include "support/encode_source.h"
#include "support/stress.h"
#include "support/stub_source.h"
#include "support/suite.h"

#include <string.h>
#include <unistd.h>

#include "base/memory.h"

#define SLOTS 16

static struct ashlar_tensormap_cache *cache;

static struct ashlar_tensormap_cache *cache_of(size_t slots)
{
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    struct ashlar_tensormap_cache *made = NULL;

    options.slots = slots;
    ck_assert_int_eq(
        ashlar_tensormap_cache_create(&encode_source, &options, &made),
        ASHLAR_OK);
    return made;
}

static void setup(void)
{
    memory_fail_nth(0, false);
    encode_source_reset();
    cache = cache_of(SLOTS);
}

static void teardown(void)
{
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_OK);
    ck_assert_uint_eq(encode_source.holders, 0);
}

static struct ashlar_tensormap_cache_stats stats(void)
{
    struct ashlar_tensormap_cache_stats read =
        ASHLAR_TENSORMAP_CACHE_STATS_INIT;

    ck_assert_int_eq(ashlar_tensormap_cache_query(cache, &read), ASHLAR_OK);
    return read;
}

static const void *get(const struct ashlar_spec *spec)
{
    const void *map = NULL;

    ck_assert_msg(ashlar_tensormap_cache_get(cache, spec, 0, &map) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    ck_assert(encode_is(map, spec));
    return map;
}

static void put(const void *map)
{
    ck_assert_msg(ashlar_tensormap_cache_put(cache, map) == ASHLAR_OK, "%s",
                  ashlar_last_error_message());
}

/* Get the ith spec, and hold it no longer. */
static const void *touch(uint64_t i)
{
    struct ashlar_spec spec = encode_spec(i);
    const void *map = get(&spec);

    put(map);
    return map;
}

static bool is_there(uint64_t i)
{
    uint64_t before = encoder.encodes;

    (void)touch(i);
    return encoder.encodes == before;
}

/* --- get and put ---------------------------------------------------------- */

START_TEST(a_spec_is_encoded_once)
{
    struct ashlar_spec spec = encode_spec(1);
    const void *map = get(&spec);
    int i;

    ck_assert_uint_eq((uintptr_t)map % 128, 0);
    for (i = 0; i < 10; i++) {
        ck_assert_ptr_eq(get(&spec), map);
        put(map);
    }
    put(map);
    ck_assert_uint_eq(encoder.encodes, 1);
    ck_assert_uint_eq(stats().hits, 10);
    ck_assert_uint_eq(stats().misses, 1);
    ck_assert_uint_eq(stats().maps, 1);
    ck_assert_uint_eq(stats().held, 0);
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
    put(get(&spec));
    encoder.encodes = 0;
    ck_assert_uint_eq(encoder.encodes, 0);
    {
        const void *map = NULL;

        ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &other, 0, &map),
                         ASHLAR_OK);
        ck_assert(encode_is(map, &spec));
        put(map);
    }
    ck_assert_uint_eq(encoder.encodes, 0);
}
END_TEST

/* Specs 0 to 7 from a cache that may expect another order by now. */
static void touch_as_listed(const unsigned *order, const void *const *maps)
{
    unsigned i;

    for (i = 0; i < 8; i++)
        ck_assert_ptr_eq(touch(order[i]), maps[order[i]]);
}

START_TEST(maps_are_found_in_the_usual_order_and_in_any_other)
{
    static const unsigned usual[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    static const unsigned other[8] = {7, 6, 6, 0, 1, 2, 4, 3};
    const void *maps[8];
    unsigned i;

    for (i = 0; i < 8; i++)
        maps[i] = touch(i);
    for (i = 0; i < 3; i++) {
        touch_as_listed(usual, maps);
        touch_as_listed(usual, maps);
        touch_as_listed(other, maps);
    }
    ck_assert_uint_eq(encoder.encodes, 8);
    ck_assert_uint_eq(stats().hits, 72);
}
END_TEST

/* With the last slot in use, the first is next again. */
START_TEST(the_usual_order_may_go_around_all_slots)
{
    unsigned i;

    for (i = 0; i < 4 * SLOTS; i++)
        ck_assert(is_there(i % SLOTS) == (i >= SLOTS));
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
    put(one);
    put(two);
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
    ck_assert_uint_eq(stats().maps, 0);
    ck_assert_uint_eq(stats().refusals, 2);
    spec = encode_spec(1);
    put(get(&spec));
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
        (void)touch(i);
    ck_assert_uint_eq(stats().evictions, 0);
}
END_TEST

START_TEST(a_wrong_put_is_refused)
{
    struct ashlar_spec spec = encode_spec(1);
    const char *map = get(&spec);
    char elsewhere[8];

    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, elsewhere),
                     ASHLAR_ERR_WRONG_OWNER);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, map + 64),
                     ASHLAR_ERR_MISALIGNED);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, map + 128),
                     ASHLAR_ERR_NOT_LIVE);
    put(map);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, map),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert(is_there(1));
}
END_TEST

/* --- eviction ------------------------------------------------------------- */

/* A cache of fixed size serves any number of addresses. */
START_TEST(there_are_never_more_maps_than_slots)
{
    uint64_t i;

    for (i = 0; i < 20 * SLOTS; i++) {
        (void)touch(i);
        ck_assert_uint_le(stats().maps, SLOTS);
    }
    ck_assert_uint_eq(stats().maps, SLOTS);
    ck_assert_uint_eq(stats().evictions, 19 * SLOTS);
}
END_TEST

START_TEST(what_is_held_is_never_evicted)
{
    struct ashlar_spec spec = encode_spec(7);
    const void *held = get(&spec);
    uint64_t i;

    for (i = 100; i < 100 + 20 * SLOTS; i++)
        ck_assert_ptr_ne(touch(i), held);
    ck_assert(encode_is(held, &spec));
    put(held);
    ck_assert(is_there(7));
}
END_TEST

START_TEST(what_was_asked_for_lately_outlives_what_was_not)
{
    uint64_t i, round, kept = 0;

    for (i = 0; i < SLOTS; i++)
        (void)touch(i);
    /* The first eviction finds all used, and forgets it. */
    (void)touch(1000);
    for (round = 1; round < SLOTS / 2; round++) {
        (void)touch(SLOTS - 1);
        (void)touch(1000 + round);
    }
    kept = encoder.encodes;
    (void)touch(SLOTS - 1);
    ck_assert_uint_eq(encoder.encodes, kept);
}
END_TEST

START_TEST(when_all_are_held_the_limit_is_told)
{
    const void *maps[SLOTS], *map = NULL;
    struct ashlar_spec spec;
    uint64_t i;

    for (i = 0; i < SLOTS; i++) {
        spec = encode_spec(i);
        maps[i] = get(&spec);
    }
    spec = encode_spec(SLOTS);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                     ASHLAR_ERR_LIMIT);
    ck_assert_ptr_null(map);
    ck_assert_uint_eq(stats().held, SLOTS);
    spec = encode_spec(3);
    ck_assert_ptr_eq(get(&spec), maps[3]);
    put(maps[3]);
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_ERR_BUSY);
    put(maps[5]);
    spec = encode_spec(SLOTS);
    ck_assert_ptr_eq(get(&spec), maps[5]);
    for (i = 0; i < SLOTS; i++)
        put(maps[i]);
}
END_TEST

START_TEST(a_cache_of_one_slot_works)
{
    struct ashlar_tensormap_cache *of_sixteen = cache;
    uint64_t i;

    cache = cache_of(1);
    for (i = 0; i < 10; i++) {
        (void)touch(i);
        ck_assert(is_there(i));
    }
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_OK);
    cache = of_sixteen;
}
END_TEST

/* --- invalidation --------------------------------------------------------- */

/* Spec i lies at base + 4096 * i, and is 2 MiB long. */
#define BASE  UINT64_C(0x7f0000000000)
#define BYTES (UINT64_C(2) << 20)

START_TEST(tensors_that_touch_a_freed_stretch_are_forgotten)
{
    static const struct {
        uint64_t address;
        uint64_t bytes;
        bool forgotten;
    } stretches[] = {
        {BASE, 0, false},
        {BASE - 4096, 4096, false},
        {BASE - 4096, 4097, true},
        {BASE, 1, true},
        {BASE + BYTES - 1, 1, true},
        {BASE + BYTES, 4096, false},
        {0, UINT64_MAX, true},
    };
    size_t dropped = 77;

    (void)touch(0);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, stretches[_i].address,
                                          stretches[_i].bytes, &dropped),
        ASHLAR_OK);
    ck_assert_uint_eq(dropped, stretches[_i].forgotten);
    ck_assert_uint_eq(stats().invalidations, stretches[_i].forgotten);
    ck_assert(is_there(0) == !stretches[_i].forgotten);
}
END_TEST

/* The address is another buffer's then, perhaps of the same shape. */
START_TEST(what_is_expected_next_and_forgotten_is_encoded_anew)
{
    struct ashlar_spec spec = encode_spec(2);
    unsigned i;

    for (i = 0; i < 12; i++)
        (void)touch(i % 4);
    (void)touch(0);
    (void)touch(1);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, spec.address, 1, NULL),
        ASHLAR_OK);
    ck_assert(!is_there(2));
    ck_assert(is_there(3));
}
END_TEST

/* So that maps that are asked for one after another lie side by side again. */
START_TEST(slots_of_forgotten_maps_are_taken_from_the_first_on)
{
    const void *maps[8];
    unsigned i;

    for (i = 0; i < 8; i++)
        maps[i] = touch(i);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, 0, UINT64_MAX, NULL),
        ASHLAR_OK);
    for (i = 0; i < 8; i++)
        ck_assert_ptr_eq(touch(100 + i), maps[i]);
}
END_TEST

START_TEST(what_is_forgotten_while_held_stays_until_it_is_put)
{
    struct ashlar_spec spec = encode_spec(0);
    const void *held = get(&spec), *fresh;

    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, BASE, BYTES, NULL), ASHLAR_OK);
    ck_assert(encode_is(held, &spec));
    fresh = get(&spec);
    ck_assert_ptr_ne(fresh, held);
    ck_assert_uint_eq(encoder.encodes, 2);
    put(held);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, held),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert_uint_eq(stats().maps, 1);
    put(fresh);
    ck_assert(is_there(0));
}
END_TEST

static void invalidate_all(void)
{
    encoder.during = NULL;
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, 0, UINT64_MAX, NULL),
        ASHLAR_OK);
}

START_TEST(what_is_forgotten_while_it_is_encoded_serves_that_get_alone)
{
    struct ashlar_spec spec = encode_spec(0);
    const void *map;

    encoder.during = invalidate_all;
    map = get(&spec);
    ck_assert_uint_eq(stats().invalidations, 1);
    ck_assert(!is_there(0));
    put(map);
    ck_assert_uint_eq(stats().maps, 1);
    encoder.during = invalidate_all;
    encoder.fail_at = 1;
    encoder.fail_with = ASHLAR_ERR_DRIVER;
    spec = encode_spec(1);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                     ASHLAR_ERR_DRIVER);
    ck_assert_uint_eq(stats().maps, 0);
}
END_TEST

START_TEST(a_stretch_beyond_the_last_address_is_refused)
{
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, UINT64_MAX, 2, NULL),
        ASHLAR_ERR_INVALID);
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
    (void)touch(3);
    ck_assert(is_there(3));
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
    (void)touch(1);
    stress_child(use_it_in_the_child, NULL);
    stress_verdict();
    ck_assert(is_there(1));
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
    ck_assert_uint_eq(stats().misses, 1);
    ck_assert_uint_eq(stats().hits, THREADS - 1);
    for (i = 0; i < THREADS; i++) {
        ck_assert_ptr_eq(theirs[i], theirs[0]);
        put(theirs[i]);
    }
    ck_assert_uint_eq(stats().held, 0);
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
    ck_assert_uint_eq(stats().maps, 0);
    ck_assert_uint_eq(stats().refusals, THREADS);
}
END_TEST

static Suite *map_cache_suite(void)
{
    Suite *suite = suite_create("map_cache");
    TCase *basic = tcase_create("get and put"),
          *eviction = tcase_create("eviction"),
          *invalidation = tcase_create("invalidation"),
          *rest = tcase_create("arguments, memory, fork"),
          *threads = tcase_create("threads");

    tcase_add_checked_fixture(basic, setup, teardown);
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
    tcase_add_checked_fixture(eviction, setup, teardown);
    tcase_add_test(eviction, there_are_never_more_maps_than_slots);
    tcase_add_test(eviction, what_is_held_is_never_evicted);
    tcase_add_test(eviction, what_was_asked_for_lately_outlives_what_was_not);
    tcase_add_test(eviction, when_all_are_held_the_limit_is_told);
    tcase_add_test(eviction, a_cache_of_one_slot_works);
    suite_add_tcase(suite, eviction);
    tcase_add_checked_fixture(invalidation, setup, teardown);
    tcase_add_loop_test(invalidation,
                        tensors_that_touch_a_freed_stretch_are_forgotten, 0, 7);
    tcase_add_test(invalidation,
                   what_is_expected_next_and_forgotten_is_encoded_anew);
    tcase_add_test(invalidation,
                   slots_of_forgotten_maps_are_taken_from_the_first_on);
    tcase_add_test(invalidation,
                   what_is_forgotten_while_held_stays_until_it_is_put);
    tcase_add_test(invalidation,
                   what_is_forgotten_while_it_is_encoded_serves_that_get_alone);
    tcase_add_test(invalidation, a_stretch_beyond_the_last_address_is_refused);
    suite_add_tcase(suite, invalidation);
    tcase_add_checked_fixture(rest, setup, teardown);
    tcase_add_test(rest, null_is_refused_everywhere);
    tcase_add_test(rest, options_are_checked);
    tcase_add_loop_test(rest, a_failing_allocation_at_any_place_makes_no_cache,
                        0, 2);
    tcase_add_test(rest, a_get_needs_no_memory);
    tcase_add_test(rest, in_a_child_of_fork_it_is_the_parents);
    suite_add_tcase(suite, rest);
    tcase_add_checked_fixture(threads, setup, teardown);
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
