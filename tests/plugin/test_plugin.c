/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "config.h"

#include "source/plugin.h"

#include "support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ashlar/pool.h>
#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/status.h>
#include <ashlar/type.h>

#include "source/source.h"

#define MODULES  "tests/plugin/modules/.libs"
#define EXAMPLES "examples/plugin/.libs"

static char folders[2048];

static void look_in_our_folders(void)
{
    const char *top = getenv("top_builddir");

    (void)snprintf(folders, sizeof(folders), "%s/" MODULES ":%s/" EXAMPLES, top,
                   top);
    ck_assert_int_eq(setenv("ASHLAR_PLUGIN_PATH", folders, 1), 0);
}

/* Opening is refused with a status, and the sentence has all of the words. */
static void refused(const char *name, enum ashlar_status wanted,
                    const char *first, const char *second)
{
    struct ashlar_source *source = (struct ashlar_source *)&folders;
    enum ashlar_status status = ashlar_source_open(name, NULL, &source);
    const char *sentence = ashlar_last_error_message();

    ck_assert_msg(status == wanted, "%s: %s: %s", name,
                  ashlar_status_name(status), sentence);
    ck_assert_int_eq(ashlar_last_error(), wanted);
    ck_assert_msg(strstr(sentence, first) != NULL, "%s", sentence);
    ck_assert_msg(strstr(sentence, second) != NULL, "%s", sentence);
    ck_assert_ptr_eq(source, (struct ashlar_source *)&folders);
}

static struct ashlar_source *opened(const char *name, const char *options)
{
    struct ashlar_source *source = NULL;
    enum ashlar_status status = ashlar_source_open(name, options, &source);

    ck_assert_msg(status == ASHLAR_OK, "%s: %s", name,
                  ashlar_last_error_message());
    return source;
}

/* --- refused -------------------------------------------------------------- */

START_TEST(a_plugin_of_another_abi_is_refused)
{
    refused("wrong_abi", ASHLAR_ERR_NO_PLUGIN, "was built for ABI 2",
            "this library has 1");
}
END_TEST

START_TEST(a_struct_without_its_required_part_is_refused)
{
    refused("short_struct", ASHLAR_ERR_NO_PLUGIN, "has 16 bytes", "required");
}
END_TEST

START_TEST(a_file_without_the_symbol_is_refused)
{
    refused("no_symbol", ASHLAR_ERR_NO_PLUGIN, "does not export",
            "ashlar_plugin_v1");
}
END_TEST

START_TEST(a_failing_open_is_told_in_the_plugins_words)
{
    refused("open_fails", ASHLAR_ERR_NO_DRIVER, "libnothing.so.7 is not there",
            "(ENOENT)");
}
END_TEST

START_TEST(an_open_that_fails_without_a_word_does_not_repeat_the_last_error)
{
    refused("no_such_plugin", ASHLAR_ERR_NO_PLUGIN, "no source is called",
            "no_such_plugin");
    refused("speechless", ASHLAR_ERR_DRIVER, "\"speechless\" could not be",
            "does not say why");
}
END_TEST

START_TEST(half_a_group_is_refused)
{
    refused("half_group", ASHLAR_ERR_NO_PLUGIN, "1 of the 7 functions",
            "\"ranges\"");
}
END_TEST

START_TEST(a_plugin_of_another_name_is_refused)
{
    refused("other_name", ASHLAR_ERR_NO_PLUGIN, "for a plug-in \"other_name\"",
            "calls itself \"somebody_else\"");
}
END_TEST

START_TEST(an_undefined_symbol_is_named)
{
    refused("undefined", ASHLAR_ERR_NO_PLUGIN, "cannot load",
            "nothing_has_this_function");
}
END_TEST

START_TEST(a_symbol_of_a_dependency_does_not_count)
{
    refused("shallow", ASHLAR_ERR_NO_PLUGIN, "no symbol ashlar_plugin_v1",
            "linked to a library that has");
}
END_TEST

START_TEST(a_plugin_that_claims_what_it_has_no_function_for_is_refused)
{
    refused("boaster", ASHLAR_ERR_NO_PLUGIN, "says that it can do 0x4",
            "functions for 0x0");
}
END_TEST

START_TEST(a_missing_file_is_told_with_the_places_looked_at)
{
    refused("missing", ASHLAR_ERR_NO_PLUGIN, "no ashlar_missing.so",
            "ASHLAR_PLUGIN_PATH");
}
END_TEST

START_TEST(names_that_could_be_paths_are_refused)
{
    refused("../memfd", ASHLAR_ERR_INVALID, "\"../memfd\" is no name", "a-z");
    refused("", ASHLAR_ERR_INVALID, "\"\" is no name", "a-z");
    refused("Memfd", ASHLAR_ERR_INVALID, "\"Memfd\" is no name", "a-z");
    refused("a_name_of_more_than_thirty_one_characters", ASHLAR_ERR_INVALID,
            "is no name", "1 to 31");
}
END_TEST

/* A folder with one file; what it holds is told by its name. */
static char *folder_with(const char *file, const char *content)
{
    char folder[] = "/tmp/ashlar-test-XXXXXX";
    static char path[sizeof(folder) + 64];
    FILE *stream;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/%s", folder, file);
    stream = fopen(path, "w");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(content, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
    ck_assert_int_eq(setenv("ASHLAR_PLUGIN_PATH", folder, 1), 0);
    return path;
}

static void remove_folder_of(char *path)
{
    ck_assert_int_eq(unlink(path), 0);
    *strrchr(path, '/') = '\0';
    ck_assert_int_eq(rmdir(path), 0);
}

START_TEST(a_file_that_is_no_shared_object_is_refused_in_the_linkers_words)
{
    char *path = folder_with("ashlar_text.so",
                             "This is no shared object, though it is long "
                             "enough to be taken for the head of one.\n");

    refused("text", ASHLAR_ERR_NO_PLUGIN, "ashlar_text.so\": ", "ELF");
    remove_folder_of(path);
}
END_TEST

START_TEST(an_empty_file_is_refused)
{
    char *path = folder_with("ashlar_empty.so", "");

    refused("empty", ASHLAR_ERR_NO_PLUGIN, "ashlar_empty.so\": ", "too short");
    remove_folder_of(path);
}
END_TEST

/* --- loaded --------------------------------------------------------------- */

START_TEST(a_longer_struct_from_the_future_loads)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source = opened("future", NULL);

    ck_assert_int_eq(ashlar_source_query(source, &info), ASHLAR_OK);
    ck_assert_str_eq(info.version, "9");
    ck_assert_uint_eq(info.can, 0);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

START_TEST(a_shorter_struct_from_the_past_loads_with_what_it_has)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source = opened("older", NULL);
    struct ashlar_range *range;

    ck_assert_int_eq(ashlar_source_query(source, &info), ASHLAR_OK);
    ck_assert_str_eq(info.version, "0.9");
    ck_assert_uint_eq(info.can, 0);
    ck_assert_int_eq(ashlar_range_create(source, NULL, &range),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

START_TEST(every_member_of_a_checked_copy_can_be_called)
{
    struct ashlar_plugin own;
    size_t done = 1;
    uint64_t can;

    ck_assert_int_eq(plugin_check(&heap_plugin, "heap", &own, &can), ASHLAR_OK);
    ck_assert_uint_eq(can, ASHLAR_CAN_BLOCKS);
    ck_assert_int_eq(own.map(NULL, 0, 0, 0), ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(own.copy(NULL, 0, 0, 0, 0), ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(own.scatter_load(NULL), ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(own.fence_query(NULL, 0), ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(own.encode_many(NULL, NULL, 0, NULL, 1, &done),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert_uint_eq(done, 0);
    ck_assert_int_eq(own.encode_rebase(NULL, NULL, 0), ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(own.chunk_import(NULL, 0, 0, 0, NULL),
                     ASHLAR_ERR_UNSUPPORTED);
    own.fence_drop(NULL, 0);
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), "export"));
    ck_assert_int_eq(plugin_check(&vm_plugin, "vm", &own, &can), ASHLAR_OK);
    ck_assert_uint_eq(own.block_usable(NULL, 1, 1), 0);
    ck_assert_ptr_null(own.block_alloc(NULL, 1, 1));
    own.block_free(NULL, NULL, 1, 1);
    own.block_purge(NULL, NULL, 1);
}
END_TEST

START_TEST(ranges_grow_on_a_plugin_as_on_vm)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_source *source = opened("memfd", NULL);
    struct ashlar_range *range;
    char *bytes;

    options.reserve_bytes = 1 << 20;
    ck_assert_int_eq(ashlar_range_create(source, &options, &range), ASHLAR_OK);
    ck_assert_int_eq(ashlar_range_grow_to(range, 65536, &result), ASHLAR_OK);
    bytes = (char *)(uintptr_t)result.base;
    strcpy(bytes, "kept");
    ck_assert_int_eq(ashlar_range_grow_to(range, 1 << 20, &result), ASHLAR_OK);
    ck_assert_ptr_eq((char *)(uintptr_t)result.base, bytes);
    ck_assert_uint_eq(result.path, ASHLAR_RANGE_PATH_IN_RESERVATION);
    ck_assert_str_eq(bytes, "kept");
    bytes[(1 << 20) - 1] = 1;
    ck_assert_int_eq(ashlar_range_destroy(range, ASHLAR_QUIET, 1), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

START_TEST(pools_stand_on_the_blocks_of_a_plugin)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_source *source = opened("guard", "fill=165");
    struct ashlar_pool *pool;
    unsigned char *slot;

    options.source = source;
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &pool),
        ASHLAR_OK);
    slot = ashlar_pool_get(pool);
    ck_assert_ptr_nonnull(slot);
    ck_assert_uint_eq((uintptr_t)slot % 128, 0);
    memset(slot, 1, 128);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(ashlar_pool_put(pool, slot), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

START_TEST(pools_stand_on_the_ranges_of_a_plugin)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_source *source = opened("memfd", NULL);
    struct ashlar_pool *pool;
    void *slots[1000];

    options.source = source;
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &pool),
        ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_get_bulk(pool, slots, 1000), ASHLAR_OK);
    memset(slots[999], 1, 128);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, slots, 1000, NULL), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

/* --- options -------------------------------------------------------------- */

static void option_refused(const char *name, const char *options,
                           const char *words)
{
    struct ashlar_source *source;

    ck_assert_int_eq(ashlar_source_open(name, options, &source),
                     ASHLAR_ERR_INVALID);
    ck_assert_msg(strstr(ashlar_last_error_message(), words) != NULL, "%s",
                  ashlar_last_error_message());
}

START_TEST(options_are_told_apart_before_a_plugin_sees_them)
{
    option_refused("guard", "fill", "\"fill\" is no key=value");
    option_refused("guard", "=1", "\"=1\" is no key=value");
    option_refused("guard", "fill=1,", "\"\" is no key=value");
    option_refused("guard", "fill=1,fill=2", "\"fill\" is given twice");
    option_refused(
        "guard",
        "a=,b=,c=,d=,e=,f=,g=,h=,i=,j=,k=,l=,m=,n=,o=,p=,q=", "more than 16");
}
END_TEST

START_TEST(unknown_options_and_bad_values_are_told_with_their_names)
{
    option_refused("guard", "colour=red", "guard has no option \"colour\"");
    option_refused("guard", "fill=256", "fill is \"256\"");
    option_refused("heap", "a=b", "\"heap\" has no options");
    option_refused("vm", "granule=3M", "granule is \"3M\"");
    option_refused("vm", "memory=", "memory is \"\"");
    option_refused("vm", "huge=maybe", "huge is \"maybe\"");
    option_refused("vm", "colour=red", "no option \"colour\"");
}
END_TEST

START_TEST(null_arguments_are_refused)
{
    struct ashlar_source *source;

    ck_assert_int_eq(ashlar_source_open(NULL, NULL, &source),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_source_open("heap", NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_source_close(NULL), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_source_list(NULL, NULL), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_source_query_calls(NULL, NULL), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_source_query(NULL, NULL), ASHLAR_ERR_INVALID);
}
END_TEST

/* --- listed --------------------------------------------------------------- */

struct listing {
    const char *name;
    int32_t status;
    char reason[512];
    char path[512];
    char version[16];
    uint64_t groups;
    size_t seen;
};

static int note(const struct ashlar_source_candidate *candidate, void *user)
{
    struct listing *listing = user;

    ck_assert_uint_eq(candidate->size, sizeof(*candidate));
    listing->seen++;
    if (strcmp(candidate->name, listing->name) != 0)
        return 0;
    listing->status = candidate->status;
    listing->groups = candidate->groups;
    (void)snprintf(listing->reason, sizeof(listing->reason), "%s",
                   candidate->reason);
    (void)snprintf(listing->path, sizeof(listing->path), "%s", candidate->path);
    (void)snprintf(listing->version, sizeof(listing->version), "%s",
                   candidate->version);
    return 0;
}

static struct listing listed(const char *name)
{
    struct listing listing = {.name = name, .status = 1};

    ck_assert_int_eq(ashlar_source_list(note, &listing), ASHLAR_OK);
    ck_assert_msg(listing.status != 1, "%s is not listed", name);
    return listing;
}

START_TEST(what_can_be_opened_is_listed)
{
    struct listing memfd = listed("memfd");
    struct listing heap = listed("heap");

    ck_assert_int_eq(memfd.status, ASHLAR_OK);
    ck_assert_str_eq(memfd.version, "1.0");
    ck_assert_uint_eq(memfd.groups, ASHLAR_CAN_RANGES);
    ck_assert_ptr_nonnull(strstr(memfd.path, "/ashlar_memfd.so"));
    ck_assert_str_eq(memfd.reason, "");
    ck_assert_int_eq(heap.status, ASHLAR_OK);
    ck_assert_str_eq(heap.path, "");
    ck_assert_uint_eq(heap.groups, ASHLAR_CAN_BLOCKS);
    ck_assert_uint_eq(heap.seen, memfd.seen);
}
END_TEST

START_TEST(what_is_refused_is_listed_with_the_reason)
{
    struct listing half = listed("half_group");

    ck_assert_int_eq(half.status, ASHLAR_ERR_NO_PLUGIN);
    ck_assert_ptr_nonnull(strstr(half.reason, "1 of the 7 functions"));
    ck_assert_ptr_nonnull(strstr(half.path, "/ashlar_half_group.so"));
    ck_assert_str_eq(half.version, "");
}
END_TEST

START_TEST(listing_leaves_the_last_error_alone)
{
    ck_assert_int_eq(ashlar_source_close(NULL), ASHLAR_ERR_INVALID);
    (void)listed("half_group");
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_INVALID);
    ck_assert_ptr_nonnull(
        strstr(ashlar_last_error_message(), "ashlar_source_close"));
}
END_TEST

static int end_at_once(const struct ashlar_source_candidate *candidate,
                       void *user)
{
    (void)candidate;
    ++*(int *)user;
    return 1;
}

START_TEST(a_listing_ends_when_it_is_told_to)
{
    int calls = 0;

    ck_assert_int_eq(ashlar_source_list(end_at_once, &calls), ASHLAR_OK);
    ck_assert_int_eq(calls, 1);
}
END_TEST

/* --- calls ---------------------------------------------------------------- */

START_TEST(calls_into_a_source_are_counted_and_timed_on_demand)
{
    struct ashlar_source_calls calls = ASHLAR_SOURCE_CALLS_INIT;
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_source *source = opened("vm", "granule=64K,memory=1M");
    struct ashlar_range *range;

    options.reserve_bytes = 4 << 20;
    ck_assert_int_eq(ashlar_range_create(source, &options, &range), ASHLAR_OK);
    ck_assert_int_eq(ashlar_range_grow_to(range, 65536, NULL), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_query_calls(source, &calls), ASHLAR_OK);
    ck_assert_uint_eq(calls.reserve.count, 1);
    ck_assert_uint_eq(calls.create.count, 1);
    ck_assert_uint_eq(calls.map.count, 1);
    ck_assert_uint_eq(calls.allow.count, 1);
    ck_assert_uint_eq(calls.create.ns, 0);
    ashlar_source_time_calls(source, 1);
    ck_assert_int_eq(ashlar_range_grow_to(range, 3 << 20, NULL),
                     ASHLAR_ERR_NO_DEVICE_MEMORY);
    ck_assert_int_eq(ashlar_source_query_calls(source, &calls), ASHLAR_OK);
    ck_assert_uint_eq(calls.create.count, 2);
    ck_assert_uint_eq(calls.create.refused, 1);
    ck_assert_uint_gt(calls.create.ns, 0);
    ashlar_source_time_calls(source, 0);
    ck_assert_int_eq(ashlar_range_destroy(range, ASHLAR_QUIET, 1), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_query_calls(source, &calls), ASHLAR_OK);
    ck_assert_uint_eq(calls.release.count, 1);
    ck_assert_uint_eq(calls.release.ns, 0);
    ck_assert_uint_eq(calls.destroy.count, 1);
    ck_assert_uint_eq(calls.unmap.count, 1);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

static void add_refused(Suite *suite)
{
    TCase *tcase = tcase_create("refused");

    tcase_add_checked_fixture(tcase, look_in_our_folders, NULL);
    tcase_add_test(tcase, a_plugin_of_another_abi_is_refused);
    tcase_add_test(tcase, a_struct_without_its_required_part_is_refused);
    tcase_add_test(tcase, a_file_without_the_symbol_is_refused);
    tcase_add_test(tcase, a_failing_open_is_told_in_the_plugins_words);
    tcase_add_test(
        tcase,
        an_open_that_fails_without_a_word_does_not_repeat_the_last_error);
    tcase_add_test(tcase, half_a_group_is_refused);
    tcase_add_test(tcase, a_plugin_of_another_name_is_refused);
    tcase_add_test(tcase, an_undefined_symbol_is_named);
    tcase_add_test(tcase, a_symbol_of_a_dependency_does_not_count);
    tcase_add_test(tcase,
                   a_plugin_that_claims_what_it_has_no_function_for_is_refused);
    tcase_add_test(tcase, a_missing_file_is_told_with_the_places_looked_at);
    tcase_add_test(tcase, names_that_could_be_paths_are_refused);
    tcase_add_test(
        tcase, a_file_that_is_no_shared_object_is_refused_in_the_linkers_words);
    tcase_add_test(tcase, an_empty_file_is_refused);
    suite_add_tcase(suite, tcase);
}

static void add_loaded(Suite *suite)
{
    TCase *tcase = tcase_create("loaded");

    tcase_add_checked_fixture(tcase, look_in_our_folders, NULL);
    tcase_add_test(tcase, a_longer_struct_from_the_future_loads);
    tcase_add_test(tcase,
                   a_shorter_struct_from_the_past_loads_with_what_it_has);
    tcase_add_test(tcase, every_member_of_a_checked_copy_can_be_called);
    tcase_add_test(tcase, ranges_grow_on_a_plugin_as_on_vm);
    tcase_add_test(tcase, pools_stand_on_the_blocks_of_a_plugin);
    tcase_add_test(tcase, pools_stand_on_the_ranges_of_a_plugin);
    suite_add_tcase(suite, tcase);
}

static Suite *plugin_suite(void)
{
    Suite *suite = suite_create("plugin");
    TCase *options = tcase_create("options");
    TCase *listed_ones = tcase_create("listed");
    TCase *calls = tcase_create("calls");

    add_refused(suite);
    add_loaded(suite);
    tcase_add_checked_fixture(options, look_in_our_folders, NULL);
    tcase_add_test(options, options_are_told_apart_before_a_plugin_sees_them);
    tcase_add_test(options,
                   unknown_options_and_bad_values_are_told_with_their_names);
    tcase_add_test(options, null_arguments_are_refused);
    suite_add_tcase(suite, options);
    tcase_add_checked_fixture(listed_ones, look_in_our_folders, NULL);
    tcase_add_test(listed_ones, what_can_be_opened_is_listed);
    tcase_add_test(listed_ones, what_is_refused_is_listed_with_the_reason);
    tcase_add_test(listed_ones, listing_leaves_the_last_error_alone);
    tcase_add_test(listed_ones, a_listing_ends_when_it_is_told_to);
    suite_add_tcase(suite, listed_ones);
    tcase_add_test(calls, calls_into_a_source_are_counted_and_timed_on_demand);
    suite_add_tcase(suite, calls);
    return suite;
}

int main(void)
{
    const char *top = getenv("top_builddir");
    char path[2048];

    if (top == NULL)
        return suite_skip("top_builddir is not set: run this by make check");
    (void)snprintf(path, sizeof(path), "%s/" MODULES "/ashlar_older.so", top);
    if (access(path, R_OK) != 0)
        return suite_skip("no plug-ins were built: --disable-shared");
    return suite_run(plugin_suite());
}
