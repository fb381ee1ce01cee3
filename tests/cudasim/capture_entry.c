/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The entries of captures. */
#include "config.h"

#include <stdlib.h>

#include "capture.h"
#include "capture_state.h"
#include "entry.h"
#include "graph.h"
#include "versions.h"

static uint64_t last_id;

static bool is_mode(CUstreamCaptureMode mode)
{
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
           mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
           mode == CU_STREAM_CAPTURE_MODE_RELAXED;
}

static CUresult begin_on(struct stream *stream, CUstreamCaptureMode mode)
{
    struct capture *capture = calloc(1, sizeof(*capture));

    if (capture == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    capture->graph = graph_create();
    if (capture->graph == NULL) {
        free(capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    capture->graph->capturing = true;
    capture->id = ++last_id;
    capture->mode = mode;
    capture->thread = machine_thread();
    capture->origin = stream;
    capture->next = captures;
    captures = capture;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

static CUresult begin(CUstream handle, CUstreamCaptureMode mode)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (!is_mode(mode))
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    if (stream->capture != NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    return begin_on(stream, mode);
}

CUresult CUDAAPI cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
    CUresult result;

    if (enter("cuStreamBeginCapture", &result))
        result = leave(begin(stream, mode));
    return result;
}

/* With what a capture ends. It ends also by a thread that should not do it. */
static CUresult check_end(const struct stream *stream)
{
    const struct capture *capture = stream->capture;

    if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
        capture->thread != machine_thread())
        return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    if (capture->spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    return graph_joined(capture->graph, &stream->frontier)
               ? CUDA_SUCCESS
               : CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
}

static CUresult end_on(struct stream *stream, CUgraph *handle)
{
    struct capture *capture = stream->capture;
    struct graph *graph = capture->graph;
    CUresult result = check_end(stream);

    capture_end(capture);
    if (result == CUDA_SUCCESS) {
        *handle = (CUgraph)(uintptr_t)graph->handle.start;
    } else {
        *handle = NULL;
        graph_destroy(graph);
    }
    return result;
}

static CUresult end(CUstream handle, CUgraph *graph)
{
    struct stream *stream;
    struct capture *capture;
    CUresult result = stream_resolve(handle, &stream);

    if (result != CUDA_SUCCESS)
        return result;
    if (graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    capture = stream->capture;
    if (capture == NULL)
        return CUDA_ERROR_ILLEGAL_STATE;
    if (capture->origin != stream) {
        capture_spoil(capture);
        return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    }
    return end_on(stream, graph);
}

CUresult CUDAAPI cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    CUresult result;

    if (enter("cuStreamEndCapture", &result))
        result = leave(end(stream, graph));
    return result;
}

static CUstreamCaptureStatus status_of(const struct stream *stream)
{
    if (stream->capture == NULL)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return stream->capture->spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                   : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static CUresult is_capturing(CUstream handle, CUstreamCaptureStatus *status)
{
    struct stream *stream;
    CUresult result = stream_resolve(handle, &stream);

    if (status == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS)
        result = capture_check_implicit(stream, false);
    if (result == CUDA_SUCCESS)
        *status = status_of(stream);
    return result;
}

CUresult CUDAAPI cuStreamIsCapturing(CUstream stream,
                                     CUstreamCaptureStatus *status)
{
    CUresult result;

    if (enter("cuStreamIsCapturing", &result))
        result = leave(is_capturing(stream, status));
    return result;
}

static CUresult info(CUstream handle, CUstreamCaptureStatus *status,
                     cuuint64_t *id, CUgraph *graph,
                     const CUgraphNode **dependencies, size_t *count)
{
    struct stream *stream;
    CUresult result = is_capturing(handle, status);

    if (result != CUDA_SUCCESS || *status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return result;
    result = stream_resolve(handle, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (id != NULL)
        *id = stream->capture->id;
    if (graph != NULL)
        *graph = (CUgraph)(uintptr_t)stream->capture->graph->handle.start;
    if (dependencies != NULL)
        *dependencies = frontier_handles(&stream->frontier);
    if (count != NULL)
        *count = stream->frontier.count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuStreamGetCaptureInfo_v2(CUstream stream,
                                           CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies,
                                           size_t *count)
{
    CUresult result;

    if (enter("cuStreamGetCaptureInfo", &result))
        result = leave(info(stream, status, id, graph, dependencies, count));
    return result;
}

#if CUDA_VERSION >= 12030
/* No edge has data. */
CUresult CUDAAPI cuStreamGetCaptureInfo_v3(CUstream stream,
                                           CUstreamCaptureStatus *status,
                                           cuuint64_t *id, CUgraph *graph,
                                           const CUgraphNode **dependencies,
                                           const CUgraphEdgeData **edges,
                                           size_t *count)
{
    CUresult result;

    if (enter("cuStreamGetCaptureInfo", &result)) {
        if (edges != NULL)
            *edges = NULL;
        result = leave(info(stream, status, id, graph, dependencies, count));
    }
    return result;
}
#endif

static CUresult exchange(CUstreamCaptureMode *mode)
{
    CUstreamCaptureMode before = capture_thread_mode;

    if (mode == NULL || !is_mode(*mode))
        return CUDA_ERROR_INVALID_VALUE;
    capture_thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode)
{
    CUresult result;

    if (enter("cuThreadExchangeStreamCaptureMode", &result))
        result = leave(exchange(mode));
    return result;
}
