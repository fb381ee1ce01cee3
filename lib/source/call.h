/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Calling a source's operations on ranges, counted: ashlar_source_query_calls().
 *
 * Counting costs an addition. The clock is read only when somebody asked for
 * it, since reading it is a system call on some machines.
 */
#ifndef ASHLAR_SOURCE_CALL_H
#define ASHLAR_SOURCE_CALL_H

#include "source/source.h"

/** The time in nanoseconds, from some start that does not move. */
uint64_t source_clock_ns(void);

static inline uint64_t source_call_begin(struct ashlar_source *source)
{
    return __atomic_load_n(&source->timed, __ATOMIC_RELAXED) ? source_clock_ns()
                                                             : 0;
}

/** Count a call that began then, and return its status. */
static inline enum ashlar_status
source_call_end(struct ashlar_source_call *call, uint64_t begin,
                enum ashlar_status status)
{
    __atomic_fetch_add(&call->count, 1, __ATOMIC_RELAXED);
    if (status != ASHLAR_OK)
        __atomic_fetch_add(&call->refused, 1, __ATOMIC_RELAXED);
    if (begin != 0)
        __atomic_fetch_add(&call->ns, source_clock_ns() - begin,
                           __ATOMIC_RELAXED);
    return status;
}

static inline enum ashlar_status
source_create(struct ashlar_source *source,
              const struct ashlar_chunk_request *request, uint64_t *chunk_out)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(
        &source->calls.create, begin,
        source->ops.chunk_create(source->state, request, chunk_out));
}

static inline enum ashlar_status source_destroy(struct ashlar_source *source,
                                                uint64_t chunk, uint64_t bytes)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(
        &source->calls.destroy, begin,
        source->ops.chunk_destroy(source->state, chunk, bytes));
}

static inline enum ashlar_status source_map(struct ashlar_source *source,
                                            uint64_t address, uint64_t chunk,
                                            uint64_t bytes)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(
        &source->calls.map, begin,
        source->ops.map(source->state, address, chunk, bytes));
}

static inline enum ashlar_status source_unmap(struct ashlar_source *source,
                                              uint64_t address, uint64_t bytes)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(&source->calls.unmap, begin,
                           source->ops.unmap(source->state, address, bytes));
}

static inline enum ashlar_status
source_allow(struct ashlar_source *source, uint64_t address, uint64_t bytes,
             const struct ashlar_access *access, size_t access_count)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(
        &source->calls.allow, begin,
        source->ops.allow(source->state, address, bytes, access, access_count));
}

static inline enum ashlar_status source_export(struct ashlar_source *source,
                                               uint64_t chunk, uint64_t bytes,
                                               int *fd_out,
                                               uint64_t *offset_out)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(&source->calls.chunk_export, begin,
                           source->ops.chunk_export(source->state, chunk, bytes,
                                                    fd_out, offset_out));
}

static inline enum ashlar_status source_import(struct ashlar_source *source,
                                               int fd, uint64_t offset,
                                               uint64_t bytes,
                                               uint64_t *chunk_out)
{
    uint64_t begin = source_call_begin(source);

    return source_call_end(
        &source->calls.chunk_import, begin,
        source->ops.chunk_import(source->state, fd, offset, bytes, chunk_out));
}

#endif
