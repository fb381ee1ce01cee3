/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Caches against a model that knows where every slot is.
 */
#include "config.h"

#include "pool/cache.h"

#include "support/pools.h"

#include <stdlib.h>
#include <string.h>

#include "pool/attach.h"
#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/state.h"

#define CACHES  3
#define BULK    400
#define MAX     3000
#define CALLERS UINT32_MAX

static struct ashlar_pool *pool;
static struct ashlar_cache *caches[CACHES];
static void *live[MAX]; /* in the order of getting */
static size_t live_count;
static uint32_t *places; /* per slot: which extent it was met in; 0: none */

static const struct setting {
    size_t cache_slots[CACHES];
    size_t max_slots;
    uint32_t flags;
} settings[] = {
    {{64, 64, 64}, 0, 0},      {{1, 2, 3}, 0, 0},
    {{512, 7, 1}, 0, 0},       {{64, 64, 64}, MAX, 0},
    {{64, 300, 300}, 2200, 0}, {{64, 9, 64}, 0, ASHLAR_POOL_UNCHECKED},
    {{512, 512, 512}, MAX, 0},
};

#define SETTINGS ((int)(sizeof(settings) / sizeof(settings[0])))

static void start(int number)
{
    const struct setting *setting = &settings[number];
    struct ashlar_pool_options options = pools_options(
        0, setting->max_slots, ASHLAR_POOL_CACHE_NONE, setting->flags);
    size_t i;

    pool = pools_make(pools_type(128, 128), &options);
    for (i = 0; i < CACHES; i++)
        REQUIRE(ashlar_cache_open(pool, setting->cache_slots[i],
                                  ASHLAR_CACHE_LAYOUT,
                                  &caches[i]) == ASHLAR_OK);
    live_count = 0;
}

static void end(void)
{
    size_t i;

    REQUIRE(ashlar_pool_put_bulk(pool, live, live_count, NULL) == ASHLAR_OK);
    for (i = 0; i < CACHES; i++)
        REQUIRE(ashlar_cache_close(caches[i]) == ASHLAR_OK);
    REQUIRE(pools_stats(pool).free_slots == pools_stats(pool).capacity_slots);
    pools_end(pool);
}

/* --- where every slot is -------------------------------------------------- */

/*
 * A slot is met in one place only, and its state says which kind; one that was
 * marked ahead leaves that to the windows.
 */
static void meet(struct slab *slab, uint32_t index, uint32_t place, bool ahead)
{
    struct ahead_known known = {NULL, 0, 0, 0};
    uint32_t *at = &places[slab->first + index];

    REQUIRE(*at == 0);
    *at = place;
    if (slab->state == NULL)
        return;
    REQUIRE(ahead_is_live(pool, &known, slab, index) == (place == CALLERS));
    if (place != CALLERS)
        REQUIRE(state_get(&slab->state[index]) ==
                (ahead ? SLOT_AHEAD : SLOT_FREE));
}

static uint64_t meet_extent(const struct extent *extent, uint32_t place,
                            bool ahead)
{
    uint32_t i;

    REQUIRE(extent->begin < extent->end);
    REQUIRE(extent->end <= extent->slab->count);
    for (i = extent->begin; i < extent->end; i++)
        meet(extent->slab, i, place, ahead);
    return extent->end - extent->begin;
}

/* The invariants that cache.h and ahead.h state. */
static void check_cache(struct cache *cache, uint32_t place)
{
    const struct ashlar_cache *window = &cache->window;
    bool ahead = cache->ahead.slab != NULL;
    uint64_t kept = 0;
    uint64_t spare;
    uint32_t i;

    for (i = 0; i < cache->depth; i++)
        kept += meet_extent(&cache->stack[i], place, false);
    REQUIRE(cache->spilled == kept);
    if (window->begin != window->end) {
        struct extent extent = {cache->slab, window->begin, window->end};

        REQUIRE(window->base == cache->slab->base);
        REQUIRE(window->state == (ahead ? NULL : cache->slab->state));
        kept += meet_extent(&extent, place, ahead);
    }
    REQUIRE(cache_kept(cache) == kept && kept <= cache->limit);
    REQUIRE(cache->depth <= cache->limit);
    spare = cache->limit - kept;
    if (ahead)
        REQUIRE(window->floor == window->end);
    else
        REQUIRE(window->floor ==
                (window->begin > spare ? window->begin - spare : 0));
}

static void check_everything(void)
{
    uint64_t capacity = pool_capacity(pool);
    uint64_t i;

    places = realloc(places, (capacity + 1) * sizeof(*places));
    REQUIRE(places != NULL);
    memset(places, 0, (capacity + 1) * sizeof(*places));
    for (i = 0; i < CACHES; i++)
        check_cache(cache_of(caches[i]), (uint32_t)i + 1);
    for (i = 0; i < live_count; i++) {
        struct slab *slab = slab_map_find(pool->map, (uintptr_t)live[i]);
        size_t offset = (uintptr_t)live[i] - (uintptr_t)slab->base;

        REQUIRE(offset % 128 == 0);
        meet(slab, (uint32_t)(offset / 128), CALLERS, false);
    }
    for (i = 0; i < capacity; i++) {
        struct slab *slab = slab_map_at(pool->map, i);
        uint32_t index = (uint32_t)(i - slab->first);
        bool stored = (slab->free[index / 64] >> index % 64 & 1) != 0;

        REQUIRE(stored == (places[i] == 0));
    }
    REQUIRE(pools_stats(pool).live_slots == live_count);
    REQUIRE(pool->max_slots >= capacity);
}

/* --- steps ---------------------------------------------------------------- */

static size_t bulk_size(struct dice *dice)
{
    static const size_t most[] = {3, 20, 70, BULK};

    return dice_below(dice, most[dice_below(dice, 4)] + 1);
}

static void step_get(struct ashlar_cache *cache)
{
    void *slot;

    if (live_count == MAX)
        return;
    slot = ashlar_cache_get(cache);
    if (slot != NULL)
        live[live_count++] = slot;
    else
        REQUIRE(ashlar_last_error() == ASHLAR_ERR_LIMIT);
}

static void step_get_bulk(struct dice *dice, struct ashlar_cache *cache)
{
    size_t n = bulk_size(dice);
    enum ashlar_status status;

    if (n > MAX - live_count)
        n = MAX - live_count;
    status = cache == NULL ? ashlar_pool_get_bulk(pool, live + live_count, n)
                           : ashlar_cache_get_bulk(cache, live + live_count, n);
    if (status == ASHLAR_OK)
        live_count += n;
    else
        REQUIRE(status == ASHLAR_ERR_LIMIT && pool->max_slots < 4000);
}

static void step_get_some(struct dice *dice, struct ashlar_cache *cache)
{
    size_t n = bulk_size(dice);

    if (n > MAX - live_count)
        n = MAX - live_count;
    live_count += cache_get_some(pool, cache == NULL ? NULL : cache_of(cache),
                                 live + live_count, n);
}

/* The last slots got, which a cache knows as neighbours, or any. */
static void choose(struct dice *dice, size_t n)
{
    size_t i;

    for (i = 0; i < n && dice_below(dice, 3) == 0; i++) {
        size_t j = dice_below(dice, live_count);
        void *kept = live[j];

        live[j] = live[live_count - 1 - i];
        live[live_count - 1 - i] = kept;
    }
}

static void step_put(struct dice *dice, struct ashlar_cache *cache)
{
    if (live_count == 0)
        return;
    choose(dice, 1);
    REQUIRE(ashlar_cache_put(cache, live[--live_count]) == ASHLAR_OK);
}

static void step_put_bulk(struct dice *dice, struct ashlar_cache *cache)
{
    size_t n = bulk_size(dice);
    enum ashlar_status status;

    if (n > live_count)
        n = live_count;
    choose(dice, n);
    live_count -= n;
    status = cache == NULL
                 ? ashlar_pool_put_bulk(pool, live + live_count, n, NULL)
                 : ashlar_cache_put_bulk(cache, live + live_count, n, NULL);
    REQUIRE(status == ASHLAR_OK);
}

static void step(struct dice *dice)
{
    struct ashlar_cache *cache = caches[dice_below(dice, CACHES)];
    struct ashlar_cache *or_none = dice_below(dice, 4) == 0 ? NULL : cache;
    unsigned i;

    switch (dice_below(dice, 8)) {
    case 0:
        step_get_bulk(dice, or_none);
        break;
    case 1:
        step_get_some(dice, or_none);
        break;
    case 2:
    case 3:
        step_put_bulk(dice, or_none);
        break;
    case 4:
    case 5:
        for (i = 0; i < 10; i++)
            step_get(cache);
        break;
    default:
        for (i = 0; i < 10; i++)
            step_put(dice, cache);
        break;
    }
}

START_TEST(every_slot_is_in_one_place_after_every_step)
{
    struct dice dice = dice_from((uint64_t)_i);
    unsigned steps = 1400 / (1 + pools_pace());

    start(_i % SETTINGS);
    while (steps-- != 0) {
        step(&dice);
        check_everything();
    }
    end();
}
END_TEST

/* --- the window ----------------------------------------------------------- */

START_TEST(puts_in_reverse_order_are_inline_and_give_the_same_slots_again)
{
    void *slots[16];
    void *again;
    uint32_t begin;
    size_t i;

    start(0);
    for (i = 0; i < 16; i++)
        slots[i] = ashlar_cache_get(caches[0]);
    begin = caches[0]->begin;
    for (i = 16; i-- > 0;) {
        REQUIRE(ashlar_cache_put(caches[0], slots[i]) == ASHLAR_OK);
        REQUIRE(caches[0]->begin == --begin);
    }
    for (i = 0; i < 16; i++) {
        again = ashlar_cache_get(caches[0]);
        REQUIRE(again == slots[i]);
        live[live_count++] = again;
    }
    check_everything();
    end();
}
END_TEST

START_TEST(a_cache_takes_half_of_its_size_at_once)
{
    start(0);
    live[live_count++] = ashlar_cache_get(caches[0]);
    ck_assert_uint_eq(cache_kept(cache_of(caches[0])), 31);
    ck_assert_uint_eq(pools_stats(pool).store_takes, 2); /* one found nothing */
    while (live_count < 32)
        live[live_count++] = ashlar_cache_get(caches[0]);
    ck_assert_uint_eq(pools_stats(pool).store_takes, 2);
    check_everything();
    end();
}
END_TEST

START_TEST(a_full_cache_gives_half_of_it_back_at_once)
{
    size_t i;
    uint64_t gives;

    start(0);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, live, 200), ASHLAR_OK);
    live_count = 200;
    gives = pools_stats(pool).store_gives;
    /* Every second slot, so that no two are neighbours. */
    for (i = 0; i < 200; i += 2)
        REQUIRE(ashlar_cache_put(caches[0], live[i]) == ASHLAR_OK);
    for (i = 0; i < 100; i++)
        live[i] = live[2 * i + 1];
    live_count = 100;
    check_everything();
    gives = pools_stats(pool).store_gives - gives;
    ck_assert_uint_ge(cache_kept(cache_of(caches[0])), 32);
    ck_assert_uint_le(gives, 2);
    end();
}
END_TEST

/* --- all or nothing ------------------------------------------------------- */

START_TEST(a_bulk_beyond_max_slots_gives_nothing_and_changes_nothing)
{
    struct snapshot before;
    void *out[MAX + 1];
    size_t n;

    start(3 + _i % 2);
    live[live_count++] = ashlar_cache_get(caches[0]);
    /* What a refused call may have grown by then is there already. */
    ck_assert_int_eq(grow_singles_to(pool, pool->max_slots), ASHLAR_OK);
    before = snapshot_take(pool);
    for (n = pool->max_slots; n <= MAX; n += 97) {
        REQUIRE(ashlar_cache_get_bulk(caches[0], out, n) == ASHLAR_ERR_LIMIT);
        REQUIRE(snapshot_differs(&before, pool) == NULL);
        REQUIRE(ashlar_pool_get_bulk(pool, out, n) == ASHLAR_ERR_LIMIT);
        REQUIRE(snapshot_differs(&before, pool) == NULL);
    }
    check_everything();
    snapshot_free(&before);
    end();
}
END_TEST

START_TEST(up_to_n_gives_what_there_is)
{
    void *out[MAX + 1];
    size_t got;

    start(3);
    got = cache_get_some(pool, cache_of(caches[0]), out, MAX + 1);
    ck_assert_uint_eq(got, MAX);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(pools_stats(pool).live_slots, MAX);
    ck_assert_uint_eq(cache_get_some(pool, cache_of(caches[1]), out, 1), 0);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, out, MAX, NULL), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 0);
    end();
}
END_TEST

START_TEST(a_bulk_of_nothing_succeeds)
{
    start(0);
    ck_assert_int_eq(ashlar_cache_get_bulk(caches[0], NULL, 0), ASHLAR_OK);
    ck_assert_int_eq(ashlar_cache_put_bulk(caches[0], NULL, 0, NULL),
                     ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, NULL, 0), ASHLAR_OK);
    ck_assert_uint_eq(cache_get_some(pool, cache_of(caches[0]), NULL, 0), 0);
    ck_assert_uint_eq(cache_get_some(pool, NULL, NULL, 0), 0);
    ck_assert_uint_eq(pools_stats(pool).capacity_slots, 0);
    ck_assert_uint_eq(pools_stats(pool).refusals, 0);
    end();
}
END_TEST

START_TEST(a_bulk_to_nowhere_is_refused)
{
    start(0);
    ck_assert_int_eq(ashlar_cache_get_bulk(caches[0], NULL, 3),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(last_error_number(0), 3);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, NULL, 3), ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(ashlar_pool_get_up_to(pool, NULL, 3), 0);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(pools_stats(pool).refusals, 3);
    end();
}
END_TEST

/* --- keeping less --------------------------------------------------------- */

START_TEST(a_lowered_cache_gives_back_what_it_may_not_keep)
{
    struct cache *cache;
    uint64_t granted;
    uint32_t limit;

    start(0);
    cache = cache_of(caches[0]);
    granted = pool->granted;
    for (limit = 64; limit-- > 0;) {
        void *out[40];

        /* Some stretches, so that the stack has entries. */
        if (limit > 3) {
            REQUIRE(ashlar_cache_get_bulk(caches[0], out, 40) == ASHLAR_OK);
            REQUIRE(ashlar_cache_put_bulk(caches[0], out + 20, 20, NULL) ==
                    ASHLAR_OK);
            REQUIRE(ashlar_cache_put_bulk(caches[0], out, 18, NULL) ==
                    ASHLAR_OK);
            live[live_count++] = out[18];
            live[live_count++] = out[19];
        }
        cache_lower(cache, limit);
        REQUIRE(cache->limit == limit);
        REQUIRE(pool->granted == granted - (64 - limit));
        check_everything();
    }
    cache_lower(cache, 5); /* no way back */
    ck_assert_uint_eq(cache->limit, 0);
    live[live_count++] = ashlar_cache_get(caches[0]);
    check_everything();
    end();
}
END_TEST

static Suite *cache_suite(void)
{
    Suite *suite = suite_create("cache");
    TCase *model = tcase_create("model");
    TCase *window = tcase_create("window");
    TCase *bulk = tcase_create("bulk");

    tcase_add_loop_test(model, every_slot_is_in_one_place_after_every_step, 0,
                        2 * SETTINGS);
    suite_add_tcase(suite, model);
    tcase_add_test(
        window, puts_in_reverse_order_are_inline_and_give_the_same_slots_again);
    tcase_add_test(window, a_cache_takes_half_of_its_size_at_once);
    tcase_add_test(window, a_full_cache_gives_half_of_it_back_at_once);
    tcase_add_test(window, a_lowered_cache_gives_back_what_it_may_not_keep);
    suite_add_tcase(suite, window);
    tcase_add_loop_test(
        bulk, a_bulk_beyond_max_slots_gives_nothing_and_changes_nothing, 0, 2);
    tcase_add_test(bulk, up_to_n_gives_what_there_is);
    tcase_add_test(bulk, a_bulk_of_nothing_succeeds);
    tcase_add_test(bulk, a_bulk_to_nowhere_is_refused);
    suite_add_tcase(suite, bulk);
    return suite;
}

int main(void)
{
    pools_start(POOLS_SOURCE);
    return suite_run(cache_suite());
}
