/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Slots that pass between threads: puts of neighbours, which share words of the
 * book-keeping, and slots that one thread gets and another puts.
 */
#include "config.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include <ashlar.h>

#include "support/ledger.h"
#include "support/stress.h"

static struct ledger ledger;
static pthread_barrier_t barrier;
static unsigned arrived;

static void start_pool(const struct ashlar_pool_options *options)
{
    if (!ledger_open(&ledger, 128, 128, options))
        stress_verdict();
}

static void end_pool(void)
{
    (void)ashlar_pool_detach(ledger.pool);
    (void)ledger_balances(&ledger, 0);
    ledger_close(&ledger, 0);
    stress_verdict();
}

/* --- neighbours ----------------------------------------------------------- */

#define NEIGHBOURS 8
#define ROW        512

struct row {
    size_t rounds;
    bool with_gets;
    void *slots[ROW];
};

/* Every eighth slot is this thread's: its neighbours go by the same words. */
static void put_own(struct row *row, unsigned number)
{
    void *slot;
    size_t i;

    for (i = number; i < ROW; i += NEIGHBOURS) {
        STRESS_EXPECT(ashlar_pool_put(ledger.pool, row->slots[i]) == ASHLAR_OK,
                      "put of a live slot: %s", ashlar_last_error_message());
        if (!row->with_gets)
            continue;
        slot = ashlar_pool_get(ledger.pool);
        STRESS_EXPECT(slot != NULL &&
                          ashlar_pool_put(ledger.pool, slot) == ASHLAR_OK,
                      "%s", ashlar_last_error_message());
    }
}

static void be_neighbour(unsigned number, void *user)
{
    struct row *row = user;
    size_t round;

    for (round = 0; round < row->rounds; round++) {
        if (number == 0)
            STRESS_EXPECT(ashlar_pool_get_bulk(ledger.pool, row->slots, ROW) ==
                              ASHLAR_OK,
                          "get: %s", ashlar_last_error_message());
        (void)pthread_barrier_wait(&barrier);
        stress_meet(&arrived, NEIGHBOURS);
        put_own(row, number);
        (void)pthread_barrier_wait(&barrier);
    }
}

static void let_neighbours_put(size_t cache_slots, bool with_gets)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct row row = {.with_gets = with_gets};

    row.rounds = stress_count(300, 10000);
    options.cache_slots = cache_slots;
    start_pool(&options);
    (void)pthread_barrier_init(&barrier, NULL, NEIGHBOURS);
    stress_threads(NEIGHBOURS, be_neighbour, &row);
    (void)pthread_barrier_destroy(&barrier);
    end_pool();
}

START_TEST(neighbours_in_one_word_are_put_from_many_threads)
{
    let_neighbours_put(0, false);
    let_neighbours_put(0, true);
    let_neighbours_put(4, true);
    let_neighbours_put(ASHLAR_POOL_CACHE_NONE, false);
    let_neighbours_put(ASHLAR_POOL_CACHE_NONE, true);
}
END_TEST

/* --- from one thread to another ------------------------------------------- */

#define RING    256
#define PAIRS   2
#define PARCELS 32

/* One producer, one consumer: slots pass from the one to the other. */
struct ring {
    size_t head __attribute__((aligned(64)));
    size_t tail __attribute__((aligned(64)));
    void *slots[RING];
    uint64_t stamps[RING];
    size_t total; /* that shall pass */
};

static size_t ring_room(const struct ring *ring)
{
    return RING - (ring->head - __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE));
}

static size_t ring_filled(const struct ring *ring)
{
    return __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE) - ring->tail;
}

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* One by one as well: a window for that is marked ahead. */
static size_t get_some(struct stress_random *random, void **slots, size_t n)
{
    size_t got = 0;

    if (stress_chance(random, 2))
        return ashlar_pool_get_up_to(ledger.pool, slots, n);
    while (got < n && (slots[got] = ashlar_pool_get(ledger.pool)) != NULL)
        got++;
    return got;
}

static void produce(struct ring *ring, struct stress_random *random)
{
    void *slots[PARCELS];
    size_t sent = 0;
    size_t n;
    size_t i;

    while (sent < ring->total && !stress_failed()) {
        n = min_size(ring_room(ring), 1 + stress_below(random, PARCELS));
        n = min_size(n, ring->total - sent);
        /* Fewer is right: the consumer's cache may keep some. */
        n = get_some(random, slots, n);
        for (i = 0; i < n; i++) {
            ring->slots[(ring->head + i) % RING] = slots[i];
            ring->stamps[(ring->head + i) % RING] = stress_next(random);
            (void)ledger_take(&ledger, slots[i], 0,
                              ring->stamps[(ring->head + i) % RING]);
        }
        __atomic_store_n(&ring->head, ring->head + n, __ATOMIC_RELEASE);
        sent += n;
        if (n == 0)
            (void)sched_yield();
    }
}

static void consume(struct ring *ring, struct stress_random *random)
{
    void *slots[PARCELS];
    size_t received = 0;
    size_t n;
    size_t i;

    while (received < ring->total && !stress_failed()) {
        n = min_size(ring_filled(ring), 1 + stress_below(random, PARCELS));
        for (i = 0; i < n; i++) {
            slots[i] = ring->slots[(ring->tail + i) % RING];
            (void)ledger_give(&ledger, slots[i], 0,
                              ring->stamps[(ring->tail + i) % RING]);
        }
        if (stress_chance(random, 2))
            STRESS_EXPECT(ashlar_pool_put_bulk(ledger.pool, slots, n, NULL) ==
                              ASHLAR_OK,
                          "put: %s", ashlar_last_error_message());
        else
            for (i = 0; i < n; i++)
                STRESS_EXPECT(ashlar_pool_put(ledger.pool, slots[i]) ==
                                  ASHLAR_OK,
                              "put: %s", ashlar_last_error_message());
        __atomic_store_n(&ring->tail, ring->tail + n, __ATOMIC_RELEASE);
        received += n;
        if (n == 0)
            (void)sched_yield();
    }
}

static void be_at_one_end(unsigned number, void *user)
{
    struct stress_random random = stress_stream(2000 + number);
    struct ring *ring = (struct ring *)user + number / 2;

    if (number % 2 == 0)
        produce(ring, &random);
    else
        consume(ring, &random);
}

static void pass_slots(size_t max_slots)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    static struct ring rings[PAIRS];
    size_t i;

    memset(rings, 0, sizeof(rings));
    for (i = 0; i < PAIRS; i++)
        rings[i].total = stress_count(100000, 3000000);
    options.max_slots = max_slots;
    start_pool(&options);
    stress_threads(2 * PAIRS, be_at_one_end, rings);
    /* Slots came back, however many passed. */
    ck_assert_uint_le(ledger_stats(&ledger).capacity_slots,
                      2 * PAIRS * (RING + 2 * ASHLAR_POOL_CACHE_DEFAULT));
    end_pool();
}

START_TEST(slots_that_one_thread_gets_and_another_puts_come_round)
{
    pass_slots(0);
    pass_slots(PAIRS * RING);
    pass_slots(64);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_handover");
    TCase *tcase = tcase_create("handover");

    stress_begin();
    tcase_add_test(tcase, neighbours_in_one_word_are_put_from_many_threads);
    tcase_add_test(tcase,
                   slots_that_one_thread_gets_and_another_puts_come_round);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
