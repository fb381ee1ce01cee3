/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* ashlar.Spec: struct ashlar_spec, with names for its settings. What a spec can
 * hold is taken as it is; whether an encoder takes it is check()'s to say. */
#include "core.h"

#include <stdint.h>
#include <string.h>

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

static PyObject *spec_new(PyTypeObject *type, PyObject *args,
                          PyObject *keywords)
{
    struct core_state *state = PyType_GetModuleState(type);
    struct ashlar_spec spec;

    if (!spec_parse(state, args, keywords, &spec))
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
