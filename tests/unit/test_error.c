/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/error.h"

#include "support/suite.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"

static void start_clean(void)
{
    memory_fail_nth(0, false);
    ashlar_clear_error();
}

static void in_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, work, argument), 0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

#define ck_assert_message(_text)                                               \
    ck_assert_str_eq(ashlar_last_error_message(), _text)

START_TEST(there_is_no_error_at_first)
{
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    ck_assert_message("no error");
}
END_TEST

START_TEST(set_returns_the_status_and_null)
{
    ck_assert_int_eq(error_set(ASHLAR_ERR_BUSY, "busy"), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_BUSY);
    ck_assert_ptr_null(error_null(ASHLAR_ERR_STALE, "gone"));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_STALE);
    ck_assert_message("gone");
    ck_assert_int_eq(error_set_constant(ASHLAR_ERR_LIMIT, "full"),
                     ASHLAR_ERR_LIMIT);
    ck_assert_message("full");
}
END_TEST

START_TEST(asking_twice_gives_the_same_sentence)
{
    (void)error_set(ASHLAR_ERR_BUSY, "%d of %d", 1, 2);
    ck_assert_message("1 of 2");
    ck_assert_message("1 of 2");
}
END_TEST

START_TEST(clear_forgets_the_error)
{
    (void)error_set(ASHLAR_ERR_BUSY, "busy");
    ashlar_clear_error();
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_OK);
    ck_assert_message("no error");
}
END_TEST

START_TEST(each_directive_renders_as_printf_does)
{
    static const char words[] = "words";
    char expected[ERROR_MESSAGE_BYTES];

#define CHECK(...)                                                             \
    do {                                                                       \
        (void)snprintf(expected, sizeof(expected), __VA_ARGS__);               \
        (void)error_set(ASHLAR_ERR_INVALID, __VA_ARGS__);                      \
        ck_assert_message(expected);                                           \
    } while (0)

    CHECK("%d %d %d %i", 0, INT_MIN, INT_MAX, -1);
    CHECK("%u %u %x", 0u, UINT_MAX, 0xdeadbeefu);
    CHECK("%ld %lu %lx", LONG_MIN, ULONG_MAX, ULONG_MAX);
    CHECK("%lld %llu %llx", LLONG_MIN, ULLONG_MAX, ULLONG_MAX);
    CHECK("%zu %zx", SIZE_MAX, SIZE_MAX);
    CHECK("%c%c", 'a', 'z');
    CHECK("[%s] [%s]", words, "");
    CHECK("%p", (const void *)words);
    CHECK("100%% of %s%%", words);
    CHECK("no value");
    CHECK("%s first, last %d", words, 7);
#undef CHECK
}
END_TEST

START_TEST(a_null_pointer_and_a_null_string_render)
{
    const char *volatile text = NULL;

    (void)error_set(ASHLAR_ERR_INVALID, "%p %s", (void *)NULL, text);
    ck_assert_message("0x0 (null)");
}
END_TEST

START_TEST(a_string_is_copied_when_the_call_is_refused)
{
    char text[] = "before";

    (void)error_set(ASHLAR_ERR_INVALID, "%s", text);
    memcpy(text, "after!", sizeof(text));
    ck_assert_message("before");
}
END_TEST

START_TEST(a_long_string_is_cut_and_ends_in_dots)
{
    char text[ERROR_TEXT_BYTES * 4];
    const char *message;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    (void)error_set(ASHLAR_ERR_INVALID, "<%s>", text);
    message = ashlar_last_error_message();
    ck_assert_uint_eq(strlen(message), ERROR_TEXT_BYTES + 1);
    ck_assert_str_eq(message + strlen(message) - 5, "x...>");
}
END_TEST

START_TEST(a_string_that_just_fits_is_whole)
{
    char text[ERROR_TEXT_BYTES];

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    (void)error_set(ASHLAR_ERR_INVALID, "%s", text);
    ck_assert_message(text);
}
END_TEST

START_TEST(a_string_is_cut_between_two_characters)
{
    char text[ERROR_TEXT_BYTES * 2 + 1];
    size_t lead, i;

    /* Two, three or four bytes a character, cut at each of their places. */
    for (lead = 0; lead < 12; lead++) {
        static const char *const characters[] = {"\u00e9", "\u20ac",
                                                 "\U0001f9f1"};
        const char *character = characters[lead / 4];
        size_t width = strlen(character);
        const char *message;

        memset(text, 'x', sizeof(text));
        for (i = lead % 4; i + width < sizeof(text); i += width)
            memcpy(text + i, character, width);
        text[sizeof(text) - 1] = '\0';
        (void)error_set(ASHLAR_ERR_INVALID, "%s", text);
        message = ashlar_last_error_message();
        i = strlen(message) - 3;
        ck_assert_str_eq(message + i, "...");
        ck_assert_uint_eq((i - lead % 4) % width, 0);
        ck_assert_uint_ge(i, ERROR_TEXT_BYTES - 4 - width);
    }
}
END_TEST

START_TEST(two_long_strings_share_the_room)
{
    char first[201], second[201];
    const char *message;

    memset(first, 'a', 200);
    memset(second, 'b', 200);
    first[200] = second[200] = '\0';
    (void)error_set(ASHLAR_ERR_INVALID, "%s|%s", first, second);
    message = ashlar_last_error_message();
    ck_assert_ptr_nonnull(strstr(message, "aaa...|bbb"));
    ck_assert_str_eq(message + strlen(message) - 4, "b...");
    first[127] = second[127] = '\0';
    (void)error_set(ASHLAR_ERR_INVALID, "%s|%s", first, second);
    message = ashlar_last_error_message();
    ck_assert_uint_eq(strlen(message), 2 * 127 + 1);
}
END_TEST

START_TEST(a_ninth_value_is_left_out)
{
    (void)error_set(ASHLAR_ERR_INVALID, "%d%d%d%d%d%d%d%d%%%d", 1, 2, 3, 4, 5,
                    6, 7, 8, 9);
    ck_assert_message("12345678%%d");
}
END_TEST

START_TEST(a_directive_that_is_not_kept_ends_the_values)
{
    /* Through a variable: the compiler would rightly warn of a literal. */
    struct error error = {.status = ASHLAR_ERR_INVALID,
                          .format = "%d %5d %s",
                          .values = {{.number = 1}}};
    char text[64];

    ck_assert_uint_eq(error_format(&error, text, sizeof(text)), 8);
    ck_assert_str_eq(text, "1 %5d %s");
}
END_TEST

START_TEST(format_counts_what_does_not_fit)
{
    struct error error;
    char text[8];

    (void)error_set(ASHLAR_ERR_INVALID, "%s %zu", "twelve", (size_t)12345);
    error_copy(&error);
    memset(text, 'x', sizeof(text));
    ck_assert_uint_eq(error_format(&error, text, 5), 12);
    ck_assert_mem_eq(text, "twel\0xxx", 8);
    ck_assert_uint_eq(error_format(&error, text, 1), 12);
    ck_assert_str_eq(text, "");
    ck_assert_uint_eq(error_format(&error, NULL, 0), 12);
}
END_TEST

START_TEST(restore_puts_the_cause_back)
{
    struct error cause;

    (void)error_set(ASHLAR_ERR_DRIVER, "%s failed: %d", "cuMemMap", 2);
    error_copy(&cause);
    (void)error_set(ASHLAR_ERR_NO_MEMORY, "%s while undoing", "another");
    error_restore(&cause);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_DRIVER);
    ck_assert_message("cuMemMap failed: 2");
}
END_TEST

static void *set_another(void *unused)
{
    (void)unused;
    if (ashlar_last_error() == ASHLAR_OK)
        (void)error_set(ASHLAR_ERR_LIMIT, "mine");
    return NULL;
}

START_TEST(each_thread_has_its_own)
{
    (void)error_set(ASHLAR_ERR_BUSY, "ours");
    in_thread(set_another, NULL);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_BUSY);
    ck_assert_message("ours");
}
END_TEST

/* What a thread saw of its error; Check asserts in its own thread only. */
struct seen {
    enum ashlar_status set;
    enum ashlar_status last;
    enum ashlar_status cleared;
    char message[ERROR_MESSAGE_BYTES];
};

static void see(struct seen *seen)
{
    seen->last = ashlar_last_error();
    (void)snprintf(seen->message, sizeof(seen->message), "%s",
                   ashlar_last_error_message());
}

static void *fail_without_memory(void *argument)
{
    struct seen *seen = argument;

    memory_fail_nth(1, true);
    seen->set = error_set(ASHLAR_ERR_FRAGMENTED, "%d side by side", 3);
    see(seen);
    ashlar_clear_error();
    seen->cleared = ashlar_last_error();
    memory_fail_nth(0, false);
    return NULL;
}

START_TEST(without_memory_for_a_record_the_status_is_kept)
{
    struct seen seen = {.set = ASHLAR_OK};

    in_thread(fail_without_memory, &seen);
    ck_assert_int_eq(seen.set, ASHLAR_ERR_FRAGMENTED);
    ck_assert_int_eq(seen.last, ASHLAR_ERR_FRAGMENTED);
    ck_assert_int_eq(seen.cleared, ASHLAR_OK);
    ck_assert_str_eq(seen.message, ashlar_status_text(ASHLAR_ERR_FRAGMENTED));
}
END_TEST

static void *make_the_record_later(void *argument)
{
    struct seen *seen = argument;

    memory_fail_nth(1, false);
    seen->set = error_set(ASHLAR_ERR_FRAGMENTED, "%d side by side", 3);
    if (thread_record() != NULL)
        see(seen);
    return NULL;
}

START_TEST(a_record_made_later_has_the_status)
{
    struct seen seen = {.set = ASHLAR_OK};

    in_thread(make_the_record_later, &seen);
    ck_assert_int_eq(seen.last, ASHLAR_ERR_FRAGMENTED);
    ck_assert_str_eq(seen.message, ashlar_status_text(ASHLAR_ERR_FRAGMENTED));
}
END_TEST

static void *copy_without_memory(void *argument)
{
    struct seen *seen = argument;
    struct error copy;

    memory_fail_nth(1, true);
    seen->set = error_set(ASHLAR_ERR_BUSY, "%d", 1);
    error_copy(&copy);
    (void)error_set(ASHLAR_ERR_STALE, "%d", 2);
    error_restore(&copy);
    see(seen);
    ashlar_clear_error();
    error_copy(&copy);
    (void)error_set(ASHLAR_ERR_STALE, "%d", 2);
    error_restore(&copy);
    seen->cleared = ashlar_last_error();
    memory_fail_nth(0, false);
    return NULL;
}

START_TEST(copy_and_restore_work_without_a_record)
{
    struct seen seen = {.set = ASHLAR_OK};

    in_thread(copy_without_memory, &seen);
    ck_assert_int_eq(seen.last, ASHLAR_ERR_BUSY);
    ck_assert_int_eq(seen.cleared, ASHLAR_OK);
}
END_TEST

static Suite *error_suite(void)
{
    Suite *suite = suite_create("error");
    TCase *keeping = tcase_create("keeping");
    TCase *rendering = tcase_create("rendering");
    TCase *bare = tcase_create("without a record");

    tcase_add_checked_fixture(keeping, start_clean, start_clean);
    tcase_add_test(keeping, there_is_no_error_at_first);
    tcase_add_test(keeping, set_returns_the_status_and_null);
    tcase_add_test(keeping, asking_twice_gives_the_same_sentence);
    tcase_add_test(keeping, clear_forgets_the_error);
    tcase_add_test(keeping, a_string_is_copied_when_the_call_is_refused);
    tcase_add_test(keeping, restore_puts_the_cause_back);
    tcase_add_test(keeping, each_thread_has_its_own);
    suite_add_tcase(suite, keeping);
    tcase_add_checked_fixture(rendering, start_clean, start_clean);
    tcase_add_test(rendering, each_directive_renders_as_printf_does);
    tcase_add_test(rendering, a_null_pointer_and_a_null_string_render);
    tcase_add_test(rendering, a_long_string_is_cut_and_ends_in_dots);
    tcase_add_test(rendering, a_string_that_just_fits_is_whole);
    tcase_add_test(rendering, a_string_is_cut_between_two_characters);
    tcase_add_test(rendering, two_long_strings_share_the_room);
    tcase_add_test(rendering, a_ninth_value_is_left_out);
    tcase_add_test(rendering, a_directive_that_is_not_kept_ends_the_values);
    tcase_add_test(rendering, format_counts_what_does_not_fit);
    suite_add_tcase(suite, rendering);
    tcase_add_checked_fixture(bare, start_clean, start_clean);
    tcase_add_test(bare, without_memory_for_a_record_the_status_is_kept);
    tcase_add_test(bare, a_record_made_later_has_the_status);
    tcase_add_test(bare, copy_and_restore_work_without_a_record);
    suite_add_tcase(suite, bare);
    return suite;
}

int main(void)
{
    return suite_run(error_suite());
}
