/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Encoded tensor maps: a slot of a pool, the spec, and who encoded it. */
#include "core.h"

#include <string.h>

/** ashlar.TensorMap */
struct map_object {
    PyObject_HEAD struct hold hold;
    struct source_object *source; /* a reference; it may be closed */
    PyObject *spec;               /* a reference, a Spec */
};

static struct map_object *map_of(PyObject *self)
{
    return (struct map_object *)self;
}

static struct hold *hold_of(PyObject *self)
{
    return &map_of(self)->hold;
}

/* --- where to ------------------------------------------------------------ */

/* A reference to the pool that was named, or to ashlar.cuda's own. */
static struct pool_object *find_pool(struct core_state *state, PyObject *given)
{
    PyObject *cuda, *pool;

    if (given != NULL && given != Py_None) {
        Py_INCREF(given);
        pool = given;
    } else {
        cuda = PyImport_ImportModule("ashlar.cuda");
        pool =
            cuda == NULL ? NULL : PyObject_CallMethod(cuda, "map_pool", NULL);
        Py_XDECREF(cuda);
    }
    if (pool == NULL)
        return NULL;
    if (Py_TYPE(pool) != state->pool_type) {
        PyErr_Format(PyExc_TypeError, "%R is no ashlar.Pool", pool);
        Py_DECREF(pool);
        return NULL;
    }
    return (struct pool_object *)pool;
}

/* Takes over a slot; NULL puts it back. */
static PyObject *map_new_of(struct pool_object *pool, void *slot,
                            struct source_object *source, PyObject *spec)
{
    struct map_object *map =
        PyObject_New(struct map_object, pool->state->map_type);

    if (map == NULL) {
        ashlar_pool_put(pool->pool, slot);
        return NULL;
    }
    hold_start(&map->hold, pool, slot, 0);
    Py_INCREF((PyObject *)source);
    map->source = source;
    Py_INCREF(spec);
    map->spec = spec;
    return (PyObject *)map;
}

/* --- many ---------------------------------------------------------------- */

/* Many specs that are being encoded. */
struct batch {
    struct source_object *source;
    struct pool_object *pool;
    PyObject *list; /* of Specs */
    struct ashlar_spec *specs;
    void **maps;
    size_t n;
};

static bool copy_specs(struct core_state *state, struct batch *batch)
{
    size_t i;

    batch->n = (size_t)PyList_Size(batch->list);
    batch->specs = PyMem_Calloc(batch->n + 1, sizeof(*batch->specs));
    batch->maps = PyMem_Calloc(batch->n + 1, sizeof(*batch->maps));
    if (batch->specs == NULL || batch->maps == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (i = 0; i < batch->n; i++) {
        const struct ashlar_spec *spec =
            spec_of(state, PyList_GetItem(batch->list, (Py_ssize_t)i));

        if (spec == NULL)
            return false;
        batch->specs[i] = *spec;
    }
    return true;
}

/* A list of TensorMaps; what found no object is put back. */
static PyObject *list_maps(struct batch *batch)
{
    PyObject *list = PyList_New((Py_ssize_t)batch->n);
    size_t i = 0;

    for (; list != NULL && i < batch->n; i++) {
        PyObject *map = map_new_of(batch->pool, batch->maps[i], batch->source,
                                   PyList_GetItem(batch->list, (Py_ssize_t)i));

        if (map == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, map);
    }
    if (list == NULL && i < batch->n)
        ashlar_pool_put_bulk(batch->pool->pool, batch->maps + i, batch->n - i,
                             NULL);
    return list;
}

static PyObject *encode_batch(struct core_state *state, struct batch *batch)
{
    size_t culprit = batch->n;
    PyThreadState *thread;
    enum ashlar_status status;
    PyObject *list = NULL;

    if (pool_open(batch->pool) == NULL ||
        stand_open(&batch->source->stand) == NULL)
        return NULL;
    /* Until the maps are objects nobody may destroy the pool. */
    batch->pool->calls++;
    thread = stand_leave_python(&batch->source->stand);
    status = ashlar_tensormap_encode_many(batch->source->stand.object,
                                          batch->pool->pool, batch->specs,
                                          batch->n, batch->maps, &culprit);
    stand_enter_python(&batch->source->stand, thread);
    if (status == ASHLAR_OK)
        list = list_maps(batch);
    else if (culprit < batch->n)
        spec_raise(state, &batch->specs[culprit], (Py_ssize_t)culprit);
    else
        core_raise(state);
    batch->pool->calls--;
    pool_collect(batch->pool);
    return list;
}

static PyObject *encode_many(PyObject *module, PyObject *args,
                             PyObject *keywords)
{
    static const char *const names[] = {"source", "specs", "pool", NULL};
    struct core_state *state = PyModule_GetState(module);
    PyObject *source, *specs, *pool = NULL, *maps = NULL;
    struct batch batch = {NULL, NULL, NULL, NULL, NULL, 0};

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$O:encode_many",
                                     (char **)names, &source, &specs, &pool))
        return NULL;
    batch.list = PySequence_List(specs);
    if (batch.list == NULL)
        return NULL;
    batch.source = source_of(state, source);
    if (batch.source != NULL)
        batch.pool = find_pool(state, pool);
    if (batch.pool != NULL && copy_specs(state, &batch))
        maps = encode_batch(state, &batch);
    PyMem_Free(batch.specs);
    PyMem_Free(batch.maps);
    Py_XDECREF((PyObject *)batch.pool);
    Py_DECREF(batch.list);
    return maps;
}

/* --- one ----------------------------------------------------------------- */

static PyObject *encode_one(struct core_state *state,
                            struct source_object *source, PyObject *spec,
                            struct pool_object *pool)
{
    const struct ashlar_spec *held = spec_of(state, spec);
    PyThreadState *thread;
    enum ashlar_status status;
    PyObject *map = NULL;
    size_t culprit = 1;
    void *slot;

    if (held == NULL || pool_open(pool) == NULL ||
        stand_open(&source->stand) == NULL)
        return NULL;
    pool->calls++;
    thread = stand_leave_python(&source->stand);
    status = ashlar_tensormap_encode_many(source->stand.object, pool->pool,
                                          held, 1, &slot, &culprit);
    stand_enter_python(&source->stand, thread);
    if (status == ASHLAR_OK)
        map = map_new_of(pool, slot, source, spec);
    else if (culprit == 0)
        spec_raise(state, held, -1);
    else
        core_raise(state);
    pool->calls--;
    pool_collect(pool);
    return map;
}

static PyObject *map_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"source", "spec", "pool", NULL};
    struct core_state *state = PyType_GetModuleState(type);
    PyObject *given, *spec, *named = NULL, *map;
    struct source_object *source;
    struct pool_object *pool;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO|$O:TensorMap",
                                     (char **)names, &given, &spec, &named))
        return NULL;
    source = source_of(state, given);
    pool = source == NULL ? NULL : find_pool(state, named);
    if (pool == NULL)
        return NULL;
    map = encode_one(state, source, spec, pool);
    Py_DECREF((PyObject *)pool);
    return map;
}

/* Into memory of the caller's, such as a slot of a run. */
static PyObject *encode_into(PyObject *module, PyObject *args,
                             PyObject *keywords)
{
    static const char *const names[] = {"source", "spec", "target", NULL};
    struct core_state *state = PyModule_GetState(module);
    PyObject *given, *spec, *target;
    const struct ashlar_spec *held;
    struct source_object *source;
    PyThreadState *thread;
    enum ashlar_status status;
    Py_buffer view;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:encode_into",
                                     (char **)names, &given, &spec, &target))
        return NULL;
    held = spec_of(state, spec);
    if (held == NULL || PyObject_GetBuffer(target, &view, PyBUF_WRITABLE) < 0)
        return NULL;
    source = source_of(state, given);
    if (source == NULL)
        goto done;
    if ((size_t)view.len < ASHLAR_TENSOR_MAP_BYTES) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "the target has %zd bytes; a tensor map needs %zu",
                      view.len, ASHLAR_TENSOR_MAP_BYTES);
        goto done;
    }
    thread = stand_leave_python(&source->stand);
    status = ashlar_tensormap_encode(source->stand.object, held, view.buf);
    stand_enter_python(&source->stand, thread);
    if (status != ASHLAR_OK)
        spec_raise(state, held, -1);
done:
    PyBuffer_Release(&view);
    if (PyErr_Occurred() != NULL)
        return NULL;
    Py_RETURN_NONE;
}

static void map_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    hold_end(hold_of(self), self);
    Py_DECREF((PyObject *)map_of(self)->source);
    Py_DECREF(map_of(self)->spec);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* Short, and no two at once, since the lock is held. */
static PyObject *map_rebase(PyObject *self, PyObject *number)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));
    struct map_object *map = map_of(self);
    struct ashlar_spec spec;
    PyObject *changed, *before;
    uint64_t address;

    if (!core_number(state, number, "address", &address) ||
        hold_address(&map->hold, self) == NULL ||
        stand_open(&map->source->stand) == NULL)
        return NULL;
    spec = *spec_of(state, map->spec);
    spec.address = address;
    changed = spec_new_of(state, &spec);
    if (changed == NULL)
        return NULL;
    if (ashlar_tensormap_rebase(map->source->stand.object, map->hold.address,
                                address) != ASHLAR_OK) {
        spec_raise(state, &spec, -1);
        Py_DECREF(changed);
        return NULL;
    }
    before = map->spec;
    map->spec = changed;
    Py_DECREF(before);
    Py_RETURN_NONE;
}

static PyObject *map_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    return hold_release(hold_of(self), self);
}

static PyObject *map_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (hold_address(hold_of(self), self) == NULL)
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *map_exit(PyObject *self, PyObject *const *unused,
                          Py_ssize_t count)
{
    (void)unused;
    (void)count;
    return hold_exit(hold_of(self));
}

/* --- asking -------------------------------------------------------------- */

static PyObject *map_int(PyObject *self)
{
    return hold_address_number(hold_of(self), self);
}

static PyObject *map_get_address(PyObject *self, void *unused)
{
    (void)unused;
    return map_int(self);
}

static PyObject *map_get_released(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(hold_of(self)->released);
}

static PyObject *map_get_spec(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF(map_of(self)->spec);
    return map_of(self)->spec;
}

static PyObject *map_get_source(PyObject *self, void *unused)
{
    (void)unused;
    Py_INCREF((PyObject *)map_of(self)->source);
    return (PyObject *)map_of(self)->source;
}

static PyObject *map_repr(PyObject *self)
{
    struct hold *hold = hold_of(self);

    if (hold->released)
        return PyUnicode_FromFormat(
            "<ashlar.TensorMap, released%s>",
            hold->pool == NULL ? "" : ", goes back with its last view");
    return PyUnicode_FromFormat("<ashlar.TensorMap at %p: %R>", hold->address,
                                map_of(self)->spec);
}

/* To be read: who writes into a map has another map. */
static int map_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    struct hold *hold = hold_of(self);
    char *address = hold_address(hold, self);

    view->obj = NULL;
    if (address == NULL ||
        PyBuffer_FillInfo(view, self, address,
                          (Py_ssize_t)ASHLAR_TENSOR_MAP_BYTES, 1, flags) < 0)
        return -1;
    hold->views++;
    return 0;
}

static void map_releasebuffer(PyObject *self, Py_buffer *view)
{
    (void)view;
    hold_forget_view(hold_of(self), self);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

PyMethodDef map_functions[] = {
    {"encode_many", WITH_KEYWORDS(encode_many), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("encode_many($module, /, source, specs, *, pool=None)\n--\n\n"
               "A list of TensorMaps of these Specs: all, or none. SpecError\n"
               "says which spec was refused, and why: all that is wrong with\n"
               "it. Other threads run meanwhile.")},
    {"encode_into", WITH_KEYWORDS(encode_into), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("encode_into($module, /, source, spec, target)\n--\n\n"
               "Encode into memory of yours, such as a slot of a Run: 128\n"
               "writable bytes at a multiple of 128.")},
    {NULL, NULL, 0, NULL},
};

static PyMethodDef map_methods[] = {
    {"rebase", map_rebase, METH_O,
     PyDoc_STR("rebase($self, address, /)\n--\n\n"
               "Give the map another address: as encoding anew, and faster.")},
    {"release", map_release, METH_NOARGS,
     PyDoc_STR("release($self, /)\n--\n\n"
               "Give its slot back, as Slot.release().")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", map_enter, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(map_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef map_members[] = {
    {"address", map_get_address, NULL,
     PyDoc_STR("Where the map is, a multiple of 128; its tensor's address is\n"
               "spec.address. Raises Error once released."),
     NULL},
    {"released", map_get_released, NULL,
     PyDoc_STR("Whether release() was called, or a `with` ended."), NULL},
    {"spec", map_get_spec, NULL, PyDoc_STR("The Spec that it is of."), NULL},
    {"source", map_get_source, NULL, PyDoc_STR("The Source that encoded it."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    map_doc,
    "TensorMap(source, spec, *, pool=None)\n--\n\n"
    "An encoded tensor map: 128 bytes at a multiple of 128.\n\n"
    "source  a Source that encodes: \"cuda\"\n"
    "spec    a Spec; SpecError says all that is wrong with one that is "
    "refused\n"
    "pool    of \"CUtensorMap\", to take a slot of; ashlar.cuda.map_pool() "
    "unless given\n\n"
    "memoryview(map) shows its bytes, int(map) is where they are, and "
    "ashlar.cuda.borrow(map)\nis a driver.CUtensorMap over them. Its slot goes "
    "back by release(), at the end of a\n`with`, or when nothing refers to it "
    "any more.");

static PyType_Slot map_slots[] = {
    {Py_tp_doc, (void *)map_doc},
    {Py_tp_new, map_new},
    {Py_tp_dealloc, map_dealloc},
    {Py_tp_repr, map_repr},
    {Py_tp_methods, map_methods},
    {Py_tp_getset, map_members},
    {Py_nb_int, map_int},
    {Py_bf_getbuffer, map_getbuffer},
    {Py_bf_releasebuffer, map_releasebuffer},
    {0, NULL},
};

PyType_Spec map_spec = {
    .name = "ashlar.TensorMap",
    .basicsize = sizeof(struct map_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = map_slots,
};
