/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The reports, and the bounded text and JSON writer beneath them.
 */
#include "config.h"

#include "support/suite.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar.h>

#include "observe/json.h"
#include "observe/text.h"

/* --- a strict reader of JSON: RFC 8259 and nothing more ------------------ */

static const char *skip_value(const char *at);

static const char *skip_space(const char *at)
{
    return at == NULL ? NULL : at + strspn(at, " \t\n\r");
}

static const char *skip_string(const char *at)
{
    if (at == NULL || *at++ != '"')
        return NULL;
    while (*at != '"') {
        size_t n = text_utf8(at);

        if (n == 0 || (unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\') {
            if (at[1] == 'u' && strspn(at + 2, "0123456789abcdefABCDEF") >= 4)
                n = 6;
            else if (at[1] != '\0' && strchr("\"\\/bfnrt", at[1]) != NULL)
                n = 2;
            else
                return NULL;
        }
        at += n;
    }
    return at + 1;
}

/* Unsigned integers are all that the library writes. */
static const char *skip_number(const char *at)
{
    size_t digits = strspn(at, "0123456789");

    return digits == 0 || (digits > 1 && at[0] == '0') ? NULL : at + digits;
}

static const char *skip_members(const char *at, char end)
{
    at = skip_space(at + 1);
    if (*at == end)
        return at + 1;
    for (;;) {
        if (end == '}') {
            at = skip_space(skip_string(skip_space(at)));
            if (at == NULL || *at++ != ':')
                return NULL;
        }
        at = skip_space(skip_value(skip_space(at)));
        if (at == NULL || (*at != ',' && *at != end))
            return NULL;
        if (*at++ == end)
            return at;
    }
}

static const char *skip_value(const char *at)
{
    switch (*at) {
    case '{':
        return skip_members(at, '}');
    case '[':
        return skip_members(at, ']');
    case '"':
        return skip_string(at);
    default:
        return skip_number(at);
    }
}

static bool is_json(const char *string)
{
    const char *end = skip_space(skip_value(skip_space(string)));

    return end != NULL && *end == '\0';
}

/* --- helpers -------------------------------------------------------------- */

#define MAPS   "\"maps\"\\ \t\x01\xc3\xa4\xff"
#define MAPS_J "\"\\\"maps\\\"\\\\ \\t\\u0001\xc3\xa4\xef\xbf\xbd\""
#define MAPS_T "\"maps\"\\ ??\xc3\xa4?"

typedef size_t report_fn(char *buffer, size_t bytes);

static char *whole_report(report_fn *report)
{
    size_t length = report(NULL, 0);
    char *buffer = malloc(length + 1);

    ck_assert_ptr_nonnull(buffer);
    ck_assert_uint_eq(report(buffer, length + 1), length);
    ck_assert_uint_eq(strlen(buffer), length);
    return buffer;
}

/* Every room from none to one byte more than is needed. */
static void check_every_cut(report_fn *report)
{
    char *whole = whole_report(report);
    size_t length = strlen(whole);

    for (size_t bytes = 0; bytes <= length + 2; bytes++) {
        char *buffer = malloc(bytes + 1);
        size_t kept = bytes <= length ? bytes - 1 : length;

        ck_assert_ptr_nonnull(buffer);
        memset(buffer, '#', bytes + 1);
        ck_assert_uint_eq(report(buffer, bytes), length);
        ck_assert_int_eq(buffer[bytes], '#');
        if (bytes > 0) {
            ck_assert_mem_eq(buffer, whole, kept);
            ck_assert_int_eq(buffer[kept], '\0');
        }
        free(buffer);
    }
    free(whole);
}

static struct ashlar_pool *make_pool(const char *name, size_t max_slots)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;

    options.name = name;
    options.max_slots = max_slots;
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &pool),
        ASHLAR_OK);
    return pool;
}

static void drop_pool(struct ashlar_pool *pool)
{
    ck_assert_int_eq(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE), ASHLAR_OK);
}

/* --- text ----------------------------------------------------------------- */

static size_t write_mixed(char *buffer, size_t bytes)
{
    struct text text;

    text_start(&text, buffer, bytes);
    text_say(&text, "slots ");
    text_format(&text, "%d of %d", 3, 10);
    text_add(&text, "\0z", 2);
    text_say(&text, "");
    text_column(&text, "a name", 9);
    text_count(&text, 1234567, 8);
    text_bytes(&text, 3 << 20, 10);
    return text.length;
}

START_TEST(text_is_cut_to_fit_and_says_its_full_length)
{
    static const char whole[] = "slots 3 of 10\0z"
                                "a name      1.23M  3.00 MiB";

    for (size_t bytes = 0; bytes <= sizeof(whole) + 1; bytes++) {
        char buffer[sizeof(whole) + 2];

        memset(buffer, '#', sizeof(buffer));
        ck_assert_uint_eq(write_mixed(bytes > 0 ? buffer : NULL, bytes),
                          sizeof(whole) - 1);
        ck_assert_int_eq(buffer[bytes], '#');
        if (bytes > 0) {
            size_t kept = bytes < sizeof(whole) ? bytes : sizeof(whole);

            ck_assert_mem_eq(buffer, whole, kept - 1);
            ck_assert_int_eq(buffer[kept - 1], '\0');
        }
    }
}
END_TEST

static void check_column(const char *string, size_t width, const char *want)
{
    char buffer[128];
    struct text text;

    text_start(&text, buffer, sizeof(buffer));
    text_column(&text, string, width);
    ck_assert_str_eq(buffer, want);
}

START_TEST(columns_are_filled_cut_and_cleaned)
{
    check_column("", 4, "    ");
    check_column("ab", 4, "ab  ");
    check_column("abcd", 4, "abcd");
    check_column("abcde", 4, "a...");
    check_column("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 4,
                 "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 ");
    check_column("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80zz", 4, "\xc3\xa4...");
    check_column("\x1b[31m", 6, "?[31m ");
    check_column("a\nb\x7f\xc2\x9b", 6, "a?b?? ");
    check_column("\xff\xc3", 4, "??  ");
}
END_TEST

static void check_number(void (*add)(struct text *, uint64_t, size_t),
                         uint64_t number, size_t width, const char *want)
{
    char buffer[64];
    struct text text;

    text_start(&text, buffer, sizeof(buffer));
    add(&text, number, width);
    ck_assert_str_eq(buffer, want);
}

START_TEST(counts_fit_seven_columns)
{
    check_number(text_count, 0, 7, "      0");
    check_number(text_count, 999999, 7, " 999999");
    check_number(text_count, 1000000, 7, "  1.00M");
    check_number(text_count, 12399999, 7, "  12.3M");
    check_number(text_count, 999999999, 7, "   999M");
    check_number(text_count, UINT32_MAX, 7, "  4.29G");
    check_number(text_count, UINT64_MAX, 7, "  18.4E");
    check_number(text_count, 12, 0, "12");
}
END_TEST

START_TEST(bytes_have_units_and_fit_nine_columns)
{
    check_number(text_bytes, 0, 9, "      0 B");
    check_number(text_bytes, 1023, 9, "   1023 B");
    check_number(text_bytes, 1024, 9, " 1.00 KiB");
    check_number(text_bytes, 1024 * 1024 - 1, 9, " 1023 KiB");
    check_number(text_bytes, 3 << 19, 9, " 1.50 MiB");
    check_number(text_bytes, (uint64_t)70 << 30, 9, " 70.0 GiB");
    check_number(text_bytes, UINT64_MAX, 9, " 15.9 EiB");
    check_number(text_bytes, 5 << 10, 0, "5.00 KiB");
}
END_TEST

START_TEST(utf8_is_told_from_what_is_not)
{
    static const struct {
        const char *string;
        size_t want;
    } cases[] = {
        {"", 0},
        {"a", 1},
        {"\x7f", 1},
        {"\x80", 0},             /* a tail without a head */
        {"\xc0\x80", 0},         /* overlong */
        {"\xc1\xbf", 0},         /* overlong */
        {"\xc2\x80", 2},         /* the least of two bytes */
        {"\xdf\xbf", 2},         /* the last */
        {"\xc3", 0},             /* cut */
        {"\xc3(", 0},            /* no tail */
        {"\xe0\x9f\xbf", 0},     /* overlong */
        {"\xe0\xa0\x80", 3},     /* the least of three bytes */
        {"\xed\x9f\xbf", 3},     /* before the surrogates */
        {"\xed\xa0\x80", 0},     /* a surrogate */
        {"\xee\x80\x80", 3},     /* behind them */
        {"\xe2\x82", 0},         /* cut */
        {"\xf0\x8f\xbf\xbf", 0}, /* overlong */
        {"\xf0\x90\x80\x80", 4}, /* the least of four bytes */
        {"\xf4\x8f\xbf\xbf", 4}, /* U+10FFFF */
        {"\xf4\x90\x80\x80", 0}, /* above */
        {"\xf0\x9f\x98", 0},     /* cut */
        {"\xf5\x80\x80\x80", 0},
        {"\xff", 0},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(text_utf8(cases[i].string) == cases[i].want,
                      "case %zu: %zu, not %zu", i, text_utf8(cases[i].string),
                      cases[i].want);
}
END_TEST

/* --- JSON ----------------------------------------------------------------- */

START_TEST(json_has_its_commas_and_brackets)
{
    char buffer[128];
    struct text text;
    struct json json;

    text_start(&text, buffer, sizeof(buffer));
    json_start(&json, &text);
    json_open(&json, '{');
    json_key(&json, "a");
    json_open(&json, '[');
    json_close(&json, ']');
    json_key(&json, "b");
    json_open(&json, '[');
    json_number(&json, 0);
    json_string(&json, "x");
    json_open(&json, '{');
    json_close(&json, '}');
    json_number(&json, UINT64_MAX);
    json_close(&json, ']');
    json_close(&json, '}');
    ck_assert_str_eq(
        buffer, "{\"a\": [], \"b\": [0, \"x\", {}, 18446744073709551615]}");
    ck_assert(is_json(buffer));
}
END_TEST

static void check_string(const char *string, const char *want)
{
    char buffer[128];
    struct text text;
    struct json json;

    text_start(&text, buffer, sizeof(buffer));
    json_start(&json, &text);
    json_string(&json, string);
    ck_assert_str_eq(buffer, want);
    ck_assert(is_json(buffer));
}

START_TEST(json_strings_are_escaped)
{
    check_string("", "\"\"");
    check_string("a/b", "\"a/b\"");
    check_string("\"\\", "\"\\\"\\\\\"");
    check_string("\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"");
    check_string("\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\"");
    check_string("\xc3\xa4\xf0\x9f\x98\x80", "\"\xc3\xa4\xf0\x9f\x98\x80\"");
    check_string("\xff", "\"\xef\xbf\xbd\"");
    check_string("\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xed\xa0\x80z", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\"");
    check_string(MAPS, MAPS_J);
}
END_TEST

START_TEST(every_single_byte_makes_a_valid_json_string)
{
    for (int byte = 1; byte <= 255; byte++) {
        char string[3] = {(char)byte, (char)(256 - byte), '\0'};
        char buffer[64];
        struct text text;
        struct json json;

        text_start(&text, buffer, sizeof(buffer));
        json_start(&json, &text);
        json_string(&json, string);
        ck_assert_msg(is_json(buffer), "byte %d gives %s", byte, buffer);
    }
}
END_TEST

/* The reader above must be able to say no, or its yes means nothing. */
START_TEST(the_json_reader_of_this_test_refuses_what_is_no_json)
{
    static const char *const bad[] = {
        "",         "{",      "[1",          "[1,]",       "{\"a\"}",
        "{\"a\":}", "{a: 1}", "\"\t\"",      "\"\\x\"",    "\"\\u00g0\"",
        "01",       "[1 2]",  "{} {}",       "\"\xff\"",   "[1}",
        "\"",       "\"\\\"", "{\"a\": 1,}", "[\"a\": 1]", "nul",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        ck_assert_msg(!is_json(bad[i]), "accepted: %s", bad[i]);
}
END_TEST

/* --- the reports ---------------------------------------------------------- */

START_TEST(without_pools_the_reports_say_so)
{
    char *text = whole_report(ashlar_report_text);
    char *json = whole_report(ashlar_report_json);

    ck_assert_str_eq(text, "ashlar " ASHLAR_VERSION_STRING ": 0 pools\n");
    ck_assert_str_eq(json, "{\"version\": \"" ASHLAR_VERSION_STRING
                           "\", \"pools\": [], \"arenas\": []}\n");
    free(text);
    free(json);
}
END_TEST

START_TEST(json_has_each_member_of_the_statistics)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_pool *pool = make_pool(MAPS, 1000);
    char want[1024];
    void *slots[3];
    char *json;

    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 3), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put(pool, slots), ASHLAR_ERR_WRONG_OWNER);
    ck_assert_int_eq(ashlar_pool_query(pool, &stats), ASHLAR_OK);
    ck_assert_uint_eq(stats.live_slots, 3);
    ck_assert_uint_eq(stats.refusals, 1);
    snprintf(want, sizeof(want),
             "{\"name\": " MAPS_J ", \"type\": \"CUtensorMap\", "
             "\"live_slots\": %zu, \"cached_slots\": %zu, "
             "\"free_slots\": %zu, \"capacity_slots\": %zu, "
             "\"peak_slots\": %zu, \"max_slots\": %zu, "
             "\"promised_slots\": %zu, \"live_runs\": %zu, "
             "\"free_runs\": %zu, \"stride\": %zu, \"slab_bytes\": %zu, "
             "\"waste_bytes\": %zu, \"bookkeeping_bytes\": %zu, "
             "\"slabs\": %zu, \"caches\": %zu, ",
             stats.live_slots, stats.cached_slots, stats.free_slots,
             stats.capacity_slots, stats.peak_slots, stats.max_slots,
             stats.promised_slots, stats.live_runs, stats.free_runs,
             stats.stride, stats.slab_bytes, stats.waste_bytes,
             stats.bookkeeping_bytes, stats.slabs, stats.caches);
    json = whole_report(ashlar_report_json);
    ck_assert(is_json(json));
    ck_assert_msg(strstr(json, want) != NULL, "%s\nlacks\n%s", json, want);
    ck_assert_ptr_nonnull(strstr(
        json, "\"refusals\": 1, \"duplicates\": 0, \"waiting_slots\": 0}"));
    free(json);
    drop_pool(pool);
}
END_TEST

/* Code points of the longest line. */
static size_t longest_line(const char *text)
{
    size_t longest = 0;
    size_t columns = 0;

    for (; *text != '\0'; text++) {
        if (*text == '\n') {
            longest = columns > longest ? columns : longest;
            columns = 0;
        } else if (((unsigned char)*text & 0xc0) != 0x80)
            columns++;
    }
    return columns > longest ? columns : longest;
}

START_TEST(text_names_each_pool_in_eighty_columns)
{
    struct ashlar_pool *first = make_pool(MAPS, 1000);
    struct ashlar_pool *second = make_pool(
        "a name of sixty bytes, which is far too long for a column!!", 0);
    void *slot = ashlar_pool_get(second);
    char *text;

    ck_assert_ptr_nonnull(slot);
    text = whole_report(ashlar_report_text);
    ck_assert_ptr_nonnull(strstr(text, ": 2 pools, "));
    ck_assert_ptr_nonnull(strstr(text, "\n" MAPS_T "  "));
    ck_assert_ptr_nonnull(strstr(text, "\na name of sixty bytes..."));
    ck_assert_ptr_nonnull(strstr(text, "CUtensorMap      128 B"));
    ck_assert_ptr_nonnull(strstr(text, "    none\n"));
    ck_assert_ptr_nonnull(strstr(text, "    1000\n"));
    ck_assert_uint_le(longest_line(text), 80);
    free(text);
    drop_pool(first);
    drop_pool(second);
}
END_TEST

START_TEST(a_pool_leaves_the_reports_when_it_is_destroyed)
{
    struct ashlar_pool *first = make_pool("first", 0);
    struct ashlar_pool *second = make_pool("second", 0);
    char *text;

    drop_pool(first);
    text = whole_report(ashlar_report_text);
    ck_assert_ptr_null(strstr(text, "first"));
    ck_assert_ptr_nonnull(strstr(text, "second"));
    ck_assert_ptr_nonnull(strstr(text, ": 1 pool, "));
    free(text);
    drop_pool(second);
}
END_TEST

START_TEST(arenas_are_in_both_reports)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena;
    char *text;
    void *block;

    options.name = "workspaces";
    options.flags = ASHLAR_ARENA_ISOLATED;
    ck_assert_int_eq(ashlar_arena_create(&options, &arena), ASHLAR_OK);
    block = ashlar_arena_alloc(arena, 100, 0);
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 0, 0));
    text = whole_report(ashlar_report_text);
    ck_assert_ptr_nonnull(strstr(text, "\nworkspaces           isolated      1"
                                       "       0"));
    ck_assert_uint_le(longest_line(text), 80);
    free(text);
    text = whole_report(ashlar_report_json);
    ck_assert_ptr_nonnull(
        strstr(text, "\"arenas\": [{\"name\": \"workspaces\", \"kind\": "
                     "\"isolated\", \"live_blocks\": 1, "
                     "\"waiting_blocks\": 0, \"refusals\": 1,"));
    free(text);
    check_every_cut(ashlar_report_text);
    check_every_cut(ashlar_report_json);
    ck_assert_int_eq(ashlar_arena_free(arena, block), ASHLAR_OK);
    ck_assert_int_eq(ashlar_arena_destroy(arena, 0), ASHLAR_OK);
}
END_TEST

START_TEST(reports_are_cut_to_fit_at_every_length)
{
    struct ashlar_pool *first = make_pool(MAPS, 0);
    struct ashlar_pool *second = make_pool(NULL, 64);

    check_every_cut(ashlar_report_text);
    check_every_cut(ashlar_report_json);
    drop_pool(first);
    drop_pool(second);
}
END_TEST

START_TEST(reports_leave_the_last_error_alone)
{
    struct ashlar_pool *pool = make_pool("pool", 0);

    ck_assert_ptr_null(ashlar_type_find("nobody knows"));
    free(whole_report(ashlar_report_text));
    free(whole_report(ashlar_report_json));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NOT_FOUND);
    drop_pool(pool);
}
END_TEST

static void add_case(Suite *suite, const char *name, const TTest *const *tests)
{
    TCase *tcase = tcase_create(name);

    for (; *tests != NULL; tests++)
        tcase_add_test(tcase, *tests);
    suite_add_tcase(suite, tcase);
}

int main(void)
{
    Suite *suite = suite_create("report");

    add_case(suite, "text",
             (const TTest *const[]){text_is_cut_to_fit_and_says_its_full_length,
                                    columns_are_filled_cut_and_cleaned,
                                    counts_fit_seven_columns,
                                    bytes_have_units_and_fit_nine_columns,
                                    utf8_is_told_from_what_is_not, NULL});
    add_case(suite, "json",
             (const TTest *const[]){
                 json_has_its_commas_and_brackets, json_strings_are_escaped,
                 every_single_byte_makes_a_valid_json_string,
                 the_json_reader_of_this_test_refuses_what_is_no_json, NULL});
    add_case(
        suite, "report",
        (const TTest *const[]){without_pools_the_reports_say_so,
                               json_has_each_member_of_the_statistics,
                               text_names_each_pool_in_eighty_columns,
                               a_pool_leaves_the_reports_when_it_is_destroyed,
                               arenas_are_in_both_reports,
                               reports_are_cut_to_fit_at_every_length,
                               reports_leave_the_last_error_alone, NULL});
    return suite_run(suite);
}
