/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/log.h"

#include "support/child.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define THREADS 4
#define LINES   2000

/* What a callback was told. */
struct told {
    unsigned int count;
    enum ashlar_log_level level;
    char line[1024];
};

static struct told told;

static void start_clean(void)
{
    memory_fail_nth(0, false);
    ashlar_set_log(NULL, NULL);
    memset(&told, 0, sizeof(told));
}

static void listen_once(enum ashlar_log_level level, const char *message,
                        void *user)
{
    struct told *mine = user;

    mine->count++;
    mine->level = level;
    (void)snprintf(mine->line, sizeof(mine->line), "%s", message);
}

START_TEST(a_line_with_no_listener_goes_nowhere)
{
    log_line(ASHLAR_LOG_INFO, "%d", 1);
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

START_TEST(the_listener_gets_level_line_and_its_pointer)
{
    ashlar_set_log(listen_once, &told);
    log_line(ASHLAR_LOG_WARNING, "%s grew to %zu bytes", "maps", (size_t)4096);
    ck_assert_uint_eq(told.count, 1);
    ck_assert_int_eq(told.level, ASHLAR_LOG_WARNING);
    ck_assert_str_eq(told.line, "maps grew to 4096 bytes");
}
END_TEST

START_TEST(null_takes_the_listener_away)
{
    ashlar_set_log(listen_once, &told);
    ashlar_set_log(NULL, NULL);
    log_line(ASHLAR_LOG_ERROR, "nobody hears it");
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

START_TEST(a_line_of_511_bytes_is_whole_and_a_longer_one_is_cut)
{
    char text[600];

    ashlar_set_log(listen_once, &told);
    memset(text, 'x', sizeof(text));
    text[511] = '\0';
    log_line(ASHLAR_LOG_INFO, "%s", text);
    ck_assert_str_eq(told.line, text);
    text[511] = 'x';
    text[512] = '\0';
    log_line(ASHLAR_LOG_INFO, "%s", text);
    ck_assert_uint_eq(strlen(told.line), 511);
    ck_assert_str_eq(told.line + 507, "x...");
}
END_TEST

START_TEST(a_line_is_cut_between_two_characters)
{
    char text[600];
    size_t shift, i;

    ashlar_set_log(listen_once, &told);
    for (shift = 0; shift < 3; shift++) {
        memset(text, 'x', sizeof(text));
        for (i = shift; i + 3 < sizeof(text); i += 3)
            memcpy(text + i, "\u20ac", 3);
        text[sizeof(text) - 1] = '\0';
        log_line(ASHLAR_LOG_INFO, "%s", text);
        i = strlen(told.line) - 3;
        ck_assert_str_eq(told.line + i, "...");
        ck_assert_uint_eq((i - shift) % 3, 0);
    }
}
END_TEST

static void listen_and_log(enum ashlar_log_level level, const char *message,
                           void *user)
{
    listen_once(level, message, user);
    log_line(ASHLAR_LOG_ERROR, "caused inside");
}

START_TEST(a_line_caused_inside_the_callback_is_dropped)
{
    ashlar_set_log(listen_and_log, &told);
    log_line(ASHLAR_LOG_INFO, "first");
    log_line(ASHLAR_LOG_INFO, "second");
    ck_assert_uint_eq(told.count, 2);
    ck_assert_str_eq(told.line, "second");
}
END_TEST

static void listen_and_fail(enum ashlar_log_level level, const char *message,
                            void *user)
{
    listen_once(level, message, user);
    (void)error_set(ASHLAR_ERR_BUSY, "of the callback");
}

START_TEST(the_callback_cannot_change_the_last_error)
{
    ashlar_set_log(listen_and_fail, &told);
    (void)error_set(ASHLAR_ERR_LIMIT, "at %d", 5);
    log_line(ASHLAR_LOG_INFO, "line");
    ck_assert_uint_eq(told.count, 1);
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_LIMIT);
    ck_assert_str_eq(ashlar_last_error_message(), "at 5");
}
END_TEST

static void listen_and_leave(enum ashlar_log_level level, const char *message,
                             void *user)
{
    listen_once(level, message, user);
    ashlar_set_log(NULL, NULL);
}

START_TEST(the_callback_may_take_itself_away)
{
    ashlar_set_log(listen_and_leave, &told);
    log_line(ASHLAR_LOG_INFO, "first");
    log_line(ASHLAR_LOG_INFO, "second");
    ck_assert_uint_eq(told.count, 1);
}
END_TEST

/* Two listeners, each of which must be called with its own pointer. */
static int user_a, user_b;
static unsigned int mixed, heard;

static void listen_a(enum ashlar_log_level level, const char *message,
                     void *user)
{
    (void)level;
    (void)message;
    __atomic_add_fetch(user == &user_a ? &heard : &mixed, 1, __ATOMIC_RELAXED);
}

static void listen_b(enum ashlar_log_level level, const char *message,
                     void *user)
{
    (void)level;
    (void)message;
    __atomic_add_fetch(user == &user_b ? &heard : &mixed, 1, __ATOMIC_RELAXED);
}

static void *log_lines(void *unused)
{
    int i;

    for (i = 0; i < LINES; i++)
        log_line(ASHLAR_LOG_INFO, "line %d", i);
    return unused;
}

START_TEST(callback_and_pointer_are_never_mixed)
{
    pthread_t threads[THREADS];
    int i;

    mixed = heard = 0;
    ashlar_set_log(listen_a, &user_a);
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, log_lines, NULL), 0);
    for (i = 0; i < LINES; i++) {
        ashlar_set_log(listen_b, &user_b);
        ashlar_set_log(listen_a, &user_a);
    }
    for (i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    ck_assert_uint_eq(mixed, 0);
    ck_assert_uint_eq(heard, THREADS * LINES);
}
END_TEST

static bool stop;

static void *set_listeners(void *unused)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        ashlar_set_log(listen_b, &user_b);
        ashlar_set_log(listen_a, &user_a);
    }
    return unused;
}

static int child_can_log(void *unused)
{
    (void)unused;
    log_line(ASHLAR_LOG_INFO, "from the child");
    return mixed == 0 ? 0 : 1;
}

START_TEST(a_child_can_log_whenever_it_was_forked)
{
    pthread_t setter;
    int i;

    stop = false;
    ashlar_set_log(listen_a, &user_a);
    ck_assert_int_eq(pthread_create(&setter, NULL, set_listeners, NULL), 0);
    for (i = 0; i < 50; i++)
        ck_assert_int_eq(child_verdict(child_can_log, NULL), 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    ck_assert_int_eq(pthread_join(setter, NULL), 0);
}
END_TEST

static void *log_without_memory(void *unused)
{
    memory_fail_nth(1, true);
    log_line(ASHLAR_LOG_INFO, "no record");
    memory_fail_nth(0, false);
    return unused;
}

START_TEST(a_thread_without_a_record_logs_nothing)
{
    pthread_t thread;

    ashlar_set_log(listen_once, &told);
    ck_assert_int_eq(pthread_create(&thread, NULL, log_without_memory, NULL),
                     0);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    ck_assert_uint_eq(told.count, 0);
}
END_TEST

static Suite *log_suite(void)
{
    Suite *suite = suite_create("log");
    TCase *lines = tcase_create("lines");
    TCase *callback = tcase_create("callback");
    TCase *threads = tcase_create("threads");

    tcase_add_checked_fixture(lines, start_clean, start_clean);
    tcase_add_test(lines, a_line_with_no_listener_goes_nowhere);
    tcase_add_test(lines, the_listener_gets_level_line_and_its_pointer);
    tcase_add_test(lines, null_takes_the_listener_away);
    tcase_add_test(lines, a_line_of_511_bytes_is_whole_and_a_longer_one_is_cut);
    tcase_add_test(lines, a_line_is_cut_between_two_characters);
    suite_add_tcase(suite, lines);
    tcase_add_checked_fixture(callback, start_clean, start_clean);
    tcase_add_test(callback, a_line_caused_inside_the_callback_is_dropped);
    tcase_add_test(callback, the_callback_cannot_change_the_last_error);
    tcase_add_test(callback, the_callback_may_take_itself_away);
    suite_add_tcase(suite, callback);
    tcase_add_checked_fixture(threads, start_clean, start_clean);
    tcase_add_test(threads, callback_and_pointer_are_never_mixed);
    tcase_add_test(threads, a_child_can_log_whenever_it_was_forked);
    tcase_add_test(threads, a_thread_without_a_record_logs_nothing);
    suite_add_tcase(suite, threads);
    return suite;
}

int main(void)
{
    return suite_run(log_suite());
}
