/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Contexts: which one a stream is of, and a short stay in it.
 *
 *     cuda->contexts ─> [handle, id] ─> [handle, id] ...
 *                         idle: fences whose events are of that context
 *                         scatter: the kernel, in a module of that context
 *
 * A context is known by its id: a primary one that was reset has the same
 * handle afterwards, another id, and none of its events. During a visit the
 * thread's mode of capture is relaxed, since in the global one a query of any
 * event spoils the captures of all threads.
 *
 * A stream of its own says which context it is of. The default streams (0, 1,
 * 2) are those of the current context if that is of the source's device, else
 * of the device's primary one.
 *
 * Invariants: records live until the source is closed; idle fences and the
 * kernel of a record are usable as long as its context has its id.
 */
#ifndef ASHLAR_PLUGINS_CUDA_CONTEXT_H
#define ASHLAR_PLUGINS_CUDA_CONTEXT_H

#include "source.h"

struct cuda_fence;

struct cuda_context {
    struct cuda_context *next;
    CUcontext handle;
    unsigned long long id;
    struct cuda_fence *idle; /* under the source's lock, as all below */
    CUmodule module;         /* that scatters; NULL: not loaded here yet */
    CUfunction scatter;
};

/** A stay in a stream's context. */
struct cuda_visit {
    CUcontext context; /* NULL: there is none, and so no work either */
    unsigned long long id;
    bool entered;             /* pushed: to be popped */
    bool held;                /* the primary one, retained for the visit */
    CUstreamCaptureMode mode; /* the thread's own */
};

/**
 * Enter the context of a stream.
 *
 * @param start  Whether a primary context is started where there is none yet;
 *               the source then keeps it until it is closed.
 *
 * @return ASHLAR_OK, and the visit has to be ended; else with the error set.
 */
enum ashlar_status cuda_visit_begin(struct cuda *cuda, CUstream stream,
                                    bool start, struct cuda_visit *visit);
void cuda_visit_end(const struct cuda *cuda, const struct cuda_visit *visit);

/**
 * Refuse work on a stream that waits for one that is being captured, before the
 * driver does: it would spoil that capture. Only the legacy stream waits so.
 */
enum ashlar_status cuda_check_work(const struct cuda *cuda, CUstream stream);

/** Relax the thread's mode of capture; what it was is to be put back. */
CUresult cuda_relax(const struct cuda *cuda, CUstreamCaptureMode *mode_out);
void cuda_unrelax(const struct cuda *cuda, CUstreamCaptureMode mode);

/** The record of a visited context; NULL: no memory, no error set. */
struct cuda_context *cuda_context_of(struct cuda *cuda,
                                     const struct cuda_visit *visit);

/**
 * Whether a context still is what it was when its record was made. That it is
 * not is no failure; what the driver says otherwise tells nothing.
 */
CUresult cuda_context_is_there(const struct cuda *cuda,
                               const struct cuda_context *context,
                               bool *there_out);

/** Destroy idle events, unload, forget all contexts, release the primary one. */
void cuda_contexts_close(struct cuda *cuda);

#endif
