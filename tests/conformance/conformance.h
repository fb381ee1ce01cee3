/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Questions to a CUDA driver, with the answers that are expected of it.
 *
 *     conformance.c   the command line; each chapter in a process of its own
 *     driver.c        the entries, from whichever libcuda.so.1
 *     ask.c           one question: asked, compared, noted
 *     chapter_*.c     the questions, by subject
 *
 * A chapter begins before cuInit() and may leave the driver in any state, since
 * its process ends with it. A question is a call and its expected result:
 *
 *     ASK("a size of 0", CUDA_ERROR_INVALID_VALUE,
 *         cu.MemAddressReserve(&address, 0, 0, 0, 0));
 *
 * What was expected was written down from a real driver's answers: those of an
 * H200. The simulated driver is made to answer the same.
 */
#ifndef ASHLAR_TESTS_CONFORMANCE_H
#define ASHLAR_TESTS_CONFORMANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

/* --- driver.c ------------------------------------------------------------- */

/* The entries that are asked about, without "cu". */
#define CONFORMANCE_ENTRIES(X)                                                 \
    X(CtxGetCurrent)                                                           \
    X(CtxGetDevice)                                                            \
    X(CtxGetId)                                                                \
    X(CtxPopCurrent)                                                           \
    X(CtxPushCurrent)                                                          \
    X(CtxSetCurrent)                                                           \
    X(CtxSynchronize)                                                          \
    X(DeviceCanAccessPeer)                                                     \
    X(DeviceGet)                                                               \
    X(DeviceGetAttribute)                                                      \
    X(DeviceGetCount)                                                          \
    X(DeviceGetName)                                                           \
    X(DeviceGetUuid)                                                           \
    X(DevicePrimaryCtxGetState)                                                \
    X(DevicePrimaryCtxRelease)                                                 \
    X(DevicePrimaryCtxReset)                                                   \
    X(DevicePrimaryCtxRetain)                                                  \
    X(DeviceTotalMem)                                                          \
    X(DriverGetVersion)                                                        \
    X(EventCreate)                                                             \
    X(EventDestroy)                                                            \
    X(EventElapsedTime)                                                        \
    X(EventQuery)                                                              \
    X(EventRecord)                                                             \
    X(EventSynchronize)                                                        \
    X(GetErrorName)                                                            \
    X(GetProcAddress)                                                          \
    X(GraphClone)                                                              \
    X(GraphCreate)                                                             \
    X(GraphDestroy)                                                            \
    X(GraphExecDestroy)                                                        \
    X(GraphExecUpdate)                                                         \
    X(GraphInstantiate)                                                        \
    X(GraphLaunch)                                                             \
    X(GraphReleaseUserObject)                                                  \
    X(GraphRetainUserObject)                                                   \
    X(Init)                                                                    \
    X(LaunchHostFunc)                                                          \
    X(LaunchKernel)                                                            \
    X(MemAddressFree)                                                          \
    X(MemAddressReserve)                                                       \
    X(MemAlloc)                                                                \
    X(MemCreate)                                                               \
    X(MemExportToShareableHandle)                                              \
    X(MemFree)                                                                 \
    X(MemFreeHost)                                                             \
    X(MemGetAccess)                                                            \
    X(MemGetAddressRange)                                                      \
    X(MemGetAllocationGranularity)                                             \
    X(MemGetAllocationPropertiesFromHandle)                                    \
    X(MemGetInfo)                                                              \
    X(MemHostAlloc)                                                            \
    X(MemHostGetDevicePointer)                                                 \
    X(MemImportFromShareableHandle)                                            \
    X(MemMap)                                                                  \
    X(MemRelease)                                                              \
    X(MemRetainAllocationHandle)                                               \
    X(MemSetAccess)                                                            \
    X(MemUnmap)                                                                \
    X(Memcpy)                                                                  \
    X(MemcpyAsync)                                                             \
    X(MemcpyDtoD)                                                              \
    X(MemcpyDtoH)                                                              \
    X(MemcpyHtoD)                                                              \
    X(MemcpyHtoDAsync)                                                         \
    X(MemsetD8)                                                                \
    X(MemsetD8Async)                                                           \
    X(ModuleGetFunction)                                                       \
    X(ModuleLoadData)                                                          \
    X(ModuleUnload)                                                            \
    X(PointerGetAttribute)                                                     \
    X(StreamBeginCapture)                                                      \
    X(StreamCreate)                                                            \
    X(StreamDestroy)                                                           \
    X(StreamEndCapture)                                                        \
    X(StreamGetCaptureInfo)                                                    \
    X(StreamIsCapturing)                                                       \
    X(StreamQuery)                                                             \
    X(StreamSynchronize)                                                       \
    X(StreamWaitEvent)                                                         \
    X(StreamWriteValue32)                                                      \
    X(ThreadExchangeStreamCaptureMode)                                         \
    X(UserObjectCreate)                                                        \
    X(UserObjectRelease)                                                       \
    X(UserObjectRetain)

#define X(name) __typeof__(&cu##name) name;
struct driver {
    CONFORMANCE_ENTRIES(X)
};
#undef X

/* The driver that is asked. */
extern struct driver cu;

/* Open a driver's library by path, or as the loader finds it. On failure false
 * and a sentence; an entry that is not there is NULL and noted in it. */
bool driver_open(const char *path, char *sentence, size_t bytes);
/* Another function of it, by the name that it is exported by; NULL: none. */
void *driver_function(const char *name);

/* --- ask.c ---------------------------------------------------------------- */

/* A result that no driver gives: any will do, since drivers differ. */
#define ANY ((CUresult)-1)

/* Note a question's answer: a result; two results, of a call and of the end of
 * the capture that it was made in; a number. */
void ask_result(const char *question, CUresult expected, CUresult got);
void ask_pair(const char *question, CUresult expected, CUresult expected_end,
              CUresult got, CUresult got_end);
void ask_number(const char *question, uint64_t expected, uint64_t got);
/* Note that a question was not asked, and why. */
void ask_not(const char *question, const char *reason);

#define ASK(question, expected, call) ask_result(question, expected, call)
/* A call that the chapter stands on: asked as "it works", and false if not. */
bool works(const char *what, CUresult got);

/* --- what chapters share (ask.c) ------------------------------------------ */

#define MIB ((size_t)1 << 20)

/* cuInit(), device 0, its primary context current; false if there is none. */
bool begin_with_context(void);
/* The properties of memory on device 0, and access to it. */
CUmemAllocationProp device_memory(void);
CUmemAccessDesc device_access(CUmemAccess_flags flags);
/* The granule of device memory. */
size_t granule(void);
/* Reserved addresses; memory mapped at them; with access. 0: it failed. */
CUdeviceptr reserved(size_t bytes);
CUdeviceptr mapped(size_t bytes, CUmemGenericAllocationHandle *handle_out);
CUdeviceptr usable(size_t bytes, CUmemGenericAllocationHandle *handle_out);
/* Work on a stream that lasts until let_go(). */
struct held {
    int go;
    int begun;
};
CUresult hold(struct held *held, CUstream stream);
void let_go(struct held *held);
/* Fail the current context, as a bad kernel does: by one, or as a simulated
 * driver is told to. What its launch says. */
CUresult fail_context(void);
/* Run a function on another thread, to its end. */
CUresult on_another_thread(CUresult (*function)(void *), void *argument);

/* --- the chapters --------------------------------------------------------- */

void chapter_before(void);
void chapter_devices(void);
void chapter_entries(void);
void chapter_space(void);
void chapter_chunks(void);
void chapter_mappings(void);
void chapter_overhang(void);
void chapter_access(void);
void chapter_contents(void);
void chapter_touch_unmapped_memset(void);
void chapter_touch_unmapped_copy(void);
void chapter_touch_no_rights_memset(void);
void chapter_touch_no_rights_copy(void);
void chapter_touch_read_only_read(void);
void chapter_touch_read_only_memset(void);
void chapter_touch_read_only_copy(void);
void chapter_no_context(void);
void chapter_host_memory(void);
void chapter_contexts(void);
void chapter_reset(void);
void chapter_streams(void);
void chapter_events(void);
void chapter_capture_global(void);
void chapter_capture_thread(void);
void chapter_capture_relaxed(void);
void chapter_capture_order(void);
void chapter_graphs(void);
void chapter_modules(void);
void chapter_kernels(void);
void chapter_misaligned(void);
void chapter_unloaded(void);
void chapter_unloaded_beside(void);
void chapter_unloaded_graph(void);
void chapter_export(void);
void chapter_failed(void);
void chapter_fork(void);

#endif
