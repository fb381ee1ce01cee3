/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The entries in which stream 0 means the thread's own, which cuda.h declares only
 * to who asks for that.
 */
#ifndef CUDASIM_PER_THREAD_H
#define CUDASIM_PER_THREAD_H

#include "versions.h"

CUresult CUDAAPI cuEventRecord_ptsz(CUevent event, CUstream stream);
CUresult CUDAAPI cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream,
                                             unsigned flags);
CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
CUresult CUDAAPI cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function,
                                       void *user);
CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x,
                                     unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared,
                                     CUstream stream, void **arguments,
                                     void **extra);
CUresult CUDAAPI cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from,
                                    size_t bytes, CUstream stream);
CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from,
                                           size_t bytes, CUstream stream);
CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from,
                                           size_t bytes, CUstream stream);
CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from,
                                           size_t bytes, CUstream stream);
CUresult CUDAAPI cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value,
                                       size_t count, CUstream stream);
CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value,
                                      size_t count, CUstream stream);
CUresult CUDAAPI cuStreamBeginCapture_v2_ptsz(CUstream stream,
                                              CUstreamCaptureMode mode);
CUresult CUDAAPI cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph);
CUresult CUDAAPI cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context);
CUresult CUDAAPI cuStreamGetFlags_ptsz(CUstream stream, unsigned *flags);
CUresult CUDAAPI cuStreamGetId_ptsz(CUstream stream, unsigned long long *id);
CUresult CUDAAPI cuStreamGetPriority_ptsz(CUstream stream, int *priority);
CUresult CUDAAPI cuStreamIsCapturing_ptsz(CUstream stream,
                                          CUstreamCaptureStatus *status);
CUresult CUDAAPI cuStreamQuery_ptsz(CUstream stream);
CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream stream);
CUresult CUDAAPI cuStreamWaitEvent_ptsz(CUstream stream, CUevent event,
                                        unsigned flags);
CUresult CUDAAPI cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr to,
                                              cuuint32_t value, unsigned flags);
CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes);
CUresult CUDAAPI cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from,
                                      size_t bytes);
CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes);
CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from,
                                      size_t bytes);
CUresult CUDAAPI cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value,
                                     size_t count);
CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value,
                                    size_t count);
CUresult CUDAAPI cuStreamGetCaptureInfo_v2_ptsz(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **dependencies, size_t *count);
#if CUDA_VERSION >= 12030
CUresult CUDAAPI cuStreamGetCaptureInfo_v3_ptsz(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **dependencies,
    const CUgraphEdgeData **edges, size_t *count);
#endif

#endif
