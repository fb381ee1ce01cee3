/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The CUDA driver as tests call it themselves, beside the plug-in: real or
 * simulated. Entries are found by dlsym(), so that a test is linked with none.
 *
 *     CU(cu.MemAlloc(&address, bytes));
 */
#ifndef ASHLAR_TESTS_SUPPORT_CU_H
#define ASHLAR_TESTS_SUPPORT_CU_H

#include <stdbool.h>

#include <cuda.h>

#include "support/suite.h"

#define CU_ENTRIES(_X)                                                         \
    _X(GetErrorName, cuGetErrorName)                                           \
    _X(Init, cuInit)                                                           \
    _X(DriverGetVersion, cuDriverGetVersion)                                   \
    _X(DeviceGetCount, cuDeviceGetCount)                                       \
    _X(DeviceGet, cuDeviceGet)                                                 \
    _X(DeviceGetAttribute, cuDeviceGetAttribute)                               \
    _X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                       \
    _X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)                     \
    _X(DevicePrimaryCtxReset, cuDevicePrimaryCtxReset)                         \
    _X(DevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState)                   \
    _X(CtxGetCurrent, cuCtxGetCurrent)                                         \
    _X(CtxSetCurrent, cuCtxSetCurrent)                                         \
    _X(CtxGetId, cuCtxGetId)                                                   \
    _X(CtxSynchronize, cuCtxSynchronize)                                       \
    _X(MemGetInfo, cuMemGetInfo)                                               \
    _X(MemAlloc, cuMemAlloc)                                                   \
    _X(MemFree, cuMemFree)                                                     \
    _X(MemHostAlloc, cuMemHostAlloc)                                           \
    _X(MemFreeHost, cuMemFreeHost)                                             \
    _X(MemcpyHtoD, cuMemcpyHtoD)                                               \
    _X(MemcpyDtoH, cuMemcpyDtoH)                                               \
    _X(MemcpyAsync, cuMemcpyAsync)                                             \
    _X(MemsetD8Async, cuMemsetD8Async)                                         \
    _X(MemsetD32Async, cuMemsetD32Async)                                       \
    _X(MemAddressReserve, cuMemAddressReserve)                                 \
    _X(MemAddressFree, cuMemAddressFree)                                       \
    _X(MemCreate, cuMemCreate)                                                 \
    _X(MemRelease, cuMemRelease)                                               \
    _X(MemMap, cuMemMap)                                                       \
    _X(MemUnmap, cuMemUnmap)                                                   \
    _X(MemSetAccess, cuMemSetAccess)                                           \
    _X(MemGetAccess, cuMemGetAccess)                                           \
    _X(StreamCreate, cuStreamCreate)                                           \
    _X(StreamDestroy, cuStreamDestroy)                                         \
    _X(StreamQuery, cuStreamQuery)                                             \
    _X(StreamSynchronize, cuStreamSynchronize)                                 \
    _X(StreamBeginCapture, cuStreamBeginCapture)                               \
    _X(StreamEndCapture, cuStreamEndCapture)                                   \
    _X(StreamIsCapturing, cuStreamIsCapturing)                                 \
    _X(EventCreate, cuEventCreate)                                             \
    _X(EventRecord, cuEventRecord)                                             \
    _X(EventQuery, cuEventQuery)                                               \
    _X(EventDestroy, cuEventDestroy)                                           \
    _X(GraphInstantiate, cuGraphInstantiateWithFlags)                          \
    _X(GraphLaunch, cuGraphLaunch)                                             \
    _X(GraphExecDestroy, cuGraphExecDestroy)                                   \
    _X(GraphDestroy, cuGraphDestroy)

/* Those that a simulated driver may be without; NULL there. */
#define CU_KERNEL_ENTRIES(_X)                                                  \
    _X(ModuleLoadData, cuModuleLoadData)                                       \
    _X(ModuleGetFunction, cuModuleGetFunction)                                 \
    _X(LaunchKernel, cuLaunchKernel)

#define CU_MEMBER(_member, _entry) __typeof__(&(_entry)) _member;

struct cu {
    CU_ENTRIES(CU_MEMBER)
    CU_KERNEL_ENTRIES(CU_MEMBER)
    void *library;
};

extern struct cu cu;

/*
 * Open a driver: a path, or NULL for the machine's own. Starts nothing. NULL
 * when it is there, else why it is not, in a static buffer.
 */
const char *cu_open(const char *path);

/* "CUDA_ERROR_INVALID_VALUE"; never NULL. */
const char *cu_name(CUresult result);

/* The call succeeds. */
#define CU(_call)                                                              \
    do {                                                                       \
        CUresult cu_result = (_call);                                          \
        ck_assert_msg(cu_result == CUDA_SUCCESS, "%s: %s", #_call,             \
                      cu_name(cu_result));                                     \
    } while (0)

#endif
