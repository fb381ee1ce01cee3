/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "physical.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Behind the memory in a file of its own. */
struct label {
    char magic[16];
    uint64_t bytes;
    CUmemAllocationProp properties;
};

static const char magic[16] = "cudasim memory";

struct index physicals;
uint64_t physical_taken[MAX_LOCATIONS];

static int shared_fd = -1;    /* the file of the machine */
static uint64_t shared_end;   /* where the next one goes; holes stay holes */
static uint64_t shared_count; /* that lie in it */
static uint64_t own_file_count;

uint64_t physical_limit(int location)
{
    if (location_is_host(location))
        return (uint64_t)sysconf(_SC_PHYS_PAGES) *
               (uint64_t)sysconf(_SC_PAGESIZE);
    return machine.settings.memory;
}

uint64_t physical_fds(void)
{
    return own_file_count + (shared_fd >= 0);
}

/* Lay it into the file of the machine. */
static int lay(struct physical *physical)
{
    if (shared_fd < 0)
        shared_fd = memfd_create("cudasim", MFD_CLOEXEC);
    if (shared_fd < 0 ||
        ftruncate(shared_fd, (off_t)(shared_end + physical->bytes)) != 0)
        return -1;
    physical->fd = shared_fd;
    physical->offset = shared_end;
    shared_end += physical->bytes;
    shared_count++;
    return 0;
}

/* Give it a file of its own, with the label. */
static int lay_alone(struct physical *physical)
{
    struct label label = {.bytes = physical->bytes,
                          .properties = physical->properties};

    memcpy(label.magic, magic, sizeof(magic));
    physical->fd = memfd_create("cudasim-export", MFD_CLOEXEC);
    if (physical->fd < 0)
        return -1;
    if (pwrite(physical->fd, &label, sizeof(label), (off_t)physical->bytes) !=
        (ssize_t)sizeof(label)) {
        close(physical->fd);
        return -1;
    }
    physical->own_file = true;
    own_file_count++;
    return 0;
}

static void take_away(struct physical *physical)
{
    if (physical->own_file) {
        close(physical->fd);
        own_file_count--;
        return;
    }
    fallocate(shared_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)physical->offset, (off_t)physical->bytes);
    if (--shared_count == 0) {
        close(shared_fd);
        shared_fd = -1;
        shared_end = 0;
    }
}

static struct physical *make(uint64_t bytes,
                             const CUmemAllocationProp *properties)
{
    struct physical *physical = calloc(1, sizeof(*physical));

    if (physical == NULL)
        return NULL;
    physical->handle = (struct item){machine_handle(), 1};
    physical->bytes = bytes;
    physical->references = 1;
    physical->properties = *properties;
    physical->location = machine_location(properties->location);
    if (index_add(&physicals, &physical->handle) != 0) {
        free(physical);
        return NULL;
    }
    return physical;
}

static void unmake(struct physical *physical)
{
    index_remove(&physicals, &physical->handle);
    free(physical);
}

CUresult physical_create(uint64_t bytes, const CUmemAllocationProp *properties,
                         struct physical **physical_out)
{
    int location = machine_location(properties->location);
    struct physical *physical;
    int err;

    if (bytes > physical_limit(location) ||
        bytes > physical_limit(location) - physical_taken[location])
        return CUDA_ERROR_OUT_OF_MEMORY;
    physical = make(bytes, properties);
    if (physical == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    err = properties->requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE
              ? lay(physical)
              : lay_alone(physical);
    if (err != 0) {
        unmake(physical);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    physical_taken[location] += bytes;
    *physical_out = physical;
    return CUDA_SUCCESS;
}

static void free_unused(struct physical *physical)
{
    if (physical->references > 0 || physical->mappings > 0)
        return;
    take_away(physical);
    if (!physical->imported)
        physical_taken[physical->location] -= physical->bytes;
    unmake(physical);
}

void physical_release(struct physical *physical)
{
    physical->references--;
    free_unused(physical);
}

void physical_unmapped(struct physical *physical)
{
    physical->mappings--;
    free_unused(physical);
}

struct physical *physical_find(uint64_t handle)
{
    struct physical *physical = index_find(&physicals, handle);

    if (physical != NULL && physical->references > 0)
        return physical;
    machine.bogus++;
    return NULL;
}

CUresult physical_export(const struct physical *physical, int *fd_out)
{
    int fd;

    if (!physical->own_file)
        return CUDA_ERROR_INVALID_VALUE;
    fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *fd_out = fd;
    return CUDA_SUCCESS;
}

/* The physical that a file is of already, in this process. */
static struct physical *find_file(const struct stat *file)
{
    struct physical *physical;
    struct stat other;
    size_t i;

    for (i = 0; i < physicals.count; i++) {
        physical = (struct physical *)physicals.items[i];
        if (physical->own_file && fstat(physical->fd, &other) == 0 &&
            other.st_ino == file->st_ino && other.st_dev == file->st_dev)
            return physical;
    }
    return NULL;
}

/* Read the label; false: this is no memory of a simulated driver. */
static bool read_label(int fd, const struct stat *file, struct label *label)
{
    off_t at = file->st_size - (off_t)sizeof(*label);

    return S_ISREG(file->st_mode) && at > 0 &&
           pread(fd, label, sizeof(*label), at) == (ssize_t)sizeof(*label) &&
           memcmp(label->magic, magic, sizeof(magic)) == 0 &&
           label->bytes == (uint64_t)at;
}

CUresult physical_import(int fd, struct physical **physical_out)
{
    struct physical *physical;
    struct label label;
    struct stat file;

    if (fstat(fd, &file) != 0 || !read_label(fd, &file, &label))
        return CUDA_ERROR_INVALID_VALUE;
    if (machine_location(label.properties.location) < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    physical = find_file(&file);
    if (physical != NULL) {
        physical->references++;
        *physical_out = physical;
        return CUDA_SUCCESS;
    }
    physical = make(label.bytes, &label.properties);
    if (physical == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    physical->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (physical->fd < 0) {
        unmake(physical);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    physical->own_file = true;
    physical->imported = true;
    own_file_count++;
    *physical_out = physical;
    return CUDA_SUCCESS;
}

void physical_clear(void)
{
    struct physical *physical;

    while (physicals.count > 0) {
        physical = (struct physical *)physicals.items[physicals.count - 1];
        physical->references = 0;
        free_unused(physical);
    }
    index_clear(&physicals);
}
