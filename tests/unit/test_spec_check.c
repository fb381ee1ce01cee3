/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/tensormap.h"

#include "support/stress.h"
#include "support/suite.h"

#include <string.h>

#include "base/error.h"

/* --- specs that nothing is wrong with ------------------------------------- */

enum base {
    TILED,      /* rank 2, bfloat16, swizzle_128B */
    TILED5,     /* rank 5, float32 */
    BYTES,      /* rank 2, uint8, no swizzle */
    BETWEEN_16, /* rank 3, interleave_16B */
    BETWEEN_32, /* rank 3, interleave_32B */
    U4_IN_8,    /* rank 2, 16u4_align8b */
    U4_IN_16,   /* rank 2, 16u4_align16b */
    U6_IN_16,   /* rank 2, 16u6_align16b */
    IM2COL3,    /* rank 3 to 5, float16 */
    IM2COL4,
    IM2COL5,
    IM2COL_U4, /* rank 3, 16u4_align16b */
    WIDE,      /* rank 5, float16 */
    WIDE_128,
    BASES
};

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

static struct ashlar_spec spec_of(enum base base)
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

static void set(struct ashlar_spec *spec, enum ashlar_spec_field field,
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

/* --- the limits ----------------------------------------------------------- */

/* On a base, a member is good with one value, and with another breaks one
 * rule. */
struct limit {
    enum base base;
    enum ashlar_spec_field field;
    uint32_t index;
    int64_t good;
    int64_t bad;
    enum ashlar_spec_rule rule;
};

#define LIMIT(_base, _field, _index, _good, _bad, _rule)                       \
    {                                                                          \
        _base, ASHLAR_SPEC_FIELD_##_field, _index, _good, _bad,                \
            ASHLAR_RULE_##_rule                                                \
    }

#define T32 (INT64_C(1) << 32)
#define T40 (INT64_C(1) << 40)
#define T57 (INT64_C(1) << 57)
#define AT  INT64_C(0x7f0000001000)

/* clang-format off */
static const struct limit limits[] = {
    LIMIT(TILED, MODE, 0, ASHLAR_SPEC_TILED, 3, KNOWN_VALUE),
    LIMIT(BYTES, DTYPE, 0, ASHLAR_SPEC_TFLOAT32_FTZ, 16, KNOWN_VALUE),
    LIMIT(BETWEEN_16, INTERLEAVE, 0, ASHLAR_SPEC_INTERLEAVE_NONE, 3, KNOWN_VALUE),
    LIMIT(TILED, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B, 7, KNOWN_VALUE),
    LIMIT(TILED, L2_PROMOTION, 0, ASHLAR_SPEC_L2_256B, 4, KNOWN_VALUE),
    LIMIT(TILED, OOB_FILL, 0, ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA, 2, KNOWN_VALUE),
    LIMIT(WIDE, WIDE_MODE, 0, ASHLAR_SPEC_WIDE_W128, 2, KNOWN_VALUE),

    LIMIT(TILED, RANK, 0, 1, 0, RANK_RANGE),
    LIMIT(TILED5, RANK, 0, 5, 6, RANK_RANGE),
    LIMIT(TILED5, RANK, 0, 5, UINT32_MAX, RANK_RANGE),
    LIMIT(IM2COL3, RANK, 0, 3, 2, RANK_RANGE),
    LIMIT(IM2COL5, RANK, 0, 5, 6, RANK_RANGE),
    LIMIT(WIDE, RANK, 0, 3, 2, RANK_RANGE),
    LIMIT(BETWEEN_16, RANK, 0, 3, 2, RANK_INTERLEAVE),
    LIMIT(BETWEEN_32, RANK, 0, 3, 1, RANK_INTERLEAVE),

    LIMIT(TILED, ADDRESS, 0, AT + 16, AT + 8, ADDRESS_MULTIPLE),
    LIMIT(TILED, ADDRESS, 0, AT + 16, AT + 15, ADDRESS_MULTIPLE),
    LIMIT(BETWEEN_16, ADDRESS, 0, AT + 16, AT + 4, ADDRESS_MULTIPLE),
    LIMIT(BETWEEN_32, ADDRESS, 0, AT + 32, AT + 16, ADDRESS_MULTIPLE),
    LIMIT(U4_IN_8, ADDRESS, 0, AT + 16, AT + 8, ADDRESS_MULTIPLE),
    LIMIT(U4_IN_16, ADDRESS, 0, AT + 32, AT + 16, ADDRESS_MULTIPLE),
    LIMIT(U6_IN_16, ADDRESS, 0, AT + 32, AT + 16, ADDRESS_MULTIPLE),
    LIMIT(IM2COL3, ADDRESS, 0, AT + 16, AT + 1, ADDRESS_MULTIPLE),
    LIMIT(IM2COL_U4, ADDRESS, 0, AT + 32, AT + 16, ADDRESS_MULTIPLE),

    LIMIT(TILED, ADDRESS, 0, T57 - 16, T57, ADDRESS_RANGE),
    LIMIT(BETWEEN_32, ADDRESS, 0, T57 - 32, -32, ADDRESS_RANGE),

    LIMIT(TILED, DIMS, 1, 1, 0, DIM_RANGE),
    LIMIT(TILED, DIMS, 1, T32, T32 + 1, DIM_RANGE),
    LIMIT(TILED5, DIMS, 4, T32, -1, DIM_RANGE),
    LIMIT(IM2COL5, DIMS, 4, 1, 0, DIM_RANGE),
    LIMIT(U4_IN_8, DIMS, 0, 258, 257, DIM_PACKED),
    LIMIT(U4_IN_16, DIMS, 0, 384, 320, DIM_PACKED),
    LIMIT(U6_IN_16, DIMS, 0, 128, 129, DIM_PACKED),

    LIMIT(TILED, STRIDES, 0, 2064, 2050, STRIDE_MULTIPLE),
    LIMIT(TILED5, STRIDES, 3, T40 - 16, T40 - 8, STRIDE_MULTIPLE),
    LIMIT(BETWEEN_32, STRIDES, 1, 1 << 20, (1 << 20) + 16, STRIDE_MULTIPLE),
    LIMIT(U4_IN_16, STRIDES, 0, 2080, 2064, STRIDE_MULTIPLE),
    LIMIT(U6_IN_16, STRIDES, 0, 2080, 2064, STRIDE_MULTIPLE),
    LIMIT(TILED, STRIDES, 0, T40 - 16, T40, STRIDE_RANGE),
    LIMIT(IM2COL5, STRIDES, 3, T40 - 16, -16, STRIDE_RANGE),

    LIMIT(TILED, BOX, 1, 1, 0, BOX_RANGE),
    LIMIT(TILED, BOX, 1, 256, 257, BOX_RANGE),
    LIMIT(BYTES, BOX, 0, 256, 0, BOX_RANGE),
    LIMIT(BYTES, BOX, 0, 256, 272, BOX_RANGE),
    LIMIT(TILED5, BOX, 4, 1, UINT32_MAX, BOX_RANGE),

    LIMIT(BYTES, BOX, 0, 16, 8, INNER_MULTIPLE),
    LIMIT(BYTES, BOX, 0, 48, 47, INNER_MULTIPLE),
    LIMIT(TILED, BOX, 0, 8, 7, INNER_MULTIPLE),
    LIMIT(TILED5, BOX, 0, 4, 3, INNER_MULTIPLE),
    LIMIT(U4_IN_8, BOX, 0, 64, 48, INNER_MULTIPLE),
    LIMIT(BETWEEN_16, BOX, 0, 24, 12, INNER_MULTIPLE),
    LIMIT(BETWEEN_32, BOX, 0, 24, 4, INNER_MULTIPLE),
    LIMIT(IM2COL3, CHANNELS, 0, 8, 4, INNER_MULTIPLE),
    LIMIT(U4_IN_16, BOX, 0, 128, 64, INNER_PACKED),
    LIMIT(U6_IN_16, BOX, 0, 128, 256, INNER_PACKED),
    LIMIT(IM2COL_U4, CHANNELS, 0, 128, 64, INNER_PACKED),
    LIMIT(TILED, BOX, 0, 64, 72, INNER_SWIZZLE),
    LIMIT(WIDE, CHANNELS, 0, 64, 72, INNER_SWIZZLE),

    LIMIT(TILED5, BOX, 4, 28, 29, BOX_MEMORY),
    LIMIT(U4_IN_16, BOX, 1, 256, 0, BOX_RANGE),

    LIMIT(TILED, ELEMENT_STRIDES, 0, 8, 9, ELEMENT_STRIDE_RANGE),
    LIMIT(TILED, ELEMENT_STRIDES, 0, 1, 0, ELEMENT_STRIDE_RANGE),
    LIMIT(TILED, ELEMENT_STRIDES, 1, 1, 0, ELEMENT_STRIDE_RANGE),
    LIMIT(TILED, ELEMENT_STRIDES, 1, 8, 9, ELEMENT_STRIDE_RANGE),
    LIMIT(BETWEEN_16, ELEMENT_STRIDES, 0, 8, 9, ELEMENT_STRIDE_RANGE),
    LIMIT(BETWEEN_16, ELEMENT_STRIDES, 0, 1, 0, ELEMENT_STRIDE_RANGE),
    LIMIT(IM2COL5, ELEMENT_STRIDES, 4, 8, 9, ELEMENT_STRIDE_RANGE),

    LIMIT(U4_IN_16, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B, ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B, SWIZZLE_PACKED),
    LIMIT(U4_IN_16, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_128B, ASHLAR_SPEC_SWIZZLE_64B, SWIZZLE_PACKED),
    LIMIT(U6_IN_16, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B, ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B_FLIP_8B, SWIZZLE_PACKED),
    LIMIT(WIDE, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B, ASHLAR_SPEC_SWIZZLE_NONE, SWIZZLE_WIDE),
    LIMIT(WIDE, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_128B, ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B, SWIZZLE_WIDE),

    LIMIT(IM2COL3, LOWER_CORNER, 0, -32768, -32769, CORNER_RANGE),
    LIMIT(IM2COL3, UPPER_CORNER, 0, 32767, 32768, CORNER_RANGE),
    LIMIT(IM2COL4, LOWER_CORNER, 1, -128, -129, CORNER_RANGE),
    LIMIT(IM2COL4, LOWER_CORNER, 1, 127, 128, CORNER_RANGE),
    LIMIT(IM2COL4, UPPER_CORNER, 0, 127, 128, CORNER_RANGE),
    LIMIT(IM2COL5, LOWER_CORNER, 2, -16, -17, CORNER_RANGE),
    LIMIT(IM2COL5, LOWER_CORNER, 2, 15, 16, CORNER_RANGE),
    LIMIT(IM2COL5, UPPER_CORNER, 2, -16, -17, CORNER_RANGE),
    LIMIT(IM2COL5, UPPER_CORNER, 1, 15, 16, CORNER_RANGE),
    LIMIT(WIDE, LOWER_CORNER, 0, -32768, -32769, CORNER_RANGE),
    LIMIT(WIDE, UPPER_CORNER, 0, 32767, 32768, CORNER_RANGE),
    LIMIT(IM2COL3, UPPER_CORNER, 0, -255, -256, CORNER_AREA),
    LIMIT(IM2COL3, LOWER_CORNER, 0, 255, 256, CORNER_AREA),
    LIMIT(WIDE, UPPER_CORNER, 0, -255, -256, CORNER_AREA),
    LIMIT(IM2COL3, DIMS, 1, INT32_MAX, INT64_C(1) << 31, CORNER_AREA),
    LIMIT(IM2COL5, DIMS, 3, INT32_MAX, T32 - 1, CORNER_AREA),

    LIMIT(IM2COL3, CHANNELS, 0, 256, 264, CHANNELS_RANGE),
    LIMIT(IM2COL3, CHANNELS, 0, 8, 0, CHANNELS_RANGE),
    LIMIT(IM2COL3, PIXELS, 0, 1024, 1025, PIXELS_RANGE),
    LIMIT(IM2COL3, PIXELS, 0, 1, 0, PIXELS_RANGE),
    LIMIT(WIDE, PIXELS, 0, 1024, 1025, PIXELS_RANGE),
};

/* What is good with one value, and with another is warned of. */
static const struct limit warnings[] = {
    LIMIT(TILED, ADDRESS, 0, 16, 0, ADDRESS_NULL),
    LIMIT(TILED, ADDRESS, 0, T57 - 522752, T57 - 522736, ADDRESS_END),
    LIMIT(TILED, STRIDES, 0, 512, 496, STRIDE_SHORT),
    LIMIT(TILED, STRIDES, 0, 512, 0, STRIDE_SHORT),
    LIMIT(TILED5, STRIDES, 3, 1024, 1008, STRIDE_SHORT),
    LIMIT(TILED, DIMS, 1, 4, 3, BOX_WIDE),
    LIMIT(TILED, DIMS, 0, 32, 24, BOX_WIDE),
    LIMIT(BETWEEN_32, SWIZZLE, 0, ASHLAR_SPEC_SWIZZLE_32B, ASHLAR_SPEC_SWIZZLE_NONE, SWIZZLE_INTERLEAVE),
    LIMIT(IM2COL3, DIMS, 1, INT32_MAX, T32 - 1, CORNER_WRAP),
    LIMIT(TILED, ELEMENT_STRIDES, 0, 1, 2, ELEMENT_STRIDE_IGNORED),
};
/* clang-format on */

#define COUNT_OF(_array) (sizeof(_array) / sizeof((_array)[0]))

/* --- checking ------------------------------------------------------------- */

struct verdict {
    enum ashlar_status status;
    size_t count;
    size_t errors;
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
};

static struct verdict check_for(const struct ashlar_spec *spec,
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

static struct verdict check(const struct ashlar_spec *spec)
{
    return check_for(spec, 0);
}

static const char *sentence(const struct ashlar_spec_finding *finding)
{
    static char buffer[512];

    (void)ashlar_spec_explain(finding, NULL, buffer, sizeof(buffer));
    return buffer;
}

/* A spec of a base, with a member set. */
static struct ashlar_spec changed(const struct limit *limit, int64_t value)
{
    struct ashlar_spec spec = spec_of(limit->base);

    set(&spec, limit->field, limit->index, value);
    return spec;
}

static void ck_assert_good(const struct limit *limit, int64_t value)
{
    struct ashlar_spec spec = changed(limit, value);
    struct verdict verdict = check(&spec);

    ck_assert_msg(verdict.errors == 0, "row %s, base %d, with %lld: %s",
                  ashlar_spec_rule_name(limit->rule), limit->base,
                  (long long)value, sentence(&verdict.found[0]));
}

START_TEST(a_spec_that_is_right_has_no_finding)
{
    struct ashlar_spec spec = spec_of((enum base)_i);
    struct verdict verdict = check_for(&spec, 100);

    ck_assert_msg(verdict.count == 0, "base %d: %s", _i,
                  sentence(&verdict.found[0]));
}
END_TEST

START_TEST(each_limit_is_taken_on_one_side_and_told_on_the_other)
{
    const struct limit *limit = &limits[_i];
    struct ashlar_spec spec = changed(limit, limit->bad);
    struct verdict verdict = check(&spec);
    const struct ashlar_spec_finding *found = &verdict.found[0];

    ck_assert_msg(verdict.errors == 1, "row %d (%s): %zu errors", _i,
                  ashlar_spec_rule_name(limit->rule), verdict.errors);
    ck_assert_uint_eq(found->rule, limit->rule);
    ck_assert_str_eq(ashlar_last_error_message(), sentence(found));
    ck_assert_good(limit, limit->good);
}
END_TEST

/* Whether a rule is broken still. */
static bool is_broken(const struct verdict *verdict, uint32_t rule)
{
    size_t i;

    for (i = 0; i < verdict->errors; i++)
        if (verdict->found[i].rule == rule)
            return true;
    return false;
}

START_TEST(what_is_told_to_be_right_is_right)
{
    const struct limit *limit = &limits[_i];
    struct ashlar_spec spec = changed(limit, limit->bad);
    struct verdict verdict = check(&spec);
    struct ashlar_spec_finding found = verdict.found[0];

    if (found.rule == ASHLAR_RULE_BOX_MEMORY)
        return; /* it says how many bytes are right */
    set(&spec, (enum ashlar_spec_field)found.field, found.index,
        (int64_t)found.right);
    verdict = check(&spec);
    ck_assert_msg(!is_broken(&verdict, found.rule), "row %d: then %s", _i,
                  sentence(&verdict.found[0]));
}
END_TEST

START_TEST(each_warning_comes_on_one_side_and_is_none_on_the_other)
{
    const struct limit *limit = &warnings[_i];
    struct ashlar_spec good = changed(limit, limit->good);
    struct ashlar_spec bad = changed(limit, limit->bad);
    struct verdict verdict;

    if (limit->rule == ASHLAR_RULE_CORNER_WRAP)
        bad.lower_corner[0] = -256; /* and so not empty */
    verdict = check(&good);
    ck_assert_msg(verdict.count == 0, "row %d: %s", _i,
                  sentence(&verdict.found[0]));
    verdict = check(&bad);
    ck_assert_int_eq(verdict.status, ASHLAR_OK);
    ck_assert_uint_eq(verdict.count, 1);
    ck_assert_uint_eq(verdict.found[0].severity, ASHLAR_SPEC_WARNING);
    ck_assert_uint_eq(verdict.found[0].rule, limit->rule);
}
END_TEST

/* --- rules of two settings ------------------------------------------------ */

START_TEST(nan_fills_only_floating_point_types)
{
    static const uint8_t floats[SPEC_DTYPES] = {
        [ASHLAR_SPEC_FLOAT16] = 1,     [ASHLAR_SPEC_FLOAT32] = 1,
        [ASHLAR_SPEC_FLOAT64] = 1,     [ASHLAR_SPEC_BFLOAT16] = 1,
        [ASHLAR_SPEC_FLOAT32_FTZ] = 1, [ASHLAR_SPEC_TFLOAT32] = 1,
        [ASHLAR_SPEC_TFLOAT32_FTZ] = 1};
    struct ashlar_spec spec = spec_of(U4_IN_16);
    struct verdict verdict;

    spec.dtype = (uint32_t)_i;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_NONE;
    spec.oob_fill = ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA;
    verdict = check(&spec);
    ck_assert_uint_eq(verdict.errors, floats[_i] ? 0 : 1);
    if (!floats[_i])
        ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_OOB_FLOAT);
}
END_TEST

START_TEST(sixes_are_not_interleaved)
{
    struct ashlar_spec spec = spec_of(BETWEEN_16);
    struct verdict verdict;

    spec.dtype = ASHLAR_SPEC_16U6_ALIGN16B;
    spec.box[0] = 128;
    verdict = check(&spec);
    ck_assert_uint_eq(verdict.errors, 1);
    ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_INTERLEAVE_PACKED);
    spec.dtype = ASHLAR_SPEC_16U4_ALIGN16B;
    ck_assert_uint_eq(check(&spec).errors, 0);
}
END_TEST

START_TEST(swizzles_bound_the_inner_row_by_their_span)
{
    static const uint32_t spans[SPEC_SWIZZLES] = {256, 32,  64, 128,
                                                  128, 128, 128};
    struct ashlar_spec spec = spec_of(BYTES);

    spec.swizzle = (uint32_t)_i;
    spec.box[0] = spans[_i];
    ck_assert_uint_eq(check(&spec).errors, 0);
    spec.box[0] += 16;
    ck_assert_uint_eq(check(&spec).errors, 1);
    if (_i != 0)
        ck_assert_uint_eq(check(&spec).found[0].right, spans[_i]);
}
END_TEST

START_TEST(interleaved_rows_are_bound_by_no_swizzle)
{
    struct ashlar_spec spec = spec_of(BETWEEN_16);

    spec.box[0] = 248;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_32B;
    ck_assert_uint_eq(check(&spec).errors, 0);
    spec.interleave = ASHLAR_SPEC_INTERLEAVE_NONE;
    ck_assert_uint_eq(check(&spec).errors, 1);
}
END_TEST

START_TEST(elements_that_are_stepped_over_take_no_memory)
{
    struct ashlar_spec spec = spec_of(TILED5);

    spec.box[4] = 56;
    ck_assert_uint_eq(check(&spec).errors, 1);
    spec.element_strides[4] = 2;
    ck_assert_uint_eq(check(&spec).errors, 0);
    spec.box[4] = 58;
    ck_assert_uint_eq(check(&spec).errors, 1);
}
END_TEST

START_TEST(im2col_loads_fit_shared_memory)
{
    struct ashlar_spec spec = spec_of(IM2COL3);
    struct verdict verdict;

    spec.channels = 256;
    spec.pixels = 456;
    ck_assert_uint_eq(check(&spec).count, 0);
    spec.pixels = 457;
    verdict = check(&spec);
    ck_assert_uint_eq(verdict.errors, 1);
    ck_assert_str_eq(sentence(&verdict.found[0]),
                     "pixels is 233984 bytes of shared memory; it must be "
                     "at most 233472");
}
END_TEST

/* The channels come behind the pixels then. */
START_TEST(interleaved_corners_are_of_the_first_dimensions)
{
    struct ashlar_spec spec = spec_of(IM2COL3);

    spec.interleave = ASHLAR_SPEC_INTERLEAVE_16B;
    spec.dims[0] = 8;
    spec.upper_corner[0] = -7;
    ck_assert_uint_eq(check(&spec).errors, 0);
    spec.upper_corner[0] = -8;
    ck_assert_uint_eq(check(&spec).errors, 1);
    spec.dims[0] = 256;
    spec.dims[1] = 8;
    ck_assert_uint_eq(check(&spec).errors, 0);
}
END_TEST

START_TEST(w128_ignores_pixels)
{
    struct ashlar_spec spec = spec_of(WIDE_128);

    spec.pixels = 0;
    ck_assert_uint_eq(check(&spec).errors, 0);
    spec.wide_mode = ASHLAR_SPEC_WIDE_W;
    ck_assert_uint_eq(check(&spec).errors, 1);
}
END_TEST

START_TEST(fields_of_other_encoders_do_not_count)
{
    struct ashlar_spec spec = spec_of(TILED);

    spec.channels = spec.pixels = UINT32_MAX;
    spec.lower_corner[0] = INT32_MIN;
    spec.wide_mode = 77;
    ck_assert_uint_eq(check(&spec).count, 0);
    spec = spec_of(IM2COL3);
    spec.box[0] = 0;
    spec.wide_mode = 77;
    ck_assert_uint_eq(check(&spec).count, 0);
}
END_TEST

START_TEST(entries_beyond_the_rank_do_not_count)
{
    struct ashlar_spec spec = spec_of(TILED);

    spec.dims[2] = 0;
    spec.strides[1] = 1;
    spec.box[2] = 0;
    spec.element_strides[2] = 99;
    ck_assert_uint_eq(check(&spec).count, 0);
}
END_TEST

START_TEST(a_device_needs_the_encoders_capability)
{
    struct ashlar_spec tiled = spec_of(TILED), wide = spec_of(WIDE);
    struct verdict verdict;

    ck_assert_uint_eq(check_for(&tiled, 90).count, 0);
    verdict = check_for(&tiled, 89);
    ck_assert_uint_eq(verdict.errors, 1);
    ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_CAPABILITY);
    ck_assert_uint_eq(check_for(&wide, 0).count, 0);
    ck_assert_uint_eq(check_for(&wide, 100).count, 0);
    verdict = check_for(&wide, 90);
    ck_assert_uint_eq(verdict.errors, 0);
    ck_assert_uint_eq(verdict.count, 1);
    ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_CAPABILITY_WIDE);
    ck_assert_str_eq(sentence(&verdict.found[0]),
                     "mode is im2col_wide, which takes a device of compute "
                     "capability 10.0; this one has 9.0");
}
END_TEST

START_TEST(packed_types_and_swizzles_by_atoms_need_a_later_device)
{
    static const struct limit later[] = {
        LIMIT(U4_IN_8, DTYPE, 0, 0, ASHLAR_SPEC_16U4_ALIGN8B, CAPABILITY),
        LIMIT(U4_IN_16, DTYPE, 0, 0, ASHLAR_SPEC_16U4_ALIGN16B, CAPABILITY),
        LIMIT(U6_IN_16, DTYPE, 0, 0, ASHLAR_SPEC_16U6_ALIGN16B, CAPABILITY),
        LIMIT(TILED, SWIZZLE, 0, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B,
              CAPABILITY),
        LIMIT(TILED, SWIZZLE, 0, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B_FLIP_8B,
              CAPABILITY),
        LIMIT(TILED, SWIZZLE, 0, 0, ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B,
              CAPABILITY),
    };
    struct ashlar_spec spec;
    struct verdict verdict;
    size_t i;

    for (i = 0; i < COUNT_OF(later); i++) {
        spec = changed(&later[i], later[i].bad);
        ck_assert_uint_eq(check_for(&spec, 100).count, 0);
        ck_assert_uint_eq(check_for(&spec, 0).count, 0);
        verdict = check_for(&spec, 90);
        ck_assert_uint_eq(verdict.errors, 1);
        ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_CAPABILITY);
        ck_assert_uint_eq(verdict.found[0].field, later[i].field);
    }
}
END_TEST

START_TEST(a_transposed_tensor_is_no_mistake)
{
    struct ashlar_spec spec = spec_of(TILED5);

    spec.strides[0] = 1 << 20;
    spec.strides[1] = 1024;
    ck_assert_uint_eq(check(&spec).count, 0);
}
END_TEST

START_TEST(a_stride_over_one_row_may_be_anything)
{
    struct ashlar_spec spec = spec_of(TILED5);

    spec.dims[4] = 1;
    spec.box[4] = 1;
    spec.strides[3] = 0;
    ck_assert_uint_eq(check(&spec).count, 0);
}
END_TEST

/* --- all at once ---------------------------------------------------------- */

START_TEST(all_that_is_wrong_is_told_at_once_errors_first)
{
    struct ashlar_spec spec = spec_of(TILED);
    struct verdict verdict;
    uint64_t rules = 0;
    size_t i;

    spec.address = 8;
    spec.dims[1] = 0;
    spec.strides[0] = 50;
    spec.box[0] = 100;
    spec.box[1] = 300;
    spec.element_strides[1] = 0;
    spec.l2_promotion = 9;
    verdict = check(&spec);
    for (i = 0; i < verdict.errors; i++) {
        ck_assert_uint_eq(verdict.found[i].severity, ASHLAR_SPEC_ERROR);
        rules |= UINT64_C(1) << verdict.found[i].rule;
    }
    ck_assert_uint_eq(verdict.errors, 8);
    ck_assert_uint_eq(rules, UINT64_C(1) << ASHLAR_RULE_KNOWN_VALUE |
                                 UINT64_C(1) << ASHLAR_RULE_ADDRESS_MULTIPLE |
                                 UINT64_C(1) << ASHLAR_RULE_DIM_RANGE |
                                 UINT64_C(1) << ASHLAR_RULE_STRIDE_MULTIPLE |
                                 UINT64_C(1) << ASHLAR_RULE_BOX_RANGE |
                                 UINT64_C(1) << ASHLAR_RULE_INNER_MULTIPLE |
                                 UINT64_C(1) << ASHLAR_RULE_INNER_SWIZZLE |
                                 UINT64_C(1)
                                     << ASHLAR_RULE_ELEMENT_STRIDE_RANGE);
    for (; i < verdict.count; i++)
        ck_assert_uint_eq(verdict.found[i].severity, ASHLAR_SPEC_WARNING);
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), "; and 7 more"));
}
END_TEST

START_TEST(findings_beyond_the_room_are_counted)
{
    struct ashlar_spec spec = spec_of(TILED);
    struct ashlar_spec_finding found[2];
    size_t count = 0;

    memset(found, 0xee, sizeof(found));
    spec.address = 8;
    spec.strides[0] = 520;
    ck_assert_int_eq(ashlar_spec_check(&spec, 0, found, 1, &count),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(found[0].rule, ASHLAR_RULE_ADDRESS_MULTIPLE);
    ck_assert_uint_eq(found[1].rule, 0xeeeeeeee);
    ck_assert_int_eq(ashlar_spec_check(&spec, 0, NULL, 0, NULL),
                     ASHLAR_ERR_INVALID);
}
END_TEST

START_TEST(a_call_that_is_wrong_itself_counts_nothing)
{
    struct ashlar_spec spec = spec_of(TILED);
    size_t count = 7;

    ck_assert_int_eq(ashlar_spec_check(NULL, 0, NULL, 0, &count),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(count, 0);
    count = 7;
    ck_assert_int_eq(ashlar_spec_check(&spec, 0, NULL, 3, &count),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(count, 0);
    spec.size = 0;
    ck_assert_int_eq(ashlar_spec_check(&spec, 0, NULL, 0, &count),
                     ASHLAR_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(ashlar_last_error_message(), "struct ashlar_spec"));
}
END_TEST

/* --- anything at all ------------------------------------------------------ */

/* Mostly what is near a limit, else any bits. */
static uint64_t near(struct stress_random *random)
{
    static const uint64_t limits_of_all[] = {0,
                                             1,
                                             2,
                                             3,
                                             8,
                                             16,
                                             32,
                                             64,
                                             128,
                                             256,
                                             1024,
                                             UINT64_C(1) << 32,
                                             UINT64_C(1) << 40,
                                             UINT64_MAX};
    uint64_t luck = stress_next(random);

    if (luck % 8 == 0)
        return stress_next(random);
    return limits_of_all[luck / 8 % COUNT_OF(limits_of_all)] + luck / 1024 % 3 -
           1;
}

static struct ashlar_spec any_spec(struct stress_random *random)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;
    enum ashlar_spec_field field;
    uint32_t i;

    for (field = ASHLAR_SPEC_FIELD_ADDRESS;
         field <= ASHLAR_SPEC_FIELD_WIDE_MODE; field++)
        for (i = 0; i < 3; i++)
            set(&spec, field, i, (int64_t)near(random));
    for (i = 3; i < 5; i++) {
        spec.dims[i] = near(random);
        spec.box[i] = (uint32_t)near(random);
        spec.element_strides[i] = (uint32_t)near(random);
    }
    spec.strides[3] = near(random);
    return spec;
}

START_TEST(any_bits_are_checked_and_explained)
{
    struct stress_random random = stress_stream(0);
    struct ashlar_spec spec;
    struct verdict verdict;
    char text[256];
    size_t i, n, length;

    for (n = 0; n < stress_count(4000, 1000000); n++) {
        spec = any_spec(&random);
        verdict = check_for(&spec, n % 2 == 0 ? 0 : 90);
        for (i = 0; i < verdict.count; i++) {
            length = ashlar_spec_explain(&verdict.found[i], NULL, text,
                                         sizeof(text));
            ck_assert_uint_gt(length, 0);
            ck_assert_uint_lt(length, sizeof(text));
            ck_assert_uint_eq(length, strlen(text));
            ck_assert_str_ne(ashlar_spec_rule_name(
                                 (enum ashlar_spec_rule)verdict.found[i].rule),
                             "unknown-rule");
        }
    }
}
END_TEST

/* --- sentences ------------------------------------------------------------ */

static const struct {
    struct limit limit;
    const char *text;
} sentences[] = {
    {LIMIT(TILED, STRIDES, 0, 0, 2050, STRIDE_MULTIPLE),
     "strides[0] is 2050 bytes; it must be a multiple of 16: pad it to 2064 "
     "bytes"},
    {LIMIT(BETWEEN_32, ADDRESS, 0, 0, AT + 16, ADDRESS_MULTIPLE),
     "address is 0x7f0000001010; it must be a multiple of 32, as interleave is "
     "interleave_32B: move the tensor to 0x7f0000001020"},
    {LIMIT(TILED, DTYPE, 0, 0, 99, KNOWN_VALUE),
     "dtype is 99; it must be 0 (uint8) to 15 (16u6_align16b)"},
    {LIMIT(IM2COL3, RANK, 0, 0, 2, RANK_RANGE),
     "rank is 2; it must be 3 to 5, as mode is im2col"},
    {LIMIT(TILED, RANK, 0, 0, 6, RANK_RANGE), "rank is 6; it must be 1 to 5"},
    {LIMIT(BETWEEN_16, RANK, 0, 0, 2, RANK_INTERLEAVE),
     "rank is 2; it must be 3 or more, as interleave is interleave_16B"},
    {LIMIT(TILED, DIMS, 1, 0, 0, DIM_RANGE),
     "dims[1] is 0; it must be 1 to 4294967296"},
    {LIMIT(U4_IN_16, DIMS, 0, 0, 130, DIM_PACKED),
     "dims[0] is 130; it must be a multiple of 128, as dtype is 16u4_align16b: "
     "pad it to 256"},
    {LIMIT(TILED, STRIDES, 0, 0, T40, STRIDE_RANGE),
     "strides[0] is 1099511627776 bytes; it must be below 1099511627776"},
    {LIMIT(BYTES, BOX, 0, 0, 7, INNER_MULTIPLE),
     "box[0] is 7; its bytes must be a multiple of 16, as dtype is uint8: make "
     "it 16"},
    {LIMIT(U4_IN_16, BOX, 0, 0, 64, INNER_PACKED),
     "box[0] is 64; it must be 128, as dtype is 16u4_align16b"},
    {LIMIT(TILED, BOX, 0, 0, 128, INNER_SWIZZLE),
     "box[0] is 128; its bytes must be at most 128, as swizzle is "
     "swizzle_128B: make it at most 64"},
    {LIMIT(WIDE, SWIZZLE, 0, 0, ASHLAR_SPEC_SWIZZLE_NONE, SWIZZLE_WIDE),
     "swizzle is none; it must be swizzle_64B, swizzle_128B or "
     "swizzle_128B_atom_32B, as mode is im2col_wide"},
    {LIMIT(IM2COL4, LOWER_CORNER, 1, 0, -200, CORNER_RANGE),
     "lower_corner[1] is -200; it must be -128 to 127, as rank is 4"},
    {LIMIT(IM2COL3, UPPER_CORNER, 0, 0, -300, CORNER_AREA),
     "upper_corner[0] is -300; it must be -255 or more, or the box between the "
     "corners is empty"},
    {LIMIT(TILED, ADDRESS, 0, 0, T57, ADDRESS_RANGE),
     "address is 0x200000000000000; it must be below 0x200000000000000"},
    {LIMIT(TILED5, BOX, 4, 0, 32, BOX_MEMORY),
     "box is 262144 bytes of shared memory; it must be at most 233472"},
    {LIMIT(BETWEEN_32, SWIZZLE, 0, 0, 0, SWIZZLE_INTERLEAVE),
     "swizzle is none; it must be swizzle_32B, as interleave is "
     "interleave_32B"},
    {LIMIT(TILED, ADDRESS, 0, 0, 0, ADDRESS_NULL),
     "address is 0; kernels that use the map will fault"},
    {LIMIT(TILED, STRIDES, 0, 0, 16, STRIDE_SHORT),
     "strides[0] is 16 bytes; rows overlap, as one has bytes: 512"},
    {LIMIT(TILED, DIMS, 1, 0, 1, BOX_WIDE),
     "box[1] is 4; the rest is out of bounds, as the tensor has elements "
     "there: 1"},
};

START_TEST(a_finding_is_told_with_its_values_and_what_would_be_right)
{
    struct ashlar_spec spec =
        changed(&sentences[_i].limit, sentences[_i].limit.bad);
    struct verdict verdict = check(&spec);

    ck_assert_uint_ge(verdict.count, 1);
    ck_assert_uint_eq(verdict.found[0].rule, sentences[_i].limit.rule);
    ck_assert_str_eq(sentence(&verdict.found[0]), sentences[_i].text);
}
END_TEST

START_TEST(a_sentence_is_cut_to_fit_and_its_length_told)
{
    struct ashlar_spec spec = changed(&sentences[0].limit, 2050);
    struct verdict verdict = check(&spec);
    size_t whole = strlen(sentences[0].text), n;
    char text[256];

    ck_assert_uint_eq(ashlar_spec_explain(&verdict.found[0], NULL, NULL, 0),
                      whole);
    for (n = 1; n < whole + 2; n++) {
        memset(text, '#', sizeof(text));
        ck_assert_uint_eq(ashlar_spec_explain(&verdict.found[0], NULL, text, n),
                          whole);
        ck_assert_uint_eq(strlen(text), n - 1 < whole ? n - 1 : whole);
        ck_assert_int_eq(text[n], '#');
        ck_assert_int_eq(strncmp(text, sentences[0].text, strlen(text)), 0);
    }
}
END_TEST

START_TEST(a_field_may_have_another_name)
{
    struct ashlar_spec spec = changed(&sentences[0].limit, 2050);
    struct verdict verdict = check(&spec);
    char text[256];

    (void)ashlar_spec_explain(&verdict.found[0], "global_strides", text,
                              sizeof(text));
    ck_assert_str_eq(text, "global_strides[0] is 2050 bytes; it must be a "
                           "multiple of 16: pad it to 2064 bytes");
}
END_TEST

START_TEST(what_is_no_finding_has_no_sentence)
{
    struct ashlar_spec_finding none = {.rule = 99};
    char text[8] = "#";

    ck_assert_uint_eq(ashlar_spec_explain(&none, NULL, text, sizeof(text)), 0);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(ashlar_spec_explain(NULL, NULL, text, sizeof(text)), 0);
    ck_assert_str_eq(ashlar_spec_rule_name((enum ashlar_spec_rule)99),
                     "unknown-rule");
}
END_TEST

static void add_limits(Suite *suite)
{
    TCase *tcase = tcase_create("limits");

    tcase_add_loop_test(tcase, a_spec_that_is_right_has_no_finding, 0, BASES);
    tcase_add_loop_test(tcase,
                        each_limit_is_taken_on_one_side_and_told_on_the_other,
                        0, COUNT_OF(limits));
    tcase_add_loop_test(tcase, what_is_told_to_be_right_is_right, 0,
                        COUNT_OF(limits));
    tcase_add_loop_test(tcase,
                        each_warning_comes_on_one_side_and_is_none_on_the_other,
                        0, COUNT_OF(warnings));
    suite_add_tcase(suite, tcase);
}

static void add_pairs(Suite *suite)
{
    TCase *tcase = tcase_create("two settings");

    tcase_add_loop_test(tcase, nan_fills_only_floating_point_types, 0,
                        SPEC_DTYPES);
    tcase_add_test(tcase, sixes_are_not_interleaved);
    tcase_add_loop_test(tcase, swizzles_bound_the_inner_row_by_their_span, 0,
                        SPEC_SWIZZLES);
    tcase_add_test(tcase, interleaved_rows_are_bound_by_no_swizzle);
    tcase_add_test(tcase, elements_that_are_stepped_over_take_no_memory);
    tcase_add_test(tcase, im2col_loads_fit_shared_memory);
    tcase_add_test(tcase, interleaved_corners_are_of_the_first_dimensions);
    tcase_add_test(tcase, w128_ignores_pixels);
    tcase_add_test(tcase, fields_of_other_encoders_do_not_count);
    tcase_add_test(tcase, entries_beyond_the_rank_do_not_count);
    tcase_add_test(tcase, a_device_needs_the_encoders_capability);
    tcase_add_test(tcase,
                   packed_types_and_swizzles_by_atoms_need_a_later_device);
    tcase_add_test(tcase, a_transposed_tensor_is_no_mistake);
    tcase_add_test(tcase, a_stride_over_one_row_may_be_anything);
    suite_add_tcase(suite, tcase);
}

static void add_all(Suite *suite)
{
    TCase *tcase = tcase_create("all at once");

    tcase_add_test(tcase, all_that_is_wrong_is_told_at_once_errors_first);
    tcase_add_test(tcase, findings_beyond_the_room_are_counted);
    tcase_add_test(tcase, a_call_that_is_wrong_itself_counts_nothing);
    tcase_add_test(tcase, any_bits_are_checked_and_explained);
    suite_add_tcase(suite, tcase);
}

static void add_sentences(Suite *suite)
{
    TCase *tcase = tcase_create("sentences");

    tcase_add_loop_test(
        tcase, a_finding_is_told_with_its_values_and_what_would_be_right, 0,
        COUNT_OF(sentences));
    tcase_add_test(tcase, a_sentence_is_cut_to_fit_and_its_length_told);
    tcase_add_test(tcase, a_field_may_have_another_name);
    tcase_add_test(tcase, what_is_no_finding_has_no_sentence);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    Suite *suite = suite_create("spec_check");

    stress_begin();
    add_limits(suite);
    add_pairs(suite);
    add_all(suite);
    add_sentences(suite);
    return suite_run(suite);
}
