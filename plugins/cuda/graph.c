/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Fences on graphs. A graph is given a user object, which it shares with what
 * is cloned and instantiated of it; when the last of them is gone, the driver
 * calls the object's destructor, on a thread of its own and at a time of its
 * own, where no call of CUDA is allowed.
 *
 *     fence ──┐
 *             ├─> mark    WAITS: the destructor is still to come
 *     graph ──┘           ASKED: the fence is still there
 *
 * So the destructor clears a bit, and whoever clears the last one pushes the
 * mark onto a list without a lock. Marks are never freed, since a graph may
 * outlive its source: they belong to the process, and are taken from that list
 * again. The list is emptied as a whole, so nothing can come back to its head
 * unseen.
 */
#include "config.h"

#include "context.h"
#include "error.h"
#include "fence.h"

#include <stdlib.h>

#define WAITS 1u
#define ASKED 2u

struct cuda_mark {
    struct cuda_mark *next;  /* in `given` or `spare` */
    struct cuda_mark *older; /* of all that there are */
    unsigned bits;           /* atomic */
};

static struct cuda_mark *given; /* atomic: pushed by whoever is done with one */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* both below */
static struct cuda_mark *spare;
static struct cuda_mark *newest; /* so that none is ever out of reach */

/* Clear a bit; with none left, the mark is to be had again. No lock, no call. */
static void clear_bit(struct cuda_mark *mark, unsigned bit)
{
    struct cuda_mark *head;

    if (__atomic_and_fetch(&mark->bits, ~bit, __ATOMIC_ACQ_REL) != 0)
        return;
    head = __atomic_load_n(&given, __ATOMIC_RELAXED);
    do
        mark->next = head;
    while (!__atomic_compare_exchange_n(&given, &head, mark, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static void CUDA_CB graph_is_gone(void *mark)
{
    clear_bit(mark, WAITS);
}

bool cuda_mark_is_reached(const struct cuda_mark *mark)
{
    return (__atomic_load_n(&mark->bits, __ATOMIC_ACQUIRE) & WAITS) == 0;
}

void cuda_mark_drop(struct cuda_mark *mark)
{
    clear_bit(mark, ASKED);
}

/* With the lock held; NULL: no memory. */
static struct cuda_mark *make_mark(void)
{
    struct cuda_mark *mark = calloc(1, sizeof(*mark));

    if (mark == NULL)
        return NULL;
    mark->older = newest;
    newest = mark;
    return mark;
}

static struct cuda_mark *take_mark(void)
{
    struct cuda_mark *mark;

    (void)pthread_mutex_lock(&lock);
    if (spare == NULL)
        spare = __atomic_exchange_n(&given, NULL, __ATOMIC_ACQUIRE);
    mark = spare;
    if (mark != NULL)
        spare = mark->next;
    else
        mark = make_mark();
    (void)pthread_mutex_unlock(&lock);
    if (mark != NULL)
        __atomic_store_n(&mark->bits, WAITS | ASKED, __ATOMIC_RELEASE);
    return mark;
}

/* Give a graph the user object that clears a mark. */
static enum ashlar_status attach(const struct cuda *cuda, CUgraph graph,
                                 struct cuda_mark *mark)
{
    CUuserObject object;
    CUresult result;

    result = cuda->driver.user_object_create(&object, mark, graph_is_gone, 1,
                                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
    if (result != CUDA_SUCCESS) {
        clear_bit(mark, WAITS);
        return cuda_fail(cuda, result, "cuUserObjectCreate");
    }
    result = cuda->driver.graph_retain_user_object(graph, object, 1,
                                                   CU_GRAPH_USER_OBJECT_MOVE);
    if (result == CUDA_SUCCESS)
        return ASHLAR_OK;
    /* The destructor runs, too. */
    (void)cuda->driver.user_object_release(object, 1);
    return cuda_fail(cuda, result, "cuGraphRetainUserObject");
}

/* With the mode of capture relaxed. */
static enum ashlar_status fence_on(const struct cuda *cuda, CUgraph graph,
                                   uint64_t *fence_out)
{
    struct cuda_fence *fence = cuda->host->alloc(sizeof(*fence));
    enum ashlar_status status;

    if (fence == NULL)
        return cuda_no_records(cuda);
    fence->kind = CUDA_FENCE_GRAPH;
    fence->mark = take_mark();
    if (fence->mark == NULL) {
        cuda->host->free(fence);
        return cuda_no_records(cuda);
    }
    status = attach(cuda, graph, fence->mark);
    if (status != ASHLAR_OK) {
        cuda_mark_drop(fence->mark);
        cuda->host->free(fence);
        return status;
    }
    *fence_out = (uint64_t)(uintptr_t)fence;
    return ASHLAR_OK;
}

/* The graph that a stream is being captured into. */
static enum ashlar_status find_graph(const struct cuda *cuda, CUstream stream,
                                     CUgraph *graph_out)
{
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id;
    CUresult result;

    *graph_out = NULL;
    result = cuda->driver.stream_get_capture_info(stream, &capture, &id,
                                                  graph_out, NULL, NULL);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuStreamGetCaptureInfo");
    if (capture == CU_STREAM_CAPTURE_STATUS_ACTIVE && *graph_out != NULL)
        return ASHLAR_OK;
    if (capture == CU_STREAM_CAPTURE_STATUS_NONE)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "stream 0x%lx is not being captured; a fence "
                                "of kind ASHLAR_FENCE_STREAM waits for its "
                                "work",
                                (unsigned long)(uintptr_t)stream);
    return cuda->host->fail(ASHLAR_ERR_CAPTURE,
                            "the capture of stream 0x%lx was spoilt, and makes "
                            "no graph; end it",
                            (unsigned long)(uintptr_t)stream);
}

enum ashlar_status cuda_fence_capture(void *state, uint64_t stream,
                                      uint64_t *fence_out)
{
    struct cuda *cuda = state;
    CUstream handle = (CUstream)(uintptr_t)stream;
    struct cuda_visit visit;
    enum ashlar_status status;
    CUgraph graph = NULL;

    status = cuda_visit_begin(cuda, handle, false, &visit);
    if (status != ASHLAR_OK)
        return status;
    status = find_graph(cuda, handle, &graph);
    if (status == ASHLAR_OK)
        status = fence_on(cuda, graph, fence_out);
    cuda_visit_end(cuda, &visit);
    return status;
}

enum ashlar_status cuda_fence_graph(void *state, uint64_t graph,
                                    uint64_t *fence_out)
{
    struct cuda *cuda = state;
    CUstreamCaptureMode mode;
    enum ashlar_status status;
    CUresult result;

    if (graph == 0)
        return cuda->host->fail(ASHLAR_ERR_INVALID,
                                "the graph of a fence is NULL");
    result = cuda_relax(cuda, &mode);
    if (result != CUDA_SUCCESS)
        return cuda_fail(cuda, result, "cuThreadExchangeStreamCaptureMode");
    status = fence_on(cuda, (CUgraph)(uintptr_t)graph, fence_out);
    cuda_unrelax(cuda, mode);
    return status;
}
