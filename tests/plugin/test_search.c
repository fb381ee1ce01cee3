/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Where plug-ins are looked for, in which order, and that the first file of a
 * name decides. The loader is compiled once more here, so that the folder of
 * the installation can be one of the test's.
 */
#include "config.h"

static char installed[4096];

#undef ASHLAR_PLUGIN_DIR
#define ASHLAR_PLUGIN_DIR installed
#include "source/loader.c"

#include "support/suite.h"

#include <ashlar/source.h>
#include <ashlar/status.h>

static char first[] = "/tmp/ashlar-first-XXXXXX";
static char second[] = "/tmp/ashlar-second-XXXXXX";

/* Two folders to put plug-ins in, and one that stands for the installation. */
static void make_folders(void)
{
    strcpy(first + sizeof(first) - 7, "XXXXXX");
    strcpy(second + sizeof(second) - 7, "XXXXXX");
    strcpy(installed, "/tmp/ashlar-installed-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(first));
    ck_assert_ptr_nonnull(mkdtemp(second));
    ck_assert_ptr_nonnull(mkdtemp(installed));
    ck_assert_int_eq(unsetenv(PATH_VARIABLE), 0);
}

static char *path_in(const char *folder, const char *name)
{
    static char path[2 * 4096];

    (void)snprintf(path, sizeof(path), "%s/ashlar_%s.so", folder, name);
    return path;
}

static void remove_folders(void)
{
    static const char *const names[] = {"older", "future", "text"};
    const char *folders[] = {first, second, installed};
    size_t i, k;

    for (i = 0; i < 3; i++) {
        for (k = 0; k < 3; k++)
            (void)unlink(path_in(folders[i], names[k]));
        ck_assert_int_eq(rmdir(folders[i]), 0);
    }
}

/* A plug-in of the build, under a folder, by the name of its file. */
static void put(const char *name, const char *folder)
{
    char target[4096];

    (void)snprintf(target, sizeof(target),
                   "%s/tests/plugin/modules/.libs/ashlar_%s.so",
                   getenv("top_builddir"), name);
    ck_assert_int_eq(symlink(target, path_in(folder, name)), 0);
}

static void put_text(const char *name, const char *folder)
{
    FILE *stream = fopen(path_in(folder, name), "w");

    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs("no plug-in\n", stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

static void search(const char *list)
{
    ck_assert_int_eq(setenv(PATH_VARIABLE, list, 1), 0);
}

static void search_both(void)
{
    char list[256];

    (void)snprintf(list, sizeof(list), ":%s::%s:", first, second);
    search(list);
}

/* The plug-in opens, from a folder. */
static void comes_from(const char *name, const char *folder)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source;
    enum ashlar_status status = ashlar_source_open(name, NULL, &source);

    ck_assert_msg(status == ASHLAR_OK, "%s", ashlar_last_error_message());
    ck_assert_int_eq(ashlar_source_query(source, &info), ASHLAR_OK);
    ck_assert_str_eq(info.path, path_in(folder, name));
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}

START_TEST(a_plugin_is_found_in_the_folder_of_the_installation)
{
    put("older", installed);
    comes_from("older", installed);
}
END_TEST

START_TEST(a_plugin_is_found_in_any_folder_of_the_variable)
{
    put("older", second);
    search_both();
    comes_from("older", second);
}
END_TEST

START_TEST(earlier_folders_come_first)
{
    put("older", first);
    put("older", second);
    put("older", installed);
    search_both();
    comes_from("older", first);
    ck_assert_int_eq(unlink(path_in(first, "older")), 0);
    comes_from("older", second);
    search("");
    comes_from("older", installed);
}
END_TEST

START_TEST(the_first_file_decides_also_when_it_is_refused)
{
    struct ashlar_source *source;

    put_text("older", first);
    put("older", second);
    search_both();
    ck_assert_int_eq(ashlar_source_open("older", NULL, &source),
                     ASHLAR_ERR_NO_PLUGIN);
    ck_assert_ptr_nonnull(strstr(ashlar_last_error_message(), first));
}
END_TEST

START_TEST(a_folder_beside_this_program_is_looked_in)
{
    char folder[SOURCE_FOLDER_BYTES];

    ck_assert(plugin_folder(0, folder));
    ck_assert_ptr_nonnull(strstr(folder, "/ashlar/plugins"));
    ck_assert_int_eq(folder[0], '/');
    ck_assert(plugin_folder(1, folder));
    ck_assert_str_eq(folder, installed);
    ck_assert(!plugin_folder(2, folder));
}
END_TEST

struct pair {
    size_t good, hidden;
    char reason[512];
};

static int count(const struct ashlar_source_candidate *candidate, void *user)
{
    struct pair *pair = user;

    if (strcmp(candidate->name, "older") != 0)
        return 0;
    pair->good += candidate->status == ASHLAR_OK;
    pair->hidden += candidate->status == ASHLAR_ERR_CONFLICT;
    if (candidate->status == ASHLAR_ERR_CONFLICT)
        (void)snprintf(pair->reason, sizeof(pair->reason), "%s",
                       candidate->reason);
    return 0;
}

START_TEST(what_another_hides_is_listed_as_hidden)
{
    struct pair pair = {0, 0, ""};

    put("older", first);
    put("older", second);
    search_both();
    ck_assert_int_eq(ashlar_source_list(count, &pair), ASHLAR_OK);
    ck_assert_uint_eq(pair.good, 1);
    ck_assert_uint_eq(pair.hidden, 1);
    ck_assert_ptr_nonnull(strstr(pair.reason, path_in(first, "older")));
}
END_TEST

START_TEST(a_folder_named_twice_hides_nothing)
{
    struct pair pair = {0, 0, ""};
    char list[256];

    put("older", first);
    (void)snprintf(list, sizeof(list), "%s:%s", first, first);
    search(list);
    ck_assert_int_eq(ashlar_source_list(count, &pair), ASHLAR_OK);
    ck_assert_uint_eq(pair.good, 1);
    ck_assert_uint_eq(pair.hidden, 0);
}
END_TEST

static Suite *search_suite(void)
{
    Suite *suite = suite_create("search");
    TCase *tcase = tcase_create("folders");

    tcase_add_checked_fixture(tcase, make_folders, remove_folders);
    tcase_add_test(tcase, a_plugin_is_found_in_the_folder_of_the_installation);
    tcase_add_test(tcase, a_plugin_is_found_in_any_folder_of_the_variable);
    tcase_add_test(tcase, earlier_folders_come_first);
    tcase_add_test(tcase, the_first_file_decides_also_when_it_is_refused);
    tcase_add_test(tcase, a_folder_beside_this_program_is_looked_in);
    tcase_add_test(tcase, what_another_hides_is_listed_as_hidden);
    tcase_add_test(tcase, a_folder_named_twice_hides_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    const char *top = getenv("top_builddir");
    char path[2048];

    if (top == NULL)
        return suite_skip("top_builddir is not set: run this by make check");
    (void)snprintf(path, sizeof(path),
                   "%s/tests/plugin/modules/.libs/ashlar_older.so", top);
    if (access(path, R_OK) != 0)
        return suite_skip("no plug-ins were built: --disable-shared");
    return suite_run(search_suite());
}
