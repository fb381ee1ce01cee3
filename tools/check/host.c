/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "check/host.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define LIVE UINT64_C(0x61736c61722b2b2b)
#define DEAD UINT64_C(0x61736c61722d2d2d)

/* In front of each block. */
struct header {
    uint64_t mark;
    uint64_t bytes;
};

static struct check_report *report;
static uint64_t live_blocks;

static _Thread_local enum ashlar_status last_status;
static _Thread_local char last_sentence[400];
static _Thread_local unsigned fail_in;
static _Thread_local bool has_failed;

/* The first directive that host->fail() does not have; NULL for none. */
static const char *foreign_directive(const char *format)
{
    const char *at;

    for (; (format = strchr(format, '%')) != NULL; format = at + 1) {
        at = format + 1;
        if (*at == '%' || *at == 's' || *at == 'c' || *at == 'p')
            continue;
        at += *at == 'z' ? 1 : strspn(at, "l") <= 2 ? strspn(at, "l") : 0;
        if (*at != 'd' && *at != 'i' && *at != 'u' && *at != 'x')
            return format;
    }
    return NULL;
}

static enum ashlar_status host_fail(enum ashlar_status status,
                                    const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static enum ashlar_status host_fail(enum ashlar_status status,
                                    const char *format, ...)
{
    const char *foreign = foreign_directive(format);
    va_list list;

    check_that(report, CHECK_REASONS, foreign == NULL,
               "host->fail() was given the format \"%s\", of which it does not "
               "know \"%.3s\"",
               format, foreign == NULL ? "" : foreign);
    check_that(report, CHECK_REASONS, status < ASHLAR_OK,
               "host->fail() was given the status %d, which is no error",
               (int)status);
    last_status = status;
    va_start(list, format);
    vsnprintf(last_sentence, sizeof(last_sentence), format, list);
    va_end(list);
    return status;
}

static void host_log(enum ashlar_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void host_log(enum ashlar_log_level level, const char *format, ...)
{
    (void)level, (void)format;
}

static void *host_alloc(size_t bytes)
{
    struct header *header;

    if (fail_in != 0 && --fail_in == 0) {
        has_failed = true;
        return NULL;
    }
    header = bytes > SIZE_MAX / 2 ? NULL : calloc(1, sizeof(*header) + bytes);
    if (header == NULL)
        return NULL;
    header->mark = LIVE;
    header->bytes = bytes;
    __atomic_fetch_add(&live_blocks, 1, __ATOMIC_RELAXED);
    return header + 1;
}

static void host_free(void *block)
{
    struct header *header = block;
    bool live;

    if (block == NULL)
        return;
    header--;
    live = header->mark == LIVE;
    check_that(report, CHECK_GIVES_BACK, live,
               "host->free() was given %p, which %s", block,
               header->mark == DEAD ? "it was given before"
                                    : "host->alloc() did not give");
    if (!live)
        return;
    header->mark = DEAD;
    memset(block, 0xdd, header->bytes);
    __atomic_fetch_sub(&live_blocks, 1, __ATOMIC_RELAXED);
}

const struct ashlar_host *host_start(struct check_report *blamed)
{
    static const struct ashlar_host host = {
        .abi = ASHLAR_PLUGIN_ABI,
        .struct_size = sizeof(struct ashlar_host),
        .fail = host_fail,
        .log = host_log,
        .alloc = host_alloc,
        .free = host_free,
    };

    report = blamed;
    return &host;
}

void host_forget(void)
{
    last_status = ASHLAR_OK;
    last_sentence[0] = '\0';
}

enum ashlar_status host_status(void)
{
    return last_status;
}

const char *host_sentence(void)
{
    return last_sentence;
}

void host_fail_nth(unsigned nth)
{
    fail_in = nth;
    has_failed = false;
}

bool host_has_failed(void)
{
    return has_failed;
}

uint64_t host_blocks(void)
{
    return __atomic_load_n(&live_blocks, __ATOMIC_RELAXED);
}
