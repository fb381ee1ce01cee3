/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A table of tensor maps: host slots, mirrored in device memory index for index.
 *
 *     host      [ map 0 ][ map 1 ][ map 2 ] ...    encode, fill
 *                   │ publish, in a stream's order
 *     device    [ map 0 ][ map 1 ][ map 2 ] ...    a kernel: base + i * 128
 *               base, for the table's life
 *
 *     lease ──> EMPTY ──encode, fill──> ENCODED ──publish──> PUBLISHED ──┐
 *       ^                                            rewrite └──────────<┤
 *       └──────── fences have passed <── retire, of any state ───────────┘
 *
 * A kernel gets a map in one of two ways: by value, from the host slot, which
 * the launch has read when it returns; or by address, from the device slot,
 * which has to stay as it is until the kernel is done. So a slot is leased, and
 * given back by ashlar_tensormap_table_retire() with fences that say when.
 *
 * Nothing here waits for a device. A publish is queued on a stream, and kernels
 * that are queued there behind it find the map. During a capture it becomes a
 * part of the graph, and so does what it reads: the slots that were published
 * there belong to that graph until it and what was made of it are gone, however
 * early they are retired.
 *
 * What a kernel that reads a device slot has to do: in each block, before its
 * first use of the map,
 *
 *     fence.proxy.tensormap::generic.acquire.sys [address], 128;
 *
 * by one thread, and a barrier of the block (bar.sync) for the others. PTX orders
 * the reads of a tensor map, which are of a proxy of their own, behind writes to
 * memory by nothing else; the end of a kernel is not enough. A slot that was
 * rewritten, or was leased before (ashlar_tensormap_slot::fresh is 0), goes wrong
 * without: a multiprocessor may have kept what was read there. A map that is
 * passed by value needs no fence.
 *
 * Invariants:
 *   - base and the place of a slot never change, however the table grows;
 *   - a slot is of one lease at a time; a handle of another one is refused;
 *   - what a host slot holds when it is published does not change until it is
 *     retired or rewritten, and device slots are written by nothing else;
 *   - a slot is leased again, and staging used again, only when what was queued
 *     on it is done: the publish's own, and the fences of who retired it;
 *   - a refused call changed nothing.
 *
 * After fork(2) a table of the parent's is refused in the child
 * (ASHLAR_ERR_FORKED).
 */
#ifndef ASHLAR_TENSORMAP_TABLE_H
#define ASHLAR_TENSORMAP_TABLE_H

#include <ashlar/export.h>
#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/spec.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** A table of tensor maps. Opaque. */
struct ashlar_tensormap_table;

/** The most slots a table may have. */
#define ASHLAR_TENSORMAP_TABLE_SLOTS_MAX ((size_t)1 << 22)
/** What ashlar_tensormap_table_options::max_slots of 0 means. */
#define ASHLAR_TENSORMAP_TABLE_SLOTS_DEFAULT ((size_t)1 << 16)
/** What ashlar_tensormap_table_options::staging_slots of 0 means. */
#define ASHLAR_TENSORMAP_TABLE_STAGING_DEFAULT ((size_t)2048)

/** A leased slot. Zeroed, it is no slot's. */
struct ashlar_tensormap_handle {
    /** Which slot: the i of base + i * ASHLAR_TENSOR_MAP_BYTES. */
    uint32_t index;
    /** Which lease of it. */
    uint32_t generation;
};

/** How a table is made. Zero means the default everywhere but in size. */
struct ashlar_tensormap_table_options {
    /** sizeof(struct ashlar_tensormap_table_options). */
    size_t size;
    /** The most slots it ever has: addresses are reserved for as many. */
    size_t max_slots;
    /** Slots that have memory from the start: ashlar_tensormap_table_reserve(). */
    size_t initial_slots;
    /**
     * Maps that may lie in staging at once: those of scattered publishes and
     * rewrites whose work is not done yet, or that belong to a graph.
     */
    size_t staging_slots;
    /**
     * Where host slots and staging lie: a source with ranges whose memory the
     * host may read and write, and the table's devices read, such as "cuda" with
     * "location=host". Must stay open. NULL: the table's own source, when the
     * host has access to its memory; else the heap, which a device does not
     * reach, so that copies are the driver's to stage, and what is scattered is
     * copied into device memory before.
     */
    struct ashlar_source *host;
};

/** Initialiser for struct ashlar_tensormap_table_options: all defaults. */
#define ASHLAR_TENSORMAP_TABLE_OPTIONS_INIT                                    \
    {                                                                          \
        sizeof(struct ashlar_tensormap_table_options), 0, 0, 0, NULL           \
    }

/**
 * Make a table: addresses are reserved, staging is made, and what scattering
 * needs is loaded, so that no publish has to.
 *
 * @param source     A source with ASHLAR_CAN_RANGES, ASHLAR_CAN_COPY and
 *                   ASHLAR_CAN_FENCE; must stay open. Without
 *                   ASHLAR_CAN_SCATTER, scattered slots take a copy each;
 *                   without ASHLAR_CAN_ENCODE, they are to be filled.
 * @param options    Borrowed for the call; NULL for all defaults.
 * @param table_out  Receives the table, owned by the caller until
 *                   ashlar_tensormap_table_destroy(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID           a NULL argument, options without their
 *                                      size, too many slots, more initial ones
 *                                      than there may be;
 *         ASHLAR_ERR_UNSUPPORTED       the source lacks one of these groups, or
 *                                      the host has no access to the memory of
 *                                      options->host;
 *         ASHLAR_ERR_NO_MEMORY         no host memory for slots or records;
 *         ASHLAR_ERR_NO_DEVICE_MEMORY, ASHLAR_ERR_NO_ADDRESS_SPACE,
 *         ASHLAR_ERR_DRIVER            as ashlar_range_create() and
 *                                      ashlar_range_grow_to() say, or the driver
 *                                      could not load the kernel that scatters;
 *         ASHLAR_ERR_FORKED            a source is the parent's.
 *
 * @par Threads  Any thread at any time, also while a stream is being captured.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_tensormap_table_create(
    struct ashlar_source *source,
    const struct ashlar_tensormap_table_options *options,
    struct ashlar_tensormap_table **table_out);

/**
 * Give a table up, with all slots that are still leased. Its memory goes when
 * the fences have passed, and those of all that was published and retired, and
 * graphs that have a part of it are gone.
 *
 * Where no fence could be made behind something that was published, which is
 * logged as a warning and counted as unfenced, nobody can wait for that, nor ask its
 * stream, which may be gone: ASHLAR_QUIET, alone or beside other fences, says that
 * it is done.
 *
 * @param table   The table; gone after success.
 * @param fences  What must be done before; ASHLAR_QUIET for nothing. NULL: no
 *                slot may be leased.
 * @param n       Fences, 1 or more; 0 when fences is NULL.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    table is NULL, n and fences do not fit, a bad
 *                               fence;
 *         ASHLAR_ERR_BUSY       fences is NULL and slots are leased; the
 *                               sentence has the count. Or something was
 *                               published without a fence, and none of fences
 *                               is ASHLAR_QUIET; the sentence has its stream;
 *         else as ashlar_range_destroy().
 *
 * @par Threads  Any thread, once no other uses the table.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_destroy(struct ashlar_tensormap_table *table,
                               const struct ashlar_fence *fences, size_t n);

/**
 * Have memory for n leases more than there are: they make no call into a source
 * but to ask fences. The table grows in place.
 *
 * @param table  The table.
 * @param n      Slots; 0 does nothing.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  table is NULL;
 *         ASHLAR_ERR_LIMIT    it would have more than max_slots with what is
 *                             leased, and what is retired and waits;
 *         else as ashlar_range_grow_to().
 *
 * @par Threads  Any thread at any time; while one grows, others may lease.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_reserve(struct ashlar_tensormap_table *table, size_t n);

/**
 * Lease slots: all, or none. They are side by side, in order, where there are
 * as many neighbours; else in the order of their indices, as far as they go.
 *
 * Slots that nobody leased yet come first, as far as there is memory for them.
 *
 * @param table        The table.
 * @param n            Slots; 0 does nothing.
 * @param handles_out  Receives n handles, for ashlar_tensormap_table_retire();
 *                     written only on success.
 *
 * @return As ashlar_tensormap_table_reserve().
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_lease(struct ashlar_tensormap_table *table, size_t n,
                             struct ashlar_tensormap_handle *handles_out);

/**
 * Lease slots side by side, or none: handle i is of the slot i behind the first.
 *
 * @param table        The table.
 * @param n            Slots; 0 does nothing.
 * @param handles_out  As for ashlar_tensormap_table_lease().
 *
 * @return As ashlar_tensormap_table_lease();
 *         ASHLAR_ERR_FRAGMENTED  there are as many slots, but not side by side,
 *                                and no room to grow.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_lease_run(struct ashlar_tensormap_table *table, size_t n,
                                 struct ashlar_tensormap_handle *handles_out);

/** What a leased slot holds. */
enum ashlar_tensormap_state {
    /** Nothing. */
    ASHLAR_TENSORMAP_EMPTY = 1,
    /** A map on the host, which may be passed by value, and filled anew. */
    ASHLAR_TENSORMAP_ENCODED = 2,
    /** A map on the host, and the same queued for the device. */
    ASHLAR_TENSORMAP_PUBLISHED = 3,
    /** In the hands of a thread that encodes, publishes or rewrites it. */
    ASHLAR_TENSORMAP_IN_HAND = 4
};

/** A leased slot, as it is. */
struct ashlar_tensormap_slot {
    /** sizeof(struct ashlar_tensormap_slot), set by the caller. */
    size_t size;
    /** The map on the host, to be read while it is there; NULL while EMPTY. */
    const void *map;
    /** Of the device slot. */
    uint64_t address;
    /** enum ashlar_tensormap_state. */
    uint32_t state;
    /** Not 0: no map was published at this address before this lease. */
    uint32_t fresh;
};

/** Initialiser for struct ashlar_tensormap_slot. */
#define ASHLAR_TENSORMAP_SLOT_INIT                                             \
    {                                                                          \
        sizeof(struct ashlar_tensormap_slot), NULL, 0, 0, 0                    \
    }

/**
 * Look at a leased slot.
 *
 * @param table   The table.
 * @param handle  The slot.
 * @param slot    Its size member says how much the caller knows of the struct.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID   a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_NOT_LIVE  the handle is of no lease that goes on: it was
 *                              retired, or never leased;
 *         ASHLAR_ERR_FORKED    the table is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_look(struct ashlar_tensormap_table *table,
                            struct ashlar_tensormap_handle handle,
                            struct ashlar_tensormap_slot *slot);

/**
 * The map of a leased slot on the host: to be passed to a launch by value.
 *
 * @param table   The table.
 * @param handle  The slot.
 *
 * @return ASHLAR_TENSOR_MAP_BYTES at a multiple of as many, to be read until the
 *         slot is retired or rewritten; NULL on failure, and then
 *         ashlar_last_error() gives one of those of
 *         ashlar_tensormap_table_look(), or
 *         ASHLAR_ERR_INVALID  the slot is empty.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const void *
ashlar_tensormap_table_map(struct ashlar_tensormap_table *table,
                           struct ashlar_tensormap_handle handle);

/**
 * Encode a tensor map into a host slot that is not published.
 *
 * @param table   A table whose source has ASHLAR_CAN_ENCODE.
 * @param handle  The slot; it may hold a map already, which is lost whatever
 *                comes: after a failure the slot is empty.
 * @param spec    Borrowed for the call.
 *
 * @return What ashlar_tensormap_encode() says of the source and the spec;
 *         ASHLAR_ERR_NOT_LIVE  the handle is of no lease that goes on;
 *         ASHLAR_ERR_BUSY      the slot is published, and does not change
 *                              (ashlar_tensormap_table_rewrite()), or is in the
 *                              hands of another thread.
 *
 * @par Threads  Any thread at any time; a slot is one thread's at a time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_encode(struct ashlar_tensormap_table *table,
                              struct ashlar_tensormap_handle handle,
                              const struct ashlar_spec *spec);

/**
 * Encode many: all of them, or all are empty.
 *
 * @param table        As for ashlar_tensormap_table_encode().
 * @param handles      n of them.
 * @param specs        n of them, each of the same size.
 * @param n            0 is allowed, and does nothing.
 * @param culprit_out  Receives the index of the handle or spec that was refused;
 *                     n when it was none. May be NULL.
 *
 * @return As ashlar_tensormap_table_encode(), about the one at *culprit_out.
 *         When a handle is refused, no slot has changed; one that is there twice
 *         is (ASHLAR_ERR_BUSY).
 *
 * @par Threads  As ashlar_tensormap_table_encode(); any number of threads may
 *               encode parts of one batch.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_tensormap_table_encode_many(
    struct ashlar_tensormap_table *table,
    const struct ashlar_tensormap_handle *handles,
    const struct ashlar_spec *specs, size_t n, size_t *culprit_out);

/**
 * Copy an encoded tensor map into a host slot that is not published: one from a
 * cache or a pool, say.
 *
 * @param table   The table.
 * @param handle  The slot; it may hold a map already.
 * @param map     ASHLAR_TENSOR_MAP_BYTES, at any address; borrowed for the call.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID   a NULL argument;
 *         ASHLAR_ERR_NOT_LIVE, ASHLAR_ERR_BUSY, as
 *                              ashlar_tensormap_table_encode();
 *         ASHLAR_ERR_FORKED    the table is the parent's.
 *
 * @par Threads  As ashlar_tensormap_table_encode().
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_fill(struct ashlar_tensormap_table *table,
                            struct ashlar_tensormap_handle handle,
                            const void *map);

/**
 * Publish slots: queue on a stream what copies them to the device, index for
 * index. Neighbours, in the order of the handles, take one copy together; many
 * that are scattered take one kernel.
 *
 * Kernels that are queued behind it on the stream find the maps; those of other
 * streams, when they are ordered behind it by an event. A publish that failed is
 * tried again behind what it had queued: on the same stream.
 *
 * Should there be no fence to be had behind what was queued, the publish holds,
 * and a warning is logged: its slots and staging are not had again before the
 * table is destroyed, unless one of the slots is rewritten.
 *
 * While the stream is being captured nothing is copied, but by each launch of
 * the graph. Slots and staging belong to that graph then, and are had again when
 * it is gone, and all executable graphs that were made of it.
 *
 * @param table    The table.
 * @param handles  n slots, each ENCODED.
 * @param n        0 is allowed, and does nothing.
 * @param stream   The source's own; 0 for its default.
 *
 * @return ASHLAR_OK: all are PUBLISHED;
 *         ASHLAR_ERR_INVALID         a NULL argument, a stream that the source
 *                                    does not know, or a slot that is empty; the
 *                                    sentence has the index of the handle: here,
 *                                    and in the next two;
 *         ASHLAR_ERR_NOT_LIVE        a handle is of no lease that goes on;
 *         ASHLAR_ERR_BUSY            a slot is published already, there twice,
 *                                    or in the hands of another thread; or what
 *                                    a publish that failed had queued for it, on
 *                                    another stream or in a graph, is not done;
 *         ASHLAR_ERR_CAPTURE         the stream's capture was spoilt, or it is a
 *                                    default stream that waits for one that is
 *                                    being captured;
 *         ASHLAR_ERR_UNSUPPORTED     the stream is being captured, and the
 *                                    source has no fences on graphs;
 *         ASHLAR_ERR_NO_MEMORY       no host memory for the record;
 *         ASHLAR_ERR_NO_DEVICE_MEMORY  the driver had none left for an event or
 *                                    a copy;
 *         ASHLAR_ERR_CONTEXT_FAILED  the stream's context had failed before;
 *         ASHLAR_ERR_DRIVER          the driver refused. What it had taken
 *                                    before is queued, and the slots stay
 *                                    ENCODED;
 *         ASHLAR_ERR_FORKED          the table is the parent's.
 *
 * @par Threads  Any thread at any time; streams in parallel.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_publish(struct ashlar_tensormap_table *table,
                               const struct ashlar_tensormap_handle *handles,
                               size_t n, uint64_t stream);

/**
 * Give a published slot another map, in the order of a stream's work: kernels
 * that are queued behind it there find the new one, those before it the old one.
 *
 * The address stays, and a multiprocessor may keep what it read there. So each
 * block of a kernel that uses the slot from now on has to acquire it first:
 *
 *     fence.proxy.tensormap::generic.acquire.sys [address], 128;
 *     bar.sync 0;
 *
 * Without, some multiprocessors use the new map and some the old one. One
 * rewrites where an address is held that cannot be changed, as by a graph; a
 * kernel that can be told another index is better served by another slot, which
 * leaves the old map to those that still use it.
 *
 * The host slot has the new map when the call returns.
 *
 * @param table   The table.
 * @param handle  A slot that is PUBLISHED.
 * @param map     As for ashlar_tensormap_table_fill(), such as from
 *                ashlar_tensormap_encode().
 * @param stream  The source's own; 0 for its default. Rewrites of one slot on
 *                several streams are to be ordered by their caller, and behind
 *                what published it. While it is being captured the slot is
 *                rewritten by each launch of the graph.
 *
 * @return As ashlar_tensormap_table_publish();
 *         ASHLAR_ERR_INVALID  also for a slot that is not published;
 *         ASHLAR_ERR_BUSY     the copy that published it has not read the host
 *                             slot yet; or the slot belongs to a graph, which
 *                             would undo it: lease another slot, or try again
 *                             later;
 *         ASHLAR_ERR_LIMIT    all staging is in use: by work that is not done
 *                             yet, and by graphs.
 *
 * @par Threads  Any thread at any time; a slot is one thread's at a time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_rewrite(struct ashlar_tensormap_table *table,
                               struct ashlar_tensormap_handle handle,
                               const void *map, uint64_t stream);

/**
 * Give slots back: all, or none. Their handles are of no use from now on, and
 * the slots are leased again when the fences have passed.
 *
 * Nothing is told about them when that is: leases look.
 *
 * @param table        The table.
 * @param handles      n leased slots, of any state.
 * @param n            0 is allowed, and does nothing.
 * @param fences       What must be done before: the work that reads the device
 *                     slots. ASHLAR_QUIET for nothing; what publishes them is
 *                     waited for anyway.
 * @param fence_count  Fences, 1 or more.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    a NULL argument, fence_count of 0, a bad fence;
 *         ASHLAR_ERR_NOT_LIVE   a handle is of no lease that goes on: it was
 *                               retired, or never leased; the sentence has its
 *                               index;
 *         ASHLAR_ERR_BUSY       a slot is in the hands of another thread, or
 *                               there twice;
 *         ASHLAR_ERR_NO_MEMORY  no host memory for the record;
 *         else what ashlar_range_destroy() says of fences.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_retire(struct ashlar_tensormap_table *table,
                              const struct ashlar_tensormap_handle *handles,
                              size_t n, const struct ashlar_fence *fences,
                              size_t fence_count);

/** What a table has and did. */
struct ashlar_tensormap_table_info {
    /** sizeof(struct ashlar_tensormap_table_info), set by the caller. */
    size_t size;
    struct ashlar_source *source;
    /** Of device slot 0. */
    uint64_t base;
    uint64_t max_slots;
    /** Slots that have memory: the sum of leased, waiting and free. */
    uint64_t slots;
    uint64_t leased;
    /** Retired, and not to be had yet. */
    uint64_t waiting;
    /** Of leased and waiting: those that belong to a graph. */
    uint64_t in_graphs;
    /** Maps that fit in staging, and those of them in use. */
    uint64_t staging_slots;
    uint64_t staging_used;
    /** Calls that queued something, and the slots in them. */
    uint64_t publishes;
    uint64_t published_slots;
    uint64_t rewrites;
    /** Copies and kernels that these queued. */
    uint64_t copies;
    uint64_t scatters;
    /** Publishes that copied slots one by one, as staging was full. */
    uint64_t staging_full;
    /** Times that it grew. */
    uint64_t grows;
    /** Bytes of memory on the device and on the host, staging included. */
    uint64_t device_bytes;
    uint64_t host_bytes;
    /** Not 0: scattered slots take one kernel. */
    uint32_t scatters_by_kernel;
    /** Not 0: the device reads host slots and staging where they are. */
    uint32_t host_is_reached;
    /**
     * What was queued and no fence could be made behind, nor stands for since:
     * its slots and staging are not had again, and it takes ASHLAR_QUIET to
     * destroy the table. A warning was logged of each.
     */
    uint64_t unfenced;
};

/** Initialiser for struct ashlar_tensormap_table_info. */
#define ASHLAR_TENSORMAP_TABLE_INFO_INIT                                       \
    {                                                                          \
        sizeof(struct ashlar_tensormap_table_info), NULL, 0, 0, 0, 0, 0, 0, 0, \
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                              \
    }

/**
 * Read what a table has and did. What was retired and has become free meanwhile
 * is counted so.
 *
 * @param table  The table.
 * @param info   Its size member says how much the caller knows of the struct;
 *               no more than that is written.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_FORKED  the table is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_table_query(struct ashlar_tensormap_table *table,
                             struct ashlar_tensormap_table_info *info);

ASHLAR_END_DECLS

#endif
