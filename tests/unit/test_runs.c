/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Runs against a model that knows what every slot belongs to.
 */
#include "config.h"

#include "pool/runs.h"

#include "support/pools.h"
#include "support/stub_source.h"

#include <stdlib.h>
#include <string.h>

#include "pool/pool.h"

#define LENGTH_MAX  600
#define LIVE_MAX    2000
#define SINGLES_MAX 3000
#define STRIDE      16

static struct ashlar_pool *pool;

/* What the model knows. */
static struct {
    struct piece live[LIVE_MAX];
    size_t count;
    size_t slots;
    size_t of_length[LENGTH_MAX + 1];
    size_t promised[LENGTH_MAX + 1]; /* runs that shall exist, live or free */
    void *singles[SINGLES_MAX];
    size_t single_count;
} model;

static void start(size_t max_slots)
{
    struct ashlar_pool_options options =
        pools_options(0, max_slots, ASHLAR_POOL_CACHE_NONE, 0);

    stub_reset();
    memset(&model, 0, sizeof(model));
    options.name = "runs"; /* no digits, for last_error_number() */
    options.source = &stub_source;
    pool = pools_make(pools_type(STRIDE, STRIDE), &options);
}

static void end(void)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
    ck_assert_uint_eq(stub.count, 0);
    ck_assert_msg(stub.wrong == NULL, "%s", stub.wrong);
}

/* --- the records against the model ---------------------------------------- */

/* The lists in which each tag is met; a free run belongs in exactly one. */
static unsigned char *met;

static void meet(uint64_t place, uint32_t low, uint32_t high)
{
    struct slab *slab;

    for (; place != 0; place = slab->tags[(uint32_t)place].link) {
        uint32_t index = (uint32_t)place;

        slab = pool->map->order[place >> 32 & INT32_MAX];
        REQUIRE(slab->kind == SLAB_RUNS && index < slab->count);
        REQUIRE(slab->tags[index].state == RUN_FREE);
        REQUIRE(slab->tags[index].length >= low);
        REQUIRE(slab->tags[index].length <= high);
        REQUIRE(met[slab->first + index]++ == 0);
    }
}

static void check_lists(void)
{
    const struct runs *runs = &pool->runs;
    uint32_t i;

    for (i = 0; i < runs->bin_count; i++) {
        const struct run_bin *bin = &runs->bins[i];

        REQUIRE(i == 0 || runs->bins[i - 1].length < bin->length);
        meet(bin->head, bin->length, bin->length);
        REQUIRE(bin->out == model.of_length[bin->length]);
    }
    for (i = 0; i < RUNS_CLASSES; i++)
        meet(runs->rest[i], (uint32_t)1 << i,
             (uint32_t)((UINT64_C(2) << i) - 1));
}

static const struct piece *find_live(const void *first)
{
    size_t i;

    for (i = 0; i < model.count; i++)
        if (model.live[i].first == first)
            return &model.live[i];
    return NULL;
}

/* The runs of a slab tile it; live ones are the model's, free ones listed. */
static void check_slab(const struct slab *slab, size_t *live, uint64_t *slots)
{
    uint32_t i, j;

    for (i = 0; i < slab->count; i += slab->tags[i].length) {
        const struct run_tag *tag = &slab->tags[i];

        REQUIRE(tag->length != 0 && i + tag->length <= slab->count);
        for (j = i + 1; j < i + tag->length; j++)
            REQUIRE(slab->tags[j].length == 0);
        REQUIRE(met[slab->first + i] == (tag->state == RUN_FREE));
        if (tag->state != RUN_FREE) {
            const struct piece *piece = find_live(slab_slot(slab, STRIDE, i));

            REQUIRE(piece != NULL && piece->n == tag->length);
            ++*live;
        }
    }
    *slots += slab->count;
}

static void check_runs(void)
{
    struct ashlar_pool_stats stats = pools_stats(pool);
    size_t live = 0;
    uint64_t slots = 0;
    uint32_t i;

    met = realloc(met, stats.capacity_slots + 1);
    REQUIRE(met != NULL);
    memset(met, 0, stats.capacity_slots + 1);
    check_lists();
    for (i = 0; pool->map != NULL && i < pool->map->count; i++)
        if (pool->map->order[i]->kind == SLAB_RUNS)
            check_slab(pool->map->order[i], &live, &slots);
    REQUIRE(live == model.count && stats.live_runs == model.count);
    REQUIRE(slots == pool->runs.slots);
    REQUIRE(stats.live_slots == model.slots + model.single_count);
    REQUIRE(stats.capacity_slots <= stats.max_slots);
}

/* --- steps ---------------------------------------------------------------- */

static void expect_no_run(uint64_t longest, uint32_t length)
{
    void *run = ashlar_pool_get_run(pool, length);

    if (run != NULL)
        ck_abort_msg("%lu was said to be the longest run, but %u was had",
                     (unsigned long)longest, (unsigned)length);
}

/* Refused at max_slots: rightly, and with the right number. */
static void check_refusal(uint32_t length)
{
    struct ashlar_pool_stats stats = pools_stats(pool);
    uint64_t left = stats.max_slots - stats.live_slots;
    uint64_t longest;
    void *run;

    if (ashlar_last_error() == ASHLAR_ERR_LIMIT) {
        REQUIRE(left < length && last_error_number(0) == left);
        return;
    }
    REQUIRE(ashlar_last_error() == ASHLAR_ERR_FRAGMENTED && left >= length);
    REQUIRE(last_error_number(0) == left && last_error_number(2) == length);
    longest = last_error_number(3);
    REQUIRE(longest < length);
    if (longest != 0) {
        run = ashlar_pool_get_run(pool, longest);
        if (run == NULL)
            ck_abort_msg("a run of %lu was said to be there: %s",
                         (unsigned long)longest, ashlar_last_error_message());
        REQUIRE(ashlar_pool_put_run(pool, run, longest) == ASHLAR_OK);
    }
    expect_no_run(longest, (uint32_t)longest + 1);
    for (length--; length > longest; length--)
        if (model.promised[length] > model.of_length[length])
            expect_no_run(longest, length);
}

static void add_live(void *run, uint32_t length)
{
    REQUIRE((uintptr_t)run % STRIDE == 0);
    model.live[model.count++] = (struct piece){run, length};
    model.of_length[length]++;
    model.slots += length;
}

static void step_get(uint32_t length)
{
    void *run;

    if (model.count == LIVE_MAX)
        return;
    run = ashlar_pool_get_run(pool, length);
    if (run == NULL)
        check_refusal(length);
    else
        add_live(run, length);
}

static void step_put(struct dice *dice)
{
    struct piece piece;
    size_t i;

    if (model.count == 0)
        return;
    i = dice_below(dice, model.count);
    piece = model.live[i];
    model.live[i] = model.live[--model.count];
    model.of_length[piece.n]--;
    model.slots -= piece.n;
    REQUIRE(ashlar_pool_put_run(pool, piece.first, piece.n) == ASHLAR_OK);
}

static void step_reserve(struct dice *dice, uint32_t length)
{
    uint64_t count = dice_below(dice, 20);
    enum ashlar_status status = ashlar_pool_reserve_runs(pool, length, count);

    if (status == ASHLAR_OK &&
        model.promised[length] < model.of_length[length] + count)
        model.promised[length] = model.of_length[length] + count;
    if (status != ASHLAR_OK)
        REQUIRE(status == ASHLAR_ERR_LIMIT || status == ASHLAR_ERR_FRAGMENTED);
}

static void step_singles(struct dice *dice)
{
    size_t n = dice_below(dice, 200);

    if (dice_below(dice, 2) == 0) {
        n = n < model.single_count ? n : model.single_count;
        model.single_count -= n;
        REQUIRE(ashlar_pool_put_bulk(pool, model.singles + model.single_count,
                                     n, NULL) == ASHLAR_OK);
    } else if (model.single_count + n <= SINGLES_MAX) {
        if (ashlar_pool_get_bulk(pool, model.singles + model.single_count, n) ==
            ASHLAR_OK)
            model.single_count += n;
        else
            REQUIRE(ashlar_last_error() == ASHLAR_ERR_LIMIT);
    }
}

/* What was promised can be had, without a call into the source. */
static void check_promise(uint32_t length)
{
    uint64_t calls = pools_stats(pool).source_calls;
    size_t first = model.count;
    void *run;

    while (model.of_length[length] < model.promised[length] &&
           model.count < LIVE_MAX) {
        run = ashlar_pool_get_run(pool, length);
        if (run == NULL)
            ck_abort_msg("%zu runs of %u were promised, %zu are live: %s",
                         model.promised[length], (unsigned)length,
                         model.of_length[length], ashlar_last_error_message());
        add_live(run, length);
    }
    REQUIRE(pools_stats(pool).source_calls == calls);
    check_runs();
    while (model.count > first) {
        struct piece piece = model.live[--model.count];

        REQUIRE(ashlar_pool_put_run(pool, piece.first, piece.n) == ASHLAR_OK);
        model.of_length[length]--;
        model.slots -= length;
    }
}

static uint32_t random_length(struct dice *dice)
{
    static const uint32_t usual[] = {1, 3, 4, 8, 17, 64, 65};

    if (dice_below(dice, 3) == 0)
        return 1 + (uint32_t)dice_below(dice, LENGTH_MAX);
    return usual[dice_below(dice, sizeof(usual) / sizeof(usual[0]))];
}

static void step(struct dice *dice)
{
    uint32_t length = random_length(dice);

    switch (dice_below(dice, 16)) {
    case 0:
        step_reserve(dice, length);
        break;
    case 1:
        check_promise(length);
        break;
    case 2:
    case 3:
        step_singles(dice);
        break;
    case 4:
        if (dice_below(dice, 10) == 0) {
            REQUIRE(ashlar_pool_trim(pool, NULL) == ASHLAR_OK);
            memset(model.promised, 0, sizeof(model.promised));
        }
        break;
    default:
        if (dice_below(dice, 100) < 55)
            step_get(length);
        else
            step_put(dice);
        break;
    }
}

START_TEST(runs_are_what_the_model_says_after_every_step)
{
    static const size_t limits[] = {0, 5000, 9000, 20000};
    struct dice dice = dice_from((uint64_t)_i);
    unsigned steps = 3000 / (1 + pools_pace());
    uint32_t length;

    start(limits[_i % 4]);
    while (steps-- != 0) {
        step(&dice);
        check_runs();
    }
    for (length = 1; length <= LENGTH_MAX; length++)
        check_promise(length);
    end();
}
END_TEST

/* --- joining -------------------------------------------------------------- */

START_TEST(neighbours_are_joined_when_nothing_else_serves)
{
    void *runs[100];
    uint64_t calls;
    size_t i;

    start(1000);
    for (i = 0; i < 100; i++)
        runs[i] = ashlar_pool_get_run(pool, 10);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 1));
    calls = pools_stats(pool).source_calls;
    for (i = 0; i < 100; i++)
        REQUIRE(ashlar_pool_put_run(pool, runs[(i * 37) % 100], 10) ==
                ASHLAR_OK);
    runs[0] = ashlar_pool_get_run(pool, 1000);
    ck_assert_ptr_nonnull(runs[0]);
    ck_assert_uint_eq(pools_stats(pool).source_calls, calls);
    end();
}
END_TEST

START_TEST(a_run_is_taken_from_its_length_before_it_is_cut)
{
    void *first;
    void *second;

    start(0);
    first = ashlar_pool_get_run(pool, 10);
    second = ashlar_pool_get_run(pool, 20);
    ck_assert_int_eq(ashlar_pool_put_run(pool, first, 10), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_run(pool, second, 20), ASHLAR_OK);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 2);
    ck_assert_ptr_eq(ashlar_pool_get_run(pool, 20), second);
    ck_assert_ptr_eq(ashlar_pool_get_run(pool, 10), first);
    ck_assert_uint_eq(pools_stats(pool).free_runs, 0);
    end();
}
END_TEST

START_TEST(a_promised_run_is_not_joined_for_another_length)
{
    void *runs[50];
    size_t i;

    start(1000);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 10, 50), ASHLAR_OK);
    for (i = 0; i < 50; i++)
        runs[i] = ashlar_pool_get_run(pool, 10);
    for (i = 0; i < 50; i++)
        REQUIRE(ashlar_pool_put_run(pool, runs[i], 10) == ASHLAR_OK);
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 501));
    ck_assert(last_error_is(ASHLAR_ERR_FRAGMENTED, "501"));
    ck_assert_ptr_nonnull(ashlar_pool_get_run(pool, 500));
    for (i = 0; i < 50; i++)
        REQUIRE(ashlar_pool_get_run(pool, 10) != NULL);
    ck_assert_uint_eq(pools_stats(pool).live_slots, 1000);
    end();
}
END_TEST

/* --- the longest run ------------------------------------------------------ */

START_TEST(the_longest_run_may_be_a_slab_of_singles)
{
    void *slots[600];

    start(1200);
    /* Slabs of 600 each, one of them all free. */
    ck_assert_int_eq(ashlar_pool_reserve(pool, 600), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_trim(pool, NULL), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 600), ASHLAR_OK);
    while (pools_stats(pool).capacity_slots < 1200) {
        void *slot = ashlar_pool_get(pool);

        ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_OK);
    }
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 600 + 1));
    check_refusal(600 + 1);
    end();
}
END_TEST

START_TEST(the_longest_run_may_be_a_promised_one)
{
    start(1000);
    ck_assert_int_eq(ashlar_pool_reserve_runs(pool, 400, 2), ASHLAR_OK);
    model.promised[400] = 2;
    ck_assert_ptr_null(ashlar_pool_get_run(pool, 500));
    check_refusal(500);
    end();
}
END_TEST

static Suite *runs_suite(void)
{
    Suite *suite = suite_create("runs");
    TCase *of_model = tcase_create("model");
    TCase *joining = tcase_create("joining");
    TCase *longest = tcase_create("longest");

    tcase_add_loop_test(of_model, runs_are_what_the_model_says_after_every_step,
                        0, 12);
    suite_add_tcase(suite, of_model);
    tcase_add_test(joining, neighbours_are_joined_when_nothing_else_serves);
    tcase_add_test(joining, a_run_is_taken_from_its_length_before_it_is_cut);
    tcase_add_test(joining, a_promised_run_is_not_joined_for_another_length);
    suite_add_tcase(suite, joining);
    tcase_add_test(longest, the_longest_run_may_be_a_slab_of_singles);
    tcase_add_test(longest, the_longest_run_may_be_a_promised_one);
    suite_add_tcase(suite, longest);
    return suite;
}

int main(void)
{
    return suite_run(runs_suite());
}
