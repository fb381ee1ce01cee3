/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What a Spec is made with, read into a struct ashlar_spec: numbers that fit where
 * they go, and settings by names that people know. */
#include "core.h"

#include <stdint.h>
#include <string.h>

#define RANK_MAX ASHLAR_SPEC_RANK_MAX

/* --- entries ------------------------------------------------------------- */

/* An integer, also one in a wrapper of the bindings'; not a float or str. */
static PyObject *integer_of(PyObject *given)
{
    if (PyIndex_Check(given))
        return PyNumber_Index(given);
    if (PyFloat_Check(given) || PyUnicode_Check(given)) {
        PyErr_Format(PyExc_TypeError, "%R is no integer", given);
        return NULL;
    }
    return PyNumber_Long(given);
}

/* An integer from low to high, of 64 bits in either sign. */
static bool read_number(struct core_state *state, PyObject *given,
                        const char *what, int64_t low, uint64_t high,
                        uint64_t *value_out)
{
    PyObject *number = integer_of(given);
    bool negative, right = false;
    int64_t below = 0;
    uint64_t value = 0;

    if (number == NULL)
        return false;
    below = PyLong_AsLongLong(number);
    negative = below < 0 && PyErr_Occurred() == NULL;
    PyErr_Clear();
    if (negative) {
        right = below >= low;
        value = (uint64_t)below;
    } else {
        value = PyLong_AsUnsignedLongLong(number);
        right = PyErr_Occurred() == NULL && value <= high;
        PyErr_Clear();
    }
    if (right)
        *value_out = value;
    else
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "%s has %S, which does not fit: it is %lld to %llu", what,
                      number, (long long)low, (unsigned long long)high);
    Py_DECREF(number);
    return right;
}

/* What an entry of an array can be. */
struct array {
    int64_t low;
    uint64_t high;
};

static const struct array wide = {0, UINT64_MAX};
static const struct array narrow = {0, UINT32_MAX};
static const struct array corner = {INT32_MIN, INT32_MAX};

/* Up to `most` integers; their count, or -1 and an exception. */
static Py_ssize_t read_list(struct core_state *state, PyObject *given,
                            const char *name, const struct array *kind,
                            Py_ssize_t most, uint64_t *values)
{
    PyObject *list = PySequence_List(given);
    Py_ssize_t n = list == NULL ? -1 : PyList_Size(list), i;

    for (i = 0; i < n; i++) {
        if (i >= most) {
            core_raise_as(state, ASHLAR_ERR_INVALID,
                          "%s has %zd entries; here it has at most %zd", name,
                          n, most);
            n = -1;
        } else if (!read_number(state, PyList_GetItem(list, i), name, kind->low,
                                kind->high, &values[i])) {
            n = -1;
        }
    }
    Py_XDECREF(list);
    return n;
}

/* Exactly so many, or none given: then what is there stays. */
static bool read_array(struct core_state *state, PyObject *given,
                       const char *name, const struct array *kind,
                       Py_ssize_t count, uint64_t *values)
{
    Py_ssize_t n;

    if (given == NULL || given == Py_None)
        return true;
    n = read_list(state, given, name, kind, count, values);
    if (n >= 0 && n != count)
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "%s has %zd entries; with these dims it has %zd", name, n,
                      count);
    return n == count;
}

static bool read_narrow(struct core_state *state, PyObject *given,
                        const char *name, Py_ssize_t count, uint32_t *values)
{
    uint64_t read[RANK_MAX];
    Py_ssize_t i;

    for (i = 0; i < count; i++)
        read[i] = values[i];
    if (!read_array(state, given, name, &narrow, count, read))
        return false;
    for (i = 0; i < count; i++)
        values[i] = (uint32_t)read[i];
    return true;
}

/* Of im2col-wide there may be fewer than of im2col. */
static bool read_corner(struct core_state *state, PyObject *given,
                        const char *name, Py_ssize_t most, int32_t *values)
{
    uint64_t read[RANK_MAX];
    Py_ssize_t n, i;

    if (given == NULL || given == Py_None)
        return true;
    n = read_list(state, given, name, &corner, most, read);
    for (i = 0; i < n; i++)
        values[i] = (int32_t)(int64_t)read[i];
    return n >= 0;
}

/* A setting's name: a str, or that of a dtype or class, "torch.bfloat16". */
static PyObject *name_of(PyObject *given)
{
    PyObject *name = NULL, *text, *dot;
    Py_ssize_t at;

    if (PyUnicode_Check(given)) {
        Py_INCREF(given);
        return given;
    }
    if (PyObject_HasAttrString(given, "name"))
        name = PyObject_GetAttrString(given, "name");
    else if (PyObject_HasAttrString(given, "__name__"))
        name = PyObject_GetAttrString(given, "__name__");
    else
        name = PyObject_Str(given);
    if (name == NULL)
        return NULL;
    text = PyObject_Str(name);
    Py_DECREF(name);
    if (text == NULL)
        return NULL;
    at = PyUnicode_FindChar(text, '.', 0, PyUnicode_GetLength(text), -1);
    if (at < 0)
        return text;
    dot = PyUnicode_Substring(text, at + 1, PyUnicode_GetLength(text));
    Py_DECREF(text);
    return dot;
}

/* "none, swizzle_32B, ...", for those who guessed. */
static PyObject *names_of(enum ashlar_spec_field field)
{
    PyObject *list = PyUnicode_FromString("");
    uint32_t value;

    for (value = 0; list != NULL && ashlar_spec_name(field, value) != NULL;
         value++) {
        PyObject *longer =
            PyUnicode_FromFormat("%U%s%s", list, value == 0 ? "" : ", ",
                                 ashlar_spec_name(field, value));

        Py_DECREF(list);
        list = longer;
    }
    return list;
}

static bool read_setting(struct core_state *state, PyObject *given,
                         enum ashlar_spec_field field, uint32_t *value_out)
{
    PyObject *name, *known;
    const char *text;
    uint64_t number;
    bool right;

    if (given == NULL || given == Py_None)
        return true;
    if (PyIndex_Check(given)) {
        if (!read_number(state, given, ashlar_spec_field_name(field), 0,
                         UINT32_MAX, &number))
            return false;
        *value_out = (uint32_t)number;
        return true;
    }
    name = name_of(given);
    text = name == NULL ? NULL : core_text(name);
    right =
        text != NULL && ashlar_spec_value(field, text, value_out) == ASHLAR_OK;
    if (text != NULL && !right) {
        known = names_of(field);
        if (known != NULL)
            core_raise_as(state, ASHLAR_ERR_INVALID,
                          "%s is %R; it is one of %U",
                          ashlar_spec_field_name(field), given, known);
        Py_XDECREF(known);
    }
    Py_XDECREF(name);
    return right;
}

/* --- all of a spec ------------------------------------------------------- */

/* As they were given: references are the caller's. */
struct spec_arguments {
    PyObject *dtype, *dims, *box, *strides, *address, *element_strides, *mode,
        *interleave, *swizzle, *l2_promotion, *oob_fill, *lower_corner,
        *upper_corner, *channels, *pixels, *wide_mode;
};

static bool read_dims(struct core_state *state, PyObject *given,
                      struct ashlar_spec *spec)
{
    Py_ssize_t n = read_list(state, given, "dims", &wide, RANK_MAX, spec->dims),
               i;

    if (n == 0)
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "dims is empty; a tensor map has 1 to %d dimensions",
                      RANK_MAX);
    if (n <= 0)
        return false;
    spec->rank = (uint32_t)n;
    for (i = 0; i < n; i++)
        spec->element_strides[i] = 1;
    return true;
}

static bool read_settings(struct core_state *state,
                          const struct spec_arguments *given,
                          struct ashlar_spec *spec)
{
#define SETTING(_member, _field)                                               \
    read_setting(state, given->_member, ASHLAR_SPEC_FIELD_##_field,            \
                 &spec->_member)
    return SETTING(dtype, DTYPE) && SETTING(mode, MODE) &&
           SETTING(interleave, INTERLEAVE) && SETTING(swizzle, SWIZZLE) &&
           SETTING(l2_promotion, L2_PROMOTION) && SETTING(oob_fill, OOB_FILL) &&
           SETTING(wide_mode, WIDE_MODE);
#undef SETTING
}

static bool read_scalar(struct core_state *state, PyObject *given,
                        const char *name, uint32_t *value_out)
{
    uint64_t value = *value_out;

    if (given != NULL && given != Py_None &&
        !read_number(state, given, name, 0, UINT32_MAX, &value))
        return false;
    *value_out = (uint32_t)value;
    return true;
}

static bool read_spec(struct core_state *state,
                      const struct spec_arguments *given,
                      struct ashlar_spec *spec)
{
    Py_ssize_t rank;

    if (!read_settings(state, given, spec) ||
        !read_dims(state, given->dims, spec))
        return false;
    rank = (Py_ssize_t)spec->rank;
    if ((given->address != NULL && given->address != Py_None &&
         !read_number(state, given->address, "address", 0, UINT64_MAX,
                      &spec->address)) ||
        !read_array(state, given->strides, "strides", &wide, rank - 1,
                    spec->strides) ||
        !read_narrow(state, given->box, "box", rank, spec->box) ||
        !read_narrow(state, given->element_strides, "element_strides", rank,
                     spec->element_strides) ||
        !read_corner(state, given->lower_corner, "lower_corner",
                     rank > 2 ? rank - 2 : 0, spec->lower_corner) ||
        !read_corner(state, given->upper_corner, "upper_corner",
                     rank > 2 ? rank - 2 : 0, spec->upper_corner) ||
        !read_scalar(state, given->channels, "channels", &spec->channels) ||
        !read_scalar(state, given->pixels, "pixels", &spec->pixels))
        return false;
    if ((given->strides == NULL || given->strides == Py_None) &&
        ashlar_spec_pack(spec) != ASHLAR_OK) {
        core_raise(state);
        return false;
    }
    return true;
}

bool spec_parse(struct core_state *state, PyObject *args, PyObject *keywords,
                struct ashlar_spec *spec)
{
    static const char *const names[] = {
        "dtype",        "dims",       "box",
        "strides",      "address",    "element_strides",
        "mode",         "interleave", "swizzle",
        "l2_promotion", "oob_fill",   "lower_corner",
        "upper_corner", "channels",   "pixels",
        "wide_mode",    NULL};
    const struct ashlar_spec fresh = ASHLAR_SPEC_INIT;
    struct spec_arguments given;

    *spec = fresh;
    memset(&given, 0, sizeof(given));
    return PyArg_ParseTupleAndKeywords(
               args, keywords, "OO|O$OOOOOOOOOOOOO:Spec", (char **)names,
               &given.dtype, &given.dims, &given.box, &given.strides,
               &given.address, &given.element_strides, &given.mode,
               &given.interleave, &given.swizzle, &given.l2_promotion,
               &given.oob_fill, &given.lower_corner, &given.upper_corner,
               &given.channels, &given.pixels, &given.wide_mode) &&
           read_spec(state, &given, spec);
}
