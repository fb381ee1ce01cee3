/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * mimalloc, one of
 *     MIMALLOC_ALIGNED  mi_malloc_aligned and mi_free_size_aligned
 *     MIMALLOC_SMALL    mi_malloc_small: slots of 128 bytes are aligned by
 *                       nature
 */
#include "../harness/driver.h"

#include <mimalloc.h>
#include <stdio.h>

#define DRIVER_TRIM trim
#define DRIVER_RUNS

static const char *driver_version(void)
{
    static char text[32];
    int version = mi_version(); /* 209 for 2.0.9 */

    snprintf(text, sizeof(text), "%d.%d.%d", version / 100, version / 10 % 10,
             version % 10);
    return text;
}

static void trim(void)
{
    mi_collect(true);
}

BENCH_INLINE void *get_one(void)
{
#ifdef MIMALLOC_SMALL
    return mi_malloc_small(BENCH_SLOT);
#else
    return mi_malloc_aligned(BENCH_SLOT, BENCH_SLOT);
#endif
}

BENCH_INLINE void put_one(void *slot)
{
#ifdef MIMALLOC_SMALL
    mi_free(slot);
#else
    mi_free_size_aligned(slot, BENCH_SLOT, BENCH_SLOT);
#endif
}

BENCH_INLINE void *driver_get_run(unsigned n)
{
    return mi_malloc_aligned(n * BENCH_SLOT, BENCH_SLOT);
}

BENCH_INLINE void driver_put_run(void *run, unsigned n)
{
    mi_free_size_aligned(run, n * BENCH_SLOT, BENCH_SLOT);
}

#include "one.h"
