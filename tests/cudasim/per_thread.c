/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries for programs that are compiled with the per-thread default stream:
 * _ptsz where a stream is an argument, _ptds where there is none. Each is the plain
 * one, in which stream 0 means the thread's. */
#include "config.h"

#include "per_thread.h"
#include "stream.h"

/* Ends what stream_own_default() began. */
static CUresult done(CUresult result)
{
    stream_own_default(false);
    return result;
}

CUresult CUDAAPI cuEventRecord_ptsz(CUevent event, CUstream stream)
{
    stream_own_default(true);
    return done(cuEventRecord(event, stream));
}

CUresult CUDAAPI cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream,
                                             unsigned flags)
{
    stream_own_default(true);
    return done(cuEventRecordWithFlags(event, stream, flags));
}

CUresult CUDAAPI cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    stream_own_default(true);
    return done(cuGraphLaunch(exec, stream));
}

CUresult CUDAAPI cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function,
                                       void *user)
{
    stream_own_default(true);
    return done(cuLaunchHostFunc(stream, function, user));
}

CUresult CUDAAPI cuLaunchKernel_ptsz(CUfunction function, unsigned grid_x,
                                     unsigned grid_y, unsigned grid_z,
                                     unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared,
                                     CUstream stream, void **arguments,
                                     void **extra)
{
    stream_own_default(true);
    return done(cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x,
                               block_y, block_z, shared, stream, arguments,
                               extra));
}

CUresult CUDAAPI cuMemcpyAsync_ptsz(CUdeviceptr to, CUdeviceptr from,
                                    size_t bytes, CUstream stream)
{
    stream_own_default(true);
    return done(cuMemcpyAsync(to, from, bytes, stream));
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr to, CUdeviceptr from,
                                           size_t bytes, CUstream stream)
{
    stream_own_default(true);
    return done(cuMemcpyDtoDAsync(to, from, bytes, stream));
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2_ptsz(void *to, CUdeviceptr from,
                                           size_t bytes, CUstream stream)
{
    stream_own_default(true);
    return done(cuMemcpyDtoHAsync(to, from, bytes, stream));
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr to, const void *from,
                                           size_t bytes, CUstream stream)
{
    stream_own_default(true);
    return done(cuMemcpyHtoDAsync(to, from, bytes, stream));
}

CUresult CUDAAPI cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned value,
                                       size_t count, CUstream stream)
{
    stream_own_default(true);
    return done(cuMemsetD32Async(to, value, count, stream));
}

CUresult CUDAAPI cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value,
                                      size_t count, CUstream stream)
{
    stream_own_default(true);
    return done(cuMemsetD8Async(to, value, count, stream));
}

CUresult CUDAAPI cuStreamBeginCapture_v2_ptsz(CUstream stream,
                                              CUstreamCaptureMode mode)
{
    stream_own_default(true);
    return done(cuStreamBeginCapture(stream, mode));
}

CUresult CUDAAPI cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph)
{
    stream_own_default(true);
    return done(cuStreamEndCapture(stream, graph));
}

CUresult CUDAAPI cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context)
{
    stream_own_default(true);
    return done(cuStreamGetCtx(stream, context));
}

CUresult CUDAAPI cuStreamGetFlags_ptsz(CUstream stream, unsigned *flags)
{
    stream_own_default(true);
    return done(cuStreamGetFlags(stream, flags));
}

CUresult CUDAAPI cuStreamGetId_ptsz(CUstream stream, unsigned long long *id)
{
    stream_own_default(true);
    return done(cuStreamGetId(stream, id));
}

CUresult CUDAAPI cuStreamGetPriority_ptsz(CUstream stream, int *priority)
{
    stream_own_default(true);
    return done(cuStreamGetPriority(stream, priority));
}

CUresult CUDAAPI cuStreamIsCapturing_ptsz(CUstream stream,
                                          CUstreamCaptureStatus *status)
{
    stream_own_default(true);
    return done(cuStreamIsCapturing(stream, status));
}

CUresult CUDAAPI cuStreamQuery_ptsz(CUstream stream)
{
    stream_own_default(true);
    return done(cuStreamQuery(stream));
}

CUresult CUDAAPI cuStreamSynchronize_ptsz(CUstream stream)
{
    stream_own_default(true);
    return done(cuStreamSynchronize(stream));
}

CUresult CUDAAPI cuStreamWaitEvent_ptsz(CUstream stream, CUevent event,
                                        unsigned flags)
{
    stream_own_default(true);
    return done(cuStreamWaitEvent(stream, event, flags));
}

CUresult CUDAAPI cuStreamWriteValue32_v2_ptsz(CUstream stream, CUdeviceptr to,
                                              cuuint32_t value, unsigned flags)
{
    stream_own_default(true);
    return done(cuStreamWriteValue32(stream, to, value, flags));
}

CUresult CUDAAPI cuMemcpy_ptds(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    stream_own_default(true);
    return done(cuMemcpy(to, from, bytes));
}

CUresult CUDAAPI cuMemcpyDtoD_v2_ptds(CUdeviceptr to, CUdeviceptr from,
                                      size_t bytes)
{
    stream_own_default(true);
    return done(cuMemcpyDtoD(to, from, bytes));
}

CUresult CUDAAPI cuMemcpyDtoH_v2_ptds(void *to, CUdeviceptr from, size_t bytes)
{
    stream_own_default(true);
    return done(cuMemcpyDtoH(to, from, bytes));
}

CUresult CUDAAPI cuMemcpyHtoD_v2_ptds(CUdeviceptr to, const void *from,
                                      size_t bytes)
{
    stream_own_default(true);
    return done(cuMemcpyHtoD(to, from, bytes));
}

CUresult CUDAAPI cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned value,
                                     size_t count)
{
    stream_own_default(true);
    return done(cuMemsetD32(to, value, count));
}

CUresult CUDAAPI cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value,
                                    size_t count)
{
    stream_own_default(true);
    return done(cuMemsetD8(to, value, count));
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2_ptsz(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **dependencies, size_t *count)
{
    stream_own_default(true);
    return done(cuStreamGetCaptureInfo_v2(stream, status, id, graph,
                                          dependencies, count));
}

#if CUDA_VERSION >= 12030
CUresult CUDAAPI cuStreamGetCaptureInfo_v3_ptsz(
    CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
    CUgraph *graph, const CUgraphNode **dependencies,
    const CUgraphEdgeData **edges, size_t *count)
{
    stream_own_default(true);
    return done(cuStreamGetCaptureInfo_v3(stream, status, id, graph,
                                          dependencies, edges, count));
}
#endif
