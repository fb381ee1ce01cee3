/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Streams, and the work that is queued on them.
 *
 *     stream ──> work 7 ──> work 9 ──> work 12       (numbers are the machine's)
 *                first                 last
 *
 * Work is done in order, and only when it is due: at once, or when the test
 * finishes it. The default stream waits for earlier work of the blocking streams
 * of its context, and they for its.
 *
 * A function of the user's is called by a thread that is made for it. Nothing else
 * runs by itself. Work that is due is done as a call of the driver leaves;
 * and a call that waits, such as cuStreamSynchronize(), does what it waits for,
 * since time passes while one waits.
 *
 * Invariants: numbers ascend along a stream. A destroyed stream stays until its
 * work is done. The first work of a stream stays there while it is done.
 */
#ifndef CUDASIM_STREAM_H
#define CUDASIM_STREAM_H

#include "context.h"
#include "frontier.h"
#include "kernel.h"
#include "machine.h"

/* When all work of a stream up to a number is done. Number 0: always. */
struct moment {
    uint64_t stream; /* its handle */
    uint64_t number;
};

enum action_kind {
    ACTION_COPY,
    ACTION_FILL,
    ACTION_TOUCH,
    ACTION_CALL,
    ACTION_KERNEL,
    ACTION_RECORD,
    ACTION_WAIT,
    ACTION_GRAPH
};

/* One thing that a device does, now or as a part of a graph. */
struct action {
    enum action_kind kind;
    uint64_t to;    /* COPY, FILL, TOUCH: address */
    uint64_t from;  /* COPY: address */
    uint64_t bytes; /* COPY, FILL, TOUCH */
    void *staged;   /* COPY: what was at `from`, if that may change; owned */
    uint32_t value; /* FILL */
    unsigned width; /* FILL: bytes of the value */
    bool write;     /* TOUCH */
    CUhostFn function;
    void *user;
    struct launch launch;    /* KERNEL */
    uint64_t event;          /* RECORD: handle */
    struct moment until;     /* WAIT */
    struct graph_exec *exec; /* GRAPH: held */
};

struct work {
    struct work *next;
    uint64_t number;
    bool due;
    bool forced; /* somebody waits for it and for what it waits for */
    struct action action;
};

struct stream {
    struct item handle;
    uint64_t context; /* id */
    int device;
    uint64_t id;     /* as cuStreamGetId() says */
    uint64_t thread; /* of a per-thread default stream; else 0 */
    unsigned flags;
    int priority;
    bool legacy;  /* the default stream of its context */
    bool held;    /* new work is not due */
    bool running; /* some thread is at the first work, without the lock */
    bool destroyed;
    struct work *first;
    struct work *last;
    struct capture *capture;  /* that it takes part in; NULL: none */
    struct frontier frontier; /* what was captured last */
};

extern struct index streams;

/* What a handle means in the calling thread, with the reason if nothing. */
CUresult stream_resolve(CUstream handle, struct stream **stream_out);

/* Whether stream 0 means the calling thread's own until it is told otherwise. */
void stream_own_default(bool own);

/* The default stream of a context; NULL: no host memory. */
struct stream *stream_default(const struct context *context);

/* Queue an action, which is copied; what it owns is owned by the stream then. */
CUresult stream_queue(struct stream *stream, const struct action *action);

/* The moment when all that is queued now is done; and whether it has come. */
struct moment stream_moment(const struct stream *stream);
bool moment_passed(struct moment moment);

/* Do all work that is due. May give the lock back for the while. */
void stream_run(void);

/* All that is queued is due now. */
void stream_finish(struct stream *stream);

/* Wait for a moment; for all work of a context. May give the lock back. */
void stream_await(struct moment moment);
void stream_await_context(uint64_t context);

/* In a forked child: the threads that were at some work are not here. */
void stream_lose_threads(void);

/* Forget the streams and events of a context. */
void stream_drop(uint64_t context);
void stream_clear(void);

#endif
