/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Chunks in other processes. A POSIX descriptor is the driver's own. A fabric
 * handle is bytes that are good on other machines, too: it travels as a small
 * file in memory that holds them.
 */
#include "config.h"

#include "error.h"
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static enum ashlar_status no_descriptor(const struct cuda *cuda, int err)
{
    return cuda->host->fail(err == ENOMEM ? ASHLAR_ERR_NO_MEMORY
                                          : ASHLAR_ERR_LIMIT,
                            "no file descriptor is left to export a chunk: "
                            "%s; raise RLIMIT_NOFILE",
                            strerror(err));
}

/* The driver says OPERATING_SYSTEM where the process has no descriptor left. */
static enum ashlar_status refuse_export(const struct cuda *cuda,
                                        CUresult result, uint64_t bytes)
{
    int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);

    if (fd < 0 && errno == EMFILE)
        return no_descriptor(cuda, EMFILE);
    if (fd >= 0)
        (void)close(fd);
    return cuda_fail_at(cuda, result, "cuMemExportToShareableHandle",
                        ASHLAR_ERR_NO_MEMORY, 0, bytes);
}

static enum ashlar_status export_fabric(const struct cuda *cuda, uint64_t chunk,
                                        uint64_t bytes, int *fd_out)
{
    CUmemFabricHandle handle;
    CUresult result;
    int err = 0;
    int fd;

    result =
        cuda->driver.mem_export(&handle, chunk, CU_MEM_HANDLE_TYPE_FABRIC, 0);
    if (result != CUDA_SUCCESS)
        return refuse_export(cuda, result, bytes);
    fd = memfd_create("ashlar_fabric", MFD_CLOEXEC);
    if (fd < 0)
        return no_descriptor(cuda, errno);
    if (pwrite(fd, &handle, sizeof(handle), 0) != (ssize_t)sizeof(handle))
        err = ENOMEM;
    if (err == 0) {
        *fd_out = fd;
        return ASHLAR_OK;
    }
    (void)close(fd);
    return no_descriptor(cuda, err);
}

/* Closed by exec, whatever the driver says of it. */
static enum ashlar_status export_fd(const struct cuda *cuda, uint64_t chunk,
                                    uint64_t bytes, int *fd_out)
{
    CUresult result;
    int fd = -1;

    result = cuda->driver.mem_export(
        &fd, chunk, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result != CUDA_SUCCESS)
        return refuse_export(cuda, result, bytes);
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
        int err = errno;

        (void)close(fd);
        return no_descriptor(cuda, err);
    }
    *fd_out = fd;
    return ASHLAR_OK;
}

enum ashlar_status cuda_chunk_export(void *state, uint64_t chunk,
                                     uint64_t bytes, int *fd_out,
                                     uint64_t *offset_out)
{
    struct cuda *cuda = state;
    enum ashlar_status status;

    if (cuda->exported_as == CU_MEM_HANDLE_TYPE_FABRIC)
        status = export_fabric(cuda, chunk, bytes, fd_out);
    else
        status = export_fd(cuda, chunk, bytes, fd_out);
    if (status == ASHLAR_OK)
        *offset_out = 0;
    return status;
}

enum ashlar_status cuda_chunk_import(void *state, int fd, uint64_t offset,
                                     uint64_t bytes, uint64_t *chunk_out)
{
    struct cuda *cuda = state;
    CUmemGenericAllocationHandle chunk = 0;
    CUmemFabricHandle fabric;
    void *handle = (void *)(uintptr_t)fd;
    CUresult result;

    if (offset != 0 || bytes == 0 || bytes % cuda->granule != 0)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "%lu bytes at %lu are no chunk of cuda's, "
                                "which starts at 0 and is a multiple of %lu",
                                (unsigned long)bytes, (unsigned long)offset,
                                (unsigned long)cuda->granule);
    if (cuda->exported_as == CU_MEM_HANDLE_TYPE_FABRIC) {
        if (pread(fd, &fabric, sizeof(fabric), 0) != (ssize_t)sizeof(fabric))
            return cuda->host->fail(ASHLAR_ERR_INVALID,
                                    "file descriptor %d holds no fabric "
                                    "handle; export with handle=fabric, too",
                                    fd);
        handle = &fabric;
    }
    result = cuda->driver.mem_import(&chunk, handle, cuda->exported_as);
    if (result != CUDA_SUCCESS)
        return cuda_fail_at(cuda, result, "cuMemImportFromShareableHandle",
                            ASHLAR_ERR_NO_DEVICE_MEMORY, 0, bytes);
    *chunk_out = chunk;
    return ASHLAR_OK;
}
