/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Once threads are attached, and while the reserve lasts, get and put in every
 * form make no system call: none at all from one thread, and none but futex
 * from several, when a contended lock has to sleep.
 */
#include "config.h"

#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <unistd.h>

#include <ashlar.h>

#include "support/silence.h"
#include "support/stress.h"

#define THREADS  4
#define RESERVE  6000
#define SHARE    (RESERVE / THREADS)
#define BULK_MAX 700

static struct ashlar_pool *pool;
static size_t turns;
static pthread_barrier_t barrier;
static sem_t done;
static sem_t never;

/* What one thread holds of its share. */
struct hands {
    struct stress_random random;
    struct ashlar_cache *cache; /* or NULL */
    size_t most;
    size_t count;
    void *slots[RESERVE];
};

static void fail_get(const struct hands *hands, size_t n)
{
    (void)stress_fail(__FILE__, __LINE__,
                      "get of %zu with %zu of %zu in hand: %s", n, hands->count,
                      hands->most, ashlar_status_name(ashlar_last_error()));
}

static void get_some(struct hands *hands)
{
    size_t n = 1 + stress_below(&hands->random, BULK_MAX);
    void **slots = hands->slots + hands->count;
    bool cached = hands->cache != NULL && stress_chance(&hands->random, 2);
    enum ashlar_status status = ASHLAR_OK;

    if (n > hands->most - hands->count)
        n = hands->most - hands->count;
    if (stress_chance(&hands->random, 2) && n != 0) {
        n = 1;
        slots[0] =
            cached ? ashlar_cache_get(hands->cache) : ashlar_pool_get(pool);
        if (slots[0] == NULL)
            status = ashlar_last_error();
    } else if (stress_chance(&hands->random, 4)) {
        if (ashlar_pool_get_up_to(pool, slots, n) != n)
            status = ashlar_last_error();
    } else {
        status = cached ? ashlar_cache_get_bulk(hands->cache, slots, n)
                        : ashlar_pool_get_bulk(pool, slots, n);
    }
    if (status == ASHLAR_OK)
        hands->count += n;
    else
        fail_get(hands, n);
}

static void put_some(struct hands *hands)
{
    size_t n = stress_below(&hands->random, hands->count + 1);
    bool cached = hands->cache != NULL && stress_chance(&hands->random, 2);
    enum ashlar_status status;
    void **slots;

    if (n > BULK_MAX || stress_chance(&hands->random, 2))
        n = hands->count != 0;
    if (stress_chance(&hands->random, 16))
        stress_shuffle(&hands->random, hands->slots, hands->count);
    slots = hands->slots + hands->count - n;
    if (n == 1)
        status = cached ? ashlar_cache_put(hands->cache, slots[0])
                        : ashlar_pool_put(pool, slots[0]);
    else
        status = cached ? ashlar_cache_put_bulk(hands->cache, slots, n, NULL)
                        : ashlar_pool_put_bulk(pool, slots, n, NULL);
    hands->count -= n;
    if (status != ASHLAR_OK)
        (void)stress_fail(__FILE__, __LINE__, "put of %zu: %s", n,
                          ashlar_status_name(status));
}

/* A refusal keeps its reason, but does not write the sentence. */
static void put_wrong(struct hands *hands)
{
    char elsewhere;

    if (ashlar_pool_put(pool, &elsewhere) != ASHLAR_ERR_WRONG_OWNER ||
        ashlar_pool_put(pool, NULL) != ASHLAR_ERR_INVALID)
        (void)stress_fail(__FILE__, __LINE__, "a wrong put was accepted");
    if (hands->count != 0 &&
        ashlar_pool_put(pool, (char *)hands->slots[0] + 1) !=
            ASHLAR_ERR_MISALIGNED)
        (void)stress_fail(__FILE__, __LINE__, "a crooked put was accepted");
}

static void play(struct hands *hands)
{
    size_t i;

    for (i = 0; i < turns && !stress_failed(); i++) {
        switch (stress_below(&hands->random, 9)) {
        case 0:
            put_wrong(hands);
            break;
        case 1:
        case 2:
        case 3:
        case 4:
            get_some(hands);
            break;
        default:
            put_some(hands);
        }
        /* Now and then all there is, to the last slot of the reserve. */
        while (i % 256 == 255 && hands->count < hands->most && !stress_failed())
            get_some(hands);
    }
}

static void attach(struct hands *hands, uint64_t stream, size_t most)
{
    void *slot = ashlar_pool_get(pool);

    memset(hands, 0, sizeof(*hands));
    hands->random = stress_stream(stream);
    hands->most = most;
    STRESS_EXPECT(slot != NULL && ashlar_pool_put(pool, slot) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    if (stream % 2 == 0)
        STRESS_EXPECT(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT,
                                        &hands->cache) == ASHLAR_OK,
                      "open: %s", ashlar_last_error_message());
}

static void reserve(void)
{
    STRESS_EXPECT(ashlar_pool_reserve(pool, RESERVE) == ASHLAR_OK,
                  "reserve: %s", ashlar_last_error_message());
}

static void start_pool(uint32_t flags, size_t cache_slots)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;

    options.flags = flags;
    options.cache_slots = cache_slots;
    STRESS_EXPECT(ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options,
                                     &pool) == ASHLAR_OK,
                  "create: %s", ashlar_last_error_message());
}

/* --- one thread ----------------------------------------------------------- */

static struct hands all_hands[THREADS];

static void be_alone(void *user)
{
    struct hands *hands = &all_hands[0];

    (void)user;
    attach(hands, 2, RESERVE);
    reserve();
    if (stress_failed() || !silence_thread(false))
        return;
    play(hands);
    silence_leave();
}

static void one_thread(uint32_t flags, size_t cache_slots)
{
    start_pool(flags, cache_slots);
    turns = stress_count(20000, 1000000);
    (void)stress_child(be_alone, NULL);
    stress_verdict();
}

START_TEST(one_thread_makes_no_system_call)
{
    one_thread(0, 0);
    one_thread(0, 16);
    one_thread(0, ASHLAR_POOL_CACHE_NONE);
}
END_TEST

START_TEST(one_thread_makes_no_system_call_in_an_unchecked_pool)
{
    one_thread(ASHLAR_POOL_UNCHECKED, 0);
    one_thread(ASHLAR_POOL_UNCHECKED, 16);
}
END_TEST

/* --- several threads ------------------------------------------------------ */

static void *be_one_of_many(void *argument)
{
    size_t number = (size_t)((struct hands *)argument - all_hands);

    attach(argument, number, SHARE);
    (void)pthread_barrier_wait(&barrier);
    /* The reserve is made. */
    (void)pthread_barrier_wait(&barrier);
    if (!stress_failed() && silence_thread(true))
        play(argument);
    (void)sem_post(&done);
    /* The end of a thread makes system calls: the process ends before. */
    for (;;)
        (void)sem_wait(&never);
    return NULL;
}

static void be_many(void *user)
{
    pthread_t thread;
    size_t i;

    (void)user;
    (void)sem_init(&done, 0, 0);
    (void)sem_init(&never, 0, 0);
    (void)pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (i = 0; i < THREADS; i++)
        STRESS_EXPECT(
            pthread_create(&thread, NULL, be_one_of_many, &all_hands[i]) == 0,
            "no thread");
    (void)pthread_barrier_wait(&barrier);
    reserve();
    (void)pthread_barrier_wait(&barrier);
    for (i = 0; i < THREADS; i++)
        while (sem_wait(&done) != 0)
            continue;
}

static void many_threads(uint32_t flags, size_t cache_slots)
{
    start_pool(flags, cache_slots);
    turns = stress_count(10000, 300000);
    (void)stress_child(be_many, NULL);
    stress_verdict();
}

START_TEST(many_threads_make_no_system_call_but_futex)
{
    many_threads(0, 0);
    many_threads(0, 16);
    many_threads(0, ASHLAR_POOL_CACHE_NONE);
}
END_TEST

START_TEST(many_threads_make_no_system_call_but_futex_in_an_unchecked_pool)
{
    many_threads(ASHLAR_POOL_UNCHECKED, 0);
    many_threads(ASHLAR_POOL_UNCHECKED, 16);
}
END_TEST

/* --- the filter ----------------------------------------------------------- */

static void call_the_kernel(void *user)
{
    (void)user;
    if (silence_thread(true))
        (void)getppid();
    silence_leave();
}

START_TEST(the_filter_sees_a_system_call)
{
    ck_assert(!stress_child(call_the_kernel, NULL));
    ck_assert(stress_failed());
    stress_forgive();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_syscalls");
    TCase *tcase = tcase_create("syscalls");
    const char *obstacle;

    stress_begin();
    obstacle = silence_obstacle();
    if (obstacle != NULL)
        return suite_skip(obstacle);
    tcase_add_test(tcase, the_filter_sees_a_system_call);
    tcase_add_test(tcase, one_thread_makes_no_system_call);
    tcase_add_test(tcase, one_thread_makes_no_system_call_in_an_unchecked_pool);
    tcase_add_test(tcase, many_threads_make_no_system_call_but_futex);
    tcase_add_test(
        tcase, many_threads_make_no_system_call_but_futex_in_an_unchecked_pool);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
