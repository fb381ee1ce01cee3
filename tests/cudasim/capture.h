/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Streams that capture their work into a graph instead of queueing it.
 *
 *     capture ──> graph ──> node ...
 *        ▲ ▲
 *        │ └── origin stream: where it began and has to end
 *        └──── streams that joined it, by waiting for an event of it
 *
 * A capture is spoilt by what must not be done meanwhile. Then it captures no more,
 * and its end says so; the graph goes with it.
 *
 * Which calls are forbidden goes by the mode of a capture and by that of the
 * calling thread (cuThreadExchangeStreamCaptureMode()):
 *
 *     the thread is     forbidden while there is
 *     GLOBAL            its own capture, unless RELAXED; another's that is GLOBAL
 *     THREAD_LOCAL      its own capture, unless RELAXED
 *     RELAXED           nothing
 */
#ifndef CUDASIM_CAPTURE_H
#define CUDASIM_CAPTURE_H

#include "event.h"
#include "stream.h"

struct capture {
    struct capture *next;
    uint64_t id;
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    struct graph *graph;
    struct stream *origin;
    bool spoilt;
};

/* What an unsafe call says; it spoils what forbids it. */
CUresult capture_forbid_unsafe(void);

/* The same for what no capturing stream can do, in any mode, nor the default stream
 * while a blocking one captures. */
CUresult capture_forbid(struct stream *stream);

/* The same for what a context cannot do while a stream of it captures. */
CUresult capture_forbid_context(uint64_t context);

/* The default stream cannot be used while a blocking one captures. */
CUresult capture_check_implicit(const struct stream *stream, bool spoil);

/* Capture an action, or queue it. What it owns is the stream's, or is freed. */
CUresult capture_or_queue(struct stream *stream, struct action *action);

/* An event is recorded on a capturing stream; a stream waits for one that was. */
CUresult capture_record(struct stream *stream, struct event *event);
CUresult capture_wait(struct stream *stream, const struct event *event);

/* What a query of, or a wait for, a captured event says; it spoils the capture. */
CUresult capture_forbid_event(const struct event *event);

void capture_spoil(struct capture *capture);

/* A stream goes. */
void capture_lose(struct stream *stream);

#endif
