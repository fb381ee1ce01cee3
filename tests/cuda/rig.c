/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "cuda/rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rig rig;

const CUstreamCaptureMode rig_modes[RIG_MODES] = {
    CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
    CU_STREAM_CAPTURE_MODE_RELAXED};

enum ashlar_status rig_open_source(const char *options,
                                   struct ashlar_source **source_out)
{
    const char *build = getenv("top_builddir");
    char path[4096];
    char all[4400];

    (void)snprintf(path, sizeof(path), "%s/plugins/cuda/.libs",
                   build == NULL ? "." : build);
    (void)setenv("ASHLAR_PLUGIN_PATH", path, 1);
    (void)snprintf(all, sizeof(all), "driver=%s%s%s", sim_path(),
                   options == NULL ? "" : ",", options == NULL ? "" : options);
    return ashlar_source_open("cuda", all, source_out);
}

void rig_start(const char *settings, const char *options)
{
    memset(&rig, 0, sizeof(rig));
    sim_start(settings);
    OK(rig_open_source(options, &rig.source));
}

void rig_start_full(void)
{
    rig_start("devices=2,memory=1G", NULL);
    rig_make(32, 1, 0);
    OK(rig_grow(8));
    rig_stamp(8);
}

void rig_end(void)
{
    struct cudasim_account account;
    char text[1024];

    sim.inject_none();
    sim.finish_all();
    if (rig.range != NULL)
        OK(ashlar_range_destroy(rig.range, QUIET));
    OK(ashlar_source_drain(rig.source, 0));
    OK(ashlar_source_close(rig.source));
    (void)sim.report(text, sizeof(text));
    account = sim_account();
    ck_assert_msg(account.reservations + account.handles + account.mappings +
                          account.references + account.accesses +
                          account.events + account.user_objects +
                          account.modules + account.bogus_handles ==
                      0,
                  "%s", text);
    memset(&rig, 0, sizeof(rig));
}

TCase *rig_case(Suite *suite, void (*start)(void), const char *name)
{
    TCase *test = tcase_create(name);

    tcase_add_checked_fixture(test, start, rig_end);
    suite_add_tcase(suite, test);
    return test;
}

void rig_make(uint64_t reserve_granules, uint64_t chunk_granules,
              uint32_t flags)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;

    options.reserve_bytes = reserve_granules * GRANULE;
    options.chunk_max_bytes = chunk_granules * GRANULE;
    options.flags = flags;
    OK(ashlar_range_create(rig.source, &options, &rig.range));
}

enum ashlar_status rig_grow(uint64_t granules)
{
    rig.result = (struct ashlar_range_result)ASHLAR_RANGE_RESULT_INIT;
    return ashlar_range_grow_to(rig.range, granules * GRANULE, &rig.result);
}

struct ashlar_range_info rig_info(void)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_query(rig.range, &info));
    return info;
}

volatile uint64_t *rig_word(uint64_t i)
{
    return (volatile uint64_t *)(uintptr_t)(rig_info().base + i * GRANULE);
}

void rig_stamp(uint64_t granules)
{
    uint64_t i;

    for (i = 0; i < granules; i++)
        *rig_word(i) = i * 7 + 1;
}

void rig_check(uint64_t granules)
{
    uint64_t i;

    for (i = 0; i < granules; i++)
        ck_assert_uint_eq(*rig_word(i), i * 7 + 1);
}

uint32_t rig_rights(uint64_t address, int device)
{
    const CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE,
                                 .id = device};
    unsigned long long flags = 0;

    CU(cu.MemGetAccess(&flags, &where, address));
    return (uint32_t)flags;
}

CUstream rig_stream(void)
{
    CUstream stream;

    CU(cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
}

void rig_use(CUstream stream)
{
    struct ashlar_range_info info = rig_info();

    ck_assert_int_eq(sim.hold(stream), 0);
    ck_assert_int_eq(sim.touch(stream, info.base, info.used_bytes, 1), 0);
}

/* --- what is given up behind a fence --------------------------------------- */

struct ashlar_fence rig_fence(CUstream stream)
{
    return (struct ashlar_fence)ASHLAR_FENCE_OF_STREAM(NULL, stream);
}

enum ashlar_status rig_shrink(const struct ashlar_fence *fence)
{
    return ashlar_range_shrink_to(rig.range, 2 * GRANULE, fence, 1, NULL);
}

void rig_waits(void)
{
    ck_assert_int_eq(ashlar_source_drain(rig.source, 0), ASHLAR_ERR_BUSY);
    ck_assert_uint_eq(sim_account().mappings, 8);
    ck_assert_uint_eq(sim_account().handles, 8);
}

void rig_goes(void)
{
    OK(ashlar_source_drain(rig.source, 0));
    ck_assert_uint_eq(sim_account().mappings, 2);
    ck_assert_uint_eq(sim_account().handles, 2);
}

void rig_is_well(void)
{
    CU(cu.CtxSynchronize());
}
