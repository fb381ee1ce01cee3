/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/memory.h"

#include "support/suite.h"

#include <stdint.h>
#include <string.h>

static void no_faults(void)
{
    memory_fail_nth(0, false);
}

/* Whether the next allocation is refused. */
static bool next_fails(void)
{
    void *block = memory_alloc(1);
    bool failed = block == NULL;

    memory_free(block);
    return failed;
}

START_TEST(zalloc_gives_zeros)
{
    static const unsigned char zeros[4096];
    unsigned char *block = memory_zalloc(sizeof(zeros));

    ck_assert_ptr_nonnull(block);
    ck_assert_mem_eq(block, zeros, sizeof(zeros));
    memory_free(block);
}
END_TEST

START_TEST(zalloc_aligned_gives_zeros_at_every_power_of_two_up_to_4096)
{
    static const unsigned char zeros[100];
    size_t alignment;

    for (alignment = 1; alignment <= 4096; alignment *= 2) {
        unsigned char *block = memory_zalloc_aligned(sizeof(zeros), alignment);

        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % alignment, 0);
        ck_assert_mem_eq(block, zeros, sizeof(zeros));
        memory_free(block);
    }
}
END_TEST

START_TEST(a_failed_realloc_leaves_the_block)
{
    char *block = memory_copy_text("kept", 10);

    ck_assert_ptr_nonnull(block);
    memory_fail_nth(1, false);
    ck_assert_ptr_null(memory_realloc(block, 4096));
    ck_assert_str_eq(block, "kept");
    block = memory_realloc(block, 4096);
    ck_assert_ptr_nonnull(block);
    ck_assert_str_eq(block, "kept");
    memory_free(block);
}
END_TEST

START_TEST(copy_text_cuts_at_its_limit)
{
    char *whole = memory_copy_text("abc", 3);
    char *cut = memory_copy_text("abcd", 3);
    char *empty = memory_copy_text("", 3);

    ck_assert_str_eq(whole, "abc");
    ck_assert_str_eq(cut, "abc");
    ck_assert_str_eq(empty, "");
    memory_free(whole);
    memory_free(cut);
    memory_free(empty);
}
END_TEST

START_TEST(free_of_null_does_nothing)
{
    memory_free(NULL);
}
END_TEST

START_TEST(the_nth_allocation_fails_once)
{
    memory_fail_nth(3, false);
    ck_assert(!next_fails());
    ck_assert(!next_fails());
    ck_assert(next_fails());
    ck_assert(!next_fails());
}
END_TEST

START_TEST(all_allocations_from_the_nth_fail_when_asked)
{
    memory_fail_nth(2, true);
    ck_assert(!next_fails());
    ck_assert(next_fails());
    ck_assert(next_fails());
    memory_fail_nth(0, false);
    ck_assert(!next_fails());
}
END_TEST

START_TEST(every_way_to_allocate_can_fail_and_counts)
{
    void *block;

    memory_fail_nth(1, true);
    ck_assert_ptr_null(memory_alloc(1));
    ck_assert_ptr_null(memory_zalloc(1));
    ck_assert_ptr_null(memory_zalloc_aligned(1, 64));
    ck_assert_ptr_null(memory_realloc(NULL, 1));
    ck_assert_ptr_null(memory_copy_text("a", 1));
    ck_assert(memory_may_fail());
    ck_assert_uint_eq(memory_asked(), 6);
    memory_fail_nth(0, false);
    ck_assert_uint_eq(memory_asked(), 0);
    block = memory_alloc(1);
    ck_assert_uint_eq(memory_asked(), 1);
    memory_free(block);
}
END_TEST

static Suite *memory_suite(void)
{
    Suite *suite = suite_create("memory");
    TCase *blocks = tcase_create("blocks");
    TCase *faults = tcase_create("faults");

    tcase_add_checked_fixture(blocks, no_faults, no_faults);
    tcase_add_test(blocks, zalloc_gives_zeros);
    tcase_add_test(blocks,
                   zalloc_aligned_gives_zeros_at_every_power_of_two_up_to_4096);
    tcase_add_test(blocks, a_failed_realloc_leaves_the_block);
    tcase_add_test(blocks, copy_text_cuts_at_its_limit);
    tcase_add_test(blocks, free_of_null_does_nothing);
    suite_add_tcase(suite, blocks);
    tcase_add_checked_fixture(faults, no_faults, no_faults);
    tcase_add_test(faults, the_nth_allocation_fails_once);
    tcase_add_test(faults, all_allocations_from_the_nth_fail_when_asked);
    tcase_add_test(faults, every_way_to_allocate_can_fail_and_counts);
    suite_add_tcase(suite, faults);
    return suite;
}

int main(void)
{
    return suite_run(memory_suite());
}
