/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/source.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/align.h"
#include "base/memory.h"
#include "source/je.h"

static size_t heap_usable(size_t bytes, size_t alignment)
{
    return je_usable(bytes, alignment);
}

static void *heap_alloc(size_t bytes, size_t alignment)
{
    if (memory_may_fail())
        return NULL;
    return je_alloc(bytes, alignment);
}

static void heap_free(void *block, size_t bytes, size_t alignment)
{
    je_free(block, bytes, alignment);
}

static void heap_purge(void *address, size_t bytes)
{
    (void)madvise(address, bytes, MADV_DONTNEED);
}

static void heap_prefer_huge(void *address, size_t bytes)
{
    (void)madvise(address, bytes, MADV_HUGEPAGE);
}

const struct source_ops heap_ops = {
    .name = "heap",
    .usable = heap_usable,
    .alloc = heap_alloc,
    .free = heap_free,
    .purge = heap_purge,
    .prefer_huge = heap_prefer_huge,
};
