/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Boost.Pool, one per thread: a pool is no two threads' at a time, so slots
 * cannot be handed over.
 */
#include "../harness/driver.h"

#include <boost/pool/pool.hpp>
#include <boost/version.hpp>
#include <stdlib.h>

#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_COLD)
#define DRIVER_OWN_THREADS

/* Boost.Pool aligns slots as its blocks are. */
struct aligned_blocks {
    typedef size_t size_type;
    typedef ptrdiff_t difference_type;

    static char *malloc(size_type bytes)
    {
        size_type rounded = (bytes + BENCH_SLOT - 1) / BENCH_SLOT * BENCH_SLOT;

        return static_cast<char *>(aligned_alloc(BENCH_SLOT, rounded));
    }

    static void free(char *block)
    {
        ::free(block);
    }
};

static __thread boost::pool<aligned_blocks> *pool;

static const char *driver_version(void)
{
    return BOOST_LIB_VERSION;
}

static void driver_thread_begin(void)
{
    pool = new boost::pool<aligned_blocks>(BENCH_SLOT, 32);
}

static void driver_thread_end(void)
{
    delete pool;
}

BENCH_INLINE void *get_one(void)
{
    return pool->malloc();
}

BENCH_INLINE void put_one(void *slot)
{
    pool->free(slot);
}

#include "one.h"
