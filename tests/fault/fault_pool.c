/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Every allocation of every call on pools fails in turn: once, from then on,
 * and once more when the call is tried again. Each time the call says that
 * there is no memory, the pool is as before, and a retry works.
 */
#include "config.h"

#include <ashlar.h>

#include "support/pools.h"
#include "support/stub_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pool/pool.h"

#define SLOTS_MAX 6000
#define RUNS_MAX  40
#define STREAM    7

/* What the scenarios work with. */
static struct ashlar_pool *pool;
static struct ashlar_cache *cache;
static struct ashlar_source *home; /* of the pools */
static struct ashlar_source *source;
static struct ashlar_source *vm; /* for its fences */
static void *slots[SLOTS_MAX];
static size_t slot_count;
static struct piece runs[RUNS_MAX];
static size_t run_count;

/* Where pools are: on blocks of the stub, or, compiled so, on ranges of vm. */
static bool on_blocks(void)
{
    return strcmp(POOLS_SOURCE, "heap") == 0;
}

/* --- what is there before ------------------------------------------------- */

static void make_pool(size_t initial_slots, size_t max_slots,
                      size_t cache_slots, uint32_t flags)
{
    struct ashlar_pool_options options =
        pools_options(initial_slots, max_slots, cache_slots, flags);

    options.source = home;
    pool = pools_make(pools_type(128, 128), &options);
}

static void get_slots(size_t n)
{
    REQUIRE(ashlar_pool_get_bulk(pool, slots + slot_count, n) == ASHLAR_OK);
    slot_count += n;
}

static void get_runs(size_t n, size_t from, size_t to)
{
    for (; from <= to; from++) {
        void *run = ashlar_pool_get_run(pool, n + from);

        REQUIRE(run != NULL);
        runs[run_count++] = (struct piece){run, n + from};
    }
}

static void no_pool(void)
{
}

static void a_pool(void)
{
    make_pool(0, 0, 0, 0);
}

static void an_unchecked_pool(void)
{
    make_pool(0, 0, 0, ASHLAR_POOL_UNCHECKED);
}

static void an_attached_pool(void)
{
    a_pool();
    get_slots(10);
}

/* All but a few slots are live, and the cache has some of the others. */
static void a_nearly_full_pool(void)
{
    make_pool(1000, 0, 64, 0);
    get_slots(900);
    slots[slot_count++] = ashlar_pool_get(pool);
}

static void a_nearly_full_pool_without_caches(void)
{
    make_pool(1000, 0, ASHLAR_POOL_CACHE_NONE, 0);
    get_slots(900);
}

static void a_detached_pool(void)
{
    struct dice dice = dice_from(1);

    make_pool(1000, 0, 0, 0);
    get_slots(900);
    dice_shuffle(&dice, slots, 900);
    REQUIRE(ashlar_pool_detach(pool) == ASHLAR_OK);
}

static void a_promised_pool(void)
{
    a_pool();
    REQUIRE(ashlar_pool_reserve(pool, 500) == ASHLAR_OK);
}

/* Eight lengths are known: the ninth makes the table grow. */
static void a_pool_with_runs(void)
{
    a_pool();
    get_runs(5, 1, 8);
}

/* All is single slots, and all of it free. */
static void a_full_pool(void)
{
    make_pool(2000, 2000, ASHLAR_POOL_CACHE_NONE, 0);
}

static void a_full_pool_of_runs(void)
{
    make_pool(0, 2000, ASHLAR_POOL_CACHE_NONE, 0);
    get_runs(0, 2000, 2000);
    REQUIRE(ashlar_pool_put_run(pool, runs[0].first, 2000) == ASHLAR_OK);
    run_count = 0;
}

static void a_pool_and_a_cache(void)
{
    a_pool();
    REQUIRE(ashlar_cache_open(pool, 64, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_OK);
}

/* Six hundred slots are live, and the cache keeps none. */
static void a_pool_and_a_drained_cache(void)
{
    make_pool(600, 0, ASHLAR_POOL_CACHE_NONE, 0);
    REQUIRE(ashlar_cache_open(pool, 64, ASHLAR_CACHE_LAYOUT, &cache) ==
            ASHLAR_OK);
    get_slots(pools_stats(pool).free_slots);
}

/* Work on a stream reads the slots that are live. */
static void a_pool_that_work_reads(void)
{
    a_pool();
    get_slots(600);
    REQUIRE(ashlar_source_open("vm", NULL, &vm) == ASHLAR_OK);
    REQUIRE(ashlar_vm_hold(vm, STREAM) == ASHLAR_OK);
}

/* --- the calls ------------------------------------------------------------ */

static enum ashlar_status create(void)
{
    struct ashlar_pool_options options = pools_options(0, 0, 0, 0);

    options.source = home;
    return ashlar_pool_create(pools_type(128, 128), &options, &pool);
}

static enum ashlar_status create_with_slots(void)
{
    struct ashlar_pool_options options = pools_options(1000, 0, 0, 0);

    options.source = home;
    return ashlar_pool_create(pools_type(128, 128), &options, &pool);
}

static enum ashlar_status create_on_the_heap(void)
{
    struct ashlar_pool_options options =
        pools_options(70000, 0, 0, ASHLAR_POOL_HUGE_PAGES);

    return ashlar_pool_create(pools_type(128, 128), &options, &pool);
}

static enum ashlar_status get(void)
{
    void *slot = ashlar_pool_get(pool);

    if (slot == NULL)
        return ashlar_last_error();
    slots[slot_count++] = slot;
    return ASHLAR_OK;
}

static enum ashlar_status get_bulk(void)
{
    enum ashlar_status status =
        ashlar_pool_get_bulk(pool, slots + slot_count, 3000);

    slot_count += status == ASHLAR_OK ? 3000 : 0;
    return status;
}

static enum ashlar_status get_half(void)
{
    enum ashlar_status status =
        ashlar_pool_get_bulk(pool, slots + slot_count, 1500);

    slot_count += status == ASHLAR_OK ? 1500 : 0;
    return status;
}

/* Some may be had all the same; they are put back. */
static enum ashlar_status get_up_to(void)
{
    size_t got = ashlar_pool_get_up_to(pool, slots + slot_count, 3000);
    enum ashlar_status status = got == 3000 ? ASHLAR_OK : ashlar_last_error();

    if (status == ASHLAR_OK)
        slot_count += got;
    else if (ashlar_pool_put_bulk(pool, slots + slot_count, got, NULL) !=
             ASHLAR_OK)
        return ASHLAR_ERR_INVALID;
    return status;
}

static enum ashlar_status put(void)
{
    enum ashlar_status status = ashlar_pool_put(pool, slots[slot_count - 1]);

    slot_count -= status == ASHLAR_OK;
    return status;
}

static enum ashlar_status put_bulk(void)
{
    enum ashlar_status status =
        ashlar_pool_put_bulk(pool, slots, slot_count, NULL);

    if (status == ASHLAR_OK)
        slot_count = 0;
    return status;
}

static enum ashlar_status put_after(void)
{
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(vm, STREAM);
    enum ashlar_status status =
        ashlar_pool_put_after(pool, slots, slot_count, &fence, 1, NULL);

    if (status == ASHLAR_OK)
        slot_count = 0;
    return status;
}

static enum ashlar_status get_run_of(size_t n)
{
    void *run = ashlar_pool_get_run(pool, n);

    if (run == NULL)
        return ashlar_last_error();
    runs[run_count++] = (struct piece){run, n};
    return ASHLAR_OK;
}

static enum ashlar_status get_run(void)
{
    return get_run_of(700);
}

static enum ashlar_status get_whole_run(void)
{
    return get_run_of(2000);
}

static enum ashlar_status put_run(void)
{
    enum ashlar_status status = ashlar_pool_put_run(
        pool, runs[run_count - 1].first, runs[run_count - 1].n);

    run_count -= status == ASHLAR_OK;
    return status;
}

static enum ashlar_status reserve(void)
{
    return ashlar_pool_reserve(pool, 5000);
}

static enum ashlar_status reserve_runs(void)
{
    return ashlar_pool_reserve_runs(pool, 33, 50);
}

static enum ashlar_status open_cache(void)
{
    return ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache);
}

static enum ashlar_status get_from_cache(void)
{
    void *slot = ashlar_cache_get(cache);

    if (slot == NULL)
        return ashlar_last_error();
    slots[slot_count++] = slot;
    return ASHLAR_OK;
}

static enum ashlar_status get_bulk_from_cache(void)
{
    enum ashlar_status status =
        ashlar_cache_get_bulk(cache, slots + slot_count, 3000);

    slot_count += status == ASHLAR_OK ? 3000 : 0;
    return status;
}

static enum ashlar_status trim(void)
{
    return ashlar_pool_trim(pool, NULL);
}

static int see_nothing(void *first, size_t n, void *user)
{
    (void)first;
    (void)n;
    (void)user;
    return 0;
}

static enum ashlar_status ask(void)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    char text[4000];

    if (ashlar_report_text(text, sizeof(text)) == 0 ||
        ashlar_report_json(text, sizeof(text)) == 0)
        return ASHLAR_ERR_INVALID;
    if (ashlar_pool_for_each_live(pool, see_nothing, NULL) != ASHLAR_OK)
        return ashlar_last_error();
    return ashlar_pool_query(pool, &stats);
}

static enum ashlar_status detach(void)
{
    return ashlar_pool_detach(pool);
}

static enum ashlar_status open_source(void)
{
    return ashlar_source_open("heap", NULL, &source);
}

/* What a thread of its own needs is allocated too; the result is its own. */
static void *get_and_put(void *argument)
{
    enum ashlar_status *status = argument;
    void *slot = ashlar_pool_get(pool);

    *status = slot == NULL ? ashlar_last_error() : ashlar_pool_put(pool, slot);
    return NULL;
}

static enum ashlar_status get_and_put_in_a_thread(void)
{
    enum ashlar_status status = ASHLAR_ERR_INVALID;

    in_thread(get_and_put, &status);
    return status;
}

/* --- scenarios ------------------------------------------------------------ */

static const struct scenario {
    const char *name;
    void (*prepare)(void);
    enum ashlar_status (*act)(void);
    unsigned points;  /* the allocations it makes, or some more */
    bool attaches;    /* and may be attached even when it fails */
    bool other_error; /* the error is another thread's */
} scenarios[] = {
    {"create", no_pool, create, 1, false, false},
    {"create with slots", no_pool, create_with_slots, 6, false, false},
    {"create on the heap", no_pool, create_on_the_heap, 6, false, false},
    {"the first get", a_pool, get, 6, true, false},
    {"the first get, unchecked", an_unchecked_pool, get, 5, true, false},
    {"get", a_pool_and_a_drained_cache, get, 5, false, false},
    {"get_bulk", an_attached_pool, get_bulk, 5, false, false},
    {"get_bulk, partly there", a_nearly_full_pool, get_bulk, 5, false, false},
    {"get_up_to", a_nearly_full_pool_without_caches, get_up_to, 5, false,
     false},
    {"the first put", a_detached_pool, put, 1, true, false},
    {"the first put_bulk", a_detached_pool, put_bulk, 1, true, false},
    {"put", an_attached_pool, put, 0, false, false},
    {"put_bulk", a_nearly_full_pool, put_bulk, 0, false, false},
    {"put_after", a_pool_that_work_reads, put_after, 3, false, false},
    {"get_run", a_pool, get_run, 7, false, false},
    {"get_run, a ninth length", a_pool_with_runs, get_run, 7, false, false},
    {"get_run, from single slots", a_full_pool, get_run, 2, false, false},
    {"get_run, all of it", a_full_pool, get_whole_run, 2, false, false},
    {"put_run", a_pool_with_runs, put_run, 0, false, false},
    {"get_bulk, from runs", a_full_pool_of_runs, get_half, 0, false, false},
    {"get, from runs", a_full_pool_of_runs, get, 0, false, false},
    {"reserve", a_pool, reserve, 6, true, false},
    {"reserve, attached", an_attached_pool, reserve, 5, false, false},
    {"reserve_runs", an_attached_pool, reserve_runs, 7, false, false},
    {"reserve_runs, from single slots", a_full_pool, reserve_runs, 2, false,
     false},
    {"cache_open", a_pool, open_cache, 1, false, false},
    {"cache_open after a promise", a_promised_pool, open_cache, 6, false,
     false},
    {"cache_get", a_pool_and_a_cache, get_from_cache, 5, false, false},
    {"cache_get, another slab", a_pool_and_a_drained_cache, get_from_cache, 5,
     false, false},
    {"cache_get_bulk", a_pool_and_a_drained_cache, get_bulk_from_cache, 5,
     false, false},
    {"trim", a_nearly_full_pool, trim, 0, false, false},
    {"queries and reports", a_pool_with_runs, ask, 0, false, false},
    {"detach", an_attached_pool, detach, 0, false, false},
    {"source_open", no_pool, open_source, 1, false, false},
    {"get and put in a thread", a_pool, get_and_put_in_a_thread, 8, false,
     true},
    {"get and put in a thread, after a promise", a_promised_pool,
     get_and_put_in_a_thread, 8, false, true},
};

#define SCENARIOS ((int)(sizeof(scenarios) / sizeof(scenarios[0])))

static void prepare(const struct scenario *scenario)
{
    memory_fail_nth(0, false);
    stub_reset();
    pool = NULL;
    cache = NULL;
    source = NULL;
    vm = NULL;
    slot_count = run_count = 0;
    /* So that there is room for an error; and the type is there. */
    (void)ashlar_pool_put(NULL, NULL);
    (void)pools_type(128, 128);
    home = &stub_source;
    if (!on_blocks())
        REQUIRE(ashlar_source_open(POOLS_SOURCE, "granule=64K", &home) ==
                ASHLAR_OK);
    scenario->prepare();
}

/* Whether the pools' source has given nothing out. */
static bool nothing_is_out(void)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;

    if (on_blocks())
        return stub.wrong == NULL && stub.count == 0 &&
               stub_source.holders == 0;
    REQUIRE(ashlar_vm_query(home, &account) == ASHLAR_OK);
    return account.reservations + account.chunks + account.mappings == 0;
}

/* All goes back, and nothing is left. */
static void clean_up(const struct scenario *scenario)
{
    size_t i;

    if (cache != NULL)
        REQUIRE(ashlar_cache_close(cache) == ASHLAR_OK);
    if (source != NULL)
        REQUIRE(ashlar_source_close(source) == ASHLAR_OK);
    if (vm != NULL)
        REQUIRE(ashlar_vm_finish(vm, STREAM) == ASHLAR_OK);
    if (pool != NULL) {
        REQUIRE(ashlar_pool_put_bulk(pool, slots, slot_count, NULL) ==
                ASHLAR_OK);
        for (i = 0; i < run_count; i++)
            REQUIRE(ashlar_pool_put_run(pool, runs[i].first, runs[i].n) ==
                    ASHLAR_OK);
        REQUIRE(pools_stats(pool).live_slots == 0);
        pools_end(pool);
    }
    if (vm != NULL)
        REQUIRE(ashlar_source_close(vm) == ASHLAR_OK);
    if (!nothing_is_out())
        ck_abort_msg("%s: %zu blocks and %u pools are left (%s)",
                     scenario->name, stub.count, home->holders,
                     stub.wrong == NULL ? "nothing else" : stub.wrong);
    if (!on_blocks())
        REQUIRE(ashlar_source_close(home) == ASHLAR_OK);
}

/* What a failed call may not have changed. */
static void expect_as_before(const struct scenario *scenario,
                             struct snapshot *before, unsigned long nth)
{
    const char *what;

    if (pool == NULL) {
        if (ashlar_pool_next(NULL) != NULL || !nothing_is_out())
            ck_abort_msg("%s: failure %lu left something", scenario->name, nth);
        return;
    }
    if (scenario->attaches)
        before->stats.caches = pools_stats(pool).caches;
    what = snapshot_differs(before, pool);
    if (what != NULL)
        ck_abort_msg("%s: failure %lu changed %s", scenario->name, nth, what);
}

/* Act while the nth allocation fails; true when it was asked for. */
static bool act(const struct scenario *scenario, struct snapshot *before,
                unsigned long nth, bool forever, enum ashlar_status *status_out)
{
    unsigned long asked;

    ashlar_clear_error();
    memory_fail_nth(nth, forever);
    *status_out = scenario->act();
    asked = memory_asked();
    memory_fail_nth(0, false);
    if (*status_out == ASHLAR_OK)
        return asked >= nth;
    if (*status_out != ASHLAR_ERR_NO_MEMORY ||
        (!scenario->other_error && ashlar_last_error() != ASHLAR_ERR_NO_MEMORY))
        ck_abort_msg("%s: failure %lu of %lu gives %s, \"%s\"", scenario->name,
                     nth, asked, ashlar_status_name(*status_out),
                     ashlar_last_error_message());
    REQUIRE(asked >= nth);
    expect_as_before(scenario, before, nth);
    return true;
}

/*
 * Fail the nth allocation, and the `again`-th when the call is tried once more
 * (0: none); then it works. Returns whether both were asked for.
 */
static bool fail_at(const struct scenario *scenario, unsigned long nth,
                    bool forever, unsigned long again)
{
    struct snapshot before = {.count = 0};
    enum ashlar_status status;
    bool reached;

    prepare(scenario);
    if (pool != NULL)
        before = snapshot_take(pool);
    reached = act(scenario, &before, nth, forever, &status);
    if (status != ASHLAR_OK && again != 0)
        reached = act(scenario, &before, again, forever, &status) && reached;
    else if (again != 0)
        reached = false;
    if (status != ASHLAR_OK)
        REQUIRE(scenario->act() == ASHLAR_OK);
    snapshot_free(&before);
    clean_up(scenario);
    return reached;
}

static unsigned long fail_each(const struct scenario *scenario, bool forever)
{
    unsigned long nth = 0;

    while (fail_at(scenario, nth + 1, forever, 0))
        nth++;
    return nth;
}

static unsigned long fail_each_pair(const struct scenario *scenario)
{
    unsigned long points = 0;
    unsigned long nth, again;

    for (nth = 1; fail_at(scenario, nth, false, 0); nth++)
        for (again = 1; fail_at(scenario, nth, false, again); again++)
            points++;
    return points;
}

START_TEST(a_failing_allocation_changes_nothing)
{
    const struct scenario *scenario = &scenarios[_i];
    unsigned long once = fail_each(scenario, false);
    unsigned long forever = fail_each(scenario, true);
    unsigned long pairs = fail_each_pair(scenario);

    printf("# %s: %lu failure points once, %lu from then on, %lu in pairs\n",
           scenario->name, once, forever, pairs);
    (void)fflush(stdout);
    if (once < scenario->points ||
        (scenario->points == 0 && once != 0 && on_blocks()))
        ck_abort_msg("%s: %lu allocations, and not %u", scenario->name, once,
                     scenario->points);
}
END_TEST

static Suite *fault_suite(void)
{
    Suite *suite = suite_create("faults of pools");
    TCase *memory = tcase_create("memory");

    tcase_add_loop_test(memory, a_failing_allocation_changes_nothing, 0,
                        SCENARIOS);
    suite_add_tcase(suite, memory);
    return suite;
}

int main(void)
{
    return suite_run(fault_suite());
}
