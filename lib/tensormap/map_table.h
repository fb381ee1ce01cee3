/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The table's record, and how its files hang together.
 *
 *     map_table_life.c     create, destroy, query
 *     map_table_lease.c    lease and reserve; slots that are free; growth
 *     map_table_encode.c   host slots: encode, fill, look
 *     map_table_publish.c  publish and rewrite     ─> map_table_staging.c
 *     map_table_retire.c   retire, and what has passed meanwhile
 *
 *     host      [ staging ][ slot 0 ][ slot 1 ] ...    a range, or a block
 *     device    [ staging ][ slot 0 ][ slot 1 ] ...    a range; staging only if
 *                                                      it does not reach the
 *                                                      host's
 *     words     [ word 0 ][ word 1 ] ...     generation, and what slot i holds
 *     free      a bit for each slot          fresh_from ─> nobody leased these
 *
 * A word is of no lease (0), EMPTY, ENCODED, PUBLISHED or IN_HAND; what is in
 * hand is one thread's, who writes the host slot or queues a copy of it with no
 * lock taken.
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
 *   - a slot below `slots` is free (its bit), leased (its word), or retired: in
 *     the chain of one batch or of one pending publication. These are counted:
 *     slots = free_count + leased + waiting;
 *   - from fresh_from on slots are free, and were never leased;
 *   - a publication is in `pending` until its fences have passed, or for ever
 *     when one could not be made; it is freed when no slot names it any more;
 *   - units of staging are of one pending publication, or free;
 *   - a host slot is written only while it is in hand, and not while a pending
 *     publication reads it (reads_host);
 *   - a device slot is written by publications alone, and those of one slot
 *     are ordered by their streams.
 *
 * Locks: grow_lock, held across the growth of both ranges; then lock, for all
 * records, held across queries of fences and no other call into a source. Below
 * both: a range's lock, the source's retire list.
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

/* A word: the state, a bit, the generation. */
#define WORD_STATE            UINT32_C(7)
#define WORD_STALE            UINT32_C(8) /* a map was published here before */
#define WORD_GENERATION_SHIFT 4
#define WORD_GENERATIONS      (UINT32_C(1) << (32 - WORD_GENERATION_SHIFT))

/** Not a slot: the end of a chain. */
#define NO_SLOT UINT32_MAX

struct publication {
    struct publication *next; /* in pending */
    struct publication *previous;
    struct retire_item *fences; /* NULL: they have passed */
    size_t references;          /* slots that name it; 1 more while pending */
    uint32_t staging_first;     /* units */
    uint32_t staging_count;
    uint32_t waiting; /* the first of a chain of slots */
    bool graph;       /* passes when a graph is gone */
    bool reads_host;  /* copies out of host slots */
    bool lost;        /* no fence could be made: it never passes */
};

struct batch {
    struct batch *next;
    struct retire_item *fences;
    uint32_t first; /* of a chain of slots */
    uint32_t count;
};

/** One side of the mirror. */
struct side {
    struct ashlar_range *range; /* NULL: a block of the heap */
    unsigned char *block;
    uint64_t staging; /* where it starts */
    uint64_t slots;   /* where slot 0 is */
    uint64_t bytes;   /* in use: staging and `slots` slots */
};

struct ashlar_tensormap_table {
    struct ashlar_source *source; /* held by the device's range */
    unsigned process;             /* thread_process() at the making */
    size_t max_slots;
    struct side device;
    struct side host;
    uint64_t staging_bytes;   /* on the host */
    uint64_t device_staging;  /* bytes there; 0: none */
    bool can_scatter;         /* the kernel is loaded */
    bool host_is_reached;     /* by the device */
    struct retire_call ended; /* when it is destroyed and all has passed */

    struct lock grow_lock;

    struct lock lock; /* all below */
    size_t slots;     /* that have memory */
    size_t fresh_from;
    size_t free_count;
    size_t leased;
    size_t waiting;
    size_t in_graphs;
    uint32_t *words;
    uint32_t *next; /* in the chain of a batch or a publication */
    struct publication **publications;
    uint64_t *free;
    uint64_t *staging_free; /* a bit for each unit */
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
enum ashlar_status table_check(struct ashlar_tensormap_table *table,
                               const char *call);

#endif
