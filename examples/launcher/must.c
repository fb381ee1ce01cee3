/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "must.h"

#include <stdio.h>
#include <stdlib.h>

void must(enum ashlar_status status, const char *call)
{
    if (status == ASHLAR_OK)
        return;
    fprintf(stderr, "%s: %s\n", call, ashlar_last_error_message());
    exit(1);
}

void *must_allocate(size_t count, size_t bytes)
{
    void *memory = calloc(count, bytes);

    if (memory == NULL)
        give_up("no memory left");
    return memory;
}

_Noreturn void give_up(const char *why)
{
    fprintf(stderr, "%s\n", why);
    exit(1);
}
