/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tables of tensor maps on the plug-in, each in two ways: with host slots where
 * the device reads them, and with host slots on the heap. */
#include "config.h"

#include "cuda/rig.h"

#include "support/tables.h"

#include <pthread.h>
#include <string.h>

#define SLOTS 64
#define N     16 /* scattered ones of them */

/* What a test loops over. */
enum { REACHED, HEAP, WAYS };

static struct ashlar_source *host; /* NULL: the heap */
static struct ashlar_tensormap_table *table;
static struct ashlar_tensormap_handle all[SLOTS];
static struct ashlar_tensormap_handle picked[N]; /* every other one */

static uint64_t number_of(CUstream stream)
{
    return (uint64_t)(uintptr_t)stream;
}

static void open_sources(int way)
{
    rig_start("devices=1,memory=64M", NULL);
    if (way == REACHED)
        OK(rig_open_source("location=host", &host));
}

/* A table, all of whose slots are leased and have map index + 1. */
static void make(void)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    size_t i;

    options.max_slots = SLOTS;
    options.staging_slots = 2 * N;
    options.host = host;
    OK(ashlar_tensormap_table_create(rig.source, &options, &table));
    ck_assert_uint_eq(tables_info(table).scatters_by_kernel, 1);
    tables_lease(table, SLOTS, 1, all);
    for (i = 0; i < N; i++)
        picked[i] = all[2 * i];
}

static void begin(int way)
{
    open_sources(way);
    make();
}

static void end(void)
{
    sim.finish_all();
    tables_check(table);
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    OK(ashlar_source_drain(rig.source, 0));
    if (host != NULL)
        OK(ashlar_source_close(host));
    host = NULL;
    rig_end();
}

static void publish(const struct ashlar_tensormap_handle *handles, size_t n,
                    CUstream stream)
{
    OK(ashlar_tensormap_table_publish(table, handles, n, number_of(stream)));
}

static void retire(const struct ashlar_tensormap_handle *handles, size_t n,
                   CUstream stream)
{
    OK(ashlar_tensormap_table_retire(table, handles, n,
                                     ON_STREAM(number_of(stream))));
}

static bool none_is_free(void)
{
    struct ashlar_tensormap_handle handle;

    return ashlar_tensormap_table_lease(table, 1, &handle) == ASHLAR_ERR_LIMIT;
}

/* How many of those that were picked are on the device. */
static size_t picked_there(void)
{
    size_t i, count = 0;

    for (i = 0; i < N; i++)
        count += tables_on_device(table, picked[i]) == 2 * i + 1;
    return count;
}

static void wipe_device(CUstream stream)
{
    CU(cu.MemsetD8Async(tables_info(table).base, 0xee, SLOTS * 128, stream));
}

/* Something like a kernel that reads a slot, until it is finished. */
static void read_slot(CUstream stream, struct ashlar_tensormap_handle handle)
{
    uint64_t address = tables_info(table).base + handle.index * UINT64_C(128);

    ck_assert_int_eq(sim.hold(stream), 0);
    ck_assert_int_eq(sim.touch(stream, address, 128, 0), 0);
}

/* --- publish --------------------------------------------------------------- */

START_TEST(slots_get_to_the_device_in_the_order_of_the_stream)
{
    CUstream stream;

    begin(_i);
    stream = rig_stream();
    ck_assert_int_eq(sim.hold(stream), 0);
    publish(picked, N, stream);
    publish(&all[40], 20, stream);
    ck_assert_uint_eq(picked_there(), 0);
    ck_assert_uint_ne(tables_on_device(table, all[40]), 41);
    ck_assert_int_eq(sim.finish(stream), 0);
    ck_assert_uint_eq(picked_there(), N);
    ck_assert_uint_eq(tables_on_device(table, all[59]), 60);
    ck_assert_uint_eq(tables_on_device(table, all[1]), 0);
    ck_assert_uint_eq(tables_info(table).copies, _i == REACHED ? 1 : 2);
    ck_assert_uint_eq(tables_info(table).scatters, 1);
    end();
}
END_TEST

START_TEST(a_thread_without_a_context_publishes_too)
{
    begin(_i);
    CU(cu.CtxSetCurrent(NULL));
    publish(picked, N, NULL);
    ck_assert_uint_eq(picked_there(), N);
    CU(cu.CtxSetCurrent(sim.context));
    end();
}
END_TEST

/* It would read the map of whoever has the slot next. */
START_TEST(no_slot_is_used_again_while_a_kernel_reads_it)
{
    struct ashlar_tensormap_handle next;
    CUstream slow;

    begin(_i);
    slow = rig_stream();
    publish(all, SLOTS, slow);
    read_slot(slow, all[7]);
    retire(&all[7], 1, slow);
    ck_assert(none_is_free());
    ck_assert_int_eq(sim.finish(slow), 0);
    OK(ashlar_tensormap_table_lease(table, 1, &next));
    ck_assert_uint_eq(next.index, all[7].index);
    end();
}
END_TEST

/* The touch is an error of the context if its memory is gone by its end. */
START_TEST(a_table_is_there_until_the_kernels_that_read_it_are_done)
{
    CUstream slow;

    begin(_i);
    slow = rig_stream();
    publish(all, SLOTS, slow);
    read_slot(slow, all[7]);
    OK(ashlar_tensormap_table_destroy(table, ON_STREAM(number_of(slow))));
    REFUSED(ASHLAR_ERR_BUSY, "wait", ashlar_source_drain(rig.source, 0));
    ck_assert_int_eq(sim.finish(slow), 0);
    CU(cu.StreamSynchronize(slow));
    OK(ashlar_source_drain(rig.source, 0));
    OK(ashlar_tensormap_table_create(rig.source, NULL, &table));
    end();
}
END_TEST

/* --- captures --------------------------------------------------------------- */

static CUstream begin_capture(void)
{
    CUstream stream = rig_stream();

    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    return stream;
}

struct replay {
    CUgraph graph;
    CUgraphExec executable;
};

static struct replay end_capture(CUstream stream)
{
    struct replay replay;

    CU(cu.StreamEndCapture(stream, &replay.graph));
    CU(cu.GraphInstantiate(&replay.executable, replay.graph, 0));
    return replay;
}

static void drop_replay(const struct replay *replay)
{
    CU(cu.GraphExecDestroy(replay->executable));
    CU(cu.GraphDestroy(replay->graph));
}

/* A local that was captured would be gone, and a slot another's. */
START_TEST(each_replay_publishes_what_the_capture_did)
{
    struct replay replay;
    CUstream stream;
    int i;

    begin(_i);
    stream = begin_capture();
    publish(picked, N, stream);
    publish(&all[40], 20, stream);
    ck_assert_uint_eq(picked_there(), 0);
    replay = end_capture(stream);
    ck_assert_uint_eq(tables_info(table).in_graphs, N + 20);
    ck_assert_uint_ne(tables_info(table).staging_used, 0);
    retire(all, SLOTS, NULL);
    for (i = 0; i < 3; i++) {
        const char *base = (void *)(uintptr_t)tables_info(table).base;

        wipe_device(stream);
        CU(cu.GraphLaunch(replay.executable, stream));
        ck_assert_uint_eq(tables_number(base + 128 * 2), 3);
        ck_assert_uint_eq(tables_number(base + 128 * 59), 60);
        ck_assert_uint_eq(tables_number(base + 128 * 1), 0);
    }
    drop_replay(&replay);
    end();
}
END_TEST

START_TEST(slots_and_staging_of_a_capture_are_had_again_with_its_graph)
{
    struct replay replay;
    CUstream stream;

    begin(_i);
    stream = begin_capture();
    publish(picked, N, stream);
    replay = end_capture(stream);
    publish(&all[40], 24, NULL);
    retire(picked, N, NULL);
    ck_assert(none_is_free());
    CU(cu.GraphDestroy(replay.graph));
    ck_assert(none_is_free());
    ck_assert_uint_ne(tables_info(table).staging_used, 0);
    CU(cu.GraphExecDestroy(replay.executable));
    ck_assert(!none_is_free());
    ck_assert_uint_eq(tables_info(table).staging_used, 0);
    ck_assert_uint_eq(tables_info(table).in_graphs, 0);
    end();
}
END_TEST

/* Destroyed first, the table stays where it is for the graph's replays. */
START_TEST(a_table_is_there_until_its_graphs_are_gone)
{
    struct replay replay;
    CUstream stream;

    begin(_i);
    stream = begin_capture();
    publish(picked, N, stream);
    replay = end_capture(stream);
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    REFUSED(ASHLAR_ERR_BUSY, "wait", ashlar_source_drain(rig.source, 0));
    CU(cu.GraphLaunch(replay.executable, stream));
    CU(cu.StreamSynchronize(stream));
    drop_replay(&replay);
    OK(ashlar_source_drain(rig.source, 0));
    OK(ashlar_tensormap_table_create(rig.source, NULL, &table));
    end();
}
END_TEST

/* All that a table does is legal while a stream is captured, also in the mode
 * that every thread can spoil. */
START_TEST(a_capture_stays_good_whatever_the_table_does_meanwhile)
{
    struct ashlar_tensormap_table *other = NULL;
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;
    struct ashlar_tensormap_handle handles[3];
    CUstream captured, stream;
    struct replay replay;

    begin(_i);
    options.host = host;
    OK(ashlar_tensormap_table_create(rig.source, &options, &other));
    stream = rig_stream();
    captured = begin_capture();
    publish(picked, N, stream);
    tables_lease(other, 3, 1, handles); /* it grows */
    OK(ashlar_tensormap_table_publish(other, handles, 3, number_of(captured)));
    OK(ashlar_tensormap_table_publish(table, &all[50], 3, number_of(captured)));
    OK(ashlar_tensormap_table_rewrite(table, picked[0], tables_map(77),
                                      number_of(stream)));
    retire(picked, N, stream);
    (void)tables_info(table);
    OK(ashlar_tensormap_table_destroy(other, QUIET));
    replay = end_capture(captured);
    CU(cu.GraphLaunch(replay.executable, stream));
    ck_assert_uint_eq(tables_on_device(table, all[52]), 53);
    drop_replay(&replay);
    end();
}
END_TEST

/* Loading its kernel spoils no capture, and what follows finds it loaded. */
START_TEST(a_table_is_made_while_a_stream_is_captured)
{
    struct replay replay;
    CUstream captured;

    open_sources(_i);
    captured = begin_capture();
    make();
    publish(picked, N, captured);
    ck_assert_uint_eq(tables_info(table).scatters, 1);
    replay = end_capture(captured);
    CU(cu.GraphLaunch(replay.executable, captured));
    ck_assert_uint_eq(picked_there(), N);
    drop_replay(&replay);
    end();
}
END_TEST

START_TEST(a_rewrite_in_a_capture_is_done_by_each_replay)
{
    struct replay replay;
    CUstream stream;

    begin(_i);
    publish(picked, N, NULL);
    CU(cu.CtxSynchronize());
    stream = begin_capture();
    OK(ashlar_tensormap_table_rewrite(table, picked[3], tables_map(77),
                                      number_of(stream)));
    replay = end_capture(stream);
    ck_assert_uint_eq(picked_there(), N);
    CU(cu.GraphLaunch(replay.executable, stream));
    ck_assert_uint_eq(tables_on_device(table, picked[3]), 77);
    REFUSED(
        ASHLAR_ERR_BUSY, "belongs to a graph",
        ashlar_tensormap_table_rewrite(table, picked[3], tables_map(78), 0));
    drop_replay(&replay);
    OK(ashlar_tensormap_table_rewrite(table, picked[3], tables_map(78), 0));
    end();
}
END_TEST

START_TEST(the_default_stream_takes_nothing_while_one_that_heeds_it_is_captured)
{
    struct replay replay;
    CUstream stream;

    begin(_i);
    CU(cu.StreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    publish(picked, N, stream);
    REFUSED(ASHLAR_ERR_CAPTURE, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
            ashlar_tensormap_table_publish(table, &all[40], 4, 0));
    ck_assert_uint_eq(tables_state(table, all[40]), ASHLAR_TENSORMAP_ENCODED);
    replay = end_capture(stream);
    CU(cu.GraphLaunch(replay.executable, stream));
    ck_assert_uint_eq(picked_there(), N);
    drop_replay(&replay);
    end();
}
END_TEST

START_TEST(a_capture_that_was_spoilt_takes_nothing)
{
    CUstream stream;
    CUgraph graph;
    CUevent event;

    begin(_i);
    CU(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    CU(cu.EventRecord(event, NULL));
    stream = begin_capture();
    ck_assert_int_ne(cu.EventQuery(event), CUDA_SUCCESS); /* spoils it */
    REFUSED(
        ASHLAR_ERR_CAPTURE, "was spoilt",
        ashlar_tensormap_table_publish(table, picked, N, number_of(stream)));
    ck_assert_int_ne(cu.StreamEndCapture(stream, &graph), CUDA_SUCCESS);
    ck_assert_uint_eq(tables_state(table, picked[0]), ASHLAR_TENSORMAP_ENCODED);
    ck_assert_uint_eq(tables_info(table).staging_used, 0);
    publish(picked, N, NULL);
    ck_assert_uint_eq(picked_there(), N);
    CU(cu.EventDestroy(event));
    end();
}
END_TEST

/* --- failures ----------------------------------------------------------------- */

START_TEST(a_context_that_has_failed_says_so_and_lets_all_go)
{
    begin(_i);
    publish(all, 8, NULL);
    ck_assert_int_eq(sim.fail_context(0, CUDA_ERROR_ILLEGAL_ADDRESS), 0);
    REFUSED(ASHLAR_ERR_CONTEXT_FAILED, "",
            ashlar_tensormap_table_publish(table, &all[8], 8, 0));
    ck_assert_uint_eq(tables_state(table, all[8]), ASHLAR_TENSORMAP_ENCODED);
    OK(ashlar_tensormap_table_retire(table, all, SLOTS, QUIET));
    ck_assert_uint_eq(tables_info(table).waiting, 0);
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    OK(ashlar_source_drain(rig.source, 0));
    if (host != NULL)
        OK(ashlar_source_close(host));
    OK(ashlar_source_close(rig.source));
}
END_TEST

START_TEST(a_table_is_given_up_quietly_when_the_driver_is_gone)
{
    CUstream slow;

    begin(_i);
    slow = rig_stream();
    ck_assert_int_eq(sim.hold(slow), 0);
    publish(all, SLOTS, slow);
    sim.deinitialize();
    REFUSED(ASHLAR_ERR_NO_DRIVER, "",
            ashlar_tensormap_table_rewrite(table, all[0], tables_map(7),
                                           number_of(slow)));
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    OK(ashlar_source_drain(rig.source, 0));
    if (host != NULL)
        OK(ashlar_source_drain(host, 0));
    if (host != NULL)
        OK(ashlar_source_close(host));
    OK(ashlar_source_close(rig.source));
}
END_TEST

/* Publish with no event to be had behind what is queued. */
static void publish_unfenced(const struct ashlar_tensormap_handle *handles,
                             size_t n, CUstream stream)
{
    ck_assert_int_eq(
        sim.inject("cuEventRecord", 2, CUDA_ERROR_OUT_OF_MEMORY, 1), 0);
    publish(handles, n, stream);
    sim.inject_none();
    ck_assert(table->pending_last->lost);
}

static void *publish_on_own_default(void *handle)
{
    CU(cu.CtxSetCurrent(sim.context));
    publish(handle, 1, CU_STREAM_PER_THREAD);
    return NULL;
}

/* A number is of one stream today, and of another tomorrow; that of the thread's
 * default stream is of as many as there are threads. */
START_TEST(a_stream_of_the_same_number_makes_no_fence_up)
{
    pthread_t thread;

    begin(_i);
    ck_assert_int_eq(sim.hold(CU_STREAM_PER_THREAD), 0);
    publish_unfenced(picked, N, CU_STREAM_PER_THREAD);
    ck_assert_uint_eq(picked_there(), 0);
    OK(ashlar_tensormap_table_retire(table, picked, N, QUIET));
    ck_assert_int_eq(
        pthread_create(&thread, NULL, publish_on_own_default, &all[1]), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(tables_on_device(table, all[1]), 2);
    ck_assert(none_is_free());
    ck_assert_uint_ne(tables_info(table).staging_used, 0);
    end();
}
END_TEST

/* Nobody can make a fence there any more: it is the caller who says that all is
 * done. */
START_TEST(a_table_goes_whose_unfenced_publish_was_on_a_stream_that_is_gone)
{
    CUstream gone;

    begin(_i);
    gone = rig_stream();
    publish_unfenced(picked, N, gone);
    CU(cu.StreamDestroy(gone));
    REFUSED(ASHLAR_ERR_BUSY, "ASHLAR_QUIET",
            ashlar_tensormap_table_destroy(table, ON_STREAM(0)));
    ck_assert_uint_ne(tables_info(table).staging_used, 0);
    OK(ashlar_tensormap_table_destroy(table, QUIET));
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().bogus_handles, 0);
    OK(ashlar_tensormap_table_create(rig.source, NULL, &table));
    end();
}
END_TEST

/* --- the suite ------------------------------------------------------------------ */

static Suite *table_suite(void)
{
    const TTest *const tests[] = {
        slots_get_to_the_device_in_the_order_of_the_stream,
        a_thread_without_a_context_publishes_too,
        no_slot_is_used_again_while_a_kernel_reads_it,
        a_table_is_there_until_the_kernels_that_read_it_are_done,
        each_replay_publishes_what_the_capture_did,
        slots_and_staging_of_a_capture_are_had_again_with_its_graph,
        a_table_is_there_until_its_graphs_are_gone,
        a_capture_stays_good_whatever_the_table_does_meanwhile,
        a_table_is_made_while_a_stream_is_captured,
        a_rewrite_in_a_capture_is_done_by_each_replay,
        the_default_stream_takes_nothing_while_one_that_heeds_it_is_captured,
        a_capture_that_was_spoilt_takes_nothing,
        a_context_that_has_failed_says_so_and_lets_all_go,
        a_table_is_given_up_quietly_when_the_driver_is_gone,
        a_stream_of_the_same_number_makes_no_fence_up,
        a_table_goes_whose_unfenced_publish_was_on_a_stream_that_is_gone,
    };
    Suite *suite = suite_create("cuda_table");
    TCase *tcase = tcase_create("both ways");
    size_t i;

    for (i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
        tcase_add_loop_test(tcase, tests[i], 0, WAYS);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(table_suite());
}
