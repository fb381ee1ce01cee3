/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Which location may do what with a mapping. */
#include "config.h"

#include "entry.h"
#include "space.h"

static bool is_host(CUmemLocation location)
{
    return (int)location.type == LOCATION_TYPE_HOST_NUMA ||
           (int)location.type == LOCATION_TYPE_HOST;
}

/* A host node that is not there is as good as one that is: nobody is there to use
 * the rights. */
static CUresult check_desc(const CUmemAccessDesc *desc)
{
    if (machine_location(desc->location) < 0 && !is_host(desc->location))
        return CUDA_ERROR_INVALID_VALUE;
    if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_NONE &&
        desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
        desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* Whether the memory of a mapping can be reached from a location at all. */
static CUresult check_reach(const struct mapping *mapping,
                            CUmemLocation location)
{
    int from = mapping->physical->location;

    if (location_is_host(from))
        return CUDA_SUCCESS;
    if (is_host(location))
        return CUDA_ERROR_NOT_SUPPORTED;
    return location.id == from || machine.settings.peers
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_DEVICE;
}

static CUresult check_mapping(const struct mapping *mapping,
                              const CUmemAccessDesc *desc, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    size_t i;

    for (i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check_reach(mapping, desc[i].location);
    return result;
}

/* Whether whole mappings lie side by side from the address on, so many bytes. */
static CUresult check_span(uint64_t address, uint64_t bytes,
                           const CUmemAccessDesc *desc, size_t count)
{
    uint64_t end = address + bytes;
    const struct mapping *mapping;
    CUresult result;

    while (address < end) {
        mapping = index_find(&mappings, address);
        if (mapping == NULL || mapping->physical->plain ||
            mapping->span.start != address ||
            mapping->span.bytes > end - address)
            return CUDA_ERROR_INVALID_VALUE;
        result = check_mapping(mapping, desc, count);
        if (result != CUDA_SUCCESS)
            return result;
        address += mapping->span.bytes;
    }
    return CUDA_SUCCESS;
}

static CUresult apply(struct mapping *mapping, const CUmemAccessDesc *desc,
                      size_t count)
{
    int location;
    size_t i;

    for (i = 0; i < count; i++) {
        location = machine_location(desc[i].location);
        if (location >= 0)
            mapping->rights[location] = (unsigned char)desc[i].flags;
    }
    return space_protect(mapping);
}

static CUresult set_access(CUdeviceptr address, size_t bytes,
                           const CUmemAccessDesc *desc, size_t count)
{
    CUresult result = CUDA_SUCCESS;
    uint64_t end = address + bytes;
    struct mapping *mapping;
    size_t i;

    if (bytes == 0 || desc == NULL || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = check_desc(&desc[i]);
    if (result == CUDA_SUCCESS)
        result = check_span(address, bytes, desc, count);
    while (result == CUDA_SUCCESS && address < end) {
        mapping = index_find(&mappings, address);
        result = apply(mapping, desc, count);
        address += mapping->span.bytes;
    }
    return result;
}

CUresult CUDAAPI cuMemSetAccess(CUdeviceptr address, size_t bytes,
                                const CUmemAccessDesc *desc, size_t count)
{
    CUresult result;

    if (enter("cuMemSetAccess", &result))
        result = leave(set_access(address, bytes, desc, count));
    return result;
}

static CUresult get_access(unsigned long long *flags,
                           const CUmemLocation *location, CUdeviceptr address)
{
    const struct mapping *mapping = index_find(&mappings, address);

    if (flags == NULL || location == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (machine_location(*location) < 0)
        return location->type == CU_MEM_LOCATION_TYPE_DEVICE
                   ? CUDA_ERROR_INVALID_DEVICE
                   : CUDA_ERROR_INVALID_VALUE;
    if (mapping == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = mapping->rights[machine_location(*location)];
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAccess(unsigned long long *flags,
                                const CUmemLocation *location,
                                CUdeviceptr address)
{
    CUresult result;

    if (enter("cuMemGetAccess", &result))
        result = leave(get_access(flags, location, address));
    return result;
}
