/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * oneTBB's scalable allocator.
 */
#include "../harness/driver.h"

#include <oneapi/tbb/scalable_allocator.h>

#define DRIVER_TRIM trim

static const char *driver_version(void)
{
    return "";
}

static void trim(void)
{
    scalable_allocation_command(TBBMALLOC_CLEAN_ALL_BUFFERS, NULL);
}

BENCH_INLINE void *get_one(void)
{
    return scalable_aligned_malloc(BENCH_SLOT, BENCH_SLOT);
}

BENCH_INLINE void put_one(void *slot)
{
    scalable_aligned_free(slot);
}

#include "one.h"
