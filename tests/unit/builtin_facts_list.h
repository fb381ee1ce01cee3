/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The body of the two files that collect the facts: everything that the
 * headers of this toolkit declare, as the including compiler sees it.
 */
#include <cuda.h>

/* cuda.h may be installed alone; all others need the runtime's headers. */
#if __has_include(<driver_types.h>) && __has_include(<vector_types.h>) &&      \
    __has_include(<crt/host_defines.h>)
#include <driver_types.h>
#include <vector_types.h>
#define HAVE_RUNTIME
#if __has_include(<cuComplex.h>)
#include <cuComplex.h>
#define HAVE_COMPLEX
#endif
#if __has_include(<cuda_fp16.h>) && __has_include(<cuda_bf16.h>)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define HAVE_HALF
#endif
#if __has_include(<nccl.h>)
#include <nccl.h>
#define HAVE_NCCL
#endif
#if __has_include(<cublasLt.h>)
#include <cublasLt.h>
#define HAVE_CUBLASLT
#endif
#if __has_include(<cufft.h>)
#include <cufft.h>
#define HAVE_CUFFT
#endif
#if defined(__cplusplus) && __has_include(<curand_kernel.h>)
#include <curand_kernel.h>
#define HAVE_CURAND
#endif
#endif

#include "unit/builtin_facts.h"

/* CUDA 13 deprecates double4 and its like. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/* clang-format off */
static const struct fact facts[] = {
    FACTS_CUDA
#if CUDA_VERSION >= 12030
    FACTS_CUDA_12_3
#endif
#ifdef HAVE_RUNTIME
    FACTS_DRIVER_TYPES
    FACTS_VECTOR_TYPES
#if CUDA_VERSION >= 12030
    FACT(cudaMemFabricHandle_t)
#endif
#if CUDA_VERSION >= 13000
    FACTS_VECTOR_TYPES_13
#endif
#endif
#ifdef __cplusplus
    FACT(CUtensorMap_st)
    FACT(CUuuid_st)
    FACT(CUlaunchAttribute_st)
    FACT(CUlaunchAttributeValue_union)
#ifdef HAVE_RUNTIME
    FACT(cudaMemPoolPtrExportData)
#endif
#ifdef HAVE_HALF
    FACTS_HALF
#endif
#endif
#ifdef HAVE_COMPLEX
    FACTS_COMPLEX
#endif
#ifdef HAVE_NCCL
    FACT(ncclUniqueId)
#endif
#ifdef HAVE_CUBLASLT
    FACT(cublasLtMatmulAlgo_t)
#endif
#ifdef HAVE_CUFFT
    FACTS_CUFFT
#endif
#ifdef HAVE_CURAND
    FACTS_CURAND
#endif
};
/* clang-format on */

#define FACT_COUNT (sizeof(facts) / sizeof(*facts))
