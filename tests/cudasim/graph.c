/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Graphs: their nodes, and their entries. */
#include "config.h"

#include "graph.h"

#include <stdlib.h>
#include <string.h>

#include "action.h"
#include "entry.h"

struct index graphs;

struct graph *graph_create(void)
{
    return machine_object(&graphs, sizeof(struct graph));
}

void graph_destroy(struct graph *graph)
{
    size_t i;

    for (i = 0; i < graph->count; i++) {
        action_release(&graph->nodes[i]->action);
        frontier_clear(&graph->nodes[i]->dependencies);
        free(graph->nodes[i]);
    }
    free(graph->nodes);
    holding_clear(&graph->holdings);
    index_remove(&graphs, &graph->handle);
    free(graph);
}

struct graph *graph_find(CUgraph handle)
{
    struct graph *graph = index_find(&graphs, (uint64_t)(uintptr_t)handle);

    machine.bogus += graph == NULL;
    return graph;
}

static bool make_room(struct graph *graph)
{
    size_t capacity = graph->capacity == 0 ? 16 : graph->capacity * 2;
    struct node **nodes;

    if (graph->count < graph->capacity)
        return true;
    nodes = realloc(graph->nodes, capacity * sizeof(struct node *));
    if (nodes == NULL)
        return false;
    graph->nodes = nodes;
    graph->capacity = capacity;
    return true;
}

struct node *graph_add(struct graph *graph, const struct action *action,
                       const struct frontier *dependencies)
{
    struct node *node = calloc(1, sizeof(*node));

    if (node == NULL)
        return NULL;
    if (!make_room(graph) ||
        !frontier_copy(&node->dependencies, dependencies)) {
        free(node);
        return NULL;
    }
    node->handle = machine_handle();
    node->action = *action;
    graph->nodes[graph->count++] = node;
    return node;
}

static void reach(const struct frontier *frontier)
{
    size_t i;

    for (i = 0; i < frontier->count; i++)
        frontier->nodes[i]->reached = true;
}

bool graph_joined(struct graph *graph, const struct frontier *frontier)
{
    bool joined = true;
    size_t i = graph->count;

    reach(frontier);
    while (i-- > 0) {
        if (graph->nodes[i]->reached)
            reach(&graph->nodes[i]->dependencies);
        else
            joined = false;
    }
    for (i = 0; i < graph->count; i++)
        graph->nodes[i]->reached = false;
    return joined;
}

static CUresult create(CUgraph *handle, unsigned flags)
{
    struct graph *graph;

    if (handle == NULL || flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    graph = graph_create();
    if (graph == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = (CUgraph)(uintptr_t)graph->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphCreate(CUgraph *graph, unsigned flags)
{
    CUresult result;

    if (enter("cuGraphCreate", &result))
        result = leave(create(graph, flags));
    return result;
}

/* A graph that is being captured belongs to its capture. */
static CUresult destroy(CUgraph handle)
{
    struct graph *graph = graph_find(handle);

    if (graph == NULL || graph->capturing)
        return CUDA_ERROR_INVALID_VALUE;
    graph_destroy(graph);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphDestroy(CUgraph graph)
{
    CUresult result;

    if (enter("cuGraphDestroy", &result))
        result = leave(destroy(graph));
    return result;
}

/* The copies of nodes, in the copy of their graph. */
static void translate(struct frontier *dependencies, const struct graph *from,
                      const struct graph *to)
{
    size_t i;
    size_t j;

    for (i = 0; i < dependencies->count; i++) {
        for (j = 0; from->nodes[j] != dependencies->nodes[i]; j++)
            continue;
        dependencies->nodes[i] = to->nodes[j];
    }
}

static CUresult copy_nodes(struct graph *to, const struct graph *from)
{
    struct node *node;
    size_t i;

    for (i = 0; i < from->count; i++) {
        node = graph_add(to, &from->nodes[i]->action,
                         &from->nodes[i]->dependencies);
        if (node == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        translate(&node->dependencies, from, to);
    }
    return holding_copy(&to->holdings, from->holdings);
}

static CUresult clone(CUgraph *handle, CUgraph original)
{
    const struct graph *from = graph_find(original);
    struct graph *graph;
    CUresult result;

    if (handle == NULL || from == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    graph = graph_create();
    if (graph == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    result = copy_nodes(graph, from);
    if (result != CUDA_SUCCESS) {
        graph_destroy(graph);
        return result;
    }
    *handle = (CUgraph)(uintptr_t)graph->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphClone(CUgraph *graph, CUgraph original)
{
    CUresult result;

    if (enter("cuGraphClone", &result))
        result = leave(clone(graph, original));
    return result;
}

static CUresult get_nodes(CUgraph handle, CUgraphNode *nodes, size_t *count)
{
    const struct graph *graph = graph_find(handle);
    size_t room;
    size_t i;

    if (graph == NULL || count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    room = *count;
    for (i = 0; nodes != NULL && i < room; i++)
        nodes[i] = i < graph->count
                       ? (CUgraphNode)(uintptr_t)graph->nodes[i]->handle
                       : NULL;
    if (nodes == NULL || room > graph->count)
        *count = graph->count;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes,
                                 size_t *count)
{
    CUresult result;

    if (enter("cuGraphGetNodes", &result))
        result = leave(get_nodes(graph, nodes, count));
    return result;
}

/* Without calling destructors back: an object that still has an owner is only
 * counted down here, and forgotten last. */
void graph_clear(void)
{
    struct user_object *object;
    size_t i;

    for (i = 0; i < user_objects.count; i++) {
        object = (struct user_object *)user_objects.items[i];
        object->owned++;
    }
    while (graphs.count > 0)
        graph_destroy((struct graph *)graphs.items[graphs.count - 1]);
    index_clear(&graphs);
    graph_exec_clear();
    user_object_clear();
}
