/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Chunks of the vm source: extents of files, and their way to other processes. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "source/vm.h"

static enum ashlar_status refuse_memory(struct vm *vm, uint64_t bytes, int err)
{
    if (err == EMFILE || err == ENFILE)
        return vm->host->fail(ASHLAR_ERR_LIMIT,
                              "no file descriptor is left for a chunk of %lu "
                              "bytes; raise RLIMIT_NOFILE",
                              (unsigned long)bytes);
    if (err == ENOMEM)
        return vm_no_records(vm);
    return vm->host->fail(ASHLAR_ERR_NO_DEVICE_MEMORY,
                          "the vm source has no %lu bytes left of its %lu (%s)",
                          (unsigned long)bytes, (unsigned long)vm->memory_bytes,
                          err == 0 ? "option memory" : strerror(err));
}

enum ashlar_status vm_chunk_create(void *state,
                                   const struct ashlar_chunk_request *request,
                                   uint64_t *chunk_out)
{
    struct vm *vm = state;
    uint64_t bytes = request->bytes;
    struct vm_chunk *chunk;
    int err = 0;
    bool full;

    if (bytes == 0 || bytes % vm->granule != 0)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "a chunk of %lu bytes does not fit the granule "
                              "of %lu",
                              (unsigned long)bytes, (unsigned long)vm->granule);
    chunk = vm->host->alloc(sizeof(*chunk));
    if (chunk == NULL)
        return vm_no_records(vm);
    chunk->bytes = bytes;
    lock_take(&vm->lock);
    full = bytes > vm->memory_bytes - vm->taken_bytes;
    if (!full)
        err = vm_file_take(&vm->files, request->export_group, bytes,
                           &chunk->file, &chunk->offset);
    if (!full && err == 0) {
        vm->account.chunks++;
        vm->account.chunk_bytes += bytes;
        vm->taken_bytes += bytes;
    }
    lock_give(&vm->lock);
    if (full || err != 0) {
        vm->host->free(chunk);
        return refuse_memory(vm, bytes, err);
    }
    *chunk_out = (uint64_t)(uintptr_t)chunk;
    return ASHLAR_OK;
}

/* With the lock held: what nobody else has goes at once. */
static bool give_up(struct vm *vm, const struct vm_chunk *chunk)
{
    if (!chunk->shared)
        return vm_file_give(&vm->files, chunk->file, chunk->offset,
                            chunk->bytes) == 0;
    vm_file_leave(&vm->files, chunk->file);
    return true;
}

enum ashlar_status vm_chunk_destroy(void *state, uint64_t handle,
                                    uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_chunk *chunk = (struct vm_chunk *)(uintptr_t)handle;
    bool good;

    lock_take(&vm->lock);
    good = chunk->bytes == bytes && chunk->mappings == 0 && give_up(vm, chunk);
    if (good) {
        vm->account.chunks--;
        vm->account.chunk_bytes -= bytes;
        vm->taken_bytes -= chunk->imported ? 0 : bytes;
    }
    lock_give(&vm->lock);
    if (!good)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "a chunk of %lu bytes cannot be destroyed while "
                              "it is mapped",
                              (unsigned long)bytes);
    vm->host->free(chunk);
    return ASHLAR_OK;
}

enum ashlar_status vm_chunk_export(void *state, uint64_t handle, uint64_t bytes,
                                   int *fd_out, uint64_t *offset_out)
{
    struct vm *vm = state;
    struct vm_chunk *chunk = (struct vm_chunk *)(uintptr_t)handle;
    int fd;

    (void)bytes;
    if (chunk->file->group == 0)
        return vm->host->fail(ASHLAR_ERR_UNSUPPORTED,
                              "the chunk was not made for export");
    fd = fcntl(chunk->file->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return vm->host->fail(ASHLAR_ERR_LIMIT,
                              "no file descriptor is left to export a chunk; "
                              "raise RLIMIT_NOFILE");
    lock_take(&vm->lock);
    chunk->shared = true;
    lock_give(&vm->lock);
    *fd_out = fd;
    *offset_out = chunk->offset;
    return ASHLAR_OK;
}

enum ashlar_status vm_chunk_import(void *state, int fd, uint64_t offset,
                                   uint64_t bytes, uint64_t *chunk_out)
{
    struct vm *vm = state;
    struct vm_chunk *chunk;
    struct stat facts;
    int err;

    if (fstat(fd, &facts) != 0 || !vm_file_is_safe(fd) ||
        offset % vm->granule != 0 || bytes % vm->granule != 0 || bytes == 0 ||
        offset > (uint64_t)facts.st_size ||
        bytes > (uint64_t)facts.st_size - offset)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "file descriptor %d is no vm file with %lu bytes "
                              "at %lu",
                              fd, (unsigned long)bytes, (unsigned long)offset);
    chunk = vm->host->alloc(sizeof(*chunk));
    if (chunk == NULL)
        return vm_no_records(vm);
    chunk->offset = offset;
    chunk->bytes = bytes;
    chunk->imported = true;
    chunk->shared = true;
    lock_take(&vm->lock);
    err = vm_file_adopt(&vm->files, fd, &chunk->file);
    if (err == 0) {
        vm->account.chunks++;
        vm->account.chunk_bytes += bytes;
    }
    lock_give(&vm->lock);
    if (err != 0) {
        vm->host->free(chunk);
        return refuse_memory(vm, bytes, err);
    }
    *chunk_out = (uint64_t)(uintptr_t)chunk;
    return ASHLAR_OK;
}
