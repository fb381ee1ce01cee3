/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What memory holds, who may touch it, and what a bad touch costs. */
#include "conformance.h"

#include <string.h>

void chapter_contents(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CUmemGenericAllocationHandle handle;
    unsigned char out[256], in[256];
    CUdeviceptr space, base, plain;
    size_t bytes, size, i;
    unsigned int kind;

    if (!begin_with_context())
        return;
    bytes = granule();
    space = reserved(4 * bytes);
    if (!works("a chunk", cu.MemCreate(&handle, bytes, &prop, 0)) ||
        !works("mapped", cu.MemMap(space, bytes, 0, handle, 0)) ||
        !works("mapped again",
               cu.MemMap(space + 2 * bytes, bytes, 0, handle, 0)) ||
        !works("access", cu.MemSetAccess(space, bytes, &access, 1)) ||
        !works("access again",
               cu.MemSetAccess(space + 2 * bytes, bytes, &access, 1)))
        return;
    for (i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)(i * 7 + 1);
    ASK("write", CUDA_SUCCESS, cu.MemcpyHtoD(space + 100, in, sizeof(in)));
    memset(out, 0, sizeof(out));
    ASK("read by the other mapping", CUDA_SUCCESS,
        cu.MemcpyDtoH(out, space + 2 * bytes + 100, sizeof(out)));
    ask_number("the same bytes", 0, memcmp(in, out, sizeof(in)) != 0);
    ASK("unmap the first", CUDA_SUCCESS, cu.MemUnmap(space, bytes));
    ASK("map it elsewhere", CUDA_SUCCESS,
        cu.MemMap(space + bytes, bytes, 0, handle, 0));
    ASK("access", CUDA_SUCCESS,
        cu.MemSetAccess(space + bytes, 2 * bytes, &access, 1));
    memset(out, 0, sizeof(out));
    ASK("copy from mapping to mapping", CUDA_SUCCESS,
        cu.MemcpyDtoD(space + bytes + 4096, space + 2 * bytes + 100,
                      sizeof(in)));
    ASK("by addresses alone", CUDA_SUCCESS,
        cu.Memcpy((CUdeviceptr)out, space + bytes + 4096, sizeof(out)));
    ask_number("the same bytes", 0, memcmp(in, out, sizeof(in)) != 0);
    ASK("copy 0 bytes", CUDA_SUCCESS, cu.MemcpyHtoD(space + bytes, in, 0));
    ASK("set 0 bytes", CUDA_SUCCESS, cu.MemsetD8(space + bytes, 1, 0));
    ASK("cuMemGetAddressRange", CUDA_SUCCESS,
        cu.MemGetAddressRange(&base, &size, space + bytes + 4096));
    ask_number("its start", bytes, base - space);
    ask_number("its bytes", bytes, size);
    ASK("memory's kind", CUDA_SUCCESS,
        cu.PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                               space + bytes));
    ask_number("which it is", CU_MEMORYTYPE_DEVICE, kind);
    ASK("memory's kind where nothing is mapped", CUDA_ERROR_INVALID_VALUE,
        cu.PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, space));
    ASK("memory's kind on the stack", CUDA_ERROR_INVALID_VALUE,
        cu.PointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                               (CUdeviceptr)out));

    ASK("cuMemAlloc", CUDA_SUCCESS, cu.MemAlloc(&plain, 1000));
    ask_number("its alignment", 0, plain % 256);
    ASK("cuMemAlloc of 0 bytes", CUDA_ERROR_INVALID_VALUE,
        cu.MemAlloc(&base, 0));
    ASK("cuMemAlloc of 1 TiB", CUDA_ERROR_OUT_OF_MEMORY,
        cu.MemAlloc(&base, (size_t)1 << 40));
    ASK("cuMemGetAddressRange", CUDA_SUCCESS,
        cu.MemGetAddressRange(&base, &size, plain + 10));
    ask_number("its bytes", 1000, size);
    ASK("write behind its end", CUDA_ERROR_INVALID_VALUE,
        cu.MemcpyHtoD(plain + 900, in, 256));
    ASK("cuMemFree inside", CUDA_ERROR_INVALID_VALUE, cu.MemFree(plain + 256));
    ASK("cuMemFree", CUDA_SUCCESS, cu.MemFree(plain));
    ASK("cuMemFree again", CUDA_ERROR_INVALID_VALUE, cu.MemFree(plain));
    ASK("cuMemFree of 0", CUDA_SUCCESS, cu.MemFree(0));
    ASK("cuMemFree of a mapping", CUDA_ERROR_INVALID_VALUE,
        cu.MemFree(space + bytes));
}

/* A bad touch, and what is said then and after it. */
static void ask_touch(CUresult (*touch)(CUdeviceptr), CUdeviceptr address,
                      CUresult expected, CUresult expected_after)
{
    CUdeviceptr plain;

    ASK("the touch", expected, touch(address));
    ASK("cuCtxSynchronize after it", expected_after, cu.CtxSynchronize());
    ASK("cuMemAlloc after it", expected_after, cu.MemAlloc(&plain, 4096));
}

static CUresult write_by_memset(CUdeviceptr address)
{
    return cu.MemsetD8(address, 1, 4096);
}

static CUresult write_by_copy(CUdeviceptr address)
{
    static char bytes[4096];

    return cu.MemcpyHtoD(address, bytes, sizeof(bytes));
}

static CUresult read_by_copy(CUdeviceptr address)
{
    static char bytes[4096];

    return cu.MemcpyDtoH(bytes, address, sizeof(bytes));
}

void chapter_touch_unmapped_memset(void)
{
    if (begin_with_context())
        ask_touch(write_by_memset, reserved(granule()),
                  CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS);
}

void chapter_touch_unmapped_copy(void)
{
    if (begin_with_context())
        ask_touch(write_by_copy, reserved(granule()), CUDA_ERROR_INVALID_VALUE,
                  CUDA_SUCCESS);
}

void chapter_touch_no_rights_memset(void)
{
    CUmemGenericAllocationHandle handle;

    if (begin_with_context())
        ask_touch(write_by_memset, mapped(granule(), &handle),
                  CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS);
}

void chapter_touch_no_rights_copy(void)
{
    CUmemGenericAllocationHandle handle;

    if (begin_with_context())
        ask_touch(write_by_copy, mapped(granule(), &handle),
                  CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS);
}

static CUdeviceptr read_only(void)
{
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READ);
    CUmemGenericAllocationHandle handle;
    size_t bytes = granule();
    CUdeviceptr address = mapped(bytes, &handle);

    works("read only", cu.MemSetAccess(address, bytes, &access, 1));
    return address;
}

void chapter_touch_read_only_read(void)
{
    if (begin_with_context())
        ask_touch(read_by_copy, read_only(), CUDA_SUCCESS, CUDA_SUCCESS);
}

void chapter_touch_read_only_memset(void)
{
    if (begin_with_context())
        ask_touch(write_by_memset, read_only(), CUDA_ERROR_INVALID_VALUE,
                  CUDA_SUCCESS);
}

void chapter_touch_read_only_copy(void)
{
    if (begin_with_context())
        ask_touch(write_by_copy, read_only(), CUDA_ERROR_INVALID_VALUE,
                  CUDA_SUCCESS);
}

/* Once a context has failed, what still works: memory, but no work. */
void chapter_failed(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemAccessDesc access = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    const CUresult failed = CUDA_ERROR_ILLEGAL_ADDRESS;
    CUmemGenericAllocationHandle handle, before;
    CUstreamCaptureStatus capturing;
    unsigned long long id;
    CUdeviceptr address, old;
    CUcontext context;
    CUstream stream, other;
    CUevent event, recorded;
    size_t bytes, total;

    if (!begin_with_context())
        return;
    bytes = granule();
    old = usable(bytes, &before);
    if (!works("a stream", cu.StreamCreate(&stream, CU_STREAM_NON_BLOCKING)) ||
        !works("an event", cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING)) ||
        !works("another", cu.EventCreate(&recorded, CU_EVENT_DISABLE_TIMING)) ||
        !works("recorded", cu.EventRecord(recorded, stream)))
        return;
    cu.CtxGetCurrent(&context);
    ASK("a kernel that writes where nothing is", ANY, fail_context());
    ASK("what it costs", failed, cu.CtxSynchronize());
    ASK("cuStreamQuery", failed, cu.StreamQuery(stream));
    ASK("cuEventQuery of one recorded before", failed, cu.EventQuery(recorded));
    ASK("cuEventQuery of one never recorded", failed, cu.EventQuery(event));
    ASK("cuEventRecord", failed, cu.EventRecord(event, stream));
    ASK("cuEventCreate", failed,
        cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING));
    ASK("cuStreamCreate", failed,
        cu.StreamCreate(&other, CU_STREAM_NON_BLOCKING));
    ASK("cuStreamIsCapturing", failed,
        cu.StreamIsCapturing(stream, &capturing));
    ASK("cuMemAlloc", failed, cu.MemAlloc(&address, 4096));
    ASK("cuMemGetInfo", failed, cu.MemGetInfo(&bytes, &total));
    bytes = granule();
    ASK("cuMemcpyHtoD", failed, cu.MemcpyHtoD(old, &bytes, sizeof(bytes)));
    ASK("cuMemAddressReserve", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, bytes, 0, 0, 0));
    ASK("cuMemCreate", CUDA_SUCCESS, cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("cuMemSetAccess", CUDA_SUCCESS,
        cu.MemSetAccess(old, bytes, &access, 1));
    ASK("cuMemGetAllocationGranularity", CUDA_SUCCESS,
        cu.MemGetAllocationGranularity(&total, &prop,
                                       CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ASK("cuMemUnmap", CUDA_SUCCESS, cu.MemUnmap(old, bytes));
    ASK("cuMemMap", CUDA_SUCCESS, cu.MemMap(old, bytes, 0, before, 0));
    ASK("cuMemUnmap again", CUDA_SUCCESS, cu.MemUnmap(old, bytes));
    ASK("cuMemRelease", CUDA_SUCCESS, cu.MemRelease(before));
    ASK("cuMemAddressFree", CUDA_SUCCESS, cu.MemAddressFree(old, bytes));
    ASK("cuCtxGetCurrent", CUDA_SUCCESS, cu.CtxGetCurrent(&context));
    ASK("cuCtxGetId", CUDA_SUCCESS, cu.CtxGetId(context, &id));
    ASK("cuEventDestroy", failed, cu.EventDestroy(recorded));
    ASK("cuStreamDestroy", failed, cu.StreamDestroy(stream));
    ASK("cuCtxSetCurrent of NULL", CUDA_SUCCESS, cu.CtxSetCurrent(NULL));
    ASK("without it current: cuMemAddressReserve", CUDA_SUCCESS,
        cu.MemAddressReserve(&address, bytes, 0, 0, 0));
    ASK("without it current: cuMemCreate", CUDA_SUCCESS,
        cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("without it current: cuMemUnmap", CUDA_SUCCESS,
        cu.MemUnmap(old, bytes));
    ASK("cuDevicePrimaryCtxRelease", CUDA_SUCCESS,
        cu.DevicePrimaryCtxRelease(0));
    ASK("after it: cuMemCreate", CUDA_SUCCESS,
        cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("after it: cuMemUnmap", CUDA_SUCCESS, cu.MemUnmap(old, bytes));
}

static CUmemAllocationProp node_memory(void)
{
    CUmemAllocationProp prop = device_memory();

    prop.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    return prop;
}

void chapter_host_memory(void)
{
    CUmemAllocationProp prop = node_memory();
    CUmemAccessDesc access[2];
    CUmemGenericAllocationHandle handle;
    CUdeviceptr space, device;
    unsigned char out = 0;
    size_t bytes = 0;
    void *memory = NULL;

    if (!begin_with_context())
        return;
    access[0] = access[1] = device_access(CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    access[1].location = prop.location;
    ASK("a node's granule", CUDA_SUCCESS,
        cu.MemGetAllocationGranularity(&bytes, &prop,
                                       CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ask_number("which is", 2 * MIB, bytes);
    space = reserved(bytes);
    ASK("create on node 0", CUDA_SUCCESS,
        cu.MemCreate(&handle, bytes, &prop, 0));
    ASK("map it", CUDA_SUCCESS, cu.MemMap(space, bytes, 0, handle, 0));
    ASK("access for the device", CUDA_SUCCESS,
        cu.MemSetAccess(space, bytes, access, 1));
    ASK("access for the node", CUDA_SUCCESS,
        cu.MemSetAccess(space, bytes, access + 1, 1));
    ASK("access for both", CUDA_SUCCESS,
        cu.MemSetAccess(space, bytes, access, 2));
    memset((void *)space, 7, bytes);
    ASK("the device reads what the host wrote", CUDA_SUCCESS,
        cu.MemcpyDtoH(&out, space + 12345, 1));
    ask_number("which is", 7, out);
    ASK("the device writes", CUDA_SUCCESS, cu.MemsetD8(space, 9, bytes));
    ASK("and is done", CUDA_SUCCESS, cu.CtxSynchronize());
    ask_number("the host reads", 9, ((unsigned char *)space)[999]);
    access[1].location.id = 99;
    ASK("access for node 99", CUDA_SUCCESS,
        cu.MemSetAccess(space, bytes, access + 1, 1));
    ASK("unmap it", CUDA_SUCCESS, cu.MemUnmap(space, bytes));
    ASK("release it", CUDA_SUCCESS, cu.MemRelease(handle));

    ASK("cuMemHostAlloc", CUDA_SUCCESS, cu.MemHostAlloc(&memory, 4096, 0));
    ASK("its address for the device", CUDA_SUCCESS,
        cu.MemHostGetDevicePointer(&device, memory, 0));
    ask_number("the same", 1, device == (CUdeviceptr)memory);
    ASK("cuMemHostAlloc of 0 bytes", CUDA_SUCCESS,
        cu.MemHostAlloc(&memory, 0, 0));
    ASK("cuMemHostAlloc with unknown flags", CUDA_ERROR_INVALID_VALUE,
        cu.MemHostAlloc(&memory, 4096, 0x100));
    ASK("cuMemFreeHost", CUDA_SUCCESS, cu.MemFreeHost((void *)device));
    ASK("cuMemFreeHost again", CUDA_ERROR_INVALID_VALUE,
        cu.MemFreeHost((void *)device));
    ASK("cuMemHostGetDevicePointer of the stack", CUDA_ERROR_INVALID_VALUE,
        cu.MemHostGetDevicePointer(&device, &out, 0));
}
