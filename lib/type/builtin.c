/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "type/record.h"

/* One row each. Sizes are the same in CUDA 12 and CUDA 13; the alignments are
 * those of C11 and C++11, and 0 means that the toolkit has no such type.
 * tests/unit/builtin_facts.h checks every row against the headers. */

#define BUILT_IN(_name, _aliases, _size, _alignment, _cuda12, _cuda13, _flags, \
                 _source)                                                      \
    {                                                                          \
        .name = _name, .aliases = _aliases, .source = _source, .size = _size,  \
        .state = TYPE_STATE(_alignment),                                       \
        .flags = ASHLAR_TYPE_BUILT_IN | (_flags), .cuda12 = _cuda12,           \
        .cuda13 = _cuda13                                                      \
    }

/* A vector of vector_types.h, aligned to more than its members. */
#define VECTOR(_name, _size, _alignment)                                       \
    BUILT_IN(_name, "", _size, _alignment, _alignment, _alignment, 0,          \
             "vector_types.h aligns it to " #_alignment                        \
             " bytes in CUDA 12 and CUDA 13.")

/* One of four 8-byte members, which CUDA 13 replaces by two of its kind. */
#define VECTOR_OF_OLD(_name)                                                   \
    BUILT_IN(_name, "", 32, 16, 16, 16, 0,                                     \
             "vector_types.h aligns it to 16 bytes; CUDA 13 deprecates it "    \
             "for its _16a and _32a namesakes.")

#define VECTOR_16A(_name)                                                      \
    BUILT_IN(_name, "", 32, 16, 0, 16, 0,                                      \
             "vector_types.h of CUDA 13 aligns it to 16 bytes; CUDA 12 has "   \
             "none.")

#define VECTOR_32A(_name)                                                      \
    BUILT_IN(_name, "", 32, 32, 0, 32, 0,                                      \
             "vector_types.h of CUDA 13 aligns it to 32 bytes; CUDA 12 has "   \
             "none.")

/* Taken for over-aligned, and not: the same alignment in both toolkits. */
#define PLAIN(_name, _aliases, _size, _alignment, _source)                     \
    BUILT_IN(_name, _aliases, _size, _alignment, _alignment, _alignment,       \
             ASHLAR_TYPE_NOT_OVER_ALIGNED, _source)

/* clang-format off */
struct ashlar_type builtin_types[] = {
    BUILT_IN("CUtensorMap",
             "CUtensorMap_st,struct CUtensorMap_st,cute::TmaDescriptor,"
             "cute::Im2ColTmaDescriptor",
             128, 128, 64, 128, 0,
             "cuda.h aligns it to 64 bytes in CUDA 12, to 128 in CUDA 13, and "
             "in C99 and C++98 not at all; 128 suits all of them."),

    VECTOR_32A("double4_32a"),
    VECTOR_32A("long4_32a"),
    VECTOR_32A("ulong4_32a"),
    VECTOR_32A("longlong4_32a"),
    VECTOR_32A("ulonglong4_32a"),
    VECTOR_16A("double4_16a"),
    VECTOR_16A("long4_16a"),
    VECTOR_16A("ulong4_16a"),
    VECTOR_16A("longlong4_16a"),
    VECTOR_16A("ulonglong4_16a"),
    VECTOR_OF_OLD("double4"),
    VECTOR_OF_OLD("long4"),
    VECTOR_OF_OLD("ulong4"),
    VECTOR_OF_OLD("longlong4"),
    VECTOR_OF_OLD("ulonglong4"),

    VECTOR("float4", 16, 16),
    VECTOR("int4", 16, 16),
    VECTOR("uint4", 16, 16),
    VECTOR("double2", 16, 16),
    VECTOR("long2", 16, 16),
    VECTOR("ulong2", 16, 16),
    VECTOR("longlong2", 16, 16),
    VECTOR("ulonglong2", 16, 16),
    VECTOR("float2", 8, 8),
    VECTOR("int2", 8, 8),
    VECTOR("uint2", 8, 8),
    VECTOR("short4", 8, 8),
    VECTOR("ushort4", 8, 8),
    VECTOR("short2", 4, 4),
    VECTOR("ushort2", 4, 4),
    VECTOR("char4", 4, 4),
    VECTOR("uchar4", 4, 4),
    VECTOR("char2", 2, 2),
    VECTOR("uchar2", 2, 2),

    BUILT_IN("cuDoubleComplex", "cufftDoubleComplex", 16, 16, 16, 16, 0,
             "cuComplex.h makes it a double2, aligned to 16 bytes; C's double "
             "complex and std::complex<double> are aligned to 8."),
    BUILT_IN("cuFloatComplex", "cuComplex,cufftComplex", 8, 8, 8, 8, 0,
             "cuComplex.h makes it a float2, aligned to 8 bytes; C's float "
             "complex and std::complex<float> are aligned to 4."),
    BUILT_IN("curandStatePhilox4_32_10_t",
             "curandStatePhilox4_32_10,struct curandStatePhilox4_32_10",
             64, 16, 16, 16, 0,
             "curand_philox4x32_x.h: its uint4 members ask for 16 bytes; the "
             "other generators' states for 8 or less."),
    BUILT_IN("__half2", "half2", 4, 4, 4, 4, 0,
             "cuda_fp16.h aligns it to 4 bytes in CUDA 12 and CUDA 13."),
    BUILT_IN("__nv_bfloat162", "nv_bfloat162", 4, 4, 4, 4, 0,
             "cuda_bf16.h aligns it to 4 bytes in CUDA 12 and CUDA 13."),

    PLAIN("ncclUniqueId", "", 128, 1,
          "nccl.h: 128 bytes of char, so no alignment at all."),
    PLAIN("CUipcMemHandle", "CUipcMemHandle_v1,cudaIpcMemHandle_t", 64, 1,
          "cuda.h: 64 bytes of char, so no alignment at all."),
    PLAIN("CUipcEventHandle", "CUipcEventHandle_v1,cudaIpcEventHandle_t",
          64, 1, "cuda.h: 64 bytes of char, so no alignment at all."),
    PLAIN("CUmemFabricHandle", "CUmemFabricHandle_v1,cudaMemFabricHandle_t",
          64, 1, "cuda.h: 64 bytes of unsigned char, so no alignment at all."),
    PLAIN("CUmemPoolPtrExportData",
          "CUmemPoolPtrExportData_v1,cudaMemPoolPtrExportData", 64, 1,
          "cuda.h: 64 bytes of unsigned char, so no alignment at all."),
    PLAIN("CUuuid", "CUuuid_st,cudaUUID_t", 16, 1,
          "cuda.h: 16 bytes of char, so no alignment at all."),
    PLAIN("CUlaunchAttribute", "CUlaunchAttribute_st,cudaLaunchAttribute",
          72, 8, "cuda.h: padded to 72 bytes; its pointers ask for 8."),
    PLAIN("CUlaunchAttributeValue",
          "CUlaunchAttributeValue_union,cudaLaunchAttributeValue", 64, 8,
          "cuda.h: padded to 64 bytes; its pointers ask for 8."),
    PLAIN("cublasLtMatmulAlgo_t", "", 64, 8,
          "cublasLt.h: eight 64-bit words, so 8 bytes."),
    PLAIN("curandStateXORWOW_t",
          "curandStateXORWOW,struct curandStateXORWOW,curandState_t,"
          "curandState",
          48, 8, "curand_kernel.h: its double asks for 8 bytes."),
    PLAIN("curandStateMRG32k3a_t",
          "curandStateMRG32k3a,struct curandStateMRG32k3a", 48, 8,
          "curand_kernel.h: its double asks for 8 bytes."),
    PLAIN("float3", "", 12, 4,
          "vector_types.h: three floats, not padded to four."),
    PLAIN("int3", "", 12, 4,
          "vector_types.h: three ints, not padded to four."),
    PLAIN("uint3", "", 12, 4,
          "vector_types.h: three ints, not padded to four."),
    PLAIN("dim3", "", 12, 4,
          "vector_types.h: three ints, not padded to four."),
    PLAIN("double3", "", 24, 8,
          "vector_types.h: three doubles, not padded to four."),
    PLAIN("longlong3", "", 24, 8,
          "vector_types.h: three 8-byte integers, not padded to four."),
    PLAIN("ulonglong3", "", 24, 8,
          "vector_types.h: three 8-byte integers, not padded to four."),
};
/* clang-format on */

const size_t builtin_count = sizeof(builtin_types) / sizeof(*builtin_types);
