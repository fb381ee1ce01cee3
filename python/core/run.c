/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

/* --- the run ------------------------------------------------------------- */

static struct run_object *run_of(PyObject *self)
{
    return (struct run_object *)self;
}

static struct hold *hold_of(PyObject *self)
{
    return &run_of(self)->hold;
}

PyObject *run_new(struct pool_object *pool, void *address, Py_ssize_t slots)
{
    struct run_object *run =
        PyObject_New(struct run_object, pool->state->run_type);

    if (run == NULL)
        return NULL;
    hold_start(&run->hold, pool, address, slots);
    run->shape[0] = slots;
    run->shape[1] = pool->stride;
    run->strides[0] = pool->stride;
    run->strides[1] = 1;
    return (PyObject *)run;
}

static void run_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    hold_end(hold_of(self), self);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *run_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    return hold_release(hold_of(self), self);
}

static PyObject *run_zero(PyObject *self, PyObject *unused)
{
    (void)unused;
    return hold_zero(hold_of(self), self,
                     run_of(self)->shape[0] * run_of(self)->shape[1]);
}

static PyObject *run_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (hold_address(hold_of(self), self) == NULL)
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *run_exit(PyObject *self, PyObject *const *unused,
                          Py_ssize_t count)
{
    (void)unused;
    (void)count;
    return hold_exit(hold_of(self));
}

static PyObject *run_int(PyObject *self)
{
    return hold_address_number(hold_of(self), self);
}

static PyObject *run_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return hold_address_number(hold_of(self), self);
}

static PyObject *run_get_addresses(PyObject *self, void *unused)
{
    char *address = hold_address(hold_of(self), self);
    Py_ssize_t start, stride = run_of(self)->shape[1];

    (void)unused;
    if (address == NULL)
        return NULL;
    start = (Py_ssize_t)address;
    return PyObject_CallFunction((PyObject *)&PyRange_Type, "nnn", start,
                                 start + run_of(self)->shape[0] * stride,
                                 stride);
}

static PyObject *run_get_released(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(hold_of(self)->released);
}

static PyObject *run_get_stride(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(run_of(self)->shape[1]);
}

static PyObject *run_get_pool(PyObject *self, void *unused)
{
    (void)unused;
    if (hold_address(hold_of(self), self) == NULL)
        return NULL;
    Py_INCREF((PyObject *)hold_of(self)->pool);
    return (PyObject *)hold_of(self)->pool;
}

static PyObject *run_repr(PyObject *self)
{
    struct hold *hold = hold_of(self);

    if (hold->pool == NULL)
        return PyUnicode_FromFormat("<ashlar.Run of %zd, released>",
                                    hold->slots);
    if (hold->released)
        return PyUnicode_FromFormat(
            "<ashlar.Run of %zd %s, released, goes back with its last view>",
            hold->slots, hold->pool->type_name);
    return PyUnicode_FromFormat("<ashlar.Run of %zd %s at %p>", hold->slots,
                                hold->pool->type_name, hold->address);
}

/* Rows of bytes to whoever asks for a shape, else bytes. */
static int run_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    struct run_object *run = run_of(self);
    char *address = hold_address(&run->hold, self);
    Py_ssize_t bytes = run->shape[0] * run->shape[1];
    bool by_columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;

    view->obj = NULL;
    if (address == NULL)
        return -1;
    if (by_columns && run->shape[0] != 1 && run->shape[1] != 1) {
        PyErr_SetString(PyExc_BufferError,
                        "a run's bytes lie row by row (C order)");
        return -1;
    }
    if (PyBuffer_FillInfo(view, self, address, bytes, 0, flags) < 0)
        return -1;
    if ((flags & PyBUF_ND) == PyBUF_ND) {
        view->ndim = 2;
        view->shape = run->shape;
        if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
            view->strides = run->strides;
    }
    run->hold.views++;
    return 0;
}

static void run_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)view;
    hold_forget_view(hold_of(self), self);
}

static Py_ssize_t run_length(PyObject *self)
{
    return run_of(self)->shape[0];
}

/* --- a row: one slot of a run -------------------------------------------- */

struct row_object {
    PyObject_HEAD struct run_object
        *run; /* its hold counts this row as a view */
    char *address;
    Py_ssize_t size;
    const char *type_name;
};

static struct row_object *row_of(PyObject *self)
{
    return (struct row_object *)self;
}

static PyObject *run_item(PyObject *self, Py_ssize_t index)
{
    struct run_object *run = run_of(self);
    char *address = hold_address(&run->hold, self);
    struct pool_object *pool = run->hold.pool;
    struct row_object *row;

    if (address == NULL)
        return NULL;
    if (index < 0 || index >= run->shape[0]) {
        PyErr_Format(PyExc_IndexError, "there are %zd slots in this run",
                     run->shape[0]);
        return NULL;
    }
    row = PyObject_New(struct row_object, pool->state->row_type);
    if (row == NULL)
        return NULL;
    Py_INCREF((PyObject *)run);
    run->hold.views++;
    row->run = run;
    row->address = address + index * pool->stride;
    row->size = pool->size;
    row->type_name = pool->type_name;
    return (PyObject *)row;
}

static void row_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject *run = (PyObject *)row_of(self)->run;

    hold_forget_view(hold_of(run), run);
    Py_DECREF(run);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyObject *row_int(PyObject *self)
{
    return PyLong_FromVoidPtr(row_of(self)->address);
}

static PyObject *row_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return row_int(self);
}

static PyObject *row_get_run(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF((PyObject *)row_of(self)->run);
    return (PyObject *)row_of(self)->run;
}

static PyObject *row_repr(PyObject *self)
{
    struct row_object *row = row_of(self);

    return PyUnicode_FromFormat("<ashlar.Row of %s at %p>", row->type_name,
                                row->address);
}

/* A view refers to the row, and the row to the run: nothing to count. */
static int row_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    return PyBuffer_FillInfo(view, self, row_of(self)->address,
                             row_of(self)->size, 0, flags);
}

/* --- what Python sees ---------------------------------------------------- */

static PyMethodDef run_methods[] = {
    {"release", run_release, METH_NOARGS,
     PyDoc_STR("release($self, /)\n--\n\n"
               "Give the run back to its pool, whole.\n\n"
               "While a view or a row of it is held, the memory stays with\n"
               "that, and goes back with the last one. A second release()\n"
               "raises Error, whose status is NOT_LIVE.")},
    {"zero", run_zero, METH_NOARGS,
     PyDoc_STR("zero($self, /)\n--\n\n"
               "Fill the run with zeros. Its bytes are unspecified when it is\n"
               "got.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", run_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))run_exit, METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef run_members[] = {
    {"address", run_get_address, NULL,
     PyDoc_STR("Where slot 0 is; slot i is i strides behind it.\n"
               "It never changes. Raises Error once released."),
     NULL},
    {"addresses", run_get_addresses, NULL,
     PyDoc_STR("Where the slots are, a range of integers. Raises Error once\n"
               "released."),
     NULL},
    {"stride", run_get_stride, NULL, PyDoc_STR("Bytes from slot to slot."),
     NULL},
    {"released", run_get_released, NULL,
     PyDoc_STR("Whether release() was called, or a `with` ended."), NULL},
    {"pool", run_get_pool, NULL,
     PyDoc_STR("The pool it is from. Raises Error once released."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(run_doc,
             "Slots side by side, behind one address.\n\n"
             "Pool.run() makes it. run[i] is its slot i, a Row; run.addresses "
             "has all addresses. It is\nwritable memory: memoryview(run) and "
             "numpy.asarray(run) show len(run) rows of `stride`\nbytes. "
             "int(run) is the address of slot 0.\n\n"
             "It goes back to its pool by release(), at the end of a `with`, "
             "or when nothing refers to it\nany more; until then it keeps its "
             "pool alive.");

static PyType_Slot run_slots[] = {
    {Py_tp_doc, (void *)run_doc},
    {Py_tp_dealloc, run_dealloc},
    {Py_tp_repr, run_repr},
    {Py_tp_methods, run_methods},
    {Py_tp_getset, run_members},
    {Py_nb_int, run_int},
    {Py_tp_iter, PySeqIter_New},
    {Py_sq_length, run_length},
    {Py_sq_item, run_item},
    {Py_bf_getbuffer, run_getbuffer},
    {Py_bf_releasebuffer, run_releasebuffer},
    {0, NULL},
};

PyType_Spec run_spec = {
    .name = "ashlar.Run",
    .basicsize = sizeof(struct run_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = run_slots,
};

static PyMethodDef row_methods[] = {
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef row_members[] = {
    {"address", row_get_address, NULL,
     PyDoc_STR("Where it is, a multiple of its type's alignment."), NULL},
    {"run", row_get_run, NULL, PyDoc_STR("The run it is in."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(row_doc,
             "One slot of a run: run[i].\n\n"
             "It is writable memory, as a Slot; it goes back with its run, "
             "which waits for it.");

static PyType_Slot row_slots[] = {
    {Py_tp_doc, (void *)row_doc},     {Py_tp_dealloc, row_dealloc},
    {Py_tp_repr, row_repr},           {Py_tp_methods, row_methods},
    {Py_tp_getset, row_members},      {Py_nb_int, row_int},
    {Py_bf_getbuffer, row_getbuffer}, {0, NULL},
};

PyType_Spec row_spec = {
    .name = "ashlar.Row",
    .basicsize = sizeof(struct row_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = row_slots,
};
