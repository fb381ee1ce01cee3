/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Maps that are parameters of the launch. They are encoded into slots, many at
 * once; and a slot is free again when the launch call has returned, since that
 * has read it: no fence, no waiting.
 */
#include <stdio.h>
#include <stdlib.h>

#include "launcher.h"
#include "must.h"

void by_value(struct launcher *launcher)
{
    struct problems *problems = &launcher->problems;
    size_t count = 2 * problems->count, i;
    void **maps = must_allocate(count, sizeof(*maps));

    MUST(ashlar_tensormap_encode_many(launcher->source, launcher->pool,
                                      problems->specs, count, maps, NULL));
    problems_clear(problems, launcher->streams[0]);
    launcher_fork(launcher);
    for (i = 0; i < problems->count; i++)
        kernels_copy_by_value(launcher_stream(launcher, i), maps[2 * i],
                              maps[2 * i + 1], &problems->jobs[i]);
    MUST(ashlar_pool_put_bulk(launcher->pool, maps, count, NULL));
    launcher_check(launcher);
    printf("by value: %zu maps in slots, %zu launches on %u streams: %s\n",
           count, problems->count, LAUNCHER_STREAMS,
           launcher_verdict(launcher));
    free(maps);
}
