/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A launcher: 4,096 matrices are copied by kernels that take tensor maps. It is
 * written against the driver API, needs no toolkit where it runs, and says where
 * each map is, how long it has to stay, and what that costs.
 *
 *     launcher           run it
 *     launcher --ptx     print the kernels, for `ptxas -arch=sm_90`
 *
 * It is made by make check, or here, where CUDA's headers are in CUDA:
 *
 *     cc -o launcher -I$CUDA/include *.c $(pkg-config --cflags --libs ashlar)
 *
 *     main.c             one thing after the other
 *     driver.c           the CUDA driver, found at run time
 *     kernels.c          load and launch        kernels_ptx.c   their text
 *     problems.c         matrices, their specs, and whether they were copied
 *     launcher.c         what is needed, and given back; streams, fences
 *     by_value.c         maps that are parameters of a launch
 *     table.c            maps in a table on the device
 *     graph.c            both, in a graph that is captured and replayed
 *     compare.c          launches a second, this way and that
 *     must.c             calls that have to succeed
 *
 * It needs a GPU of compute capability 9.0 or later, and a driver for CUDA 12.3
 * or later; there, lines end with "all matrices right", and the launches a second
 * are told. Without, it does what can be done without.
 *
 * Output on the simulated driver:
 * 4096 problems, 8192 specs: none breaks a rule
 * cudasim device 0 runs no kernels: launches are left out
 * by value: 8192 maps in slots, 4096 launches on 8 streams: no kernel ran
 * table: 8192 maps published by 2 kernels and 0 copies, 4096 launches and 1 for all: no kernel ran
 * graph: 8 replays while pool and table grew by 65536 maps: no kernel ran
 * launches a second: not told, as none ran; 5 ways were tried
 *
 * Output without a device:
 * 4096 problems, 8192 specs: none breaks a rule
 * 8192 slots, each at a multiple of 128 bytes
 * no device to go on with
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher.h"
#include "must.h"

#define PROBLEMS ((size_t)4096)

/* No driver is asked: this is for those who write specs, too. */
static void check_specs(const struct problems *problems)
{
    size_t i;

    for (i = 0; i < 2 * problems->count; i++)
        MUST(ashlar_spec_check(&problems->specs[i], 90, NULL, 0, NULL));
    printf("%zu problems, %zu specs: none breaks a rule\n", problems->count,
           2 * problems->count);
}

static void go(struct launcher *launcher)
{
    launcher_begin(launcher);
    printf("%s %s\n", driver_device(),
           launcher->kernels ? "runs kernels"
                             : "runs no kernels: launches are left out");
    by_value(launcher);
    by_table(launcher);
    graph(launcher);
    compare(launcher);
    launcher_end(launcher);
}

static void go_without_device(struct launcher *launcher)
{
    size_t count = 2 * launcher->problems.count, i;
    void **maps = must_allocate(count, sizeof(*maps));

    MUST(ashlar_pool_get_bulk(launcher->pool, maps, count));
    for (i = 0; i < count; i++)
        if ((uintptr_t)maps[i] % ASHLAR_TENSOR_MAP_BYTES != 0)
            give_up("a slot is misaligned");
    printf("%zu slots, each at a multiple of %zu bytes\n"
           "no device to go on with\n",
           count, ASHLAR_TENSOR_MAP_BYTES);
    MUST(ashlar_pool_put_bulk(launcher->pool, maps, count, NULL));
    free(maps);
    problems_destroy(&launcher->problems, NULL, 0);
}

int main(int argc, char **argv)
{
    struct launcher launcher = {0};
    const char *missing;

    if (argc == 2 && strcmp(argv[1], "--ptx") == 0)
        return fputs(kernels_ptx, stdout) < 0;
    if (argc > 1)
        give_up("usage: launcher [--ptx]");
    problems_make(&launcher.problems, PROBLEMS);
    check_specs(&launcher.problems);
    launcher_make_pool(&launcher);
    missing = driver_start();
    if (missing == NULL) {
        go(&launcher);
        driver_end();
    } else {
        fprintf(stderr, "%s\n", missing);
        go_without_device(&launcher);
    }
    MUST(ashlar_pool_destroy(launcher.pool, 0));
    return 0;
}
