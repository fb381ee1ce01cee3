/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/options.h"

#include "support/suite.h"

#include <stdint.h>
#include <string.h>

/* One struct in three versions: the caller's may be any of them. */
struct old_options {
    size_t size;
    uint64_t first;
};

struct own_options {
    size_t size;
    uint64_t first;
    uint64_t second;
};

struct new_options {
    size_t size;
    uint64_t first;
    uint64_t second;
    uint64_t third;
};

#define NAME "struct own_options"

static enum ashlar_status read_into(struct own_options *own, const void *given)
{
    return options_read(own, sizeof(*own), given, NAME);
}

START_TEST(options_of_the_same_version_are_copied)
{
    const struct own_options given = {sizeof(given), 1, 2};
    struct own_options own;

    ck_assert_int_eq(read_into(&own, &given), ASHLAR_OK);
    ck_assert_mem_eq(&own, &given, sizeof(own));
}
END_TEST

START_TEST(what_an_older_caller_does_not_have_is_zero)
{
    const struct old_options given = {sizeof(given), 1};
    struct own_options own;

    memset(&own, 0xa5, sizeof(own));
    ck_assert_int_eq(read_into(&own, &given), ASHLAR_OK);
    ck_assert_uint_eq(own.size, sizeof(own));
    ck_assert_uint_eq(own.first, 1);
    ck_assert_uint_eq(own.second, 0);
}
END_TEST

START_TEST(an_unknown_tail_of_zeros_is_accepted)
{
    const struct new_options given = {sizeof(given), 1, 2, 0};
    struct own_options own;

    ck_assert_int_eq(read_into(&own, &given), ASHLAR_OK);
    ck_assert_uint_eq(own.size, sizeof(own));
    ck_assert_uint_eq(own.second, 2);
}
END_TEST

START_TEST(an_unknown_tail_that_is_not_zero_is_refused)
{
    const struct new_options given = {sizeof(given), 1, 2,
                                      UINT64_C(1) << 63 | 1};
    struct own_options own;
    const struct own_options before = {7, 8, 9};

    own = before;
    ck_assert_int_eq(read_into(&own, &given), ASHLAR_ERR_INVALID);
    ck_assert_mem_eq(&own, &before, sizeof(own));
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), NAME));
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), "byte 24"));
}
END_TEST

START_TEST(the_last_byte_of_an_unknown_tail_counts)
{
    struct new_options given = {sizeof(given), 1, 2, 0};
    struct own_options own;

    ((unsigned char *)&given)[sizeof(given) - 1] = 1;
    ck_assert_int_eq(read_into(&own, &given), ASHLAR_ERR_INVALID);
}
END_TEST

START_TEST(a_size_of_zero_is_refused_with_the_structs_name)
{
    const struct own_options given = {0, 1, 2};
    struct own_options own;

    ck_assert_int_eq(read_into(&own, &given), ASHLAR_ERR_INVALID);
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), NAME));
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), "is 0"));
}
END_TEST

START_TEST(a_size_that_no_struct_has_is_refused)
{
    static const size_t sizes[] = {1, sizeof(size_t) - 1, 4097, SIZE_MAX};
    struct own_options given = {0, 1, 2}, own;
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        given.size = sizes[i];
        ck_assert_int_eq(read_into(&own, &given), ASHLAR_ERR_INVALID);
    }
}
END_TEST

START_TEST(a_struct_of_its_size_alone_is_accepted)
{
    const size_t given = sizeof(given);
    struct own_options own;

    ck_assert_int_eq(read_into(&own, &given), ASHLAR_OK);
    ck_assert_uint_eq(own.first, 0);
}
END_TEST

START_TEST(null_options_are_refused)
{
    struct own_options own;

    ck_assert_int_eq(read_into(&own, NULL), ASHLAR_ERR_INVALID);
}
END_TEST

START_TEST(an_older_callers_result_gets_no_more_than_it_has_room_for)
{
    const struct own_options own = {sizeof(own), 1, 2};
    struct {
        struct old_options result;
        uint64_t beyond;
    } given = {{sizeof(given.result), 0}, 77};

    ck_assert_int_eq(result_write(&given.result, &own, sizeof(own), NAME),
                     ASHLAR_OK);
    ck_assert_uint_eq(given.result.size, sizeof(given.result));
    ck_assert_uint_eq(given.result.first, 1);
    ck_assert_uint_eq(given.beyond, 77);
}
END_TEST

START_TEST(a_newer_callers_result_has_its_unknown_tail_zeroed)
{
    const struct own_options own = {sizeof(own), 1, 2};
    struct new_options given = {sizeof(given), 0, 0, 77};

    ck_assert_int_eq(result_write(&given, &own, sizeof(own), NAME), ASHLAR_OK);
    ck_assert_uint_eq(given.size, sizeof(given));
    ck_assert_uint_eq(given.second, 2);
    ck_assert_uint_eq(given.third, 0);
}
END_TEST

START_TEST(a_result_of_a_wrong_size_is_refused_and_not_written)
{
    static const size_t sizes[] = {0, sizeof(size_t) - 1, 4097};
    const struct own_options own = {sizeof(own), 1, 2};
    size_t i;

    for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct own_options given = {sizes[i], 7, 8};

        ck_assert_int_eq(result_write(&given, &own, sizeof(own), NAME),
                         ASHLAR_ERR_INVALID);
        ck_assert_uint_eq(given.size, sizes[i]);
        ck_assert_uint_eq(given.first, 7);
    }
}
END_TEST

static Suite *options_suite(void)
{
    Suite *suite = suite_create("options");
    TCase *reading = tcase_create("reading");
    TCase *writing = tcase_create("writing");

    tcase_add_test(reading, options_of_the_same_version_are_copied);
    tcase_add_test(reading, what_an_older_caller_does_not_have_is_zero);
    tcase_add_test(reading, an_unknown_tail_of_zeros_is_accepted);
    tcase_add_test(reading, an_unknown_tail_that_is_not_zero_is_refused);
    tcase_add_test(reading, the_last_byte_of_an_unknown_tail_counts);
    tcase_add_test(reading, a_size_of_zero_is_refused_with_the_structs_name);
    tcase_add_test(reading, a_size_that_no_struct_has_is_refused);
    tcase_add_test(reading, a_struct_of_its_size_alone_is_accepted);
    tcase_add_test(reading, null_options_are_refused);
    suite_add_tcase(suite, reading);
    tcase_add_test(writing,
                   an_older_callers_result_gets_no_more_than_it_has_room_for);
    tcase_add_test(writing, a_newer_callers_result_has_its_unknown_tail_zeroed);
    tcase_add_test(writing,
                   a_result_of_a_wrong_size_is_refused_and_not_written);
    suite_add_tcase(suite, writing);
    return suite;
}

int main(void)
{
    return suite_run(options_suite());
}
