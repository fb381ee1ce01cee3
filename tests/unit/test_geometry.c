/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/geometry.h"

#include "support/pools.h"

/* A slab has fewer bytes than this; so an index below count says it all. */
#define SLAB_BYTES_MAX ((uint64_t)1 << 62)

#define STRIDES_ALL 4096

static const uint64_t huge_strides[] = {
    4097,
    65535,
    65536,
    65537,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    3 << 20,
    1 << 21,
    (1 << 21) + 128,
    UINT64_C(999999999989),
    UINT64_C(1) << 40,
    (UINT64_C(1) << 40) + 1,
    (UINT64_C(1) << 61) - 1,
    UINT64_C(1) << 61,
};

#define HUGE_STRIDES (sizeof(huge_strides) / sizeof(huge_strides[0]))

/* How many slots of a stride a slab can have. */
static uint64_t count_max(uint64_t stride)
{
    uint64_t count = SLAB_BYTES_MAX / stride;

    return count < UINT32_MAX ? count : UINT32_MAX;
}

/* The quotient where there is one, and no index of a slab where not. */
static void check(const struct geometry *geometry, uint64_t offset)
{
    uint64_t stride = geometry->stride;
    uint64_t index = geometry_index(geometry, offset);
    bool exact = offset % stride == 0 && offset / stride < count_max(stride);

    if (exact && index != offset / stride)
        ck_abort_msg("stride %lu: offset %lu gives index %lu", stride, offset,
                     index);
    if (!exact && index < count_max(stride))
        ck_abort_msg("stride %lu: offset %lu, no multiple, gives index %lu",
                     stride, offset, index);
}

static void check_around(const struct geometry *geometry, uint64_t offset)
{
    unsigned i;

    for (i = 0; i < 5; i++)
        check(geometry, offset + i - 2);
}

/* Every offset near the start, below it, and in the middle of slots. */
static void check_stride(uint64_t stride)
{
    struct geometry geometry = geometry_of(stride);
    uint64_t last = count_max(stride) - 1;
    uint64_t i;

    for (i = 0; i < 40; i++) {
        check_around(&geometry, i * stride);
        check_around(&geometry, 0 - i * stride);
        check_around(&geometry, (last - i % (last + 1)) * stride);
        check(&geometry, i * stride + stride / 2);
        check(&geometry, i * stride + i % stride);
    }
    check_around(&geometry, last * stride);
    check_around(&geometry, UINT64_C(1) << 63);
}

START_TEST(an_exact_offset_gives_its_quotient_and_no_other_does)
{
    uint64_t stride;

    for (stride = 1; stride <= STRIDES_ALL; stride++)
        check_stride(stride);
}
END_TEST

START_TEST(odd_and_huge_strides_are_no_different)
{
    size_t i;

    for (i = 0; i < HUGE_STRIDES; i++)
        check_stride(huge_strides[i]);
}
END_TEST

START_TEST(every_offset_of_a_few_slots_is_told_apart)
{
    static const size_t strides[] = {1, 2, 3, 7, 8, 12, 128, 160, 192, 1000};
    size_t i;
    uint64_t offset;

    for (i = 0; i < sizeof(strides) / sizeof(strides[0]); i++) {
        struct geometry geometry = geometry_of(strides[i]);

        for (offset = 0; offset < 20 * strides[i]; offset++) {
            check(&geometry, offset);
            check(&geometry, 0 - offset);
        }
    }
}
END_TEST

START_TEST(addresses_from_anywhere_are_no_slots)
{
    struct dice dice = dice_from(1);
    unsigned i;

    for (i = 0; i < 300000; i++) {
        struct geometry geometry =
            geometry_of(1 + dice_below(&dice, STRIDES_ALL));

        check(&geometry, dice_roll(&dice));
        check(&geometry, dice_roll(&dice) >> 20);
    }
}
END_TEST

START_TEST(stride_is_odd_times_two_to_the_shift)
{
    uint64_t stride;

    for (stride = 1; stride <= STRIDES_ALL; stride++) {
        struct geometry geometry = geometry_of(stride);
        uint64_t odd = stride >> geometry.shift;

        REQUIRE(geometry.stride == stride);
        REQUIRE(odd << geometry.shift == stride && odd % 2 == 1);
        REQUIRE(odd * geometry.inverse == 1);
    }
}
END_TEST

static Suite *geometry_suite(void)
{
    Suite *suite = suite_create("geometry");
    TCase *index = tcase_create("index");

    tcase_add_test(index, stride_is_odd_times_two_to_the_shift);
    tcase_add_test(index, an_exact_offset_gives_its_quotient_and_no_other_does);
    tcase_add_test(index, odd_and_huge_strides_are_no_different);
    tcase_add_test(index, every_offset_of_a_few_slots_is_told_apart);
    tcase_add_test(index, addresses_from_anywhere_are_no_slots);
    suite_add_tcase(suite, index);
    return suite;
}

int main(void)
{
    return suite_run(geometry_suite());
}
