/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What changes a range: how much memory it has, and who may use it. */
#include "core.h"

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

static PyObject *tell(struct range_object *range, enum ashlar_status status,
                      const struct ashlar_range_result *result)
{
    static const char *const paths[] = {
        [ASHLAR_RANGE_PATH_NONE] = "none",
        [ASHLAR_RANGE_PATH_IN_RESERVATION] = "in place",
        [ASHLAR_RANGE_PATH_ADJACENT] = "adjacent",
        [ASHLAR_RANGE_PATH_MOVED] = "moved",
    };

    if (status != ASHLAR_OK)
        return core_raise(range->stand.state);
#define N(_member) (unsigned long long)result->_member
    return PyObject_CallFunction(
        range->stand.state->range_result, "sKKKKKI",
        result->path <= ASHLAR_RANGE_PATH_MOVED ? paths[result->path] : "?",
        N(base), N(old_base), N(used_bytes), N(committed_bytes),
        N(released_bytes), result->source_calls);
#undef N
}

PyObject *range_do_grow(PyObject *self, PyObject *number)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct range_object *range = range_of(self);
    struct stand *stand = &range->stand;
    enum ashlar_status status;
    PyThreadState *thread;
    uint64_t total;

    if (!core_number(stand->state, number, "total", &total) ||
        stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_range_grow_to(stand->object, total, &result);
    stand_enter_python(stand, thread);
    return tell(range, status, &result);
}

PyObject *range_do_prepare(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"total", "mapped", NULL};
    struct stand *stand = stand_of(self);
    enum ashlar_status status;
    PyThreadState *thread;
    PyObject *number;
    uint64_t total;
    int mapped = 1;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|$p:prepare",
                                     (char **)names, &number, &mapped) ||
        !core_number(stand->state, number, "total", &total) ||
        stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_range_prepare(stand->object, total,
                                  mapped ? ASHLAR_RANGE_MAPPED
                                         : ASHLAR_RANGE_CREATED);
    stand_enter_python(stand, thread);
    return stand_answer(stand, status);
}

/* While memory is being taken away nobody may begin to look at it. */
static PyThreadState *begin_taking(struct range_object *range)
{
    range->takers++;
    return stand_leave_python(&range->stand);
}

static void end_taking(struct range_object *range, PyThreadState *thread)
{
    stand_enter_python(&range->stand, thread);
    range->takers--;
}

PyObject *range_do_shrink(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"total", "after", NULL};
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct range_object *range = range_of(self);
    struct stand *stand = &range->stand;
    PyObject *number, *given, *answer = NULL;
    struct fences after;
    uint64_t total;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O$O:shrink",
                                     (char **)names, &number, &given) ||
        !core_number(stand->state, number, "total", &total) ||
        !fences_read(stand->state, given, &after))
        return NULL;
    if (range_query(range, &info) &&
        (total >= info.used_bytes ||
         range_is_unseen(range, info.base + total,
                         info.base + info.used_bytes))) {
        PyThreadState *thread = begin_taking(range);
        enum ashlar_status status = ashlar_range_shrink_to(
            stand->object, total, after.fence, after.n, &result);

        end_taking(range, thread);
        answer = tell(range, status, &result);
    }
    fences_forget(&after);
    return answer;
}

PyObject *range_do_decommit(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"offset", "bytes", "after", NULL};
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct range_object *range = range_of(self);
    struct stand *stand = &range->stand;
    PyObject *from, *length, *given, *answer = NULL;
    struct fences after;
    uint64_t offset, bytes;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO$O:decommit",
                                     (char **)names, &from, &length, &given) ||
        !core_number(stand->state, from, "offset", &offset) ||
        !core_number(stand->state, length, "bytes", &bytes) ||
        !fences_read(stand->state, given, &after))
        return NULL;
    /* What lies outside is the library's to refuse. */
    if (range_query(range, &info) &&
        (offset > info.used_bytes || bytes > info.used_bytes - offset ||
         range_is_unseen(range, info.base + offset,
                         info.base + offset + bytes))) {
        PyThreadState *thread = begin_taking(range);
        enum ashlar_status status = ashlar_range_decommit(
            stand->object, offset, bytes, after.fence, after.n, &result);

        end_taking(range, thread);
        answer = tell(range, status, &result);
    }
    fences_forget(&after);
    return answer;
}

PyObject *range_do_commit(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"offset", "bytes", NULL};
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    struct range_object *range = range_of(self);
    struct stand *stand = &range->stand;
    enum ashlar_status status;
    PyObject *from, *length;
    PyThreadState *thread;
    uint64_t offset, bytes;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:commit",
                                     (char **)names, &from, &length) ||
        !core_number(stand->state, from, "offset", &offset) ||
        !core_number(stand->state, length, "bytes", &bytes) ||
        stand_open(stand) == NULL)
        return NULL;
    thread = stand_leave_python(stand);
    status = ashlar_range_commit(stand->object, offset, bytes, &result);
    stand_enter_python(stand, thread);
    return tell(range, status, &result);
}

PyObject *range_do_retire_old(PyObject *self, PyObject *args,
                              PyObject *keywords)
{
    static const char *const names[] = {"after", NULL};
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct range_object *range = range_of(self);
    struct stand *stand = &range->stand;
    PyObject *given, *answer = NULL;
    struct fences after;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "$O:retire_old",
                                     (char **)names, &given) ||
        !fences_read(stand->state, given, &after))
        return NULL;
    if (range_query(range, &info) && range_is_unseen(range, 0, info.base) &&
        range_is_unseen(range, info.base + info.reserved_bytes, UINT64_MAX)) {
        PyThreadState *thread = begin_taking(range);
        enum ashlar_status status =
            ashlar_range_retire_old(stand->object, after.fence, after.n);

        end_taking(range, thread);
        answer = stand_answer(stand, status);
    }
    fences_forget(&after);
    return answer;
}

/* The host's own rights are not taken from under who looks. */
static bool may_restrict(struct range_object *range, uint32_t location,
                         uint32_t rights)
{
    if (location != base_of(range)->home || rights >= range->rights ||
        !source_for_host(base_of(range)))
        return true;
    if (range->stand.standers[STANDS_ARENA] != 0) {
        core_raise_as(range->stand.state, ASHLAR_ERR_BUSY,
                      "an arena stands on this range: its blocks are read and "
                      "written");
        return false;
    }
    return range_is_unseen(range, 0, UINT64_MAX);
}

PyObject *range_do_allow(PyObject *self, PyObject *args, PyObject *keywords)
{
    static const char *const names[] = {"location", "rights", NULL};
    struct range_object *range = range_of(self);
    struct stand *stand = &range->stand;
    PyObject *place, *given;
    enum ashlar_status status;
    PyThreadState *thread;
    uint32_t location, rights;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:allow", (char **)names,
                                     &place, &given) ||
        !range_location(stand->state, place, &location) ||
        !range_rights(stand->state, given, &rights) ||
        stand_open(stand) == NULL || !may_restrict(range, location, rights))
        return NULL;
    thread = begin_taking(range);
    status =
        ashlar_range_allow(stand->object, location, (enum ashlar_rights)rights);
    end_taking(range, thread);
    if (status == ASHLAR_OK && location == base_of(range)->home)
        range->rights = rights;
    return stand_answer(stand, status);
}
