/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "look.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COLUMNS_USUAL 80
#define COLUMNS_LEAST 40
#define COLUMNS_MOST  500

static size_t stream_columns(FILE *stream)
{
    const char *variable = getenv("COLUMNS");
    struct winsize size;
    unsigned long columns = 0;

    if (variable != NULL)
        columns = strtoul(variable, NULL, 10);
    if (columns == 0 && ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
        columns = size.ws_col;
    if (columns == 0)
        return COLUMNS_USUAL;
    if (columns < COLUMNS_LEAST)
        return COLUMNS_LEAST;
    return columns > COLUMNS_MOST ? COLUMNS_MOST : columns;
}

struct look look_at(FILE *stream)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    struct look look;

    look.columns = stream_columns(stream);
    look.terminal = isatty(fileno(stream)) == 1;
    look.colour = look.terminal && (no_color == NULL || no_color[0] == '\0') &&
                  term != NULL && strcmp(term, "dumb") != 0;
    look.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    return look;
}

const char *look_colour(const struct look *look, enum look_colour colour)
{
    static const char *const codes[] = {
        [LOOK_PLAIN] = "\033[0m",   [LOOK_BOLD] = "\033[1m",
        [LOOK_FAINT] = "\033[2m",   [LOOK_GREEN] = "\033[32m",
        [LOOK_YELLOW] = "\033[33m", [LOOK_RED] = "\033[31m",
    };

    return look->colour ? codes[colour] : "";
}

const char *look_ellipsis(const struct look *look)
{
    return look->utf8 ? "\xe2\x80\xa6" : "...";
}

const char *look_micro(const struct look *look)
{
    return look->utf8 ? "\xc2\xb5" : "u";
}
