/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* How a program finds the entries. */
#include "config.h"

#include <string.h>

#include "entry.h"
#include "versions.h"

/* Which of the two that an entry has, as the flags say. */
static void give(const struct entry *entry, cuuint64_t flags, void **function)
{
    if ((flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0 &&
        entry->per_thread != NULL)
        memcpy(function, &entry->per_thread, sizeof(*function));
    else
        memcpy(function, &entry->function, sizeof(*function));
}

/* The newest version of an entry that driver and caller both know. */
static CUresult look_up(const char *name, void **function, int version,
                        cuuint64_t flags,
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
        give(found, flags, function);
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGetProcAddress_v2(const char *name, void **function,
                                     int version, cuuint64_t flags,
                                     CUdriverProcAddressQueryResult *status)
{
    CUdriverProcAddressQueryResult ignored;
    CUresult result;

    if (enter("cuGetProcAddress", &result))
        result = leave(look_up(name, function, version, flags,
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
