/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Contexts: those that were created, and the primary one of each device.
 *
 * A primary context keeps its handle for ever, and gets another id each time that
 * it is made anew. What is made in a context remembers its id, and dies with it.
 * Each thread has a stack of contexts; the last is current.
 */
#ifndef CUDASIM_CONTEXT_H
#define CUDASIM_CONTEXT_H

#include "machine.h"

struct context {
    struct item handle;
    int device;
    uint64_t id;
    unsigned flags;
    unsigned retained; /* times, of a primary one */
    bool primary;
    bool alive;
    CUresult failure; /* sticky; CUDA_SUCCESS: none */
};

/* The thread's current context, or why there is none to work with. */
CUresult context_current(struct context **context_out);

/* A context by its handle, alive or not; NULL: none. */
struct context *context_find(CUcontext handle);

/* The live context of an id; NULL: it is gone. */
struct context *context_of(uint64_t id);

/* The primary context of a device, alive or not; NULL: no host memory. */
struct context *context_primary(int device);

/* From now on all that is done in it says so. The first failure stays. */
void context_fail(struct context *context, CUresult failure);

/* How often the primary contexts are retained. */
uint64_t context_retained(void);

void context_clear(void);

#endif
