/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What the range manager itself adds to the calls of a source. */
#include "config.h"

#include "source/source.h"
#include "support/ranges.h"

#include <stdio.h>
#include <time.h>

#define GRANULE UINT64_C(65536)
#define GROWS   4096
#define PLACE   (UINT64_C(1) << 44)

/* --- a source that does nothing ------------------------------------------- */

static uint64_t created, destroyed, mapped, unmapped, allowed;

static enum ashlar_status null_open(const struct ashlar_host *host,
                                    const struct ashlar_plugin_option *options,
                                    size_t option_count,
                                    struct ashlar_plugin_info *info,
                                    void **state_out)
{
    (void)host, (void)options, (void)option_count;
    info->can = ASHLAR_CAN_RANGES;
    info->granule = GRANULE;
    info->location_count = 1;
    *state_out = NULL;
    return ASHLAR_OK;
}

static void null_close(void *state)
{
    (void)state;
}

static enum ashlar_status null_reserve(void *state, uint64_t bytes,
                                       uint64_t alignment, uint64_t hint,
                                       uint64_t *address_out)
{
    static uint64_t next = PLACE;

    (void)state, (void)alignment;
    *address_out = hint != 0 ? hint : next;
    next += hint != 0 ? 0 : bytes;
    return ASHLAR_OK;
}

static enum ashlar_status null_release(void *state, uint64_t address,
                                       uint64_t bytes)
{
    (void)state, (void)address, (void)bytes;
    return ASHLAR_OK;
}

static enum ashlar_status
null_create(void *state, const struct ashlar_chunk_request *request,
            uint64_t *chunk_out)
{
    (void)state, (void)request;
    *chunk_out = ++created;
    return ASHLAR_OK;
}

static enum ashlar_status null_destroy(void *state, uint64_t chunk,
                                       uint64_t bytes)
{
    (void)state, (void)chunk, (void)bytes;
    destroyed++;
    return ASHLAR_OK;
}

static enum ashlar_status null_map(void *state, uint64_t address,
                                   uint64_t chunk, uint64_t bytes)
{
    (void)state, (void)address, (void)chunk, (void)bytes;
    mapped++;
    return ASHLAR_OK;
}

static enum ashlar_status null_unmap(void *state, uint64_t address,
                                     uint64_t bytes)
{
    (void)state, (void)address, (void)bytes;
    unmapped++;
    return ASHLAR_OK;
}

static enum ashlar_status null_allow(void *state, uint64_t address,
                                     uint64_t bytes,
                                     const struct ashlar_access *access,
                                     size_t access_count)
{
    (void)state, (void)address, (void)bytes, (void)access, (void)access_count;
    allowed++;
    return ASHLAR_OK;
}

static const struct ashlar_plugin null_plugin = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "null",
    .open = null_open,
    .close = null_close,
    .reserve = null_reserve,
    .release = null_release,
    .chunk_create = null_create,
    .chunk_destroy = null_destroy,
    .map = null_map,
    .unmap = null_unmap,
    .allow = null_allow,
};

/* -------------------------------------------------------------------------- */

static struct ashlar_source *source;
static struct ashlar_range *range;

static void make_range(void)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;

    created = destroyed = mapped = unmapped = allowed = 0;
    OK(source_open_plugin(&null_plugin, "null", NULL, &source));
    options.reserve_bytes = GROWS * GRANULE;
    OK(ashlar_range_create(source, &options, &range));
}

static void end_range(void)
{
    OK(ashlar_range_destroy(range, ASHLAR_QUIET, 1));
    OK(ashlar_source_close(source));
    ck_assert_uint_eq(created, destroyed);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void grow_in_steps(void)
{
    unsigned i;

    for (i = 1; i <= GROWS; i++)
        OK(ashlar_range_grow_to(range, i * GRANULE, NULL));
}

/* The figure is for the reader: machines and their load differ. */
static void print_figure(const char *what, uint64_t begin)
{
    printf("# the manager's own cost of %s: %lu ns\n", what,
           (unsigned long)((now_ns() - begin) / GROWS));
    (void)fflush(stdout);
}

START_TEST(a_grow_makes_three_calls_and_costs_little_more)
{
    uint64_t begin = now_ns();

    grow_in_steps();
    print_figure("a grow by one chunk", begin);
    ck_assert_uint_eq(created, GROWS);
    ck_assert_uint_eq(mapped, GROWS);
    ck_assert_uint_eq(allowed, GROWS);
    ck_assert_uint_eq(unmapped + destroyed, 0);
}
END_TEST

START_TEST(a_grow_into_what_is_mapped_makes_no_call)
{
    uint64_t begin;

    OK(ashlar_range_prepare(range, GROWS * GRANULE, ASHLAR_RANGE_MAPPED));
    begin = now_ns();
    grow_in_steps();
    print_figure("a grow into what is mapped", begin);
    ck_assert_uint_eq(created, 1);
    ck_assert_uint_eq(mapped, 1);
    ck_assert_uint_eq(allowed, 1);
}
END_TEST

START_TEST(taking_chunks_away_one_by_one_costs_little_more_than_the_calls)
{
    uint64_t begin;
    unsigned i;

    grow_in_steps();
    begin = now_ns();
    for (i = GROWS; i-- != 0;)
        OK(ashlar_range_shrink_to(range, i * GRANULE, ASHLAR_QUIET, 1, NULL));
    print_figure("a shrink by one chunk", begin);
    ck_assert_uint_eq(unmapped, GROWS);
    ck_assert_uint_eq(destroyed, GROWS);
}
END_TEST

START_TEST(a_source_that_does_not_say_its_memory_gets_room_by_default)
{
    struct ashlar_range *other;
    struct ashlar_range_info info = ASHLAR_RANGE_INFO_INIT;

    OK(ashlar_range_create(source, NULL, &other));
    OK(ashlar_range_query(other, &info));
    ck_assert_uint_eq(info.reserved_bytes, UINT64_C(1) << 40);
    OK(ashlar_range_destroy(other, ASHLAR_QUIET, 1));
}
END_TEST

START_TEST(a_source_without_fences_has_ranges_all_the_same)
{
    const struct ashlar_fence fence = {ASHLAR_FENCE_STREAM, 0, NULL, 0};
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *other;

    grow_in_steps();
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "no fences",
            ashlar_range_shrink_to(range, 0, &fence, 1, NULL));
    options.flags = ASHLAR_RANGE_EXPORT;
    REFUSED(ASHLAR_ERR_UNSUPPORTED, "\"null\" cannot export",
            ashlar_range_create(source, &options, &other));
    OK(ashlar_range_shrink_to(range, 0, ASHLAR_QUIET, 1, NULL));
}
END_TEST

START_TEST(more_records_than_can_be_counted_are_refused)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_range *other;
    uint64_t total = ((UINT64_C(1) << 24) + 1) * GRANULE;

    options.reserve_bytes = total;
    options.chunk_max_bytes = GRANULE;
    OK(ashlar_range_create(source, &options, &other));
    REFUSED(ASHLAR_ERR_NO_MEMORY, "16777218 chunks",
            ashlar_range_grow_to(other, total, NULL));
    REFUSED(ASHLAR_ERR_NO_MEMORY, "16777218 chunks",
            ashlar_range_prepare(other, total, ASHLAR_RANGE_CREATED));
    OK(ashlar_range_grow_to(other, GRANULE, NULL));
    OK(ashlar_range_destroy(other, ASHLAR_QUIET, 1));
}
END_TEST

static Suite *range_cost_suite(void)
{
    Suite *suite = suite_create("range_cost");
    TCase *test = tcase_create("null source");

    tcase_add_checked_fixture(test, make_range, end_range);
    tcase_add_test(test, a_grow_makes_three_calls_and_costs_little_more);
    tcase_add_test(test, a_grow_into_what_is_mapped_makes_no_call);
    tcase_add_test(
        test, taking_chunks_away_one_by_one_costs_little_more_than_the_calls);
    tcase_add_test(test,
                   a_source_that_does_not_say_its_memory_gets_room_by_default);
    tcase_add_test(test, a_source_without_fences_has_ranges_all_the_same);
    tcase_add_test(test, more_records_than_can_be_counted_are_refused);
    suite_add_tcase(suite, test);
    return suite;
}

int main(void)
{
    return suite_run(range_cost_suite());
}
