/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The C library: aligned_alloc(3) and free(3).
 */
#include "../harness/driver.h"

#include <gnu/libc-version.h>
#include <malloc.h>
#include <stdlib.h>

#define DRIVER_TRIM trim
#define DRIVER_RUNS

static const char *driver_version(void)
{
    return gnu_get_libc_version();
}

static void trim(void)
{
    malloc_trim(0);
}

BENCH_INLINE void *get_one(void)
{
    return aligned_alloc(BENCH_SLOT, BENCH_SLOT);
}

BENCH_INLINE void put_one(void *slot)
{
    free(slot);
}

BENCH_INLINE void *driver_get_run(unsigned n)
{
    return aligned_alloc(BENCH_SLOT, n * BENCH_SLOT);
}

BENCH_INLINE void driver_put_run(void *run, unsigned n)
{
    (void)n;
    free(run);
}

#include "one.h"
