/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "must.h"

#include <error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *block)
{
    if (block == NULL)
        error(EXIT_FAILURE, 0,
              "no memory is left for the program's own "
              "records");
    return block;
}

void *must_alloc(size_t count, size_t bytes)
{
    return must(calloc(count != 0 ? count : 1, bytes));
}

void *must_grow(void *block, size_t count, size_t bytes)
{
    return must(reallocarray(block, count, bytes));
}

char *must_copy(const char *text)
{
    return must(strdup(text));
}

char *must_format(const char *format, ...)
{
    va_list list;
    char *text;

    va_start(list, format);
    text = must_format_list(format, list);
    va_end(list);
    return text;
}

char *must_format_list(const char *format, va_list list)
{
    char *text;

    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    return must(text);
}
