/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The mistakes found in a file: all are counted, the first hundred are kept.
 *
 *     llama.jsonl:3: field "tensors[2].dtype" is "bf17"; it must be one of ...
 */
#ifndef ASHLAR_TOOLS_MISTAKES_H
#define ASHLAR_TOOLS_MISTAKES_H

#include <stddef.h>
#include <stdio.h>

#define MISTAKES_KEPT 100

struct mistakes {
    char *file;
    size_t count;
    char *sentences[MISTAKES_KEPT]; /* the first ones */
};

void mistakes_start(struct mistakes *mistakes, const char *file);
void mistakes_end(struct mistakes *mistakes);

/** Add a sentence, without file, line and full stop. Line 0: no line. */
void mistakes_add(struct mistakes *mistakes, size_t line, const char *format,
                  ...) __attribute__((format(printf, 3, 4)));

void mistakes_print(const struct mistakes *mistakes, FILE *stream);

#endif
