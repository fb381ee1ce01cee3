/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Addresses, chunks, mappings and rights: one call of the driver each, without
 * a context. The driver refuses what breaks its rules; what it would let pass,
 * is refused here.
 */
#include "config.h"

#include "error.h"
#include "source.h"

#include <time.h>

/* Rights set in one call. */
#define ACCESS_MOST 64

/* cuMemSetAccess() may say NOT_READY while others queue work: 20 us, doubled. */
#define RETRIES        10
#define RETRY_FIRST_NS 20000

/* --- addresses ------------------------------------------------------------- */

/* With the lock of spaces held. */
static enum ashlar_status reserve(struct cuda *cuda, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  struct cuda_space *space)
{
    CUdeviceptr address = 0;
    CUresult result;

    result =
        cuda->driver.mem_address_reserve(&address, bytes, alignment, hint, 0);
    if (result != CUDA_SUCCESS)
        return cuda_fail_at(cuda, result, "cuMemAddressReserve",
                            ASHLAR_ERR_NO_ADDRESS_SPACE, hint, bytes);
    *space = (struct cuda_space){address, bytes};
    if (cuda_spaces_add(&cuda->spaces, space))
        return ASHLAR_OK;
    (void)cuda->driver.mem_address_free(address, bytes);
    return cuda_no_records(cuda);
}

enum ashlar_status cuda_reserve(void *state, uint64_t bytes, uint64_t alignment,
                                uint64_t hint, uint64_t *address_out)
{
    struct cuda *cuda = state;
    struct cuda_space *space = cuda->host->alloc(sizeof(*space));
    enum ashlar_status status;

    if (space == NULL)
        return cuda_no_records(cuda);
    (void)pthread_mutex_lock(&cuda->spaces.lock);
    status = reserve(cuda, bytes, alignment, hint, space);
    (void)pthread_mutex_unlock(&cuda->spaces.lock);
    if (status != ASHLAR_OK) {
        cuda->host->free(space);
        return status;
    }
    *address_out = space->address;
    return ASHLAR_OK;
}

enum ashlar_status cuda_release(void *state, uint64_t address, uint64_t bytes)
{
    struct cuda *cuda = state;
    struct cuda_space *space;
    CUresult result;

    (void)pthread_mutex_lock(&cuda->spaces.lock);
    space = cuda_spaces_find(&cuda->spaces, address);
    result = cuda->driver.mem_address_free(address, bytes);
    if (result == CUDA_SUCCESS && space != NULL)
        cuda_spaces_remove(&cuda->spaces, space);
    (void)pthread_mutex_unlock(&cuda->spaces.lock);
    if (result == CUDA_SUCCESS) {
        cuda->host->free(space);
        return ASHLAR_OK;
    }
    return cuda_fail_at(cuda, result, "cuMemAddressFree",
                        ASHLAR_ERR_NO_ADDRESS_SPACE, address, bytes);
}

/* --- chunks ---------------------------------------------------------------- */

CUresult cuda_create(const struct cuda *cuda, uint64_t bytes,
                     CUmemAllocationHandleType type,
                     CUmemGenericAllocationHandle *handle_out)
{
    CUmemAllocationProp properties = cuda->properties;

    properties.requestedHandleTypes = type;
    return cuda->driver.mem_create(handle_out, bytes, &properties, 0);
}

enum ashlar_status cuda_chunk_create(void *state,
                                     const struct ashlar_chunk_request *request,
                                     uint64_t *chunk_out)
{
    struct cuda *cuda = state;
    CUmemGenericAllocationHandle handle = 0;
    CUresult result;

    result = cuda_create(cuda, request->bytes,
                         request->export_group == 0 ? CU_MEM_HANDLE_TYPE_NONE
                                                    : cuda->exported_as,
                         &handle);
    if (result != CUDA_SUCCESS)
        return cuda_fail_at(cuda, result, "cuMemCreate",
                            ASHLAR_ERR_NO_DEVICE_MEMORY, 0, request->bytes);
    *chunk_out = handle;
    return ASHLAR_OK;
}

enum ashlar_status cuda_chunk_destroy(void *state, uint64_t chunk,
                                      uint64_t bytes)
{
    struct cuda *cuda = state;
    CUresult result = cuda->driver.mem_release(chunk);

    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    return cuda_fail_at(cuda, result, "cuMemRelease",
                        ASHLAR_ERR_NO_DEVICE_MEMORY, 0, bytes);
}

/* --- mappings -------------------------------------------------------------- */

enum ashlar_status cuda_map(void *state, uint64_t address, uint64_t chunk,
                            uint64_t bytes)
{
    struct cuda *cuda = state;
    CUresult result;

    if (!cuda_spaces_have(&cuda->spaces, address, bytes))
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "%lu bytes at 0x%lx are not in one "
                                "reservation, and cannot be mapped there",
                                (unsigned long)bytes, (unsigned long)address);
    result = cuda->driver.mem_map(address, bytes, 0, chunk, 0);
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    return cuda_fail_at(cuda, result, "cuMemMap", ASHLAR_ERR_NO_DEVICE_MEMORY,
                        address, bytes);
}

enum ashlar_status cuda_unmap(void *state, uint64_t address, uint64_t bytes)
{
    struct cuda *cuda = state;
    CUresult result = cuda->driver.mem_unmap(address, bytes);

    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    return cuda_fail_at(cuda, result, "cuMemUnmap", ASHLAR_ERR_NO_DEVICE_MEMORY,
                        address, bytes);
}

static enum ashlar_status describe(const struct cuda *cuda,
                                   const struct ashlar_access *access,
                                   CUmemAccessDesc *description_out)
{
    uint32_t devices = (uint32_t)cuda->device_count;
    uint32_t locations = devices + (uint32_t)cuda->node_count;
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;

    if (access->location >= locations)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "location is %u; there are %u: device(s) from "
                                "0 on, host NUMA node(s) from %u on",
                                access->location, locations, devices);
    if (access->rights == ASHLAR_RIGHTS_READ)
        flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    else if (access->rights == ASHLAR_RIGHTS_READ_WRITE)
        flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    else if (access->rights != ASHLAR_RIGHTS_NONE)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "rights are %u; give 0 (none), 1 (read) or 3 "
                                "(read and write)",
                                access->rights);
    *description_out = (CUmemAccessDesc){.flags = flags};
    description_out->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    description_out->location.id = (int)access->location;
    if (access->location >= devices) {
        description_out->location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
        description_out->location.id = (int)(access->location - devices);
    }
    return ASHLAR_OK;
}

static CUresult set_access(const struct cuda *cuda, uint64_t address,
                           uint64_t bytes, const CUmemAccessDesc *descriptions,
                           size_t count)
{
    struct timespec pause = {0, RETRY_FIRST_NS};
    CUresult result;
    int i;

    result = cuda->driver.mem_set_access(address, bytes, descriptions, count);
    for (i = 0; i < RETRIES && result == CUDA_ERROR_NOT_READY; i++) {
        (void)nanosleep(&pause, NULL);
        pause.tv_nsec *= 2;
        result =
            cuda->driver.mem_set_access(address, bytes, descriptions, count);
    }
    return result;
}

enum ashlar_status cuda_allow(void *state, uint64_t address, uint64_t bytes,
                              const struct ashlar_access *access,
                              size_t access_count)
{
    struct cuda *cuda = state;
    CUmemAccessDesc descriptions[ACCESS_MOST];
    enum ashlar_status status = ASHLAR_OK;
    CUresult result;
    size_t i;

    if (access_count == 0 || access_count > ACCESS_MOST)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "rights of %zu locations are set at once; "
                                "give 1 to %d",
                                access_count, ACCESS_MOST);
    for (i = 0; i < access_count && status == ASHLAR_OK; i++)
        status = describe(cuda, &access[i], &descriptions[i]);
    if (status != ASHLAR_OK)
        return status;
    result = set_access(cuda, address, bytes, descriptions, access_count);
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    return cuda_fail_at(cuda, result, "cuMemSetAccess",
                        ASHLAR_ERR_NO_DEVICE_MEMORY, address, bytes);
}
