/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The heap: blocks of host memory from jemalloc. */
#include "config.h"

#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/memory.h"
#include "source/je.h"
#include "source/source.h"

static enum ashlar_status heap_open(const struct ashlar_host *host,
                                    const struct ashlar_plugin_option *options,
                                    size_t option_count,
                                    struct ashlar_plugin_info *info,
                                    void **state_out)
{
    if (option_count != 0)
        return host->fail(ASHLAR_ERR_INVALID,
                          "the source \"heap\" has no options, but was given "
                          "\"%s=%s\"; give NULL or an empty string",
                          options[0].key, options[0].value);
    info->can = ASHLAR_CAN_BLOCKS | ASHLAR_CAN_HOST_ACCESS;
    strncpy(info->description, "host memory, jemalloc",
            sizeof(info->description) - 1);
    *state_out = NULL;
    return ASHLAR_OK;
}

static void heap_close(void *state)
{
    (void)state;
}

static size_t heap_usable(void *state, size_t bytes, size_t alignment)
{
    (void)state;
    return je_usable(bytes, alignment);
}

static void *heap_alloc(void *state, size_t bytes, size_t alignment)
{
    (void)state;
    if (memory_may_fail())
        return NULL;
    return je_alloc(bytes, alignment);
}

static void heap_free(void *state, void *block, size_t bytes, size_t alignment)
{
    (void)state;
    je_free(block, bytes, alignment);
}

static void heap_purge(void *state, void *address, size_t bytes)
{
    (void)state;
    (void)madvise(address, bytes, MADV_DONTNEED);
}

static void heap_prefer_huge(void *state, void *address, size_t bytes)
{
    (void)state;
    (void)madvise(address, bytes, MADV_HUGEPAGE);
}

const struct ashlar_plugin heap_plugin = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "heap",
    .version = PACKAGE_VERSION,
    .open = heap_open,
    .close = heap_close,
    .block_usable = heap_usable,
    .block_alloc = heap_alloc,
    .block_free = heap_free,
    .block_purge = heap_purge,
    .block_prefer_huge = heap_prefer_huge,
};
