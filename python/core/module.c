/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <string.h>

static PyObject *version(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return PyUnicode_FromString(ashlar_version_string());
}

static PyObject *build_info(PyObject *module, PyObject *key)
{
    const char *name = core_text(key);
    const char *fact;

    if (name == NULL)
        return NULL;
    fact = ashlar_build_info(name);
    if (fact == NULL)
        return core_raise(PyModule_GetState(module));
    return PyUnicode_FromString(fact);
}

static PyObject *status_name(PyObject *module, PyObject *number)
{
    long status = PyLong_AsLong(number);

    (void)module;
    if (status == -1 && PyErr_Occurred() != NULL)
        return NULL;
    return PyUnicode_FromString(ashlar_status_name((enum ashlar_status)status));
}

/* For ashlar.cuda, which knows what lies at the address. */
static PyObject *copy_from(PyObject *module, PyObject *args)
{
    struct core_state *state = PyModule_GetState(module);
    Py_ssize_t bytes;
    PyObject *target, *number;
    Py_buffer view;
    void *source;

    if (!PyArg_ParseTuple(args, "OOn:_copy_from", &target, &number, &bytes))
        return NULL;
    source = PyLong_AsVoidPtr(number);
    if (source == NULL)
        return PyErr_Occurred() != NULL
                   ? NULL
                   : core_raise_as(state, ASHLAR_ERR_INVALID,
                                   "there is nothing at address 0");
    if (PyObject_GetBuffer(target, &view, PyBUF_WRITABLE) < 0)
        return NULL;
    if (bytes < 0 || bytes > view.len)
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "%zd bytes do not fit into %zd", bytes, view.len);
    else
        memmove(view.buf, source, (size_t)bytes);
    PyBuffer_Release(&view);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

/* What the library writes into a buffer, however long it gets meanwhile. */
static PyObject *text_of(size_t (*write)(char *buffer, size_t bytes))
{
    size_t bytes = write(NULL, 0), room;
    PyObject *text;
    char *buffer;

    do {
        room = bytes + 1;
        buffer = PyMem_Malloc(room);
        if (buffer == NULL)
            return PyErr_NoMemory();
        bytes = write(buffer, room);
        if (bytes >= room)
            PyMem_Free(buffer);
    } while (bytes >= room);
    text = PyUnicode_DecodeUTF8(buffer, (Py_ssize_t)bytes, "replace");
    PyMem_Free(buffer);
    return text;
}

static PyObject *report(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return text_of(ashlar_report_text);
}

static PyObject *report_json(PyObject *module, PyObject *unused)
{
    (void)module;
    (void)unused;
    return text_of(ashlar_report_json);
}

static PyMethodDef functions[] = {
    {"version", version, METH_NOARGS,
     PyDoc_STR("version($module, /)\n--\n\n"
               "The version of the library that is running.")},
    {"build_info", build_info, METH_O,
     PyDoc_STR("build_info($module, key, /)\n--\n\n"
               "How the library was built: keys are \"version\",\n"
               "\"compiler\", \"jemalloc.version\", \"jemalloc.kind\",\n"
               "\"jemalloc.prefix\", \"jemalloc.settings_variable\",\n"
               "\"sanitizers\", \"valgrind\", \"debug\".")},
    {"report", report, METH_NOARGS,
     PyDoc_STR("report($module, /)\n--\n\n"
               "A report about all pools of the process, to be read.")},
    {"report_json", report_json, METH_NOARGS,
     PyDoc_STR("report_json($module, /)\n--\n\n"
               "The same as a JSON text.")},
    {"_status_name", status_name, METH_O, NULL},
    {"_copy_from", copy_from, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

/* A type that is the module's; known to `state`, and to Python. */
static bool add_type(PyObject *module, PyType_Spec *spec,
                     PyTypeObject **type_out)
{
    PyObject *type = PyType_FromModuleAndSpec(module, spec, NULL);

    *type_out = (PyTypeObject *)type;
    return type != NULL && PyModule_AddType(module, *type_out) == 0;
}

/* The classes of Python's that the state knows, by name. */
static const struct {
    const char *name;
    size_t offset;
} record_places[] = {
#define RECORD(_name, _member) {_name, offsetof(struct core_state, _member)}
    RECORD("Error", error),
    RECORD("TypeInfo", type_info),
    RECORD("PoolStats", pool_stats),
    RECORD("Fence", fence),
    RECORD("SourceInfo", source_info),
    RECORD("RangeInfo", range_info),
    RECORD("RangeResult", range_result),
    RECORD("ArenaStats", arena_stats),
    RECORD("ArenaFragmentation", arena_fragmentation),
    RECORD("Finding", finding),
    RECORD("SpecError", spec_error),
    RECORD("TensorMapCacheStats", cache_stats),
    RECORD("TableInfo", table_info),
    RECORD("TableSlot", table_slot),
    RECORD("_handle", handle_of),
#undef RECORD
};

/* The types that are made here. */
static const struct {
    PyType_Spec *spec;
    size_t offset;
} type_places[] = {
#define TYPE(_spec, _member) {_spec, offsetof(struct core_state, _member)}
    TYPE(&pool_spec, pool_type),     TYPE(&slot_spec, slot_type),
    TYPE(&run_spec, run_type),       TYPE(&row_spec, row_type),
    TYPE(&source_spec, source_type), TYPE(&range_spec, range_type),
    TYPE(&view_spec, view_type),     TYPE(&arena_spec, arena_type),
    TYPE(&block_spec, block_type),   TYPE(&spec_spec, spec_type),
    TYPE(&map_spec, map_type),       TYPE(&cache_spec, cache_type),
    TYPE(&cached_spec, cached_type), TYPE(&table_spec, table_type),
    TYPE(&leased_spec, lease_type),
#undef TYPE
};

#define RECORDS (sizeof(record_places) / sizeof(record_places[0]))
#define TYPES   (sizeof(type_places) / sizeof(type_places[0]))

static PyObject **record_at(struct core_state *state, size_t i)
{
    return (PyObject **)((char *)state + record_places[i].offset);
}

static PyTypeObject **type_at(struct core_state *state, size_t i)
{
    return (PyTypeObject **)((char *)state + type_places[i].offset);
}

static bool find_records(PyObject *records, struct core_state *state)
{
    size_t i;

    for (i = 0; i < RECORDS; i++) {
        PyObject *record =
            PyObject_GetAttrString(records, record_places[i].name);

        *record_at(state, i) = record;
        if (record == NULL)
            return false;
    }
    return true;
}

static bool add_types(PyObject *module, struct core_state *state)
{
    size_t i;

    for (i = 0; i < TYPES; i++)
        if (!add_type(module, type_places[i].spec, type_at(state, i)))
            return false;
    return true;
}

static int start(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);
    PyObject *records = PyImport_ImportModule("ashlar._records");
    bool right;

    if (records == NULL)
        return -1;
    right = find_records(records, state);
    Py_DECREF(records);
    if (!right || !add_types(module, state))
        return -1;
    if (PyModule_AddFunctions(module, type_functions) < 0)
        return -1;
    return PyModule_AddFunctions(module, map_functions);
}

static int traverse(PyObject *module, visitproc visit, void *arg)
{
    struct core_state *state = PyModule_GetState(module);
    size_t i;

    for (i = 0; i < RECORDS; i++)
        Py_VISIT(*record_at(state, i));
    for (i = 0; i < TYPES; i++)
        Py_VISIT(*type_at(state, i));
    return 0;
}

/* Collected only when no object of these types is left: each refers to its
 * type out of the collector's sight, and the type refers to the module. */
static int clear(PyObject *module)
{
    struct core_state *state = PyModule_GetState(module);
    size_t i;

    for (i = 0; i < RECORDS; i++)
        Py_CLEAR(*record_at(state, i));
    for (i = 0; i < TYPES; i++)
        Py_CLEAR(*type_at(state, i));
    return 0;
}

static void end(void *module)
{
    clear(module);
}

/* In the headers from 3.12 on, where an interpreter may have a lock of its own:
 * Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED. */
#define MULTIPLE_INTERPRETERS 3
#define WITH_A_LOCK_EACH      ((void *)2)

static PyModuleDef_Slot slots_311[] = {
    {Py_mod_exec, start},
    {0, NULL},
};

static PyModuleDef_Slot slots_312[] = {
    {Py_mod_exec, start},
    {MULTIPLE_INTERPRETERS, WITH_A_LOCK_EACH},
    {0, NULL},
};

#define MODULE(_slots)                                                         \
    {                                                                          \
        PyModuleDef_HEAD_INIT,                                                 \
            .m_name = "ashlar._core",                                          \
            .m_doc =                                                           \
                PyDoc_STR("The library libashlar; import ashlar instead."),    \
            .m_size = sizeof(struct core_state), .m_methods = functions,       \
            .m_slots = (_slots), .m_traverse = traverse, .m_clear = clear,     \
            .m_free = end,                                                     \
    }

static struct PyModuleDef module_311 = MODULE(slots_311);
static struct PyModuleDef module_312 = MODULE(slots_312);

PyMODINIT_FUNC PyInit__core(void);

PyMODINIT_FUNC PyInit__core(void)
{
    return PyModuleDef_Init(Py_Version >= 0x030c0000 ? &module_312
                                                     : &module_311);
}
