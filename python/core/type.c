/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

static struct core_state *state_of(PyObject *module)
{
    return PyModule_GetState(module);
}

/* "a,b" as ("a", "b"), "" as (). */
static PyObject *split(const char *names)
{
    PyObject *text, *comma, *list = NULL, *tuple = NULL;

    if (*names == '\0')
        return PyTuple_New(0);
    text = PyUnicode_FromString(names);
    comma = PyUnicode_FromString(",");
    if (text != NULL && comma != NULL)
        list = PyUnicode_Split(text, comma, -1);
    if (list != NULL)
        tuple = PyList_AsTuple(list);
    Py_XDECREF(text);
    Py_XDECREF(comma);
    Py_XDECREF(list);
    return tuple;
}

PyObject *type_info_new(struct core_state *state,
                        const struct ashlar_type *type)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    PyObject *aliases;

    if (ashlar_type_query(type, &info) != ASHLAR_OK)
        return core_raise(state);
    aliases = split(info.aliases);
    if (aliases == NULL)
        return NULL;
#define FLAG(_flag) PyBool_FromLong((info.flags & (_flag)) != 0)
    return PyObject_CallFunction(
        state->type_info, "snnnNsnnNNN", info.name,
        (Py_ssize_t)info.object_size, (Py_ssize_t)info.alignment,
        (Py_ssize_t)info.stride, aliases, info.source,
        (Py_ssize_t)info.cuda12_alignment, (Py_ssize_t)info.cuda13_alignment,
        FLAG(ASHLAR_TYPE_BUILT_IN), FLAG(ASHLAR_TYPE_FROZEN),
        FLAG(ASHLAR_TYPE_NOT_OVER_ALIGNED));
#undef FLAG
}

const struct ashlar_type *type_of(struct core_state *state, PyObject *given)
{
    const struct ashlar_type *type = NULL;
    PyObject *name = given;
    const char *text;

    Py_INCREF(name);
    if (!PyUnicode_Check(given)) {
        Py_DECREF(name);
        name = PyObject_GetAttrString(given, "name");
        if (name == NULL || !PyUnicode_Check(name)) {
            Py_XDECREF(name);
            PyErr_Format(PyExc_TypeError,
                         "a type is given by its name or as a TypeInfo, not "
                         "as %R",
                         given);
            return NULL;
        }
    }
    text = core_text(name);
    if (text != NULL) {
        type = ashlar_type_find(text);
        if (type == NULL)
            core_raise(state);
    }
    Py_DECREF(name);
    return type;
}

static PyObject *register_type(PyObject *module, PyObject *args,
                               PyObject *keywords)
{
    static const char *const names[] = {"name", "size", "align", NULL};
    struct core_state *state = state_of(module);
    const struct ashlar_type *type;
    PyObject *size_number, *align_number;
    size_t size, align;
    const char *name;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "sOO:register",
                                     (char **)names, &name, &size_number,
                                     &align_number) ||
        !core_count(state, size_number, "size", &size) ||
        !core_count(state, align_number, "align", &align))
        return NULL;
    if (ashlar_type_register(name, size, align, &type) != ASHLAR_OK)
        return core_raise(state);
    return type_info_new(state, type);
}

static PyObject *find_type(PyObject *module, PyObject *given)
{
    struct core_state *state = state_of(module);
    const struct ashlar_type *type;
    const char *name;

    name = core_text(given);
    if (name == NULL)
        return NULL;
    type = ashlar_type_find(name);
    return type == NULL ? core_raise(state) : type_info_new(state, type);
}

static PyObject *list_types(PyObject *module, PyObject *unused)
{
    struct core_state *state = state_of(module);
    const struct ashlar_type *type = NULL;
    PyObject *list = PyList_New(0);

    (void)unused;
    while (list != NULL && (type = ashlar_type_next(type)) != NULL) {
        PyObject *info = type_info_new(state, type);

        if (info == NULL || PyList_Append(list, info) < 0)
            Py_CLEAR(list);
        Py_XDECREF(info);
    }
    return list;
}

PyMethodDef type_functions[] = {
    {"register", (PyCFunction)(void (*)(void))register_type,
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("register($module, /, name, size, align)\n--\n\n"
               "Register a type, or find the one of that name: a TypeInfo.\n\n"
               "size and align are bytes; align is a power of two. The same\n"
               "size and a weaker alignment find the type as it is. A\n"
               "stronger alignment makes the type's stronger, unless it is\n"
               "built in or has had a pool: then Error, status CONFLICT.")},
    {"find_type", find_type, METH_O,
     PyDoc_STR("find_type($module, name, /)\n--\n\n"
               "The TypeInfo of a name or alias. Error, status NOT_FOUND,\n"
               "when there is none.")},
    {"types", list_types, METH_NOARGS,
     PyDoc_STR("types($module, /)\n--\n\n"
               "All types, as a list of TypeInfo: those built in first.")},
    {NULL, NULL, 0, NULL},
};
