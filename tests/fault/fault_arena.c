/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The sweep over arenas: a life of one on a range, from making to destroying,
 * with each operation of the source, each call of its driver and each
 * allocation failing in turn.
 *
 * A step that is refused leaves the arena as it was, and works when it is tried
 * again. At the end the source has everything back.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <ashlar.h>

#include "arena/arena.h"
#include "base/memory.h"
#include "range/range.h"
#include "support/engine.h"
#include "support/ranges.h"
#include "support/stress.h"
#include "support/suite.h"

#define BLOCKS 8

enum mode {
    ONCE,     /* one operation fails */
    FOR_EVER, /* it and all that follow */
    STUCK,    /* and all that give something back */
    MEMORY_ONCE,
    MEMORY_FOR_EVER,
    DRIVER_ONCE,
    DRIVER_FOR_EVER,
    MODES
};

struct life {
    struct ashlar_source *source;
    struct ashlar_arena *arena;
    void *blocks[BLOCKS];
    enum mode mode;
    uint64_t at;
    bool failed;
};

static const struct ashlar_fence on_1 = {ASHLAR_FENCE_STREAM, 0, NULL, 1};

/* --- steps: each does one thing, or nothing ------------------------------- */

static enum ashlar_status create(struct life *life, size_t i)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;

    (void)i;
    options.source = life->source;
    options.reserve_bytes = 1024 * life->source->info.granule;
    options.chunk_max_bytes = 4 * life->source->info.granule;
    return ashlar_arena_create(&options, &life->arena);
}

/* Sixteenths of a granule: some share one, others span many. */
static const size_t sixteenths[BLOCKS] = {1, 20, 270, 1200, 130, 2, 480, 16};

static size_t size_of(const struct life *life, size_t i)
{
    return sixteenths[i] * life->source->info.granule / 16;
}

/* Its ends: what lies between would be written for nothing. */
static void touch(char *block, size_t size)
{
    block[0] = 1;
    block[size - 1] = 1;
}

static enum ashlar_status alloc(struct life *life, size_t i)
{
    life->blocks[i] = ashlar_arena_alloc(life->arena, size_of(life, i), 0);
    if (life->blocks[i] == NULL)
        return ashlar_last_error();
    touch(life->blocks[i], size_of(life, i));
    return ASHLAR_OK;
}

static enum ashlar_status free_one(struct life *life, size_t i)
{
    return ashlar_arena_free(life->arena, life->blocks[i]);
}

static enum ashlar_status free_after(struct life *life, size_t i)
{
    return ashlar_arena_free_after(life->arena, life->blocks[i], &on_1, 1);
}

static enum ashlar_status shrink(struct life *life, size_t i)
{
    return ashlar_arena_resize(life->arena, life->blocks[i],
                               size_of(life, i) / 8, 0);
}

static enum ashlar_status grow(struct life *life, size_t i)
{
    enum ashlar_status status =
        ashlar_arena_resize(life->arena, life->blocks[i], size_of(life, i), 0);

    if (status == ASHLAR_OK)
        touch(life->blocks[i], size_of(life, i));
    return status;
}

static enum ashlar_status trim(struct life *life, size_t i)
{
    (void)i;
    return ashlar_arena_trim(life->arena, NULL);
}

static enum ashlar_status reset(struct life *life, size_t i)
{
    (void)i;
    return ashlar_arena_reset(life->arena);
}

static enum ashlar_status destroy(struct life *life, size_t i)
{
    enum ashlar_status status = ashlar_arena_destroy(life->arena, 0);

    (void)i;
    if (status == ASHLAR_OK)
        life->arena = NULL;
    return status;
}

static const struct {
    enum ashlar_status (*run)(struct life *life, size_t i);
    size_t i;
    const char *name;
} steps[] = {
    {create, 0, "create"},     {alloc, 0, "alloc 0"},
    {alloc, 1, "alloc 1"},     {alloc, 2, "alloc 2"},
    {alloc, 3, "alloc 3"},     {shrink, 3, "shrink 3"},
    {trim, 0, "trim"},         {grow, 3, "grow 3"},
    {free_one, 2, "free 2"},   {trim, 0, "trim again"},
    {alloc, 4, "alloc 4"},     {free_after, 4, "free 4 after"},
    {alloc, 5, "alloc 5"},     {alloc, 6, "alloc 6"},
    {free_after, 6, "free 6"}, {reset, 0, "reset"},
    {trim, 0, "trim empty"},   {alloc, 7, "alloc 7"},
    {free_one, 7, "free 7"},   {destroy, 0, "destroy"},
};

/* --- failing -------------------------------------------------------------- */

static bool is_memory(enum mode mode)
{
    return mode == MEMORY_ONCE || mode == MEMORY_FOR_EVER;
}

static bool is_driver(enum mode mode)
{
    return mode == DRIVER_ONCE || mode == DRIVER_FOR_EVER;
}

static void arm(const struct life *life)
{
    struct wrap_fault fault = {.at = life->at};

    fault.for_ever = life->mode == FOR_EVER;
    fault.stuck = life->mode == STUCK;
    engine_prepare(1); /* the stream is there before it counts */
    if (is_memory(life->mode))
        memory_fail_nth(life->at, life->mode == MEMORY_FOR_EVER);
    else if (is_driver(life->mode))
        engine_fail(life->at, 0, life->mode == DRIVER_FOR_EVER);
    else
        wrap_arm(life->source, fault);
}

/* Nothing fails from now on. Whether something did. */
static bool lift(const struct life *life)
{
    uint64_t counted = wrap_of(life->source)->counted;
    unsigned long asked = memory_asked();

    if (is_driver(life->mode))
        return engine_lift() != 0;
    if (is_memory(life->mode)) {
        memory_fail_nth(0, false);
        return asked >= life->at;
    }
    (void)wrap_lift(life->source);
    return counted >= life->at;
}

struct facts {
    uint64_t live;
    uint64_t waiting;
    uint64_t is_live[BLOCKS];
};

/* By the records, since to ask is to collect what waits. */
static struct facts facts_of(const struct life *life)
{
    struct facts facts;
    size_t i;

    memset(&facts, 0, sizeof(facts));
    if (life->arena == NULL)
        return facts;
    facts.live = arena_live(life->arena);
    facts.waiting = waiting_count(&life->arena->waiting);
    for (i = 0; i < BLOCKS; i++)
        if (life->blocks[i] != NULL)
            facts.is_live[i] =
                backing_is_live(&life->arena->backing, life->blocks[i]);
    return facts;
}

static bool is_explained(enum ashlar_status status)
{
    return status == ASHLAR_ERR_DRIVER || status == ASHLAR_ERR_NO_MEMORY ||
           status == ASHLAR_ERR_NO_DEVICE_MEMORY ||
           status == ASHLAR_ERR_NO_ADDRESS_SPACE ||
           status == ASHLAR_ERR_NO_ROOM || status == ASHLAR_ERR_BUSY;
}

static void do_step(struct life *life, size_t k)
{
    struct facts before = facts_of(life);
    enum ashlar_status status = steps[k].run(life, steps[k].i);
    struct facts after;

    if (status == ASHLAR_OK)
        return;
    ck_assert_msg(is_explained(status), "%s, mode %d at %lu: %s: %s",
                  steps[k].name, (int)life->mode, (unsigned long)life->at,
                  ashlar_status_name(status), ashlar_last_error_message());
    after = facts_of(life);
    ck_assert_msg(memcmp(&before, &after, sizeof(before)) == 0 ||
                      after.waiting < before.waiting,
                  "%s, mode %d at %lu changed something", steps[k].name,
                  (int)life->mode, (unsigned long)life->at);
    life->failed = lift(life) || life->failed;
    status = steps[k].run(life, steps[k].i);
    ck_assert_msg(status == ASHLAR_OK, "%s again, mode %d at %lu: %s",
                  steps[k].name, (int)life->mode, (unsigned long)life->at,
                  ashlar_last_error_message());
}

/* One life; whether something failed in it. */
static bool live_through(enum mode mode, uint64_t at)
{
    struct life life = {.mode = mode, .at = at};
    uint64_t budget = source_budget_left();
    size_t k;

    life.source = wrap_open(NULL);
    arm(&life);
    for (k = 0; k < sizeof(steps) / sizeof(steps[0]); k++)
        do_step(&life, k);
    life.failed = lift(&life) || life.failed;
    OK(ashlar_source_drain(life.source, 0));
    wrap_close(life.source);
    ck_assert_uint_eq(source_budget_left(), budget);
    return life.failed;
}

START_TEST(a_refused_step_changes_nothing_and_can_be_tried_again)
{
    uint64_t at = 1;

    if (is_driver((enum mode)_i) && !engine_has_driver())
        return;
    /* What is made once for the process is there before it counts. */
    (void)live_through((enum mode)_i, UINT64_MAX);
    while (live_through((enum mode)_i, at))
        at++;
    ck_assert_uint_gt(at, 20);
}
END_TEST

/* --- on the heap ---------------------------------------------------------- */

START_TEST(a_heap_arena_survives_each_failing_allocation)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;
    uint64_t at = 1;
    void *block;

    options.flags = _i == 0 ? 0 : ASHLAR_ARENA_ISOLATED;
    OK(ashlar_arena_create(&options, &arena));
    OK(ashlar_arena_destroy(arena, 0));
    do {
        memory_fail_nth(at, false);
        arena = NULL;
        if (ashlar_arena_create(&options, &arena) != ASHLAR_OK) {
            ck_assert_int_eq(ashlar_last_error(), ASHLAR_ERR_NO_MEMORY);
            OK(ashlar_arena_create(&options, &arena));
        }
        block = ashlar_arena_alloc(arena, 100, 0);
        ck_assert_ptr_nonnull(block); /* jemalloc's, which does not fail */
        if (ashlar_arena_free_after(arena, block, ASHLAR_QUIET, 1) != ASHLAR_OK)
            OK(ashlar_arena_free(arena, block));
        OK(ashlar_arena_destroy(arena, 0));
    } while (memory_asked() >= at++);
    memory_fail_nth(0, false);
    ck_assert_uint_gt(at, 4);
}
END_TEST

static Suite *fault_arena_suite(void)
{
    Suite *suite = suite_create("fault_arena");
    TCase *test = tcase_create("sweep");

    tcase_add_loop_test(
        test, a_refused_step_changes_nothing_and_can_be_tried_again, 0, MODES);
    tcase_add_loop_test(test, a_heap_arena_survives_each_failing_allocation, 0,
                        2);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(fault_arena_suite());
}
