/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What growth costs on a real card, beside the calls of the driver that it
 * cannot do without, timed by turns in the same run. Prints medians.
 *
 *     card_speed [ROUNDS]
 */
#include "config.h"

#include "gpu/card.h"

#include <stdio.h>

#define ROUNDS_MOST 1000
#define STEPS       1024
#define QUIET       ASHLAR_QUIET, 1

/* In microseconds, by round. */
struct series {
    double took[ROUNDS_MOST];
    unsigned count;
};

static struct ashlar_source *source;
static unsigned rounds = 51;

/* So many things began then; one of them is noted. */
static void note(struct series *series, double begin, unsigned things)
{
    series->took[series->count++] = (card_now_us() - begin) / things;
}

static double median(struct series *series)
{
    return card_median(series->took, series->count);
}

/* --- the driver's own -------------------------------------------------------- */

/* Memory made, mapped and accessible at a reserved address: what it took. */
static CUmemGenericAllocationHandle map_raw(CUdeviceptr address, uint64_t bytes,
                                            struct series *series)
{
    const CUmemAllocationProp properties = {
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    const CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
        .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle;
    double begin = card_now_us();

    CU(cu.MemCreate(&handle, bytes, &properties, 0));
    CU(cu.MemMap(address, bytes, 0, handle, 0));
    CU(cu.MemSetAccess(address, bytes, &access, 1));
    note(series, begin, 1);
    return handle;
}

static void unmap_raw(CUdeviceptr address, uint64_t bytes,
                      CUmemGenericAllocationHandle handle)
{
    CU(cu.MemUnmap(address, bytes));
    CU(cu.MemRelease(handle));
}

/* --- rows -------------------------------------------------------------------- */

static struct ashlar_range *make(uint64_t reserve_bytes)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range;

    options.reserve_bytes = reserve_bytes;
    OK(ashlar_range_create(source, &options, &range));
    return range;
}

static void timed_grow(struct ashlar_range *range, uint64_t total,
                       struct series *series)
{
    double begin = card_now_us();

    OK(ashlar_range_grow_to(range, total, NULL));
    note(series, begin, 1);
}

/* From one chunk to another of `bytes` more; the driver's three calls beside. */
static void grow_by(uint64_t from, uint64_t bytes)
{
    static struct series own;
    static struct series raw;
    CUmemGenericAllocationHandle handle;
    struct ashlar_range *range;
    CUdeviceptr address;
    unsigned i;

    own.count = raw.count = 0;
    CU(cu.MemAddressReserve(&address, from + bytes, 0, 0, 0));
    for (i = 0; i < rounds; i++) {
        range = make(from + bytes);
        OK(ashlar_range_grow_to(range, from, NULL));
        if (i % 2 == 0)
            timed_grow(range, from + bytes, &own);
        handle = map_raw(address + from, bytes, &raw);
        if (i % 2 != 0)
            timed_grow(range, from + bytes, &own);
        unmap_raw(address + from, bytes, handle);
        OK(ashlar_range_destroy(range, QUIET));
        OK(ashlar_source_drain(source, UINT64_MAX));
    }
    CU(cu.MemAddressFree(address, from + bytes));
    printf("grow %5lu -> %5lu MiB        %9.2f us   the driver's calls %9.2f "
           "us   ratio %.3f\n",
           (unsigned long)(from / MIB), (unsigned long)((from + bytes) / MIB),
           median(&own), median(&raw), median(&own) / median(&raw));
}

static struct ashlar_source_calls calls(void)
{
    struct ashlar_source_calls now = ASHLAR_SOURCE_CALLS_INIT;

    OK(ashlar_source_query_calls(source, &now));
    return now;
}

static uint64_t all_of(const struct ashlar_source_calls *now)
{
    return now->reserve.count + now->release.count + now->create.count +
           now->destroy.count + now->map.count + now->unmap.count +
           now->allow.count;
}

/*
 * Into what was prepared, in steps that are timed together, since reading the
 * clock is a system call on some machines: how long one is, and all calls.
 */
static void grow_into(uint64_t bytes, enum ashlar_range_depth depth,
                      unsigned steps)
{
    static struct series own;
    struct ashlar_source_calls before;
    struct ashlar_source_calls after = ASHLAR_SOURCE_CALLS_INIT;
    struct ashlar_range *range;
    unsigned step;
    double begin;
    unsigned i;

    own.count = 0;
    before = calls();
    for (i = 0; i < rounds; i++) {
        range = make(2 * bytes);
        OK(ashlar_range_grow_to(range, bytes, NULL));
        OK(ashlar_range_prepare(range, 2 * bytes, depth));
        before = calls();
        begin = card_now_us();
        for (step = 1; step <= steps; step++)
            OK(ashlar_range_grow_to(range, bytes + step * (bytes / steps),
                                    NULL));
        note(&own, begin, steps);
        after = calls();
        OK(ashlar_range_destroy(range, QUIET));
    }
    printf("grow by %4lu MiB that are %s %9.2f us   in %4u step(s), %lu "
           "create call(s), %lu call(s)\n",
           (unsigned long)(bytes / MIB),
           depth == ASHLAR_RANGE_CREATED ? "created" : "mapped ", median(&own),
           steps, (unsigned long)(after.create.count - before.create.count),
           (unsigned long)(all_of(&after) - all_of(&before)));
}

/* It is in each of the times that are of one call. */
static void read_clock(void)
{
    double begin = card_now_us();
    unsigned i;

    for (i = 0; i < STEPS; i++)
        (void)card_now_us();
    printf("# reading the clock takes %.2f us\n",
           (card_now_us() - begin) / STEPS);
}

/* Behind a stream that is idle: with its fence, at once. */
static void shrink_by(uint64_t bytes)
{
    static struct series own;
    CUstream stream = card_stream();
    const struct ashlar_fence fence = ASHLAR_FENCE_OF_STREAM(NULL, stream);
    struct ashlar_range *range;
    double begin;
    unsigned i;

    own.count = 0;
    for (i = 0; i < rounds; i++) {
        range = make(2 * bytes);
        OK(ashlar_range_grow_to(range, bytes, NULL));
        OK(ashlar_range_grow_to(range, 2 * bytes, NULL));
        begin = card_now_us();
        OK(ashlar_range_shrink_to(range, bytes, &fence, 1, NULL));
        OK(ashlar_source_drain(source, UINT64_MAX));
        note(&own, begin, 1);
        OK(ashlar_range_destroy(range, QUIET));
    }
    CU(cu.StreamDestroy(stream));
    printf("shrink by %4lu MiB, fenced     %9.2f us\n",
           (unsigned long)(bytes / MIB), median(&own));
}

START_TEST(growth_is_timed)
{
    static const uint64_t steps[] = {2 * MIB, 32 * MIB, 256 * MIB, GIB};
    int version = 0;
    unsigned i;

    card_start();
    OK(ashlar_source_open("cuda", NULL, &source));
    CU(cu.DriverGetVersion(&version));
    printf("# driver for CUDA %d.%d; medians of %u rounds\n", version / 1000,
           version % 1000 / 10, rounds);
    read_clock();
    for (i = 0; i < 4; i++)
        grow_by(steps[i], steps[i]);
    grow_by(64 * MIB, 64 * MIB);
    for (i = 0; i < 3; i++) {
        grow_into(steps[i], ASHLAR_RANGE_CREATED, 1);
        grow_into(steps[i], ASHLAR_RANGE_MAPPED, STEPS);
    }
    for (i = 0; i < 4; i++)
        shrink_by(steps[i]);
    OK(ashlar_source_close(source));
}
END_TEST

int main(int argc, char **argv)
{
    return card_speed_main(argc, argv, "card_speed", growth_is_timed, &rounds,
                           ROUNDS_MOST);
}
