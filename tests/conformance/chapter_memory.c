/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Addresses, memory, mappings, access. */
#include "conformance.h"

#include <string.h>
#include <sys/mman.h>

#define MANY ((size_t)1 << 46)

/* Half of all addresses. A process under AddressSanitizer may have fewer left:
 * then nobody gets as many. */
static void ask_for_many(void)
{
    CUdeviceptr address;
    CUresult result = cu.MemAddressReserve(&address, MANY, 0, 0, 0);
    void *there;

    if (result == CUDA_SUCCESS) {
        ASK("reserve 2^46 bytes", CUDA_SUCCESS, result);
        ASK("free them", CUDA_SUCCESS, cu.MemAddressFree(address, MANY));
        return;
    }
    there = mmap(NULL, MANY, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (there == MAP_FAILED)
        ask_not("reserve 2^46 bytes", "this process has not so many");
    else
        ASK("reserve 2^46 bytes", CUDA_SUCCESS, result);
    if (there != MAP_FAILED)
        (void)munmap(there, MANY);
}

void chapter_space(void)
{
    CUdeviceptr address, other, third;
    size_t bytes;

    if (!begin_with_context())
        return;
    bytes = granule();
    ask_number("the granule", 2 * MIB, bytes);
    ASK("reserve a granule", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, bytes, 0, 0, 0));
    ask_number("its alignment", 0, address % bytes);
    ASK("free it", CUDA_SUCCESS, cu.MemAddressFree(address, bytes));
    ASK("free it again", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressFree(address, bytes));
    ASK("reserve 0 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&address, 0, 0, 0, 0));
    ASK("reserve 100 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&address, 100, 0, 0, 0));
    ASK("reserve a granule and a page", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&address, bytes + 4096, 0, 0, 0));
    ASK("reserve at an alignment of 3 MiB", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&address, bytes, 3 * MIB, 0, 0));
    ASK("reserve at an alignment of 4 KiB", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, bytes, 4096, 0, 0));
    ask_number("its alignment", 0, address % bytes);
    ASK("free it", CUDA_SUCCESS, cu.MemAddressFree(address, bytes));
    ASK("reserve at an alignment of 1 GiB", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, bytes, 1024 * MIB, 0, 0));
    ask_number("its alignment", 0, address % (1024 * MIB));
    ASK("free it", CUDA_SUCCESS, cu.MemAddressFree(address, bytes));
    ASK("reserve with a flag", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&address, bytes, 0, 0, 1));
    ASK("reserve into NULL", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(NULL, bytes, 0, 0, 0));
    ask_for_many();
    ASK("reserve 2^47 bytes", CUDA_ERROR_OUT_OF_MEMORY,
        cu.MemAddressReserve(&address, (size_t)1 << 47, 0, 0, 0));

    ASK("reserve four granules", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, 4 * bytes, 0, 0, 0));
    ASK("with a hint to what is taken", CUDA_SUCCESS,
        cu.MemAddressReserve(&other, bytes, 0, address, 0));
    ask_number("it lies there", 0, other == address);
    ASK("free it", CUDA_SUCCESS, cu.MemAddressFree(other, bytes));
    ASK("with a hint off the alignment", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&other, bytes, 1024 * MIB, address + bytes, 0));
    ASK("with a hint off the granule", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressReserve(&other, bytes, 0, address + 4096, 0));
    ASK("free the first granule of four", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressFree(address, bytes));
    ASK("free the last three", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressFree(address + bytes, 3 * bytes));
    ASK("free five", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressFree(address, 5 * bytes));
    ASK("free 0 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressFree(address, 0));
    ASK("free at 0", CUDA_ERROR_INVALID_VALUE, cu.MemAddressFree(0, bytes));
    ASK("with a hint to the neighbour", CUDA_SUCCESS,
        cu.MemAddressReserve(&other, bytes, 0, address + 4 * bytes, 0));
    ask_number("it lies there", 1, other == address + 4 * bytes);
    if (other == address + 4 * bytes)
        ASK("free both at once", CUDA_ERROR_INVALID_VALUE,
            cu.MemAddressFree(address, 5 * bytes));
    ASK("free four granules", CUDA_SUCCESS,
        cu.MemAddressFree(address, 4 * bytes));
    ASK("and reserve them by a hint", CUDA_SUCCESS,
        cu.MemAddressReserve(&third, 4 * bytes, 0, address, 0));
    ask_number("they lie there", 1, third == address);
}

static void ask_sizes(size_t bytes)
{
    CUmemAllocationProp prop = device_memory(), read;
    CUmemGenericAllocationHandle handle;

    ASK("create a granule", CUDA_SUCCESS,
        cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("its properties", CUDA_SUCCESS,
        cu.MemGetAllocationPropertiesFromHandle(&read, handle));
    ask_number("the same", 0, read.location.type != prop.location.type);
    ASK("release it", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("create 0 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, 0, &prop, 0));
    ASK("create a granule and a page", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes + 4096, &prop, 0));
    ASK("create with a flag", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 1));
    ASK("create without properties", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, NULL, 0));
    ASK("create 1 TiB", CUDA_ERROR_OUT_OF_MEMORY,
        cu.MemCreate(&handle, (size_t)1 << 40, &prop, 0));
}

static void ask_places(size_t bytes)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle handle;

    prop.location.id = 99;
    ASK("create on device 99", CUDA_ERROR_INVALID_DEVICE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop.location.id = -1;
    ASK("create on device -1", CUDA_ERROR_INVALID_DEVICE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop = device_memory();
    prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
    ASK("create of no type", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop = device_memory();
    prop.location.type = CU_MEM_LOCATION_TYPE_INVALID;
    ASK("create nowhere", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    prop.location.id = -1;
    ASK("create on host node -1", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop.location.id = 99;
    ASK("create on host node 99", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop.location.id = 0;
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT;
    ASK("create on the current host node", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop.location.type = CU_MEM_LOCATION_TYPE_HOST;
    ASK("create on the host", CUDA_SUCCESS,
        cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("release it", CUDA_SUCCESS, cu.MemRelease(handle));
}

static void ask_handle_types(size_t bytes)
{
    CUmemAllocationProp prop;
    CUmemGenericAllocationHandle handle;

    prop = device_memory();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    ASK("create with a fabric handle", CUDA_ERROR_NOT_PERMITTED,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    ASK("create with a handle of Windows", CUDA_ERROR_INVALID_VALUE,
        cu.MemCreate(&handle, bytes, &prop, 0));
    prop = device_memory();
    prop.allocFlags.gpuDirectRDMACapable = 1;
    ASK("create for RDMA", CUDA_SUCCESS,
        cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("release it", CUDA_SUCCESS, cu.MemRelease(handle));
}

/* Chunks are taken from the device's memory when they are made. */
static void ask_free_memory(size_t *before_out)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle handle;
    size_t before, after, total;

    ASK("free memory", CUDA_SUCCESS, cu.MemGetInfo(&before, &total));
    ASK("create 64 MiB", CUDA_SUCCESS,
        cu.MemCreate(&handle, 64 * MIB, &prop, 0));
    ASK("free memory now", CUDA_SUCCESS, cu.MemGetInfo(&after, &total));
    ask_number("less by", 64 * MIB, before - after);
    ASK("release it", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("free memory then", CUDA_SUCCESS, cu.MemGetInfo(&after, &total));
    ask_number("less by", 0, before - after);
    *before_out = before;
}

/* A chunk lives as long as a reference or a mapping of it. */
static void ask_references(size_t bytes)
{
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr address;

    address = usable(bytes, &handle);
    ASK("release what is mapped", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("it may still be written", CUDA_SUCCESS,
        cu.MemsetD8(address, 1, bytes));
    ASK("retain it by its address", CUDA_SUCCESS,
        cu.MemRetainAllocationHandle(&handle, (void *)address));
    ASK("retain it again, from inside", CUDA_SUCCESS,
        cu.MemRetainAllocationHandle(&again, (void *)(address + 4096)));
    ask_number("the same handle", 1, handle == again);
    ASK("unmap it", CUDA_SUCCESS, cu.MemUnmap(address, bytes));
    ASK("retain what is unmapped", CUDA_ERROR_INVALID_VALUE,
        cu.MemRetainAllocationHandle(&again, (void *)address));
    ASK("release one reference", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("map it by the other", CUDA_SUCCESS,
        cu.MemMap(address, bytes, 0, handle, 0));
    ASK("release the other", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("unmap it", CUDA_SUCCESS, cu.MemUnmap(address, bytes));
    ASK("free the addresses", CUDA_SUCCESS, cu.MemAddressFree(address, bytes));
}

void chapter_chunks(void)
{
    size_t bytes, before = 0, after, total;

    if (!begin_with_context())
        return;
    bytes = granule();
    ask_sizes(bytes);
    ask_places(bytes);
    ask_handle_types(bytes);
    ask_free_memory(&before);
    ask_references(bytes);
    ASK("free memory at last", CUDA_SUCCESS, cu.MemGetInfo(&after, &total));
    ask_number("less by", 0, before - after);
}

void chapter_mappings(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle one, two, pair;
    CUdeviceptr space, next = 0;
    size_t bytes;

    if (!begin_with_context())
        return;
    bytes = granule();
    space = reserved(8 * bytes);
    if (!works("a chunk", cu.MemCreate(&one, bytes, &prop, 0)) ||
        !works("another", cu.MemCreate(&two, bytes, &prop, 0)) ||
        !works("one of two granules", cu.MemCreate(&pair, 2 * bytes, &prop, 0)))
        return;
    ASK("map half of two granules", CUDA_ERROR_NOT_SUPPORTED,
        cu.MemMap(space, bytes, 0, pair, 0));
    ASK("map the second half", CUDA_ERROR_NOT_SUPPORTED,
        cu.MemMap(space, bytes, bytes, pair, 0));
    ASK("map more than there is", CUDA_ERROR_NOT_SUPPORTED,
        cu.MemMap(space, 2 * bytes, 0, one, 0));
    ASK("map 0 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space, 0, 0, one, 0));
    ASK("map with a flag", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space, bytes, 0, one, 1));
    ASK("map off the granule", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space + 4096, bytes, 0, one, 0));
    ASK("map where nothing is reserved", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space + ((size_t)1 << 40), bytes, 0, one, 0));
    ASK("map behind the end", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space + 8 * bytes, bytes, 0, one, 0));
    ASK("map two granules", CUDA_SUCCESS,
        cu.MemMap(space, 2 * bytes, 0, pair, 0));
    ASK("map over them", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space, bytes, 0, one, 0));
    ASK("map over the second of them", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(space + bytes, bytes, 0, one, 0));
    ASK("map them a second time", CUDA_SUCCESS,
        cu.MemMap(space + 4 * bytes, 2 * bytes, 0, pair, 0));
    ASK("map a granule beside them", CUDA_SUCCESS,
        cu.MemMap(space + 2 * bytes, bytes, 0, one, 0));
    ASK("free addresses with mappings", CUDA_ERROR_INVALID_VALUE,
        cu.MemAddressFree(space, 8 * bytes));
    ASK("unmap half a mapping", CUDA_ERROR_INVALID_VALUE,
        cu.MemUnmap(space, bytes));
    ASK("unmap one and a half", CUDA_ERROR_INVALID_VALUE,
        cu.MemUnmap(space + bytes, 2 * bytes));
    ASK("unmap 0 bytes", CUDA_ERROR_INVALID_VALUE, cu.MemUnmap(space, 0));
    ASK("unmap off the granule", CUDA_ERROR_INVALID_VALUE,
        cu.MemUnmap(space + 4096, bytes));
    ASK("unmap two mappings at once", CUDA_SUCCESS,
        cu.MemUnmap(space, 3 * bytes));
    ASK("unmap what is unmapped", CUDA_SUCCESS, cu.MemUnmap(space, 3 * bytes));
    ASK("unmap where nothing is reserved", CUDA_ERROR_INVALID_VALUE,
        cu.MemUnmap(space + ((size_t)1 << 40), bytes));
    ASK("unmap a mapping and a hole", CUDA_SUCCESS,
        cu.MemUnmap(space + 3 * bytes, 4 * bytes));

    ASK("a reservation beside it", CUDA_SUCCESS,
        cu.MemAddressReserve(&next, bytes, 0, space + 8 * bytes, 0));
    if (next != space + 8 * bytes) {
        ask_not("mappings across two reservations", "the hint was not granted");
        return;
    }
    ASK("map into the first", CUDA_SUCCESS,
        cu.MemMap(space + 7 * bytes, bytes, 0, one, 0));
    ASK("map into the second", CUDA_SUCCESS, cu.MemMap(next, bytes, 0, two, 0));
    ASK("unmap both at once", CUDA_SUCCESS,
        cu.MemUnmap(space + 7 * bytes, 2 * bytes));
    ASK("free the first", CUDA_SUCCESS, cu.MemAddressFree(space, 8 * bytes));
    ASK("free the second", CUDA_SUCCESS, cu.MemAddressFree(next, bytes));
}

/* Mappings that begin inside a reservation and end outside. Some drivers let one
 * overhang a little from a large reservation: that is not asked here. */
void chapter_overhang(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle pair, large;
    CUdeviceptr one, eight, next = 0;
    size_t bytes;

    if (!begin_with_context())
        return;
    bytes = granule();
    if (!works("of two", cu.MemCreate(&pair, 2 * bytes, &prop, 0)) ||
        !works("of forty", cu.MemCreate(&large, 40 * bytes, &prop, 0)))
        return;
    one = reserved(bytes);
    ASK("map two granules in a reservation of one", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(one, 2 * bytes, 0, pair, 0));
    ASK("a reservation beside it", CUDA_SUCCESS,
        cu.MemAddressReserve(&next, bytes, 0, one + bytes, 0));
    if (next != one + bytes) {
        ask_not("mappings across two reservations", "the hint was not granted");
        return;
    }
    ASK("map two granules into both", CUDA_ERROR_INVALID_VALUE,
        cu.MemMap(one, 2 * bytes, 0, pair, 0));
    ASK("free the first", CUDA_SUCCESS, cu.MemAddressFree(one, bytes));
    ASK("free the second", CUDA_SUCCESS, cu.MemAddressFree(next, bytes));
    eight = reserved(8 * bytes);
    ASK("map forty granules in a reservation of eight",
        CUDA_ERROR_INVALID_VALUE, cu.MemMap(eight, 40 * bytes, 0, large, 0));
    ASK("free the eight", CUDA_SUCCESS, cu.MemAddressFree(eight, 8 * bytes));
}

static void ask_rights(const char *question, CUdeviceptr address,
                       uint64_t expected)
{
    CUmemLocation location = device_memory().location;
    unsigned long long rights = 77;

    ASK("cuMemGetAccess", CUDA_SUCCESS,
        cu.MemGetAccess(&rights, &location, address));
    ask_number(question, expected, rights);
}

/* Two chunks, of one granule and of two, and room for eight. */
struct access_trial {
    CUmemGenericAllocationHandle one, pair;
    CUdeviceptr space;
    size_t bytes; /* of a granule */
};

static bool begin_access(struct access_trial *trial)
{
    CUmemAllocationProp prop = device_memory();

    if (!begin_with_context())
        return false;
    trial->bytes = granule();
    trial->space = reserved(8 * trial->bytes);
    return works("a chunk",
                 cu.MemCreate(&trial->one, trial->bytes, &prop, 0)) &&
           works("of two",
                 cu.MemCreate(&trial->pair, 2 * trial->bytes, &prop, 0));
}

static void ask_unmapped_rights(const struct access_trial *trial)
{
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemLocation location = access.location;
    CUdeviceptr space = trial->space;
    size_t bytes = trial->bytes;
    unsigned long long rights;

    ASK("where nothing is mapped", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, bytes, &access, 1));
    ASK("cuMemGetAccess there", CUDA_ERROR_INVALID_VALUE,
        cu.MemGetAccess(&rights, &location, space));
    ASK("map two granules", CUDA_SUCCESS,
        cu.MemMap(space, 2 * bytes, 0, trial->pair, 0));
    ask_rights("rights at first", space, 0);
}

/* None of these changes anything. */
static void ask_odd_access(CUdeviceptr space, size_t bytes)
{
    CUmemAccessDesc access[2];

    access[0] = access[1] = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ASK("of no location", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 2 * bytes, access, 0));
    ASK("of NULL", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 2 * bytes, NULL, 1));
    ASK("on half a mapping", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, bytes, access, 1));
    ASK("on the second half", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space + bytes, bytes, access, 1));
    ASK("on a mapping and a hole", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 3 * bytes, access, 1));
    ASK("on 0 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 0, access, 1));
    access[0].flags = (CUmemAccess_flags)2;
    ASK("writing without reading", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    access[0].flags = (CUmemAccess_flags)7;
    ASK("unknown rights", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    access[0] = access[1];
    access[0].location.id = 99;
    ASK("of device 99", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    access[0] = access[1];
    access[0].location.type = CU_MEM_LOCATION_TYPE_HOST;
    ASK("of the host, on device memory", CUDA_ERROR_NOT_SUPPORTED,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    access[0].location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    ASK("of a host node, on device memory", CUDA_ERROR_NOT_SUPPORTED,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    access[0].location.type = CU_MEM_LOCATION_TYPE_INVALID;
    ASK("of a place that is none", CUDA_ERROR_INVALID_VALUE,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    ask_rights("rights after all that", space, 0);
}

static void ask_each_right(CUdeviceptr space, size_t bytes)
{
    CUmemAccessDesc access[2];
    CUmemLocation location;
    unsigned long long rights;

    access[0] = access[1] = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    location = access[0].location;
    ASK("the same device twice", CUDA_SUCCESS,
        cu.MemSetAccess(space, 2 * bytes, access, 2));
    ASK("read and write", CUDA_SUCCESS,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    ask_rights("rights now", space, 3);
    ask_rights("and in the second granule", space + bytes, 3);
    ask_rights("and in the middle of a page", space + 12345, 3);
    location.id = 99;
    ASK("cuMemGetAccess of device 99", CUDA_ERROR_INVALID_DEVICE,
        cu.MemGetAccess(&rights, &location, space));
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    ASK("read only", CUDA_SUCCESS,
        cu.MemSetAccess(space, 2 * bytes, access, 1));
    ask_rights("rights now", space, 1);
    access[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    ASK("none", CUDA_SUCCESS, cu.MemSetAccess(space, 2 * bytes, access, 1));
    ask_rights("rights now", space, 0);
}

static void ask_neighbouring_mappings(const struct access_trial *trial)
{
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr space = trial->space;
    size_t bytes = trial->bytes;

    ASK("map a granule beside", CUDA_SUCCESS,
        cu.MemMap(space + 2 * bytes, bytes, 0, trial->one, 0));
    ASK("on both mappings", CUDA_SUCCESS,
        cu.MemSetAccess(space, 3 * bytes, &access, 1));
    ask_rights("rights now", space + 2 * bytes, 3);
    ASK("unmap both", CUDA_SUCCESS, cu.MemUnmap(space, 3 * bytes));
    ASK("map two granules again", CUDA_SUCCESS,
        cu.MemMap(space, 2 * bytes, 0, trial->pair, 0));
    ask_rights("rights of a fresh mapping", space, 0);
}

static void ask_neighbouring_reservations(const struct access_trial *trial)
{
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUdeviceptr space = trial->space, next = 0;
    size_t bytes = trial->bytes;

    ASK("a reservation beside it", CUDA_SUCCESS,
        cu.MemAddressReserve(&next, bytes, 0, space + 8 * bytes, 0));
    if (next != space + 8 * bytes) {
        ask_not("access across two reservations", "the hint was not granted");
        return;
    }
    ASK("unmap two granules", CUDA_SUCCESS, cu.MemUnmap(space, 2 * bytes));
    ASK("map them at the end", CUDA_SUCCESS,
        cu.MemMap(space + 6 * bytes, 2 * bytes, 0, trial->pair, 0));
    ASK("map one at the neighbour", CUDA_SUCCESS,
        cu.MemMap(next, bytes, 0, trial->one, 0));
    ASK("on mappings of both reservations", CUDA_SUCCESS,
        cu.MemSetAccess(space + 6 * bytes, 3 * bytes, &access, 1));
    ask_rights("rights there", next, 3);
    ASK("write across", CUDA_SUCCESS,
        cu.MemsetD8(space + 6 * bytes, 5, 3 * bytes));
}

void chapter_access(void)
{
    struct access_trial trial;

    if (!begin_access(&trial))
        return;
    ask_unmapped_rights(&trial);
    ask_odd_access(trial.space, trial.bytes);
    ask_each_right(trial.space, trial.bytes);
    ask_neighbouring_mappings(&trial);
    ask_neighbouring_reservations(&trial);
}

void chapter_no_context(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUcontext context;
    CUdevice device;
    CUstream stream;
    CUevent event;
    unsigned long long id;
    unsigned int flags;
    void *memory;
    size_t bytes, total;
    int active;

    ASK("cuInit", CUDA_SUCCESS, cu.Init(0));
    bytes = granule();
    ask_number("the granule", 2 * MIB, bytes);
    ASK("reserve", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, bytes, 0, 0, 0));
    ASK("create", CUDA_SUCCESS, cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("map", CUDA_SUCCESS, cu.MemMap(address, bytes, 0, handle, 0));
    ASK("set access", CUDA_SUCCESS,
        cu.MemSetAccess(address, bytes, &access, 1));
    ASK("cuMemsetD8", CUDA_ERROR_INVALID_CONTEXT,
        cu.MemsetD8(address, 0, bytes));
    ASK("cuMemcpyHtoD", CUDA_ERROR_INVALID_CONTEXT,
        cu.MemcpyHtoD(address, &bytes, sizeof(bytes)));
    ASK("unmap", CUDA_SUCCESS, cu.MemUnmap(address, bytes));
    ASK("release", CUDA_SUCCESS, cu.MemRelease(handle));
    ASK("free addresses", CUDA_SUCCESS, cu.MemAddressFree(address, bytes));
    ASK("cuMemAlloc", CUDA_ERROR_INVALID_CONTEXT, cu.MemAlloc(&address, bytes));
    ASK("cuMemHostAlloc", CUDA_ERROR_INVALID_CONTEXT,
        cu.MemHostAlloc(&memory, bytes, 0));
    ASK("cuMemGetInfo", CUDA_ERROR_INVALID_CONTEXT,
        cu.MemGetInfo(&bytes, &total));
    ASK("cuStreamCreate", CUDA_ERROR_INVALID_CONTEXT,
        cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    ASK("cuEventCreate", CUDA_ERROR_INVALID_CONTEXT,
        cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK("cuStreamQuery of the default stream", CUDA_ERROR_INVALID_CONTEXT,
        cu.StreamQuery(NULL));
    ASK("cuCtxSynchronize", CUDA_ERROR_INVALID_CONTEXT, cu.CtxSynchronize());
    ASK("cuCtxGetDevice", CUDA_ERROR_INVALID_CONTEXT, cu.CtxGetDevice(&device));
    ASK("cuCtxGetId of NULL", CUDA_ERROR_INVALID_CONTEXT,
        cu.CtxGetId(NULL, &id));
    ASK("cuCtxGetCurrent", CUDA_SUCCESS, cu.CtxGetCurrent(&context));
    ask_number("which is none", 1, context == NULL);
    ASK("cuCtxPopCurrent", CUDA_ERROR_INVALID_CONTEXT,
        cu.CtxPopCurrent(&context));
    ASK("cuDevicePrimaryCtxGetState", CUDA_SUCCESS,
        cu.DevicePrimaryCtxGetState(0, &flags, &active));
    ask_number("active", 0, (uint64_t)active);
    ASK("cuDevicePrimaryCtxRelease of what nobody retained",
        CUDA_ERROR_INVALID_CONTEXT, cu.DevicePrimaryCtxRelease(0));
}
