/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Memory for the library's own records: libc's, never jemalloc's, which
 * serves slots and nothing else. Tests make any of these calls fail.
 */
#ifndef ASHLAR_BASE_MEMORY_H
#define ASHLAR_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/** Uninitialised; NULL when there is none. Never called with 0. */
void *memory_alloc(size_t bytes) __attribute__((malloc, alloc_size(1)));

/** Zeroed; a large block is left untouched until it is used. */
void *memory_zalloc(size_t bytes) __attribute__((malloc, alloc_size(1)));

/** Zeroed, at a power of two of up to 4 KiB. */
void *memory_zalloc_aligned(size_t bytes, size_t alignment)
    __attribute__((malloc, alloc_size(1)));

/** As realloc(3); the old block stays when it fails. */
void *memory_realloc(void *block, size_t bytes);

/** Any block from above, or NULL. */
void memory_free(void *block);

/** Copy of a string, cut to limit bytes. */
char *memory_copy_text(const char *text, size_t limit);

/**
 * For fault tests: fail the nth allocation from now (1 is the next), here and
 * in the heap source (which asks memory_may_fail()), once or from then on.
 * 0 switches it off. Not thread safe.
 */
void memory_fail_nth(unsigned long nth, bool forever);

/** Allocations asked for since memory_fail_nth() was last called. */
unsigned long memory_asked(void);

/** True when a test wants this very allocation to fail; counts it. */
bool memory_may_fail(void);

#endif
