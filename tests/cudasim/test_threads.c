/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Many threads at the driver at once. */
#include "config.h"

#include "sim.h"
#include "versions.h"

#include <pthread.h>
#include <stdatomic.h>

#define THREADS 4
#define ROUNDS  50

static _Atomic unsigned destroyed;

/* Each returns whether all calls did what they should; Check's own assertions are
 * for one thread. */

static bool use_memory(CUdeviceptr address, CUstream stream, CUevent event)
{
    unsigned char read = 0;

    return cuMemsetD8Async(address, 5, GRANULE, stream) == CUDA_SUCCESS &&
           cuEventRecord(event, stream) == CUDA_SUCCESS &&
           cuEventSynchronize(event) == CUDA_SUCCESS &&
           cuEventQuery(event) == CUDA_SUCCESS &&
           cuMemcpyDtoH(&read, address + 7, 1) == CUDA_SUCCESS && read == 5;
}

static bool use_addresses(CUstream stream, CUevent event)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;

    return cuMemAddressReserve(&address, GRANULE, 0, 0, 0) == CUDA_SUCCESS &&
           cuMemCreate(&handle, GRANULE, &sim_properties, 0) == CUDA_SUCCESS &&
           cuMemMap(address, GRANULE, 0, handle, 0) == CUDA_SUCCESS &&
           cuMemRelease(handle) == CUDA_SUCCESS &&
           cuMemSetAccess(address, GRANULE, &sim_rights, 1) == CUDA_SUCCESS &&
           use_memory(address, stream, event) &&
           cuMemUnmap(address, GRANULE) == CUDA_SUCCESS &&
           cuMemAddressFree(address, GRANULE) == CUDA_SUCCESS;
}

static void CUDA_CB count(void *user)
{
    (void)user;
    destroyed++;
}

/* A graph with a user object; in a mode that no other thread can spoil. */
static bool use_graph(CUstream stream)
{
    CUstreamCaptureStatus status;
    CUuserObject object;
    CUgraph graph;

    return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) ==
               CUDA_SUCCESS &&
           cuStreamGetCaptureInfo_v2(stream, &status, NULL, &graph, NULL,
                                     NULL) == CUDA_SUCCESS &&
           cuUserObjectCreate(&object, NULL, count, 1,
                              CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) ==
               CUDA_SUCCESS &&
           cuGraphRetainUserObject(graph, object, 1,
                                   CU_GRAPH_USER_OBJECT_MOVE) == CUDA_SUCCESS &&
           cuLaunchHostFunc(stream, count, NULL) == CUDA_SUCCESS &&
           cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS &&
           cuGraphDestroy(graph) == CUDA_SUCCESS &&
           cuLaunchHostFunc(stream, count, NULL) == CUDA_SUCCESS &&
           cuStreamSynchronize(stream) == CUDA_SUCCESS;
}

/* What went wrong; NULL: nothing. */
static const char *work(void)
{
    CUstream stream;
    CUevent event;
    unsigned i;

    if (cuCtxSetCurrent(sim_context) != CUDA_SUCCESS ||
        cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING) != CUDA_SUCCESS ||
        cuEventCreate(&event, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS)
        return "no stream";
    for (i = 0; i < ROUNDS; i++) {
        if (!use_addresses(stream, event))
            return "addresses";
        if (!use_graph(stream))
            return "a graph";
    }
    if (cuEventDestroy(event) != CUDA_SUCCESS ||
        cuStreamDestroy(stream) != CUDA_SUCCESS)
        return "the end";
    return NULL;
}

static void *run(void *wrong)
{
    *(const char **)wrong = work();
    return NULL;
}

START_TEST(threads_do_not_disturb_each_other)
{
    pthread_t threads[THREADS];
    const char *wrong[THREADS];
    unsigned i;

    destroyed = 0;
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run, &wrong[i]), 0);
    for (i = 0; i < THREADS; i++) {
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
        ck_assert_msg(wrong[i] == NULL, "%s", wrong[i]);
    }
    ck_assert_uint_eq(destroyed, 2 * THREADS * ROUNDS);
    sim_end();
}
END_TEST

static Suite *threads_suite(void)
{
    Suite *suite = suite_create("cudasim threads");
    TCase *test = tcase_create("threads");

    tcase_add_checked_fixture(test, sim_begin, NULL);
    tcase_add_test(test, threads_do_not_disturb_each_other);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(threads_suite());
}
