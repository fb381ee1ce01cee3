/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Numbers and foreign text as a person likes to read them.
 */
#ifndef ASHLAR_TOOLS_HUMAN_H
#define ASHLAR_TOOLS_HUMAN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "look.h"

/** A short text, returned by value so that several fit in one printf. */
struct human {
    char s[40];
};

/** "1,234,567" */
struct human human_count(uint64_t n);

/** "128 B", "36.4 KiB", "1.50 GiB" */
struct human human_bytes(uint64_t bytes);

/** "3.21 ns", "18.1 us", "1.50 s"; the micro as the stream can show it. */
struct human human_time(double ns, const struct look *look);

/** "321", "3.21 million" */
struct human human_amount(double n);

/** "thread" or "threads". */
const char *human_plural(uint64_t n, const char *one, const char *many);

/** Columns that a UTF-8 text takes, a character each. */
size_t human_columns(const char *utf8);

/**
 * A copy that is safe to print: control characters, and bytes that are no
 * UTF-8, become "?"; what is longer than `columns` ends in an ellipsis. The
 * caller frees it.
 */
char *human_printable(const char *utf8, size_t columns, const char *ellipsis);

/**
 * Print a paragraph, broken at spaces, its lines indented but for the first,
 * which starts where the cursor is taken to be: at `indent`.
 */
void human_wrap(FILE *stream, const char *text, size_t indent, size_t columns);

#endif
