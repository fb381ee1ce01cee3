/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Slots of a table that were leased together. The library knows each lease of a
 * slot, so whatever other threads do meanwhile, a stale one is refused. */
#include "core.h"

#include <string.h>

/** ashlar.TableLease */
struct lease_of_table {
    PyObject_HEAD struct table_object *table; /* a reference; NULL: none yet */
    struct ashlar_tensormap_handle *handles;
    Py_ssize_t n;
    bool retired;
};

static struct lease_of_table *lease_of(PyObject *self)
{
    return (struct lease_of_table *)self;
}

static struct core_state *state_of(PyObject *self)
{
    return PyType_GetModuleState(Py_TYPE(self));
}

/* --- life ---------------------------------------------------------------- */

PyObject *leased_new(struct table_object *table, size_t n, bool run)
{
    struct stand *stand = &table->stand;
    struct lease_of_table *self;
    enum ashlar_status status;
    PyThreadState *thread;

    if (n > ASHLAR_TENSORMAP_TABLE_SLOTS_MAX)
        return core_raise_as(stand->state, ASHLAR_ERR_INVALID,
                             "n is %zu; a table has at most %zu slots", n,
                             ASHLAR_TENSORMAP_TABLE_SLOTS_MAX);
    self = PyObject_New(struct lease_of_table, stand->state->lease_type);
    if (self == NULL)
        return NULL;
    self->table = NULL;
    self->n = (Py_ssize_t)n;
    self->retired = false;
    self->handles = PyMem_Calloc(n + 1, sizeof(*self->handles));
    if (self->handles == NULL) {
        Py_DECREF((PyObject *)self);
        return PyErr_NoMemory();
    }
    thread = stand_leave_python(stand);
    status =
        run ? ashlar_tensormap_table_lease_run(stand->object, n, self->handles)
            : ashlar_tensormap_table_lease(stand->object, n, self->handles);
    PyEval_RestoreThread(thread);
    if (status == ASHLAR_OK) {
        Py_INCREF((PyObject *)table);
        self->table = table;
        stand_hold(stand, STANDS_LEASE);
    } else {
        core_raise(stand->state);
        Py_DECREF((PyObject *)self);
        self = NULL;
    }
    stand_return(stand);
    return (PyObject *)self;
}

static enum ashlar_status retire(struct lease_of_table *lease,
                                 const struct ashlar_fence *fences, size_t n)
{
    return ashlar_tensormap_table_retire(lease->table->stand.object,
                                         lease->handles, (size_t)lease->n,
                                         fences, n);
}

/* As the table's at_end says. Of a context that has failed all work is over. */
static enum ashlar_status retire_at_end(struct lease_of_table *lease)
{
    const struct fences *at_end = &lease->table->at_end;
    enum ashlar_status status = retire(lease, at_end->fence, at_end->n);

    if (status == ASHLAR_ERR_CONTEXT_FAILED)
        status = retire(lease, ASHLAR_QUIET, 1);
    return status;
}

static void was_retired(struct lease_of_table *lease)
{
    lease->retired = true;
    stand_drop(&lease->table->stand, STANDS_LEASE);
}

static void leased_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    struct lease_of_table *lease = lease_of(self);

    if (lease->table != NULL && !lease->retired) {
        if (retire_at_end(lease) != ASHLAR_OK)
            core_unraisable(self);
        was_retired(lease);
    }
    Py_XDECREF((PyObject *)lease->table);
    PyMem_Free(lease->handles);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Whether it is not retired yet; else an exception. */
static bool is_live(PyObject *self)
{
    if (!lease_of(self)->retired)
        return true;
    core_raise_for(self, ASHLAR_ERR_NOT_LIVE, "this lease was retired");
    return false;
}

static PyObject *retired_as(PyObject *self, enum ashlar_status status)
{
    if (status != ASHLAR_OK && status != ASHLAR_ERR_FORKED)
        return core_raise(state_of(self));
    was_retired(lease_of(self));
    Py_RETURN_NONE;
}

static PyObject *leased_retire(PyObject *self, PyObject *args,
                               PyObject *keywords)
{
    static const char *const names[] = {"after", NULL};
    PyObject *given = NULL, *answer = NULL;
    struct fences after;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O:retire",
                                     (char **)names, &given))
        return NULL;
    if (given == NULL || given == Py_None)
        return is_live(self) ? retired_as(self, retire_at_end(lease_of(self)))
                             : NULL;
    if (!fences_read(state_of(self), given, &after))
        return NULL;
    if (is_live(self))
        answer = retired_as(self, retire(lease_of(self), after.fence, after.n));
    fences_forget(&after);
    return answer;
}

static PyObject *leased_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (!is_live(self))
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *leased_exit(PyObject *self, PyObject *const *unused,
                             Py_ssize_t count)
{
    (void)unused;
    (void)count;
    if (lease_of(self)->retired)
        Py_RETURN_NONE;
    return retired_as(self, retire_at_end(lease_of(self)));
}

/* --- which slots --------------------------------------------------------- */

/* Some handles of a lease; all unless positions are given. */
struct chosen {
    struct ashlar_tensormap_handle *handles; /* the lease's, or made here */
    bool made;
    size_t n;
};

static bool position_of(PyObject *self, PyObject *given, Py_ssize_t *at_out)
{
    Py_ssize_t at = PyNumber_AsSsize_t(given, PyExc_IndexError);
    Py_ssize_t n = lease_of(self)->n;

    if (at == -1 && PyErr_Occurred() != NULL)
        return false;
    if (at < 0)
        at += n;
    if (at < 0 || at >= n) {
        PyErr_Format(PyExc_IndexError, "there are %zd slots in this lease", n);
        return false;
    }
    *at_out = at;
    return true;
}

static bool choose(PyObject *self, PyObject *given, struct chosen *chosen)
{
    struct lease_of_table *lease = lease_of(self);
    PyObject *list;
    size_t i;

    chosen->handles = lease->handles;
    chosen->made = false;
    chosen->n = (size_t)lease->n;
    if (given == NULL || given == Py_None)
        return true;
    list = PySequence_List(given);
    if (list == NULL)
        return false;
    chosen->n = (size_t)PyList_Size(list);
    chosen->made = true;
    chosen->handles = PyMem_Calloc(chosen->n + 1, sizeof(*chosen->handles));
    if (chosen->handles == NULL)
        PyErr_NoMemory();
    for (i = 0; chosen->handles != NULL && i < chosen->n; i++) {
        Py_ssize_t at;

        if (!position_of(self, PyList_GetItem(list, (Py_ssize_t)i), &at)) {
            PyMem_Free(chosen->handles);
            chosen->handles = NULL;
        } else {
            chosen->handles[i] = lease->handles[at];
        }
    }
    Py_DECREF(list);
    return chosen->handles != NULL;
}

static void unchoose(struct chosen *chosen)
{
    if (chosen->made)
        PyMem_Free(chosen->handles);
}

/* --- what is in them ----------------------------------------------------- */

/* The structs of as many Specs; NULL and an exception else. */
static struct ashlar_spec *copy_specs(struct core_state *state, PyObject *list,
                                      size_t n)
{
    struct ashlar_spec *specs;
    size_t i;

    if ((size_t)PyList_Size(list) != n) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "there are %zd specs for %zu slots", PyList_Size(list),
                      n);
        return NULL;
    }
    specs = PyMem_Calloc(n + 1, sizeof(*specs));
    if (specs == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (i = 0; i < n; i++) {
        const struct ashlar_spec *spec =
            spec_of(state, PyList_GetItem(list, (Py_ssize_t)i));

        if (spec == NULL) {
            PyMem_Free(specs);
            return NULL;
        }
        specs[i] = *spec;
    }
    return specs;
}

static void encode_chosen(PyObject *self, const struct chosen *chosen,
                          const struct ashlar_spec *specs)
{
    struct stand *stand = &lease_of(self)->table->stand;
    size_t culprit = chosen->n;
    enum ashlar_status status;
    PyThreadState *thread;

    thread = stand_leave_python(stand);
    status = ashlar_tensormap_table_encode_many(stand->object, chosen->handles,
                                                specs, chosen->n, &culprit);
    stand_enter_python(stand, thread);
    if (status == ASHLAR_OK)
        return;
    if (culprit < chosen->n)
        spec_raise(stand->state, &specs[culprit], (Py_ssize_t)culprit);
    else
        core_raise(stand->state);
}

static PyObject *done(void)
{
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *leased_encode(PyObject *self, PyObject *args,
                               PyObject *keywords)
{
    static const char *const names[] = {"specs", "which", NULL};
    PyObject *given, *which = NULL, *list;
    struct ashlar_spec *specs;
    struct chosen chosen;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:encode",
                                     (char **)names, &given, &which))
        return NULL;
    list = PySequence_List(given);
    if (list == NULL)
        return NULL;
    if (choose(self, which, &chosen)) {
        specs = copy_specs(state_of(self), list, chosen.n);
        if (specs != NULL && is_live(self))
            encode_chosen(self, &chosen, specs);
        PyMem_Free(specs);
        unchoose(&chosen);
    }
    Py_DECREF(list);
    return done();
}

static bool read_stream(PyObject *self, PyObject *given, uint64_t *stream_out)
{
    struct core_state *state = state_of(self);
    PyObject *number =
        PyObject_CallFunctionObjArgs(state->handle_of, given, NULL);
    bool right =
        number != NULL && core_number(state, number, "the stream", stream_out);

    Py_XDECREF(number);
    return right;
}

static PyObject *leased_publish(PyObject *self, PyObject *args,
                                PyObject *keywords)
{
    static const char *const names[] = {"stream", "which", NULL};
    struct stand *stand = &lease_of(self)->table->stand;
    PyObject *given, *which = NULL;
    enum ashlar_status status;
    struct chosen chosen;
    PyThreadState *thread;
    uint64_t stream;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:publish",
                                     (char **)names, &given, &which) ||
        !read_stream(self, given, &stream) || !choose(self, which, &chosen))
        return NULL;
    if (is_live(self)) {
        thread = stand_leave_python(stand);
        status = ashlar_tensormap_table_publish(stand->object, chosen.handles,
                                                chosen.n, stream);
        stand_enter_python(stand, thread);
        if (status != ASHLAR_OK)
            core_raise(stand->state);
    }
    unchoose(&chosen);
    return done();
}

/* The bytes of an encoded map; false and an exception for anything else. */
static bool read_map(struct core_state *state, PyObject *given, char *map)
{
    Py_buffer view;
    bool right;

    if (PyObject_GetBuffer(given, &view, PyBUF_SIMPLE) < 0)
        return false;
    right = (size_t)view.len == ASHLAR_TENSOR_MAP_BYTES;
    if (right)
        memcpy(map, view.buf, ASHLAR_TENSOR_MAP_BYTES);
    else
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "a tensor map has %zu bytes; the source has %zd",
                      ASHLAR_TENSOR_MAP_BYTES, view.len);
    PyBuffer_Release(&view);
    return right;
}

static PyObject *leased_fill(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"i", "map", NULL};
    struct lease_of_table *lease = lease_of(self);
    struct stand *stand = &lease->table->stand;
    char map[ASHLAR_TENSOR_MAP_BYTES];
    PyObject *place, *given;
    Py_ssize_t at;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:fill", (char **)names,
                                     &place, &given) ||
        !position_of(self, place, &at) || !read_map(stand->state, given, map) ||
        !is_live(self))
        return NULL;
    return stand_answer(stand, ashlar_tensormap_table_fill(
                                   stand->object, lease->handles[at], map));
}

static PyObject *leased_rewrite(PyObject *self, PyObject *args,
                                PyObject *keywords)
{
    static const char *const names[] = {"i", "map", "stream", NULL};
    struct lease_of_table *lease = lease_of(self);
    struct stand *stand = &lease->table->stand;
    char map[ASHLAR_TENSOR_MAP_BYTES];
    PyObject *place, *given, *queue;
    enum ashlar_status status;
    PyThreadState *thread;
    uint64_t stream;
    Py_ssize_t at;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:rewrite",
                                     (char **)names, &place, &given, &queue) ||
        !position_of(self, place, &at) || !read_stream(self, queue, &stream) ||
        !read_map(stand->state, given, map) || !is_live(self))
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_tensormap_table_rewrite(stand->object, lease->handles[at],
                                            map, stream);
    stand_enter_python(stand, thread);
    return stand_answer(stand, status);
}

/* A copy, since nobody could watch the map itself. */
static PyObject *leased_map(PyObject *self, PyObject *place)
{
    struct lease_of_table *lease = lease_of(self);
    struct stand *stand = &lease->table->stand;
    const void *map;
    Py_ssize_t at;

    if (!position_of(self, place, &at) || !is_live(self))
        return NULL;
    map = ashlar_tensormap_table_map(stand->object, lease->handles[at]);
    return map == NULL ? core_raise(stand->state)
                       : PyBytes_FromStringAndSize(
                             map, (Py_ssize_t)ASHLAR_TENSOR_MAP_BYTES);
}

/* --- asking -------------------------------------------------------------- */

static Py_ssize_t leased_length(PyObject *self)
{
    return lease_of(self)->n;
}

static PyObject *leased_item(PyObject *self, Py_ssize_t at)
{
    static const char *const states[] = {
        [ASHLAR_TENSORMAP_EMPTY] = "empty",
        [ASHLAR_TENSORMAP_ENCODED] = "encoded",
        [ASHLAR_TENSORMAP_PUBLISHED] = "published",
        [ASHLAR_TENSORMAP_IN_HAND] = "in hand",
    };
    struct ashlar_tensormap_slot slot = ASHLAR_TENSORMAP_SLOT_INIT;
    struct lease_of_table *lease = lease_of(self);
    struct stand *stand = &lease->table->stand;

    if (at < 0 || at >= lease->n) {
        PyErr_Format(PyExc_IndexError, "there are %zd slots in this lease",
                     lease->n);
        return NULL;
    }
    if (!is_live(self))
        return NULL;
    if (ashlar_tensormap_table_look(stand->object, lease->handles[at], &slot) !=
        ASHLAR_OK)
        return core_raise(stand->state);
    return PyObject_CallFunction(
        stand->state->table_slot, "IKsN", lease->handles[at].index,
        (unsigned long long)slot.address,
        slot.state >= 1 && slot.state <= ASHLAR_TENSORMAP_IN_HAND
            ? states[slot.state]
            : "?",
        PyBool_FromLong(slot.fresh != 0));
}

static PyObject *leased_get_indices(PyObject *self, void *unused)
{
    struct lease_of_table *lease = lease_of(self);
    PyObject *tuple;
    Py_ssize_t i;

    (void)unused;
    if (!is_live(self))
        return NULL;
    tuple = PyTuple_New(lease->n);
    for (i = 0; tuple != NULL && i < lease->n; i++) {
        PyObject *index = PyLong_FromUnsignedLong(lease->handles[i].index);

        if (index == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SetItem(tuple, i, index);
    }
    return tuple;
}

static PyObject *leased_get_table(PyObject *self, void *unused)
{
    PyObject *table = (PyObject *)lease_of(self)->table;

    (void)unused;
    Py_INCREF(table);
    return table;
}

static PyObject *leased_get_retired(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(lease_of(self)->retired);
}

static PyObject *leased_repr(PyObject *self)
{
    return PyUnicode_FromFormat("<ashlar.TableLease of %zd slots%s>",
                                lease_of(self)->n,
                                lease_of(self)->retired ? ", retired" : "");
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef leased_methods[] = {
    {"encode", WITH_KEYWORDS(leased_encode), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("encode($self, specs, which=None)\n--\n\n"
               "Encode as many Specs into the host slots: all, or all are\n"
               "empty; which: of these positions. SpecError says which spec\n"
               "was refused. Not once they are published.")},
    {"fill", WITH_KEYWORDS(leased_fill), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("fill($self, i, map)\n--\n\n"
               "Copy an encoded map into host slot i: a TensorMap, a\n"
               "CachedMap, or 128 bytes.")},
    {"publish", WITH_KEYWORDS(leased_publish), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("publish($self, stream, which=None)\n--\n\n"
               "Queue on a stream what copies the maps to the device: kernels\n"
               "that are queued behind it there find them. A published slot\n"
               "does not change.")},
    {"rewrite", WITH_KEYWORDS(leased_rewrite), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("rewrite($self, i, map, stream)\n--\n\n"
               "Give published slot i another map, in the order of a stream's\n"
               "work. Kernels that use it from then on have to acquire it\n"
               "first: fence.proxy.tensormap::generic.acquire.sys.")},
    {"map", leased_map, METH_O,
     PyDoc_STR("map($self, i, /)\n--\n\n"
               "A copy of host slot i's map, as bytes.")},
    {"retire", WITH_KEYWORDS(leased_retire), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("retire($self, *, after=None)\n--\n\n"
               "Give the slots back. They are leased again when the fences of\n"
               "the work that reads them have passed: the table's at_end\n"
               "unless given.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", leased_enter, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(leased_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef leased_members[] = {
    {"indices", leased_get_indices, NULL,
     PyDoc_STR("Which slots of the table they are: map i is at\n"
               "table.address + 128 * indices[i]. Raises Error once retired."),
     NULL},
    {"table", leased_get_table, NULL, PyDoc_STR("The table they are of."),
     NULL},
    {"retired", leased_get_retired, NULL,
     PyDoc_STR("Whether retire() was called, or a `with` ended."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(leased_doc,
             "Slots of a table, leased together: TensorMapTable.lease().\n\n"
             "lease[i] tells of slot i, as TableSlot. They go back by "
             "retire(), at the end of a `with`, or\nwhen nothing refers to "
             "the lease any more, with the table's at_end; until then it "
             "keeps its\ntable alive.");

static PyType_Slot leased_slots[] = {
    {Py_tp_doc, (void *)leased_doc},
    {Py_tp_dealloc, leased_dealloc},
    {Py_tp_repr, leased_repr},
    {Py_tp_methods, leased_methods},
    {Py_tp_getset, leased_members},
    {Py_tp_iter, PySeqIter_New},
    {Py_sq_length, leased_length},
    {Py_sq_item, leased_item},
    {0, NULL},
};

PyType_Spec leased_spec = {
    .name = "ashlar.TableLease",
    .basicsize = sizeof(struct lease_of_table),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = leased_slots,
};
