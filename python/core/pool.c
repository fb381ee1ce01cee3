/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static struct pool_object *pool_of(PyObject *self)
{
    return (struct pool_object *)self;
}

/* --- life ---------------------------------------------------------------- */

PyThreadState *pool_leave_python(struct pool_object *pool)
{
    pool->calls++;
    return PyEval_SaveThread();
}

void pool_enter_python(struct pool_object *pool, PyThreadState *thread)
{
    PyEval_RestoreThread(thread);
    pool->calls--;
    pool_collect(pool);
}

void pool_collect(struct pool_object *pool)
{
    if (!pool->closed || pool->calls != 0 || pool->pool == NULL)
        return;
    /* Busy: the next slot that is put tries again. */
    if (ashlar_pool_destroy(pool->pool, 0) != ASHLAR_ERR_BUSY)
        pool->pool = NULL;
}

struct ashlar_pool *pool_open(struct pool_object *pool)
{
    if (pool->closed) {
        core_raise_as(pool->state, ASHLAR_ERR_STALE, "the pool was closed");
        return NULL;
    }
    return pool->pool;
}

static void pool_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    /* No slot of ours is left. If C code of the process holds one, the
     * library says busy and the pool stays, which is what that code needs. */
    pool_of(self)->closed = true;
    pool_collect(pool_of(self));
    PyObject_Free(self);
    Py_DECREF(type);
}

static bool make(struct pool_object *pool, const struct ashlar_type *type,
                 const struct ashlar_pool_options *options, size_t reserve)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    enum ashlar_status status;
    PyThreadState *thread;

    thread = PyEval_SaveThread();
    status = ashlar_pool_create(type, options, &pool->pool);
    if (status == ASHLAR_OK && reserve > 0) {
        status = ashlar_pool_reserve(pool->pool, reserve);
        if (status != ASHLAR_OK) {
            ashlar_pool_destroy(pool->pool, 0);
            pool->pool = NULL;
        }
    }
    PyEval_RestoreThread(thread);
    if (status != ASHLAR_OK || ashlar_type_query(type, &info) != ASHLAR_OK) {
        core_raise(pool->state);
        return false;
    }
    pool->type_name = info.name;
    pool->size = (Py_ssize_t)info.object_size;
    pool->stride = (Py_ssize_t)info.stride;
    pool->alignment = (Py_ssize_t)info.alignment;
    return true;
}

static bool set_count(struct core_state *state, PyObject *given,
                      const char *what, size_t *count)
{
    return given == NULL || given == Py_None ||
           core_count(state, given, what, count);
}

static PyObject *pool_new(PyTypeObject *self_type, PyObject *args,
                          PyObject *keywords)
{
    static const char *const names[] = {"type",        "reserve", "max_slots",
                                        "cache_slots", "name",    "unchecked",
                                        "huge_pages",  NULL};
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct core_state *state = PyType_GetModuleState(self_type);
    PyObject *given, *reserve = NULL, *max_slots = NULL, *cache_slots = NULL;
    int unchecked = 0, huge_pages = 0;
    const struct ashlar_type *type;
    struct pool_object *pool;
    size_t reserve_slots = 0;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "O|$OOOzpp:Pool", (char **)names, &given, &reserve,
            &max_slots, &cache_slots, &options.name, &unchecked, &huge_pages) ||
        !set_count(state, reserve, "reserve", &reserve_slots) ||
        !set_count(state, max_slots, "max_slots", &options.max_slots) ||
        !set_count(state, cache_slots, "cache_slots", &options.cache_slots))
        return NULL;
    /* Here None is the default, and 0 means none. */
    if (cache_slots != NULL && cache_slots != Py_None &&
        options.cache_slots == 0)
        options.cache_slots = ASHLAR_POOL_CACHE_NONE;
    options.flags = (unchecked ? ASHLAR_POOL_UNCHECKED : 0) |
                    (huge_pages ? ASHLAR_POOL_HUGE_PAGES : 0);
    type = type_of(state, given);
    if (type == NULL)
        return NULL;
    pool = PyObject_New(struct pool_object, self_type);
    if (pool == NULL)
        return NULL;
    memset(&pool->pool, 0, sizeof(*pool) - offsetof(struct pool_object, pool));
    pool->state = state;
    if (!make(pool, type, &options, reserve_slots)) {
        Py_DECREF(pool);
        return NULL;
    }
    return (PyObject *)pool;
}

static PyObject *pool_close(PyObject *self, PyObject *unused)
{
    (void)unused;
    pool_of(self)->closed = true;
    pool_collect(pool_of(self));
    Py_RETURN_NONE;
}

static PyObject *pool_enter(PyObject *self, PyObject *unused)
{
    (void)unused;
    if (pool_open(pool_of(self)) == NULL)
        return NULL;
    Py_INCREF(self);
    return self;
}

static PyObject *pool_exit(PyObject *self, PyObject *const *unused,
                           Py_ssize_t count)
{
    (void)unused;
    (void)count;
    return pool_close(self, NULL);
}

/* --- slots and runs ------------------------------------------------------ */

static PyObject *pool_get(PyObject *self, PyObject *unused)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    PyObject *slot;
    void *address;

    (void)unused;
    if (open == NULL)
        return NULL;
    address = ashlar_pool_get(open);
    if (address == NULL)
        return core_raise(pool->state);
    slot = slot_new(pool, address);
    if (slot == NULL)
        ashlar_pool_put(open, address);
    return slot;
}

static PyObject *pool_run(PyObject *self, PyObject *number)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    PyObject *run;
    void *address;
    size_t n;

    if (open == NULL || !core_count(pool->state, number, "n", &n))
        return NULL;
    address = ashlar_pool_get_run(open, n);
    if (address == NULL)
        return core_raise(pool->state);
    run = run_new(pool, address, (Py_ssize_t)n);
    if (run == NULL)
        ashlar_pool_put_run(open, address, n);
    return run;
}

/* --- growing and shrinking ----------------------------------------------- */

static PyObject *answer(struct pool_object *pool, enum ashlar_status status)
{
    if (status != ASHLAR_OK)
        return core_raise(pool->state);
    Py_RETURN_NONE;
}

static PyObject *pool_reserve(PyObject *self, PyObject *number)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    enum ashlar_status status;
    PyThreadState *thread;
    size_t n;

    if (open == NULL || !core_count(pool->state, number, "n", &n))
        return NULL;
    thread = pool_leave_python(pool);
    status = ashlar_pool_reserve(open, n);
    pool_enter_python(pool, thread);
    return answer(pool, status);
}

static PyObject *pool_reserve_runs(PyObject *self, PyObject *args,
                                   PyObject *keywords)
{
    static const char *const names[] = {"n", "count", NULL};
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    PyObject *slots, *runs;
    enum ashlar_status status;
    PyThreadState *thread;
    size_t n, count;

    if (open == NULL ||
        !PyArg_ParseTupleAndKeywords(args, keywords, "OO:reserve_runs",
                                     (char **)names, &slots, &runs) ||
        !core_count(pool->state, slots, "n", &n) ||
        !core_count(pool->state, runs, "count", &count))
        return NULL;
    thread = pool_leave_python(pool);
    status = ashlar_pool_reserve_runs(open, n, count);
    pool_enter_python(pool, thread);
    return answer(pool, status);
}

static PyObject *pool_trim(PyObject *self, PyObject *unused)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    enum ashlar_status status;
    PyThreadState *thread;
    size_t bytes = 0;

    (void)unused;
    if (open == NULL)
        return NULL;
    thread = pool_leave_python(pool);
    status = ashlar_pool_trim(open, &bytes);
    pool_enter_python(pool, thread);
    if (status != ASHLAR_OK)
        return core_raise(pool->state);
    return PyLong_FromSize_t(bytes);
}

static PyObject *pool_detach(PyObject *self, PyObject *unused)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);

    (void)unused;
    return open == NULL ? NULL : answer(pool, ashlar_pool_detach(open));
}

/* --- asking -------------------------------------------------------------- */

/* The address that a Slot, Run, Row or integer says; what fits into no pointer
 * is no address. NULL with an exception for anything else. */
static void *address_of(struct core_state *state, PyObject *given)
{
    PyTypeObject *type = Py_TYPE(given);
    void *address = NULL;
    PyObject *number;

    if (type == state->slot_type || type == state->run_type ||
        type == state->row_type)
        number = PyNumber_Long(given);
    else
        number = PyNumber_Index(given);
    if (number == NULL)
        return NULL;
    address = PyLong_AsVoidPtr(number);
    Py_DECREF(number);
    if (PyErr_Occurred() != NULL && PyErr_ExceptionMatches(PyExc_OverflowError))
        PyErr_Clear();
    return address;
}

static PyObject *pool_owns(PyObject *self, PyObject *given)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    void *address;

    if (open == NULL)
        return NULL;
    address = address_of(pool->state, given);
    if (PyErr_Occurred() != NULL)
        return NULL;
    return PyBool_FromLong(ashlar_pool_owns(open, address));
}

static PyObject *pool_index(PyObject *self, PyObject *given)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    void *address;
    size_t index;

    if (open == NULL)
        return NULL;
    address = address_of(pool->state, given);
    if (PyErr_Occurred() != NULL)
        return NULL;
    if (ashlar_pool_index(open, address, &index) != ASHLAR_OK)
        return core_raise(pool->state);
    return PyLong_FromSize_t(index);
}

static int add_live(void *first, size_t n, void *user)
{
    PyObject *pair =
        Py_BuildValue("(Nn)", PyLong_FromVoidPtr(first), (Py_ssize_t)n);
    int failed = pair == NULL || PyList_Append(user, pair) < 0;

    Py_XDECREF(pair);
    return failed;
}

static PyObject *pool_live(PyObject *self, PyObject *unused)
{
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);
    PyObject *list;

    (void)unused;
    if (open == NULL)
        return NULL;
    list = PyList_New(0);
    if (list == NULL)
        return NULL;
    if (ashlar_pool_for_each_live(open, add_live, list) != ASHLAR_OK)
        core_raise(pool->state);
    if (PyErr_Occurred() != NULL)
        Py_CLEAR(list);
    return list;
}

static PyObject *pool_stats(PyObject *self, PyObject *unused)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct pool_object *pool = pool_of(self);
    struct ashlar_pool *open = pool_open(pool);

    (void)unused;
    if (open == NULL)
        return NULL;
    if (ashlar_pool_query(open, &stats) != ASHLAR_OK)
        return core_raise(pool->state);
#define N(_member) (unsigned long long)stats._member
    return PyObject_CallFunction(
        pool->state->pool_stats, "KKKKKKKKKKKKKKKKKKKK", N(live_slots),
        N(cached_slots), N(free_slots), N(capacity_slots), N(peak_slots),
        N(max_slots), N(promised_slots), N(live_runs), N(free_runs), N(stride),
        N(slab_bytes), N(waste_bytes), N(bookkeeping_bytes), N(slabs),
        N(caches), N(source_calls), N(store_takes), N(store_gives), N(refusals),
        N(duplicates));
#undef N
}

static PyObject *pool_get_name(PyObject *self, void *unused)
{
    struct ashlar_pool *open = pool_open(pool_of(self));
    const char *name;

    (void)unused;
    if (open == NULL)
        return NULL;
    name = ashlar_pool_name(open);
    return name == NULL ? core_raise(pool_of(self)->state)
                        : PyUnicode_FromString(name);
}

static PyObject *pool_get_type(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(pool_of(self)->type_name);
}

static PyObject *pool_get_size(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(pool_of(self)->size);
}

static PyObject *pool_get_stride(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(pool_of(self)->stride);
}

static PyObject *pool_get_alignment(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSsize_t(pool_of(self)->alignment);
}

static PyObject *pool_get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(pool_of(self)->closed);
}

static PyObject *pool_repr(PyObject *self)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct pool_object *pool = pool_of(self);

    if (pool->pool == NULL ||
        ashlar_pool_query(pool->pool, &stats) != ASHLAR_OK)
        return PyUnicode_FromFormat("<ashlar.Pool of %s, closed>",
                                    pool->type_name);
    return PyUnicode_FromFormat(
        "<ashlar.Pool of %s%s: %zu live of %zu slots, aligned to %zd>",
        pool->type_name, pool->closed ? ", closed" : "", stats.live_slots,
        stats.capacity_slots, pool->alignment);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef pool_methods[] = {
    {"get", pool_get, METH_NOARGS,
     PyDoc_STR("get($self, /)\n--\n\n"
               "A Slot. Its bytes are unspecified: see Slot.zero().\n\n"
               "The pool grows when it has to, up to max_slots.")},
    {"get_many", pool_get_many, METH_O,
     PyDoc_STR("get_many($self, n, /)\n--\n\n"
               "A list of n Slots: all of them, or Error and none.\n\n"
               "For thousands, a run() is one object instead.")},
    {"put_many", pool_put_many, METH_O,
     PyDoc_STR("put_many($self, slots, /)\n--\n\n"
               "Release many Slots of this pool at once, all or none.")},
    {"run", pool_run, METH_O,
     PyDoc_STR("run($self, n, /)\n--\n\n"
               "A Run: n slots side by side. What it costs does not depend\n"
               "on n, once a run of that length was there before or was\n"
               "reserved.")},
    {"reserve", pool_reserve, METH_O,
     PyDoc_STR("reserve($self, n, /)\n--\n\n"
               "Make sure that n slots more than are live now can be got,\n"
               "by any threads together, without a call of the system.")},
    {"reserve_runs", WITH_KEYWORDS(pool_reserve_runs),
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("reserve_runs($self, n, count)\n--\n\n"
               "Make sure that `count` runs of n slots can be got.")},
    {"trim", pool_trim, METH_NOARGS,
     PyDoc_STR("trim($self, /)\n--\n\n"
               "Give the memory of free slots back to the system, as far as\n"
               "it makes whole pages; the bytes given back. Ends what\n"
               "reserve() promised.")},
    {"detach", pool_detach, METH_NOARGS,
     PyDoc_STR("detach($self, /)\n--\n\n"
               "Give the calling thread's cache of slots back now, rather\n"
               "than when the thread ends.")},
    {"owns", pool_owns, METH_O,
     PyDoc_STR("owns($self, address, /)\n--\n\n"
               "Whether an address lies in a slot of this pool, live or not.")},
    {"index", pool_index, METH_O,
     PyDoc_STR("index($self, address, /)\n--\n\n"
               "The number of the slot that a Slot, Row or address is, from 0\n"
               "to capacity - 1: the same as long as the pool lives.")},
    {"live", pool_live, METH_NOARGS,
     PyDoc_STR("live($self, /)\n--\n\n"
               "What is live, as a list of (address, slots): 1 for a slot,\n"
               "its length for a run.")},
    {"stats", pool_stats, METH_NOARGS,
     PyDoc_STR("stats($self, /)\n--\n\n"
               "What the pool holds and did, as PoolStats.")},
    {"close", pool_close, METH_NOARGS,
     PyDoc_STR("close($self, /)\n--\n\n"
               "Nothing can be got any more. The memory goes back to the\n"
               "system now, or with the last slot that is out. Twice is\n"
               "fine. A pool that nobody refers to closes by itself.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", pool_enter, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(pool_exit), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef pool_members[] = {
    {"name", pool_get_name, NULL, PyDoc_STR("The pool's name in reports."),
     NULL},
    {"type", pool_get_type, NULL, PyDoc_STR("The name of its slots' type."),
     NULL},
    {"size", pool_get_size, NULL, PyDoc_STR("Bytes of an object."), NULL},
    {"stride", pool_get_stride, NULL,
     PyDoc_STR("Bytes from slot to slot of a run: size rounded up to the\n"
               "alignment."),
     NULL},
    {"alignment", pool_get_alignment, NULL,
     PyDoc_STR("Every slot's address is a multiple of it."), NULL},
    {"closed", pool_get_closed, NULL, PyDoc_STR("Whether it was closed."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    pool_doc,
    "Pool(type, *, reserve=0, max_slots=None, cache_slots=None, name=None, "
    "unchecked=False, huge_pages=False)\n--\n\n"
    "Slots of one type, each at a multiple of the type's alignment.\n\n"
    "type         a name such as \"CUtensorMap\", or a TypeInfo\n"
    "reserve      slots to have at once, as by reserve()\n"
    "max_slots    the most it may ever have; None for no limit of its own\n"
    "cache_slots  the most that each thread keeps for itself; 0 for none\n"
    "name         for reports; the type's name if not given\n"
    "unchecked    the library does not check puts (a Slot still does)\n"
    "huge_pages   ask the kernel for huge pages\n\n"
    "Any thread may use it. It lives as long as anything refers to it, its "
    "slots and runs included.\n"
    "At the end of a `with` it is closed, see close().");

static PyType_Slot pool_slots[] = {
    {Py_tp_doc, (void *)pool_doc},
    {Py_tp_new, pool_new},
    {Py_tp_dealloc, pool_dealloc},
    {Py_tp_repr, pool_repr},
    {Py_tp_methods, pool_methods},
    {Py_tp_getset, pool_members},
    {0, NULL},
};

PyType_Spec pool_spec = {
    .name = "ashlar.Pool",
    .basicsize = sizeof(struct pool_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = pool_slots,
};
