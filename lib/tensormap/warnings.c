/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What an encoder takes, though it is hardly meant. */
#include "config.h"

#include "tensormap/check.h"

/* What a block can have, with the opt-in, since compute capability 9.0. */
#define SHARED_MEMORY_BYTES (UINT64_C(227) << 10)

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

/* The bytes from the first element to behind the last; false: too many. */
static bool extent(const struct check *check, uint64_t *bytes_out)
{
    const struct ashlar_spec *spec = check->spec;
    uint64_t bytes = row_bytes(check), step;
    uint32_t i;

    for (i = 0; i + 1 < spec_rank(spec); i++) {
        if (spec->dims[i + 1] == 0)
            continue;
        if (__builtin_mul_overflow(spec->dims[i + 1] - 1, spec->strides[i],
                                   &step) ||
            __builtin_add_overflow(bytes, step, &bytes))
            return false;
    }
    *bytes_out = bytes;
    return true;
}

static void warn_address(struct check *check)
{
    uint64_t address = check->spec->address, bytes = UINT64_MAX, last;

    if (address == 0)
        CHECK_FOUND(check, ADDRESS_NULL, ADDRESS, .right = 16);
    if (!extent(check, &bytes) ||
        (bytes != 0 && __builtin_add_overflow(address, bytes - 1, &last)))
        CHECK_FOUND(check, ADDRESS_WRAP, ADDRESS, .value = address,
                    .bound = bytes);
}

static void warn_box_memory(struct check *check, enum ashlar_spec_field field,
                            uint64_t elements)
{
    uint64_t bits = is_packed_in_16(check) ? 8
                    : check->dtype == NULL ? 0
                                           : check->dtype->bits;
    uint64_t bytes = elements * bits / 8;

    if (bytes > SHARED_MEMORY_BYTES)
        check_found(check, &(const struct ashlar_spec_finding){
                               .rule = ASHLAR_RULE_BOX_MEMORY,
                               .field = (uint32_t)field,
                               .value = bytes,
                               .bound = SHARED_MEMORY_BYTES,
                               .right = SHARED_MEMORY_BYTES});
}

/* What is loaded of a dimension of the box; 0 when it cannot be told. */
static uint64_t loaded(const struct check *check, uint32_t i)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t step =
        i == 0 && !is_interleaved(check) ? 1 : spec->element_strides[i];

    if (spec->box[i] > BOX_MOST || step == 0)
        return 0;
    return (spec->box[i] - UINT64_C(1)) / step + 1;
}

static void warn_box(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint64_t elements = spec->rank == 0 ? 0 : 1;
    uint32_t i;

    for (i = 0; i < spec_rank(spec); i++) {
        if (spec->box[i] > spec->dims[i])
            CHECK_FOUND(check, BOX_WIDE, BOX, .index = i, .value = spec->box[i],
                        .bound = spec->dims[i], .right = spec->dims[i]);
        elements *= spec->box[i] == 0 ? 0 : loaded(check, i);
    }
    warn_box_memory(check, ASHLAR_SPEC_FIELD_BOX, elements);
}

void check_warnings(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    warn_address(check);
    warn_strides(check);
    if (is_tiled(check))
        warn_box(check);
    else if (is_im2col(check) && spec->channels <= CHANNELS_MOST &&
             spec->pixels <= PIXELS_MOST)
        warn_box_memory(check, ASHLAR_SPEC_FIELD_PIXELS,
                        (uint64_t)spec->channels * spec->pixels);
    if (!is_interleaved(check) && spec->rank > 0 &&
        spec->element_strides[0] != 1)
        CHECK_FOUND(check, ELEMENT_STRIDE_IGNORED, ELEMENT_STRIDES,
                    .value = spec->element_strides[0], .bound = 1, .right = 1);
}
