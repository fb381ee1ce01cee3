/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <stdint.h>

/* From so many slots on it pays to let other threads run meanwhile. */
#define MANY 1024

static void **room_for(size_t n)
{
    void **addresses = NULL;

    if (n <= PY_SSIZE_T_MAX / sizeof(void *))
        addresses = PyMem_Malloc(n * sizeof(void *));
    if (addresses == NULL)
        PyErr_NoMemory();
    return addresses;
}

static enum ashlar_status take(struct pool_object *pool, void **addresses,
                               size_t n)
{
    struct ashlar_pool *open = pool->pool;
    enum ashlar_status status;
    PyThreadState *thread;

    if (n < MANY)
        return ashlar_pool_get_bulk(open, addresses, n);
    thread = pool_leave_python(pool);
    status = ashlar_pool_get_bulk(open, addresses, n);
    pool_enter_python(pool, thread);
    return status;
}

/* A list of Slots; those that found no object are put again. */
static PyObject *list_of(struct pool_object *pool, void **addresses, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    size_t i = 0;

    for (; list != NULL && i < n; i++) {
        PyObject *slot = slot_new(pool, addresses[i]);

        if (slot == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, slot);
    }
    if (list == NULL) {
        i -= i > 0;
        ashlar_pool_put_bulk(pool->pool, addresses + i, n - i, NULL);
    }
    return list;
}

PyObject *pool_get_many(PyObject *self, PyObject *number)
{
    struct pool_object *pool = (struct pool_object *)self;
    PyObject *list = NULL;
    void **addresses;
    size_t n;

    if (pool_open(pool) == NULL || !core_count(pool->state, number, "n", &n))
        return NULL;
    if (n > ASHLAR_POOL_SLOTS_MAX)
        return core_raise_as(pool->state, ASHLAR_ERR_INVALID,
                             "n is %zu; a pool has at most %zu slots", n,
                             ASHLAR_POOL_SLOTS_MAX);
    addresses = room_for(n);
    if (addresses == NULL)
        return NULL;
    if (take(pool, addresses, n) == ASHLAR_OK)
        list = list_of(pool, addresses, n);
    else
        core_raise(pool->state);
    PyMem_Free(addresses);
    return list;
}

/* Slot i of the list, if it is one that this pool can take back. */
static struct hold *returnable(struct pool_object *pool, PyObject *list,
                               Py_ssize_t i)
{
    PyObject *item = PyList_GetItem(list, i);
    struct hold *hold;

    if (item == NULL)
        return NULL;
    if (Py_TYPE(item) != pool->state->slot_type) {
        PyErr_Format(PyExc_TypeError, "element %zd is no Slot: %R", i, item);
        return NULL;
    }
    hold = &((struct slot_object *)item)->hold;
    if (hold->released) {
        core_raise_as(pool->state, ASHLAR_ERR_NOT_LIVE,
                      "element %zd was released already", i);
        return NULL;
    }
    if (hold->pool != pool) {
        core_raise_as(pool->state, ASHLAR_ERR_WRONG_OWNER,
                      "element %zd is a slot of another pool", i);
        return NULL;
    }
    return hold;
}

/* Nothing runs in between that could change a slot: no Python, no unlock. */
static bool put_all(struct pool_object *pool, PyObject *list, void **addresses)
{
    Py_ssize_t n = PyList_Size(list), i;
    size_t count = 0;

    for (i = 0; i < n; i++) {
        struct hold *hold = returnable(pool, list, i);

        if (hold == NULL)
            return false;
        if (hold->views == 0)
            addresses[count++] = hold->address;
    }
    /* Refuses a slot that is there twice. */
    if (count > 0 &&
        ashlar_pool_put_bulk(pool->pool, addresses, count, NULL) != ASHLAR_OK) {
        core_raise(pool->state);
        return false;
    }
    for (i = 0; i < n; i++) {
        struct hold *hold = returnable(pool, list, i);

        if (hold == NULL) {
            /* There twice, with a view: released, which is what was asked. */
            PyErr_Clear();
        } else if (hold->views > 0) {
            hold->released = true;
        } else {
            hold_was_put(hold);
        }
    }
    return true;
}

PyObject *pool_put_many(PyObject *self, PyObject *slots)
{
    struct pool_object *pool = (struct pool_object *)self;
    PyObject *list = PySequence_List(slots);
    void **addresses;
    bool done;

    if (list == NULL)
        return NULL;
    addresses = room_for((size_t)PyList_Size(list));
    if (addresses == NULL) {
        Py_DECREF(list);
        return NULL;
    }
    done = put_all(pool, list, addresses);
    PyMem_Free(addresses);
    Py_DECREF(list);
    if (!done)
        return NULL;
    Py_RETURN_NONE;
}
