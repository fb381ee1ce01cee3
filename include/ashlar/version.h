/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The version of the headers, and of the library that is running.
 */
#ifndef ASHLAR_VERSION_H
#define ASHLAR_VERSION_H

#include <ashlar/export.h>

#define ASHLAR_VERSION_MAJOR  0
#define ASHLAR_VERSION_MINOR  1
#define ASHLAR_VERSION_PATCH  0
#define ASHLAR_VERSION_STRING "0.1.0"

/** The version as one number that grows: 0xMMmmpp. */
#define ASHLAR_VERSION                                                         \
    ((ASHLAR_VERSION_MAJOR << 16) | (ASHLAR_VERSION_MINOR << 8) |              \
     ASHLAR_VERSION_PATCH)

ASHLAR_BEGIN_DECLS

/**
 * The version of the library that is running.
 *
 * Compare with ASHLAR_VERSION to see whether headers and library differ.
 *
 * @return 0xMMmmpp, as ASHLAR_VERSION.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API uint32_t ashlar_version(void) ASHLAR_CONST;

/**
 * The version of the library that is running, as text such as "0.1.0".
 *
 * @return A constant string, never NULL, never freed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_version_string(void) ASHLAR_CONST;

ASHLAR_END_DECLS

#endif
