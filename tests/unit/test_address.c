/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/address.h"

#include "support/suite.h"

#define LENGTH_MAX 300

/* Beside the usual: odd ones, and one whose row passes 32 bits. */
static const size_t strides[] = {1, 8, 16, 128, 160, 4097, 1 << 21};

#define STRIDES (sizeof(strides) / sizeof(strides[0]))

static const unsigned widths[] = {16, 32};

/* An address that rows start at; never read. */
static char *const first = (char *)(uintptr_t)0x7f5500000080;

static void *row[LENGTH_MAX + 2];

/* A width that this machine does not have is tested as a narrower one. */
static void choose(int i)
{
    ck_assert_uint_le(address_choose(widths[i]), widths[i]);
}

START_TEST(a_row_is_written_to_its_last_address_and_no_further)
{
    char *const guard = (char *)(uintptr_t)0x5a5a;
    size_t s, n, i;

    choose(_i);
    for (s = 0; s < STRIDES; s++) {
        for (n = 1; n <= LENGTH_MAX; n++) {
            row[n] = guard;
            address_write_row(row, first, n, strides[s]);
            for (i = 0; i < n; i++)
                ck_assert_ptr_eq(row[i], first + i * strides[s]);
            ck_assert_ptr_eq(row[n], guard);
        }
    }
}
END_TEST

START_TEST(a_whole_row_is_recognised_whole)
{
    size_t s, n;

    choose(_i);
    for (s = 0; s < STRIDES; s++) {
        for (n = 1; n <= LENGTH_MAX; n++) {
            address_write(row, first, n, strides[s]);
            ck_assert_uint_eq(address_count_row(row, n, strides[s]), n);
        }
    }
}
END_TEST

START_TEST(a_row_ends_at_the_first_address_that_is_off)
{
    /* In either half of the number, by one bit, by a stride. */
    static const uint64_t errors[] = {1, 1u << 31, UINT64_C(1) << 32, 128};
    size_t n, bad, e;

    choose(_i);
    for (n = 2; n <= LENGTH_MAX; n += 7) {
        for (bad = 1; bad < n; bad++) {
            for (e = 0; e < 4; e++) {
                address_write(row, first, n, 128);
                row[bad] = (void *)((uintptr_t)row[bad] ^ errors[e]);
                ck_assert_uint_eq(address_count_row(row, n, 128), bad);
            }
        }
    }
}
END_TEST

START_TEST(a_row_may_lie_at_any_pointer)
{
    size_t offset;

    choose(_i);
    for (offset = 0; offset < 8; offset++) {
        address_write_row(row + offset, first, LENGTH_MAX - 8, 128);
        ck_assert_ptr_eq(row[offset + 200], first + 200 * 128);
        ck_assert_uint_eq(address_count_row(row + offset, LENGTH_MAX - 8, 128),
                          LENGTH_MAX - 8);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("address");
    TCase *rows = tcase_create("rows");
    int count = sizeof(widths) / sizeof(widths[0]);

    tcase_add_loop_test(
        rows, a_row_is_written_to_its_last_address_and_no_further, 0, count);
    tcase_add_loop_test(rows, a_whole_row_is_recognised_whole, 0, count);
    tcase_add_loop_test(rows, a_row_ends_at_the_first_address_that_is_off, 0,
                        count);
    tcase_add_loop_test(rows, a_row_may_lie_at_any_pointer, 0, count);
    suite_add_tcase(suite, rows);
    return suite_run(suite);
}
