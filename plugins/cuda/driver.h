/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The driver's entry points, each asked for by name and version.
 *
 *     libcuda.so.1 ──dlsym──> cuGetProcAddress_v2 ──> struct cuda_driver
 *
 * The version asked for is that of the entry's own typedef in cudaTypedefs.h,
 * never that of the toolkit: so what comes back is what it is called as, with
 * whatever toolkit this was built, and the driver need be no newer than its
 * newest entry. Streams 0 and 1 are the legacy default stream.
 *
 * Invariant: of an open table, required entries are there; optional ones may be
 * NULL, those of graphs all together, and those of kernels.
 */
#ifndef ASHLAR_PLUGINS_CUDA_DRIVER_H
#define ASHLAR_PLUGINS_CUDA_DRIVER_H

#include <stdbool.h>

#include <cuda.h>
#include <cudaTypedefs.h>

#include <ashlar/plugin.h>

/** CUDA 12.0: the first with ids of contexts. */
#define CUDA_DRIVER_LEAST 12000

/* What the toolkit has no type for is not asked for. */
#if CUDA_VERSION >= 12080
#define CUDA_DRIVER_WIDE(_X)                                                   \
    _X(encode_wide, cuTensorMapEncodeIm2colWide, 12080, false)
#else
#define CUDA_DRIVER_WIDE(_X)
#endif

/*
 * _X(member, entry, version, required). The entry's name is used by # and ##
 * alone, since cuda.h makes macros of some.
 */
#define CUDA_DRIVER_ENTRIES(_X)                                                \
    _X(init, cuInit, 2000, true)                                               \
    _X(get_error_name, cuGetErrorName, 6000, true)                             \
    _X(get_error_string, cuGetErrorString, 6000, true)                         \
    _X(device_get_count, cuDeviceGetCount, 2000, true)                         \
    _X(device_get, cuDeviceGet, 2000, true)                                    \
    _X(device_get_name, cuDeviceGetName, 2000, true)                           \
    _X(device_get_uuid, cuDeviceGetUuid, 11040, true)                          \
    _X(device_get_attribute, cuDeviceGetAttribute, 2000, true)                 \
    _X(device_total_mem, cuDeviceTotalMem, 3020, true)                         \
    _X(device_can_access_peer, cuDeviceCanAccessPeer, 4000, true)              \
    _X(primary_retain, cuDevicePrimaryCtxRetain, 7000, true)                   \
    _X(primary_release, cuDevicePrimaryCtxRelease, 11000, true)                \
    _X(primary_get_state, cuDevicePrimaryCtxGetState, 7000, true)              \
    _X(ctx_get_current, cuCtxGetCurrent, 4000, true)                           \
    _X(ctx_get_device, cuCtxGetDevice, 2000, true)                             \
    _X(ctx_get_id, cuCtxGetId, 12000, true)                                    \
    _X(ctx_push, cuCtxPushCurrent, 4000, true)                                 \
    _X(ctx_pop, cuCtxPopCurrent, 4000, true)                                   \
    _X(mem_get_granularity, cuMemGetAllocationGranularity, 10020, true)        \
    _X(mem_address_reserve, cuMemAddressReserve, 10020, true)                  \
    _X(mem_address_free, cuMemAddressFree, 10020, true)                        \
    _X(mem_create, cuMemCreate, 10020, true)                                   \
    _X(mem_release, cuMemRelease, 10020, true)                                 \
    _X(mem_map, cuMemMap, 10020, true)                                         \
    _X(mem_unmap, cuMemUnmap, 10020, true)                                     \
    _X(mem_set_access, cuMemSetAccess, 10020, true)                            \
    _X(mem_export, cuMemExportToShareableHandle, 10020, true)                  \
    _X(mem_import, cuMemImportFromShareableHandle, 10020, true)                \
    _X(memcpy_async, cuMemcpyAsync, 4000, true)                                \
    _X(stream_get_ctx, cuStreamGetCtx, 9020, true)                             \
    _X(stream_is_capturing, cuStreamIsCapturing, 10000, true)                  \
    _X(exchange_capture_mode, cuThreadExchangeStreamCaptureMode, 10010, true)  \
    _X(event_create, cuEventCreate, 2000, true)                                \
    _X(event_record, cuEventRecord, 2000, true)                                \
    _X(event_query, cuEventQuery, 2000, true)                                  \
    _X(event_destroy, cuEventDestroy, 4000, true)                              \
    _X(encode_tiled, cuTensorMapEncodeTiled, 12000, true)                      \
    _X(encode_im2col, cuTensorMapEncodeIm2col, 12000, true)                    \
    _X(replace_address, cuTensorMapReplaceAddress, 12000, true)                \
    CUDA_DRIVER_WIDE(_X)                                                       \
    _X(stream_get_capture_info, cuStreamGetCaptureInfo, 11030, false)          \
    _X(user_object_create, cuUserObjectCreate, 11030, false)                   \
    _X(user_object_release, cuUserObjectRelease, 11030, false)                 \
    _X(graph_retain_user_object, cuGraphRetainUserObject, 11030, false)        \
    _X(module_load_data, cuModuleLoadData, 2000, false)                        \
    _X(module_unload, cuModuleUnload, 2000, false)                             \
    _X(module_get_function, cuModuleGetFunction, 2000, false)                  \
    _X(launch_kernel, cuLaunchKernel, 4000, false)

#define CUDA_DRIVER_MEMBER(_member, _entry, _version, _required)               \
    PFN_##_entry##_v##_version _member;

/** The table. */
struct cuda_driver {
    CUDA_DRIVER_ENTRIES(CUDA_DRIVER_MEMBER)
    int version; /* what cuDriverGetVersion() tells, such as 13000 */
};

/**
 * Open a driver and fill the table in. Starts nothing: cuInit() is not called.
 * The library stays loaded, since drivers bear no second start.
 *
 * @param path  The library; NULL for libcuda.so.1.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_NO_DRIVER     it cannot be loaded;
 *         ASHLAR_ERR_DRIVER_TOO_OLD  an entry is missing, which is named.
 */
enum ashlar_status cuda_driver_open(struct cuda_driver *driver,
                                    const struct ashlar_host *host,
                                    const char *path);

/** Whether the optional entries are there that fences of graphs need. */
static inline bool cuda_driver_has_graphs(const struct cuda_driver *driver)
{
    return driver->stream_get_capture_info != NULL &&
           driver->user_object_create != NULL &&
           driver->user_object_release != NULL &&
           driver->graph_retain_user_object != NULL;
}

/** Whether the optional entries are there that launching kernels needs. */
static inline bool cuda_driver_has_kernels(const struct cuda_driver *driver)
{
    return driver->module_load_data != NULL && driver->module_unload != NULL &&
           driver->module_get_function != NULL && driver->launch_kernel != NULL;
}

#endif
