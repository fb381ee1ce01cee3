/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What the parts of the extension module ashlar._core share.
 *
 *     Row ──> Run ──┐
 *                   ├──> Pool ──> struct ashlar_pool
 *            Slot ──┤
 *       TensorMap ──┴─────────────────────┐
 *                                         │
 *     CachedMap ──> TensorMapCache ───────┼──> Source ──> struct ashlar_source
 *    TableLease ──> TensorMapTable ───────┤
 *                                         │
 *                   RangeView ──> Range ──┤
 *                                   ^     │
 *                       Block ──> Arena ──┘
 *
 * Invariants:
 *   - an arrow is a reference: what is below lives as long as what is above;
 *   - a slot or run is put exactly once: when it was released, by the caller
 *     or by its end, and nobody looks at its memory any more; so are a block
 *     and a cached map;
 *   - a source, range, arena, cache or table is destroyed exactly once, when
 *     nothing stands on it and no thread is in a call on it: see struct stand;
 *   - what is viewed of a range has memory as long as the view: range_see();
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
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

/** What one interpreter's module knows. */
struct core_state {
    PyObject *error;      /* ashlar.Error */
    PyObject *type_info;  /* ashlar.TypeInfo */
    PyObject *pool_stats; /* ashlar.PoolStats */
    PyObject *fence;      /* ashlar.Fence, and so on */
    PyObject *source_info;
    PyObject *range_info;
    PyObject *range_result;
    PyObject *arena_stats;
    PyObject *arena_fragmentation;
    PyObject *finding;
    PyObject *spec_error;
    PyObject *cache_stats;
    PyObject *table_info;
    PyObject *table_slot;
    PyObject *handle_of; /* a function: the number of a stream */
    PyTypeObject *pool_type;
    PyTypeObject *slot_type;
    PyTypeObject *run_type;
    PyTypeObject *row_type;
    PyTypeObject *source_type;
    PyTypeObject *range_type;
    PyTypeObject *view_type;
    PyTypeObject *arena_type;
    PyTypeObject *block_type;
    PyTypeObject *spec_type;
    PyTypeObject *map_type;
    PyTypeObject *cache_type;
    PyTypeObject *cached_type;
    PyTypeObject *table_type;
    PyTypeObject *lease_type;
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

/** What may stand on something. */
enum stander {
    STANDS_RANGE,
    STANDS_ARENA,
    STANDS_FENCE,
    STANDS_VIEW,
    STANDS_BLOCK,
    STANDS_CACHE,
    STANDS_MAP,
    STANDS_TABLE,
    STANDS_LEASE,
    STANDERS /* how many there are */
};

struct fences;
struct stand;

/** What differs between a source and a range, say. */
struct stand_kind {
    const char *name;
    /** Destroy the library's object; fences may be NULL. May run others. */
    enum ashlar_status (*destroy)(struct stand *stand,
                                  const struct fences *fences);
    /** What it is to whatever it stands on. */
    enum stander stander;
};

/**
 * An object of the library's that others stand on, and that stands on one.
 *
 *     closed   nothing new is to be had of it; the library's object goes now,
 *              or with the last that stands on it
 *     standers what stands on it, by kind: Python's objects, not counting those
 *              whose library's object went
 *     calls    threads that are in the library, without the interpreter's lock
 */
struct stand {
    struct core_state *state;
    const struct stand_kind *kind;
    void *object;              /* the library's; NULL: never made, or gone */
    struct stand_object *base; /* a reference to what it stands on, or NULL */
    Py_ssize_t standers[STANDERS];
    Py_ssize_t calls;
    bool closed;
};

/** What a Source, Range, Arena, TensorMapCache and TensorMapTable begin as. */
struct stand_object {
    PyObject_HEAD struct stand stand;
};

/** ashlar.Source */
struct source_object {
    PyObject_HEAD struct stand stand;
    uint64_t can; /* ASHLAR_CAN_* */
    uint32_t home;
};

/** The most fences that one call takes. */
#define FENCES_MOST 16

/** Fences that were given: see fence.c. */
struct fences {
    struct ashlar_fence fence[FENCES_MOST];
    struct source_object *source[FENCES_MOST]; /* a reference each, or NULL */
    size_t n;
};

/** A stretch of a range that somebody looks at. In the range's list. */
struct range_sight {
    struct range_sight *previous, *next;
    uint64_t address;
    uint64_t bytes;
    bool ahead; /* whether there is memory is its owner's business */
};

/** ashlar.Range */
struct range_object {
    PyObject_HEAD struct stand stand;
    struct fences at_end;
    struct range_sight *sights;
    Py_ssize_t takers; /* threads that take memory away right now */
    uint32_t rights;   /* of the home location */
};

/**
 * ashlar.Arena. It stands on a Source or a Range; on neither, it is the heap's.
 */
struct arena_object {
    PyObject_HEAD struct stand stand;
    struct fences at_end; /* of blocks that nobody released */
    bool for_host, for_kernels;
};

/** What differs between a block and a cached map. */
struct lease_kind {
    const char *name;
    enum stander stander;
    /** Give it back to the library. */
    enum ashlar_status (*give)(struct stand_object *owner, void *address);
};

/**
 * What those have in common: memory that goes back when it was released and no
 * view of it is left.
 */
struct lease {
    const struct lease_kind *kind;
    struct stand_object *owner; /* a reference; NULL once it went back */
    char *address;
    Py_ssize_t bytes;
    Py_ssize_t views;
    bool released;
};

/** What a Block and a CachedMap begin with. */
struct lease_object {
    PyObject_HEAD struct lease lease;
};

/** ashlar.TensorMapTable */
struct table_object {
    PyObject_HEAD struct stand stand;
    struct fences at_end;       /* of leases that nobody retired */
    struct source_object *host; /* a reference that it stands on, or NULL */
};

/** ashlar.Spec: it never changes, so equal ones are as good as one. */
struct spec_object {
    PyObject_HEAD struct ashlar_spec spec;
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
 * An integer of 0 to 2^64 - 1 that the caller gave, into *number_out; anything
 * else raises, and names it as `what`.
 */
bool core_number(struct core_state *state, PyObject *number, const char *what,
                 uint64_t *number_out);

/** The same where None, or nothing, leaves *number_out as it is. */
bool core_set_number(struct core_state *state, PyObject *given,
                     const char *what, uint64_t *number_out);

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

/* stand.c */

/** Fill in what was allocated; nothing of it is made yet. */
void stand_start(struct stand *stand, struct core_state *state,
                 const struct stand_kind *kind, struct stand_object *base);

/** The library's object was made: count it where it stands. */
void stand_made(struct stand *stand, void *object);

/** The library's object; NULL and an exception when it was closed. */
void *stand_open(struct stand *stand);

/** Go into the library without the interpreter's lock, and come back. */
PyThreadState *stand_leave_python(struct stand *stand);
void stand_enter_python(struct stand *stand, PyThreadState *thread);

/** The second half of that, with the lock back already. */
void stand_return(struct stand *stand);

/** Something stands on it; something does no longer. */
void stand_hold(struct stand *stand, enum stander stander);
void stand_drop(struct stand *stand, enum stander stander);

/** close(): NULL and an exception that says what still stands on it. */
PyObject *stand_close(struct stand *stand, const struct fences *fences);

/** close(after=None) as Python calls it. */
PyObject *stand_close_after(PyObject *self, PyObject *args, PyObject *keywords);

/** close() without. */
PyObject *stand_close_now(PyObject *self, PyObject *unused);

/** The end of a `with`: it goes now, or with the last that stands on it. */
PyObject *stand_exit(struct stand *stand);

/** The object ends; gives the reference to what it stood on back. */
void stand_end(struct stand *stand, PyObject *self);

PyObject *stand_enter_with(PyObject *self, PyObject *unused);
PyObject *stand_exit_with(PyObject *self, PyObject *const *unused,
                          Py_ssize_t count);
PyObject *stand_get_closed(PyObject *self, void *unused);

/** None, or the library's last error as an exception. */
PyObject *stand_answer(struct stand *stand, enum ashlar_status status);

/* lease.c */

/** Take what the library gave over. */
void lease_start(struct lease *lease, const struct lease_kind *kind,
                 struct stand_object *owner, const void *address, size_t bytes);

/** The address; NULL and an exception when it was released. */
char *lease_address(struct lease *lease, PyObject *self);

/** It went back some other way than by its kind's. */
void lease_was_given(struct lease *lease);

/** A buffer over it, which has it wait. */
int lease_fill(struct lease *lease, PyObject *self, Py_buffer *view,
               bool readonly, int flags);

PyObject *lease_release(struct lease *lease, PyObject *self);
void lease_dealloc(PyObject *self);
PyObject *lease_enter_with(PyObject *self, PyObject *unused);
PyObject *lease_exit_with(PyObject *self, PyObject *const *unused,
                          Py_ssize_t count);
void lease_releasebuffer(PyObject *self, Py_buffer *view);
PyObject *lease_int(PyObject *self);
PyObject *lease_get_address(PyObject *self, void *unused);
PyObject *lease_get_bytes(PyObject *self, void *unused);
PyObject *lease_get_released(PyObject *self, void *unused);

/* fence.c */

/**
 * Read a Fence, or a sequence of them. Their sources cannot be closed until
 * fences_forget(). False and an exception for anything else.
 */
bool fences_read(struct core_state *state, PyObject *given,
                 struct fences *fences);
void fences_forget(struct fences *fences);

/** The one fence that waits for nothing. */
void fences_quiet(struct fences *fences);

/** fences_read() for an at_end: quiet where None, or nothing, is given. */
bool fences_read_at_end(struct core_state *state, PyObject *given,
                        struct fences *fences);

/* source.c, range.c, grow.c, sight.c, view.c, arena.c, block.c */

extern PyType_Spec source_spec;
extern PyType_Spec range_spec;
extern PyType_Spec view_spec;
extern PyType_Spec arena_spec;
extern PyType_Spec block_spec;

/** A Source that is open; NULL and an exception for anything else. */
struct source_object *source_of(struct core_state *state, PyObject *given);
/** Whether the host may read and write what such a source has. */
bool source_for_host(const struct source_object *source);
/** Whether a device's kernels may. */
bool source_for_kernels(const struct source_object *source);

/** The number of a location; false and an exception when it can be none. */
bool range_location(struct core_state *state, PyObject *given,
                    uint32_t *location_out);

/** "read" and the like, into *rights_out; false and an exception else. */
bool range_rights(struct core_state *state, PyObject *given,
                  uint32_t *rights_out);

/** As many bytes as there are from an offset on. */
#define RANGE_REST UINT64_MAX

/**
 * Look at bytes of a range: they must be there, and stay until
 * range_unsee(). False and an exception else.
 */
bool range_see(struct range_object *range, struct range_sight *sight,
               uint64_t offset, uint64_t bytes, bool ahead);
void range_unsee(struct range_object *range, struct range_sight *sight);

/** Whether nobody looks at these addresses; else an exception says who. */
bool range_is_unseen(struct range_object *range, uint64_t begin, uint64_t end);

/** What the range holds; false and an exception when it cannot tell. */
bool range_query(struct range_object *range, struct ashlar_range_info *info);

/** The chunks, to be freed by PyMem_Free(); NULL and an exception else. */
struct ashlar_range_chunk *range_list_chunks(struct range_object *range,
                                             size_t *count_out);

/* The methods of Range that are in grow.c. Their names, as all here, are none of
 * the library's own: pip links its objects into the module. */
PyObject *range_do_grow(PyObject *self, PyObject *number);
PyObject *range_do_prepare(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *range_do_shrink(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *range_do_decommit(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *range_do_commit(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *range_do_retire_old(PyObject *self, PyObject *args,
                              PyObject *keywords);
PyObject *range_do_allow(PyObject *self, PyObject *args, PyObject *keywords);

/** A buffer over a stretch that is looked at. */
int range_fill(struct range_object *range, Py_buffer *view, PyObject *self,
               const struct range_sight *sight, int flags);

/** A Block that takes over what the library gave; NULL: it gave nothing. */
PyObject *block_new(struct arena_object *arena, void *address, size_t bytes,
                    size_t alignment);

/** The dict of __cuda_array_interface__. */
PyObject *core_cuda_interface(uint64_t address, uint64_t bytes, bool readonly);

PyObject *view_new(struct range_object *range, uint64_t offset, uint64_t bytes,
                   bool ahead);

/* spec.c */

extern PyType_Spec spec_spec;

/** A Spec; NULL and an exception for anything else. */
const struct ashlar_spec *spec_of(struct core_state *state, PyObject *given);

PyObject *spec_new_of(struct core_state *state, const struct ashlar_spec *spec);

/** The name of a spec's enum value, its number when it has none. */
PyObject *spec_setting(enum ashlar_spec_field field, uint32_t value);

/* specread.c */

/** A spec by Spec()'s arguments; false and an exception if they are none. */
bool spec_parse(struct core_state *state, PyObject *args, PyObject *keywords,
                struct ashlar_spec *spec);

/* check.c */

PyObject *spec_check(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *spec_findings(PyObject *self, PyObject *args, PyObject *keywords);

/**
 * Raise what a spec was refused for: SpecError with all that is wrong with it,
 * or the last error. Of many specs, index says which; -1 of one.
 */
PyObject *spec_raise(struct core_state *state, const struct ashlar_spec *spec,
                     Py_ssize_t index);

/* map.c, mapcache.c, maptable.c, tablelease.c */

extern PyType_Spec table_spec;
extern PyType_Spec leased_spec;

/** Lease slots of a table: a TableLease. */
PyObject *leased_new(struct table_object *table, size_t n, bool run);

extern PyType_Spec map_spec;
extern PyType_Spec cache_spec;
extern PyType_Spec cached_spec;
extern PyMethodDef map_functions[];

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

/** The library's type for a name, or for a TypeInfo by its name. */
const struct ashlar_type *type_of(struct core_state *state, PyObject *given);

PyObject *type_info_new(struct core_state *state,
                        const struct ashlar_type *type);
extern PyMethodDef type_functions[];

#endif
