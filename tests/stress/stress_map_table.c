/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Threads lease, publish, rewrite and retire slots of one table, on streams of
 * their own, while others finish the work of these. A device slot has what its
 * lease put there for as long as the lease and its readers last.
 *
 * A reader is a held piece of work on a stream: it notes what a slot has when
 * it is queued, and looks again before it is finished.
 */
#include "config.h"

#include "support/tables.h"

#include "support/engine.h"
#include "support/stress.h"

#include <stdlib.h>
#include <string.h>

#define THREADS 8
#define HANDS   24 /* leases of a thread */
#define BATCH   12

struct load {
    struct ashlar_source *source;
    struct ashlar_tensormap_table *table;
    size_t steps;
    uint64_t round;
    uint64_t leases;  /* atomic */
    uint64_t refused; /* atomic */
};

struct hand {
    struct ashlar_tensormap_handle handle;
    uint64_t number;
    bool published;
};

/* One thread's. */
struct worker {
    struct load *load;
    struct stress_random random;
    uint64_t stream;
    uint64_t last; /* number given out */
    bool held;     /* work is queued on its stream */
    struct hand hands[HANDS];
    size_t count;
    /* What the held work reads, and should find to its end. */
    const void *reads[BATCH];
    uint64_t finds[BATCH];
    size_t read_count;
};

static bool good(enum ashlar_status status)
{
    return STRESS_EXPECT(status == ASHLAR_OK, "%s",
                         ashlar_last_error_message());
}

static const void *device_slot(struct worker *worker, const struct hand *hand)
{
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;

    (void)good(
        ashlar_tensormap_table_look(worker->load->table, hand->handle, &slot));
    return (const void *)(uintptr_t)slot.address;
}

/* Whatever became of the leases, the readers find what they found. */
static bool finish(struct worker *worker)
{
    size_t i;

    for (i = 0; i < worker->read_count; i++)
        if (!STRESS_EXPECT(tables_number(worker->reads[i]) == worker->finds[i],
                           "a slot changed under a kernel that reads it"))
            return false;
    worker->read_count = 0;
    worker->held = false;
    return good(
        engine_finish(&wrap_of(worker->load->source)->inner, worker->stream));
}

static bool lease(struct worker *worker)
{
    struct ashlar_tensormap_handle handles[BATCH];
    size_t n = 1 + stress_below(&worker->random, BATCH);
    enum ashlar_status status;
    size_t i;

    if (worker->count + n > HANDS)
        return true;
    status =
        stress_chance(&worker->random, 3)
            ? ashlar_tensormap_table_lease_run(worker->load->table, n, handles)
            : ashlar_tensormap_table_lease(worker->load->table, n, handles);
    __atomic_fetch_add(&worker->load->leases, 1, __ATOMIC_RELAXED);
    if (status == ASHLAR_ERR_LIMIT || status == ASHLAR_ERR_FRAGMENTED) {
        __atomic_fetch_add(&worker->load->refused, 1, __ATOMIC_RELAXED);
        return worker->held ? finish(worker) : true;
    }
    if (!good(status))
        return false;
    for (i = 0; i < n; i++) {
        worker->hands[worker->count] =
            (struct hand){handles[i], ++worker->last, false};
        if (!good(ashlar_tensormap_table_fill(
                worker->load->table, handles[i],
                tables_map(worker->hands[worker->count].number))))
            return false;
        worker->count++;
    }
    return true;
}

/* All that are not yet, in any order. */
static bool publish(struct worker *worker)
{
    struct ashlar_tensormap_handle handles[HANDS];
    size_t i, n = 0;

    for (i = worker->count; i-- > 0;)
        if (!worker->hands[i].published && !stress_chance(&worker->random, 4)) {
            handles[n++] = worker->hands[i].handle;
            worker->hands[i].published = true;
        }
    return good(ashlar_tensormap_table_publish(worker->load->table, handles, n,
                                               worker->stream));
}

/* A kernel that is queued, and lasts. */
static bool read_some(struct worker *worker)
{
    size_t i;

    if (worker->held)
        return finish(worker);
    for (i = 0; i < worker->count && worker->read_count < BATCH; i++)
        if (worker->hands[i].published) {
            worker->reads[worker->read_count] =
                device_slot(worker, &worker->hands[i]);
            worker->finds[worker->read_count++] = worker->hands[i].number;
        }
    worker->held = true;
    return good(
        engine_hold(&wrap_of(worker->load->source)->inner, worker->stream));
}

static bool rewrite(struct worker *worker)
{
    struct hand *hand;
    enum ashlar_status status;
    uint64_t number = ++worker->last;

    if (worker->count == 0 || worker->held)
        return true;
    hand = &worker->hands[stress_below(&worker->random, worker->count)];
    if (!hand->published)
        return true;
    status = ashlar_tensormap_table_rewrite(worker->load->table, hand->handle,
                                            tables_map(number), worker->stream);
    if (status == ASHLAR_OK)
        hand->number = number;
    return STRESS_EXPECT(status == ASHLAR_OK || status == ASHLAR_ERR_LIMIT,
                         "%s", ashlar_last_error_message());
}

/* Some, from one on; what they were is refused from then on. */
static bool retire(struct worker *worker)
{
    const struct ashlar_fence fence =
        ASHLAR_FENCE_OF_STREAM(NULL, worker->stream);
    struct ashlar_tensormap_handle handles[HANDS];
    size_t n, first, i;

    if (worker->count == 0)
        return true;
    n = 1 + stress_below(&worker->random, worker->count);
    first = worker->count - n;
    for (i = 0; i < n; i++)
        handles[i] = worker->hands[first + i].handle;
    worker->count = first;
    if (!good(ashlar_tensormap_table_retire(worker->load->table, handles, n,
                                            &fence, 1)))
        return false;
    return STRESS_EXPECT(ashlar_tensormap_table_retire(worker->load->table,
                                                       handles, 1, &fence, 1) ==
                             ASHLAR_ERR_NOT_LIVE,
                         "a slot was retired twice");
}

/* What is queued behind a reader is not there yet. */
static bool look(struct worker *worker)
{
    size_t i;

    for (i = 0; i < worker->count; i++) {
        const struct hand *hand = &worker->hands[i];
        const void *map =
            ashlar_tensormap_table_map(worker->load->table, hand->handle);

        if (!STRESS_EXPECT(tables_number(map) == hand->number,
                           "a host slot has another's map") ||
            (hand->published && !worker->held &&
             !STRESS_EXPECT(tables_number(device_slot(worker, hand)) ==
                                hand->number,
                            "a device slot has another's map")))
            return false;
    }
    return true;
}

static bool step(struct worker *worker)
{
    switch (stress_below(&worker->random, 8)) {
    case 0:
    case 1:
        return lease(worker);
    case 2:
        return publish(worker);
    case 3:
        return read_some(worker);
    case 4:
        return rewrite(worker);
    case 5:
        return look(worker);
    default:
        return retire(worker);
    }
}

static void work(unsigned number, void *user)
{
    struct load *load = user;
    struct worker worker = {.load = load, .stream = 20 + number};
    size_t i;

    worker.random = stress_stream(load->round * THREADS + number);
    worker.last = (load->round * THREADS + number) << 32;
    for (i = 0; i < load->steps && !stress_failed(); i++)
        if (!step(&worker))
            break;
    if (worker.held)
        (void)finish(&worker);
    while (worker.count != 0 && !stress_failed())
        (void)retire(&worker);
}

/* Slots and staging: plenty, and too few of each; and no reach to the host. */
static const struct {
    size_t slots;
    size_t staging;
    uint64_t lacks;
} loads[] = {{1024, 512, 0},
             {48, 512, 0},
             {256, 8, 0},
             {256, 64, ASHLAR_CAN_HOST_ACCESS},
             {256, 64, ASHLAR_CAN_SCATTER}};

START_TEST(a_slot_is_its_leases_until_all_that_reads_it_is_done)
{
    struct load load = {.steps = stress_count(4000, 40000)};

    load.source = tables_source(loads[_i].lacks);
    load.table = tables_make(load.source, loads[_i].slots, loads[_i].staging);
    do {
        stress_threads(THREADS, work, &load);
        load.round++;
        tables_check(load.table);
    } while (stress_goes_on() && !stress_failed());
    stress_verdict();
    ck_assert_uint_eq(tables_info(load.table).leased, 0);
    ck_assert_uint_eq(tables_info(load.table).waiting, 0);
    ck_assert_uint_eq(tables_info(load.table).staging_used, 0);
    ck_assert_uint_lt(load.refused, load.leases);
    OK(ashlar_tensormap_table_destroy(load.table, NULL, 0));
    wrap_close(load.source);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stress_map_table");
    TCase *tcase = tcase_create("threads");

    stress_begin();
    tcase_add_loop_test(tcase,
                        a_slot_is_its_leases_until_all_that_reads_it_is_done, 0,
                        sizeof(loads) / sizeof(loads[0]));
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
