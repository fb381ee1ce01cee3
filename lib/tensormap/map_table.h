/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The table's record, and how its files hang together.
 *
 *     map_table_life.c     create, destroy, query
 *     map_table_side.c     the two sides: made, grown together, given up
 *     map_table_lease.c    reserve, lease; slots that are free
 *     map_table_fill.c     host slots: encode, fill, look; claims
 *     map_table_publish.c  publish and rewrite
 *     map_table_retire.c   retire, and what has passed meanwhile
 *     map_table_bits.h     sets of free slots, and of free staging
 *
 *     host      [ staging ][ slot 0 ][ slot 1 ] ...    a range, or a block
 *     device    [ staging ][ slot 0 ][ slot 1 ] ...    a range; staging only if
 *                                                      it does not reach the
 *                                                      host's
 *     words     [ word 0 ][ word 1 ] ...     generation, and what slot i holds
 *     free      a bit for each slot          fresh_from ─> nobody leased these
 *
 * A word is of no lease (0), EMPTY, ENCODED or PUBLISHED, and may be in hand:
 * then it is one thread's, who writes the host slot or queues a copy of it with
 * no lock taken.
 *
 * A publication is what one publish or rewrite queued:
 *
 *     pending ─> publication ─> publication ─> ...
 *                    fences      of the stream, or of the graph
 *                    staging     units that it reads
 *                    waiting ─> retired slot ─> retired slot ...
 *     slot ──> publication       the last that wrote it
 *
 *     batches ─> batch ─> batch ...     what one retire gave back
 *                  fences of the caller's
 *                  slot ─> slot ─> ...  when these have passed, each goes on to
 *                                       its publication, or is free
 *
 * Invariants, while no verb runs:
 *   - nothing is in hand, and WORD_NAMES says which slots name a publication;
 *   - a slot below `slots` is free (its bit), leased (its word), or retired: in
 *     the chain of one batch or of one pending publication. These are counted:
 *     slots = free_count + leased + waiting;
 *   - from fresh_from on slots are free, and were never leased;
 *   - a publication is in `pending` until its fences have passed; that of a
 *     graph until all that was queued before is done, too. One that is lost is
 *     there to the table's end, or until the next that has one of its slots is
 *     done. It is freed when no slot names it any more;
 *   - units of staging are of one pending publication, or free;
 *   - a host slot is written only while it is in hand, and not while a pending
 *     publication reads it (reads_host);
 *   - a device slot is written by publications alone, and those of one slot
 *     are ordered by their streams.
 *
 * Locks: grow_lock, held across the growth of both ranges; then lock, for all
 * records, held across queries and drops of fences and no other call into a
 * source. Below both: a range's lock, the source's retire list.
 */
#ifndef ASHLAR_TENSORMAP_MAP_TABLE_H
#define ASHLAR_TENSORMAP_MAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/tensormap_table.h>

#include "base/lock.h"
#include "range/range.h"
#include "source/source.h"
#include "tensormap/map_table_bits.h"

/* A word: what the slot holds, three bits, the generation. */
#define WORD_STATE            UINT32_C(3)
#define WORD_IN_HAND          UINT32_C(4)  /* a thread has claimed it */
#define WORD_STALE            UINT32_C(8)  /* a map was published here before */
#define WORD_NAMES            UINT32_C(16) /* the slot names a publication */
#define WORD_GENERATION_SHIFT 5
#define WORD_GENERATIONS      (UINT32_C(1) << (32 - WORD_GENERATION_SHIFT))

/** Not a slot: the end of a chain. */
#define NO_SLOT UINT32_MAX

/**
 * Slots side by side that are looked at together where there may be thousands.
 * A loop over a block has no branch, and a count that the compiler knows, so
 * that it is made of vector instructions.
 */
#define SLOT_BLOCK 32u

/** What waits that a verb looks at when it needs nothing of it. */
#define GLANCE 4u

struct publication {
    struct publication *next; /* in pending */
    struct publication *previous;
    struct retire_item *fences; /* NULL: they have passed */
    uint64_t stream;
    size_t references;    /* slots that name it; 1 more while pending */
    size_t staging_first; /* units */
    size_t staging_count;
    uint32_t waiting; /* the first of a chain of slots */
    bool graph;       /* passes when a graph is gone */
    bool reads_host;  /* copies out of host slots */
    bool lost;        /* no fence could be made behind it */
};

struct batch {
    struct batch *next;
    struct retire_item *fences;
    uint32_t first; /* of a chain of slots */
};

/** One side of the mirror. */
struct side {
    struct ashlar_range *range; /* NULL: a block of the heap */
    unsigned char *block;
    uint64_t block_bytes;
    uint64_t staging_bytes; /* before slot 0 */
    uint64_t base;          /* of slot 0 */
};

struct ashlar_tensormap_table {
    struct ashlar_source *source; /* held by the device's range */
    unsigned process;             /* thread_process() at the making */
    size_t max_slots;
    struct side device;
    struct side host;
    bool can_scatter;     /* the kernel is loaded */
    bool host_is_reached; /* by the device */
    bool write_back;      /* maps, as they are encoded; see base/write_back.h */
    struct retire_call ended; /* when it is destroyed and all has passed */

    struct lock grow_lock;

    struct lock lock; /* all below */
    size_t slots;     /* that have memory */
    size_t fresh_from;
    size_t free_count;
    size_t leased;
    size_t waiting;
    size_t in_graphs; /* slots that a pending publication of a graph wrote */
    uint32_t *words;
    uint32_t *next; /* in a chain */
    struct publication **publications;
    uint64_t *free;
    uint64_t *staging_free;
    size_t staging_units;
    size_t staging_used;
    struct publication *pending; /* the oldest first */
    struct publication *pending_last;
    struct batch *batches; /* the oldest first */
    struct batch *batches_last;
    uint64_t publishes;
    uint64_t published_slots;
    uint64_t rewrites;
    uint64_t copies;
    uint64_t scatters;
    uint64_t staging_full;
    uint64_t grows;
};

/** Refuse NULL, and the parent's tables in a child of fork(2). */
enum ashlar_status map_table_check(struct ashlar_tensormap_table *table,
                                   const char *call);

/** Refuse NULL for an argument. */
enum ashlar_status map_table_refuse_null(const char *call, const char *name);

/* --- map_table_side.c ------------------------------------------------------ */

/** Make both sides, with their staging and no slots yet. */
enum ashlar_status
map_table_make_sides(struct ashlar_tensormap_table *table,
                     const struct ashlar_tensormap_table_options *options);

/** Give both up at once: nobody uses them. */
void map_table_drop_sides(struct ashlar_tensormap_table *table);

/** Give one up at once. */
void map_table_drop_side(struct side *side);

/** Have memory for so many slots in all, or more. No lock is held. */
enum ashlar_status map_table_grow_sides(struct ashlar_tensormap_table *table,
                                        size_t slots);

/** Bytes of memory on one. */
uint64_t map_table_side_bytes(const struct side *side);

static inline uint64_t slot_at(const struct side *side, uint32_t index)
{
    return side->base + (uint64_t)index * ASHLAR_TENSOR_MAP_BYTES;
}

static inline void *host_slot(const struct ashlar_tensormap_table *table,
                              uint32_t index)
{
    return (void *)(uintptr_t)slot_at(&table->host, index);
}

/* --- map_table_fill.c ------------------------------------------------------ */

/** What slots are claimed for. */
enum claim { CLAIM_FILL, CLAIM_PUBLISH, CLAIM_REWRITE };

/**
 * Take slots in hand, all or none. The lock is held.
 *
 * @param stream       What a publish or rewrite is queued on.
 * @param run_out      Receives how many handles, from the first on, were found
 *                     to be of slots side by side; more of them may be.
 * @param culprit_out  Receives the index of the handle that is refused.
 */
enum ashlar_status
map_table_claim(struct ashlar_tensormap_table *table,
                const struct ashlar_tensormap_handle *handles, size_t n,
                enum claim what, uint64_t stream, size_t *run_out,
                size_t *culprit_out);

/** Out of hand again, as before. The lock is held. */
void map_table_unclaim(struct ashlar_tensormap_table *table,
                       const struct ashlar_tensormap_handle *handles, size_t n);

/** Say of a handle what is wrong with it. The lock is held. */
enum ashlar_status
map_table_refuse_handle(const struct ashlar_tensormap_table *table,
                        struct ashlar_tensormap_handle handle, size_t i,
                        enum claim what);

/** Whether a handle is of a lease that goes on. The lock is held. */
static inline bool is_live(const struct ashlar_tensormap_table *table,
                           struct ashlar_tensormap_handle handle)
{
    return handle.index < table->max_slots &&
           table->words[handle.index] >> WORD_GENERATION_SHIFT ==
               handle.generation &&
           (table->words[handle.index] & WORD_STATE) != 0;
}

/** Out of hand, if it was, into a state. */
static inline void set_state(struct ashlar_tensormap_table *table,
                             uint32_t index, uint32_t state)
{
    table->words[index] =
        (table->words[index] & ~(WORD_STATE | WORD_IN_HAND)) | state;
}

/* --- map_table_retire.c ---------------------------------------------------- */

/**
 * Let go what has passed, until so many had to wait. The lock is held; the
 * thread's last error stays.
 */
void map_table_settle(struct ashlar_tensormap_table *table, size_t patience);

/** Whether what last wrote a slot is not done. The lock is held. */
bool map_table_is_pending(struct ashlar_tensormap_table *table, uint32_t index);

/** A slot names another publication, or none. The lock is held. */
void map_table_set_publication(struct ashlar_tensormap_table *table,
                               uint32_t index, struct publication *publication);

#endif
