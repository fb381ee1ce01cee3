/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A graph, captured once and replayed, while the pool grows.
 *
 * A launch by value that is captured keeps its own copies of its maps, so their
 * slots are free as soon as the launch call has returned, here as everywhere;
 * and slots do not move, so that growing disturbs nothing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launcher.h"
#include "must.h"

#define REPLAYS 8u

/* One map after the other in the same two slots: the graph has copies. */
static void copy_all(struct launcher *launcher)
{
    struct problems *problems = &launcher->problems;
    void *maps[2];
    size_t i;

    MUST(ashlar_pool_get_bulk(launcher->pool, maps, 2));
    for (i = 0; i < problems->count; i++) {
        MUST(ashlar_tensormap_encode(launcher->source, &problems->specs[2 * i],
                                     maps[0]));
        MUST(ashlar_tensormap_encode(launcher->source,
                                     &problems->specs[2 * i + 1], maps[1]));
        kernels_copy_by_value(launcher_stream(launcher, i), maps[0], maps[1],
                              &problems->jobs[i]);
    }
    MUST(ashlar_pool_put_bulk(launcher->pool, maps, 2, NULL));
}

static CUgraphExec capture(struct launcher *launcher)
{
    CUstream first = launcher->streams[0];
    CUgraphExec executable;
    CUgraph captured;

    CU(driver.StreamBeginCapture(first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    problems_clear(&launcher->problems, first);
    launcher_fork(launcher);
    copy_all(launcher);
    launcher_join(launcher);
    CU(driver.StreamEndCapture(first, &captured));
    CU(driver.GraphInstantiate(&executable, captured, 0));
    CU(driver.GraphDestroy(captured));
    return executable;
}

void graph(struct launcher *launcher)
{
    size_t count = 2 * launcher->problems.count, i;
    void **held = calloc(REPLAYS * count, sizeof(*held));
    CUgraphExec executable = capture(launcher);

    if (held == NULL)
        give_up("no memory for pointers");
    for (i = 0; i < REPLAYS; i++) {
        CU(driver.GraphLaunch(executable, launcher->streams[0]));
        MUST(ashlar_tensormap_encode_many(launcher->source, launcher->pool,
                                          launcher->problems.specs, count,
                                          &held[i * count], NULL));
        launcher_check(launcher);
    }
    printf("graph: %u replays while the pool grew to %zu slots in use: %s\n",
           REPLAYS, REPLAYS * count, launcher_verdict(launcher));
    MUST(ashlar_pool_put_bulk(launcher->pool, held, REPLAYS * count, NULL));
    CU(driver.GraphExecDestroy(executable));
    free(held);
}
