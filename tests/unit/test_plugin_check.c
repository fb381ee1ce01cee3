/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* From a plug-in's struct to the library's checked copy. */
#include "config.h"

#include "source/plugin.h"

#include "source/source.h"
#include "support/ranges.h"

#include <string.h>

typedef void (*any_function)(void);

static struct ashlar_plugin given;
static struct ashlar_plugin own;
static uint64_t can;

static void start(void)
{
    given = vm_plugin;
    memset(&own, 0x5a, sizeof(own));
    can = 77;
}

static enum ashlar_status check(void)
{
    return plugin_check(&given, "vm", &own, &can);
}

/* Nothing is written by a refusal. */
static void untouched(void)
{
    struct ashlar_plugin before;

    memset(&before, 0x5a, sizeof(before));
    ck_assert_mem_eq(&own, &before, sizeof(own));
    ck_assert_uint_eq(can, 77);
}

START_TEST(a_good_plug_in_is_copied_and_completed)
{
    const any_function *members;
    size_t i;

    OK(check());
    ck_assert_uint_eq(can, ASHLAR_CAN_RANGES | ASHLAR_CAN_COPY |
                               ASHLAR_CAN_SCATTER | ASHLAR_CAN_FENCE |
                               ASHLAR_CAN_EXPORT | ASHLAR_CAN_GRAPH);
    ck_assert_ptr_eq((void *)(uintptr_t)own.map,
                     (void *)(uintptr_t)vm_plugin.map);
    members = (const any_function *)(const void *)&own.block_usable;
    for (i = 0;
         i < (sizeof(own) - offsetof(struct ashlar_plugin, block_usable)) /
                 sizeof(*members);
         i++)
        ck_assert(members[i] != NULL);
}
END_TEST

START_TEST(another_abi_is_refused)
{
    given.abi = ASHLAR_PLUGIN_ABI + 1;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "was built for ABI 2", check());
    given.abi = 0;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "was built for ABI 0", check());
    untouched();
}
END_TEST

START_TEST(a_struct_without_the_required_part_is_refused)
{
    given.struct_size = offsetof(struct ashlar_plugin, close);
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "the required part", check());
    given.struct_size = 0;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "has 0 bytes", check());
    untouched();
}
END_TEST

START_TEST(an_older_struct_ends_before_the_newer_groups)
{
    given.struct_size = offsetof(struct ashlar_plugin, copy);
    OK(check());
    ck_assert_uint_eq(can, ASHLAR_CAN_RANGES);
    /* One that ends within a group, or within a pointer of it, has half. */
    given.struct_size = offsetof(struct ashlar_plugin, allow);
    REFUSED(ASHLAR_ERR_NO_PLUGIN,
            "6 of the 7 functions of the group \"ranges\"", check());
    given.struct_size += 3;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "6 of the 7", check());
}
END_TEST

START_TEST(a_longer_struct_is_used_as_far_as_it_is_known)
{
    struct {
        struct ashlar_plugin known;
        any_function unknown[4];
    } future = {.known = given};

    future.known.struct_size = sizeof(future);
    memset(future.unknown, 0xff, sizeof(future.unknown));
    OK(plugin_check(&future.known, "vm", &own, &can));
    ck_assert_uint_eq(own.struct_size, sizeof(own));
}
END_TEST

/* Each function of the groups in turn, left out. */
START_TEST(half_a_group_is_refused)
{
    const size_t first = offsetof(struct ashlar_plugin, reserve);
    const size_t last = offsetof(struct ashlar_plugin, fence_graph);
    any_function none = NULL;
    unsigned refused = 0;
    size_t at;

    for (at = first; at <= last; at += sizeof(none)) {
        given = vm_plugin;
        memcpy((char *)&given + at, &none, sizeof(none));
        if (check() == ASHLAR_OK)
            continue;
        ck_assert(ranges_error_is(ASHLAR_ERR_NO_PLUGIN, "whole or absent"));
        refused++;
    }
    /* ranges 7, scatter 2, fence 4, export 2, graph 2; copy is a group of one. */
    ck_assert_uint_eq(refused, 17);
}
END_TEST

START_TEST(fences_on_graphs_without_fences_are_refused)
{
    given.fence_record = NULL;
    given.fence_event = NULL;
    given.fence_query = NULL;
    given.fence_drop = NULL;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "\"graph\" without \"fence\"", check());
    untouched();
    given.fence_capture = NULL;
    given.fence_graph = NULL;
    OK(check());
    ck_assert_uint_eq(can & (ASHLAR_CAN_FENCE | ASHLAR_CAN_GRAPH), 0);
}
END_TEST

START_TEST(names_and_required_functions_are_checked)
{
    given.name = NULL;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "calls itself \"(NULL)\"", check());
    given.name = "V M";
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "calls itself \"V M\"", check());
    given.name = "other";
    REFUSED(ASHLAR_ERR_NO_PLUGIN,
            "a plug-in \"vm\", but the plug-in calls "
            "itself \"other\"",
            check());
    OK(plugin_check(&given, NULL, &own, &can));
    start();
    given.open = NULL;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "no open function", check());
    start();
    given.close = NULL;
    REFUSED(ASHLAR_ERR_NO_PLUGIN, "no close function", check());
    untouched();
}
END_TEST

START_TEST(names_are_of_a_few_characters)
{
    ck_assert(plugin_name_is_good("cuda"));
    ck_assert(plugin_name_is_good("a_1"));
    ck_assert(!plugin_name_is_good(""));
    ck_assert(!plugin_name_is_good("Cuda"));
    ck_assert(!plugin_name_is_good("a/b"));
    ck_assert(!plugin_name_is_good("a.b"));
    ck_assert(plugin_name_is_good("abcdefghijklmnopqrstuvwxyz01234"));
    ck_assert(!plugin_name_is_good("abcdefghijklmnopqrstuvwxyz012345"));
}
END_TEST

static Suite *plugin_check_suite(void)
{
    Suite *suite = suite_create("plugin_check");
    TCase *test = tcase_create("struct");

    tcase_add_checked_fixture(test, start, NULL);
    tcase_add_test(test, a_good_plug_in_is_copied_and_completed);
    tcase_add_test(test, another_abi_is_refused);
    tcase_add_test(test, a_struct_without_the_required_part_is_refused);
    tcase_add_test(test, an_older_struct_ends_before_the_newer_groups);
    tcase_add_test(test, a_longer_struct_is_used_as_far_as_it_is_known);
    tcase_add_test(test, half_a_group_is_refused);
    tcase_add_test(test, fences_on_graphs_without_fences_are_refused);
    tcase_add_test(test, names_and_required_functions_are_checked);
    tcase_add_test(test, names_are_of_a_few_characters);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(plugin_check_suite());
}
