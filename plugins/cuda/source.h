/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The record of an open source "cuda", and how the plug-in's files hang
 * together.
 *
 *     cuda_plugin.c  the table of operations
 *     source.c       open and close        options.c  what was asked for
 *     vmm.c          space, chunks, mappings, rights   ─> space.c
 *     share.c        chunks to and from other processes
 *     encode.c       tensor maps
 *     copy.c         copies                         ┐
 *     scatter.c      tensor maps to their slots     │
 *     fence.c        fences on streams and events   ├─> context.c
 *     graph.c        fences on graphs               ┘
 *     driver.c       the driver's entry points
 *     error.c        what the driver says
 *
 * When to do what is the library's; here is only how. Memory is managed without
 * any context, since a primary one takes 130 ms and 500 MiB of the device: it
 * is retained by the first copy, scattering or encoding that finds none. Nothing
 * goes by the device that happens to be current.
 *
 * Locations are devices by their ordinals, and then the host's NUMA nodes:
 * location device_count + n is node n.
 *
 * Invariants: what stands before `spaces` is constant once the source is open;
 * the lock below is never held across a call of the driver. The one for loading
 * is, and comes before it.
 */
#ifndef ASHLAR_PLUGINS_CUDA_SOURCE_H
#define ASHLAR_PLUGINS_CUDA_SOURCE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver.h"
#include "options.h"
#include "space.h"

struct cuda_context;

struct cuda {
    const struct ashlar_host *host;
    struct cuda_driver driver;
    struct cuda_options options;
    CUdevice device;
    int device_count;
    int node_count;
    uint64_t granule;
    CUmemAllocationProp properties;        /* of chunks that are not exported */
    CUmemAllocationHandleType exported_as; /* NONE: no export */

    struct cuda_spaces spaces; /* what is reserved; has a lock of its own */

    pthread_mutex_t loading; /* of the kernel, in whatever context */

    pthread_mutex_t lock; /* all below */
    CUcontext primary;    /* retained by a copy; NULL: not yet */
    unsigned long long primary_id;
    struct cuda_context *contexts;
};

/** Set the error that says that there is no memory for a record. */
enum ashlar_status cuda_no_records(const struct cuda *cuda);

/* source.c */
enum ashlar_status cuda_open(const struct ashlar_host *host,
                             const struct ashlar_plugin_option *options,
                             size_t option_count,
                             struct ashlar_plugin_info *info, void **state_out);
void cuda_close(void *state);

/* vmm.c */
enum ashlar_status cuda_reserve(void *state, uint64_t bytes, uint64_t alignment,
                                uint64_t hint, uint64_t *address_out);
enum ashlar_status cuda_release(void *state, uint64_t address, uint64_t bytes);
enum ashlar_status cuda_chunk_create(void *state,
                                     const struct ashlar_chunk_request *request,
                                     uint64_t *chunk_out);
enum ashlar_status cuda_chunk_destroy(void *state, uint64_t chunk,
                                      uint64_t bytes);
enum ashlar_status cuda_map(void *state, uint64_t address, uint64_t chunk,
                            uint64_t bytes);
enum ashlar_status cuda_unmap(void *state, uint64_t address, uint64_t bytes);
enum ashlar_status cuda_allow(void *state, uint64_t address, uint64_t bytes,
                              const struct ashlar_access *access,
                              size_t access_count);

/** Make a chunk of the source's memory that can be handed out as `type`. */
CUresult cuda_create(const struct cuda *cuda, uint64_t bytes,
                     CUmemAllocationHandleType type,
                     CUmemGenericAllocationHandle *handle_out);

/* copy.c */
enum ashlar_status cuda_copy(void *state, uint64_t to, uint64_t from,
                             uint64_t bytes, uint64_t stream);

/* scatter.c */
enum ashlar_status cuda_scatter_load(void *state);
enum ashlar_status cuda_scatter(void *state, uint64_t table, uint64_t staging,
                                uint64_t indices, uint32_t count,
                                uint64_t stream);

/* encode.c */
enum ashlar_status cuda_encode(void *state, const struct ashlar_spec *spec,
                               void *map_out);
enum ashlar_status cuda_encode_rebase(void *state, void *map, uint64_t address);

/* fence.c */
enum ashlar_status cuda_fence_record(void *state, uint64_t stream,
                                     uint64_t *fence_out);
enum ashlar_status cuda_fence_event(void *state, uint64_t event,
                                    uint64_t *fence_out);
enum ashlar_status cuda_fence_query(void *state, uint64_t fence);
void cuda_fence_drop(void *state, uint64_t fence);

/* graph.c */
enum ashlar_status cuda_fence_capture(void *state, uint64_t stream,
                                      uint64_t *fence_out);
enum ashlar_status cuda_fence_graph(void *state, uint64_t graph,
                                    uint64_t *fence_out);

/* share.c */
enum ashlar_status cuda_chunk_export(void *state, uint64_t chunk,
                                     uint64_t bytes, int *fd_out,
                                     uint64_t *offset_out);
enum ashlar_status cuda_chunk_import(void *state, int fd, uint64_t offset,
                                     uint64_t bytes, uint64_t *chunk_out);

#endif
