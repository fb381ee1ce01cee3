/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The built-in table against the installed CUDA headers, as a C11 compiler
 * (this file) and a C++17 compiler (test_builtin_cuda_cxx.cc) read them.
 */
#include "config.h"

#include "support/suite.h"

#ifdef HAVE_CUDA_H

#include "unit/builtin_facts_list.h"

#include <stdbool.h>
#include <string.h>

#include <ashlar/type.h>

typedef const struct fact *facts_fn(size_t *count_out);

static const struct fact *facts_of_c_here(size_t *count_out)
{
    *count_out = FACT_COUNT;
    return facts;
}

static facts_fn *const sources[] = {facts_of_c_here, facts_of_cxx};

/* What the table says of the toolkit whose headers are installed. */
static size_t told_alignment(const struct ashlar_type_info *info)
{
#if CUDA_VERSION >= 13000
    return info->cuda13_alignment;
#else
    return info->cuda12_alignment;
#endif
}

START_TEST(every_declared_type_is_built_in_as_declared)
{
    size_t count, i;
    const struct fact *told = sources[_i](&count);

    ck_assert_uint_ge(count, 10);
    for (i = 0; i < count; i++) {
        const struct ashlar_type *type = ashlar_type_find(told[i].name);
        struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

        ck_assert_msg(type != NULL, "%s is not built in", told[i].name);
        ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_OK);
        ck_assert_msg(info.object_size == told[i].size, "%s: %zu, %zu bytes",
                      told[i].name, info.object_size, told[i].size);
        ck_assert_msg(info.alignment >= told[i].alignment, "%s: %zu, %zu",
                      told[i].name, info.alignment, told[i].alignment);
        ck_assert_msg(told_alignment(&info) == told[i].alignment,
                      "%s: told %zu, declared %zu", told[i].name,
                      told_alignment(&info), told[i].alignment);
    }
}
END_TEST

START_TEST(every_declared_type_can_be_registered)
{
    size_t count, i;
    const struct fact *told = sources[_i](&count);

    for (i = 0; i < count; i++) {
        const struct ashlar_type *type = NULL;

        ck_assert_int_eq(ashlar_type_register(told[i].name, told[i].size,
                                              told[i].alignment, &type),
                         ASHLAR_OK);
        ck_assert_ptr_eq(type, ashlar_type_find(told[i].name));
    }
}
END_TEST

#ifdef HAVE_RUNTIME

static bool is_told(const struct fact *told, size_t count, const char *name)
{
    size_t i;

    for (i = 0; i < count; i++) {
        if (strcmp(told[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The names whose headers may be absent from a toolkit. */
static bool may_be_untold(const char *name)
{
    static const char *const optional[] = {
#ifndef HAVE_COMPLEX
        "cuDoubleComplex",
        "cuFloatComplex",
#endif
#ifndef HAVE_HALF
        "__half2",
        "__nv_bfloat162",
#endif
#ifndef HAVE_NCCL
        "ncclUniqueId",
#endif
#ifndef HAVE_CUBLASLT
        "cublasLtMatmulAlgo_t",
#endif
#if !__has_include(<curand_kernel.h>)
        "curandStatePhilox4_32_10_t",
        "curandStateXORWOW_t",
        "curandStateMRG32k3a_t",
#endif
#if CUDA_VERSION < 12030
        "CUmemFabricHandle",
#endif
        NULL
    };
    size_t i;

    for (i = 0; optional[i] != NULL; i++) {
        if (strcmp(optional[i], name) == 0)
            return true;
    }
    return false;
}

START_TEST(every_row_of_the_table_was_compared)
{
    const struct ashlar_type *type = NULL;
    size_t count;
    const struct fact *told = facts_of_cxx(&count);

    while ((type = ashlar_type_next(type)) != NULL) {
        struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

        ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_OK);
        if ((info.flags & ASHLAR_TYPE_BUILT_IN) != 0 &&
            told_alignment(&info) != 0)
            ck_assert_msg(is_told(told, count, info.name) ||
                              may_be_untold(info.name),
                          "%s was not compared", info.name);
    }
}
END_TEST

#endif

START_TEST(the_macro_registers_the_tensor_map_of_cuda_h)
{
    const struct ashlar_type *type = NULL;
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    ck_assert_int_eq(ASHLAR_REGISTER(CUtensorMap, &type), ASHLAR_OK);
    ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_OK);
    ck_assert_uint_eq(info.object_size, sizeof(CUtensorMap));
    ck_assert_uint_eq(info.alignment, 128);
}
END_TEST

static Suite *builtin_suite(void)
{
    Suite *suite = suite_create("built-in types against cuda.h");
    TCase *headers = tcase_create("headers");

    tcase_add_loop_test(headers, every_declared_type_is_built_in_as_declared, 0,
                        2);
    tcase_add_loop_test(headers, every_declared_type_can_be_registered, 0, 2);
#ifdef HAVE_RUNTIME
    tcase_add_test(headers, every_row_of_the_table_was_compared);
#endif
    tcase_add_test(headers, the_macro_registers_the_tensor_map_of_cuda_h);
    suite_add_tcase(suite, headers);
    return suite;
}

int main(void)
{
    return suite_run(builtin_suite());
}

#else

int main(void)
{
    return suite_skip("cuda.h was not found");
}

#endif
