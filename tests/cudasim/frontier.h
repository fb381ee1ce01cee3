/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The last nodes of what was captured: whatever comes next depends on them.
 *
 * Invariants: no node twice. The nodes belong to their graph.
 */
#ifndef CUDASIM_FRONTIER_H
#define CUDASIM_FRONTIER_H

#include <stdbool.h>
#include <stddef.h>

#include <cuda.h>

struct node;

struct frontier {
    struct node **nodes;
    size_t count;
    CUgraphNode *handles; /* of the nodes, for a caller; NULL: nobody asked */
};

/* Each returns false if there is no host memory, and changes nothing then. */
bool frontier_set(struct frontier *frontier, struct node *node);
bool frontier_merge(struct frontier *frontier, const struct frontier *other);
bool frontier_copy(struct frontier *frontier, const struct frontier *other);

/* The handles of its nodes, until it changes. NULL: no host memory. */
const CUgraphNode *frontier_handles(struct frontier *frontier);

void frontier_clear(struct frontier *frontier);

#endif
