/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The rules of captures. Their entries are in capture_entry.c. */
#include "config.h"

#include "capture.h"

#include <stdlib.h>

#include "action.h"
#include "capture_state.h"
#include "graph.h"

struct capture *captures;

_Thread_local CUstreamCaptureMode capture_thread_mode =
    CU_STREAM_CAPTURE_MODE_GLOBAL;

static struct capture *find(uint64_t id)
{
    struct capture *capture = captures;

    while (capture != NULL && capture->id != id)
        capture = capture->next;
    return capture;
}

void capture_spoil(struct capture *capture)
{
    capture->spoilt = true;
}

static bool forbids(const struct capture *capture)
{
    if (capture_thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (capture->thread == machine_thread())
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture_thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_forbid_unsafe(void)
{
    CUresult result = CUDA_SUCCESS;
    struct capture *capture;

    for (capture = captures; capture != NULL; capture = capture->next) {
        if (forbids(capture)) {
            capture_spoil(capture);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

CUresult capture_check_implicit(const struct stream *stream, bool spoil)
{
    CUresult result = CUDA_SUCCESS;
    const struct stream *other;
    size_t i;

    if (!stream->legacy)
        return CUDA_SUCCESS;
    for (i = 0; i < streams.count; i++) {
        other = (const struct stream *)streams.items[i];
        if (other->capture == NULL || other->context != stream->context ||
            (other->flags & CU_STREAM_NON_BLOCKING) != 0)
            continue;
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
        if (spoil)
            capture_spoil(other->capture);
    }
    return result;
}

CUresult capture_forbid(struct stream *stream)
{
    if (stream->capture == NULL)
        return capture_check_implicit(stream, true);
    capture_spoil(stream->capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

CUresult capture_forbid_context(uint64_t context)
{
    CUresult result = CUDA_SUCCESS;
    struct capture *capture;

    for (capture = captures; capture != NULL; capture = capture->next) {
        if (capture->origin->context == context) {
            capture_spoil(capture);
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    }
    return result;
}

static CUresult capture_action(struct stream *stream,
                               const struct action *action)
{
    struct node *node;

    if (stream->capture->spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    node = graph_add(stream->capture->graph, action, &stream->frontier);
    if (node == NULL || !frontier_set(&stream->frontier, node)) {
        capture_spoil(stream->capture);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return CUDA_SUCCESS;
}

CUresult capture_or_queue(struct stream *stream, struct action *action)
{
    CUresult result = capture_check_implicit(stream, true);

    if (result == CUDA_SUCCESS && stream->capture != NULL) {
        result = capture_action(stream, action);
    } else if (result == CUDA_SUCCESS) {
        result = stream_queue(stream, action);
    }
    if (result != CUDA_SUCCESS)
        action_release(action);
    return result;
}

CUresult capture_record(struct stream *stream, struct event *event)
{
    if (stream->capture->spoilt)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (!frontier_copy(&event->frontier, &stream->frontier))
        return CUDA_ERROR_OUT_OF_MEMORY;
    event->recorded = true;
    event->capture = stream->capture->id;
    return CUDA_SUCCESS;
}

/* A stream takes part in a capture, behind an event of it. */
static CUresult join(struct stream *stream, const struct event *event,
                     struct capture *capture)
{
    CUresult result = capture_check_implicit(stream, true);

    if (result != CUDA_SUCCESS)
        return result;
    if (stream->legacy) {
        capture_spoil(capture);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    if (!frontier_copy(&stream->frontier, &event->frontier))
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream->capture = capture;
    return CUDA_SUCCESS;
}

CUresult capture_wait(struct stream *stream, const struct event *event)
{
    struct capture *capture = find(event->capture);

    if (capture == NULL && event->capture != 0)
        return CUDA_ERROR_CAPTURED_EVENT;
    if (capture == NULL) {
        capture_spoil(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    if (capture->spoilt || (stream->capture != NULL && stream->capture->spoilt))
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture == NULL)
        return join(stream, event, capture);
    if (stream->capture != capture) {
        capture_spoil(capture);
        capture_spoil(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!frontier_merge(&stream->frontier, &event->frontier))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

CUresult capture_forbid_event(const struct event *event)
{
    struct capture *capture = find(event->capture);

    if (event->capture == 0)
        return CUDA_SUCCESS;
    if (capture != NULL)
        capture_spoil(capture);
    return CUDA_ERROR_CAPTURED_EVENT;
}

void capture_end(struct capture *capture)
{
    struct capture **place = &captures;
    struct stream *stream;
    size_t i;

    for (i = 0; i < streams.count; i++) {
        stream = (struct stream *)streams.items[i];
        if (stream->capture == capture) {
            stream->capture = NULL;
            frontier_clear(&stream->frontier);
        }
    }
    while (*place != capture)
        place = &(*place)->next;
    *place = capture->next;
    capture->graph->capturing = false;
    free(capture);
}

void capture_lose(struct stream *stream)
{
    struct capture *capture = stream->capture;
    struct graph *graph;

    if (capture == NULL)
        return;
    if (stream != capture->origin) {
        capture_spoil(capture);
        stream->capture = NULL;
        frontier_clear(&stream->frontier);
        return;
    }
    graph = capture->graph;
    capture_end(capture);
    graph_destroy(graph);
}
