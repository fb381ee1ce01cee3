/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Which maps a cache keeps, and which it forgets: evicted, or invalidated. */
#include "config.h"

#include "tensormap/map_cache.h"

#include "support/caches.h"
#include "support/encode_source.h"
#include "support/stress.h"
#include "support/suite.h"

#include <unistd.h>

#define SLOTS 16

static void setup(void)
{
    caches_begin(SLOTS);
}

/* --- eviction ------------------------------------------------------------- */

/* A cache of fixed size serves any number of addresses. */
START_TEST(there_are_never_more_maps_than_slots)
{
    uint64_t i;

    for (i = 0; i < 20 * SLOTS; i++) {
        (void)caches_touch(i);
        ck_assert_uint_le(caches_stats().maps, SLOTS);
    }
    ck_assert_uint_eq(caches_stats().maps, SLOTS);
    ck_assert_uint_eq(caches_stats().evictions, 19 * SLOTS);
}
END_TEST

START_TEST(what_is_held_is_never_evicted)
{
    struct ashlar_spec spec = encode_spec(7);
    const void *held = caches_get(&spec);
    uint64_t i;

    for (i = 100; i < 100 + 20 * SLOTS; i++)
        ck_assert_ptr_ne(caches_touch(i), held);
    ck_assert(encode_is(held, &spec));
    caches_put(held);
    ck_assert(caches_has(7));
}
END_TEST

START_TEST(what_was_asked_for_lately_outlives_what_was_not)
{
    uint64_t i, round;

    for (i = 0; i < SLOTS; i++)
        (void)caches_touch(i);
    /* The first eviction finds all used, and forgets it; 1 is the next. */
    (void)caches_touch(1000);
    for (round = 1; round < SLOTS / 2; round++) {
        ck_assert(caches_has(1));
        (void)caches_touch(1000 + round);
    }
    ck_assert(caches_has(1));
    ck_assert(!caches_has(2));
}
END_TEST

START_TEST(when_all_are_held_the_limit_is_told)
{
    const void *maps[SLOTS], *map = NULL;
    struct ashlar_spec spec;
    uint64_t i;

    for (i = 0; i < SLOTS; i++) {
        spec = encode_spec(i);
        maps[i] = caches_get(&spec);
    }
    spec = encode_spec(SLOTS);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                     ASHLAR_ERR_LIMIT);
    ck_assert_ptr_null(map);
    ck_assert_uint_eq(caches_stats().held, SLOTS);
    spec = encode_spec(3);
    ck_assert_ptr_eq(caches_get(&spec), maps[3]);
    caches_put(maps[3]);
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_ERR_BUSY);
    caches_put(maps[5]);
    spec = encode_spec(SLOTS);
    ck_assert_ptr_eq(caches_get(&spec), maps[5]);
    for (i = 0; i < SLOTS; i++)
        caches_put(maps[i]);
}
END_TEST

START_TEST(a_cache_of_one_slot_works)
{
    struct ashlar_tensormap_cache *of_sixteen = cache;
    uint64_t i;

    cache = caches_make(1);
    for (i = 0; i < 10; i++) {
        (void)caches_touch(i);
        ck_assert(caches_has(i));
    }
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_OK);
    cache = of_sixteen;
}
END_TEST

/* --- eviction while others get -------------------------------------------- */

static unsigned arrived;
static int over; /* atomic */

/* Hold one map at a time, and another each time. */
static void use_in_turn(void)
{
    struct ashlar_spec spec;
    const void *map;
    uint64_t i;

    for (i = 0; !__atomic_load_n(&over, __ATOMIC_RELAXED); i++) {
        spec = encode_spec(i % cache->slots);
        if (STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0, &map) ==
                              ASHLAR_OK,
                          "%s", ashlar_last_error_message()))
            STRESS_EXPECT(ashlar_tensormap_cache_put(cache, map) == ASHLAR_OK,
                          "%s", ashlar_last_error_message());
    }
}

static void ask_for_others(void)
{
    uint64_t steps = stress_count(100000, 1000000), i;
    struct ashlar_spec spec;
    const void *map;

    for (i = 0; i < steps && !stress_failed(); i++) {
        spec = encode_spec(1000 + i);
        if (STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0, &map) ==
                              ASHLAR_OK,
                          "get %u of another: %s", (unsigned)i,
                          ashlar_last_error_message()))
            (void)ashlar_tensormap_cache_put(cache, map);
    }
    __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
}

static void use_or_ask(unsigned number, void *user)
{
    (void)user;
    stress_meet(&arrived, 2);
    if (number == 0)
        use_in_turn();
    else
        ask_for_others();
}

/* The clock's hand may find each of them used, or held, when it comes by. */
START_TEST(maps_that_are_used_in_turn_are_not_all_held)
{
    struct ashlar_tensormap_cache *of_sixteen = cache;

    cache = caches_make(3);
    stress_threads(2, use_or_ask, NULL);
    stress_verdict();
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_OK);
    cache = of_sixteen;
}
END_TEST

/* As a get that took a slot, and finds that it needs none. */
static void give_back_or_get(unsigned number, void *user)
{
    struct cache_entry *spare = user;
    struct ashlar_spec spec = encode_spec(1);
    const void *map;

    if (number == 0) {
        usleep(20000);
        cache_give(cache, spare);
        return;
    }
    STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0, &map) ==
                      ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    (void)ashlar_tensormap_cache_put(cache, map);
}

START_TEST(a_slot_that_another_get_gives_back_is_not_held)
{
    struct ashlar_tensormap_cache *of_sixteen = cache;

    cache = caches_make(1);
    stress_threads(2, give_back_or_get, cache_take(cache));
    stress_verdict();
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

    (void)caches_touch(0);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, stretches[_i].address,
                                          stretches[_i].bytes, &dropped),
        ASHLAR_OK);
    ck_assert_uint_eq(dropped, stretches[_i].forgotten);
    ck_assert_uint_eq(caches_stats().invalidations, stretches[_i].forgotten);
    ck_assert(caches_has(0) == !stretches[_i].forgotten);
}
END_TEST

/* Its strides do not tell. */
START_TEST(an_interleaved_tensor_may_end_anywhere)
{
    struct ashlar_spec spec = encode_spec(0);
    size_t dropped = 77;

    spec.rank = 3;
    spec.interleave = ASHLAR_SPEC_INTERLEAVE_16B;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_NONE;
    spec.dims[2] = spec.box[2] = spec.element_strides[2] = 1;
    spec.strides[1] = BYTES;
    caches_put(caches_get(&spec));
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, BASE - 4096, 4096, &dropped),
        ASHLAR_OK);
    ck_assert_uint_eq(dropped, 0);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, BASE + 2 * BYTES, 1, &dropped),
        ASHLAR_OK);
    ck_assert_uint_eq(dropped, 1);
}
END_TEST

/* The address is another buffer's then, perhaps of the same shape. */
START_TEST(what_is_expected_next_and_forgotten_is_encoded_anew)
{
    struct ashlar_spec spec = encode_spec(2);
    unsigned i;

    for (i = 0; i < 12; i++)
        (void)caches_touch(i % 4);
    (void)caches_touch(0);
    (void)caches_touch(1);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, spec.address, 1, NULL),
        ASHLAR_OK);
    ck_assert(!caches_has(2));
    ck_assert(caches_has(3));
}
END_TEST

/* So that maps that are asked for one after another lie side by side again. */
START_TEST(slots_of_forgotten_maps_are_taken_from_the_first_on)
{
    const void *maps[8];
    unsigned i;

    for (i = 0; i < 8; i++)
        maps[i] = caches_touch(i);
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, 0, UINT64_MAX, NULL),
        ASHLAR_OK);
    for (i = 0; i < 8; i++)
        ck_assert_ptr_eq(caches_touch(100 + i), maps[i]);
}
END_TEST

START_TEST(what_is_forgotten_while_held_stays_until_it_is_put)
{
    struct ashlar_spec spec = encode_spec(0);
    const void *held = caches_get(&spec), *fresh;

    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, BASE, BYTES, NULL), ASHLAR_OK);
    ck_assert(encode_is(held, &spec));
    fresh = caches_get(&spec);
    ck_assert_ptr_ne(fresh, held);
    ck_assert_uint_eq(encoder.encodes, 2);
    caches_put(held);
    ck_assert_int_eq(ashlar_tensormap_cache_put(cache, held),
                     ASHLAR_ERR_NOT_LIVE);
    ck_assert_uint_eq(caches_stats().maps, 1);
    caches_put(fresh);
    ck_assert(caches_has(0));
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
    map = caches_get(&spec);
    ck_assert_uint_eq(caches_stats().invalidations, 1);
    ck_assert(!caches_has(0));
    caches_put(map);
    ck_assert_uint_eq(caches_stats().maps, 1);
    encoder.during = invalidate_all;
    encoder.fail_at = 1;
    encoder.fail_with = ASHLAR_ERR_DRIVER;
    spec = encode_spec(1);
    ck_assert_int_eq(ashlar_tensormap_cache_get(cache, &spec, 0, &map),
                     ASHLAR_ERR_DRIVER);
    ck_assert_uint_eq(caches_stats().maps, 0);
}
END_TEST

START_TEST(a_stretch_beyond_the_last_address_is_refused)
{
    ck_assert_int_eq(
        ashlar_tensormap_cache_invalidate(cache, UINT64_MAX, 2, NULL),
        ASHLAR_ERR_INVALID);
}
END_TEST

/* --- the suite ------------------------------------------------------------ */

static Suite *forget_suite(void)
{
    Suite *suite = suite_create("map_cache_forget");
    TCase *eviction = tcase_create("eviction"),
          *invalidation = tcase_create("invalidation");

    tcase_add_checked_fixture(eviction, setup, caches_end);
    tcase_add_test(eviction, there_are_never_more_maps_than_slots);
    tcase_add_test(eviction, what_is_held_is_never_evicted);
    tcase_add_test(eviction, what_was_asked_for_lately_outlives_what_was_not);
    tcase_add_test(eviction, when_all_are_held_the_limit_is_told);
    tcase_add_test(eviction, a_cache_of_one_slot_works);
    tcase_add_test(eviction, maps_that_are_used_in_turn_are_not_all_held);
    tcase_add_test(eviction, a_slot_that_another_get_gives_back_is_not_held);
    suite_add_tcase(suite, eviction);
    tcase_add_checked_fixture(invalidation, setup, caches_end);
    tcase_add_loop_test(invalidation,
                        tensors_that_touch_a_freed_stretch_are_forgotten, 0, 7);
    tcase_add_test(invalidation, an_interleaved_tensor_may_end_anywhere);
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
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(forget_suite());
}
