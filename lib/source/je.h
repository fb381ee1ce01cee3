/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * jemalloc: the only file pair that knows under which prefix it was built.
 */
#ifndef ASHLAR_SOURCE_JE_H
#define ASHLAR_SOURCE_JE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jemalloc/jemalloc.h>

/**
 * Make jemalloc initialise itself. Called before thread_start(), so that our
 * fork handlers, registered after jemalloc's, take our locks before its own.
 */
void je_start(void);

/** A block at a multiple of alignment, a power of two; NULL when there is none. */
void *je_alloc(size_t bytes, size_t alignment);

/** Give a block back, with the bytes and alignment it was asked for. */
void je_free(void *block, size_t bytes, size_t alignment);

/** The bytes that je_alloc() would really make available; 0 when it cannot. */
size_t je_usable(size_t bytes, size_t alignment);

/* --- for arenas ----------------------------------------------------------- */

/** Blocks of so many bytes or more are at so many, without asking for it. */
#define JE_QUANTUM ((size_t)16)

/**
 * What the calls below are told: an alignment, a power of two, in jemalloc's
 * automatic arenas, by way of the thread's cache. Small alignments are left
 * out: with no flag jemalloc takes its short way.
 */
static inline int je_flags(size_t alignment)
{
    return alignment <= JE_QUANTUM ? 0 : MALLOCX_ALIGN(alignment);
}

/**
 * The same in one arena alone, by way of no cache. MALLOCX_ARENA() would do,
 * but that it shifts into the sign of an int.
 */
static inline int je_flags_of_arena(unsigned index, size_t alignment)
{
    unsigned arena = (index + 1) * (unsigned)MALLOCX_ARENA(0);

    return je_flags(alignment) | (int)arena | MALLOCX_TCACHE_NONE;
}

static inline void *je_block_alloc(size_t bytes, int flags)
{
    return JE_(mallocx)(bytes, flags);
}

/**
 * The same with no flags. malloc() has a way that is shorter still; but that of
 * the system's jemalloc could be anybody's.
 */
static inline void *je_block_alloc_plain(size_t bytes)
{
#ifdef ASHLAR_JE_PRIVATE
    return JE_(malloc)(bytes);
#else
    return JE_(mallocx)(bytes, 0);
#endif
}

static inline void je_block_free(void *block, int flags)
{
    JE_(dallocx)(block, flags);
}

static inline void je_block_free_sized(void *block, size_t bytes, int flags)
{
    JE_(sdallocx)(block, bytes, flags);
}

/** In place; returns the bytes that the block has then. */
static inline size_t je_block_resize(void *block, size_t bytes, int flags)
{
    return JE_(xallocx)(block, bytes, 0, flags);
}

/** The bytes that a block has. */
static inline size_t je_block_bytes(const void *block, int flags)
{
    return JE_(sallocx)(block, flags);
}

/** The bytes that a block would have; 0 when it cannot be. */
static inline size_t je_block_class(size_t bytes, int flags)
{
    return JE_(nallocx)(bytes, flags);
}

/**
 * Make an arena on memory of the caller's. This and je_own_destroy() by one
 * thread at a time.
 *
 * @param hooks      Where its extents come from, and nothing else: what
 *                   jemalloc keeps of them lies in its own memory. NULL:
 *                   jemalloc's own.
 * @param index_out  Receives the arena.
 *
 * @return 0; EAGAIN when the process has as many arenas as jemalloc can have;
 *         ENOENT when this jemalloc cannot keep its records apart; else what
 *         jemalloc says.
 */
int je_own_create(extent_hooks_t *hooks, unsigned *index_out);

/** Forget all blocks of an arena; nobody uses them. 0, or an error number. */
int je_own_reset(unsigned index);

/**
 * The same, and give the arena's index back.
 *
 * @param dropped  Blocks are live, or some were when it was reset.
 *
 * @return 0; EBUSY from a build for debugging: it was emptied, but its index is
 *         lost, as to destroy it would abort.
 */
int je_own_destroy(unsigned index, bool dropped);

/** Hand back what an arena keeps free: by its hooks, or to the kernel. */
int je_own_purge(unsigned index);

/** What one arena has. */
struct je_own_stats {
    uint64_t live_blocks;
    uint64_t allocated_bytes; /* of live blocks, as rounded up */
    uint64_t active_bytes;    /* of pages with live blocks in them */
    uint64_t dirty_bytes;     /* of pages kept free for the next block */
    uint64_t resident_bytes;  /* of both, and of records */
    uint64_t record_bytes;
};

/** Read it as it is now. 0, or an error number: built without statistics. */
int je_own_query(unsigned index, struct je_own_stats *stats_out);

/**
 * The setting that makes jemalloc read or write the memory of blocks, which an
 * arena on memory out of the host's reach would not survive.
 *
 * @param value_out  Receives what it is set to; a constant.
 *
 * @return Its name, such as "junk"; NULL when there is none.
 */
const char *je_setting_that_touches(const char **value_out);

/** Such as "5.3.0-0-g54eaed1d8b56b1aa528be3bdd1877e59c56fa90c". */
const char *je_version(void);

#endif
