/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/key.h"

#include "support/suite.h"

#include <string.h>

#include <ashlar/tensormap.h>

static struct ashlar_spec spec_of(uint32_t mode)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;
    uint32_t i;

    spec.mode = mode;
    spec.rank = 3;
    spec.address = UINT64_C(0x7f0000001000);
    spec.channels = 64;
    spec.pixels = 128;
    for (i = 0; i < ASHLAR_SPEC_RANK_MAX; i++) {
        spec.dims[i] = 100 + i;
        spec.box[i] = 16 + i;
        spec.element_strides[i] = 1 + i;
    }
    for (i = 0; i + 1 < ASHLAR_SPEC_RANK_MAX; i++)
        spec.strides[i] = 4096 << i;
    return spec;
}

static struct spec_key key_of(const struct ashlar_spec *spec, uint64_t context)
{
    struct spec_key key;

    memset(&key, 0xee, sizeof(key));
    ck_assert(key_make(spec, context, &key));
    ck_assert_uint_le(key.count, KEY_WORDS_MOST);
    key_add_hash(&key);
    return key;
}

static bool same(const struct ashlar_spec *a, const struct ashlar_spec *b)
{
    struct spec_key one = key_of(a, 0), other = key_of(b, 0);

    if (key_is(one.words, &other))
        ck_assert_uint_eq(one.hash, other.hash);
    return key_is(one.words, &other);
}

/* The members by their place, each with the modes whose encoder reads it. */
#define TILED  (1u << ASHLAR_SPEC_TILED)
#define IM2COL (1u << ASHLAR_SPEC_IM2COL)
#define WIDE   (1u << ASHLAR_SPEC_IM2COL_WIDE)
#define ALL    (TILED | IM2COL | WIDE)
#define MEMBER(_member, _modes)                                                \
    {                                                                          \
        offsetof(struct ashlar_spec, _member),                                 \
            sizeof(((struct ashlar_spec *)0)->_member), _modes                 \
    }

static const struct {
    size_t offset;
    size_t bytes;
    unsigned modes;
} members[] = {
    MEMBER(address, ALL),
    MEMBER(dims[0], ALL),
    MEMBER(dims[1], ALL),
    MEMBER(dims[2], ALL),
    MEMBER(dims[3], 0),
    MEMBER(dims[4], 0),
    MEMBER(strides[0], ALL),
    MEMBER(strides[1], ALL),
    MEMBER(strides[2], 0),
    MEMBER(strides[3], 0),
    MEMBER(box[0], TILED),
    MEMBER(box[1], TILED),
    MEMBER(box[2], TILED),
    MEMBER(box[3], 0),
    MEMBER(element_strides[0], ALL),
    MEMBER(element_strides[1], ALL),
    MEMBER(element_strides[2], ALL),
    MEMBER(element_strides[3], 0),
    MEMBER(lower_corner[0], IM2COL | WIDE),
    MEMBER(lower_corner[1], 0),
    MEMBER(upper_corner[0], IM2COL | WIDE),
    MEMBER(upper_corner[2], 0),
    MEMBER(channels, IM2COL | WIDE),
    MEMBER(pixels, IM2COL | WIDE),
    MEMBER(dtype, ALL),
    MEMBER(interleave, ALL),
    MEMBER(swizzle, ALL),
    MEMBER(l2_promotion, ALL),
    MEMBER(oob_fill, ALL),
    MEMBER(wide_mode, WIDE),
};

#define MEMBERS ((int)(sizeof(members) / sizeof(members[0])))

START_TEST(what_the_encoder_reads_is_in_the_key_and_nothing_else)
{
    struct ashlar_spec spec, other;
    uint32_t mode;

    for (mode = 0; mode < 3; mode++) {
        spec = other = spec_of(mode);
        ((unsigned char *)&other)[members[_i].offset] ^= 1; /* little-endian */
        ck_assert_msg(same(&spec, &other) ==
                          ((members[_i].modes & (1u << mode)) == 0),
                      "member %d, mode %u", _i, mode);
    }
}
END_TEST

START_TEST(contexts_modes_and_ranks_are_in_the_key)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_IM2COL), other = spec;
    struct spec_key one = key_of(&spec, 1), two = key_of(&spec, 2);

    ck_assert(!key_is(one.words, &two));
    ck_assert_uint_ne(one.hash, two.hash);
    other.rank = 4;
    ck_assert(!same(&spec, &other));
    other = spec;
    other.mode = ASHLAR_SPEC_IM2COL_WIDE;
    ck_assert(!same(&spec, &other));
}
END_TEST

START_TEST(the_longest_key_fits)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_IM2COL);

    spec.rank = 5;
    ck_assert_uint_eq(key_of(&spec, 0).count, KEY_WORDS_MOST);
}
END_TEST

START_TEST(what_has_no_rank_or_mode_has_no_key)
{
    static const struct {
        uint32_t mode;
        uint32_t rank;
    } none[] = {{0, 0}, {0, 6}, {0, UINT32_MAX}, {1, 2},
                {1, 6}, {2, 2}, {3, 3}};
    struct ashlar_spec spec = spec_of(none[_i].mode);
    struct spec_key key;

    spec.rank = none[_i].rank;
    ck_assert(!key_make(&spec, 0, &key));
}
END_TEST

/* What the rules take has a key, whatever the rank. */
START_TEST(a_corner_of_im2col_wide_may_be_as_large_at_any_rank)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_IM2COL_WIDE), other;
    struct spec_key key;

    spec.rank = (uint32_t)_i;
    spec.lower_corner[0] = -32768;
    spec.upper_corner[0] = 32767;
    other = spec;
    other.lower_corner[0] = -32767;
    ck_assert(!same(&spec, &other));
    other = spec;
    other.upper_corner[0] = 32766;
    ck_assert(!same(&spec, &other));
    other.upper_corner[0] = 32768;
    ck_assert(!key_make(&other, 0, &key));
}
END_TEST

START_TEST(pixels_of_im2col_wide_may_be_any_number)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_IM2COL_WIDE), other;
    unsigned bit;

    spec.rank = 5;
    spec.wide_mode = ASHLAR_SPEC_WIDE_W128;
    for (bit = 0; bit < 32; bit++) {
        other = spec;
        other.pixels ^= UINT32_C(1) << bit;
        ck_assert_msg(!same(&spec, &other), "bit %u", bit);
    }
}
END_TEST

/* Every bit that an encoder may take, set alone, makes another key. */
START_TEST(no_member_of_a_column_runs_into_another)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_IM2COL), other;
    struct spec_key keys[5 * 4 + 12];
    int i, j;

    spec.rank = 5;
    spec.channels = 0;
    memset(spec.element_strides, 0, sizeof(spec.element_strides));
    for (i = 0; i < 5 * 4 + 12; i++) {
        other = spec;
        if (i < 5 * 4)
            other.element_strides[i / 4] = UINT32_C(1) << i % 4;
        else
            other.channels = UINT32_C(1) << (i - 5 * 4);
        keys[i] = key_of(&other, 0);
        for (j = 0; j < i; j++)
            ck_assert_msg(!key_is(keys[j].words, &keys[i]), "%d and %d", i, j);
    }
}
END_TEST

/* Addresses and the like: numbers with many zeros at their end. */
START_TEST(keys_of_neighbours_fall_into_different_buckets)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_TILED);
    unsigned buckets[1024] = {0}, most = 0;
    uint32_t shift, i;

    for (shift = 4; shift < 40; shift += 3) {
        memset(buckets, 0, sizeof(buckets));
        most = 0;
        for (i = 0; i < 1024; i++) {
            unsigned *bucket;

            spec.address = (uint64_t)i << shift;
            bucket = &buckets[key_of(&spec, 0).hash % 1024];
            most = ++*bucket > most ? *bucket : most;
        }
        ck_assert_msg(most < 12, "%u of 1024 in one, shift %u", most, shift);
    }
}
END_TEST

#define BUCKETS 8192u
#define HALF    (BUCKETS / 2)

/* Buckets that keys of half as many addresses, a step apart, fall into. */
static unsigned count_met(struct ashlar_spec *spec, unsigned shift)
{
    static unsigned char met[BUCKETS];
    unsigned count = 0, i;
    unsigned char *bucket;
    struct spec_key key;

    memset(met, 0, sizeof(met));
    for (i = 0; i < HALF; i++) {
        spec->address = UINT64_C(0x7f0000000000) + ((uint64_t)i << shift);
        (void)key_make(spec, 1, &key); /* an assertion for each takes long */
        key_add_hash(&key);
        bucket = &met[key.hash % BUCKETS];
        count += *bucket == 0;
        *bucket = 1;
    }
    return count;
}

/* By chance alone 3,223 buckets are met, give or take 32. */
START_TEST(addresses_of_any_shape_and_step_meet_as_many_buckets_as_chance)
{
    struct ashlar_spec spec = spec_of(ASHLAR_SPEC_TILED);
    unsigned shift, count;

    spec.rank = 2 + (uint32_t)_i % 2;
    spec.swizzle = (uint32_t)_i % 4;
    for (spec.dtype = 0; spec.dtype < 13; spec.dtype++)
        for (shift = 4; shift < 24; shift++) {
            count = count_met(&spec, shift);
            ck_assert_msg(count > 3000, "%u, dtype %u, shift %u", count,
                          spec.dtype, shift);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("map_key");
    TCase *tcase = tcase_create("keys");

    tcase_add_loop_test(tcase,
                        what_the_encoder_reads_is_in_the_key_and_nothing_else,
                        0, MEMBERS);
    tcase_add_test(tcase, contexts_modes_and_ranks_are_in_the_key);
    tcase_add_test(tcase, the_longest_key_fits);
    tcase_add_loop_test(tcase, what_has_no_rank_or_mode_has_no_key, 0, 7);
    tcase_add_loop_test(
        tcase, a_corner_of_im2col_wide_may_be_as_large_at_any_rank, 3, 6);
    tcase_add_test(tcase, pixels_of_im2col_wide_may_be_any_number);
    tcase_add_test(tcase, no_member_of_a_column_runs_into_another);
    tcase_add_test(tcase, keys_of_neighbours_fall_into_different_buckets);
    tcase_add_loop_test(
        tcase, addresses_of_any_shape_and_step_meet_as_many_buckets_as_chance,
        0, 4);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
