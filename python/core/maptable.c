/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The table of tensor maps, whose slots are leased: see tablelease.c. */
#include "core.h"

static struct table_object *table_of(PyObject *self)
{
    return (struct table_object *)self;
}

static struct stand *stand_of(PyObject *self)
{
    return &table_of(self)->stand;
}

/* --- life ---------------------------------------------------------------- */

static void forget_host(struct table_object *self)
{
    struct source_object *host = self->host;

    if (host == NULL)
        return;
    self->host = NULL;
    stand_drop(&host->stand, STANDS_TABLE);
    Py_DECREF((PyObject *)host);
}

static enum ashlar_status
destroy_after(void *table, const struct ashlar_fence *fences, size_t n)
{
    enum ashlar_status status;
    PyThreadState *thread = PyEval_SaveThread();

    status = ashlar_tensormap_table_destroy(table, fences, n);
    PyEval_RestoreThread(thread);
    return status;
}

/* Of a context that has failed all work is over, so nothing is to wait for. */
static enum ashlar_status table_destroy(struct stand *stand,
                                        const struct fences *fences)
{
    struct table_object *self =
        (struct table_object *)((char *)stand -
                                offsetof(struct table_object, stand));
    const struct fences *before = fences != NULL ? fences : &self->at_end;
    enum ashlar_status status =
        destroy_after(stand->object, before->fence, before->n);

    if (status == ASHLAR_ERR_CONTEXT_FAILED && fences == NULL)
        status = destroy_after(stand->object, ASHLAR_QUIET, 1);
    if (status == ASHLAR_OK || status == ASHLAR_ERR_FORKED) {
        fences_forget(&self->at_end);
        forget_host(self);
    }
    return status;
}

static const struct stand_kind table_kind = {
    .name = "table",
    .destroy = table_destroy,
    .stander = STANDS_TABLE,
};

static bool make(struct table_object *self,
                 struct ashlar_tensormap_table_options *options)
{
    struct stand *base = &self->stand.base->stand;
    struct ashlar_tensormap_table *table = NULL;
    enum ashlar_status status;
    PyThreadState *thread;

    if (stand_open(base) == NULL ||
        (self->host != NULL && stand_open(&self->host->stand) == NULL))
        return false;
    if (self->host != NULL)
        options->host = self->host->stand.object;
    thread = stand_leave_python(base);
    status = ashlar_tensormap_table_create(base->object, options, &table);
    PyEval_RestoreThread(thread);
    if (status == ASHLAR_OK)
        stand_made(&self->stand, table);
    else
        core_raise(self->stand.state);
    stand_return(base);
    return status == ASHLAR_OK;
}

struct table_arguments {
    struct ashlar_tensormap_table_options options;
    struct source_object *source, *host;
    PyObject *at_end;
};

static bool read_size(struct core_state *state, PyObject *given,
                      const char *what, size_t *count_out)
{
    return given == NULL || given == Py_None ||
           core_count(state, given, what, count_out);
}

static bool read_arguments(struct core_state *state, PyObject *args,
                           PyObject *keywords,
                           struct table_arguments *arguments)
{
    static const char *const names[] = {
        "source", "max_slots", "reserve", "staging", "host", "at_end", NULL};
    struct ashlar_tensormap_table_options *options = &arguments->options;
    PyObject *source, *max_slots = NULL, *reserve = NULL, *staging = NULL,
                      *host = NULL;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O|$OOOOO:TensorMapTable", (char **)names, &source,
            &max_slots, &reserve, &staging, &host, &arguments->at_end) ||
        !read_size(state, max_slots, "max_slots", &options->max_slots) ||
        !read_size(state, reserve, "reserve", &options->initial_slots) ||
        !read_size(state, staging, "staging", &options->staging_slots))
        return false;
    arguments->source = source_of(state, source);
    if (arguments->source == NULL)
        return false;
    if (host != NULL && host != Py_None) {
        arguments->host = source_of(state, host);
        return arguments->host != NULL;
    }
    return true;
}

static PyObject *table_new(PyTypeObject *type, PyObject *args,
                           PyObject *keywords)
{
    struct table_arguments arguments = {ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT,
                                        NULL, NULL, NULL};
    struct core_state *state = PyType_GetModuleState(type);
    struct table_object *self;

    if (!read_arguments(state, args, keywords, &arguments))
        return NULL;
    self = PyObject_New(struct table_object, type);
    if (self == NULL)
        return NULL;
    stand_start(&self->stand, state, &table_kind,
                (struct stand_object *)arguments.source);
    self->host = arguments.host;
    if (self->host != NULL) {
        Py_INCREF((PyObject *)self->host);
        stand_hold(&self->host->stand, STANDS_TABLE);
    }
    if (!fences_read_at_end(state, arguments.at_end, &self->at_end) ||
        !make(self, &arguments.options)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void table_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    stand_end(stand_of(self), self);
    fences_forget(&table_of(self)->at_end);
    forget_host(table_of(self));
    PyObject_Free(self);
    Py_DECREF(type);
}

/* --- slots --------------------------------------------------------------- */

static PyObject *table_reserve(PyObject *self, PyObject *number)
{
    struct stand *stand = stand_of(self);
    enum ashlar_status status;
    PyThreadState *thread;
    size_t n;

    if (!core_count(stand->state, number, "n", &n) || stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_tensormap_table_reserve(stand->object, n);
    stand_enter_python(stand, thread);
    return stand_answer(stand, status);
}

static PyObject *table_lease(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"n", "run", NULL};
    struct stand *stand = stand_of(self);
    PyObject *number = NULL;
    size_t n = 1;
    int run = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O$p:lease",
                                     (char **)names, &number, &run) ||
        !read_size(stand->state, number, "n", &n) || stand_open(stand) == NULL)
        return NULL;
    return leased_new(table_of(self), n, run != 0);
}

/* --- asking -------------------------------------------------------------- */

static bool query(struct stand *stand, struct ashlar_tensormap_table_info *info)
{
    if (stand_open(stand) == NULL)
        return false;
    if (ashlar_tensormap_table_query(stand->object, info) == ASHLAR_OK)
        return true;
    core_raise(stand->state);
    return false;
}

static PyObject *table_info(PyObject *self, PyObject *unused)
{
    struct ashlar_tensormap_table_info info = ASHLAR_TENSORMAP_TABLE_INFO_INIT;

    (void)unused;
    if (!query(stand_of(self), &info))
        return NULL;
#define N(_member) (unsigned long long)info._member
    return PyObject_CallFunction(
        stand_of(self)->state->table_info, "KKKKKKKKKKKKKKKKKNNK", N(base),
        N(max_slots), N(slots), N(leased), N(waiting), N(in_graphs),
        N(staging_slots), N(staging_used), N(publishes), N(published_slots),
        N(rewrites), N(copies), N(scatters), N(staging_full), N(grows),
        N(device_bytes), N(host_bytes),
        PyBool_FromLong(info.scatters_by_kernel != 0),
        PyBool_FromLong(info.host_is_reached != 0), N(unfenced));
#undef N
}

static PyObject *table_get_address(PyObject *self, void *unused)
{
    struct ashlar_tensormap_table_info info = ASHLAR_TENSORMAP_TABLE_INFO_INIT;

    (void)unused;
    return query(stand_of(self), &info) ? PyLong_FromUnsignedLongLong(info.base)
                                        : NULL;
}

static PyObject *table_int(PyObject *self)
{
    return table_get_address(self, NULL);
}

static PyObject *table_repr(PyObject *self)
{
    struct ashlar_tensormap_table_info info = ASHLAR_TENSORMAP_TABLE_INFO_INIT;
    struct stand *stand = stand_of(self);

    if (stand->object == NULL || stand->closed ||
        ashlar_tensormap_table_query(stand->object, &info) != ASHLAR_OK)
        return PyUnicode_FromString("<ashlar.TensorMapTable, closed>");
    return PyUnicode_FromFormat(
        "<ashlar.TensorMapTable at %p: %llu leased of %llu slots>",
        (void *)(uintptr_t)info.base, (unsigned long long)info.leased,
        (unsigned long long)info.slots);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef table_methods[] = {
    {"lease", WITH_KEYWORDS(table_lease), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "lease($self, n=1, *, run=False)\n--\n\n"
         "A TableLease of n slots, all or none: side by side where there\n"
         "are as many neighbours, and always if run.")},
    {"reserve", table_reserve, METH_O,
     PyDoc_STR("reserve($self, n, /)\n--\n\n"
               "Have memory for n leased slots more; it grows in place.")},
    {"info", table_info, METH_NOARGS,
     PyDoc_STR("info($self, /)\n--\n\n"
               "What it has and did, as TableInfo.")},
    {"close", WITH_KEYWORDS(stand_close_after), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "close($self, *, after=None)\n--\n\n"
         "Give it up; its memory goes when the fences have passed, at_end\n"
         "unless given, and those of all that was retired. Error, status\n"
         "BUSY, while leases are alive. Twice is fine.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", stand_enter_with, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(stand_exit_with), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef table_members[] = {
    {"address", table_get_address, NULL,
     PyDoc_STR("Of device slot 0; slot i is 128 * i behind it. It never\n"
               "changes. Raises Error once closed."),
     NULL},
    {"closed", stand_get_closed, NULL, PyDoc_STR("Whether it was closed."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    table_doc,
    "TensorMapTable(source, *, max_slots=None, reserve=0, staging=None, "
    "host=None, at_end=None)\n--\n\n"
    "Tensor maps in device memory, mirrored from host slots index for "
    "index.\n\n"
    "source     a Source with ranges, copies and fences: \"cuda\"\n"
    "max_slots  the most it ever has; 65,536 unless given\n"
    "reserve    slots that have memory from the start\n"
    "staging    maps of scattered publishes and rewrites under way; 2,048 "
    "unless given\n"
    "host       a Source of host memory that the device reads, for host slots\n"
    "at_end     fences that a lease waits for which is retired without, or "
    "just dropped,\n           and the table's end; QUIET unless given\n\n"
    "A kernel finds map i at table.address + 128 * i, for the table's life. "
    "Any thread may use\nit.");

static PyType_Slot table_slots[] = {
    {Py_tp_doc, (void *)table_doc}, {Py_tp_new, table_new},
    {Py_tp_dealloc, table_dealloc}, {Py_tp_repr, table_repr},
    {Py_tp_methods, table_methods}, {Py_tp_getset, table_members},
    {Py_nb_int, table_int},         {0, NULL},
};

PyType_Spec table_spec = {
    .name = "ashlar.TensorMapTable",
    .basicsize = sizeof(struct table_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = table_slots,
};
