/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Forks while threads get and put. The child uses the pools: what the parent's
 * threads held is live and untouched, all else can be had, nothing twice, and
 * the sums are right. The parent notices nothing. Nobody hangs.
 */
#include "config.h"

#include "stress/fork_load.h"

#include <stdlib.h>
#include <unistd.h>

/* In one call each, the load and the other forkers may have so many slots
 * neither here nor there. */
#define IN_FLIGHT ((LOADERS - 1) * LOAD_BATCH)

/* More than is free in any pool without a limit. */
#define TAKE_MOST 20000

static struct load load;

/* A child, and what it looks at next. */
struct child {
    struct loader *self; /* of the thread that forked */
    struct ledger *ledger;
    unsigned pool;
    unsigned generation;
    size_t held; /* slots that are published */
    void **taken;
    size_t taken_count;
};

/* --- what the parent's threads hold --------------------------------------- */

/* Do something for every published holding of the pool at hand. */
static void for_each_holding(struct child *child,
                             void (*fn)(struct child *, struct holding *))
{
    unsigned i;
    size_t k;

    for (i = 0; i < LOADERS && !stress_failed(); i++)
        for (k = 0; k < LOAD_HOLDINGS; k++)
            if (load.loaders[i].holdings[k].valid &&
                load.loaders[i].holdings[k].pool == child->pool)
                fn(child, &load.loaders[i].holdings[k]);
}

static void check_holding(struct child *child, struct holding *holding)
{
    (void)ledger_matches(child->ledger, holding->slot, holding->n,
                         holding->stamp);
}

/* The parent's claims may have been caught in the middle: make them again. */
static void claim_holding(struct child *child, struct holding *holding)
{
    check_holding(child, holding);
    ledger_keep(child->ledger, holding->slot, holding->n);
    child->held += holding->n == 0 ? 1 : holding->n;
}

static void put_holding(struct child *child, struct holding *holding)
{
    if (!ledger_give(child->ledger, holding->slot, holding->n, holding->stamp))
        return;
    holding->valid = 0;
    if (holding->n == 0)
        STRESS_EXPECT(ashlar_pool_put(child->ledger->pool, holding->slot) ==
                          ASHLAR_OK,
                      "put of what a thread of the parent held: %s",
                      ashlar_last_error_message());
    else
        STRESS_EXPECT(ashlar_pool_put_run(child->ledger->pool, holding->slot,
                                          holding->n) == ASHLAR_OK,
                      "put of a run that a thread of the parent held: %s",
                      ashlar_last_error_message());
}

/* --- the pool in the child ------------------------------------------------ */

static void check_sums(struct child *child, const char *when)
{
    struct ashlar_pool_stats stats = ledger_stats(child->ledger);

    STRESS_EXPECT(stats.live_slots + stats.cached_slots + stats.free_slots ==
                      stats.capacity_slots,
                  "pool %u %s: %zu live + %zu cached + %zu free is not %zu",
                  child->pool, when, stats.live_slots, stats.cached_slots,
                  stats.free_slots, stats.capacity_slots);
    STRESS_EXPECT(
        stats.live_slots >= child->held + child->taken_count &&
            stats.live_slots <= child->held + child->taken_count + IN_FLIGHT,
        "pool %u %s: %zu live, but %zu held and %zu taken", child->pool, when,
        stats.live_slots, child->held, child->taken_count);
    STRESS_EXPECT(stats.duplicates == 0, "pool %u %s: %zu duplicates",
                  child->pool, when, (size_t)stats.duplicates);
}

/* Take what is there, and write to all of it. */
static void take_all(struct child *child)
{
    struct ashlar_pool *pool = child->ledger->pool;
    struct ashlar_pool_stats stats = ledger_stats(child->ledger);
    size_t n = stats.free_slots + stats.cached_slots;
    size_t i;

    n = n < TAKE_MOST ? n : TAKE_MOST;
    if (stress_chance(&child->self->random, 2))
        child->taken_count = ashlar_pool_get_up_to(pool, child->taken, n);
    else
        while (child->taken_count < n && (child->taken[child->taken_count] =
                                              ashlar_pool_get(pool)) != NULL)
            child->taken_count++;
    for (i = 0; i < child->taken_count && !stress_failed(); i++)
        (void)ledger_take(child->ledger, child->taken[i], 0, i);
}

static void put_all(struct child *child)
{
    size_t i;

    for (i = 0; i < child->taken_count && !stress_failed(); i++)
        (void)ledger_give(child->ledger, child->taken[i], 0, i);
    STRESS_EXPECT(ashlar_pool_put_bulk(child->ledger->pool, child->taken,
                                       child->taken_count, NULL) == ASHLAR_OK,
                  "put: %s", ashlar_last_error_message());
    child->taken_count = 0;
}

static int put_live(void *first, size_t n, void *user)
{
    struct ledger *ledger = user;
    enum ashlar_status status = ashlar_pool_put(ledger->pool, first);

    if (status == ASHLAR_ERR_WRONG_OWNER)
        status = ashlar_pool_put_run(ledger->pool, first, n);
    return STRESS_EXPECT(status == ASHLAR_OK, "put of what is live: %s",
                         ashlar_last_error_message())
               ? 0
               : 1;
}

static int count_live(void *first, size_t n, void *user)
{
    size_t *count = user;

    (void)first;
    *count += n;
    return 0;
}

static void check_listing(struct child *child)
{
    size_t listed = 0;
    size_t live = ledger_stats(child->ledger).live_slots;

    if (child->ledger->checked)
        STRESS_EXPECT(ashlar_pool_for_each_live(child->ledger->pool, count_live,
                                                &listed) == ASHLAR_OK &&
                          listed == live,
                      "pool %u: %zu are live, %zu listed", child->pool, live,
                      listed);
}

/* With all put, a checked pool knows that nothing is out. */
static void destroy(struct child *child)
{
    struct ashlar_pool *pool = child->ledger->pool;

    if (!child->ledger->checked) {
        STRESS_EXPECT(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK,
                      "destroy: %s", ashlar_last_error_message());
        return;
    }
    (void)ashlar_pool_for_each_live(pool, put_live, child->ledger);
    STRESS_EXPECT(ashlar_pool_destroy(pool, 0) == ASHLAR_OK, "destroy: %s",
                  ashlar_last_error_message());
}

static void use_pool(struct child *child)
{
    void *run;

    ledger_forget(child->ledger);
    child->held = 0;
    for_each_holding(child, claim_holding);
    /* Sometimes the first thing is a put, sometimes a get, or a question. */
    if (stress_chance(&child->self->random, 3))
        load_step(child->self);
    else if (stress_chance(&child->self->random, 2))
        check_sums(child, "at first");
    child->held = 0;
    for_each_holding(child, claim_holding);
    check_listing(child);
    take_all(child);
    check_sums(child, "with all taken");
    for_each_holding(child, check_holding);
    run = ashlar_pool_get_run(child->ledger->pool, 2);
    if (run != NULL)
        STRESS_EXPECT(ledger_take(child->ledger, run, 2, 7) &&
                          ledger_give(child->ledger, run, 2, 7) &&
                          ashlar_pool_put_run(child->ledger->pool, run, 2) ==
                              ASHLAR_OK,
                      "run: %s", ashlar_last_error_message());
    put_all(child);
    for_each_holding(child, put_holding);
    child->held = 0;
    check_sums(child, "with all put");
    check_listing(child);
}

static void *use_in_thread(void *argument)
{
    struct ledger *ledger = argument;
    void *slot = ashlar_pool_get(ledger->pool);

    STRESS_EXPECT(slot != NULL &&
                      ashlar_pool_put(ledger->pool, slot) == ASHLAR_OK,
                  "in a thread of the child: %s", ashlar_last_error_message());
    return NULL;
}

static void use_new_pool_and_thread(void)
{
    struct ledger ledger;
    pthread_t thread;

    if (!ledger_open(&ledger, 16, 16, NULL))
        return;
    (void)use_in_thread(&ledger);
    /* ThreadSanitizer ends a forked process that starts a thread. */
    if (!stress_is_tsan() &&
        STRESS_EXPECT(pthread_create(&thread, NULL, use_in_thread, &ledger) ==
                          0,
                      "no thread in the child"))
        (void)pthread_join(thread, NULL);
    ledger_close(&ledger, 0);
}

/* The forking thread's own, and sometimes those that others held. */
static void close_caches(struct child *child)
{
    unsigned i;

    load_clear(child->self);
    for (i = 0; i < LOADERS && stress_chance(&child->self->random, 2); i++)
        load_clear(&load.loaders[i]);
}

static void be_child(void *user)
{
    struct child *child = user;
    unsigned i;

    child->taken = calloc(TAKE_MOST, sizeof(*child->taken));
    if (!STRESS_EXPECT(child->taken != NULL, "no memory in the child"))
        return;
    /* A child of the child finds the same. */
    if (child->generation == 0 && stress_chance(&child->self->random, 8)) {
        struct child grandchild = {.self = child->self, .generation = 1};

        (void)stress_child(be_child, &grandchild);
    }
    for (i = 0; i < LOAD_POOLS && !stress_failed(); i++) {
        child->pool = i;
        child->ledger = &load.pools[i];
        use_pool(child);
    }
    use_new_pool_and_thread();
    close_caches(child);
    for (i = 0; i < LOAD_POOLS && !stress_failed(); i++) {
        child->ledger = &load.pools[i];
        destroy(child);
    }
    free(child->taken);
}

/* --- the cases ------------------------------------------------------------ */

static void fork_often(unsigned number, void *user)
{
    struct loader *self = &load.loaders[LOAD_THREADS + number];
    const size_t *forks = user;
    struct child child = {.self = self};
    size_t i;
    size_t k;

    for (i = 0; i < *forks && !stress_failed(); i++) {
        for (k = stress_below(&self->random, 60); k != 0; k--)
            load_step(self);
        (void)stress_child(be_child, &child);
    }
    load_clear(self);
}

static void fork_under_load(unsigned forkers, size_t forks, bool wild)
{
    if (load_start(&load, wild)) {
        if (forkers == 1)
            fork_often(0, &forks);
        else
            stress_threads(forkers, fork_often, &forks);
        load_end(&load);
    }
    stress_verdict();
}

START_TEST(children_of_the_main_thread_use_the_pools)
{
    fork_under_load(1, stress_count(60, 300), false);
}
END_TEST

START_TEST(children_of_several_attached_threads_use_the_pools)
{
    fork_under_load(3, stress_count(16, 100), false);
}
END_TEST

START_TEST(children_use_the_pools_while_caches_and_pools_come_and_go)
{
    fork_under_load(1, stress_count(60, 300), true);
}
END_TEST

/* A fork takes the locks of all pools and of jemalloc, and ThreadSanitizer's
 * search for deadlocks ends the process at 64. */
const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
    return "detect_deadlocks=0";
}

/* Allocators of sanitizers hang in children, of threads that were inside them:
 * AddressSanitizer's in every third run or so of any case. */
int main(void)
{
    Suite *suite;
    TCase *tcase;

    stress_begin();
    if (stress_is_asan())
        return suite_skip("AddressSanitizer's allocator hangs in children");
    suite = suite_create("stress_fork");
    tcase = tcase_create("fork");
    tcase_add_test(tcase, children_of_the_main_thread_use_the_pools);
    tcase_add_test(tcase, children_of_several_attached_threads_use_the_pools);
    if (!stress_is_tsan())
        tcase_add_test(
            tcase, children_use_the_pools_while_caches_and_pools_come_and_go);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
