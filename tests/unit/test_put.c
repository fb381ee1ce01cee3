/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Wrong puts of every kind, one by one and at every place of a batch: each is
 * refused with its reason, and nothing has changed.
 */
#include "config.h"

#include "pool/direct.h"

#include "support/pools.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pool/pool.h"

#define BATCH_MAX 5000
#define KINDS     16

/* The kinds of pools that puts go to. */
static const struct setting {
    size_t bytes;
    size_t alignment;
    size_t cache_slots;
    uint32_t flags;
} settings[] = {
    {128, 128, 0, 0},
    {128, 128, ASHLAR_POOL_CACHE_NONE, 0},
    {20, 4, 16, 0},
    {128, 128, 0, ASHLAR_POOL_UNCHECKED},
    {24, 8, ASHLAR_POOL_CACHE_NONE, ASHLAR_POOL_UNCHECKED},
};

#define SETTINGS ((int)(sizeof(settings) / sizeof(settings[0])))

/* A pointer that must not be put, and what the refusal says. */
struct wrong {
    const char *name;
    void *slot;
    enum ashlar_status status;
};

static struct ashlar_pool *pool;
static struct ashlar_pool *other;
static size_t batch_slots; /* good ones there are */
static void *good[BATCH_MAX];
static void *others_slot;
static void *run;
static void *from_malloc;
static struct wrong wrongs[KINDS];
static unsigned wrong_count;

/* A thread that lives on, with free slots in its cache. */
static struct {
    pthread_t thread;
    pthread_barrier_t barrier;
    void *kept;
} holder;

static void *hold(void *argument)
{
    void *slots[4];

    (void)argument;
    if (ashlar_pool_get_bulk(pool, slots, 4) == ASHLAR_OK)
        holder.kept = slots[2];
    if (ashlar_pool_put_bulk(pool, slots, 4, NULL) != ASHLAR_OK)
        holder.kept = NULL;
    (void)pthread_barrier_wait(&holder.barrier);
    (void)pthread_barrier_wait(&holder.barrier);
    return NULL;
}

static void start_holder(void)
{
    REQUIRE(pthread_barrier_init(&holder.barrier, NULL, 2) == 0);
    REQUIRE(pthread_create(&holder.thread, NULL, hold, NULL) == 0);
    (void)pthread_barrier_wait(&holder.barrier);
    REQUIRE(holder.kept != NULL);
}

static void end_holder(void)
{
    (void)pthread_barrier_wait(&holder.barrier);
    REQUIRE(pthread_join(holder.thread, NULL) == 0);
    REQUIRE(pthread_barrier_destroy(&holder.barrier) == 0);
}

/* A cache that a caller holds; it has got three slots, and put the last. */
static struct ashlar_cache *cache;
static void *through_cache[3];

static void open_cache(void)
{
    size_t i;

    REQUIRE(ashlar_cache_open(pool, 8, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_OK);
    for (i = 0; i < 3; i++)
        through_cache[i] = ashlar_cache_get(cache);
    REQUIRE(ashlar_cache_put(cache, through_cache[2]) == ASHLAR_OK);
}

static void close_cache(void)
{
    REQUIRE(ashlar_cache_put(cache, through_cache[1]) == ASHLAR_OK);
    REQUIRE(ashlar_cache_put(cache, through_cache[0]) == ASHLAR_OK);
    REQUIRE(ashlar_cache_close(cache) == ASHLAR_OK);
}

static void add_wrong(const char *name, void *slot, enum ashlar_status status)
{
    wrongs[wrong_count++] = (struct wrong){name, slot, status};
}

/* Slots that are not live: an unchecked pool takes them. */
static void add_dead_slots(void)
{
    void *dead[3];

    add_wrong("kept by a caller's cache", through_cache[2],
              ASHLAR_ERR_NOT_LIVE);
    REQUIRE(ashlar_pool_get_bulk(pool, dead, 3) == ASHLAR_OK);
    REQUIRE(ashlar_pool_put(pool, dead[0]) == ASHLAR_OK);
    REQUIRE(ashlar_pool_detach(pool) == ASHLAR_OK);
    add_wrong("put and flushed", dead[0], ASHLAR_ERR_NOT_LIVE);
    add_wrong("kept by another thread", holder.kept, ASHLAR_ERR_NOT_LIVE);
    add_wrong("never handed out",
              ashlar_pool_at(pool, pool->map->order[0]->count - 1),
              ASHLAR_ERR_NOT_LIVE);
    REQUIRE(ashlar_pool_put(pool, dead[1]) == ASHLAR_OK);
    add_wrong("put in a bulk", dead[1], ASHLAR_ERR_NOT_LIVE);
    REQUIRE(ashlar_pool_put(pool, dead[2]) == ASHLAR_OK);
    add_wrong("put just now", dead[2], ASHLAR_ERR_NOT_LIVE);
}

static void add_addresses(const struct setting *setting)
{
    static uint64_t in_data;
    const struct slab *slab = pool->map->order[0];
    size_t stride = pool->plan.geometry.stride;
    char *past = slab->base + slab->count * stride;
    char *live = good[0];

    add_wrong("NULL", NULL, ASHLAR_ERR_INVALID);
    add_wrong("malloc's", from_malloc, ASHLAR_ERR_WRONG_OWNER);
    add_wrong("of static data", &in_data, ASHLAR_ERR_WRONG_OWNER);
    add_wrong("another pool's", others_slot, ASHLAR_ERR_WRONG_OWNER);
    add_wrong("a run's second", (char *)run + stride, ASHLAR_ERR_WRONG_OWNER);
    add_wrong("a run's first", run, ASHLAR_ERR_WRONG_OWNER);
    add_wrong("inside a slot", live + setting->bytes / 2,
              ASHLAR_ERR_MISALIGNED);
    add_wrong("at a slot's end", live + stride - 1, ASHLAR_ERR_MISALIGNED);
    if (!ashlar_pool_owns(pool, past))
        add_wrong("past the last slot", past, ASHLAR_ERR_WRONG_OWNER);
}

/* A pool with n slots live, and all that can be put wrongly beside. */
static void set_up(int setting_number, size_t n)
{
    const struct setting *setting = &settings[setting_number];
    const struct ashlar_type *type =
        pools_type(setting->bytes, setting->alignment);
    struct ashlar_pool_options options =
        pools_options(n + 1000, 0, setting->cache_slots, setting->flags);

    batch_slots = n;
    wrong_count = 0;
    from_malloc = malloc(4096);
    pool = pools_make(type, &options);
    other = pools_make(type, NULL);
    others_slot = ashlar_pool_get(other);
    run = ashlar_pool_get_run(pool, 4);
    REQUIRE(from_malloc != NULL && others_slot != NULL && run != NULL);
    REQUIRE(ashlar_pool_get_bulk(pool, good, n) == ASHLAR_OK);
    start_holder();
    open_cache();
    if ((setting->flags & ASHLAR_POOL_UNCHECKED) == 0)
        add_dead_slots();
    add_addresses(setting);
}

/* The good ones can all be put, and then nothing is live. */
static void tear_down(void)
{
    REQUIRE(ashlar_pool_put_bulk(pool, good, batch_slots, NULL) == ASHLAR_OK);
    REQUIRE(ashlar_pool_put_run(pool, run, 4) == ASHLAR_OK);
    REQUIRE(ashlar_pool_put(other, others_slot) == ASHLAR_OK);
    close_cache();
    REQUIRE(pools_stats(pool).live_slots == 0);
    end_holder();
    pools_end(pool);
    pools_end(other);
    free(from_malloc);
}

/* --- what is there, byte for byte ----------------------------------------- */

/* The states and bitmaps of a pool: what a refusal must leave alone. */
struct copy {
    size_t bytes;
    unsigned char *data;
    struct ashlar_pool_stats stats;
};

static size_t state_bytes(const struct slab *slab)
{
    return slab->state == NULL ? 0 : slab->count;
}

static struct copy copy_pool(void)
{
    struct copy copy = {0, NULL, pools_stats(pool)};
    unsigned char *to;
    uint32_t i;

    for (i = 0; i < pool->map->count; i++)
        copy.bytes +=
            state_bytes(pool->map->order[i]) + pool->map->order[i]->words * 8;
    to = copy.data = malloc(copy.bytes);
    REQUIRE(to != NULL);
    for (i = 0; i < pool->map->count; i++) {
        const struct slab *slab = pool->map->order[i];

        if (slab->state != NULL)
            memcpy(to, slab->state, state_bytes(slab));
        to += state_bytes(slab);
        memcpy(to, slab->free, slab->words * 8);
        to += slab->words * 8;
    }
    return copy;
}

static bool same_as(const struct copy *copy)
{
    struct ashlar_pool_stats stats = pools_stats(pool);
    const unsigned char *from = copy->data;
    uint32_t i;

    for (i = 0; i < pool->map->count; i++) {
        const struct slab *slab = pool->map->order[i];

        if (slab->state != NULL &&
            memcmp(from, slab->state, state_bytes(slab)) != 0)
            return false;
        from += state_bytes(slab);
        if (memcmp(from, slab->free, slab->words * 8) != 0)
            return false;
        from += slab->words * 8;
    }
    stats.refusals = copy->stats.refusals;
    return memcmp(&stats, &copy->stats, sizeof(stats)) == 0;
}

/* --- one by one ----------------------------------------------------------- */

static void expect_refused(const struct wrong *wrong, enum ashlar_status status)
{
    if (status != wrong->status)
        ck_abort_msg("a slot %s: %s", wrong->name, ashlar_status_name(status));
    if (!last_error_names(status, wrong->slot))
        ck_abort_msg("a slot %s: \"%s\" does not name %p", wrong->name,
                     ashlar_last_error_message(), wrong->slot);
}

START_TEST(a_wrong_put_is_refused_and_changes_nothing)
{
    struct copy copy;
    unsigned i;

    set_up(_i, 10);
    copy = copy_pool();
    for (i = 0; i < wrong_count; i++) {
        expect_refused(&wrongs[i], ashlar_pool_put(pool, wrongs[i].slot));
        if (!same_as(&copy))
            ck_abort_msg("a slot %s changed the pool", wrongs[i].name);
    }
    ck_assert_uint_eq(pools_stats(pool).refusals,
                      copy.stats.refusals + wrong_count);
    free(copy.data);
    tear_down();
}
END_TEST

START_TEST(a_wrong_put_to_a_callers_cache_is_refused_and_changes_nothing)
{
    struct copy copy;
    unsigned i;

    set_up(_i, 10);
    copy = copy_pool();
    for (i = 0; i < wrong_count; i++) {
        expect_refused(&wrongs[i], ashlar_cache_put(cache, wrongs[i].slot));
        expect_refused(&wrongs[i],
                       ashlar_cache_put_bulk(cache, &wrongs[i].slot, 1, NULL));
        if (!same_as(&copy))
            ck_abort_msg("a slot %s changed the pool", wrongs[i].name);
    }
    free(copy.data);
    tear_down();
}
END_TEST

/* --- in a batch ----------------------------------------------------------- */

static void expect_place(const char *name, size_t place, size_t culprit)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "slots[%zu]", place);
    if (culprit != place)
        ck_abort_msg("a slot %s at %zu: culprit %zu", name, place, culprit);
    if (strstr(ashlar_last_error_message(), text) == NULL)
        ck_abort_msg("a slot %s at %zu: \"%s\"", name, place,
                     ashlar_last_error_message());
}

static void refuse_at(void **batch, size_t n, size_t place,
                      const struct wrong *wrong)
{
    void *kept = batch[place];
    size_t culprit = SIZE_MAX;

    batch[place] = wrong->slot;
    expect_refused(wrong, ashlar_pool_put_bulk(pool, batch, n, &culprit));
    expect_place(wrong->name, place, culprit);
    batch[place] = kept;
}

/* A slot at two places: the second of them is at fault. */
static void refuse_twice(void **batch, size_t n, size_t place, size_t again)
{
    struct wrong twice = {"twice in the batch", NULL, ASHLAR_ERR_NOT_LIVE};
    void *kept = batch[again];
    size_t first = place < again ? place : again;
    size_t second = place < again ? again : place;
    size_t culprit = SIZE_MAX;

    batch[again] = batch[place];
    twice.slot = batch[place];
    expect_refused(&twice, ashlar_pool_put_bulk(pool, batch, n, &culprit));
    expect_place(twice.name, second, culprit);
    expect_place(twice.name, first, first);
    batch[again] = kept;
}

/* At every step-th place; in large batches a few kinds at each, in turn. */
static void refuse_everywhere(void **batch, size_t n, size_t step)
{
    struct copy copy = copy_pool();
    size_t kinds = n < BATCH_MAX ? 1 : 5;
    size_t place, i;

    for (place = 0; place < n; place += step) {
        for (i = place % kinds; i < wrong_count; i += kinds) {
            refuse_at(batch, n, place, &wrongs[i]);
            if (!same_as(&copy))
                ck_abort_msg("a slot %s at %zu of %zu changed the pool",
                             wrongs[i].name, place, n);
        }
        if (n > 1 && pool->checked) {
            refuse_twice(batch, n, place, (place + 1) % n);
            refuse_twice(batch, n, place, (place + 1 + n / 3) % n);
            refuse_twice(batch, n, place, place == n - 1 ? 0 : n - 1);
            if (!same_as(&copy))
                ck_abort_msg("a slot twice in %zu changed the pool", n);
        }
    }
    free(copy.data);
}

static void reverse(void **slots, size_t n)
{
    size_t i;

    for (i = 0; i < n / 2; i++) {
        void *kept = slots[i];

        slots[i] = slots[n - 1 - i];
        slots[n - 1 - i] = kept;
    }
}

static void refuse_in_every_order(int setting_number, size_t n, size_t step)
{
    struct dice dice = dice_from(n);

    set_up(setting_number, n);
    refuse_everywhere(good, n, step);
    if (n < BATCH_MAX) {
        reverse(good, n);
        refuse_everywhere(good, n, step);
    }
    dice_shuffle(&dice, good, n);
    refuse_everywhere(good, n, step);
    tear_down();
}

START_TEST(a_batch_is_refused_for_one_slot_at_any_place)
{
    static const size_t sizes[] = {1, 2, 3, 8, 9, 63, 64, 65, 129, 300};
    size_t step = pools_pace() < 50 ? 1 : 29;
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        refuse_in_every_order(_i, sizes[i], step);
}
END_TEST

START_TEST(a_large_batch_is_refused_for_one_slot_at_any_place)
{
    size_t step = _i == 0 ? 1 : 29;

    refuse_in_every_order(_i, BATCH_MAX, step * pools_pace());
}
END_TEST

START_TEST(the_first_of_several_wrong_slots_is_named)
{
    size_t culprit = SIZE_MAX;
    void *batch[10];

    set_up(0, 10);
    memcpy(batch, good, sizeof(batch));
    batch[3] = from_malloc;
    batch[7] = NULL;
    batch[9] = others_slot;
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, batch, 10, &culprit),
                     ASHLAR_ERR_WRONG_OWNER);
    ck_assert_uint_eq(culprit, 3);
    batch[3] = good[3];
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, batch, 10, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(culprit, 7);
    tear_down();
}
END_TEST

START_TEST(the_culprit_is_written_only_when_a_slot_is_at_fault)
{
    size_t culprit = 77;

    set_up(_i, 10);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, NULL, 10, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_bulk(NULL, good, 10, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, good, 0, &culprit), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, NULL, 0, &culprit), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, good, 5, &culprit), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, good, 5), ASHLAR_OK);
    ck_assert_uint_eq(culprit, 77);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, &from_malloc, 1, NULL),
                     ASHLAR_ERR_WRONG_OWNER);
    tear_down();
}
END_TEST

START_TEST(the_sentence_tells_the_slot_that_an_inner_address_is_in)
{
    char *inside;

    set_up(0, 10);
    inside = (char *)good[5] + 40;
    ck_assert_int_eq(ashlar_pool_put(pool, inside), ASHLAR_ERR_MISALIGNED);
    ck_assert(last_error_names(ASHLAR_ERR_MISALIGNED, inside));
    ck_assert(last_error_names(ASHLAR_ERR_MISALIGNED, good[5]));
    ck_assert(last_error_is(ASHLAR_ERR_MISALIGNED, "40 bytes inside slot"));
    tear_down();
}
END_TEST

/* --- a put that comes after a put, whoever did it ------------------------- */

static void *put_it(void *slot)
{
    return ashlar_pool_put(pool, slot) == ASHLAR_OK ? NULL : pool;
}

static void *put_again(void *slot)
{
    enum ashlar_status *status = slot;
    void **slots = (void **)(void *)(status + 2);

    *status = ashlar_pool_put(pool, *slots);
    return NULL;
}

START_TEST(a_put_after_another_threads_put_is_caught)
{
    struct {
        enum ashlar_status status;
        int padding;
        void *slot;
    } second;
    pthread_t thread;
    void *failed;
    int i;

    set_up(_i, 100);
    for (i = 0; i < 20; i++) {
        REQUIRE(pthread_create(&thread, NULL, put_it, good[i]) == 0);
        REQUIRE(pthread_join(thread, &failed) == 0 && failed == NULL);
        REQUIRE(ashlar_pool_put(pool, good[i]) == ASHLAR_ERR_NOT_LIVE);
        second.slot = good[i];
        in_thread(put_again, &second);
        REQUIRE(second.status == ASHLAR_ERR_NOT_LIVE);
    }
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, good, 20), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).duplicates, 0);
    tear_down();
}
END_TEST

static Suite *put_suite(void)
{
    Suite *suite = suite_create("put");
    TCase *one = tcase_create("one");
    TCase *batch = tcase_create("batch");

    tcase_add_loop_test(one, a_wrong_put_is_refused_and_changes_nothing, 0,
                        SETTINGS);
    tcase_add_loop_test(
        one, a_wrong_put_to_a_callers_cache_is_refused_and_changes_nothing, 0,
        SETTINGS);
    tcase_add_test(one,
                   the_sentence_tells_the_slot_that_an_inner_address_is_in);
    tcase_add_loop_test(one, a_put_after_another_threads_put_is_caught, 0, 3);
    suite_add_tcase(suite, one);
    tcase_add_loop_test(batch, a_batch_is_refused_for_one_slot_at_any_place, 0,
                        SETTINGS);
    tcase_add_loop_test(
        batch, a_large_batch_is_refused_for_one_slot_at_any_place, 0, SETTINGS);
    tcase_add_test(batch, the_first_of_several_wrong_slots_is_named);
    tcase_add_loop_test(batch,
                        the_culprit_is_written_only_when_a_slot_is_at_fault, 0,
                        SETTINGS);
    suite_add_tcase(suite, batch);
    return suite;
}

int main(void)
{
    pools_start(POOLS_SOURCE);
    return suite_run(put_suite());
}
