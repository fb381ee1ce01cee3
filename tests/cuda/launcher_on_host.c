/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The launcher of the examples on the simulated driver, with kernels that do run:
 * functions of the host's, queued where the launches would be, also into graphs.
 * So it is seen without a GPU that every map is where its kernel looks for it,
 * when it does.
 *
 *     launcher_on_host             copies as the kernels do
 *     launcher_on_host --spoil     writes what lies across a matrix's edge, too
 *
 * It stands in for kernels.c and main.c.
 */
#include "config.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"
#include "must.h"

#define PROBLEMS ((size_t)200)

/* One launch, kept for all replays of the graph that it may be in. */
struct launch {
    struct launch *before;
    unsigned char from[ASHLAR_TENSOR_MAP_BYTES], to[ASHLAR_TENSOR_MAP_BYTES];
    uint64_t table; /* 0: from and to are the maps */
    struct kernels_job job;
    const struct kernels_job *jobs;
    uint32_t count;
};

static struct launcher launcher;
static struct launch *launches;
static CUtensorMap *maps; /* as the driver encodes the specs */
static __typeof__(&cuLaunchHostFunc) launch_host_func;
static bool spoil;

/* --- a kernel's work --------------------------------------------------------- */

/* The spec that these bytes were encoded from. */
static const struct ashlar_spec *decode(const void *map)
{
    size_t i;

    for (i = 0; i < 2 * PROBLEMS; i++)
        if (memcmp(map, &maps[i], sizeof(maps[i])) == 0)
            return &launcher.problems.specs[i];
    give_up("a kernel finds no map where it looks");
}

static uint32_t *element(const struct ashlar_spec *spec, uint64_t x, uint64_t y)
{
    return (uint32_t *)(uintptr_t)(spec->address + y * spec->strides[0] +
                                   x * sizeof(uint32_t));
}

static bool is_inside(const struct ashlar_spec *spec, uint64_t x, uint64_t y)
{
    return x < spec->dims[0] && y < spec->dims[1];
}

static void copy_element(const struct ashlar_spec *from,
                         const struct ashlar_spec *to, uint64_t x, uint64_t y)
{
    uint32_t value = is_inside(from, x, y) ? *element(from, x, y) : 0;
    uint64_t end = launcher.problems.to + launcher.problems.part_bytes;

    if (is_inside(to, x, y) || (spoil && (uintptr_t)element(to, x, y) < end))
        *element(to, x, y) = value;
}

static void copy_matrix(const void *from_map, const void *to_map,
                        const struct kernels_job *job)
{
    const struct ashlar_spec *from = decode(from_map), *to = decode(to_map);
    uint64_t x, y;

    for (y = 0; y < (uint64_t)job->tiles_down * KERNELS_TILE; y++)
        for (x = 0; x < (uint64_t)job->tiles_across * KERNELS_TILE; x++)
            copy_element(from, to, x, y);
}

static const void *map_at(uint64_t table, uint32_t index)
{
    return (const void *)(uintptr_t)(table + index * ASHLAR_TENSOR_MAP_BYTES);
}

static void CUDA_CB run(void *user)
{
    const struct launch *launch = user;
    uint32_t i;

    if (launch->table == 0)
        copy_matrix(launch->from, launch->to, &launch->job);
    for (i = 0; i < launch->count; i++)
        copy_matrix(map_at(launch->table, launch->jobs[i].from),
                    map_at(launch->table, launch->jobs[i].to),
                    &launch->jobs[i]);
}

/* --- kernels.h ------------------------------------------------------------- */

bool kernels_load(void)
{
    void *entry = dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchHostFunc");
    size_t i;

    memcpy(&launch_host_func, &entry, sizeof(entry));
    maps = must_allocate(2 * PROBLEMS, sizeof(*maps));
    for (i = 0; i < 2 * PROBLEMS; i++) {
        _Alignas(ASHLAR_TENSOR_MAP_BYTES) CUtensorMap map;

        MUST(ashlar_tensormap_encode(launcher.source,
                                     &launcher.problems.specs[i], &map));
        memcpy(&maps[i], &map, sizeof(map));
    }
    return true;
}

void kernels_unload(void)
{
    struct launch *before;

    for (; launches != NULL; launches = before) {
        before = launches->before;
        free(launches);
    }
    free(maps);
}

static struct launch *new_launch(void)
{
    struct launch *launch = must_allocate(1, sizeof(*launch));

    launch->before = launches;
    launches = launch;
    return launch;
}

void kernels_copy_by_value(CUstream stream, const void *from, const void *to,
                           const struct kernels_job *job)
{
    struct launch *launch = new_launch();

    memcpy(launch->from, from, sizeof(launch->from));
    memcpy(launch->to, to, sizeof(launch->to));
    launch->job = *job;
    CU(launch_host_func(stream, run, launch));
}

void kernels_copy_by_index(CUstream stream, uint64_t table,
                           const struct kernels_job *job)
{
    struct launch *launch = new_launch();

    launch->table = table;
    launch->job = *job;
    launch->jobs = &launch->job;
    launch->count = 1;
    CU(launch_host_func(stream, run, launch));
}

void kernels_copy_grouped(CUstream stream, uint64_t table, uint64_t jobs,
                          uint32_t count)
{
    struct launch *launch = new_launch();

    launch->table = table;
    launch->jobs = (const struct kernels_job *)(uintptr_t)jobs;
    launch->count = count;
    CU(launch_host_func(stream, run, launch));
}

/* --- main.c ---------------------------------------------------------------- */

int main(int argc, char **argv)
{
    const char *missing = driver_start();

    if (missing != NULL)
        give_up(missing);
    spoil = argc == 2 && strcmp(argv[1], "--spoil") == 0;
    problems_make(&launcher.problems, PROBLEMS);
    launcher_make_pool(&launcher);
    launcher_begin(&launcher);
    by_value(&launcher);
    by_table(&launcher);
    graph(&launcher);
    compare(&launcher);
    launcher_end(&launcher);
    MUST(ashlar_pool_destroy(launcher.pool, 0));
    driver_end();
    return 0;
}
