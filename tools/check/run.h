/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A whole trial, in a process of its own, since a plug-in may crash.
 */
#ifndef ASHLAR_TOOLS_CHECK_RUN_H
#define ASHLAR_TOOLS_CHECK_RUN_H

#include "check/subject.h"

/**
 * Try a plug-in.
 *
 * @param path     Its file.
 * @param name     The name that its file is for.
 * @param options  To open it by, SUBJECT_OPTIONS_MOST at most.
 *
 * @return The report; NULL, and errno, when there can be none.
 */
struct check_report *check_run(const char *path, const char *name,
                               const struct ashlar_plugin_option *options,
                               size_t option_count,
                               const struct check_run *run);

#endif
