/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Rules of the check that two settings make together. */
#include "config.h"

#include "tensormap/tensormap.h"

#include "support/specs.h"
#include "support/suite.h"

#include <string.h>

START_TEST(nan_fills_only_floating_point_types)
{
    static const uint8_t floats[SPEC_DTYPES] = {
        [ASHLAR_SPEC_FLOAT16] = 1,     [ASHLAR_SPEC_FLOAT32] = 1,
        [ASHLAR_SPEC_FLOAT64] = 1,     [ASHLAR_SPEC_BFLOAT16] = 1,
        [ASHLAR_SPEC_FLOAT32_FTZ] = 1, [ASHLAR_SPEC_TFLOAT32] = 1,
        [ASHLAR_SPEC_TFLOAT32_FTZ] = 1};
    struct ashlar_spec spec = specs_of(U4_IN_16);
    struct verdict verdict;

    spec.dtype = (uint32_t)_i;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_NONE;
    spec.oob_fill = ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA;
    verdict = specs_check(&spec);
    ck_assert_uint_eq(verdict.errors, floats[_i] ? 0 : 1);
    if (!floats[_i])
        ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_OOB_FLOAT);
}
END_TEST

START_TEST(sixes_are_not_interleaved)
{
    struct ashlar_spec spec = specs_of(BETWEEN_16);
    struct verdict verdict;

    spec.dtype = ASHLAR_SPEC_16U6_ALIGN16B;
    spec.box[0] = 128;
    verdict = specs_check(&spec);
    ck_assert_uint_eq(verdict.errors, 1);
    ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_INTERLEAVE_PACKED);
    spec.dtype = ASHLAR_SPEC_16U4_ALIGN16B;
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
}
END_TEST

START_TEST(swizzles_bound_the_inner_row_by_their_span)
{
    static const uint32_t spans[SPEC_SWIZZLES] = {256, 32,  64, 128,
                                                  128, 128, 128};
    struct ashlar_spec spec = specs_of(BYTES);

    spec.swizzle = (uint32_t)_i;
    spec.box[0] = spans[_i];
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
    spec.box[0] += 16;
    ck_assert_uint_eq(specs_check(&spec).errors, 1);
    if (_i != 0)
        ck_assert_uint_eq(specs_check(&spec).found[0].right, spans[_i]);
}
END_TEST

START_TEST(interleaved_rows_are_bound_by_no_swizzle)
{
    struct ashlar_spec spec = specs_of(BETWEEN_16);

    spec.box[0] = 248;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_32B;
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
    spec.interleave = ASHLAR_SPEC_INTERLEAVE_NONE;
    ck_assert_uint_eq(specs_check(&spec).errors, 1);
}
END_TEST

START_TEST(elements_that_are_stepped_over_take_no_memory)
{
    struct ashlar_spec spec = specs_of(TILED5);

    spec.box[4] = 56;
    ck_assert_uint_eq(specs_check(&spec).errors, 1);
    spec.element_strides[4] = 2;
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
    spec.box[4] = 58;
    ck_assert_uint_eq(specs_check(&spec).errors, 1);
}
END_TEST

START_TEST(im2col_loads_fit_shared_memory)
{
    struct ashlar_spec spec = specs_of(IM2COL3);
    struct verdict verdict;

    spec.channels = 256;
    spec.pixels = 456;
    ck_assert_uint_eq(specs_check(&spec).count, 0);
    spec.pixels = 457;
    verdict = specs_check(&spec);
    ck_assert_uint_eq(verdict.errors, 1);
    ck_assert_str_eq(specs_sentence(&verdict.found[0]),
                     "pixels is 233984 bytes of shared memory; it must be "
                     "at most 233472");
}
END_TEST

/* The channels come behind the pixels then. */
START_TEST(interleaved_corners_are_of_the_first_dimensions)
{
    struct ashlar_spec spec = specs_of(IM2COL3);

    spec.interleave = ASHLAR_SPEC_INTERLEAVE_16B;
    spec.dims[0] = 8;
    spec.upper_corner[0] = -7;
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
    spec.upper_corner[0] = -8;
    ck_assert_uint_eq(specs_check(&spec).errors, 1);
    spec.dims[0] = 256;
    spec.dims[1] = 8;
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
}
END_TEST

START_TEST(w128_ignores_pixels)
{
    struct ashlar_spec spec = specs_of(WIDE_128);

    spec.pixels = 0;
    ck_assert_uint_eq(specs_check(&spec).errors, 0);
    spec.wide_mode = ASHLAR_SPEC_WIDE_W;
    ck_assert_uint_eq(specs_check(&spec).errors, 1);
}
END_TEST

START_TEST(fields_of_other_encoders_do_not_count)
{
    struct ashlar_spec spec = specs_of(TILED);

    spec.channels = spec.pixels = UINT32_MAX;
    spec.lower_corner[0] = INT32_MIN;
    spec.wide_mode = 77;
    ck_assert_uint_eq(specs_check(&spec).count, 0);
    spec = specs_of(IM2COL3);
    spec.box[0] = 0;
    spec.wide_mode = 77;
    ck_assert_uint_eq(specs_check(&spec).count, 0);
}
END_TEST

START_TEST(entries_beyond_the_rank_do_not_count)
{
    struct ashlar_spec spec = specs_of(TILED);

    spec.dims[2] = 0;
    spec.strides[1] = 1;
    spec.box[2] = 0;
    spec.element_strides[2] = 99;
    ck_assert_uint_eq(specs_check(&spec).count, 0);
}
END_TEST

START_TEST(a_device_needs_the_encoders_capability)
{
    struct ashlar_spec tiled = specs_of(TILED), wide = specs_of(WIDE);
    struct verdict verdict;

    ck_assert_uint_eq(specs_check_for(&tiled, 90).count, 0);
    verdict = specs_check_for(&tiled, 89);
    ck_assert_uint_eq(verdict.errors, 1);
    ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_CAPABILITY);
    ck_assert_uint_eq(specs_check_for(&wide, 0).count, 0);
    ck_assert_uint_eq(specs_check_for(&wide, 100).count, 0);
    verdict = specs_check_for(&wide, 90);
    ck_assert_uint_eq(verdict.errors, 0);
    ck_assert_uint_eq(verdict.count, 1);
    ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_CAPABILITY_WIDE);
    ck_assert_str_eq(specs_sentence(&verdict.found[0]),
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
        spec = specs_changed(&later[i], later[i].bad);
        ck_assert_uint_eq(specs_check_for(&spec, 100).count, 0);
        ck_assert_uint_eq(specs_check_for(&spec, 0).count, 0);
        verdict = specs_check_for(&spec, 90);
        ck_assert_uint_eq(verdict.errors, 1);
        ck_assert_uint_eq(verdict.found[0].rule, ASHLAR_RULE_CAPABILITY);
        ck_assert_uint_eq(verdict.found[0].field, later[i].field);
    }
}
END_TEST

START_TEST(a_transposed_tensor_is_no_mistake)
{
    struct ashlar_spec spec = specs_of(TILED5);

    spec.strides[0] = 1 << 20;
    spec.strides[1] = 1024;
    ck_assert_uint_eq(specs_check(&spec).count, 0);
}
END_TEST

START_TEST(a_stride_over_one_row_may_be_anything)
{
    struct ashlar_spec spec = specs_of(TILED5);

    spec.dims[4] = 1;
    spec.box[4] = 1;
    spec.strides[3] = 0;
    ck_assert_uint_eq(specs_check(&spec).count, 0);
}
END_TEST

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

int main(void)
{
    Suite *suite = suite_create("spec_settings");

    add_pairs(suite);
    return suite_run(suite);
}
