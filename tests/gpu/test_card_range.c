/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Ranges on a real card: growth, contents, and what running kernels use. */
#include "config.h"

#include "gpu/card.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define QUIET ASHLAR_QUIET, 1

/* Flags of get_mempolicy(2): the node of the page at an address. */
#define NODE_OF_ADDRESS 3

/* Long enough for a kernel to meet what was taken away too early. */
static const struct timespec fifty_ms = {0, 50000000};

#define PATIENCE_NS UINT64_C(10000000000)

/* What the driver may set aside for itself meanwhile, for launches and such. */
#define DRIVERS_OWN (8 * MIB)

static struct ashlar_source *source;
static uint64_t granule;
static uint64_t free_before;

static struct ashlar_source *open_source(const char *options)
{
    struct ashlar_source *opened;

    OK(ashlar_source_open("cuda", options, &opened));
    return opened;
}

static void start(void)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    card_start();
    free_before = card_free_bytes();
    source = open_source(NULL);
    OK(ashlar_source_query(source, &info));
    granule = info.granule;
}

/* What a source still has of one kind of thing. */
static uint64_t left_of(const struct ashlar_source_call *made,
                        const struct ashlar_source_call *undone)
{
    return made->count - made->refused - (undone->count - undone->refused);
}

/* Nothing waits, and all that was made is undone. */
static void finish(void)
{
    struct ashlar_source_calls calls = ASHLAR_SOURCE_CALLS_INIT;

    OK(ashlar_source_drain(source, PATIENCE_NS));
    OK(ashlar_source_query_calls(source, &calls));
    ck_assert_uint_eq(left_of(&calls.reserve, &calls.release), 0);
    ck_assert_uint_eq(left_of(&calls.create, &calls.destroy), 0);
    OK(ashlar_source_close(source));
    CU(cu.CtxSynchronize());
    ck_assert_uint_ge(card_free_bytes() + DRIVERS_OWN, free_before);
}

static struct ashlar_range *make(uint64_t reserve_bytes,
                                 uint64_t chunk_max_bytes, uint32_t flags)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range;

    options.reserve_bytes = reserve_bytes;
    options.chunk_max_bytes = chunk_max_bytes;
    options.flags = flags;
    OK(ashlar_range_create(source, &options, &range));
    return range;
}

static struct ashlar_range_info info_of(struct ashlar_range *range)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_query(range, &info));
    return info;
}

/* --- growth ------------------------------------------------------------------ */

START_TEST(a_thousand_grows_keep_the_base_and_the_contents)
{
    struct ashlar_range *range = make(1000 * granule, 0, 0);
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    uint64_t base = info_of(range).base;
    CUstream stream = card_stream();
    uint64_t i;

    for (i = 0; i < 1000; i++) {
        OK(ashlar_range_grow_to(range, (i + 1) * granule, &result));
        ck_assert_uint_eq(result.base, base);
        ck_assert_uint_eq(result.path, ASHLAR_RANGE_PATH_IN_RESERVATION);
        card_fill(stream, base + i * granule, granule, (uint32_t)i);
    }
    ck_assert_uint_eq(info_of(range).grows[ASHLAR_RANGE_PATH_MOVED], 0);
    CU(cu.StreamSynchronize(stream));
    for (i = 0; i < 1000; i++)
        ck_assert_uint_eq(
            card_count_wrong(base + i * granule, granule, (uint32_t)i), 0);
    CU(cu.StreamDestroy(stream));
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(contents_are_the_same_by_copies_and_by_kernels)
{
    struct ashlar_range *range = make(64 * granule, granule, 0);
    uint64_t base = info_of(range).base;
    uint32_t words[2] = {0, 0};
    uint64_t at;

    OK(ashlar_range_grow_to(range, 64 * granule, NULL));
    card_fill(NULL, base, 64 * granule, 7);
    CU(cu.CtxSynchronize());
    for (at = granule - 4; at < 63 * granule; at += granule) {
        CU(cu.MemcpyDtoH(words, base + at, sizeof(words)));
        ck_assert_uint_eq(words[0], at / 4 + 7);
        ck_assert_uint_eq(words[1], at / 4 + 8);
    }
    words[0] = 3;
    CU(cu.MemcpyHtoD(base + 5 * granule, words, sizeof(words[0])));
    ck_assert_uint_eq(card_count_wrong(base, 64 * granule, 7), 1);
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(a_grow_by_every_path_keeps_the_contents)
{
    struct ashlar_range *range =
        make(2 * granule, granule, ASHLAR_RANGE_MAY_MOVE);
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    unsigned i;

    OK(ashlar_range_grow_to(range, 2 * granule, &result));
    card_fill(NULL, result.base, 2 * granule, 11);
    for (i = 0; i < 6; i++) {
        OK(ashlar_range_grow_to(range, result.used_bytes + granule, &result));
        CU(cu.CtxSynchronize());
        ck_assert_uint_eq(
            card_count_wrong(result.base, result.used_bytes - granule, 11), 0);
        card_fill(NULL, result.base, result.used_bytes, 11);
    }
    CU(cu.CtxSynchronize());
    OK(ashlar_range_retire_old(range, QUIET));
    ck_assert_uint_eq(card_count_wrong(result.base, result.used_bytes, 11), 0);
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(a_failed_grow_leaves_a_range_that_kernels_can_use)
{
    struct ashlar_range *range = make(UINT64_C(1) << 40, 0, 0);
    uint64_t base = info_of(range).base;

    OK(ashlar_range_grow_to(range, 8 * granule, NULL));
    card_fill(NULL, base, 8 * granule, 5);
    ck_assert_int_eq(ashlar_range_grow_to(range, UINT64_C(1) << 39, NULL),
                     ASHLAR_ERR_NO_DEVICE_MEMORY);
    ck_assert_uint_eq(info_of(range).used_bytes, 8 * granule);
    CU(cu.CtxSynchronize());
    ck_assert_uint_eq(card_count_wrong(base, 8 * granule, 5), 0);
    OK(ashlar_range_grow_to(range, 9 * granule, NULL));
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(mapping_ahead_beside_a_running_kernel_disturbs_nothing)
{
    struct ashlar_range *range = make(64 * granule, granule, 0);
    CUstream stream = card_stream();
    uint64_t base = info_of(range).base;
    uint64_t i;

    OK(ashlar_range_grow_to(range, granule, NULL));
    card_spin(stream, base, granule);
    for (i = 2; i <= 64; i++) {
        OK(ashlar_range_prepare(range, i * granule,
                                i % 2 == 0 ? ASHLAR_RANGE_CREATED
                                           : ASHLAR_RANGE_MAPPED));
        OK(ashlar_range_grow_to(range, i * granule, NULL));
    }
    ck_assert_int_eq(cu.StreamQuery(stream), CUDA_ERROR_NOT_READY);
    card_stop();
    CU(cu.StreamSynchronize(stream));
    ck_assert_uint_eq(card_count_wrong(base, granule, 0), 0);
    CU(cu.StreamDestroy(stream));
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

/* --- what kernels use -------------------------------------------------------- */

START_TEST(nothing_is_unmapped_under_a_running_kernel)
{
    struct ashlar_range *range = make(32 * granule, granule, 0);
    CUstream stream = card_stream();
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, stream);
    uint64_t base = info_of(range).base;

    OK(ashlar_range_grow_to(range, 32 * granule, NULL));
    card_spin(stream, base + 16 * granule, 16 * granule);
    OK(ashlar_range_shrink_to(range, 4 * granule, &fence, 1, NULL));
    (void)nanosleep(&fifty_ms, NULL);
    ck_assert_int_eq(ashlar_source_drain(source, 0), ASHLAR_ERR_BUSY);
    ck_assert_int_eq(cu.StreamQuery(stream), CUDA_ERROR_NOT_READY);
    card_stop();
    CU(cu.StreamSynchronize(stream));
    OK(ashlar_source_drain(source, PATIENCE_NS));
    ck_assert_uint_eq(info_of(range).committed_bytes, 4 * granule);
    CU(cu.StreamDestroy(stream));
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(a_destroyed_range_stays_until_its_kernel_is_done)
{
    struct ashlar_range *range = make(8 * granule, 0, 0);
    CUstream stream = card_stream();
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, stream);

    OK(ashlar_range_grow_to(range, 8 * granule, NULL));
    card_spin(stream, info_of(range).base, 8 * granule);
    OK(ashlar_range_destroy(range, &fence, 1));
    (void)nanosleep(&fifty_ms, NULL);
    ck_assert_int_eq(ashlar_source_drain(source, 0), ASHLAR_ERR_BUSY);
    card_stop();
    CU(cu.StreamSynchronize(stream));
    OK(ashlar_source_drain(source, PATIENCE_NS));
    CU(cu.StreamDestroy(stream));
}
END_TEST

START_TEST(an_old_place_stays_until_the_work_that_uses_it_is_done)
{
    struct ashlar_range *range =
        make(2 * granule, granule, ASHLAR_RANGE_MAY_MOVE);
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    CUdeviceptr taken = 0;
    CUstream stream = card_stream();
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, stream);
    uint64_t base = info_of(range).base;
    CUresult neighbour;

    OK(ashlar_range_grow_to(range, 2 * granule, NULL));
    /* Somebody else has the addresses behind it. */
    neighbour = cu.MemAddressReserve(&taken, granule, 0, base + 2 * granule, 0);
    card_spin(stream, base, 2 * granule);
    OK(ashlar_range_grow_to(range, 4 * granule, &result));
    if (neighbour == CUDA_SUCCESS && taken == base + 2 * granule)
        ck_assert_uint_eq(result.path, ASHLAR_RANGE_PATH_MOVED);
    OK(ashlar_range_retire_old(range, &fence, 1));
    (void)nanosleep(&fifty_ms, NULL);
    ck_assert_int_eq(cu.StreamQuery(stream), CUDA_ERROR_NOT_READY);
    card_stop();
    CU(cu.StreamSynchronize(stream));
    OK(ashlar_source_drain(source, PATIENCE_NS));
    /* What the kernel wrote by the old addresses is at the new ones. */
    ck_assert_uint_eq(card_count_wrong(result.base, 2 * granule, 0), 0);
    if (neighbour == CUDA_SUCCESS)
        CU(cu.MemAddressFree(taken, granule));
    CU(cu.StreamDestroy(stream));
    OK(ashlar_range_destroy(range, QUIET));
}
END_TEST

START_TEST(an_event_of_the_callers_is_waited_for)
{
    struct ashlar_range *range = make(8 * granule, 0, 0);
    struct ashlar_fence fence = {ASHLAR_FENCE_EVENT, 0, NULL, 0};
    CUstream stream = card_stream();
    CUevent event;

    CU(cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(ashlar_range_grow_to(range, 8 * granule, NULL));
    card_spin(stream, info_of(range).base, 8 * granule);
    CU(cu.EventRecord(event, stream));
    fence.handle = (uint64_t)(uintptr_t)event;
    OK(ashlar_range_destroy(range, &fence, 1));
    ck_assert_int_eq(ashlar_source_drain(source, 0), ASHLAR_ERR_BUSY);
    card_stop();
    OK(ashlar_source_drain(source, PATIENCE_NS));
    CU(cu.EventDestroy(event));
    CU(cu.StreamDestroy(stream));
}
END_TEST

/* From a thread that has no context: contexts go by the stream. */
START_TEST(fences_need_no_current_context)
{
    struct ashlar_range *range = make(8 * granule, 0, 0);
    CUstream stream = card_stream();
    const struct ashlar_fence fences[] = {ASHLAR_FENCE_OF_STREAM(NULL, stream),
                                          ASHLAR_FENCE_OF_STREAM(NULL, 0)};
    CUcontext context;

    OK(ashlar_range_grow_to(range, 8 * granule, NULL));
    card_spin(stream, info_of(range).base, 8 * granule);
    CU(cu.CtxGetCurrent(&context));
    CU(cu.CtxSetCurrent(NULL));
    OK(ashlar_range_destroy(range, fences, 2));
    ck_assert_int_eq(ashlar_source_drain(source, 0), ASHLAR_ERR_BUSY);
    card_stop();
    OK(ashlar_source_drain(source, PATIENCE_NS));
    CU(cu.CtxSetCurrent(context));
    CU(cu.StreamDestroy(stream));
}
END_TEST

/* --- memory ------------------------------------------------------------------ */

static void use_up(uint64_t bytes, uint64_t total)
{
    struct ashlar_range *range;
    uint64_t done;

    for (done = 0; done < total; done += bytes) {
        range = make(bytes, 0, 0);
        OK(ashlar_range_grow_to(range, bytes, NULL));
        OK(ashlar_range_destroy(range, QUIET));
    }
}

START_TEST(four_times_the_memory_in_total_comes_back)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;

    OK(ashlar_source_query(source, &info));
    use_up(32 * GIB, 4 * info.memory_bytes);
    use_up(64 * MIB, 4 * GIB);
    ck_assert_uint_eq(card_free_bytes(), free_before);
}
END_TEST

START_TEST(a_pool_on_the_card_has_slots_that_kernels_use)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    const struct ashlar_type *type = ashlar_type_find("CUtensorMap");
    CUstream stream = card_stream();
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(source, stream);
    struct ashlar_pool *pool;
    void *slots[1000];
    unsigned i;

    ck_assert_ptr_nonnull(type);
    options.source = source;
    OK(ashlar_pool_create(type, &options, &pool));
    OK(ashlar_pool_get_bulk(pool, slots, 1000));
    for (i = 0; i < 1000; i++) {
        ck_assert_uint_eq((uintptr_t)slots[i] % 128, 0);
        card_fill(stream, (uint64_t)(uintptr_t)slots[i], 128, i);
    }
    CU(cu.StreamSynchronize(stream));
    for (i = 0; i < 1000; i += 37)
        ck_assert_uint_eq(
            card_count_wrong((uint64_t)(uintptr_t)slots[i], 128, i), 0);
    card_spin(stream, (uint64_t)(uintptr_t)slots[0], 128);
    OK(ashlar_pool_put_after(pool, slots, 1000, &fence, 1, NULL));
    card_stop();
    CU(cu.StreamSynchronize(stream));
    CU(cu.StreamDestroy(stream));
    OK(ashlar_pool_trim(pool, NULL));
    OK(ashlar_pool_destroy(pool, 0));
}
END_TEST

/* The node that the page at an address is on; -1 when the kernel cannot say. */
static int node_at(uint64_t address)
{
    int node = -1;

    if (syscall(SYS_get_mempolicy, &node, NULL, 0UL, (unsigned long)address,
                NODE_OF_ADDRESS) != 0)
        return -1;
    return node;
}

START_TEST(host_memory_is_read_and_written_by_the_processor_and_by_kernels)
{
    struct ashlar_source *host = open_source("location=host");
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_range *range;
    volatile uint32_t *words;
    uint64_t bytes;
    uint64_t i;
    int node;

    OK(ashlar_source_query(host, &info));
    ck_assert((info.can & ASHLAR_CAN_HOST_ACCESS) != 0);
    bytes = 8 * info.granule;
    options.reserve_bytes = 2 * bytes;
    OK(ashlar_range_create(host, &options, &range));
    OK(ashlar_range_grow_to(range, bytes, NULL));
    OK(ashlar_range_grow_to(range, 2 * bytes, NULL));
    words = (volatile uint32_t *)(uintptr_t)info_of(range).base;
    for (i = 0; i < 2 * bytes / 4; i++)
        words[i] = (uint32_t)i + 9;
    ck_assert_uint_eq(card_count_wrong(info_of(range).base, 2 * bytes, 9), 0);
    card_fill(NULL, info_of(range).base, 2 * bytes, 21);
    CU(cu.CtxSynchronize());
    for (i = 0; i < 2 * bytes / 4; i++)
        ck_assert_uint_eq(words[i], (uint32_t)i + 21);
    node = node_at(info_of(range).base);
    if (node >= 0)
        ck_assert_uint_eq((uint32_t)node + (uint32_t)card_count(),
                          info.home_location);
    OK(ashlar_range_destroy(range, QUIET));
    OK(ashlar_source_close(host));
}
END_TEST

/* -------------------------------------------------------------------------- */

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *test = tcase_create(name);

    tcase_add_checked_fixture(test, start, finish);
    tcase_set_timeout(test, 120);
    suite_add_tcase(suite, test);
    return test;
}

static Suite *card_range_suite(void)
{
    Suite *suite = suite_create("card_range");
    TCase *test = add_case(suite, "growth");

    tcase_add_test(test, a_thousand_grows_keep_the_base_and_the_contents);
    tcase_add_test(test, contents_are_the_same_by_copies_and_by_kernels);
    tcase_add_test(test, a_grow_by_every_path_keeps_the_contents);
    tcase_add_test(test, a_failed_grow_leaves_a_range_that_kernels_can_use);
    tcase_add_test(test,
                   mapping_ahead_beside_a_running_kernel_disturbs_nothing);

    test = add_case(suite, "kernels");
    tcase_add_test(test, nothing_is_unmapped_under_a_running_kernel);
    tcase_add_test(test, a_destroyed_range_stays_until_its_kernel_is_done);
    tcase_add_test(test,
                   an_old_place_stays_until_the_work_that_uses_it_is_done);
    tcase_add_test(test, an_event_of_the_callers_is_waited_for);
    tcase_add_test(test, fences_need_no_current_context);

    test = add_case(suite, "memory");
    tcase_add_test(test, four_times_the_memory_in_total_comes_back);
    tcase_add_test(test, a_pool_on_the_card_has_slots_that_kernels_use);
    tcase_add_test(
        test, host_memory_is_read_and_written_by_the_processor_and_by_kernels);
    return suite;
}

int main(void)
{
    const char *missing = card_missing();

    return missing != NULL ? suite_skip(missing)
                           : suite_run(card_range_suite());
}
