/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The verbs of ranges, each from a state in which it has much to do. */
#include "config.h"

#include "fault/fault_range.h"

#include "support/engine.h"

#define QUIET ASHLAR_QUIET, 1

static const uint32_t may_move = ASHLAR_RANGE_MAY_MOVE;

static uint64_t bytes_of(const struct trial *trial, uint64_t granules)
{
    return granules * trial->granule;
}

static struct ashlar_range_info info_of(const struct trial *trial)
{
    return trial_info(trial);
}

/* --- states to start from ------------------------------------------------- */

static void setup_source(struct trial *trial)
{
    trial_open(trial, engine_memory(256));
}

/* Room for 64 granules, none used. */
static void setup_empty(struct trial *trial)
{
    trial_open(trial, NULL);
    trial_create(trial, 64, 2, 0);
}

/* Five granules used, chunks of two. */
static void setup_used(struct trial *trial)
{
    setup_empty(trial);
    trial_grow(trial, 5);
}

/* The same, and three chunks ahead of need. */
static void setup_created(struct trial *trial)
{
    setup_used(trial);
    OK(ashlar_range_prepare(trial->range, bytes_of(trial, 10),
                            ASHLAR_RANGE_CREATED));
}

static void setup_mapped(struct trial *trial)
{
    setup_used(trial);
    OK(ashlar_range_prepare(trial->range, bytes_of(trial, 12),
                            ASHLAR_RANGE_MAPPED));
    trial_sync(trial);
}

/* Twelve granules, of which [2, 6) and [8, 10) have no memory. */
static void setup_holes(struct trial *trial)
{
    setup_empty(trial);
    trial_grow(trial, 12);
    OK(ashlar_range_decommit(trial->range, bytes_of(trial, 2),
                             bytes_of(trial, 4), QUIET, NULL));
    OK(ashlar_range_decommit(trial->range, bytes_of(trial, 8),
                             bytes_of(trial, 2), QUIET, NULL));
    trial_sync(trial);
}

static void setup_small(struct trial *trial, uint32_t flags)
{
    trial_open(trial, NULL);
    trial_create(trial, 8, 2, flags);
    trial_grow(trial, 5);
    OK(ashlar_range_decommit(trial->range, bytes_of(trial, 2),
                             bytes_of(trial, 2), QUIET, NULL));
    OK(ashlar_range_prepare(trial->range, bytes_of(trial, 7),
                            ASHLAR_RANGE_CREATED));
    trial_sync(trial);
}

/* Nearly all of the reservation used, with a hole and a chunk ahead. */
static void setup_fixed(struct trial *trial)
{
    setup_small(trial, 0);
}

static void setup_movable(struct trial *trial)
{
    setup_small(trial, may_move);
}

/* A range of three reservations, shrunk to the first. */
static void setup_neighbours(struct trial *trial)
{
    trial_open(trial, NULL);
    trial_create(trial, 3, 0, 0);
    trial_grow(trial, 3);
    trial_grow(trial, 6);
    trial_grow(trial, 9);
    OK(ashlar_range_shrink_to(trial->range, 1, QUIET, NULL));
    trial_sync(trial);
}

/* Moved twice; both old places are still there, and there is a hole. */
static void setup_moved(struct trial *trial)
{
    setup_movable(trial);
    wrap_of(trial->source)->hint = WRAP_REFUSED;
    trial_grow(trial, 9);
    trial_grow(trial, 17);
    ck_assert_uint_eq(info_of(trial).grows[ASHLAR_RANGE_PATH_MOVED], 2);
    OK(ashlar_range_prepare(trial->range, bytes_of(trial, 20),
                            ASHLAR_RANGE_CREATED));
}

/* --- create --------------------------------------------------------------- */

static enum ashlar_status run_create(struct trial *trial)
{
    static const struct ashlar_access access[] = {{2, ASHLAR_RIGHTS_READ}};
    struct ashlar_range_options options = trial_options(trial, 16, 4, may_move);

    options.access = access;
    options.access_count = 1;
    return ashlar_range_create(trial->source, &options, &trial->range);
}

static bool done_create(const struct trial *trial, const struct before *before)
{
    (void)before;
    return info_of(trial).reserved_bytes == bytes_of(trial, 16);
}

static enum ashlar_status run_create_halving(struct trial *trial)
{
    return ashlar_range_create(trial->source, NULL, &trial->range);
}

static bool done_halving(const struct trial *trial, const struct before *before)
{
    uint64_t reserved = info_of(trial).reserved_bytes;

    (void)before;
    return reserved >= trial->granule && reserved <= 256 * trial->granule;
}

/* --- grow ----------------------------------------------------------------- */

static enum ashlar_status grow(struct trial *trial, uint64_t granules,
                               struct ashlar_range_result *result)
{
    return ashlar_range_grow_to(trial->range, bytes_of(trial, granules) - 7,
                                result);
}

static bool grown(const struct trial *trial, uint64_t granules)
{
    return info_of(trial).used_bytes == bytes_of(trial, granules) - 7;
}

static enum ashlar_status run_grow_none(struct trial *trial)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    enum ashlar_status status = grow(trial, 12, &result);

    ck_assert_int_eq(status, ASHLAR_OK);
    ck_assert_uint_eq(result.path, ASHLAR_RANGE_PATH_NONE);
    ck_assert_uint_eq(result.source_calls, 0);
    return status;
}

static bool done_12(const struct trial *trial, const struct before *before)
{
    return grown(trial, 12) && info_of(trial).base == before->info.base;
}

static enum ashlar_status run_grow_12(struct trial *trial)
{
    return grow(trial, 12, NULL);
}

static enum ashlar_status run_grow_9(struct trial *trial)
{
    return grow(trial, 9, NULL);
}

static bool done_9(const struct trial *trial, const struct before *before)
{
    return grown(trial, 9) && info_of(trial).base == before->info.base;
}

/* Where it went depends on what failed. */
static bool done_9_anywhere(const struct trial *trial,
                            const struct before *before)
{
    return grown(trial, 9) && (info_of(trial).base == before->info.base) ==
                                  (info_of(trial).old_bytes == 0);
}

static enum ashlar_status run_grow_40(struct trial *trial)
{
    return grow(trial, 40, NULL);
}

static bool done_40(const struct trial *trial, const struct before *before)
{
    (void)before;
    return grown(trial, 40);
}

/* --- prepare -------------------------------------------------------------- */

static enum ashlar_status run_prepare_created(struct trial *trial)
{
    return ashlar_range_prepare(trial->range, bytes_of(trial, 12),
                                ASHLAR_RANGE_CREATED);
}

static bool done_created(const struct trial *trial, const struct before *before)
{
    return info_of(trial).used_bytes == before->info.used_bytes &&
           info_of(trial).prepared_bytes == bytes_of(trial, 7);
}

static enum ashlar_status run_prepare_mapped(struct trial *trial)
{
    return ashlar_range_prepare(trial->range, bytes_of(trial, 12),
                                ASHLAR_RANGE_MAPPED);
}

static bool done_mapped(const struct trial *trial, const struct before *before)
{
    return info_of(trial).used_bytes == before->info.used_bytes &&
           info_of(trial).committed_bytes == bytes_of(trial, 12);
}

/* --- release -------------------------------------------------------------- */

static const struct ashlar_fence fences[] = {
    {ASHLAR_FENCE_STREAM, 0, NULL, STREAM_IDLE},
    {ASHLAR_FENCE_QUIET, 0, NULL, 0},
    {ASHLAR_FENCE_EVENT, 0, NULL, STREAM_IDLE},
};

static enum ashlar_status run_shrink(struct trial *trial)
{
    return ashlar_range_shrink_to(trial->range, bytes_of(trial, 1) + 1, QUIET,
                                  NULL);
}

static enum ashlar_status run_shrink_fenced(struct trial *trial)
{
    return ashlar_range_shrink_to(trial->range, bytes_of(trial, 1) + 1, fences,
                                  3, NULL);
}

static bool done_shrink(const struct trial *trial, const struct before *before)
{
    (void)before;
    return info_of(trial).used_bytes == bytes_of(trial, 1) + 1 &&
           info_of(trial).committed_bytes == bytes_of(trial, 2);
}

/* Behind work that is finished only after everything was judged. */
static enum ashlar_status run_shrink_busy(struct trial *trial)
{
    static const struct ashlar_fence busy[] = {
        {ASHLAR_FENCE_STREAM, 0, NULL, STREAM_BUSY},
        {ASHLAR_FENCE_STREAM, 0, NULL, STREAM_IDLE},
    };
    struct ashlar_source *inner = &wrap_of(trial->source)->inner;
    struct engine_bytes before = engine_bytes(inner);
    struct engine_bytes after;
    enum ashlar_status status;

    status =
        ashlar_range_shrink_to(trial->range, bytes_of(trial, 2), busy, 2, NULL);
    after = engine_bytes(inner);
    ck_assert_uint_eq(after.mapped, before.mapped);
    ck_assert_uint_eq(after.chunks, before.chunks);
    if (status == ASHLAR_OK)
        OK(engine_finish(inner, STREAM_BUSY));
    return status;
}

static void setup_busy(struct trial *trial)
{
    setup_used(trial);
    OK(engine_hold(&wrap_of(trial->source)->inner, STREAM_BUSY));
}

static bool done_shrink_busy(const struct trial *trial,
                             const struct before *before)
{
    (void)before;
    return info_of(trial).used_bytes == bytes_of(trial, 2);
}

static enum ashlar_status run_decommit(struct trial *trial)
{
    return ashlar_range_decommit(trial->range, bytes_of(trial, 1),
                                 bytes_of(trial, 10), fences, 2, NULL);
}

/* [2, 10) is taken away, of which [6, 8) was there. */
static bool done_decommit(const struct trial *trial,
                          const struct before *before)
{
    return info_of(trial).used_bytes == before->info.used_bytes &&
           info_of(trial).committed_bytes == bytes_of(trial, 4);
}

static enum ashlar_status run_commit(struct trial *trial)
{
    return ashlar_range_commit(trial->range, 1, bytes_of(trial, 11), NULL);
}

static bool done_commit(const struct trial *trial, const struct before *before)
{
    (void)before;
    return info_of(trial).committed_bytes == bytes_of(trial, 12);
}

static enum ashlar_status run_retire(struct trial *trial)
{
    return ashlar_range_retire_old(trial->range, fences, 3);
}

static bool done_retire(const struct trial *trial, const struct before *before)
{
    return info_of(trial).old_bytes == 0 &&
           info_of(trial).base == before->info.base;
}

static enum ashlar_status destroy(struct trial *trial,
                                  const struct ashlar_fence *given, size_t n)
{
    enum ashlar_status status = ashlar_range_destroy(trial->range, given, n);

    if (status == ASHLAR_OK)
        trial->range = NULL;
    return status;
}

static enum ashlar_status run_destroy(struct trial *trial)
{
    return destroy(trial, QUIET);
}

static enum ashlar_status run_destroy_fenced(struct trial *trial)
{
    return destroy(trial, fences, 3);
}

static bool done_destroy(const struct trial *trial, const struct before *before)
{
    struct model model = wrap_model(trial->source);
    bool empty = model_is_empty(&model);

    (void)before;
    model_free(&model);
    return empty;
}

/* --- allow ---------------------------------------------------------------- */

static enum ashlar_status run_allow_new(struct trial *trial)
{
    return ashlar_range_allow(trial->range, 5, ASHLAR_RIGHTS_READ);
}

static enum ashlar_status run_allow_known(struct trial *trial)
{
    return ashlar_range_allow(trial->range, 3, ASHLAR_RIGHTS_NONE);
}

/* That all chunks have the rights of the list is checked everywhere. */
static bool has_rights(const struct trial *trial, uint32_t location,
                       uint32_t rights)
{
    const struct wrap *wrap = wrap_of(trial->source);
    uint32_t found = UINT32_MAX;

    OK(engine_rights((struct ashlar_source *)&wrap->inner, info_of(trial).base,
                     location, &found));
    return found == rights;
}

static bool done_allow_new(const struct trial *trial,
                           const struct before *before)
{
    (void)before;
    return has_rights(trial, 5, ASHLAR_RIGHTS_READ);
}

static bool done_allow_known(const struct trial *trial,
                             const struct before *before)
{
    (void)before;
    return has_rights(trial, 3, ASHLAR_RIGHTS_NONE);
}

/* -------------------------------------------------------------------------- */

const struct verb verbs[] = {
    {"create", setup_source, run_create, done_create, 0, false, 4},
    {"create_halving", setup_source, run_create_halving, done_halving, 0, false,
     0},
    {"grow_none", setup_mapped, run_grow_none, done_12, 0, false, 0},
    {"grow_first", setup_empty, run_grow_12, done_12, 0, true, 0},
    {"grow_further", setup_used, run_grow_12, done_12, 0, true, 0},
    {"grow_prepared", setup_created, run_grow_12, done_12, 0, true, 0},
    {"grow_neighbours", setup_neighbours, run_grow_9, done_9, 0, true, 0},
    {"grow_beyond_fixed", setup_fixed, run_grow_9, done_9, ASHLAR_ERR_NO_ROOM,
     true, 0},
    {"grow_beyond_movable", setup_movable, run_grow_9, done_9_anywhere, 0, true,
     3},
    {"grow_again_after_moves", setup_moved, run_grow_40, done_40, 0, true, 5},
    {"prepare_created", setup_used, run_prepare_created, done_created, 0, false,
     0},
    {"prepare_mapped", setup_created, run_prepare_mapped, done_mapped, 0, true,
     0},
    {"shrink", setup_mapped, run_shrink, done_shrink, 0, true, 0},
    {"shrink_fenced", setup_mapped, run_shrink_fenced, done_shrink, 0, true, 0},
    {"shrink_busy", setup_busy, run_shrink_busy, done_shrink_busy, 0, false, 0},
    {"decommit", setup_holes, run_decommit, done_decommit, 0, true, 0},
    {"commit", setup_holes, run_commit, done_commit, 0, true, 0},
    {"retire_old", setup_moved, run_retire, done_retire, 0, true, 0},
    {"allow_new", setup_holes, run_allow_new, done_allow_new, 0, true, 0},
    {"allow_known", setup_holes, run_allow_known, done_allow_known, 0, true, 0},
    {"allow_after_moves", setup_moved, run_allow_new, done_allow_new, 0, true,
     0},
    {"destroy", setup_mapped, run_destroy, done_destroy, 0, true, 0},
    {"destroy_holes", setup_holes, run_destroy, done_destroy, 0, true, 0},
    {"destroy_after_moves", setup_moved, run_destroy_fenced, done_destroy, 0,
     true, 0},
};

const unsigned verb_count = sizeof(verbs) / sizeof(verbs[0]);
