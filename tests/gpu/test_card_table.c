/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tables of tensor maps on a real card, each in two ways: with host slots where
 * the device reads them, and with host slots on the heap. */
#include "config.h"

#include "gpu/card.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define SLOT  ASHLAR_TENSOR_MAP_BYTES
#define SLOTS 16384u
#define MOST  4096u
#define N     64u /* scattered slots: every other one */
#define QUIET ASHLAR_QUIET, 1

enum { REACHED, HEAP, WAYS };

static const char *const way_names[WAYS] = {"host memory of the device",
                                            "the heap"};

static struct ashlar_source *source;
static struct ashlar_source *host; /* NULL: the heap */
static struct ashlar_tensormap_table *table;
static struct ashlar_tensormap_handle all[SLOTS];
static struct ashlar_tensormap_handle picked[N];
static CUstream stream;

static uint64_t number(const void *handle)
{
    return (uint64_t)(uintptr_t)handle;
}

static struct ashlar_tensormap_table_info info(void)
{
    struct ashlar_tensormap_table_info read = ASHLAR_TENSORMAP_TABLE_INFO_INIT;

    OK(ashlar_tensormap_table_query(table, &read));
    return read;
}

static void open_sources(int way)
{
    card_start();
    OK(ashlar_source_open("cuda", NULL, &source));
    if (way == REACHED)
        OK(ashlar_source_open("cuda", "location=host", &host));
    stream = card_stream();
}

static void make(size_t max_slots)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;

    options.max_slots = options.initial_slots = max_slots;
    options.host = host;
    OK(ashlar_tensormap_table_create(source, &options, &table));
}

static void begin(int way, size_t max_slots)
{
    open_sources(way);
    make(max_slots);
    CU(cu.MemsetD8Async(info().base, 0, max_slots * SLOT, stream));
    CU(cu.StreamSynchronize(stream));
}

static void end(void)
{
    CU(cu.StreamSynchronize(stream));
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    OK(ashlar_source_drain(source, UINT64_C(10000000000)));
    if (host != NULL)
        OK(ashlar_source_close(host));
    OK(ashlar_source_close(source));
    CU(cu.StreamDestroy(stream));
    host = NULL;
}

/* Bytes that tell a slot and a turn from others. */
static void lease(size_t n, uint32_t turn)
{
    unsigned char map[SLOT];
    size_t i;

    OK(ashlar_tensormap_table_lease(table, n, all));
    for (i = 0; i < n; i++) {
        memset(map, (int)((all[i].index + turn) % 255 + 1), SLOT);
        memcpy(map, &all[i].index, sizeof(all[i].index));
        OK(ashlar_tensormap_table_fill(table, all[i], map));
    }
    for (i = 0; i < N && 2 * i < n; i++)
        picked[i] = all[2 * i];
}

static void publish(const struct ashlar_tensormap_handle *handles, size_t n)
{
    OK(ashlar_tensormap_table_publish(table, handles, n, number(stream)));
}

/* How many of some slots have on the device what they have on the host. */
static size_t count_there(const struct ashlar_tensormap_handle *handles,
                          size_t n)
{
    static unsigned char device[SLOTS * SLOT];
    size_t i, there = 0;

    CU(cu.MemcpyDtoH(device, info().base, info().slots * SLOT));
    for (i = 0; i < n; i++)
        there +=
            memcmp(device + handles[i].index * SLOT,
                   ashlar_tensormap_table_map(table, handles[i]), SLOT) == 0;
    return there;
}

/* --- what is written --------------------------------------------------------- */

START_TEST(neighbours_and_scattered_slots_get_to_the_device)
{
    begin(_i, SLOTS);
    lease(SLOTS, 0);
    publish(picked, N);
    CU(cu.StreamSynchronize(stream));
    ck_assert_uint_eq(count_there(all, SLOTS), N);
    publish(&all[2 * N], MOST);
    CU(cu.StreamSynchronize(stream));
    ck_assert_uint_eq(count_there(picked, N), N);
    ck_assert_uint_eq(count_there(all, SLOTS), N + MOST);
    end();
}
END_TEST

static bool one_is_free(void)
{
    struct ashlar_tensormap_handle handle;

    return ashlar_tensormap_table_lease(table, 1, &handle) == ASHLAR_OK;
}

START_TEST(no_slot_is_used_again_while_a_kernel_runs)
{
    struct ashlar_fence behind = {ASHLAR_FENCE_STREAM, 0, NULL, 0};
    CUdeviceptr scratch;

    begin(_i, 1024);
    behind.handle = number(stream);
    lease(1024, 0);
    CU(cu.MemAlloc(&scratch, SLOT));
    publish(picked, N);
    card_spin(stream, scratch, SLOT);
    OK(ashlar_tensormap_table_retire(table, picked, N, &behind, 1));
    ck_assert(!one_is_free());
    card_stop();
    CU(cu.StreamSynchronize(stream));
    ck_assert(one_is_free());
    CU(cu.MemFree(scratch));
    end();
}
END_TEST

/* --- captures ------------------------------------------------------------------ */

static const CUstreamCaptureMode modes[] = {CU_STREAM_CAPTURE_MODE_GLOBAL,
                                            CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                            CU_STREAM_CAPTURE_MODE_RELAXED};

#define MODES (int)(sizeof(modes) / sizeof(modes[0]))

/* The driver says so a little later, from a thread of its own. */
static bool graphs_are_gone(void)
{
    unsigned long tries;

    for (tries = 0; tries < 100000000 && info().in_graphs != 0; tries++)
        (void)sched_yield();
    return info().in_graphs == 0;
}

START_TEST(each_replay_publishes_what_the_capture_did)
{
    CUgraphExec executable;
    CUgraph graph;
    int turn;

    begin(_i / MODES, 1024);
    lease(1024, 0);
    CU(cu.StreamBeginCapture(stream, modes[_i % MODES]));
    publish(picked, N);
    publish(&all[512], 512);
    OK(ashlar_tensormap_table_reserve(table, 0));
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    ck_assert_uint_eq(count_there(all, 1024), 0);
    for (turn = 0; turn < 3; turn++) {
        CU(cu.MemsetD8Async(info().base, 0, 1024 * SLOT, stream));
        CU(cu.GraphLaunch(executable, stream));
        CU(cu.StreamSynchronize(stream));
        ck_assert_uint_eq(count_there(all, 1024), N + 512);
    }
    OK(ashlar_tensormap_table_retire(table, all, 1024, QUIET));
    CU(cu.GraphDestroy(graph));
    ck_assert_uint_eq(info().in_graphs, N + 512);
    CU(cu.GraphExecDestroy(executable));
    ck_assert(graphs_are_gone());
    end();
}
END_TEST

/* The kernel that scatters is loaded meanwhile. */
START_TEST(a_table_is_made_while_a_stream_is_captured)
{
    CUgraphExec executable;
    CUgraph graph;

    open_sources(_i / MODES);
    CU(cu.StreamBeginCapture(stream, modes[_i % MODES]));
    make(1024);
    lease(1024, 0);
    publish(picked, N);
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphInstantiate(&executable, graph, 0));
    CU(cu.MemsetD8Async(info().base, 0, 1024 * SLOT, stream));
    CU(cu.GraphLaunch(executable, stream));
    CU(cu.StreamSynchronize(stream));
    ck_assert_uint_eq(count_there(all, 1024), N);
    CU(cu.GraphDestroy(graph));
    CU(cu.GraphExecDestroy(executable));
    end();
}
END_TEST

/* --- speed ----------------------------------------------------------------------- */

/* Where is copied to by hand, and pinned memory to copy from: what is written
 * each time, and what nothing writes. */
static CUdeviceptr elsewhere;
static unsigned char *pinned;
static unsigned char *idle;

static void lease_many(void *count)
{
    lease(*(size_t *)count, 0);
}

static void publish_many(void *count)
{
    publish(all, *(size_t *)count);
}

static void publish_scattered(void *count)
{
    (void)count;
    publish(picked, N);
}

static void retire_many(void *count)
{
    OK(ashlar_tensormap_table_retire(table, all, *(size_t *)count, QUIET));
}

/* As lease() writes host slots. */
static void write_many(void *count)
{
    static uint32_t turn;
    unsigned char map[SLOT];
    size_t i;

    turn++;
    for (i = 0; i < *(size_t *)count; i++) {
        memset(map, (int)((i + turn) % 255 + 1), SLOT);
        memcpy(pinned + i * SLOT, map, SLOT);
    }
}

static void copy_many(void *count)
{
    CU(cu.MemcpyAsync(elsewhere, number(pinned), *(size_t *)count * SLOT,
                      stream));
}

static void copy_idle(void *count)
{
    CU(cu.MemcpyAsync(elsewhere, number(idle), *(size_t *)count * SLOT,
                      stream));
}

/*
 * Slots that are published were written just before: their lines are in the
 * caches of a core, from where a copy has them later than out of memory. So is
 * what the like copy is of.
 */
static void compare(const char *way, const char *what, void (*issue)(void *),
                    size_t count, size_t copied)
{
    const struct card_work works[] = {
        {lease_many, issue, retire_many, &count},
        {write_many, copy_many, NULL, &copied},
        {NULL, copy_idle, NULL, &copied},
    };
    double us[3];

    card_times_us(stream, works, us, 3);
    printf("# host slots on %s: publish of %s %.1f us; one copy of %zu bytes "
           "written just before %.1f us: %.2f times that; of bytes left alone "
           "%.1f us: %.2f times that\n",
           way, what, us[0], copied * SLOT, us[1], us[0] / us[1], us[2],
           us[0] / us[2]);
    (void)fflush(stdout);
}

/* Says figures, and judges none. */
START_TEST(how_long_it_takes)
{
    void *block;

    begin(_i, SLOTS);
    CU(cu.MemHostAlloc(&block, 2 * MOST * SLOT, 0));
    CU(cu.MemAlloc(&elsewhere, MOST * SLOT));
    pinned = block;
    idle = pinned + MOST * SLOT;
    memset(idle, 1, MOST * SLOT);
    compare(way_names[_i], "4,096 neighbours", publish_many, MOST, MOST);
    compare(way_names[_i], "64 scattered", publish_scattered, (size_t)2 * N, 1);
    CU(cu.MemFree(elsewhere));
    CU(cu.MemFreeHost(pinned));
    end();
}
END_TEST

static Suite *card_table_suite(void)
{
    Suite *suite = suite_create("card_table");
    TCase *test = tcase_create("both ways");

    tcase_set_timeout(test, 120);
    tcase_add_loop_test(test, neighbours_and_scattered_slots_get_to_the_device,
                        0, WAYS);
    tcase_add_loop_test(test, no_slot_is_used_again_while_a_kernel_runs, 0,
                        WAYS);
    tcase_add_loop_test(test, each_replay_publishes_what_the_capture_did, 0,
                        WAYS * MODES);
    tcase_add_loop_test(test, a_table_is_made_while_a_stream_is_captured, 0,
                        WAYS * MODES);
    tcase_add_loop_test(test, how_long_it_takes, 0, WAYS);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    const char *missing = card_missing();

    return missing != NULL ? suite_skip(missing)
                           : suite_run(card_table_suite());
}
