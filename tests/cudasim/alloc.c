/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Memory that has its address at once: cuMemAlloc(), cuMemHostAlloc(). */
#include "config.h"

#include <string.h>

#include "entry.h"
#include "space.h"
#include "stream.h"

/* Allocated memory comes in units of a page, as large as pages may be. */
#define UNIT ((uint64_t)64 << 10)

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Every device reaches what is allocated: its own at once, another's by a copy
 * through the host if there is no shorter way. */
static void open_to_all(struct mapping *mapping)
{
    memset(mapping->rights, CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
           machine.settings.devices);
}

static CUresult place(struct reservation *reservation, uint64_t bytes,
                      const CUmemAllocationProp *properties)
{
    struct physical *physical;
    struct mapping *mapping;
    CUresult result =
        physical_create(round_up(bytes, UNIT), properties, &physical);

    if (result != CUDA_SUCCESS)
        return result;
    physical->plain = true;
    result = space_map(reservation->span.start, physical, &mapping);
    physical_release(physical);
    if (result == CUDA_SUCCESS) {
        mapping->used = bytes;
        open_to_all(mapping);
    }
    return result;
}

static CUresult allocate(uint64_t *address, uint64_t bytes,
                         enum reservation_kind kind)
{
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    struct context *context;
    struct reservation *reservation;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (address == NULL || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > UINT64_C(1) << 47)
        return CUDA_ERROR_OUT_OF_MEMORY;
    properties.location.type = kind == DEVICE_MEMORY
                                   ? CU_MEM_LOCATION_TYPE_DEVICE
                                   : LOCATION_TYPE_HOST_NUMA;
    properties.location.id = kind == DEVICE_MEMORY ? context->device : 0;
    result =
        space_reserve(round_up(bytes, GRANULE), GRANULE, 0, kind, &reservation);
    if (result != CUDA_SUCCESS)
        return result;
    result = place(reservation, bytes, &properties);
    if (result != CUDA_SUCCESS) {
        space_free(reservation);
        return result;
    }
    reservation->device = context->device;
    reservation->context = context->id;
    reservation->used = bytes;
    *address = reservation->span.start;
    return CUDA_SUCCESS;
}

static CUresult mem_alloc(CUdeviceptr *address, size_t bytes)
{
    uint64_t at;
    CUresult result = address == NULL ? CUDA_ERROR_INVALID_VALUE
                                      : allocate(&at, bytes, DEVICE_MEMORY);

    if (result == CUDA_SUCCESS)
        *address = at;
    return result;
}

CUresult CUDAAPI cuMemAlloc(CUdeviceptr *address, size_t bytes)
{
    CUresult result;

    if (enter("cuMemAlloc", &result))
        result = leave(mem_alloc(address, bytes));
    return result;
}

static CUresult host_alloc(void **address, size_t bytes, unsigned flags)
{
    const unsigned known = CU_MEMHOSTALLOC_PORTABLE |
                           CU_MEMHOSTALLOC_DEVICEMAP |
                           CU_MEMHOSTALLOC_WRITECOMBINED;
    uint64_t at = 0;
    CUresult result = CUDA_ERROR_INVALID_VALUE;

    if (address != NULL && (flags & ~known) == 0)
        result = bytes == 0 ? CUDA_SUCCESS : allocate(&at, bytes, HOST_MEMORY);
    if (result == CUDA_SUCCESS)
        *address = (void *)(uintptr_t)at;
    return result;
}

CUresult CUDAAPI cuMemHostAlloc(void **address, size_t bytes, unsigned flags)
{
    CUresult result;

    if (enter("cuMemHostAlloc", &result))
        result = leave(host_alloc(address, bytes, flags));
    return result;
}

CUresult CUDAAPI cuMemAllocHost(void **address, size_t bytes)
{
    CUresult result;

    if (enter("cuMemAllocHost", &result))
        result = leave(host_alloc(address, bytes, 0));
    return result;
}

/* Freeing waits for all that the device does. */
static CUresult release(uint64_t address, enum reservation_kind kind)
{
    struct reservation *reservation = index_find(&reservations, address);
    struct context *context;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (reservation == NULL || reservation->kind != kind ||
        reservation->span.start != address)
        return CUDA_ERROR_INVALID_VALUE;
    stream_await_context(reservation->context);
    reservation = index_find(&reservations, address);
    if (reservation == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    space_unmap(index_find(&mappings, address));
    space_free(reservation);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemFree(CUdeviceptr address)
{
    CUresult result;

    if (enter("cuMemFree", &result))
        result = leave(address == 0 ? CUDA_SUCCESS
                                    : release(address, DEVICE_MEMORY));
    return result;
}

CUresult CUDAAPI cuMemFreeHost(void *address)
{
    CUresult result;

    if (enter("cuMemFreeHost", &result))
        result = leave(release((uint64_t)(uintptr_t)address, HOST_MEMORY));
    return result;
}

static CUresult device_pointer(CUdeviceptr *device, void *host, unsigned flags)
{
    const struct reservation *reservation =
        index_find(&reservations, (uint64_t)(uintptr_t)host);

    if (device == NULL || flags != 0 || reservation == NULL ||
        reservation->kind != HOST_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    *device = (uint64_t)(uintptr_t)host;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemHostGetDevicePointer(CUdeviceptr *device, void *host,
                                           unsigned flags)
{
    CUresult result;

    if (enter("cuMemHostGetDevicePointer", &result))
        result = leave(device_pointer(device, host, flags));
    return result;
}

static CUresult get_info(size_t *free_bytes, size_t *total_bytes)
{
    struct context *context;
    CUresult result = context_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (free_bytes == NULL || total_bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *total_bytes = machine.settings.memory;
    *free_bytes = machine.settings.memory - physical_taken[context->device];
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    CUresult result;

    if (enter("cuMemGetInfo", &result))
        result = leave(get_info(free_bytes, total_bytes));
    return result;
}
