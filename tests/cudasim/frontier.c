/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "frontier.h"

#include <stdlib.h>
#include <string.h>

#include "graph.h"

static bool resize(struct frontier *frontier, size_t count)
{
    struct node **nodes;

    if (count <= frontier->count)
        return true;
    nodes = realloc(frontier->nodes, count * sizeof(struct node *));
    if (nodes == NULL)
        return false;
    frontier->nodes = nodes;
    return true;
}

bool frontier_set(struct frontier *frontier, struct node *node)
{
    if (!resize(frontier, 1))
        return false;
    frontier->nodes[0] = node;
    frontier->count = 1;
    return true;
}

static bool has(const struct frontier *frontier, const struct node *node)
{
    size_t i;

    for (i = 0; i < frontier->count; i++)
        if (frontier->nodes[i] == node)
            return true;
    return false;
}

bool frontier_merge(struct frontier *frontier, const struct frontier *other)
{
    size_t i;

    if (!resize(frontier, frontier->count + other->count))
        return false;
    for (i = 0; i < other->count; i++)
        if (!has(frontier, other->nodes[i]))
            frontier->nodes[frontier->count++] = other->nodes[i];
    return true;
}

bool frontier_copy(struct frontier *frontier, const struct frontier *other)
{
    if (!resize(frontier, other->count))
        return false;
    frontier->count = other->count;
    if (other->count > 0)
        memcpy(frontier->nodes, other->nodes,
               other->count * sizeof(struct node *));
    return true;
}

const CUgraphNode *frontier_handles(struct frontier *frontier)
{
    CUgraphNode *handles =
        realloc(frontier->handles, (frontier->count + 1) * sizeof(CUgraphNode));
    size_t i;

    if (handles == NULL)
        return NULL;
    frontier->handles = handles;
    for (i = 0; i < frontier->count; i++)
        handles[i] = (CUgraphNode)(uintptr_t)frontier->nodes[i]->handle;
    return handles;
}

void frontier_clear(struct frontier *frontier)
{
    free(frontier->handles);
    free(frontier->nodes);
    frontier->handles = NULL;
    frontier->nodes = NULL;
    frontier->count = 0;
}
