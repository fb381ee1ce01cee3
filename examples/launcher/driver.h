/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The CUDA driver, found when the program runs: it is built without a driver
 * and can say that there is none. Entries are found by the names that cuda.h's
 * own macros make, such as cuMemcpyHtoD_v2, so that name and type belong
 * together whatever the driver's version.
 *
 *     CU(driver.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
 */
#ifndef LAUNCHER_DRIVER_H
#define LAUNCHER_DRIVER_H

#include <stdint.h>

#include <cuda.h>

#define DRIVER_ENTRIES(_X)                                                     \
    _X(Init, cuInit)                                                           \
    _X(GetErrorName, cuGetErrorName)                                           \
    _X(DeviceGet, cuDeviceGet)                                                 \
    _X(DeviceGetName, cuDeviceGetName)                                         \
    _X(DeviceGetAttribute, cuDeviceGetAttribute)                               \
    _X(DevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain)                       \
    _X(DevicePrimaryCtxRelease, cuDevicePrimaryCtxRelease)                     \
    _X(CtxSetCurrent, cuCtxSetCurrent)                                         \
    _X(CtxSynchronize, cuCtxSynchronize)                                       \
    _X(ModuleLoadDataEx, cuModuleLoadDataEx)                                   \
    _X(ModuleUnload, cuModuleUnload)                                           \
    _X(ModuleGetFunction, cuModuleGetFunction)                                 \
    _X(LaunchKernel, cuLaunchKernel)                                           \
    _X(MemcpyHtoD, cuMemcpyHtoD)                                               \
    _X(MemcpyDtoH, cuMemcpyDtoH)                                               \
    _X(MemsetD8Async, cuMemsetD8Async)                                         \
    _X(StreamCreate, cuStreamCreate)                                           \
    _X(StreamDestroy, cuStreamDestroy)                                         \
    _X(StreamSynchronize, cuStreamSynchronize)                                 \
    _X(StreamWaitEvent, cuStreamWaitEvent)                                     \
    _X(StreamBeginCapture, cuStreamBeginCapture)                               \
    _X(StreamEndCapture, cuStreamEndCapture)                                   \
    _X(EventCreate, cuEventCreate)                                             \
    _X(EventRecord, cuEventRecord)                                             \
    _X(EventDestroy, cuEventDestroy)                                           \
    _X(GraphInstantiate, cuGraphInstantiateWithFlags)                          \
    _X(GraphLaunch, cuGraphLaunch)                                             \
    _X(GraphExecDestroy, cuGraphExecDestroy)                                   \
    _X(GraphDestroy, cuGraphDestroy)                                           \
    _X(TensorMapEncodeTiled, cuTensorMapEncodeTiled)

#define DRIVER_MEMBER(_member, _entry) __typeof__(&(_entry)) _member;

struct driver {
    DRIVER_ENTRIES(DRIVER_MEMBER)
};

extern struct driver driver;

/*
 * Start the driver, and make device 0's primary context current, as the
 * runtime API does. NULL, or why that cannot be, in a static buffer.
 */
const char *driver_start(void);

/* Give the context back. */
void driver_end(void);

/* What device 0 is called, in a static buffer. */
const char *driver_device(void);

/* "CUDA_ERROR_INVALID_VALUE"; never NULL. */
const char *driver_name(CUresult result);

/* A call that has to succeed: the program ends with a sentence if not. */
#define CU(_call) driver_must(_call, #_call)
void driver_must(CUresult result, const char *call);

#endif
