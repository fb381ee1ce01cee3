/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The encoders of tensor maps, with a layout that is the simulation's own:
 *
 *     qwords  0    the address
 *             1    dtype, interleave: what a new address has to suit
 *             2    what shows that it is a map
 *             3 -  all that was given, stirred
 *
 * The same parameters give the same bytes; all 128 are written, also when they
 * are refused, as the real one does mostly.
 */
#include "config.h"

#include <string.h>

#include "context.h"
#include "entry.h"
#include "tensor_map.h"

#define QWORDS  16
#define IS_MAP  UINT64_C(0x70616d726f736e74)
#define REFUSED UINT64_C(0x6465737566657221)

static void stir(uint64_t *state, uint64_t value)
{
    *state = (*state ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    *state ^= *state >> 29;
}

/* Everything but the address. */
static uint64_t stir_all(const struct map_request *request)
{
    uint64_t state = (uint64_t)request->kind;
    unsigned i;

    stir(&state, request->dtype | request->rank << 8 |
                     (uint64_t)request->interleave << 16 |
                     (uint64_t)request->swizzle << 24 |
                     (uint64_t)request->promotion << 32 |
                     (uint64_t)request->fill << 40 |
                     (uint64_t)request->wide << 48);
    for (i = 0; i < request->rank; i++) {
        stir(&state, request->dims[i]);
        stir(&state, request->steps[i]);
        stir(&state, i == 0 ? 0 : request->strides[i - 1]);
        stir(&state, request->kind == MAP_TILED ? request->box[i] : 0);
    }
    for (i = 0; i < 3; i++)
        stir(&state, (uint32_t)request->lower[i] |
                         (uint64_t)(uint32_t)request->upper[i] << 32);
    stir(&state, request->channels | (uint64_t)request->pixels << 32);
    return state;
}

static void write_map(uint64_t qwords[QWORDS],
                      const struct map_request *request)
{
    uint64_t state = stir_all(request);
    unsigned i;

    qwords[0] = request->address;
    qwords[1] = request->dtype | (uint64_t)request->interleave << 32;
    qwords[2] = IS_MAP;
    for (i = 3; i < QWORDS; i++) {
        stir(&state, i);
        qwords[i] = state;
    }
}

static CUresult encode(CUtensorMap *map, const struct map_request *request)
{
    uint64_t qwords[QWORDS];
    bool allowed;
    unsigned i;

    if (map == NULL || request->dims == NULL || request->steps == NULL ||
        (request->strides == NULL && request->rank > 1) ||
        (request->box == NULL && request->kind == MAP_TILED))
        return CUDA_ERROR_INVALID_VALUE;
    allowed = map_is_allowed(request);
    for (i = 0; i < QWORDS; i++)
        qwords[i] = REFUSED;
    if (allowed)
        write_map(qwords, request);
    memcpy(map, qwords, sizeof(qwords)); /* wherever it lies */
    return allowed ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static struct map_request
request_of(enum map_kind kind, CUtensorMapDataType dtype, cuuint32_t rank,
           const void *address, const cuuint64_t *dims,
           const cuuint64_t *strides, const cuuint32_t *steps,
           CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
           CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill)
{
    return (struct map_request){.kind = kind,
                                .dtype = (unsigned)dtype,
                                .rank = rank,
                                .interleave = (unsigned)interleave,
                                .swizzle = (unsigned)swizzle,
                                .promotion = (unsigned)promotion,
                                .fill = (unsigned)fill,
                                .address = (uint64_t)(uintptr_t)address,
                                .dims = dims,
                                .strides = strides,
                                .steps = steps};
}

CUresult CUDAAPI cuTensorMapEncodeTiled(
    CUtensorMap *map, CUtensorMapDataType dtype, cuuint32_t rank, void *address,
    const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
    const cuuint32_t *steps, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    struct map_request request =
        request_of(MAP_TILED, dtype, rank, address, dims, strides, steps,
                   interleave, swizzle, promotion, fill);
    CUresult result;

    request.box = box;
    if (enter("cuTensorMapEncodeTiled", &result))
        result = leave(encode(map, &request));
    return result;
}

CUresult CUDAAPI cuTensorMapEncodeIm2col(
    CUtensorMap *map, CUtensorMapDataType dtype, cuuint32_t rank, void *address,
    const cuuint64_t *dims, const cuuint64_t *strides, const int *lower,
    const int *upper, cuuint32_t channels, cuuint32_t pixels,
    const cuuint32_t *steps, CUtensorMapInterleave interleave,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    struct map_request request =
        request_of(MAP_IM2COL, dtype, rank, address, dims, strides, steps,
                   interleave, swizzle, promotion, fill);
    CUresult result;
    unsigned i;

    request.channels = channels;
    request.pixels = pixels;
    for (i = 0; lower != NULL && upper != NULL && i + 2 < rank && i < 3; i++) {
        request.lower[i] = lower[i];
        request.upper[i] = upper[i];
    }
    if (enter("cuTensorMapEncodeIm2col", &result))
        result = leave(encode(map, &request));
    return result;
}

#if CUDA_VERSION >= 12080

CUresult CUDAAPI cuTensorMapEncodeIm2colWide(
    CUtensorMap *map, CUtensorMapDataType dtype, cuuint32_t rank, void *address,
    const cuuint64_t *dims, const cuuint64_t *strides, int lower, int upper,
    cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *steps,
    CUtensorMapInterleave interleave, CUtensorMapIm2ColWideMode mode,
    CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
    CUtensorMapFloatOOBfill fill)
{
    struct map_request request =
        request_of(MAP_IM2COL_WIDE, dtype, rank, address, dims, strides, steps,
                   interleave, swizzle, promotion, fill);
    CUresult result;

    request.wide = (unsigned)mode;
    request.lower[0] = lower;
    request.upper[0] = upper;
    request.channels = channels;
    request.pixels = pixels;
    if (enter("cuTensorMapEncodeIm2colWide", &result))
        result = leave(encode(map, &request));
    return result;
}

#endif

static CUresult replace(CUtensorMap *map, uint64_t address)
{
    uint64_t qwords[3];

    if (map == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(qwords, map, sizeof(qwords));
    if (qwords[2] != IS_MAP || address == 0 ||
        !map_address_is_allowed(address, (unsigned)qwords[1],
                                (unsigned)(qwords[1] >> 32)))
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(map, &address, sizeof(address));
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuTensorMapReplaceAddress(CUtensorMap *map, void *address)
{
    CUresult result;

    if (enter("cuTensorMapReplaceAddress", &result))
        result = leave(replace(map, (uint64_t)(uintptr_t)address));
    return result;
}
