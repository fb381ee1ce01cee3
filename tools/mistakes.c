/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "mistakes.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "human.h"
#include "must.h"

void mistakes_start(struct mistakes *mistakes, const char *file)
{
    memset(mistakes, 0, sizeof(*mistakes));
    mistakes->file = human_printable(file, SIZE_MAX, "...");
}

void mistakes_end(struct mistakes *mistakes)
{
    size_t i;

    for (i = 0; i < mistakes->count && i < MISTAKES_KEPT; i++)
        free(mistakes->sentences[i]);
    free(mistakes->file);
    memset(mistakes, 0, sizeof(*mistakes));
}

void mistakes_add(struct mistakes *mistakes, size_t line, const char *format,
                  ...)
{
    char *place, *sentence;
    va_list list;

    if (mistakes->count++ >= MISTAKES_KEPT)
        return;
    place = line == 0 ? must_format("%s", mistakes->file)
                      : must_format("%s:%zu", mistakes->file, line);
    va_start(list, format);
    sentence = must_format_list(format, list);
    va_end(list);
    mistakes->sentences[mistakes->count - 1] =
        must_format("%s: %s", place, sentence);
    free(sentence);
    free(place);
}

void mistakes_print(const struct mistakes *mistakes, FILE *stream)
{
    size_t i;

    for (i = 0; i < mistakes->count && i < MISTAKES_KEPT; i++)
        fprintf(stream, "%s\n", mistakes->sentences[i]);
    if (mistakes->count > MISTAKES_KEPT)
        fprintf(stream, "%s: and %s more\n", mistakes->file,
                human_count(mistakes->count - MISTAKES_KEPT).s);
}
