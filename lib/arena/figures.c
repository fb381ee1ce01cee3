/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What an arena holds, and how well it uses its memory. */
#include "config.h"

#include "arena/arena.h"
#include "base/error.h"
#include "base/options.h"
#include "range/range.h"
#include "source/je.h"

/* Pins, bits and starts are touched as far as jemalloc has got addresses. */
static uint64_t bookkeeping(const struct ashlar_arena *arena)
{
    uint64_t bytes = sizeof(*arena);
    uint64_t handed_out;
    uint64_t granules;
    size_t i;

    for (i = 0; i < THREAD_NUMBERS; i++)
        if (__atomic_load_n(&arena->counts[i], __ATOMIC_RELAXED) != NULL)
            bytes += sizeof(struct arena_count);
    if (!arena_has_range(arena))
        return bytes;
    handed_out = extents_handed_out(&arena->extents);
    granules = handed_out >> arena->backing.granule_shift;
    bytes += granules * sizeof(*arena->backing.pins) + granules / 8 * 2;
    return bytes + handed_out / ARENA_QUANTUM / 8;
}

static void read_backing(struct ashlar_arena *arena,
                         struct ashlar_arena_stats *stats)
{
    struct backing *backing = &arena->backing;

    lock_take(&backing->lock);
    stats->committed_bytes = backing->range->committed;
    stats->peak_committed_bytes = backing->peak;
    stats->reserved_bytes = backing->bytes;
    stats->commits = backing->commits;
    stats->releases = backing->releases;
    lock_give(&backing->lock);
}

enum ashlar_status ashlar_arena_query(struct ashlar_arena *arena,
                                      struct ashlar_arena_stats *stats)
{
    struct ashlar_arena_stats own = ASHLAR_ARENA_STATS_INIT;
    enum ashlar_status status = arena_check(arena, "ashlar_arena_query()");

    if (status != ASHLAR_OK)
        return status;
    if (stats == NULL)
        return arena_refuse(
            arena, error_set(ASHLAR_ERR_INVALID,
                             "ashlar_arena_query() was given NULL for stats"));
    (void)waiting_collect(arena);
    own.live_blocks = arena_live(arena);
    own.waiting_blocks = waiting_count(&arena->waiting);
    own.refusals = __atomic_load_n(&arena->refusals, __ATOMIC_RELAXED);
    own.bookkeeping_bytes = bookkeeping(arena);
    own.kind = arena->kind;
    if (arena_has_range(arena))
        read_backing(arena, &own);
    return result_write(stats, &own, sizeof(own), "struct ashlar_arena_stats");
}

enum ashlar_status
ashlar_arena_fragmentation(struct ashlar_arena *arena,
                           struct ashlar_arena_figures *figures)
{
    struct ashlar_arena_figures own = ASHLAR_ARENA_FIGURES_INIT;
    enum ashlar_status status =
        arena_check(arena, "ashlar_arena_fragmentation()");
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;
    struct je_own_stats je;

    if (status != ASHLAR_OK)
        return status;
    if (figures == NULL)
        return arena_refuse(arena,
                            error_set(ASHLAR_ERR_INVALID,
                                      "ashlar_arena_fragmentation() was given "
                                      "NULL for figures"));
    if (arena->kind == ASHLAR_ARENA_KIND_SHARED)
        return arena_refuse(
            arena, error_set(ASHLAR_ERR_UNSUPPORTED,
                             "arena \"%s\" shares jemalloc's arenas, which "
                             "have figures for all of them together alone; "
                             "make it with ASHLAR_ARENA_ISOLATED",
                             arena->name));
    if (je_own_query(arena->index, &je) != 0)
        return arena_refuse(arena, error_set(ASHLAR_ERR_UNSUPPORTED,
                                             "jemalloc %s was built without "
                                             "statistics",
                                             je_version()));
    if (arena_has_range(arena))
        read_backing(arena, &stats);
    own.allocated_bytes = je.allocated_bytes;
    own.active_bytes = je.active_bytes;
    own.kept_bytes = je.dirty_bytes;
    own.record_bytes = je.record_bytes;
    own.committed_bytes =
        arena_has_range(arena) ? stats.committed_bytes : je.resident_bytes;
    return result_write(figures, &own, sizeof(own),
                        "struct ashlar_arena_figures");
}
