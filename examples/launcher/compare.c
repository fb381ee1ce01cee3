/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * How many launches a second each way of getting maps to them makes: all
 * problems, launched from one thread, until the device is done. The ways take
 * turns, and what is told is the median of their rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "launcher.h"
#include "must.h"
#include "table.h"

#define ROUNDS 15u

static struct {
    void **maps; /* encoded before, as the specs */
    struct ashlar_tensormap_cache *cache;
    struct ashlar_tensormap_handle *handles; /* published before */
    uint64_t base;                           /* of the table */
} kept;

/* --- the ways: the launch of problem i ------------------------------------- */

/* As it is done without a library: into a variable that is aligned by hand. */
static void encode_bare(const struct ashlar_spec *spec, CUtensorMap *map)
{
    CU(driver.TensorMapEncodeTiled(
        map, (CUtensorMapDataType)spec->dtype, spec->rank,
        (void *)(uintptr_t)spec->address, spec->dims, spec->strides, spec->box,
        spec->element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

static void encode_on_the_stack(struct launcher *launcher, size_t i)
{
    const struct ashlar_spec *specs = &launcher->problems.specs[2 * i];
    _Alignas(128) CUtensorMap from, to;

    encode_bare(&specs[0], &from);
    encode_bare(&specs[1], &to);
    kernels_copy_by_value(launcher_stream(launcher, i), &from, &to,
                          &launcher->problems.jobs[i]);
}

static void from_slots(struct launcher *launcher, size_t i)
{
    kernels_copy_by_value(launcher_stream(launcher, i), kept.maps[2 * i],
                          kept.maps[2 * i + 1], &launcher->problems.jobs[i]);
}

/* Where buffers come and go, and shapes do not. */
static void rebase_slots(struct launcher *launcher, size_t i)
{
    const struct ashlar_spec *specs = &launcher->problems.specs[2 * i];

    MUST(ashlar_tensormap_rebase(launcher->source, kept.maps[2 * i],
                                 specs[0].address));
    MUST(ashlar_tensormap_rebase(launcher->source, kept.maps[2 * i + 1],
                                 specs[1].address));
    from_slots(launcher, i);
}

/* Where a launch knows its tensors and nobody keeps the maps. */
static void from_cache(struct launcher *launcher, size_t i)
{
    const struct ashlar_spec *specs = &launcher->problems.specs[2 * i];
    const void *from, *to;

    MUST(ashlar_tensormap_cache_get(kept.cache, &specs[0], 0, &from));
    MUST(ashlar_tensormap_cache_get(kept.cache, &specs[1], 0, &to));
    kernels_copy_by_value(launcher_stream(launcher, i), from, to,
                          &launcher->problems.jobs[i]);
    MUST(ashlar_tensormap_cache_put(kept.cache, from));
    MUST(ashlar_tensormap_cache_put(kept.cache, to));
}

static void from_table(struct launcher *launcher, size_t i)
{
    kernels_copy_by_index(launcher_stream(launcher, i), kept.base,
                          &launcher->problems.jobs[i]);
}

static struct way {
    const char *name;
    void (*launch)(struct launcher *launcher, size_t i);
    double per_second[ROUNDS];
} ways[] = {
    {"encoded on the stack", encode_on_the_stack, {0}},
    {"slots", from_slots, {0}},
    {"slots, rebased", rebase_slots, {0}},
    {"cache", from_cache, {0}},
    {"table", from_table, {0}},
};
static const size_t way_count = sizeof(ways) / sizeof(ways[0]);

/* --- rounds ---------------------------------------------------------------- */

static double now(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* All problems one way; how many launches a second that was. */
static double round_of(struct launcher *launcher, const struct way *way)
{
    size_t count = launcher->problems.count, i;
    double begin;

    problems_clear(&launcher->problems, launcher->streams[0]);
    CU(driver.CtxSynchronize());
    begin = now();
    for (i = 0; i < count; i++)
        way->launch(launcher, i);
    CU(driver.CtxSynchronize());
    return (double)count / (now() - begin);
}

/* The first round is not counted: in it each way gets warm, and is checked. */
static void run_rounds(struct launcher *launcher)
{
    unsigned rounds = launcher->kernels ? ROUNDS : 0, round;
    struct way *way;

    for (way = ways; way < ways + way_count; way++) {
        (void)round_of(launcher, way);
        launcher_check(launcher);
    }
    for (round = 0; round < rounds; round++)
        for (way = ways; way < ways + way_count; way++)
            way->per_second[round] = round_of(launcher, way);
}

static int by_size(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;

    return one < other ? -1 : one > other ? 1 : 0;
}

static double median(struct way *way)
{
    qsort(way->per_second, ROUNDS, sizeof(way->per_second[0]), by_size);
    return way->per_second[ROUNDS / 2];
}

static void tell(void)
{
    double first = median(&ways[0]);
    struct way *way;

    printf("launches a second, and beside the first:\n");
    for (way = ways; way < ways + way_count; way++)
        printf("  %-24s %10.0f  %5.2f\n", way->name, median(way),
               median(way) / first);
}

static void keep(struct launcher *launcher)
{
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    struct problems *problems = &launcher->problems;
    size_t count = 2 * problems->count;

    kept.maps = must_allocate(count, sizeof(*kept.maps));
    MUST(ashlar_tensormap_encode_many(launcher->source, launcher->pool,
                                      problems->specs, count, kept.maps, NULL));
    options.slots = count;
    MUST(
        ashlar_tensormap_cache_create(launcher->source, &options, &kept.cache));
    kept.handles = table_lease(launcher, 0, problems->count);
    kept.base = table_base(launcher);
    table_tell_jobs(launcher, 0, problems->count, kept.handles);
    table_publish(launcher, kept.handles, count, launcher->streams[0]);
}

static void give_back(struct launcher *launcher)
{
    size_t count = 2 * launcher->problems.count;
    struct ashlar_fence fences[LAUNCHER_STREAMS];

    launcher_fences(launcher, fences);
    MUST(ashlar_tensormap_table_retire(launcher->table, kept.handles, count,
                                       fences, LAUNCHER_STREAMS));
    MUST(ashlar_tensormap_cache_destroy(kept.cache));
    MUST(ashlar_pool_put_bulk(launcher->pool, kept.maps, count, NULL));
    free(kept.handles);
    free(kept.maps);
}

void compare(struct launcher *launcher)
{
    keep(launcher);
    run_rounds(launcher);
    if (launcher->kernels)
        tell();
    else
        printf("launches a second: not told, as none ran; "
               "%zu ways were tried\n",
               way_count);
    give_back(launcher);
}
