/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What an encoder takes, though it is hardly meant. */
#include "config.h"

#include "tensormap/check.h"

/* Bytes of a row; 0 when they cannot be told. */
static uint64_t row_bytes(const struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint64_t bytes;

    if (check->dtype == NULL || spec->rank == 0 || spec->dims[0] > DIM_MOST ||
        is_interleaved(check))
        return 0;
    return spec_row_bytes(spec->dtype, spec->dims[0], &bytes) ? bytes : 0;
}

/* A short stride is a mistake only where a second row follows. */
static void warn_strides(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint64_t row = row_bytes(check);
    uint32_t i;

    for (i = 0; i + 1 < spec_rank(spec); i++)
        if (spec->strides[i] < row && spec->dims[i + 1] > 1)
            CHECK_FOUND(check, STRIDE_SHORT, STRIDES, .index = i,
                        .value = spec->strides[i], .bound = row,
                        .right = up_to_multiple(row, 16));
}

static void warn_address(struct check *check)
{
    uint64_t address = check->spec->address, bytes = UINT64_MAX;

    if (address == 0)
        CHECK_FOUND(check, ADDRESS_NULL, ADDRESS, .right = 16);
    if (address < ADDRESS_BEYOND &&
        (!spec_extent(check->spec, row_bytes(check), &bytes) ||
         bytes > ADDRESS_BEYOND - address))
        CHECK_FOUND(check, ADDRESS_END, ADDRESS, .value = address,
                    .bound = ADDRESS_BEYOND);
}

static void warn_box(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t i;

    for (i = 0; is_tiled(check) && i < spec_rank(spec); i++)
        if (spec->box[i] > spec->dims[i])
            CHECK_FOUND(check, BOX_WIDE, BOX, .index = i, .value = spec->box[i],
                        .bound = spec->dims[i], .right = spec->dims[i]);
}

static void warn_element_strides(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    if (!is_interleaved(check) && spec->rank > 0 &&
        spec->element_strides[0] != 1)
        CHECK_FOUND(check, ELEMENT_STRIDE_IGNORED, ELEMENT_STRIDES,
                    .value = spec->element_strides[0], .bound = 1, .right = 1);
}

static void warn_swizzle(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    if (spec->interleave == ASHLAR_SPEC_INTERLEAVE_32B &&
        spec->swizzle != ASHLAR_SPEC_SWIZZLE_32B &&
        spec->swizzle < SPEC_SWIZZLES)
        CHECK_FOUND(check, SWIZZLE_INTERLEAVE, SWIZZLE, .value = spec->swizzle,
                    .bound = 1u << ASHLAR_SPEC_SWIZZLE_32B,
                    .right = ASHLAR_SPEC_SWIZZLE_32B,
                    .cause = ASHLAR_SPEC_FIELD_INTERLEAVE,
                    .cause_value = spec->interleave);
}

static void warn_corners(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t i, dim;

    for (i = 0; i < corner_count(check); i++) {
        dim = corner_dim(check, i);
        if (spec->dims[dim] <= DIM_MOST && corner_end(check, i) > INT32_MAX)
            CHECK_FOUND(check, CORNER_WRAP, DIMS, .index = dim,
                        .value = spec->dims[dim], .bound = INT32_MAX,
                        .right = INT32_MAX);
    }
}

static void warn_capability(struct check *check)
{
    if (is_wide(check) && check->capability >= 90 && check->capability < 100)
        CHECK_FOUND(check, CAPABILITY_WIDE, MODE, .value = check->spec->mode,
                    .bound = 100, .right = ASHLAR_SPEC_IM2COL,
                    .cause_value = check->capability);
}

void check_warnings(struct check *check)
{
    warn_address(check);
    warn_strides(check);
    warn_box(check);
    warn_element_strides(check);
    warn_swizzle(check);
    warn_corners(check);
    warn_capability(check);
}
