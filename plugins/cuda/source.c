/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Opening a source: what was asked for, held against what the device can do. */
#include "config.h"

#include "source.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "error.h"
#include "scatter_ptx.h"

enum ashlar_status cuda_no_records(const struct cuda *cuda)
{
    return cuda->host->fail(ASHLAR_ERR_NO_MEMORY,
                            "no host memory for a record of a cuda source");
}

/* --- devices -------------------------------------------------------------- */

/* An attribute of a device; what is not known is 0. */
static int attribute(const struct cuda *cuda, CUdevice device,
                     CUdevice_attribute which)
{
    int value = 0;

    if (cuda->driver.device_get_attribute(&value, which, device) !=
        CUDA_SUCCESS)
        return 0;
    return value;
}

static enum ashlar_status no_such_device(const struct cuda *cuda,
                                         const char *option, int ordinal)
{
    return cuda->host->fail(ASHLAR_ERR_INVALID,
                            "%s is %d; this machine has %d device(s), from 0 "
                            "on",
                            option, ordinal, cuda->device_count);
}

static enum ashlar_status find_device(struct cuda *cuda)
{
    CUresult result = cuda->driver.init(0);

    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuInit");
    result = cuda->driver.device_get_count(&cuda->device_count);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceGetCount");
    if (cuda->options.device >= cuda->device_count)
        return no_such_device(cuda, "device", cuda->options.device);
    result = cuda->driver.device_get(&cuda->device, cuda->options.device);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceGet");
    if (attribute(cuda, cuda->device,
                  CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) == 0)
        return cuda->host->fail(ASHLAR_ERR_UNSUPPORTED,
                                "device %d has no virtual memory management",
                                cuda->options.device);
    return ASHLAR_OK;
}

static enum ashlar_status check_peer(const struct cuda *cuda, int ordinal)
{
    CUdevice peer;
    CUresult result;
    int can = 0;

    if (ordinal >= cuda->device_count)
        return no_such_device(cuda, "peers", ordinal);
    result = cuda->driver.device_get(&peer, ordinal);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceGet");
    /* Any device reaches the host's memory. */
    if (cuda->options.on_host)
        return ASHLAR_OK;
    result = cuda->driver.device_can_access_peer(&can, peer, cuda->device);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceCanAccessPeer");
    if (can)
        return ASHLAR_OK;
    return cuda->host->fail(ASHLAR_ERR_UNSUPPORTED,
                            "peers has %d, which cannot reach the memory of "
                            "device %d",
                            ordinal, cuda->options.device);
}

static enum ashlar_status check_peers(const struct cuda *cuda)
{
    enum ashlar_status status = ASHLAR_OK;
    int i;

    for (i = 0; i < cuda->options.peer_count && status == ASHLAR_OK; i++)
        status = check_peer(cuda, cuda->options.peers[i]);
    return status;
}

/* --- the host's nodes ------------------------------------------------------ */

static bool node_exists(int node)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
    return access(path, F_OK) == 0;
}

/* Nodes that the system knows, and those next to devices. */
static void count_nodes(struct cuda *cuda)
{
    CUdevice device;
    int node;
    int i;

    cuda->node_count = 1;
    while (node_exists(cuda->node_count))
        cuda->node_count++;
    for (i = 0; i < cuda->device_count; i++) {
        if (cuda->driver.device_get(&device, i) != CUDA_SUCCESS)
            continue;
        node = attribute(cuda, device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
        if (node >= cuda->node_count)
            cuda->node_count = node + 1;
    }
}

/* --- chunks ---------------------------------------------------------------- */

static void start_properties(struct cuda *cuda)
{
    CUmemAllocationProp *properties = &cuda->properties;
    int node = cuda->options.node;

    properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties->location.id = cuda->options.device;
    if (!cuda->options.on_host)
        return;
    if (node < 0)
        node = attribute(cuda, cuda->device, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
    /* -1 is what a machine without NUMA says; its only node is 0. */
    cuda->options.node = node < 0 ? 0 : node;
    properties->location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    properties->location.id = cuda->options.node;
}

static enum ashlar_status set_rdma(struct cuda *cuda)
{
    bool can =
        !cuda->options.on_host &&
        attribute(cuda, cuda->device,
                  CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED);

    if (cuda->options.rdma == CUDA_RDMA_REQUIRED && !can)
        return cuda->host->fail(
            ASHLAR_ERR_UNSUPPORTED,
            "rdma is required, but memory of %s %d cannot be registered for "
            "it; rdma=preferred does without",
            cuda->options.on_host ? "host node" : "device",
            cuda->options.on_host ? cuda->options.node : cuda->options.device);
    if (cuda->options.rdma != CUDA_RDMA_NO && can)
        cuda->properties.allocFlags.gpuDirectRDMACapable = 1;
    return ASHLAR_OK;
}

/* Whether memory can be made with handles of a type: by making some. */
static CUresult try_handles(struct cuda *cuda, CUmemAllocationHandleType type)
{
    CUmemGenericAllocationHandle handle;
    CUresult result = cuda_create(cuda, cuda->granule, type, &handle);

    if (result == CUDA_SUCCESS &&
        cuda->driver.mem_release(handle) != CUDA_SUCCESS)
        (void)cuda->driver.mem_release(handle); /* nobody else will */
    return result;
}

/* How exported chunks leave; NONE: they cannot. */
static enum ashlar_status choose_handles(struct cuda *cuda)
{
    enum cuda_handle wish = cuda->options.handle;
    CUmemAllocationHandleType type = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;

    cuda->exported_as = CU_MEM_HANDLE_TYPE_NONE;
    if (wish == CUDA_HANDLE_NONE)
        return ASHLAR_OK;
    if (wish == CUDA_HANDLE_FABRIC) {
        type = CU_MEM_HANDLE_TYPE_FABRIC;
        result = try_handles(cuda, type);
    } else if (
        attribute(
            cuda, cuda->device,
            CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)) {
        /* The attribute tells of the device's memory alone. */
        result = cuda->options.on_host ? try_handles(cuda, type) : CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS) {
        cuda->exported_as = type;
        return ASHLAR_OK;
    }
    if (wish == CUDA_HANDLE_AUTO)
        return ASHLAR_OK;
    return cuda->host->fail(
        ASHLAR_ERR_UNSUPPORTED,
        "handle is %s, but no such memory can be made on device %d: %s (%d), "
        "%s; handle=none does without export",
        wish == CUDA_HANDLE_FABRIC ? "fabric" : "posix_fd",
        cuda->options.device, cuda_result_name(&cuda->driver, result),
        (int)result, cuda_result_text(&cuda->driver, result));
}

/*
 * One granule for all chunks of the source. Addresses are reserved in those of
 * the device, whatever the memory's own are.
 */
static enum ashlar_status find_granule(struct cuda *cuda)
{
    CUmemAllocationProp device = cuda->properties;
    size_t own = 0;
    size_t reserved = 0;
    CUresult result;

    device.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    device.location.id = cuda->options.device;
    result = cuda->driver.mem_get_granularity(&own, &cuda->properties,
                                              CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result == CUDA_SUCCESS)
        result = cuda->driver.mem_get_granularity(
            &reserved, &device, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuMemGetAllocationGranularity");
    cuda->granule = own > reserved ? own : reserved;
    return ASHLAR_OK;
}

static enum ashlar_status check_node(const struct cuda *cuda)
{
    if (!cuda->options.on_host || cuda->options.node < cuda->node_count)
        return ASHLAR_OK;
    return cuda->host->fail(ASHLAR_ERR_INVALID,
                            "location is host:%d; this machine has %d NUMA "
                            "node(s), from 0 on",
                            cuda->options.node, cuda->node_count);
}

static enum ashlar_status start(struct cuda *cuda)
{
    enum ashlar_status status = find_device(cuda);

    if (status == ASHLAR_OK)
        status = check_peers(cuda);
    if (status != ASHLAR_OK)
        return status;
    count_nodes(cuda);
    start_properties(cuda);
    status = check_node(cuda);
    if (status == ASHLAR_OK)
        status = set_rdma(cuda);
    if (status == ASHLAR_OK)
        status = find_granule(cuda);
    return status == ASHLAR_OK ? choose_handles(cuda) : status;
}

/* --- what it tells of itself ----------------------------------------------- */

/* Rights that every range has from the start, beside home's. */
static void tell_access(const struct cuda *cuda,
                        struct ashlar_plugin_info *info)
{
    struct ashlar_access *access = info->access;
    uint32_t count = 0;
    int i;

    if (info->size < offsetof(struct ashlar_plugin_info, access_count) +
                         sizeof(info->access_count))
        return; /* an ashlar that does not ask */
    if (cuda->options.on_host)
        access[count++] = (struct ashlar_access){(uint32_t)cuda->options.device,
                                                 ASHLAR_RIGHTS_READ_WRITE};
    for (i = 0; i < cuda->options.peer_count; i++)
        access[count++] = (struct ashlar_access){
            (uint32_t)cuda->options.peers[i], ASHLAR_RIGHTS_READ_WRITE};
    info->access_count = count;
}

static enum ashlar_status tell_identity(const struct cuda *cuda,
                                        struct ashlar_plugin_info *info)
{
    CUuuid uuid;
    CUresult result;

    if (cuda->options.on_host) {
        (void)snprintf((char *)info->identity, sizeof(info->identity),
                       "cuda host %d", cuda->options.node);
        return ASHLAR_OK;
    }
    result = cuda->driver.device_get_uuid(&uuid, cuda->device);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceGetUuid");
    memcpy(info->identity, uuid.bytes, sizeof(info->identity));
    return ASHLAR_OK;
}

/* "NVIDIA H200, host node 0, no RDMA" */
static enum ashlar_status tell_description(const struct cuda *cuda,
                                           struct ashlar_plugin_info *info)
{
    char name[40] = "";
    char node[32] = "";
    const char *rdma = "";
    CUresult result;

    result = cuda->driver.device_get_name(name, sizeof(name), cuda->device);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceGetName");
    if (cuda->options.on_host)
        (void)snprintf(node, sizeof(node), ", host node %d",
                       cuda->options.node);
    if (cuda->options.rdma != CUDA_RDMA_NO)
        rdma = cuda->properties.allocFlags.gpuDirectRDMACapable ? ", RDMA"
                                                                : ", no RDMA";
    (void)snprintf(info->description, sizeof(info->description), "%.39s%s%s",
                   name, node, rdma);
    return ASHLAR_OK;
}

static enum ashlar_status tell_memory(const struct cuda *cuda,
                                      struct ashlar_plugin_info *info)
{
    size_t bytes = 0;
    CUresult result;

    if (cuda->options.on_host) {
        info->memory_bytes =
            (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
        return ASHLAR_OK;
    }
    result = cuda->driver.device_total_mem(&bytes, cuda->device);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuDeviceTotalMem");
    info->memory_bytes = bytes;
    return ASHLAR_OK;
}

/* What reads tensor maps in memory needs the same: there is no less to do
 * without. */
static bool can_scatter(const struct cuda *cuda)
{
    return cuda_driver_has_kernels(&cuda->driver) &&
           cuda->driver.version >= CUDA_SCATTER_DRIVER &&
           attribute(cuda, cuda->device,
                     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >=
               CUDA_SCATTER_CAPABILITY;
}

static uint32_t capability(const struct cuda *cuda)
{
    int major = attribute(cuda, cuda->device,
                          CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    int minor = attribute(cuda, cuda->device,
                          CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);

    return (uint32_t)(10 * major + minor);
}

static enum ashlar_status tell(const struct cuda *cuda,
                               struct ashlar_plugin_info *info)
{
    enum ashlar_status status = tell_identity(cuda, info);

    if (status == ASHLAR_OK)
        status = tell_description(cuda, info);
    if (status == ASHLAR_OK)
        status = tell_memory(cuda, info);
    if (status != ASHLAR_OK)
        return status;
    info->can = ASHLAR_CAN_RANGES | ASHLAR_CAN_COPY | ASHLAR_CAN_FENCE |
                ASHLAR_CAN_ENCODE;
    if (can_scatter(cuda))
        info->can |= ASHLAR_CAN_SCATTER;
    if (cuda->exported_as != CU_MEM_HANDLE_TYPE_NONE)
        info->can |= ASHLAR_CAN_EXPORT;
    if (cuda_driver_has_graphs(&cuda->driver))
        info->can |= ASHLAR_CAN_GRAPH;
    if (cuda->options.on_host)
        info->can |= ASHLAR_CAN_HOST_ACCESS;
    info->granule = cuda->granule;
    info->capability = capability(cuda);
    info->location_count = (uint32_t)(cuda->device_count + cuda->node_count);
    info->home_location =
        (uint32_t)(cuda->options.on_host
                       ? cuda->device_count + cuda->options.node
                       : cuda->options.device);
    tell_access(cuda, info);
    return ASHLAR_OK;
}

/* --- open and close -------------------------------------------------------- */

enum ashlar_status cuda_open(const struct ashlar_host *host,
                             const struct ashlar_plugin_option *options,
                             size_t option_count,
                             struct ashlar_plugin_info *info, void **state_out)
{
    struct cuda *cuda = host->alloc(sizeof(*cuda));
    enum ashlar_status status;

    if (cuda == NULL)
        return host->fail(ASHLAR_ERR_NO_MEMORY,
                          "no host memory for a cuda source");
    cuda->host = host;
    status = cuda_options_read(&cuda->options, host, options, option_count);
    if (status == ASHLAR_OK)
        status = cuda_driver_open(&cuda->driver, host, cuda->options.driver);
    cuda->options.driver = NULL; /* borrowed for this call */
    if (status == ASHLAR_OK)
        status = start(cuda);
    if (status == ASHLAR_OK)
        status = tell(cuda, info);
    if (status != ASHLAR_OK) {
        host->free(cuda);
        return status;
    }
    cuda_spaces_start(&cuda->spaces);
    (void)pthread_mutex_init(&cuda->loading, NULL);
    (void)pthread_mutex_init(&cuda->lock, NULL);
    *state_out = cuda;
    return ASHLAR_OK;
}

void cuda_close(void *state)
{
    struct cuda *cuda = state;

    cuda_contexts_close(cuda);
    (void)pthread_mutex_destroy(&cuda->lock);
    (void)pthread_mutex_destroy(&cuda->loading);
    cuda_spaces_end(&cuda->spaces, cuda->host);
    cuda->host->free(cuda);
}
