/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct driver driver;

static CUdevice device;

#define SYMBOL(_entry)  SYMBOL_(_entry)
#define SYMBOL_(_entry) #_entry
#define ENTRY(_member, _entry)                                                 \
    {SYMBOL(_entry), offsetof(struct driver, _member)},

static const struct {
    const char *name;
    size_t offset;
} entries[] = {DRIVER_ENTRIES(ENTRY)};

static char reason[256];

static const char *find_entries(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL), *symbol;
    size_t i;

    if (library == NULL) {
        (void)snprintf(reason, sizeof(reason), "%s", dlerror());
        return reason;
    }
    for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        symbol = dlsym(library, entries[i].name);
        if (symbol == NULL) {
            (void)snprintf(reason, sizeof(reason), "the driver has no %s()",
                           entries[i].name);
            return reason;
        }
        memcpy((char *)&driver + entries[i].offset, &symbol, sizeof(symbol));
    }
    return NULL;
}

/* Tensor maps came with compute capability 9.0. */
static const char *find_device(void)
{
    CUresult result = driver.Init(0);
    int major;

    if (result == CUDA_SUCCESS)
        result = driver.DeviceGet(&device, 0);
    if (result != CUDA_SUCCESS)
        return driver_name(result);
    CU(driver.DeviceGetAttribute(
        &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    if (major < 9) {
        (void)snprintf(reason, sizeof(reason),
                       "%s has compute capability %d; tensor maps need 9",
                       driver_device(), major);
        return reason;
    }
    return NULL;
}

const char *driver_start(void)
{
    const char *missing = find_entries();
    CUcontext context;

    if (missing == NULL)
        missing = find_device();
    if (missing != NULL)
        return missing;
    CU(driver.DevicePrimaryCtxRetain(&context, device));
    CU(driver.CtxSetCurrent(context));
    return NULL;
}

void driver_end(void)
{
    CU(driver.CtxSetCurrent(NULL));
    CU(driver.DevicePrimaryCtxRelease(device));
}

const char *driver_device(void)
{
    static char name[128];

    CU(driver.DeviceGetName(name, sizeof(name), device));
    return name;
}

const char *driver_name(CUresult result)
{
    const char *name = NULL;

    if (driver.GetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        return "an unknown result";
    return name;
}

void driver_must(CUresult result, const char *call)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", call, driver_name(result));
    exit(1);
}
