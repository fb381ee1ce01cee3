/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What the doctor found: facts, each fine, worth a note, or a problem.
 *
 *     ok       static TLS  8 bytes
 *     note     driver      libcuda.so.1 was not found
 *                          -> what to do about it
 */
#ifndef ASHLAR_TOOLS_FINDINGS_H
#define ASHLAR_TOOLS_FINDINGS_H

#include <stddef.h>
#include <stdio.h>

enum finding_level { FINDING_OK, FINDING_NOTE, FINDING_PROBLEM };

struct finding {
    enum finding_level level;
    const char *topic; /* a constant, up to 12 columns */
    char *fact;
    char *advice; /* what to do; NULL for nothing */
};

/** All zero: nothing found yet. */
struct findings {
    size_t count;
    struct finding *list;
};

/** Add a fact; the one advised next belongs to it. */
void findings_add(struct findings *findings, enum finding_level level,
                  const char *topic, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** Say what to do about the last fact. */
void findings_advise(struct findings *findings, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

size_t findings_count(const struct findings *findings,
                      enum finding_level level);

void findings_print(const struct findings *findings, FILE *stream);
void findings_print_json(const struct findings *findings, FILE *stream);
void findings_clear(struct findings *findings);

#endif
