/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What a stream can show: its width, colours, and which characters.
 */
#ifndef ASHLAR_TOOLS_LOOK_H
#define ASHLAR_TOOLS_LOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct look {
    size_t columns; /* 80 when it is no terminal and COLUMNS says nothing */
    bool terminal;
    bool colour; /* a terminal, TERM is not "dumb", NO_COLOR is not set */
    bool utf8;   /* the locale's characters are UTF-8 */
};

enum look_colour {
    LOOK_PLAIN,
    LOOK_BOLD,
    LOOK_FAINT,
    LOOK_GREEN,
    LOOK_YELLOW,
    LOOK_RED
};

/** Look at a stream; setlocale(3) has been called. */
struct look look_at(FILE *stream);

/** What switches a colour on, "" where there are none; LOOK_PLAIN is off. */
const char *look_colour(const struct look *look, enum look_colour colour);

/** The sign for "cut here", one column ("…") or three ("..."). */
const char *look_ellipsis(const struct look *look);

/** The prefix of micro. */
const char *look_micro(const struct look *look);

#endif
