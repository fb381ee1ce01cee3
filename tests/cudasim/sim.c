/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "sim.h"

#include <pthread.h>

CUcontext sim_context;
CUstream sim_stream;

const CUmemAllocationProp sim_properties = {
    .type = CU_MEM_ALLOCATION_TYPE_PINNED,
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
const CUmemAccessDesc sim_rights = {
    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

void sim_begin_with(const char *settings)
{
    ck_assert_int_eq(cudasim_reset(settings), 0);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&sim_context, 0));
    OK(cuCtxSetCurrent(sim_context));
    OK(cuStreamCreate(&sim_stream, CU_STREAM_NON_BLOCKING));
}

void sim_begin(void)
{
    sim_begin_with("");
}

void sim_end(void)
{
    char left[1024];

    OK(cuStreamDestroy(sim_stream));
    OK(cuDevicePrimaryCtxRelease(0));
    cudasim_report(left, sizeof(left));
    ck_assert_str_eq(left, "");
    ck_assert_uint_eq(sim_account().fds, 0);
}

CUdeviceptr sim_reserve(size_t granules)
{
    CUdeviceptr address;

    OK(cuMemAddressReserve(&address, granules * GRANULE, 0, 0, 0));
    return address;
}

CUmemGenericAllocationHandle sim_create(size_t granules)
{
    CUmemGenericAllocationHandle handle;

    OK(cuMemCreate(&handle, granules * GRANULE, &sim_properties, 0));
    return handle;
}

CUdeviceptr sim_map(size_t granules)
{
    CUdeviceptr address = sim_reserve(granules);
    CUmemGenericAllocationHandle handle = sim_create(granules);

    OK(cuMemMap(address, granules * GRANULE, 0, handle, 0));
    OK(cuMemRelease(handle));
    OK(cuMemSetAccess(address, granules * GRANULE, &sim_rights, 1));
    return address;
}

void sim_unmap(CUdeviceptr address, size_t granules)
{
    OK(cuMemUnmap(address, granules * GRANULE));
    OK(cuMemAddressFree(address, granules * GRANULE));
}

struct cudasim_account sim_account(void)
{
    struct cudasim_account account = CUDASIM_ACCOUNT_INIT;

    ck_assert_int_eq(cudasim_query(&account), 0);
    return account;
}

static void *call(void *function)
{
    (*(void (**)(void))function)();
    return NULL;
}

void sim_elsewhere(void (*function)(void))
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, call, &function), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
