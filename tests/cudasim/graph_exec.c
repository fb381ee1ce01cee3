/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Executable graphs: a graph's actions, copied, and launched. */
#include "config.h"

#include <stdlib.h>

#include "action.h"
#include "capture.h"
#include "entry.h"
#include "event.h"
#include "graph.h"

struct index graph_execs;

static struct graph_exec *find(CUgraphExec handle)
{
    struct graph_exec *exec =
        index_find(&graph_execs, (uint64_t)(uintptr_t)handle);

    machine.bogus += exec == NULL;
    return exec;
}

static CUresult fill(struct graph_exec *exec, const struct graph *graph)
{
    size_t i;

    exec->actions = calloc(graph->count + 1, sizeof(struct action));
    if (exec->actions == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (i = 0; i < graph->count; i++)
        exec->actions[i] = graph->nodes[i]->action;
    exec->count = graph->count;
    return holding_copy(&exec->holdings, graph->holdings);
}

/* One that is in the index no longer. */
static void dispose(struct graph_exec *exec)
{
    holding_clear(&exec->holdings);
    free(exec->actions);
    free(exec);
}

static CUresult instantiate(CUgraphExec *handle, CUgraph from,
                            unsigned long long flags)
{
    const unsigned long long known =
        CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
    const struct graph *graph = graph_find(from);
    struct graph_exec *exec;
    CUresult result;

    if (handle == NULL || graph == NULL || graph->capturing ||
        (flags & ~known) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    exec = machine_object(&graph_execs, sizeof(*exec));
    if (exec == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    exec->users = 1;
    result = fill(exec, graph);
    if (result != CUDA_SUCCESS) {
        index_remove(&graph_execs, &exec->handle);
        dispose(exec);
        return result;
    }
    *handle = (CUgraphExec)(uintptr_t)exec->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                             unsigned long long flags)
{
    CUresult result;

    if (enter("cuGraphInstantiate", &result))
        result = leave(instantiate(exec, graph, flags));
    return result;
}

void graph_exec_put(struct graph_exec *exec)
{
    if (--exec->users == 0)
        dispose(exec);
}

/* Its owner's part ends; launches that are under way keep it. */
static CUresult destroy(CUgraphExec handle)
{
    struct graph_exec *exec = find(handle);

    if (exec == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    index_remove(&graph_execs, &exec->handle);
    graph_exec_put(exec);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec exec)
{
    CUresult result;

    if (enter("cuGraphExecDestroy", &result))
        result = leave(destroy(exec));
    return result;
}

/* Whether the nodes of a graph can take the place of what is executed now: as many,
 * each of the same kind. */
static CUgraphExecUpdateResultInfo compare(const struct graph_exec *exec,
                                           const struct graph *graph)
{
    CUgraphExecUpdateResultInfo info = {
        .result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED};
    size_t i = 0;

    if (exec->count != graph->count)
        return info;
    while (i < exec->count &&
           exec->actions[i].kind == graph->nodes[i]->action.kind)
        i++;
    if (i < exec->count) {
        info.result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        info.errorNode = (CUgraphNode)(uintptr_t)graph->nodes[i]->handle;
    } else {
        info.result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    }
    return info;
}

/* Another takes over the handle: what was launched already goes on as it was, and
 * holds the user's objects that it needs. */
static CUresult replace(struct graph_exec *exec, const struct graph *graph)
{
    struct graph_exec *fresh = calloc(1, sizeof(*fresh));
    CUresult result;

    if (fresh == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fresh->handle = exec->handle;
    fresh->users = 1;
    result = fill(fresh, graph);
    if (result != CUDA_SUCCESS) {
        dispose(fresh);
        return result;
    }
    index_remove(&graph_execs, &exec->handle);
    index_add(&graph_execs, &fresh->handle); /* into the room of the other */
    graph_exec_put(exec);
    return CUDA_SUCCESS;
}

static CUresult update(CUgraphExec handle, CUgraph from,
                       CUgraphExecUpdateResultInfo *info)
{
    struct graph_exec *exec = find(handle);
    const struct graph *graph = graph_find(from);

    if (info == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    if (exec == NULL || graph == NULL || graph->capturing)
        return CUDA_ERROR_INVALID_VALUE;
    *info = compare(exec, graph);
    return info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS
               ? replace(exec, graph)
               : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph,
                                   CUgraphExecUpdateResultInfo *info)
{
    CUresult result;

    if (enter("cuGraphExecUpdate", &result))
        result = leave(update(exec, graph, info));
    return result;
}

/* The events that the graph records come when it is done. */
static void record_events(const struct graph_exec *exec, struct moment moment)
{
    size_t i;

    for (i = 0; i < exec->count; i++)
        if (exec->actions[i].kind == ACTION_RECORD)
            event_recorded(exec->actions[i].event, moment);
}

static CUresult launch(CUgraphExec handle, CUstream on)
{
    struct graph_exec *exec = find(handle);
    struct action action = {.kind = ACTION_GRAPH, .exec = exec};
    struct stream *stream;
    CUresult result;

    if (exec == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    result = stream_resolve(on, &stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = capture_forbid(stream);
    if (result != CUDA_SUCCESS)
        return result;
    exec->users++;
    result = capture_or_queue(stream, &action);
    if (result == CUDA_SUCCESS)
        record_events(exec, stream_moment(stream));
    return result;
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    CUresult result;

    if (enter("cuGraphLaunch", &result))
        result = leave(launch(exec, stream));
    return result;
}

bool graph_exec_any(const struct graph_exec *exec,
                    bool (*is)(const struct action *action))
{
    size_t i;

    for (i = 0; i < exec->count; i++)
        if (is(&exec->actions[i]))
            return true;
    return false;
}

CUresult graph_exec_run(const struct graph_exec *exec, int device,
                        struct moment moment)
{
    CUresult result = CUDA_SUCCESS;
    size_t i;

    for (i = 0; i < exec->count && result == CUDA_SUCCESS; i++)
        result = action_run(&exec->actions[i], device, moment);
    return result;
}

void graph_exec_clear(void)
{
    struct graph_exec *exec;

    while (graph_execs.count > 0) {
        exec = (struct graph_exec *)graph_execs.items[graph_execs.count - 1];
        index_remove(&graph_execs, &exec->handle);
        graph_exec_put(exec);
    }
    index_clear(&graph_execs);
}
