/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tensor maps: which are refused, and what the bytes of one are. The rules on
 * both sides are in tests/cuda/random_specs.sh. */
#include "config.h"

#include "sim.h"

#include <string.h>

struct map {
    CUtensorMapDataType dtype;
    cuuint32_t rank;
    uint64_t address;
    cuuint64_t dims[5], strides[4];
    cuuint32_t box[5], steps[5];
    CUtensorMapInterleave interleave;
    CUtensorMapSwizzle swizzle;
    CUtensorMapFloatOOBfill fill;
};

static struct map plain(void)
{
    struct map map = {.dtype = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                      .rank = 2,
                      .address = UINT64_C(0x7f0000001000),
                      .dims = {1024, 1024},
                      .strides = {2048},
                      .box = {64, 64},
                      .steps = {1, 1},
                      .swizzle = CU_TENSOR_MAP_SWIZZLE_128B};

    return map;
}

static CUresult tiled(const struct map *map, CUtensorMap *out)
{
    return cuTensorMapEncodeTiled(
        out, map->dtype, map->rank, (void *)(uintptr_t)map->address, map->dims,
        map->strides, map->box, map->steps, map->interleave, map->swizzle,
        CU_TENSOR_MAP_L2_PROMOTION_NONE, map->fill);
}

static bool same(const CUtensorMap *a, const CUtensorMap *b)
{
    return memcmp(a, b, sizeof(*a)) == 0;
}

/* --- bytes ---------------------------------------------------------------- */

START_TEST(the_same_parameters_give_the_same_bytes_and_write_them_all)
{
    struct map map = plain();
    CUtensorMap one, two;

    memset(&one, 0x00, sizeof(one));
    memset(&two, 0xff, sizeof(two));
    OK(tiled(&map, &one));
    OK(tiled(&map, &two));
    ck_assert(same(&one, &two));
    map.box[1] = 32;
    OK(tiled(&map, &two));
    ck_assert(!same(&one, &two));
}
END_TEST

START_TEST(what_is_behind_the_rank_has_no_part_in_them)
{
    struct map map = plain();
    CUtensorMap one, two;

    OK(tiled(&map, &one));
    map.dims[3] = 9;
    map.strides[2] = 7;
    map.box[4] = 1000;
    OK(tiled(&map, &two));
    ck_assert(same(&one, &two));
}
END_TEST

START_TEST(another_address_gives_the_bytes_of_encoding_anew)
{
    struct map map = plain();
    CUtensorMap one, two;

    OK(tiled(&map, &one));
    map.address += 4096;
    OK(tiled(&map, &two));
    OK(cuTensorMapReplaceAddress(&one, (void *)(uintptr_t)map.address));
    ck_assert(same(&one, &two));
    IS(cuTensorMapReplaceAddress(&one, NULL), CUDA_ERROR_INVALID_VALUE);
    IS(cuTensorMapReplaceAddress(&one, (void *)(uintptr_t)8),
       CUDA_ERROR_INVALID_VALUE);
    IS(cuTensorMapReplaceAddress(NULL, (void *)(uintptr_t)4096),
       CUDA_ERROR_INVALID_VALUE);
    ck_assert(same(&one, &two));
    memset(&one, 0, sizeof(one));
    IS(cuTensorMapReplaceAddress(&one, (void *)(uintptr_t)4096),
       CUDA_ERROR_INVALID_VALUE);
}
END_TEST

START_TEST(a_map_may_lie_anywhere)
{
    struct map map = plain();
    CUtensorMap one;
    char room[256];
    size_t residue;

    OK(tiled(&map, &one));
    for (residue = 8; residue <= 120; residue += 8) {
        CUtensorMap *misaligned;
        char *at = room + residue;

        memcpy(&misaligned, &at, sizeof(at));
        OK(tiled(&map, misaligned));
        ck_assert(memcmp(at, &one, sizeof(one)) == 0);
    }
}
END_TEST

START_TEST(a_refused_map_is_spoilt)
{
    struct map map = plain();
    CUtensorMap one, two;

    memset(&one, 0, sizeof(one));
    two = one;
    map.strides[0] = 2050;
    IS(tiled(&map, &one), CUDA_ERROR_INVALID_VALUE);
    ck_assert(!same(&one, &two));
}
END_TEST

/* --- contexts ------------------------------------------------------------- */

START_TEST(encoding_takes_a_context)
{
    struct map map = plain();
    CUtensorMap one;

    OK(cuCtxSetCurrent(NULL));
    IS(tiled(&map, &one), CUDA_ERROR_INVALID_CONTEXT);
    IS(cuTensorMapReplaceAddress(&one, NULL), CUDA_ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(sim_context));
    OK(tiled(&map, &one));
    cudasim_fail_context(0, CUDA_ERROR_ILLEGAL_ADDRESS);
    IS(tiled(&map, &one), CUDA_ERROR_ILLEGAL_ADDRESS);
}
END_TEST

START_TEST(a_driver_that_was_not_started_does_not_encode)
{
    struct map map = plain();
    CUtensorMap one;

    ck_assert_int_eq(cudasim_reset(NULL), 0);
    IS(tiled(&map, &one), CUDA_ERROR_NOT_INITIALIZED);
}
END_TEST

START_TEST(maps_are_encoded_while_a_stream_captures)
{
    struct map map = plain();
    CUtensorMap one;
    CUgraph graph;

    OK(cuStreamBeginCapture(sim_stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(tiled(&map, &one));
    OK(cuStreamEndCapture(sim_stream, &graph));
    OK(cuGraphDestroy(graph));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cudasim_encode");
    TCase *bytes = tcase_create("bytes"), *contexts = tcase_create("contexts");

    tcase_add_checked_fixture(bytes, sim_begin, sim_end);
    tcase_add_test(bytes,
                   the_same_parameters_give_the_same_bytes_and_write_them_all);
    tcase_add_test(bytes, what_is_behind_the_rank_has_no_part_in_them);
    tcase_add_test(bytes, another_address_gives_the_bytes_of_encoding_anew);
    tcase_add_test(bytes, a_map_may_lie_anywhere);
    tcase_add_test(bytes, a_refused_map_is_spoilt);
    suite_add_tcase(suite, bytes);
    tcase_add_checked_fixture(contexts, sim_begin, NULL);
    tcase_add_test(contexts, encoding_takes_a_context);
    tcase_add_test(contexts, a_driver_that_was_not_started_does_not_encode);
    tcase_add_test(contexts, maps_are_encoded_while_a_stream_captures);
    suite_add_tcase(suite, contexts);
    return suite_run(suite);
}
