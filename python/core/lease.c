/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

static struct lease *lease_of(PyObject *self)
{
    return &((struct lease_object *)self)->lease;
}

void lease_start(struct lease *lease, const struct lease_kind *kind,
                 struct stand_object *owner, const void *address, size_t bytes)
{
    Py_INCREF((PyObject *)owner);
    stand_hold(&owner->stand, kind->stander);
    lease->kind = kind;
    lease->owner = owner;
    lease->address = (char *)address;
    lease->bytes = (Py_ssize_t)bytes;
    lease->views = 0;
    lease->released = false;
}

void lease_was_given(struct lease *lease)
{
    struct stand_object *owner = lease->owner;

    lease->released = true;
    lease->owner = NULL;
    lease->address = NULL;
    stand_drop(&owner->stand, lease->kind->stander);
    Py_DECREF((PyObject *)owner);
}

/* Refused, as while its fences cannot be made, it stays as it is. */
static bool give(struct lease *lease)
{
    enum ashlar_status status = lease->kind->give(lease->owner, lease->address);

    if (status != ASHLAR_OK && status != ASHLAR_ERR_FORKED)
        return false;
    lease_was_given(lease);
    return true;
}

static PyObject *release(struct lease *lease)
{
    struct core_state *state = lease->owner->stand.state;

    if (lease->views == 0 && !give(lease))
        return core_raise(state);
    lease->released = true;
    Py_RETURN_NONE;
}

PyObject *lease_release(struct lease *lease, PyObject *self)
{
    if (lease->released)
        return core_raise_for(
            self, ASHLAR_ERR_NOT_LIVE, "this %s was released already%s",
            lease->kind->name,
            lease->owner == NULL ? "" : ", and goes back with its last view");
    return release(lease);
}

/* Nobody is left who could try again: what stays is told. */
void lease_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct lease *lease = lease_of(self);

    if (lease->owner != NULL && !give(lease)) {
        core_unraisable(self);
        lease_was_given(lease);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

char *lease_address(struct lease *lease, PyObject *self)
{
    if (lease->released) {
        core_raise_for(self, ASHLAR_ERR_NOT_LIVE,
                       "this %s was released: its address is no longer yours",
                       lease->kind->name);
        return NULL;
    }
    return lease->address;
}

int lease_fill(struct lease *lease, PyObject *self, Py_buffer *view,
               bool readonly, int flags)
{
    char *address = lease_address(lease, self);

    view->obj = NULL;
    if (address == NULL || PyBuffer_FillInfo(view, self, address, lease->bytes,
                                             readonly, flags) < 0)
        return -1;
    lease->views++;
    return 0;
}

/* --- what Python sees of all of them ------------------------------------- */

void lease_releasebuffer(PyObject *self, Py_buffer *view)
{
    struct lease *lease = lease_of(self);

    (void)view;
    lease->views--;
    if (lease->views == 0 && lease->released && !give(lease))
        core_unraisable(self);
}

PyObject *lease_enter_with(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (lease_address(lease_of(self), self) == NULL)
        return NULL;
    Py_INCREF(self);
    return self;
}

PyObject *lease_exit_with(PyObject *self, PyObject *const *unused,
                          Py_ssize_t count)
{
    (void)unused;
    (void)count;
    if (lease_of(self)->released)
        Py_RETURN_NONE;
    return release(lease_of(self));
}

PyObject *lease_int(PyObject *self)
{
    char *address = lease_address(lease_of(self), self);

    return address == NULL ? NULL : PyLong_FromVoidPtr(address);
}

PyObject *lease_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return lease_int(self);
}

PyObject *lease_get_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(lease_of(self)->bytes);
}

PyObject *lease_get_released(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(lease_of(self)->released);
}
