/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* How a program finds the entries. */
#include "config.h"

#include <string.h>

#include "entry.h"
#include "versions.h"

/* The newest version of an entry that driver and caller both know. */
static CUresult look_up(const char *name, void **function, int version,
                        CUdriverProcAddressQueryResult *status)
{
    int position = name == NULL ? -1 : entry_find(name);
    const struct entry *found = NULL;
    const struct entry *entry;

    if (name == NULL || function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    *status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (position < 0 || entries[position].version > machine_driver())
        return CUDA_SUCCESS;
    for (entry = &entries[position];
         entry < entries + entry_count && strcmp(entry->name, name) == 0 &&
         entry->version <= version && entry->version <= machine_driver();
         entry++)
        found = entry;
    if (found == NULL) {
        *status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    } else {
        *status = CU_GET_PROC_ADDRESS_SUCCESS;
        memcpy(function, &found->function, sizeof(*function));
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **function,
                                     int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult ignored;
    CUresult result;

    (void)flags;
    if (enter("cuGetProcAddress", &result))
        result = leave(look_up(name, function, version,
                               status == NULL ? &ignored : status));
    return result;
}

/* The first version has no status, and calls it an error to find nothing. */
CUresult CUDAAPI cuGetProcAddress(const char *name, void **function,
                                  int version, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult status;
    CUresult result =
        cuGetProcAddress_v2(name, function, version, flags, &status);

    if (result == CUDA_SUCCESS && *function == NULL)
        return CUDA_ERROR_NOT_FOUND;
    return result;
}
