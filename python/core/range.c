/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Ranges: their life, and what they tell. Growing is in grow.c. */
#include "core.h"

#include <stdint.h>
#include <string.h>

static struct range_object *range_of(PyObject *self)
{
    return (struct range_object *)self;
}

static struct stand *stand_of(PyObject *self)
{
    return &range_of(self)->stand;
}

static struct source_object *base_of(const struct range_object *range)
{
    return (struct source_object *)range->stand.base;
}

/* --- life ---------------------------------------------------------------- */

static enum ashlar_status destroy_after(struct ashlar_range *range,
                                        const struct ashlar_fence *fences,
                                        size_t n)
{
    enum ashlar_status status;
    PyThreadState *thread = PyEval_SaveThread();

    status = ashlar_range_destroy(range, fences, n);
    PyEval_RestoreThread(thread);
    return status;
}

/* Of a context that has failed all work is over, so nothing is to wait for. */
static enum ashlar_status range_destroy(struct stand *stand,
                                        const struct fences *fences)
{
    struct range_object *self =
        (struct range_object *)((char *)stand -
                                offsetof(struct range_object, stand));
    const struct fences *before = fences != NULL ? fences : &self->at_end;
    enum ashlar_status status =
        destroy_after(stand->object, before->fence, before->n);

    if (status == ASHLAR_ERR_CONTEXT_FAILED && fences == NULL)
        status = destroy_after(stand->object, ASHLAR_QUIET, 1);
    if (status == ASHLAR_OK || status == ASHLAR_ERR_FORKED)
        fences_forget(&self->at_end);
    return status;
}

static const struct stand_kind range_kind = {
    .name = "range",
    .destroy = range_destroy,
    .stander = STANDS_RANGE,
};

bool range_rights(struct core_state *state, PyObject *given,
                  uint32_t *rights_out)
{
    static const struct {
        const char *name;
        uint32_t rights;
    } all[] = {
        {"none", ASHLAR_RIGHTS_NONE},
        {"read", ASHLAR_RIGHTS_READ},
        {"read-write", ASHLAR_RIGHTS_READ_WRITE},
    };
    const char *text = PyUnicode_Check(given) ? core_text(given) : NULL;
    size_t i;

    for (i = 0; text != NULL && i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(text, all[i].name) == 0) {
            *rights_out = all[i].rights;
            return true;
        }
    if (PyErr_Occurred() == NULL)
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "the rights are %R; they are \"none\", \"read\" or "
                      "\"read-write\"",
                      given);
    return false;
}

bool range_location(struct core_state *state, PyObject *given,
                    uint32_t *location_out)
{
    uint64_t location;

    if (!core_number(state, given, "a location", &location))
        return false;
    if (location > UINT32_MAX) {
        core_raise_as(state, ASHLAR_ERR_INVALID, "there is no location %R",
                      given);
        return false;
    }
    *location_out = (uint32_t)location;
    return true;
}

/* The most locations that rights are given for at once. */
#define ACCESS_MOST 64

/* A list of the pairs, since reading them may run anything. */
static PyObject *list_access(struct core_state *state, PyObject *given)
{
    if (!PyDict_Check(given)) {
        PyErr_Format(PyExc_TypeError,
                     "access is %R; it is a dict of rights by location", given);
        return NULL;
    }
    if (PyDict_Size(given) > ACCESS_MOST) {
        core_raise_as(state, ASHLAR_ERR_INVALID,
                      "access has more than %d locations", ACCESS_MOST);
        return NULL;
    }
    return PyDict_Items(given);
}

static bool read_access(struct core_state *state, PyObject *given,
                        struct ashlar_access *access, size_t *count_out)
{
    PyObject *pairs = list_access(state, given);
    Py_ssize_t n = pairs == NULL ? 0 : PyList_Size(pairs), i;
    bool right = pairs != NULL;

    for (i = 0; right && i < n; i++) {
        PyObject *pair = PyList_GetItem(pairs, i);

        right =
            range_location(state, PyTuple_GetItem(pair, 0),
                           &access[i].location) &&
            range_rights(state, PyTuple_GetItem(pair, 1), &access[i].rights);
    }
    Py_XDECREF(pairs);
    *count_out = (size_t)n;
    return right;
}

static uint32_t home_rights(const struct source_object *source,
                            const struct ashlar_range_options *options)
{
    size_t i;

    for (i = 0; i < options->access_count; i++)
        if (options->access[i].location == source->home)
            return options->access[i].rights;
    return ASHLAR_RIGHTS_READ_WRITE;
}

static bool make(struct range_object *self,
                 const struct ashlar_range_options *options)
{
    struct stand *base = &base_of(self)->stand;
    struct ashlar_range *range = NULL;
    enum ashlar_status status;
    PyThreadState *thread;

    thread = stand_leave_python(base);
    status = ashlar_range_create(base->object, options, &range);
    PyEval_RestoreThread(thread);
    if (status == ASHLAR_OK)
        stand_made(&self->stand, range);
    else
        core_raise(self->stand.state);
    stand_return(base);
    self->rights = home_rights(base_of(self), options);
    return status == ASHLAR_OK;
}

struct range_arguments {
    struct ashlar_range_options options;
    struct ashlar_access access[ACCESS_MOST];
    struct source_object *source;
    PyObject *at_end;
};

static bool read_arguments(struct core_state *state, PyObject *args,
                           PyObject *keywords, struct range_arguments *given)
{
    static const char *const names[] = {"source",    "reserve", "alignment",
                                        "chunk_max", "keep",    "access",
                                        "may_move",  "at_end",  NULL};
    struct ashlar_range_options *options = &given->options;
    PyObject *source, *reserve = NULL, *alignment = NULL, *chunk_max = NULL,
                      *keep = NULL, *access = NULL;
    int may_move = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$OOOOOpO:Range",
                                     (char **)names, &source, &reserve,
                                     &alignment, &chunk_max, &keep, &access,
                                     &may_move, &given->at_end) ||
        !core_set_number(state, reserve, "reserve", &options->reserve_bytes) ||
        !core_set_number(state, alignment, "alignment", &options->alignment) ||
        !core_set_number(state, chunk_max, "chunk_max",
                         &options->chunk_max_bytes) ||
        !core_set_number(state, keep, "keep", &options->keep_bytes))
        return false;
    options->flags = may_move ? ASHLAR_RANGE_MAY_MOVE : 0;
    if (access != NULL && access != Py_None) {
        if (!read_access(state, access, given->access, &options->access_count))
            return false;
        options->access = given->access;
    }
    given->source = source_of(state, source);
    return given->source != NULL;
}

static PyObject *range_new(PyTypeObject *type, PyObject *args,
                           PyObject *keywords)
{
    struct range_arguments given = {
        ASHLAR_RANGE_OPTIONS_INIT, {{0, 0}}, NULL, NULL};
    struct core_state *state = PyType_GetModuleState(type);
    struct range_object *self;

    if (!read_arguments(state, args, keywords, &given))
        return NULL;
    self = PyObject_New(struct range_object, type);
    if (self == NULL)
        return NULL;
    stand_start(&self->stand, state, &range_kind,
                (struct stand_object *)given.source);
    self->sights = NULL;
    self->takers = 0;
    self->rights = ASHLAR_RIGHTS_READ_WRITE;
    if (!fences_read_at_end(state, given.at_end, &self->at_end) ||
        /* Reading them may have run anything. */
        stand_open(&base_of(self)->stand) == NULL ||
        !make(self, &given.options)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void range_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    stand_end(stand_of(self), self);
    fences_forget(&range_of(self)->at_end);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* --- what is looked at --------------------------------------------------- */

/* The whole, from the buffer protocol: it has no object for its sight. */
static int range_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    struct range_object *range = range_of(self);
    struct range_sight *sight = PyMem_Malloc(sizeof(*sight));

    view->obj = NULL;
    if (sight == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (!range_see(range, sight, 0, RANGE_REST, false)) {
        PyMem_Free(sight);
        return -1;
    }
    if (range_fill(range, view, self, sight, flags) < 0) {
        range_unsee(range, sight);
        PyMem_Free(sight);
        return -1;
    }
    view->internal = sight;
    return 0;
}

static void range_releasebuffer(PyObject *self, Py_buffer *view)
{
    range_unsee(range_of(self), view->internal);
    PyMem_Free(view->internal);
}

static PyObject *range_get_cuda_interface(PyObject *self, void *unused)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct range_object *range = range_of(self);

    (void)unused;
    if (!source_for_kernels(base_of(range))) {
        PyErr_SetString(PyExc_AttributeError,
                        "this range is on no device; it has the buffer "
                        "protocol instead");
        return NULL;
    }
    if (!range_query(range, &info))
        return NULL;
    return core_cuda_interface(info.base, info.used_bytes,
                               range->rights != ASHLAR_RIGHTS_READ_WRITE);
}

static PyObject *range_view(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"offset", "bytes", "ahead", NULL};
    struct range_object *range = range_of(self);
    struct core_state *state = range->stand.state;
    PyObject *offset_number = NULL, *bytes_number = NULL;
    uint64_t offset = 0, bytes = RANGE_REST;
    int ahead = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|OO$p:view",
                                     (char **)names, &offset_number,
                                     &bytes_number, &ahead) ||
        !core_set_number(state, offset_number, "offset", &offset) ||
        !core_set_number(state, bytes_number, "bytes", &bytes))
        return NULL;
    if (ahead && source_for_host(base_of(range)))
        return core_raise_as(state, ASHLAR_ERR_UNSUPPORTED,
                             "the host reads this range, and would crash where "
                             "no memory is: a view ahead is for devices' "
                             "memory");
    return view_new(range, offset, bytes, ahead);
}

/* --- asking -------------------------------------------------------------- */

static PyObject *range_info(PyObject *self, PyObject *unused)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct range_object *range = range_of(self);

    (void)unused;
    if (!range_query(range, &info))
        return NULL;
#define N(_member) (unsigned long long)info._member
    return PyObject_CallFunction(
        range->stand.state->range_info, "KKKKKKKKK{s:K,s:K,s:K,s:K}", N(base),
        N(used_bytes), N(committed_bytes), N(prepared_bytes), N(reserved_bytes),
        N(old_bytes), N(granule), N(chunk_count), N(epoch), "none", N(grows[0]),
        "in place", N(grows[1]), "adjacent", N(grows[2]), "moved", N(grows[3]));
#undef N
}

static PyObject *range_chunks(PyObject *self, PyObject *unused)
{
    struct range_object *range = range_of(self);
    struct ashlar_range_chunk *chunks;
    PyObject *list;
    size_t n = 0, i;

    (void)unused;
    if (stand_open(&range->stand) == NULL)
        return NULL;
    chunks = range_list_chunks(range, &n);
    if (chunks == NULL)
        return NULL;
    list = PyList_New(0);
    for (i = 0; list != NULL && i < n; i++) {
        PyObject *pair =
            Py_BuildValue("(KK)", (unsigned long long)chunks[i].offset,
                          (unsigned long long)chunks[i].bytes);

        if (pair == NULL || PyList_Append(list, pair) < 0)
            Py_CLEAR(list);
        Py_XDECREF(pair);
    }
    PyMem_Free(chunks);
    return list;
}

static PyObject *range_get_address(PyObject *self, void *unused)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    (void)unused;
    if (!range_query(range_of(self), &info))
        return NULL;
    return PyLong_FromUnsignedLongLong(info.base);
}

static PyObject *range_int(PyObject *self)
{
    return range_get_address(self, NULL);
}

static PyObject *range_get_bytes(PyObject *self, void *unused)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    (void)unused;
    if (!range_query(range_of(self), &info))
        return NULL;
    return PyLong_FromUnsignedLongLong(info.used_bytes);
}

static PyObject *range_get_source(PyObject *self, void *unused)
{
    PyObject *source = (PyObject *)stand_of(self)->base;

    (void)unused;
    if (stand_open(stand_of(self)) == NULL)
        return NULL;
    Py_INCREF(source);
    return source;
}

static PyObject *range_repr(PyObject *self)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct stand *stand = stand_of(self);

    if (stand->object == NULL || stand->closed ||
        ashlar_range_query(stand->object, &info) != ASHLAR_OK)
        return PyUnicode_FromString("<ashlar.Range, closed>");
    return PyUnicode_FromFormat(
        "<ashlar.Range on %s at %p: %llu of %llu bytes>",
        ashlar_source_name(stand->base->stand.object),
        (void *)(uintptr_t)info.base, (unsigned long long)info.used_bytes,
        (unsigned long long)info.reserved_bytes);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef range_methods[] = {
    {"grow", range_do_grow, METH_O,
     PyDoc_STR(
         "grow($self, total, /)\n--\n\n"
         "Make at least `total` bytes usable; it never shrinks. A\n"
         "RangeResult, whose path is \"none\", \"in place\", \"adjacent\"\n"
         "or, for a range that may, \"moved\".")},
    {"prepare", WITH_KEYWORDS(range_do_prepare), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("prepare($self, total, *, mapped=True)\n--\n\n"
               "Do ahead of need what a grow to `total` has to do: all of it,\n"
               "or without mapping the memory. shrink() gives it back.")},
    {"shrink", WITH_KEYWORDS(range_do_shrink), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "shrink($self, total, *, after)\n--\n\n"
         "Make no more than `total` bytes usable. Whole chunks beyond go\n"
         "when the fences have passed: ashlar.after(stream), a list of\n"
         "them, or ashlar.QUIET when nobody uses it any more. Error,\n"
         "status BUSY, while a view of them is alive.")},
    {"decommit", WITH_KEYWORDS(range_do_decommit), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("decommit($self, offset, bytes, *, after)\n--\n\n"
               "Take the memory of a part away, whole chunks of it; its\n"
               "addresses stay. As shrink() in all else.")},
    {"commit", WITH_KEYWORDS(range_do_commit), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("commit($self, offset, bytes)\n--\n\n"
               "Give a part memory again, fresh, where it has none.")},
    {"retire_old", WITH_KEYWORDS(range_do_retire_old),
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("retire_old($self, *, after)\n--\n\n"
               "Let the addresses go that moves left behind, when the fences\n"
               "have passed. Until then they are as good as the new ones.")},
    {"allow", WITH_KEYWORDS(range_do_allow), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "allow($self, location, rights)\n--\n\n"
         "Set the rights of a location (a device's number) on the whole\n"
         "range, now and as it grows: \"none\", \"read\", \"read-write\".")},
    {"view", WITH_KEYWORDS(range_view), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("view($self, offset=0, bytes=None, *, ahead=False)\n--\n\n"
               "A RangeView of a part; of all that is used unless said. What\n"
               "is viewed cannot be taken away.\n\n"
               "ahead: of devices' memory, also what is only reserved; where\n"
               "there is memory is then the caller's to know.")},
    {"info", range_info, METH_NOARGS,
     PyDoc_STR("info($self, /)\n--\n\n"
               "What it holds, as RangeInfo.")},
    {"chunks", range_chunks, METH_NOARGS,
     PyDoc_STR("chunks($self, /)\n--\n\n"
               "The chunks of memory, as a list of (offset, bytes).")},
    {"close", WITH_KEYWORDS(stand_close_after), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("close($self, *, after=None)\n--\n\n"
               "Give it up. Memory and addresses go when the fences have\n"
               "passed; at_end unless given. Error, status BUSY, while views\n"
               "of it are alive or an arena stands on it. Twice is fine.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", stand_enter_with, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(stand_exit_with), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef range_members[] = {
    {"address", range_get_address, NULL,
     PyDoc_STR("Where it begins. It changes only when a grow says \"moved\"."),
     NULL},
    {"nbytes", range_get_bytes, NULL, PyDoc_STR("Usable bytes."), NULL},
    {"source", range_get_source, NULL,
     PyDoc_STR("The Source it is on. Raises Error once closed."), NULL},
    {"closed", stand_get_closed, NULL, PyDoc_STR("Whether it was closed."),
     NULL},
    {"__cuda_array_interface__", range_get_cuda_interface, NULL,
     PyDoc_STR(
         "Its usable bytes, for CuPy, PyTorch and Numba. What they make\n"
         "of it keeps the range alive, but unlike a view() does not keep\n"
         "its memory from being taken away."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    range_doc,
    "Range(source, *, reserve=None, alignment=None, chunk_max=None, keep=0, "
    "access=None, may_move=False, at_end=None)\n--\n\n"
    "Memory that grows and stays where it is.\n\n"
    "source     a Source that has ranges: \"vm\", \"cuda\"\n"
    "reserve    bytes of addresses to grow into; all that the source could "
    "fill unless given\n"
    "alignment  of the address, a power of two; the granule unless given\n"
    "chunk_max  the largest chunk, for ranges of which parts are given back\n"
    "keep       bytes that shrink() keeps mapped for the next grow()\n"
    "access     a dict: rights (\"none\", \"read\", \"read-write\") by "
    "location\n"
    "may_move   beyond its reservation a grow may give it another address\n"
    "at_end     fences that its end waits for, where no close() names others; "
    "QUIET unless given\n\n"
    "Where the host reads it, memoryview(range) and numpy.asarray(range) show "
    "its bytes; where a\ndevice does, it has __cuda_array_interface__. It "
    "lives as long as anything refers to it.");

static PyType_Slot range_slots[] = {
    {Py_tp_doc, (void *)range_doc},
    {Py_tp_new, range_new},
    {Py_tp_dealloc, range_dealloc},
    {Py_tp_repr, range_repr},
    {Py_tp_methods, range_methods},
    {Py_tp_getset, range_members},
    {Py_nb_int, range_int},
    {Py_bf_getbuffer, range_getbuffer},
    {Py_bf_releasebuffer, range_releasebuffer},
    {0, NULL},
};

PyType_Spec range_spec = {
    .name = "ashlar.Range",
    .basicsize = sizeof(struct range_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = range_slots,
};
