/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/thread.h"

/* Bytes of a line with its NUL. */
#define LINE_BYTES 512

struct listener {
    ashlar_log_fn *fn;
    void *user;
};

/* Guards the listener, whose two halves must be seen together. */
static struct lock lock = LOCK_INIT;
static struct listener listener;

/* Whether fn is set: what a line costs when nobody listens. */
static bool listening;

static void log_lock(void)
{
    lock_take(&lock);
}

static void log_unlock(void)
{
    lock_give(&lock);
}

void ashlar_set_log(ashlar_log_fn *fn, void *user)
{
    const struct listener named = {fn, user};

    /* Without fork handlers the log still works, only not across a fork. */
    (void)thread_set_fork_part(THREAD_FORK_LOG, log_lock, log_unlock,
                               log_unlock);
    log_lock();
    listener = named;
    __atomic_store_n(&listening, fn != NULL, __ATOMIC_RELAXED);
    log_unlock();
}

/* Cut a line that did not fit so that the reader sees it was cut. */
static void end_with_dots(char *line)
{
    static const char dots[] = "...";
    size_t length = LINE_BYTES - sizeof(dots);

    while (length > 0 && ((unsigned char)line[length] & 0xc0) == 0x80)
        length--;
    memcpy(line + length, dots, sizeof(dots));
}

void log_line_v(enum ashlar_log_level level, const char *format, va_list list)
{
    char line[LINE_BYTES];
    struct listener told;
    struct error kept;
    struct thread *self;
    int length;

    if (!__atomic_load_n(&listening, __ATOMIC_RELAXED))
        return;
    /* Without a record nothing could stop a callback that causes lines. */
    self = thread_record();
    if (self == NULL || self->logging)
        return;
    log_lock();
    told = listener;
    log_unlock();
    if (told.fn == NULL)
        return;
    length = vsnprintf(line, sizeof(line), format, list);
    if (length < 0)
        return;
    if ((size_t)length >= sizeof(line))
        end_with_dots(line);
    /* What the callback calls must not replace the error of who logs. */
    error_copy(&kept);
    self->logging = true;
    told.fn(level, line, told.user);
    self->logging = false;
    error_restore(&kept);
}

void log_line(enum ashlar_log_level level, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    log_line_v(level, format, list);
    va_end(list);
}
