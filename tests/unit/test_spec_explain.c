/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What is found, in sentences. */
#include "config.h"

#include "tensormap/tensormap.h"

#include "support/specs.h"
#include "support/suite.h"

#include <string.h>

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
        specs_changed(&sentences[_i].limit, sentences[_i].limit.bad);
    struct verdict verdict = specs_check(&spec);

    ck_assert_uint_ge(verdict.count, 1);
    ck_assert_uint_eq(verdict.found[0].rule, sentences[_i].limit.rule);
    ck_assert_str_eq(specs_sentence(&verdict.found[0]), sentences[_i].text);
}
END_TEST

START_TEST(a_sentence_is_cut_to_fit_and_its_length_told)
{
    struct ashlar_spec spec = specs_changed(&sentences[0].limit, 2050);
    struct verdict verdict = specs_check(&spec);
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
    struct ashlar_spec spec = specs_changed(&sentences[0].limit, 2050);
    struct verdict verdict = specs_check(&spec);
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
    Suite *suite = suite_create("spec_explain");

    add_sentences(suite);
    return suite_run(suite);
}
