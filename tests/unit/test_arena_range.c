/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The memory under arenas on ranges: where it is, when it goes, who waits. */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include <ashlar.h>

#include "arena/arena.h"
#include "base/memory.h"
#include "support/ranges.h"
#include "support/stress.h"
#include "support/suite.h"

#define MIB ((size_t)1 << 20)

static struct ashlar_source *vm;
static struct ashlar_arena *arena;

static const struct ashlar_fence on_1 = {ASHLAR_FENCE_STREAM, 0, NULL, 1};

static void open_with(const char *options, uint64_t chunk_max_bytes)
{
    struct ashlar_arena_options own = ASHLAR_ARENA_OPTIONS_INIT;

    OK(ashlar_source_open("vm", options, &vm));
    own.source = vm;
    own.chunk_max_bytes = chunk_max_bytes;
    OK(ashlar_arena_create(&own, &arena));
}

/* Granules of 2 MiB, each a chunk of its own. */
static void open_small_chunks(void)
{
    open_with("memory=1G", 2 * MIB);
}

static void close_all(void)
{
    struct ashlar_vm_account account = ASHLAR_VM_ACCOUNT_INIT;

    if (arena != NULL)
        OK(ashlar_arena_destroy(arena, 0));
    arena = NULL;
    OK(ashlar_source_drain(vm, 0));
    OK(ashlar_vm_query(vm, &account));
    ck_assert_uint_eq(account.reservations, 0);
    ck_assert_uint_eq(account.chunks, 0);
    ck_assert_uint_eq(account.fences, 0);
    OK(ashlar_source_close(vm));
}

static struct ashlar_arena_stats stats(void)
{
    struct ashlar_arena_stats own = ASHLAR_ARENA_STATS_INIT;

    OK(ashlar_arena_query(arena, &own));
    return own;
}

static uint64_t committed(void)
{
    return stats().committed_bytes;
}

static void *alloc(size_t size)
{
    void *block = ashlar_arena_alloc(arena, size, 0);

    ck_assert_msg(block != NULL, "%zu bytes: %s", size,
                  ashlar_last_error_message());
    return block;
}

static uint64_t trim(void)
{
    uint64_t released = 0;

    OK(ashlar_arena_trim(arena, &released));
    return released;
}

/* --- where memory is ------------------------------------------------------ */

START_TEST(nothing_is_committed_before_the_first_block)
{
    ck_assert_uint_eq(committed(), 0);
    ck_assert_uint_eq(stats().reserved_bytes, 2048 * MIB);
}
END_TEST

START_TEST(memory_lies_under_what_was_asked_for_and_no_more)
{
    /* jemalloc rounds it up to 160 MiB, and has addresses for that. */
    char *block = alloc(129 * MIB);
    uint64_t bytes = committed();

    ck_assert_uint_ge(bytes, 129 * MIB);
    ck_assert_uint_le(bytes, 132 * MIB);
    ck_assert_uint_ge(ashlar_arena_usable(arena, block), 129 * MIB);
    ck_assert_uint_le(ashlar_arena_usable(arena, block), 132 * MIB);
    memset(block, 1, ashlar_arena_usable(arena, block));
    OK(ashlar_arena_free(arena, block));
}
END_TEST

START_TEST(small_blocks_share_a_granule_which_stays_for_the_last)
{
    void *a = alloc(1000);
    void *b = alloc(1000);

    ck_assert_uint_eq(committed(), 2 * MIB);
    OK(ashlar_arena_free(arena, a));
    ck_assert_uint_eq(trim(), 0);
    memset(b, 1, 1000);
    OK(ashlar_arena_free(arena, b));
    ck_assert_uint_eq(committed(), 2 * MIB);
    ck_assert_uint_eq(trim(), 2 * MIB);
    ck_assert_uint_eq(committed(), 0);
}
END_TEST

START_TEST(a_trim_takes_every_idle_chunk_and_no_other)
{
    uint64_t released;
    uint64_t before;
    char *blocks[32];
    size_t i;

    for (i = 0; i < 32; i++)
        blocks[i] = alloc(4 * MIB);
    before = committed();
    ck_assert_uint_ge(before, 128 * MIB);
    for (i = 0; i < 32; i += 2)
        OK(ashlar_arena_free(arena, blocks[i]));
    /* All but the granules that a block shares with its neighbour. */
    released = trim();
    ck_assert_uint_ge(released, 32 * MIB);
    ck_assert_uint_eq(committed(), before - released);
    for (i = 1; i < 32; i += 2) {
        memset(blocks[i], 1, 4 * MIB);
        OK(ashlar_arena_free(arena, blocks[i]));
    }
    ck_assert_uint_eq(trim(), before - released);
    ck_assert_uint_eq(stats().live_blocks, 0);
}
END_TEST

START_TEST(what_is_idle_goes_before_there_is_more_than_ever)
{
    char *small = alloc(30 * MIB);
    char *large;
    uint64_t peak = committed();

    OK(ashlar_arena_free(arena, small));
    /* It does not fit where the small one was, and could not be beside it. */
    large = alloc(40 * MIB);
    ck_assert_uint_le(peak, 40 * MIB);
    ck_assert_uint_ge(stats().peak_committed_bytes, 40 * MIB);
    /* The slack, and the page that some builds of jemalloc put between. */
    ck_assert_uint_le(stats().peak_committed_bytes, 44 * MIB);
    ck_assert_uint_gt(stats().releases, 0);
    /* The slack stayed, until it is asked for. */
    ck_assert_uint_ge(trim(), 2 * MIB);
    OK(ashlar_arena_free(arena, large));
}
END_TEST

START_TEST(what_is_idle_goes_when_the_source_has_no_more)
{
    char *blocks[3];

    blocks[0] = alloc(400 * MIB);
    blocks[1] = alloc(400 * MIB);
    OK(ashlar_arena_free(arena, blocks[0]));
    blocks[2] = alloc(600 * MIB);
    memset(blocks[2], 1, 600 * MIB);
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 100 * MIB, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_NO_DEVICE_MEMORY, "option memory"));
    ck_assert_uint_eq(stats().live_blocks, 2);
    OK(ashlar_arena_free(arena, blocks[1]));
    OK(ashlar_arena_free(arena, blocks[2]));
}
END_TEST

/* Not more than there was once, so that nothing goes before it is asked for. */
START_TEST(what_is_idle_goes_when_others_have_the_memory)
{
    struct ashlar_range *others;
    char *blocks[4];
    size_t i;

    OK(ashlar_arena_free(arena, alloc(500 * MIB)));
    ck_assert_uint_ge(trim(), 500 * MIB);
    for (i = 0; i < 4; i++)
        blocks[i] = alloc(60 * MIB);
    OK(ashlar_arena_free(arena, blocks[0]));
    OK(ashlar_arena_free(arena, blocks[2]));
    OK(ashlar_range_create(vm, NULL, &others));
    OK(ashlar_range_grow_to(others, 1024 * MIB - committed(), NULL));
    /* It fits into neither hole. */
    blocks[0] = alloc(100 * MIB);
    memset(blocks[0], 1, 100 * MIB);
    for (i = 0; i < 4; i++)
        if (i != 2)
            OK(ashlar_arena_free(arena, blocks[i]));
    OK(ashlar_range_destroy(others, ASHLAR_QUIET, 1));
}
END_TEST

START_TEST(a_block_that_cannot_grow_takes_nothing)
{
    struct ashlar_arena_figures before = ASHLAR_ARENA_FIGURES_INIT;
    struct ashlar_arena_figures after = ASHLAR_ARENA_FIGURES_INIT;
    struct ashlar_range *others;
    char *block = alloc(400 * MIB);

    OK(ashlar_arena_resize(arena, block, 100 * MIB, 0));
    (void)trim();
    OK(ashlar_range_create(vm, NULL, &others));
    OK(ashlar_range_grow_to(others, 1024 * MIB - committed(), NULL));
    OK(ashlar_arena_fragmentation(arena, &before));
    REFUSED(ASHLAR_ERR_NO_DEVICE_MEMORY, "option memory",
            ashlar_arena_resize(arena, block, 300 * MIB, 0));
    OK(ashlar_arena_fragmentation(arena, &after));
    ck_assert_uint_eq(after.allocated_bytes, before.allocated_bytes);
    ck_assert_uint_eq(after.committed_bytes, before.committed_bytes);
    OK(ashlar_range_destroy(others, ASHLAR_QUIET, 1));
    OK(ashlar_arena_resize(arena, block, 300 * MIB, 0));
    OK(ashlar_arena_free(arena, block));
}
END_TEST

/* An arena with the chunks that it has unless told otherwise. */
static void use_large_chunks(void)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;

    OK(ashlar_arena_destroy(arena, 0));
    options.source = vm;
    OK(ashlar_arena_create(&options, &arena));
}

/* One block of each size after the other, over and over: calls of the source. */
static uint64_t calls_of_loop(const size_t *sizes, size_t n, size_t rounds)
{
    struct ashlar_source_calls before = ASHLAR_SOURCE_CALLS_INIT;
    struct ashlar_source_calls after = ASHLAR_SOURCE_CALLS_INIT;
    size_t i;

    OK(ashlar_source_query_calls(vm, &before));
    for (i = 0; i < rounds * n; i++)
        OK(ashlar_arena_free(arena, alloc(sizes[i % n])));
    OK(ashlar_source_query_calls(vm, &after));
    return after.create.count - before.create.count + after.unmap.count -
           before.unmap.count;
}

START_TEST(a_steady_loop_makes_no_call_into_the_source)
{
    size_t sizes[10];
    size_t i;

    use_large_chunks();
    for (i = 0; i < 10; i++)
        sizes[i] = i * MIB + 1;
    ck_assert_uint_ne(calls_of_loop(sizes, 10, 1), 0);
    ck_assert_uint_eq(calls_of_loop(sizes, 10, 1000), 0);
}
END_TEST

START_TEST(a_block_of_many_chunks_is_had_again_without_a_call)
{
    /* With room for what some builds of jemalloc put before it. */
    static const size_t size = 1000 * MIB - 4096;

    use_large_chunks();
    ck_assert_uint_ge(calls_of_loop(&size, 1, 1), 16);
    ck_assert_uint_eq(calls_of_loop(&size, 1, 1000), 0);
}
END_TEST

/* Of sizes that lie in other holes each, which are more than the slack. */
static void loop_until_rest(const size_t sizes[3], size_t slack)
{
    size_t edges = 4 * MIB;

    (void)calls_of_loop(sizes, 3, 3);
    ck_assert_uint_le(stats().peak_committed_bytes, sizes[2] + slack + edges);
    (void)calls_of_loop(sizes, 3, 4000);
    ck_assert_uint_eq(calls_of_loop(sizes, 3, 1000), 0);
    ck_assert_uint_le(stats().peak_committed_bytes,
                      sizes[1] + sizes[2] + slack + edges);
}

START_TEST(a_loop_over_large_sizes_comes_to_make_no_call)
{
    static const size_t sizes[] = {512, 80 * MIB, 160 * MIB};

    use_large_chunks();
    loop_until_rest(sizes, 64 * MIB);
}
END_TEST

START_TEST(a_loop_over_sizes_of_many_chunks_comes_to_make_no_call)
{
    static const size_t sizes[] = {512, 7 * MIB / 2, 64 * MIB};

    loop_until_rest(sizes, 2 * MIB);
}
END_TEST

static struct ashlar_arena *make_small(void)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *small = NULL;

    options.source = vm;
    options.reserve_bytes = 64 * MIB;
    OK(ashlar_arena_create(&options, &small));
    return small;
}

START_TEST(addresses_run_out_with_a_status_of_their_own)
{
    struct ashlar_arena *small = make_small();
    void *block;

    ck_assert_ptr_null(ashlar_arena_alloc(small, 65 * MIB, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_NO_ADDRESS_SPACE, "reserve_bytes"));
    block = ashlar_arena_alloc(small, 48 * MIB, 0);
    ck_assert_ptr_nonnull(block);
    ck_assert_ptr_null(ashlar_arena_alloc(small, 48 * MIB, 0));
    OK(ashlar_arena_free(small, block));
    /* What came back in one piece is cut up. */
    block = ashlar_arena_alloc(small, 1, 0);
    ck_assert_ptr_nonnull(block);
    OK(ashlar_arena_free(small, block));
    OK(ashlar_arena_destroy(small, 0));
}
END_TEST

/* For the last block jemalloc asks for more than it needs first, in vain. */
START_TEST(want_of_host_memory_is_told_from_want_of_addresses)
{
    struct ashlar_arena *small = make_small();

    while (extents_refused(&small->extents) == 0)
        ck_assert_ptr_nonnull(ashlar_arena_alloc(small, MIB / 4, 0));
    memory_fail_nth(1, false);
    ck_assert_ptr_null(ashlar_arena_alloc(small, 100, 0));
    memory_fail_nth(0, false);
    ck_assert(ranges_error_is(ASHLAR_ERR_NO_MEMORY, "the host has no memory"));
    OK(ashlar_arena_destroy(small, ASHLAR_ARENA_FORCE));
}
END_TEST

/* Every other part is what jemalloc calls dirty, the rest what it retained. */
START_TEST(addresses_that_are_kept_apart_are_joined_before_they_run_out)
{
    struct ashlar_arena *small = make_small();
    void *parts[11];
    void *all;
    size_t i;

    all = ashlar_arena_alloc(small, 48 * MIB, 0);
    OK(ashlar_arena_free(small, all));
    OK(ashlar_arena_trim(small, NULL));
    for (i = 0; i < 11; i++)
        parts[i] = ashlar_arena_alloc(small, 4 * MIB, 0);
    for (i = 0; i < 11; i += 2)
        OK(ashlar_arena_free(small, parts[i]));
    OK(ashlar_arena_trim(small, NULL));
    for (i = 1; i < 11; i += 2)
        OK(ashlar_arena_free(small, parts[i]));
    all = ashlar_arena_alloc(small, 48 * MIB, 0);
    ck_assert_msg(all != NULL, "%s", ashlar_last_error_message());
    OK(ashlar_arena_free(small, all));
    OK(ashlar_arena_destroy(small, 0));
}
END_TEST

START_TEST(pins_and_bits_are_all_gone_with_the_blocks)
{
    struct stress_random random = stress_stream(1);
    void *blocks[64] = {NULL};
    uint64_t granules;
    size_t i;

    for (i = 0; i < 5000; i++) {
        void **at = &blocks[stress_below(&random, 64)];

        if (*at != NULL && stress_chance(&random, 2)) {
            /* To whatever there is room for. */
            (void)ashlar_arena_resize(arena, *at,
                                      1 + stress_below(&random, 12 * MIB), 0);
            continue;
        }
        if (*at != NULL)
            OK(ashlar_arena_free(arena, *at));
        *at = stress_chance(&random, 4)
                  ? NULL
                  : alloc(1 + stress_below(&random, 8 * MIB));
    }
    for (i = 0; i < 64; i++)
        if (blocks[i] != NULL)
            OK(ashlar_arena_free(arena, blocks[i]));
    granules = arena->backing.bytes >> arena->backing.granule_shift;
    for (i = 0; i < granules; i++)
        ck_assert_uint_eq(arena->backing.pins[i], 0);
    for (i = 0; i < granules / 64; i++)
        ck_assert_uint_eq(arena->backing.whole[i], 0);
    for (i = 0; i < arena->backing.bytes / ARENA_QUANTUM / 64; i++)
        ck_assert_uint_eq(arena->backing.starts[i], 0);
    i = committed();
    ck_assert_uint_eq(trim(), i);
}
END_TEST

/* --- nobody touches it ---------------------------------------------------- */

/* Every verb, on memory that any access to would end the process. */
START_TEST(nothing_reads_or_writes_the_memory)
{
    static const struct ashlar_access none = {0, ASHLAR_RIGHTS_NONE};
    struct ashlar_range_options range_options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct stress_random random = stress_stream(2);
    void *blocks[100] = {NULL};
    struct ashlar_range *range;
    uint32_t rights;
    size_t i;

    OK(ashlar_arena_destroy(arena, 0));
    range_options.reserve_bytes = 8192 * MIB;
    range_options.access = &none;
    range_options.access_count = 1;
    OK(ashlar_range_create(vm, &range_options, &range));
    options.range = range;
    OK(ashlar_arena_create(&options, &arena));
    for (i = 0; i < 20000; i++) {
        void **at = &blocks[stress_below(&random, 100)];
        size_t size = (size_t)1 << stress_below(&random, 23);

        if (*at != NULL && stress_chance(&random, 4))
            (void)ashlar_arena_resize(arena, *at, size, 0);
        else if (*at != NULL) {
            OK(ashlar_arena_free(arena, *at));
            *at = NULL;
        } else
            *at = ashlar_arena_alloc(arena, size, (size_t)1 << (i % 13));
        if (i % 5000 == 4999) {
            OK(ashlar_arena_reset(arena));
            memset(blocks, 0, sizeof(blocks));
            (void)trim();
        }
    }
    blocks[0] = alloc(1000);
    OK(ashlar_vm_rights(vm, (uint64_t)(uintptr_t)blocks[0], 0, &rights));
    ck_assert_uint_eq(rights, ASHLAR_RIGHTS_NONE);
    ck_assert_ptr_null(ashlar_arena_calloc(arena, 1000, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_UNSUPPORTED, "cannot write"));
    OK(ashlar_arena_destroy(arena, ASHLAR_ARENA_FORCE));
    arena = NULL;
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
}
END_TEST

/* --- a range of the caller's ---------------------------------------------- */

START_TEST(a_range_given_is_held_and_comes_back_empty)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_range_options range_options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;
    struct ashlar_arena *other = NULL;
    struct ashlar_range *range;

    OK(ashlar_arena_destroy(arena, 0));
    arena = NULL;
    range_options.reserve_bytes = 256 * MIB;
    OK(ashlar_range_create(vm, &range_options, &range));
    options.range = range;
    OK(ashlar_arena_create(&options, &arena));
    ck_assert_ptr_eq(ashlar_arena_range(arena), range);
    REFUSED(ASHLAR_ERR_BUSY, "stand on the range",
            ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    REFUSED(ASHLAR_ERR_BUSY, "stand on the range",
            ashlar_arena_create(&options, &other));
    OK(ashlar_arena_free(arena, alloc(3 * MIB)));
    OK(ashlar_arena_destroy(arena, 0));
    arena = NULL;
    OK(ashlar_range_query(range, &info));
    ck_assert_uint_eq(info.used_bytes, 0);
    ck_assert_uint_eq(info.committed_bytes, 0);
    /* It may serve again, unless something else uses it. */
    OK(ashlar_arena_create(&options, &arena));
    OK(ashlar_arena_destroy(arena, 0));
    arena = NULL;
    OK(ashlar_range_grow_to(range, 1, NULL));
    REFUSED(ASHLAR_ERR_INVALID, "1 bytes of the range",
            ashlar_arena_create(&options, &arena));
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
}
END_TEST

START_TEST(a_range_that_moves_or_of_another_source_is_refused)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_range_options range_options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_arena *other = NULL;
    struct ashlar_source *second;
    struct ashlar_range *range;

    OK(ashlar_source_open("vm", NULL, &second));
    range_options.flags = ASHLAR_RANGE_MAY_MOVE;
    range_options.reserve_bytes = 256 * MIB;
    OK(ashlar_range_create(vm, &range_options, &range));
    options.range = range;
    REFUSED(ASHLAR_ERR_INVALID, "may move",
            ashlar_arena_create(&options, &other));
    options.source = second;
    REFUSED(ASHLAR_ERR_INVALID, "another source",
            ashlar_arena_create(&options, &other));
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(second));
}
END_TEST

/* --- fences --------------------------------------------------------------- */

START_TEST(a_block_freed_with_fences_is_nobodys_until_they_pass)
{
    char *block = alloc(4 * MIB);
    uint64_t before;
    void *other;

    OK(ashlar_vm_hold(vm, 1));
    OK(ashlar_arena_free_after(arena, block, &on_1, 1));
    ck_assert_uint_eq(stats().live_blocks, 0);
    ck_assert_uint_eq(stats().waiting_blocks, 1);
    REFUSED(ASHLAR_ERR_NOT_LIVE, "freed before",
            ashlar_arena_free(arena, block));
    REFUSED(ASHLAR_ERR_NOT_LIVE, "freed before",
            ashlar_arena_free_after(arena, block, &on_1, 1));
    other = alloc(4 * MIB);
    ck_assert_ptr_ne(other, block);
    ck_assert_uint_eq(trim(), 0);
    memset(block, 1, 4 * MIB); /* by the work, until it is done */
    REFUSED(ASHLAR_ERR_BUSY, "1 live blocks, and 1 that wait",
            ashlar_arena_destroy(arena, 0));
    REFUSED(ASHLAR_ERR_BUSY,
            "1 live blocks, and 1 that wait for fences; try again once",
            ashlar_arena_destroy(arena, ASHLAR_ARENA_FORCE));
    REFUSED(ASHLAR_ERR_BUSY,
            "1 live blocks, and 1 that wait for fences; try again once",
            ashlar_arena_reset(arena));
    OK(ashlar_vm_finish(vm, 1));
    OK(ashlar_arena_free(arena, other));
    before = committed();
    ck_assert_uint_eq(trim(), before);
    ck_assert_uint_ge(before, 8 * MIB);
    ck_assert_uint_eq(stats().waiting_blocks, 0);
}
END_TEST

START_TEST(an_allocation_finds_what_has_passed)
{
    char *block = alloc(700 * MIB);

    OK(ashlar_vm_hold(vm, 1));
    OK(ashlar_arena_free_after(arena, block, &on_1, 1));
    ck_assert_ptr_null(ashlar_arena_alloc(arena, 700 * MIB, 0));
    ck_assert(ranges_error_is(ASHLAR_ERR_NO_DEVICE_MEMORY,
                              "1 freed blocks wait for their fences"));
    OK(ashlar_vm_finish(vm, 1));
    block = alloc(700 * MIB);
    OK(ashlar_arena_free_after(arena, block, ASHLAR_QUIET, 1));
    block = alloc(700 * MIB);
    OK(ashlar_arena_free(arena, block));
}
END_TEST

/* An allocation glances at the oldest few, but for want of memory at all. */
START_TEST(an_allocation_finds_what_has_passed_behind_what_has_not)
{
    char *block;
    size_t i;

    OK(ashlar_vm_hold(vm, 1));
    for (i = 0; i < 20; i++)
        OK(ashlar_arena_free_after(arena, alloc(100), &on_1, 1));
    OK(ashlar_arena_free_after(arena, alloc(700 * MIB), ASHLAR_QUIET, 1));
    /* It does not fit where the last one was. */
    block = alloc(900 * MIB);
    ck_assert_uint_eq(waiting_count(&arena->waiting), 20);
    OK(ashlar_arena_free(arena, block));
    OK(ashlar_vm_finish(vm, 1));
}
END_TEST

START_TEST(a_bad_fence_leaves_the_block_live)
{
    struct ashlar_fence bad = {99, 0, NULL, 0};
    void *block = alloc(100);

    REFUSED(ASHLAR_ERR_INVALID, "kind is 99",
            ashlar_arena_free_after(arena, block, &bad, 1));
    REFUSED(ASHLAR_ERR_INVALID, "no fences",
            ashlar_arena_free_after(arena, block, NULL, 0));
    ck_assert_uint_eq(stats().live_blocks, 1);
    OK(ashlar_arena_free(arena, block));
}
END_TEST

START_TEST(heap_blocks_wait_for_fences_that_name_their_source)
{
    struct ashlar_fence on_vm = {ASHLAR_FENCE_STREAM, 0, vm, 1};
    struct ashlar_arena *heap = NULL;
    void *block;

    OK(ashlar_arena_create(NULL, &heap));
    block = ashlar_arena_alloc(heap, 100, 0);
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "fence",
            ashlar_arena_free_after(heap, block, &on_1, 1));
    OK(ashlar_vm_hold(vm, 1));
    OK(ashlar_arena_free_after(heap, block, &on_vm, 1));
    REFUSED(ASHLAR_ERR_BUSY, "1 that wait", ashlar_arena_destroy(heap, 0));
    OK(ashlar_vm_finish(vm, 1));
    OK(ashlar_arena_destroy(heap, 0));
}
END_TEST

/* --- two on one source ---------------------------------------------------- */

START_TEST(two_arenas_on_one_source_do_not_disturb_each_other)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *other = NULL;
    char *mine = alloc(10 * MIB);
    char *theirs;

    options.source = vm;
    OK(ashlar_arena_create(&options, &other));
    theirs = ashlar_arena_alloc(other, 10 * MIB, 0);
    ck_assert_ptr_nonnull(theirs);
    memset(mine, 1, 10 * MIB);
    memset(theirs, 2, 10 * MIB);
    REFUSED(ASHLAR_ERR_WRONG_OWNER, "no address of",
            ashlar_arena_free(other, mine));
    OK(ashlar_arena_destroy(other, ASHLAR_ARENA_FORCE));
    ck_assert_int_eq(mine[0], 1);
    ck_assert_int_eq(mine[10 * MIB - 1], 1);
    OK(ashlar_arena_free(arena, mine));
    REFUSED(ASHLAR_ERR_BUSY, "arena(s), range(s) or fence(s) stand on",
            ashlar_source_close(vm));
}
END_TEST

static Suite *arena_range_suite(void)
{
    Suite *suite = suite_create("arena_range");
    TCase *test = tcase_create("memory");

    tcase_add_checked_fixture(test, open_small_chunks, close_all);
    tcase_add_test(test, nothing_is_committed_before_the_first_block);
    tcase_add_test(test, memory_lies_under_what_was_asked_for_and_no_more);
    tcase_add_test(test, small_blocks_share_a_granule_which_stays_for_the_last);
    tcase_add_test(test, a_trim_takes_every_idle_chunk_and_no_other);
    tcase_add_test(test, what_is_idle_goes_before_there_is_more_than_ever);
    tcase_add_test(test, what_is_idle_goes_when_the_source_has_no_more);
    tcase_add_test(test, what_is_idle_goes_when_others_have_the_memory);
    tcase_add_test(test, a_block_that_cannot_grow_takes_nothing);
    tcase_add_test(test, a_steady_loop_makes_no_call_into_the_source);
    tcase_add_test(test, a_block_of_many_chunks_is_had_again_without_a_call);
    tcase_add_test(test, a_loop_over_large_sizes_comes_to_make_no_call);
    tcase_add_test(test,
                   a_loop_over_sizes_of_many_chunks_comes_to_make_no_call);
    tcase_add_test(test, addresses_run_out_with_a_status_of_their_own);
    tcase_add_test(test, want_of_host_memory_is_told_from_want_of_addresses);
    tcase_add_test(
        test, addresses_that_are_kept_apart_are_joined_before_they_run_out);
    tcase_add_test(test, pins_and_bits_are_all_gone_with_the_blocks);
    tcase_add_test(test, nothing_reads_or_writes_the_memory);
    suite_add_tcase(suite, test);
    test = tcase_create("ranges");
    tcase_add_checked_fixture(test, open_small_chunks, close_all);
    tcase_add_test(test, a_range_given_is_held_and_comes_back_empty);
    tcase_add_test(test, a_range_that_moves_or_of_another_source_is_refused);
    tcase_add_test(test, two_arenas_on_one_source_do_not_disturb_each_other);
    suite_add_tcase(suite, test);
    test = tcase_create("fences");
    tcase_add_checked_fixture(test, open_small_chunks, close_all);
    tcase_add_test(test, a_block_freed_with_fences_is_nobodys_until_they_pass);
    tcase_add_test(test, an_allocation_finds_what_has_passed);
    tcase_add_test(test,
                   an_allocation_finds_what_has_passed_behind_what_has_not);
    tcase_add_test(test, a_bad_fence_leaves_the_block_live);
    tcase_add_test(test, heap_blocks_wait_for_fences_that_name_their_source);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(arena_range_suite());
}
