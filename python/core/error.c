/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <stdarg.h>
#include <string.h>

static void raise_with(struct core_state *state, enum ashlar_status status,
                       PyObject *sentence)
{
    PyObject *error;

    if (sentence == NULL)
        return;
    if (state == NULL || state->error == NULL) {
        PyErr_SetObject(PyExc_RuntimeError, sentence);
        return;
    }
    error = PyObject_CallFunction(state->error, "Oi", sentence, (int)status);
    if (error != NULL) {
        PyErr_SetObject(state->error, error);
        Py_DECREF(error);
    }
}

PyObject *core_raise(struct core_state *state)
{
    const char *text = ashlar_last_error_message();
    PyObject *sentence =
        PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");

    raise_with(state, ashlar_last_error(), sentence);
    Py_XDECREF(sentence);
    return NULL;
}

static void raise_format(struct core_state *state, enum ashlar_status status,
                         const char *format, va_list list)
{
    PyObject *sentence = PyUnicode_FromFormatV(format, list);

    raise_with(state, status, sentence);
    Py_XDECREF(sentence);
}

PyObject *core_raise_as(struct core_state *state, enum ashlar_status status,
                        const char *format, ...)
{
    va_list list;

    va_start(list, format);
    raise_format(state, status, format, list);
    va_end(list);
    return NULL;
}

PyObject *core_raise_for(PyObject *self, enum ashlar_status status,
                         const char *format, ...)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));
    va_list list;

    va_start(list, format);
    raise_format(state, status, format, list);
    va_end(list);
    return NULL;
}

bool core_count(struct core_state *state, PyObject *number, const char *what,
                size_t *count_out)
{
    Py_ssize_t count = PyNumber_AsSsize_t(number, NULL);

    if (count == -1 && PyErr_Occurred() != NULL)
        return false;
    if (count < 0) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "%s is %R; it cannot be negative", what, number);
        return false;
    }
    *count_out = (size_t)count;
    return true;
}

bool core_number(struct core_state *state, PyObject *number, const char *what,
                 uint64_t *number_out)
{
    PyObject *index = PyNumber_Index(number);
    unsigned long long value;

    if (index == NULL)
        return false;
    value = PyLong_AsUnsignedLongLong(index);
    Py_DECREF(index);
    if (value == (unsigned long long)-1 && PyErr_Occurred() != NULL) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return false;
        PyErr_Clear();
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "%s is %R; it is 0 to 2^64 - 1", what, number);
        return false;
    }
    *number_out = value;
    return true;
}

bool core_set_number(struct core_state *state, PyObject *given,
                     const char *what, uint64_t *number_out)
{
    return given == NULL || given == Py_None ||
           core_number(state, given, what, number_out);
}

const char *core_text(PyObject *given)
{
    Py_ssize_t bytes;
    const char *text = PyUnicode_AsUTF8AndSize(given, &bytes);

    if (text != NULL && strlen(text) != (size_t)bytes) {
        PyErr_SetString(PyExc_ValueError, "embedded null character");
        return NULL;
    }
    return text;
}

PyObject *core_no_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyErr_Format(PyExc_TypeError,
                 "%R is memory at an address: it cannot be copied or pickled",
                 self);
    return NULL;
}

void core_unraisable(PyObject *self)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));
    PyObject *type, *value, *traceback;

    /* A pool that is gone has taken its slots along. */
    if (ashlar_last_error() == ASHLAR_ERR_STALE ||
        ashlar_last_error() == ASHLAR_ERR_FORKED)
        return;
    PyErr_Fetch(&type, &value, &traceback);
    core_raise(state);
    PyErr_WriteUnraisable((PyObject *)Py_TYPE(self));
    PyErr_Restore(type, value, traceback);
}
