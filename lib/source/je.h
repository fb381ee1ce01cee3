/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * jemalloc: the only file pair that knows under which prefix it was built.
 */
#ifndef ASHLAR_SOURCE_JE_H
#define ASHLAR_SOURCE_JE_H

#include <stddef.h>

/**
 * Make jemalloc initialise itself. Called before thread_start(), so that our
 * fork handlers, registered after jemalloc's, take our locks before its own.
 */
void je_start(void);

/** A block at a multiple of alignment, a power of two; NULL when there is none. */
void *je_alloc(size_t bytes, size_t alignment);

/** Give a block back, with the bytes and alignment it was asked for. */
void je_free(void *block, size_t bytes, size_t alignment);

/** The bytes that je_alloc() would really make available; 0 when it cannot. */
size_t je_usable(size_t bytes, size_t alignment);

/** Such as "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c". */
const char *je_version(void);

#endif
