/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Each rule of the check by itself, many at once, and any bits at all. */
#include "config.h"

#include "tensormap/tensormap.h"

#include "support/specs.h"
#include "support/stress.h"
#include "support/suite.h"

#include <string.h>

#include "base/error.h"

/* --- the limits ----------------------------------------------------------- */

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

/* --- checking ------------------------------------------------------------- */

static void ck_assert_good(const struct limit *limit, int64_t value)
{
    struct ashlar_spec spec = specs_changed(limit, value);
    struct verdict verdict = specs_check(&spec);

    ck_assert_msg(verdict.errors == 0, "row %s, base %d, with %lld: %s",
                  ashlar_spec_rule_name(limit->rule), limit->base,
                  (long long)value, specs_sentence(&verdict.found[0]));
}

START_TEST(a_spec_that_is_right_has_no_finding)
{
    struct ashlar_spec spec = specs_of((enum base)_i);
    struct verdict verdict = specs_check_for(&spec, 100);

    ck_assert_msg(verdict.count == 0, "base %d: %s", _i,
                  specs_sentence(&verdict.found[0]));
}
END_TEST

START_TEST(each_limit_is_taken_on_one_side_and_told_on_the_other)
{
    const struct limit *limit = &limits[_i];
    struct ashlar_spec spec = specs_changed(limit, limit->bad);
    struct verdict verdict = specs_check(&spec);
    const struct ashlar_spec_finding *found = &verdict.found[0];

    ck_assert_msg(verdict.errors == 1, "row %d (%s): %zu errors", _i,
                  ashlar_spec_rule_name(limit->rule), verdict.errors);
    ck_assert_uint_eq(found->rule, limit->rule);
    ck_assert_str_eq(ashlar_last_error_message(), specs_sentence(found));
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
    struct ashlar_spec spec = specs_changed(limit, limit->bad);
    struct verdict verdict = specs_check(&spec);
    struct ashlar_spec_finding found = verdict.found[0];

    if (found.rule == ASHLAR_RULE_BOX_MEMORY)
        return; /* it says how many bytes are right */
    specs_set(&spec, (enum ashlar_spec_field)found.field, found.index,
              (int64_t)found.right);
    verdict = specs_check(&spec);
    ck_assert_msg(!is_broken(&verdict, found.rule), "row %d: then %s", _i,
                  specs_sentence(&verdict.found[0]));
}
END_TEST

START_TEST(each_warning_comes_on_one_side_and_is_none_on_the_other)
{
    const struct limit *limit = &warnings[_i];
    struct ashlar_spec good = specs_changed(limit, limit->good);
    struct ashlar_spec bad = specs_changed(limit, limit->bad);
    struct verdict verdict;

    if (limit->rule == ASHLAR_RULE_CORNER_WRAP)
        bad.lower_corner[0] = -256; /* and so not empty */
    verdict = specs_check(&good);
    ck_assert_msg(verdict.count == 0, "row %d: %s", _i,
                  specs_sentence(&verdict.found[0]));
    verdict = specs_check(&bad);
    ck_assert_int_eq(verdict.status, ASHLAR_OK);
    ck_assert_uint_eq(verdict.count, 1);
    ck_assert_uint_eq(verdict.found[0].severity, ASHLAR_SPEC_WARNING);
    ck_assert_uint_eq(verdict.found[0].rule, limit->rule);
}
END_TEST

/* --- all at once ---------------------------------------------------------- */

START_TEST(all_that_is_wrong_is_told_at_once_errors_first)
{
    struct ashlar_spec spec = specs_of(TILED);
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
    verdict = specs_check(&spec);
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
    struct ashlar_spec spec = specs_of(TILED);
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
    struct ashlar_spec spec = specs_of(TILED);
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
            specs_set(&spec, field, i, (int64_t)near(random));
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
        verdict = specs_check_for(&spec, n % 2 == 0 ? 0 : 90);
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

static void add_all(Suite *suite)
{
    TCase *tcase = tcase_create("all at once");

    tcase_add_test(tcase, all_that_is_wrong_is_told_at_once_errors_first);
    tcase_add_test(tcase, findings_beyond_the_room_are_counted);
    tcase_add_test(tcase, a_call_that_is_wrong_itself_counts_nothing);
    tcase_add_test(tcase, any_bits_are_checked_and_explained);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    Suite *suite = suite_create("spec_check");

    stress_begin();
    add_limits(suite);
    add_all(suite);
    return suite_run(suite);
}
