/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Tensor maps through the plug-in: what the driver says, and without a context. */
#include "config.h"

#include "cuda/rig.h"

#include "support/encode_source.h"
#include "support/stress.h"

#include <dlfcn.h>

#include <string.h>

#define COUNT 64

static struct ashlar_spec specs[COUNT];
static void *maps[COUNT];

static void start(void)
{
    size_t i;

    rig_start("devices=2", NULL);
    for (i = 0; i < COUNT; i++)
        specs[i] = encode_spec(i);
}

static void end(void)
{
    OK(ashlar_source_close(rig.source));
}

static enum ashlar_status encode(const struct ashlar_spec *spec, void *map)
{
    return ashlar_tensormap_encode(rig.source, spec, map);
}

START_TEST(a_map_is_what_the_drivers_encoder_makes)
{
    struct ashlar_spec spec = encode_spec(3);
    _Alignas(128) CUtensorMap map, theirs;
    CUresult (*tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                      const cuuint64_t *, const cuuint64_t *,
                      const cuuint32_t *, const cuuint32_t *,
                      CUtensorMapInterleave, CUtensorMapSwizzle,
                      CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    void *entry = dlsym(cu.library, "cuTensorMapEncodeTiled");

    memcpy(&tiled, &entry, sizeof(entry));
    OK(encode(&spec, &map));
    CU(tiled(&theirs, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2,
             (void *)(uintptr_t)spec.address, spec.dims, spec.strides, spec.box,
             spec.element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
             CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE,
             CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    ck_assert_mem_eq(&map, &theirs, sizeof(map));
}
END_TEST

START_TEST(every_encoder_is_reached)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap tiled, im2col;

    spec.rank = 3;
    spec.dims[2] = 8;
    spec.strides[1] = 1 << 21;
    spec.box[2] = spec.element_strides[2] = 1;
    spec.channels = 64;
    spec.pixels = 16;
    OK(encode(&spec, &tiled));
    spec.mode = ASHLAR_SPEC_IM2COL;
    OK(encode(&spec, &im2col));
    ck_assert_mem_ne(&tiled, &im2col, sizeof(tiled));
    spec.mode = ASHLAR_SPEC_IM2COL_WIDE;
    OK(encode(&spec, &tiled));
    ck_assert_mem_ne(&tiled, &im2col, sizeof(tiled));
    ck_assert_uint_eq(sim.calls("cuTensorMapEncodeIm2colWide"), 1);
}
END_TEST

START_TEST(bad_arguments_are_told_by_their_rule)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;

    spec.strides[0] = 2050;
    REFUSED(ASHLAR_ERR_INVALID, "pad it to 2064", encode(&spec, &map));
    spec = encode_spec(1);
    spec.rank = 6;
    REFUSED(ASHLAR_ERR_INVALID, "rank is 6", encode(&spec, &map));
    spec = encode_spec(1);
    spec.mode = 3;
    REFUSED(ASHLAR_ERR_INVALID, "mode is 3", encode(&spec, &map));
    /* The source knows the device. */
    spec = encode_spec(1);
    spec.dtype = ASHLAR_SPEC_16U4_ALIGN8B;
    REFUSED(ASHLAR_ERR_INVALID,
            "dtype is 16u4_align8b, which takes a device of compute capability "
            "10.0; this one has 9.0",
            encode(&spec, &map));
}
END_TEST

START_TEST(what_breaks_no_rule_is_told_in_the_drivers_own_word)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;

    sim.inject("cuTensorMapEncodeTiled", 1, CUDA_ERROR_INVALID_VALUE, 0);
    REFUSED(ASHLAR_ERR_INVALID,
            "cuTensorMapEncodeTiled() failed: CUDA_ERROR_INVALID_VALUE",
            encode(&spec, &map));
    sim.inject_none();
}
END_TEST

START_TEST(without_a_context_the_primary_one_is_started_once_and_left)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;
    CUcontext current;

    CU(cu.CtxSetCurrent(NULL));
    OK(encode(&spec, &map));
    CU(cu.CtxGetCurrent(&current));
    ck_assert_ptr_null(current);
    sim.count_none();
    OK(encode(&spec, &map));
    OK(ashlar_tensormap_rebase(rig.source, &map, spec.address + 4096));
    ck_assert_uint_eq(sim.calls("cuDevicePrimaryCtxRetain"), 0);
}
END_TEST

START_TEST(no_context_is_not_bad_arguments)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;

    sim.inject("cuTensorMapEncodeTiled", 1, CUDA_ERROR_INVALID_CONTEXT, 1);
    REFUSED(ASHLAR_ERR_DRIVER, "found no context", encode(&spec, &map));
    sim.inject_none();
    OK(encode(&spec, &map));
}
END_TEST

START_TEST(a_context_that_failed_before_is_not_bad_arguments)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;

    sim.fail_context(0, CUDA_ERROR_ILLEGAL_ADDRESS);
    REFUSED(ASHLAR_ERR_CONTEXT_FAILED, "CUDA_ERROR_ILLEGAL_ADDRESS",
            encode(&spec, &map));
}
END_TEST

START_TEST(a_driver_that_is_gone_is_told)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;

    sim.deinitialize();
    REFUSED(ASHLAR_ERR_NO_DRIVER, "CUDA_ERROR_DEINITIALIZED",
            encode(&spec, &map));
}
END_TEST

START_TEST(an_older_driver_has_no_wide_encoder)
{
    struct ashlar_source *source;
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;

    OK(ashlar_source_close(rig.source));
    sim_start("driver=12040");
    OK(rig_open_source(NULL, &source));
    OK(ashlar_tensormap_encode(source, &spec, &map));
    spec.mode = ASHLAR_SPEC_IM2COL_WIDE;
    REFUSED(ASHLAR_ERR_DRIVER_TOO_OLD,
            "CUDA 12.4 and has no cuTensorMapEncodeIm2colWide()",
            ashlar_tensormap_encode(source, &spec, &map));
    rig.source = source;
}
END_TEST

START_TEST(maps_are_encoded_while_a_stream_captures)
{
    struct ashlar_spec spec = encode_spec(1);
    _Alignas(128) CUtensorMap map;
    CUstream stream = rig_stream();
    CUgraph graph = NULL;

    CU(cu.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(encode(&spec, &map));
    CU(cu.CtxSetCurrent(NULL));
    OK(encode(&spec, &map));
    CU(cu.CtxSetCurrent(sim.context));
    CU(cu.StreamEndCapture(stream, &graph));
    ck_assert_ptr_nonnull(graph);
    CU(cu.GraphDestroy(graph));
    CU(cu.StreamDestroy(stream));
}
END_TEST

/* --- many ------------------------------------------------------------------- */

static struct ashlar_pool *pool;

static void start_many(void)
{
    start();
    OK(ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool));
}

static void end_many(void)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    OK(ashlar_pool_query(pool, &stats));
    ck_assert_uint_eq(stats.live_slots, 0);
    OK(ashlar_pool_destroy(pool, 0));
    end();
}

/* As many shapes, in turn. */
static void shape(size_t shapes)
{
    size_t i;

    for (i = 0; i < COUNT; i++)
        specs[i].dims[1] = 1024 + i % shapes;
    sim.count_none();
}

static enum ashlar_status encode_many(size_t *culprit_out)
{
    return ashlar_tensormap_encode_many(rig.source, pool, specs, COUNT, maps,
                                        culprit_out);
}

/* Each as if it had been encoded alone; puts them. */
static void check_many(void)
{
    _Alignas(128) CUtensorMap map;
    size_t i;

    for (i = 0; i < COUNT; i++) {
        OK(encode(&specs[i], &map));
        ck_assert_mem_eq(maps[i], &map, sizeof(map));
    }
    OK(ashlar_pool_put_bulk(pool, maps, COUNT, NULL));
}

START_TEST(the_driver_encodes_a_shape_once_and_moves_the_rest)
{
    static const size_t shapes[] = {1, 2, 4, COUNT};

    shape(shapes[_i]);
    OK(encode_many(NULL));
    ck_assert_uint_eq(sim.calls("cuTensorMapEncodeTiled"), shapes[_i]);
    ck_assert_uint_eq(sim.calls("cuTensorMapReplaceAddress"),
                      COUNT - shapes[_i]);
    check_many();
}
END_TEST

START_TEST(a_failing_call_at_any_place_of_many_leaves_no_slot)
{
    size_t n, culprit;

    shape(COUNT);
    for (n = 1; n <= COUNT; n++) {
        sim.inject("cuTensorMapEncodeTiled", n, CUDA_ERROR_LAUNCH_FAILED, 0);
        ck_assert_int_eq(encode_many(&culprit), ASHLAR_ERR_CONTEXT_FAILED);
        ck_assert_uint_eq(culprit, n - 1);
        sim.inject_none();
    }
    OK(encode_many(NULL));
    check_many();
}
END_TEST

START_TEST(a_failing_move_at_any_place_of_many_leaves_no_slot)
{
    size_t n, culprit;

    shape(1);
    for (n = 1; n < COUNT; n++) {
        sim.inject("cuTensorMapReplaceAddress", n, CUDA_ERROR_LAUNCH_FAILED, 0);
        ck_assert_int_eq(encode_many(&culprit), ASHLAR_ERR_CONTEXT_FAILED);
        ck_assert_uint_eq(culprit, n);
        sim.inject_none();
    }
    OK(encode_many(NULL));
    check_many();
}
END_TEST

START_TEST(what_the_driver_would_not_move_it_encodes)
{
    size_t n;

    shape(1);
    for (n = 1; n < COUNT; n += 9) {
        sim.inject("cuTensorMapReplaceAddress", n, CUDA_ERROR_INVALID_VALUE, 0);
        OK(encode_many(NULL));
        sim.inject_none();
        check_many();
    }
}
END_TEST

static void use_them_in_the_child(void *user)
{
    struct ashlar_tensormap_batch *batch = user;
    _Alignas(128) CUtensorMap map;
    size_t culprit = COUNT;

    STRESS_EXPECT(encode(specs, &map) == ASHLAR_ERR_FORKED, "%s",
                  ashlar_last_error_message());
    STRESS_EXPECT(ashlar_tensormap_batch_work(batch) == ASHLAR_ERR_FORKED, "%s",
                  ashlar_last_error_message());
    STRESS_EXPECT(ashlar_tensormap_batch_finish(batch, &culprit) ==
                      ASHLAR_ERR_FORKED,
                  "%s", ashlar_last_error_message());
    STRESS_EXPECT(sim.calls("cuTensorMapEncodeTiled") == 0,
                  "the parent's driver was called");
}

START_TEST(in_a_child_of_fork_source_and_batch_are_the_parents)
{
    struct ashlar_tensormap_batch *batch;
    size_t culprit;

    OK(ashlar_tensormap_batch_create(rig.source, pool, specs, COUNT, maps,
                                     &batch));
    sim.count_none();
    stress_child(use_them_in_the_child, batch);
    stress_verdict();
    OK(ashlar_tensormap_batch_finish(batch, &culprit));
    check_many();
}
END_TEST

/* --- threads ---------------------------------------------------------------- */

static void use_cache(unsigned number, void *user)
{
    struct ashlar_tensormap_cache *cache = user;
    struct stress_random random = stress_stream(number);
    struct ashlar_spec spec;
    const void *map;
    size_t i;

    for (i = 0; i < 2000; i++) {
        spec = encode_spec(stress_below(&random, COUNT));
        if (STRESS_EXPECT(ashlar_tensormap_cache_get(cache, &spec, 0, &map) ==
                              ASHLAR_OK,
                          "%s", ashlar_last_error_message()))
            (void)ashlar_tensormap_cache_put(cache, map);
    }
}

/* No thread of these has a context. */
START_TEST(threads_share_a_cache_of_the_drivers_maps)
{
    struct ashlar_tensormap_cache *cache;

    OK(ashlar_tensormap_cache_create(rig.source, NULL, &cache));
    sim.count_none();
    stress_threads(8, use_cache, cache);
    stress_verdict();
    ck_assert_uint_le(sim.calls("cuDevicePrimaryCtxRetain"), 8);
    OK(ashlar_tensormap_cache_destroy(cache));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("cuda_encode");
    TCase *tcase = tcase_create("encode");

    stress_begin();
    tcase_add_checked_fixture(tcase, start, end);
    tcase_add_test(tcase, a_map_is_what_the_drivers_encoder_makes);
    tcase_add_test(tcase, every_encoder_is_reached);
    tcase_add_test(tcase, bad_arguments_are_told_by_their_rule);
    tcase_add_test(tcase, what_breaks_no_rule_is_told_in_the_drivers_own_word);
    tcase_add_test(tcase,
                   without_a_context_the_primary_one_is_started_once_and_left);
    tcase_add_test(tcase, no_context_is_not_bad_arguments);
    tcase_add_test(tcase, a_context_that_failed_before_is_not_bad_arguments);
    tcase_add_test(tcase, a_driver_that_is_gone_is_told);
    tcase_add_test(tcase, an_older_driver_has_no_wide_encoder);
    tcase_add_test(tcase, maps_are_encoded_while_a_stream_captures);
    tcase_add_test(tcase, threads_share_a_cache_of_the_drivers_maps);
    suite_add_tcase(suite, tcase);
    tcase = tcase_create("many");
    tcase_add_checked_fixture(tcase, start_many, end_many);
    tcase_add_loop_test(
        tcase, the_driver_encodes_a_shape_once_and_moves_the_rest, 0, 4);
    tcase_add_test(tcase, a_failing_call_at_any_place_of_many_leaves_no_slot);
    tcase_add_test(tcase, a_failing_move_at_any_place_of_many_leaves_no_slot);
    tcase_add_test(tcase, what_the_driver_would_not_move_it_encodes);
    tcase_add_test(tcase, in_a_child_of_fork_source_and_batch_are_the_parents);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
