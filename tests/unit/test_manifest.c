/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "manifest.h"

#include <stdlib.h>
#include <string.h>

#include "support/suite.h"

#define TENSOR                                                                 \
    "{\"name\": \"A\", \"dtype\": \"bfloat16\", \"shape\": [4096, 128]}"
#define KERNEL(_tensors)                                                       \
    "{\"kernel\": \"k\", \"instances\": 2, \"tensors\": [" _tensors "]}\n"
#define IN_TENSOR(_field)                                                      \
    KERNEL(                                                                    \
        "{\"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [64, 8], " _field   \
        "}")
#define IN_IM2COL(_shape, _fields)                                             \
    KERNEL("{\"name\": \"A\", \"dtype\": \"bf16\", \"mode\": \"im2col\", "     \
           "\"shape\": " _shape ", \"channels_per_pixel\": 64, "               \
           "\"pixels_per_column\": 128, " _fields "}")

static struct manifest manifest;
static struct mistakes mistakes;

static void read_bytes(const char *bytes, size_t n)
{
    FILE *stream = fmemopen((void *)(uintptr_t)bytes, n, "r");
    struct progress progress;

    ck_assert_ptr_nonnull(stream);
    progress_start(&progress, PROGRESS_NEVER);
    mistakes_start(&mistakes, "m.jsonl");
    ck_assert(manifest_read(stream, n, &progress, &mistakes, &manifest));
    fclose(stream);
}

static void forget(void)
{
    mistakes_end(&mistakes);
    manifest_clear(&manifest);
}

static void read_text(const char *text)
{
    read_bytes(text, strlen(text));
}

/* Without a mistake, or the first one is shown. */
static void read_good(const char *text)
{
    read_text(text);
    if (mistakes.count != 0)
        ck_abort_msg("%s", mistakes.sentences[0]);
}

static void expect_mistake(const char *text, const char *sentence)
{
    read_text(text);
    ck_assert_uint_ge(mistakes.count, 1);
    ck_assert_str_eq(mistakes.sentences[0], sentence);
    ck_assert_uint_eq(mistakes.count, 1);
    forget();
}

START_TEST(a_kernel_is_read_with_its_tensors)
{
    const struct kernel *kernel;
    const struct tensor *tensor;

    read_good("{\"kernel\": \"gemm\", \"instances\": 32, \"tensors\": [" TENSOR
              ", {\"name\": \"B\", \"dtype\": \"float16\", "
              "\"shape\": [64, 9, 7], \"strides\": [128, 4096], "
              "\"box\": [64, 8, 1], \"element_strides\": [1, 2, 1], "
              "\"interleave\": \"none\", \"swizzle\": \"swizzle_128B\", "
              "\"l2_promotion\": \"l2_256B\", "
              "\"oob_fill\": \"nan_request_zero_fma\"}]}\n");
    ck_assert_uint_eq(manifest.kernel_count, 1);
    ck_assert_uint_eq(manifest.instances, 32);
    ck_assert_uint_eq(manifest.descriptors, 64);
    kernel = &manifest.kernels[0];
    ck_assert_str_eq(kernel->name, "gemm");
    ck_assert_uint_eq(kernel->tensor_count, 2);
    tensor = &kernel->tensors[1];
    ck_assert_str_eq(tensor->name, "B");
    ck_assert_uint_eq(tensor->dtype, 6);
    ck_assert_uint_eq(tensor->rank, 3);
    ck_assert_int_eq(tensor->shape[2], 7);
    ck_assert_uint_eq(tensor->stride_count, 2);
    ck_assert_int_eq(tensor->strides[1], 4096);
    ck_assert_uint_eq(tensor->box_count, 3);
    ck_assert_int_eq(tensor->box[1], 8);
    ck_assert_int_eq(tensor->element_strides[1], 2);
    ck_assert_uint_eq(tensor->swizzle, 3);
    ck_assert_uint_eq(tensor->l2_promotion, 3);
    ck_assert_uint_eq(tensor->oob_fill, 1);
    forget();
}
END_TEST

START_TEST(what_is_left_out_has_the_documented_default)
{
    const struct tensor *tensor;

    read_good(KERNEL(TENSOR));
    tensor = &manifest.kernels[0].tensors[0];
    ck_assert_int_eq(tensor->mode, TENSOR_TILED);
    ck_assert_uint_eq(tensor->stride_count, 0);
    ck_assert_uint_eq(tensor->box_count, 0);
    ck_assert_int_eq(tensor->element_strides[1], 1);
    ck_assert_uint_eq(tensor->interleave, 0);
    ck_assert_uint_eq(tensor->swizzle, 0);
    ck_assert_uint_eq(tensor->l2_promotion, 0);
    ck_assert_uint_eq(tensor->oob_fill, 0);
    forget();
}
END_TEST

START_TEST(im2col_fields_are_read)
{
    const struct tensor *tensor;

    read_good(IN_IM2COL("[64, 56, 56, 32]",
                        "\"pixel_box_lower_corner\": [-1, -2], "
                        "\"pixel_box_upper_corner\": [1, 2]"));
    tensor = &manifest.kernels[0].tensors[0];
    ck_assert_int_eq(tensor->mode, TENSOR_IM2COL);
    ck_assert_uint_eq(tensor->corner_count, 2);
    ck_assert_int_eq(tensor->lower_corner[1], -2);
    ck_assert_int_eq(tensor->upper_corner[0], 1);
    ck_assert_int_eq(tensor->channels_per_pixel, 64);
    ck_assert_int_eq(tensor->pixels_per_column, 128);
    forget();
}
END_TEST

START_TEST(im2col_wide_fields_are_read)
{
    const struct tensor *tensor;

    read_good(KERNEL("{\"name\": \"A\", \"mode\": \"im2col_wide\", \"dtype\": "
                     "\"float16\", \"shape\": [64, 56, 56, 2, 32], "
                     "\"pixel_box_lower_corner\": [-300], "
                     "\"pixel_box_upper_corner\": [300], \"channels_per_pixel\""
                     ": 64, \"pixels_per_column\": 1, \"wide_mode\": \"w128\", "
                     "\"swizzle\": \"128B\"}"));
    tensor = &manifest.kernels[0].tensors[0];
    ck_assert_int_eq(tensor->mode, TENSOR_IM2COL_WIDE);
    ck_assert_uint_eq(tensor->rank, 5);
    ck_assert_int_eq(tensor->lower_corner[0], -300);
    ck_assert_uint_eq(tensor->wide_mode, 1);
    forget();
}
END_TEST

START_TEST(empty_lines_marks_and_line_ends_are_taken_as_they_come)
{
    read_good("\xef\xbb\xbf" KERNEL(TENSOR) "\n  \t\r\n" KERNEL(
        "") "\r\n"
            "{\"kernel\": \"k\", \"instances\": 1, \"tensors\": []}");
    ck_assert_uint_eq(manifest.kernel_count, 3);
    ck_assert_uint_eq(manifest.descriptors, 2);
    forget();
}
END_TEST

#define AT "m.jsonl:1: field \"tensors[0]."
#define DTYPES                                                                 \
    "one of uint8, uint16, uint32, int32, uint64, int64, float16, float32, "   \
    "float64, bfloat16, float32_ftz, tfloat32, tfloat32_ftz, 16u4_align8b, "   \
    "16u4_align16b, 16u6_align16b"

static const struct {
    const char *text;
    const char *sentence;
} wrong[] = {
    {"", "m.jsonl: there is no kernel in it; each line must be one object, "
         "{\"kernel\": ..., \"instances\": ..., \"tensors\": [...]}"},
    {"[1]\n", "m.jsonl:1: the line is a list; it must be one object, "
              "{\"kernel\": ..., \"instances\": ..., \"tensors\": [...]}"},
    {"{\"instances\": 1, \"tensors\": []}\n",
     "m.jsonl:1: field \"kernel\" is missing; it must be a text that is not "
     "empty"},
    {"{\"kernel\": \"\", \"instances\": 1, \"tensors\": []}\n",
     "m.jsonl:1: field \"kernel\" is \"\"; it must be a text that is not "
     "empty"},
    {"{\"kernel\": \"k\", \"tensors\": []}\n",
     "m.jsonl:1: field \"instances\" is missing; it must be an integer from 1 "
     "to "
     "4294967295"},
    {"{\"kernel\": \"k\", \"instances\": 0, \"tensors\": []}\n",
     "m.jsonl:1: field \"instances\" is 0; it must be an integer from 1 to "
     "4294967295"},
    {"{\"kernel\": \"k\", \"instances\": 1.0, \"tensors\": []}\n",
     "m.jsonl:1: field \"instances\" is 1.0; it must be an integer from 1 to "
     "4294967295"},
    {"{\"kernel\": \"k\", \"instances\": 1, \"tensors\": {}}\n",
     "m.jsonl:1: field \"tensors\" is {}; it must be a list of objects, one "
     "for "
     "each tensor"},
    {"{\"kernel\": \"k\", \"instances\": 1, \"tensors\": [], \"tensor\": 1}\n",
     "m.jsonl:1: field \"tensor\" is 1; no field has that name: did you mean "
     "\"tensors\"?"},
    {"{\"kernel\": \"k\", \"instances\": 1, \"tensors\": [], \"blah\": 1}\n",
     "m.jsonl:1: field \"blah\" is 1; no field has that name"},
    {KERNEL("7"),
     "m.jsonl:1: field \"tensors[0]\" is 7; it must be an object such as "
     "{\"name\": \"A\", \"dtype\": \"bfloat16\", \"shape\": [4096, 128]}"},
    {KERNEL(TENSOR ", " TENSOR),
     "m.jsonl:1: field \"tensors[1].name\" is \"A\"; it must be another than "
     "that of tensors[0] of this kernel"},
    {KERNEL("{\"dtype\": \"bf16\", \"shape\": [1]}"),
     AT "name\" is missing; it must be a text that is not empty"},
    {KERNEL("{\"name\": \"A\", \"shape\": [1]}"),
     AT "dtype\" is missing; it must be " DTYPES},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"bf17\", \"shape\": [1]}"),
     AT "dtype\" is \"bf17\"; it must be " DTYPES ": did you mean \"bf16\"?"},
    {KERNEL("{\"name\": \"A\", \"dtype\": 7, \"shape\": [1]}"),
     AT "dtype\" is 7; it must be " DTYPES},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"bf16\"}"), AT
     "shape\" is missing; it must be a list of 1 to 5 integers, one for each "
     "dimension"},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"bf16\", \"shape\": []}"),
     AT "shape\" is []; it must be a list of 1 to 5 integers, one for each "
        "dimension"},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [1,2,3,4,5,6]}"),
     AT
     "shape\" is [1,2,3,4,5,6]; it must be a list of 1 to 5 integers, one for "
     "each dimension"},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [8, 0]}"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": shape[1] is 0; it must be 1 to "
     "4294967296 (dim-range)"},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"bf16\", \"shape\": [4294967297]}"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": shape[0] is 4294967297; it must "
     "be 1 "
     "to 4294967296 (dim-range)"},
    {KERNEL("{\"name\": \"A\", \"dtype\": \"uint8\", \"shape\": "
            "[4294967296, 4294967296, 4294967296]}"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": strides[1] does not fit 64 bits, "
     "as dims[1] is 4294967296 and a step in it 4294967296 bytes"},
    {IN_TENSOR("\"strides\": [128, 128]"), AT
     "strides\" is [128,128]; it must be a list of 1 integer, the bytes of a "
     "step in each dimension of \"shape\" but the first"},
    {IN_TENSOR("\"strides\": [1099511627776]"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": strides[0] is 1099511627776 "
     "bytes; it "
     "must be below 1099511627776 (stride-range)"},
    {IN_TENSOR("\"strides\": [1.5]"),
     AT "strides[0]\" is 1.5; it must be an integer from 1 to 1099511627775"},
    {IN_TENSOR("\"strides\": [-128]"),
     AT "strides[0]\" is -128; it must be an integer from 1 to 1099511627775"},
    {IN_TENSOR("\"strides\": [200]"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": strides[0] is 200 bytes; it must "
     "be a "
     "multiple of 16: pad it to 208 bytes (stride-multiple)"},
    {IN_TENSOR("\"box\": [64]"), AT
     "box\" is [64]; it must be a list of 2 integers, one for each dimension "
     "of \"shape\""},
    {IN_TENSOR("\"box\": [64, 257]"), "m.jsonl:1: kernel \"k\", tensor \"A\": "
                                      "box[1] is 257; it must be 1 to 256 "
                                      "(box-range)"},
    {IN_TENSOR("\"element_strides\": [1, 9]"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": element_strides[1] is 9; it must "
     "be 1 "
     "to 8 (element-stride-range)"},
    {IN_TENSOR("\"swizzle\": \"12B\""), AT
     "swizzle\" is \"12B\"; it must be one of none, swizzle_32B, swizzle_64B, "
     "swizzle_128B, swizzle_128B_atom_32B, swizzle_128B_atom_32B_flip_8B, "
     "swizzle_128B_atom_64B"},
    {IN_TENSOR("\"interleave\": \"8B\""),
     AT "interleave\" is \"8B\"; it must be one of none, interleave_16B, "
        "interleave_32B"},
    {IN_TENSOR("\"l2_promotion\": \"l2_32B\""), AT
     "l2_promotion\" is \"l2_32B\"; it must be one of none, l2_64B, l2_128B, "
     "l2_256B: did you mean \"l2_64B\"?"},
    {IN_TENSOR("\"oob_fill\": null"),
     AT "oob_fill\" is null; it must be one of none, nan_request_zero_fma"},
    {IN_TENSOR("\"mode\": \"tile\""),
     AT "mode\" is \"tile\"; it must be one of tiled, im2col, im2col_wide: did "
        "you mean \"tiled\"?"},
    {IN_TENSOR("\"swizle\": \"none\""),
     AT "swizle\" is \"none\"; no field has that name: did you mean "
        "\"swizzle\"?"},
    {IN_TENSOR("\"channels_per_pixel\": 1"),
     AT "channels_per_pixel\" is 1; it must be left out, as \"mode\" is "
        "\"tiled\""},
    {IN_IM2COL("[64, 8]", "\"pixel_box_lower_corner\": [0], "
                          "\"pixel_box_upper_corner\": [0]"),
     AT "shape\" is [64,8]; it must be a list of 3 to 5 integers, one for each "
        "dimension of an im2col tensor"},
    {IN_IM2COL("[64, 8, 8, 2]", "\"pixel_box_upper_corner\": [0, 0]"),
     AT "pixel_box_lower_corner\" is missing; it must be a list of 2 integers, "
        "one for each dimension of \"shape\" but the first and the last"},
    {IN_IM2COL("[64, 8, 8, 8, 2]", "\"pixel_box_lower_corner\": [0, 0, -17], "
                                   "\"pixel_box_upper_corner\": [0, 0, 0]"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": pixel_box_lower_corner[2] is -17; "
     "it "
     "must be -16 to 15, as rank is 5 (corner-range)"},
    {IN_IM2COL("[64, 8, 2]", "\"pixel_box_lower_corner\": [0], "
                             "\"pixel_box_upper_corner\": [40000]"),
     "m.jsonl:1: kernel \"k\", tensor \"A\": pixel_box_upper_corner[0] is "
     "40000; "
     "it must be -32768 to 32767, as rank is 3 (corner-range)"},
    {IN_IM2COL("[64, 8, 2]", "\"pixel_box_lower_corner\": [0], "
                             "\"pixel_box_upper_corner\": [0], \"box\": [1]"),
     AT "box\" is [1]; it must be left out, as \"mode\" is \"im2col\""},
};

START_TEST(a_mistake_is_told_in_a_whole_sentence)
{
    expect_mistake(wrong[_i].text, wrong[_i].sentence);
}
END_TEST

/* What stands in the parentheses is the JSON reader's. */
START_TEST(a_line_that_is_no_json_is_told_with_the_column)
{
    const char *sentence;

    read_text(KERNEL(TENSOR) "{\"kernel\": }\n");
    ck_assert_uint_eq(mistakes.count, 1);
    sentence = mistakes.sentences[0];
    ck_assert_ptr_eq(
        strstr(sentence, "m.jsonl:2: the line is no JSON (column 12: "),
        sentence);
    ck_assert_ptr_nonnull(
        strstr(sentence, "); it must be one object, from { to }"));
    forget();
}
END_TEST

START_TEST(every_mistake_of_a_file_is_told)
{
    read_text(KERNEL(TENSOR) "{\n" KERNEL("{}") KERNEL(TENSOR)
                  IN_TENSOR("\"box\": [0, 999]"));
    ck_assert_uint_eq(mistakes.count, 6);
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[0], "m.jsonl:2: "));
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[1], "m.jsonl:3: "));
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[2], "dtype"));
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[3], "shape"));
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[4], "m.jsonl:5: "));
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[4], "box[0]"));
    ck_assert_ptr_nonnull(strstr(mistakes.sentences[5], "box[1]"));
    forget();
}
END_TEST

START_TEST(of_very_many_mistakes_the_first_hundred_are_kept)
{
    char text[2 * 1000 + 1] = "";
    int i;

    for (i = 0; i < 1000; i++)
        memcpy(text + 2 * i, "{\n", 3);
    read_text(text);
    ck_assert_uint_eq(mistakes.count, 1000);
    ck_assert_ptr_nonnull(
        strstr(mistakes.sentences[MISTAKES_KEPT - 1], "m.jsonl:100: "));
    forget();
}
END_TEST

START_TEST(control_characters_do_not_reach_the_terminal)
{
    size_t i, j;

    read_text("{\"kernel\": \"k\", \"instances\": 1, \"tensors\": [], "
              "\"\\u001b[31m\\u009b\": \"\\u001b[2J\x7f\"}\n");
    ck_assert_uint_eq(mistakes.count, 1);
    for (i = 0; i < mistakes.count; i++)
        for (j = 0; mistakes.sentences[i][j] != '\0'; j++)
            ck_assert_int_ge(mistakes.sentences[i][j], ' ');
    ck_assert_ptr_null(strchr(mistakes.sentences[0], 0x7f));
    forget();
}
END_TEST

START_TEST(more_descriptors_than_a_pool_holds_are_refused)
{
    expect_mistake(
        "{\"kernel\": \"k\", \"instances\": 4294967295, \"tensors\": "
        "[" TENSOR "]}\n" KERNEL(TENSOR),
        "m.jsonl: it has 4,294,967,297 descriptors in all; a pool "
        "holds at most 4,294,967,295");
}
END_TEST

START_TEST(a_folder_cannot_be_read)
{
    FILE *stream = fopen("/", "r");
    struct progress progress;

    ck_assert_ptr_nonnull(stream);
    progress_start(&progress, PROGRESS_NEVER);
    mistakes_start(&mistakes, "/");
    ck_assert(manifest_read(stream, 0, &progress, &mistakes, &manifest));
    ck_assert_uint_eq(mistakes.count, 1);
    ck_assert_str_eq(mistakes.sentences[0],
                     "/: the file cannot be read: Is a directory");
    fclose(stream);
    forget();
}
END_TEST

/* Small, and with something of every kind in it. */
static const char sample[] =
    "{\"kernel\":\"k\\n\",\"instances\":2,\"tensors\":[{\"name\":\"A\","
    "\"dtype\":\"bf16\",\"shape\":[64,8],\"strides\":[128],\"box\":[8,8],"
    "\"swizzle\":\"32B\"}]}\n"
    "{\"kernel\":\"c\",\"instances\":1,\"tensors\":[{\"name\":\"\xc3\xa9\","
    "\"mode\":\"im2col\",\"dtype\":\"uint8\",\"shape\":[64,8,2],"
    "\"pixel_box_lower_corner\":[-1],\"pixel_box_upper_corner\":[1],"
    "\"channels_per_pixel\":64,\"pixels_per_column\":8}]}";

START_TEST(every_prefix_is_read_or_refused)
{
    size_t n;

    for (n = 1; n < sizeof(sample); n++) {
        read_bytes(sample, n);
        ck_assert(mistakes.count != 0 || manifest.kernel_count != 0);
        forget();
    }
}
END_TEST

START_TEST(every_changed_byte_is_read_or_refused)
{
    static const char small[] =
        "{\"kernel\":\"\xc3\xa9\\n\",\"instances\":2,\"tensors\":[{\"name\":"
        "\"A\","
        "\"dtype\":\"bf16\",\"shape\":[64,8],\"strides\":[128]}]}";
    char text[sizeof(small)];
    size_t at;
    int change;

    memcpy(text, small, sizeof(small));
    for (at = 0; at + 1 < sizeof(small); at++) {
        for (change = 1; change < 256; change++) {
            text[at] = (char)(small[at] ^ change);
            read_bytes(text, sizeof(small) - 1);
            ck_assert(mistakes.count != 0 || manifest.kernel_count != 0);
            forget();
        }
        text[at] = small[at];
    }
}
END_TEST

START_TEST(every_lost_byte_is_read_or_refused)
{
    char text[sizeof(sample)];
    size_t at;

    for (at = 0; at + 1 < sizeof(sample); at++) {
        memcpy(text, sample, at);
        memcpy(text + at, sample + at + 1, sizeof(sample) - at - 1);
        read_text(text);
        ck_assert(mistakes.count != 0 || manifest.kernel_count != 0);
        forget();
    }
}
END_TEST

static Suite *manifest_suite(void)
{
    Suite *suite = suite_create("manifest");
    TCase *good = tcase_create("good");
    TCase *bad = tcase_create("mistakes");
    TCase *broken = tcase_create("broken");

    tcase_add_test(good, a_kernel_is_read_with_its_tensors);
    tcase_add_test(good, what_is_left_out_has_the_documented_default);
    tcase_add_test(good, im2col_fields_are_read);
    tcase_add_test(good, im2col_wide_fields_are_read);
    tcase_add_test(good,
                   empty_lines_marks_and_line_ends_are_taken_as_they_come);
    suite_add_tcase(suite, good);
    tcase_add_loop_test(bad, a_mistake_is_told_in_a_whole_sentence, 0,
                        (int)(sizeof(wrong) / sizeof(wrong[0])));
    tcase_add_test(bad, a_line_that_is_no_json_is_told_with_the_column);
    tcase_add_test(bad, every_mistake_of_a_file_is_told);
    tcase_add_test(bad, of_very_many_mistakes_the_first_hundred_are_kept);
    tcase_add_test(bad, control_characters_do_not_reach_the_terminal);
    tcase_add_test(bad, more_descriptors_than_a_pool_holds_are_refused);
    tcase_add_test(bad, a_folder_cannot_be_read);
    suite_add_tcase(suite, bad);
    tcase_add_test(broken, every_prefix_is_read_or_refused);
    tcase_add_test(broken, every_changed_byte_is_read_or_refused);
    tcase_add_test(broken, every_lost_byte_is_read_or_refused);
    suite_add_tcase(suite, broken);
    return suite;
}

int main(void)
{
    return suite_run(manifest_suite());
}
