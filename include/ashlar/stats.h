/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What pools hold, and what they did: a snapshot, a text report, JSON.
 */
#ifndef ASHLAR_STATS_H
#define ASHLAR_STATS_H

#include <ashlar/export.h>
#include <ashlar/pool.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/**
 * A snapshot of one pool. While no other thread uses the pool,
 * live_slots + cached_slots + free_slots + waiting_slots == capacity_slots.
 */
struct ashlar_pool_stats {
    /** sizeof(struct ashlar_pool_stats), set by the caller. */
    size_t size;
    /** Slots with callers, those of runs included. */
    size_t live_slots;
    /** Slots in threads' and callers' caches. */
    size_t cached_slots;
    /** Slots in the shared store, and in free runs. */
    size_t free_slots;
    /** All slots. */
    size_t capacity_slots;
    /**
     * The most slots that were outside the shared store and the lists of free
     * runs: live, cached, or in a run that a thread keeps at hand.
     */
    size_t peak_slots;
    /** The most the pool may have. */
    size_t max_slots;
    /** What ashlar_pool_reserve() promised: slots that may be live at once. */
    size_t promised_slots;
    /** Live runs. */
    size_t live_runs;
    /** Free runs that were cut and wait for their length to be asked again. */
    size_t free_runs;
    /** Bytes from slot to slot. */
    size_t stride;
    /** Bytes of address space that the slabs take. */
    size_t slab_bytes;
    /** Bytes of a slot that no object uses, times live slots: the rounding. */
    size_t waste_bytes;
    /** Bytes of the library's own records for this pool. */
    size_t bookkeeping_bytes;
    /** Slabs. */
    size_t slabs;
    /** Caches: of threads, and of callers. */
    size_t caches;
    /** Calls into the source: memory asked for, purged, given back. */
    uint64_t source_calls;
    /** Times a cache or a bulk took from the shared store. */
    uint64_t store_takes;
    /** Times a cache or a bulk gave to the shared store. */
    uint64_t store_gives;
    /** Calls that were refused. */
    uint64_t refusals;
    /** Slots that racing puts had put twice, found and dropped. */
    uint64_t duplicates;
    /** Slots put by ashlar_pool_put_after() whose fences have not passed. */
    size_t waiting_slots;
};

/** Initialiser for struct ashlar_pool_stats. */
#define ASHLAR_POOL_STATS_INIT                                                 \
    {                                                                          \
        sizeof(struct ashlar_pool_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  \
            0, 0, 0, 0, 0, 0, 0, 0, 0                                             \
    }

/**
 * Take a snapshot of a pool.
 *
 * @param pool   The pool.
 * @param stats  Its size member says how much the caller knows of the struct;
 *               no more than that is written.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_STALE    the pool was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_pool_query(struct ashlar_pool *pool, struct ashlar_pool_stats *stats);

/**
 * Write a report about all pools and arenas of the process that a person likes
 * to read.
 *
 * @param buffer  Receives the text and its terminating zero, cut to fit; may
 *                be NULL when bytes is 0.
 * @param bytes   Room in buffer.
 *
 * @return The bytes of the whole report without its terminating zero, as
 *         snprintf(3): at least `bytes` when it was cut.
 *
 * @par Threads  Any thread at any time; the caller sees to it that nobody
 *               destroys a pool or arena meanwhile.
 * @since 0.1
 */
ASHLAR_API size_t ashlar_report_text(char *buffer, size_t bytes);

/**
 * The same as one JSON object:
 * {"version": "0.1.0", "pools": [{"name": ..., "type": ..., ...}, ...],
 *  "arenas": [{"name": ..., "kind": "range", ...}, ...]},
 * with the members of struct ashlar_pool_stats and struct ashlar_arena_stats
 * under their own names.
 *
 * @param buffer  Receives the text and its terminating zero, cut to fit; may
 *                be NULL when bytes is 0.
 * @param bytes   Room in buffer.
 *
 * @return As ashlar_report_text().
 *
 * @par Threads  As ashlar_report_text().
 * @since 0.1
 */
ASHLAR_API size_t ashlar_report_json(char *buffer, size_t bytes);

ASHLAR_END_DECLS

#endif
