/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Objects of the user's that live as long as graphs need them. */
#include "config.h"

#include <stdlib.h>

#include "graph.h"

struct index user_objects;

static struct user_object *find(CUuserObject handle)
{
    struct user_object *object =
        index_find(&user_objects, (uint64_t)(uintptr_t)handle);

    machine.bogus += object == NULL;
    return object;
}

static void free_unused(struct user_object *object)
{
    if (object->owned > 0 || object->held > 0)
        return;
    index_remove(&user_objects, &object->handle);
    leave_calling(&object->destructor);
}

static struct holding **find_holding(struct holding **holdings,
                                     const struct user_object *object)
{
    while (*holdings != NULL && (*holdings)->object != object)
        holdings = &(*holdings)->next;
    return holdings;
}

CUresult holding_add(struct holding **holdings, struct user_object *object,
                     uint64_t references)
{
    struct holding **place = find_holding(holdings, object);

    if (*place == NULL) {
        *place = calloc(1, sizeof(struct holding));
        if (*place == NULL)
            return CUDA_ERROR_OUT_OF_MEMORY;
        (*place)->object = object;
    }
    (*place)->references += references;
    object->held += references;
    return CUDA_SUCCESS;
}

CUresult holding_copy(struct holding **holdings, const struct holding *other)
{
    CUresult result = CUDA_SUCCESS;

    for (; other != NULL && result == CUDA_SUCCESS; other = other->next)
        result = holding_add(holdings, other->object, other->references);
    return result;
}

CUresult holding_drop(struct holding **holdings, struct user_object *object,
                      uint64_t references)
{
    struct holding **place = find_holding(holdings, object);
    struct holding *holding = *place;

    if (holding == NULL || holding->references < references)
        return CUDA_ERROR_INVALID_VALUE;
    holding->references -= references;
    if (holding->references == 0) {
        *place = holding->next;
        free(holding);
    }
    object->held -= references;
    free_unused(object);
    return CUDA_SUCCESS;
}

void holding_clear(struct holding **holdings)
{
    struct holding *holding;

    while (*holdings != NULL) {
        holding = *holdings;
        *holdings = holding->next;
        holding->object->held -= holding->references;
        free_unused(holding->object);
        free(holding);
    }
}

static CUresult create(CUuserObject *handle, void *user, CUhostFn destructor,
                       unsigned references, unsigned flags)
{
    struct user_object *object;

    if (handle == NULL || destructor == NULL || references == 0 ||
        references > INT32_MAX || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    object = machine_object(&user_objects, sizeof(*object));
    if (object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->owned = references;
    object->destructor = (struct call){NULL, destructor, user, object};
    *handle = (CUuserObject)(uintptr_t)object->handle.start;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuUserObjectCreate(CUuserObject *object, void *user,
                                    CUhostFn destructor, unsigned references,
                                    unsigned flags)
{
    CUresult result;

    if (enter("cuUserObjectCreate", &result))
        result = leave(create(object, user, destructor, references, flags));
    return result;
}

static CUresult retain(CUuserObject handle, unsigned references)
{
    struct user_object *object = find(handle);

    if (object == NULL || references == 0 || references > INT32_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    object->owned += references;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuUserObjectRetain(CUuserObject object, unsigned references)
{
    CUresult result;

    if (enter("cuUserObjectRetain", &result))
        result = leave(retain(object, references));
    return result;
}

static CUresult release(CUuserObject handle, unsigned references)
{
    struct user_object *object = find(handle);

    if (object == NULL || references == 0 || references > object->owned)
        return CUDA_ERROR_INVALID_VALUE;
    object->owned -= references;
    free_unused(object);
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuUserObjectRelease(CUuserObject object, unsigned references)
{
    CUresult result;

    if (enter("cuUserObjectRelease", &result))
        result = leave(release(object, references));
    return result;
}

/* Moved references are the caller's own, which it has no longer. */
static CUresult graph_retain(CUgraph graph_handle, CUuserObject handle,
                             unsigned references, unsigned flags)
{
    struct graph *graph = graph_find(graph_handle);
    struct user_object *object = find(handle);
    CUresult result;

    if (graph == NULL || object == NULL || references == 0 ||
        references > INT32_MAX ||
        (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) != 0 ||
        (flags != 0 && references > object->owned))
        return CUDA_ERROR_INVALID_VALUE;
    result = holding_add(&graph->holdings, object, references);
    if (result == CUDA_SUCCESS && flags == CU_GRAPH_USER_OBJECT_MOVE)
        object->owned -= references;
    return result;
}

CUresult CUDAAPI cuGraphRetainUserObject(CUgraph graph, CUuserObject object,
                                         unsigned references, unsigned flags)
{
    CUresult result;

    if (enter("cuGraphRetainUserObject", &result))
        result = leave(graph_retain(graph, object, references, flags));
    return result;
}

static CUresult graph_release(CUgraph graph_handle, CUuserObject handle,
                              unsigned references)
{
    struct graph *graph = graph_find(graph_handle);
    struct user_object *object = find(handle);

    if (graph == NULL || object == NULL || references == 0)
        return CUDA_ERROR_INVALID_VALUE;
    return holding_drop(&graph->holdings, object, references);
}

CUresult CUDAAPI cuGraphReleaseUserObject(CUgraph graph, CUuserObject object,
                                          unsigned references)
{
    CUresult result;

    if (enter("cuGraphReleaseUserObject", &result))
        result = leave(graph_release(graph, object, references));
    return result;
}

/* Nobody is called back: whoever forgets all knows. */
void user_object_clear(void)
{
    while (user_objects.count > 0) {
        free(user_objects.items[user_objects.count - 1]);
        user_objects.count--;
    }
    index_clear(&user_objects);
}
