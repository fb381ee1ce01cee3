/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Specs in C++: built by name, and checked.
 */
#include <ashlar.hpp>

#include <cstdint>
#include <cstring>
#include <string>

extern "C" {
#include "support/pools.h"
}
#include "cxx/tiles.hpp"

/* As CUDA and others name theirs. */
struct __nv_bfloat16 {
    unsigned short bits;
};
namespace c10
{
struct BFloat16 {
    unsigned short bits;
};
} // namespace c10
namespace my
{
struct half {
    unsigned short bits;
};
} // namespace my
template <>
inline constexpr enum ashlar_spec_dtype ashlar::element_of<my::half> =
    ASHLAR_SPEC_FLOAT16;

static std::string thrown_by_spec(const ashlar_spec &spec,
                                  std::uint32_t capability = 0)
{
    try {
        (void)ashlar::check(spec, capability);
    } catch (const ashlar::spec_error &error) {
        REQUIRE(error.status() == ASHLAR_ERR_INVALID);
        return error.what();
    }
    return "";
}

/* --- specs ---------------------------------------------------------------- */

START_TEST(a_builder_fills_in_what_c_would)
{
    ashlar_spec by_hand = ASHLAR_SPEC_INIT;

    by_hand.address = tensor;
    by_hand.dtype = ASHLAR_SPEC_FLOAT16;
    by_hand.rank = 2;
    by_hand.dims[0] = 2048;
    by_hand.dims[1] = 1024;
    by_hand.strides[0] = 4096;
    by_hand.box[0] = 64;
    by_hand.box[1] = 128;
    by_hand.element_strides[0] = by_hand.element_strides[1] = 1;
    by_hand.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
    ashlar::spec built = tile();
    REQUIRE(std::memcmp(&built, &by_hand, sizeof(by_hand)) == 0);
}
END_TEST

START_TEST(every_setting_goes_to_its_member)
{
    float *pointer = reinterpret_cast<float *>(tensor);
    ashlar::spec spec =
        ashlar::tiled(ASHLAR_SPEC_TFLOAT32, pointer, ashlar::dims{64, 32, 16})
            .strides({512, 32768})
            .box({32, 8, 4})
            .element_strides({1, 2, 3})
            .interleave(ASHLAR_SPEC_INTERLEAVE_32B)
            .swizzle(ASHLAR_SPEC_SWIZZLE_32B)
            .l2_promotion(ASHLAR_SPEC_L2_256B)
            .oob_fill(ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA)
            .address(pointer + 8);

    REQUIRE(spec.mode == ASHLAR_SPEC_TILED && spec.rank == 3);
    REQUIRE(spec.dtype == ASHLAR_SPEC_TFLOAT32);
    REQUIRE(spec.address == tensor + 32);
    REQUIRE(spec.dims[0] == 64 && spec.dims[1] == 32 && spec.dims[2] == 16);
    REQUIRE(spec.strides[0] == 512 && spec.strides[1] == 32768);
    REQUIRE(spec.box[0] == 32 && spec.box[1] == 8 && spec.box[2] == 4);
    REQUIRE(spec.element_strides[0] == 1 && spec.element_strides[1] == 2);
    REQUIRE(spec.element_strides[2] == 3);
    REQUIRE(spec.interleave == ASHLAR_SPEC_INTERLEAVE_32B);
    REQUIRE(spec.swizzle == ASHLAR_SPEC_SWIZZLE_32B);
    REQUIRE(spec.l2_promotion == ASHLAR_SPEC_L2_256B);
    REQUIRE(spec.oob_fill == ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA);
}
END_TEST

START_TEST(columns_are_built_like_boxes)
{
    const std::array<int, 4> image{64, 56, 56, 8};
    ashlar::spec columns =
        ashlar::im2col<__nv_bfloat16>(tensor, ashlar::dims(image))
            .corners({-1, -2}, {1, 2})
            .channels(32)
            .pixels(128);
    ashlar::spec wide = ashlar::im2col_wide<float>(tensor, ashlar::dims(image))
                            .corners(-3, 3)
                            .wide_mode(ASHLAR_SPEC_WIDE_W128);

    REQUIRE(columns.mode == ASHLAR_SPEC_IM2COL && columns.rank == 4);
    REQUIRE(columns.dtype == ASHLAR_SPEC_BFLOAT16);
    REQUIRE(columns.lower_corner[0] == -1 && columns.lower_corner[1] == -2);
    REQUIRE(columns.upper_corner[0] == 1 && columns.upper_corner[1] == 2);
    REQUIRE(columns.channels == 32 && columns.pixels == 128);
    REQUIRE(columns.strides[0] == 128 && columns.strides[1] == 128 * 56);
    REQUIRE(wide.mode == ASHLAR_SPEC_IM2COL_WIDE);
    REQUIRE(wide.lower_corner[0] == -3 && wide.upper_corner[0] == 3);
    REQUIRE(wide.wide_mode == ASHLAR_SPEC_WIDE_W128);
}
END_TEST

START_TEST(element_types_are_known_by_what_they_are)
{
    using ashlar::element_of;

    static_assert(element_of<unsigned char> == ASHLAR_SPEC_UINT8);
    static_assert(element_of<std::byte> == ASHLAR_SPEC_UINT8);
    static_assert(element_of<short> == ASHLAR_SPEC_UINT16);
    static_assert(element_of<int> == ASHLAR_SPEC_INT32);
    static_assert(element_of<std::uint32_t> == ASHLAR_SPEC_UINT32);
    static_assert(element_of<long> == ASHLAR_SPEC_INT64);
    static_assert(element_of<std::uint64_t> == ASHLAR_SPEC_UINT64);
    static_assert(element_of<float> == ASHLAR_SPEC_FLOAT32);
    static_assert(element_of<double> == ASHLAR_SPEC_FLOAT64);
    static_assert(element_of<__half> == ASHLAR_SPEC_FLOAT16);
    static_assert(element_of<__nv_bfloat16> == ASHLAR_SPEC_BFLOAT16);
    static_assert(element_of<c10::BFloat16> == ASHLAR_SPEC_BFLOAT16);
    static_assert(element_of<my::half> == ASHLAR_SPEC_FLOAT16);
    REQUIRE(ashlar::tiled<my::half>(tensor, ashlar::dims{64}).build().rank ==
            1);
}
END_TEST

/* Numbers that a member cannot hold must not come out as right ones. */
START_TEST(numbers_that_do_not_fit_are_refused_and_not_cut)
{
    ashlar::spec box = tile().box({64, (std::uint64_t(1) << 32) + 64});
    ashlar::spec corner =
        ashlar::im2col<float>(tensor, ashlar::dims{64, 8, 8})
            .corners(-(std::int64_t(1) << 40), std::int64_t(1) << 40);
    ashlar::spec rows =
        ashlar::tiled<double>(tensor, ashlar::dims{~std::uint64_t(0), 2});

    REQUIRE(box.box[1] == UINT32_MAX);
    REQUIRE(corner.lower_corner[0] == INT32_MIN);
    REQUIRE(corner.upper_corner[0] == INT32_MAX);
    REQUIRE(rows.strides[0] == UINT64_MAX);
    REQUIRE(thrown_by_spec(box) != "" && thrown_by_spec(corner) != "");
    REQUIRE(thrown_by_spec(rows) != "");
}
END_TEST

/* --- check ---------------------------------------------------------------- */

START_TEST(all_that_is_wrong_is_told_at_once)
{
    ashlar::spec wrong =
        ashlar::tiled<__half>(tensor + 8, ashlar::dims{1025, 64})
            .box({128, 64})
            .swizzle(ASHLAR_SPEC_SWIZZLE_128B);
    bool thrown = false;

    try {
        (void)ashlar::check(wrong);
    } catch (const ashlar::error &refused) {
        auto &error = dynamic_cast<const ashlar::spec_error &>(refused);
        const ashlar::findings &found = error.findings();

        thrown = true;
        REQUIRE(error.status() == ASHLAR_ERR_INVALID && error.culprit() == 0);
        REQUIRE(found.size() == 3 && found.errors() == 3);
        REQUIRE(std::string(error.what()) ==
                std::string(found[0].explain()).append("\n") +
                    found[1].explain().c_str() + "\n" +
                    found[2].explain().c_str());
        REQUIRE(found[0].field == ASHLAR_SPEC_FIELD_ADDRESS);
        REQUIRE(std::string(found[1].rule_name()) == "stride-multiple");
        REQUIRE(
            std::string(found[1].explain("pitch").c_str()) ==
            "pitch[0] is 2050 bytes; it must be a multiple of 16: pad it to "
            "2064 bytes");
    }
    REQUIRE(thrown);
}
END_TEST

START_TEST(warnings_are_returned_and_walked_like_any_range)
{
    ashlar::findings found = ashlar::check(tile().address(0), 90);
    std::size_t seen = 0;

    for (const ashlar::finding &finding : found) {
        REQUIRE(!finding.is_error());
        REQUIRE(finding.rule == ASHLAR_RULE_ADDRESS_NULL);
        seen++;
    }
    REQUIRE(seen == 1 && found.size() == 1 && found.errors() == 0);
    REQUIRE(found.status() == ASHLAR_OK && !found.empty());
    REQUIRE(ashlar::check(tile(), 90).empty());
}
END_TEST

START_TEST(a_check_that_is_itself_wrong_finds_nothing_and_says_so)
{
    ashlar_spec sizeless = tile().build();
    bool thrown = false;

    sizeless.size = 0;
    REQUIRE(ashlar::check(std::nothrow, sizeless).empty());
    REQUIRE(ashlar::check(std::nothrow, sizeless).status() ==
            ASHLAR_ERR_INVALID);
    try {
        (void)ashlar::check(sizeless);
    } catch (const ashlar::spec_error &) {
    } catch (const ashlar::error &error) {
        thrown = error.status() == ASHLAR_ERR_INVALID;
    }
    REQUIRE(thrown);
}
END_TEST

START_TEST(what_a_device_lacks_is_told_where_it_is_known)
{
    ashlar::spec old = tile().swizzle(ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B);

    REQUIRE(thrown_by_spec(old) == "");
    REQUIRE(thrown_by_spec(old, 90) != "");
}
END_TEST

/* --- the suite ------------------------------------------------------------ */

static Suite *specs_suite(void)
{
    Suite *suite = suite_create("cxx_specs");
    TCase *specs = tcase_create("specs");
    TCase *check = tcase_create("check");

    tcase_add_test(specs, a_builder_fills_in_what_c_would);
    tcase_add_test(specs, every_setting_goes_to_its_member);
    tcase_add_test(specs, columns_are_built_like_boxes);
    tcase_add_test(specs, element_types_are_known_by_what_they_are);
    tcase_add_test(specs, numbers_that_do_not_fit_are_refused_and_not_cut);
    suite_add_tcase(suite, specs);
    tcase_add_test(check, all_that_is_wrong_is_told_at_once);
    tcase_add_test(check, warnings_are_returned_and_walked_like_any_range);
    tcase_add_test(check,
                   a_check_that_is_itself_wrong_finds_nothing_and_says_so);
    tcase_add_test(check, what_a_device_lacks_is_told_where_it_is_known);
    suite_add_tcase(suite, check);
    return suite;
}

int main()
{
    return suite_run(specs_suite());
}
