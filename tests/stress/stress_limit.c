/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Many threads at the edge: at max_slots, where gets fail cleanly and nothing
 * is lost, and within a reserve, where none fails and the source is not asked.
 */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>

#include <ashlar.h>

#include "support/ledger.h"
#include "support/stress.h"

#define THREADS_MAX 16
#define HELD_MAX    700
#define BATCH       40
#define STEPS       150

static struct ledger ledger;
static pthread_barrier_t barrier;

/* One of many threads, and what it holds. */
struct member {
    struct stress_random random;
    size_t count;
    void *slots[HELD_MAX];
    struct ashlar_cache *cache;
};

static struct member members[THREADS_MAX];

static void take(unsigned number, void *slot)
{
    struct member *member = &members[number];

    if (ledger_take(&ledger, slot, 0, number))
        member->slots[member->count++] = slot;
}

static void put_last(unsigned number, size_t n)
{
    struct member *member = &members[number];
    size_t i;

    member->count -= n;
    for (i = 0; i < n; i++)
        (void)ledger_give(&ledger, member->slots[member->count + i], 0, number);
    STRESS_EXPECT(ashlar_pool_put_bulk(ledger.pool,
                                       member->slots + member->count, n,
                                       NULL) == ASHLAR_OK,
                  "put: %s", ashlar_last_error_message());
}

static size_t all_held(void)
{
    size_t held = 0;
    size_t i;

    for (i = 0; i < THREADS_MAX; i++)
        held += members[i].count;
    return held;
}

static void start(size_t max_slots, size_t cache_slots, uint64_t stream)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    size_t i;

    options.max_slots = max_slots;
    options.cache_slots = cache_slots;
    for (i = 0; i < THREADS_MAX; i++) {
        members[i].count = 0;
        members[i].random = stress_stream(stream << 8 | i);
    }
    if (!ledger_open(&ledger, 128, 128, &options))
        stress_verdict();
}

static void finish(void)
{
    (void)ashlar_pool_detach(ledger.pool);
    (void)ledger_balances(&ledger, 0);
    ledger_close(&ledger, 0);
    stress_verdict();
}

/* --- at max_slots --------------------------------------------------------- */

struct contest {
    size_t rounds;
    size_t max_slots;
    bool with_runs;
    size_t refused;
};

/* One attempt of any kind. */
static void grab(unsigned number, struct contest *contest)
{
    bool with_runs = contest->with_runs;
    struct member *member = &members[number];
    size_t n = 1 + stress_below(&member->random, BATCH);
    enum ashlar_status status = ASHLAR_OK;
    void *slots[BATCH];
    size_t got = 0;
    void *run;

    switch (stress_below(&member->random, with_runs ? 4 : 3)) {
    case 0:
        slots[0] = ashlar_pool_get(ledger.pool);
        got = slots[0] != NULL;
        n = 1;
        break;
    case 1:
        status = ashlar_pool_get_bulk(ledger.pool, slots, n);
        got = status == ASHLAR_OK ? n : 0;
        break;
    case 2:
        got = ashlar_pool_get_up_to(ledger.pool, slots, n);
        break;
    default:
        run = ashlar_pool_get_run(ledger.pool, n);
        if (run == NULL)
            break;
        STRESS_EXPECT(ledger_take(&ledger, run, n, number) &&
                          ledger_give(&ledger, run, n, number) &&
                          ashlar_pool_put_run(ledger.pool, run, n) == ASHLAR_OK,
                      "run: %s", ashlar_last_error_message());
        return;
    }
    status = got < n ? ashlar_last_error() : ASHLAR_OK;
    STRESS_EXPECT(status == ASHLAR_OK || status == ASHLAR_ERR_LIMIT ||
                      (with_runs && status == ASHLAR_ERR_FRAGMENTED),
                  "get: %s", ashlar_last_error_message());
    if (status != ASHLAR_OK)
        __atomic_fetch_add(&contest->refused, 1, __ATOMIC_RELAXED);
    for (n = 0; n < got; n++)
        take(number, slots[n]);
}

static void contend(unsigned number, void *user)
{
    struct contest *contest = user;
    struct member *member = &members[number];
    size_t round;
    size_t step;

    for (round = 0; round < contest->rounds; round++) {
        for (step = 0; step < STEPS && !stress_failed(); step++)
            if (member->count > HELD_MAX - BATCH ||
                (member->count != 0 && stress_chance(&member->random, 4)))
                put_last(number, 1 + stress_below(&member->random,
                                                  member->count > BATCH
                                                      ? BATCH
                                                      : member->count));
            else
                grab(number, contest);
        (void)pthread_barrier_wait(&barrier);
        if (number == 0 && !stress_failed())
            (void)ledger_balances(&ledger, all_held());
        (void)pthread_barrier_wait(&barrier);
        put_last(number, member->count);
    }
}

/* All slots there may be, at one go, when the threads have gone. */
static void expect_all(size_t max_slots)
{
    void **slots = calloc(max_slots, sizeof(*slots));

    ck_assert_ptr_nonnull(slots);
    ck_assert_uint_eq(ashlar_pool_get_up_to(ledger.pool, slots, max_slots),
                      max_slots);
    ck_assert_ptr_null(ashlar_pool_get(ledger.pool));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    ck_assert_int_eq(ashlar_pool_put_bulk(ledger.pool, slots, max_slots, NULL),
                     ASHLAR_OK);
    free(slots);
}

static void hold_contest(size_t max_slots, size_t cache_slots, bool with_runs)
{
    struct contest contest = {stress_count(20, 300), max_slots, with_runs, 0};

    start(max_slots, cache_slots, max_slots);
    (void)pthread_barrier_init(&barrier, NULL, THREADS_MAX);
    stress_threads(THREADS_MAX, contend, &contest);
    (void)pthread_barrier_destroy(&barrier);
    stress_verdict();
    ck_assert_uint_gt(contest.refused, 0);
    if (!with_runs)
        expect_all(max_slots);
    ck_assert_uint_le(ledger_stats(&ledger).peak_slots, max_slots);
    finish();
}

START_TEST(many_threads_never_get_more_than_max_slots_and_lose_none)
{
    hold_contest(1, 0, false);
    hold_contest(63, 0, false);
    hold_contest(1000, 0, false);
    hold_contest(3000, 16, false);
    hold_contest(3000, 0, false);
    hold_contest(3000, ASHLAR_POOL_CACHE_NONE, false);
}
END_TEST

START_TEST(runs_and_slots_share_max_slots)
{
    hold_contest(63, 0, true);
    hold_contest(1000, 0, true);
    hold_contest(3000, 16, true);
}
END_TEST

/* --- within a reserve ----------------------------------------------------- */

struct share {
    unsigned threads;
    size_t slots[THREADS_MAX]; /* what each thread is to get */
    bool attached;             /* threads are, before the reserve is made */
    bool caches;               /* and some have a cache of their own */
    size_t most;               /* max_slots allows so many beside the caches */
};

/* So many, by all ways there are, and none may fail. */
static void get_share(unsigned number, size_t n)
{
    struct member *member = &members[number];
    void *slots[BATCH];
    size_t part;
    size_t i;

    while (member->count < n && !stress_failed()) {
        part = 1 + stress_below(&member->random, BATCH);
        if (part > n - member->count)
            part = n - member->count;
        switch (stress_below(&member->random, 3)) {
        case 0:
            part = 1;
            slots[0] = member->cache != NULL ? ashlar_cache_get(member->cache)
                                             : ashlar_pool_get(ledger.pool);
            STRESS_EXPECT(slots[0] != NULL, "get number %zu of %zu: %s",
                          member->count, n, ashlar_last_error_message());
            break;
        case 1:
            STRESS_EXPECT(ashlar_pool_get_bulk(ledger.pool, slots, part) ==
                              ASHLAR_OK,
                          "get of %zu after %zu of %zu: %s", part,
                          member->count, n, ashlar_last_error_message());
            break;
        default:
            STRESS_EXPECT(ashlar_pool_get_up_to(ledger.pool, slots, part) ==
                              part,
                          "get up to %zu after %zu of %zu: %s", part,
                          member->count, n, ashlar_last_error_message());
        }
        for (i = 0; i < part && !stress_failed(); i++)
            take(number, slots[i]);
    }
}

static void attach(unsigned number, const struct share *share)
{
    void *slot = ashlar_pool_get(ledger.pool);

    STRESS_EXPECT(slot != NULL &&
                      ashlar_pool_put(ledger.pool, slot) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    if (share->caches && number % 2 == 0)
        STRESS_EXPECT(ashlar_cache_open(ledger.pool, 100, ASHLAR_CACHE_LAYOUT,
                                        &members[number].cache) == ASHLAR_OK,
                      "open: %s", ashlar_last_error_message());
}

static void use_share(unsigned number, void *user)
{
    const struct share *share = user;
    struct member *member = &members[number];

    member->cache = NULL;
    if (share->attached)
        attach(number, share);
    (void)pthread_barrier_wait(&barrier);
    /* The reserve is made. */
    (void)pthread_barrier_wait(&barrier);
    get_share(number, share->slots[number]);
    (void)pthread_barrier_wait(&barrier);
    /* The source's calls are counted. */
    (void)pthread_barrier_wait(&barrier);
    put_last(number, member->count);
    if (member->cache != NULL)
        (void)ashlar_cache_close(member->cache);
}

static void *run_threads(void *argument)
{
    struct share *share = argument;

    stress_threads(share->threads, use_share, share);
    return NULL;
}

/* Cut n into one part for each thread. */
static void cut(struct share *share, size_t n, struct stress_random *random)
{
    unsigned i;

    for (i = 0; i < THREADS_MAX; i++)
        share->slots[i] = 0;
    for (i = 0; i + 1 < share->threads; i++) {
        share->slots[i] = stress_below(random, n + 1);
        if (share->slots[i] > HELD_MAX)
            share->slots[i] = HELD_MAX;
        n -= share->slots[i];
    }
    share->slots[i] = n;
}

/* Reserve n, and let the threads get them all; n is more than one can hold. */
static void play_share(struct share *share, size_t n,
                       struct stress_random *random)
{
    struct ashlar_pool_stats stats;
    pthread_t thread;

    do {
        cut(share, n, random);
    } while (share->slots[share->threads - 1] > HELD_MAX);
    (void)pthread_barrier_init(&barrier, NULL, share->threads + 1);
    ck_assert_int_eq(pthread_create(&thread, NULL, run_threads, share), 0);
    (void)pthread_barrier_wait(&barrier);
    STRESS_EXPECT(ashlar_pool_reserve(ledger.pool, n) == ASHLAR_OK,
                  "reserve: %s", ashlar_last_error_message());
    stats = ledger_stats(&ledger);
    (void)pthread_barrier_wait(&barrier);
    (void)pthread_barrier_wait(&barrier);
    if (share->attached)
        STRESS_EXPECT(ledger_stats(&ledger).source_calls == stats.source_calls,
                      "the source was asked");
    if (!stress_failed())
        (void)ledger_balances(&ledger, n);
    (void)pthread_barrier_wait(&barrier);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    (void)pthread_barrier_destroy(&barrier);
}

static size_t reserve_size(unsigned threads, struct stress_random *random)
{
    return 1 + stress_below(random, threads * HELD_MAX / 2);
}

/* With or without max_slots; the caches' share of it is at most a half. */
static void spread(struct share *share, size_t cache_slots, size_t factor,
                   uint64_t stream)
{
    struct stress_random random = stress_stream(stream);
    size_t rounds = stress_count(25, 300);
    size_t n;
    size_t i;

    for (i = 0; i < rounds && !stress_failed(); i++) {
        share->threads = 1 + (unsigned)stress_below(&random, THREADS_MAX);
        n = reserve_size(share->threads, &random);
        start(factor * n, cache_slots, stream * 1000 + i);
        play_share(share, n, &random);
        finish();
    }
    stress_verdict();
}

START_TEST(what_is_reserved_is_there_for_attached_threads)
{
    struct share share = {.attached = true};

    spread(&share, 0, 0, 1);
    spread(&share, 16, 0, 2);
    spread(&share, ASHLAR_POOL_CACHE_NONE, 0, 3);
}
END_TEST

START_TEST(what_is_reserved_is_there_beside_caches_that_callers_hold)
{
    struct share share = {.attached = true, .caches = true};

    spread(&share, 0, 0, 4);
    spread(&share, 16, 0, 5);
}
END_TEST

START_TEST(what_is_reserved_is_there_for_threads_that_attach_later)
{
    struct share share = {.attached = false};

    spread(&share, 0, 0, 6);
    spread(&share, 16, 0, 7);
}
END_TEST

START_TEST(what_is_reserved_is_there_at_max_slots)
{
    struct share share = {.attached = true};

    /* Twice as many as are reserved: the caches have the other half. */
    spread(&share, 0, 2, 8);
    spread(&share, 16, 2, 9);
    /* Not one more: whoever comes later has no cache. */
    share.attached = false;
    spread(&share, 0, 1, 10);
    spread(&share, 0, 2, 11);
}
END_TEST

/* --- runs within a reserve ------------------------------------------------ */

#define RUN_COUNT 200

struct stock {
    size_t length;
    void *runs[RUN_COUNT];
};

/* Singles in between do not take what is promised to runs. */
static void get_runs(unsigned number, void *user)
{
    struct contest singles = {0};
    struct stock *stock = user;
    size_t i;

    (void)pthread_barrier_wait(&barrier);
    for (i = number; i < RUN_COUNT; i += THREADS_MAX) {
        stock->runs[i] = ashlar_pool_get_run(ledger.pool, stock->length);
        if (!STRESS_EXPECT(stock->runs[i] != NULL, "run %zu: %s", i,
                           ashlar_last_error_message()))
            return;
        (void)ledger_take(&ledger, stock->runs[i], stock->length, number);
        grab(number, &singles);
        put_last(number, members[number].count);
    }
}

static void put_runs(struct stock *stock)
{
    size_t i;

    for (i = 0; i < RUN_COUNT && !stress_failed(); i++)
        STRESS_EXPECT(ledger_give(&ledger, stock->runs[i], stock->length,
                                  i % THREADS_MAX) &&
                          ashlar_pool_put_run(ledger.pool, stock->runs[i],
                                              stock->length) == ASHLAR_OK,
                      "put: %s", ashlar_last_error_message());
}

START_TEST(runs_that_are_reserved_are_there_for_all_threads)
{
    size_t rounds = stress_count(20, 200);
    struct stock stock;
    uint64_t calls;
    size_t i;

    start(0, 0, 12);
    ck_assert_int_eq(
        ashlar_pool_reserve(ledger.pool, THREADS_MAX * (BATCH + 512)),
        ASHLAR_OK);
    for (i = 0; i < rounds; i++) {
        stock.length = 1 + stress_below(&members[0].random, 30);
        ck_assert_int_eq(
            ashlar_pool_reserve_runs(ledger.pool, stock.length, RUN_COUNT),
            ASHLAR_OK);
        (void)pthread_barrier_init(&barrier, NULL, THREADS_MAX);
        calls = ledger_stats(&ledger).source_calls;
        stress_threads(THREADS_MAX, get_runs, &stock);
        /* Singles may have grown, runs not: the slabs of runs are the same. */
        stress_verdict();
        ck_assert_uint_le(ledger_stats(&ledger).source_calls,
                          calls + THREADS_MAX);
        put_runs(&stock);
        (void)pthread_barrier_destroy(&barrier);
    }
    finish();
}
END_TEST

#define RIVALS_LENGTH 7
#define KEPT_LENGTH   5
#define KEPT_COUNT    40

/* Runs of another length, until there are no more. */
static void take_other_runs(unsigned number, void *user)
{
    size_t *taken = user;
    void *run;

    (void)number;
    while ((run = ashlar_pool_get_run(ledger.pool, RIVALS_LENGTH)) != NULL)
        __atomic_fetch_add(taken, 1, __ATOMIC_RELAXED);
    STRESS_EXPECT(ashlar_last_error() == ASHLAR_ERR_LIMIT ||
                      ashlar_last_error() == ASHLAR_ERR_FRAGMENTED,
                  "run: %s", ashlar_last_error_message());
}

START_TEST(runs_that_are_reserved_are_not_cut_up_for_others)
{
    void *runs[KEPT_COUNT];
    size_t taken = 0;
    size_t i;

    start(1000, 0, 13);
    /* Used before, so that they lie in their list one by one. */
    for (i = 0; i < KEPT_COUNT; i++)
        runs[i] = ashlar_pool_get_run(ledger.pool, KEPT_LENGTH);
    for (i = 0; i < KEPT_COUNT; i++)
        ck_assert_int_eq(ashlar_pool_put_run(ledger.pool, runs[i], KEPT_LENGTH),
                         ASHLAR_OK);
    ck_assert_int_eq(
        ashlar_pool_reserve_runs(ledger.pool, KEPT_LENGTH, KEPT_COUNT),
        ASHLAR_OK);
    stress_threads(THREADS_MAX, take_other_runs, &taken);
    stress_verdict();
    ck_assert_uint_gt(taken, 0);
    for (i = 0; i < KEPT_COUNT; i++)
        ck_assert_ptr_nonnull(ashlar_pool_get_run(ledger.pool, KEPT_LENGTH));
    ck_assert_uint_eq(ledger_stats(&ledger).live_slots,
                      taken * RIVALS_LENGTH + KEPT_COUNT * KEPT_LENGTH);
    ledger_close(&ledger, ASHLAR_POOL_FORCE);
    stress_verdict();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_limit");
    TCase *tcase = tcase_create("limit");

    stress_begin();
    tcase_add_test(tcase,
                   many_threads_never_get_more_than_max_slots_and_lose_none);
    tcase_add_test(tcase, runs_and_slots_share_max_slots);
    tcase_add_test(tcase, what_is_reserved_is_there_for_attached_threads);
    tcase_add_test(tcase,
                   what_is_reserved_is_there_beside_caches_that_callers_hold);
    tcase_add_test(tcase,
                   what_is_reserved_is_there_for_threads_that_attach_later);
    tcase_add_test(tcase, what_is_reserved_is_there_at_max_slots);
    tcase_add_test(tcase, runs_that_are_reserved_are_there_for_all_threads);
    tcase_add_test(tcase, runs_that_are_reserved_are_not_cut_up_for_others);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
