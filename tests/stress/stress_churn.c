/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Threads that come, use pools for a moment, and leave: in order, in the
 * middle of it, and with destructors that use the pools once more.
 */
#include "config.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include <ashlar.h>

#include "base/thread.h"
#include "support/ledger.h"
#include "support/stress.h"

#define LANES     4
#define SLOTS     40
#define LEFT_MOST 600
#define POOLS     50

/* Slots that threads left, for others to put. */
struct left {
    pthread_mutex_t lock;
    size_t count;
    void *slots[LEFT_MOST];
    uint64_t stamps[LEFT_MOST];
};

static struct ledger ledger;
static struct left left = {.lock = PTHREAD_MUTEX_INITIALIZER};
static uint64_t next_visitor;

static void start_pool(const struct ashlar_pool_options *options)
{
    left.count = 0;
    next_visitor = 0;
    if (!ledger_open(&ledger, 128, 128, options))
        stress_verdict();
}

static size_t count_records(void)
{
    const struct thread *thread;
    size_t count = 0;

    thread_lock();
    for (thread = thread_first(); thread != NULL; thread = thread->next)
        count++;
    thread_unlock();
    return count;
}

/* --- one visitor ---------------------------------------------------------- */

static bool leave_slot(void *slot, uint64_t stamp)
{
    bool done;

    (void)pthread_mutex_lock(&left.lock);
    done = left.count < LEFT_MOST;
    if (done) {
        left.slots[left.count] = slot;
        left.stamps[left.count++] = stamp;
    }
    (void)pthread_mutex_unlock(&left.lock);
    return done;
}

static bool find_slot(void **slot_out, uint64_t *stamp_out)
{
    bool done;

    (void)pthread_mutex_lock(&left.lock);
    done = left.count != 0;
    if (done) {
        *slot_out = left.slots[--left.count];
        *stamp_out = left.stamps[left.count];
    }
    (void)pthread_mutex_unlock(&left.lock);
    return done;
}

static void put_slot(void *slot, uint64_t stamp)
{
    if (ledger_give(&ledger, slot, 0, stamp))
        STRESS_EXPECT(ashlar_pool_put(ledger.pool, slot) == ASHLAR_OK,
                      "put: %s", ashlar_last_error_message());
}

/* Get some, put part of them, leave the rest, put what others left. */
static void visit(struct stress_random *random)
{
    size_t n = 1 + stress_below(random, SLOTS);
    void *slots[SLOTS];
    uint64_t stamp = stress_next(random);
    size_t i;

    if (!STRESS_EXPECT(ashlar_pool_get_bulk(ledger.pool, slots, n) == ASHLAR_OK,
                       "get: %s", ashlar_last_error_message()))
        return;
    for (i = 0; i < n; i++)
        if (!ledger_take(&ledger, slots[i], 0, stamp + i))
            return;
    for (i = 0; i < n && !stress_failed(); i++)
        if (stress_chance(random, 2) || !leave_slot(slots[i], stamp + i))
            put_slot(slots[i], stamp + i);
    for (i = stress_below(random, SLOTS); i != 0; i--)
        if (find_slot(&slots[0], &stamp))
            put_slot(slots[0], stamp);
}

static void *visitor(void *argument)
{
    struct stress_random random =
        stress_stream(__atomic_fetch_add(&next_visitor, 1, __ATOMIC_RELAXED));

    visit(&random);
    return argument;
}

/* --- many visitors -------------------------------------------------------- */

struct churn {
    void *(*visitor)(void *);
    size_t visits; /* of a lane */
};

/* A lane sends visitor after visitor, without ever using the pool itself. */
static void send_visitors(unsigned number, void *user)
{
    const struct churn *churn = user;
    pthread_t thread;
    size_t i;

    (void)number;
    for (i = 0; i < churn->visits && !stress_failed(); i++)
        if (STRESS_EXPECT(pthread_create(&thread, NULL, churn->visitor, NULL) ==
                              0,
                          "no thread"))
            (void)pthread_join(thread, NULL);
}

static void send(void *(*one)(void *), size_t visits)
{
    struct churn churn = {one, visits / LANES};

    stress_threads(LANES, send_visitors, &churn);
    stress_verdict();
}

static void put_what_is_left(void)
{
    uint64_t stamp;
    void *slot;

    while (find_slot(&slot, &stamp))
        put_slot(slot, stamp);
    (void)ashlar_pool_detach(ledger.pool);
}

/* No thread is there any more: no cache is, and only what was left is live. */
static void expect_nobody(void)
{
    struct ashlar_pool_stats stats = ledger_stats(&ledger);

    (void)ledger_balances(&ledger, left.count);
    STRESS_EXPECT(stats.caches == 0 && stats.cached_slots == 0,
                  "%zu caches keep %zu slots", stats.caches,
                  stats.cached_slots);
    stress_verdict();
}

START_TEST(short_threads_leave_no_cache_no_record_and_no_growth)
{
    size_t visits = stress_count(2500, 100000);
    struct ashlar_pool_stats early;
    struct ashlar_pool_stats late;
    size_t records;
    size_t bytes;

    start_pool(NULL);
    send(visitor, visits / 10);
    expect_nobody();
    records = count_records();
    early = ledger_stats(&ledger);
    bytes = stress_resident();
    send(visitor, visits);
    expect_nobody();
    late = ledger_stats(&ledger);
    /* What all can hold at once, and a cache for each lane. */
    ck_assert_uint_le(late.capacity_slots,
                      2 * (LEFT_MOST + LANES * (SLOTS + 512)));
    /* How many of them the first visitors needed is luck. What came since is
     * records of slabs, whose slots have their state and two bits each. */
    ck_assert_uint_le(late.bookkeeping_bytes,
                      early.bookkeeping_bytes +
                          2 * (late.capacity_slots - early.capacity_slots));
    ck_assert_uint_eq(count_records(), records);
    if (!stress_is_watched() && !stress_is_tsan())
        ck_assert_uint_le(stress_resident(), bytes + ((size_t)4 << 20));
    put_what_is_left();
    expect_nobody();
    ledger_close(&ledger, 0);
    stress_verdict();
}
END_TEST

static pthread_barrier_t crowd;

static void attach_in_a_crowd(unsigned number, void *user)
{
    (void)number;
    (void)user;
    (void)pthread_barrier_wait(&crowd);
    STRESS_EXPECT(ashlar_pool_reserve(ledger.pool, 0) == ASHLAR_OK, "%s",
                  ashlar_last_error_message());
    (void)pthread_barrier_wait(&crowd);
}

START_TEST(threads_that_come_later_ask_the_source_for_nothing_new)
{
    uint64_t calls;

    start_pool(NULL);
    ck_assert_int_eq(
        ashlar_pool_reserve(ledger.pool, LEFT_MOST + LANES * SLOTS), ASHLAR_OK);
    /* The pool grows for as many caches as there are at a time. */
    (void)pthread_barrier_init(&crowd, NULL, LANES);
    stress_threads(LANES, attach_in_a_crowd, NULL);
    (void)pthread_barrier_destroy(&crowd);
    calls = ledger_stats(&ledger).source_calls;
    send(visitor, stress_count(1000, 20000));
    ck_assert_uint_eq(ledger_stats(&ledger).source_calls, calls);
    put_what_is_left();
    expect_nobody();
    ledger_close(&ledger, 0);
    stress_verdict();
}
END_TEST

#define CROWD 8

START_TEST(threads_that_attach_at_once_all_get_their_caches)
{
    size_t rounds = stress_count(60, 2000);
    struct ashlar_pool_stats stats;

    (void)pthread_barrier_init(&crowd, NULL, CROWD);
    while (rounds-- != 0) {
        start_pool(NULL);
        ck_assert_int_eq(ashlar_pool_reserve(ledger.pool, 100), ASHLAR_OK);
        (void)ashlar_pool_detach(ledger.pool);
        stress_threads(CROWD, attach_in_a_crowd, NULL);
        /* The threads have gone; what the pool grew to, it has still. */
        stats = ledger_stats(&ledger);
        ck_assert_uint_ge(
            stats.capacity_slots,
            stats.promised_slots +
                (stress_is_watched() ? 0 : CROWD * ASHLAR_POOL_CACHE_DEFAULT));
        ledger_close(&ledger, 0);
        stress_verdict();
    }
    (void)pthread_barrier_destroy(&crowd);
}
END_TEST

/* --- many pools ----------------------------------------------------------- */

static struct ashlar_pool *pools[POOLS];

static void *tourist(void *argument)
{
    struct stress_random random =
        stress_stream(__atomic_fetch_add(&next_visitor, 1, __ATOMIC_RELAXED));
    struct ashlar_pool *pool;
    void *slots[2];
    size_t i;

    for (i = 0; i < POOLS / 2; i++) {
        pool = pools[stress_below(&random, POOLS)];
        STRESS_EXPECT(ashlar_pool_get_bulk(pool, slots, 2) == ASHLAR_OK &&
                          ashlar_pool_put_bulk(pool, slots, 2, NULL) ==
                              ASHLAR_OK,
                      "%s", ashlar_last_error_message());
    }
    return argument;
}

START_TEST(short_threads_of_many_pools_leave_no_cache)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    size_t i;

    for (i = 0; i < POOLS; i++)
        ck_assert_int_eq(ashlar_pool_create(ashlar_type_find("CUtensorMap"),
                                            NULL, &pools[i]),
                         ASHLAR_OK);
    send(tourist, stress_count(800, 20000));
    for (i = 0; i < POOLS; i++) {
        ck_assert_int_eq(ashlar_pool_query(pools[i], &stats), ASHLAR_OK);
        ck_assert_uint_eq(stats.caches, 0);
        ck_assert_uint_eq(stats.free_slots, stats.capacity_slots);
        ck_assert_int_eq(ashlar_pool_destroy(pools[i], 0), ASHLAR_OK);
    }
}
END_TEST

/* --- destructors ---------------------------------------------------------- */

/* glibc calls the destructors of keys that are set again so many times. */
#define ROUNDS 3

static pthread_key_t late_key;

struct guest {
    struct stress_random random;
    size_t rounds;
};

/* Comes in each round of destructors, in the later ones after ashlar's own. */
static void use_once_more(void *argument)
{
    struct guest *guest = argument;
    struct ashlar_cache *cache;
    void *run;

    visit(&guest->random);
    run = ashlar_pool_get_run(ledger.pool, 3);
    STRESS_EXPECT(run != NULL &&
                      ashlar_pool_put_run(ledger.pool, run, 3) == ASHLAR_OK,
                  "run: %s", ashlar_last_error_message());
    STRESS_EXPECT(ashlar_cache_open(ledger.pool, 5, ASHLAR_CACHE_LAYOUT,
                                    &cache) == ASHLAR_OK,
                  "open: %s", ashlar_last_error_message());
    run = ashlar_cache_get(cache);
    STRESS_EXPECT(run != NULL && ashlar_cache_put(cache, run) == ASHLAR_OK,
                  "cache: %s", ashlar_last_error_message());
    (void)ashlar_cache_close(cache);
    STRESS_EXPECT(ashlar_pool_put(ledger.pool, guest) ==
                          ASHLAR_ERR_WRONG_OWNER &&
                      ashlar_last_error() == ASHLAR_ERR_WRONG_OWNER,
                  "a wrong put was not refused");
    /* ThreadSanitizer ends before jemalloc, if jemalloc is used to the last. */
    if (++guest->rounds < ROUNDS && !stress_is_tsan())
        (void)pthread_setspecific(late_key, guest);
    else
        free(guest);
}

static void *late_visitor(void *argument)
{
    struct guest *guest = calloc(1, sizeof(*guest));

    if (!STRESS_EXPECT(guest != NULL, "no memory"))
        return argument;
    guest->random =
        stress_stream(__atomic_fetch_add(&next_visitor, 1, __ATOMIC_RELAXED));
    (void)pthread_setspecific(late_key, guest);
    visit(&guest->random);
    return argument;
}

static void send_late_visitors(void)
{
    start_pool(NULL);
    send(late_visitor, stress_count(800, 20000));
    expect_nobody();
    put_what_is_left();
    expect_nobody();
    ledger_close(&ledger, 0);
    (void)pthread_key_delete(late_key);
    stress_verdict();
}

START_TEST(destructors_that_come_after_ours_use_the_pool)
{
    /* A pool before the key: its destructor is the later one. */
    start_pool(NULL);
    ledger_close(&ledger, 0);
    ck_assert_int_eq(pthread_key_create(&late_key, use_once_more), 0);
    send_late_visitors();
}
END_TEST

START_TEST(destructors_that_come_before_and_after_ours_use_the_pool)
{
    ck_assert_int_eq(pthread_key_create(&late_key, use_once_more), 0);
    send_late_visitors();
}
END_TEST

/* --- sudden ends ---------------------------------------------------------- */

static sem_t ready;

/* Waits, with slots in its hands and in its cache, until it is cancelled. */
static void *victim(void *argument)
{
    struct stress_random random =
        stress_stream(__atomic_fetch_add(&next_visitor, 1, __ATOMIC_RELAXED));
    uint64_t stamp = stress_next(&random);
    void *slot = ashlar_pool_get(ledger.pool);

    if (STRESS_EXPECT(slot != NULL, "%s", ashlar_last_error_message()) &&
        ledger_take(&ledger, slot, 0, stamp))
        (void)leave_slot(slot, stamp);
    (void)sem_post(&ready);
    for (;;)
        (void)pause();
    return argument;
}

START_TEST(cancelled_threads_give_their_caches_back)
{
    size_t rounds = stress_count(60, 2000);
    pthread_t threads[LANES];
    size_t i;
    size_t k;

    start_pool(NULL);
    ck_assert_int_eq(sem_init(&ready, 0, 0), 0);
    for (i = 0; i < rounds && !stress_failed(); i++) {
        for (k = 0; k < LANES; k++)
            ck_assert_int_eq(pthread_create(&threads[k], NULL, victim, NULL),
                             0);
        for (k = 0; k < LANES; k++)
            while (sem_wait(&ready) != 0)
                continue;
        for (k = 0; k < LANES; k++)
            ck_assert_int_eq(pthread_cancel(threads[k]), 0);
        for (k = 0; k < LANES; k++)
            ck_assert_int_eq(pthread_join(threads[k], NULL), 0);
        expect_nobody();
        put_what_is_left();
    }
    expect_nobody();
    (void)sem_destroy(&ready);
    ledger_close(&ledger, 0);
    stress_verdict();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_churn");
    TCase *tcase = tcase_create("churn");

    stress_begin();
    tcase_add_test(tcase, short_threads_leave_no_cache_no_record_and_no_growth);
    tcase_add_test(tcase,
                   threads_that_come_later_ask_the_source_for_nothing_new);
    tcase_add_test(tcase, threads_that_attach_at_once_all_get_their_caches);
    tcase_add_test(tcase, short_threads_of_many_pools_leave_no_cache);
    tcase_add_test(tcase, destructors_that_come_after_ours_use_the_pool);
    tcase_add_test(tcase,
                   destructors_that_come_before_and_after_ours_use_the_pool);
    /* The sanitizers lose track of a thread that is cancelled. */
    if (!stress_is_tsan() && !stress_is_asan())
        tcase_add_test(tcase, cancelled_threads_give_their_caches_back);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
