/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "config.h"

#include "support/stub_source.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/align.h"
#include "base/memory.h"

struct stub stub;

static void blame(const char *what)
{
    if (stub.wrong == NULL)
        stub.wrong = what;
}

static size_t stub_usable(void *state, size_t bytes, size_t alignment)
{
    (void)state;
    if (!is_power_of_two(alignment))
        blame("usable() with an alignment that is no power of two");
    if (bytes == 0)
        blame("usable() of nothing");
    return bytes + stub.extra;
}

static void *stub_alloc(void *state, size_t bytes, size_t alignment)
{
    void *block = NULL;

    (void)state;
    stub.allocs++;
    stub.last_alignment = alignment;
    if (!is_power_of_two(alignment) || alignment < sizeof(void *))
        blame("alloc() with a wrong alignment");
    if (memory_may_fail())
        return NULL;
    if (stub.bytes_limit != 0 && stub.bytes + bytes > stub.bytes_limit)
        return NULL;
    if (stub.count == STUB_BLOCKS ||
        posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
    stub.blocks[stub.count++] = (struct stub_block){block, bytes, alignment};
    stub.bytes += bytes;
    return block;
}

static void stub_free(void *state, void *block, size_t bytes, size_t alignment)
{
    size_t i;

    (void)state;
    stub.frees++;
    for (i = 0; i < stub.count; i++)
        if (stub.blocks[i].block == block)
            break;
    if (i == stub.count) {
        blame("free() of a block that is not out");
        return;
    }
    if (stub.blocks[i].bytes != bytes || stub.blocks[i].alignment != alignment)
        blame("free() with another size or alignment");
    stub.bytes -= stub.blocks[i].bytes;
    stub.blocks[i] = stub.blocks[--stub.count];
    free(block);
}

static const struct stub_block *block_around(const char *address, size_t bytes)
{
    size_t i;

    for (i = 0; i < stub.count; i++) {
        const char *block = stub.blocks[i].block;

        if (address >= block && address + bytes <= block + stub.blocks[i].bytes)
            return &stub.blocks[i];
    }
    return NULL;
}

static void stub_purge(void *state, void *address, size_t bytes)
{
    (void)state;
    stub.purges++;
    if (block_around(address, bytes) == NULL)
        blame("purge() beyond a block");
    if ((uintptr_t)address % 4096 != 0 || bytes % 4096 != 0 || bytes == 0)
        blame("purge() of parts of pages");
    memset(address, 0, bytes);
}

static void stub_prefer_huge(void *state, void *address, size_t bytes)
{
    (void)state;
    stub.huges++;
    if (block_around(address, bytes) == NULL)
        blame("prefer_huge() beyond a block");
}

struct ashlar_source stub_source = {
    .ops =
        {
            .name = "stub",
            .block_usable = stub_usable,
            .block_alloc = stub_alloc,
            .block_free = stub_free,
            .block_purge = stub_purge,
            .block_prefer_huge = stub_prefer_huge,
        },
    .info = {.can = ASHLAR_CAN_BLOCKS | ASHLAR_CAN_HOST_ACCESS},
    .name = "stub",
};

void stub_reset(void)
{
    memset(&stub, 0, sizeof(stub));
    stub_source.holders = 0;
}
