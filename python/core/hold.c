/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "core.h"

#include <string.h>

void hold_start(struct hold *hold, struct pool_object *pool, void *address,
                Py_ssize_t slots)
{
    Py_INCREF((PyObject *)pool);
    hold->pool = pool;
    hold->address = address;
    hold->slots = slots;
    hold->views = 0;
    hold->released = false;
}

static const char *name_of(const struct hold *hold, PyObject *self)
{
    struct core_state *state = PyType_GetModuleState(Py_TYPE(self));

    return Py_TYPE(self) == state->map_type ? "map"
           : hold->slots == 0               ? "slot"
                                            : "run";
}

static bool give_back(const struct hold *hold)
{
    struct ashlar_pool *pool = hold->pool->pool;

    if (hold->slots == 0)
        return ashlar_pool_put(pool, hold->address) == ASHLAR_OK;
    return ashlar_pool_put_run(pool, hold->address, (size_t)hold->slots) ==
           ASHLAR_OK;
}

/* A call less for each of many slots, since most pools are open. */
static void leave(struct pool_object *pool)
{
    if (pool->closed)
        pool_collect(pool);
    Py_DECREF((PyObject *)pool);
}

static bool put(struct hold *hold)
{
    bool right = give_back(hold);

    hold_was_put(hold);
    return right;
}

void hold_was_put(struct hold *hold)
{
    struct pool_object *pool = hold->pool;

    hold->released = true;
    hold->pool = NULL;
    hold->address = NULL;
    leave(pool);
}

/* Every holder checks `released` first, so a put is refused only when other
 * code of the process got at the pool: then the caller is told. */
static PyObject *release(struct hold *hold)
{
    struct core_state *state = hold->pool->state;

    hold->released = true;
    if (hold->views == 0 && !put(hold))
        return core_raise(state);
    Py_RETURN_NONE;
}

PyObject *hold_release(struct hold *hold, PyObject *self)
{
    if (hold->released)
        return core_raise_for(
            self, ASHLAR_ERR_NOT_LIVE, "this %s was released already%s",
            name_of(hold, self),
            hold->pool == NULL ? "" : ", and goes back with its last view");
    return release(hold);
}

PyObject *hold_exit(struct hold *hold)
{
    if (hold->released)
        Py_RETURN_NONE;
    return release(hold);
}

void hold_end(struct hold *hold, PyObject *self)
{
    if (hold->pool == NULL)
        return;
    /* Nobody sees this hold any more, so it need not say that it was put. */
    if (!give_back(hold))
        core_unraisable(self);
    leave(hold->pool);
}

void hold_forget_view(struct hold *hold, PyObject *self)
{
    hold->views--;
    if (hold->views == 0 && hold->released && !put(hold))
        core_unraisable(self);
}

char *hold_address(struct hold *hold, PyObject *self)
{
    if (hold->released) {
        core_raise_for(self, ASHLAR_ERR_NOT_LIVE,
                       "this %s was released: its address is no longer yours",
                       name_of(hold, self));
        return NULL;
    }
    return hold->address;
}

PyObject *hold_address_number(struct hold *hold, PyObject *self)
{
    char *address = hold_address(hold, self);

    return address == NULL ? NULL : PyLong_FromVoidPtr(address);
}

PyObject *hold_zero(struct hold *hold, PyObject *self, Py_ssize_t bytes)
{
    char *address = hold_address(hold, self);

    if (address == NULL)
        return NULL;
    memset(address, 0, (size_t)bytes);
    Py_RETURN_NONE;
}
