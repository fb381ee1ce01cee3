/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Reservations and mappings of the vm source, by the rules of a device driver.
 *
 *     reserve  mmap PROT_NONE           release  munmap
 *     allow    mprotect (location 0)    map      mmap MAP_FIXED MAP_SHARED
 *                                       unmap    mmap PROT_NONE over it
 *
 * Shared, so that a chunk can be mapped twice; not inherited by fork, since a
 * child would share the memory. The records (libc's trees, by address) let it
 * refuse what a driver refuses: to release what is not one reservation, or has
 * something mapped; to map over a mapping; to unmap or allow half of one.
 */
#include "config.h"

#include <search.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/align.h"
#include "source/vm.h"

static enum ashlar_status no_mappings(struct vm *vm, uint64_t bytes)
{
    return vm->host->fail(ASHLAR_ERR_NO_MEMORY,
                          "the kernel has no mapping left for %lu bytes; see "
                          "vm.max_map_count",
                          (unsigned long)bytes);
}

/* Spans that overlap are equal: a tree holds none that do. */
static int span_compare(const void *a, const void *b)
{
    const struct vm_span *one = a;
    const struct vm_span *other = b;

    if (one->address + one->bytes <= other->address)
        return -1;
    return one->address >= other->address + other->bytes;
}

/* The record that an address lies in; NULL for none. */
static void *span_find(void *const *tree, uint64_t address, uint64_t bytes)
{
    struct vm_span span = {address, bytes};
    void *const *node = tfind(&span, tree, span_compare);

    return node == NULL ? NULL : *node;
}

/* Reserved addresses, at a multiple of alignment; 0 and errno for none. */
static uint64_t map_nothing(uint64_t bytes, uint64_t alignment, uint64_t hint)
{
    uint64_t more = bytes + alignment - (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t begin;
    uint64_t base;
    void *block;

    if (hint != 0) {
        block = mmap((void *)(uintptr_t)hint, bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
                         MAP_FIXED_NOREPLACE,
                     -1, 0);
        if (block == (void *)(uintptr_t)hint)
            return hint;
        if (block != MAP_FAILED)
            (void)munmap(block, bytes);
    }
    block = mmap(NULL, more, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (block == MAP_FAILED)
        return 0;
    begin = (uint64_t)(uintptr_t)block;
    base = align_up(begin, alignment);
    if (base != begin)
        (void)munmap(block, base - begin);
    if (begin + more != base + bytes)
        (void)munmap((void *)(uintptr_t)(base + bytes),
                     begin + more - (base + bytes));
    return base;
}

enum ashlar_status vm_reserve(void *state, uint64_t bytes, uint64_t alignment,
                              uint64_t hint, uint64_t *address_out)
{
    struct vm *vm = state;
    struct vm_space *space;
    uint64_t address = 0;

    if (bytes == 0 || bytes % vm->granule != 0 || !is_power_of_two(alignment) ||
        hint % alignment != 0)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "a reservation of %lu bytes at a multiple of %lu "
                              "does not fit the granule of %lu",
                              (unsigned long)bytes, (unsigned long)alignment,
                              (unsigned long)vm->granule);
    space = vm->host->alloc(sizeof(*space));
    if (space == NULL)
        return vm_no_records(vm);
    if (bytes < UINT64_C(1) << 48)
        address = map_nothing(bytes, max_size(alignment, vm->granule), hint);
    if (address == 0) {
        vm->host->free(space);
        return vm->host->fail(ASHLAR_ERR_NO_ADDRESS_SPACE,
                              "mmap() found no %lu bytes of addresses",
                              (unsigned long)bytes);
    }
    space->span = (struct vm_span){address, bytes};
    lock_take(&vm->lock);
    if (tsearch(space, &vm->spaces, span_compare) == NULL) {
        lock_give(&vm->lock);
        (void)munmap((void *)(uintptr_t)address, bytes);
        vm->host->free(space);
        return vm_no_records(vm);
    }
    vm->account.reservations++;
    vm->account.reserved_bytes += bytes;
    lock_give(&vm->lock);
    *address_out = address;
    return ASHLAR_OK;
}

enum ashlar_status vm_release(void *state, uint64_t address, uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_space *space;
    bool good;
    bool done;

    lock_take(&vm->lock);
    space = span_find(&vm->spaces, address, 1);
    good = space != NULL && space->span.address == address &&
           space->span.bytes == bytes && space->mappings == 0;
    done = good && munmap((void *)(uintptr_t)address, bytes) == 0;
    if (done) {
        (void)tdelete(space, &vm->spaces, span_compare);
        vm->account.reservations--;
        vm->account.reserved_bytes -= bytes;
    }
    lock_give(&vm->lock);
    if (good && !done)
        return no_mappings(vm, bytes);
    if (!good)
        return vm->host->fail(ASHLAR_ERR_INVALID,
                              "%lu bytes at 0x%lx are not one reservation in "
                              "which nothing is mapped",
                              (unsigned long)bytes, (unsigned long)address);
    vm->host->free(space);
    return ASHLAR_OK;
}

/* With the lock held: whether nothing is mapped there, in one reservation. */
static struct vm_space *space_for(struct vm *vm, uint64_t address,
                                  uint64_t bytes)
{
    struct vm_space *space = span_find(&vm->spaces, address, 1);

    if (space == NULL ||
        address + bytes > space->span.address + space->span.bytes ||
        span_find(&vm->mappings, address, bytes) != NULL)
        return NULL;
    return space;
}

static bool map_pages(const struct vm *vm, uint64_t address,
                      const struct vm_chunk *chunk)
{
    void *at = (void *)(uintptr_t)address;

    if (mmap(at, chunk->bytes, PROT_NONE, MAP_SHARED | MAP_FIXED,
             chunk->file->fd, (off_t)chunk->offset) == MAP_FAILED)
        return false;
    (void)madvise(at, chunk->bytes, MADV_DONTFORK);
    if (vm->huge)
        (void)madvise(at, chunk->bytes, MADV_HUGEPAGE);
    return true;
}

enum ashlar_status vm_map(void *state, uint64_t address, uint64_t handle,
                          uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_chunk *chunk = (struct vm_chunk *)(uintptr_t)handle;
    struct vm_mapping *mapping = vm->host->alloc(sizeof(*mapping));
    enum ashlar_status status = ASHLAR_OK;
    struct vm_space *space;

    if (mapping == NULL)
        return vm_no_records(vm);
    mapping->span = (struct vm_span){address, bytes};
    mapping->chunk = chunk;
    lock_take(&vm->lock);
    space = space_for(vm, address, bytes);
    mapping->space = space;
    if (space == NULL || chunk->bytes != bytes || address % vm->granule != 0)
        status = ASHLAR_ERR_INVALID;
    else if (tsearch(mapping, &vm->mappings, span_compare) == NULL)
        status = ASHLAR_ERR_NO_MEMORY;
    else if (!map_pages(vm, address, chunk)) {
        (void)tdelete(mapping, &vm->mappings, span_compare);
        status = ASHLAR_ERR_NO_MEMORY;
    } else {
        space->mappings++;
        chunk->mappings++;
        vm->account.mappings++;
        vm->account.mapped_bytes += bytes;
    }
    lock_give(&vm->lock);
    if (status == ASHLAR_OK)
        return status;
    vm->host->free(mapping);
    if (status == ASHLAR_ERR_NO_MEMORY)
        return no_mappings(vm, bytes);
    return vm->host->fail(status,
                          "a chunk cannot be mapped at 0x%lx: it must be whole "
                          "(%lu bytes), inside one reservation, and over "
                          "nothing else",
                          (unsigned long)address, (unsigned long)chunk->bytes);
}

/*
 * With the lock held: whether a stretch is made of whole mappings, each behind
 * the other.
 */
static bool is_whole(struct vm *vm, uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    struct vm_mapping *mapping;

    while (address < end) {
        mapping = span_find(&vm->mappings, address, 1);
        if (mapping == NULL || mapping->span.address != address ||
            address + mapping->span.bytes > end)
            return false;
        address += mapping->span.bytes;
    }
    return bytes != 0;
}

static void forget_mapping(struct vm *vm, struct vm_mapping *mapping)
{
    (void)tdelete(mapping, &vm->mappings, span_compare);
    mapping->space->mappings--;
    mapping->chunk->mappings--;
    vm->account.mappings--;
    vm->account.mapped_bytes -= mapping->span.bytes;
    vm->host->free(mapping);
}

enum ashlar_status vm_unmap(void *state, uint64_t address, uint64_t bytes)
{
    struct vm *vm = state;
    struct vm_mapping *mapping;
    uint64_t at;
    bool good;
    bool done;

    lock_take(&vm->lock);
    good = is_whole(vm, address, bytes);
    done = good && mmap((void *)(uintptr_t)address, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                        -1, 0) != MAP_FAILED;
    for (at = address; done && at < address + bytes;) {
        mapping = span_find(&vm->mappings, at, 1);
        at += mapping->span.bytes;
        forget_mapping(vm, mapping);
    }
    lock_give(&vm->lock);
    if (done)
        return ASHLAR_OK;
    if (good)
        return no_mappings(vm, bytes);
    return vm->host->fail(ASHLAR_ERR_INVALID,
                          "%lu bytes at 0x%lx are not whole mappings",
                          (unsigned long)bytes, (unsigned long)address);
}

static int protection_of(uint32_t rights)
{
    switch (rights) {
    case ASHLAR_RIGHTS_READ:
        return PROT_READ;
    case ASHLAR_RIGHTS_READ_WRITE:
        return PROT_READ | PROT_WRITE;
    default:
        return PROT_NONE;
    }
}

/* With the lock held: protect pages by what their mappings' records say. */
static void protect_as_recorded(struct vm *vm, uint64_t address, uint64_t bytes)
{
    const struct vm_mapping *mapping;
    uint64_t at;

    for (at = address; at < address + bytes; at += mapping->span.bytes) {
        mapping = span_find(&vm->mappings, at, 1);
        (void)mprotect((void *)(uintptr_t)at, mapping->span.bytes,
                       protection_of(mapping->rights[0]));
    }
}

/* With the lock held: all that a list says of location 0, which is the pages. */
static bool protect_pages(struct vm *vm, uint64_t address, uint64_t bytes,
                          const struct ashlar_access *access, size_t count)
{
    const struct ashlar_access *last = NULL;
    size_t i;

    for (i = 0; i < count; i++)
        if (access[i].location == 0)
            last = &access[i];
    if (last == NULL || mprotect((void *)(uintptr_t)address, bytes,
                                 protection_of(last->rights)) == 0)
        return true;
    /* It may have gone half-way. */
    protect_as_recorded(vm, address, bytes);
    return false;
}

/* With the lock held: note the rights of one location. */
static void record_rights(struct vm *vm, uint64_t address, uint64_t bytes,
                          const struct ashlar_access *access)
{
    struct vm_mapping *mapping;
    uint64_t at;

    for (at = address; at < address + bytes; at += mapping->span.bytes) {
        mapping = span_find(&vm->mappings, at, 1);
        mapping->rights[access->location] = (uint8_t)access->rights;
    }
}

static bool access_is_good(const struct ashlar_access *access, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (access[i].location >= ASHLAR_VM_LOCATIONS ||
            (access[i].rights != ASHLAR_RIGHTS_NONE &&
             access[i].rights != ASHLAR_RIGHTS_READ &&
             access[i].rights != ASHLAR_RIGHTS_READ_WRITE))
            return false;
    return count != 0;
}

enum ashlar_status vm_allow(void *state, uint64_t address, uint64_t bytes,
                            const struct ashlar_access *access,
                            size_t access_count)
{
    struct vm *vm = state;
    bool good = access_is_good(access, access_count);
    bool done = false;
    size_t i;

    lock_take(&vm->lock);
    good = good && is_whole(vm, address, bytes);
    if (good)
        done = protect_pages(vm, address, bytes, access, access_count);
    for (i = 0; done && i < access_count; i++)
        record_rights(vm, address, bytes, &access[i]);
    lock_give(&vm->lock);
    if (done)
        return ASHLAR_OK;
    if (good)
        return no_mappings(vm, bytes);
    return vm->host->fail(ASHLAR_ERR_INVALID,
                          "rights of %zu location(s) cannot be set on %lu "
                          "bytes at 0x%lx: they must be whole mappings, and "
                          "locations below %u",
                          access_count, (unsigned long)bytes,
                          (unsigned long)address, ASHLAR_VM_LOCATIONS);
}

bool vm_is_mapped(struct vm *vm, uint64_t address)
{
    return span_find(&vm->mappings, address, 1) != NULL;
}

enum ashlar_status vm_rights_at(struct vm *vm, uint64_t address,
                                uint32_t location, uint32_t *rights_out)
{
    const struct vm_mapping *mapping;

    lock_take(&vm->lock);
    mapping = span_find(&vm->mappings, address, 1);
    if (mapping != NULL)
        *rights_out = mapping->rights[location];
    lock_give(&vm->lock);
    if (mapping != NULL)
        return ASHLAR_OK;
    return vm->host->fail(ASHLAR_ERR_NOT_FOUND, "nothing is mapped at 0x%lx",
                          (unsigned long)address);
}
