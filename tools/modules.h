/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What the dynamic linker knows of a module: its path and its static TLS.
 */
#ifndef ASHLAR_TOOLS_MODULES_H
#define ASHLAR_TOOLS_MODULES_H

#include <stdbool.h>
#include <stddef.h>

struct module {
    char *path;
    bool program;     /* the program itself, not a shared object */
    bool static_tls;  /* DF_STATIC_TLS: it takes room that is fixed at start */
    size_t tls_bytes; /* of its thread-local variables */
};

/** The module that an address lies in; all zero when there is none. */
struct module module_of(const void *address);

/** The first shared object whose file's name has a word in it. */
bool module_named(const char *word, struct module *module_out);

void module_clear(struct module *module);

#endif
