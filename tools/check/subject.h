/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The plug-in under trial: from its file to calls of its operations.
 *
 * It is loaded by dlopen(3) alone and called through ashlar/plugin.h alone,
 * without libashlar: as another program would that takes the header at its
 * word. Of a source that is built in, libashlar gives the same struct, and does
 * nothing else.
 */
#ifndef ASHLAR_TOOLS_CHECK_SUBJECT_H
#define ASHLAR_TOOLS_CHECK_SUBJECT_H

#include "check/report.h"

#define SUBJECT_OPTIONS_MOST 16

struct subject {
    struct check_report *report;
    const struct ashlar_host *host;
    struct ashlar_plugin ops; /* what both sides know of it */
    uint64_t groups;          /* whose functions are there: ASHLAR_CAN_* */
    struct ashlar_plugin_option options[SUBJECT_OPTIONS_MOST];
    size_t option_count;
    /* While it is open: */
    void *state;
    struct ashlar_plugin_info info;
};

/**
 * Load a plug-in's file and look at its struct. False when that ends the trial.
 *
 * @param path  Its file; "" for what is built in.
 * @param name  The plug-in's, from the file's name.
 */
bool subject_load(struct subject *subject, const char *path, const char *name);

/** Open it, and look at what it tells. False when that ends the trial. */
bool subject_open(struct subject *subject);
void subject_close(struct subject *subject);

/** Open it by an option that it cannot know. */
void subject_open_wrongly(const struct subject *subject);

/** Whether a group works. */
static inline bool subject_can(const struct subject *subject, uint64_t can)
{
    return (subject->info.can & can) == can;
}

/** Before and after a call: the report knows it, and a failure is explained. */
void subject_begin(const struct subject *subject, const char *operation);
enum ashlar_status subject_end(const struct subject *subject,
                               const char *operation,
                               enum ashlar_status status);

/** A call that returns a status: CALL(subject, map, address, chunk, bytes). */
#define CALL(_subject, _operation, ...)                                        \
    (subject_begin(_subject, #_operation),                                     \
     subject_end(_subject, #_operation,                                        \
                 (_subject)->ops._operation((_subject)->state, __VA_ARGS__)))

#endif
