/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What is looked at of a range. It is in the range's list, so that nothing is
 * taken away under it: the host would crash there. */
#include "core.h"

bool range_query(struct range_object *range, struct ashlar_range_info *info)
{
    struct stand *stand = &range->stand;
    enum ashlar_status status;
    PyThreadState *thread;

    if (stand_open(stand) == NULL)
        return false;
    thread = stand_leave_python(stand);
    status = ashlar_range_query(stand->object, info);
    stand_enter_python(stand, thread);
    if (status != ASHLAR_OK)
        core_raise(stand->state);
    return status == ASHLAR_OK;
}

struct ashlar_range_chunk *range_list_chunks(struct range_object *range,
                                             size_t *count_out)
{
    struct ashlar_range_chunk *chunks = NULL;
    size_t room = 0, count = 0;

    do {
        PyMem_Free(chunks);
        room = count + 8;
        chunks = PyMem_Malloc(room * sizeof(*chunks));
        if (chunks == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        if (ashlar_range_chunks(range->stand.object, chunks, room, &count) !=
            ASHLAR_OK) {
            PyMem_Free(chunks);
            core_raise(range->stand.state);
            return NULL;
        }
    } while (count > room);
    *count_out = count;
    return chunks;
}

/* Whether there is memory in all of a stretch; else an exception. */
static bool is_there(struct range_object *range, uint64_t offset,
                     uint64_t bytes)
{
    size_t count = 0, i;
    struct ashlar_range_chunk *chunks = range_list_chunks(range, &count);
    uint64_t end = offset + bytes;

    if (chunks == NULL)
        return false;
    for (i = 0; i < count && offset < end; i++)
        if (chunks[i].offset <= offset)
            offset = chunks[i].offset + chunks[i].bytes > offset
                         ? chunks[i].offset + chunks[i].bytes
                         : offset;
    PyMem_Free(chunks);
    if (offset >= end)
        return true;
    core_raise_as(range->stand.state, ASHLAR_ERR_INVALID,
                  "there is no memory at offset %llu: it was decommitted; "
                  "commit() it first",
                  (unsigned long long)offset);
    return false;
}

/* Whether nobody else has a say in what memory there is; else an exception. */
static bool is_steady(struct range_object *range)
{
    if (range->takers != 0) {
        core_raise_as(range->stand.state, ASHLAR_ERR_BUSY,
                      "another thread is taking memory of this range away");
        return false;
    }
    if (range->stand.standers[STANDS_ARENA] != 0) {
        core_raise_as(range->stand.state, ASHLAR_ERR_BUSY,
                      "an arena stands on this range: its blocks can be "
                      "viewed, not the range");
        return false;
    }
    return true;
}

/* The stretch of a sight, if it may be looked at; else an exception. From here
 * until it is in the list nobody else may run. */
static bool find_sight(struct range_object *range, struct range_sight *sight,
                       uint64_t offset, uint64_t bytes, bool ahead)
{
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct stand *stand = &range->stand;
    uint64_t end;

    if (ashlar_range_query(stand->object, &info) != ASHLAR_OK) {
        core_raise(stand->state);
        return false;
    }
    end = ahead ? info.reserved_bytes : info.used_bytes;
    if (bytes == RANGE_REST && offset <= end)
        bytes = end - offset;
    if (offset > end || bytes > end - offset) {
        core_raise_as(stand->state, ASHLAR_ERR_INVALID,
                      "offset %llu and %llu bytes from there are not within "
                      "the %llu bytes that are %s",
                      (unsigned long long)offset, (unsigned long long)bytes,
                      (unsigned long long)end, ahead ? "reserved" : "used");
        return false;
    }
    if (!ahead && !is_there(range, offset, bytes))
        return false;
    sight->address = info.base + offset;
    sight->bytes = bytes;
    sight->ahead = ahead;
    return true;
}

bool range_see(struct range_object *range, struct range_sight *sight,
               uint64_t offset, uint64_t bytes, bool ahead)
{
    if (stand_open(&range->stand) == NULL || !is_steady(range) ||
        !find_sight(range, sight, offset, bytes, ahead))
        return false;
    sight->previous = NULL;
    sight->next = range->sights;
    if (range->sights != NULL)
        range->sights->previous = sight;
    range->sights = sight;
    stand_hold(&range->stand, STANDS_VIEW);
    return true;
}

void range_unsee(struct range_object *range, struct range_sight *sight)
{
    if (sight->previous != NULL)
        sight->previous->next = sight->next;
    else
        range->sights = sight->next;
    if (sight->next != NULL)
        sight->next->previous = sight->previous;
    stand_drop(&range->stand, STANDS_VIEW);
}

bool range_is_unseen(struct range_object *range, uint64_t begin, uint64_t end)
{
    const struct range_sight *sight;

    for (sight = range->sights; sight != NULL; sight = sight->next) {
        uint64_t last = sight->address + sight->bytes;

        if (sight->ahead || sight->bytes == 0 || sight->address >= end ||
            last <= begin)
            continue;
        core_raise_as(range->stand.state, ASHLAR_ERR_BUSY,
                      "a view of %llu bytes at %p is alive: let it go before "
                      "its memory",
                      (unsigned long long)sight->bytes,
                      (void *)(uintptr_t)sight->address);
        return false;
    }
    return true;
}

int range_fill(struct range_object *range, Py_buffer *view, PyObject *self,
               const struct range_sight *sight, int flags)
{
    if (!source_for_host((struct source_object *)range->stand.base) ||
        range->rights == ASHLAR_RIGHTS_NONE) {
        PyErr_SetString(PyExc_BufferError, "the host cannot read this memory");
        return -1;
    }
    return PyBuffer_FillInfo(view, self, (void *)(uintptr_t)sight->address,
                             (Py_ssize_t)sight->bytes,
                             range->rights != ASHLAR_RIGHTS_READ_WRITE, flags);
}

PyObject *core_cuda_interface(uint64_t address, uint64_t bytes, bool readonly)
{
    /* No stream: whoever reads orders that behind the writes. */
    return Py_BuildValue("{s:(K),s:s,s:(KN),s:O,s:O,s:i}", "shape",
                         (unsigned long long)bytes, "typestr", "|u1", "data",
                         (unsigned long long)address, PyBool_FromLong(readonly),
                         "strides", Py_None, "stream", Py_None, "version", 3);
}
