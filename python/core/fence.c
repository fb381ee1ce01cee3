/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Fences, as ashlar.Fence has them: a tuple of kind, handle and source. */
#include "core.h"

#include <string.h>

static bool read_kind(struct core_state *state, PyObject *given,
                      uint32_t *kind_out)
{
    static const char *const kinds[] = {
        [ASHLAR_FENCE_QUIET] = "quiet", [ASHLAR_FENCE_STREAM] = "stream",
        [ASHLAR_FENCE_EVENT] = "event", [ASHLAR_FENCE_CAPTURE] = "capture",
        [ASHLAR_FENCE_GRAPH] = "graph",
    };
    const char *text = PyUnicode_Check(given) ? core_text(given) : NULL;
    uint32_t kind;

    for (kind = 1; text != NULL && kind <= ASHLAR_FENCE_GRAPH; kind++)
        if (strcmp(text, kinds[kind]) == 0) {
            *kind_out = kind;
            return true;
        }
    if (PyErr_Occurred() == NULL)
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "a fence's kind is %R; it is \"quiet\", \"stream\", "
                      "\"event\", \"capture\" or \"graph\"",
                      given);
    return false;
}

static bool read_one(struct core_state *state, PyObject *given,
                     struct fences *fences)
{
    struct ashlar_fence *fence = &fences->fence[fences->n];
    struct source_object *source = NULL;
    PyObject *owner;
    uint64_t handle = 0;

    memset(fence, 0, sizeof(*fence));
    if (PyTuple_Size(given) != 3) {
        PyErr_Format(PyExc_TypeError, "%R is no fence", given);
        return false;
    }
    if (!read_kind(state, PyTuple_GetItem(given, 0), &fence->kind) ||
        !core_number(state, PyTuple_GetItem(given, 1), "a fence's handle",
                     &handle))
        return false;
    fence->handle = handle;
    owner = PyTuple_GetItem(given, 2);
    if (owner != Py_None) {
        source = source_of(state, owner);
        if (source == NULL)
            return false;
        fence->source = source->stand.object;
        stand_hold(&source->stand, STANDS_FENCE);
        Py_INCREF(owner);
    }
    fences->source[fences->n++] = source;
    return true;
}

static bool read_item(struct core_state *state, PyObject *item,
                      struct fences *fences)
{
    int is_fence = PyObject_IsInstance(item, state->fence);

    if (is_fence < 0)
        return false;
    if (is_fence == 0) {
        PyErr_Format(PyExc_TypeError,
                     "%R is no fence: give ashlar.QUIET, ashlar.after(stream), "
                     "ashlar.after_event(event), or a list of such",
                     item);
        return false;
    }
    if (fences->n == FENCES_MOST) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "there are more than %d fences: join the streams first",
                      FENCES_MOST);
        return false;
    }
    return read_one(state, item, fences);
}

static bool read_list(struct core_state *state, PyObject *given,
                      struct fences *fences)
{
    Py_ssize_t n = PyList_Size(given), i;

    if (n == 0) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "there are no fences; ashlar.QUIET says that nobody uses "
                      "it any more");
        return false;
    }
    for (i = 0; i < n; i++)
        if (!read_item(state, PyList_GetItem(given, i), fences))
            return false;
    return true;
}

bool fences_read(struct core_state *state, PyObject *given,
                 struct fences *fences)
{
    int is_fence = PyObject_IsInstance(given, state->fence);
    PyObject *list;
    bool right;

    fences->n = 0;
    if (is_fence < 0)
        return false;
    if (is_fence > 0 || !PySequence_Check(given)) {
        right = read_item(state, given, fences);
    } else {
        list = PySequence_List(given);
        right = list != NULL && read_list(state, list, fences);
        Py_XDECREF(list);
    }
    if (!right)
        fences_forget(fences);
    return right;
}

void fences_forget(struct fences *fences)
{
    while (fences->n > 0) {
        struct source_object *source = fences->source[--fences->n];

        if (source == NULL)
            continue;
        stand_drop(&source->stand, STANDS_FENCE);
        Py_DECREF((PyObject *)source);
    }
}

void fences_quiet(struct fences *fences)
{
    fences->fence[0] = ashlar_fence_quiet;
    fences->source[0] = NULL;
    fences->n = 1;
}

bool fences_read_at_end(struct core_state *state, PyObject *given,
                        struct fences *fences)
{
    fences_quiet(fences);
    return given == NULL || given == Py_None ||
           fences_read(state, given, fences);
}
