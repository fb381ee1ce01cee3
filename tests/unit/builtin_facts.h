/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the installed CUDA headers declare for the built-in types, collected
 * once by a C11 and once by a C++17 compiler.
 */
#ifndef ASHLAR_TESTS_UNIT_BUILTIN_FACTS_H
#define ASHLAR_TESTS_UNIT_BUILTIN_FACTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fact {
    const char *name;
    size_t size;
    size_t alignment;
};

/* Those of test_builtin_cuda_cxx.cc. */
const struct fact *facts_of_cxx(size_t *count_out);

#ifdef __cplusplus
}
#endif

#define FACT(_type) {#_type, sizeof(_type), __alignof__(_type)},

/* By header, since not every toolkit comes with all of them. */
#define FACTS_CUDA                                                             \
    FACT(CUtensorMap)                                                          \
    FACT(struct CUtensorMap_st)                                                \
    FACT(CUipcMemHandle)                                                       \
    FACT(CUipcMemHandle_v1)                                                    \
    FACT(CUipcEventHandle)                                                     \
    FACT(CUipcEventHandle_v1)                                                  \
    FACT(CUmemPoolPtrExportData)                                               \
    FACT(CUmemPoolPtrExportData_v1)                                            \
    FACT(CUuuid)                                                               \
    FACT(CUlaunchAttribute)                                                    \
    FACT(CUlaunchAttributeValue)

/* Since CUDA 12.3. */
#define FACTS_CUDA_12_3                                                        \
    FACT(CUmemFabricHandle)                                                    \
    FACT(CUmemFabricHandle_v1)

#define FACTS_DRIVER_TYPES                                                     \
    FACT(cudaIpcMemHandle_t)                                                   \
    FACT(cudaIpcEventHandle_t)                                                 \
    FACT(cudaUUID_t)                                                           \
    FACT(cudaLaunchAttribute)                                                  \
    FACT(cudaLaunchAttributeValue)

#define FACTS_VECTOR_TYPES                                                     \
    FACT(double4)                                                              \
    FACT(long4)                                                                \
    FACT(ulong4)                                                               \
    FACT(longlong4)                                                            \
    FACT(ulonglong4)                                                           \
    FACT(float4)                                                               \
    FACT(int4)                                                                 \
    FACT(uint4)                                                                \
    FACT(double2)                                                              \
    FACT(long2)                                                                \
    FACT(ulong2)                                                               \
    FACT(longlong2)                                                            \
    FACT(ulonglong2)                                                           \
    FACT(float2)                                                               \
    FACT(int2)                                                                 \
    FACT(uint2)                                                                \
    FACT(short4)                                                               \
    FACT(ushort4)                                                              \
    FACT(short2)                                                               \
    FACT(ushort2)                                                              \
    FACT(char4)                                                                \
    FACT(uchar4)                                                               \
    FACT(char2)                                                                \
    FACT(uchar2)                                                               \
    FACT(float3)                                                               \
    FACT(int3)                                                                 \
    FACT(uint3)                                                                \
    FACT(dim3)                                                                 \
    FACT(double3)                                                              \
    FACT(longlong3)                                                            \
    FACT(ulonglong3)

/* Since CUDA 13. */
#define FACTS_VECTOR_TYPES_13                                                  \
    FACT(double4_32a)                                                          \
    FACT(long4_32a)                                                            \
    FACT(ulong4_32a)                                                           \
    FACT(longlong4_32a)                                                        \
    FACT(ulonglong4_32a)                                                       \
    FACT(double4_16a)                                                          \
    FACT(long4_16a)                                                            \
    FACT(ulong4_16a)                                                           \
    FACT(longlong4_16a)                                                        \
    FACT(ulonglong4_16a)

#define FACTS_COMPLEX                                                          \
    FACT(cuDoubleComplex)                                                      \
    FACT(cuFloatComplex)                                                       \
    FACT(cuComplex)

/* C++ alone has these. */
#define FACTS_HALF                                                             \
    FACT(__half2)                                                              \
    FACT(half2)                                                                \
    FACT(__nv_bfloat162)                                                       \
    FACT(nv_bfloat162)

#define FACTS_CURAND                                                           \
    FACT(curandStatePhilox4_32_10_t)                                           \
    FACT(struct curandStatePhilox4_32_10)                                      \
    FACT(curandStateXORWOW_t)                                                  \
    FACT(struct curandStateXORWOW)                                             \
    FACT(curandState_t)                                                        \
    FACT(curandState)                                                          \
    FACT(curandStateMRG32k3a_t)                                                \
    FACT(struct curandStateMRG32k3a)

#define FACTS_CUFFT                                                            \
    FACT(cufftComplex)                                                         \
    FACT(cufftDoubleComplex)

#endif
