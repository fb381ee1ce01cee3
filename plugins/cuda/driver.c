/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "driver.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#define DRIVER_FILE "libcuda.so.1"

/* One entry: where its pointer goes, and how it is asked for. */
struct entry {
    const char *name;
    int version;
    bool required;
    size_t offset; /* in struct cuda_driver */
};

#define ENTRY(_member, _entry, _version, _required)                            \
    {#_entry, _version, _required, offsetof(struct cuda_driver, _member)},

static const struct entry entries[] = {CUDA_DRIVER_ENTRIES(ENTRY)};

#define ENTRY_COUNT (sizeof(entries) / sizeof(entries[0]))

static enum ashlar_status no_driver(const struct ashlar_host *host,
                                    const char *path)
{
    const char *reason = dlerror();

    if (path != NULL)
        return host->fail(ASHLAR_ERR_NO_DRIVER,
                          "no driver: driver=%s cannot be loaded: %s", path,
                          reason == NULL ? "no reason given" : reason);
    return host->fail(ASHLAR_ERR_NO_DRIVER,
                      "no driver: " DRIVER_FILE " cannot be loaded: %s. "
                      "Install NVIDIA's driver (the toolkit does not bring "
                      "it) or, in a container, start it with its GPUs",
                      reason == NULL ? "no reason given" : reason);
}

static enum ashlar_status too_old(const struct ashlar_host *host, int version,
                                  const char *entry)
{
    return host->fail(ASHLAR_ERR_DRIVER_TOO_OLD,
                      "the driver is for CUDA %d.%d and has no %s(); one for "
                      "CUDA %d.%d or later is needed",
                      version / 1000, version % 1000 / 10, entry,
                      CUDA_DRIVER_LEAST / 1000, CUDA_DRIVER_LEAST % 1000 / 10);
}

/* Returns the name of the first required entry that is missing; NULL: none. */
static const char *resolve(struct cuda_driver *driver,
                           PFN_cuGetProcAddress_v12000 get_address)
{
    CUdriverProcAddressQueryResult found;
    CUresult result;
    void *address;
    size_t i;

    for (i = 0; i < ENTRY_COUNT; i++) {
        address = NULL;
        result = get_address(entries[i].name, &address, entries[i].version,
                             CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found);
        if (result != CUDA_SUCCESS || found != CU_GET_PROC_ADDRESS_SUCCESS)
            address = NULL;
        if (address == NULL && entries[i].required)
            return entries[i].name;
        memcpy((char *)driver + entries[i].offset, &address, sizeof(address));
    }
    return NULL;
}

/* dlsym() gives an object's pointer; ISO C has no cast to a function's. */
static bool find_symbol(void *library, const char *name, void *pointer_out)
{
    void *symbol = dlsym(library, name);

    memcpy(pointer_out, &symbol, sizeof(symbol));
    return symbol != NULL;
}

enum ashlar_status cuda_driver_open(struct cuda_driver *driver,
                                    const struct ashlar_host *host,
                                    const char *path)
{
    PFN_cuGetProcAddress_v12000 get_address;
    PFN_cuDriverGetVersion_v2020 get_version;
    const char *missing = "cuGetProcAddress_v2";
    void *library;

    memset(driver, 0, sizeof(*driver));
    library = dlopen(path == NULL ? DRIVER_FILE : path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return no_driver(host, path);
    if (find_symbol(library, "cuDriverGetVersion", &get_version))
        (void)get_version(&driver->version);
    if (find_symbol(library, "cuGetProcAddress_v2", &get_address))
        missing = resolve(driver, get_address);
    if (missing == NULL && driver->version < CUDA_DRIVER_LEAST)
        missing = "cuCtxGetId";
    if (missing != NULL)
        return too_old(host, driver->version, missing);
    return ASHLAR_OK;
}
