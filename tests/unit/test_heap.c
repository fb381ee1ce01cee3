/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The heap: jemalloc, and nothing of it in sight.
 */
#include "config.h"

#include "source/source.h"

#include "support/crew.h"
#include "support/pools.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "source/je.h"

static void no_faults(void)
{
    memory_fail_nth(0, false);
}

static size_t usable_of(size_t bytes, size_t alignment)
{
    size_t usable = heap_plugin.block_usable(NULL, bytes, alignment);

    REQUIRE(usable >= bytes);
    return usable;
}

/* --- blocks --------------------------------------------------------------- */

START_TEST(blocks_have_their_size_and_alignment)
{
    static const size_t sizes[] = {1,     8,       100,          4096,
                                   16384, 1 << 20, (8 << 20) - 1};
    size_t i, alignment;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (alignment = 8; alignment <= 4 << 20; alignment *= 2) {
            size_t bytes = usable_of(sizes[i], alignment);
            unsigned char *block =
                heap_plugin.block_alloc(NULL, bytes, alignment);

            REQUIRE(block != NULL && (uintptr_t)block % alignment == 0);
            block[0] = block[bytes - 1] = 1;
            heap_plugin.block_free(NULL, block, bytes, alignment);
        }
}
END_TEST

START_TEST(all_that_is_usable_may_be_written)
{
    size_t bytes;

    for (bytes = 1; bytes < 200000; bytes += bytes / 3 + 1) {
        size_t usable = usable_of(bytes, 128);
        unsigned char *blocks[3];
        size_t i, j;

        for (i = 0; i < 3; i++) {
            blocks[i] = heap_plugin.block_alloc(NULL, usable, 128);
            REQUIRE(blocks[i] != NULL);
            memset(blocks[i], (int)i + 1, usable);
        }
        for (i = 0; i < 3; i++) {
            for (j = 0; j < usable; j++)
                REQUIRE(blocks[i][j] == i + 1);
            heap_plugin.block_free(NULL, blocks[i], usable, 128);
        }
    }
}
END_TEST

START_TEST(usable_is_its_own_usable)
{
    size_t bytes, alignment;

    for (bytes = 1; bytes < (size_t)1 << 30; bytes += bytes / 7 + 1)
        for (alignment = 8; alignment <= 2 << 20; alignment *= 16) {
            size_t usable = usable_of(bytes, alignment);

            REQUIRE(usable_of(usable, alignment) == usable);
        }
}
END_TEST

START_TEST(what_no_memory_has_is_not_usable)
{
    ck_assert_uint_eq(heap_plugin.block_usable(NULL, SIZE_MAX, 8), 0);
    ck_assert_uint_eq(heap_plugin.block_usable(NULL, SIZE_MAX / 2 + 2, 4096),
                      0);
    ck_assert_ptr_null(heap_plugin.block_alloc(NULL, (size_t)1 << 60, 4096));
}
END_TEST

START_TEST(a_test_may_make_a_block_fail)
{
    void *block;

    memory_fail_nth(2, false);
    block = heap_plugin.block_alloc(NULL, 4096, 4096);
    ck_assert_ptr_nonnull(block);
    ck_assert_ptr_null(heap_plugin.block_alloc(NULL, 4096, 4096));
    heap_plugin.block_free(NULL, block, 4096, 4096);
    ck_assert_uint_eq(memory_asked(), 2);
}
END_TEST

static size_t resident(char *block, size_t pages)
{
    unsigned char here[64];
    size_t count = 0;
    size_t i;

    REQUIRE(pages <= sizeof(here));
    REQUIRE(mincore(block, pages * (size_t)sysconf(_SC_PAGESIZE), here) == 0);
    for (i = 0; i < pages; i++)
        count += here[i] & 1;
    return count;
}

START_TEST(a_purged_part_is_gone_and_reads_as_zero)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *block = heap_plugin.block_alloc(NULL, 64 * page, page);
    size_t i;

    ck_assert_ptr_nonnull(block);
    memset(block, 0xa5, 64 * page);
    ck_assert_uint_eq(resident(block, 64), 64);
    heap_plugin.block_purge(NULL, block + 10 * page, 20 * page);
    ck_assert_uint_eq(resident(block, 64), 44);
    for (i = 0; i < 64 * page; i++)
        REQUIRE(block[i] == (i / page >= 10 && i / page < 30 ? 0 : (char)0xa5));
    heap_plugin.block_free(NULL, block, 64 * page, page);
}
END_TEST

START_TEST(a_wish_for_huge_pages_leaves_the_bytes)
{
    char *block = heap_plugin.block_alloc(NULL, 4 << 20, 2 << 20);

    ck_assert_ptr_nonnull(block);
    block[12345] = 7;
    heap_plugin.block_prefer_huge(NULL, block, 4 << 20);
    ck_assert_int_eq(block[12345], 7);
    heap_plugin.block_free(NULL, block, 4 << 20, 2 << 20);
}
END_TEST

/* One thread's block, which the next one gives back. */
static void *blocks[CREW_MAX];

static void get_block(unsigned number, void *argument)
{
    (void)argument;
    blocks[number] = heap_plugin.block_alloc(NULL, 70000, 4096);
    if (blocks[number] != NULL)
        memset(blocks[number], 1, 70000);
}

static void free_next(unsigned number, void *argument)
{
    unsigned count = *(unsigned *)argument;

    heap_plugin.block_free(NULL, blocks[(number + 1) % count], 70000, 4096);
}

START_TEST(any_thread_may_free_a_block)
{
    struct crew crew;
    unsigned count = 8;
    unsigned round, i;

    crew_start(&crew, count);
    for (round = 0; round < 20; round++) {
        crew_work(&crew, get_block, NULL);
        for (i = 0; i < count; i++)
            REQUIRE(blocks[i] != NULL);
        crew_work(&crew, free_next, &count);
    }
    crew_end(&crew);
}
END_TEST

START_TEST(the_version_is_a_number)
{
    je_start();
    ck_assert(isdigit((unsigned char)je_version()[0]));
    ck_assert_ptr_nonnull(strchr(je_version(), '.'));
}
END_TEST

/* --- sources -------------------------------------------------------------- */

static struct ashlar_source *const untouched =
    (struct ashlar_source *)(void *)blocks;

START_TEST(the_heap_is_opened_by_name_and_needs_no_options)
{
    struct ashlar_source *source;

    ck_assert_int_eq(ashlar_source_open("heap", NULL, &source), ASHLAR_OK);
    ck_assert_str_eq(ashlar_source_name(source), "heap");
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_open("heap", "", &source), ASHLAR_OK);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
    ck_assert_str_eq(ashlar_source_name(NULL), "heap");
}
END_TEST

START_TEST(what_cannot_be_opened_is_refused)
{
    struct ashlar_source *source = untouched;

    ck_assert_int_eq(ashlar_source_open("nonesuch", NULL, &source),
                     ASHLAR_ERR_NO_PLUGIN);
    ck_assert(last_error_is(ASHLAR_ERR_NO_PLUGIN, "\"nonesuch\""));
    ck_assert_int_eq(ashlar_source_open("heap", "a=b", &source),
                     ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "\"a=b\""));
    ck_assert_int_eq(ashlar_source_open(NULL, NULL, &source),
                     ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "NULL for name"));
    ck_assert_int_eq(ashlar_source_open("heap", NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert(last_error_is(ASHLAR_ERR_INVALID, "NULL for source_out"));
    ck_assert_int_eq(ashlar_source_close(NULL), ASHLAR_ERR_INVALID);
    memory_fail_nth(1, false);
    ck_assert_int_eq(ashlar_source_open("heap", NULL, &source),
                     ASHLAR_ERR_NO_MEMORY);
    ck_assert_ptr_eq(source, untouched);
}
END_TEST

START_TEST(a_source_with_pools_on_it_is_busy)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_source *source;
    struct ashlar_pool *pools[3];
    unsigned i;

    ck_assert_int_eq(ashlar_source_open("heap", NULL, &source), ASHLAR_OK);
    options.source = source;
    for (i = 0; i < 3; i++)
        pools[i] = pools_make(pools_type(128, 128), &options);
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_ERR_BUSY);
    ck_assert_uint_eq(last_error_number(0), 3);
    ck_assert(last_error_is(ASHLAR_ERR_BUSY, "\"heap\""));
    for (i = 0; i < 3; i++) {
        REQUIRE(ashlar_source_close(source) == ASHLAR_ERR_BUSY);
        pools_end(pools[i]);
    }
    ck_assert_int_eq(ashlar_source_close(source), ASHLAR_OK);
}
END_TEST

static Suite *heap_suite(void)
{
    Suite *suite = suite_create("heap");
    TCase *of_blocks = tcase_create("blocks");
    TCase *sources = tcase_create("sources");

    tcase_add_checked_fixture(of_blocks, no_faults, no_faults);
    tcase_add_test(of_blocks, blocks_have_their_size_and_alignment);
    tcase_add_test(of_blocks, all_that_is_usable_may_be_written);
    tcase_add_test(of_blocks, usable_is_its_own_usable);
    tcase_add_test(of_blocks, what_no_memory_has_is_not_usable);
    tcase_add_test(of_blocks, a_test_may_make_a_block_fail);
    tcase_add_test(of_blocks, a_purged_part_is_gone_and_reads_as_zero);
    tcase_add_test(of_blocks, a_wish_for_huge_pages_leaves_the_bytes);
    tcase_add_test(of_blocks, any_thread_may_free_a_block);
    tcase_add_test(of_blocks, the_version_is_a_number);
    suite_add_tcase(suite, of_blocks);
    tcase_add_checked_fixture(sources, no_faults, no_faults);
    tcase_add_test(sources, the_heap_is_opened_by_name_and_needs_no_options);
    tcase_add_test(sources, what_cannot_be_opened_is_refused);
    tcase_add_test(sources, a_source_with_pools_on_it_is_busy);
    suite_add_tcase(suite, sources);
    return suite;
}

int main(void)
{
    return suite_run(heap_suite());
}
