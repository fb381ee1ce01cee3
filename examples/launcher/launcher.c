/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "launcher.h"

#include "must.h"

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
