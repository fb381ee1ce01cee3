/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* ashlar.Spec: struct ashlar_spec, with names for its settings. What a spec can
 * hold is taken as it is; whether an encoder takes it is check()'s to say. */
#include "core.h"

#include <stdint.h>
#include <string.h>

#define RANK_MAX ASHLAR_SPEC_RANK_MAX

static const struct ashlar_spec *held(PyObject *self)
{
    return &((struct spec_object *)self)->spec;
}

const struct ashlar_spec *spec_of(struct core_state *state, PyObject *given)
{
    if (Py_TYPE(given) != state->spec_type) {
        PyErr_Format(PyExc_TypeError, "%R is no ashlar.Spec", given);
        return NULL;
    }
    return held(given);
}

PyObject *spec_new_of(struct core_state *state, const struct ashlar_spec *spec)
{
    struct spec_object *self =
        PyObject_New(struct spec_object, state->spec_type);

    if (self != NULL)
        self->spec = *spec;
    return (PyObject *)self;
}

/* --- reading ------------------------------------------------------------- */

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

/* --- making -------------------------------------------------------------- */

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

static PyObject *spec_new(PyTypeObject *type, PyObject *args,
                          PyObject *keywords)
{
    static const char *const names[] = {
        "dtype",        "dims",       "box",
        "strides",      "address",    "element_strides",
        "mode",         "interleave", "swizzle",
        "l2_promotion", "oob_fill",   "lower_corner",
        "upper_corner", "channels",   "pixels",
        "wide_mode",    NULL};
    struct core_state *state = PyType_GetModuleState(type);
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;
    struct spec_arguments given;

    memset(&given, 0, sizeof(given));
    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "OO|O$OOOOOOOOOOOOO:Spec", (char **)names,
            &given.dtype, &given.dims, &given.box, &given.strides,
            &given.address, &given.element_strides, &given.mode,
            &given.interleave, &given.swizzle, &given.l2_promotion,
            &given.oob_fill, &given.lower_corner, &given.upper_corner,
            &given.channels, &given.pixels, &given.wide_mode) ||
        !read_spec(state, &given, &spec))
        return NULL;
    return spec_new_of(state, &spec);
}

static void spec_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    PyObject_Free(self);
    Py_DECREF(type);
}

/* --- telling ------------------------------------------------------------- */

PyObject *spec_setting(enum ashlar_spec_field field, uint32_t value)
{
    const char *name = ashlar_spec_name(field, value);

    return name != NULL ? PyUnicode_FromString(name)
                        : PyLong_FromUnsignedLong(value);
}

static PyObject *tuple_of(const void *values, size_t bytes, bool is_signed,
                          uint32_t count)
{
    PyObject *tuple = PyTuple_New(count);
    uint32_t i;

    for (i = 0; tuple != NULL && i < count; i++) {
        const char *at = (const char *)values + i * bytes;
        PyObject *number;

        if (bytes == sizeof(uint64_t))
            number = PyLong_FromUnsignedLongLong(*(const uint64_t *)at);
        else if (is_signed)
            number = PyLong_FromLong(*(const int32_t *)at);
        else
            number = PyLong_FromUnsignedLong(*(const uint32_t *)at);
        if (number == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, number);
    }
    return tuple;
}

/* The members, in the order of the constructor's. */
enum member {
    DTYPE,
    DIMS,
    BOX,
    STRIDES,
    ADDRESS,
    ELEMENT_STRIDES,
    MODE,
    INTERLEAVE,
    SWIZZLE,
    L2_PROMOTION,
    OOB_FILL,
    LOWER_CORNER,
    UPPER_CORNER,
    CHANNELS,
    PIXELS,
    WIDE_MODE,
    MEMBERS
};

static const char *const member_names[MEMBERS] = {
    "dtype",        "dims",       "box",
    "strides",      "address",    "element_strides",
    "mode",         "interleave", "swizzle",
    "l2_promotion", "oob_fill",   "lower_corner",
    "upper_corner", "channels",   "pixels",
    "wide_mode",
};

static PyObject *array_of(const struct ashlar_spec *spec, enum member member)
{
    uint32_t rank = spec->rank;
    uint32_t corners = rank > 2 ? rank - 2 : 0;

    switch (member) {
    case DIMS:
        return tuple_of(spec->dims, sizeof(uint64_t), false, rank);
    case BOX:
        return tuple_of(spec->box, sizeof(uint32_t), false, rank);
    case STRIDES:
        return tuple_of(spec->strides, sizeof(uint64_t), false, rank - 1);
    case ELEMENT_STRIDES:
        return tuple_of(spec->element_strides, sizeof(uint32_t), false, rank);
    case LOWER_CORNER:
        return tuple_of(spec->lower_corner, sizeof(int32_t), true, corners);
    default:
        return tuple_of(spec->upper_corner, sizeof(int32_t), true, corners);
    }
}

static PyObject *member_of(const struct ashlar_spec *spec, enum member member)
{
    switch (member) {
    case DTYPE:
        return spec_setting(ASHLAR_SPEC_FIELD_DTYPE, spec->dtype);
    case MODE:
        return spec_setting(ASHLAR_SPEC_FIELD_MODE, spec->mode);
    case INTERLEAVE:
        return spec_setting(ASHLAR_SPEC_FIELD_INTERLEAVE, spec->interleave);
    case SWIZZLE:
        return spec_setting(ASHLAR_SPEC_FIELD_SWIZZLE, spec->swizzle);
    case L2_PROMOTION:
        return spec_setting(ASHLAR_SPEC_FIELD_L2_PROMOTION, spec->l2_promotion);
    case OOB_FILL:
        return spec_setting(ASHLAR_SPEC_FIELD_OOB_FILL, spec->oob_fill);
    case WIDE_MODE:
        return spec_setting(ASHLAR_SPEC_FIELD_WIDE_MODE, spec->wide_mode);
    case ADDRESS:
        return PyLong_FromUnsignedLongLong(spec->address);
    case CHANNELS:
        return PyLong_FromUnsignedLong(spec->channels);
    case PIXELS:
        return PyLong_FromUnsignedLong(spec->pixels);
    default:
        return array_of(spec, member);
    }
}

static PyObject *spec_get(PyObject *self, void *member)
{
    return member_of(held(self), (enum member)(intptr_t)member);
}

static PyObject *spec_get_rank(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLong(held(self)->rank);
}

/* Arguments that make an equal one. */
static PyObject *keywords_of(const struct ashlar_spec *spec)
{
    PyObject *keywords = PyDict_New();
    int i;

    for (i = 0; keywords != NULL && i < MEMBERS; i++) {
        PyObject *value = member_of(spec, (enum member)i);

        if (value == NULL ||
            PyDict_SetItemString(keywords, member_names[i], value) < 0)
            Py_CLEAR(keywords);
        Py_XDECREF(value);
    }
    return keywords;
}

/* Whether it says what the constructor would have made of nothing. */
static bool is_plain(const struct ashlar_spec *spec, enum member member)
{
    uint32_t i;

    switch (member) {
    case DTYPE:
    case DIMS:
        return false;
    case BOX:
        return spec->mode != ASHLAR_SPEC_TILED;
    case STRIDES:
        return spec->rank < 2 &&
               ashlar_spec_name(ASHLAR_SPEC_FIELD_DTYPE, spec->dtype) != NULL;
    case ELEMENT_STRIDES:
        for (i = 0; i < spec->rank; i++)
            if (spec->element_strides[i] != 1)
                return false;
        return true;
    case ADDRESS:
        return spec->address == 0;
    case MODE:
        return spec->mode == ASHLAR_SPEC_TILED;
    case INTERLEAVE:
        return spec->interleave == ASHLAR_SPEC_INTERLEAVE_NONE;
    case SWIZZLE:
        return spec->swizzle == ASHLAR_SPEC_SWIZZLE_NONE;
    case L2_PROMOTION:
        return spec->l2_promotion == ASHLAR_SPEC_L2_NONE;
    case OOB_FILL:
        return spec->oob_fill == ASHLAR_SPEC_OOB_ZERO;
    case WIDE_MODE:
        return spec->mode != ASHLAR_SPEC_IM2COL_WIDE;
    default:
        return spec->mode == ASHLAR_SPEC_TILED;
    }
}

/* "Spec(dtype='bfloat16', dims=(64, 32), ...)", without what is plain. */
static PyObject *spec_repr(PyObject *self)
{
    const struct ashlar_spec *spec = held(self);
    PyObject *text = PyUnicode_FromString("Spec(");
    int i;

    for (i = 0; text != NULL && i < MEMBERS; i++) {
        PyObject *value, *longer = NULL;

        if (is_plain(spec, (enum member)i))
            continue;
        value =
            i == ADDRESS
                ? PyUnicode_FromFormat("%p", (void *)(uintptr_t)spec->address)
                : member_of(spec, (enum member)i);
        if (value != NULL)
            longer = PyUnicode_FromFormat(
                i == ADDRESS ? "%U%s%s=%U" : "%U%s%s=%R", text,
                i == 0 ? "" : ", ", member_names[i], value);
        Py_XDECREF(value);
        Py_DECREF(text);
        text = longer;
    }
    if (text != NULL) {
        PyObject *whole = PyUnicode_FromFormat("%U)", text);

        Py_DECREF(text);
        text = whole;
    }
    return text;
}

/* The struct has no padding, and its unused entries are zeros. */
static PyObject *spec_compare(PyObject *self, PyObject *other, int operation)
{
    bool equal;

    if (Py_TYPE(self) != Py_TYPE(other) ||
        (operation != Py_EQ && operation != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    equal = memcmp(held(self), held(other), sizeof(struct ashlar_spec)) == 0;
    return PyBool_FromLong(equal == (operation == Py_EQ));
}

static Py_hash_t spec_hash(PyObject *self)
{
    PyObject *bytes = PyBytes_FromStringAndSize((const char *)held(self),
                                                sizeof(struct ashlar_spec));
    Py_hash_t hash = bytes == NULL ? -1 : PyObject_Hash(bytes);

    Py_XDECREF(bytes);
    return hash;
}

/* --- what is done with it ------------------------------------------------ */

static PyObject *call_with(PyObject *type, PyObject *keywords)
{
    PyObject *none = PyTuple_New(0), *made = NULL;

    if (none != NULL)
        made = PyObject_Call(type, none, keywords);
    Py_XDECREF(none);
    return made;
}

static bool has(PyObject *dict, const char *name)
{
    PyObject *key = PyUnicode_FromString(name);
    int there = key == NULL ? -1 : PyDict_Contains(dict, key);

    Py_XDECREF(key);
    return there > 0;
}

/* Strides follow dims and dtype, unless they are given, too. */
static PyObject *spec_replace(PyObject *self, PyObject *args,
                              PyObject *keywords)
{
    PyObject *all, *made = NULL;

    if (PyTuple_Size(args) != 0) {
        PyErr_SetString(PyExc_TypeError,
                        "replace() takes keyword arguments only");
        return NULL;
    }
    all = keywords_of(held(self));
    if (all == NULL)
        return NULL;
    if (keywords == NULL ||
        (PyDict_Update(all, keywords) == 0 &&
         (has(keywords, "strides") ||
          (!has(keywords, "dims") && !has(keywords, "dtype")) ||
          PyDict_DelItemString(all, "strides") == 0)))
        made = call_with((PyObject *)Py_TYPE(self), all);
    Py_DECREF(all);
    return made;
}

static PyObject *spec_new_arguments(PyObject *self, PyObject *unused)
{
    PyObject *keywords = keywords_of(held(self));

    (void)unused;
    return keywords == NULL ? NULL : Py_BuildValue("(()N)", keywords);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef methods[] = {
    {"check", WITH_KEYWORDS(spec_check), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("check($self, capability=0)\n--\n\n"
               "Try every rule of the encoder; no driver is asked. SpecError\n"
               "with all that are broken; else a list of Findings that the\n"
               "encoder takes and people regret.\n\n"
               "capability: the device's, times ten, such as 90; rules about\n"
               "it are left out when it is 0.")},
    {"findings", WITH_KEYWORDS(spec_findings), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("findings($self, capability=0)\n--\n\n"
               "The same as a list, errors first, and nothing is raised.")},
    {"replace", WITH_KEYWORDS(spec_replace), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("replace($self, **changes)\n--\n\n"
               "Another Spec, with changes. With other dims or another dtype\n"
               "strides are packed anew, unless they are given, too.")},
    {"__getnewargs_ex__", spec_new_arguments, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

#define MEMBER(_name, _member, _text)                                          \
    {                                                                          \
        _name, spec_get, NULL, PyDoc_STR(_text), (void *)(intptr_t)_member     \
    }

static PyGetSetDef members[] = {
    MEMBER("dtype", DTYPE, "The type of an element."),
    MEMBER("dims", DIMS, "Elements along each dimension, innermost first."),
    MEMBER("box", BOX, "Elements of the box along each dimension."),
    MEMBER("strides", STRIDES,
           "Bytes from one to the next, for dimensions 1 and up."),
    MEMBER("address", ADDRESS, "Of element 0, on the device."),
    MEMBER("element_strides", ELEMENT_STRIDES,
           "Elements from one taken to the next."),
    MEMBER("mode", MODE, "Which encoder it is for."),
    MEMBER("interleave", INTERLEAVE, "The interleaved layout."),
    MEMBER("swizzle", SWIZZLE, "How shared memory banks are swizzled."),
    MEMBER("l2_promotion", L2_PROMOTION,
           "What the second level cache fetches."),
    MEMBER("oob_fill", OOB_FILL, "What is read out of bounds."),
    MEMBER("lower_corner", LOWER_CORNER, "Of the pixel box, W first."),
    MEMBER("upper_corner", UPPER_CORNER, "Of the pixel box, W first."),
    MEMBER("channels", CHANNELS, "Of a pixel."),
    MEMBER("pixels", PIXELS, "Of a column."),
    MEMBER("wide_mode", WIDE_MODE, "Which columns im2col-wide walks."),
    {"rank", spec_get_rank, NULL, PyDoc_STR("How many dims there are."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    spec_doc,
    "Spec(dtype, dims, box=None, *, strides=None, address=0, "
    "element_strides=None, mode='tiled', interleave='none', swizzle='none', "
    "l2_promotion='none', oob_fill='none', lower_corner=None, "
    "upper_corner=None, channels=0, pixels=0, wide_mode='w')\n--\n\n"
    "The parameters of one tensor map.\n\n"
    "dtype            \"bfloat16\", \"bf16\", torch.bfloat16, numpy.float32, "
    "...\n"
    "dims             elements along each dimension, the innermost first\n"
    "box              elements of the box along each; of tiled maps\n"
    "strides          bytes from one to the next, for dimensions 1 and up; "
    "those of a\n                 tensor without gaps unless given\n"
    "address          of element 0, on the device\n"
    "element_strides  elements from one taken to the next; 1 unless given\n"
    "mode             \"tiled\", \"im2col\", \"im2col_wide\"\n"
    "interleave, swizzle, l2_promotion, oob_fill, wide_mode\n"
    "                 by their names, CUDA's or short (\"128B\", \"nan\"), or "
    "as numbers\n"
    "lower_corner, upper_corner, channels, pixels\n"
    "                 of the im2col encoders\n\n"
    "It never changes; equal ones are equal, and find the same map in a cache. "
    "Any values that it can\nhold make one: check() says what an encoder "
    "thinks of them.");

static PyType_Slot slots[] = {
    {Py_tp_doc, (void *)spec_doc},
    {Py_tp_new, spec_new},
    {Py_tp_dealloc, spec_dealloc},
    {Py_tp_repr, spec_repr},
    {Py_tp_richcompare, spec_compare},
    {Py_tp_hash, spec_hash},
    {Py_tp_methods, methods},
    {Py_tp_getset, members},
    {0, NULL},
};

PyType_Spec spec_spec = {
    .name = "ashlar.Spec",
    .basicsize = sizeof(struct spec_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
