/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries that give addresses and map memory at them. */
#include "config.h"

#include "entry.h"
#include "space.h"

/* What a pointer holds after a call that failed; nobody may use it. */
#define GARBAGE UINT64_C(0xdeadbeefdead0000)

static bool aligned(uint64_t number)
{
    return number % GRANULE == 0;
}

static CUresult reserve(CUdeviceptr *ptr, size_t bytes, size_t alignment,
                        CUdeviceptr hint, unsigned long long flags)
{
    struct reservation *reservation;
    CUresult result;

    if (alignment == 0)
        alignment = GRANULE;
    if (ptr == NULL || bytes == 0 || !aligned(bytes) || flags != 0 ||
        (alignment & (alignment - 1)) != 0 || hint % alignment != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (alignment < GRANULE)
        alignment = GRANULE;
    if (hint != 0 && machine.settings.hints == HINTS_REFUSE) {
        *ptr = GARBAGE;
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!aligned(hint))
        hint = 0;
    result = space_reserve(bytes, alignment, hint, RESERVED, &reservation);
    if (result == CUDA_SUCCESS)
        *ptr = reservation->span.start;
    return result;
}

CUresult CUDAAPI cuMemAddressReserve(CUdeviceptr *ptr, size_t bytes,
                                     size_t alignment, CUdeviceptr hint,
                                     unsigned long long flags)
{
    CUresult result;

    if (enter("cuMemAddressReserve", &result))
        result = leave(reserve(ptr, bytes, alignment, hint, flags));
    return result;
}

/* Exactly one reservation, with nothing mapped in it. */
static CUresult address_free(CUdeviceptr address, size_t bytes)
{
    struct reservation *reservation = index_find(&reservations, address);

    if (reservation == NULL || reservation->kind != RESERVED ||
        reservation->span.start != address ||
        reservation->span.bytes != bytes ||
        index_overlaps(&mappings, address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    space_free(reservation);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    CUresult result;

    if (enter("cuMemAddressFree", &result))
        result = leave(address_free(address, bytes));
    return result;
}

static CUresult map(CUdeviceptr address, size_t bytes, size_t offset,
                    CUmemGenericAllocationHandle handle,
                    unsigned long long flags)
{
    const struct reservation *reservation = index_find(&reservations, address);
    struct physical *physical = physical_find(handle);
    struct mapping *mapping;

    if (physical == NULL || reservation == NULL ||
        reservation->kind != RESERVED || bytes == 0 || !aligned(address) ||
        flags != 0 ||
        bytes > reservation->span.bytes - (address - reservation->span.start) ||
        index_overlaps(&mappings, address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    if (offset != 0 || bytes != physical->bytes)
        return CUDA_ERROR_NOT_SUPPORTED;
    return space_map(address, physical, &mapping);
}

CUresult CUDAAPI cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                          CUmemGenericAllocationHandle handle,
                          unsigned long long flags)
{
    CUresult result;

    if (enter("cuMemMap", &result))
        result = leave(map(address, bytes, offset, handle, flags));
    return result;
}

/* Whether [address, address + bytes) cuts no mapping, and lies in reservations,
 * which may be several. Space between mappings may be in it. */
static bool cuts_no_mapping(uint64_t address, uint64_t bytes)
{
    const struct mapping *first = index_find(&mappings, address);
    const struct mapping *last = index_find(&mappings, address + bytes - 1);

    return (first == NULL || first->span.start == address) &&
           (last == NULL ||
            last->span.start + last->span.bytes == address + bytes);
}

static bool all_reserved(uint64_t address, uint64_t bytes)
{
    uint64_t end = address + bytes;
    const struct reservation *reservation;

    while (address < end) {
        reservation = index_find(&reservations, address);
        if (reservation == NULL || reservation->kind != RESERVED)
            return false;
        address = reservation->span.start + reservation->span.bytes;
    }
    return true;
}

static CUresult unmap(CUdeviceptr address, size_t bytes)
{
    size_t at;
    struct item *item;

    if (bytes == 0 || !aligned(address) || !aligned(bytes) ||
        !all_reserved(address, bytes) || !cuts_no_mapping(address, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    for (;;) {
        at = index_at(&mappings, address);
        item = at < mappings.count ? mappings.items[at] : NULL;
        if (item == NULL || item->start >= address + bytes)
            return CUDA_SUCCESS;
        space_unmap((struct mapping *)item);
    }
}

CUresult CUDAAPI cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    CUresult result;

    if (enter("cuMemUnmap", &result))
        result = leave(unmap(address, bytes));
    return result;
}
