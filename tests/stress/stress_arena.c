/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Random operations on arenas against a model: which blocks there are, in the
 * order of their addresses, how large, and what was written into them.
 *
 *     walk    one thread's operations; its blocks overlap neither each other
 *             (by the model) nor those of other threads (by what is in them)
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include <ashlar.h>

#include "support/engine.h"
#include "support/stress.h"
#include "support/suite.h"

#define BLOCKS 400
#define LARGE  ((size_t)6 << 20)
/* Of addresses; four threads have 3 GiB at the very most. */
#define RESERVE_BYTES (UINT64_C(16) << 30)

struct block {
    unsigned char *at;
    size_t size;
    size_t alignment;
    unsigned char stamp;
};

struct walk {
    struct stress_random random;
    struct ashlar_arena *arena;
    struct ashlar_source *source;
    uint64_t stream;
    bool resets; /* this thread alone uses the arena */
    bool fences;
    size_t count;
    struct block blocks[BLOCKS]; /* by address */
};

static size_t below(struct walk *walk, size_t bound)
{
    return stress_below(&walk->random, bound);
}

/* Mostly small ones, as programs have them. */
static size_t choose_size(struct walk *walk)
{
    size_t most = (size_t)16 << below(walk, 10);

    if (stress_chance(&walk->random, 50))
        most = LARGE;
    return 1 + below(walk, most);
}

/* --- what is in a block --------------------------------------------------- */

/* Its ends, and a byte of each page: a large block is not written in full. */
static void write_block(const struct block *block, size_t from)
{
    size_t i;

    for (i = from; i < block->size; i += i % 4096 < 64 ? 1 : 4096 - i % 4096)
        block->at[i] = block->stamp;
    block->at[block->size - 1] = block->stamp;
}

static bool block_is_whole(const struct block *block)
{
    size_t i;

    for (i = 0; i < block->size; i += i % 4096 < 64 ? 1 : 4096 - i % 4096)
        if (block->at[i] != block->stamp)
            return false;
    return block->at[block->size - 1] == block->stamp;
}

/* --- the model ------------------------------------------------------------ */

/* Where the first block behind an address stands. */
static size_t place_of(const struct walk *walk, const unsigned char *at)
{
    size_t low = 0;
    size_t high = walk->count;
    size_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (walk->blocks[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct walk *walk, const struct block *block)
{
    size_t i = place_of(walk, block->at);
    struct block *place = walk->blocks + i;

    STRESS_EXPECT(i == 0 || place[-1].at + place[-1].size <= block->at,
                  "a block of %zu bytes lies in one before it", block->size);
    STRESS_EXPECT(i == walk->count || block->at + block->size <= place->at,
                  "a block of %zu bytes lies over one behind it", block->size);
    STRESS_EXPECT((uintptr_t)block->at % block->alignment == 0,
                  "a block at %p, not at %zu", (void *)block->at,
                  block->alignment);
    memmove(place + 1, place, (walk->count - i) * sizeof(*place));
    *place = *block;
    walk->count++;
}

static struct block take(struct walk *walk, size_t i)
{
    struct block block = walk->blocks[i];

    STRESS_EXPECT(block_is_whole(&block), "%zu bytes at %p were written over",
                  block.size, (void *)block.at);
    walk->count--;
    memmove(walk->blocks + i, walk->blocks + i + 1,
            (walk->count - i) * sizeof(block));
    return block;
}

/* --- operations ----------------------------------------------------------- */

static void do_alloc(struct walk *walk)
{
    struct block block = {NULL, choose_size(walk), 0, 0};

    block.alignment = (size_t)1 << below(walk, 14);
    block.stamp = (unsigned char)stress_next(&walk->random);
    block.at = ashlar_arena_alloc(walk->arena, block.size, block.alignment);
    if (!STRESS_EXPECT(block.at != NULL, "%zu bytes: %s", block.size,
                       ashlar_last_error_message()))
        return;
    insert(walk, &block);
    write_block(&block, 0);
}

static void do_free(struct walk *walk)
{
    struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, walk->source,
                                 walk->stream};
    struct block block = take(walk, below(walk, walk->count));
    enum ashlar_status status;

    if (walk->fences && stress_chance(&walk->random, 3))
        status = ashlar_arena_free_after(walk->arena, block.at, &fence, 1);
    else if (stress_chance(&walk->random, 2))
        status = ashlar_arena_free_sized(walk->arena, block.at, block.size,
                                         block.alignment);
    else
        status = ashlar_arena_free(walk->arena, block.at);
    STRESS_EXPECT(status == ASHLAR_OK, "free: %s", ashlar_last_error_message());
}

static void do_resize(struct walk *walk)
{
    size_t i = below(walk, walk->count);
    struct block block = take(walk, i);
    size_t size = stress_chance(&walk->random, 2)
                      ? choose_size(walk)
                      : 1 + below(walk, 2 * block.size);
    size_t before = block.size;
    enum ashlar_status status =
        ashlar_arena_resize(walk->arena, block.at, size, block.alignment);

    STRESS_EXPECT(status == ASHLAR_OK || status == ASHLAR_ERR_NO_ROOM,
                  "resize: %s", ashlar_last_error_message());
    if (status == ASHLAR_OK)
        block.size = size;
    STRESS_EXPECT(ashlar_arena_usable(walk->arena, block.at) >= block.size,
                  "fewer bytes than %zu are usable", block.size);
    insert(walk, &block);
    write_block(&block, block.size > before ? before - before % 4096 : 0);
}

static void do_stream(struct walk *walk)
{
    enum ashlar_status status = stress_chance(&walk->random, 2)
                                    ? engine_hold(walk->source, walk->stream)
                                    : engine_finish(walk->source, walk->stream);

    STRESS_EXPECT(status == ASHLAR_OK, "%s", ashlar_last_error_message());
}

static void do_seldom(struct walk *walk)
{
    enum ashlar_status status = ASHLAR_OK;

    if (walk->fences)
        do_stream(walk);
    if (walk->resets && stress_chance(&walk->random, 20)) {
        (void)engine_finish(walk->source, walk->stream);
        while (walk->count != 0)
            (void)take(walk, walk->count - 1);
        status = ashlar_arena_reset(walk->arena);
    } else if (stress_chance(&walk->random, 3)) {
        status = ashlar_arena_trim(walk->arena, NULL);
    }
    STRESS_EXPECT(status == ASHLAR_OK, "%s", ashlar_last_error_message());
}

static void step(struct walk *walk)
{
    size_t choice = below(walk, 100);

    if (choice == 0)
        do_seldom(walk);
    else if (walk->count == BLOCKS || (walk->count != 0 && choice < 48))
        do_free(walk);
    else if (walk->count != 0 && choice < 58)
        do_resize(walk);
    else
        do_alloc(walk);
}

static void run(struct walk *walk, size_t steps)
{
    while (steps-- != 0 && !stress_failed())
        step(walk);
    (void)engine_finish(walk->source, walk->stream);
    while (walk->count != 0)
        do_free(walk);
    (void)engine_finish(walk->source, walk->stream);
}

/* --- threads -------------------------------------------------------------- */

struct team {
    struct ashlar_source *source;
    struct ashlar_arena *arena;
    uint32_t kind;
    unsigned threads;
    size_t steps;
};

static void walk_in_team(unsigned number, void *user)
{
    static struct walk walks[16];
    const struct team *team = user;
    struct walk *walk = &walks[number];

    memset(walk, 0, sizeof(*walk));
    walk->random = stress_stream(number + 100 * team->kind);
    walk->arena = team->arena;
    walk->source = team->source;
    walk->stream = number + 1;
    engine_prepare(walk->stream);
    walk->fences = true;
    walk->resets = team->threads == 1 && team->kind != ASHLAR_ARENA_KIND_SHARED;
    run(walk, team->steps);
}

static void check_empty(struct ashlar_arena *arena)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;

    STRESS_EXPECT(ashlar_arena_query(arena, &stats) == ASHLAR_OK, "query");
    STRESS_EXPECT(stats.live_blocks == 0 && stats.waiting_blocks == 0,
                  "%lu live, %lu waiting at the end",
                  (unsigned long)stats.live_blocks,
                  (unsigned long)stats.waiting_blocks);
    STRESS_EXPECT(ashlar_arena_trim(arena, NULL) == ASHLAR_OK, "trim");
    STRESS_EXPECT(ashlar_arena_query(arena, &stats) == ASHLAR_OK, "query");
    STRESS_EXPECT(stats.committed_bytes == 0, "%lu bytes are left",
                  (unsigned long)stats.committed_bytes);
}

static void play(uint32_t kind, unsigned threads, size_t steps)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct team team = {NULL, NULL, kind, threads, steps / threads};

    STRESS_EXPECT(engine_open(NULL, &team.source) == ASHLAR_OK, "open: %s",
                  ashlar_last_error_message());
    options.source = kind == ASHLAR_ARENA_KIND_RANGE ? team.source : NULL;
    options.reserve_bytes = kind == ASHLAR_ARENA_KIND_RANGE ? RESERVE_BYTES : 0;
    options.flags =
        kind == ASHLAR_ARENA_KIND_ISOLATED ? ASHLAR_ARENA_ISOLATED : 0;
    if (STRESS_EXPECT(ashlar_arena_create(&options, &team.arena) == ASHLAR_OK,
                      "create: %s", ashlar_last_error_message())) {
        stress_threads(threads, walk_in_team, &team);
        if (!stress_failed()) {
            check_empty(team.arena);
            STRESS_EXPECT(ashlar_arena_destroy(team.arena, 0) == ASHLAR_OK,
                          "destroy: %s", ashlar_last_error_message());
            STRESS_EXPECT(ashlar_source_close(team.source) == ASHLAR_OK,
                          "close: %s", ashlar_last_error_message());
        }
    }
    stress_verdict();
}

START_TEST(one_threads_blocks_are_what_the_model_says)
{
    play((uint32_t)_i, 1, stress_count(20000, 1000000));
    while (stress_goes_on())
        play((uint32_t)_i, 1, 100000);
}
END_TEST

START_TEST(four_threads_blocks_are_what_the_models_say)
{
    play((uint32_t)_i, 4, stress_count(40000, 1000000));
    while (stress_goes_on())
        play((uint32_t)_i, 4, 100000);
}
END_TEST

static Suite *stress_arena_suite(void)
{
    Suite *suite = suite_create("stress_arena");
    TCase *test = tcase_create("model");

    tcase_add_loop_test(test, one_threads_blocks_are_what_the_model_says,
                        ASHLAR_ARENA_KIND_SHARED, ASHLAR_ARENA_KIND_RANGE + 1);
    tcase_add_loop_test(test, four_threads_blocks_are_what_the_models_say,
                        ASHLAR_ARENA_KIND_SHARED, ASHLAR_ARENA_KIND_RANGE + 1);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    stress_begin();
    return stress_run(stress_arena_suite());
}
