/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The cache of tensor maps, and the maps that somebody holds of it. */
#include "core.h"

#include <stdint.h>

static struct stand *stand_of(PyObject *self)
{
    return &((struct stand_object *)self)->stand;
}

/** ashlar.CachedMap */
struct cached_object {
    PyObject_HEAD struct lease lease;
    PyObject *spec; /* a reference, a Spec */
};

/* --- the cache ----------------------------------------------------------- */

static enum ashlar_status cache_destroy(struct stand *stand,
                                        const struct fences *fences)
{
    (void)fences;
    return ashlar_tensormap_cache_destroy(stand->object);
}

static const struct stand_kind cache_kind = {
    .name = "cache",
    .destroy = cache_destroy,
    .stander = STANDS_CACHE,
};

static bool make(struct stand *stand,
                 const struct ashlar_tensormap_cache_options *options)
{
    struct ashlar_tensormap_cache *cache = NULL;
    struct stand *base = &stand->base->stand;
    enum ashlar_status status;
    PyThreadState *thread;

    thread = stand_leave_python(base);
    status = ashlar_tensormap_cache_create(base->object, options, &cache);
    PyEval_RestoreThread(thread);
    if (status == ASHLAR_OK)
        stand_made(stand, cache);
    else
        core_raise(stand->state);
    stand_return(base);
    return status == ASHLAR_OK;
}

static PyObject *cache_new(PyTypeObject *type, PyObject *args,
                           PyObject *keywords)
{
    static const char *const names[] = {"source", "slots", "name", NULL};
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    struct core_state *state = PyType_GetModuleState(type);
    PyObject *given, *slots = NULL;
    struct source_object *source;
    struct stand_object *self;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$Oz:TensorMapCache",
                                     (char **)names, &given, &slots,
                                     &options.name) ||
        (slots != NULL && slots != Py_None &&
         !core_count(state, slots, "slots", &options.slots)))
        return NULL;
    source = source_of(state, given);
    self = source == NULL ? NULL : PyObject_New(struct stand_object, type);
    if (self == NULL)
        return NULL;
    stand_start(&self->stand, state, &cache_kind,
                (struct stand_object *)source);
    if (!make(&self->stand, &options)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void cache_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    stand_end(stand_of(self), self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* --- its maps ------------------------------------------------------------ */

static enum ashlar_status give(struct stand_object *owner, void *address)
{
    return ashlar_tensormap_cache_put(owner->stand.object, address);
}

static const struct lease_kind cached_kind = {
    .name = "map",
    .stander = STANDS_MAP,
    .give = give,
};

/* The lock is held: a map that is there is found in less time than it takes to
 * give the lock away, and so is most encoding. */
static PyObject *cache_get(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"spec", "context", NULL};
    struct stand *stand = stand_of(self);
    const struct ashlar_spec *spec;
    PyObject *given, *number = NULL;
    struct cached_object *cached;
    const void *address;
    uint64_t context = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:get", (char **)names,
                                     &given, &number) ||
        !core_set_number(stand->state, number, "context", &context) ||
        stand_open(stand) == NULL)
        return NULL;
    spec = spec_of(stand->state, given);
    if (spec == NULL)
        return NULL;
    cached = PyObject_New(struct cached_object, stand->state->cached_type);
    if (cached == NULL)
        return NULL;
    cached->lease.owner = NULL;
    Py_INCREF(given);
    cached->spec = given;
    if (ashlar_tensormap_cache_get(stand->object, spec, context, &address) !=
        ASHLAR_OK) {
        spec_raise(stand->state, spec, -1);
        Py_DECREF((PyObject *)cached);
        return NULL;
    }
    lease_start(&cached->lease, &cached_kind, (struct stand_object *)self,
                address, ASHLAR_TENSOR_MAP_BYTES);
    return (PyObject *)cached;
}

static PyObject *cache_invalidate(PyObject *self, PyObject *args,
                                  PyObject *keywords)
{
    static const char *const names[] = {"address", "bytes", NULL};
    struct stand *stand = stand_of(self);
    PyObject *from, *length;
    enum ashlar_status status;
    PyThreadState *thread;
    uint64_t address, bytes;
    size_t dropped = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:invalidate",
                                     (char **)names, &from, &length) ||
        !core_number(stand->state, from, "address", &address) ||
        !core_number(stand->state, length, "bytes", &bytes) ||
        stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_tensormap_cache_invalidate(stand->object, address, bytes,
                                               &dropped);
    stand_enter_python(stand, thread);
    if (status != ASHLAR_OK)
        return core_raise(stand->state);
    return PyLong_FromSize_t(dropped);
}

static PyObject *cache_stats(PyObject *self, PyObject *unused)
{
    struct ashlar_tensormap_cache_stats stats =
        ASHLAR_TENSORMAP_CACHE_STATS_INIT;
    struct stand *stand = stand_of(self);

    (void)unused;
    if (stand_open(stand) == NULL)
        return NULL;
    if (ashlar_tensormap_cache_query(stand->object, &stats) != ASHLAR_OK)
        return core_raise(stand->state);
#define N(_member) (unsigned long long)stats._member
    return PyObject_CallFunction(stand->state->cache_stats, "KKKKKKKKK",
                                 N(slots), N(maps), N(held), N(hits), N(misses),
                                 N(waits), N(evictions), N(invalidations),
                                 N(refusals));
#undef N
}

static PyObject *cache_repr(PyObject *self)
{
    struct ashlar_tensormap_cache_stats stats =
        ASHLAR_TENSORMAP_CACHE_STATS_INIT;
    struct stand *stand = stand_of(self);

    if (stand->object == NULL || stand->closed ||
        ashlar_tensormap_cache_query(stand->object, &stats) != ASHLAR_OK)
        return PyUnicode_FromString("<ashlar.TensorMapCache, closed>");
    return PyUnicode_FromFormat(
        "<ashlar.TensorMapCache: %llu maps in %llu slots>",
        (unsigned long long)stats.maps, (unsigned long long)stats.slots);
}

static struct lease *lease_of(PyObject *self)
{
    return &((struct lease_object *)self)->lease;
}

static void cached_dealloc(PyObject *self)
{
    PyObject *spec = ((struct cached_object *)self)->spec;

    lease_dealloc(self);
    Py_DECREF(spec);
}

static PyObject *cached_release(PyObject *self, PyObject *unused)
{
    (void)unused;
    return lease_release(lease_of(self), self);
}

static int cached_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    return lease_fill(lease_of(self), self, view, true, flags);
}

static PyObject *cached_get_spec(PyObject *self, void *unused)
{
    PyObject *spec = ((struct cached_object *)self)->spec;

    (void)unused;
    Py_INCREF(spec);
    return spec;
}

static PyObject *cached_repr(PyObject *self)
{
    struct lease *lease = lease_of(self);

    if (lease->released)
        return PyUnicode_FromFormat(
            "<ashlar.CachedMap, released%s>",
            lease->owner == NULL ? "" : ", goes back with its last view");
    return PyUnicode_FromFormat("<ashlar.CachedMap at %p: %R>", lease->address,
                                ((struct cached_object *)self)->spec);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef cache_methods[] = {
    {"get", WITH_KEYWORDS(cache_get), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("get($self, spec, context=0)\n--\n\n"
               "The map of a Spec, encoded if it is not there: a CachedMap,\n"
               "which stays as it is while you hold it. Error, status LIMIT,\n"
               "when all slots are held.\n\n"
               "context: a number that goes into the key, such as the id of\n"
               "the context that the address belongs to.")},
    {"invalidate", WITH_KEYWORDS(cache_invalidate),
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("invalidate($self, address, bytes)\n--\n\n"
               "Forget the maps of tensors that have bytes there, when a\n"
               "buffer is freed; how many. Those that are held stay.")},
    {"stats", cache_stats, METH_NOARGS,
     PyDoc_STR("stats($self, /)\n--\n\n"
               "What it did and has, as TensorMapCacheStats.")},
    {"close", stand_close_now, METH_NOARGS,
     PyDoc_STR("close($self, /)\n--\n\n"
               "Destroy its maps. Error, status BUSY, while some are held.\n"
               "Twice is fine.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", stand_enter_with, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(stand_exit_with), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef cache_members[] = {
    {"closed", stand_get_closed, NULL, PyDoc_STR("Whether it was closed."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(cache_doc,
             "TensorMapCache(source, *, slots=None, name=None)\n--\n\n"
             "Encoded tensor maps, by their specs.\n\n"
             "source  a Source that encodes: \"cuda\"\n"
             "slots   the most maps that it ever has; 4,096 unless given. "
             "Then one goes that\n        nobody holds\n"
             "name    for reports\n\n"
             "Any thread may use it. It lives as long as anything refers to "
             "it, its maps included.");

static PyType_Slot cache_slots[] = {
    {Py_tp_doc, (void *)cache_doc},
    {Py_tp_new, cache_new},
    {Py_tp_dealloc, cache_dealloc},
    {Py_tp_repr, cache_repr},
    {Py_tp_methods, cache_methods},
    {Py_tp_getset, cache_members},
    {0, NULL},
};

PyType_Spec cache_spec = {
    .name = "ashlar.TensorMapCache",
    .basicsize = sizeof(struct stand_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = cache_slots,
};

static PyMethodDef cached_methods[] = {
    {"release", cached_release, METH_NOARGS,
     PyDoc_STR(
         "release($self, /)\n--\n\n"
         "Hold it no longer, once no view of it is left; it stays in the\n"
         "cache for the next who asks. A second release() raises Error,\n"
         "whose status is NOT_LIVE.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", lease_enter_with, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(lease_exit_with), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef cached_members[] = {
    {"address", lease_get_address, NULL,
     PyDoc_STR("Where the map is, a multiple of 128. Raises Error once\n"
               "released."),
     NULL},
    {"spec", cached_get_spec, NULL, PyDoc_STR("The Spec that it is of."), NULL},
    {"released", lease_get_released, NULL,
     PyDoc_STR("Whether release() was called, or a `with` ended."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(cached_doc,
             "A map of a cache, held: TensorMapCache.get().\n\n"
             "memoryview(map) shows its 128 bytes, to be read; int(map) is "
             "where they are. It is held\nuntil release(), the end of a "
             "`with`, or until nothing refers to it any more.");

static PyType_Slot cached_slots[] = {
    {Py_tp_doc, (void *)cached_doc},
    {Py_tp_dealloc, cached_dealloc},
    {Py_tp_repr, cached_repr},
    {Py_tp_methods, cached_methods},
    {Py_tp_getset, cached_members},
    {Py_nb_int, lease_int},
    {Py_bf_getbuffer, cached_getbuffer},
    {Py_bf_releasebuffer, lease_releasebuffer},
    {0, NULL},
};

PyType_Spec cached_spec = {
    .name = "ashlar.CachedMap",
    .basicsize = sizeof(struct cached_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = cached_slots,
};
