/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Fences: what has to be done before memory is taken away.
 *
 *     kind     passes when
 *     PASSED   at once: there was no work
 *     OWN      an event of ours has: recorded behind the work of a stream
 *     CALLERS  an event of the caller's has
 *     GRAPH    a graph, and what was instantiated of it, are gone (graph.c)
 *
 * An OWN fence goes back to its context's idle ones with its event, so that
 * recording makes nothing as a rule.
 */
#ifndef ASHLAR_PLUGINS_CUDA_FENCE_H
#define ASHLAR_PLUGINS_CUDA_FENCE_H

#include "source.h"

struct cuda_context;
struct cuda_mark;

enum cuda_fence_kind {
    CUDA_FENCE_PASSED,
    CUDA_FENCE_OWN,
    CUDA_FENCE_CALLERS,
    CUDA_FENCE_GRAPH
};

struct cuda_fence {
    struct cuda_fence *next; /* while it is idle */
    enum cuda_fence_kind kind;
    CUevent event;                /* OWN, CALLERS */
    struct cuda_context *context; /* OWN */
    struct cuda_mark *mark;       /* GRAPH */
};

/** Free idle fences; their events too, if their context is still there. */
void cuda_fences_free(const struct cuda *cuda, struct cuda_fence *fences,
                      bool there);

/** Whether a mark's graphs are gone. */
bool cuda_mark_is_reached(const struct cuda_mark *mark);

/** Nobody asks for a mark any more. */
void cuda_mark_drop(struct cuda_mark *mark);

#endif
