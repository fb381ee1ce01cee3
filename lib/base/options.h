/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Reading a sized options struct, and writing a sized result.
 */
#ifndef ASHLAR_BASE_OPTIONS_H
#define ASHLAR_BASE_OPTIONS_H

#include <stddef.h>

#include <ashlar/status.h>

/**
 * Copy a caller's options into the library's own struct, and zero what the
 * caller's version of the struct does not have.
 *
 * @param own        Receives the copy; its first member is size_t size.
 * @param own_bytes  sizeof of the library's struct.
 * @param given      The caller's struct; its first member says how long it is.
 * @param name       Such as "struct ashlar_pool_options", for the sentence.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID when the size is 0 or too small to
 *         hold itself, or when a tail that this library does not know is not
 *         all zero.
 */
enum ashlar_status options_read(void *own, size_t own_bytes, const void *given,
                                const char *name);

/**
 * Copy a result out, no more of it than the caller's struct has room for; its
 * size member stays, and a tail that this library does not know is zeroed.
 */
enum ashlar_status result_write(void *given, const void *own, size_t own_bytes,
                                const char *name);

#endif
