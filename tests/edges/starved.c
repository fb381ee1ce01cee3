/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The kernel refuses: the address space is bounded, or the n-th call for memory
 * fails, for every n. This program's own mmap() and the like come before those
 * of the C library, for libashlar too.
 */
#include "config.h"

#include "edges/edges.h"

#include <ashlar.h>

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define NEVER  (-1L)
#define MIB    ((uint64_t)1 << 20)
#define CHUNKS 8

/* --- calls that fail when told -------------------------------------------- */

static long left = NEVER; /* calls that succeed before those that fail */
static bool for_ever;     /* all after it fail, too */
static long failures;

static bool fails(void)
{
    if (left == NEVER)
        return false;
    if (left > 0) {
        left--;
        return false;
    }
    left = for_ever ? 0 : NEVER;
    failures++;
    errno = ENOMEM;
    return true;
}

static void fail_after(long n, bool all)
{
    left = n;
    for_ever = all;
    failures = 0;
}

void *mmap(void *hint, size_t bytes, int rights, int flags, int fd, off_t at)
{
    if (fails())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, hint, bytes, rights, flags, fd, at);
}

int mprotect(void *address, size_t bytes, int rights)
{
    return fails() ? -1 : (int)syscall(SYS_mprotect, address, bytes, rights);
}

int memfd_create(const char *name, unsigned flags)
{
    return fails() ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

int ftruncate(int fd, off_t bytes)
{
    return fails() ? -1 : (int)syscall(SYS_ftruncate, fd, bytes);
}

int fallocate(int fd, int mode, off_t at, off_t bytes)
{
    return fails() ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, bytes);
}

/* --- every call in turn --------------------------------------------------- */

/* Busy: what an earlier failure could not undo either is still there. */
static bool is_shortage(enum ashlar_status status)
{
    HOLDS(ashlar_last_error() == status);
    HOLDS(ashlar_last_error_message()[0] != '\0');
    return status == ASHLAR_ERR_NO_MEMORY ||
           status == ASHLAR_ERR_NO_DEVICE_MEMORY ||
           status == ASHLAR_ERR_NO_ADDRESS_SPACE ||
           status == ASHLAR_ERR_LIMIT || status == ASHLAR_ERR_BUSY;
}

/* True when all of a step went well; else it was a shortage. */
static bool went(enum ashlar_status status)
{
    if (status != ASHLAR_OK && !is_shortage(status))
        fprintf(stderr, "%s\n", ashlar_last_error_message());
    HOLDS(status == ASHLAR_OK || is_shortage(status));
    return status == ASHLAR_OK;
}

static void expect_account(struct ashlar_source *source, uint64_t reservations,
                           uint64_t chunks)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;

    HOLDS(ashlar_source_drain(source, 0) == ASHLAR_OK);
    HOLDS(ashlar_vm_query(source, &account) == ASHLAR_OK);
    HOLDS(account.reservations == reservations && account.chunks == chunks &&
          account.mappings == chunks);
}

/* Grown as asked, or as before; and what was written is there. */
static bool grow(struct ashlar_range *range, uint64_t total)
{
    struct ashlar_range_info before = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_range_info after = ASHLAR_RANGE_INFO_INIT;
    unsigned char *bytes;
    bool grown;

    HOLDS(ashlar_range_query(range, &before) == ASHLAR_OK);
    grown = went(ashlar_range_grow_to(range, total, NULL));
    HOLDS(ashlar_range_query(range, &after) == ASHLAR_OK);
    HOLDS(after.used_bytes == (grown ? total : before.used_bytes));
    HOLDS(grown || after.chunk_count == before.chunk_count);
    HOLDS(after.base == before.base);
    bytes = (unsigned char *)(uintptr_t)after.base;
    HOLDS(before.used_bytes == 0 || bytes[before.used_bytes - 1] == 5);
    if (grown)
        bytes[total - 1] = 5;
    return grown;
}

/* True when nothing failed. Given back whole in any case. */
static bool use_range(void)
{
    struct ashlar_source *source = NULL;
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *range = NULL;
    bool all = true;
    int i;

    if (!went(ashlar_source_open("vm", "granule=64K,memory=16M", &source)))
        return false;
    options.reserve_bytes = 4 * MIB;
    options.chunk_max_bytes = 64 << 10;
    if (went(ashlar_range_create(source, &options, &range))) {
        for (i = 1; i <= CHUNKS; i++)
            all &= grow(range, (uint64_t)i << 16);
        left = NEVER; /* what gives back is tried on its own */
        HOLDS(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_OK);
    } else {
        all = false;
    }
    left = NEVER;
    expect_account(source, 0, 0);
    HOLDS(ashlar_source_close(source) == ASHLAR_OK);
    return all;
}

/* Shrinking and destroying: refused and as before, or done, now or soon. */
static bool give_back(void)
{
    struct ashlar_source *source;
    struct ashlar_range *range;
    long n = left;
    bool all;

    left = NEVER;
    HOLDS(ashlar_source_open("vm", "granule=64K,memory=16M", &source) ==
          ASHLAR_OK);
    HOLDS(ashlar_range_create(source, NULL, &range) == ASHLAR_OK);
    HOLDS(ashlar_range_grow_to(range, MIB, NULL) == ASHLAR_OK);
    HOLDS(ashlar_range_grow_to(range, 2 * MIB, NULL) == ASHLAR_OK);
    left = n;
    all = went(ashlar_range_shrink_to(range, MIB, ASHLAR_QUIET, 1, NULL));
    all &= went(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    left = NEVER;
    if (failures == 0) {
        expect_account(source, 0, 0);
        HOLDS(ashlar_source_close(source) == ASHLAR_OK);
        return all;
    }
    HOLDS(ashlar_source_drain(source, 0) == ASHLAR_OK);
    /* A range that could not be destroyed can be, now. */
    if (ashlar_source_close(source) != ASHLAR_OK) {
        HOLDS(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_OK);
        HOLDS(ashlar_source_close(source) == ASHLAR_OK);
    }
    return false;
}

static bool use_pool_of(struct ashlar_source *source)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_pool *pool;
    static void *slots[111111];
    bool all = true;
    size_t n, got = 0;

    options.source = source;
    options.cache_slots = ASHLAR_POOL_CACHE_NONE;
    if (!went(ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options,
                                 &pool)))
        return false;
    for (n = 1; n <= 100000; n *= 10) {
        if (went(ashlar_pool_get_bulk(pool, slots + got, n)))
            got += n;
        else
            all = false;
    }
    left = NEVER;
    HOLDS(ashlar_pool_query(pool, &stats) == ASHLAR_OK);
    HOLDS(stats.live_slots == got);
    for (n = 0; n < got; n++)
        memset(slots[n], 3, 128);
    HOLDS(ashlar_pool_put_bulk(pool, slots, got, NULL) == ASHLAR_OK);
    HOLDS(ashlar_pool_destroy(pool, 0) == ASHLAR_OK);
    return all;
}

static bool use_heap_pool(void)
{
    return use_pool_of(NULL);
}

static bool use_mapped_pool(void)
{
    struct ashlar_source *source;
    long n = left;
    bool all;

    left = NEVER;
    HOLDS(ashlar_source_open("vm", "granule=64K,memory=64M", &source) ==
          ASHLAR_OK);
    left = n;
    all = use_pool_of(source);
    expect_account(source, 0, 0);
    HOLDS(ashlar_source_close(source) == ASHLAR_OK);
    return all;
}

/* In a child, where nothing has been used yet: 0 when no call failed, else 1. */
static int try_in_child(bool (*work)(void), long n, bool all)
{
    int status;
    pid_t child = fork();

    HOLDS(child >= 0);
    if (child == 0) {
        bool went_well;

        fail_after(n, all);
        went_well = work();
        HOLDS(failures != 0 || went_well);
        n = failures;
        fail_after(NEVER, false);
        HOLDS(work());
        _exit(n != 0);
    }
    HOLDS(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

/* Fail call 1, 2, 3 ... until nothing fails; once alone, once with all after. */
static int sweep(bool (*work)(void))
{
    int all;
    long n;

    for (all = 0; all <= 1; all++) {
        for (n = 0; try_in_child(work, n, all) == 1; n++)
            HOLDS(n < 10000);
        HOLDS(try_in_child(work, n, all) == 0);
        HOLDS(n > 1); /* or they never came to these functions */
    }
    return 0;
}

static int a_range_bears_any_call_that_fails(void)
{
    return sweep(use_range);
}

static int giving_back_bears_any_call_that_fails(void)
{
    return sweep(give_back);
}

static int a_pool_on_a_range_bears_any_call_that_fails(void)
{
    return sweep(use_mapped_pool);
}

static int a_pool_on_the_heap_bears_any_call_that_fails(void)
{
    return sweep(use_heap_pool);
}

/* --- a bounded address space ---------------------------------------------- */

static struct rlimit bound_addresses(uint64_t more)
{
    struct rlimit before, now;
    unsigned long pages;
    FILE *file = fopen("/proc/self/statm", "r");

    HOLDS(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    HOLDS(getrlimit(RLIMIT_AS, &before) == 0);
    now = before;
    now.rlim_cur = pages * (uint64_t)sysconf(_SC_PAGESIZE) + more;
    HOLDS(setrlimit(RLIMIT_AS, &now) == 0);
    return before;
}

static int a_pool_stops_at_the_bound_and_goes_on_behind_it(void)
{
    struct ashlar_pool *pool;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct rlimit before;
    void *first, *slot;
    size_t got = 1;

    HOLDS(ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) ==
          ASHLAR_OK);
    first = ashlar_pool_get(pool);
    HOLDS(first != NULL);
    memset(first, 9, 128);
    before = bound_addresses(64 * MIB);
    while ((slot = ashlar_pool_get(pool)) != NULL) {
        memset(slot, 1, 128);
        got++;
    }
    HOLDS(ashlar_last_error() == ASHLAR_ERR_NO_MEMORY);
    HOLDS(got * 128 < 128 * MIB);
    HOLDS(((unsigned char *)first)[127] == 9);
    HOLDS(ashlar_pool_query(pool, &stats) == ASHLAR_OK);
    HOLDS(stats.live_slots == got);
    HOLDS(setrlimit(RLIMIT_AS, &before) == 0);
    HOLDS(ashlar_pool_get(pool) != NULL);
    HOLDS(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK);
    return 0;
}

static int a_range_takes_the_addresses_that_there_are(void)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_source *source;
    struct ashlar_range *range;

    HOLDS(ashlar_source_open("vm", "granule=2M,memory=1T", &source) ==
          ASHLAR_OK);
    (void)bound_addresses(256 * MIB);
    options.reserve_bytes = 1024 * MIB;
    HOLDS(ashlar_range_create(source, &options, &range) ==
          ASHLAR_ERR_NO_ADDRESS_SPACE);
    /* By default it is halved until it is granted. */
    HOLDS(ashlar_range_create(source, NULL, &range) == ASHLAR_OK);
    HOLDS(ashlar_range_query(range, &info) == ASHLAR_OK);
    HOLDS(info.reserved_bytes >= 64 * MIB && info.reserved_bytes <= 256 * MIB);
    HOLDS(ashlar_range_grow_to(range, info.reserved_bytes, NULL) == ASHLAR_OK);
    HOLDS(ashlar_range_grow_to(range, 512 * MIB, NULL) == ASHLAR_ERR_NO_ROOM);
    HOLDS(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_OK);
    HOLDS(ashlar_source_close(source) == ASHLAR_OK);
    return 0;
}

static const struct situation situations[] = {
    {"a_range_bears_any_call_that_fails", a_range_bears_any_call_that_fails},
    {"giving_back_bears_any_call_that_fails",
     giving_back_bears_any_call_that_fails},
    {"a_pool_on_a_range_bears_any_call_that_fails",
     a_pool_on_a_range_bears_any_call_that_fails},
    {"a_pool_on_the_heap_bears_any_call_that_fails",
     a_pool_on_the_heap_bears_any_call_that_fails},
    {"a_pool_stops_at_the_bound_and_goes_on_behind_it",
     a_pool_stops_at_the_bound_and_goes_on_behind_it},
    {"a_range_takes_the_addresses_that_there_are",
     a_range_takes_the_addresses_that_there_are},
};

int main(int argc, char **argv)
{
    return situation_run(situations, sizeof(situations) / sizeof(*situations),
                         argc, argv);
}
