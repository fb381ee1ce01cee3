/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The driver as a whole, and its devices. */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "account.h"
#include "entry.h"
#include "stream.h"
#include "versions.h"

/* What a device says of itself. Zero is left out. */
static const struct {
    CUdevice_attribute attribute;
    int value;
} attributes[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, INT32_MAX},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 1},
};

static void lose_threads(void)
{
    stream_lose_threads();
    machine_unlock();
}

/* A lock that another thread held as the process forked would stay locked. */
static void watch_forks(void)
{
    pthread_atfork(machine_lock, machine_unlock, lose_threads);
}

static void report_at_exit(void)
{
    char text[4096];
    int length;

    if (machine_forked() || !machine.settings.report)
        return;
    machine_lock();
    length = account_report(text, sizeof(text));
    machine_unlock();
    if (length > 0)
        fputs(text, stderr);
}

static void once(void)
{
    watch_forks();
    atexit(report_at_exit);
}

static CUresult init(unsigned flags)
{
    static pthread_once_t done = PTHREAD_ONCE_INIT;

    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (atomic_load(&machine.pid) != 0)
        return CUDA_SUCCESS;
    if (machine.settings.devices == 0 &&
        settings_read(&machine.settings, NULL) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_once(&done, once);
    atomic_store(&machine.pid, getpid());
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuInit(unsigned flags)
{
    CUresult result;

    if (enter("cuInit", &result))
        result = leave(init(flags));
    return result;
}

static CUresult driver_version(int *version)
{
    if (version == NULL || machine_driver() == 0)
        return CUDA_ERROR_INVALID_VALUE;
    *version = machine_driver();
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDriverGetVersion(int *version)
{
    CUresult result;

    if (enter("cuDriverGetVersion", &result))
        result = leave(driver_version(version));
    return result;
}

static bool is_device(CUdevice device)
{
    return device >= 0 && (unsigned)device < machine.settings.devices;
}

static CUresult get(CUdevice *device, int ordinal)
{
    if (device == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(ordinal))
        return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGet(CUdevice *device, int ordinal)
{
    CUresult result;

    if (enter("cuDeviceGet", &result))
        result = leave(get(device, ordinal));
    return result;
}

static CUresult get_count(int *count)
{
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *count = (int)machine.settings.devices;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetCount(int *count)
{
    CUresult result;

    if (enter("cuDeviceGetCount", &result))
        result = leave(get_count(count));
    return result;
}

static CUresult get_name(char *name, int bytes, CUdevice device)
{
    if (name == NULL || bytes <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    snprintf(name, (size_t)bytes, "cudasim device %d", device);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetName(char *name, int bytes, CUdevice device)
{
    CUresult result;

    if (enter("cuDeviceGetName", &result))
        result = leave(get_name(name, bytes, device));
    return result;
}

/* The same in every process, as on one machine. */
static CUresult get_uuid(CUuuid *uuid, CUdevice device)
{
    if (uuid == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    memcpy(uuid->bytes, "cudasim device\0", sizeof(uuid->bytes));
    uuid->bytes[sizeof(uuid->bytes) - 1] = (char)device;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult result;

    if (enter("cuDeviceGetUuid", &result))
        result = leave(get_uuid(uuid, device));
    return result;
}

CUresult CUDAAPI cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    return cuDeviceGetUuid_v2(uuid, device);
}

static CUresult total_memory(size_t *bytes, CUdevice device)
{
    if (bytes == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *bytes = machine.settings.memory;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    CUresult result;

    if (enter("cuDeviceTotalMem", &result))
        result = leave(total_memory(bytes, device));
    return result;
}

static CUresult can_access_peer(int *can, CUdevice device, CUdevice peer)
{
    if (can == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device) || !is_device(peer))
        return CUDA_ERROR_INVALID_DEVICE;
    *can = device != peer && machine.settings.peers;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    CUresult result;

    if (enter("cuDeviceCanAccessPeer", &result))
        result = leave(can_access_peer(can, device, peer));
    return result;
}

/* By number where a header of CUDA 12.0 has no name. */
static int attribute_of(int attribute, CUdevice device)
{
    size_t i;

    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return device + 1;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        return machine.settings.capability / 10;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        return machine.settings.capability % 10;
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED:
        return machine.settings.capability >= 90;
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
        return machine.settings.rdma;
    case 128: /* CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED */
        return machine.settings.fabric;
    case 134: /* CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID */
        return device % (int)machine.settings.nodes;
    case 141: /* CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_... */
        return 1;
    default:
        break;
    }
    for (i = 0; i < sizeof(attributes) / sizeof(attributes[0]); i++)
        if ((int)attributes[i].attribute == attribute)
            return attributes[i].value;
    return 0;
}

static CUresult get_attribute(int *value, CUdevice_attribute attribute,
                              CUdevice device)
{
    if (value == NULL || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(device))
        return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute_of((int)attribute, device);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                                      CUdevice device)
{
    CUresult result;

    if (enter("cuDeviceGetAttribute", &result))
        result = leave(get_attribute(value, attribute, device));
    return result;
}
