/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The arena's record, and how the files of this floor hang together.
 *
 *     arena.c    the public calls on blocks ┬─> source/je.h      jemalloc
 *                                           ├─> backing.c ─> range
 *                                           └─> count.h    live blocks
 *     waiting.c  free_after                 record.c  create, destroy, fork
 *     figures.c  statistics                 extent.c  what jemalloc calls
 *
 * An arena on a range, and who decides what:
 *
 *     jemalloc   which addresses a block gets. It is handed addresses by
 *                extent.c, and believes that there is memory at all of them
 *     backing.c  where there really is memory: under live blocks, and where
 *                blocks were. It calls the range, after jemalloc has returned
 *
 *     alloc   jemalloc ─> address ─> pin its granules ─> memory there? ─> block
 *                                                        └ no: commit
 *     free    unpin its granules ─> jemalloc
 *
 * So no driver is called from inside jemalloc, whose locks nobody then waits
 * for, whose hooks cannot fail but for want of addresses, and which cannot be
 * entered again from one; a failure to commit keeps its sentence; memory lies
 * under what was asked for, not under what jemalloc rounds it up to; and a
 * jemalloc built for debugging, which reads what a commit hook gave it, reads
 * nothing.
 *
 * Invariants, while no call runs:
 *   - live blocks are the sum over the counts, `common` included;
 *   - on a range a bit of backing.starts is set for each live block, and no
 *     other; waiting blocks have none, and keep their pins;
 *   - a pointer in `quick` is that in `counts`, and all are NULL unless the
 *     arena is shared and live;
 *   - a record is never freed, so a stale handle can be told.
 *
 * Locks, in the order in which they may be held together: list (record.c),
 * waiting.lock, backing.lock, the range's. jemalloc may be called with the
 * first three held, and never calls back to where one is taken.
 */
#ifndef ASHLAR_ARENA_ARENA_H
#define ASHLAR_ARENA_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/arena.h>

#include "arena/backing.h"
#include "arena/extent.h"
#include "arena/waiting.h"
#include "base/lock.h"
#include "base/thread.h"
#include "source/source.h"

#define ARENA_NAME_BYTES 64

enum arena_life {
    ARENA_DEAD = 0,
    ARENA_LIVE = 1,
    ARENA_FORKED = 2 /* on a range of the parent's */
};

/* Blocks that the threads of one number allocated, less those they freed. */
struct arena_count {
    uint64_t live; /* atomic; negative when they free others' blocks */
} __attribute__((aligned(64)));

struct ashlar_arena {
    /* Those of `counts` by which the shortest way is gone: of a live arena that
     * jemalloc has no flags for. One load tells all of it. Atomic. */
    struct arena_count *quick[THREAD_NUMBERS + 1];

    /* Written when the arena is made, read by every call. */
    uint32_t on_heap; /* 1: live, and not on a range; atomic */
    uint32_t life;    /* enum arena_life; atomic */
    uint32_t kind;    /* enum ashlar_arena_kind */
    int flags;        /* jemalloc's, but for the alignment */
    unsigned index;   /* jemalloc's; of an arena of its own */
    size_t alignment_min;
    bool host_writes;             /* calloc can write the memory */
    bool dropped;                 /* blocks were live when it was reset */
    struct ashlar_source *source; /* held */
    char name[ARENA_NAME_BYTES];

    /* Atomic; NULL: none yet. The last is that of threads without a number. */
    struct arena_count *counts[THREAD_NUMBERS + 1];
    struct arena_count common; /* of threads that have none */
    uint64_t refusals;         /* atomic */

    struct waiting waiting;
    struct backing backing; /* of an arena on a range */
    struct extents extents; /* of an arena on a range */

    /* Under the list's lock. */
    struct ashlar_arena *next;
    struct ashlar_arena *previous;
};

/** Set the error of a NULL, destroyed or parent's arena. */
enum ashlar_status arena_refuse_handle(struct ashlar_arena *arena,
                                       const char *call);

/** Refuse those: ASHLAR_OK, or the error set. */
static inline enum ashlar_status arena_check(struct ashlar_arena *arena,
                                             const char *call)
{
    if (ASHLAR_LIKELY(arena != NULL &&
                      __atomic_load_n(&arena->life, __ATOMIC_ACQUIRE) ==
                          ARENA_LIVE))
        return ASHLAR_OK;
    return arena_refuse_handle(arena, call);
}

/** Count a refusal, and return its status. */
enum ashlar_status arena_refuse(struct ashlar_arena *arena,
                                enum ashlar_status status);

/** Whether it is live, and not on a range, in one load. */
static inline bool arena_is_on_heap(const struct ashlar_arena *arena)
{
    return ASHLAR_LIKELY(arena != NULL) &&
           ASHLAR_LIKELY(__atomic_load_n(&arena->on_heap, __ATOMIC_ACQUIRE) !=
                         0);
}

/** Whether its blocks lie in a range. */
static inline bool arena_has_range(const struct ashlar_arena *arena)
{
    return arena->kind == ASHLAR_ARENA_KIND_RANGE;
}

/**
 * Take a block from its caller: it is not live any more. The refusal of a
 * wrong one is counted.
 */
enum ashlar_status arena_take_back(struct ashlar_arena *arena,
                                   const void *block, const char *call);

/** Give a block to jemalloc that no caller has any more. */
void arena_return(struct ashlar_arena *arena, void *block);

/** Live blocks. */
uint64_t arena_live(const struct ashlar_arena *arena);

/** Forget them. */
void arena_forget_live(struct ashlar_arena *arena);

/** Give back what arena_count_first() made. */
void arena_free_counts(struct ashlar_arena *arena);

/** The same as arena_count_by() for a thread that has no count there yet. */
void arena_count_first(struct ashlar_arena *arena, uint64_t change);

/** The calling thread's count; NULL: it has none there yet. */
static inline struct arena_count *arena_own_count(struct ashlar_arena *arena)
{
    return __atomic_load_n(&arena->counts[thread_number], __ATOMIC_RELAXED);
}

/**
 * Count a block in (1) or out (UINT64_MAX). Nobody else adds to a count that
 * is a number's own, so that takes no atomic exchange.
 */
static inline void arena_count_add(struct arena_count *count, uint64_t change)
{
    __atomic_store_n(&count->live, count->live + change, __ATOMIC_RELAXED);
}

/** The same, by whichever thread. */
static inline void arena_count_by(struct ashlar_arena *arena, uint64_t change)
{
    struct arena_count *count = arena_own_count(arena);

    if (ASHLAR_LIKELY(count != NULL))
        arena_count_add(count, change);
    else
        arena_count_first(arena, change);
}

#endif
