/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What the parts of the extension module ashlar._core share.
 *
 *     Row ──> Run ──┐
 *                   ├──> Pool ──> struct ashlar_pool
 *            Slot ──┘
 *
 * Invariants:
 *   - an arrow is a reference: what is below lives as long as what is above;
 *   - a slot or run is put exactly once: when it was released, by the caller
 *     or by its end, and nobody looks at its memory any more;
 *   - no object refers upwards, so there are no cycles and nothing here takes
 *     part in garbage collection but by reference counts.
 *
 * Built on the limited API of Python 3.11. All state is the module's, so every
 * interpreter has its own. Everything is called with the interpreter's lock
 * held, which is what keeps an object's members together.
 */
#ifndef ASHLAR_PYTHON_CORE_H
#define ASHLAR_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>

#include <ashlar.h>

/** What one interpreter's module knows. */
struct core_state {
    PyObject *error;      /* ashlar.Error */
    PyObject *type_info;  /* ashlar.TypeInfo */
    PyObject *pool_stats; /* ashlar.PoolStats */
    PyTypeObject *pool_type;
    PyTypeObject *slot_type;
    PyTypeObject *run_type;
    PyTypeObject *row_type;
};

/** ashlar.Pool */
struct pool_object {
    PyObject_HEAD struct ashlar_pool *pool; /* NULL: never made, or destroyed */
    struct core_state *state;
    const char *type_name; /* the library's, never freed */
    Py_ssize_t size;       /* bytes of an object */
    Py_ssize_t stride;     /* bytes from slot to slot */
    Py_ssize_t alignment;
    Py_ssize_t calls; /* in the library without the interpreter's lock */
    bool closed;
};

/**
 * What a slot and a run have in common: memory that is put when it was
 * released and no view of it is left.
 */
struct hold {
    struct pool_object *pool; /* NULL once the memory was put */
    char *address;
    Py_ssize_t slots; /* 0: a single slot; else a run of so many */
    Py_ssize_t views; /* memoryviews, and rows of a run */
    bool released;
};

/** ashlar.Slot */
struct slot_object {
    PyObject_HEAD struct hold hold;
};

/** ashlar.Run */
struct run_object {
    PyObject_HEAD struct hold hold;
    Py_ssize_t shape[2];   /* slots, stride: for views */
    Py_ssize_t strides[2]; /* stride, 1 */
};

/* error.c */

/** Raise the library's last error as ashlar.Error; returns NULL. */
PyObject *core_raise(struct core_state *state);

/** Raise ashlar.Error with a sentence of our own; returns NULL. */
PyObject *core_raise_as(struct core_state *state, enum ashlar_status status,
                        const char *format, ...);

/** The same from a method: the state is found by the object. */
PyObject *core_raise_for(PyObject *self, enum ashlar_status status,
                         const char *format, ...);

/**
 * A count that the caller gave, into *count_out. Anything that is no number
 * of slots raises.
 */
bool core_count(struct core_state *state, PyObject *number, const char *what,
                size_t *count_out);

/** The UTF-8 of a str without zeros in it; NULL and an exception else. */
const char *core_text(PyObject *given);

/** __reduce__ of all that is memory, and so cannot be copied. */
PyObject *core_no_copy(PyObject *self, PyObject *unused);

/** Tell of a put that was refused where nobody can catch an exception. */
void core_unraisable(PyObject *self);

/* hold.c */

/** Take a slot (slots is 0) or run over. */
void hold_start(struct hold *hold, struct pool_object *pool, void *address,
                Py_ssize_t slots);

/** The caller releases: NULL and an exception if it did before. */
PyObject *hold_release(struct hold *hold, PyObject *self);

/** The end of a `with`: as hold_release(), but it may be released already. */
PyObject *hold_exit(struct hold *hold);

/** The object ends: put what was not. */
void hold_end(struct hold *hold, PyObject *self);

/** One view less; the last one of a released hold puts it. */
void hold_forget_view(struct hold *hold, PyObject *self);

/** Mark as put by somebody else: pool_put_many(). */
void hold_was_put(struct hold *hold);

/** The address; NULL and an exception when it was released. */
char *hold_address(struct hold *hold, PyObject *self);

PyObject *hold_address_number(struct hold *hold, PyObject *self);

/** Fill `bytes` from the address on with zeros. */
PyObject *hold_zero(struct hold *hold, PyObject *self, Py_ssize_t bytes);

/* pool.c */

extern PyType_Spec pool_spec;

/** Go into the library without the interpreter's lock, and come back. */
PyThreadState *pool_leave_python(struct pool_object *pool);
void pool_enter_python(struct pool_object *pool, PyThreadState *thread);

/** Destroy the library's pool if it was closed and nothing holds it. */
void pool_collect(struct pool_object *pool);

/** The library's pool; NULL and an exception when it was closed. */
struct ashlar_pool *pool_open(struct pool_object *pool);

/* slot.c, run.c, bulk.c, type.c */

extern PyType_Spec slot_spec;
extern PyType_Spec run_spec;
extern PyType_Spec row_spec;

PyObject *slot_new(struct pool_object *pool, void *address);
PyObject *run_new(struct pool_object *pool, void *address, Py_ssize_t slots);

PyObject *pool_get_many(PyObject *self, PyObject *number);
PyObject *pool_put_many(PyObject *self, PyObject *slots);

PyObject *type_info_new(struct core_state *state,
                        const struct ashlar_type *type);
extern PyMethodDef type_functions[];

#endif
