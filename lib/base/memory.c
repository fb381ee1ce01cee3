/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/memory.h"

#include <ashlar/export.h>

#include <stdlib.h>
#include <string.h>

/* What memory_fail_nth() asked for. Atomic, so that a test may count and fail
 * allocations of several threads; only the setting itself is one thread's. */
static struct {
    unsigned long nth; /* 0: none fails */
    unsigned long asked;
    bool forever;
} fault;

void memory_fail_nth(unsigned long nth, bool forever)
{
    __atomic_store_n(&fault.nth, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fault.asked, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fault.forever, forever, __ATOMIC_RELAXED);
    __atomic_store_n(&fault.nth, nth, __ATOMIC_RELAXED);
}

unsigned long memory_asked(void)
{
    return __atomic_load_n(&fault.asked, __ATOMIC_RELAXED);
}

bool memory_may_fail(void)
{
    unsigned long number =
        __atomic_add_fetch(&fault.asked, 1, __ATOMIC_RELAXED);
    unsigned long nth = __atomic_load_n(&fault.nth, __ATOMIC_RELAXED);

    if (ASHLAR_LIKELY(nth == 0) || number < nth)
        return false;
    return number == nth || __atomic_load_n(&fault.forever, __ATOMIC_RELAXED);
}

void *memory_alloc(size_t bytes)
{
    if (memory_may_fail())
        return NULL;
    return malloc(bytes);
}

void *memory_zalloc(size_t bytes)
{
    if (memory_may_fail())
        return NULL;
    return calloc(1, bytes);
}

void *memory_zalloc_aligned(size_t bytes, size_t alignment)
{
    void *block = NULL;

    if (alignment < sizeof(void *))
        alignment = sizeof(void *);
    if (memory_may_fail() || posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
    memset(block, 0, bytes);
    return block;
}

void *memory_realloc(void *block, size_t bytes)
{
    if (memory_may_fail())
        return NULL;
    return realloc(block, bytes);
}

void memory_free(void *block)
{
    free(block);
}

char *memory_copy_text(const char *text, size_t limit)
{
    size_t length = strnlen(text, limit);
    char *copy = memory_alloc(length + 1);

    if (copy == NULL)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
