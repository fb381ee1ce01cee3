/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What a driver says of itself and its devices, and before cuInit(). */
#include "conformance.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

void chapter_before(void)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr address;
    CUcontext context;
    const char *name;
    size_t bytes;
    int number;

    ASK("cuDriverGetVersion", CUDA_SUCCESS, cu.DriverGetVersion(&number));
    ASK("cuGetErrorName", CUDA_SUCCESS,
        cu.GetErrorName(CUDA_ERROR_INVALID_VALUE, &name));
    ASK("cuGetErrorName of a number of nothing", CUDA_ERROR_INVALID_VALUE,
        cu.GetErrorName((CUresult)12345, &name));
    ASK("cuDeviceGetCount", CUDA_ERROR_NOT_INITIALIZED,
        cu.DeviceGetCount(&number));
    ASK("cuDeviceGet", CUDA_ERROR_NOT_INITIALIZED, cu.DeviceGet(&number, 0));
    ASK("cuCtxGetCurrent", CUDA_ERROR_NOT_INITIALIZED,
        cu.CtxGetCurrent(&context));
    ASK("cuMemAddressReserve", CUDA_ERROR_NOT_INITIALIZED,
        cu.MemAddressReserve(&address, 2 * MIB, 0, 0, 0));
    ASK("cuMemCreate", CUDA_ERROR_NOT_INITIALIZED,
        cu.MemCreate(&handle, 2 * MIB, &prop, 0));
    ASK("cuMemGetAllocationGranularity", CUDA_ERROR_NOT_INITIALIZED,
        cu.MemGetAllocationGranularity(&bytes, &prop,
                                       CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    ASK("cuStreamQuery", CUDA_ERROR_NOT_INITIALIZED, cu.StreamQuery(NULL));
    ASK("cuInit with a flag", CUDA_ERROR_INVALID_VALUE, cu.Init(1));
    ASK("cuInit", CUDA_SUCCESS, cu.Init(0));
    ASK("cuInit once more", CUDA_SUCCESS, cu.Init(0));
}

static void ask_attribute(const char *question, CUdevice device,
                          CUdevice_attribute attribute, int expected)
{
    int value = -1;

    if (works(question, cu.DeviceGetAttribute(&value, attribute, device)))
        ask_number(question, (uint64_t)expected, (uint64_t)value);
}

void chapter_devices(void)
{
    CUuuid uuid, again;
    CUdevice device = -1;
    char name[128];
    size_t bytes;
    int number, count = 0;

    ASK("cuInit", CUDA_SUCCESS, cu.Init(0));
    ASK("cuDeviceGetCount", CUDA_SUCCESS, cu.DeviceGetCount(&count));
    ASK("cuDeviceGetCount of NULL", CUDA_ERROR_INVALID_VALUE,
        cu.DeviceGetCount(NULL));
    ASK("cuDeviceGet of NULL", CUDA_ERROR_INVALID_VALUE, cu.DeviceGet(NULL, 0));
    ASK("cuDeviceGet of 0", CUDA_SUCCESS, cu.DeviceGet(&device, 0));
    ask_number("device 0 is number", 0, (uint64_t)device);
    ASK("cuDeviceGet of -1", CUDA_ERROR_INVALID_DEVICE,
        cu.DeviceGet(&number, -1));
    ASK("cuDeviceGet of one too many", CUDA_ERROR_INVALID_DEVICE,
        cu.DeviceGet(&number, count));
    ASK("cuDeviceGetName", CUDA_SUCCESS, cu.DeviceGetName(name, 128, 0));
    ASK("cuDeviceGetName into 4 bytes", CUDA_SUCCESS,
        cu.DeviceGetName(name, 4, 0));
    ask_number("what is written then", 3, strnlen(name, 4));
    ASK("cuDeviceGetName of one too many", CUDA_ERROR_INVALID_DEVICE,
        cu.DeviceGetName(name, 128, count));
    ASK("cuDeviceGetUuid", CUDA_SUCCESS, cu.DeviceGetUuid(&uuid, 0));
    ASK("cuDeviceGetUuid again", CUDA_SUCCESS, cu.DeviceGetUuid(&again, 0));
    ask_number("the same", 0, memcmp(&uuid, &again, sizeof(uuid)) != 0);
    ASK("cuDeviceTotalMem", CUDA_SUCCESS, cu.DeviceTotalMem(&bytes, 0));
    ASK("cuDeviceGetAttribute of number 9999", CUDA_ERROR_INVALID_VALUE,
        cu.DeviceGetAttribute(&number, (CUdevice_attribute)9999, 0));
    ASK("cuDeviceGetAttribute of one too many", CUDA_ERROR_INVALID_DEVICE,
        cu.DeviceGetAttribute(&number, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT,
                              count));
    ask_attribute("virtual memory management", 0,
                  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1);
    ask_attribute(
        "handles as file descriptors", 0,
        CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1);
    ask_attribute("GPUDirect RDMA with VMM", 0,
                  CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED,
                  1);
    ask_attribute("unified addressing", 0,
                  CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1);
    ask_attribute("host NUMA node", 0, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, 0);
    ask_attribute("compute capability, major", 0,
                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9);
    ASK("cuDeviceCanAccessPeer of itself", CUDA_SUCCESS,
        cu.DeviceCanAccessPeer(&number, 0, 0));
    ask_number("which it says", 0, (uint64_t)number);
    ASK("cuDeviceCanAccessPeer of one too many", CUDA_ERROR_INVALID_DEVICE,
        cu.DeviceCanAccessPeer(&number, 0, count));
}

static void ask_entry(const char *question, const char *name, int version,
                      CUresult expected, int expected_status)
{
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)9;
    void *entry = NULL;

    ASK(question, expected,
        cu.GetProcAddress(name, &entry, version, CU_GET_PROC_ADDRESS_DEFAULT,
                          &status));
    ask_number("its status", (uint64_t)expected_status, (uint64_t)status);
    ask_number("an entry", expected_status == 0, entry != NULL);
}

void chapter_entries(void)
{
    void *entry = NULL;

    ask_entry("before cuInit: cuMemCreate", "cuMemCreate", 12000, CUDA_SUCCESS,
              0);
    ASK("cuInit", CUDA_SUCCESS, cu.Init(0));
    ask_entry("cuMemCreate of 12.0", "cuMemCreate", 12000, CUDA_SUCCESS, 0);
    ask_entry("cuMemCreate of 10.2", "cuMemCreate", 10020, CUDA_SUCCESS, 0);
    ask_entry("cuMemCreate of 10.1", "cuMemCreate", 10010, CUDA_SUCCESS, 2);
    ask_entry("cuTensorMapEncodeTiled of 11.2", "cuTensorMapEncodeTiled", 11020,
              CUDA_SUCCESS, 2);
    ask_entry("cuTensorMapEncodeTiled of 12.0", "cuTensorMapEncodeTiled", 12000,
              CUDA_SUCCESS, 0);
    ask_entry("cuMemAlloc", "cuMemAlloc", 12000, CUDA_SUCCESS, 0);
    ask_entry("cuMemAlloc_v2, with its suffix", "cuMemAlloc_v2", 12000,
              CUDA_SUCCESS, 1);
    ask_entry("cuCtxGetId of 12.0", "cuCtxGetId", 12000, CUDA_SUCCESS, 0);
    ask_entry("an unknown one", "cuNoSuchEntry", 13000, CUDA_SUCCESS, 1);
    ask_entry("an empty name", "", 13000, CUDA_SUCCESS, 1);
    ASK("no place for the status", CUDA_SUCCESS,
        cu.GetProcAddress("cuMemCreate", &entry, 12000,
                          CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    ASK("unknown, and no place for the status", CUDA_SUCCESS,
        cu.GetProcAddress("cuNoSuchEntry", &entry, 12000,
                          CU_GET_PROC_ADDRESS_DEFAULT, NULL));
    ask_number("an entry", 0, entry != NULL);
}

/* In the child, whose exit status is 0. */
static void ask_in_child(CUcontext context, CUdeviceptr mapping)
{
    CUmemAllocationProp prop = device_memory();
    CUmemGenericAllocationHandle handle;
    unsigned long long id;
    CUdeviceptr address;
    int number;

    ASK("in a child: cuInit", CUDA_ERROR_NOT_INITIALIZED, cu.Init(0));
    ASK("in a child: cuDeviceGetCount", CUDA_ERROR_NOT_INITIALIZED,
        cu.DeviceGetCount(&number));
    ASK("in a child: cuMemAddressReserve", CUDA_ERROR_NOT_INITIALIZED,
        cu.MemAddressReserve(&address, 2 * MIB, 0, 0, 0));
    ASK("in a child: cuMemCreate", CUDA_ERROR_NOT_INITIALIZED,
        cu.MemCreate(&handle, 2 * MIB, &prop, 0));
    ASK("in a child: cuMemUnmap", CUDA_ERROR_NOT_INITIALIZED,
        cu.MemUnmap(mapping, granule()));
    ASK("in a child: cuCtxGetId", CUDA_ERROR_NOT_INITIALIZED,
        cu.CtxGetId(context, &id));
    ASK("in a child: cuCtxGetCurrent", CUDA_ERROR_NOT_INITIALIZED,
        cu.CtxGetCurrent(&context));
    ask_not("in a child: cuEventQuery", "it says SUCCESS, or ends the child");
}

void chapter_fork(void)
{
    CUmemGenericAllocationHandle handle;
    size_t bytes;
    CUdeviceptr address;
    CUcontext context;
    CUevent event;
    pid_t child;
    int status;

    if (!begin_with_context())
        return;
    bytes = granule();
    address = usable(bytes, &handle);
    cu.CtxGetCurrent(&context);
    if (!works("an event", cu.EventCreate(&event, CU_EVENT_DISABLE_TIMING)) ||
        !works("recorded", cu.EventRecord(event, NULL)))
        return;
    child = fork();
    if (child == 0) {
        ask_in_child(context, address);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return;
    ask_number("how the child ends", 0, (uint64_t)status);
    ASK("in the parent, after: cuMemUnmap", CUDA_SUCCESS,
        cu.MemUnmap(address, bytes));
    ASK("in the parent, after: cuMemRelease", CUDA_SUCCESS,
        cu.MemRelease(handle));
}
