/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

static struct hold *hold_of(PyObject *self)
{
    return &((struct slot_object *)self)->hold;
}

PyObject *slot_new(struct pool_object *pool, void *address)
{
    struct slot_object *slot =
        PyObject_New(struct slot_object, pool->state->slot_type);

    if (slot == NULL)
        return NULL;
    hold_start(&slot->hold, pool, address, 0);
    return (PyObject *)slot;
}

static void slot_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    hold_end(hold_of(self), self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *slot_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    return hold_release(hold_of(self), self);
}

static PyObject *slot_zero(PyObject *self, PyObject *unused)
{
    struct hold *hold = hold_of(self);

    (void)unused;
    return hold_zero(hold, self, hold->released ? 0 : hold->pool->size);
}

static PyObject *slot_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (hold_address(hold_of(self), self) == NULL)
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *slot_exit(PyObject *self, PyObject *const *unused,
                           Py_ssize_t count)
{
    (void)unused;
    (void)count;
    return hold_exit(hold_of(self));
}

static PyObject *slot_int(PyObject *self)
{
    return hold_address_number(hold_of(self), self);
}

static PyObject *slot_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return hold_address_number(hold_of(self), self);
}

static PyObject *slot_get_released(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(hold_of(self)->released);
}

static PyObject *slot_get_pool(PyObject *self, void *unused)
{
    struct hold *hold = hold_of(self);

    (void)unused;
    if (hold_address(hold, self) == NULL)
        return NULL;
    Py_INCREF((PyObject *)hold->pool);
    return (PyObject *)hold->pool;
}

static PyObject *slot_repr(PyObject *self)
{
    struct hold *hold = hold_of(self);

    if (hold->pool == NULL)
        return PyUnicode_FromString("<ashlar.Slot, released>");
    if (hold->released)
        return PyUnicode_FromFormat(
            "<ashlar.Slot of %s, released, goes back with its last view>",
            hold->pool->type_name);
    return PyUnicode_FromFormat("<ashlar.Slot of %s at %p>",
                                hold->pool->type_name, hold->address);
}

static int slot_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    struct hold *hold = hold_of(self);
    char *address = hold_address(hold, self);

    view->obj = NULL;
    if (address == NULL ||
        PyBuffer_FillInfo(view, self, address, hold->pool->size, 0, flags) < 0)
        return -1;
    hold->views++;
    return 0;
}

static void slot_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)view;
    hold_forget_view(hold_of(self), self);
}

static PyMethodDef slot_methods[] = {
    {"release", slot_release, METH_NOARGS,
     PyDoc_STR("release($self, /)\n--\n\n"
               "Give the slot back to its pool.\n\n"
               "While a memoryview (or a numpy array) of it is held, the\n"
               "memory stays with that view, and goes back with the last one.\n"
               "A second release() raises Error, whose status is NOT_LIVE.")},
    {"zero", slot_zero, METH_NOARGS,
     PyDoc_STR("zero($self, /)\n--\n\n"
               "Fill the slot with zeros. A slot's bytes are unspecified when\n"
               "it is got.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", slot_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))slot_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef slot_members[] = {
    {"address", slot_get_address, NULL,
     PyDoc_STR("Where the slot is, a multiple of its type's alignment.\n"
               "It never changes. Raises Error once released."),
     NULL},
    {"released", slot_get_released, NULL,
     PyDoc_STR("Whether release() was called, or a `with` ended."), NULL},
    {"pool", slot_get_pool, NULL,
     PyDoc_STR("The pool it is from. Raises Error once released."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(slot_doc,
             "Room for one object of a pool's type, at its alignment.\n\n"
             "Pool.get() and Pool.get_many() make it. It is writable memory: "
             "memoryview(slot) and\nnumpy.asarray(slot) show the object's "
             "bytes, bytes(slot) copies them. int(slot) is its address.\n\n"
             "It goes back to its pool by release(), at the end of a `with`, "
             "or when nothing refers to it\nany more; until then it keeps its "
             "pool alive.");

static PyType_Slot slot_slots[] = {
    {Py_tp_doc, (void *)slot_doc},
    {Py_tp_dealloc, slot_dealloc},
    {Py_tp_repr, slot_repr},
    {Py_tp_methods, slot_methods},
    {Py_tp_getset, slot_members},
    {Py_nb_int, slot_int},
    {Py_bf_getbuffer, slot_getbuffer},
    {Py_bf_releasebuffer, slot_releasebuffer},
    {0, NULL},
};

PyType_Spec slot_spec = {
    .name = "ashlar.Slot",
    .basicsize = sizeof(struct slot_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slot_slots,
};
