/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Memory for a program: it is there, or the program ends and says so.
 */
#ifndef ASHLAR_TOOLS_MUST_H
#define ASHLAR_TOOLS_MUST_H

#include <stdarg.h>
#include <stddef.h>

/** Zeroed. */
void *must_alloc(size_t count, size_t bytes)
    __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));

/** As reallocarray(3). */
void *must_grow(void *block, size_t count, size_t bytes)
    __attribute__((returns_nonnull));

char *must_copy(const char *text) __attribute__((malloc, returns_nonnull));

/** As asprintf(3), returning the text. */
char *must_format(const char *format, ...)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

char *must_format_list(const char *format, va_list list)
    __attribute__((malloc, returns_nonnull, format(printf, 1, 0)));

#endif
