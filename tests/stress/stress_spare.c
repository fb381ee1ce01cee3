/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Runs that threads keep, and that others call in at any moment.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include <ashlar.h>

#include "support/ledger.h"
#include "support/stress.h"

static struct ledger ledger;

static void start(size_t max_slots)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;

    options.max_slots = max_slots;
    if (!ledger_open(&ledger, 128, 128, &options))
        stress_verdict();
}

static void finish(void)
{
    ledger_balances(&ledger, 0);
    ledger_close(&ledger, 0);
    stress_verdict();
}

/* --- called in while they come and go ------------------------------------- */

#define KEEPERS 3
#define CALLERS 2
#define HELD    6
#define LENGTHS 12

struct keeper {
    struct stress_random random;
    struct held {
        void *run;
        size_t n;
        uint64_t stamp;
    } held[HELD];
    size_t count;
};

static void keep_step(struct keeper *keeper)
{
    struct held *held = &keeper->held[keeper->count];

    if (keeper->count == HELD || !stress_chance(&keeper->random, 2)) {
        if (keeper->count == 0)
            return;
        held = &keeper->held[--keeper->count];
        if (ledger_give(&ledger, held->run, held->n, held->stamp))
            STRESS_EXPECT(ashlar_pool_put_run(ledger.pool, held->run,
                                              held->n) == ASHLAR_OK,
                          "put: %s", ashlar_last_error_message());
        return;
    }
    held->n = 1 + stress_below(&keeper->random, LENGTHS);
    held->stamp = stress_next(&keeper->random);
    held->run = ashlar_pool_get_run(ledger.pool, held->n);
    if (STRESS_EXPECT(held->run != NULL, "get: %s",
                      ashlar_last_error_message()) &&
        ledger_take(&ledger, held->run, held->n, held->stamp))
        keeper->count++;
}

/* Make what others keep free: by a promise, a trim, or the last of the room. */
static void call_in(struct stress_random *random)
{
    size_t n = 1 + stress_below(random, LENGTHS);

    if (stress_chance(random, 3))
        STRESS_EXPECT(ashlar_pool_trim(ledger.pool, NULL) == ASHLAR_OK,
                      "trim: %s", ashlar_last_error_message());
    else
        STRESS_EXPECT(ashlar_pool_reserve_runs(
                          ledger.pool, n, stress_below(random, 4)) == ASHLAR_OK,
                      "reserve: %s", ashlar_last_error_message());
}

static void keep_or_call_in(unsigned number, void *user)
{
    struct keeper keeper = {.random = stress_stream(100 + number)};
    const size_t *turns = user;
    size_t turn;

    for (turn = 0; turn < *turns && !stress_failed(); turn++) {
        if (number < KEEPERS)
            keep_step(&keeper);
        else if (turn % 8 == 0)
            call_in(&keeper.random);
        if (stress_chance(&keeper.random, 1000))
            (void)ashlar_pool_detach(ledger.pool);
    }
    while (keeper.count != 0 && !stress_failed())
        keep_step(&keeper);
}

START_TEST(nobody_gets_a_run_that_another_has_though_spare_ones_are_called_in)
{
    size_t turns = stress_count(20000, 500000);

    start(0);
    stress_threads(KEEPERS + CALLERS, keep_or_call_in, &turns);
    finish();
}
END_TEST

/* --- a promise, and runs that are always on the move ---------------------- */

#define USERS  4
#define LENGTH 9

/* One run each, over and over: it has to be there each time. */
static void use_one(unsigned number, void *user)
{
    const size_t *turns = user;
    size_t turn;
    void *run;

    for (turn = 0; turn < *turns && !stress_failed(); turn++) {
        run = ashlar_pool_get_run(ledger.pool, LENGTH);
        if (!STRESS_EXPECT(run != NULL, "of %d promised runs one lacks: %s",
                           USERS, ashlar_last_error_message()) ||
            !ledger_take(&ledger, run, LENGTH, number) ||
            !ledger_give(&ledger, run, LENGTH, number))
            return;
        STRESS_EXPECT(ashlar_pool_put_run(ledger.pool, run, LENGTH) ==
                          ASHLAR_OK,
                      "put: %s", ashlar_last_error_message());
        if (turn % 64 == number)
            (void)ashlar_pool_detach(ledger.pool);
    }
}

START_TEST(promised_runs_are_there_whichever_thread_kept_them)
{
    size_t turns = stress_count(20000, 500000);

    /* Room for those and no more. */
    start(USERS * LENGTH);
    ck_assert_int_eq(ashlar_pool_reserve_runs(ledger.pool, LENGTH, USERS),
                     ASHLAR_OK);
    stress_threads(USERS, use_one, &turns);
    finish();
}
END_TEST

/* --- a promise, and runs that go from hand to hand ------------------------- */

static struct desk {
    pthread_mutex_t lock;
    void *runs[USERS];
    size_t count;
    size_t
        out; /* on the desk, or with who is about to lay or take it; atomic */
} desk = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *exchange(void *run)
{
    (void)pthread_mutex_lock(&desk.lock);
    if (run != NULL)
        desk.runs[desk.count++] = run;
    else if (desk.count != 0)
        run = desk.runs[--desk.count];
    (void)pthread_mutex_unlock(&desk.lock);
    return run;
}

/* Whether one more of the promised runs may be got. */
static bool may_get(void)
{
    size_t out = __atomic_load_n(&desk.out, __ATOMIC_RELAXED);

    return out < USERS &&
           __atomic_compare_exchange_n(&desk.out, &out, out + 1, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void lay_or_take(unsigned number, void *user)
{
    struct stress_random random = stress_stream(200 + number);
    const size_t *turns = user;
    size_t turn;
    void *run;

    for (turn = 0; turn < *turns && !stress_failed(); turn++) {
        if (stress_chance(&random, 2) && may_get()) {
            run = ashlar_pool_get_run(ledger.pool, LENGTH);
            if (!STRESS_EXPECT(run != NULL, "of %d promised runs one lacks: %s",
                               USERS, ashlar_last_error_message()))
                return;
            (void)exchange(run);
            continue;
        }
        run = exchange(NULL);
        if (run == NULL)
            continue;
        STRESS_EXPECT(ashlar_pool_put_run(ledger.pool, run, LENGTH) ==
                          ASHLAR_OK,
                      "put: %s", ashlar_last_error_message());
        __atomic_fetch_sub(&desk.out, 1, __ATOMIC_RELEASE);
    }
}

START_TEST(promised_runs_are_there_whoever_got_and_whoever_put_them)
{
    size_t turns = stress_count(20000, 1000000);
    void *run;

    start(USERS * LENGTH);
    ck_assert_int_eq(ashlar_pool_reserve_runs(ledger.pool, LENGTH, USERS),
                     ASHLAR_OK);
    stress_threads(USERS, lay_or_take, &turns);
    while ((run = exchange(NULL)) != NULL)
        ck_assert_int_eq(ashlar_pool_put_run(ledger.pool, run, LENGTH),
                         ASHLAR_OK);
    finish();
}
END_TEST

/* --- two puts of one run -------------------------------------------------- */

#define RIVALS 2
#define RUNS   32

struct rivalry {
    size_t rounds;
    void *runs[RUNS];
    pthread_barrier_t barrier;
    unsigned arrived;
    unsigned char ok[RIVALS][RUNS];
};

static size_t length_of(size_t i)
{
    return 1 + i % 5;
}

static void get_all(struct rivalry *rivalry)
{
    size_t i;

    for (i = 0; i < RUNS; i++) {
        rivalry->runs[i] = ashlar_pool_get_run(ledger.pool, length_of(i));
        STRESS_EXPECT(rivalry->runs[i] != NULL, "get: %s",
                      ashlar_last_error_message());
    }
}

static void put_all(struct rivalry *rivalry, unsigned number)
{
    enum ashlar_status status;
    size_t i;

    for (i = 0; i < RUNS; i++) {
        status =
            ashlar_pool_put_run(ledger.pool, rivalry->runs[i], length_of(i));
        rivalry->ok[number][i] = status == ASHLAR_OK;
        STRESS_EXPECT(status == ASHLAR_OK || status == ASHLAR_ERR_NOT_LIVE,
                      "put: %s", ashlar_last_error_message());
    }
}

static void judge(const struct rivalry *rivalry)
{
    struct ashlar_pool_stats stats = ledger_stats(&ledger);
    size_t i;

    for (i = 0; i < RUNS; i++)
        STRESS_EXPECT(rivalry->ok[0][i] + rivalry->ok[1][i] == 1,
                      "%d of two puts of run %zu succeeded",
                      rivalry->ok[0][i] + rivalry->ok[1][i], i);
    STRESS_EXPECT(stats.live_runs == 0 && stats.live_slots == 0,
                  "%zu runs are live", stats.live_runs);
}

static void be_rival(unsigned number, void *user)
{
    struct rivalry *rivalry = user;
    size_t round;

    for (round = 0; round < rivalry->rounds; round++) {
        if (number == 0)
            get_all(rivalry);
        (void)pthread_barrier_wait(&rivalry->barrier);
        stress_meet(&rivalry->arrived, RIVALS);
        put_all(rivalry, number);
        (void)pthread_barrier_wait(&rivalry->barrier);
        if (number == 0)
            judge(rivalry);
        (void)pthread_barrier_wait(&rivalry->barrier);
    }
}

START_TEST(of_two_racing_puts_of_a_run_one_is_refused)
{
    struct rivalry rivalry = {.rounds = stress_count(1500, 30000)};

    start(0);
    (void)pthread_barrier_init(&rivalry.barrier, NULL, RIVALS);
    stress_threads(RIVALS, be_rival, &rivalry);
    (void)pthread_barrier_destroy(&rivalry.barrier);
    finish();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_spare");
    TCase *tcase = tcase_create("spare");

    stress_begin();
    tcase_add_test(
        tcase,
        nobody_gets_a_run_that_another_has_though_spare_ones_are_called_in);
    tcase_add_test(tcase, promised_runs_are_there_whichever_thread_kept_them);
    tcase_add_test(tcase,
                   promised_runs_are_there_whoever_got_and_whoever_put_them);
    if (!stress_is_valgrind())
        tcase_add_test(tcase, of_two_racing_puts_of_a_run_one_is_refused);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
