/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

static struct arena_object *arena_of(PyObject *self)
{
    return (struct arena_object *)self;
}

static struct stand *stand_of(PyObject *self)
{
    return &arena_of(self)->stand;
}

/* --- life ---------------------------------------------------------------- */

static enum ashlar_status arena_destroy(struct stand *stand,
                                        const struct fences *fences)
{
    struct arena_object *self =
        (struct arena_object *)((char *)stand -
                                offsetof(struct arena_object, stand));
    enum ashlar_status status;
    PyThreadState *thread = PyEval_SaveThread();

    (void)fences;
    status = ashlar_arena_destroy(stand->object, 0);
    PyEval_RestoreThread(thread);
    if (status == ASHLAR_OK || status == ASHLAR_ERR_FORKED)
        fences_forget(&self->at_end);
    return status;
}

static const struct stand_kind arena_kind = {
    .name = "arena",
    .destroy = arena_destroy,
    .stander = STANDS_ARENA,
};

struct arena_arguments {
    struct ashlar_arena_options options;
    struct stand_object *base; /* a Source, a Range, or NULL */
    struct source_object *source;
    PyObject *at_end;
};

/* What it stands on: nothing, a Source or a Range. */
static bool read_base(struct core_state *state, PyObject *given,
                      struct arena_arguments *arguments)
{
    struct range_object *range = (struct range_object *)given;

    if (given == NULL || given == Py_None)
        return true;
    if (Py_TYPE(given) == state->range_type) {
        arguments->options.range = stand_open(&range->stand);
        if (arguments->options.range == NULL)
            return false;
        arguments->base = (struct stand_object *)range;
        arguments->source = (struct source_object *)range->stand.base;
        return true;
    }
    arguments->source = source_of(state, given);
    if (arguments->source == NULL)
        return false;
    arguments->base = (struct stand_object *)arguments->source;
    arguments->options.source = arguments->source->stand.object;
    return true;
}

static bool read_arguments(struct core_state *state, PyObject *args,
                           PyObject *keywords,
                           struct arena_arguments *arguments)
{
    static const char *const names[] = {
        "on", "reserve", "chunk_max", "name", "isolated", "at_end", NULL};
    struct ashlar_arena_options *options = &arguments->options;
    PyObject *on = NULL, *reserve = NULL, *chunk_max = NULL;
    int isolated = 0;

    if (!PyArg_ParseTupleAndKeywords(
            args, keywords, "|O$OOzpO:Arena", (char **)names, &on, &reserve,
            &chunk_max, &options->name, &isolated, &arguments->at_end) ||
        !core_set_number(state, reserve, "reserve", &options->reserve_bytes) ||
        !core_set_number(state, chunk_max, "chunk_max",
                         &options->chunk_max_bytes))
        return false;
    options->flags = isolated ? ASHLAR_ARENA_ISOLATED : 0;
    return read_base(state, on, arguments);
}

/* The library refuses a range that is used, but knows no views. */
static bool may_stand(struct core_state *state,
                      const struct arena_arguments *arguments)
{
    const struct range_object *range =
        (const struct range_object *)arguments->base;

    if (arguments->base == NULL)
        return true;
    if (stand_open(&arguments->base->stand) == NULL)
        return false;
    if (arguments->options.range == NULL)
        return true;
    if (range->sights == NULL && (range->rights == ASHLAR_RIGHTS_READ_WRITE ||
                                  !source_for_host(arguments->source)))
        return true;
    core_raise_as(state, ASHLAR_ERR_BUSY,
                  range->sights != NULL
                      ? "a view of this range is alive: let it go first"
                      : "the host may not write this range: allow() it first");
    return false;
}

static bool make(struct arena_object *self,
                 const struct arena_arguments *arguments)
{
    struct ashlar_arena *arena = NULL;
    enum ashlar_status status;

    if (!may_stand(self->stand.state, arguments))
        return false;
    status = ashlar_arena_create(&arguments->options, &arena);
    if (status != ASHLAR_OK) {
        core_raise(self->stand.state);
        return false;
    }
    stand_made(&self->stand, arena);
    return true;
}

static PyObject *arena_new(PyTypeObject *type, PyObject *args,
                           PyObject *keywords)
{
    struct arena_arguments arguments = {ASHLAR_ARENA_OPTIONS_INIT, NULL, NULL,
                                        NULL};
    struct core_state *state = PyType_GetModuleState(type);
    struct arena_object *self;

    if (!read_arguments(state, args, keywords, &arguments))
        return NULL;
    self = PyObject_New(struct arena_object, type);
    if (self == NULL)
        return NULL;
    stand_start(&self->stand, state, &arena_kind, arguments.base);
    self->for_host =
        arguments.source == NULL || source_for_host(arguments.source);
    self->for_kernels =
        arguments.source != NULL && source_for_kernels(arguments.source);
    if (!fences_read_at_end(state, arguments.at_end, &self->at_end) ||
        !make(self, &arguments)) {
        Py_DECREF((PyObject *)self);
        return NULL;
    }
    return (PyObject *)self;
}

static void arena_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);

    stand_end(stand_of(self), self);
    fences_forget(&arena_of(self)->at_end);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* --- blocks -------------------------------------------------------------- */

/* From so many bytes on it pays to let other threads run meanwhile. */
#define MANY_BYTES ((size_t)1 << 20)

static PyObject *arena_alloc(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"size", "alignment", "zero", NULL};
    struct arena_object *arena = arena_of(self);
    struct stand *stand = &arena->stand;
    PyObject *size_number, *align_number = NULL, *block;
    PyThreadState *thread = NULL;
    size_t size, alignment = 0;
    void *address;
    int zero = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O$p:alloc",
                                     (char **)names, &size_number,
                                     &align_number, &zero) ||
        !core_count(stand->state, size_number, "size", &size) ||
        (align_number != NULL && align_number != Py_None &&
         !core_count(stand->state, align_number, "alignment", &alignment)) ||
        stand_open(stand) == NULL)
        return NULL;
    stand->calls++;
    if (size >= MANY_BYTES)
        thread = PyEval_SaveThread();
    address = zero ? ashlar_arena_calloc(stand->object, size, alignment)
                   : ashlar_arena_alloc(stand->object, size, alignment);
    if (thread != NULL)
        PyEval_RestoreThread(thread);
    block = block_new(arena, address, size, alignment);
    stand_return(stand);
    return block;
}

static PyObject *arena_alloc_type(PyObject *self, PyObject *args,
                                  PyObject *keywords)
{
    static const char *const names[] = {"type", "n", NULL};
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    struct arena_object *arena = arena_of(self);
    struct stand *stand = &arena->stand;
    const struct ashlar_type *type;
    PyObject *given, *number = NULL;
    size_t n = 1;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:alloc_type",
                                     (char **)names, &given, &number) ||
        (number != NULL && !core_count(stand->state, number, "n", &n)))
        return NULL;
    type = type_of(stand->state, given);
    if (type == NULL || stand_open(stand) == NULL)
        return NULL;
    if (ashlar_type_query(type, &info) != ASHLAR_OK)
        return core_raise(stand->state);
    return block_new(arena, ashlar_arena_alloc_type(stand->object, type, n),
                     n * info.stride, info.alignment);
}

static PyObject *arena_trim(PyObject *self, PyObject *unused)
{
    struct stand *stand = stand_of(self);
    enum ashlar_status status;
    PyThreadState *thread;
    uint64_t bytes = 0;

    (void)unused;
    if (stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_arena_trim(stand->object, &bytes);
    stand_enter_python(stand, thread);
    if (status != ASHLAR_OK)
        return core_raise(stand->state);
    return PyLong_FromUnsignedLongLong(bytes);
}

/* --- asking -------------------------------------------------------------- */

static const char *kind_of(uint32_t kind)
{
    static const char *const kinds[] = {
        [ASHLAR_ARENA_KIND_SHARED] = "shared",
        [ASHLAR_ARENA_KIND_ISOLATED] = "isolated",
        [ASHLAR_ARENA_KIND_RANGE] = "range",
    };

    return kind >= 1 && kind <= ASHLAR_ARENA_KIND_RANGE ? kinds[kind] : "?";
}

static PyObject *arena_stats(PyObject *self, PyObject *unused)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;
    struct stand *stand = stand_of(self);

    (void)unused;
    if (stand_open(stand) == NULL)
        return NULL;
    if (ashlar_arena_query(stand->object, &stats) != ASHLAR_OK)
        return core_raise(stand->state);
#define N(_member) (unsigned long long)stats._member
    return PyObject_CallFunction(
        stand->state->arena_stats, "sKKKKKKKKK", kind_of(stats.kind),
        N(live_blocks), N(waiting_blocks), N(refusals), N(committed_bytes),
        N(peak_committed_bytes), N(reserved_bytes), N(commits), N(releases),
        N(bookkeeping_bytes));
#undef N
}

static PyObject *arena_fragmentation(PyObject *self, PyObject *unused)
{
    struct ashlar_arena_figures figures = ASHLAR_ARENA_FIGURES_INIT;
    struct stand *stand = stand_of(self);
    enum ashlar_status status;
    PyThreadState *thread;

    (void)unused;
    if (stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_arena_fragmentation(stand->object, &figures);
    stand_enter_python(stand, thread);
    if (status != ASHLAR_OK)
        return core_raise(stand->state);
#define N(_member) (unsigned long long)figures._member
    return PyObject_CallFunction(
        stand->state->arena_fragmentation, "KKKKK", N(allocated_bytes),
        N(active_bytes), N(kept_bytes), N(record_bytes), N(committed_bytes));
#undef N
}

static PyObject *arena_get_name(PyObject *self, void *unused)
{
    struct ashlar_arena *arena = stand_open(stand_of(self));
    const char *name = arena == NULL ? NULL : ashlar_arena_name(arena);

    (void)unused;
    if (arena == NULL)
        return NULL;
    return name == NULL ? core_raise(stand_of(self)->state)
                        : PyUnicode_FromString(name);
}

static PyObject *arena_repr(PyObject *self)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;
    struct stand *stand = stand_of(self);

    if (stand->object == NULL || stand->closed ||
        ashlar_arena_query(stand->object, &stats) != ASHLAR_OK)
        return PyUnicode_FromString("<ashlar.Arena, closed>");
    return PyUnicode_FromFormat("<ashlar.Arena \"%s\", %s: %llu live blocks>",
                                ashlar_arena_name(stand->object),
                                kind_of(stats.kind),
                                (unsigned long long)stats.live_blocks);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef arena_methods[] = {
    {"alloc", WITH_KEYWORDS(arena_alloc), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "alloc($self, size, alignment=None, *, zero=False)\n--\n\n"
         "A Block of `size` bytes at a multiple of `alignment`, a power\n"
         "of two up to 1 GiB; unless given, of 16 on the heap and of 64\n"
         "on a range. Its bytes are unspecified, or zeros where the host\n"
         "can write them.")},
    {"alloc_type", WITH_KEYWORDS(arena_alloc_type),
     METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR("alloc_type($self, type, n=1)\n--\n\n"
               "A Block for n objects of a registered type, a stride apart.")},
    {"trim", arena_trim, METH_NOARGS,
     PyDoc_STR("trim($self, /)\n--\n\n"
               "Give back what it keeps for later; the bytes of chunks that\n"
               "went, 0 on the heap.")},
    {"stats", arena_stats, METH_NOARGS,
     PyDoc_STR("stats($self, /)\n--\n\n"
               "What it holds and did, as ArenaStats.")},
    {"fragmentation", arena_fragmentation, METH_NOARGS,
     PyDoc_STR("fragmentation($self, /)\n--\n\n"
               "How well it uses its memory, as ArenaFragmentation; not of an\n"
               "ordinary arena on the heap. Takes its time.")},
    {"close", stand_close_now, METH_NOARGS,
     PyDoc_STR(
         "close($self, /)\n--\n\n"
         "Give its memory back. Error, status BUSY, while blocks are\n"
         "alive, or released ones wait for their fences. Twice is fine.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", stand_enter_with, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(stand_exit_with), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef arena_members[] = {
    {"name", arena_get_name, NULL,
     PyDoc_STR("Its name in reports. Raises Error once closed."), NULL},
    {"closed", stand_get_closed, NULL, PyDoc_STR("Whether it was closed."),
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(
    arena_doc,
    "Arena(on=None, *, reserve=None, chunk_max=None, name=None, "
    "isolated=False, at_end=None)\n--\n\n"
    "Memory of any size and alignment.\n\n"
    "on         a Source; or a Range of which nothing is used yet; None for "
    "the heap\n"
    "reserve    bytes of addresses to grow into, on a source\n"
    "chunk_max  the largest chunk there; 32 granules unless given\n"
    "name       for reports\n"
    "isolated   on the heap, apart from all others\n"
    "at_end     fences that a block waits for which is released without, or "
    "just dropped;\n           QUIET unless given\n\n"
    "Any thread may use it. It lives as long as anything refers to it, its "
    "blocks included.");

static PyType_Slot arena_slots[] = {
    {Py_tp_doc, (void *)arena_doc},
    {Py_tp_new, arena_new},
    {Py_tp_dealloc, arena_dealloc},
    {Py_tp_repr, arena_repr},
    {Py_tp_methods, arena_methods},
    {Py_tp_getset, arena_members},
    {0, NULL},
};

PyType_Spec arena_spec = {
    .name = "ashlar.Arena",
    .basicsize = sizeof(struct arena_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = arena_slots,
};
