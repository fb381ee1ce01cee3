/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "conformance.h"

#include <dlfcn.h>
#include <stdio.h>

struct driver cu;

static void *library;

/* In two steps, so that cuda.h's versions ("_v2") are put in. */
#define NAME(entry)          NAME_AS_IT_IS(entry)
#define NAME_AS_IT_IS(entry) #entry

static const struct {
    const char *name;
    size_t offset;
} entries[] = {
#define X(name) {NAME(cu##name), offsetof(struct driver, name)},
    CONFORMANCE_ENTRIES(X)
#undef X
};

bool driver_open(const char *path, char *sentence, size_t bytes)
{
    void *entry;
    size_t i;

    sentence[0] = '\0';
    library = dlopen(path == NULL ? "libcuda.so.1" : path, RTLD_NOW);
    if (library == NULL) {
        snprintf(sentence, bytes, "%s", dlerror());
        return false;
    }
    for (i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        entry = dlsym(library, entries[i].name);
        if (entry == NULL) {
            snprintf(sentence, bytes, "the driver has no %s", entries[i].name);
            return false;
        }
        *(void **)((char *)&cu + entries[i].offset) = entry;
    }
    return true;
}

void *driver_function(const char *name)
{
    return dlsym(library, name);
}
