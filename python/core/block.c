/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <stdint.h>

/** ashlar.Block */
struct block_object {
    PyObject_HEAD struct lease lease;
    size_t alignment;
};

static struct block_object *block_of(PyObject *self)
{
    return (struct block_object *)self;
}

static struct lease *lease_of(PyObject *self)
{
    return &block_of(self)->lease;
}

static struct arena_object *arena_of(const struct lease *lease)
{
    return (struct arena_object *)lease->owner;
}

/* --- life ---------------------------------------------------------------- */

static enum ashlar_status free_after(struct arena_object *arena, void *address,
                                     const struct fences *fences)
{
    if (fences->n == 1 && fences->fence[0].kind == ASHLAR_FENCE_QUIET)
        return ashlar_arena_free(arena->stand.object, address);
    return ashlar_arena_free_after(arena->stand.object, address, fences->fence,
                                   fences->n);
}

/* Of a context that has failed all work is over, so nothing is to wait for. */
static enum ashlar_status give(struct stand_object *owner, void *address)
{
    struct arena_object *arena = (struct arena_object *)owner;
    enum ashlar_status status = free_after(arena, address, &arena->at_end);

    if (status == ASHLAR_ERR_CONTEXT_FAILED)
        status = ashlar_arena_free(arena->stand.object, address);
    return status;
}

static const struct lease_kind block_kind = {
    .name = "block",
    .stander = STANDS_BLOCK,
    .give = give,
};

PyObject *block_new(struct arena_object *arena, void *address, size_t bytes,
                    size_t alignment)
{
    struct core_state *state = arena->stand.state;
    struct block_object *block;

    if (address == NULL)
        return core_raise(state);
    block = PyObject_New(struct block_object, state->block_type);
    if (block == NULL) {
        ashlar_arena_free(arena->stand.object, address);
        return NULL;
    }
    lease_start(&block->lease, &block_kind, (struct stand_object *)arena,
                address, bytes);
    block->alignment = alignment;
    return (PyObject *)block;
}

static PyObject *release_after(struct lease *lease, PyObject *self,
                               const struct fences *after)
{
    struct core_state *state;

    if (lease_address(lease, self) == NULL)
        return NULL;
    state = lease->owner->stand.state;
    if (lease->views != 0)
        return core_raise_as(state, ASHLAR_ERR_BUSY,
                             "%zd views of this block are alive: let them go "
                             "before it waits for its fences",
                             lease->views);
    if (free_after(arena_of(lease), lease->address, after) != ASHLAR_OK)
        return core_raise(state);
    lease_was_given(lease);
    Py_RETURN_NONE;
}

static PyObject *block_release(PyObject *self, PyObject *args,
                               PyObject *keywords)
{
    static const char *const names[] = {"after", NULL};
    PyObject *given = NULL, *answer;
    struct fences after;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|$O:release",
                                     (char **)names, &given))
        return NULL;
    if (given == NULL || given == Py_None)
        return lease_release(lease_of(self), self);
    if (!fences_read(PyType_GetModuleState(Py_TYPE(self)), given, &after))
        return NULL;
    answer = release_after(lease_of(self), self, &after);
    fences_forget(&after);
    return answer;
}

static PyObject *block_resize(PyObject *self, PyObject *number)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));
    struct lease *lease = lease_of(self);
    enum ashlar_status status;
    size_t size;

    if (!core_count(state, number, "size", &size) ||
        lease_address(lease, self) == NULL)
        return NULL;
    if (lease->views != 0 && size < (size_t)lease->bytes)
        return core_raise_as(state, ASHLAR_ERR_BUSY,
                             "%zd views of this block's %zd bytes are alive: "
                             "let them go before it shrinks",
                             lease->views, lease->bytes);
    status = ashlar_arena_resize(lease->owner->stand.object, lease->address,
                                 size, block_of(self)->alignment);
    if (status != ASHLAR_OK)
        return core_raise(state);
    lease->bytes = (Py_ssize_t)size;
    Py_RETURN_NONE;
}

/* --- asking -------------------------------------------------------------- */

static PyObject *block_get_usable(PyObject *self, void *unused)
{
    struct lease *lease = lease_of(self);
    size_t bytes;

    (void)unused;
    if (lease_address(lease, self) == NULL)
        return NULL;
    bytes = ashlar_arena_usable(lease->owner->stand.object, lease->address);
    return bytes == 0 ? core_raise(lease->owner->stand.state)
                      : PyLong_FromSize_t(bytes);
}

static PyObject *block_get_arena(PyObject *self, void *unused)
{
    struct lease *lease = lease_of(self);

    (void)unused;
    if (lease_address(lease, self) == NULL)
        return NULL;
    Py_INCREF((PyObject *)lease->owner);
    return (PyObject *)lease->owner;
}

static PyObject *block_get_cuda_interface(PyObject *self, void *unused)
{
    struct lease *lease = lease_of(self);

    (void)unused;
    if (lease_address(lease, self) == NULL)
        return NULL;
    if (!arena_of(lease)->for_kernels) {
        PyErr_SetString(PyExc_AttributeError,
                        "this block is on no device; it has the buffer "
                        "protocol instead");
        return NULL;
    }
    return core_cuda_interface((uintptr_t)lease->address,
                               (uint64_t)lease->bytes, false);
}

static int block_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    struct lease *lease = lease_of(self);

    view->obj = NULL;
    if (!lease->released && !arena_of(lease)->for_host) {
        PyErr_SetString(PyExc_BufferError, "the host cannot read this memory");
        return -1;
    }
    return lease_fill(lease, self, view, false, flags);
}

static PyObject *block_repr(PyObject *self)
{
    struct lease *lease = lease_of(self);

    if (lease->released)
        return PyUnicode_FromFormat(
            "<ashlar.Block of %zd bytes, released%s>", lease->bytes,
            lease->owner == NULL ? "" : ", goes back with its last view");
    return PyUnicode_FromFormat("<ashlar.Block of %zd bytes at %p>",
                                lease->bytes, lease->address);
}

/* --- what Python sees ---------------------------------------------------- */

#define WITH_KEYWORDS(_function) (PyCFunction)(void (*)(void)) _function

static PyMethodDef block_methods[] = {
    {"release", WITH_KEYWORDS(block_release), METH_VARARGS | METH_KEYWORDS,
     PyDoc_STR(
         "release($self, *, after=None)\n--\n\n"
         "Give the block back to its arena, when the fences have passed:\n"
         "the arena's at_end unless given.\n\n"
         "While a memoryview of it is held, it goes back with the last\n"
         "one; with fences of its own it says busy instead. A second\n"
         "release() raises Error, whose status is NOT_LIVE.")},
    {"resize", block_resize, METH_O,
     PyDoc_STR("resize($self, size, /)\n--\n\n"
               "Make it larger or smaller where it is. Error, status NO_ROOM,\n"
               "when it cannot, and stays as it was.")},
    {"__reduce__", core_no_copy, METH_NOARGS, NULL},
    {"__enter__", lease_enter_with, METH_NOARGS, NULL},
    {"__exit__", WITH_KEYWORDS(lease_exit_with), METH_FASTCALL, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef block_members[] = {
    {"address", lease_get_address, NULL,
     PyDoc_STR("Where it is. It never changes. Raises Error once released."),
     NULL},
    {"nbytes", lease_get_bytes, NULL,
     PyDoc_STR("The bytes that were asked for."), NULL},
    {"usable", block_get_usable, NULL,
     PyDoc_STR("The bytes that it has, that many or more. Raises Error once\n"
               "released."),
     NULL},
    {"released", lease_get_released, NULL,
     PyDoc_STR("Whether release() was called, or a `with` ended."), NULL},
    {"arena", block_get_arena, NULL,
     PyDoc_STR("The arena it is from. Raises Error once released."), NULL},
    {"__cuda_array_interface__", block_get_cuda_interface, NULL,
     PyDoc_STR("Its bytes, for CuPy, PyTorch and Numba."), NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyDoc_STRVAR(block_doc,
             "Memory of an arena: Arena.alloc() makes it.\n\n"
             "Where the host reads it, memoryview(block) and "
             "numpy.asarray(block) show its bytes; where a\ndevice does, "
             "cupy.asarray(block) and torch.as_tensor(block) are arrays over "
             "it, which keep it.\n\n"
             "It goes back to its arena by release(), at the end of a `with`, "
             "or when nothing refers to it\nany more, with the arena's "
             "at_end; until then it keeps its arena alive.");

static PyType_Slot block_slots[] = {
    {Py_tp_doc, (void *)block_doc},
    {Py_tp_dealloc, lease_dealloc},
    {Py_tp_repr, block_repr},
    {Py_tp_methods, block_methods},
    {Py_tp_getset, block_members},
    {Py_nb_int, lease_int},
    {Py_bf_getbuffer, block_getbuffer},
    {Py_bf_releasebuffer, lease_releasebuffer},
    {0, NULL},
};

PyType_Spec block_spec = {
    .name = "ashlar.Block",
    .basicsize = sizeof(struct block_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION |
             Py_TPFLAGS_IMMUTABLETYPE,
    .slots = block_slots,
};
