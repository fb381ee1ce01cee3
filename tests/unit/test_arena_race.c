/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Arenas on ranges, by two threads that are in each other's way. */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include <ashlar.h>

#include "arena/arena.h"
#include "support/ranges.h"
#include "support/stress.h"
#include "support/suite.h"

#define MIB     ((size_t)1 << 20)
#define GRANULE (2 * MIB)

static struct ashlar_source *vm;
static struct ashlar_arena *arena;

/* Granules of 2 MiB, each a chunk of its own. */
static void open_small_chunks(void)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;

    OK(ashlar_source_open("vm", "memory=1G", &vm));
    options.source = vm;
    options.chunk_max_bytes = GRANULE;
    OK(ashlar_arena_create(&options, &arena));
}

static void close_all(void)
{
    OK(ashlar_arena_destroy(arena, 0));
    OK(ashlar_source_close(vm));
}

static void *alloc(size_t size)
{
    void *block = ashlar_arena_alloc(arena, size, 0);

    ck_assert_msg(block != NULL, "%zu bytes: %s", size,
                  ashlar_last_error_message());
    return block;
}

/* --- while others trim ---------------------------------------------------- */

/* A large block cannot become a small one where it is. */
static void shrink_in_vain(unsigned char *block)
{
    size_t i, count = stress_count(20000, 20000);

    for (i = 0; i < count && !stress_failed(); i++) {
        STRESS_EXPECT(ashlar_arena_resize(arena, block, 100, 0) ==
                          ASHLAR_ERR_NO_ROOM,
                      "8 MiB became 100 bytes");
        STRESS_EXPECT(block[8 * MIB - 1] == 0x5a, "the tail was lost");
    }
}

static void shrink_or_trim(unsigned number, void *user)
{
    static unsigned arrived;
    static bool done;

    stress_meet(&arrived, 2);
    if (number == 0) {
        shrink_in_vain(user);
        __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    }
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        (void)ashlar_arena_trim(arena, NULL);
}

START_TEST(a_block_that_cannot_shrink_keeps_its_memory_while_others_trim)
{
    unsigned char *block = alloc(8 * MIB);

    memset(block, 0x5a, 8 * MIB);
    stress_threads(2, shrink_or_trim, block);
    stress_verdict();
    OK(ashlar_arena_free(arena, block));
}
END_TEST

/* It ends in a granule, then behind it: that is its own all the time. */
static void grow_over_a_granule(struct backing *backing, unsigned char *block)
{
    struct stress_random random = stress_stream(7);
    size_t i, wait, count = stress_count(100000, 1000000);

    for (i = 0; i < count && !stress_failed(); i++) {
        backing_pin(backing, block, GRANULE + 1);
        OK(backing_fill(backing, block, GRANULE + 1));
        block[GRANULE] = 0x5a;
        for (wait = stress_below(&random, 3000); wait != 0; wait--)
            __asm__ volatile("" ::: "memory");
        backing_repin(backing, block, GRANULE + 1, 2 * GRANULE + 1);
        OK(backing_fill(backing, block, 2 * GRANULE + 1));
        STRESS_EXPECT(block[GRANULE] == 0x5a, "memory of a live block went");
        backing_unpin(backing, block, 2 * GRANULE + 1);
    }
}

static void grow_or_trim(unsigned number, void *user)
{
    static unsigned arrived;
    static bool done;

    stress_meet(&arrived, 2);
    if (number == 0) {
        grow_over_a_granule(&arena->backing, user);
        __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    }
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        (void)ashlar_arena_trim(arena, NULL);
}

START_TEST(a_block_that_grows_keeps_its_memory_while_others_trim)
{
    unsigned char *block = (unsigned char *)(uintptr_t)arena->backing.base;

    /* Neighbours in the first granule and the last. */
    backing_pin(&arena->backing, block, 1);
    backing_pin(&arena->backing, block + 2 * GRANULE, 1);
    stress_threads(2, grow_or_trim, block);
    stress_verdict();
    backing_unpin(&arena->backing, block, 1);
    backing_unpin(&arena->backing, block + 2 * GRANULE, 1);
}
END_TEST

/* A chunk looks idle, and then a block lies there. */
static void ask_for_bytes(struct backing *backing, const void *block)
{
    size_t i, ask, count = stress_count(300000, 1000000);

    for (i = 0; i < count && !stress_failed(); i++) {
        backing_pin(backing, block, GRANULE);
        OK(backing_fill(backing, block, GRANULE));
        for (ask = 0; ask < 100; ask++)
            STRESS_EXPECT(backing_reach(backing, block, GRANULE) == GRANULE,
                          "a live block has fewer bytes than were asked for");
        backing_unpin(backing, block, GRANULE);
    }
}

static void ask_or_trim(unsigned number, void *user)
{
    static unsigned arrived;
    static bool done;

    stress_meet(&arrived, 2);
    if (number == 0) {
        ask_for_bytes(&arena->backing, user);
        __atomic_store_n(&done, true, __ATOMIC_RELAXED);
    }
    while (!__atomic_load_n(&done, __ATOMIC_RELAXED))
        (void)ashlar_arena_trim(arena, NULL);
}

START_TEST(a_block_has_its_bytes_while_others_trim)
{
    stress_threads(2, ask_or_trim, (void *)(uintptr_t)arena->backing.base);
    stress_verdict();
}
END_TEST

/* --- at once -------------------------------------------------------------- */

struct race {
    void *block;
    enum ashlar_status said[2];
};

static void free_at_once(unsigned number, void *user)
{
    struct race *race = user;
    static unsigned arrived;
    size_t i, count = stress_count(50000, 500000);

    for (i = 0; i < count && !stress_failed(); i++) {
        if (number == 0)
            race->block = alloc(100);
        stress_meet(&arrived, 2);
        race->said[number] = ashlar_arena_free(arena, race->block);
        stress_meet(&arrived, 2);
        if (number == 0)
            STRESS_EXPECT((race->said[0] == ASHLAR_OK &&
                           race->said[1] == ASHLAR_ERR_NOT_LIVE) ||
                              (race->said[1] == ASHLAR_OK &&
                               race->said[0] == ASHLAR_ERR_NOT_LIVE),
                          "two frees of one block: %d and %d",
                          (int)race->said[0], (int)race->said[1]);
        stress_meet(&arrived, 2);
    }
}

START_TEST(of_two_frees_at_once_one_is_refused)
{
    struct race race;

    stress_threads(2, free_at_once, &race);
    stress_verdict();
    ck_assert_uint_eq(arena_live(arena), 0);
}
END_TEST

static void ask_for_too_much(unsigned number, void *user)
{
    static unsigned arrived;
    size_t i, count = stress_count(50000, 100000);

    (void)number;
    (void)user;
    stress_meet(&arrived, 2);
    for (i = 0; i < count && !stress_failed(); i++)
        STRESS_EXPECT(ashlar_arena_alloc(arena, 4096 * MIB, 0) == NULL &&
                          ashlar_last_error() == ASHLAR_ERR_NO_ADDRESS_SPACE,
                      "%s", ashlar_last_error_message());
}

START_TEST(every_thread_is_told_that_addresses_ran_out)
{
    stress_threads(2, ask_for_too_much, NULL);
    stress_verdict();
}
END_TEST

struct contest {
    struct ashlar_range *range;
    struct ashlar_arena *made[2];
    enum ashlar_status said[2];
};

/* One of the two gets it. */
static void judge_contest(struct contest *contest)
{
    unsigned winner = contest->made[0] == NULL;

    STRESS_EXPECT(contest->made[winner] != NULL &&
                      contest->made[1 - winner] == NULL,
                  "%s arena stands on the range",
                  contest->made[winner] == NULL ? "no" : "more than one");
    STRESS_EXPECT(contest->said[1 - winner] == ASHLAR_ERR_BUSY,
                  "the other was told %d", (int)contest->said[1 - winner]);
    if (!stress_failed())
        STRESS_EXPECT(ashlar_arena_destroy(contest->made[winner], 0) ==
                          ASHLAR_OK,
                      "it cannot be destroyed");
}

static void contend(unsigned number, void *user)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct contest *contest = user;
    static unsigned arrived;
    size_t i, count = stress_count(400, 4000);

    options.range = contest->range;
    for (i = 0; i < count && !stress_failed(); i++) {
        contest->made[number] = NULL;
        stress_meet(&arrived, 2);
        contest->said[number] =
            ashlar_arena_create(&options, &contest->made[number]);
        stress_meet(&arrived, 2);
        if (number == 0)
            judge_contest(contest);
        stress_meet(&arrived, 2);
    }
}

START_TEST(of_two_threads_one_makes_an_arena_on_a_range)
{
    struct ashlar_range_options range_options = ASHLAR_RANGE_OPTIONS_INIT;
    struct contest contest = {0};

    range_options.reserve_bytes = 64 * MIB;
    OK(ashlar_range_create(vm, &range_options, &contest.range));
    stress_threads(2, contend, &contest);
    stress_verdict();
    OK(ashlar_range_destroy(contest.range, ASHLAR_QUIET, 1));
}
END_TEST

static Suite *arena_race_suite(void)
{
    Suite *suite = suite_create("arena_race");
    TCase *test = tcase_create("trim");

    tcase_add_checked_fixture(test, open_small_chunks, close_all);
    tcase_add_test(
        test, a_block_that_cannot_shrink_keeps_its_memory_while_others_trim);
    tcase_add_test(test, a_block_that_grows_keeps_its_memory_while_others_trim);
    tcase_add_test(test, a_block_has_its_bytes_while_others_trim);
    suite_add_tcase(suite, test);
    test = tcase_create("at once");
    tcase_add_checked_fixture(test, open_small_chunks, close_all);
    tcase_add_test(test, of_two_frees_at_once_one_is_refused);
    tcase_add_test(test, every_thread_is_told_that_addresses_ran_out);
    tcase_add_test(test, of_two_threads_one_makes_an_arena_on_a_range);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(arena_race_suite());
}
