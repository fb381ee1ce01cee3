/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The range's record, and how the files of this floor hang together.
 *
 *     range.c    create, destroy, query      ┐
 *     grow.c     grow, prepare, commit        ├─> transaction.c ─> source ops
 *     filling.c  memory for a stretch         │
 *     release.c  shrink, decommit, retire_old ┘        └─> source/retire.c
 *     share.c    export and import, by description.c
 *     access.c   rights         table.c  from an address to its range
 *     fence.c    the caller's fences, recorded
 *
 *     base                     frontier        reserved
 *      [chunk][chunk][ hole ][chunk]...........]      spaces: 1 or more
 *      used <= frontier; between used and frontier there is no hole
 *
 * Invariants, while no verb runs:
 *   - chunks are sorted by offset and do not overlap; each is mapped at base +
 *     offset, with the rights of `access`, and at the same offset of each place
 *     in `olds` that lists it;
 *   - spaces are neighbours: together they are [base, base + reserved);
 *   - committed is the sum of the chunks' bytes, prepared_bytes that of
 *     prepared;
 *   - end has room for all steps that give the range up, so that this needs no
 *     memory; transaction_begin() sees to it;
 *   - a ghost is a stretch whose chunk was retired and may still be mapped:
 *     nothing is mapped over it until its item says that it is not;
 *   - what a failed verb could not undo lies in the source's retire list, under
 *     this range's name, and nowhere else.
 *
 * One lock for a range, held across calls into the source. Above it: nothing.
 * Below it: the source's retire list, the table.
 */
#ifndef ASHLAR_RANGE_RANGE_H
#define ASHLAR_RANGE_RANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/range.h>

#include "base/lock.h"
#include "range/vector.h"
#include "source/source.h"

struct range_chunk {
    uint64_t offset; /* from base; meaningless while prepared */
    uint64_t bytes;
    uint64_t handle;
    uint64_t epoch; /* its own, by when it was mapped: see share.c */
};

struct range_space {
    uint64_t address;
    uint64_t bytes;
};

/* What a move left behind. */
struct range_old {
    uint64_t base;
    uint64_t reserved;
    uint64_t mapped_bytes;
    struct vector chunks; /* struct range_chunk, as they are mapped there */
    struct vector spaces; /* struct range_space */
};

struct range_ghost {
    uint64_t offset;
    uint64_t bytes;
    struct retire_item *item; /* a reference */
};

struct ashlar_range {
    struct lock lock;
    struct ashlar_source *source; /* held */
    uint64_t owner;               /* of its items in the retire list */
    uint64_t granule;
    uint64_t alignment;
    uint64_t chunk_max; /* 0: no bound */
    uint64_t keep_bytes;
    uint64_t export_group; /* 0: not exported */
    bool may_move;
    bool imported; /* the memory is another process's */

    uint64_t base;
    uint64_t reserved;
    uint64_t used;
    uint64_t frontier;
    uint64_t committed;
    uint64_t prepared_bytes;
    struct vector spaces;            /* struct range_space */
    struct vector chunks;            /* struct range_chunk */
    struct vector prepared;          /* struct range_chunk */
    struct vector access;            /* struct ashlar_access */
    struct vector ghosts;            /* struct range_ghost */
    struct vector olds;              /* struct range_old */
    struct retire_item *rights_undo; /* a reference; NULL: nothing to undo */
    struct retire_item *end; /* to give it up by: all steps, one fence */
    uint64_t id; /* the same on both sides of an export; 0: never exported */
    uint64_t epoch;
    uint64_t grows[4];
    unsigned holders; /* pools and arenas that stand on it; atomic */
};

/** Refuse NULL, and the parent's ranges in a child of fork(2). */
enum ashlar_status range_check(struct ashlar_range *range, const char *call);

/** Forget ghosts that are gone; true when one is left in a stretch. */
bool range_haunted(struct ashlar_range *range, uint64_t offset, uint64_t bytes);

/** Collect, and refuse to map where something retired may still be. */
enum ashlar_status range_check_unmapped(struct ashlar_range *range,
                                        uint64_t offset, uint64_t bytes);

/**
 * Make room in range->end for so many steps more than it takes to give up what
 * there is now. 0; or -1: no memory.
 */
int range_make_end(struct ashlar_range *range, uint32_t more);

/**
 * An item to take a range away by, with room for `calls` steps before those of
 * the range, and for so many fences; NULL: no memory, and the error is set.
 */
struct retire_item *range_make_item(const struct ashlar_range *range,
                                    uint32_t calls, uint32_t fences);

/** Take a range away by an item that has room for all steps: range->end. */
void range_abandon(struct ashlar_range *range, struct retire_item *item);

/** Refuse a result without its size, before anything is done. */
enum ashlar_status range_result_check(const struct ashlar_range_result *result);

/** Fill in a verb's result, which was checked and may be NULL. */
void range_result(const struct ashlar_range *range,
                  struct ashlar_range_result *facts,
                  struct ashlar_range_result *result);

/**
 * Shrink the range of a pool, which knows that nobody uses what goes.
 *
 * @param released_out  Receives the bytes; may be NULL.
 */
enum ashlar_status range_shrink(struct ashlar_range *range, uint64_t total,
                                uint64_t *released_out);

/** Refuse a range that an arena cannot stand on, since it is used. */
enum ashlar_status range_check_unused(struct ashlar_range *range);

/**
 * Stand on a range alone, as an arena does, or refuse as range_check_unused().
 * All addresses reserved count as used, without memory: holes, which
 * ashlar_range_commit() fills part by part.
 */
enum ashlar_status range_occupy(struct ashlar_range *range);

/**
 * Take the chunks of a part away from under an arena, which knows that nobody
 * uses them. The rest as ashlar_range_decommit().
 */
enum ashlar_status range_vacate(struct ashlar_range *range, uint64_t offset,
                                uint64_t bytes);

/** Refuse to take memory away under pools and arenas. */
enum ashlar_status range_check_free(struct ashlar_range *range);

/** Refuse to change how large an imported range is. */
enum ashlar_status range_check_own(struct ashlar_range *range,
                                   const char *call);

/** Refuse a part that is not all used. The lock is held. */
enum ashlar_status range_check_part(const struct ashlar_range *range,
                                    uint64_t offset, uint64_t bytes);

/** Where the first chunk at or behind an offset stands. */
uint32_t range_chunk_at(const struct ashlar_range *range, uint64_t offset);

/**
 * The first chunk at or behind an offset, while others use the range. False
 * when there is none.
 */
bool range_chunk_from(struct ashlar_range *range, uint64_t offset,
                      struct ashlar_range_chunk *chunk_out);

/** Collect what waits, before memory or addresses are asked for. */
static inline void range_collect(struct ashlar_range *range)
{
    if (!retire_is_empty(&range->source->retire))
        (void)retire_collect(range->source);
}

/** Keep the caller's options' rights, and the home location's. */
enum ashlar_status access_start(struct ashlar_range *range,
                                const struct ashlar_range_options *options);

/** The most fences that a verb takes. */
#define FENCES_MOST 64

/** Refuse no fences, too many, and any that cannot be one. */
enum ashlar_status fences_check(const struct ashlar_fence *fences, size_t n,
                                const char *call);

/**
 * Record fences into an item that has room; what was, the item drops.
 *
 * @param own  The source of fences that name none.
 */
enum ashlar_status fences_record(struct ashlar_source *own,
                                 const struct ashlar_fence *fences, size_t n,
                                 struct retire_item *item);

/**
 * The table that ashlar_range_find() looks in. Entering needs memory: 0, or -1.
 * Extending does not.
 */
int table_enter(struct ashlar_range *range, uint64_t base, uint64_t bytes);
void table_extend(uint64_t base, uint64_t bytes);
void table_leave(uint64_t base);

/** Take part in forks. 0, or -1. */
int table_start(void);

#endif
