/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * DPDK's mempool with a cache of 512 per thread, the most it allows, one of
 *     DPDK_LCORE  the cache of an lcore; other threads register as one
 *     DPDK_USER   a cache that the thread owns
 *
 * The library needs no rights and no huge pages this way (--no-huge --no-pci
 * --no-shconf). It puts a header of 64 bytes before each object and has no
 * alignment above 64, so objects of 192 bytes make a stride of 256, and memory
 * of ours that starts at 64 modulo 128 makes every object start at 0.
 */
#include "../harness/driver.h"

#include <rte_eal.h>
#include <rte_lcore.h>
#include <rte_mempool.h>
#include <rte_version.h>

#define DRIVER_CAN (BENCH_CAN_THREADS | BENCH_CAN_HAND_OVER | BENCH_CAN_COLD)

#define OBJECT 192u
#define HEADER 64u
#define STRIDE ((size_t)256)

#ifdef DPDK_USER
#define LCORE_CACHE 0
static __thread struct rte_mempool_cache *cache;
#else
#define LCORE_CACHE RTE_MEMPOOL_CACHE_MAX_SIZE
static int main_thread_is_there;
#endif

static struct rte_mempool *pool;

static const char *driver_version(void)
{
    return rte_version();
}

static void start_dpdk(void)
{
    static char words[][24] = {
        "bench", "--no-huge", "--no-pci", "--no-shconf",    "-m",
        "512",   "-l",        "0",        "--no-telemetry", "--log-level=4"};
    char *arguments[sizeof(words) / sizeof(words[0])];
    int count = (int)(sizeof(words) / sizeof(words[0])), cpus[2];

    for (int i = 0; i < count; i++)
        arguments[i] = words[i];
    bench_processors(cpus);
    snprintf(words[7], sizeof(words[7]), "%d", cpus[0]);
    if (rte_eal_init(count, arguments) < 0)
        bench_die("DPDK does not start");
    bench_pin(cpus[0]);
}

static void driver_begin(size_t slots)
{
    size_t bytes = STRIDE * slots + STRIDE;
    char *memory;

    start_dpdk();
    pool = rte_mempool_create_empty(
        "bench", (unsigned)slots, OBJECT, LCORE_CACHE, 0, SOCKET_ID_ANY,
        RTE_MEMPOOL_F_NO_SPREAD | RTE_MEMPOOL_F_NO_IOVA_CONTIG);
    if (pool == NULL || rte_mempool_set_ops_byname(pool, "ring_mp_mc", NULL))
        bench_die("DPDK makes no pool");
    if (pool->header_size != HEADER ||
        pool->header_size + pool->elt_size + pool->trailer_size != STRIDE)
        bench_die("this DPDK lays objects out otherwise");
    memory = (char *)bench_map_untouched(bytes, 0);
    if (rte_mempool_populate_iova(pool, memory + HEADER, RTE_BAD_IOVA,
                                  bytes - HEADER, NULL, NULL) < (int)slots)
        bench_die("DPDK does not take the memory");
}

static void driver_thread_begin(void)
{
#ifdef DPDK_USER
    cache = rte_mempool_cache_create(RTE_MEMPOOL_CACHE_MAX_SIZE, SOCKET_ID_ANY);
    if (cache == NULL)
        bench_die("DPDK makes no cache");
#else
    if (main_thread_is_there && rte_thread_register() != 0)
        bench_die("DPDK does not register the thread");
    main_thread_is_there = 1;
#endif
}

static void driver_thread_end(void)
{
#ifdef DPDK_USER
    rte_mempool_cache_flush(cache, pool);
    rte_mempool_cache_free(cache);
#else
    rte_thread_unregister();
#endif
}

BENCH_INLINE void driver_get(void **slots, unsigned n)
{
#ifdef DPDK_USER
    int ret = rte_mempool_generic_get(pool, slots, n, cache);
#else
    int ret = rte_mempool_get_bulk(pool, slots, n);
#endif

    if (__builtin_expect(ret != 0, 0))
        bench_die("the pool is empty");
}

BENCH_INLINE void driver_put(void **slots, unsigned n)
{
#ifdef DPDK_USER
    rte_mempool_generic_put(pool, slots, n, cache);
#else
    rte_mempool_put_bulk(pool, slots, n);
#endif
}

#include "../harness/loops.h"
