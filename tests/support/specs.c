/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/specs.h"

#include "support/suite.h"

/* --- specs that nothing is wrong with ------------------------------------- */

static void set_tiled(struct ashlar_spec *spec, uint32_t rank,
                      enum ashlar_spec_dtype dtype)
{
    uint32_t i;

    spec->rank = rank;
    spec->dtype = dtype;
    for (i = 0; i < rank; i++) {
        spec->dims[i] = 256;
        spec->box[i] = i == 0 ? 32 : 4;
        spec->element_strides[i] = 1;
        if (i > 0)
            spec->strides[i - 1] = i == 1 ? 2048 : spec->strides[i - 2] * 256;
    }
}

static void set_im2col(struct ashlar_spec *spec, uint32_t rank,
                       enum ashlar_spec_dtype dtype)
{
    set_tiled(spec, rank, dtype);
    spec->mode = ASHLAR_SPEC_IM2COL;
    spec->channels = 64;
    spec->pixels = 128;
}

struct ashlar_spec specs_of(enum base base)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;

    spec.address = UINT64_C(0x7f0000001000);
    switch (base) {
    case TILED:
        set_tiled(&spec, 2, ASHLAR_SPEC_BFLOAT16);
        spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
        break;
    case TILED5:
        set_tiled(&spec, 5, ASHLAR_SPEC_FLOAT32);
        break;
    case BYTES:
        set_tiled(&spec, 2, ASHLAR_SPEC_UINT8);
        break;
    case BETWEEN_16:
        set_tiled(&spec, 3, ASHLAR_SPEC_FLOAT16);
        spec.interleave = ASHLAR_SPEC_INTERLEAVE_16B;
        break;
    case BETWEEN_32:
        set_tiled(&spec, 3, ASHLAR_SPEC_FLOAT16);
        spec.interleave = ASHLAR_SPEC_INTERLEAVE_32B;
        spec.swizzle = ASHLAR_SPEC_SWIZZLE_32B;
        break;
    case U4_IN_8:
        set_tiled(&spec, 2, ASHLAR_SPEC_16U4_ALIGN8B);
        break;
    case U4_IN_16:
    case U6_IN_16:
        set_tiled(&spec, 2,
                  base == U4_IN_16 ? ASHLAR_SPEC_16U4_ALIGN16B
                                   : ASHLAR_SPEC_16U6_ALIGN16B);
        spec.box[0] = 128;
        break;
    case IM2COL3:
        set_im2col(&spec, 3, ASHLAR_SPEC_FLOAT16);
        break;
    case IM2COL4:
        set_im2col(&spec, 4, ASHLAR_SPEC_FLOAT16);
        break;
    case IM2COL5:
        set_im2col(&spec, 5, ASHLAR_SPEC_FLOAT16);
        break;
    case IM2COL_U4:
        set_im2col(&spec, 3, ASHLAR_SPEC_16U4_ALIGN16B);
        spec.channels = 128;
        break;
    case WIDE:
    case WIDE_128:
        set_im2col(&spec, 5, ASHLAR_SPEC_FLOAT16);
        spec.mode = ASHLAR_SPEC_IM2COL_WIDE;
        spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
        spec.wide_mode = base == WIDE_128;
        break;
    case BASES:
        break;
    }
    return spec;
}

/* --- a member of a spec, by number ---------------------------------------- */

void specs_set(struct ashlar_spec *spec, enum ashlar_spec_field field,
               uint32_t i, int64_t value)
{
    switch (field) {
    case ASHLAR_SPEC_FIELD_ADDRESS:
        spec->address = (uint64_t)value;
        break;
    case ASHLAR_SPEC_FIELD_DIMS:
        spec->dims[i] = (uint64_t)value;
        break;
    case ASHLAR_SPEC_FIELD_STRIDES:
        spec->strides[i] = (uint64_t)value;
        break;
    case ASHLAR_SPEC_FIELD_BOX:
        spec->box[i] = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_ELEMENT_STRIDES:
        spec->element_strides[i] = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_LOWER_CORNER:
        spec->lower_corner[i] = (int32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_UPPER_CORNER:
        spec->upper_corner[i] = (int32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_CHANNELS:
        spec->channels = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_PIXELS:
        spec->pixels = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_RANK:
        spec->rank = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_MODE:
        spec->mode = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_DTYPE:
        spec->dtype = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_INTERLEAVE:
        spec->interleave = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_SWIZZLE:
        spec->swizzle = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_L2_PROMOTION:
        spec->l2_promotion = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_OOB_FILL:
        spec->oob_fill = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_WIDE_MODE:
        spec->wide_mode = (uint32_t)value;
        break;
    case ASHLAR_SPEC_FIELD_NONE:
        break;
    }
}

/* --- checking ------------------------------------------------------------- */

struct verdict specs_check_for(const struct ashlar_spec *spec,
                               uint32_t capability)
{
    struct verdict verdict = {.errors = 0};
    size_t i;

    ashlar_clear_error();
    verdict.status =
        ashlar_spec_check(spec, capability, verdict.found,
                          ASHLAR_SPEC_FINDINGS_MAX, &verdict.count);
    ck_assert_uint_le(verdict.count, ASHLAR_SPEC_FINDINGS_MAX);
    for (i = 0; i < verdict.count; i++)
        verdict.errors += verdict.found[i].severity == ASHLAR_SPEC_ERROR;
    ck_assert_int_eq(verdict.status,
                     verdict.errors == 0 ? ASHLAR_OK : ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_last_error(), verdict.status);
    return verdict;
}

struct verdict specs_check(const struct ashlar_spec *spec)
{
    return specs_check_for(spec, 0);
}

const char *specs_sentence(const struct ashlar_spec_finding *finding)
{
    static char buffer[512];

    (void)ashlar_spec_explain(finding, NULL, buffer, sizeof(buffer));
    return buffer;
}

struct ashlar_spec specs_changed(const struct limit *limit, int64_t value)
{
    struct ashlar_spec spec = specs_of(limit->base);

    specs_set(&spec, limit->field, limit->index, value);
    return spec;
}
