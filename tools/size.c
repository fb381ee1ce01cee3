/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "size.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool size_parse(const char *text, uint64_t *bytes_out)
{
    static const char units[] = "KMGT";
    const char *unit = NULL;
    unsigned shift = 0;
    uint64_t number;
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    number = strtoull(text, &end, 10);
    if (*end != '\0') {
        unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        shift = (unsigned)(unit - units + 1) * 10;
    }
    if (errno != 0 || number > UINT64_MAX >> shift)
        return false;
    *bytes_out = number << shift;
    return true;
}
