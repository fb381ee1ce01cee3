/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The entries of which there are several versions, by their names in the shared
 * object. cuda.h renames such a name to that of its newest version, and which that
 * is goes by the toolkit; the others it does not declare.
 */
#ifndef CUDASIM_VERSIONS_H
#define CUDASIM_VERSIONS_H

#include <cuda.h>

#undef cuCtxCreate
#undef cuDeviceGetUuid
#undef cuEventElapsedTime
#undef cuGetProcAddress
#undef cuStreamGetCaptureInfo

CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned flags,
                                CUdevice device);
CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
CUresult CUDAAPI cuEventElapsedTime(float *milliseconds, CUevent start,
                                    CUevent end);
CUresult CUDAAPI cuEventElapsedTime_v2(float *milliseconds, CUevent start,
                                       CUevent end);
CUresult CUDAAPI cuGetProcAddress(const char *name, void **function,
                                  int version, cuuint64_t flags);
CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **function,
                                     int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status);
CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream,
                                           CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies,
                                           size_t *count);
#if CUDA_VERSION >= 12030
CUresult CUDAAPI cuStreamGetCaptureInfo_v3(CUstream stream,
                                           CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies,
                                           const CUgraphEdgeData **edges,
                                           size_t *count);
#endif

#endif
