/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Text into a caller's buffer: cut to fit, and its length known in full.
 *
 *     buffer  [ what fits ......... | 0 ]
 *              <--- bytes - 1 ----->
 *     length   <--- all that was said, also what did not fit --->
 *
 * Invariant: when bytes is not 0, the buffer is terminated, at length or, when
 * the text was cut, at bytes - 1.
 *
 * No function here depends on the locale, so numbers have no decimal comma and
 * UTF-8 is UTF-8.
 */
#ifndef ASHLAR_OBSERVE_TEXT_H
#define ASHLAR_OBSERVE_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *buffer;
    size_t bytes;
    size_t length;
};

/** Begin with an empty text; the buffer is borrowed, NULL when bytes is 0. */
void text_start(struct text *text, char *buffer, size_t bytes);

/** Add n bytes as they are. */
void text_add(struct text *text, const char *bytes, size_t n);

/** Add a string as it is. */
void text_say(struct text *text, const char *string);

/** Add what printf(3) makes of it. */
void text_format(struct text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/**
 * Add a left-aligned column: the string, filled up with spaces.
 *
 * A code point counts as one place. What is too long ends in "..."; control
 * characters and what is not UTF-8 become '?', so that a name cannot steer a
 * terminal.
 *
 * @param width  Places, 4 or more.
 */
void text_column(struct text *text, const char *string, size_t width);

/**
 * Add a right-aligned column with a count: exact up to six digits, then in
 * three with the letter of a power of 1000, such as "4.29G"; never rounded up.
 */
void text_count(struct text *text, uint64_t count, size_t width);

/** Add bytes with their unit, such as "1.5 MiB"; never rounded up. */
void text_bytes(struct text *text, uint64_t bytes, size_t width);

/**
 * The bytes, 1 to 4, of the UTF-8 sequence that a string begins with; 0 when
 * what it begins with is none, or the string is empty.
 */
size_t text_utf8(const char *string);

#endif
