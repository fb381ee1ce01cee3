/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/je.h"

#include <jemalloc/jemalloc.h>

/*
 * Blocks are slabs: large, seldom asked for, and given back from any thread.
 * So they bypass jemalloc's per-thread caches, which would only delay them.
 */
static int flags_of(size_t alignment)
{
    return MALLOCX_ALIGN(alignment) | MALLOCX_TCACHE_NONE;
}

void je_start(void)
{
    (void)je_version();
}

void *je_alloc(size_t bytes, size_t alignment)
{
    return JE_(mallocx)(bytes, flags_of(alignment));
}

void je_free(void *block, size_t bytes, size_t alignment)
{
    JE_(sdallocx)(block, bytes, flags_of(alignment));
}

size_t je_usable(size_t bytes, size_t alignment)
{
    return JE_(nallocx)(bytes, flags_of(alignment));
}

const char *je_version(void)
{
    const char *version = NULL;
    size_t bytes = sizeof(version);

    if (JE_(mallctl)("version", &version, &bytes, NULL, 0) != 0)
        return "unknown";
    return version;
}
