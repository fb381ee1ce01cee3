/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "type/type.h"

#include "support/suite.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

/* The registry lives as long as the process and the tests may share one, so
 * each test has names of its own. */

static void no_faults(void)
{
    memory_fail_nth(0, false);
}

static const struct ashlar_type *made(const char *name, size_t size,
                                      size_t alignment)
{
    const struct ashlar_type *type = NULL;
    enum ashlar_status status =
        ashlar_type_register(name, size, alignment, &type);

    ck_assert_msg(status == ASHLAR_OK, "%s: %s", name,
                  ashlar_last_error_message());
    ck_assert_ptr_nonnull(type);
    return type;
}

static struct ashlar_type_info info_of(const struct ashlar_type *type)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_OK);
    return info;
}

static void ck_assert_refused(const char *name, size_t size, size_t alignment,
                              enum ashlar_status expected)
{
    const struct ashlar_type *type = (const struct ashlar_type *)&no_faults;
    const struct ashlar_type *const before = type;

    ashlar_clear_error();
    ck_assert_int_eq(ashlar_type_register(name, size, alignment, &type),
                     expected);
    ck_assert_int_eq(ashlar_last_error(), expected);
    ck_assert_ptr_eq(type, before);
}

static bool message_has(const char *text)
{
    return strstr(ashlar_last_error_message(), text) != NULL;
}

/* --- registering ---------------------------------------------------------- */

START_TEST(a_new_type_is_what_was_registered)
{
    char name[] = "reg new";
    const struct ashlar_type *type = made(name, 40, 8);
    struct ashlar_type_info info;

    name[0] = 'X';
    info = info_of(type);
    ck_assert_str_eq(info.name, "reg new");
    ck_assert_str_eq(info.aliases, "");
    ck_assert_str_eq(info.source, "");
    ck_assert_uint_eq(info.object_size, 40);
    ck_assert_uint_eq(info.alignment, 8);
    ck_assert_uint_eq(info.stride, 40);
    ck_assert_uint_eq(info.cuda12_alignment, 0);
    ck_assert_uint_eq(info.cuda13_alignment, 0);
    ck_assert_uint_eq(info.flags, 0);
    ck_assert_uint_eq(info.reserved, 0);
}
END_TEST

START_TEST(the_stride_is_the_size_rounded_up_to_the_alignment)
{
    static const struct {
        size_t size, alignment, stride;
    } rows[] = {
        {1, 1, 1},
        {1, 2, 2},
        {3, 2, 4},
        {40, 64, 64},
        {65, 64, 128},
        {128, 128, 128},
        {1, 1 << 21, 1 << 21},
        {(1 << 20) + 1, 1 << 12, (1 << 20) + (1 << 12)},
    };
    size_t i;

    for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "stride %zu", i);
        ck_assert_uint_eq(
            info_of(made(name, rows[i].size, rows[i].alignment)).stride,
            rows[i].stride);
    }
}
END_TEST

START_TEST(an_alignment_may_be_any_power_of_two_up_to_the_maximum)
{
    size_t alignment;

    for (alignment = 1; alignment <= ASHLAR_TYPE_ALIGNMENT_MAX; alignment *= 2)
        ck_assert_uint_eq(
            info_of(made("reg alignments", 8, alignment)).alignment, alignment);
}
END_TEST

struct refused_row {
    const char *why;
    size_t size;
    size_t alignment;
};

static const struct refused_row refused_rows[] = {
    {"size 0", 0, 8},
    {"alignment 0", 8, 0},
    {"alignment 3", 8, 3},
    {"alignment 48", 8, 48},
    {"alignment 2^30 + 1", 8, ((size_t)1 << 30) + 1},
    {"alignment 2^31", 8, (size_t)1 << 31},
    {"alignment 2^63", 8, (size_t)1 << 63},
    {"stride above PTRDIFF_MAX", (size_t)PTRDIFF_MAX + 1, 1},
    {"stride rounded above PTRDIFF_MAX", PTRDIFF_MAX, 2},
    {"stride that overflows", SIZE_MAX, 64},
};

START_TEST(a_layout_out_of_bounds_is_refused)
{
    const struct refused_row *row = &refused_rows[_i];

    ck_assert_refused(row->why, row->size, row->alignment, ASHLAR_ERR_INVALID);
    ck_assert(message_has(row->why));
    ck_assert_ptr_null(ashlar_type_find(row->why));
}
END_TEST

START_TEST(the_largest_stride_is_accepted)
{
    ck_assert_uint_eq(info_of(made("reg largest", PTRDIFF_MAX, 1)).stride,
                      PTRDIFF_MAX);
}
END_TEST

START_TEST(a_name_that_is_null_or_empty_or_too_long_is_refused)
{
    char name[129];

    ck_assert_refused(NULL, 8, 8, ASHLAR_ERR_INVALID);
    ck_assert_refused("", 8, 8, ASHLAR_ERR_INVALID);
    memset(name, 'n', 128);
    name[128] = '\0';
    ck_assert_refused(name, 8, 8, ASHLAR_ERR_INVALID);
    ck_assert(message_has("128 bytes"));
    name[127] = '\0';
    ck_assert_str_eq(info_of(made(name, 8, 8)).name, name);
}
END_TEST

START_TEST(no_place_for_the_type_is_refused)
{
    ck_assert_int_eq(ashlar_type_register("reg nowhere", 8, 8, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_ptr_null(ashlar_type_find("reg nowhere"));
}
END_TEST

START_TEST(names_are_compared_byte_by_byte)
{
    ck_assert_ptr_ne(made("reg case", 8, 8), made("reg Case", 8, 8));
    ck_assert_ptr_ne(made("reg case", 8, 8), made("reg case ", 8, 8));
}
END_TEST

struct sixteen {
    int numbers[4];
} __attribute__((aligned(16)));

START_TEST(the_macros_take_size_and_alignment_from_the_compiler)
{
    const struct ashlar_type *type = NULL;

    ck_assert_int_eq(ASHLAR_REGISTER(struct sixteen, &type), ASHLAR_OK);
    ck_assert_str_eq(info_of(type).name, "struct sixteen");
    ck_assert_uint_eq(info_of(type).object_size, sizeof(struct sixteen));
    ck_assert_uint_eq(info_of(type).alignment, 16);
    ck_assert_int_eq(ASHLAR_REGISTER_AS("reg sixteen", struct sixteen, &type),
                     ASHLAR_OK);
    ck_assert_str_eq(info_of(type).name, "reg sixteen");
}
END_TEST

/* --- the same name again -------------------------------------------------- */

START_TEST(an_equal_or_weaker_alignment_gets_the_same_type)
{
    const struct ashlar_type *type = made("again", 128, 64);

    ck_assert_ptr_eq(made("again", 128, 64), type);
    ck_assert_ptr_eq(made("again", 128, 8), type);
    ck_assert_ptr_eq(made("again", 128, 1), type);
    ck_assert_uint_eq(info_of(type).alignment, 64);
}
END_TEST

START_TEST(a_stronger_alignment_is_taken_before_the_first_pool)
{
    const struct ashlar_type *type = made("again stronger", 40, 8);

    ck_assert_ptr_eq(made("again stronger", 40, 64), type);
    ck_assert_uint_eq(info_of(type).alignment, 64);
    ck_assert_uint_eq(info_of(type).stride, 64);
    ck_assert_ptr_eq(made("again stronger", 40, 8), type);
    ck_assert_uint_eq(info_of(type).alignment, 64);
}
END_TEST

START_TEST(another_size_is_a_conflict_that_names_both)
{
    const struct ashlar_type *type = made("again larger", 40, 8);

    ck_assert_refused("again larger", 48, 8, ASHLAR_ERR_CONFLICT);
    ck_assert(message_has("again larger"));
    ck_assert(message_has("40"));
    ck_assert(message_has("48"));
    ck_assert_refused("again larger", 48, 128, ASHLAR_ERR_CONFLICT);
    ck_assert_uint_eq(info_of(type).object_size, 40);
    ck_assert_uint_eq(info_of(type).alignment, 8);
}
END_TEST

START_TEST(a_frozen_type_keeps_its_alignment)
{
    const struct ashlar_type *type = made("again frozen", 40, 16);
    size_t size, alignment, stride;
    int i;

    for (i = 0; i < 2; i++) {
        ck_assert(type_freeze(type, 16));
        type_layout(type, &size, &alignment, &stride);
        ck_assert_uint_eq(size, 40);
        ck_assert_uint_eq(alignment, 16);
        ck_assert_uint_eq(stride, 48);
    }
    ck_assert_uint_eq(info_of(type).flags, ASHLAR_TYPE_FROZEN);
    ck_assert_ptr_eq(made("again frozen", 40, 16), type);
    ck_assert_ptr_eq(made("again frozen", 40, 8), type);
    ck_assert_refused("again frozen", 40, 32, ASHLAR_ERR_CONFLICT);
    ck_assert(message_has("16"));
    ck_assert(message_has("32"));
    ck_assert_uint_eq(info_of(type).alignment, 16);
    ck_assert_uint_eq(info_of(type).stride, 48);
}
END_TEST

/* --- built in ------------------------------------------------------------- */

START_TEST(the_tensor_map_is_128_whatever_a_caller_was_compiled_against)
{
    static const size_t declared[] = {1, 8, 64, 128};
    const struct ashlar_type *type = ashlar_type_find("CUtensorMap");
    size_t i;

    for (i = 0; i < sizeof(declared) / sizeof(*declared); i++)
        ck_assert_ptr_eq(made("CUtensorMap", 128, declared[i]), type);
    ck_assert_uint_eq(info_of(type).object_size, 128);
    ck_assert_uint_eq(info_of(type).alignment, 128);
    ck_assert_uint_eq(info_of(type).stride, 128);
    ck_assert_uint_eq(info_of(type).cuda12_alignment, 64);
    ck_assert_uint_eq(info_of(type).cuda13_alignment, 128);
}
END_TEST

START_TEST(the_tensor_map_has_its_aliases)
{
    static const char *const aliases[] = {
        "CUtensorMap_st", "struct CUtensorMap_st", "cute::TmaDescriptor",
        "cute::Im2ColTmaDescriptor"};
    const struct ashlar_type *type = ashlar_type_find("CUtensorMap");
    size_t i;

    for (i = 0; i < sizeof(aliases) / sizeof(*aliases); i++) {
        ck_assert_ptr_eq(ashlar_type_find(aliases[i]), type);
        ck_assert_ptr_eq(made(aliases[i], 128, 64), type);
    }
    ck_assert_ptr_null(ashlar_type_find("cute::TmaDesc"));
    ck_assert_ptr_null(ashlar_type_find("st"));
    ck_assert_ptr_null(
        ashlar_type_find("CUtensorMap_st,struct CUtensorMap_st"));
}
END_TEST

START_TEST(a_built_in_type_takes_no_stronger_alignment_and_no_other_size)
{
    ck_assert_refused("CUtensorMap", 128, 256, ASHLAR_ERR_CONFLICT);
    ck_assert(message_has("built in"));
    ck_assert(message_has("128"));
    ck_assert(message_has("256"));
    ck_assert_refused("CUtensorMap_st", 64, 64, ASHLAR_ERR_CONFLICT);
    ck_assert(message_has("built in"));
    ck_assert(message_has("64"));
    ck_assert_uint_eq(info_of(ashlar_type_find("CUtensorMap")).alignment, 128);
}
END_TEST

static void ck_assert_row_is_sound(const struct ashlar_type_info *info)
{
    const size_t strongest = info->cuda12_alignment > info->cuda13_alignment
                                 ? info->cuda12_alignment
                                 : info->cuda13_alignment;

    ck_assert_msg(info->alignment == strongest, "%s", info->name);
    ck_assert_msg(info->stride % info->alignment == 0, "%s", info->name);
    ck_assert_msg(info->stride == info->object_size,
                  "%s: no C type has a stride of its own", info->name);
    ck_assert_msg(info->source[0] != '\0' &&
                      info->source[strlen(info->source) - 1] == '.',
                  "%s: the source is no sentence", info->name);
}

START_TEST(every_built_in_row_is_sound)
{
    const struct ashlar_type *type = NULL;
    size_t count = 0;

    while ((type = ashlar_type_next(type)) != NULL) {
        struct ashlar_type_info info = info_of(type);

        if ((info.flags & ASHLAR_TYPE_BUILT_IN) == 0)
            break;
        ck_assert_row_is_sound(&info);
        ck_assert_msg(ashlar_type_find(info.name) == type, "%s is there twice",
                      info.name);
        count++;
    }
    ck_assert_uint_ge(count, 50);
}
END_TEST

START_TEST(every_alias_finds_its_type)
{
    const struct ashlar_type *type = NULL;

    while ((type = ashlar_type_next(type)) != NULL) {
        char aliases[256], *rest = aliases, *alias;

        ck_assert_uint_lt(strlen(info_of(type).aliases), sizeof(aliases));
        strcpy(aliases, info_of(type).aliases);
        while ((alias = strsep(&rest, ",")) != NULL && aliases[0] != '\0') {
            ck_assert_msg(ashlar_type_find(alias) == type, "%s", alias);
            ck_assert_ptr_eq(strchr(alias, ','), NULL);
        }
    }
}
END_TEST

START_TEST(what_is_not_over_aligned_says_so)
{
    static const char *const plain[] = {"ncclUniqueId",     "CUipcMemHandle",
                                        "CUipcEventHandle", "CUlaunchAttribute",
                                        "CUuuid",           "float3"};
    static const char *const over[] = {"CUtensorMap", "double4_32a", "float4",
                                       "curandStatePhilox4_32_10_t",
                                       "cuDoubleComplex"};
    size_t i;

    for (i = 0; i < sizeof(plain) / sizeof(*plain); i++)
        ck_assert_uint_eq(info_of(ashlar_type_find(plain[i])).flags &
                              ASHLAR_TYPE_NOT_OVER_ALIGNED,
                          ASHLAR_TYPE_NOT_OVER_ALIGNED);
    for (i = 0; i < sizeof(over) / sizeof(*over); i++)
        ck_assert_uint_eq(info_of(ashlar_type_find(over[i])).flags &
                              ASHLAR_TYPE_NOT_OVER_ALIGNED,
                          0);
}
END_TEST

START_TEST(a_type_is_not_fixed_at_less_than_it_has_become)
{
    const struct ashlar_type *type = made("again stronger", 40, 16);

    ck_assert_ptr_eq(made("again stronger", 40, 64), type);
    ck_assert(!type_freeze(type, 16));
    ck_assert_uint_eq(info_of(type).flags, 0);
    ck_assert(type_freeze(type, 64));
    ck_assert_uint_eq(info_of(type).flags, ASHLAR_TYPE_FROZEN);
    ck_assert(!type_freeze(type, 16));
}
END_TEST

START_TEST(a_built_in_type_can_be_frozen)
{
    const struct ashlar_type *type = ashlar_type_find("float4");
    size_t size, alignment, stride;

    ck_assert(type_freeze(type, 16));
    type_layout(type, &size, &alignment, &stride);
    ck_assert_uint_eq(size, 16);
    ck_assert_uint_eq(alignment, 16);
    ck_assert_uint_eq(stride, 16);
    ck_assert_uint_eq(info_of(type).flags,
                      ASHLAR_TYPE_BUILT_IN | ASHLAR_TYPE_FROZEN);
    ck_assert_ptr_eq(made("float4", 16, 4), type);
}
END_TEST

/* --- finding and walking -------------------------------------------------- */

START_TEST(an_unknown_name_is_not_found)
{
    ck_assert_ptr_null(ashlar_type_find("find nothing"));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NOT_FOUND);
    ck_assert(message_has("find nothing"));
    ck_assert_ptr_null(ashlar_type_find(""));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NOT_FOUND);
    ck_assert_ptr_null(ashlar_type_find(NULL));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_INVALID);
}
END_TEST

START_TEST(a_walk_meets_the_built_in_first_and_then_in_order)
{
    const struct ashlar_type *wanted[200], *type = NULL;
    bool registered = false;
    size_t i, met = 0;

    for (i = 0; i < 200; i++) {
        char name[32];

        (void)snprintf(name, sizeof(name), "walk %zu", i);
        wanted[i] = made(name, i + 1, 8);
    }
    while ((type = ashlar_type_next(type)) != NULL) {
        bool built_in = (info_of(type).flags & ASHLAR_TYPE_BUILT_IN) != 0;

        ck_assert(!(built_in && registered));
        registered = !built_in;
        if (met < 200 && type == wanted[met])
            met++;
    }
    ck_assert_uint_eq(met, 200);
}
END_TEST

START_TEST(thousands_of_types_stay_where_they_are)
{
    enum { COUNT = 5000 };
    static const struct ashlar_type *types[COUNT];
    char name[32];
    size_t i;

    for (i = 0; i < COUNT; i++) {
        (void)snprintf(name, sizeof(name), "many %zu", i);
        types[i] = made(name, i + 1, 8);
    }
    for (i = 0; i < COUNT; i++) {
        (void)snprintf(name, sizeof(name), "many %zu", i);
        ck_assert_ptr_eq(ashlar_type_find(name), types[i]);
        ck_assert_uint_eq(info_of(types[i]).object_size, i + 1);
        ck_assert_str_eq(info_of(types[i]).name, name);
        ck_assert_int_ne(type_is_known(types[i]), 0);
    }
}
END_TEST

START_TEST(a_pointer_that_is_no_type_is_known_as_such)
{
    const struct ashlar_type *type = made("known", 8, 8);
    const char *const inside = (const char *)type + 8;
    const struct ashlar_type *const wrong[] = {
        NULL, (const struct ashlar_type *)(uintptr_t)8,
        (const struct ashlar_type *)&no_faults,
        (const struct ashlar_type *)(uintptr_t)inside,
        (const struct ashlar_type *)(UINTPTR_MAX & ~(uintptr_t)7)};
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    size_t i;

    ck_assert_int_ne(type_is_known(type), 0);
    ck_assert_int_ne(type_is_known(ashlar_type_find("CUtensorMap")), 0);
    for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ck_assert_int_eq(type_is_known(wrong[i]), 0);
        ck_assert_int_eq(ashlar_type_query(wrong[i], &info),
                         ASHLAR_ERR_INVALID);
        if (wrong[i] != NULL)
            ck_assert_ptr_null(ashlar_type_next(wrong[i]));
    }
}
END_TEST

START_TEST(a_query_writes_no_more_than_the_caller_knows)
{
    const struct ashlar_type *type = made("query", 8, 8);
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    info.size = offsetof(struct ashlar_type_info, alignment);
    info.alignment = 77;
    ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_OK);
    ck_assert_uint_eq(info.size, offsetof(struct ashlar_type_info, alignment));
    ck_assert_uint_eq(info.object_size, 8);
    ck_assert_uint_eq(info.alignment, 77);
    info.size = 0;
    ck_assert_int_eq(ashlar_type_query(type, &info), ASHLAR_ERR_INVALID);
    ck_assert(message_has("struct ashlar_type_info"));
    ck_assert_int_eq(ashlar_type_query(type, NULL), ASHLAR_ERR_INVALID);
}
END_TEST

/* --- without memory ------------------------------------------------------- */

START_TEST(without_memory_nothing_is_registered_and_a_retry_works)
{
    const struct ashlar_type *type = NULL;
    unsigned long nth;
    enum ashlar_status status = ASHLAR_ERR_NO_MEMORY;

    for (nth = 1; nth < 20 && status != ASHLAR_OK; nth++) {
        memory_fail_nth(nth, false);
        status = ashlar_type_register("no memory", 40, 8, &type);
        memory_fail_nth(0, false);
        if (status != ASHLAR_OK) {
            ck_assert_int_eq(status, ASHLAR_ERR_NO_MEMORY);
            ck_assert_ptr_null(type);
            ck_assert_ptr_null(ashlar_type_find("no memory"));
        }
    }
    ck_assert_uint_gt(nth, 2);
    ck_assert_int_eq(status, ASHLAR_OK);
    ck_assert_ptr_eq(ashlar_type_find("no memory"), type);
    ck_assert_uint_eq(info_of(type).stride, 40);
}
END_TEST

static void add_registering(Suite *suite)
{
    TCase *fresh = tcase_create("new names");
    TCase *again = tcase_create("known names");
    int rows = sizeof(refused_rows) / sizeof(*refused_rows);

    tcase_add_checked_fixture(fresh, no_faults, no_faults);
    tcase_add_test(fresh, a_new_type_is_what_was_registered);
    tcase_add_test(fresh, the_stride_is_the_size_rounded_up_to_the_alignment);
    tcase_add_test(fresh,
                   an_alignment_may_be_any_power_of_two_up_to_the_maximum);
    tcase_add_loop_test(fresh, a_layout_out_of_bounds_is_refused, 0, rows);
    tcase_add_test(fresh, the_largest_stride_is_accepted);
    tcase_add_test(fresh, a_name_that_is_null_or_empty_or_too_long_is_refused);
    tcase_add_test(fresh, no_place_for_the_type_is_refused);
    tcase_add_test(fresh, names_are_compared_byte_by_byte);
    tcase_add_test(fresh, the_macros_take_size_and_alignment_from_the_compiler);
    tcase_add_test(fresh,
                   without_memory_nothing_is_registered_and_a_retry_works);
    suite_add_tcase(suite, fresh);
    tcase_add_test(again, an_equal_or_weaker_alignment_gets_the_same_type);
    tcase_add_test(again, a_stronger_alignment_is_taken_before_the_first_pool);
    tcase_add_test(again, another_size_is_a_conflict_that_names_both);
    tcase_add_test(again, a_frozen_type_keeps_its_alignment);
    tcase_add_test(again, a_type_is_not_fixed_at_less_than_it_has_become);
    suite_add_tcase(suite, again);
}

static void add_built_in(Suite *suite)
{
    TCase *table = tcase_create("built-in table");

    tcase_add_test(
        table, the_tensor_map_is_128_whatever_a_caller_was_compiled_against);
    tcase_add_test(table, the_tensor_map_has_its_aliases);
    tcase_add_test(
        table, a_built_in_type_takes_no_stronger_alignment_and_no_other_size);
    tcase_add_test(table, every_built_in_row_is_sound);
    tcase_add_test(table, every_alias_finds_its_type);
    tcase_add_test(table, what_is_not_over_aligned_says_so);
    tcase_add_test(table, a_built_in_type_can_be_frozen);
    suite_add_tcase(suite, table);
}

static Suite *type_suite(void)
{
    Suite *suite = suite_create("type");
    TCase *walking = tcase_create("finding and walking");

    add_registering(suite);
    add_built_in(suite);
    tcase_add_test(walking, an_unknown_name_is_not_found);
    tcase_add_test(walking, a_walk_meets_the_built_in_first_and_then_in_order);
    tcase_add_test(walking, thousands_of_types_stay_where_they_are);
    tcase_add_test(walking, a_pointer_that_is_no_type_is_known_as_such);
    tcase_add_test(walking, a_query_writes_no_more_than_the_caller_knows);
    suite_add_tcase(suite, walking);
    return suite;
}

int main(void)
{
    return suite_run(type_suite());
}
