/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The log: lines for the callback of ashlar_set_log().
 */
#ifndef ASHLAR_BASE_LOG_H
#define ASHLAR_BASE_LOG_H

#include <stdarg.h>

#include <ashlar/status.h>

/**
 * Say a line, if anybody listens; call it with no lock held. A line of more
 * than 511 bytes is cut. Costs one load when nobody listens.
 */
void log_line(enum ashlar_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same with its values in a list. */
void log_line_v(enum ashlar_log_level level, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

#endif
