/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/je.h"

#include <errno.h>
#include <string.h>
#include <sys/types.h>

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

/* --- for arenas ----------------------------------------------------------- */

/*
 * What experimental.arenas_create_ext takes, as 5.3.0 has it; no header of
 * jemalloc's declares it. Another size is refused with EINVAL.
 */
struct arena_config {
    extent_hooks_t *extent_hooks;
    bool metadata_use_hooks;
};

static int read_global(const char *name, void *value, size_t bytes)
{
    return JE_(mallctl)(name, value, &bytes, NULL, 0);
}

/* An index has 12 bits in the flags of mallocx(), of which one value is kept. */
#define ARENAS_MOST ((1u << 12) - 1)

/* Indexes below narenas that were given back. */
static unsigned spare_indexes;

static unsigned indexes(void)
{
    unsigned count = 0;

    return read_global("arenas.narenas", &count, sizeof(count)) == 0 ? count
                                                                     : 0;
}

static int create(extent_hooks_t *hooks, unsigned *index_out)
{
    struct arena_config config = {hooks, false};
    size_t bytes = sizeof(*index_out);
    int err;

    if (hooks == NULL)
        return JE_(mallctl)("arenas.create", index_out, &bytes, NULL, 0);
    err = JE_(mallctl)("experimental.arenas_create_ext", index_out, &bytes,
                       &config, sizeof(config));
    return err == EINVAL ? ENOENT : err;
}

/* 5.3.0 says EAGAIN one index too late, and writes behind its table first. */
int je_own_create(extent_hooks_t *hooks, unsigned *index_out)
{
    unsigned before = indexes();
    int err = before >= ARENAS_MOST && spare_indexes == 0
                  ? EAGAIN
                  : create(hooks, index_out);

    if (err == 0 && spare_indexes != 0 && indexes() == before)
        spare_indexes--;
    return err;
}

/* Do something to an arena: "arena.0.reset" with its index for the 0. */
static int control(const char *name, unsigned index)
{
    size_t mib[3];
    size_t depth = 3;
    int err = JE_(mallctlnametomib)(name, mib, &depth);

    if (err != 0)
        return err;
    mib[1] = index;
    return JE_(mallctlbymib)(mib, depth, NULL, NULL, NULL, 0);
}

int je_own_reset(unsigned index)
{
    return control("arena.0.reset", index);
}

int je_own_purge(unsigned index)
{
    return control("arena.0.purge", index);
}

/* A statistic of an arena: "stats.arenas.0.pactive" with its index. */
static int read_number(const char *name, unsigned index, void *number,
                       size_t bytes)
{
    size_t mib[6];
    size_t depth = 6;
    int err = JE_(mallctlnametomib)(name, mib, &depth);

    if (err != 0)
        return err;
    mib[2] = index;
    return JE_(mallctlbymib)(mib, depth, number, &bytes, NULL, 0);
}

static int add_bytes(const char *name, unsigned index, uint64_t *sum)
{
    size_t number = 0;
    int err = read_number(name, index, &number, sizeof(number));

    *sum += number;
    return err;
}

static int add_count(const char *name, unsigned index, uint64_t *sum)
{
    uint64_t number = 0;
    int err = read_number(name, index, &number, sizeof(number));

    *sum += number;
    return err;
}

/* Statistics are as old as the epoch. */
static int new_epoch(void)
{
    uint64_t epoch = 1;

    return JE_(mallctl)("epoch", NULL, NULL, &epoch, sizeof(epoch));
}

int je_own_query(unsigned index, struct je_own_stats *stats_out)
{
    struct je_own_stats stats = {0, 0, 0, 0, 0, 0};
    size_t page = 0;
    uint64_t freed = 0;
    int err = new_epoch();

#define OR(_call) err = err != 0 ? err : (_call)
    OR(read_global("arenas.page", &page, sizeof(page)));
    OR(add_count("stats.arenas.0.small.nmalloc", index, &stats.live_blocks));
    OR(add_count("stats.arenas.0.large.nmalloc", index, &stats.live_blocks));
    OR(add_count("stats.arenas.0.small.ndalloc", index, &freed));
    OR(add_count("stats.arenas.0.large.ndalloc", index, &freed));
    OR(add_bytes("stats.arenas.0.small.allocated", index,
                 &stats.allocated_bytes));
    OR(add_bytes("stats.arenas.0.large.allocated", index,
                 &stats.allocated_bytes));
    OR(add_bytes("stats.arenas.0.pactive", index, &stats.active_bytes));
    OR(add_bytes("stats.arenas.0.pdirty", index, &stats.dirty_bytes));
    OR(add_bytes("stats.arenas.0.resident", index, &stats.resident_bytes));
    OR(add_bytes("stats.arenas.0.base", index, &stats.record_bytes));
    OR(add_bytes("stats.arenas.0.internal", index, &stats.record_bytes));
#undef OR
    if (err != 0)
        return err;
    stats.live_blocks -= freed;
    stats.active_bytes *= page;
    stats.dirty_bytes *= page;
    *stats_out = stats;
    return 0;
}

/*
 * In 5.3.0 a reset forgets to set a statistic back, of which a build for
 * debugging asserts that it is 0 when the arena is destroyed.
 */
static bool asserts_at_destroy(unsigned index)
{
    size_t mib[6];
    size_t depth = 6;
    unsigned bins = 0;
    size_t bytes = sizeof(bins);
    size_t slabs = 0;
    bool debug = false;
    size_t i;

    if (read_global("config.debug", &debug, sizeof(debug)) != 0 || !debug ||
        control("arena.0.reset", index) != 0 || new_epoch() != 0 ||
        read_global("arenas.nbins", &bins, bytes) != 0 ||
        JE_(mallctlnametomib)("stats.arenas.0.bins.0.nonfull_slabs", mib,
                              &depth) != 0)
        return false;
    mib[2] = index;
    for (i = 0; i < bins && slabs == 0; i++) {
        mib[4] = i;
        bytes = sizeof(slabs);
        if (JE_(mallctlbymib)(mib, depth, &slabs, &bytes, NULL, 0) != 0)
            return false;
    }
    return slabs != 0;
}

int je_own_destroy(unsigned index, bool dropped)
{
    int err = dropped && asserts_at_destroy(index)
                  ? EBUSY
                  : control("arena.0.destroy", index);

    spare_indexes += err == 0;
    return err;
}

const char *je_setting_that_touches(const char **value_out)
{
    const char *junk = "false";
    ssize_t uaf = -1;
    bool zero = false;

    /* A setting that this build does not have, it does not heed either. */
    (void)read_global("opt.junk", &junk, sizeof(junk));
    (void)read_global("opt.zero", &zero, sizeof(zero));
    (void)read_global("opt.lg_san_uaf_align", &uaf, sizeof(uaf));
    *value_out = junk;
    if (strcmp(junk, "false") != 0)
        return "junk";
    *value_out = "true";
    if (zero)
        return "zero";
    *value_out = "set";
    return uaf >= 0 ? "lg_san_uaf_align" : NULL;
}
