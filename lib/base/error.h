/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The thread's last error: kept as a status, a format and its arguments, and
 * turned into a sentence only when somebody asks.
 *
 * Invariant: nothing here allocates but the thread's record (thread.h), so a
 * failure can always be told. A thread that has no record, because there is no
 * memory for one or because it is ending, keeps the status alone, and its
 * sentence is ashlar_status_text() of it.
 */
#ifndef ASHLAR_BASE_ERROR_H
#define ASHLAR_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/status.h>

/** Values a format can hold, and the bytes kept for all its strings. */
#define ERROR_VALUES     8
#define ERROR_TEXT_BYTES 256

/** Bytes of a rendered sentence with its NUL; a longer one is cut. */
#define ERROR_MESSAGE_BYTES 1024

/** A refusal as it is kept: not yet a sentence. */
struct error {
    enum ashlar_status status;
    const char *format; /* constant; NULL for the text of the status */
    union {
        uint64_t number;
        const void *pointer;
        size_t text; /* offset into texts */
    } values[ERROR_VALUES];
    char texts[ERROR_TEXT_BYTES]; /* copies of the %s arguments, cut to fit */
};

/**
 * Keep a refusal and return its status, so that a function can say
 * `return error_set(ASHLAR_ERR_INVALID, "...", ...);`.
 *
 * A string that does not fit is cut between characters and ends in "...". What
 * follows the ERROR_VALUES-th value, or a directive not listed, is not kept.
 *
 * @param format  A constant of printf(3) with the directives %s %c %p %%, and
 *                %d %i %u %x with no length or z, l, ll, without widths.
 */
enum ashlar_status error_set(enum ashlar_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same with its values in a list. */
enum ashlar_status error_set_v(enum ashlar_status status, const char *format,
                               va_list list)
    __attribute__((format(printf, 2, 0)));

/** The same and NULL, for functions that return memory. */
void *error_null(enum ashlar_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Keep a refusal whose sentence has no values: a few stores, no scan. */
enum ashlar_status error_set_constant(enum ashlar_status status,
                                      const char *sentence);

/** Put back what error_copy() gave: so that an undo cannot hide its cause. */
void error_copy(struct error *copy_out);
void error_restore(const struct error *copy);

/** Render an error as snprintf(3) would; returns the length it has in full. */
size_t error_format(const struct error *error, char *buffer, size_t bytes);

#endif
