/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Launches of the one kernel that is known, and of others. */
#include "config.h"

#include "sim.h"
#include "versions.h"

#include <string.h>

#define SLOT    128
#define THREADS 256

static const char image[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry ashlar_scatter(.param .u64 table, .param .u64 from,\n"
    "    .param .u64 indices, .param .u32 count) { ret; }\n"
    ".entry other(.param .align 64 .b8 map[128], .param .u32 n) { ret; }\n"
    ".entry plain() { ret; }\n";

static CUmodule module;
static CUfunction scatter;

/* A table of slots, what is to go there, and where to. */
static CUdeviceptr table;
static CUdeviceptr from;
static CUdeviceptr indices;

static void begin(void)
{
    sim_begin();
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&scatter, module, "ashlar_scatter"));
    table = sim_map(3);
    from = table + GRANULE;
    indices = table + 2 * GRANULE;
}

static void end(void)
{
    OK(cuModuleUnload(module));
    sim_unmap(table, 3);
    sim_end();
}

/* Device memory as the host sees it. */
static unsigned char *at(CUdeviceptr address)
{
    return (unsigned char *)(uintptr_t)address;
}

static void list(unsigned i, uint32_t index, int value)
{
    memset(at(from + i * SLOT), value, SLOT);
    memcpy(at(indices + i * sizeof(index)), &index, sizeof(index));
}

static bool slot_is(uint32_t index, int value)
{
    const unsigned char *slot = at(table + (CUdeviceptr)index * SLOT);
    unsigned i;

    for (i = 0; i < SLOT; i++)
        if (slot[i] != value)
            return false;
    return true;
}

static CUresult launch_blocks(unsigned blocks, uint32_t count, CUstream stream)
{
    void *arguments[] = {&table, &from, &indices, &count};

    return cuLaunchKernel(scatter, blocks, 1, 1, THREADS, 1, 1, 0, stream,
                          arguments, NULL);
}

static CUresult launch(uint32_t count, CUstream stream)
{
    return launch_blocks((count * SLOT / 16 + THREADS - 1) / THREADS, count,
                         stream);
}

/* --- launches -------------------------------------------------------------- */

START_TEST(the_listed_slots_are_written_and_no_others)
{
    list(0, 5, 1);
    list(1, 0, 2);
    list(2, 6, 3);
    OK(launch(3, sim_stream));
    ck_assert(slot_is(0, 2));
    ck_assert(slot_is(1, 0));
    ck_assert(slot_is(4, 0));
    ck_assert(slot_is(5, 1));
    ck_assert(slot_is(6, 3));
    ck_assert(slot_is(7, 0));
    end();
}
END_TEST

START_TEST(many_slots_take_many_blocks)
{
    unsigned i;

    for (i = 0; i < 4096; i++)
        list(i, i * 2654435761u % 16384, (int)(i % 255 + 1));
    OK(launch(4096, NULL));
    for (i = 0; i < 4096; i++)
        ck_assert(slot_is(i * 2654435761u % 16384, (int)(i % 255 + 1)));
    end();
}
END_TEST

START_TEST(threads_that_are_not_launched_do_nothing)
{
    unsigned i;

    for (i = 0; i < 40; i++)
        list(i, i, 1);
    OK(launch_blocks(1, 40, sim_stream));
    ck_assert(slot_is(31, 1));
    ck_assert(slot_is(32, 0));
    IS(launch(0, sim_stream), CUDA_ERROR_INVALID_VALUE);
    end();
}
END_TEST

START_TEST(a_launch_is_done_in_the_order_of_its_stream)
{
    list(0, 3, 1);
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuMemsetD8Async(from, 9, SLOT, sim_stream));
    OK(launch(1, sim_stream));
    OK(cuMemsetD8Async(from, 4, SLOT, sim_stream));
    ck_assert(slot_is(3, 0));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_NOT_READY);
    OK(cuStreamSynchronize(sim_stream));
    ck_assert(slot_is(3, 9));
    end();
}
END_TEST

START_TEST(a_launch_is_for_the_streams_of_its_context)
{
    CUcontext other;
    CUstream stream;

    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    list(0, 1, 7);
    IS(launch(1, stream), CUDA_ERROR_INVALID_HANDLE);
    IS(launch(1, NULL), CUDA_ERROR_INVALID_HANDLE);
    OK(launch(1, sim_stream));
    ck_assert(slot_is(1, 7));
    OK(cuStreamDestroy(stream));
    OK(cuCtxDestroy(other));
    end();
}
END_TEST

START_TEST(nothing_is_launched_without_a_context_or_in_one_that_failed)
{
    OK(cuCtxSetCurrent(NULL));
    IS(launch(1, sim_stream), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(sim_context));
    ck_assert_int_eq(cudasim_fail_context(0, CUDA_ERROR_LAUNCH_FAILED), 0);
    IS(launch(1, sim_stream), CUDA_ERROR_LAUNCH_FAILED);
}
END_TEST

START_TEST(arguments_are_the_callers_again_at_once)
{
    uint32_t count = 1;
    CUdeviceptr to = table;
    void *arguments[] = {&to, &from, &indices, &count};

    list(0, 3, 1);
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuLaunchKernel(scatter, 1, 1, 1, THREADS, 1, 1, 0, sim_stream, arguments,
                      NULL));
    to = 0;
    count = 0;
    arguments[1] = NULL;
    OK(cuStreamSynchronize(sim_stream));
    ck_assert(slot_is(3, 1));
    end();
}
END_TEST

static const unsigned shapes[][7] = {
    {0, 1, 1, 1, 1, 1, 0},        {1, 0, 1, 1, 1, 1, 0},
    {1, 1, 0, 1, 1, 1, 0},        {1, 1, 1, 0, 1, 1, 0},
    {1, 1, 1, 1, 0, 1, 0},        {1, 1, 1, 1, 1, 0, 0},
    {1u << 31, 1, 1, 1, 1, 1, 0}, {1, 65536, 1, 1, 1, 1, 0},
    {1, 1, 65536, 1, 1, 1, 0},    {1, 1, 1, 1025, 1, 1, 0},
    {1, 1, 1, 32, 33, 1, 0},      {1, 1, 1, 1, 1, 65, 0},
    {1, 1, 1, 1, 1, 1, 49153},
};

START_TEST(a_shape_that_no_device_has_is_refused)
{
    const unsigned *shape = shapes[_i];
    uint32_t count = 1;
    void *arguments[] = {&table, &from, &indices, &count};

    list(0, 3, 1);
    IS(cuLaunchKernel(scatter, shape[0], shape[1], shape[2], shape[3], shape[4],
                      shape[5], shape[6], sim_stream, arguments, NULL),
       CUDA_ERROR_INVALID_VALUE);
    ck_assert(slot_is(3, 0));
    end();
}
END_TEST

START_TEST(missing_arguments_are_refused)
{
    uint32_t count = 1;
    void *arguments[] = {&table, &from, NULL, &count};
    void *extra[] = {CU_LAUNCH_PARAM_END};

    IS(cuLaunchKernel(scatter, 1, 1, 1, 1, 1, 1, 0, sim_stream, NULL, NULL),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(scatter, 1, 1, 1, 1, 1, 1, 0, sim_stream, arguments,
                      NULL),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(scatter, 1, 1, 1, 1, 1, 1, 0, sim_stream, arguments,
                      extra),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(scatter, 1, 1, 1, 1, 1, 1, 0, sim_stream, NULL, extra),
       CUDA_ERROR_NOT_SUPPORTED);
    end();
}
END_TEST

START_TEST(a_kernel_that_is_not_known_is_not_supported)
{
    CUfunction plain;
    CUfunction other;
    CUgraph graph;
    size_t count = 0;

    OK(cuModuleGetFunction(&plain, module, "plain"));
    OK(cuModuleGetFunction(&other, module, "other"));
    IS(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, sim_stream, NULL, NULL),
       CUDA_ERROR_NOT_SUPPORTED);
    IS(cuLaunchKernel(other, 1, 1, 1, 1, 1, 1, 0, sim_stream, NULL, NULL),
       CUDA_ERROR_INVALID_VALUE);
    OK(cuStreamQuery(sim_stream));
    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    IS(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, sim_stream, NULL, NULL),
       CUDA_ERROR_NOT_SUPPORTED);
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphGetNodes(graph, NULL, &count));
    ck_assert_uint_eq(count, 0);
    OK(cuGraphDestroy(graph));
    end();
}
END_TEST

/* --- what a kernel may touch ----------------------------------------------- */

enum { TABLE, FROM, INDICES, HOST };

START_TEST(memory_that_is_not_there_fails_the_context)
{
    static uint32_t own[SLOT];
    CUmemAccessDesc reading = sim_rights;

    reading.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    list(0, 1, 1);
    switch (_i) {
    case TABLE:
        OK(cuMemSetAccess(table, 3 * GRANULE, &reading, 1));
        break;
    case FROM:
        from = table + 3 * GRANULE;
        break;
    case INDICES:
        indices = table + 3 * GRANULE;
        break;
    default:
        from = (CUdeviceptr)(uintptr_t)own;
        from = (from + 15) / 16 * 16;
    }
    OK(launch(1, sim_stream));
    IS(cuStreamSynchronize(sim_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_slot_beyond_the_table_fails_the_context)
{
    list(0, 3 * GRANULE / SLOT, 1);
    OK(launch(1, sim_stream));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(misaligned_addresses_fail_the_context)
{
    list(0, 1, 1);
    switch (_i) {
    case TABLE:
        table += 8;
        break;
    case FROM:
        from += 8;
        break;
    default:
        indices += 2;
    }
    OK(launch(1, sim_stream));
    IS(cuStreamQuery(sim_stream), CUDA_ERROR_MISALIGNED_ADDRESS);
}
END_TEST

START_TEST(reading_needs_no_right_to_write)
{
    CUmemAccessDesc reading = sim_rights;

    list(0, 1, 6);
    reading.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    table = sim_map(1);
    OK(cuMemSetAccess(from - GRANULE, 3 * GRANULE, &reading, 1));
    OK(launch(1, sim_stream));
    ck_assert(slot_is(1, 6));
    sim_unmap(table, 1);
    table = from - GRANULE;
    end();
}
END_TEST

START_TEST(unloading_a_module_waits_for_all_work_of_its_context)
{
    CUstream other;

    OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
    list(0, 1, 1);
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    ck_assert_int_eq(cudasim_hold(other), 0);
    OK(launch(1, sim_stream));
    OK(cuMemsetD8Async(table + 2 * SLOT, 7, SLOT, other));
    ck_assert(slot_is(1, 0));
    OK(cuModuleUnload(module));
    ck_assert(slot_is(1, 1));
    ck_assert(slot_is(2, 7));
    OK(cuStreamDestroy(other));
    OK(cuModuleLoadData(&module, image));
    end();
}
END_TEST

/* --- graphs ---------------------------------------------------------------- */

static CUgraph capture(uint32_t count)
{
    CUgraph graph;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(launch(count, sim_stream));
    OK(cuStreamEndCapture(sim_stream, &graph));
    return graph;
}

START_TEST(a_captured_launch_is_done_at_each_replay)
{
    CUgraphExec exec;
    CUgraph graph;
    int i;

    list(0, 2, 1);
    graph = capture(1);
    ck_assert(slot_is(2, 0));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    for (i = 1; i < 4; i++) {
        list(0, (uint32_t)i, i);
        OK(cuGraphLaunch(exec, sim_stream));
        ck_assert(slot_is((uint32_t)i, i));
    }
    OK(cuGraphExecDestroy(exec));
    end();
}
END_TEST

START_TEST(an_updated_graph_does_what_the_other_does)
{
    CUgraphExecUpdateResultInfo info;
    CUdeviceptr before;
    CUgraphExec exec;
    CUgraph graph;
    CUgraph other;

    list(0, 2, 1);
    list(1, 4, 2);
    graph = capture(1);
    OK(cuGraphInstantiate(&exec, graph, 0));
    before = table;
    table += 8 * SLOT;
    other = capture(2);
    table = before;
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuGraphLaunch(exec, sim_stream));
    OK(cuGraphExecUpdate(exec, other, &info));
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
    OK(cuStreamSynchronize(sim_stream));
    ck_assert(slot_is(2, 1));
    ck_assert(slot_is(10, 0));
    OK(cuGraphLaunch(exec, sim_stream));
    OK(cuStreamSynchronize(sim_stream));
    ck_assert(slot_is(10, 1));
    ck_assert(slot_is(12, 2));
    ck_assert(slot_is(4, 0));
    OK(cuGraphDestroy(graph));
    OK(cuGraphDestroy(other));
    OK(cuGraphExecDestroy(exec));
    end();
}
END_TEST

START_TEST(a_graph_of_another_shape_updates_nothing)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;
    CUgraph other;
    size_t count = 1;

    list(0, 2, 1);
    graph = capture(1);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphCreate(&other, 0));
    IS(cuGraphExecUpdate(exec, other, &info),
       CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    OK(cuGraphDestroy(other));
    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuMemsetD8Async(table, 1, 1, sim_stream));
    OK(cuStreamEndCapture(sim_stream, &other));
    OK(cuGraphGetNodes(other, &node, &count));
    IS(cuGraphExecUpdate(exec, other, &info),
       CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    ck_assert_int_eq(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED);
    ck_assert_ptr_eq(info.errorNode, node);
    IS(cuGraphExecUpdate(exec, other, NULL), CUDA_ERROR_INVALID_VALUE);
    OK(cuGraphDestroy(other));
    OK(cuGraphLaunch(exec, sim_stream));
    ck_assert(slot_is(2, 1));
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec));
    end();
}
END_TEST

static void CUDA_CB count_one(void *count)
{
    ++*(int *)count;
}

/* A graph with an object that counts when it goes. */
static CUgraph capture_with(int *gone)
{
    CUgraph graph = capture(1);
    CUuserObject object;

    OK(cuUserObjectCreate(&object, gone, count_one, 1,
                          CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    return graph;
}

START_TEST(an_update_takes_the_objects_of_the_other_graph)
{
    CUgraphExecUpdateResultInfo info;
    CUgraphExec exec;
    CUgraph graph;
    CUgraph other;
    int gone = 0;
    int other_gone = 0;

    list(0, 2, 1);
    graph = capture_with(&gone);
    other = capture_with(&other_gone);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    ck_assert_int_eq(cudasim_hold(sim_stream), 0);
    OK(cuGraphLaunch(exec, sim_stream));
    OK(cuGraphExecUpdate(exec, other, &info));
    OK(cuGraphDestroy(other));
    ck_assert_int_eq(gone, 0);
    OK(cuStreamSynchronize(sim_stream));
    ck_assert_int_eq(gone, 1);
    ck_assert_int_eq(other_gone, 0);
    OK(cuGraphExecDestroy(exec));
    ck_assert_int_eq(other_gone, 1);
    end();
}
END_TEST

START_TEST(a_graph_keeps_a_kernel_whose_module_went)
{
    CUgraphExec exec;
    CUgraph graph;

    list(0, 2, 1);
    graph = capture(1);
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuModuleUnload(module));
    OK(cuGraphLaunch(exec, sim_stream));
    OK(cuStreamSynchronize(sim_stream));
    ck_assert(slot_is(2, 1));
    OK(cuGraphDestroy(graph));
    OK(cuGraphExecDestroy(exec));
    OK(cuModuleLoadData(&module, image));
    end();
}
END_TEST

static Suite *launch_suite(void)
{
    Suite *suite = suite_create("cudasim launch");
    TCase *test = tcase_create("launches");

    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, the_listed_slots_are_written_and_no_others);
    tcase_add_test(test, many_slots_take_many_blocks);
    tcase_add_test(test, threads_that_are_not_launched_do_nothing);
    tcase_add_test(test, a_launch_is_done_in_the_order_of_its_stream);
    tcase_add_test(test, a_launch_is_for_the_streams_of_its_context);
    tcase_add_test(test,
                   nothing_is_launched_without_a_context_or_in_one_that_failed);
    tcase_add_test(test, arguments_are_the_callers_again_at_once);
    tcase_add_loop_test(test, a_shape_that_no_device_has_is_refused, 0,
                        sizeof(shapes) / sizeof(shapes[0]));
    tcase_add_test(test, missing_arguments_are_refused);
    tcase_add_test(test, a_kernel_that_is_not_known_is_not_supported);
    suite_add_tcase(suite, test);

    test = tcase_create("memory");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_loop_test(test, memory_that_is_not_there_fails_the_context, TABLE,
                        HOST + 1);
    tcase_add_test(test, a_slot_beyond_the_table_fails_the_context);
    tcase_add_loop_test(test, misaligned_addresses_fail_the_context, TABLE,
                        INDICES + 1);
    tcase_add_test(test, reading_needs_no_right_to_write);
    tcase_add_test(test, unloading_a_module_waits_for_all_work_of_its_context);
    suite_add_tcase(suite, test);

    test = tcase_create("graphs");
    tcase_add_checked_fixture(test, begin, NULL);
    tcase_add_test(test, a_captured_launch_is_done_at_each_replay);
    tcase_add_test(test, an_updated_graph_does_what_the_other_does);
    tcase_add_test(test, a_graph_of_another_shape_updates_nothing);
    tcase_add_test(test, an_update_takes_the_objects_of_the_other_graph);
    tcase_add_test(test, a_graph_keeps_a_kernel_whose_module_went);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(launch_suite());
}
