/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The queues of the streams, and when what is in them is done. */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "action.h"
#include "entry.h"
#include "stream.h"

static uint64_t last_number;

CUresult stream_queue(struct stream *stream, const struct action *action)
{
    struct work *work = calloc(1, sizeof(*work));

    if (work == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    work->number = ++last_number;
    work->action = *action;
    work->due = !stream->held && !action_lasts(action);
    if (stream->first == NULL)
        stream->first = work;
    else
        stream->last->next = work;
    stream->last = work;
    return CUDA_SUCCESS;
}

struct moment stream_moment(const struct stream *stream)
{
    struct moment moment = {stream->handle.start, 0};

    if (stream->first != NULL)
        moment.number = stream->last->number;
    return moment;
}

bool moment_passed(struct moment moment)
{
    const struct stream *stream = index_find(&streams, moment.stream);

    return stream == NULL || stream->first == NULL ||
           stream->first->number > moment.number;
}

/* Whether one of the two is the default stream and the other waits for it. */
static bool ordered(const struct stream *stream, const struct stream *other)
{
    const struct stream *blocking = stream->legacy ? other : stream;

    return stream != other && stream->context == other->context &&
           stream->legacy != other->legacy &&
           (blocking->flags & CU_STREAM_NON_BLOCKING) == 0;
}

static struct stream *nth(size_t i)
{
    return (struct stream *)streams.items[i];
}

static bool ready(const struct stream *stream)
{
    const struct work *work = stream->first;
    const struct stream *other;
    size_t i;

    if (work == NULL || !work->due || stream->running ||
        (work->action.kind == ACTION_WAIT &&
         !moment_passed(work->action.until)))
        return false;
    for (i = 0; i < streams.count; i++) {
        other = nth(i);
        if (other->first != NULL && other->first->number < work->number &&
            ordered(stream, other))
            return false;
    }
    return true;
}

/* The first work of a stream is done. */
static void complete(struct stream *stream)
{
    struct work *work = stream->first;

    stream->running = false;
    stream->first = work->next;
    action_release(&work->action);
    free(work);
    machine_moved();
    if (stream->first == NULL && stream->destroyed) {
        index_remove(&streams, &stream->handle);
        free(stream);
    }
}

/* Do the first work of a stream. In a context that has failed nothing is done, and
 * all passes. */
static void perform(struct stream *stream)
{
    const struct work *work = stream->first;
    struct moment moment = {stream->handle.start, work->number};
    struct context *context = context_of(stream->context);
    CUresult result = CUDA_SUCCESS;

    if (context != NULL && context->failure == CUDA_SUCCESS)
        result = action_run(&work->action, stream->device, moment);
    if (result != CUDA_SUCCESS)
        context_fail(context, result);
    complete(stream);
}

static void *run_thread(void *stream)
{
    machine_lock();
    perform(stream);
    leave(CUDA_SUCCESS);
    return NULL;
}

/* Functions of the user's are called by a thread of the driver's, which takes no
 * signals of the program. */
static bool perform_apart(struct stream *stream)
{
    pthread_attr_t attributes;
    pthread_t thread;
    sigset_t all;
    sigset_t before;
    int err;

    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    err = pthread_create(&thread, &attributes, run_thread, stream);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return err == 0;
}

static void start(struct stream *stream)
{
    stream->running = true;
    if (!action_calls(&stream->first->action) || !perform_apart(stream))
        perform(stream);
}

void stream_run(void)
{
    size_t i = 0;

    while (i < streams.count) {
        if (ready(nth(i))) {
            start(nth(i));
            i = 0;
        } else {
            i++;
        }
    }
}

void stream_finish(struct stream *stream)
{
    struct work *work;

    for (work = stream->first; work != NULL; work = work->next)
        work->due = true;
}

static void force(struct moment moment);

/* Force what a stream's work up to a number waits for in other streams. */
static void force_others(const struct stream *stream, uint64_t number)
{
    size_t i;

    for (i = 0; i < streams.count; i++)
        if (ordered(stream, nth(i)))
            force((struct moment){nth(i)->handle.start, number - 1});
}

/* Make all work due that has to be done for a moment to come. Each piece waits
 * only for lower numbers, so this ends. */
static void force(struct moment moment)
{
    struct stream *stream = index_find(&streams, moment.stream);
    struct work *work = stream == NULL ? NULL : stream->first;

    for (; work != NULL && work->number <= moment.number; work = work->next) {
        if (work->forced)
            continue;
        work->due = true;
        work->forced = true;
        force_others(stream, work->number);
        if (work->action.kind == ACTION_WAIT)
            force(work->action.until);
    }
}

void stream_lose_threads(void)
{
    size_t i;

    for (i = 0; i < streams.count; i++)
        nth(i)->running = false;
}

void stream_await(struct moment moment)
{
    force(moment);
    stream_run();
    while (!moment_passed(moment)) {
        machine_wait();
        stream_run();
    }
}

void stream_await_context(uint64_t context)
{
    struct stream *stream = NULL;
    size_t i;

    do {
        for (i = 0; i < streams.count; i++) {
            stream = nth(i);
            if (stream->context == context && stream->first != NULL)
                break;
        }
        if (i < streams.count)
            stream_await(stream_moment(stream));
    } while (i < streams.count);
}
