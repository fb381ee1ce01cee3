/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * ashlar_guard.so: host memory for pools, with a page behind each block that
 * nobody may touch. Option fill=0 to 255: what new memory is filled with.
 */
#define _GNU_SOURCE
#include <ashlar/plugin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct guard {
    const struct ashlar_host *host;
    size_t page;
    int fill;
};

/* What blocks of an alignment are multiples of. */
static size_t unit_of(const struct guard *guard, size_t alignment)
{
    return alignment > guard->page ? alignment : guard->page;
}

static size_t block_usable(void *state, size_t bytes, size_t alignment)
{
    size_t unit = unit_of(state, alignment);

    return bytes > SIZE_MAX / 4 || unit > SIZE_MAX / 4
               ? 0
               : (bytes + unit - 1) / unit * unit;
}

/* Addresses with room to align, of which the block and its guard are kept. */
static void *block_alloc(void *state, size_t bytes, size_t alignment)
{
    struct guard *guard = state;
    size_t unit = unit_of(guard, alignment);
    size_t size = block_usable(state, bytes, alignment);
    size_t head;
    char *all;

    if (size == 0)
        return NULL;
    all = mmap(NULL, size + guard->page + unit, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    head = -(uintptr_t)all % unit;
    if (head != 0)
        munmap(all, head);
    munmap(all + head + size + guard->page, unit - head);
    if (mprotect(all + head, size, PROT_READ | PROT_WRITE) != 0) {
        munmap(all + head, size + guard->page);
        return NULL;
    }
    if (guard->fill != 0)
        memset(all + head, guard->fill, size);
    return all + head;
}

static void block_free(void *state, void *block, size_t bytes, size_t alignment)
{
    struct guard *guard = state;

    munmap(block, block_usable(state, bytes, alignment) + guard->page);
}

static void block_purge(void *state, void *address, size_t bytes)
{
    (void)state;
    madvise(address, bytes, MADV_DONTNEED);
}

static void block_prefer_huge(void *state, void *block, size_t bytes)
{
    (void)state;
    madvise(block, bytes, MADV_HUGEPAGE);
}

static enum ashlar_status
open_source(const struct ashlar_host *host,
            const struct ashlar_plugin_option *options, size_t option_count,
            struct ashlar_plugin_info *info, void **state_out)
{
    struct guard *guard;
    char *end;
    long fill = 0;
    size_t i;

    for (i = 0; i < option_count; i++) {
        if (strcmp(options[i].key, "fill") != 0)
            return host->fail(ASHLAR_ERR_INVALID, "guard has no option \"%s\"",
                              options[i].key);
        fill = strtol(options[i].value, &end, 10);
        if (end == options[i].value || *end != '\0' || fill < 0 || fill > 255)
            return host->fail(ASHLAR_ERR_INVALID,
                              "fill is \"%s\"; it must be 0 to 255",
                              options[i].value);
    }
    guard = host->alloc(sizeof(*guard));
    if (guard == NULL)
        return host->fail(ASHLAR_ERR_NO_MEMORY, "no memory to open guard");
    guard->host = host;
    guard->page = (size_t)sysconf(_SC_PAGESIZE);
    guard->fill = (int)fill;
    info->can = ASHLAR_CAN_BLOCKS | ASHLAR_CAN_HOST_ACCESS;
    strcpy(info->description, "host memory with guard pages");
    *state_out = guard;
    return ASHLAR_OK;
}

static void close_source(void *state)
{
    struct guard *guard = state;

    guard->host->free(guard);
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "guard",
    .version = "1.0",
    .open = open_source,
    .close = close_source,
    .block_usable = block_usable,
    .block_alloc = block_alloc,
    .block_free = block_free,
    .block_purge = block_purge,
    .block_prefer_huge = block_prefer_huge,
};
