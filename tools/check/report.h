/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What `ashlar check-plugin` found: for each promise of ashlar/plugin.h how
 * often it was kept, and the first time that it was not.
 *
 * The report lies in memory that the process which tries the plug-in shares
 * with the one that waits for it, so that it is there when the former crashes.
 */
#ifndef ASHLAR_TOOLS_CHECK_REPORT_H
#define ASHLAR_TOOLS_CHECK_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ashlar/plugin.h>

/** The promises, in the order in which they are told. */
enum check {
    CHECK_SYMBOL,
    CHECK_STRUCT,
    CHECK_GROUPS,
    CHECK_ALONE,
    CHECK_OPEN,
    CHECK_OPTIONS,
    CHECK_AGAIN,
    CHECK_RESERVE,
    CHECK_CHUNKS,
    CHECK_MAP,
    CHECK_RIGHTS,
    CHECK_CONTENTS,
    CHECK_REFUSALS,
    CHECK_LIMITS,
    CHECK_BLOCKS,
    CHECK_COPY,
    CHECK_SCATTER,
    CHECK_FENCES,
    CHECK_ENCODE,
    CHECK_EXPORT,
    CHECK_REASONS,
    CHECK_NO_MEMORY,
    CHECK_THREADS,
    CHECK_GIVES_BACK,
    CHECK_SURVIVES,
    CHECK_COUNT
};

struct check_row {
    uint64_t kept; /* times; atomic */
    uint64_t broken;
    bool spoken;    /* atomic: somebody writes said */
    char said[400]; /* the first time it was broken; or why it is not tried */
};

struct check_report {
    struct check_row rows[CHECK_COUNT];
    const char *operation; /* a constant: what the plug-in does just now */
    uint64_t calls;        /* into the plug-in; atomic */
    bool finished;         /* the process that tried it came to its end */
    char name[64];
    char version[64];
    struct ashlar_plugin_info info; /* as it was opened */
};

/** A promise was kept, or not: then why, in a sentence. Returns kept. */
bool check_that(struct check_report *report, enum check check, bool kept,
                const char *format, ...) __attribute__((format(printf, 4, 5)));

/** A promise cannot be tried here; why, in a few words. */
void check_not_tried(struct check_report *report, enum check check,
                     const char *reason);

/** Whether nothing was broken so far. */
bool check_all_kept(const struct check_report *report);

/** What the report is of, and how to have it again. */
struct check_run {
    const char *path;
    uint64_t seed;
    uint64_t steps;
    unsigned threads;
};

void check_print(const struct check_report *report, const struct check_run *run,
                 FILE *stream);
void check_print_json(const struct check_report *report,
                      const struct check_run *run, FILE *stream);

#endif
