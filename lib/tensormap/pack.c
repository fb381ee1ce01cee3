/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/tensormap.h"

#include <string.h>

#include "base/error.h"

bool spec_extent(const struct ashlar_spec *spec, uint64_t row,
                 uint64_t *bytes_out)
{
    uint64_t bytes = row, step;
    uint32_t i;

    for (i = 0; i + 1 < spec_rank(spec); i++)
        if (spec->dims[i + 1] != 0 &&
            (__builtin_mul_overflow(spec->dims[i + 1] - 1, spec->strides[i],
                                    &step) ||
             __builtin_add_overflow(bytes, step, &bytes)))
            return false;
    *bytes_out = bytes;
    return true;
}

static enum ashlar_status refuse_shape(const struct ashlar_spec *spec)
{
    if (spec->rank < 1 || spec->rank > ASHLAR_SPEC_RANK_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "rank is %u; it must be 1 to %d to be packed",
                         spec->rank, ASHLAR_SPEC_RANK_MAX);
    if (spec->dtype >= SPEC_DTYPES)
        return error_set(ASHLAR_ERR_INVALID,
                         "dtype is %u; it must be 0 to %u, or nobody knows the "
                         "bytes of a row",
                         spec->dtype, SPEC_DTYPES - 1);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_spec_pack(struct ashlar_spec *spec)
{
    struct ashlar_spec own;
    enum ashlar_status status = spec_read(&own, spec);
    uint64_t stride = 0;
    uint32_t i;

    if (status == ASHLAR_OK)
        status = refuse_shape(&own);
    if (status != ASHLAR_OK)
        return status;
    if (!spec_row_bytes(own.dtype, own.dims[0], &stride))
        return error_set(ASHLAR_ERR_INVALID,
                         "dims[0] is %llu; so many elements of %s have no "
                         "whole bytes that fit 64 bits",
                         (unsigned long long)own.dims[0],
                         ashlar_spec_name(ASHLAR_SPEC_FIELD_DTYPE, own.dtype));
    for (i = 0; i + 1 < own.rank; i++) {
        own.strides[i] = stride;
        if (i + 2 < own.rank &&
            __builtin_mul_overflow(stride, own.dims[i + 1], &stride))
            return error_set(ASHLAR_ERR_INVALID,
                             "strides[%u] does not fit 64 bits, as dims[%u] "
                             "is %llu and a step in it %llu bytes",
                             i + 1, i + 1, (unsigned long long)own.dims[i + 1],
                             (unsigned long long)own.strides[i]);
    }
    memcpy(spec->strides, own.strides, sizeof(own.strides));
    return ASHLAR_OK;
}
