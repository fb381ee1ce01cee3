/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What ashlar_adapter.so exports: allocators with the signatures that PyTorch
 * and CuPy ask for, on one arena for each device.
 *
 *     device 0 ─> arena on the source "cuda", device=0     made by the first
 *     device 1 ─> arena on the source "cuda", device=1     block, kept for ever
 *
 * $ASHLAR_ADAPTER_SOURCE names another source, such as "vm" or
 * "vm:memory=4G"; only to "cuda" is the device told. It is read once for each
 * device.
 *
 * None of the frameworks can be told that an allocation failed: NULL is taken
 * for memory. So the reason is written to standard error.
 */
#ifndef ASHLAR_ADAPTER_H
#define ASHLAR_ADAPTER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <ashlar/arena.h>

/** Devices, 0 to one less. */
#define ADAPTER_DEVICES 64
/** Blocks begin at multiples of it: what cudaMalloc() is known to give. */
#define ADAPTER_ALIGNMENT 512

/**
 * PyTorch: torch.cuda.memory.CUDAPluggableAllocator(path,
 * "ashlar_torch_alloc", "ashlar_torch_free").
 *
 * @param size    Bytes. 0 gives NULL.
 * @param device  A CUDA device.
 * @param stream  The cudaStream_t that it is allocated for; any may use it.
 *
 * @return The block; NULL when there is none.
 *
 * @par Threads  Any thread at any time.
 */
ASHLAR_API void *ashlar_torch_alloc(ssize_t size, int device, void *stream);

/**
 * Free it when the work queued on the stream so far is done; on a stream that
 * is being captured, when its graph is gone.
 *
 * @param block   From ashlar_torch_alloc(); NULL does nothing.
 * @param size    As it was asked for; not looked at.
 * @param device  As it was asked for.
 * @param stream  The cudaStream_t that it was used on.
 *
 * @par Threads  Any thread at any time.
 */
ASHLAR_API void ashlar_torch_free(void *block, ssize_t size, int device,
                                  void *stream);

/**
 * CuPy: cupy.cuda.memory.CFunctionAllocator(param, alloc, free, owner), which
 * is told the addresses of these two.
 *
 * @param param   The stream that blocks are used on; 0 is the default stream.
 * @param size    Bytes. 0 gives NULL.
 * @param device  A CUDA device.
 *
 * @return The block; NULL when there is none.
 *
 * @par Threads  Any thread at any time.
 */
ASHLAR_API void *ashlar_cupy_alloc(intptr_t param, size_t size, int device);

/**
 * Free it when the work queued on that stream so far is done.
 *
 * @param param   As it was allocated with.
 * @param block   From ashlar_cupy_alloc(); NULL does nothing.
 * @param device  As it was asked for.
 *
 * @par Threads  Any thread at any time.
 */
ASHLAR_API void ashlar_cupy_free(intptr_t param, void *block, int device);

/**
 * The arena of a device, for its figures.
 *
 * @param device  A CUDA device.
 *
 * @return The arena, made now if it was not there; NULL when it cannot be.
 *
 * @par Threads  Any thread at any time.
 */
ASHLAR_API struct ashlar_arena *ashlar_adapter_arena(int device);

/**
 * Blocks that could not be freed, and stay allocated.
 *
 * @par Threads  Any thread at any time.
 */
ASHLAR_API uint64_t ashlar_adapter_kept(void);

#endif
