/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "histogram.h"

#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

static struct histogram histogram;

START_TEST(an_empty_one_has_no_percentiles)
{
    memset(&histogram, 0, sizeof(histogram));
    ck_assert_uint_eq(histogram_percentile(&histogram, 50), 0);
    ck_assert_uint_eq(histogram_percentile(&histogram, 100), 0);
}
END_TEST

START_TEST(buckets_follow_each_other_without_a_gap)
{
    uint32_t last = histogram_bucket(0);
    uint64_t value;

    for (value = 1; value < 100000; value++) {
        uint32_t bucket = histogram_bucket(value);

        ck_assert(bucket == last || bucket == last + 1);
        last = bucket;
    }
    ck_assert_uint_eq(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}
END_TEST

START_TEST(small_values_are_exact)
{
    uint64_t value;

    memset(&histogram, 0, sizeof(histogram));
    for (value = 1; value <= 20; value++)
        histogram_add(&histogram, value);
    ck_assert_uint_eq(histogram_percentile(&histogram, 50), 10);
    ck_assert_uint_eq(histogram_percentile(&histogram, 90), 18);
    ck_assert_uint_eq(histogram_percentile(&histogram, 100), 20);
    ck_assert_uint_eq(histogram_percentile(&histogram, 0), 1);
}
END_TEST

START_TEST(large_values_are_right_within_a_step)
{
    uint64_t value, median;

    memset(&histogram, 0, sizeof(histogram));
    for (value = 1; value <= 1000000; value++)
        histogram_add(&histogram, value);
    median = histogram_percentile(&histogram, 50);
    ck_assert_uint_ge(median, 500000);
    ck_assert_uint_le(median, 500000 + 500000 / HISTOGRAM_STEPS);
    ck_assert_uint_eq(histogram_percentile(&histogram, 100), 1000000);
    ck_assert_uint_eq(histogram.count, 1000000);
}
END_TEST

START_TEST(two_merged_are_as_one)
{
    struct histogram *other = calloc(1, sizeof(*other));

    ck_assert_ptr_nonnull(other);
    memset(&histogram, 0, sizeof(histogram));
    histogram_add(&histogram, 10);
    histogram_add(other, 30);
    histogram_add(other, UINT64_MAX);
    histogram_merge(&histogram, other);
    ck_assert_uint_eq(histogram.count, 3);
    ck_assert_uint_eq(histogram.max, UINT64_MAX);
    ck_assert_uint_eq(histogram_percentile(&histogram, 50), 30);
    ck_assert_uint_eq(histogram_percentile(&histogram, 100), UINT64_MAX);
    free(other);
}
END_TEST

static Suite *histogram_suite(void)
{
    Suite *suite = suite_create("histogram");
    TCase *tcase = tcase_create("percentiles");

    tcase_add_test(tcase, an_empty_one_has_no_percentiles);
    tcase_add_test(tcase, buckets_follow_each_other_without_a_gap);
    tcase_add_test(tcase, small_values_are_exact);
    tcase_add_test(tcase, large_values_are_right_within_a_step);
    tcase_add_test(tcase, two_merged_are_as_one);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(void)
{
    return suite_run(histogram_suite());
}
