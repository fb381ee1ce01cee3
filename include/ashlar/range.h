/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The range: one stretch of addresses that grows, and does not move.
 *
 *     base                        used        committed          reserved
 *      v                            v              v                 v
 *      [ chunk 0 ][ chunk 1 ][ chunk 2            ]..................
 *      \___________________________/ usable bytes
 *
 * Addresses are reserved once, and chunks of memory are mapped into them as the
 * range grows; so growth is in place as long as the reservation lasts. Behind
 * it, the neighbouring addresses are tried; then, if the options allow it, the
 * range moves: the same chunks are mapped a second time elsewhere, nothing is
 * copied, and the old addresses stay good until ashlar_range_retire_old().
 *
 * Invariants:
 *   - used <= committed + holes <= reserved; sizes are bytes, committed and
 *     reserved multiples of the source's granule;
 *   - every mapped chunk has the rights of the range's access list, on every
 *     location, whenever it was mapped;
 *   - a refused call changed nothing: base, sizes, contents, rights, and what
 *     the source has given out are as before;
 *   - nothing is unmapped before the fences that the caller named have passed.
 *
 * After fork(2) a range of the parent's is refused in the child
 * (ASHLAR_ERR_FORKED).
 */
#ifndef ASHLAR_RANGE_H
#define ASHLAR_RANGE_H

#include <ashlar/export.h>
#include <ashlar/plugin.h>
#include <ashlar/source.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** A range. Opaque. */
struct ashlar_range;

/** What a fence waits for. */
enum ashlar_fence_kind {
    /** Nothing: the caller says that nobody uses it any more. */
    ASHLAR_FENCE_QUIET = 1,
    /** The work queued on a stream when the call is made. */
    ASHLAR_FENCE_STREAM = 2,
    /**
     * An event of the caller's, who keeps it until it has passed. It must not
     * have been recorded on a stream that is being captured.
     */
    ASHLAR_FENCE_EVENT = 3,
    /**
     * The graph that a stream is being captured into, and every executable
     * graph that is made of it, being gone: what a captured launch uses is used
     * again by each replay.
     */
    ASHLAR_FENCE_CAPTURE = 4,
    /** The same of a graph at hand; executables made before do not count. */
    ASHLAR_FENCE_GRAPH = 5
};

/** "When the work queued on this stream so far is done." */
struct ashlar_fence {
    /** enum ashlar_fence_kind. */
    uint32_t kind;
    /** Must be 0. */
    uint32_t reserved;
    /** The source that the stream belongs to; NULL: the range's own. */
    struct ashlar_source *source;
    /**
     * The stream, event or graph; a stream of 0 is the default stream, and
     * waits.
     */
    uint64_t handle;
};

/** A fence on a stream, as an initialiser. */
#define ASHLAR_FENCE_OF_STREAM(_source, _stream)                               \
    {                                                                          \
        ASHLAR_FENCE_STREAM, 0, _source, (uint64_t)(uintptr_t)(_stream)        \
    }

/** The fence that says that nobody uses it any more. Constant: any thread. */
ASHLAR_API extern const struct ashlar_fence ashlar_fence_quiet;
/** The same where an array of fences is asked for, with a count of 1. */
#define ASHLAR_QUIET (&ashlar_fence_quiet)

/** ashlar_range_options::flags: a grow may move the range. */
#define ASHLAR_RANGE_MAY_MOVE (1u << 0)
/** ashlar_range_options::flags: chunks can be exported. */
#define ASHLAR_RANGE_EXPORT (1u << 1)

/** How a range is made. Zero means the default everywhere but in size. */
struct ashlar_range_options {
    /** sizeof(struct ashlar_range_options). */
    size_t size;
    /**
     * Bytes of addresses to reserve, rounded up to the granule. 0: as much as
     * the source has memory, halved until granted. What is left of the
     * process's budget for addresses is the most
     * (ashlar_range_set_address_budget()).
     */
    uint64_t reserve_bytes;
    /** Base's alignment in bytes, a power of two. 0: the granule. */
    uint64_t alignment;
    /** The largest chunk, a multiple of the granule. 0: no bound. */
    uint64_t chunk_max_bytes;
    /** Bytes that a shrink keeps mapped, if they are, for the next grow. */
    uint64_t keep_bytes;
    /** Rights beside the home location's, which is read-write. Copied. */
    const struct ashlar_access *access;
    size_t access_count;
    /** ASHLAR_RANGE_MAY_MOVE, ASHLAR_RANGE_EXPORT. */
    uint32_t flags;
    /** Must be 0. */
    uint32_t reserved;
};

/** Initialiser for struct ashlar_range_options: all defaults. */
#define ASHLAR_RANGE_OPTIONS_INIT                                              \
    {                                                                          \
        sizeof(struct ashlar_range_options), 0, 0, 0, 0, NULL, 0, 0, 0         \
    }

/** How a grow was done. */
enum ashlar_range_path {
    /** There was room in what is committed: no call into the source. */
    ASHLAR_RANGE_PATH_NONE = 0,
    /** Chunks were mapped into the addresses reserved already. */
    ASHLAR_RANGE_PATH_IN_RESERVATION = 1,
    /** The neighbouring addresses were reserved too. */
    ASHLAR_RANGE_PATH_ADJACENT = 2,
    /** The range has another base. */
    ASHLAR_RANGE_PATH_MOVED = 3
};

/** What a verb did. */
struct ashlar_range_result {
    /** sizeof(struct ashlar_range_result), set by the caller. */
    size_t size;
    /** The base, after the call. */
    uint64_t base;
    /** The base before it; another one iff path is ASHLAR_RANGE_PATH_MOVED. */
    uint64_t old_base;
    /** Usable bytes. */
    uint64_t used_bytes;
    /** Bytes of memory mapped. */
    uint64_t committed_bytes;
    /** Bytes that this call took away, at once or when its fences pass. */
    uint64_t released_bytes;
    /** enum ashlar_range_path. */
    uint32_t path;
    /** Calls into the source that this call made. */
    uint32_t source_calls;
};

/** Initialiser for struct ashlar_range_result. */
#define ASHLAR_RANGE_RESULT_INIT                                               \
    {                                                                          \
        sizeof(struct ashlar_range_result), 0, 0, 0, 0, 0, 0, 0                \
    }

/**
 * Make a range: addresses are reserved, nothing is committed.
 *
 * @param source     A source with ASHLAR_CAN_RANGES; must stay open.
 * @param options    Borrowed for the call; NULL for all defaults.
 * @param range_out  Receives the range, owned by the caller until
 *                   ashlar_range_destroy(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID           a NULL argument, options without their
 *                                      size, an unknown flag, an alignment or
 *                                      chunk size that does not fit the
 *                                      granule, a location or rights that the
 *                                      source does not know;
 *         ASHLAR_ERR_UNSUPPORTED       the source has no ranges, or cannot
 *                                      export;
 *         ASHLAR_ERR_NO_ADDRESS_SPACE  the source or the process's budget has
 *                                      no such addresses left;
 *         ASHLAR_ERR_NO_MEMORY         no host memory for the record;
 *         ASHLAR_ERR_FORKED            the source is the parent's;
 *         ASHLAR_ERR_DRIVER            a call of the driver failed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_create(struct ashlar_source *source,
                    const struct ashlar_range_options *options,
                    struct ashlar_range **range_out);

/**
 * Give a range up. Its memory and addresses go when the fences have passed.
 *
 * @param range   The range; gone after success.
 * @param fences  What must be done before; ASHLAR_QUIET for nothing.
 * @param n       Fences, 1 or more.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL argument, n of 0, a bad fence;
 *         ASHLAR_ERR_BUSY       pools or arenas stand on it; the sentence has
 *                               the count;
 *         ASHLAR_ERR_CAPTURE    a stream is being captured and cannot be a
 *                               fence of kind ASHLAR_FENCE_STREAM;
 *                               ASHLAR_FENCE_CAPTURE is for those;
 *         ASHLAR_ERR_UNSUPPORTED  the source has no fences of that kind;
 *         ASHLAR_ERR_CONTEXT_FAILED  a stream's context has failed, and takes
 *                               no fence; its work is over: ASHLAR_QUIET;
 *         ASHLAR_ERR_NO_MEMORY  no host memory to note what is to be taken
 *                               away; nothing was done. Not with ASHLAR_QUIET;
 *         ASHLAR_ERR_FORKED     the range is the parent's;
 *         ASHLAR_ERR_DRIVER     a fence could not be made.
 *
 * @par Threads  Any thread, once no other uses the range.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_destroy(struct ashlar_range *range,
                     const struct ashlar_fence *fences, size_t n);

/**
 * Make at least `total` bytes usable. Never shrinks; asking for no more than
 * there is succeeds and does nothing.
 *
 * @param range   The range.
 * @param total   Usable bytes from base on.
 * @param result  What was done; may be NULL.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID           range is NULL, or total is 0 or too
 *                                      large to be addressed;
 *         ASHLAR_ERR_NO_ROOM           it does not fit where the range is, and
 *                                      the range may not move;
 *         ASHLAR_ERR_NO_DEVICE_MEMORY  the source has no memory left; the
 *                                      sentence says how many retired bytes
 *                                      still wait for their fences;
 *         ASHLAR_ERR_NO_ADDRESS_SPACE  a move found no addresses;
 *         ASHLAR_ERR_BUSY              the addresses are still mapped by what
 *                                      was retired and waits for its fences;
 *                                      see ashlar_source_drain();
 *         ASHLAR_ERR_NO_MEMORY         no host memory for the records;
 *         ASHLAR_ERR_FORKED            the range is the parent's;
 *         ASHLAR_ERR_DRIVER            a call of the driver failed.
 *
 * @par Threads  Any thread at any time; one at a time per range goes on.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_grow_to(struct ashlar_range *range, uint64_t total,
                     struct ashlar_range_result *result);

/** How far ashlar_range_prepare() goes. */
enum ashlar_range_depth {
    /** Chunks are created: a later grow maps them. */
    ASHLAR_RANGE_CREATED = 1,
    /** And mapped, with their rights: a later grow makes no call. */
    ASHLAR_RANGE_MAPPED = 2
};

/**
 * Do ahead of need what a grow to `total` would have to do. It is given back
 * by ashlar_range_shrink_to(), and when the range is destroyed.
 *
 * @param range  The range.
 * @param total  As for ashlar_range_grow_to(); used stays.
 * @param depth  enum ashlar_range_depth.
 *
 * @return As ashlar_range_grow_to(); ASHLAR_ERR_NO_ROOM beyond what is
 *         reserved: this never moves the range.
 *
 * @par Threads  As ashlar_range_grow_to().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_prepare(struct ashlar_range *range, uint64_t total,
                     enum ashlar_range_depth depth);

/**
 * Make no more than `total` bytes usable. Whole chunks beyond it, and beyond
 * keep_bytes, go when the fences have passed; so do all chunks that
 * ashlar_range_prepare() created and no grow has mapped. With what is used as
 * total, only what was made ahead of need goes.
 *
 * @param range   The range.
 * @param total   Usable bytes; no more than are used now.
 * @param fences  What must be done before; ASHLAR_QUIET for nothing.
 * @param n       Fences, 1 or more.
 * @param result  What was done; may be NULL.
 *
 * @return As ashlar_range_destroy(); ASHLAR_ERR_INVALID when total is above
 *         what is used; ASHLAR_ERR_BUSY when pool slots live beyond it, or when
 *         the range moved and ashlar_range_retire_old() was not called yet.
 *
 * @par Threads  As ashlar_range_grow_to().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_shrink_to(struct ashlar_range *range, uint64_t total,
                       const struct ashlar_fence *fences, size_t n,
                       struct ashlar_range_result *result);

/**
 * Take the memory of a part away; its addresses stay, and are not to be used
 * until ashlar_range_commit(). Whole chunks only, rounded inwards.
 *
 * @param range   The range.
 * @param offset  Bytes from base.
 * @param bytes   Length; offset + bytes is no more than is used.
 * @param fences  What must be done before; ASHLAR_QUIET for nothing.
 * @param n       Fences, 1 or more.
 * @param result  released_bytes says how much was; may be NULL.
 *
 * @return As ashlar_range_shrink_to().
 *
 * @par Threads  As ashlar_range_grow_to().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_decommit(struct ashlar_range *range, uint64_t offset,
                      uint64_t bytes, const struct ashlar_fence *fences,
                      size_t n, struct ashlar_range_result *result);

/**
 * Give a part memory again, fresh, where it has none.
 *
 * @param range   The range.
 * @param offset  Bytes from base.
 * @param bytes   Length; offset + bytes is no more than is used.
 * @param result  What was done; may be NULL.
 *
 * @return As ashlar_range_grow_to(); ASHLAR_ERR_INVALID beyond what is used.
 *
 * @par Threads  As ashlar_range_grow_to().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_commit(struct ashlar_range *range, uint64_t offset, uint64_t bytes,
                    struct ashlar_range_result *result);

/**
 * Let the addresses go that a move left behind, when the fences have passed.
 *
 * @param range   The range; succeeds when nothing was left behind.
 * @param fences  What must be done before; ASHLAR_QUIET for nothing.
 * @param n       Fences, 1 or more.
 *
 * @return As ashlar_range_destroy().
 *
 * @par Threads  As ashlar_range_grow_to().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_retire_old(struct ashlar_range *range,
                        const struct ashlar_fence *fences, size_t n);

/**
 * Set the rights of one location on the whole range, old chunks and new.
 *
 * @param range     The range.
 * @param location  Below the source's location_count.
 * @param rights    enum ashlar_rights.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    range is NULL, or the location or rights are
 *                               unknown;
 *         ASHLAR_ERR_UNSUPPORTED  the location cannot reach such memory;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the list;
 *         ASHLAR_ERR_BUSY       rights that an earlier call set before it
 *                               failed could not be put back yet;
 *         ASHLAR_ERR_FORKED     the range is the parent's;
 *         ASHLAR_ERR_DRIVER     the driver refused.
 *
 * @par Threads  As ashlar_range_grow_to().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_range_allow(struct ashlar_range *range,
                                                 uint32_t location,
                                                 enum ashlar_rights rights);

/** What a range holds. */
struct ashlar_range_info {
    /** sizeof(struct ashlar_range_info), set by the caller. */
    size_t size;
    struct ashlar_source *source;
    uint64_t base;
    uint64_t used_bytes;
    uint64_t committed_bytes;
    /** Chunks made ahead of need, mapped nowhere. */
    uint64_t prepared_bytes;
    uint64_t reserved_bytes;
    /** Of addresses that a move left behind. */
    uint64_t old_bytes;
    uint64_t granule;
    uint64_t chunk_count;
    /** Grows with each change of chunks: see ashlar_range_export_since(). */
    uint64_t epoch;
    /** Grows by path: enum ashlar_range_path. */
    uint64_t grows[4];
};

/** Initialiser for struct ashlar_range_info. */
#define ASHLAR_RANGE_INFO_INIT                                                 \
    {                                                                          \
        sizeof(struct ashlar_range_info), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0,     \
        {                                                                      \
            0, 0, 0, 0                                                         \
        }                                                                      \
    }

/**
 * Read what a range holds.
 *
 * @param range  The range.
 * @param info   Its size member says how much the caller knows of the struct.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_FORKED  the range is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_query(struct ashlar_range *range, struct ashlar_range_info *info);

/** One mapped chunk of a range. */
struct ashlar_range_chunk {
    /** Bytes from base. */
    uint64_t offset;
    uint64_t bytes;
};

/**
 * List the mapped chunks of a range, by offset; what is not listed is a hole.
 *
 * @param range      The range.
 * @param chunks     Receives up to room of them; may be NULL when room is 0.
 * @param room       Room in chunks.
 * @param count_out  Receives how many there are.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  a NULL argument;
 *         ASHLAR_ERR_FORKED  the range is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_chunks(struct ashlar_range *range,
                    struct ashlar_range_chunk *chunks, size_t room,
                    size_t *count_out);

/**
 * The range that an address lies in: anywhere in what it has reserved, whether
 * there is memory or not, or in what a move left behind.
 *
 * ashlar_range_locate() tells what is there.
 *
 * @param address  Any address.
 *
 * @return The range; NULL with ASHLAR_ERR_NOT_FOUND when it is in none.
 *
 * @par Threads  Any thread at any time; the caller sees to it that nobody
 *               destroys the range meanwhile.
 * @since 0.1
 */
ASHLAR_API struct ashlar_range *ashlar_range_find(uint64_t address);

/** What there is at an address of a range. */
enum ashlar_range_state {
    /** Addresses and no memory: the range has not grown there. */
    ASHLAR_RANGE_RESERVED = 0,
    /** Memory, within the usable bytes. */
    ASHLAR_RANGE_USABLE = 1,
    /** Memory behind the usable bytes: mapped ahead, kept, or a chunk's rest. */
    ASHLAR_RANGE_AHEAD = 2,
    /** Within the usable bytes, and no memory: see ashlar_range_decommit(). */
    ASHLAR_RANGE_HOLE = 3,
    /** Memory where a move left it, good until ashlar_range_retire_old(). */
    ASHLAR_RANGE_OLD = 4
};

/** Where an address lies in a range. */
struct ashlar_range_place {
    /** sizeof(struct ashlar_range_place), set by the caller. */
    size_t size;
    /** What offset counts from: the range's base, or one before a move. */
    uint64_t base;
    /** Bytes from base to the address. */
    uint64_t offset;
    /** The chunk that is mapped there, from base; 0 and 0 when none is. */
    uint64_t chunk_offset;
    uint64_t chunk_bytes;
    /** enum ashlar_range_state. */
    uint32_t state;
    uint32_t reserved;
};

/** Initialiser for struct ashlar_range_place. */
#define ASHLAR_RANGE_PLACE_INIT                                                \
    {                                                                          \
        sizeof(struct ashlar_range_place), 0, 0, 0, 0, 0, 0                    \
    }

/**
 * Tell what lies at an address of a range, and whether it may be used.
 *
 * @param range    The range, from ashlar_range_find() as a rule.
 * @param address  Any address.
 * @param place    Its size member says how much the caller knows of the struct.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_NOT_FOUND  the address is not the range's;
 *         ASHLAR_ERR_FORKED     the range is the parent's.
 *
 * @par Threads  Any thread at any time; it waits for a verb that is going on.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_range_locate(struct ashlar_range *range, uint64_t address,
                    struct ashlar_range_place *place);

/**
 * Collect what waits on a source, and wait for the rest.
 *
 * @param source      The source.
 * @param timeout_ns  Nanoseconds to wait at most; 0: collect what has passed.
 *
 * @return ASHLAR_OK when nothing waits any more;
 *         ASHLAR_ERR_INVALID  source is NULL;
 *         ASHLAR_ERR_BUSY     something still waits; the sentence has the bytes;
 *         ASHLAR_ERR_FORKED   the source is the parent's.
 *
 * @par Threads  Any thread at any time; others may use the source meanwhile.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_source_drain(struct ashlar_source *source,
                                                  uint64_t timeout_ns);

/**
 * Bound the addresses that all ranges of the process may reserve together.
 *
 * @param bytes  0: the default, 16 TiB.
 *
 * @return What the bound was before.
 *
 * @par Threads  Any thread at any time; what is reserved already stays.
 * @since 0.1
 */
ASHLAR_API uint64_t ashlar_range_set_address_budget(uint64_t bytes);

ASHLAR_END_DECLS

#endif
