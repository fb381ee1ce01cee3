/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The arena: memory of any size and alignment, by jemalloc, on the heap or
 * inside a range.
 *
 *     heap, ordinary   jemalloc's own arenas and the threads' caches, shared
 *     heap, isolated   a jemalloc arena of its own
 *     a range          a jemalloc arena of its own, whose blocks lie in the
 *                      range; jemalloc's records lie in host memory
 *
 *     range  [ block ][ block ]....[     block     ].............
 *            [ granule ][ granule ]      [ granule ][ granule ]
 *             memory where blocks are, and what is kept for the next ones
 *
 * Invariants:
 *   - a block is at the alignment asked for, has the bytes asked for, and its
 *     address never changes;
 *   - neither ashlar nor jemalloc ever reads or writes the memory of a range,
 *     which may be a device's; only ashlar_arena_calloc() does, when asked;
 *   - a block that was freed with fences is given out again, and memory under
 *     it taken away, only when they have passed;
 *   - a refused call changed nothing.
 *
 * On a range every free is checked: what is no block's start, or was freed
 * before, is refused with its reason. On the heap a wrong pointer is as wrong
 * as for free(3).
 *
 * After fork(2) the child may use arenas on the heap; those on ranges are the
 * parent's, and refused (ASHLAR_ERR_FORKED).
 */
#ifndef ASHLAR_ARENA_H
#define ASHLAR_ARENA_H

#include <ashlar/export.h>
#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/status.h>
#include <ashlar/type.h>

ASHLAR_BEGIN_DECLS

/** An arena. Opaque. A handle of a destroyed arena is refused, not followed. */
struct ashlar_arena;

/**
 * ashlar_arena_options::flags: a jemalloc arena of its own, of which a process
 * has some 4,000. An arena on a range always has one.
 */
#define ASHLAR_ARENA_ISOLATED (1u << 0)

/** The strongest alignment of a block. */
#define ASHLAR_ARENA_ALIGN_MAX ((size_t)1 << 30)
/** The alignment of every block on a range; on the heap it is 16. */
#define ASHLAR_ARENA_ALIGN_RANGE ((size_t)64)

/** How an arena is made. Zero means the default everywhere but in size. */
struct ashlar_arena_options {
    /** sizeof(struct ashlar_arena_options). */
    size_t size;
    /**
     * Borrowed; must stay open while the arena lives. On one that has ranges
     * the arena makes a range of its own. NULL: the heap, or range's source.
     */
    struct ashlar_source *source;
    /**
     * A range to stand on, of which nothing is used yet, and that may not
     * move: for one with rights or sharing of the caller's choice. Borrowed;
     * its memory is the arena's until that is destroyed. NULL: none.
     */
    struct ashlar_range *range;
    /** Up to 63 bytes, copied; need not be unique. NULL: "arena". */
    const char *name;
    /**
     * Addresses for the range that the arena makes. 0: twice the memory of the
     * source, or what can be had. With the heap or a range: 0.
     */
    uint64_t reserve_bytes;
    /**
     * The largest chunk of that range: few large ones cost fewer calls into a
     * driver, small ones can be given back apart. 0: 32 granules.
     */
    uint64_t chunk_max_bytes;
    /** ASHLAR_ARENA_ISOLATED. */
    uint32_t flags;
    /** Must be 0. */
    uint32_t reserved;
};

/** Initialiser for struct ashlar_arena_options: all defaults. */
#define ASHLAR_ARENA_OPTIONS_INIT                                              \
    {                                                                          \
        sizeof(struct ashlar_arena_options), NULL, NULL, NULL, 0, 0, 0, 0      \
    }

/**
 * Make an arena. Nothing is committed before the first block.
 *
 * @param options    Borrowed for the call; NULL for all defaults: the heap.
 * @param arena_out  Receives the arena, owned by the caller until
 *                   ashlar_arena_destroy(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID           a NULL argument, options without their
 *                                      size, an unknown flag, a name too long,
 *                                      a size that does not fit the source,
 *                                      a source beside a range of another, a
 *                                      range that may move or is in use;
 *         ASHLAR_ERR_UNSUPPORTED       the source has neither blocks of the
 *                                      heap nor ranges, jemalloc's settings
 *                                      have it touch the memory of blocks (the
 *                                      sentence says which to change, and
 *                                      where), or this jemalloc cannot keep
 *                                      its records apart;
 *         ASHLAR_ERR_LIMIT             the process has all arenas of their own
 *                                      that jemalloc can have;
 *         ASHLAR_ERR_BUSY              pools or arenas stand on the range;
 *         ASHLAR_ERR_NO_ADDRESS_SPACE  no such addresses are left;
 *         ASHLAR_ERR_NO_MEMORY         no host memory for the records;
 *         ASHLAR_ERR_FORKED            the source is the parent's;
 *         ASHLAR_ERR_DRIVER            a call of the driver failed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_arena_create(const struct ashlar_arena_options *options,
                    struct ashlar_arena **arena_out);

/** ashlar_arena_destroy(): destroy even when blocks are live. */
#define ASHLAR_ARENA_FORCE (1u << 0)

/**
 * Destroy an arena and give its memory back.
 *
 * @param arena  The arena. Its handle is refused afterwards
 *               (ASHLAR_ERR_STALE), until its record has been taken for another
 *               arena, which happens as late as possible.
 * @param flags  0, or ASHLAR_ARENA_FORCE: live blocks become invalid, and
 *               nobody uses them any more. On an ordinary arena on the heap
 *               they stay allocated, and nobody can free them.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    arena is NULL, or an unknown flag;
 *         ASHLAR_ERR_STALE      it was destroyed before;
 *         ASHLAR_ERR_BUSY       blocks are live and flags is 0, or freed ones
 *                               wait for their fences; the sentence has both
 *                               counts;
 *         ASHLAR_ERR_NO_MEMORY  no host memory to note what is to be taken
 *                               away; nothing was done;
 *         ASHLAR_ERR_FORKED     it is the parent's.
 *
 * @par Threads  Any thread, while no other is inside a call on this arena.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_arena_destroy(struct ashlar_arena *arena,
                                                   uint32_t flags);

/**
 * Allocate a block.
 *
 * @param arena      Must outlive the block.
 * @param size       Bytes, 1 or more.
 * @param alignment  Bytes, a power of two up to ASHLAR_ARENA_ALIGN_MAX; 0: 16
 *                   on the heap, ASHLAR_ARENA_ALIGN_RANGE on a range.
 *
 * @return The block, its bytes unspecified, owned by the caller until it is
 *         freed; NULL on failure, and then ashlar_last_error() gives one of
 *         ASHLAR_ERR_INVALID           arena is NULL, size is 0, or alignment
 *                                      no power of two or too strong,
 *         ASHLAR_ERR_STALE             the arena was destroyed,
 *         ASHLAR_ERR_NO_MEMORY         the host has no memory left,
 *         ASHLAR_ERR_NO_ADDRESS_SPACE  the range has no such stretch of
 *                                      addresses left,
 *         ASHLAR_ERR_NO_DEVICE_MEMORY  the source has no memory left; the
 *                                      sentence says how many bytes wait for
 *                                      their fences,
 *         ASHLAR_ERR_BUSY              the addresses are still mapped by what
 *                                      could not be taken away; see
 *                                      ashlar_source_drain(),
 *         ASHLAR_ERR_FORKED            the arena is the parent's,
 *         ASHLAR_ERR_DRIVER            a call of the driver failed.
 *
 * @par Threads  Any thread at any time.
 * @par Never    pass the result to free(3).
 * @since 0.1
 */
ASHLAR_API void *ashlar_arena_alloc(struct ashlar_arena *arena, size_t size,
                                    size_t alignment) ASHLAR_MALLOC
    ASHLAR_ALLOC_SIZE(2) ASHLAR_MUST_USE ASHLAR_NO_PLT;

/**
 * Allocate a block of zeros.
 *
 * @param arena      Must outlive the block.
 * @param size       As for ashlar_arena_alloc().
 * @param alignment  As for ashlar_arena_alloc().
 *
 * @return As ashlar_arena_alloc(); ASHLAR_ERR_UNSUPPORTED where the host cannot
 *         write the memory, as on a device.
 *
 * @par Threads  Any thread at any time.
 * @par Never    pass the result to free(3).
 * @since 0.1
 */
ASHLAR_API void *ashlar_arena_calloc(struct ashlar_arena *arena, size_t size,
                                     size_t alignment) ASHLAR_MALLOC
    ASHLAR_ALLOC_SIZE(2) ASHLAR_MUST_USE;

/**
 * Allocate a block for n objects of a registered type, a stride apart.
 *
 * @param arena  Must outlive the block.
 * @param type   A registered type; its alignment is fixed from now on.
 * @param n      Objects, 1 or more.
 *
 * @return As ashlar_arena_alloc(); ASHLAR_ERR_INVALID also when type is NULL or
 *         no type of this process, or n objects are more than can be
 *         addressed.
 *
 * @par Threads  Any thread at any time.
 * @par Never    pass the result to free(3).
 * @since 0.1
 */
ASHLAR_API void *ashlar_arena_alloc_type(struct ashlar_arena *arena,
                                         const struct ashlar_type *type,
                                         size_t n) ASHLAR_MUST_USE;

/**
 * Free a block that nobody uses any more.
 *
 * @param arena  The arena it came from.
 * @param block  A live block.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument;
 *         ASHLAR_ERR_STALE        the arena was destroyed;
 *         ASHLAR_ERR_FORKED       it is the parent's.
 *         On a range also
 *         ASHLAR_ERR_WRONG_OWNER  no address of this arena;
 *         ASHLAR_ERR_NOT_LIVE     no live block begins there: it was freed
 *                                 before, or is the middle of one.
 *
 * @par Threads  Any thread at any time, also another than the one that
 *               allocated.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_arena_free(struct ashlar_arena *arena,
                                                void *block) ASHLAR_NO_PLT;

/**
 * The same with what it was allocated with, which on the heap spares jemalloc
 * a look-up.
 *
 * @param arena      The arena it came from.
 * @param block      A live block.
 * @param size       As it was asked for, or last resized to.
 * @param alignment  As it was asked for.
 *
 * @return As ashlar_arena_free(); ASHLAR_ERR_INVALID also for a size and
 *         alignment that no block can have. On a range another size than the
 *         block's does no harm; on the heap it does.
 *
 * @par Threads  As ashlar_arena_free().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_arena_free_sized(struct ashlar_arena *arena, void *block, size_t size,
                        size_t alignment) ASHLAR_NO_PLT;

/**
 * Free a block when the work that still uses it is done.
 *
 * From the call on it is not the caller's, though the work may use it until
 * then. It can be had again when a later call on the arena finds that the
 * fences have passed: an allocation (on the heap only when memory is short),
 * another ashlar_arena_free_after(), ashlar_arena_query(), ashlar_arena_trim()
 * or ashlar_arena_destroy().
 *
 * @param arena   The arena it came from.
 * @param block   A live block.
 * @param fences  What must be done before. A fence that names no source is of
 *                the arena's; on the heap each names one.
 * @param n       Fences, 1 or more.
 *
 * @return As ashlar_arena_free();
 *         ASHLAR_ERR_INVALID      no fences, or a bad one;
 *         ASHLAR_ERR_UNSUPPORTED  the source has no fences;
 *         ASHLAR_ERR_CAPTURE      a stream is being captured, and cannot be a
 *                                 fence;
 *         ASHLAR_ERR_NO_MEMORY    no host memory for the record;
 *         ASHLAR_ERR_DRIVER       a fence could not be made.
 *
 * @par Threads  As ashlar_arena_free().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_arena_free_after(struct ashlar_arena *arena, void *block,
                        const struct ashlar_fence *fences, size_t n);

/**
 * Make a block larger or smaller where it is.
 *
 * @param arena      The arena it came from.
 * @param block      A live block.
 * @param size       Bytes that it shall have, 1 or more.
 * @param alignment  As it was asked for.
 *
 * @return ASHLAR_OK           it has that many bytes now;
 *         ASHLAR_ERR_NO_ROOM  it cannot, and stays as it was: its neighbour is
 *                             in use, or blocks of that size lie elsewhere, as
 *                             small ones of each size do;
 *         else as ashlar_arena_alloc() and ashlar_arena_free().
 *
 * @par Threads  Any thread; one at a time per block.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_arena_resize(struct ashlar_arena *arena,
                                                  void *block, size_t size,
                                                  size_t alignment);

/**
 * The bytes that a block has: what was asked for, or more.
 *
 * @param arena  The arena it came from.
 * @param block  A live block.
 *
 * @return Bytes; 0 on failure, as ashlar_arena_free() has them.
 *
 * @par Threads  Any thread, while nobody resizes or frees the block.
 * @since 0.1
 */
ASHLAR_API size_t ashlar_arena_usable(struct ashlar_arena *arena,
                                      const void *block);

/**
 * Give back what the arena keeps for later: on a range all chunks without a
 * live block in them, on the heap the pages of an isolated arena.
 *
 * @param arena         The arena.
 * @param released_out  Receives the bytes of chunks that went; may be NULL. 0
 *                      on the heap.
 *
 * @return ASHLAR_OK, also when there was nothing to give;
 *         ASHLAR_ERR_INVALID    arena is NULL;
 *         ASHLAR_ERR_STALE      the arena was destroyed;
 *         ASHLAR_ERR_NO_MEMORY  no host memory to note what is to be taken
 *                               away; what could be done without was;
 *         ASHLAR_ERR_FORKED     it is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_arena_trim(struct ashlar_arena *arena,
                                                uint64_t *released_out);

/**
 * Free all blocks at once: nobody uses any of them any more. Memory stays for
 * the next ones, until ashlar_arena_trim().
 *
 * @param arena  An isolated arena, or one on a range.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      arena is NULL;
 *         ASHLAR_ERR_STALE        the arena was destroyed;
 *         ASHLAR_ERR_UNSUPPORTED  an ordinary arena on the heap, which shares;
 *         ASHLAR_ERR_BUSY         freed blocks wait for their fences;
 *         ASHLAR_ERR_FORKED       it is the parent's.
 *
 * @par Threads  Any thread, while no other is inside a call on this arena.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_arena_reset(struct ashlar_arena *arena);

/** What an arena stands on. */
enum ashlar_arena_kind {
    /** On the heap, sharing jemalloc's arenas with others. */
    ASHLAR_ARENA_KIND_SHARED = 1,
    /** On the heap, with a jemalloc arena of its own. */
    ASHLAR_ARENA_KIND_ISOLATED = 2,
    /** On a range. */
    ASHLAR_ARENA_KIND_RANGE = 3
};

/** What an arena holds, and did. */
struct ashlar_arena_stats {
    /** sizeof(struct ashlar_arena_stats), set by the caller. */
    size_t size;
    /** Blocks with callers. */
    uint64_t live_blocks;
    /** Blocks whose fences have not passed. */
    uint64_t waiting_blocks;
    /** Calls that were refused. */
    uint64_t refusals;
    /** On a range: bytes of memory under it now, and the most there were. */
    uint64_t committed_bytes;
    uint64_t peak_committed_bytes;
    /** On a range: its addresses. */
    uint64_t reserved_bytes;
    /** On a range: times that memory was put under blocks, or taken away. */
    uint64_t commits;
    uint64_t releases;
    /** Bytes of the library's records for it, as far as they are touched. */
    uint64_t bookkeeping_bytes;
    /** enum ashlar_arena_kind. */
    uint32_t kind;
    uint32_t reserved;
};

/** Initialiser for struct ashlar_arena_stats. */
#define ASHLAR_ARENA_STATS_INIT                                                \
    {                                                                          \
        sizeof(struct ashlar_arena_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0     \
    }

/**
 * Take a snapshot of an arena.
 *
 * @param arena  The arena.
 * @param stats  Its size member says how much the caller knows of the struct;
 *               no more than that is written.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_STALE    the arena was destroyed;
 *         ASHLAR_ERR_FORKED   it is the parent's.
 *
 * @par Threads  Any thread at any time; what others do meanwhile may be counted
 *               or not.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_arena_query(struct ashlar_arena *arena,
                   struct ashlar_arena_stats *stats);

/** How well the memory of an arena of its own is used. */
struct ashlar_arena_figures {
    /** sizeof(struct ashlar_arena_figures), set by the caller. */
    size_t size;
    /** Bytes of live and waiting blocks, as jemalloc rounds them up. */
    uint64_t allocated_bytes;
    /** Bytes of pages that have such blocks in them. */
    uint64_t active_bytes;
    /** Bytes of pages that jemalloc keeps for the next block. */
    uint64_t kept_bytes;
    /** Bytes of jemalloc's records for it, in host memory. */
    uint64_t record_bytes;
    /** Bytes of memory: the chunks of a range, or resident pages. */
    uint64_t committed_bytes;
};

/** Initialiser for struct ashlar_arena_figures. */
#define ASHLAR_ARENA_FIGURES_INIT                                              \
    {                                                                          \
        sizeof(struct ashlar_arena_figures), 0, 0, 0, 0, 0                     \
    }

/**
 * Ask how well an arena uses its memory.
 *
 * @param arena    An isolated arena, or one on a range.
 * @param figures  Its size member says how much the caller knows of the struct;
 *                 no more than that is written.
 *
 * @return As ashlar_arena_query(); ASHLAR_ERR_UNSUPPORTED for an ordinary arena
 *         on the heap, or when jemalloc was built without statistics.
 *
 * @par Threads  Any thread at any time; all of jemalloc's arenas are read, so
 *               this is not for a hot path.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_arena_fragmentation(struct ashlar_arena *arena,
                           struct ashlar_arena_figures *figures);

/**
 * The range that an arena stands on, to be asked, allowed and exported.
 *
 * @param arena  The arena.
 *
 * @return The range; it cannot be shrunk or destroyed. NULL for an arena on the
 *         heap (ASHLAR_ERR_UNSUPPORTED), or when arena is NULL or was
 *         destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API struct ashlar_range *ashlar_arena_range(struct ashlar_arena *arena);

/**
 * The name of an arena.
 *
 * @param arena  The arena.
 *
 * @return A string that lives as long as the arena; NULL when arena is NULL or
 *         was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_arena_name(struct ashlar_arena *arena);

/**
 * Walk through the arenas of the process, oldest first. In a child of fork(2)
 * those on ranges of the parent's are left out.
 *
 * @param arena  The one before; NULL for the first.
 *
 * @return The next; NULL when there is none, or arena was destroyed.
 *
 * @par Threads  Any thread at any time; the caller sees to it that nobody
 *               destroys an arena meanwhile.
 * @since 0.1
 */
ASHLAR_API struct ashlar_arena *ashlar_arena_next(struct ashlar_arena *arena);

ASHLAR_END_DECLS

#endif
