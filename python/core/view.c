/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

/* Its sight is in the range's list as long as it lives. */
struct view_object {
    PyObject_HEAD struct range_object *range;
    struct range_sight sight;
    uint64_t offset;
};

static struct view_object *view_of(PyObject *self)
{
    return (struct view_object *)self;
}

PyObject *view_new(struct range_object *range, uint64_t offset, uint64_t bytes,
                   bool ahead)
{
    struct view_object *view =
        PyObject_New(struct view_object, range->stand.state->view_type);

    if (view == NULL)
        return NULL;
    view->range = NULL;
    view->offset = offset;
    if (!range_see(range, &view->sight, offset, bytes, ahead)) {
        Py_DECREF((PyObject *)view);
        return NULL;
    }
    Py_INCREF((PyObject *)range);
    view->range = range;
    return (PyObject *)view;
}

static void view_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct view_object *view = view_of(self);

    if (view->range != NULL) {
        range_unsee(view->range, &view->sight);
        Py_DECREF((PyObject *)view->range);
    }
    PyObject_Free(self);
    Py_DECREF(type);
}

static struct source_object *source_under(const struct view_object *view)
{
    return (struct source_object *)view->range->stand.base;
}

/* A buffer refers to the view: nothing to count. */
static int view_getbuffer(PyObject *self, Py_buffer *buffer, int flags)
{
    buffer->obj = NULL;
    return range_fill(view_of(self)->range, buffer, self, &view_of(self)->sight,
                      flags);
}

static PyObject *view_int(PyObject *self)
{
    return PyLong_FromUnsignedLongLong(view_of(self)->sight.address);
}

static PyObject *view_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return view_int(self);
}

static PyObject *view_get_bytes(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(view_of(self)->sight.bytes);
}

static PyObject *view_get_offset(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(view_of(self)->offset);
}

static PyObject *view_get_range(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF((PyObject *)view_of(self)->range);
    return (PyObject *)view_of(self)->range;
}

static PyObject *view_get_cuda_interface(PyObject *self, void *unused)
{
    struct view_object *view = view_of(self);

    (void)unused;
    if (!source_for_kernels(source_under(view))) {
        PyErr_SetString(PyExc_AttributeError,
                        "this view is of no device's memory; it has the buffer "
                        "protocol instead");
        return NULL;
    }
    return core_cuda_interface(view->sight.address, view->sight.bytes,
                               view->range->rights != ASHLAR_RIGHTS_READ_WRITE);
}

static PyObject *view_repr(PyObject *self)
{
    struct view_object *view = view_of(self);

    return PyUnicode_FromFormat("<ashlar.RangeView of %llu bytes at %p%s>",
                                (unsigned long long)view->sight.bytes,
                                (void *)(uintptr_t)view->sight.address,
                                view->sight.ahead ? ", ahead" : "");
}

static PyMethodDef view_methods[] = {
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef view_members[] = {
    {"address", view_get_address, NULL,
     PyDoc_STR("Where it begins. It never changes."), NULL},
    {"nbytes", view_get_bytes, NULL, PyDoc_STR("Its length."), NULL},
    {"offset", view_get_offset, NULL,
     PyDoc_STR("From the range's begin, in bytes."), NULL},
    {"range", view_get_range, NULL, PyDoc_STR("The Range it is of."), NULL},
    {"__cuda_array_interface__", view_get_cuda_interface, NULL,
     PyDoc_STR("Its bytes, for CuPy, PyTorch and Numba."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(view_doc,
             "Bytes of a range that stay as long as this does: "
             "Range.view().\n\n"
             "Where the host reads them, memoryview(view) and "
             "numpy.asarray(view) show them; where a device\ndoes, "
             "cupy.asarray(view) and torch.as_tensor(view) are arrays over "
             "them, which keep the view.\nThe same bytes by another type: "
             "numpy.frombuffer(view, type), array.view(type).");

static PyType_Slot view_slots[] = {
    {Py_tp_doc, (void *)view_doc},     {Py_tp_dealloc, view_dealloc},
    {Py_tp_repr, view_repr},           {Py_tp_methods, view_methods},
    {Py_tp_getset, view_members},      {Py_nb_int, view_int},
    {Py_bf_getbuffer, view_getbuffer}, {0, NULL},
};

PyType_Spec view_spec = {
    .name = "ashlar.RangeView",
    .basicsize = sizeof(struct view_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = view_slots,
};
