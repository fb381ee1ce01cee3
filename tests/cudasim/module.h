/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Modules, and the functions in them.
 *
 *     module ──> function "ashlar_scatter" ──> kernel that is known
 *        └─────> function "other"          ──> NULL: it can be had, not launched
 *
 * Invariants: a module is of one context and goes with it. Its functions are made
 * as it is loaded, and go as it is unloaded.
 */
#ifndef CUDASIM_MODULE_H
#define CUDASIM_MODULE_H

#include "kernel.h"
#include "machine.h"

struct function {
    struct item handle;
    struct function *next; /* in its module */
    struct module *module;
    const struct kernel *kernel;
    unsigned parameters;
    char *name;
};

struct module {
    struct item handle;
    uint64_t context; /* id */
    struct function *functions;
};

extern struct index modules;

/* A function by its handle, with one counted as bogus; NULL: none. */
struct function *module_function(CUfunction handle);

/* Forget the modules of a context; of all. */
void module_drop(uint64_t context);
void module_clear(void);

#endif
