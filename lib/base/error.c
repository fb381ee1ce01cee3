/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/thread.h"

/* What every string may have, its NUL counted, whatever else is kept. */
#define TEXT_SHARE ((size_t)(ERROR_TEXT_BYTES / ERROR_VALUES))

/* How wide an integer argument is. */
enum width { WIDTH_INT, WIDTH_LONG, WIDTH_LONG_LONG, WIDTH_SIZE };

/* One directive of a format, taken apart. */
struct directive {
    enum width width;
    char conversion; /* d u x s c p %; '\0' for one that is not known */
    const char *end; /* the first character after it */
};

static struct directive read_directive(const char *percent)
{
    struct directive directive = {WIDTH_INT, '\0', percent + 1};
    const char *p = percent + 1;

    if (*p == 'z') {
        directive.width = WIDTH_SIZE;
        p++;
    } else if (*p == 'l') {
        directive.width = WIDTH_LONG;
        p++;
        if (*p == 'l') {
            directive.width = WIDTH_LONG_LONG;
            p++;
        }
    }
    switch (*p) {
    case 'd':
    case 'u':
    case 'x':
    case 's':
    case 'c':
    case 'p':
    case '%':
        directive.conversion = *p;
        directive.end = p + 1;
        break;
    case 'i':
        directive.conversion = 'd';
        directive.end = p + 1;
        break;
    default:
        break;
    }
    return directive;
}

static bool is_signed(const struct directive *directive)
{
    return directive->conversion == 'd' || directive->conversion == 'c';
}

/* va_list by pointer, because it is an array on some machines. */
static uint64_t take_number(const struct directive *directive, va_list *list)
{
    bool negative = is_signed(directive);

    switch (directive->width) {
    case WIDTH_LONG:
        return negative ? (uint64_t)va_arg(*list, long)
                        : va_arg(*list, unsigned long);
    case WIDTH_LONG_LONG:
        return negative ? (uint64_t)va_arg(*list, long long)
                        : va_arg(*list, unsigned long long);
    case WIDTH_SIZE:
        return va_arg(*list, size_t);
    case WIDTH_INT:
        break;
    }
    return negative ? (uint64_t)va_arg(*list, int)
                    : va_arg(*list, unsigned int);
}

/* The strings that the rest of a format asks for. */
static size_t count_texts(const char *format)
{
    const char *p = strchr(format, '%');
    size_t count = 0;

    while (p != NULL) {
        struct directive directive = read_directive(p);

        if (directive.conversion == '\0')
            break;
        count += directive.conversion == 's';
        p = strchr(directive.end, '%');
    }
    return count;
}

/* Copy as much of a string as fits into `room` bytes with dots after it and
 * ends between two UTF-8 characters. Returns the bytes written. */
static size_t cut_text(char *to, size_t room, const char *text)
{
    static const char dots[] = "...";
    size_t length = room - sizeof(dots);

    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    memcpy(to, text, length);
    memcpy(to + length, dots, sizeof(dots));
    return length + sizeof(dots);
}

/* Keep a string behind those kept before; `rest` is the format after it. Every
 * string may have TEXT_SHARE bytes, a longer one as much as leaves their share
 * to those that follow. Returns the bytes used. */
static size_t keep_text(struct error *error, size_t used, const char *text,
                        const char *rest)
{
    char *to = error->texts + used;
    size_t length = strnlen(text, sizeof(error->texts));
    size_t room = TEXT_SHARE;

    if (length >= room)
        room = (sizeof(error->texts) - used) / (1 + count_texts(rest));
    if (length >= room)
        return cut_text(to, room, text);
    memcpy(to, text, length);
    to[length] = '\0';
    return length + 1;
}

/* Walk the format and keep its arguments. */
static void capture(struct error *error, const char *format, va_list *list)
{
    size_t used = 0, i = 0;
    const char *p = strchr(format, '%');

    while (p != NULL && i < ERROR_VALUES) {
        struct directive directive = read_directive(p);

        if (directive.conversion == '\0')
            return;
        if (directive.conversion == 's') {
            const char *text = va_arg(*list, const char *);

            error->values[i++].text = used;
            used += keep_text(error, used, text == NULL ? "(null)" : text,
                              directive.end);
        } else if (directive.conversion == 'p') {
            error->values[i++].pointer = va_arg(*list, const void *);
        } else if (directive.conversion != '%') {
            error->values[i++].number = take_number(&directive, list);
        }
        p = strchr(directive.end, '%');
    }
}

/* Keep the status of a thread that has no record. */
static void mark_status(enum ashlar_status status)
{
    uintptr_t mark = (uintptr_t)thread_self & THREAD_ENDED;

    thread_self = (struct thread *)(mark | (uintptr_t)-status << 1);
}

static enum ashlar_status marked_status(void)
{
    return (enum ashlar_status)(-(int)((uintptr_t)thread_self >> 1));
}

/* The thread's error to fill, with the status set; NULL without a record. */
static struct error *begin(enum ashlar_status status)
{
    struct thread *self = thread_peek();

    if (self == NULL)
        self = thread_record();
    if (self == NULL) {
        mark_status(status);
        return NULL;
    }
    self->error.status = status;
    return &self->error;
}

static void keep(enum ashlar_status status, const char *format, va_list *list)
{
    struct error *error = begin(status);

    if (error != NULL) {
        error->format = format;
        capture(error, format, list);
    }
}

enum ashlar_status error_set(enum ashlar_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    keep(status, format, &list);
    va_end(list);
    return status;
}

enum ashlar_status error_set_v(enum ashlar_status status, const char *format,
                               va_list list)
{
    va_list own;

    va_copy(own, list);
    keep(status, format, &own);
    va_end(own);
    return status;
}

void *error_null(enum ashlar_status status, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    keep(status, format, &list);
    va_end(list);
    return NULL;
}

enum ashlar_status error_set_constant(enum ashlar_status status,
                                      const char *sentence)
{
    struct error *error = begin(status);

    if (error != NULL)
        error->format = sentence;
    return status;
}

void error_copy(struct error *copy_out)
{
    const struct thread *self = thread_peek();

    if (self != NULL) {
        *copy_out = self->error;
    } else {
        memset(copy_out, 0, sizeof(*copy_out));
        copy_out->status = marked_status();
    }
}

void error_restore(const struct error *copy)
{
    struct thread *self = thread_peek();

    if (self == NULL && copy->status == ASHLAR_OK)
        mark_status(ASHLAR_OK);
    else if (self != NULL || begin(copy->status) != NULL)
        thread_self->error = *copy;
}

/* What is being rendered: as snprintf(3), it counts what does not fit. */
struct output {
    char *buffer;
    size_t bytes;
    size_t length;
};

static void put_bytes(struct output *output, const char *text, size_t length)
{
    if (output->length < output->bytes) {
        size_t room = output->bytes - output->length;

        memcpy(output->buffer + output->length, text,
               length < room ? length : room);
    }
    output->length += length;
}

/* One integer, the way its directive wants it. */
static void put_number(struct output *output, uint64_t number,
                       const struct directive *directive)
{
    char digits[24];
    int length;

    if (directive->conversion == 'c') {
        digits[0] = (char)number;
        length = 1;
    } else if (directive->conversion == 'd') {
        length = snprintf(digits, sizeof(digits), "%lld", (long long)number);
    } else {
        length = snprintf(digits, sizeof(digits),
                          directive->conversion == 'x' ? "%llx" : "%llu",
                          (unsigned long long)number);
    }
    put_bytes(output, digits, (size_t)length);
}

static void put_value(struct output *output, const struct error *error,
                      size_t i, const struct directive *directive)
{
    char digits[24];

    if (directive->conversion == 's') {
        const char *text = error->texts + error->values[i].text;

        put_bytes(output, text, strlen(text));
    } else if (directive->conversion == 'p') {
        uintptr_t address = (uintptr_t)error->values[i].pointer;
        int length = snprintf(digits, sizeof(digits), "0x%llx",
                              (unsigned long long)address);

        put_bytes(output, digits, (size_t)length);
    } else {
        put_number(output, error->values[i].number, directive);
    }
}

/* The sentence with its values; stops where capture() had to stop. */
static void render(struct output *output, const struct error *error)
{
    const char *from = error->format;
    const char *percent = strchr(from, '%');
    size_t i = 0;

    while (percent != NULL) {
        struct directive directive = read_directive(percent);

        put_bytes(output, from, (size_t)(percent - from));
        from = percent;
        if (directive.conversion == '\0')
            break;
        if (directive.conversion == '%')
            put_bytes(output, "%", 1);
        else if (i == ERROR_VALUES)
            break;
        else
            put_value(output, error, i++, &directive);
        from = directive.end;
        percent = strchr(from, '%');
    }
    put_bytes(output, from, strlen(from));
}

size_t error_format(const struct error *error, char *buffer, size_t bytes)
{
    struct output output = {buffer, bytes, 0};

    if (error->format != NULL) {
        render(&output, error);
    } else {
        const char *text = error->status == ASHLAR_OK
                               ? "no error"
                               : ashlar_status_text(error->status);

        put_bytes(&output, text, strlen(text));
    }
    if (bytes > 0)
        buffer[output.length < bytes ? output.length : bytes - 1] = '\0';
    return output.length;
}

enum ashlar_status ashlar_last_error(void)
{
    const struct thread *self = thread_peek();

    return self != NULL ? self->error.status : marked_status();
}

const char *ashlar_last_error_message(void)
{
    struct thread *self = thread_peek();
    enum ashlar_status status;

    if (self != NULL) {
        (void)error_format(&self->error, self->message, sizeof(self->message));
        return self->message;
    }
    status = marked_status();
    return status == ASHLAR_OK ? "no error" : ashlar_status_text(status);
}

void ashlar_clear_error(void)
{
    struct thread *self = thread_peek();

    if (self != NULL) {
        self->error.status = ASHLAR_OK;
        self->error.format = NULL;
    } else {
        mark_status(ASHLAR_OK);
    }
}
