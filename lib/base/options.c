/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "base/options.h"

#include <string.h>

#include "base/align.h"
#include "base/error.h"

#include <ashlar/version.h>

/* No version of any struct is longer: a size above this was never set. */
#define STRUCT_BYTES_MAX ((size_t)4096)

/* The size a caller's struct claims; refuses one that cannot be. */
static enum ashlar_status given_size(const void *given, const char *name,
                                     size_t *size_out)
{
    size_t size;

    if (given == NULL)
        return error_set(ASHLAR_ERR_INVALID, "the %s is NULL", name);
    memcpy(&size, given, sizeof(size));
    if (size == 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "the size member of %s is 0: use its INIT macro, or "
                         "set size to the sizeof of the struct",
                         name);
    if (size < sizeof(size))
        return error_set(ASHLAR_ERR_INVALID,
                         "the size member of %s is %zu, too small to hold "
                         "itself: set it to the sizeof of the struct",
                         name, size);
    if (size > STRUCT_BYTES_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "the size member of %s is %zu, more than any version "
                         "has: set it to the sizeof of the struct",
                         name, size);
    *size_out = size;
    return ASHLAR_OK;
}

enum ashlar_status options_read(void *own, size_t own_bytes, const void *given,
                                const char *name)
{
    size_t size = 0, i;
    enum ashlar_status status = given_size(given, name, &size);

    if (status != ASHLAR_OK)
        return status;
    for (i = own_bytes; i < size; i++) {
        if (((const unsigned char *)given)[i] != 0)
            return error_set(ASHLAR_ERR_INVALID,
                             "byte %zu of %s is not 0, and ashlar %s knows "
                             "only the first %zu: zero what you do not set, "
                             "or use a newer library",
                             i, name, ASHLAR_VERSION_STRING, own_bytes);
    }
    memset(own, 0, own_bytes);
    memcpy(own, given, min_size(size, own_bytes));
    memcpy(own, &own_bytes, sizeof(own_bytes));
    return ASHLAR_OK;
}

enum ashlar_status result_write(void *given, const void *own, size_t own_bytes,
                                const char *name)
{
    const char *from = own;
    char *to = given;
    size_t size = 0, i;
    enum ashlar_status status = given_size(given, name, &size);

    if (status != ASHLAR_OK)
        return status;
    for (i = sizeof(size); i < min_size(size, own_bytes); i++)
        to[i] = from[i];
    if (size > own_bytes)
        memset(to + own_bytes, 0, size - own_bytes);
    return ASHLAR_OK;
}
