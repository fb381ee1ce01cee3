/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries that hand memory to others. */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "entry.h"
#include "physical.h"

/* What a fabric handle says: where the file is open. It owns nothing, as a real one,
 * and is good while somebody holds the memory. */
struct fabric {
    char magic[16];
    int pid;
    int fd;
    char zero[40];
};

static const char magic[16] = "cudasim fabric";

_Static_assert(sizeof(struct fabric) == 64, "as long as a CUmemFabricHandle");

static void write_fabric(void *handle, const struct physical *physical)
{
    struct fabric fabric = {.pid = getpid(), .fd = physical->fd};

    memcpy(fabric.magic, magic, sizeof(magic));
    memcpy(handle, &fabric, sizeof(fabric));
}

/* A descriptor of the file; -1: the handle is none, or none any more. */
static int open_fabric(const void *handle)
{
    struct fabric fabric;
    char path[64];

    memcpy(&fabric, handle, sizeof(fabric));
    if (memcmp(fabric.magic, magic, sizeof(magic)) != 0)
        return -1;
    snprintf(path, sizeof(path), "/proc/%d/fd/%d", fabric.pid, fabric.fd);
    return open(path, O_RDWR | O_CLOEXEC);
}

static CUresult export_handle(void *shareable,
                              CUmemGenericAllocationHandle handle,
                              CUmemAllocationHandleType type,
                              unsigned long long flags)
{
    const struct physical *physical = physical_find(handle);

    if (shareable == NULL || physical == NULL || flags != 0 ||
        physical->imported || type == CU_MEM_HANDLE_TYPE_NONE ||
        (physical->properties.requestedHandleTypes & type) == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if ((int)type != HANDLE_TYPE_FABRIC)
        return physical_export(physical, shareable);
    write_fabric(shareable, physical);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemExportToShareableHandle(
    void *shareable, CUmemGenericAllocationHandle handle,
    CUmemAllocationHandleType type, unsigned long long flags)
{
    CUresult result;

    if (enter("cuMemExportToShareableHandle", &result))
        result = leave(export_handle(shareable, handle, type, flags));
    return result;
}

static CUresult import_fabric(const void *from, struct physical **physical_out)
{
    CUresult result;
    int fd;

    if (!machine.settings.fabric)
        return CUDA_ERROR_NOT_PERMITTED;
    if (from == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    fd = open_fabric(from);
    if (fd < 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = physical_import(fd, physical_out);
    close(fd);
    return result;
}

static CUresult import_handle(CUmemGenericAllocationHandle *handle, void *from,
                              CUmemAllocationHandleType type)
{
    struct physical *physical;
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    if (handle == NULL)
        return result;
    if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        result = physical_import((int)(intptr_t)from, &physical);
    else if ((int)type == HANDLE_TYPE_FABRIC)
        result = import_fabric(from, &physical);
    if (result == CUDA_SUCCESS)
        *handle = physical->handle.start;
    return result;
}

CUresult CUDAAPI
cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *from,
                               CUmemAllocationHandleType type)
{
    CUresult result;

    if (enter("cuMemImportFromShareableHandle", &result))
        result = leave(import_handle(handle, from, type));
    return result;
}
