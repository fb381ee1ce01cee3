/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A C99, a C11, a C++98 and a C++17 file of one program, which see CUtensorMap
 * at different alignments, register it and get one type. This is the C11 file.
 */
#include "config.h"

#include "unit/test_mixed.h"

#include "support/cuda12_tensormap.h"
#include "support/suite.h"

#if __STDC_VERSION__ != 201112L
#error "this file is there to be compiled as C11"
#endif

#define LANGUAGES 4

void mixed_c11(struct mixed *mixed)
{
    MIXED_REGISTER(mixed, "C11, CUDA 12");
}

static struct mixed all[LANGUAGES];

static void register_all(void)
{
    mixed_c99(&all[0]);
    mixed_c11(&all[1]);
    mixed_cxx98(&all[2]);
    mixed_cxx17(&all[3]);
}

START_TEST(the_languages_disagree_about_the_alignment)
{
    ck_assert_uint_eq(all[0].alignment, 8);
    ck_assert_uint_eq(all[1].alignment, 64);
    ck_assert_uint_eq(all[2].alignment, 8);
    ck_assert_uint_ge(all[3].alignment, 64);
}
END_TEST

START_TEST(the_languages_agree_about_the_size)
{
    int i;

    for (i = 0; i < LANGUAGES; i++)
        ck_assert_uint_eq(all[i].size, 128);
}
END_TEST

START_TEST(every_language_gets_the_one_type_at_128)
{
    int i;

    for (i = 0; i < LANGUAGES; i++) {
        struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

        ck_assert_msg(all[i].status == ASHLAR_OK, "%s: %s", all[i].language,
                      ashlar_status_name(all[i].status));
        ck_assert_msg(all[i].type == all[0].type, "%s has a type of its own",
                      all[i].language);
        ck_assert_int_eq(ashlar_type_query(all[i].type, &info), ASHLAR_OK);
        ck_assert_str_eq(info.name, "CUtensorMap");
        ck_assert_uint_eq(info.alignment, 128);
        ck_assert_uint_eq(info.stride, 128);
    }
}
END_TEST

static Suite *mixed_suite(void)
{
    Suite *suite = suite_create("mixed languages");
    TCase *mixed = tcase_create("CUtensorMap");

    tcase_add_checked_fixture(mixed, register_all, NULL);
    tcase_add_test(mixed, the_languages_disagree_about_the_alignment);
    tcase_add_test(mixed, the_languages_agree_about_the_size);
    tcase_add_test(mixed, every_language_gets_the_one_type_at_128);
    suite_add_tcase(suite, mixed);
    return suite;
}

int main(void)
{
    return suite_run(mixed_suite());
}
