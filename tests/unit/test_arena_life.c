/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Making and destroying arenas, limits, settings of jemalloc, and fork. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ashlar.h>

#include "support/child.h"
#include "support/ranges.h"
#include "support/stress.h"
#include "support/suite.h"

#define ORDINARY 10000

static struct ashlar_arena *make(struct ashlar_source *source, uint32_t flags)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *made = NULL;

    options.source = source;
    options.flags = flags;
    OK(ashlar_arena_create(&options, &made));
    return made;
}

static struct ashlar_source *open_vm(const char *options)
{
    struct ashlar_source *vm = NULL;

    OK(ashlar_source_open("vm", options, &vm));
    return vm;
}

static uint64_t live(struct ashlar_arena *arena)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;

    OK(ashlar_arena_query(arena, &stats));
    return stats.live_blocks;
}

/* --- creating ------------------------------------------------------------- */

START_TEST(what_cannot_be_made_is_refused_with_the_value)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;
    char name[65];

    REFUSED(ASHLAR_ERR_INVALID, "NULL for arena_out",
            ashlar_arena_create(NULL, NULL));
    options.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "struct ashlar_arena_options",
            ashlar_arena_create(&options, &arena));
    options.size = sizeof(options);
    options.flags = 8;
    REFUSED(ASHLAR_ERR_INVALID, "flags is 0x8",
            ashlar_arena_create(&options, &arena));
    options.flags = 0;
    options.reserved = 5;
    REFUSED(ASHLAR_ERR_INVALID, "reserved is 5",
            ashlar_arena_create(&options, &arena));
    options.reserved = 0;
    memset(name, 'n', 64);
    name[64] = '\0';
    options.name = name;
    REFUSED(ASHLAR_ERR_INVALID, "has 64 bytes",
            ashlar_arena_create(&options, &arena));
    options.name = NULL;
    options.reserve_bytes = 4096;
    REFUSED(ASHLAR_ERR_INVALID, "reserve_bytes is 4096",
            ashlar_arena_create(&options, &arena));
    ck_assert_ptr_null(arena);
}
END_TEST

START_TEST(a_source_with_blocks_of_its_own_alone_holds_no_arena)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;

    OK(ashlar_source_open("heap", NULL, &options.source));
    OK(ashlar_arena_create(&options, &arena));
    REFUSED(ASHLAR_ERR_BUSY, "arena(s), range(s) or fence(s) stand on",
            ashlar_source_close(options.source));
    OK(ashlar_arena_destroy(arena, 0));
    OK(ashlar_source_close(options.source));
}
END_TEST

START_TEST(ten_thousand_ordinary_arenas_live_side_by_side)
{
    static struct ashlar_arena *arenas[ORDINARY];
    static void *blocks[ORDINARY];
    size_t i;

    for (i = 0; i < ORDINARY; i++) {
        arenas[i] = make(NULL, 0);
        blocks[i] = ashlar_arena_alloc(arenas[i], 100, 0);
        ck_assert_ptr_nonnull(blocks[i]);
    }
    for (i = 0; i < ORDINARY; i++) {
        OK(ashlar_arena_free(arenas[i], blocks[i]));
        OK(ashlar_arena_destroy(arenas[i], 0));
    }
}
END_TEST

START_TEST(isolated_arenas_end_with_a_status_at_jemallocs_limit)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    static struct ashlar_arena *arenas[5000];
    struct ashlar_arena *other = NULL;
    size_t count = 0;
    size_t i;

    options.flags = ASHLAR_ARENA_ISOLATED;
    while (count < 5000 &&
           ashlar_arena_create(&options, &arenas[count]) == ASHLAR_OK)
        count++;
    ck_assert(ranges_error_is(ASHLAR_ERR_LIMIT, "some 4,000"));
    ck_assert_uint_gt(count, 3900);
    ck_assert_uint_lt(count, 4095);
    /* Ordinary ones need none; and one that goes makes room. */
    OK(ashlar_arena_create(NULL, &other));
    OK(ashlar_arena_destroy(other, 0));
    OK(ashlar_arena_destroy(arenas[7], 0));
    OK(ashlar_arena_create(&options, &arenas[7]));
    for (i = 0; i < count; i++)
        OK(ashlar_arena_destroy(arenas[i], 0));
}
END_TEST

/* --- destroying ----------------------------------------------------------- */

START_TEST(an_arena_with_live_blocks_is_busy_unless_forced)
{
    struct ashlar_source *vm = open_vm(NULL);
    struct ashlar_arena *arena =
        make(_i == 2 ? vm : NULL, _i == 1 ? ASHLAR_ARENA_ISOLATED : 0);
    void *block = ashlar_arena_alloc(arena, 100, 0);

    ck_assert_ptr_nonnull(ashlar_arena_alloc(arena, 5000, 0));
    REFUSED(ASHLAR_ERR_BUSY, "2 live blocks", ashlar_arena_destroy(arena, 0));
    OK(ashlar_arena_free(arena, block));
    REFUSED(ASHLAR_ERR_BUSY, "1 live blocks", ashlar_arena_destroy(arena, 0));
    REFUSED(ASHLAR_ERR_INVALID, "flags is 0x2", ashlar_arena_destroy(arena, 2));
    OK(ashlar_arena_destroy(arena, ASHLAR_ARENA_FORCE));
    OK(ashlar_source_close(vm));
}
END_TEST

START_TEST(a_stale_handle_is_refused_by_every_call)
{
    struct ashlar_arena_figures figures = ASHLAR_ARENA_FIGURES_INIT;
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;
    struct ashlar_arena *arena = make(NULL, 0);
    const struct ashlar_type *map = ashlar_type_find("CUtensorMap");
    char block;

    OK(ashlar_arena_destroy(arena, 0));
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 8, 0));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_STALE);
    ck_assert_ptr_null(ashlar_arena_calloc(arena, 8, 0));
    ck_assert_ptr_null(ashlar_arena_alloc_type(arena, map, 1));
    ck_assert_ptr_null(ashlar_arena_name(arena));
    ck_assert_ptr_null(ashlar_arena_next(arena));
    ck_assert_uint_eq(ashlar_arena_usable(arena, &block), 0);
    ck_assert_ptr_null(ashlar_arena_range(arena));
#define STALE(_call) REFUSED(ASHLAR_ERR_STALE, "was destroyed", _call)
    STALE(ashlar_arena_free(arena, &block));
    STALE(ashlar_arena_free_sized(arena, &block, 1, 0));
    STALE(ashlar_arena_free_after(arena, &block, ASHLAR_QUIET, 1));
    STALE(ashlar_arena_resize(arena, &block, 1, 0));
    STALE(ashlar_arena_trim(arena, NULL));
    STALE(ashlar_arena_reset(arena));
    STALE(ashlar_arena_query(arena, &stats));
    STALE(ashlar_arena_fragmentation(arena, &figures));
    STALE(ashlar_arena_destroy(arena, 0));
#undef STALE
}
END_TEST

/* And so has a count there. */
START_TEST(a_stale_handle_is_refused_to_who_went_the_shortest_way)
{
    struct ashlar_arena *arena = make(NULL, 0);
    void *block = ashlar_arena_alloc(arena, 64, 0);

    ck_assert_ptr_nonnull(block);
    OK(ashlar_arena_free_sized(arena, block, 64, 0));
    OK(ashlar_arena_destroy(arena, 0));
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 64, 0));
    ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_STALE);
    REFUSED(ASHLAR_ERR_STALE, "was destroyed",
            ashlar_arena_free_sized(arena, block, 64, 0));
}
END_TEST

START_TEST(a_record_is_used_again_as_late_as_possible)
{
    struct ashlar_arena *arena = make(NULL, 0);
    size_t i;

    OK(ashlar_arena_destroy(arena, 0));
    for (i = 0; i < 1000; i++)
        OK(ashlar_arena_destroy(make(NULL, 0), 0));
    REFUSED(ASHLAR_ERR_STALE, "was destroyed", ashlar_arena_destroy(arena, 0));
}
END_TEST

/* --- reset ---------------------------------------------------------------- */

START_TEST(a_reset_frees_all_blocks_at_once)
{
    struct ashlar_source *vm = open_vm(NULL);
    struct ashlar_arena *arena =
        make(_i == 1 ? vm : NULL, _i == 0 ? ASHLAR_ARENA_ISOLATED : 0);
    size_t round;
    size_t i;

    for (round = 0; round < 20; round++) {
        for (i = 0; i < 500; i++)
            ck_assert_ptr_nonnull(ashlar_arena_alloc(arena, 1 + i * 37, 64));
        ck_assert_uint_eq(live(arena), 500);
        OK(ashlar_arena_reset(arena));
        ck_assert_uint_eq(live(arena), 0);
    }
    OK(ashlar_arena_trim(arena, NULL));
    OK(ashlar_arena_destroy(arena, 0));
    OK(ashlar_source_close(vm));
}
END_TEST

START_TEST(an_ordinary_arena_cannot_be_reset)
{
    struct ashlar_arena *arena = make(NULL, 0);

    REFUSED(ASHLAR_ERR_UNSUPPORTED, "ASHLAR_ARENA_ISOLATED",
            ashlar_arena_reset(arena));
    OK(ashlar_arena_destroy(arena, 0));
}
END_TEST

START_TEST(a_block_is_refused_after_the_reset_of_its_range)
{
    struct ashlar_source *vm = open_vm(NULL);
    struct ashlar_arena *arena = make(vm, 0);
    void *block = ashlar_arena_alloc(arena, 100, 0);

    OK(ashlar_arena_reset(arena));
    REFUSED(ASHLAR_ERR_NOT_LIVE, "freed before",
            ashlar_arena_free(arena, block));
    OK(ashlar_arena_destroy(arena, 0));
    OK(ashlar_source_close(vm));
}
END_TEST

/* --- fork ----------------------------------------------------------------- */

struct family {
    struct ashlar_source *vm;
    struct ashlar_arena *heap;
    struct ashlar_arena *isolated;
    struct ashlar_arena *range;
    void *heap_block;
    void *range_block;
};

static int judge_child(void *argument)
{
    struct family *family = argument;
    void *block;

    if (ashlar_arena_free(family->heap, family->heap_block) != ASHLAR_OK)
        return 1;
    block = ashlar_arena_alloc(family->isolated, 100, 0);
    if (block == NULL || ashlar_arena_free(family->isolated, block) != 0)
        return 2;
    if (live(family->heap) != 0) /* what waited is free here */
        return 3;
    if (ashlar_arena_destroy(family->heap, 0) != ASHLAR_OK)
        return 4;
    if (ashlar_arena_alloc(family->range, 100, 0) != NULL ||
        ashlar_last_error() != ASHLAR_ERR_FORKED)
        return 5;
    if (ashlar_arena_free(family->range, family->range_block) !=
        ASHLAR_ERR_FORKED)
        return 6;
    if (ashlar_arena_destroy(family->range, ASHLAR_ARENA_FORCE) !=
        ASHLAR_ERR_FORKED)
        return 7;
    return strcmp(ashlar_arena_name(family->range), "arena") == 0 ? 0 : 8;
}

START_TEST(a_child_uses_arenas_on_the_heap_and_no_others)
{
    struct ashlar_fence on_1 = {ASHLAR_FENCE_STREAM, 0, NULL, 1};
    struct family family;

    /* A fork takes more locks of jemalloc's than ThreadSanitizer can follow. */
    if (stress_is_tsan())
        return;
    family.vm = open_vm(NULL);
    on_1.source = family.vm;
    family.heap = make(NULL, 0);
    family.isolated = make(NULL, ASHLAR_ARENA_ISOLATED);
    family.range = make(family.vm, 0);
    family.heap_block = ashlar_arena_alloc(family.heap, 100, 0);
    family.range_block = ashlar_arena_alloc(family.range, 100, 0);
    OK(ashlar_vm_hold(family.vm, 1));
    OK(ashlar_arena_free_after(
        family.heap, ashlar_arena_alloc(family.heap, 100, 0), &on_1, 1));
    ck_assert_int_eq(child_verdict(judge_child, &family), 0);
    /* The parent is undisturbed. */
    OK(ashlar_arena_free(family.heap, family.heap_block));
    OK(ashlar_arena_free(family.range, family.range_block));
    OK(ashlar_vm_finish(family.vm, 1));
    OK(ashlar_arena_destroy(family.heap, 0));
    OK(ashlar_arena_destroy(family.isolated, 0));
    OK(ashlar_arena_destroy(family.range, 0));
    OK(ashlar_source_close(family.vm));
}
END_TEST

/* --- limits of the process ------------------------------------------------ */

static int judge_limited(void *argument)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct rlimit limit = {(rlim_t)1 << 30, (rlim_t)1 << 30};
    struct ashlar_arena *arena = NULL;
    struct ashlar_arena *heap = argument;
    void *block;

    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return 1;
    if (ashlar_arena_alloc(heap, (size_t)2 << 30, 0) != NULL ||
        ashlar_last_error() != ASHLAR_ERR_NO_MEMORY)
        return 2;
    if (ashlar_source_open("vm", "memory=64G", &options.source) != ASHLAR_OK)
        return 3;
    /* As many addresses as there are; then with fewer. */
    if (ashlar_arena_create(&options, &arena) != ASHLAR_OK ||
        ashlar_arena_destroy(arena, 0) != ASHLAR_OK)
        return 4;
    options.reserve_bytes = (uint64_t)128 << 20;
    if (ashlar_arena_create(&options, &arena) != ASHLAR_OK)
        return 5;
    block = ashlar_arena_alloc(arena, 1000, 0);
    if (block == NULL)
        return 6;
    memset(block, 1, 1000);
    return ashlar_arena_destroy(arena, ASHLAR_ARENA_FORCE) == ASHLAR_OK ? 0 : 7;
}

START_TEST(a_process_short_of_addresses_is_told_so)
{
    struct ashlar_arena *heap = make(NULL, 0);

    /* The tools' own addresses are far beyond any limit. */
    if (!stress_is_asan() && !stress_is_tsan() && !stress_is_valgrind())
        ck_assert_int_eq(child_verdict(judge_limited, heap), 0);
    OK(ashlar_arena_destroy(heap, 0));
}
END_TEST

/* --- settings of jemalloc ------------------------------------------------- */

/* What this program does when it is started for it: one line, what happened. */
static int try_with_settings(void)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;
    void *block = NULL;

    if (ashlar_arena_create(NULL, &arena) == ASHLAR_OK)
        block = ashlar_arena_alloc(arena, 100, 0);
    if (block == NULL || ashlar_arena_free(arena, block) != ASHLAR_OK)
        return puts("the heap failed");
    if (ashlar_source_open("vm", NULL, &options.source) != ASHLAR_OK)
        return puts("no source");
    if (ashlar_arena_create(&options, &arena) == ASHLAR_OK)
        return puts("made");
    printf("%s: %s\n", ashlar_status_name(ashlar_last_error()),
           ashlar_last_error_message());
    return 0;
}

static void read_with(const char *settings, char *line, int bytes)
{
    char command[256];
    FILE *output;

    (void)snprintf(command, sizeof(command), "%s=%s exec /proc/%d/exe settings",
                   ASHLAR_JE_CONF_VARIABLE, settings, (int)getpid());
    output = popen(command, "r");
    ck_assert_ptr_nonnull(output);
    ck_assert_ptr_nonnull(fgets(line, bytes, output));
    ck_assert_int_eq(pclose(output), 0);
}

static const struct {
    const char *settings;
    const char *sentence;
} settings_tried[] = {
    {"junk:false", "made"},
    {"junk:true", "setting \"junk\" is true"},
    {"junk:alloc", "setting \"junk\" is alloc"},
    {"junk:free", "setting \"junk\" is free"},
    {"junk:false,zero:true", "setting \"zero\" is true"},
    {"junk:false,retain:false", "made"},
};

START_TEST(settings_that_touch_memory_are_refused_by_name)
{
    char line[1024];

    if (stress_is_valgrind())
        return; /* what runs there is valgrind */
    read_with(settings_tried[_i].settings, line, sizeof(line));
    ck_assert_msg(strstr(line, settings_tried[_i].sentence) != NULL, "%s: %s",
                  settings_tried[_i].settings, line);
    if (strncmp(line, "made", 4) != 0) {
        ck_assert_ptr_nonnull(strstr(line, "ASHLAR_ERR_UNSUPPORTED"));
        ck_assert_ptr_nonnull(strstr(line, ASHLAR_JE_CONF_VARIABLE));
    }
}
END_TEST

static Suite *arena_life_suite(void)
{
    Suite *suite = suite_create("arena_life");
    TCase *test = tcase_create("create");

    tcase_add_test(test, what_cannot_be_made_is_refused_with_the_value);
    tcase_add_test(test, a_source_with_blocks_of_its_own_alone_holds_no_arena);
    tcase_add_test(test, ten_thousand_ordinary_arenas_live_side_by_side);
    tcase_add_test(test, isolated_arenas_end_with_a_status_at_jemallocs_limit);
    suite_add_tcase(suite, test);
    test = tcase_create("destroy and reset");
    tcase_add_loop_test(test, an_arena_with_live_blocks_is_busy_unless_forced,
                        0, 3);
    tcase_add_test(test, a_stale_handle_is_refused_by_every_call);
    tcase_add_test(test,
                   a_stale_handle_is_refused_to_who_went_the_shortest_way);
    tcase_add_test(test, a_record_is_used_again_as_late_as_possible);
    tcase_add_loop_test(test, a_reset_frees_all_blocks_at_once, 0, 2);
    tcase_add_test(test, an_ordinary_arena_cannot_be_reset);
    tcase_add_test(test, a_block_is_refused_after_the_reset_of_its_range);
    suite_add_tcase(suite, test);
    test = tcase_create("process");
    tcase_add_test(test, a_child_uses_arenas_on_the_heap_and_no_others);
    tcase_add_test(test, a_process_short_of_addresses_is_told_so);
    tcase_add_loop_test(
        test, settings_that_touch_memory_are_refused_by_name, 0,
        (int)(sizeof(settings_tried) / sizeof(settings_tried[0])));
    suite_add_tcase(suite, test);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "settings") == 0)
        return try_with_settings() < 0;
    return suite_run(arena_life_suite());
}
