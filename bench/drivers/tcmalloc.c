/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * gperftools' tcmalloc, one of
 *     TCMALLOC_ALIGNED  tc_memalign and tc_free_sized
 *     TCMALLOC_MALLOC   tc_malloc: slots of 128 bytes are aligned by nature
 */
#include "../harness/driver.h"

#include <gperftools/malloc_extension_c.h>
#include <gperftools/tcmalloc.h>

#define DRIVER_TRIM MallocExtension_ReleaseFreeMemory

static const char *driver_version(void)
{
    return TC_VERSION_STRING;
}

BENCH_INLINE void *get_one(void)
{
#ifdef TCMALLOC_MALLOC
    return tc_malloc(BENCH_SLOT);
#else
    return tc_memalign(BENCH_SLOT, BENCH_SLOT);
#endif
}

BENCH_INLINE void put_one(void *slot)
{
    tc_free_sized(slot, BENCH_SLOT);
}

#include "one.h"
