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
static uint64_t file_count;

uint64_t physical_limit(int location)
{
    if (location_is_host(location))
        return (uint64_t)sysconf(_SC_PHYS_PAGES) *
               (uint64_t)sysconf(_SC_PAGESIZE);
    return machine.settings.memory;
}

uint64_t physical_fds(void)
{
    return file_count + (shared_fd >= 0);
}

static void close_if_empty(void)
{
    if (shared_count > 0)
        return;
    close(shared_fd);
    shared_fd = -1;
    shared_end = 0;
}

/* Lay it into the file of the machine. */
static int lay(struct physical *physical)
{
    if (shared_fd < 0)
        shared_fd = memfd_create("cudasim", MFD_CLOEXEC);
    if (shared_fd < 0)
        return -1;
    if (ftruncate(shared_fd, (off_t)(shared_end + physical->bytes)) != 0) {
        close_if_empty();
        return -1;
    }
    physical->fd = shared_fd;
    physical->offset = shared_end;
    shared_end += physical->bytes;
    shared_count++;
    return 0;
}

static struct file *file_open(int fd, bool foreign)
{
    struct file *file = calloc(1, sizeof(*file));

    if (file != NULL) {
        *file = (struct file){fd, 1, foreign};
        file_count++;
    }
    return file;
}

/* Let go of a file. Returns whether memory went with it. */
static bool file_close(struct file *file)
{
    bool gone = --file->users == 0;

    if (!gone)
        return false;
    gone = !file->foreign;
    close(file->fd);
    free(file);
    file_count--;
    return gone;
}

static bool write_label(int fd, const struct physical *physical)
{
    struct label label = {.bytes = physical->bytes,
                          .properties = physical->properties};

    memcpy(label.magic, magic, sizeof(magic));
    return pwrite(fd, &label, sizeof(label), (off_t)physical->bytes) ==
           (ssize_t)sizeof(label);
}

/* Give it a file of its own, with the label. */
static int lay_alone(struct physical *physical)
{
    int fd = memfd_create("cudasim-export", MFD_CLOEXEC);

    if (fd < 0)
        return -1;
    if (write_label(fd, physical))
        physical->file = file_open(fd, false);
    if (physical->file == NULL) {
        close(fd);
        return -1;
    }
    physical->fd = fd;
    return 0;
}

/* Returns whether memory went. */
static bool take_away(struct physical *physical)
{
    if (physical->file != NULL)
        return file_close(physical->file);
    fallocate(shared_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              (off_t)physical->offset, (off_t)physical->bytes);
    shared_count--;
    close_if_empty();
    return true;
}

static struct physical *make(uint64_t bytes,
                             const CUmemAllocationProp *properties)
{
    struct physical *physical = machine_object(&physicals, sizeof(*physical));

    if (physical == NULL)
        return NULL;
    physical->bytes = bytes;
    physical->references = 1;
    physical->properties = *properties;
    physical->location = machine_location(properties->location);
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
    if (take_away(physical))
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

    fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *fd_out = fd;
    return CUDA_SUCCESS;
}

/* The file of a descriptor, if this process has it open already; else NULL. */
static struct file *find_file(const struct stat *wanted)
{
    const struct physical *physical;
    struct stat other;
    size_t i;

    for (i = 0; i < physicals.count; i++) {
        physical = (const struct physical *)physicals.items[i];
        if (physical->file != NULL && fstat(physical->fd, &other) == 0 &&
            other.st_ino == wanted->st_ino && other.st_dev == wanted->st_dev)
            return physical->file;
    }
    return NULL;
}

/* Open a file of another process, or once more one of this. */
static struct file *share_file(int fd, const struct stat *wanted)
{
    struct file *file = find_file(wanted);
    int copy;

    if (file != NULL) {
        file->users++;
        return file;
    }
    copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (copy < 0)
        return NULL;
    file = file_open(copy, true);
    if (file == NULL)
        close(copy);
    return file;
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
        return CUDA_ERROR_UNKNOWN;
    if (machine_location(label.properties.location) < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    physical = make(label.bytes, &label.properties);
    if (physical == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    physical->file = share_file(fd, &file);
    if (physical->file == NULL) {
        unmake(physical);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    physical->fd = physical->file->fd;
    physical->imported = true;
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
