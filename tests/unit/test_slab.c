/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/slab.h"

#include "support/pools.h"
#include "support/stub_source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/align.h"
#include "base/memory.h"
#include "pool/state.h"

#define HUGE_BYTES ((size_t)2 << 20)

static void start_clean(void)
{
    memory_fail_nth(0, false);
    stub_reset();
}

static void expect_nothing_out(void)
{
    memory_fail_nth(0, false);
    ck_assert_uint_eq(stub.count, 0);
    ck_assert_msg(stub.wrong == NULL, "%s", stub.wrong);
}

static struct slab_plan plan_for(size_t bytes, size_t alignment, bool huge)
{
    return (struct slab_plan){
        .source = &stub_source,
        .geometry = geometry_of(align_up(bytes, alignment)),
        .alignment = alignment,
        .checked = true,
        .huge = huge,
    };
}

/* --- making one ----------------------------------------------------------- */

/* The whole slab lies in its block, as it should be aligned. */
static void check_block(const struct slab_plan *plan, const struct slab *slab)
{
    size_t bytes = slab->count * plan->geometry.stride;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    REQUIRE(slab->base == slab->block);
    REQUIRE((uintptr_t)slab->base % plan->alignment == 0);
    REQUIRE(bytes <= slab->block_bytes);
    REQUIRE(slab->block_bytes < page + stub.extra ||
            (uintptr_t)slab->base % page == 0);
    REQUIRE(!plan->huge || (uintptr_t)slab->base % HUGE_BYTES == 0);
}

START_TEST(a_slab_has_what_was_asked_and_no_more_than_the_most)
{
    static const size_t sizes[] = {1, 3, 16, 100, 128, 4096, 5000, 1 << 20};
    static const uint32_t counts[] = {1, 2, 63, 64, 65, 300};
    size_t i, j, alignment;

    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        for (j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
            for (alignment = 1; alignment <= 4096; alignment *= 8) {
                struct slab_plan plan = plan_for(sizes[i], alignment, false);
                uint32_t most = counts[j] + counts[j] / 2;
                struct slab *slab;

                stub.extra = sizes[i] * 37;
                slab = slab_create(&plan, counts[j], most, SLAB_SINGLES);
                REQUIRE(slab != NULL);
                REQUIRE(slab->count >= counts[j] && slab->count <= most);
                check_block(&plan, slab);
                slab_destroy(&plan, slab);
            }
}
END_TEST

START_TEST(every_alignment_reaches_the_source)
{
    size_t alignment;

    for (alignment = 1; alignment <= HUGE_BYTES; alignment *= 2) {
        struct slab_plan plan = plan_for(1, alignment, false);
        struct slab *slab = slab_create(&plan, 3, 100, SLAB_SINGLES);

        REQUIRE(slab != NULL);
        REQUIRE(stub.last_alignment >= alignment);
        check_block(&plan, slab);
        slab_destroy(&plan, slab);
    }
}
END_TEST

START_TEST(a_huge_slab_is_whole_huge_pages_and_asks_for_them)
{
    struct slab_plan plan = plan_for(128, 128, true);
    struct slab *slab = slab_create(&plan, 10, UINT32_MAX, SLAB_SINGLES);

    ck_assert_ptr_nonnull(slab);
    check_block(&plan, slab);
    ck_assert_uint_eq(slab->block_bytes, HUGE_BYTES);
    ck_assert_uint_eq(slab->count, HUGE_BYTES / 128);
    ck_assert_uint_eq(stub.huges, 1);
    slab_destroy(&plan, slab);
}
END_TEST

START_TEST(a_new_singles_slab_is_free_and_not_live)
{
    struct slab_plan plan = plan_for(24, 8, false);
    struct slab *slab = slab_create(&plan, 200, 200, SLAB_SINGLES);
    uint32_t i;

    ck_assert_uint_eq(slab_kind_of(slab), SLAB_SINGLES);
    ck_assert_uint_eq(slab->free_slots, 200);
    for (i = 0; i < slab->count; i++)
        REQUIRE(slab->state[i] == SLOT_FREE);
    ck_assert_ptr_null(slab->tags);
    slab_destroy(&plan, slab);
}
END_TEST

START_TEST(a_new_run_slab_has_nothing_in_the_store)
{
    struct slab_plan plan = plan_for(24, 8, false);
    struct slab *slab = slab_create(&plan, 200, 200, SLAB_RUNS);
    uint32_t i;

    ck_assert_uint_eq(slab_kind_of(slab), SLAB_RUNS);
    ck_assert_uint_eq(slab->free_slots, 0);
    for (i = 0; i < slab->words; i++)
        REQUIRE(slab->free[i] == 0);
    for (i = 0; i < slab->count; i++)
        REQUIRE(slab->tags[i].state == RUN_FREE);
    slab_destroy(&plan, slab);
}
END_TEST

START_TEST(an_unchecked_slab_has_no_states)
{
    struct slab_plan plan = plan_for(24, 8, false);
    struct slab *slab;

    plan.checked = false;
    slab = slab_create(&plan, 200, 200, SLAB_SINGLES);
    ck_assert_ptr_null(slab->state);
    slab_prefault(slab);
    slab_destroy(&plan, slab);
}
END_TEST

START_TEST(without_memory_there_is_no_slab_and_nothing_is_lost)
{
    struct slab_plan plan = plan_for(128, 128, false);
    unsigned long nth;
    struct slab *slab;
    int kind;

    for (kind = SLAB_SINGLES; kind <= SLAB_RUNS; kind++) {
        for (nth = 1;; nth++) {
            memory_fail_nth(nth, false);
            slab = slab_create(&plan, 100, 100, (enum slab_kind)kind);
            if (slab != NULL)
                break;
            ck_assert_uint_eq(stub.count, 0);
        }
        ck_assert_uint_eq(nth, kind == SLAB_RUNS ? 6 : 5);
        slab_destroy(&plan, slab);
    }
}
END_TEST

START_TEST(a_source_that_refuses_makes_no_slab)
{
    struct slab_plan plan = plan_for(128, 128, false);

    stub.bytes_limit = 100 * 128 - 1;
    ck_assert_ptr_null(slab_create(&plan, 100, 100, SLAB_SINGLES));
    plan.geometry = geometry_of((size_t)1 << 40);
    ck_assert_ptr_null(
        slab_create(&plan, UINT32_MAX, UINT32_MAX, SLAB_SINGLES));
}
END_TEST

START_TEST(prefaulting_changes_no_state)
{
    struct slab_plan plan = plan_for(1, 1, false);
    struct slab *slab = slab_create(&plan, 20000, 20000, SLAB_SINGLES);
    uint32_t i;

    for (i = 0; i < slab->count; i += 3)
        state_set(&slab->state[i], SLOT_LIVE);
    slab_prefault(slab);
    for (i = 0; i < slab->count; i++)
        REQUIRE(slab->state[i] == (i % 3 == 0 ? SLOT_LIVE : SLOT_FREE));
    slab_destroy(&plan, slab);
}
END_TEST

/* --- bitmaps -------------------------------------------------------------- */

static bool bit(const uint64_t *words, uint32_t i)
{
    return (words[i / 64] >> i % 64 & 1) != 0;
}

/* Bit i of free for each slot, none behind, and the summary in step. */
static void check_bitmaps(const struct slab *slab, bool is_free)
{
    uint32_t summary_words = (slab->words + 63) / 64;
    uint32_t i;

    REQUIRE(slab->words == (slab->count + 63) / 64);
    for (i = 0; i < slab->words * 64; i++)
        REQUIRE(bit(slab->free, i) == (is_free && i < slab->count));
    for (i = 0; i < summary_words * 64; i++)
        REQUIRE(bit(slab->summary, i) ==
                (i < slab->words && slab->free[i] != 0));
    REQUIRE(slab->free_slots == (is_free ? slab->count : 0));
    for (i = 0; i < slab->low && i < summary_words; i++)
        REQUIRE(slab->summary[i] == 0);
}

START_TEST(all_free_sets_a_bit_per_slot_and_none_behind)
{
    struct slab_plan plan = plan_for(1, 1, false);
    uint32_t count;

    for (count = 1; count <= 20000; count += count < 300 ? 1 : 63) {
        struct slab *slab = slab_create(&plan, count, count, SLAB_SINGLES);

        check_bitmaps(slab, true);
        slab_set_all_free(slab, false);
        check_bitmaps(slab, false);
        slab_set_all_free(slab, true);
        check_bitmaps(slab, true);
        slab_destroy(&plan, slab);
    }
}
END_TEST

/* --- the map -------------------------------------------------------------- */

#define MAP_SLABS  200
#define MAP_STRIDE 96

/* Slabs without memory, each somewhere in a stretch of addresses of its own. */
static struct slab *made_up_slabs(struct dice *dice)
{
    struct slab *slabs = calloc(MAP_SLABS, sizeof(*slabs));
    void *order[MAP_SLABS];
    size_t i;

    ck_assert_ptr_nonnull(slabs);
    for (i = 0; i < MAP_SLABS; i++)
        order[i] = &slabs[i];
    dice_shuffle(dice, order, MAP_SLABS);
    for (i = 0; i < MAP_SLABS; i++) {
        struct slab *slab = order[i];
        size_t room = 0x10000;
        size_t bytes;

        slab->count = 1 + (uint32_t)dice_below(dice, room / MAP_STRIDE);
        bytes = slab->count * (size_t)MAP_STRIDE;
        /* Now and then two slabs touch. */
        room = dice_below(dice, 4) == 0 ? room - bytes
                                        : dice_below(dice, room - bytes + 1);
        slab->base = (char *)((i + 1) * (uintptr_t)0x10000 + room);
    }
    return slabs;
}

static struct slab *naive_find(struct slab *slabs, size_t count,
                               uintptr_t address)
{
    size_t i;

    for (i = 0; i < count; i++) {
        uintptr_t base = (uintptr_t)slabs[i].base;

        if (address >= base &&
            address - base < slabs[i].count * (uintptr_t)MAP_STRIDE)
            return &slabs[i];
    }
    return NULL;
}

static void check_map(const struct slab_map *map, struct slab *slabs,
                      size_t count)
{
    uint64_t index = 0;
    size_t i;
    int step;

    REQUIRE(map->count == count);
    for (i = 0; i < count; i++) {
        uintptr_t base = (uintptr_t)slabs[i].base;
        uintptr_t end = base + slabs[i].count * (uintptr_t)MAP_STRIDE;

        for (step = -1; step <= 1; step++) {
            REQUIRE(slab_map_find(map, base + (uintptr_t)step) ==
                    naive_find(slabs, count, base + (uintptr_t)step));
            REQUIRE(slab_map_find(map, end + (uintptr_t)step) ==
                    naive_find(slabs, count, end + (uintptr_t)step));
        }
        REQUIRE(slabs[i].number == i && slabs[i].first == index);
        REQUIRE(slab_map_at(map, index) == &slabs[i]);
        index += slabs[i].count;
        REQUIRE(slab_map_at(map, index - 1) == &slabs[i]);
    }
    REQUIRE(slab_map_at(map, index) == NULL);
    REQUIRE(slab_map_at(map, UINT64_MAX) == NULL);
    REQUIRE(slab_map_find(map, 0) == NULL);
    REQUIRE(slab_map_find(map, UINTPTR_MAX) == NULL);
}

START_TEST(the_map_finds_what_a_search_of_all_slabs_finds)
{
    struct dice dice = dice_from((uint64_t)_i);
    struct slab *slabs = made_up_slabs(&dice);
    struct slab_map *maps[MAP_SLABS + 1] = {NULL};
    size_t i;

    for (i = 0; i < MAP_SLABS; i++) {
        maps[i + 1] = slab_map_with(maps[i], &slabs[i], MAP_STRIDE);
        ck_assert_ptr_nonnull(maps[i + 1]);
    }
    /* A reader may still hold an older map. */
    for (i = 1; i <= MAP_SLABS; i += 19)
        check_map(maps[i], slabs, i);
    check_map(maps[MAP_SLABS], slabs, MAP_SLABS);
    slab_map_free(maps[MAP_SLABS]);
    free(slabs);
}
END_TEST

START_TEST(no_map_has_no_slabs)
{
    ck_assert_ptr_null(slab_map_find(NULL, 4096));
    ck_assert_ptr_null(slab_map_at(NULL, 0));
    slab_map_free(NULL);
}
END_TEST

START_TEST(without_memory_the_old_map_stays)
{
    struct slab slabs[2] = {{.base = (char *)4096, .count = 1},
                            {.base = (char *)8192, .count = 1}};
    struct slab_map *map = slab_map_with(NULL, &slabs[0], MAP_STRIDE);

    memory_fail_nth(1, false);
    ck_assert_ptr_null(slab_map_with(map, &slabs[1], MAP_STRIDE));
    check_map(map, slabs, 1);
    slab_map_free(map);
}
END_TEST

static Suite *slab_suite(void)
{
    Suite *suite = suite_create("slab");
    TCase *making = tcase_create("making");
    TCase *bitmaps = tcase_create("bitmaps");
    TCase *map = tcase_create("map");

    tcase_add_checked_fixture(making, start_clean, expect_nothing_out);
    tcase_add_test(making, a_slab_has_what_was_asked_and_no_more_than_the_most);
    tcase_add_test(making, every_alignment_reaches_the_source);
    tcase_add_test(making, a_huge_slab_is_whole_huge_pages_and_asks_for_them);
    tcase_add_test(making, a_new_singles_slab_is_free_and_not_live);
    tcase_add_test(making, a_new_run_slab_has_nothing_in_the_store);
    tcase_add_test(making, an_unchecked_slab_has_no_states);
    tcase_add_test(making, without_memory_there_is_no_slab_and_nothing_is_lost);
    tcase_add_test(making, a_source_that_refuses_makes_no_slab);
    tcase_add_test(making, prefaulting_changes_no_state);
    suite_add_tcase(suite, making);
    tcase_add_checked_fixture(bitmaps, start_clean, expect_nothing_out);
    tcase_add_test(bitmaps, all_free_sets_a_bit_per_slot_and_none_behind);
    suite_add_tcase(suite, bitmaps);
    tcase_add_checked_fixture(map, start_clean, expect_nothing_out);
    tcase_add_loop_test(map, the_map_finds_what_a_search_of_all_slabs_finds, 0,
                        5);
    tcase_add_test(map, no_map_has_no_slabs);
    tcase_add_test(map, without_memory_the_old_map_stays);
    suite_add_tcase(suite, map);
    return suite;
}

int main(void)
{
    return suite_run(slab_suite());
}
