/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Threads get, hold and put maps of more specs than there are slots, while
 * stretches of addresses are invalidated and the encoder fails now and then. A
 * map is what its spec says for as long as it is held.
 */
#include "config.h"

#include <ashlar.h>

#include "support/encode_source.h"
#include "support/stress.h"

#include <string.h>

#define THREADS 8
#define HELD    6 /* by each thread */

struct load {
    struct ashlar_tensormap_cache *cache;
    size_t slots;
    uint64_t specs;
    size_t steps;
    uint64_t round;
    uint64_t gets;     /* atomic */
    uint64_t refusals; /* atomic */
};

struct hand {
    const void *map; /* NULL: empty */
    struct ashlar_spec spec;
};

static bool put(struct load *load, struct hand *hand)
{
    bool good = STRESS_EXPECT(encode_is(hand->map, &hand->spec),
                              "a map changed while it was held") &&
                STRESS_EXPECT(ashlar_tensormap_cache_put(
                                  load->cache, hand->map) == ASHLAR_OK,
                              "%s", ashlar_last_error_message());

    hand->map = NULL;
    return good;
}

/* All slots may be held, where there are hands for as many, and the encoder may
 * fail: nothing else. */
static bool get(struct load *load, struct stress_random *random,
                struct hand *hand)
{
    enum ashlar_status status;

    hand->spec = encode_spec(stress_below(random, load->specs));
    __atomic_fetch_add(&load->gets, 1, __ATOMIC_RELAXED);
    status =
        ashlar_tensormap_cache_get(load->cache, &hand->spec, 0, &hand->map);
    if (status == ASHLAR_OK)
        return STRESS_EXPECT(encode_is(hand->map, &hand->spec),
                             "a get gave another spec's map");
    hand->map = NULL;
    __atomic_fetch_add(&load->refusals, 1, __ATOMIC_RELAXED);
    return STRESS_EXPECT(
        (status == ASHLAR_ERR_LIMIT && load->slots < THREADS * HELD) ||
            status == ASHLAR_ERR_CONTEXT_FAILED,
        "%s", ashlar_last_error_message());
}

static bool invalidate(struct load *load, struct stress_random *random)
{
    uint64_t i = stress_below(random, load->specs);

    return STRESS_EXPECT(
        ashlar_tensormap_cache_invalidate(load->cache, encode_spec(i).address,
                                          8192, NULL) == ASHLAR_OK,
        "%s", ashlar_last_error_message());
}

static void work(unsigned number, void *user)
{
    struct load *load = user;
    struct stress_random random = stress_stream(load->round * THREADS + number);
    struct hand hands[HELD] = {{NULL, ASHLAR_SPEC_INIT}};
    bool good = true;
    size_t i;

    memset(hands, 0, sizeof(hands));
    for (i = 0; i < load->steps && good && !stress_failed(); i++) {
        struct hand *hand = &hands[stress_below(&random, HELD)];

        if (stress_chance(&random, 500))
            good = invalidate(load, &random);
        else if (stress_chance(&random, 300))
            __atomic_store_n(&encoder.fail_at, 1, __ATOMIC_RELAXED);
        else
            good =
                hand->map != NULL ? put(load, hand) : get(load, &random, hand);
    }
    for (i = 0; i < HELD; i++)
        if (hands[i].map != NULL)
            (void)put(load, &hands[i]);
}

/* Slots, and specs that are asked for: few and many of each. */
static const struct {
    size_t slots;
    uint64_t specs;
} loads[] = {{64, 48}, {64, 1000}, {16, 64}, {1024, 4000}, {1, 3}};

START_TEST(a_map_is_its_specs_while_it_is_held)
{
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    struct ashlar_tensormap_cache_stats stats =
        ASHLAR_TENSORMAP_CACHE_STATS_INIT;
    struct load load = {.slots = loads[_i].slots,
                        .specs = loads[_i].specs,
                        .steps = stress_count(20000, 200000)};

    options.slots = loads[_i].slots;
    encoder.fail_with = ASHLAR_ERR_CONTEXT_FAILED;
    ck_assert_int_eq(
        ashlar_tensormap_cache_create(&encode_source, &options, &load.cache),
        ASHLAR_OK);
    do {
        stress_threads(THREADS, work, &load);
        load.round++;
    } while (stress_goes_on() && !stress_failed());
    stress_verdict();
    ck_assert_int_eq(ashlar_tensormap_cache_query(load.cache, &stats),
                     ASHLAR_OK);
    ck_assert_uint_eq(stats.held, 0);
    ck_assert_uint_le(stats.maps, options.slots);
    ck_assert_uint_eq(stats.refusals, load.refusals);
    ck_assert_uint_eq(stats.misses, encoder.encodes);
    ck_assert_uint_ge(stats.hits + stats.misses + stats.refusals, load.gets);
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(load.cache), ASHLAR_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_map_cache");
    TCase *tcase = tcase_create("threads");

    stress_begin();
    tcase_add_loop_test(tcase, a_map_is_its_specs_while_it_is_held, 0,
                        sizeof(loads) / sizeof(loads[0]));
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
