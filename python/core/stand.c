/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <string.h>

static struct stand *stand_of(PyObject *self)
{
    return &((struct stand_object *)self)->stand;
}

/* --- life ---------------------------------------------------------------- */

void stand_start(struct stand *stand, struct core_state *state,
                 const struct stand_kind *kind, struct stand_object *base)
{
    memset(stand, 0, sizeof(*stand));
    stand->state = state;
    stand->kind = kind;
    stand->base = base;
    Py_XINCREF((PyObject *)base);
}

void stand_made(struct stand *stand, void *object)
{
    stand->object = object;
    if (stand->base != NULL)
        stand_hold(&stand->base->stand, stand->kind->stander);
}

static void gone(struct stand *stand)
{
    stand->object = NULL;
    if (stand->base != NULL)
        stand_drop(&stand->base->stand, stand->kind->stander);
}

/* Others may run meanwhile, and find it closed. What the parent process had
 * before fork(2) is not this one's to destroy, and gone for it. */
static enum ashlar_status destroy(struct stand *stand,
                                  const struct fences *fences)
{
    enum ashlar_status status;

    stand->calls++;
    status = stand->kind->destroy(stand, fences);
    stand->calls--;
    if (status == ASHLAR_ERR_FORKED)
        status = ASHLAR_OK;
    if (status == ASHLAR_OK)
        gone(stand);
    return status;
}

static bool is_held(const struct stand *stand)
{
    size_t i;

    for (i = 0; i < STANDERS; i++)
        if (stand->standers[i] != 0)
            return true;
    return false;
}

/* Refused, the next that is dropped tries again; at last, its end. */
static enum ashlar_status collect(struct stand *stand)
{
    if (!stand->closed || stand->object == NULL || stand->calls != 0 ||
        is_held(stand))
        return ASHLAR_OK;
    return destroy(stand, NULL);
}

void stand_end(struct stand *stand, PyObject *self)
{
    enum ashlar_status status;

    stand->closed = true;
    status = collect(stand);
    /* Busy: something waits for its fences, or C code of the process has
     * something there. Then it stays, which is what those need. */
    if (status != ASHLAR_OK && status != ASHLAR_ERR_BUSY)
        core_unraisable(self);
    if (stand->object != NULL)
        gone(stand);
    Py_XDECREF((PyObject *)stand->base);
}

void *stand_open(struct stand *stand)
{
    if (stand->closed || stand->object == NULL) {
        core_raise_as(stand->state, ASHLAR_ERR_STALE, "the %s was closed",
                      stand->kind->name);
        return NULL;
    }
    return stand->object;
}

PyThreadState *stand_leave_python(struct stand *stand)
{
    stand->calls++;
    return PyEval_SaveThread();
}

void stand_enter_python(struct stand *stand, PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
    stand_return(stand);
}

void stand_return(struct stand *stand)
{
    stand->calls--;
    collect(stand);
}

void stand_hold(struct stand *stand, enum stander stander)
{
    stand->standers[stander]++;
}

void stand_drop(struct stand *stand, enum stander stander)
{
    stand->standers[stander]--;
    collect(stand);
}

/* --- closing ------------------------------------------------------------- */

/* "2 ranges and 1 arena"; NULL and an exception when there is no memory. */
static PyObject *list_standers(const struct stand *stand)
{
    static const char *const names[STANDERS] = {
        [STANDS_RANGE] = "range", [STANDS_ARENA] = "arena",
        [STANDS_FENCE] = "fence", [STANDS_VIEW] = "view",
        [STANDS_BLOCK] = "block", [STANDS_CACHE] = "cache",
        [STANDS_MAP] = "map",     [STANDS_TABLE] = "table",
        [STANDS_LEASE] = "lease",
    };
    PyObject *list = PyUnicode_FromString("");
    size_t i, left = 0;

    for (i = 0; i < STANDERS; i++)
        left += stand->standers[i] != 0;
    for (i = 0; i < STANDERS && list != NULL; i++) {
        Py_ssize_t n = stand->standers[i];
        PyObject *longer;

        if (n == 0)
            continue;
        left--;
        longer = PyUnicode_FromFormat("%U%zd %s%s%s", list, n, names[i],
                                      n == 1 ? "" : "s",
                                      left > 1   ? ", "
                                      : left > 0 ? " and "
                                                 : "");
        Py_DECREF(list);
        list = longer;
    }
    return list;
}

/* Whether nothing is in the way; else an exception says what. */
static bool may_close(struct stand *stand)
{
    PyObject *list;

    if (stand->calls != 0) {
        core_raise_as(stand->state, ASHLAR_ERR_BUSY,
                      "the %s is in use: another thread is in a call on it",
                      stand->kind->name);
        return false;
    }
    if (!is_held(stand))
        return true;
    list = list_standers(stand);
    if (list != NULL)
        core_raise_as(stand->state, ASHLAR_ERR_BUSY,
                      "the %s is still in use by %U: close or release that "
                      "first, or let it go",
                      stand->kind->name, list);
    Py_XDECREF(list);
    return false;
}

PyObject *stand_close(struct stand *stand, const struct fences *fences)
{
    bool before = stand->closed;
    enum ashlar_status status;

    if (stand->object == NULL) {
        stand->closed = true;
        Py_RETURN_NONE;
    }
    if (!may_close(stand))
        return NULL;
    stand->closed = true;
    status = destroy(stand, fences);
    if (status != ASHLAR_OK) {
        stand->closed = before;
        return core_raise(stand->state);
    }
    Py_RETURN_NONE;
}

PyObject *stand_exit(struct stand *stand)
{
    stand->closed = true;
    collect(stand);
    Py_RETURN_NONE;
}

/* --- what Python sees of all of them ------------------------------------- */

PyObject *stand_close_after(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"after", NULL};
    struct stand *stand = stand_of(self);
    PyObject *given = NULL, *answer;
    struct fences after;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O:close",
                                     (char **)names, &given))
        return NULL;
    if (given == NULL || given == Py_None)
        return stand_close(stand, NULL);
    if (!fences_read(stand->state, given, &after))
        return NULL;
    answer = stand_close(stand, &after);
    fences_forget(&after);
    return answer;
}

PyObject *stand_close_now(PyObject *self, PyObject *unused)
{
    (void)unused;
    return stand_close(stand_of(self), NULL);
}

PyObject *stand_enter_with(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (stand_open(stand_of(self)) == NULL)
        return NULL;
    Py_INCREF(self);
    return self;
}

PyObject *stand_exit_with(PyObject *self, PyObject *const *unused,
                          Py_ssize_t count)
{
    (void)unused;
    (void)count;
    return stand_exit(stand_of(self));
}

PyObject *stand_get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(stand_of(self)->closed);
}

PyObject *stand_answer(struct stand *stand, enum ashlar_status status)
{
    if (status != ASHLAR_OK)
        return core_raise(stand->state);
    Py_RETURN_NONE;
}
