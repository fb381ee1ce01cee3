/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <time.h>

static struct stand *stand_of(PyObject *self)
{
    return &((struct stand_object *)self)->stand;
}

struct source_object *source_of(struct core_state *state, PyObject *given)
{
    if (Py_TYPE(given) != state->source_type) {
        PyErr_Format(PyExc_TypeError, "%R is no ashlar.Source", given);
        return NULL;
    }
    if (stand_open(stand_of(given)) == NULL)
        return NULL;
    return (struct source_object *)given;
}

bool source_for_host(const struct source_object *source)
{
    return (source->can & ASHLAR_CAN_HOST_ACCESS) != 0;
}

/* A source that encodes is a device's, and its host memory is reached by it. */
bool source_for_kernels(const struct source_object *source)
{
    return !source_for_host(source) || (source->can & ASHLAR_CAN_ENCODE) != 0;
}

/* --- life ---------------------------------------------------------------- */

static enum ashlar_status source_destroy(struct stand *stand,
                                         const struct fences *fences)
{
    enum ashlar_status status;
    PyThreadState *thread = PyEval_SaveThread();

    (void)fences;
    status = ashlar_source_close(stand->object);
    PyEval_RestoreThread(thread);
    return status;
}

static const struct stand_kind source_kind = {
    .name = "source",
    .destroy = source_destroy,
};

/* "key=value", of which the value has no comma. */
static PyObject *option_of(struct core_state *state, PyObject *key,
                           PyObject *value)
{
    PyObject *said, *option = NULL;

    if (PyBool_Check(value))
        said = PyUnicode_FromString(value == Py_True ? "yes" : "no");
    else
        said = PyObject_Str(value);
    if (said == NULL)
        return NULL;
    if (PyUnicode_FindChar(said, ',', 0, PyUnicode_GetLength(said), 1) >= 0)
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "the option %S is %R; a comma ends an option", key,
                      value);
    else
        option = PyUnicode_FromFormat("%S=%U", key, said);
    Py_DECREF(said);
    return option;
}

/* "key=value,..." of a dict; NULL and an exception when it cannot be. */
static PyObject *join_options(struct core_state *state, PyObject *options)
{
    PyObject *comma = PyUnicode_FromString(","), *text = NULL;
    /* A list, since reading values may run anything. */
    PyObject *pairs = PyDict_Items(options);
    Py_ssize_t n = pairs == NULL ? 0 : PyList_Size(pairs), i;

    for (i = 0; pairs != NULL && i < n; i++) {
        PyObject *pair = PyList_GetItem(pairs, i);
        PyObject *option = option_of(state, PyTuple_GetItem(pair, 0),
                                     PyTuple_GetItem(pair, 1));

        if (option == NULL)
            Py_CLEAR(pairs);
        else
            PyList_SetItem(pairs, i, option);
    }
    if (pairs != NULL && comma != NULL)
        text = PyUnicode_Join(comma, pairs);
    Py_XDECREF(pairs);
    Py_XDECREF(comma);
    return text;
}

static bool open_source(struct source_object *self, const char *name,
                        const char *options)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct ashlar_source *source = NULL;
    enum ashlar_status status;
    PyThreadState *thread;

    thread = PyEval_SaveThread();
    status = ashlar_source_open(name, options, &source);
    PyEval_RestoreThread(thread);
    if (status == ASHLAR_OK) {
        stand_made(&self->stand, source);
        status = ashlar_source_query(source, &info);
    }
    if (status != ASHLAR_OK) {
        core_raise(self->stand.state);
        return false;
    }
    self->can = info.can;
    self->home = info.home_location;
    return true;
}

static PyObject *source_new(PyTypeObject *type, PyObject *args,
                            PyObject *keywords)
{
    static const char *const names[] = {"name", "options", NULL};
    struct core_state *state = PyType_GetModuleState(type);
    PyObject *options = NULL;
    const char *name, *text = NULL;
    struct source_object *self;
    bool right;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "s|O:Source",
                                     (char **)names, &name, &options))
        return NULL;
    if (options == NULL || options == Py_None)
        options = PyUnicode_FromString("");
    else if (PyDict_Check(options))
        options = join_options(state, options);
    else
        Py_INCREF(options);
    if (options == NULL)
        return NULL;
    text = core_text(options);
    self = text == NULL ? NULL : PyObject_New(struct source_object, type);
    if (self != NULL) {
        stand_start(&self->stand, state, &source_kind, NULL);
        right = open_source(self, name, text);
        if (!right) {
            Py_DECREF((PyObject *)self);
            self = NULL;
        }
    }
    Py_DECREF(options);
    return (PyObject *)self;
}

static void source_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    stand_end(stand_of(self), self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* --- waiting ------------------------------------------------------------- */

#define SECOND_NS UINT64_C(1000000000)
/* How long to wait before Python looks at its signals. */
#define SLICE_NS (SECOND_NS / 20)

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static enum ashlar_status drain_slice(struct stand *stand, uint64_t left_ns)
{
    enum ashlar_status status;
    PyThreadState *thread = stand_leave_python(stand);

    status = ashlar_source_drain(stand->object,
                                 left_ns < SLICE_NS ? left_ns : SLICE_NS);
    stand_enter_python(stand, thread);
    return status;
}

static PyObject *drain(struct stand *stand, uint64_t timeout_ns)
{
    uint64_t start = now_ns(), passed = 0;
    enum ashlar_status status;

    for (;;) {
        status = drain_slice(stand, timeout_ns - passed);
        if (status != ASHLAR_ERR_BUSY)
            return stand_answer(stand, status);
        passed = now_ns() - start;
        if (passed >= timeout_ns)
            return core_raise(stand->state);
        if (PyErr_CheckSignals() != 0 || stand_open(stand) == NULL)
            return NULL;
    }
}

static PyObject *source_drain(PyObject *self, PyObject *args,
                              PyObject *keywords)
{
    static const char *const names[] = {"timeout", NULL};
    struct stand *stand = stand_of(self);
    double seconds = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|d:drain", (char **)names,
                                     &seconds) ||
        stand_open(stand) == NULL)
        return NULL;
    /* Some centuries are as good as for ever, and NaN is none of either. */
    if (!(seconds >= 0 && seconds < 1e10)) {
        PyErr_SetString(PyExc_ValueError,
                        "the timeout is a number of seconds, 0 to 1e10");
        return NULL;
    }
    return drain(stand, (uint64_t)(seconds * (double)SECOND_NS));
}

/* --- asking -------------------------------------------------------------- */

/* What it can do, as a frozenset of words. */
static PyObject *words_of(uint64_t can)
{
    static const char *const words[] = {
        "blocks", "ranges", "copy",        "scatter", "fence",
        "encode", "export", "host_access", "graph",
    };
    PyObject *list = PyList_New(0), *set;
    size_t i;

    for (i = 0; list != NULL && i < sizeof(words) / sizeof(words[0]); i++) {
        PyObject *word;

        if ((can & (UINT64_C(1) << i)) == 0)
            continue;
        word = PyUnicode_FromString(words[i]);
        if (word == NULL || PyList_Append(list, word) < 0)
            Py_CLEAR(list);
        Py_XDECREF(word);
    }
    if (list == NULL)
        return NULL;
    set = PyFrozenSet_New(list);
    Py_DECREF(list);
    return set;
}

static PyObject *source_info(PyObject *self, PyObject *unused)
{
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    struct stand *stand = stand_of(self);
    struct ashlar_source *source = stand_open(stand);
    PyObject *can;

    (void)unused;
    if (source == NULL)
        return NULL;
    if (ashlar_source_query(source, &info) != ASHLAR_OK)
        return core_raise(stand->state);
    can = words_of(info.can);
    if (can == NULL)
        return NULL;
#define N(_member) (unsigned long long)info._member
    return PyObject_CallFunction(
        stand->state->source_info, "ssssNKKKKKIII", info.name, info.version,
        info.path, info.description, can, N(granule), N(memory_bytes),
        N(retired_bytes), N(retired_items), N(dropped_items), info.holders,
        info.location_count, info.home_location);
#undef N
}

static PyObject *source_get_name(PyObject *self, void *unused)
{
    struct ashlar_source *source = stand_open(stand_of(self));

    (void)unused;
    return source == NULL ? NULL
                          : PyUnicode_FromString(ashlar_source_name(source));
}

/* For ctypes: the C handle. */
static PyObject *source_get_parameter(PyObject *self, void *unused)
{
    void *source = stand_open(stand_of(self));

    (void)unused;
    return source == NULL ? NULL : PyLong_FromVoidPtr(source);
}

static PyObject *source_repr(PyObject *self)
{
    struct stand *stand = stand_of(self);

    if (stand->object == NULL || stand->closed)
        return PyUnicode_FromString("<ashlar.Source, closed>");
    return PyUnicode_FromFormat("<ashlar.Source %s>",
                                ashlar_source_name(stand->object));
}

/* --- what Python sees ---------------------------------------------------- */

static PyMethodDef source_methods[] = {
    {"info", source_info, METH_NOARGS,
     PyDoc_STR("info($self, /)\n--\n\n"
               "What is known of it, as SourceInfo.")},
    {"drain", (PyCFunction)(void (*)(void))source_drain,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("drain($self, timeout=0.0)\n--\n\n"
               "Collect what was given up and waits for its fences, and wait\n"
               "up to so many seconds for the rest. Error, status BUSY, when\n"
               "something still waits; its sentence has the bytes.")},
    {"close", stand_close_now, METH_NOARGS,
     PyDoc_STR("close($self, /)\n--\n\n"
               "Close it. Error, status BUSY, while something stands on it,\n"
               "and the sentence says what. Twice is fine.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", stand_enter_with, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))stand_exit_with, METH_FASTCALL,
     NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef source_members[] = {
    {"name", source_get_name, NULL,
     PyDoc_STR("Its name, such as \"vm\". Raises Error once closed."), NULL},
    {"closed", stand_get_closed, NULL, PyDoc_STR("Whether it was closed."),
     NULL},
    {"_as_parameter_", source_get_parameter, NULL,
     PyDoc_STR("The C handle, for ctypes. Raises Error once closed."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    source_doc,
    "Source(name, options=None)\n--\n\n"
    "Where memory comes from: \"heap\", \"vm\", or a plug-in's, such as "
    "\"cuda\".\n\n"
    "name     which one\n"
    "options  \"key=value,...\", or a dict; which keys there are is the "
    "source's to say\n\n"
    "Ranges, arenas and caches stand on it and keep it alive. At the end of a "
    "`with` nothing new\nis to be had of it, and it is closed with the last "
    "that stands on it. Any thread may use it.");

static PyType_Slot source_slots[] = {
    {Py_tp_doc, (void *)source_doc},
    {Py_tp_new, source_new},
    {Py_tp_dealloc, source_dealloc},
    {Py_tp_repr, source_repr},
    {Py_tp_methods, source_methods},
    {Py_tp_getset, source_members},
    {0, NULL},
};

PyType_Spec source_spec = {
    .name = "ashlar.Source",
    .basicsize = sizeof(struct source_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = source_slots,
};
