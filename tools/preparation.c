/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "preparation.h"

#include <stdlib.h>
#include <string.h>

#include <ashlar/stats.h>
#include <ashlar/type.h>

#include "clock.h"
#include "must.h"
#include "stop.h"

#define LOOK_UP_EVERY 1024 /* runs between two looks around */

static bool make_pool(struct preparation *preparation)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    const struct ashlar_type *type = ashlar_type_find("CUtensorMap");

    if (type == NULL || ashlar_type_query(type, &info) != ASHLAR_OK)
        return false;
    preparation->stride = info.stride;
    preparation->alignment = info.alignment;
    options.name = "descriptors";
    /* Runs alone are taken, and they pass by the threads' caches. */
    options.cache_slots = ASHLAR_POOL_CACHE_NONE;
    return ashlar_pool_create(type, &options, &preparation->pool) == ASHLAR_OK;
}

static int by_tensor_count(const void *a, const void *b)
{
    size_t x = (*(const struct kernel *const *)a)->tensor_count;
    size_t y = (*(const struct kernel *const *)b)->tensor_count;

    return x < y ? -1 : x > y;
}

/* A reserve is for a length: kernels with equally many tensors share one. */
static bool reserve_sorted(struct ashlar_pool *pool,
                           const struct kernel *const *sorted, size_t count,
                           uint64_t concurrent)
{
    size_t i = 0;

    while (i < count) {
        size_t length = sorted[i]->tensor_count;
        uint64_t runs = 0;

        for (; i < count && sorted[i]->tensor_count == length; i++)
            runs += sorted[i]->instances;
        if (runs < concurrent)
            runs = concurrent;
        if (length != 0 &&
            ashlar_pool_reserve_runs(pool, length, runs) != ASHLAR_OK)
            return false;
    }
    return true;
}

static bool reserve_all(struct preparation *preparation, uint64_t concurrent)
{
    const struct manifest *manifest = preparation->manifest;
    const struct kernel **sorted =
        must_alloc(manifest->kernel_count, sizeof(sorted[0]));
    uint64_t start;
    bool done;
    size_t i;

    for (i = 0; i < manifest->kernel_count; i++)
        sorted[i] = &manifest->kernels[i];
    qsort(sorted, manifest->kernel_count, sizeof(sorted[0]), by_tensor_count);
    start = clock_ns();
    done = reserve_sorted(preparation->pool, sorted, manifest->kernel_count,
                          concurrent);
    preparation->reserve_ns = clock_ns() - start;
    free(sorted);
    return done;
}

static bool query(struct ashlar_pool *pool, struct ashlar_pool_stats *stats)
{
    static const struct ashlar_pool_stats init = ASHLAR_POOL_STATS_INIT;

    *stats = init;
    return ashlar_pool_query(pool, stats) == ASHLAR_OK;
}

static bool note_reserved(struct preparation *preparation)
{
    struct ashlar_pool_stats stats;

    if (!query(preparation->pool, &stats))
        return false;
    preparation->slabs = stats.slabs;
    preparation->slab_bytes = stats.slab_bytes;
    preparation->calls_reserved = stats.source_calls;
    return true;
}

static bool take_kernel(struct preparation *preparation, size_t index,
                        struct progress *progress)
{
    size_t length = preparation->manifest->kernels[index].tensor_count;
    uint64_t first = preparation->first[index];
    uint64_t count = preparation->first[index + 1] - first;
    uint64_t i;

    for (i = 0; i < count; i++) {
        void *run;

        if (i % LOOK_UP_EVERY == 0) {
            progress_step(progress, preparation->slots);
            if (stop_wanted())
                break;
        }
        run = ashlar_pool_get_run(preparation->pool, length);
        if (run == NULL)
            return false;
        preparation->runs[first + i] = run;
        preparation->taken[index] = i + 1;
        preparation->slots += length;
    }
    preparation->interrupted |= i != count;
    return true;
}

/* Only this is timed: no address is looked at meanwhile. */
static bool take_all(struct preparation *preparation, struct progress *progress)
{
    size_t count = preparation->manifest->kernel_count;
    uint64_t start = clock_ns();
    size_t i;

    for (i = 0; i < count; i++)
        if (!take_kernel(preparation, i, progress))
            break;
    preparation->take_ns = clock_ns() - start;
    return i == count;
}

/* Where every slot of a kernel really lies. */
static void measure_kernel(struct preparation *preparation, size_t index)
{
    size_t length = preparation->manifest->kernels[index].tensor_count;
    void **runs = preparation->runs + preparation->first[index];
    size_t worst = 0;
    uint64_t i;
    size_t j;

    for (i = 0; i < preparation->taken[index]; i++) {
        for (j = 0; j < length; j++) {
            size_t residue = ((uintptr_t)runs[i] + j * preparation->stride) %
                             preparation->alignment;

            if (residue > worst)
                worst = residue;
        }
    }
    preparation->residues[index] = worst;
    if (worst > preparation->residue)
        preparation->residue = worst;
}

/* The records: who has which runs. */
static void lay_out(struct preparation *preparation)
{
    const struct manifest *manifest = preparation->manifest;
    size_t n = manifest->kernel_count;
    size_t i;

    preparation->first = must_alloc(n + 1, sizeof(preparation->first[0]));
    preparation->taken = must_alloc(n, sizeof(preparation->taken[0]));
    preparation->residues = must_alloc(n, sizeof(preparation->residues[0]));
    for (i = 0; i < n; i++) {
        const struct kernel *kernel = &manifest->kernels[i];

        preparation->first[i + 1] =
            preparation->first[i] +
            (kernel->tensor_count != 0 ? kernel->instances : 0);
    }
    preparation->runs =
        must_alloc(preparation->first[n], sizeof(preparation->runs[0]));
}

bool preparation_make(const struct manifest *manifest, uint64_t concurrent,
                      struct progress *progress,
                      struct preparation *preparation)
{
    bool done;
    size_t i;

    memset(preparation, 0, sizeof(*preparation));
    preparation->manifest = manifest;
    lay_out(preparation);
    if (!make_pool(preparation) || !reserve_all(preparation, concurrent) ||
        !note_reserved(preparation))
        return false;
    progress_phase(progress, "preparing", manifest->descriptors);
    done = take_all(preparation, progress);
    progress_end(progress);
    for (i = 0; i < manifest->kernel_count; i++)
        measure_kernel(preparation, i);
    return done;
}

bool preparation_return(struct preparation *preparation)
{
    const struct manifest *manifest = preparation->manifest;
    size_t i;

    for (i = 0; i < manifest->kernel_count; i++) {
        size_t length = manifest->kernels[i].tensor_count;
        void **runs = preparation->runs + preparation->first[i];
        uint64_t j;

        for (j = 0; j < preparation->taken[i]; j++) {
            if (ashlar_pool_put_run(preparation->pool, runs[j], length) !=
                ASHLAR_OK)
                return false;
            runs[j] = NULL;
        }
    }
    return true;
}

uint64_t preparation_source_calls(const struct preparation *preparation)
{
    struct ashlar_pool_stats stats;

    if (!query(preparation->pool, &stats))
        return 0;
    return stats.source_calls - preparation->calls_reserved;
}

void preparation_end(struct preparation *preparation)
{
    if (preparation->pool != NULL)
        (void)ashlar_pool_destroy(preparation->pool, ASHLAR_POOL_FORCE);
    free(preparation->runs);
    free(preparation->residues);
    free(preparation->taken);
    free(preparation->first);
    memset(preparation, 0, sizeof(*preparation));
}
