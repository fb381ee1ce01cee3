/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>

#include <ashlar/status.h>
#include <ashlar/version.h>

/* The lowest value of the enum: the tests walk down to it. */
#define LAST ASHLAR_ERR_STALE

START_TEST(every_status_has_its_enumerators_name)
{
    ck_assert_str_eq(ashlar_status_name(ASHLAR_OK), "ASHLAR_OK");
    ck_assert_str_eq(ashlar_status_name(ASHLAR_ERR_INVALID),
                     "ASHLAR_ERR_INVALID");
    ck_assert_str_eq(ashlar_status_name(ASHLAR_ERR_STALE), "ASHLAR_ERR_STALE");
}
END_TEST

START_TEST(no_two_statuses_share_a_name_or_a_text)
{
    int a, b;

    for (a = 0; a >= LAST; a--) {
        for (b = a - 1; b >= LAST; b--) {
            ck_assert_str_ne(ashlar_status_name((enum ashlar_status)a),
                             ashlar_status_name((enum ashlar_status)b));
            ck_assert_str_ne(ashlar_status_text((enum ashlar_status)a),
                             ashlar_status_text((enum ashlar_status)b));
        }
    }
}
END_TEST

START_TEST(every_text_is_a_few_words)
{
    int status;

    for (status = 0; status >= LAST; status--) {
        const char *text = ashlar_status_text((enum ashlar_status)status);

        ck_assert_uint_ge(strlen(text), 4);
        ck_assert_uint_le(strlen(text), 40);
        ck_assert_str_ne(text, "unknown status");
    }
}
END_TEST

START_TEST(an_unknown_value_has_a_name_and_a_text)
{
    static const int unknown[] = {1, LAST - 1, 1 << 30, -(1 << 30)};
    size_t i;

    for (i = 0; i < sizeof(unknown) / sizeof(*unknown); i++) {
        enum ashlar_status status = (enum ashlar_status)unknown[i];

        ck_assert_str_eq(ashlar_status_name(status), "unknown status");
        ck_assert_str_eq(ashlar_status_text(status), "unknown status");
    }
}
END_TEST

START_TEST(the_running_version_is_that_of_the_headers)
{
    char text[32];

    ck_assert_uint_eq(ashlar_version(), ASHLAR_VERSION);
    ck_assert_str_eq(ashlar_version_string(), ASHLAR_VERSION_STRING);
    (void)snprintf(text, sizeof(text), "%d.%d.%d", ASHLAR_VERSION_MAJOR,
                   ASHLAR_VERSION_MINOR, ASHLAR_VERSION_PATCH);
    ck_assert_str_eq(text, ASHLAR_VERSION_STRING);
    ck_assert_str_eq(text, PACKAGE_VERSION);
}
END_TEST

static Suite *status_suite(void)
{
    Suite *suite = suite_create("status");
    TCase *names = tcase_create("names and texts");
    TCase *version = tcase_create("version");

    tcase_add_test(names, every_status_has_its_enumerators_name);
    tcase_add_test(names, no_two_statuses_share_a_name_or_a_text);
    tcase_add_test(names, every_text_is_a_few_words);
    tcase_add_test(names, an_unknown_value_has_a_name_and_a_text);
    suite_add_tcase(suite, names);
    tcase_add_test(version, the_running_version_is_that_of_the_headers);
    suite_add_tcase(suite, version);
    return suite;
}

int main(void)
{
    return suite_run(status_suite());
}
