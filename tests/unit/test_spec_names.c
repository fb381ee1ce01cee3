/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/tensormap.h"

#include "support/suite.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#ifdef HAVE_CUDA_H
#include <cuda.h>
#endif

#define COUNT_OF(_array) (sizeof(_array) / sizeof((_array)[0]))

static const struct {
    enum ashlar_spec_field field;
    uint32_t values;
} enums[] = {
    {ASHLAR_SPEC_FIELD_MODE, SPEC_MODES},
    {ASHLAR_SPEC_FIELD_DTYPE, SPEC_DTYPES},
    {ASHLAR_SPEC_FIELD_INTERLEAVE, SPEC_INTERLEAVES},
    {ASHLAR_SPEC_FIELD_SWIZZLE, SPEC_SWIZZLES},
    {ASHLAR_SPEC_FIELD_L2_PROMOTION, SPEC_PROMOTIONS},
    {ASHLAR_SPEC_FIELD_OOB_FILL, SPEC_OOB_FILLS},
    {ASHLAR_SPEC_FIELD_WIDE_MODE, SPEC_WIDE_MODES},
};

static void ck_assert_value(enum ashlar_spec_field field, const char *name,
                            uint32_t expected)
{
    uint32_t value = 999;

    ck_assert_msg(ashlar_spec_value(field, name, &value) == ASHLAR_OK, "%s: %s",
                  name, ashlar_last_error_message());
    ck_assert_msg(value == expected, "%s is %u, not %u", name, value, expected);
}

static void ck_assert_none(enum ashlar_spec_field field, const char *name)
{
    uint32_t value = 999;

    ck_assert_msg(ashlar_spec_value(field, name, &value) ==
                      ASHLAR_ERR_NOT_FOUND,
                  "\"%s\" is %u", name, value);
    ck_assert_uint_eq(value, 999);
}

START_TEST(every_value_has_a_name_that_leads_back_to_it)
{
    uint32_t i;

    for (i = 0; i < enums[_i].values; i++)
        ck_assert_value(enums[_i].field, ashlar_spec_name(enums[_i].field, i),
                        i);
    ck_assert_ptr_null(ashlar_spec_name(enums[_i].field, i));
    ck_assert_ptr_null(ashlar_spec_name(enums[_i].field, UINT32_MAX));
}
END_TEST

START_TEST(a_name_is_taken_in_any_case)
{
    char name[64];
    uint32_t i;
    size_t k;

    for (i = 0; i < enums[_i].values; i++) {
        snprintf(name, sizeof(name), "%s",
                 ashlar_spec_name(enums[_i].field, i));
        for (k = 0; name[k] != '\0'; k++)
            name[k] = (char)toupper((unsigned char)name[k]);
        ck_assert_value(enums[_i].field, name, i);
    }
}
END_TEST

START_TEST(prefixes_may_be_left_out)
{
    ck_assert_value(ASHLAR_SPEC_FIELD_SWIZZLE, "128B",
                    ASHLAR_SPEC_SWIZZLE_128B);
    ck_assert_value(ASHLAR_SPEC_FIELD_L2_PROMOTION, "256B",
                    ASHLAR_SPEC_L2_256B);
    ck_assert_value(ASHLAR_SPEC_FIELD_L2_PROMOTION, "L2_256B",
                    ASHLAR_SPEC_L2_256B);
    ck_assert_value(ASHLAR_SPEC_FIELD_INTERLEAVE, "16B",
                    ASHLAR_SPEC_INTERLEAVE_16B);
    ck_assert_value(ASHLAR_SPEC_FIELD_SWIZZLE, "128B_ATOM_64B",
                    ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B);
}
END_TEST

START_TEST(people_have_other_names)
{
    size_t i;

    ck_assert_value(ASHLAR_SPEC_FIELD_DTYPE, "bf16", ASHLAR_SPEC_BFLOAT16);
    ck_assert_value(ASHLAR_SPEC_FIELD_DTYPE, "float8_e4m3", ASHLAR_SPEC_UINT8);
    ck_assert_value(ASHLAR_SPEC_FIELD_OOB_FILL, "nan",
                    ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA);
    for (i = 0; ashlar_spec_alias(ASHLAR_SPEC_FIELD_DTYPE, i) != NULL; i++) {
        uint32_t value;

        ck_assert_int_eq(
            ashlar_spec_value(ASHLAR_SPEC_FIELD_DTYPE,
                              ashlar_spec_alias(ASHLAR_SPEC_FIELD_DTYPE, i),
                              &value),
            ASHLAR_OK);
    }
    ck_assert_uint_ge(i, 10);
    ck_assert_ptr_null(ashlar_spec_alias(ASHLAR_SPEC_FIELD_MODE, 0));
}
END_TEST

START_TEST(a_name_that_is_none_is_not_found)
{
    uint32_t value = 77;

    ck_assert_int_eq(ashlar_spec_value(ASHLAR_SPEC_FIELD_DTYPE, "bf17", &value),
                     ASHLAR_ERR_NOT_FOUND);
    ck_assert_str_eq(ashlar_last_error_message(),
                     "no dtype is called \"bf17\"; ashlar_spec_name() tells "
                     "them all, from uint8 on");
    ck_assert_none(ASHLAR_SPEC_FIELD_SWIZZLE, "");
    ck_assert_none(ASHLAR_SPEC_FIELD_SWIZZLE, "swizzle_");
    ck_assert_none(ASHLAR_SPEC_FIELD_SWIZZLE, "CU_TENSOR_MAP_");
    ck_assert_none(ASHLAR_SPEC_FIELD_DTYPE, "bfloat");
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(what_is_no_enum_has_no_names)
{
    uint32_t value = 77;

    ck_assert_ptr_null(ashlar_spec_name(ASHLAR_SPEC_FIELD_BOX, 0));
    ck_assert_ptr_null(ashlar_spec_alias(ASHLAR_SPEC_FIELD_BOX, 0));
    ck_assert_int_eq(ashlar_spec_value(ASHLAR_SPEC_FIELD_BOX, "none", &value),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_spec_value(ASHLAR_SPEC_FIELD_DTYPE, NULL, &value),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_spec_value(ASHLAR_SPEC_FIELD_DTYPE, "int32", NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(value, 77);
}
END_TEST

START_TEST(fields_have_the_names_of_the_struct)
{
    ck_assert_str_eq(ashlar_spec_field_name(ASHLAR_SPEC_FIELD_ADDRESS),
                     "address");
    ck_assert_str_eq(ashlar_spec_field_name(ASHLAR_SPEC_FIELD_UPPER_CORNER),
                     "upper_corner");
    ck_assert_str_eq(ashlar_spec_field_name(ASHLAR_SPEC_FIELD_WIDE_MODE),
                     "wide_mode");
    ck_assert_str_eq(ashlar_spec_field_name((enum ashlar_spec_field)18), "?");
}
END_TEST

#ifdef HAVE_CUDA_H

#define CUDA(_field, _name)                                                    \
    {                                                                          \
        ASHLAR_SPEC_FIELD_##_field, #_name, (uint32_t)_name                    \
    }

/* Those of CUDA 12.0; 12.8 added the rest. */
static const struct {
    enum ashlar_spec_field field;
    const char *name;
    uint32_t value;
} cuda[] = {
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_UINT8),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_UINT16),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_UINT32),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_INT32),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_UINT64),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_INT64),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_FLOAT16),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_FLOAT32),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_FLOAT64),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ),
    CUDA(INTERLEAVE, CU_TENSOR_MAP_INTERLEAVE_NONE),
    CUDA(INTERLEAVE, CU_TENSOR_MAP_INTERLEAVE_16B),
    CUDA(INTERLEAVE, CU_TENSOR_MAP_INTERLEAVE_32B),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_NONE),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_32B),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_64B),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_128B),
    CUDA(L2_PROMOTION, CU_TENSOR_MAP_L2_PROMOTION_NONE),
    CUDA(L2_PROMOTION, CU_TENSOR_MAP_L2_PROMOTION_L2_64B),
    CUDA(L2_PROMOTION, CU_TENSOR_MAP_L2_PROMOTION_L2_128B),
    CUDA(L2_PROMOTION, CU_TENSOR_MAP_L2_PROMOTION_L2_256B),
    CUDA(OOB_FILL, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
    CUDA(OOB_FILL, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA),
#if CUDA_VERSION >= 12080
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B),
    CUDA(DTYPE, CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B),
    CUDA(SWIZZLE, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B),
    CUDA(WIDE_MODE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W),
    CUDA(WIDE_MODE, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128),
#endif
};

START_TEST(cudas_names_stand_for_cudas_values)
{
    ck_assert_value(cuda[_i].field, cuda[_i].name, cuda[_i].value);
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("spec_names");
    TCase *tcase = tcase_create("names");

    tcase_add_loop_test(tcase, every_value_has_a_name_that_leads_back_to_it, 0,
                        COUNT_OF(enums));
    tcase_add_loop_test(tcase, a_name_is_taken_in_any_case, 0, COUNT_OF(enums));
    tcase_add_test(tcase, prefixes_may_be_left_out);
    tcase_add_test(tcase, people_have_other_names);
    tcase_add_test(tcase, a_name_that_is_none_is_not_found);
    tcase_add_test(tcase, what_is_no_enum_has_no_names);
    tcase_add_test(tcase, fields_have_the_names_of_the_struct);
#ifdef HAVE_CUDA_H
    tcase_add_loop_test(tcase, cudas_names_stand_for_cudas_values, 0,
                        COUNT_OF(cuda));
#endif
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
