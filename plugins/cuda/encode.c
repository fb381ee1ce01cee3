/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Encoding tensor maps. The driver wants a context for it, any one, so the one
 * that is current serves; only where there is none, the device's primary one is
 * started, and made current for the while.
 */
#include "config.h"

#include "context.h"
#include "error.h"

#include <string.h>

/* One call of an encoder, to be made again where it found no context. */
struct encoding {
    const struct ashlar_spec *spec; /* NULL: rebase */
    uint64_t address;
    CUtensorMap *map;
    const char *entry; /* the driver's name of it */
};

static void *pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static inline CUresult encode_tiled(const struct cuda *cuda,
                                    const struct ashlar_spec *spec,
                                    CUtensorMap *map)
{
    return cuda->driver.encode_tiled(
        map, (CUtensorMapDataType)spec->dtype, spec->rank,
        pointer(spec->address), spec->dims, spec->strides, spec->box,
        spec->element_strides, (CUtensorMapInterleave)spec->interleave,
        (CUtensorMapSwizzle)spec->swizzle,
        (CUtensorMapL2promotion)spec->l2_promotion,
        (CUtensorMapFloatOOBfill)spec->oob_fill);
}

static CUresult encode_im2col(const struct cuda *cuda,
                              const struct ashlar_spec *spec, CUtensorMap *map)
{
    return cuda->driver.encode_im2col(
        map, (CUtensorMapDataType)spec->dtype, spec->rank,
        pointer(spec->address), spec->dims, spec->strides, spec->lower_corner,
        spec->upper_corner, spec->channels, spec->pixels, spec->element_strides,
        (CUtensorMapInterleave)spec->interleave,
        (CUtensorMapSwizzle)spec->swizzle,
        (CUtensorMapL2promotion)spec->l2_promotion,
        (CUtensorMapFloatOOBfill)spec->oob_fill);
}

#if CUDA_VERSION >= 12080

static CUresult encode_wide(const struct cuda *cuda,
                            const struct ashlar_spec *spec, CUtensorMap *map)
{
    return cuda->driver.encode_wide(
        map, (CUtensorMapDataType)spec->dtype, spec->rank,
        pointer(spec->address), spec->dims, spec->strides,
        spec->lower_corner[0], spec->upper_corner[0], spec->channels,
        spec->pixels, spec->element_strides,
        (CUtensorMapInterleave)spec->interleave,
        (CUtensorMapIm2ColWideMode)spec->wide_mode,
        (CUtensorMapSwizzle)spec->swizzle,
        (CUtensorMapL2promotion)spec->l2_promotion,
        (CUtensorMapFloatOOBfill)spec->oob_fill);
}

#define HAS_WIDE(_cuda) ((_cuda)->driver.encode_wide != NULL)
#else
#define encode_wide     encode_im2col
#define HAS_WIDE(_cuda) false
#endif

static CUresult call(const struct cuda *cuda, const struct encoding *encoding)
{
    if (encoding->spec == NULL)
        return cuda->driver.replace_address(encoding->map,
                                            pointer(encoding->address));
    switch (encoding->spec->mode) {
    case ASHLAR_SPEC_TILED:
        return encode_tiled(cuda, encoding->spec, encoding->map);
    case ASHLAR_SPEC_IM2COL:
        return encode_im2col(cuda, encoding->spec, encoding->map);
    default:
        return encode_wide(cuda, encoding->spec, encoding->map);
    }
}

/* In the primary context that the source keeps, if it does. */
static CUresult call_in_primary(struct cuda *cuda,
                                const struct encoding *encoding)
{
    CUresult result = CUDA_ERROR_INVALID_CONTEXT;
    CUcontext primary, popped;

    (void)pthread_mutex_lock(&cuda->lock);
    primary = cuda->primary;
    (void)pthread_mutex_unlock(&cuda->lock);
    if (primary == NULL || cuda->driver.ctx_push(primary) != CUDA_SUCCESS)
        return result;
    result = call(cuda, encoding);
    (void)cuda->driver.ctx_pop(&popped);
    return result;
}

/* The same where it has to be started first. */
static enum ashlar_status start_and_call(struct cuda *cuda,
                                         const struct encoding *encoding,
                                         CUresult *result)
{
    struct cuda_visit visit;
    enum ashlar_status status = cuda_visit_begin(cuda, NULL, true, &visit);

    if (status != ASHLAR_OK)
        return status;
    *result = call(cuda, encoding);
    cuda_visit_end(cuda, &visit);
    return ASHLAR_OK;
}

/* What is to be done about a first call that did not succeed. */
static enum ashlar_status call_again(struct cuda *cuda, CUresult result,
                                     const struct encoding *encoding)
{
    enum ashlar_status status;

    if (result == CUDA_ERROR_INVALID_CONTEXT)
        result = call_in_primary(cuda, encoding);
    if (result == CUDA_ERROR_INVALID_CONTEXT) {
        status = start_and_call(cuda, encoding, &result);
        if (status != ASHLAR_OK)
            return status;
    }
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    if (result == CUDA_ERROR_INVALID_CONTEXT)
        return cuda->host->fail(ASHLAR_ERR_DRIVER,
                                "%s() found no context, though device %d has "
                                "one",
                                encoding->entry, cuda->options.device);
    return cuda_fail(cuda, result, encoding->entry);
}

static enum ashlar_status encode(struct cuda *cuda,
                                 const struct encoding *encoding)
{
    CUresult result = call(cuda, encoding);

    return result == CUDA_SUCCESS ? ASHLAR_OK
                                  : call_again(cuda, result, encoding);
}

static enum ashlar_status too_old(const struct cuda *cuda, const char *entry,
                                  int minor)
{
    return cuda->host->fail(ASHLAR_ERR_DRIVER_TOO_OLD,
                            "the driver is for CUDA %d.%d and has no %s(); one "
                            "for CUDA 12.%d or later is needed",
                            cuda->driver.version / 1000,
                            cuda->driver.version % 1000 / 10, entry, minor);
}

/* What is not tiled, or of no rank. */
static __attribute__((noinline)) enum ashlar_status
encode_other(struct cuda *cuda, const struct ashlar_spec *spec,
             CUtensorMap *map)
{
    struct encoding encoding = {.spec = spec, .map = map};

    if (spec->mode > ASHLAR_SPEC_IM2COL_WIDE)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "mode is %u; the driver has encoders 0 to 2",
                                spec->mode);
    if (spec->rank > ASHLAR_SPEC_RANK_MAX)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "rank is %u; it must be %d or less", spec->rank,
                                ASHLAR_SPEC_RANK_MAX);
    encoding.entry = spec->mode == ASHLAR_SPEC_IM2COL
                         ? "cuTensorMapEncodeIm2col"
                         : "cuTensorMapEncodeIm2colWide";
    if (spec->mode == ASHLAR_SPEC_IM2COL_WIDE && !HAS_WIDE(cuda))
        return too_old(cuda, encoding.entry, 8);
    return encode(cuda, &encoding);
}

static __attribute__((noinline)) enum ashlar_status
encode_tiled_again(struct cuda *cuda, CUresult result,
                   const struct ashlar_spec *spec, CUtensorMap *map)
{
    struct encoding encoding = {
        .spec = spec, .map = map, .entry = "cuTensorMapEncodeTiled"};

    return call_again(cuda, result, &encoding);
}

/* Nearly all specs are tiled: they go to the driver by the shortest way. */
enum ashlar_status cuda_encode(void *state, const struct ashlar_spec *spec,
                               void *map_out)
{
    struct cuda *cuda = state;
    CUresult result;

    if (spec->mode != ASHLAR_SPEC_TILED || spec->rank > ASHLAR_SPEC_RANK_MAX)
        return encode_other(cuda, spec, map_out);
    result = encode_tiled(cuda, spec, map_out);
    return result == CUDA_SUCCESS
               ? ASHLAR_OK
               : encode_tiled_again(cuda, result, spec, map_out);
}

static __attribute__((noinline)) enum ashlar_status
rebase_again(struct cuda *cuda, CUresult result, CUtensorMap *map,
             uint64_t address)
{
    struct encoding encoding = {
        .address = address, .map = map, .entry = "cuTensorMapReplaceAddress"};

    return call_again(cuda, result, &encoding);
}

enum ashlar_status cuda_encode_rebase(void *state, void *map, uint64_t address)
{
    struct cuda *cuda = state;
    CUresult result = cuda->driver.replace_address(map, pointer(address));

    return result == CUDA_SUCCESS ? ASHLAR_OK
                                  : rebase_again(cuda, result, map, address);
}
