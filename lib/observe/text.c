/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "observe/text.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/align.h"

void text_start(struct text *text, char *buffer, size_t bytes)
{
    text->buffer = buffer;
    text->bytes = bytes;
    text->length = 0;
    if (bytes > 0)
        buffer[0] = '\0';
}

/* Bytes that may still be written, the terminating zero included. */
static size_t room(const struct text *text)
{
    return text->length < text->bytes ? text->bytes - text->length : 0;
}

void text_add(struct text *text, const char *bytes, size_t n)
{
    size_t left = room(text);

    if (left > 0) {
        size_t fits = min_size(n, left - 1);

        memcpy(text->buffer + text->length, bytes, fits);
        text->buffer[text->length + fits] = '\0';
    }
    text->length += n;
}

void text_say(struct text *text, const char *string)
{
    text_add(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
    size_t left = room(text);
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(left > 0 ? text->buffer + text->length : NULL, left,
                       format, arguments);
    va_end(arguments);
    if (length > 0)
        text->length += (size_t)length;
}

static bool is_tail(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/*
 * The table of well-formed sequences in The Unicode Standard, 3.9: the first
 * byte gives the length, and the bounds of the second exclude overlong forms,
 * surrogates and what lies above U+10FFFF. A string's terminating zero is no
 * tail, so nothing is read behind it.
 */
size_t text_utf8(const char *string)
{
    unsigned char first = (unsigned char)string[0];
    unsigned char second;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    if (first < 0x80)
        return first != 0;
    if (first < 0xc2 || first > 0xf4)
        return 0;
    second = (unsigned char)string[1];
    if (second < low || second > high)
        return 0;
    if (first < 0xe0)
        return 2;
    if (!is_tail(string[2]))
        return 0;
    if (first < 0xf0)
        return 3;
    return is_tail(string[3]) ? 4 : 0;
}

/* C0, DEL and C1: what a terminal may take for a command. */
static bool is_control(const char *sequence)
{
    unsigned char first = (unsigned char)sequence[0];

    return first < 0x20 || first == 0x7f ||
           (first == 0xc2 && (unsigned char)sequence[1] < 0xa0);
}

/* The bytes of the next place: a sequence, or one byte that is none. */
static size_t place(const char *string)
{
    size_t n = text_utf8(string);

    return n > 0 ? n : 1;
}

static size_t count_places(const char *string)
{
    size_t places = 0;

    for (; *string != '\0'; string += place(string))
        places++;
    return places;
}

void text_column(struct text *text, const char *string, size_t width)
{
    size_t places = count_places(string);
    size_t shown = places <= width ? places : width - 3;

    for (size_t i = 0; i < shown; i++) {
        size_t n = place(string);

        if (text_utf8(string) == 0 || is_control(string))
            text_say(text, "?");
        else
            text_add(text, string, n);
        string += n;
    }
    if (shown < places)
        text_say(text, "...");
    for (size_t i = places; i < width; i++)
        text_say(text, " ");
}

/*
 * Three digits or more of value / unit: "1.23", "12.3", "123" and on. Integers
 * all the way: the point is a point in every locale.
 */
static void three_digits(char *buffer, size_t bytes, uint64_t value,
                         uint64_t unit)
{
    uint64_t whole = value / unit;
    uint64_t rest = value % unit;

    /* unit is at most 2^60, so rest * 10 does not overflow. */
    if (whole >= 100) {
        snprintf(buffer, bytes, "%llu", (unsigned long long)whole);
    } else if (whole >= 10) {
        snprintf(buffer, bytes, "%llu.%llu", (unsigned long long)whole,
                 (unsigned long long)(rest * 10 / unit));
    } else {
        uint64_t tenths = rest * 10 / unit;
        uint64_t hundredths = rest * 10 % unit * 10 / unit;

        snprintf(buffer, bytes, "%llu.%llu%llu", (unsigned long long)whole,
                 (unsigned long long)tenths, (unsigned long long)hundredths);
    }
}

/* What is left of a column's width beside its unit, for printf's '*'. */
static int beside(size_t width, size_t unit)
{
    return width > unit ? (int)(width - unit) : 0;
}

void text_count(struct text *text, uint64_t count, size_t width)
{
    static const char letters[] = "MGTPE";
    uint64_t unit = 1000000;
    size_t i = 0;
    char digits[24];

    if (count <= 999999) {
        text_format(text, "%*llu", beside(width, 0), (unsigned long long)count);
        return;
    }
    while (count / unit >= 1000) {
        unit *= 1000;
        i++;
    }
    three_digits(digits, sizeof(digits), count, unit);
    text_format(text, "%*s%c", beside(width, 1), digits, letters[i]);
}

void text_bytes(struct text *text, uint64_t bytes, size_t width)
{
    static const char letters[] = "KMGTPE";
    uint64_t unit = 1024;
    size_t i = 0;
    char digits[24];

    if (bytes < 1024) {
        text_format(text, "%*llu B", beside(width, 2),
                    (unsigned long long)bytes);
        return;
    }
    while (bytes / unit >= 1024) {
        unit *= 1024;
        i++;
    }
    three_digits(digits, sizeof(digits), bytes, unit);
    text_format(text, "%*s %ciB", beside(width, 4), digits, letters[i]);
}
