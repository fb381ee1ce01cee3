/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The memory under an arena on a range.
 *
 *     blocks   [a][b]    [      c           ]     [d]
 *     granules |    0    |    1    |    2    |    3    |    4    |
 *     pins          3         0         1         1         0
 *     whole         0         1         0         0         0
 *     mapped        1         1         1         1         1    <- idle
 *
 * A block holds the granules that it lies in, as far as jemalloc rounds it up: it
 * pins the first and the last, which others may lie in, too, and marks those
 * between, sixty-four at a time, since no other block lies there.
 * Memory is committed under the part that was asked for, and taken away by
 * whole chunks that have no pin. Taking away is not hurried: what is idle
 * serves the next blocks, and goes when it is asked to (trim), when the source
 * has no memory left, or before more memory than ever before would be needed;
 * but for that, not below `slack`, or blocks of changing sizes would have it
 * come and go for ever. Slack is a largest chunk at first, and doubles when
 * memory has come and gone all the same, many times as much as there is.
 *
 * Invariants:
 *   - a granule's pins are the live or waiting blocks that begin or end in it;
 *   - its bit in `whole` is set while such a block has its middle there, and
 *     then it has no pins; with neither it is idle;
 *   - a granule's bit in `mapped` is set only while there is memory there;
 *   - under a live block, there is memory up to the size asked for;
 *   - a bit of `starts`, for each ARENA_QUANTUM bytes, is set where a live
 *     block begins.
 *
 * Pinning comes before looking whether there is memory, and clearing the bit
 * comes before looking whether there are pins: of two threads that do so at
 * once, one sees the other. All of it lies in host memory.
 */
#ifndef ASHLAR_ARENA_BACKING_H
#define ASHLAR_ARENA_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/range.h>

#include "base/lock.h"

/** Blocks begin at multiples of it. */
#define ARENA_QUANTUM ASHLAR_ARENA_ALIGN_RANGE

struct backing {
    struct ashlar_range *range; /* held; NULL: there is none */
    bool owned;                 /* the arena made it */
    uint64_t base;
    uint64_t bytes;
    unsigned granule_shift;
    uint32_t *pins;   /* a granule each; atomic */
    uint64_t *whole;  /* a bit for a granule; atomic */
    uint64_t *mapped; /* a bit for a granule; atomic */
    uint64_t *starts; /* a bit for ARENA_QUANTUM bytes; atomic */
    bool idle;        /* atomic: a granule may have lost its last pin */

    struct lock lock;   /* committing and releasing, and the figures below */
    uint64_t slack;     /* bytes that may be idle at any time */
    uint64_t exchanged; /* bytes released for others since slack grew */
    uint64_t top;       /* no granule from here on had memory ever */
    uint64_t peak;      /* the most bytes committed */
    uint64_t commits;
    uint64_t releases;
};

/**
 * Stand on a range that nobody uses, from now on held.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_NO_MEMORY  no host memory for the records;
 *         else as range_check_unused().
 */
enum ashlar_status backing_open(struct backing *backing,
                                struct ashlar_range *range, bool owned);

/**
 * Leave the range: destroyed when it is the arena's, else empty.
 *
 * @return As ashlar_range_destroy(); nothing was done when it failed.
 */
enum ashlar_status backing_close(struct backing *backing);

/** Whether a block could begin at an address. */
static inline bool backing_spans(const struct backing *backing,
                                 const void *block)
{
    return (uint64_t)(uintptr_t)block - backing->base < backing->bytes;
}

/** Note that a block is live, or not any more; false when it was so before. */
bool backing_enter(struct backing *backing, const void *block);
bool backing_leave(struct backing *backing, const void *block);

/** Whether a live block begins at an address. */
bool backing_is_live(const struct backing *backing, const void *block);

/** Pin the granules of a block, or unpin them. */
void backing_pin(struct backing *backing, const void *block, uint64_t bytes);
void backing_unpin(struct backing *backing, const void *block, uint64_t bytes);

/**
 * Change the pins of a block of other bytes now: when it grew, afterwards; when
 * it is to shrink, before, with the lock held until it is known that it did.
 */
void backing_repin(struct backing *backing, const void *block, uint64_t before,
                   uint64_t after);

/**
 * See to it that there is memory under a block, which is pinned.
 *
 * @return As ashlar_range_commit().
 */
enum ashlar_status backing_fill(struct backing *backing, const void *block,
                                uint64_t bytes);

/** Bytes from a block on that have memory, up to a limit. */
uint64_t backing_reach(struct backing *backing, const void *block,
                       uint64_t limit);

/** Take memory away that has no pin. As ashlar_range_decommit(). */
enum ashlar_status backing_release(struct backing *backing,
                                   uint64_t *released_out);

/** Forget all blocks, of which jemalloc got so many bytes of addresses. */
void backing_reset(struct backing *backing, uint64_t handed_out);

#endif
