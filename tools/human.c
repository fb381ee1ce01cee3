/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "human.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "must.h"

struct human human_count(uint64_t n)
{
    char digits[24];
    struct human human;
    size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, n);
    size_t i, at = 0;

    for (i = 0; i < length; i++) {
        if (i != 0 && (length - i) % 3 == 0)
            human.s[at++] = ',';
        human.s[at++] = digits[i];
    }
    human.s[at] = '\0';
    return human;
}

/* Three digits are what a reader takes in. */
static struct human three_digits(double n, const char *space, const char *unit)
{
    struct human human;
    int decimals = n < 9.995 ? 2 : n < 99.95 ? 1 : 0;

    snprintf(human.s, sizeof(human.s), "%.*f%s%s", decimals, n, space, unit);
    return human;
}

struct human human_bytes(uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    double n = (double)bytes / 1024;
    struct human human;
    size_t i = 0;

    if (bytes < 1024) {
        snprintf(human.s, sizeof(human.s), "%" PRIu64 " B", bytes);
        return human;
    }
    for (; n >= 999.5 && i + 1 < sizeof(units) / sizeof(units[0]); i++)
        n /= 1024;
    return three_digits(n, " ", units[i]);
}

struct human human_time(double ns, const struct look *look)
{
    char micro[8];

    snprintf(micro, sizeof(micro), "%ss", look_micro(look));
    if (ns < 999.5)
        return three_digits(ns, " ", "ns");
    if (ns < 999.5e3)
        return three_digits(ns / 1e3, " ", micro);
    if (ns < 999.5e6)
        return three_digits(ns / 1e6, " ", "ms");
    if (ns < 120e9)
        return three_digits(ns / 1e9, " ", "s");
    return three_digits(ns / 60e9, " ", "min");
}

struct human human_amount(double n)
{
    if (n < 99999.5)
        return human_count((uint64_t)(n + 0.5));
    if (n < 999.5e3)
        return three_digits(n / 1e3, " ", "thousand");
    if (n < 999.5e6)
        return three_digits(n / 1e6, " ", "million");
    return three_digits(n / 1e9, " ", "billion");
}

const char *human_plural(uint64_t n, const char *one, const char *many)
{
    return n == 1 ? one : many;
}

/* The first byte of a character, or a byte that belongs to none. */
static int starts_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

size_t human_columns(const char *utf8)
{
    size_t columns = 0;

    for (; *utf8 != '\0'; utf8++)
        columns += starts_character(*utf8);
    return columns;
}

/* The bytes of the character that begins here; 0 when it is no UTF-8. */
static size_t character_bytes(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;
    size_t bytes = byte[0] < 0x80   ? 1
                   : byte[0] < 0xc2 ? 0
                   : byte[0] < 0xe0 ? 2
                   : byte[0] < 0xf0 ? 3
                   : byte[0] < 0xf5 ? 4
                                    : 0;
    size_t i;

    for (i = 1; i < bytes; i++)
        if (starts_character(at[i]))
            return 0;
    /* Too long a form, a surrogate half, or beyond the last character. */
    if ((byte[0] == 0xe0 && byte[1] < 0xa0) ||
        (byte[0] == 0xed && byte[1] >= 0xa0) ||
        (byte[0] == 0xf0 && byte[1] < 0x90) ||
        (byte[0] == 0xf4 && byte[1] >= 0x90))
        return 0;
    return bytes;
}

/* C0, DEL, and C1, which is 0xc2 0x80 to 0xc2 0x9f. */
static bool is_control(const char *at)
{
    const unsigned char *byte = (const unsigned char *)at;

    return byte[0] < 0x20 || byte[0] == 0x7f ||
           (byte[0] == 0xc2 && byte[1] < 0xa0);
}

static char *cut(char *text, size_t columns, const char *ellipsis)
{
    size_t room = columns - human_columns(ellipsis);
    char *at = text;

    for (; room != 0; room--)
        for (at++; !starts_character(*at);)
            at++;
    *at = '\0';
    at = must_format("%s%s", text, ellipsis);
    free(text);
    return at;
}

char *human_printable(const char *utf8, size_t columns, const char *ellipsis)
{
    char *text = must_alloc(strlen(utf8) + 1, 1);
    size_t at = 0;

    while (*utf8 != '\0') {
        size_t bytes = character_bytes(utf8);

        if (bytes == 0 || is_control(utf8))
            text[at++] = '?';
        else
            at = (size_t)((char *)mempcpy(text + at, utf8, bytes) - text);
        utf8 += bytes != 0 ? bytes : 1;
    }
    if (human_columns(text) > columns && columns > human_columns(ellipsis))
        text = cut(text, columns, ellipsis);
    return text;
}

void human_wrap(FILE *stream, const char *text, size_t indent, size_t columns)
{
    size_t at = indent;
    const char *space = "";

    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");
        char *word = must_format("%.*s", (int)bytes, text);
        size_t width = human_columns(word);

        if (at != indent && at + 1 + width > columns) {
            fprintf(stream, "\n%*s", (int)indent, "");
            at = indent;
            space = "";
        }
        fprintf(stream, "%s%s", space, word);
        at += strlen(space) + width;
        space = " ";
        free(word);
        text += bytes;
        text += strspn(text, " ");
    }
    fputc('\n', stream);
}
