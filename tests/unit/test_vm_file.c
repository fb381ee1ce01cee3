/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/vm_file.h"

#include "support/pools.h"
#include "support/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

#define PAGE ((uint64_t)65536)

static struct vm_file *files;

static void end_files(void)
{
    ck_assert_ptr_null(files);
}

static uint64_t take(uint64_t group, uint64_t pages, struct vm_file **file_out)
{
    uint64_t offset = 0;

    ck_assert_int_eq(
        vm_file_take(&files, group, pages * PAGE, file_out, &offset), 0);
    return offset / PAGE;
}

static void give(struct vm_file *file, uint64_t page, uint64_t pages)
{
    ck_assert_int_eq(vm_file_give(&files, file, page * PAGE, pages * PAGE), 0);
}

START_TEST(extents_come_out_of_one_file)
{
    struct vm_file *a, *b;

    ck_assert_uint_eq(take(0, 2, &a), 0);
    ck_assert_uint_eq(take(0, 3, &b), 2);
    ck_assert_ptr_eq(a, b);
    ck_assert_int_eq(fcntl(a->fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    give(a, 0, 2);
    give(a, 2, 3);
}
END_TEST

START_TEST(a_hole_is_used_again_and_joined_with_its_neighbours)
{
    struct vm_file *file;
    unsigned i;

    for (i = 0; i < 6; i++)
        ck_assert_uint_eq(take(0, 1, &file), i);
    give(file, 1, 1);
    give(file, 3, 1);
    ck_assert_uint_eq(file->hole_count, 2);
    give(file, 2, 1);
    ck_assert_uint_eq(file->hole_count, 1);
    ck_assert_uint_eq(file->holes[0].bytes, 3 * PAGE);
    ck_assert_uint_eq(take(0, 4, &file), 6);
    ck_assert_uint_eq(take(0, 2, &file), 1);
    ck_assert_uint_eq(take(0, 1, &file), 3);
    ck_assert_uint_eq(file->hole_count, 0);
    give(file, 6, 4);
    give(file, 5, 1);
    give(file, 1, 2);
    give(file, 0, 1);
    give(file, 4, 1);
    give(file, 3, 1);
}
END_TEST

START_TEST(the_memory_of_an_extent_given_back_is_gone)
{
    struct vm_file *file;
    struct stat facts;
    char *at;

    (void)take(0, 1, &file);
    (void)take(0, 1, &file);
    at = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    memset(at, 1, 2 * PAGE);
    ck_assert_int_eq(fstat(file->fd, &facts), 0);
    ck_assert_int_ge((long)facts.st_blocks * 512, (long)(2 * PAGE));
    give(file, 0, 1);
    ck_assert_int_eq(fstat(file->fd, &facts), 0);
    ck_assert_int_le((long)facts.st_blocks * 512, (long)PAGE);
    ck_assert_int_eq(at[0], 0);
    ck_assert_int_eq(at[PAGE], 1);
    ck_assert_int_eq(munmap(at, 2 * PAGE), 0);
    give(file, 1, 1);
}
END_TEST

START_TEST(groups_share_no_file)
{
    struct vm_file *plain, *one, *other, *again;

    (void)take(0, 1, &plain);
    (void)take(1, 1, &one);
    (void)take(2, 1, &other);
    ck_assert_uint_eq(take(1, 1, &again), 1);
    ck_assert_ptr_eq(one, again);
    ck_assert_ptr_ne(one, other);
    ck_assert_ptr_ne(one, plain);
    give(one, 0, 1);
    give(one, 1, 1);
    give(other, 0, 1);
    give(plain, 0, 1);
}
END_TEST

START_TEST(all_files_are_closed_at_the_end)
{
    struct vm_file *file;
    int fd;

    (void)take(1, 1, &file);
    (void)take(2, 1, &file);
    fd = file->fd;
    vm_file_close_all(&files);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
}
END_TEST

/* A random walk against a map of pages. */
START_TEST(extents_never_overlap)
{
    enum { PAGES = 256, ROUNDS = 4000 };
    static uint8_t taken[4 * PAGES];
    static struct {
        uint64_t page;
        uint64_t pages;
    } out[PAGES];
    struct dice dice = dice_from(7);
    struct vm_file *file = NULL;
    size_t count = 0;
    uint64_t i, k;
    unsigned round;

    for (round = 0; round < ROUNDS; round++) {
        if (count < PAGES / 4 && dice_below(&dice, 2) == 0) {
            out[count].pages = 1 + dice_below(&dice, 5);
            out[count].page = take(0, out[count].pages, &file);
            for (i = 0; i < out[count].pages; i++) {
                REQUIRE(out[count].page + i < 4 * PAGES);
                REQUIRE(taken[out[count].page + i]++ == 0);
            }
            count++;
        } else if (count != 0) {
            k = dice_below(&dice, count);
            for (i = 0; i < out[k].pages; i++)
                taken[out[k].page + i] = 0;
            give(file, out[k].page, out[k].pages);
            out[k] = out[--count];
        }
    }
    while (count != 0) {
        count--;
        give(file, out[count].page, out[count].pages);
    }
}
END_TEST

START_TEST(without_memory_nothing_is_given_out)
{
    struct vm_file *file = NULL, *other = NULL;
    uint64_t offset;
    unsigned n;

    for (n = 1; n <= 2; n++) {
        memory_fail_nth(n, false);
        ck_assert_int_eq(vm_file_take(&files, 0, PAGE, &file, &offset), ENOMEM);
        memory_fail_nth(0, false);
        ck_assert_ptr_null(files);
    }
    /* Nor is what is given out disturbed. */
    for (n = 0; n < 6; n++)
        (void)take(0, 1, &file);
    memory_fail_nth(1, true);
    for (n = 0; n < 6; n++)
        give(file, n == 5 ? 0 : n + 1, 1);
    memory_fail_nth(0, false);
    (void)other;
}
END_TEST

START_TEST(giving_back_needs_no_memory)
{
    struct vm_file *file = NULL;
    unsigned n;

    for (n = 0; n < 200; n++)
        (void)take(0, 1, &file);
    memory_fail_nth(1, true);
    for (n = 1; n < 200; n += 2)
        give(file, n, 1);
    for (n = 0; n < 200; n += 2)
        give(file, n, 1);
    memory_fail_nth(0, false);
}
END_TEST

START_TEST(without_a_file_descriptor_it_says_so)
{
    struct rlimit limit;
    struct vm_file *file;
    uint64_t offset;
    rlim_t before;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    before = limit.rlim_cur;
    limit.rlim_cur = 0;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_int_eq(vm_file_take(&files, 0, PAGE, &file, &offset), EMFILE);
    limit.rlim_cur = before;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_ptr_null(files);
}
END_TEST

static Suite *vm_file_suite(void)
{
    Suite *suite = suite_create("vm_file");
    TCase *test = tcase_create("extents");

    tcase_add_checked_fixture(test, NULL, end_files);
    tcase_add_test(test, extents_come_out_of_one_file);
    tcase_add_test(test, a_hole_is_used_again_and_joined_with_its_neighbours);
    tcase_add_test(test, the_memory_of_an_extent_given_back_is_gone);
    tcase_add_test(test, groups_share_no_file);
    tcase_add_test(test, all_files_are_closed_at_the_end);
    tcase_add_test(test, extents_never_overlap);
    tcase_add_test(test, without_memory_nothing_is_given_out);
    tcase_add_test(test, giving_back_needs_no_memory);
    tcase_add_test(test, without_a_file_descriptor_it_says_so);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(vm_file_suite());
}
