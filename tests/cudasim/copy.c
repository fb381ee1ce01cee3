/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries that copy and fill. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "capture.h"
#include "entry.h"
#include "space.h"

/* Which ends of a copy have to be the driver's memory. */
enum { TO_DEVICE = 1, FROM_DEVICE = 2 };

/* The driver's memory has to be there, with the right, when the call is made; else
 * the call is refused. Only what is taken away later makes the context fail. */
static bool is_valid(const struct stream *stream, uint64_t address,
                     uint64_t bytes, bool write, bool device)
{
    if (address == 0)
        return false;
    if (!device && !space_contains(address))
        return true;
    return space_reachable(stream->device, address, bytes, write);
}

static bool is_valid_copy(const struct stream *stream,
                          const struct action *action, unsigned ends)
{
    return is_valid(stream, action->to, action->bytes, true,
                    (ends & TO_DEVICE) != 0) &&
           is_valid(stream, action->from, action->bytes, false,
                    (ends & FROM_DEVICE) != 0);
}

/* Do on a stream, and wait until it is done. */
static CUresult do_now(struct stream *stream, struct action *action)
{
    struct context *context = context_of(stream->context);
    CUresult result = capture_or_queue(stream, action);

    if (result != CUDA_SUCCESS || stream->capture != NULL)
        return result;
    stream_await(stream_moment(stream));
    return context->failure;
}

static CUresult copy(uint64_t to, uint64_t from, uint64_t bytes, unsigned ends)
{
    struct action action = {
        .kind = ACTION_COPY, .to = to, .from = from, .bytes = bytes};
    struct stream *stream;
    CUresult result = stream_resolve(NULL, &stream);

    if (result != CUDA_SUCCESS || bytes == 0)
        return result;
    if (!is_valid_copy(stream, &action, ends))
        return CUDA_ERROR_INVALID_VALUE;
    return do_now(stream, &action);
}

/* What lies in the program's own memory is read at once and written before the
 * call returns, as it does not stay for sure; but a graph reads it when it runs. */
static CUresult queue_copy(struct stream *stream, struct action *action)
{
    if (stream->capture != NULL)
        return capture_or_queue(stream, action);
    if (!space_contains(action->to))
        return do_now(stream, action);
    if (!space_contains(action->from)) {
        action->staged = malloc(action->bytes);
        if (action->staged == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        memcpy(action->staged, (const void *)(uintptr_t)action->from,
               action->bytes);
    }
    return capture_or_queue(stream, action);
}

static CUresult copy_on(CUstream on, uint64_t to, uint64_t from, uint64_t bytes,
                        unsigned ends)
{
    struct action action = {
        .kind = ACTION_COPY, .to = to, .from = from, .bytes = bytes};
    struct stream *stream;
    CUresult result = stream_resolve(on, &stream);

    if (result != CUDA_SUCCESS || bytes == 0)
        return result;
    if (!is_valid_copy(stream, &action, ends))
        return CUDA_ERROR_INVALID_VALUE;
    return queue_copy(stream, &action);
}

static uint64_t number(const void *address)
{
    return (uint64_t)(uintptr_t)address;
}

CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult result;

    if (enter("cuMemcpy", &result))
        result = leave(copy(to, from, bytes, 0));
    return result;
}

CUresult CUDAAPI cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    CUresult result;

    if (enter("cuMemcpyHtoD", &result))
        result = leave(copy(to, number(from), bytes, TO_DEVICE));
    return result;
}

CUresult CUDAAPI cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    CUresult result;

    if (enter("cuMemcpyDtoH", &result))
        result = leave(copy(number(to), from, bytes, FROM_DEVICE));
    return result;
}

CUresult CUDAAPI cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    CUresult result;

    if (enter("cuMemcpyDtoD", &result))
        result = leave(copy(to, from, bytes, TO_DEVICE | FROM_DEVICE));
    return result;
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                               CUstream stream)
{
    CUresult result;

    if (enter("cuMemcpyAsync", &result))
        result = leave(copy_on(stream, to, from, bytes, 0));
    return result;
}

CUresult CUDAAPI cuMemcpyHtoDAsync(CUdeviceptr to, const void *from,
                                   size_t bytes, CUstream stream)
{
    CUresult result;

    if (enter("cuMemcpyHtoDAsync", &result))
        result = leave(copy_on(stream, to, number(from), bytes, TO_DEVICE));
    return result;
}

CUresult CUDAAPI cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                                   CUstream stream)
{
    CUresult result;

    if (enter("cuMemcpyDtoHAsync", &result))
        result = leave(copy_on(stream, number(to), from, bytes, FROM_DEVICE));
    return result;
}

CUresult CUDAAPI cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from,
                                   size_t bytes, CUstream stream)
{
    CUresult result;

    if (enter("cuMemcpyDtoDAsync", &result))
        result =
            leave(copy_on(stream, to, from, bytes, TO_DEVICE | FROM_DEVICE));
    return result;
}

static CUresult fill(CUstream on, uint64_t to, uint32_t value, unsigned width,
                     size_t count)
{
    struct action action = {
        .kind = ACTION_FILL, .to = to, .value = value, .width = width};
    struct stream *stream;
    CUresult result = stream_resolve(on, &stream);

    if (result != CUDA_SUCCESS || count == 0)
        return result;
    if (to % width != 0 ||
        __builtin_mul_overflow(count, (uint64_t)width, &action.bytes) ||
        !is_valid(stream, to, action.bytes, true, true))
        return CUDA_ERROR_INVALID_VALUE;
    return capture_or_queue(stream, &action);
}

CUresult CUDAAPI cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    CUresult result;

    if (enter("cuMemsetD8", &result))
        result = leave(fill(NULL, to, value, 1, count));
    return result;
}

CUresult CUDAAPI cuMemsetD32(CUdeviceptr to, unsigned value, size_t count)
{
    CUresult result;

    if (enter("cuMemsetD32", &result))
        result = leave(fill(NULL, to, value, 4, count));
    return result;
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value,
                                 size_t count, CUstream stream)
{
    CUresult result;

    if (enter("cuMemsetD8Async", &result))
        result = leave(fill(stream, to, value, 1, count));
    return result;
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count,
                                  CUstream stream)
{
    CUresult result;

    if (enter("cuMemsetD32Async", &result))
        result = leave(fill(stream, to, value, 4, count));
    return result;
}

CUresult CUDAAPI cuStreamWriteValue32(CUstream stream, CUdeviceptr to,
                                      cuuint32_t value, unsigned flags)
{
    CUresult result;

    if (enter("cuStreamWriteValue32", &result))
        result = leave(
            (flags & ~(unsigned)CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) != 0
                ? CUDA_ERROR_INVALID_VALUE
                : fill(stream, to, value, 4, 1));
    return result;
}
