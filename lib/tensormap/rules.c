/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The rules of the driver's three encoders, as cuda.h tells them, one small
 * function for each field. Every rule is tried whatever else is broken, but
 * where what it is about cannot be told: no bytes without a dtype, no box or
 * corners without a mode.
 */
#include "config.h"

#include "tensormap/check.h"

#define STRIDE_BEYOND       (UINT64_C(1) << 40)
#define ELEMENT_STRIDE_MOST 8u
#define INNER_STEP          16u
#define INNER_PACKED        128u
#define ALL_SWIZZLES        0x7fu
/* What a multiprocessor has since compute capability 9.0. */
#define SHARED_MEMORY_BYTES (UINT64_C(228) << 10)

#define SWIZZLE_BIT(_name) (1u << ASHLAR_SPEC_SWIZZLE_##_name)

#define PACKED_SWIZZLES                                                        \
    (SWIZZLE_BIT(NONE) | SWIZZLE_BIT(128B) | SWIZZLE_BIT(128B_ATOM_32B))

#define ATOM_SWIZZLES                                                          \
    (SWIZZLE_BIT(128B_ATOM_32B) | SWIZZLE_BIT(128B_ATOM_32B_FLIP_8B) |         \
     SWIZZLE_BIT(128B_ATOM_64B))

#define WIDE_SWIZZLES                                                          \
    (SWIZZLE_BIT(64B) | SWIZZLE_BIT(128B) | SWIZZLE_BIT(128B_ATOM_32B))

/* clang-format off */
const struct spec_dtype spec_dtypes[SPEC_DTYPES] = {
    [ASHLAR_SPEC_UINT8]         = {8, false, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_UINT16]        = {16, false, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_UINT32]        = {32, false, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_INT32]         = {32, false, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_UINT64]        = {64, false, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_INT64]         = {64, false, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_FLOAT16]       = {16, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_FLOAT32]       = {32, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_FLOAT64]       = {64, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_BFLOAT16]      = {16, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_FLOAT32_FTZ]   = {32, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_TFLOAT32]      = {32, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_TFLOAT32_FTZ]  = {32, true, 1, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_16U4_ALIGN8B]  = {4, false, 2, false, ALL_SWIZZLES},
    [ASHLAR_SPEC_16U4_ALIGN16B] = {4, false, 128, true, PACKED_SWIZZLES},
    [ASHLAR_SPEC_16U6_ALIGN16B] = {6, false, 128, true,
                                   PACKED_SWIZZLES |
                                       SWIZZLE_BIT(128B_ATOM_64B)},
};
/* clang-format on */

static void check_known(struct check *check, enum ashlar_spec_field field,
                        uint32_t value, uint32_t count)
{
    if (value >= count)
        check_found(check, &(const struct ashlar_spec_finding){
                               .rule = ASHLAR_RULE_KNOWN_VALUE,
                               .field = (uint32_t)field,
                               .value = value,
                               .bound = count - 1,
                               .right = count - 1});
}

/* From 1 to most. */
static void check_range(struct check *check, enum ashlar_spec_rule rule,
                        enum ashlar_spec_field field, uint32_t index,
                        uint64_t value, uint64_t most)
{
    if (value < 1 || value > most)
        check_found(check, &(const struct ashlar_spec_finding){
                               .rule = (uint32_t)rule,
                               .field = (uint32_t)field,
                               .index = index,
                               .value = value,
                               .bound = most,
                               .right = nearest(value, 1, most)});
}

static void check_enums(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    check_known(check, ASHLAR_SPEC_FIELD_MODE, spec->mode, SPEC_MODES);
    check_known(check, ASHLAR_SPEC_FIELD_DTYPE, spec->dtype, SPEC_DTYPES);
    check_known(check, ASHLAR_SPEC_FIELD_INTERLEAVE, spec->interleave,
                SPEC_INTERLEAVES);
    check_known(check, ASHLAR_SPEC_FIELD_SWIZZLE, spec->swizzle, SPEC_SWIZZLES);
    check_known(check, ASHLAR_SPEC_FIELD_L2_PROMOTION, spec->l2_promotion,
                SPEC_PROMOTIONS);
    check_known(check, ASHLAR_SPEC_FIELD_OOB_FILL, spec->oob_fill,
                SPEC_OOB_FILLS);
    if (is_wide(check))
        check_known(check, ASHLAR_SPEC_FIELD_WIDE_MODE, spec->wide_mode,
                    SPEC_WIDE_MODES);
}

static void check_device(struct check *check, enum ashlar_spec_field field,
                         uint32_t value, uint32_t needed, uint32_t right)
{
    if (check->capability != 0 && check->capability < needed)
        check_found(check, &(const struct ashlar_spec_finding){
                               .rule = ASHLAR_RULE_CAPABILITY,
                               .field = (uint32_t)field,
                               .value = value,
                               .bound = needed,
                               .right = right,
                               .cause_value = check->capability});
}

static void check_capability(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    check_device(check, ASHLAR_SPEC_FIELD_MODE, spec->mode, 90,
                 ASHLAR_SPEC_TILED);
    if (check->dtype != NULL && check->dtype->dim_step > 1)
        check_device(check, ASHLAR_SPEC_FIELD_DTYPE, spec->dtype, 100,
                     ASHLAR_SPEC_UINT8);
    if (spec->swizzle < SPEC_SWIZZLES &&
        (ATOM_SWIZZLES & (1u << spec->swizzle)) != 0)
        check_device(check, ASHLAR_SPEC_FIELD_SWIZZLE, spec->swizzle, 100,
                     ASHLAR_SPEC_SWIZZLE_128B);
}

static void check_rank(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t least = is_im2col(check) ? 3 : 1;

    if (spec->rank < least || spec->rank > ASHLAR_SPEC_RANK_MAX)
        CHECK_FOUND(check, RANK_RANGE, RANK, .value = spec->rank,
                    .bound = ASHLAR_SPEC_RANK_MAX,
                    .right = nearest(spec->rank, least, ASHLAR_SPEC_RANK_MAX),
                    .cause = is_im2col(check) ? ASHLAR_SPEC_FIELD_MODE
                                              : ASHLAR_SPEC_FIELD_NONE,
                    .cause_value = spec->mode);
    else if (is_interleaved(check) && spec->rank < 3)
        CHECK_FOUND(check, RANK_INTERLEAVE, RANK, .value = spec->rank,
                    .bound = 3, .right = 3,
                    .cause = ASHLAR_SPEC_FIELD_INTERLEAVE,
                    .cause_value = spec->interleave);
}

/* What address and strides are a multiple of, and what makes it so. */
static uint32_t address_step(const struct check *check,
                             struct ashlar_spec_finding *because)
{
    if (check->spec->interleave == ASHLAR_SPEC_INTERLEAVE_32B) {
        because->cause = ASHLAR_SPEC_FIELD_INTERLEAVE;
        because->cause_value = check->spec->interleave;
        return 32;
    }
    if (is_packed_in_16(check)) {
        because->cause = ASHLAR_SPEC_FIELD_DTYPE;
        because->cause_value = check->spec->dtype;
        return 32;
    }
    return 16;
}

static void check_multiple(struct check *check, enum ashlar_spec_rule rule,
                           enum ashlar_spec_field field, uint32_t index,
                           uint64_t value)
{
    struct ashlar_spec_finding what = {.rule = (uint32_t)rule,
                                       .field = (uint32_t)field,
                                       .index = index,
                                       .value = value};
    uint32_t step = address_step(check, &what);

    if (value % step == 0)
        return;
    what.bound = step;
    what.right = up_to_multiple(value, step);
    if (rule == ASHLAR_RULE_STRIDE_MULTIPLE && what.right >= STRIDE_BEYOND)
        what.right = STRIDE_BEYOND - step;
    check_found(check, &what);
}

static void check_address(struct check *check)
{
    uint64_t address = check->spec->address;

    check_multiple(check, ASHLAR_RULE_ADDRESS_MULTIPLE,
                   ASHLAR_SPEC_FIELD_ADDRESS, 0, address);
    if (address >= ADDRESS_BEYOND)
        CHECK_FOUND(check, ADDRESS_RANGE, ADDRESS, .value = address,
                    .bound = ADDRESS_BEYOND, .right = ADDRESS_BEYOND - 32);
}

static void check_dims(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t i;

    for (i = 0; i < spec_rank(spec); i++)
        check_range(check, ASHLAR_RULE_DIM_RANGE, ASHLAR_SPEC_FIELD_DIMS, i,
                    spec->dims[i], DIM_MOST);
    if (spec->rank > 0 && check->dtype != NULL &&
        spec->dims[0] % check->dtype->dim_step != 0)
        CHECK_FOUND(
            check, DIM_PACKED, DIMS, .value = spec->dims[0],
            .bound = check->dtype->dim_step,
            .right = up_to_multiple(spec->dims[0], check->dtype->dim_step),
            .cause = ASHLAR_SPEC_FIELD_DTYPE, .cause_value = spec->dtype);
}

static void check_strides(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t i;

    for (i = 0; i + 1 < spec_rank(spec); i++) {
        check_multiple(check, ASHLAR_RULE_STRIDE_MULTIPLE,
                       ASHLAR_SPEC_FIELD_STRIDES, i, spec->strides[i]);
        if (spec->strides[i] >= STRIDE_BEYOND)
            CHECK_FOUND(check, STRIDE_RANGE, STRIDES, .index = i,
                        .value = spec->strides[i], .bound = STRIDE_BEYOND,
                        .right = STRIDE_BEYOND - 32);
    }
}

/* Bytes that the swizzle mixes; 0: any. */
static uint32_t swizzle_span(uint32_t swizzle)
{
    static const uint8_t spans[SPEC_SWIZZLES] = {0, 32, 64, 128, 128, 128, 128};

    return swizzle < SPEC_SWIZZLES ? spans[swizzle] : 0;
}

/* The innermost row of the box: box[0], or channels. */
static void check_inner(struct check *check, enum ashlar_spec_field field,
                        uint32_t elements)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t bits = check->dtype == NULL ? 0 : check->dtype->bits;
    uint32_t span = swizzle_span(spec->swizzle);
    struct ashlar_spec_finding what = {.field = (uint32_t)field,
                                       .value = elements};

    if (is_packed_in_16(check) && elements != INNER_PACKED) {
        what.rule = ASHLAR_RULE_INNER_PACKED;
        what.bound = what.right = INNER_PACKED;
        what.cause = ASHLAR_SPEC_FIELD_DTYPE;
        what.cause_value = spec->dtype;
        check_found(check, &what);
        return;
    }
    if (bits == 0)
        return;
    if ((uint64_t)elements * bits % (INNER_STEP * 8) != 0) {
        what.rule = ASHLAR_RULE_INNER_MULTIPLE;
        what.bound = INNER_STEP;
        what.right = up_to_multiple(elements, INNER_STEP * 8 / bits);
        what.cause = ASHLAR_SPEC_FIELD_DTYPE;
        what.cause_value = spec->dtype;
        check_found(check, &what);
    }
    if (span != 0 && !is_interleaved(check) &&
        (uint64_t)elements * bits > (uint64_t)span * 8) {
        what.rule = ASHLAR_RULE_INNER_SWIZZLE;
        what.bound = span;
        what.right = span * 8 / bits;
        what.cause = ASHLAR_SPEC_FIELD_SWIZZLE;
        what.cause_value = spec->swizzle;
        check_found(check, &what);
    }
}

/* What a load brings to shared memory, where packed types take a byte. */
static void check_memory(struct check *check, enum ashlar_spec_field field,
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

/* What the driver takes to be loaded of a dimension of the box, rounded down,
 * though what is loaded is rounded up; 0 when it cannot be told. */
static uint64_t loaded(const struct ashlar_spec *spec, uint32_t i)
{
    uint32_t step = spec->element_strides[i];

    return spec->box[i] > BOX_MOST || step == 0 ? 0 : spec->box[i] / step;
}

static void check_box(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint64_t elements = spec->rank > 0;
    uint32_t i;

    for (i = 0; i < spec_rank(spec); i++) {
        check_range(check, ASHLAR_RULE_BOX_RANGE, ASHLAR_SPEC_FIELD_BOX, i,
                    spec->box[i], BOX_MOST);
        elements *= loaded(spec, i);
    }
    if (spec->rank > 0)
        check_inner(check, ASHLAR_SPEC_FIELD_BOX, spec->box[0]);
    check_memory(check, ASHLAR_SPEC_FIELD_BOX, elements);
}

static void check_element_strides(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t i;

    for (i = 0; i < spec_rank(spec); i++)
        check_range(check, ASHLAR_RULE_ELEMENT_STRIDE_RANGE,
                    ASHLAR_SPEC_FIELD_ELEMENT_STRIDES, i,
                    spec->element_strides[i], ELEMENT_STRIDE_MOST);
}

static void check_interleave(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    if (spec->dtype == ASHLAR_SPEC_16U6_ALIGN16B && is_interleaved(check) &&
        spec->interleave < SPEC_INTERLEAVES)
        CHECK_FOUND(
            check, INTERLEAVE_PACKED, INTERLEAVE, .value = spec->interleave,
            .bound = 1u << ASHLAR_SPEC_INTERLEAVE_NONE,
            .right = ASHLAR_SPEC_INTERLEAVE_NONE,
            .cause = ASHLAR_SPEC_FIELD_DTYPE, .cause_value = spec->dtype);
}

/* One of the swizzles in a set, its lowest being what to take. */
static void check_swizzle_in(struct check *check, enum ashlar_spec_rule rule,
                             uint32_t set, enum ashlar_spec_field cause,
                             uint32_t cause_value, uint32_t right)
{
    uint32_t swizzle = check->spec->swizzle;

    if (swizzle < SPEC_SWIZZLES && (set & (1u << swizzle)) == 0)
        check_found(check, &(const struct ashlar_spec_finding){
                               .rule = (uint32_t)rule,
                               .field = ASHLAR_SPEC_FIELD_SWIZZLE,
                               .value = swizzle,
                               .bound = set,
                               .right = right,
                               .cause = (uint32_t)cause,
                               .cause_value = cause_value});
}

static void check_swizzle(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    if (check->dtype != NULL)
        check_swizzle_in(check, ASHLAR_RULE_SWIZZLE_PACKED,
                         check->dtype->swizzles, ASHLAR_SPEC_FIELD_DTYPE,
                         spec->dtype, ASHLAR_SPEC_SWIZZLE_128B);
    if (is_wide(check))
        check_swizzle_in(check, ASHLAR_RULE_SWIZZLE_WIDE, WIDE_SWIZZLES,
                         ASHLAR_SPEC_FIELD_MODE, spec->mode,
                         ASHLAR_SPEC_SWIZZLE_128B);
}

static void check_oob_fill(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    if (spec->oob_fill == ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA &&
        check->dtype != NULL && !check->dtype->is_float)
        CHECK_FOUND(
            check, OOB_FLOAT, OOB_FILL, .value = spec->oob_fill,
            .bound = 1u << ASHLAR_SPEC_OOB_ZERO, .right = ASHLAR_SPEC_OOB_ZERO,
            .cause = ASHLAR_SPEC_FIELD_DTYPE, .cause_value = spec->dtype);
}

/* The most that a corner may be; the least is one beyond that, negated. */
static int32_t corner_most(const struct check *check)
{
    if (is_wide(check) || check->spec->rank <= 3)
        return 32767;
    return check->spec->rank == 4 ? 127 : 15;
}

static void check_corner(struct check *check, enum ashlar_spec_field field,
                         uint32_t index, int32_t value)
{
    int64_t most = corner_most(check), least = -most - 1;

    if (value < least || value > most)
        check_found(check,
                    &(const struct ashlar_spec_finding){
                        .rule = ASHLAR_RULE_CORNER_RANGE,
                        .field = (uint32_t)field,
                        .index = index,
                        .value = (uint64_t)(int64_t)value,
                        .bound = (uint64_t)most,
                        .right = (uint64_t)(value < least ? least : most),
                        .cause = is_wide(check) ? ASHLAR_SPEC_FIELD_MODE
                                                : ASHLAR_SPEC_FIELD_RANK,
                        .cause_value = is_wide(check) ? check->spec->mode
                                                      : check->spec->rank});
}

/* As the driver does it: the far end in 32 bits, whatever that gives. */
static void check_area(struct check *check, uint32_t index)
{
    const struct ashlar_spec *spec = check->spec;
    uint64_t dim = spec->dims[corner_dim(check, index)];
    int64_t end = corner_end(check, index);

    if (dim > DIM_MOST ||
        (int32_t)(uint32_t)(uint64_t)end > spec->lower_corner[index])
        return;
    CHECK_FOUND(
        check, CORNER_AREA, UPPER_CORNER, .index = index,
        .value = (uint64_t)(int64_t)spec->upper_corner[index], .bound = dim,
        .right = (uint64_t)(spec->lower_corner[index] - (int64_t)dim + 1));
}

static void check_corners(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;
    uint32_t count = corner_count(check), i;

    for (i = 0; i < count; i++)
        check_corner(check, ASHLAR_SPEC_FIELD_LOWER_CORNER, i,
                     spec->lower_corner[i]);
    for (i = 0; i < count; i++)
        check_corner(check, ASHLAR_SPEC_FIELD_UPPER_CORNER, i,
                     spec->upper_corner[i]);
    for (i = 0; i < count; i++)
        check_area(check, i);
}

static void check_pixels(struct check *check)
{
    const struct ashlar_spec *spec = check->spec;

    check_range(check, ASHLAR_RULE_CHANNELS_RANGE, ASHLAR_SPEC_FIELD_CHANNELS,
                0, spec->channels, CHANNELS_MOST);
    check_inner(check, ASHLAR_SPEC_FIELD_CHANNELS, spec->channels);
    if (is_wide(check) && spec->wide_mode == ASHLAR_SPEC_WIDE_W128)
        return;
    check_range(check, ASHLAR_RULE_PIXELS_RANGE, ASHLAR_SPEC_FIELD_PIXELS, 0,
                spec->pixels, PIXELS_MOST);
    if (spec->channels <= CHANNELS_MOST && spec->pixels <= PIXELS_MOST)
        check_memory(check, ASHLAR_SPEC_FIELD_PIXELS,
                     (uint64_t)spec->channels * spec->pixels);
}

void check_rules(struct check *check)
{
    check_enums(check);
    check_capability(check);
    check_rank(check);
    check_address(check);
    check_dims(check);
    check_strides(check);
    if (is_tiled(check))
        check_box(check);
    if (is_im2col(check)) {
        check_corners(check);
        check_pixels(check);
    }
    check_element_strides(check);
    check_interleave(check);
    check_swizzle(check);
    check_oob_fill(check);
}
