/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* ashlar_memfd.so: growable host memory; each chunk is a file without a name. */
#define _GNU_SOURCE
#include <ashlar/plugin.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define GRANULE UINT64_C(65536)

/* A stretch of addresses: a reservation, or a mapping in one. */
struct piece {
    struct piece *next;
    uint64_t address, bytes;
};

struct memfd {
    const struct ashlar_host *host;
    pthread_mutex_t lock; /* of the lists */
    struct piece *spaces, *mappings;
};

static void *pages(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static uint64_t memory_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* The first piece that a stretch touches. */
static struct piece *touched(struct piece *piece, uint64_t address,
                             uint64_t bytes)
{
    while (piece != NULL && (piece->address >= address + bytes ||
                             address >= piece->address + piece->bytes))
        piece = piece->next;
    return piece;
}

/* Whether whole pieces cover a stretch, with nothing between them. */
static int is_whole(struct piece *piece, uint64_t address, uint64_t bytes)
{
    uint64_t inside = 0;

    for (; piece != NULL; piece = piece->next)
        if (piece->address >= address && piece->bytes <= bytes &&
            piece->address - address <= bytes - piece->bytes)
            inside += piece->bytes;
    return bytes != 0 && inside == bytes;
}

static void forget(struct memfd *memfd, struct piece **link, uint64_t address,
                   uint64_t bytes)
{
    struct piece *piece;

    while ((piece = *link) != NULL) {
        if (piece->address < address || piece->address >= address + bytes) {
            link = &piece->next;
            continue;
        }
        *link = piece->next;
        memfd->host->free(piece);
    }
}

/* Unlock, and say what the call comes to. */
static enum ashlar_status done(struct memfd *memfd, int good, const char *call)
{
    pthread_mutex_unlock(&memfd->lock);
    return good ? ASHLAR_OK
                : memfd->host->fail(ASHLAR_ERR_INVALID,
                                    "memfd: %s: not whole, not aligned to %lu, "
                                    "or not there",
                                    call, (unsigned long)GRANULE);
}

static enum ashlar_status reserve(void *state, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  uint64_t *address_out)
{
    struct memfd *memfd = state;
    struct piece *piece = memfd->host->alloc(sizeof(*piece));
    int good = bytes != 0 && bytes % GRANULE == 0 && alignment >= GRANULE &&
               (alignment & (alignment - 1)) == 0 && hint % alignment == 0;
    char *block = MAP_FAILED; /* larger than asked for, then cut */
    uint64_t head;

    if (piece != NULL && good && bytes < UINT64_MAX - alignment)
        block = mmap(NULL, bytes + alignment, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED) {
        memfd->host->free(piece);
        return memfd->host->fail(
            good ? ASHLAR_ERR_NO_ADDRESS_SPACE : ASHLAR_ERR_INVALID,
            "memfd: cannot reserve %lu bytes at a "
            "multiple of %lu",
            (unsigned long)bytes, (unsigned long)alignment);
    }
    head = -(uint64_t)(uintptr_t)block % alignment;
    if (head != 0)
        munmap(block, head);
    munmap(block + head + bytes, alignment - head);
    *piece = (struct piece){NULL, (uint64_t)(uintptr_t)block + head, bytes};
    *address_out = piece->address;
    pthread_mutex_lock(&memfd->lock);
    piece->next = memfd->spaces;
    memfd->spaces = piece;
    return done(memfd, 1, "reserve");
}

static enum ashlar_status release(void *state, uint64_t address, uint64_t bytes)
{
    struct memfd *memfd = state;
    struct piece *space;
    int good;

    pthread_mutex_lock(&memfd->lock);
    space = touched(memfd->spaces, address, 1);
    good = space != NULL && space->address == address &&
           space->bytes == bytes &&
           touched(memfd->mappings, address, bytes) == NULL &&
           munmap(pages(address), bytes) == 0;
    if (good)
        forget(memfd, &memfd->spaces, address, bytes);
    return done(memfd, good, "release");
}

static enum ashlar_status
chunk_create(void *state, const struct ashlar_chunk_request *request,
             uint64_t *chunk_out)
{
    struct memfd *memfd = state;
    int good = request->bytes != 0 && request->bytes % GRANULE == 0;
    int fd = good && request->bytes <= memory_bytes()
                 ? memfd_create("ashlar", MFD_CLOEXEC)
                 : -1;

    if (fd >= 0 && ftruncate(fd, (off_t)request->bytes) == 0) {
        *chunk_out = (uint64_t)fd;
        return ASHLAR_OK;
    }
    if (fd >= 0)
        close(fd);
    return memfd->host->fail(good ? ASHLAR_ERR_NO_DEVICE_MEMORY
                                  : ASHLAR_ERR_INVALID,
                             "memfd: cannot make a chunk of %lu bytes",
                             (unsigned long)request->bytes);
}

static enum ashlar_status chunk_destroy(void *state, uint64_t chunk,
                                        uint64_t bytes)
{
    (void)state, (void)bytes;
    close((int)chunk);
    return ASHLAR_OK;
}

/* With the lock held: whether a chunk can be mapped there. */
static int is_free(struct memfd *memfd, uint64_t address, uint64_t bytes)
{
    struct piece *space = touched(memfd->spaces, address, 1);

    return space != NULL && bytes <= space->address + space->bytes - address &&
           touched(memfd->mappings, address, bytes) == NULL;
}

static enum ashlar_status map(void *state, uint64_t address, uint64_t chunk,
                              uint64_t bytes)
{
    struct memfd *memfd = state;
    struct piece *piece = memfd->host->alloc(sizeof(*piece));
    struct stat file;
    int good;

    if (piece == NULL)
        return memfd->host->fail(ASHLAR_ERR_NO_MEMORY, "memfd: map: no memory");
    pthread_mutex_lock(&memfd->lock);
    good = address % GRANULE == 0 && fstat((int)chunk, &file) == 0 &&
           (uint64_t)file.st_size == bytes && is_free(memfd, address, bytes) &&
           mmap(pages(address), bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
                (int)chunk, 0) != MAP_FAILED;
    if (good) {
        *piece = (struct piece){memfd->mappings, address, bytes};
        memfd->mappings = piece;
    } else {
        memfd->host->free(piece);
    }
    return done(memfd, good, "map");
}

static enum ashlar_status unmap(void *state, uint64_t address, uint64_t bytes)
{
    struct memfd *memfd = state;
    int good;

    pthread_mutex_lock(&memfd->lock);
    good = is_whole(memfd->mappings, address, bytes) &&
           mmap(pages(address), bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
                0) != MAP_FAILED;
    if (good)
        forget(memfd, &memfd->mappings, address, bytes);
    return done(memfd, good, "unmap");
}

static enum ashlar_status allow(void *state, uint64_t address, uint64_t bytes,
                                const struct ashlar_access *access,
                                size_t access_count)
{
    struct memfd *memfd = state;
    int protection = PROT_NONE;
    int good = access_count != 0;
    size_t i;

    for (i = 0; i < access_count; i++) {
        good = good && access[i].location == 0;
        if (access[i].rights == ASHLAR_RIGHTS_READ)
            protection = PROT_READ;
        else if (access[i].rights == ASHLAR_RIGHTS_READ_WRITE)
            protection = PROT_READ | PROT_WRITE;
        else
            good = good && access[i].rights == ASHLAR_RIGHTS_NONE;
    }
    pthread_mutex_lock(&memfd->lock);
    good = good && is_whole(memfd->mappings, address, bytes) &&
           mprotect(pages(address), bytes, protection) == 0;
    return done(memfd, good, "allow");
}

static enum ashlar_status
open_source(const struct ashlar_host *host,
            const struct ashlar_plugin_option *options, size_t option_count,
            struct ashlar_plugin_info *info, void **state_out)
{
    struct memfd *memfd;

    if (option_count != 0)
        return host->fail(ASHLAR_ERR_INVALID, "memfd has no option \"%s\"",
                          options[0].key);
    memfd = host->alloc(sizeof(*memfd));
    if (memfd == NULL)
        return host->fail(ASHLAR_ERR_NO_MEMORY, "memfd: open: no memory");
    memfd->host = host;
    pthread_mutex_init(&memfd->lock, NULL);
    info->can = ASHLAR_CAN_RANGES | ASHLAR_CAN_HOST_ACCESS;
    info->granule = GRANULE;
    info->memory_bytes = memory_bytes();
    info->location_count = 1;
    strcpy(info->description, "files without a name");
    *state_out = memfd;
    return ASHLAR_OK;
}

static void close_source(void *state)
{
    struct memfd *memfd = state;

    memfd->host->free(memfd);
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "memfd",
    .version = "1.0",
    .open = open_source,
    .close = close_source,
    .reserve = reserve,
    .release = release,
    .chunk_create = chunk_create,
    .chunk_destroy = chunk_destroy,
    .map = map,
    .unmap = unmap,
    .allow = allow,
};
