/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/cu.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct cu cu;

/* The name that cuda.h's macros make of an entry, such as cuMemAlloc_v2. */
#define SYMBOL(_entry)  SYMBOL_(_entry)
#define SYMBOL_(_entry) #_entry

#define ENTRY(_member, _entry)                                                 \
    {SYMBOL(_entry), offsetof(struct cu, _member), true},
#define KERNEL_ENTRY(_member, _entry)                                          \
    {SYMBOL(_entry), offsetof(struct cu, _member), false},

static const struct {
    const char *name;
    size_t offset;
    bool required;
} entries[] = {CU_ENTRIES(ENTRY) CU_KERNEL_ENTRIES(KERNEL_ENTRY)};

const char *cu_open(const char *path)
{
    static char reason[256];
    void *symbol;
    size_t i;

    cu.library =
        dlopen(path == NULL ? "libcuda.so.1" : path, RTLD_NOW | RTLD_LOCAL);
    if (cu.library == NULL) {
        (void)snprintf(reason, sizeof(reason), "no driver: %s", dlerror());
        return reason;
    }
    for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        symbol = dlsym(cu.library, entries[i].name);
        if (symbol == NULL && entries[i].required) {
            (void)snprintf(reason, sizeof(reason), "the driver has no %s()",
                           entries[i].name);
            return reason;
        }
        memcpy((char *)&cu + entries[i].offset, &symbol, sizeof(symbol));
    }
    return NULL;
}

const char *cu_name(CUresult result)
{
    const char *name = NULL;

    if (cu.GetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
        return "an unknown result";
    return name;
}
