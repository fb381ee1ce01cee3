/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Random operations on a pool, against a model of what it must do: no slot
 * twice, no slot lost, sums right. model.h has the model.
 */
#include "config.h"

#include "stress/model.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 5

/* Sizes and alignments, so that strides have any number of trailing zeros. */
static const struct {
    size_t bytes;
    size_t alignment;
} shapes[] = {
    {128, 128}, {1, 1}, {24, 8},      {40, 64},       {3, 1},
    {160, 32},  {8, 8}, {4096, 4096}, {65536, 65536}, {1000, 8},
};

#define SHAPES (sizeof(shapes) / sizeof(*shapes))

/* --- a case --------------------------------------------------------------- */

/* How many slots an actor holds at most: 4 MiB of them. */
static size_t most_of(size_t stride)
{
    size_t most = ((size_t)4 << 20) / stride;

    return most < SINGLES_MAX ? most : SINGLES_MAX;
}

static bool set_up(struct model *model, size_t shape,
                   struct stress_random *random)
{
    static const size_t caches[] = {0, 8, 1, 64, 1000, ASHLAR_POOL_CACHE_NONE};
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    size_t bytes = shapes[shape].bytes;
    size_t most = most_of(bytes);
    unsigned i;

    options.flags = model->plan.flags;
    options.cache_slots = caches[stress_below(random, 6)];
    if (model->plan.limited)
        options.max_slots = 1 + model->plan.actors * most / 2;
    if (!ledger_open(&model->ledger, bytes, shapes[shape].alignment,
                     &options) ||
        !ledger_open(&model->other, bytes, shapes[shape].alignment, NULL))
        return false;
    model->foreign = ashlar_pool_get(model->other.pool);
    for (i = 0; i < model->plan.actors; i++) {
        model->actors[i].model = model;
        model->actors[i].random = stress_stream(stress_next(random));
        model->actors[i].single_most = most;
    }
    model->random = stress_stream(stress_next(random));
    return STRESS_EXPECT(model->foreign != NULL, "%s",
                         ashlar_last_error_message());
}

static void play(unsigned number, void *user)
{
    struct model *model = user;
    size_t round;
    size_t i;

    for (round = 0; round < model->rounds; round++) {
        for (i = 0; i < model->operations && !stress_failed(); i++)
            model_step(&model->actors[number]);
        (void)pthread_barrier_wait(&model->barrier);
        /* The referee counts. */
        (void)pthread_barrier_wait(&model->barrier);
    }
}

/* What was reserved is there, though the actors' caches are not empty. */
static void check_reserve(struct model *model, struct stress_random *random)
{
    struct ashlar_pool *pool = model->ledger.pool;
    size_t n = 1 + stress_below(random, 400);
    size_t got = 0;
    void *slots[400];
    uint64_t calls;

    if (ashlar_pool_reserve(pool, n) != ASHLAR_OK) {
        STRESS_EXPECT(model->plan.limited, "reserve: %s",
                      ashlar_last_error_message());
        return;
    }
    calls = ledger_stats(&model->ledger).source_calls;
    while (got < n / 2 && (slots[got] = ashlar_pool_get(pool)) != NULL)
        got++;
    if (got == n / 2 &&
        ashlar_pool_get_bulk(pool, slots + got, n - got) == ASHLAR_OK)
        got = n;
    STRESS_EXPECT(got == n, "of %zu reserved slots %zu were got: %s", n, got,
                  ashlar_last_error_message());
    STRESS_EXPECT(ledger_stats(&model->ledger).source_calls == calls,
                  "the source was asked, though %zu slots were reserved", n);
    STRESS_EXPECT(ashlar_pool_put_bulk(pool, slots, got, NULL) == ASHLAR_OK,
                  "put: %s", ashlar_last_error_message());
    STRESS_EXPECT(ashlar_pool_detach(pool) == ASHLAR_OK, "detach: %s",
                  ashlar_last_error_message());
}

static void *referee(void *argument)
{
    struct model *model = argument;
    size_t round;

    for (round = 0; round < model->rounds; round++) {
        (void)pthread_barrier_wait(&model->barrier);
        if (!stress_failed() &&
            ledger_balances(&model->ledger, model_live(model)))
            check_reserve(model, &model->random);
        (void)pthread_barrier_wait(&model->barrier);
    }
    return NULL;
}

/* Everything is put back, and then nothing is out. */
static void clear_up(struct model *model)
{
    struct actor *first = &model->actors[0];
    unsigned i;

    for (i = 0; i < model->plan.actors; i++)
        model_clear(&model->actors[i]);
    while (model->mailbox_count != 0 && !stress_failed()) {
        first->singles[first->single_count++] =
            model->mailbox[--model->mailbox_count];
        if (first->single_count == first->single_most ||
            model->mailbox_count == 0)
            model_clear(first);
    }
    (void)ashlar_pool_detach(model->ledger.pool);
    if (stress_failed())
        return;
    ledger_balances(&model->ledger, 0);
    STRESS_EXPECT(ledger_stats(&model->ledger).cached_slots == 0,
                  "slots are cached, but there is no cache");
    ledger_close(&model->ledger, 0);
    STRESS_EXPECT(ashlar_pool_put(model->other.pool, model->foreign) ==
                      ASHLAR_OK,
                  "the foreign slot: %s", ashlar_last_error_message());
    ledger_close(&model->other, 0);
}

/* Actors play, in threads that end before the last round is judged. */
static void play_shape(const struct model_plan *plan, size_t shape,
                       size_t operations, struct stress_random *random)
{
    struct model *model = calloc(1, sizeof(*model));
    pthread_t judge;

    ck_assert_ptr_nonnull(model);
    model->plan = *plan;
    model->rounds = ROUNDS;
    model->operations = operations / plan->actors / ROUNDS + 1;
    (void)pthread_mutex_init(&model->mailbox_lock, NULL);
    (void)pthread_barrier_init(&model->barrier, NULL, plan->actors + 1);
    if (set_up(model, shape, random)) {
        ck_assert_int_eq(pthread_create(&judge, NULL, referee, model), 0);
        stress_threads(plan->actors, play, model);
        ck_assert_int_eq(pthread_join(judge, NULL), 0);
        clear_up(model);
    }
    (void)pthread_barrier_destroy(&model->barrier);
    (void)pthread_mutex_destroy(&model->mailbox_lock);
    free(model);
}

/* So many operations, spread over all shapes. */
static void play_all(const struct model_plan *plan, uint64_t stream)
{
    struct stress_random random = stress_stream(stream);
    size_t operations = stress_count(30000, 1000000) / SHAPES;
    size_t shape;

    for (shape = 0; shape < SHAPES && !stress_failed(); shape++)
        play_shape(plan, shape, operations, &random);
    stress_verdict();
}

/* --- the cases ------------------------------------------------------------ */

#define UNCHECKED ASHLAR_POOL_UNCHECKED

/* Name, actors, flags, limited, plain. */
#define CASES(_)                                                               \
    _(one_thread_without_a_limit, 1, 0, false, false)                          \
    _(one_thread_at_max_slots, 1, 0, true, false)                              \
    _(one_thread_fails_only_beyond_max_slots, 1, 0, true, true)                \
    _(one_thread_unchecked, 1, UNCHECKED, false, false)                        \
    _(one_thread_unchecked_at_max_slots, 1, UNCHECKED, true, false)            \
    _(four_threads_without_a_limit, 4, 0, false, false)                        \
    _(four_threads_at_max_slots, 4, 0, true, false)                            \
    _(four_threads_unchecked, 4, UNCHECKED, false, false)                      \
    _(four_threads_unchecked_at_max_slots, 4, UNCHECKED, true, false)          \
    _(sixteen_threads_without_a_limit, 16, 0, false, false)                    \
    _(sixteen_threads_at_max_slots, 16, 0, true, false)                        \
    _(sixteen_threads_unchecked, 16, UNCHECKED, false, false)                  \
    _(sixteen_threads_unchecked_at_max_slots, 16, UNCHECKED, true, false)

#define PLAN_OF(_name, ...) {__VA_ARGS__},
static const struct model_plan plans[] = {CASES(PLAN_OF)};

#define PLANS (sizeof(plans) / sizeof(*plans))

#define NUMBER_OF(_name, ...) number_of_##_name,
enum { CASES(NUMBER_OF) };

#define TEST_OF(_name, ...)                                                    \
    START_TEST(_name)                                                          \
    {                                                                          \
        play_all(&plans[number_of_##_name], number_of_##_name);                \
    }                                                                          \
    END_TEST

CASES(TEST_OF)

START_TEST(all_of_it_again_until_the_time_is_up)
{
    uint64_t stream = PLANS;

    while (stress_goes_on()) {
        play_all(&plans[stream % PLANS], stream);
        stream++;
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_model");
    TCase *tcase = tcase_create("model");

    stress_begin();
#define ADD(_name, ...) tcase_add_test(tcase, _name);
    CASES(ADD)
    if (stress_full())
        tcase_add_test(tcase, all_of_it_again_until_the_time_is_up);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
