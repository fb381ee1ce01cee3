/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Maps on the device. A slot is read by the kernel, not by the launch: so it is
 * leased, and retired with fences that say when the kernels are done. Nobody
 * waits: who leases next gets slots whose fences have passed.
 */
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

/* Host slots where the device reads them: what is published goes from there. */
void table_make(struct launcher *launcher, size_t most)
{
    struct ashlar_tensormap_table_options options =
        ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT;

    MUST(ashlar_source_open("cuda", "location=host", &launcher->host));
    options.max_slots = most;
    options.staging_slots = 2 * launcher->problems.count;
    options.host = launcher->host;
    MUST(ashlar_tensormap_table_create(launcher->source, &options,
                                       &launcher->table));
}

static struct ashlar_tensormap_table_info look(const struct launcher *launcher)
{
    struct ashlar_tensormap_table_info info = ASHLAR_TENSORMAP_TABLE_INFO_INIT;

    MUST(ashlar_tensormap_table_query(launcher->table, &info));
    return info;
}

uint64_t table_base(const struct launcher *launcher)
{
    return look(launcher).base;
}

struct ashlar_tensormap_handle *table_lease(struct launcher *launcher,
                                            size_t first, size_t count)
{
    struct ashlar_tensormap_handle *handles =
        must_allocate(2 * count, sizeof(*handles));

    MUST(ashlar_tensormap_table_lease(launcher->table, 2 * count, handles));
    MUST(ashlar_tensormap_table_encode_many(
        launcher->table, handles, &launcher->problems.specs[2 * first],
        2 * count, NULL));
    return handles;
}

void table_tell_jobs(struct launcher *launcher, size_t first, size_t count,
                     const struct ashlar_tensormap_handle *handles)
{
    struct kernels_job *jobs = &launcher->problems.jobs[first];
    size_t i;

    for (i = 0; i < count; i++) {
        jobs[i].from = handles[2 * i].index;
        jobs[i].to = handles[2 * i + 1].index;
    }
    problems_place_jobs(&launcher->problems);
}

void table_publish(struct launcher *launcher,
                   const struct ashlar_tensormap_handle *handles, size_t n,
                   CUstream stream)
{
    MUST(ashlar_tensormap_table_publish(launcher->table, handles, n,
                                        (uint64_t)(uintptr_t)stream));
}

/* All of the table up to the last of n slots, as the device has it. */
static unsigned char *read_back(const struct launcher *launcher,
                                const struct ashlar_tensormap_handle *handles,
                                size_t n)
{
    unsigned char *maps;
    size_t bytes = 0, i;

    for (i = 0; i < n; i++)
        if (bytes <= handles[i].index * ASHLAR_TENSOR_MAP_BYTES)
            bytes = (handles[i].index + 1) * ASHLAR_TENSOR_MAP_BYTES;
    maps = must_allocate(1, bytes);
    CU(driver.MemcpyDtoH(maps, table_base(launcher), bytes));
    return maps;
}

void table_check(const struct launcher *launcher,
                 const struct ashlar_tensormap_handle *handles, size_t n)
{
    unsigned char *maps = read_back(launcher, handles, n);
    size_t i;

    for (i = 0; i < n; i++)
        if (memcmp(maps + handles[i].index * ASHLAR_TENSOR_MAP_BYTES,
                   ashlar_tensormap_table_map(launcher->table, handles[i]),
                   ASHLAR_TENSOR_MAP_BYTES) != 0)
            give_up("a map on the device is not as on the host");
    free(maps);
}

/* --- the way --------------------------------------------------------------- */

/* Those to read and those to write by themselves: every other slot, so a kernel
 * scatters them, where neighbours would take a copy. */
static void publish_by_turns(struct launcher *launcher,
                             const struct ashlar_tensormap_handle *handles)
{
    size_t count = launcher->problems.count, turn, i;
    struct ashlar_tensormap_handle *other =
        must_allocate(count, sizeof(*other));

    for (turn = 0; turn < 2; turn++) {
        for (i = 0; i < count; i++)
            other[i] = handles[2 * i + turn];
        table_publish(launcher, other, count, launcher->streams[0]);
    }
    free(other);
}

static void launch_each(struct launcher *launcher)
{
    uint64_t base = table_base(launcher);
    size_t i;

    problems_clear(&launcher->problems, launcher->streams[0]);
    launcher_fork(launcher);
    for (i = 0; i < launcher->problems.count; i++)
        kernels_copy_by_index(launcher_stream(launcher, i), base,
                              &launcher->problems.jobs[i]);
    launcher_check(launcher);
}

static void launch_all(struct launcher *launcher)
{
    problems_clear(&launcher->problems, launcher->streams[0]);
    kernels_copy_grouped(launcher->streams[0], table_base(launcher),
                         launcher->problems.jobs_address,
                         (uint32_t)launcher->problems.count);
}

void by_table(struct launcher *launcher)
{
    size_t count = launcher->problems.count;
    struct ashlar_tensormap_handle *handles = table_lease(launcher, 0, count);
    const struct ashlar_fence fence =
        ASHLAR_FENCE_OF_STREAM(launcher->source, launcher->streams[0]);
    struct ashlar_tensormap_table_info info;

    table_tell_jobs(launcher, 0, count, handles);
    publish_by_turns(launcher, handles);
    launch_each(launcher);
    table_check(launcher, handles, 2 * count);
    launch_all(launcher);
    MUST(ashlar_tensormap_table_retire(launcher->table, handles, 2 * count,
                                       &fence, 1));
    launcher_check(launcher);
    info = look(launcher);
    printf("table: %zu maps published by %u kernels and %u copies, "
           "%zu launches and 1 for all: %s\n",
           2 * count, (unsigned)info.scatters, (unsigned)info.copies, count,
           launcher_verdict(launcher));
    free(handles);
}
