/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Specs side by side: which of them an encoder sees, and which are rebased. */
#include "config.h"

#include "support/encode_source.h"
#include "support/suite.h"

#include <stddef.h>
#include <string.h>

#include "base/write_back.h"
#include "tensormap/tensormap.h"

#define MOST 200

static struct ashlar_source source;
static struct ashlar_spec specs[MOST];
static _Alignas(128) unsigned char bytes[MOST][ASHLAR_TENSOR_MAP_BYTES];
static void *maps[MOST];
static uint64_t bulks; /* calls of encode_many */

static enum ashlar_status count_bulk(void *state,
                                     const struct ashlar_spec *first,
                                     size_t step, void *const *places, size_t n,
                                     size_t *done_out)
{
    bulks++;
    ck_assert_uint_gt(n, 1);
    return encode_source.ops.encode_many(state, first, step, places, n,
                                         done_out);
}

static void setup(void)
{
    size_t i;

    encode_source_reset();
    source = encode_source;
    source.ops.encode_many = count_bulk;
    bulks = 0;
    memset(bytes, 0, sizeof(bytes));
    for (i = 0; i < MOST; i++) {
        specs[i] = encode_spec(i);
        maps[i] = bytes[i];
    }
}

/* The first n, by their shapes: a letter each. */
static void shape(const char *letters)
{
    size_t i;

    for (i = 0; letters[i] != '\0'; i++)
        specs[i].dims[1] = 1000u + (unsigned char)letters[i];
}

/* Of the first n. */
static struct encode_array array_of(size_t n, bool writes_back)
{
    struct encode_array array;

    encode_array_begin(&array, &source, specs, specs->size, n,
                       writes_back && write_back_is_there());
    return array;
}

/* Encode the first n; how many were. */
static size_t encode(size_t n, bool writes_back, enum ashlar_status expected)
{
    struct encode_array array = array_of(n, writes_back);
    size_t done = MOST + 1;

    ck_assert_int_eq(encode_array(&array, 0, maps, n, &done), expected);
    return done;
}

static void check_maps(size_t n)
{
    size_t i;

    for (i = 0; i < n; i++)
        ck_assert_msg(encode_is(maps[i], &specs[i]), "map %zu", i);
}

static void said(const char *text)
{
    ck_assert_msg(strstr(ashlar_last_error_message(), text) != NULL,
                  "\"%s\" is not in: %s", text, ashlar_last_error_message());
}

/* --- which go where --------------------------------------------------------- */

static const struct {
    const char *shapes;
    uint64_t encodes, bulks;
} orders[] = {
    {"", 0, 0},
    {"A", 1, 0},
    {"AA", 1, 0},
    {"AB", 2, 1},
    {"AAAAAA", 1, 0},
    {"AAAABCD", 4, 1},
    {"ABCCCDD", 4, 1},
    {"ABCDEEE", 7, 1},
    {"ABABABAB", 2, 1},
    {"ABCDABCDABCD", 4, 1},
    {"ABCDEABCDE", 10, 1}, /* more shapes than are kept */
    {"ABCDEFFFF", 9, 1},   /* not looked at behind the fifth */
    {"ABABCABDAB", 4, 1},
};

#define ORDERS (int)(sizeof(orders) / sizeof(orders[0]))

static void try_order(size_t order, bool writes_back)
{
    size_t n = strlen(orders[order].shapes);

    shape(orders[order].shapes);
    ck_assert_uint_eq(encode(n, writes_back, ASHLAR_OK), n);
    check_maps(n);
    ck_assert_uint_eq(encoder.encodes, orders[order].encodes);
    ck_assert_uint_eq(encoder.rebases, n - orders[order].encodes);
}

START_TEST(what_is_like_one_before_it_is_rebased)
{
    try_order((size_t)_i, false);
    ck_assert_uint_eq(bulks, orders[_i].bulks);
}
END_TEST

START_TEST(maps_that_are_written_back_are_the_same)
{
    try_order((size_t)_i, true);
    if (write_back_is_there())
        ck_assert_uint_eq(bulks, 0);
}
END_TEST

/* Different shapes, and from the nth on the same. */
START_TEST(a_long_stretch_of_different_shapes_is_looked_at_again)
{
    size_t i;

    for (i = 0; i < MOST; i++)
        specs[i].dims[1] += i < 70 ? i : 0;
    ck_assert_uint_eq(encode(MOST, false, ASHLAR_OK), MOST);
    check_maps(MOST);
    ck_assert_uint_ge(encoder.encodes, 70);
    ck_assert_uint_le(encoder.encodes, 128);
    ck_assert_uint_eq(bulks, 2);
}
END_TEST

START_TEST(a_pattern_outlives_the_call_that_encoded_it)
{
    struct encode_array array = array_of(8, false);
    size_t done;

    ck_assert_int_eq(encode_array(&array, 0, maps, 4, &done), ASHLAR_OK);
    ck_assert_int_eq(encode_array(&array, 4, maps + 4, 4, &done), ASHLAR_OK);
    ck_assert_uint_eq(done, 4);
    check_maps(8);
    ck_assert_uint_eq(encoder.encodes, 1);
}
END_TEST

START_TEST(what_a_call_encodes_last_are_patterns_of_the_next)
{
    struct encode_array array = array_of(8, false);
    size_t done;

    shape("ABCDCADB");
    ck_assert_int_eq(encode_array(&array, 0, maps, 4, &done), ASHLAR_OK);
    ck_assert_uint_eq(encoder.encodes, 4);
    ck_assert_int_eq(encode_array(&array, 4, maps + 4, 4, &done), ASHLAR_OK);
    check_maps(8);
    ck_assert_uint_eq(encoder.encodes, 4);
}
END_TEST

/* As an encoder that takes anything. */
static enum ashlar_status
encode_anything(void *state, const struct ashlar_spec *spec, void *map_out)
{
    (void)state;
    encoder.encodes++;
    encode_expected(spec, map_out);
    return ASHLAR_OK;
}

static enum ashlar_status encode_any_two(void *state,
                                         const struct ashlar_spec *first,
                                         size_t step, void *const *places,
                                         size_t n, size_t *done_out)
{
    ck_assert_uint_eq(step, sizeof(*first));
    ck_assert_uint_eq(n, 2);
    *done_out = n;
    (void)encode_anything(state, first, places[0]);
    return encode_anything(state, first + 1, places[1]);
}

/* Wherever two specs differ, by a bit of any byte behind their addresses. */
START_TEST(no_difference_is_overlooked)
{
    unsigned char *second = (unsigned char *)&specs[1];
    size_t i;

    source.ops.encode = encode_anything;
    source.ops.encode_many = encode_any_two;
    for (i = offsetof(struct ashlar_spec, dims); i < sizeof(specs[1]); i++) {
        encoder.encodes = 0;
        second[i] ^= (unsigned char)(1u << i % 8);
        ck_assert_uint_eq(encode(2, i % 2 == 0, ASHLAR_OK), 2);
        check_maps(2);
        ck_assert_msg(encoder.encodes == 2, "byte %zu of the spec", i);
        second[i] ^= (unsigned char)(1u << i % 8);
    }
    ck_assert_uint_eq(encode(2, true, ASHLAR_OK), 2);
    ck_assert_uint_eq(encoder.rebases, 1);
}
END_TEST

/* --- addresses -------------------------------------------------------------- */

START_TEST(addresses_that_may_be_wrong_are_the_encoders)
{
    static const struct {
        uint64_t address;
        const char *text; /* NULL: it is right */
    } given[] = {
        {UINT64_C(0x7f0000000010), NULL},
        {UINT64_C(0x7f0000000020) + 4, "must be a multiple of 16"},
        {UINT64_C(1) << 57, "must be below 0x200000000000000"},
        {UINT64_MAX - 31, "must be below 0x200000000000000"},
        {0, NULL},
    };
    size_t i = (size_t)_i;

    specs[1].address = given[i].address;
    ck_assert_uint_eq(
        encode(3, false,
               given[i].text == NULL ? ASHLAR_OK : ASHLAR_ERR_INVALID),
        given[i].text == NULL ? 3 : 1);
    if (given[i].text != NULL) {
        said(given[i].text);
        ck_assert_uint_eq(encoder.rebases, 0);
        return;
    }
    check_maps(3);
    ck_assert_uint_eq(encoder.encodes, 2);
    ck_assert_uint_eq(encoder.rebases, 1);
}
END_TEST

/* A map without an address is no pattern. */
START_TEST(nothing_is_rebased_from_address_0)
{
    specs[0].address = 0;
    ck_assert_uint_eq(encode(3, false, ASHLAR_OK), 3);
    check_maps(3);
    ck_assert_uint_eq(encoder.encodes, 2);
}
END_TEST

/* --- failures --------------------------------------------------------------- */

START_TEST(a_refused_address_is_tried_by_the_encoder)
{
    encoder.fail_at = 3;
    encoder.fail_with = ASHLAR_ERR_INVALID;
    ck_assert_uint_eq(encode(5, false, ASHLAR_OK), 5);
    check_maps(5);
    ck_assert_uint_eq(encoder.encodes, 2);
    ck_assert_uint_eq(encoder.rebases, 4);
}
END_TEST

/* By whichever call: of the encoder, of its bulks, of rebasing. */
START_TEST(each_failure_says_how_many_were_encoded)
{
    size_t n;

    shape("ABCCCDDE");
    for (n = 1; n <= 8; n++) {
        encoder.fail_at = n;
        encoder.fail_with = ASHLAR_ERR_CONTEXT_FAILED;
        ck_assert_uint_eq(encode(8, _i != 0, ASHLAR_ERR_CONTEXT_FAILED), n - 1);
        said("the encoder says no");
        check_maps(n - 1);
    }
    ck_assert_uint_eq(encode(8, _i != 0, ASHLAR_OK), 8);
    check_maps(8);
}
END_TEST

START_TEST(a_wrong_spec_is_told_by_its_rule)
{
    static const char *const orders_of_wrong[] = {"AAAA", "ABCD", "AABB"};

    shape(orders_of_wrong[_i]);
    specs[3].box[0] = 100;
    ck_assert_uint_eq(encode(4, false, ASHLAR_ERR_INVALID), 3);
    said("box[0] is 100");
    check_maps(3);
}
END_TEST

START_TEST(a_spec_of_another_size_is_refused_where_it_stands)
{
    static const char *const orders_of_sizes[] = {"AAAA", "ABCD"};

    shape(orders_of_sizes[_i]);
    specs[2].size -= 8;
    ck_assert_uint_eq(encode(4, false, ASHLAR_ERR_INVALID), 2);
    said("specs of an array are of one size");
    check_maps(2);
}
END_TEST

/* A caller of a later version: what this one does not know is 0. */
START_TEST(specs_of_another_version_are_encoded_one_by_one)
{
    static struct {
        struct ashlar_spec spec;
        uint64_t more;
    } longer[4];
    struct encode_array array;
    size_t i, done;

    for (i = 0; i < 4; i++) {
        longer[i].spec = specs[i];
        longer[i].spec.size = sizeof(longer[i]);
    }
    encode_array_begin(&array, &source, &longer[0].spec, sizeof(longer[0]), 4,
                       false);
    ck_assert_int_eq(encode_array(&array, 0, maps, 4, &done), ASHLAR_OK);
    ck_assert_uint_eq(done, 4);
    check_maps(4);
    ck_assert_uint_eq(encoder.encodes, 4);
    longer[2].more = 1;
    ck_assert_int_eq(encode_array(&array, 0, maps, 4, &done),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(done, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("encode_array");
    TCase *tcase = tcase_create("which go where");

    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, what_is_like_one_before_it_is_rebased, 0,
                        ORDERS);
    tcase_add_loop_test(tcase, maps_that_are_written_back_are_the_same, 0,
                        ORDERS);
    tcase_add_test(tcase,
                   a_long_stretch_of_different_shapes_is_looked_at_again);
    tcase_add_test(tcase, a_pattern_outlives_the_call_that_encoded_it);
    tcase_add_test(tcase, what_a_call_encodes_last_are_patterns_of_the_next);
    tcase_add_test(tcase, no_difference_is_overlooked);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("addresses");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_loop_test(tcase, addresses_that_may_be_wrong_are_the_encoders, 0,
                        5);
    tcase_add_test(tcase, nothing_is_rebased_from_address_0);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("failures");
    tcase_add_checked_fixture(tcase, setup, NULL);
    tcase_add_test(tcase, a_refused_address_is_tried_by_the_encoder);
    tcase_add_loop_test(tcase, each_failure_says_how_many_were_encoded, 0, 2);
    tcase_add_loop_test(tcase, a_wrong_spec_is_told_by_its_rule, 0, 3);
    tcase_add_loop_test(
        tcase, a_spec_of_another_size_is_refused_where_it_stands, 0, 2);
    tcase_add_test(tcase, specs_of_another_version_are_encoded_one_by_one);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
