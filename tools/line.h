/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * One line of a file of /proc or /sys.
 */
#ifndef ASHLAR_TOOLS_LINE_H
#define ASHLAR_TOOLS_LINE_H

#include <stddef.h>

/** The first line of a file, without its end; "" when it is not there. */
void line_read(const char *path, char *line, size_t bytes);

#endif
