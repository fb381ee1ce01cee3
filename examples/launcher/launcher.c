/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "launcher.h"

#include "must.h"
#include "table.h"

#define TABLE_SLOTS ((size_t)1 << 17)
#define MINUTE_NS   UINT64_C(60000000000)

/* Ahead of need: what is got later asks nobody for memory. */
void launcher_make_pool(struct launcher *launcher)
{
    MUST(ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL,
                            &launcher->pool));
    MUST(ashlar_pool_reserve(launcher->pool, 2 * launcher->problems.count));
}

void launcher_begin(struct launcher *launcher)
{
    unsigned i;

    MUST(ashlar_source_open("cuda", NULL, &launcher->source));
    for (i = 0; i < LAUNCHER_STREAMS; i++)
        CU(driver.StreamCreate(&launcher->streams[i], CU_STREAM_NON_BLOCKING));
    CU(driver.EventCreate(&launcher->event, CU_EVENT_DISABLE_TIMING));
    problems_place(&launcher->problems, launcher->source);
    table_make(launcher, TABLE_SLOTS);
    launcher->kernels = kernels_load();
}

/* What is retired is given back when its fences have passed. */
static void close_source(struct ashlar_source *source)
{
    MUST(ashlar_source_drain(source, MINUTE_NS));
    MUST(ashlar_source_close(source));
}

void launcher_end(struct launcher *launcher)
{
    struct ashlar_fence fences[LAUNCHER_STREAMS];
    unsigned i;

    launcher_fences(launcher, fences);
    MUST(ashlar_tensormap_table_destroy(launcher->table, fences,
                                        LAUNCHER_STREAMS));
    problems_destroy(&launcher->problems, fences, LAUNCHER_STREAMS);
    CU(driver.CtxSynchronize());
    close_source(launcher->source);
    close_source(launcher->host);
    for (i = 0; i < LAUNCHER_STREAMS; i++)
        CU(driver.StreamDestroy(launcher->streams[i]));
    CU(driver.EventDestroy(launcher->event));
    kernels_unload();
}

CUstream launcher_stream(const struct launcher *launcher, size_t i)
{
    return launcher->streams[i % LAUNCHER_STREAMS];
}

void launcher_fork(const struct launcher *launcher)
{
    unsigned i;

    CU(driver.EventRecord(launcher->event, launcher->streams[0]));
    for (i = 1; i < LAUNCHER_STREAMS; i++)
        CU(driver.StreamWaitEvent(launcher->streams[i], launcher->event, 0));
}

void launcher_join(const struct launcher *launcher)
{
    unsigned i;

    for (i = 1; i < LAUNCHER_STREAMS; i++) {
        CU(driver.EventRecord(launcher->event, launcher->streams[i]));
        CU(driver.StreamWaitEvent(launcher->streams[0], launcher->event, 0));
    }
}

void launcher_fences(const struct launcher *launcher,
                     struct ashlar_fence *fences)
{
    unsigned i;

    for (i = 0; i < LAUNCHER_STREAMS; i++) {
        const struct ashlar_fence fence =
            ASHLAR_FENCE_OF_STREAM(launcher->source, launcher->streams[i]);

        fences[i] = fence;
    }
}

void launcher_check(struct launcher *launcher)
{
    struct problems *problems = &launcher->problems;

    CU(driver.CtxSynchronize());
    if (launcher->kernels && problems_count_right(problems) != problems->count)
        give_up("some matrices were not copied as they should");
}

const char *launcher_verdict(const struct launcher *launcher)
{
    return launcher->kernels ? "all matrices right" : "no kernel ran";
}
