/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * How the library that is running was built: for reports about a machine.
 */
#ifndef ASHLAR_BUILD_H
#define ASHLAR_BUILD_H

#include <ashlar/export.h>

ASHLAR_BEGIN_DECLS

/**
 * One fact about the build of the library that is running.
 *
 *     key                          such as
 *     version                      "0.1.0"
 *     compiler                     "gcc 12.2.0"
 *     jemalloc.version             "5.3.0-0-g54eaed1d..."; "" if it won't say
 *     jemalloc.kind                "private" (inside libashlar) or "system"
 *     jemalloc.prefix              "ashlar_je_"; "" for none
 *     jemalloc.settings_variable   "ASHLAR_JE_MALLOC_CONF": the environment
 *                                  variable that jemalloc reads at its start
 *     sanitizers                   "address,undefined"; "" for none
 *     valgrind                     "yes": Valgrind is told of slots; or "no"
 *     debug                        "yes": internal checks are on; or "no"
 *
 * Asking for jemalloc.version starts jemalloc; no other key does anything but
 * answer. Later releases may know more keys.
 *
 * @param key  As in the table.
 *
 * @return A constant string, never freed; NULL when the key is unknown
 *         (ASHLAR_ERR_NOT_FOUND) or NULL (ASHLAR_ERR_INVALID).
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_build_info(const char *key);

ASHLAR_END_DECLS

#endif
