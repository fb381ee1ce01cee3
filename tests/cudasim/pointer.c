/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What the driver knows of an address. */
#include "config.h"

#include <string.h>

#include "context.h"
#include "entry.h"
#include "space.h"

/* What an address lies in: an allocation, or a mapping. */
struct place {
    uint64_t address;
    const struct mapping *mapping;
    const struct reservation *reservation;
    uint64_t start;
    uint64_t bytes;
};

static bool find(uint64_t address, struct place *place)
{
    place->address = address;
    place->mapping = index_find(&mappings, address);
    place->reservation = index_find(&reservations, address);
    if (place->mapping == NULL)
        return false;
    if (place->reservation->kind == RESERVED) {
        place->start = place->mapping->span.start;
        place->bytes = place->mapping->span.bytes;
    } else {
        place->start = place->reservation->span.start;
        place->bytes = place->reservation->used;
    }
    return address - place->start < place->bytes;
}

static CUresult address_range(CUdeviceptr *base, size_t *bytes,
                              CUdeviceptr address)
{
    struct place place;

    if (!find(address, &place))
        return CUDA_ERROR_NOT_FOUND;
    if (base != NULL)
        *base = place.start;
    if (bytes != NULL)
        *bytes = place.bytes;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes,
                                      CUdeviceptr address)
{
    CUresult result;

    if (enter("cuMemGetAddressRange", &result))
        result = leave(address_range(base, bytes, address));
    return result;
}

static bool on_host(const struct place *place)
{
    return location_is_host(place->mapping->physical->location);
}

static CUcontext context_at(const struct place *place)
{
    const struct context *context = context_of(place->reservation->context);

    return context == NULL ? NULL : (CUcontext)(uintptr_t)context->handle.start;
}

static int device_of(const struct place *place)
{
    if (place->reservation->kind != RESERVED)
        return place->reservation->device;
    return on_host(place) ? -1 : place->mapping->physical->location;
}

/* What is of the mapping or of the reservation. */
static CUresult get_part(void *data, CUpointer_attribute attribute,
                         const struct place *place)
{
    const CUmemAllocationProp *properties =
        &place->mapping->physical->properties;

    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)data = place->start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)data = place->bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        *(unsigned long long *)data = properties->requestedHandleTypes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        *(int *)data = properties->allocFlags.gpuDirectRDMACapable != 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
        *(size_t *)data = place->mapping->span.bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
        *(CUdeviceptr *)data = place->mapping->span.start;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
        *(unsigned long long *)data = place->mapping->physical->handle.start;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

static CUresult get(void *data, CUpointer_attribute attribute,
                    const struct place *place)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)data = context_at(place);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)data =
            on_host(place) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)data = place->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!on_host(place))
            return CUDA_ERROR_INVALID_VALUE;
        *(void **)data = (void *)(uintptr_t)place->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)data = place->reservation->kind == RESERVED
                                          ? place->mapping->id
                                          : place->reservation->id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(int *)data = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)data = device_of(place);
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(int *)data = 1;
        return CUDA_SUCCESS;
    default:
        return get_part(data, attribute, place);
    }
}

static CUresult get_attribute(void *data, CUpointer_attribute attribute,
                              CUdeviceptr address)
{
    struct place place;

    if (data == NULL || !find(address, &place))
        return CUDA_ERROR_INVALID_VALUE;
    return get(data, attribute, &place);
}

CUresult CUDAAPI cuPointerGetAttribute(void *data,
                                       CUpointer_attribute attribute,
                                       CUdeviceptr address)
{
    CUresult result;

    if (enter("cuPointerGetAttribute", &result))
        result = leave(get_attribute(data, attribute, address));
    return result;
}

static size_t size_of(CUpointer_attribute attribute)
{
    switch ((int)attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
        return sizeof(int);
    default:
        return sizeof(uint64_t);
    }
}

/* What does not apply to an address is zero, and a device that is none is -2. */
static CUresult get_attributes(unsigned count, CUpointer_attribute *attributes,
                               void **data, CUdeviceptr address)
{
    struct place place;
    unsigned i;

    if (count == 0 || attributes == NULL || data == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    for (i = 0; i < count; i++) {
        memset(data[i], 0, size_of(attributes[i]));
        if (find(address, &place))
            get(data[i], attributes[i], &place);
        else if (attributes[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
            *(int *)data[i] = -2;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuPointerGetAttributes(unsigned count,
                                        CUpointer_attribute *attributes,
                                        void **data, CUdeviceptr address)
{
    CUresult result;

    if (enter("cuPointerGetAttributes", &result))
        result = leave(get_attributes(count, attributes, data, address));
    return result;
}
