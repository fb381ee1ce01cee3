/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tensor maps to the slots that a list names, by the plug-in's kernel. */
#include "config.h"

#include "cuda/rig.h"

#include "support/stress.h"

#include <string.h>
#include <time.h>

#include "../../plugins/cuda/source.h"
#include "source/source.h"

#define SLOT  ASHLAR_TENSOR_MAP_BYTES
#define SLOTS 16384u /* of the table: one granule */
#define MOST  4096u

/*
 * Granule 0 of the range is the table; 1 holds the maps, 2 the indices. Device
 * memory is the host's to see in the simulation.
 */
static uint64_t table;
static uint64_t staging;
static uint64_t indices;

static void start_with(const char *settings, const char *options)
{
    rig_start(settings, options);
    rig_make(4, 0, 0);
    OK(rig_grow(4));
    table = rig_info().base;
    staging = table + GRANULE;
    indices = staging + GRANULE;
}

static void start(void)
{
    start_with("memory=64M", NULL);
}

static uint64_t *words(uint64_t address)
{
    return (uint64_t *)(uintptr_t)address;
}

/* Put a map with a number on the list, for a slot. */
static void list(uint32_t i, uint32_t slot, uint64_t number)
{
    size_t k;

    for (k = 0; k < SLOT / sizeof(uint64_t); k++)
        words(staging + i * SLOT)[k] = number * 16 + k;
    memcpy((char *)words(indices) + i * sizeof(slot), &slot, sizeof(slot));
}

/* Whether a slot holds the map with that number; 0: no map yet. */
static bool slot_is(uint32_t slot, uint64_t number)
{
    const uint64_t *map = words(table + slot * SLOT);
    size_t k;

    for (k = 0; k < SLOT / sizeof(uint64_t); k++)
        if (map[k] != (number == 0 ? 0 : number * 16 + k))
            return false;
    return true;
}

static enum ashlar_status scatter(uint32_t count, CUstream stream)
{
    return rig.source->ops.scatter(rig.source->state, table, staging, indices,
                                   count, (uint64_t)(uintptr_t)stream);
}

static enum ashlar_status load(void)
{
    return rig.source->ops.scatter_load(rig.source->state);
}

static uint64_t modules(void)
{
    return sim_account().modules;
}

/* --- what is written ------------------------------------------------------- */

static const uint32_t counts[] = {1, 2, 31, 32, 33, 64, MOST};

/* Spread over the table; or neighbours, the first of which is slot 5. */
static uint32_t spread(uint32_t i)
{
    return i * 2654435761u % SLOTS;
}

static uint32_t beside(uint32_t i)
{
    return i + 5;
}

static void scatter_by(uint32_t (*where)(uint32_t), uint32_t count)
{
    static bool taken[SLOTS];
    uint32_t i;

    memset(taken, 0, sizeof(taken));
    for (i = 0; i < count; i++) {
        list(i, where(i), i + 1);
        taken[where(i)] = true;
    }
    list(count, SLOTS - 1, 99); /* beyond what is to be read */
    OK(scatter(count, NULL));
    for (i = 0; i < count; i++)
        ck_assert_msg(slot_is(where(i), i + 1), "slot %u", where(i));
    for (i = 0; i < SLOTS; i++)
        ck_assert_msg(taken[i] || slot_is(i, 0), "slot %u", i);
}

START_TEST(listed_slots_are_written_and_no_others)
{
    OK(load());
    scatter_by(spread, counts[_i]);
}
END_TEST

START_TEST(neighbours_are_written_too)
{
    OK(load());
    scatter_by(beside, counts[_i]);
}
END_TEST

START_TEST(nothing_listed_is_nothing_done)
{
    sim.count_none();
    OK(scatter(0, NULL));
    ck_assert_uint_eq(sim.calls(NULL), 0);
}
END_TEST

START_TEST(misaligned_addresses_are_refused_before_a_kernel_trips)
{
    list(0, 1, 1);
    sim.count_none();
    table += 64;
    REFUSED(ASHLAR_ERR_MISALIGNED, "multiple of 128", scatter(1, NULL));
    table -= 64;
    staging += 8;
    REFUSED(ASHLAR_ERR_MISALIGNED, "multiple of 16", scatter(1, NULL));
    staging -= 8;
    indices += 2;
    REFUSED(ASHLAR_ERR_MISALIGNED, "multiple of 4", scatter(1, NULL));
    indices -= 2;
    ck_assert_uint_eq(sim.calls(NULL), 0);
    OK(scatter(1, NULL));
    ck_assert(slot_is(1, 1));
}
END_TEST

START_TEST(a_peer_scatters_from_its_own_stream)
{
    CUcontext context;
    CUdevice device;
    CUstream stream;

    start_with("devices=2", "peers=1");
    CU(cu.DeviceGet(&device, 1));
    CU(cu.DevicePrimaryCtxRetain(&context, device));
    CU(cu.CtxSetCurrent(context));
    stream = rig_stream();
    CU(cu.CtxSetCurrent(sim.context));
    OK(load());
    list(0, 7, 1);
    OK(scatter(1, stream));
    ck_assert(slot_is(7, 1));
    list(0, 8, 2);
    OK(scatter(1, stream));
    ck_assert(slot_is(8, 2));
    ck_assert_uint_eq(modules(), 2);
    ck_assert_uint_eq(sim.calls("cuModuleLoadData"), 2);
    rig_end();
    CU(cu.StreamDestroy(stream));
    CU(cu.DevicePrimaryCtxRelease(device));
}
END_TEST

/* --- when ------------------------------------------------------------------ */

START_TEST(a_scatter_behind_held_work_waits_for_it)
{
    CUstream stream = rig_stream();

    OK(load());
    list(0, 3, 1);
    ck_assert_int_eq(sim.hold(stream), 0);
    CU(cu.MemsetD8Async(table + 3 * SLOT, 0xff, SLOT, stream));
    OK(scatter(1, stream));
    CU(cu.MemsetD8Async(staging, 0xff, SLOT, stream));
    ck_assert(slot_is(3, 0));
    ck_assert_int_eq(sim.finish(stream), 0);
    ck_assert(slot_is(3, 1));
    CU(cu.StreamDestroy(stream));
}
END_TEST

static uint64_t fence_behind(CUstream stream)
{
    uint64_t fence = 0;

    OK(rig.source->ops.fence_record(rig.source->state,
                                    (uint64_t)(uintptr_t)stream, &fence));
    return fence;
}

START_TEST(a_fence_behind_a_scatter_passes_when_it_is_done)
{
    CUstream stream = rig_stream();
    uint64_t fence;

    OK(load());
    list(0, 3, 1);
    ck_assert_int_eq(sim.hold(stream), 0);
    OK(scatter(1, stream));
    fence = fence_behind(stream);
    ck_assert_int_eq(rig.source->ops.fence_query(rig.source->state, fence),
                     ASHLAR_ERR_BUSY);
    ck_assert_int_eq(sim.finish(stream), 0);
    OK(rig.source->ops.fence_query(rig.source->state, fence));
    ck_assert(slot_is(3, 1));
    rig.source->ops.fence_drop(rig.source->state, fence);
    CU(cu.StreamDestroy(stream));
}
END_TEST

START_TEST(a_captured_scatter_is_done_at_each_replay)
{
    CUstream stream = rig_stream();
    CUgraphExec exec;
    CUgraph graph;
    uint32_t i;

    OK(load());
    list(0, 3, 1);
    CU(cu.StreamBeginCapture(stream, rig_modes[_i]));
    OK(scatter(1, stream));
    CU(cu.StreamEndCapture(stream, &graph));
    ck_assert(slot_is(3, 0));
    CU(cu.GraphInstantiate(&exec, graph, 0));
    CU(cu.GraphDestroy(graph));
    for (i = 4; i < 8; i++) {
        list(0, i, i);
        CU(cu.GraphLaunch(exec, stream));
        ck_assert(slot_is(i, i));
    }
    CU(cu.GraphExecDestroy(exec));
    CU(cu.StreamDestroy(stream));
}
END_TEST

/* --- the kernel ------------------------------------------------------------ */

START_TEST(the_kernel_is_loaded_once_and_unloaded_at_close)
{
    list(0, 1, 1);
    OK(load());
    OK(load());
    OK(scatter(1, NULL));
    OK(scatter(1, rig_stream()));
    ck_assert_uint_eq(sim.calls("cuModuleLoadData"), 1);
    ck_assert_uint_eq(modules(), 1);
    /* rig_end() sees that it is gone */
}
END_TEST

START_TEST(what_is_not_loaded_ahead_is_loaded_by_the_first_scatter)
{
    list(0, 1, 1);
    OK(scatter(1, NULL));
    OK(scatter(1, NULL));
    ck_assert(slot_is(1, 1));
    ck_assert_uint_eq(sim.calls("cuModuleLoadData"), 1);
}
END_TEST

START_TEST(nothing_is_loaded_for_a_stream_that_is_captured)
{
    CUstream stream = rig_stream();
    CUgraph graph;

    list(0, 1, 1);
    CU(cu.StreamBeginCapture(stream, rig_modes[_i]));
    REFUSED(ASHLAR_ERR_CAPTURE, "is being captured", scatter(1, stream));
    ck_assert_uint_eq(modules(), 0);
    OK(load());
    OK(scatter(1, stream));
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(stream));
}
END_TEST

/* The legacy stream waits for those that are made to heed it. */
START_TEST(a_scatter_spoils_no_capture_of_a_stream_that_it_would_wait_for)
{
    CUstream stream;
    CUgraph graph;

    OK(load());
    list(0, 1, 1);
    CU(cu.StreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(stream, rig_modes[_i]));
    REFUSED(ASHLAR_ERR_CAPTURE, "waits for one that is being captured",
            scatter(1, NULL));
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(stream));
    ck_assert(slot_is(1, 0));
    OK(scatter(1, NULL));
    ck_assert(slot_is(1, 1));
}
END_TEST

/* Loading uses no stream. */
START_TEST(loading_disturbs_no_capture)
{
    CUstream stream;
    CUgraph graph;

    CU(cu.StreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cu.StreamBeginCapture(stream, rig_modes[_i]));
    OK(load());
    CU(cu.StreamEndCapture(stream, &graph));
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(stream));
}
END_TEST

START_TEST(without_a_context_the_primary_one_is_started_and_not_left_current)
{
    CUcontext current;

    CU(cu.CtxSetCurrent(NULL));
    CU(cu.DevicePrimaryCtxRelease(0));
    OK(load());
    CU(cu.CtxGetCurrent(&current));
    ck_assert_ptr_null(current);
    list(0, 1, 1);
    OK(scatter(1, NULL));
    ck_assert(slot_is(1, 1));
    ck_assert_uint_eq(sim_account().contexts_retained, 1);
    ck_assert_uint_eq(sim.calls("cuModuleLoadData"), 1);
}
END_TEST

START_TEST(a_context_that_was_reset_gets_the_kernel_anew)
{
    OK(load());
    CU(cu.DevicePrimaryCtxReset(0));
    CU(cu.CtxSetCurrent(NULL));
    list(0, 1, 1);
    OK(scatter(1, NULL));
    ck_assert(slot_is(1, 1));
    ck_assert_uint_eq(sim.calls("cuModuleLoadData"), 2);
}
END_TEST

/* --- drivers --------------------------------------------------------------- */

static bool can_scatter(void)
{
    return (rig.source->info.can & ASHLAR_CAN_SCATTER) != 0;
}

START_TEST(an_older_driver_knows_no_maps_that_a_kernel_writes)
{
    rig_start("driver=12020", NULL);
    ck_assert(!can_scatter());
    OK(ashlar_source_close(rig.source));
    rig_start("driver=12030", NULL);
    ck_assert(can_scatter());
    OK(load());
    rig_end();
}
END_TEST

START_TEST(an_older_device_knows_no_maps)
{
    rig_start("sm=89", NULL);
    ck_assert(!can_scatter());
    rig_end();
}
END_TEST

static const struct {
    CUresult result;
    enum ashlar_status status;
} refusals[] = {
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, ASHLAR_ERR_DRIVER_TOO_OLD},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, ASHLAR_ERR_UNSUPPORTED},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, ASHLAR_ERR_UNSUPPORTED},
    {CUDA_ERROR_JIT_COMPILATION_DISABLED, ASHLAR_ERR_UNSUPPORTED},
    {CUDA_ERROR_OUT_OF_MEMORY, ASHLAR_ERR_NO_DEVICE_MEMORY},
    {CUDA_ERROR_INVALID_PTX, ASHLAR_ERR_DRIVER},
};

START_TEST(why_a_driver_does_not_load_the_kernel_is_told)
{
    sim.inject("cuModuleLoadData", 1, refusals[_i].result, 0);
    REFUSED(refusals[_i].status, "cuModuleLoadData() failed", load());
    OK(load());
}
END_TEST

START_TEST(a_context_that_failed_is_told)
{
    OK(load());
    list(0, 1, 1);
    sim.fail_context(0, CUDA_ERROR_ILLEGAL_ADDRESS);
    REFUSED(ASHLAR_ERR_CONTEXT_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS",
            scatter(1, NULL));
    OK(ashlar_range_destroy(rig.range, QUIET));
    OK(ashlar_source_close(rig.source));
}
END_TEST

START_TEST(a_driver_that_is_gone_is_told_and_closing_is_quiet)
{
    OK(load());
    list(0, 1, 1);
    sim.deinitialize();
    REFUSED(ASHLAR_ERR_NO_DRIVER, "CUDA_ERROR_DEINITIALIZED", scatter(1, NULL));
    (void)ashlar_range_destroy(rig.range, QUIET);
    OK(ashlar_source_close(rig.source));
}
END_TEST

/* --- any call may fail ----------------------------------------------------- */

/* What a call that failed may not have changed. */
static void check_unchanged(const struct cudasim_account *before)
{
    const struct cudasim_account now = sim_account();

    ck_assert_uint_eq(now.events, before->events);
    ck_assert_uint_eq(now.contexts_retained, before->contexts_retained);
    ck_assert_uint_eq(now.bogus_handles, 0);
}

static enum ashlar_status scatter_one(void)
{
    return scatter(1, NULL);
}

/* Fail each call of the driver in turn, until there is none to fail. A kernel
 * that is loaded when the launch fails stays for the next. */
static void sweep(enum ashlar_status (*call)(void), bool loaded)
{
    struct cudasim_account before;
    enum ashlar_status status;
    CUcontext current;
    uint64_t n;
    bool met;

    for (n = 1;; n++) {
        start();
        list(0, 1, 1);
        if (loaded)
            OK(load());
        before = sim_account();
        sim.count_none();
        sim.inject(NULL, n, CUDA_ERROR_OUT_OF_MEMORY, 0);
        status = call();
        met = sim.calls(NULL) >= n;
        sim.inject_none();
        if (status != ASHLAR_OK) {
            check_unchanged(&before);
            ck_assert_uint_le(modules(), loaded || sim.calls("cuLaunchKernel"));
            ck_assert(slot_is(1, 0));
        }
        CU(cu.CtxGetCurrent(&current));
        ck_assert_ptr_eq(current, sim.context);
        OK(call());
        ck_assert_uint_eq(modules(), 1);
        rig_end();
        if (!met)
            break;
    }
    ck_assert_uint_gt(n, 5);
}

START_TEST(any_call_of_loading_may_fail)
{
    sweep(load, false);
}
END_TEST

START_TEST(any_call_of_scattering_may_fail)
{
    sweep(scatter_one, true);
}
END_TEST

START_TEST(any_call_of_scattering_without_loading_may_fail)
{
    sweep(scatter_one, false);
}
END_TEST

/* --- threads --------------------------------------------------------------- */

#define THREADS     8
#define PER_THREAD  32u
#define THREAD_MAPS (PER_THREAD * SLOT)

static void scatter_own(unsigned number, void *user)
{
    const uint64_t maps = staging + number * THREAD_MAPS;
    const uint64_t list_of_mine =
        indices + number * PER_THREAD * sizeof(uint32_t);
    uint32_t i;

    (void)user;
    for (i = 0; i < PER_THREAD; i++) {
        list(number * PER_THREAD + i, i * THREADS + number, number + 1);
    }
    for (i = 1; i <= PER_THREAD; i++)
        (void)STRESS_EXPECT(rig.source->ops.scatter(rig.source->state, table,
                                                    maps, list_of_mine, i,
                                                    0) == ASHLAR_OK,
                            "%s", ashlar_last_error_message());
}

/* No thread of these has a context, and none has the kernel loaded. It is once, as
 * to unload a second one would wait for all that the others scatter. */
START_TEST(threads_scatter_side_by_side)
{
    uint32_t i;

    stress_threads(THREADS, scatter_own, NULL);
    stress_verdict();
    for (i = 0; i < PER_THREAD * THREADS; i++)
        ck_assert(slot_is(i, i % THREADS + 1));
    ck_assert_uint_eq(modules(), 1);
    ck_assert_uint_eq(sim.calls("cuModuleLoadData"), 1);
    ck_assert_uint_eq(sim.calls("cuModuleUnload"), 0);
}
END_TEST

/* Loading, as it takes long: until another thread does so too, or for a while. */
static CUresult (*module_load_data)(CUmodule *module, const void *image);
static unsigned loading;

static CUresult CUDAAPI load_slowly(CUmodule *module, const void *image)
{
    const struct timespec moment = {0, 1000000};
    unsigned i;

    __atomic_fetch_add(&loading, 1, __ATOMIC_RELAXED);
    for (i = 0; i < 200 && __atomic_load_n(&loading, __ATOMIC_RELAXED) < 2; i++)
        (void)nanosleep(&moment, NULL);
    return module_load_data(module, image);
}

static void load_too(unsigned number, void *user)
{
    (void)number;
    (void)user;
    STRESS_EXPECT(load() == ASHLAR_OK, "%s", ashlar_last_error_message());
}

START_TEST(threads_that_want_the_kernel_at_once_load_it_once)
{
    struct cuda *cuda = rig.source->state;

    module_load_data = cuda->driver.module_load_data;
    cuda->driver.module_load_data = load_slowly;
    stress_threads(2, load_too, NULL);
    stress_verdict();
    ck_assert_uint_eq(loading, 1);
    ck_assert_uint_eq(modules(), 1);
    ck_assert_uint_eq(sim.calls("cuModuleUnload"), 0);
}
END_TEST

/* --------------------------------------------------------------------------- */

#define COUNT(_array) (int)(sizeof(_array) / sizeof((_array)[0]))

static Suite *cuda_scatter_suite(void)
{
    Suite *suite = suite_create("cuda_scatter");
    TCase *test = rig_case(suite, start, "what");

    tcase_add_loop_test(test, listed_slots_are_written_and_no_others, 0,
                        COUNT(counts));
    tcase_add_loop_test(test, neighbours_are_written_too, 0, COUNT(counts));
    tcase_add_test(test, nothing_listed_is_nothing_done);
    tcase_add_test(test,
                   misaligned_addresses_are_refused_before_a_kernel_trips);

    test = rig_case(suite, start, "when");
    tcase_add_test(test, a_scatter_behind_held_work_waits_for_it);
    tcase_add_test(test, a_fence_behind_a_scatter_passes_when_it_is_done);
    tcase_add_loop_test(test, a_captured_scatter_is_done_at_each_replay, 0,
                        RIG_MODES);

    test = rig_case(suite, start, "the kernel");
    tcase_add_test(test, the_kernel_is_loaded_once_and_unloaded_at_close);
    tcase_add_test(test,
                   what_is_not_loaded_ahead_is_loaded_by_the_first_scatter);
    tcase_add_loop_test(test, nothing_is_loaded_for_a_stream_that_is_captured,
                        0, RIG_MODES);
    tcase_add_loop_test(
        test, a_scatter_spoils_no_capture_of_a_stream_that_it_would_wait_for, 0,
        RIG_MODES);
    tcase_add_loop_test(test, loading_disturbs_no_capture, 0, RIG_MODES);
    tcase_add_test(
        test,
        without_a_context_the_primary_one_is_started_and_not_left_current);
    tcase_add_test(test, a_context_that_was_reset_gets_the_kernel_anew);
    tcase_add_loop_test(test, why_a_driver_does_not_load_the_kernel_is_told, 0,
                        COUNT(refusals));
    tcase_add_test(test, threads_scatter_side_by_side);
    tcase_add_test(test, threads_that_want_the_kernel_at_once_load_it_once);

    test = tcase_create("drivers");
    tcase_add_test(test, a_peer_scatters_from_its_own_stream);
    tcase_add_test(test, an_older_driver_knows_no_maps_that_a_kernel_writes);
    tcase_add_test(test, an_older_device_knows_no_maps);
    tcase_add_test(test, any_call_of_loading_may_fail);
    tcase_add_test(test, any_call_of_scattering_may_fail);
    tcase_add_test(test, any_call_of_scattering_without_loading_may_fail);
    suite_add_tcase(suite, test);

    test = tcase_create("ends");
    tcase_add_checked_fixture(test, start, NULL);
    tcase_add_test(test, a_context_that_failed_is_told);
    tcase_add_test(test, a_driver_that_is_gone_is_told_and_closing_is_quiet);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(cuda_scatter_suite());
}
