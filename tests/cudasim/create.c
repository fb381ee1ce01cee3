/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries that make memory and count its owners. */
#include "config.h"

#include "entry.h"
#include "space.h"

static CUresult check_location(CUmemLocation location)
{
    if (machine_location(location) >= 0)
        return CUDA_SUCCESS;
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE
               ? CUDA_ERROR_INVALID_DEVICE
               : CUDA_ERROR_INVALID_VALUE;
}

/* A set of them; one of Windows is none here. */
static CUresult check_handle_types(CUmemAllocationHandleType types)
{
    const unsigned known =
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | HANDLE_TYPE_FABRIC;

    if (((unsigned)types & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (((unsigned)types & HANDLE_TYPE_FABRIC) != 0 && !machine.settings.fabric)
        return CUDA_ERROR_NOT_PERMITTED;
    return CUDA_SUCCESS;
}

static CUresult check_properties(const CUmemAllocationProp *properties)
{
    CUresult result;

    if (properties == NULL || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_location(properties->location);
    if (result != CUDA_SUCCESS)
        return result;
    if (properties->allocFlags.gpuDirectRDMACapable != 0 &&
        !machine.settings.rdma)
        return CUDA_ERROR_INVALID_DEVICE;
    return check_handle_types(properties->requestedHandleTypes);
}

static CUresult create(CUmemGenericAllocationHandle *handle, size_t bytes,
                       const CUmemAllocationProp *properties,
                       unsigned long long flags)
{
    struct physical *physical;
    CUresult result;

    if (handle == NULL || bytes == 0 || bytes % GRANULE != 0 || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_properties(properties);
    if (result == CUDA_SUCCESS)
        result = physical_create(bytes, properties, &physical);
    if (result == CUDA_SUCCESS)
        *handle = physical->handle.start;
    return result;
}

CUresult CUDAAPI cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes,
                             const CUmemAllocationProp *properties,
                             unsigned long long flags)
{
    CUresult result;

    if (enter("cuMemCreate", &result))
        result = leave(create(handle, bytes, properties, flags));
    return result;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    struct physical *physical = physical_find(handle);

    if (physical == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    physical_release(physical);
    return CUDA_SUCCESS;
}

/* The real driver follows a handle that it never gave, and crashes. */
CUresult CUDAAPI cuMemRelease(CUmemGenericAllocationHandle handle)
{
    CUresult result;

    if (enter("cuMemRelease", &result))
        result = leave(release(handle));
    return result;
}

static CUresult retain(CUmemGenericAllocationHandle *handle, void *address)
{
    struct mapping *mapping =
        index_find(&mappings, (uint64_t)(uintptr_t)address);

    if (handle == NULL || mapping == NULL || mapping->physical->plain)
        return CUDA_ERROR_INVALID_VALUE;
    mapping->physical->references++;
    *handle = mapping->physical->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI
cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    CUresult result;

    if (enter("cuMemRetainAllocationHandle", &result))
        result = leave(retain(handle, address));
    return result;
}

static CUresult granularity(size_t *bytes,
                            const CUmemAllocationProp *properties,
                            CUmemAllocationGranularity_flags option)
{
    CUresult result;

    if (bytes == NULL || properties == NULL ||
        properties->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
         option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
        return CUDA_ERROR_INVALID_VALUE;
    result = check_location(properties->location);
    if (result == CUDA_SUCCESS)
        *bytes = GRANULE;
    return result;
}

CUresult CUDAAPI cuMemGetAllocationGranularity(
    size_t *bytes, const CUmemAllocationProp *properties,
    CUmemAllocationGranularity_flags option)
{
    CUresult result;

    if (enter("cuMemGetAllocationGranularity", &result))
        result = leave(granularity(bytes, properties, option));
    return result;
}

static CUresult properties_of(CUmemAllocationProp *properties,
                              CUmemGenericAllocationHandle handle)
{
    const struct physical *physical = physical_find(handle);

    if (properties == NULL || physical == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *properties = physical->properties;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp *properties, CUmemGenericAllocationHandle handle)
{
    CUresult result;

    if (enter("cuMemGetAllocationPropertiesFromHandle", &result))
        result = leave(properties_of(properties, handle));
    return result;
}
