/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The system's jemalloc, one of
 *     JEMALLOC_MALLOC   malloc(128) and sdallocx: its fastest paths; slots of
 *                       128 bytes are aligned by nature
 *     JEMALLOC_ALIGNED  mallocx and sdallocx with an alignment flag
 *     JEMALLOC_BATCH    experimental.batch_alloc; there is no bulk free
 */
#include "../harness/driver.h"

#include <jemalloc/jemalloc.h>

#define DRIVER_TRIM trim
#define DRIVER_RUNS

#ifdef JEMALLOC_MALLOC
#define FLAGS 0
#else
#define FLAGS MALLOCX_ALIGN(BENCH_SLOT)
#endif

static const char *driver_version(void)
{
    return JEMALLOC_VERSION;
}

static void trim(void)
{
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* 4096: all arenas */
}

BENCH_INLINE void *get_one(void)
{
#ifdef JEMALLOC_MALLOC
    return malloc(BENCH_SLOT);
#else
    return mallocx(BENCH_SLOT, FLAGS);
#endif
}

BENCH_INLINE void put_one(void *slot)
{
    sdallocx(slot, BENCH_SLOT, FLAGS);
}

BENCH_INLINE void *driver_get_run(unsigned n)
{
    return mallocx(n * BENCH_SLOT, MALLOCX_ALIGN(BENCH_SLOT));
}

BENCH_INLINE void driver_put_run(void *run, unsigned n)
{
    sdallocx(run, n * BENCH_SLOT, MALLOCX_ALIGN(BENCH_SLOT));
}

#ifndef JEMALLOC_BATCH
#include "one.h"
#else

#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_HAND_OVER | BENCH_CAN_COLD)

/* As jemalloc reads it. */
struct batch {
    void **slots;
    size_t count;
    size_t bytes;
    int flags;
};

static size_t name[2], name_length = 2;

static void driver_begin(size_t slots)
{
    (void)slots;
    if (mallctlnametomib("experimental.batch_alloc", name, &name_length) != 0)
        bench_die("this jemalloc has no batch_alloc");
}

static void driver_thread_begin(void)
{
}

static void driver_thread_end(void)
{
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
    struct batch batch = {slots, n, BENCH_SLOT, FLAGS};
    size_t got = 0, got_bytes = sizeof(got);

    if (n == 1)
        slots[0] = get_one();
    else if (mallctlbymib(name, name_length, &got, &got_bytes, &batch,
                          sizeof(batch)) != 0 ||
             got != n)
        bench_die("out of memory");
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        put_one(slots[i]);
}

#include "../harness/loops.h"
#endif
