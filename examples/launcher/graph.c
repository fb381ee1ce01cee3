/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A graph, captured once and replayed, while the pool and the table grow.
 *
 * One half of the matrices is copied by launches that take their maps by value.
 * Such a launch keeps its own copies in the graph, so that the slots are free
 * when the call has returned, here as everywhere. The other half takes its maps
 * from the table. What was published in a capture belongs to the graph until
 * that is gone, however early it is retired.
 *
 * Slots do not move, nor does the table: growing disturbs no replay.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launcher.h"
#include "must.h"
#include "table.h"

#define REPLAYS 8u

/* What each replay comes with: maps for all problems once more. */
struct more {
    void **slots;
    struct ashlar_tensormap_handle *handles;
};

/* One map after the other in the same two slots: the graph has copies. */
static void copy_by_value(struct launcher *launcher, size_t count)
{
    struct problems *problems = &launcher->problems;
    void *maps[2];
    size_t i;

    MUST(ashlar_pool_get_bulk(launcher->pool, maps, 2));
    for (i = 0; i < count; i++) {
        MUST(ashlar_tensormap_encode(launcher->source, &problems->specs[2 * i],
                                     maps[0]));
        MUST(ashlar_tensormap_encode(launcher->source,
                                     &problems->specs[2 * i + 1], maps[1]));
        kernels_copy_by_value(launcher_stream(launcher, i), maps[0], maps[1],
                              &problems->jobs[i]);
    }
    MUST(ashlar_pool_put_bulk(launcher->pool, maps, 2, NULL));
}

/* Retired at once: the graph has them now. */
static void copy_by_table(struct launcher *launcher, size_t first,
                          struct ashlar_tensormap_handle *handles)
{
    struct problems *problems = &launcher->problems;
    size_t count = problems->count - first;
    CUstream stream = launcher->streams[0];

    table_publish(launcher, handles, 2 * count, stream);
    kernels_copy_grouped(stream, table_base(launcher),
                         problems->jobs_address +
                             first * sizeof(*problems->jobs),
                         (uint32_t)count);
    MUST(ashlar_tensormap_table_retire(launcher->table, handles, 2 * count,
                                       ASHLAR_QUIET, 1));
}

static CUgraphExec capture(struct launcher *launcher)
{
    size_t count = launcher->problems.count, half = count / 2;
    struct ashlar_tensormap_handle *handles =
        table_lease(launcher, half, count - half);
    CUstream stream = launcher->streams[0];
    CUgraphExec executable;
    CUgraph captured;

    table_tell_jobs(launcher, half, count - half, handles);
    CU(driver.StreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    problems_clear(&launcher->problems, stream);
    launcher_fork(launcher);
    copy_by_value(launcher, half);
    copy_by_table(launcher, half, handles);
    launcher_join(launcher);
    CU(driver.StreamEndCapture(stream, &captured));
    CU(driver.GraphInstantiate(&executable, captured, 0));
    CU(driver.GraphDestroy(captured));
    free(handles);
    return executable;
}

/* While a replay runs. */
static void grow(struct launcher *launcher, struct more *more)
{
    size_t count = launcher->problems.count;

    more->slots = must_allocate(2 * count, sizeof(*more->slots));
    MUST(ashlar_tensormap_encode_many(launcher->source, launcher->pool,
                                      launcher->problems.specs, 2 * count,
                                      more->slots, NULL));
    more->handles = table_lease(launcher, 0, count);
    table_publish(launcher, more->handles, 2 * count, launcher->streams[1]);
}

static void shrink(struct launcher *launcher, struct more *more)
{
    size_t count = 2 * launcher->problems.count;

    table_check(launcher, more->handles, count);
    MUST(ashlar_tensormap_table_retire(launcher->table, more->handles, count,
                                       ASHLAR_QUIET, 1));
    MUST(ashlar_pool_put_bulk(launcher->pool, more->slots, count, NULL));
    free(more->handles);
    free(more->slots);
}

void graph(struct launcher *launcher)
{
    uint64_t base = table_base(launcher);
    CUgraphExec executable = capture(launcher);
    struct more more[REPLAYS];
    unsigned i;

    for (i = 0; i < REPLAYS; i++) {
        CU(driver.GraphLaunch(executable, launcher->streams[0]));
        grow(launcher, &more[i]);
        launcher_check(launcher);
    }
    if (table_base(launcher) != base)
        give_up("the table has moved");
    printf("graph: %u replays while pool and table grew by %zu maps: %s\n",
           REPLAYS, REPLAYS * 2 * launcher->problems.count,
           launcher_verdict(launcher));
    for (i = 0; i < REPLAYS; i++)
        shrink(launcher, &more[i]);
    CU(driver.GraphExecDestroy(executable));
}
