/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Graphs, executable graphs, and the user's objects that live as long as they.
 *
 *     graph ──> node, node, ...         exec ──> action, action, ...
 *       └─ holding ──> user object <── holding ─┘
 *
 * Invariants: nodes are in an order in which they can be done, since each depends
 * on earlier ones only. A user object's references are its owners' and those of
 * all holdings; the last one calls its destructor, once nobody holds the lock. An
 * executable graph stays until its launches are done.
 * Nothing that is captured is staged, and no launch is captured: so actions can be
 * copied as they are.
 */
#ifndef CUDASIM_GRAPH_H
#define CUDASIM_GRAPH_H

#include "entry.h"
#include "frontier.h"
#include "stream.h"

struct node {
    uint64_t handle;
    struct action action;
    struct frontier dependencies;
    bool reached; /* while reachability is found out */
};

struct user_object {
    struct item handle;
    uint64_t owned; /* references of the user's */
    uint64_t held;  /* references of holdings */
    struct call destructor;
};

struct holding {
    struct holding *next;
    struct user_object *object;
    uint64_t references;
};

struct graph {
    struct item handle;
    struct node **nodes;
    size_t count;
    size_t capacity;
    struct holding *holdings;
    bool capturing;
};

struct graph_exec {
    struct item handle;
    struct action *actions;
    size_t count;
    struct holding *holdings;
    uint64_t users; /* its owner, and launches */
};

extern struct index graphs;
extern struct index graph_execs;
extern struct index user_objects;

struct graph *graph_create(void);
void graph_destroy(struct graph *graph);

/* A graph by its handle, with one counted as bogus; NULL: none. */
struct graph *graph_find(CUgraph handle);

/* Add a node that depends on a frontier; the graph owns what the action does. NULL:
 * no host memory, and nothing changed. */
struct node *graph_add(struct graph *graph, const struct action *action,
                       const struct frontier *dependencies);

/* Whether every node is, or is needed by, one of a frontier. */
bool graph_joined(struct graph *graph, const struct frontier *frontier);

/* Whether something is true of one of the actions. */
bool graph_exec_any(const struct graph_exec *exec,
                    bool (*is)(const struct action *action));

/* Do the actions of an executable graph, and drop one of its users. */
CUresult graph_exec_run(const struct graph_exec *exec, int device,
                        struct moment moment);
void graph_exec_put(struct graph_exec *exec);

/* Hold references of an object, as another holding does; drop them. */
CUresult holding_add(struct holding **holdings, struct user_object *object,
                     uint64_t references);
CUresult holding_copy(struct holding **holdings, const struct holding *other);
CUresult holding_drop(struct holding **holdings, struct user_object *object,
                      uint64_t references);
void holding_clear(struct holding **holdings);

void graph_clear(void);
void graph_exec_clear(void);
void user_object_clear(void);

#endif
