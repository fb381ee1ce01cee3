/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What is wrong with a spec, as Findings, and as an exception. */
#include "core.h"

static bool is_array(uint32_t field)
{
    return field >= ASHLAR_SPEC_FIELD_DIMS &&
           field <= ASHLAR_SPEC_FIELD_UPPER_CORNER;
}

static bool is_corner(uint32_t field)
{
    return field == ASHLAR_SPEC_FIELD_LOWER_CORNER ||
           field == ASHLAR_SPEC_FIELD_UPPER_CORNER;
}

/* A value of a field, of its sign; a setting by its name. */
static PyObject *value_of(uint32_t field, uint64_t value)
{
    if (is_corner(field))
        return PyLong_FromLongLong((int64_t)value);
    if (value <= UINT32_MAX && ashlar_spec_name((enum ashlar_spec_field)field,
                                                (uint32_t)value) != NULL)
        return spec_setting((enum ashlar_spec_field)field, (uint32_t)value);
    return PyLong_FromUnsignedLongLong(value);
}

static PyObject *field_or_none(uint32_t field)
{
    if (field == ASHLAR_SPEC_FIELD_NONE)
        Py_RETURN_NONE;
    return PyUnicode_FromString(
        ashlar_spec_field_name((enum ashlar_spec_field)field));
}

static PyObject *index_or_none(const struct ashlar_spec_finding *finding)
{
    if (!is_array(finding->field))
        Py_RETURN_NONE;
    return PyLong_FromUnsignedLong(finding->index);
}

static PyObject *cause_or_none(const struct ashlar_spec_finding *finding)
{
    if (finding->cause == ASHLAR_SPEC_FIELD_NONE)
        Py_RETURN_NONE;
    return value_of(finding->cause, finding->cause_value);
}

static PyObject *finding_new(struct core_state *state,
                             const struct ashlar_spec_finding *finding)
{
    char sentence[256];

    ashlar_spec_explain(finding, NULL, sentence, sizeof(sentence));
    return PyObject_CallFunction(
        state->finding, "ssNNNKNNNs",
        ashlar_spec_rule_name((enum ashlar_spec_rule)finding->rule),
        finding->severity == ASHLAR_SPEC_ERROR ? "error" : "warning",
        field_or_none(finding->field), index_or_none(finding),
        value_of(finding->field, finding->value),
        (unsigned long long)finding->bound,
        value_of(finding->field, finding->right), field_or_none(finding->cause),
        cause_or_none(finding), sentence);
}

/* Those of one severity, or of any when it is 0. */
static PyObject *list_of(struct core_state *state,
                         const struct ashlar_spec_finding *findings, size_t n,
                         uint32_t severity)
{
    PyObject *list = PyList_New(0);
    size_t i;

    for (i = 0; list != NULL && i < n; i++) {
        PyObject *finding;

        if (severity != 0 && findings[i].severity != severity)
            continue;
        finding = finding_new(state, &findings[i]);
        if (finding == NULL || PyList_Append(list, finding) < 0)
            Py_CLEAR(list);
        Py_XDECREF(finding);
    }
    return list;
}

static PyObject *raise_findings(struct core_state *state, PyObject *list,
                                Py_ssize_t index)
{
    PyObject *error = NULL;

    if (list != NULL)
        error = index < 0 ? PyObject_CallFunction(state->spec_error, "N", list)
                          : PyObject_CallFunction(state->spec_error, "Nn", list,
                                                  index);
    if (error != NULL) {
        PyErr_SetObject(state->spec_error, error);
        Py_DECREF(error);
    }
    return NULL;
}

PyObject *spec_raise(struct core_state *state, const struct ashlar_spec *spec,
                     Py_ssize_t index)
{
    struct ashlar_spec_finding findings[ASHLAR_SPEC_FINDINGS_MAX];
    size_t n = 0;

    /* A check that finds nothing leaves the last error as it is. */
    if (ashlar_last_error() != ASHLAR_ERR_INVALID ||
        ashlar_spec_check(spec, 0, findings, ASHLAR_SPEC_FINDINGS_MAX, &n) ==
            ASHLAR_OK)
        return core_raise(state);
    return raise_findings(state, list_of(state, findings, n, ASHLAR_SPEC_ERROR),
                          index);
}

/* The findings; -1 and an exception for a bad capability. */
static Py_ssize_t find(struct core_state *state, PyObject *self, PyObject *args,
                       PyObject *keywords, struct ashlar_spec_finding *findings)
{
    static const char *const names[] = {"capability", NULL};
    const struct ashlar_spec *spec = &((struct spec_object *)self)->spec;
    PyObject *number = NULL;
    uint64_t capability = 0;
    size_t n = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:check", (char **)names,
                                     &number) ||
        !core_set_number(state, number, "capability", &capability))
        return -1;
    if (capability > 1000) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "capability is %R; give it times ten, such as 90 for 9.0",
                      number);
        return -1;
    }
    (void)ashlar_spec_check(spec, (uint32_t)capability, findings,
                            ASHLAR_SPEC_FINDINGS_MAX, &n);
    return (Py_ssize_t)n;
}

PyObject *spec_check(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));
    struct ashlar_spec_finding findings[ASHLAR_SPEC_FINDINGS_MAX];
    Py_ssize_t n = find(state, self, args, keywords, findings);

    if (n < 0)
        return NULL;
    /* Errors come first. */
    if (n > 0 && findings[0].severity == ASHLAR_SPEC_ERROR)
        return raise_findings(
            state, list_of(state, findings, (size_t)n, ASHLAR_SPEC_ERROR), -1);
    return list_of(state, findings, (size_t)n, 0);
}

PyObject *spec_findings(PyObject *self, PyObject *args, PyObject *keywords)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));
    struct ashlar_spec_finding findings[ASHLAR_SPEC_FINDINGS_MAX];
    Py_ssize_t n = find(state, self, args, keywords, findings);

    return n < 0 ? NULL : list_of(state, findings, (size_t)n, 0);
}
