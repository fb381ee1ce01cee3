/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/source.h"

#include "support/engine.h"
#include "support/ranges.h"

#include <string.h>

#include "base/memory.h"

/* --- a plug-in that takes down what it is told ---------------------------- */

static struct {
    char text[512]; /* "key=value;" for each option */
    unsigned opened;
    unsigned closed;
    enum ashlar_status answer;
    const char *reason; /* NULL: none is given */
    struct ashlar_plugin_info info;
} seen;

static enum ashlar_status note_open(const struct ashlar_host *host,
                                    const struct ashlar_plugin_option *options,
                                    size_t option_count,
                                    struct ashlar_plugin_info *info,
                                    void **state_out)
{
    size_t i;

    seen.opened++;
    seen.text[0] = '\0';
    for (i = 0; i < option_count; i++) {
        (void)strncat(seen.text, options[i].key, 99);
        (void)strcat(seen.text, "=");
        (void)strncat(seen.text, options[i].value, 99);
        (void)strcat(seen.text, ";");
    }
    ck_assert_uint_eq(info->size, sizeof(*info));
    ck_assert_uint_eq(info->can + info->granule + info->memory_bytes, 0);
    if (seen.answer != ASHLAR_OK && seen.reason != NULL)
        return (*host->fail)(seen.answer, "%s", seen.reason);
    if (seen.answer != ASHLAR_OK)
        return seen.answer;
    seen.info.size = info->size;
    *info = seen.info;
    *state_out = &seen;
    return ASHLAR_OK;
}

static void note_close(void *state)
{
    ck_assert_ptr_eq(state, &seen);
    seen.closed++;
}

static const struct ashlar_plugin noting = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "noting",
    .open = note_open,
    .close = note_close,
};

static struct ashlar_source *source;

static void forget(void)
{
    memset(&seen, 0, sizeof(seen));
    source = NULL;
}

static enum ashlar_status open_noting(const char *options)
{
    return source_open_plugin(&noting, "noting", options, &source);
}

/* --- options -------------------------------------------------------------- */

START_TEST(options_reach_the_plug_in_in_order)
{
    static const struct {
        const char *given;
        const char *seen;
    } cases[] = {
        {NULL, ""},
        {"", ""},
        {"a=1", "a=1;"},
        {"a=1,b=", "a=1;b=;"},
        {"device=0,peers=1:2,path=/x=y", "device=0;peers=1:2;path=/x=y;"},
    };
    unsigned i;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OK(open_noting(cases[i].given));
        ck_assert_str_eq(seen.text, cases[i].seen);
        OK(ashlar_source_close(source));
    }
    ck_assert_uint_eq(seen.closed, seen.opened);
}
END_TEST

START_TEST(bad_options_do_not_reach_it)
{
    REFUSED(ASHLAR_ERR_INVALID, "\"a\" is no key=value", open_noting("a"));
    REFUSED(ASHLAR_ERR_INVALID, "\"\" is no key=value", open_noting(","));
    REFUSED(ASHLAR_ERR_INVALID, "\"a\" is given twice",
            open_noting("a=1,b=2,a=3"));
    REFUSED(ASHLAR_ERR_INVALID, "more than 16",
            open_noting("a=,b=,c=,d=,e=,f=,g=,h=,i=,j=,k=,l=,m=,n=,o=,p=,q="));
    ck_assert_uint_eq(seen.opened, 0);
    ck_assert_ptr_null(source);
}
END_TEST

/* --- opening -------------------------------------------------------------- */

START_TEST(a_plug_in_that_fails_to_open_says_why)
{
    seen.answer = ASHLAR_ERR_NO_DRIVER;
    seen.reason = "no such driver";
    REFUSED(ASHLAR_ERR_NO_DRIVER, "no such driver", open_noting(NULL));
    ck_assert_int_eq(ashlar_source_open(NULL, NULL, &source),
                     ASHLAR_ERR_INVALID);
    seen.reason = NULL;
    REFUSED(ASHLAR_ERR_NO_DRIVER, "does not say why", open_noting(NULL));
    ck_assert_ptr_null(source);
    ck_assert_uint_eq(seen.closed, 0);
}
END_TEST

START_TEST(claims_that_cannot_be_are_refused_and_the_source_is_closed)
{
    seen.info.can = ASHLAR_CAN_RANGES;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "says that it can do", open_noting(NULL));
    ck_assert_uint_eq(seen.closed, 1);
    seen.info.can = 0;
    OK(open_noting(NULL));
    OK(ashlar_source_close(source));
}
END_TEST

START_TEST(what_a_source_cannot_do_says_so)
{
    struct ashlar_range *range = NULL;
    uint64_t out = 7;
    int fd = -2;

    OK(open_noting(NULL));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no ranges",
            source->ops.reserve(source->state, 1, 1, 0, &out));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no ranges",
            source->ops.unmap(source->state, 1, 1));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no copies",
            source->ops.copy(source->state, 1, 1, 1, 0));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no fences",
            source->ops.fence_record(source->state, 1, &out));
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "has no export",
            source->ops.chunk_export(source->state, 1, 1, &fd, &out));
    ck_assert_ptr_null(source->ops.block_alloc(source->state, 64, 64));
    ck_assert_uint_eq(out, 7);
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "\"noting\" has no ranges",
            ashlar_range_create(source, NULL, &range));
    OK(ashlar_source_close(source));
}
END_TEST

START_TEST(without_memory_nothing_stays_open)
{
    unsigned n = 0;
    enum ashlar_status status;

    do {
        memory_fail_nth(++n, false);
        status = open_noting("a=1");
        memory_fail_nth(0, false);
        if (status != ASHLAR_OK)
            ck_assert_int_eq(status, ASHLAR_ERR_NO_MEMORY);
    } while (status != ASHLAR_OK);
    ck_assert_uint_eq(n, 3);
    OK(ashlar_source_close(source));
    ck_assert_uint_eq(seen.opened, 1);
}
END_TEST

START_TEST(null_and_unknown_names_are_refused)
{
    REFUSED(ASHLAR_ERR_INVALID, "NULL for name",
            ashlar_source_open(NULL, NULL, &source));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for source_out",
            ashlar_source_open("vm", NULL, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "\"VM\" is no name",
            ashlar_source_open("VM", NULL, &source));
    REFUSED(ASHLAR_ERR_INVALID, "is no name",
            ashlar_source_open("../vm", NULL, &source));
    REFUSED(ASHLAR_ERR_INVALID, "is no name",
            ashlar_source_open("", NULL, &source));
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "no source is called \"none_such\"",
            ashlar_source_open("none_such", NULL, &source));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for source", ashlar_source_close(NULL));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for info",
            ashlar_source_query(NULL, NULL));
    ck_assert_ptr_null(source);
}
END_TEST

START_TEST(a_source_tells_what_it_is)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    OK(ashlar_source_open("vm", engine_options(), &source));
    OK(ashlar_source_query(source, &info));
    ck_assert_str_eq(info.name, "vm");
    ck_assert_str_eq(ashlar_source_name(source), "vm");
    ck_assert_str_eq(info.path, "");
    ck_assert_uint_eq(info.can & ASHLAR_CAN_RANGES, ASHLAR_CAN_RANGES);
    ck_assert_uint_eq(info.retired_items + info.retired_bytes +
                          info.dropped_items + info.holders,
                      0);
    OK(ashlar_source_close(source));
    OK(ashlar_source_query(NULL, &info));
    ck_assert_str_eq(info.name, "heap");
    ck_assert_str_eq(ashlar_source_name(NULL), "heap");
    ck_assert_uint_eq(info.granule, 0);
}
END_TEST

static Suite *source_suite(void)
{
    Suite *suite = suite_create("source");
    TCase *test = tcase_create("source");

    tcase_add_checked_fixture(test, forget, NULL);
    tcase_add_test(test, options_reach_the_plug_in_in_order);
    tcase_add_test(test, bad_options_do_not_reach_it);
    tcase_add_test(test, a_plug_in_that_fails_to_open_says_why);
    tcase_add_test(test,
                   claims_that_cannot_be_are_refused_and_the_source_is_closed);
    tcase_add_test(test, what_a_source_cannot_do_says_so);
    tcase_add_test(test, without_memory_nothing_stays_open);
    tcase_add_test(test, null_and_unknown_names_are_refused);
    tcase_add_test(test, a_source_tells_what_it_is);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(source_suite());
}
