/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What `ashlar prepare` did: as a table, or as one JSON object.
 */
#ifndef ASHLAR_TOOLS_REPORT_H
#define ASHLAR_TOOLS_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "encoding.h"
#include "launcher.h"
#include "preparation.h"

struct report {
    const char *file; /* the manifest's name */
    const struct preparation *preparation;
    const struct encoding *encoding;
    const struct launcher_options
        *options; /* NULL: no launcher was asked for */
    const struct launcher_result *launches; /* NULL: it never started */
    uint64_t source_calls;                  /* after the reserve */
    bool interrupted;
    bool all; /* the text has a row for each kernel, however many */
};

void report_text(const struct report *report, FILE *stream);
void report_json(const struct report *report, FILE *stream);

#endif
