/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Blocks of arenas: on the heap, shared and isolated, and on a range. */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include <ashlar.h>

#include "support/crew.h"
#include "support/ranges.h"
#include "support/suite.h"

#define GIB ((size_t)1 << 30)

static struct ashlar_source *vm;
static struct ashlar_arena *arena;

static struct ashlar_arena *make(struct ashlar_source *source, uint32_t flags)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *made = NULL;

    options.source = source;
    options.flags = flags;
    options.name = "test";
    OK(ashlar_arena_create(&options, &made));
    return made;
}

/* The tests of a loop get one arena of each kind. */
static void make_kind(int kind)
{
    arena =
        make(kind == ASHLAR_ARENA_KIND_RANGE ? vm : NULL,
             kind == ASHLAR_ARENA_KIND_ISOLATED ? ASHLAR_ARENA_ISOLATED : 0);
}

static void open_source(void)
{
    OK(ashlar_source_open("vm", "memory=4G", &vm));
}

static void close_all(void)
{
    if (arena != NULL)
        OK(ashlar_arena_destroy(arena, 0));
    arena = NULL;
    OK(ashlar_source_close(vm));
}

static struct ashlar_arena_stats stats(void)
{
    struct ashlar_arena_stats own = ASHLAR_ARENA_STATS_INIT;

    OK(ashlar_arena_query(arena, &own));
    return own;
}

static void *alloc(size_t size, size_t alignment)
{
    void *block = ashlar_arena_alloc(arena, size, alignment);

    ck_assert_msg(block != NULL, "%zu bytes at %zu: %s", size, alignment,
                  ashlar_last_error_message());
    return block;
}

static void free_block(void *block)
{
    OK(ashlar_arena_free(arena, block));
}

/* --- what a block is ------------------------------------------------------ */

START_TEST(a_block_has_its_size_and_alignment)
{
    static const size_t sizes[] = {1, 17, 128, 160, 4097, 20000, 3000000};
    void *blocks[7][31];
    size_t i;
    size_t k;

    make_kind(_i);
    for (i = 0; i < 7; i++) {
        for (k = 0; k < 31; k++) {
            blocks[i][k] = alloc(sizes[i], (size_t)1 << (k < 22 ? k : 0));
            if (k < 22)
                ck_assert_uint_eq((uintptr_t)blocks[i][k] % ((size_t)1 << k),
                                  0);
            ck_assert_uint_ge(ashlar_arena_usable(arena, blocks[i][k]),
                              sizes[i]);
            memset(blocks[i][k], (int)(i * 31 + k), sizes[i]);
        }
    }
    for (i = 0; i < 7; i++)
        for (k = 0; k < 31; k++) {
            const unsigned char *bytes = blocks[i][k];

            ck_assert_uint_eq(bytes[0], (unsigned char)(i * 31 + k));
            ck_assert_uint_eq(bytes[sizes[i] - 1], (unsigned char)(i * 31 + k));
            free_block(blocks[i][k]);
        }
    ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

START_TEST(alignment_is_honoured_up_to_a_gibibyte)
{
    void *block;

    make_kind(_i);
    block = alloc(100, GIB);
    ck_assert_uint_eq((uintptr_t)block % GIB, 0);
    free_block(block);
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 100, 2 * GIB));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "alignment is 2147483648"));
}
END_TEST

START_TEST(the_default_alignment_is_what_the_header_says)
{
    size_t least =
        _i == ASHLAR_ARENA_KIND_RANGE ? ASHLAR_ARENA_ALIGN_RANGE : 16;
    void *blocks[64];
    size_t i;

    make_kind(_i);
    for (i = 0; i < 64; i++) {
        blocks[i] = alloc(i < 1 ? 16 : i * 16, 0);
        ck_assert_uint_eq((uintptr_t)blocks[i] % least, 0);
    }
    for (i = 0; i < 64; i++)
        free_block(blocks[i]);
}
END_TEST

START_TEST(a_shape_that_cannot_be_is_refused)
{
    volatile size_t most = SIZE_MAX; /* the compiler would refuse it, too */

    make_kind(_i);
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 0, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "size is 0"));
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 8, 24));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "alignment is 24"));
    ck_assert_ptr_null(ashlar_arena_alloc(arena, most, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "size is 1844674407370955"));
    ck_assert_ptr_null(ashlar_arena_alloc(NULL, 8, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "NULL for arena"));
    ck_assert_uint_eq(stats().refusals, 3);
    ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

START_TEST(more_than_there_is_gives_null_and_the_reason)
{
    make_kind(_i);
    ck_assert_ptr_null(ashlar_arena_alloc(arena, (size_t)1 << 55, 0));
    ck_assert(ranges_error_is(_i == ASHLAR_ARENA_KIND_RANGE
                                  ? ASHLAR_ERR_NO_ADDRESS_SPACE
                                  : ASHLAR_ERR_NO_MEMORY,
                              "36028797018963968 bytes"));
    free_block(alloc(8, 0));
}
END_TEST

START_TEST(zeros_are_zeros_also_where_something_was)
{
    unsigned char *block;
    size_t i;

    make_kind(_i);
    block = alloc(100000, 0);
    memset(block, 0xab, 100000);
    free_block(block);
    block = ashlar_arena_calloc(arena, 100000, 256);
    ck_assert_ptr_nonnull(block);
    ck_assert_uint_eq((uintptr_t)block % 256, 0);
    for (i = 0; i < 100000; i++)
        ck_assert_uint_eq(block[i], 0);
    free_block(block);
}
END_TEST

START_TEST(a_type_stands_for_size_and_alignment)
{
    const struct ashlar_type *map = ashlar_type_find("CUtensorMap");
    void *block;

    make_kind(_i);
    block = ashlar_arena_alloc_type(arena, map, 1000);
    ck_assert_uint_eq((uintptr_t)block % 128, 0);
    ck_assert_uint_ge(ashlar_arena_usable(arena, block), 128000);
    OK(ashlar_arena_free_sized(arena, block, 128000, 128));
    ck_assert_ptr_null(ashlar_arena_alloc_type(arena, map, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "n is 0"));
    ck_assert_ptr_null(ashlar_arena_alloc_type(arena, map, SIZE_MAX / 2));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "128 bytes each"));
    ck_assert_ptr_null(ashlar_arena_alloc_type(arena, NULL, 1));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "NULL for type"));
    ck_assert_ptr_null(ashlar_arena_alloc_type(
        arena, (const struct ashlar_type *)(const void *)&map, 1));
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "is no type that"));
}
END_TEST

START_TEST(a_type_that_has_a_block_keeps_its_alignment)
{
    const struct ashlar_type *type;
    void *block;

    make_kind(_i);
    OK(ashlar_type_register("of_arena", 96, 32, &type));
    block = ashlar_arena_alloc_type(arena, type, 3);
    ck_assert_ptr_nonnull(block);
    REFUSED(ASHLAR_ERR_CONFLICT, "of_arena",
            ashlar_type_register("of_arena", 96, 64, &type));
    free_block(block);
}
END_TEST

/* --- freeing -------------------------------------------------------------- */

static void free_elsewhere(unsigned number, void *block)
{
    (void)number;
    free_block(block);
}

START_TEST(a_block_is_freed_by_any_thread_and_counted_once)
{
    struct crew crew;
    void *block;

    make_kind(_i);
    block = alloc(64, 0);
    ck_assert_uint_eq(stats().live_blocks, 1);
    crew_start(&crew, 1);
    crew_work(&crew, free_elsewhere, block);
    crew_end(&crew);
    ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

START_TEST(freeing_null_is_refused)
{
    make_kind(_i);
    REFUSED(ASHLAR_ERR_INVALID, "NULL for block",
            ashlar_arena_free(arena, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for block",
            ashlar_arena_free_sized(arena, NULL, 8, 0));
    REFUSED(ASHLAR_ERR_INVALID, "NULL for block",
            ashlar_arena_resize(arena, NULL, 8, 0));
    REFUSED(ASHLAR_ERR_INVALID, "size is 0",
            ashlar_arena_free_sized(arena, &arena, 0, 0));
    ck_assert_uint_eq(ashlar_arena_usable(arena, NULL), 0);
    ck_assert_uint_eq(stats().refusals, 5);
}
END_TEST

START_TEST(a_wrong_free_on_a_range_is_refused_and_changes_nothing)
{
    char *block;
    char *other;

    make_kind(ASHLAR_ARENA_KIND_RANGE);
    block = alloc(1000, 0);
    other = alloc(1000, 0);
    REFUSED(ASHLAR_ERR_NOT_LIVE, "the middle of one",
            ashlar_arena_free(arena, block + 64));
    REFUSED(ASHLAR_ERR_NOT_LIVE, "the middle of one",
            ashlar_arena_free(arena, block + 1));
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "no address of arena \"test\"",
            ashlar_arena_free(arena, &block));
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "no address of arena \"test\"",
            ashlar_arena_resize(arena, &block, 10, 0));
    free_block(block);
    REFUSED(ASHLAR_ERR_NOT_LIVE, "freed before",
            ashlar_arena_free(arena, block));
    REFUSED(ASHLAR_ERR_NOT_LIVE, "freed before",
            ashlar_arena_free_sized(arena, block, 1000, 0));
    REFUSED(ASHLAR_ERR_NOT_LIVE, "freed before",
            ashlar_arena_resize(arena, block, 10, 0));
    ck_assert_uint_eq(ashlar_arena_usable(arena, block), 0);
    ck_assert_uint_eq(stats().live_blocks, 1);
    free_block(other);
}
END_TEST

/* --- resizing ------------------------------------------------------------- */

START_TEST(a_resize_is_in_place_or_changes_nothing)
{
    size_t bytes;
    char *block;
    char *wall;

    make_kind(_i);
    block = alloc(100000, 0);
    memset(block, 1, 100000);
    OK(ashlar_arena_resize(arena, block, 50000, 0));
    ck_assert_uint_ge(ashlar_arena_usable(arena, block), 50000);
    bytes = ashlar_arena_usable(arena, block);
    OK(ashlar_arena_resize(arena, block, bytes, 0));
    ck_assert_uint_eq(ashlar_arena_usable(arena, block), bytes);
    ck_assert_int_eq(block[0], 1);
    ck_assert_int_eq(block[49999], 1);
    wall = alloc(100, 0);
    REFUSED(ASHLAR_ERR_NO_ROOM, "allocate another, and copy",
            ashlar_arena_resize(arena, wall, 100000, 0));
    ck_assert_uint_ge(ashlar_arena_usable(arena, wall), 100);
    REFUSED(ASHLAR_ERR_NO_ROOM, "allocate another, and copy",
            ashlar_arena_resize(arena, wall, 10, 0));
    REFUSED(ASHLAR_ERR_NO_ROOM, "allocate another, and copy",
            ashlar_arena_resize(arena, wall, (size_t)1 << 56, 0));
    REFUSED(ASHLAR_ERR_INVALID, "size is 0",
            ashlar_arena_resize(arena, wall, 0, 0));
    OK(ashlar_arena_free_sized(arena, wall, 100, 0));
    OK(ashlar_arena_free_sized(arena, block, bytes, 0));
}
END_TEST

START_TEST(a_block_on_a_range_grows_into_what_is_free_behind_it)
{
    char *block;

    make_kind(ASHLAR_ARENA_KIND_RANGE);
    block = alloc((size_t)64 << 20, 0);
    OK(ashlar_arena_resize(arena, block, (size_t)20 << 20, 0));
    OK(ashlar_arena_trim(arena, NULL));
    ck_assert_uint_eq(ashlar_arena_usable(arena, block), (size_t)20 << 20);
    OK(ashlar_arena_resize(arena, block, (size_t)40 << 20, 0));
    memset(block, 3, (size_t)40 << 20);
    ck_assert_uint_ge(ashlar_arena_usable(arena, block), (size_t)40 << 20);
    free_block(block);
}
END_TEST

/* --- figures -------------------------------------------------------------- */

START_TEST(figures_are_those_of_the_arena_alone)
{
    struct ashlar_arena_figures figures = ASHLAR_ARENA_FIGURES_INIT;
    void *block;

    make_kind(_i);
    if (_i == ASHLAR_ARENA_KIND_SHARED) {
        REFUSED(ASHLAR_ERR_UNSUPPORTED, "ASHLAR_ARENA_ISOLATED",
                ashlar_arena_fragmentation(arena, &figures));
        return;
    }
    block = alloc(1000, 0);
    OK(ashlar_arena_fragmentation(arena, &figures));
    ck_assert_uint_eq(figures.allocated_bytes, 1024);
    ck_assert_uint_ge(figures.active_bytes, 1024);
    ck_assert_uint_ge(figures.committed_bytes, figures.active_bytes);
    ck_assert_uint_gt(figures.record_bytes, 0);
    free_block(block);
    OK(ashlar_arena_fragmentation(arena, &figures));
    ck_assert_uint_eq(figures.allocated_bytes, 0);
    ck_assert_uint_eq(figures.active_bytes, 0);
}
END_TEST

START_TEST(a_trim_gives_back_the_pages_that_an_arena_keeps)
{
    struct ashlar_arena_figures figures = ASHLAR_ARENA_FIGURES_INIT;
    uint64_t released = 1;

    make_kind(_i);
    free_block(alloc(3000000, 0));
    OK(ashlar_arena_trim(arena, &released));
    ck_assert_uint_eq(released == 0, _i != ASHLAR_ARENA_KIND_RANGE);
    if (_i != ASHLAR_ARENA_KIND_SHARED) {
        OK(ashlar_arena_fragmentation(arena, &figures));
        ck_assert_uint_eq(figures.kept_bytes, 0);
    }
}
END_TEST

START_TEST(questions_are_checked_too)
{
    struct ashlar_arena_stats none = ASHLAR_ARENA_STATS_INIT;

    make_kind(_i);
    REFUSED(ASHLAR_ERR_INVALID, "NULL for stats",
            ashlar_arena_query(arena, NULL));
    none.size = 0;
    REFUSED(ASHLAR_ERR_INVALID, "struct ashlar_arena_stats",
            ashlar_arena_query(arena, &none));
    ck_assert_uint_eq(stats().kind, (uint32_t)_i);
    ck_assert_str_eq(ashlar_arena_name(arena), "test");
    ck_assert_ptr_eq(ashlar_arena_next(NULL), arena);
    ck_assert_ptr_null(ashlar_arena_next(arena));
    ck_assert_ptr_null(ashlar_arena_name(NULL));
    ck_assert_int_eq(ashlar_arena_range(arena) != NULL,
                     _i == ASHLAR_ARENA_KIND_RANGE);
}
END_TEST

/* Once on each kind of arena. */
#define FOR_ALL(_test, _function)                                              \
    tcase_add_loop_test(_test, _function, ASHLAR_ARENA_KIND_SHARED,            \
                        ASHLAR_ARENA_KIND_RANGE + 1)

static Suite *arena_suite(void)
{
    Suite *suite = suite_create("arena");
    TCase *test = tcase_create("blocks");

    tcase_add_checked_fixture(test, open_source, close_all);
    FOR_ALL(test, a_block_has_its_size_and_alignment);
    FOR_ALL(test, alignment_is_honoured_up_to_a_gibibyte);
    FOR_ALL(test, the_default_alignment_is_what_the_header_says);
    FOR_ALL(test, a_shape_that_cannot_be_is_refused);
    FOR_ALL(test, more_than_there_is_gives_null_and_the_reason);
    FOR_ALL(test, zeros_are_zeros_also_where_something_was);
    FOR_ALL(test, a_type_stands_for_size_and_alignment);
    FOR_ALL(test, a_type_that_has_a_block_keeps_its_alignment);
    suite_add_tcase(suite, test);
    test = tcase_create("freeing and resizing");
    tcase_add_checked_fixture(test, open_source, close_all);
    FOR_ALL(test, a_block_is_freed_by_any_thread_and_counted_once);
    FOR_ALL(test, freeing_null_is_refused);
    tcase_add_test(test,
                   a_wrong_free_on_a_range_is_refused_and_changes_nothing);
    FOR_ALL(test, a_resize_is_in_place_or_changes_nothing);
    tcase_add_test(test, a_block_on_a_range_grows_into_what_is_free_behind_it);
    suite_add_tcase(suite, test);
    test = tcase_create("figures");
    tcase_add_checked_fixture(test, open_source, close_all);
    FOR_ALL(test, figures_are_those_of_the_arena_alone);
    FOR_ALL(test, a_trim_gives_back_the_pages_that_an_arena_keeps);
    FOR_ALL(test, questions_are_checked_too);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(arena_suite());
}
