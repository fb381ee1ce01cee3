/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/sim.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim sim;

#define ENTRY(_member, _entry) {#_entry, offsetof(struct sim, _member)},

static const struct {
    const char *name;
    size_t offset;
} entries[] = {SIM_ENTRIES(ENTRY)};

const char *sim_path(void)
{
    static char path[4096];
    const char *build = getenv("top_builddir");

    (void)snprintf(path, sizeof(path), "%s/tests/cudasim/.libs/libcuda.so.1",
                   build == NULL ? "." : build);
    return path;
}

static void find_entries(void)
{
    const char *missing = cu_open(sim_path());
    void *symbol;
    size_t i;

    ck_assert_msg(missing == NULL, "%s", missing);
    for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        symbol = dlsym(cu.library, entries[i].name);
        ck_assert_msg(symbol != NULL, "no %s()", entries[i].name);
        memcpy((char *)&sim + entries[i].offset, &symbol, sizeof(symbol));
    }
}

void sim_start_cold(const char *settings)
{
    if (sim.reset == NULL)
        find_entries();
    ck_assert_int_eq(sim.reset(settings), 0);
    sim.context = NULL;
}

void sim_start(const char *settings)
{
    CUdevice device;

    sim_start_cold(settings);
    CU(cu.Init(0));
    CU(cu.DeviceGet(&device, 0));
    CU(cu.DevicePrimaryCtxRetain(&sim.context, device));
    CU(cu.CtxSetCurrent(sim.context));
}

struct cudasim_account sim_account(void)
{
    struct cudasim_account account = CUDASIM_ACCOUNT_INIT;

    ck_assert_int_eq(sim.query(&account), 0);
    return account;
}
