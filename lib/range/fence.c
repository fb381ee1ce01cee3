/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The caller's fences, recorded for an item of the retire list. */
#include "config.h"

#include "base/error.h"
#include "range/range.h"

const struct ashlar_fence ashlar_fence_quiet = {ASHLAR_FENCE_QUIET, 0, NULL, 0};

static enum ashlar_status check_fence(const struct ashlar_fence *fence,
                                      size_t i)
{
    if (fence->reserved != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "fences[%zu].reserved is %u; it must be 0", i,
                         fence->reserved);
    if (fence->kind >= ASHLAR_FENCE_QUIET && fence->kind <= ASHLAR_FENCE_GRAPH)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID,
                     "fences[%zu].kind is %u; give 1 (quiet), 2 (stream), 3 "
                     "(event), 4 (capture) or 5 (graph)",
                     i, fence->kind);
}

/* A fence of the source's, of whatever kind but quiet. */
static enum ashlar_status make(struct ashlar_source *source,
                               const struct ashlar_fence *fence,
                               uint64_t *handle_out)
{
    const struct ashlar_plugin *ops = &source->ops;

    switch (fence->kind) {
    case ASHLAR_FENCE_EVENT:
        return ops->fence_event(source->state, fence->handle, handle_out);
    case ASHLAR_FENCE_CAPTURE:
        return ops->fence_capture(source->state, fence->handle, handle_out);
    case ASHLAR_FENCE_GRAPH:
        return ops->fence_graph(source->state, fence->handle, handle_out);
    default:
        return ops->fence_record(source->state, fence->handle, handle_out);
    }
}

static enum ashlar_status record(struct ashlar_source *source,
                                 const struct ashlar_fence *fence,
                                 struct retire_item *item)
{
    enum ashlar_status status;
    uint64_t handle;

    status = source_check(source, "a fence");
    if (status != ASHLAR_OK)
        return status;
    status = make(source, fence, &handle);
    if (status == ASHLAR_OK)
        item->fences[item->fence_count++] =
            (struct retire_fence){source_hold(source), handle};
    return status;
}

enum ashlar_status fences_record(struct ashlar_source *own,
                                 const struct ashlar_fence *fences, size_t n,
                                 struct retire_item *item)
{
    enum ashlar_status status = ASHLAR_OK;
    struct ashlar_source *source;
    size_t i;

    for (i = 0; i < n && status == ASHLAR_OK; i++) {
        source = fences[i].source == NULL ? own : fences[i].source;
        if (fences[i].kind != ASHLAR_FENCE_QUIET)
            status = record(source, &fences[i], item);
    }
    return status;
}

enum ashlar_status fences_check(const struct ashlar_fence *fences, size_t n,
                                const char *call)
{
    enum ashlar_status status = ASHLAR_OK;
    size_t i;

    if (fences == NULL || n == 0 || n > FENCES_MOST)
        return error_set(ASHLAR_ERR_INVALID,
                         "%s was given %s fences (n is %zu); name 1 to %d, or "
                         "say ASHLAR_QUIET and 1 when nobody uses the memory "
                         "any more",
                         call, fences == NULL || n == 0 ? "no" : "too many", n,
                         FENCES_MOST);
    for (i = 0; i < n && status == ASHLAR_OK; i++)
        status = check_fence(&fences[i], i);
    return status;
}
