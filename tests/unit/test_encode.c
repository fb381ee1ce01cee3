/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include <ashlar.h>

#include "support/encode_source.h"
#include "support/stress.h"
#include "support/stub_source.h"
#include "support/suite.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define COUNT 200

static struct ashlar_pool *pool;
static struct ashlar_spec specs[COUNT];
static void *maps[COUNT];

static void setup(void)
{
    size_t i;

    memory_fail_nth(0, false);
    encode_source_reset();
    stub_reset();
    for (i = 0; i < COUNT; i++)
        specs[i] = encode_spec(i);
    memset(maps, 0, sizeof(maps));
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool),
        ASHLAR_OK);
}

static uint64_t live(void)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    ck_assert_int_eq(ashlar_pool_query(pool, &stats), ASHLAR_OK);
    return stats.live_slots;
}

static void teardown(void)
{
    ck_assert_uint_eq(encode_source.holders, 0);
    ck_assert_int_eq(ashlar_pool_destroy(pool, 0), ASHLAR_OK);
}

static void ck_assert_said(const char *text)
{
    ck_assert_msg(strstr(ashlar_last_error_message(), text) != NULL,
                  "\"%s\" is not in: %s", text, ashlar_last_error_message());
}

/* --- one ------------------------------------------------------------------ */

START_TEST(a_map_is_what_the_encoder_makes)
{
    void *map = ashlar_pool_get(pool);

    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[7], map),
                     ASHLAR_OK);
    ck_assert(encode_is(map, &specs[7]));
    ck_assert_int_eq(ashlar_pool_put(pool, map), ASHLAR_OK);
}
END_TEST

START_TEST(a_refused_map_is_as_before_and_the_rule_is_named)
{
    _Alignas(128) unsigned char map[128], before[128];

    memset(map, 0x77, sizeof(map));
    memcpy(before, map, sizeof(map));
    specs[0].strides[0] = 2050;
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[0], map),
                     ASHLAR_ERR_INVALID);
    ck_assert_str_eq(ashlar_last_error_message(),
                     "strides[0] is 2050 bytes; it must be a multiple of 16: "
                     "pad it to 2064 bytes");
    ck_assert_mem_eq(map, before, sizeof(map));
}
END_TEST

/* "Context already failed" is not "bad arguments". */
START_TEST(failures_of_the_driver_stay_what_they_are)
{
    static const enum ashlar_status statuses[] = {
        ASHLAR_ERR_CONTEXT_FAILED, ASHLAR_ERR_DRIVER_TOO_OLD, ASHLAR_ERR_DRIVER,
        ASHLAR_ERR_NO_DRIVER, ASHLAR_ERR_INVALID};
    _Alignas(128) unsigned char map[128], before[128] = {0};

    memset(map, 0, sizeof(map));
    encoder.fail_at = 1;
    encoder.fail_with = statuses[_i];
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[0], map),
                     statuses[_i]);
    ck_assert_int_eq(ashlar_last_error(), statuses[_i]);
    ck_assert_str_eq(ashlar_last_error_message(), "the encoder says no");
    ck_assert_mem_eq(map, before, sizeof(map));
}
END_TEST

START_TEST(a_misaligned_map_is_refused)
{
    _Alignas(128) unsigned char room[256];
    size_t residue;

    for (residue = 8; residue < 128; residue += 8) {
        ck_assert_int_eq(
            ashlar_tensormap_encode(&encode_source, &specs[0], room + residue),
            ASHLAR_ERR_MISALIGNED);
        ck_assert_int_eq(
            ashlar_tensormap_rebase(&encode_source, room + residue, 4096),
            ASHLAR_ERR_MISALIGNED);
    }
    ck_assert_said("120 bytes behind a multiple of 128");
    ck_assert_uint_eq(encoder.encodes + encoder.rebases, 0);
}
END_TEST

START_TEST(rebasing_is_encoding_anew)
{
    void *map = ashlar_pool_get(pool);

    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[0], map),
                     ASHLAR_OK);
    specs[0].address += 65536;
    ck_assert_int_eq(
        ashlar_tensormap_rebase(&encode_source, map, specs[0].address),
        ASHLAR_OK);
    ck_assert(encode_is(map, &specs[0]));
    ck_assert_int_eq(ashlar_pool_put(pool, map), ASHLAR_OK);
}
END_TEST

START_TEST(a_refused_rebase_leaves_the_map_as_it_was)
{
    static const struct {
        uint64_t address;
        const char *text;
    } wrong[] = {{0, "address is 0"},
                 {4104, "0x1008; it must be a multiple of 16"},
                 {UINT64_C(1) << 57, "it must be below 0x200000000000000"}};
    void *map = ashlar_pool_get(pool);

    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[0], map),
                     ASHLAR_OK);
    ck_assert_int_eq(
        ashlar_tensormap_rebase(&encode_source, map, wrong[_i].address),
        ASHLAR_ERR_INVALID);
    ck_assert_said(wrong[_i].text);
    ck_assert(encode_is(map, &specs[0]));
    ck_assert_int_eq(ashlar_pool_put(pool, map), ASHLAR_OK);
}
END_TEST

START_TEST(a_source_without_an_encoder_says_so)
{
    _Alignas(128) unsigned char map[128];

    ck_assert_int_eq(ashlar_tensormap_encode(&stub_source, &specs[0], map),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(ashlar_tensormap_rebase(&stub_source, map, 4096),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert_int_eq(ashlar_tensormap_encode_many(&stub_source, pool, specs,
                                                  COUNT, maps, NULL),
                     ASHLAR_ERR_UNSUPPORTED);
    ck_assert_said("\"stub\" has no encoder");
}
END_TEST

START_TEST(null_is_refused_everywhere)
{
    struct ashlar_tensormap_batch *batch;
    _Alignas(128) unsigned char map[128];

    ck_assert_int_eq(ashlar_tensormap_encode(NULL, &specs[0], map),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, NULL, map),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[0], NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_rebase(NULL, map, 16),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_rebase(&encode_source, NULL, 16),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, NULL, specs,
                                                  1, maps, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(
        ashlar_tensormap_encode_many(&encode_source, pool, NULL, 1, maps, NULL),
        ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, specs,
                                                  1, NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_batch_create(&encode_source, pool, specs,
                                                   1, maps, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_int_eq(
        ashlar_tensormap_batch_create(NULL, pool, specs, 1, maps, &batch),
        ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_batch_work(NULL), ASHLAR_ERR_INVALID);
    ck_assert_int_eq(ashlar_tensormap_batch_finish(NULL, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(live(), 0);
}
END_TEST

/* A caller of an earlier version knows less of the struct, one of a later more:
 * what it does not know is 0. */
START_TEST(specs_of_other_versions_are_read_as_far_as_they_go)
{
    struct {
        struct ashlar_spec spec;
        uint64_t more;
    } longer = {encode_spec(3), 0};
    _Alignas(128) unsigned char map[128];

    longer.spec.size = sizeof(longer);
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &longer.spec, map),
                     ASHLAR_OK);
    ck_assert(encode_is(map, &specs[3]));
    longer.more = 1;
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &longer.spec, map),
                     ASHLAR_ERR_INVALID);
    specs[0].size = 0;
    ck_assert_int_eq(ashlar_tensormap_encode(&encode_source, &specs[0], map),
                     ASHLAR_ERR_INVALID);
}
END_TEST

/* --- many ----------------------------------------------------------------- */

START_TEST(many_maps_are_all_encoded)
{
    size_t culprit = 7, i;

    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, specs,
                                                  COUNT, maps, &culprit),
                     ASHLAR_OK);
    ck_assert_uint_eq(culprit, COUNT);
    ck_assert_uint_eq(encoder.encodes + encoder.rebases, COUNT);
    for (i = 0; i < COUNT; i++)
        ck_assert(encode_is(maps[i], &specs[i]));
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, maps, COUNT, NULL), ASHLAR_OK);
}
END_TEST

START_TEST(none_of_many_is_encoded_when_one_is_wrong)
{
    static const size_t culprits[] = {0, 1, 31, 32, 33, 100, COUNT - 1};
    size_t wrong = culprits[_i], culprit = 7, i;

    specs[wrong].box[0] = 100;
    specs[COUNT - 1].dims[0] = 0;
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, specs,
                                                  COUNT, maps, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(culprit, wrong);
    ck_assert_said(wrong == COUNT - 1 ? "dims[0] is 0" : "box[0] is 100");
    ck_assert_uint_eq(live(), 0);
    for (i = 0; i < COUNT; i++)
        ck_assert_ptr_null(maps[i]);
}
END_TEST

START_TEST(no_maps_are_no_work)
{
    size_t culprit = 7;

    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, NULL, 0,
                                                  NULL, &culprit),
                     ASHLAR_OK);
    ck_assert_uint_eq(culprit, 0);
}
END_TEST

START_TEST(specs_of_one_array_are_of_one_size)
{
    size_t culprit = 7;

    specs[40].size -= 8;
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, specs,
                                                  COUNT, maps, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(culprit, 40);
    specs[0].size = 0;
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, specs,
                                                  COUNT, maps, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(culprit, COUNT);
    ck_assert_uint_eq(live(), 0);
}
END_TEST

START_TEST(a_pool_without_room_gives_no_map)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *small;
    size_t culprit = 7;

    options.max_slots = COUNT - 1;
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &small),
        ASHLAR_OK);
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, small, specs,
                                                  COUNT, maps, &culprit),
                     ASHLAR_ERR_LIMIT);
    ck_assert_uint_eq(culprit, COUNT);
    ck_assert_uint_eq(encoder.encodes, 0);
    ck_assert_uint_eq(encode_source.holders, 0);
    ck_assert_int_eq(ashlar_pool_destroy(small, 0), ASHLAR_OK);
}
END_TEST

START_TEST(a_pool_of_something_else_is_refused)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *other;

    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("float4"), NULL, &other),
        ASHLAR_OK);
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, other, specs,
                                                  COUNT, maps, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_said("is of \"float4\"");
    ck_assert_int_eq(ashlar_pool_destroy(other, 0), ASHLAR_OK);
    stub_source.info.can = ASHLAR_CAN_BLOCKS;
    options.source = &stub_source;
    ck_assert_int_eq(
        ashlar_pool_create(ashlar_type_find("CUtensorMap"), &options, &other),
        ASHLAR_OK);
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, other, specs,
                                                  COUNT, maps, NULL),
                     ASHLAR_ERR_INVALID);
    ck_assert_said("which the host does not write");
    ck_assert_int_eq(ashlar_pool_destroy(other, 0), ASHLAR_OK);
    stub_source.info.can = ASHLAR_CAN_BLOCKS | ASHLAR_CAN_HOST_ACCESS;
}
END_TEST

START_TEST(a_failing_encode_at_any_place_leaves_nothing)
{
    size_t n, culprit;

    for (n = 1; n <= COUNT; n++) {
        encoder.fail_at = n;
        encoder.fail_with = ASHLAR_ERR_CONTEXT_FAILED;
        ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool,
                                                      specs, COUNT, maps,
                                                      &culprit),
                         ASHLAR_ERR_CONTEXT_FAILED);
        ck_assert_uint_eq(culprit, n - 1);
        ck_assert_uint_eq(live(), 0);
        ck_assert_uint_eq(encode_source.holders, 0);
    }
    ck_assert_int_eq(ashlar_tensormap_encode_many(&encode_source, pool, specs,
                                                  COUNT, maps, &culprit),
                     ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, maps, COUNT, NULL), ASHLAR_OK);
}
END_TEST

START_TEST(a_failing_allocation_at_any_place_leaves_nothing)
{
    struct ashlar_tensormap_batch *batch;
    enum ashlar_status status = ASHLAR_ERR_NO_MEMORY;
    unsigned long n;

    for (n = 1; status != ASHLAR_OK; n++) {
        memory_fail_nth(n, false);
        status = ashlar_tensormap_batch_create(&encode_source, pool, specs,
                                               COUNT, maps, &batch);
        memory_fail_nth(0, false);
        if (status != ASHLAR_OK) {
            ck_assert_int_eq(status, ASHLAR_ERR_NO_MEMORY);
            ck_assert_uint_eq(live(), 0);
            ck_assert_uint_eq(encode_source.holders, 0);
        }
    }
    ck_assert_uint_gt(n, 2);
    ck_assert_int_eq(ashlar_tensormap_batch_finish(batch, NULL), ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, maps, COUNT, NULL), ASHLAR_OK);
}
END_TEST

/* --- by threads ----------------------------------------------------------- */

#define THREADS 8
#define PLENTY  4096

static struct ashlar_spec plenty[PLENTY];
static void *their_maps[PLENTY];
static uint64_t with_work; /* atomic: threads that were refused nothing */

static void take_part(unsigned number, void *user)
{
    (void)number;
    if (ashlar_tensormap_batch_work(user) == ASHLAR_OK)
        __atomic_fetch_add(&with_work, 1, __ATOMIC_RELAXED);
}

static struct ashlar_tensormap_batch *begin_plenty(void)
{
    struct ashlar_tensormap_batch *batch = NULL;
    size_t i;

    for (i = 0; i < PLENTY; i++)
        plenty[i] = encode_spec(i);
    with_work = 0;
    ck_assert_int_eq(ashlar_tensormap_batch_create(&encode_source, pool, plenty,
                                                   PLENTY, their_maps, &batch),
                     ASHLAR_OK);
    return batch;
}

START_TEST(threads_that_share_a_batch_encode_each_map_once)
{
    struct ashlar_tensormap_batch *batch = begin_plenty();
    size_t i;

    stress_threads(THREADS, take_part, batch);
    ck_assert_uint_eq(with_work, THREADS);
    ck_assert_uint_eq(encoder.encodes + encoder.rebases, PLENTY);
    ck_assert_int_eq(ashlar_tensormap_batch_finish(batch, NULL), ASHLAR_OK);
    ck_assert_uint_eq(encoder.encodes + encoder.rebases, PLENTY);
    for (i = 0; i < PLENTY; i++)
        ck_assert(encode_is(their_maps[i], &plenty[i]));
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, their_maps, PLENTY, NULL),
                     ASHLAR_OK);
}
END_TEST

#define BATCHES 2000
#define FEW     40 /* two parts, or one and none */

static struct ashlar_tensormap_batch *few;
static unsigned met; /* atomic */

/* The first thread begins each batch and ends it; all work on it together. */
static void race_for_parts(unsigned number, void *user)
{
    size_t round, n, i;

    (void)user;
    for (round = 0; round < BATCHES; round++) {
        n = round % 2 == 0 ? FEW : FEW / 2;
        if (number == 0)
            (void)ashlar_tensormap_batch_create(&encode_source, pool, plenty, n,
                                                their_maps, &few);
        stress_meet(&met, 2);
        (void)ashlar_tensormap_batch_work(few);
        stress_meet(&met, 2);
        if (number != 0)
            continue;
        (void)ashlar_tensormap_batch_finish(few, NULL);
        for (i = 0; i < n; i++) {
            STRESS_EXPECT(encode_is(their_maps[i], &plenty[i]),
                          "map %zu of batch %zu", i, round);
            memset(their_maps[i], 0, ASHLAR_TENSOR_MAP_BYTES);
        }
        (void)ashlar_pool_put_bulk(pool, their_maps, n, NULL);
    }
}

START_TEST(threads_that_race_for_the_last_part_leave_none_out)
{
    size_t i;

    for (i = 0; i < FEW; i++)
        plenty[i] = encode_spec(i);
    stress_threads(2, race_for_parts, NULL);
    stress_verdict();
    ck_assert_uint_eq(encoder.encodes + encoder.rebases,
                      (uint64_t)(FEW + FEW / 2) * BATCHES / 2);
}
END_TEST

START_TEST(of_several_wrong_specs_the_lowest_is_the_culprit)
{
    struct ashlar_tensormap_batch *batch = begin_plenty();
    size_t culprit = 0;

    plenty[1000].rank = 9;
    plenty[1040].strides[0] = 1;
    plenty[2500].dims[1] = 0;
    plenty[PLENTY - 1].box[0] = 3;
    stress_threads(THREADS, take_part, batch);
    ck_assert_int_eq(ashlar_tensormap_batch_finish(batch, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(culprit, 1000);
    ck_assert_said("rank is 9");
    ck_assert_uint_eq(live(), 0);
}
END_TEST

/* Two parts in hand at once; the first thread's is the first. */
static int first_has_part, second_has_part, first_is_done; /* atomic */
static __thread unsigned number_here;
static __thread bool has_part;

static void wait_for(const int *flag)
{
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE))
        (void)sched_yield();
}

static void set(int *flag)
{
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
}

/* At the first map of each part. */
static void stay_in_order(void)
{
    if (has_part)
        return;
    has_part = true;
    set(number_here == 0 ? &first_has_part : &second_has_part);
    wait_for(number_here == 0 ? &second_has_part : &first_is_done);
}

static void take_one_of_two(unsigned number, void *user)
{
    number_here = number;
    if (number != 0)
        wait_for(&first_has_part);
    STRESS_EXPECT(ashlar_tensormap_batch_work(user) == ASHLAR_ERR_INVALID, "%s",
                  ashlar_last_error_message());
    if (number == 0)
        set(&first_is_done);
}

START_TEST(a_later_failure_hides_no_earlier_one_and_both_end_the_work)
{
    struct ashlar_tensormap_batch *batch = begin_plenty();
    size_t culprit = PLENTY;

    plenty[10].rank = 9;
    plenty[300].strides[0] = 1;
    encoder.during = stay_in_order;
    stress_threads(2, take_one_of_two, batch);
    stress_verdict();
    encoder.during = NULL;
    ck_assert_int_eq(ashlar_tensormap_batch_finish(batch, &culprit),
                     ASHLAR_ERR_INVALID);
    ck_assert_uint_eq(culprit, 10);
    ck_assert_said("rank is 9");
    ck_assert_uint_lt(encoder.encodes + encoder.rebases, 300);
}
END_TEST

START_TEST(a_batch_that_nobody_works_on_is_encoded_at_its_end)
{
    struct ashlar_tensormap_batch *batch = begin_plenty();

    ck_assert_uint_eq(encoder.encodes, 0);
    ck_assert_int_eq(ashlar_tensormap_batch_finish(batch, NULL), ASHLAR_OK);
    ck_assert_uint_eq(encoder.encodes + encoder.rebases, PLENTY);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, their_maps, PLENTY, NULL),
                     ASHLAR_OK);
}
END_TEST

static struct ashlar_tensormap_batch *being_worked_on;
static enum ashlar_status finished_with;

static void finish_too_early(void)
{
    encoder.during = NULL;
    finished_with = ashlar_tensormap_batch_finish(being_worked_on, NULL);
}

START_TEST(a_batch_does_not_end_while_somebody_is_at_work)
{
    being_worked_on = begin_plenty();
    encoder.during = finish_too_early;
    ck_assert_int_eq(ashlar_tensormap_batch_work(being_worked_on), ASHLAR_OK);
    ck_assert_int_eq(finished_with, ASHLAR_ERR_BUSY);
    ck_assert_int_eq(ashlar_tensormap_batch_finish(being_worked_on, NULL),
                     ASHLAR_OK);
    ck_assert_int_eq(ashlar_pool_put_bulk(pool, their_maps, PLENTY, NULL),
                     ASHLAR_OK);
}
END_TEST

static Suite *encode_suite(void)
{
    Suite *suite = suite_create("encode");
    TCase *one = tcase_create("one"), *many = tcase_create("many"),
          *threads = tcase_create("threads");

    tcase_add_checked_fixture(one, setup, teardown);
    tcase_add_test(one, a_map_is_what_the_encoder_makes);
    tcase_add_test(one, a_refused_map_is_as_before_and_the_rule_is_named);
    tcase_add_loop_test(one, failures_of_the_driver_stay_what_they_are, 0, 5);
    tcase_add_test(one, a_misaligned_map_is_refused);
    tcase_add_test(one, rebasing_is_encoding_anew);
    tcase_add_loop_test(one, a_refused_rebase_leaves_the_map_as_it_was, 0, 3);
    tcase_add_test(one, a_source_without_an_encoder_says_so);
    tcase_add_test(one, null_is_refused_everywhere);
    tcase_add_test(one, specs_of_other_versions_are_read_as_far_as_they_go);
    suite_add_tcase(suite, one);
    tcase_add_checked_fixture(many, setup, teardown);
    tcase_add_test(many, many_maps_are_all_encoded);
    tcase_add_loop_test(many, none_of_many_is_encoded_when_one_is_wrong, 0, 7);
    tcase_add_test(many, no_maps_are_no_work);
    tcase_add_test(many, specs_of_one_array_are_of_one_size);
    tcase_add_test(many, a_pool_without_room_gives_no_map);
    tcase_add_test(many, a_pool_of_something_else_is_refused);
    tcase_add_test(many, a_failing_encode_at_any_place_leaves_nothing);
    tcase_add_test(many, a_failing_allocation_at_any_place_leaves_nothing);
    suite_add_tcase(suite, many);
    tcase_add_checked_fixture(threads, setup, teardown);
    tcase_add_test(threads, threads_that_share_a_batch_encode_each_map_once);
    tcase_add_test(threads, threads_that_race_for_the_last_part_leave_none_out);
    tcase_add_test(threads, of_several_wrong_specs_the_lowest_is_the_culprit);
    tcase_add_test(threads,
                   a_later_failure_hides_no_earlier_one_and_both_end_the_work);
    tcase_add_test(threads, a_batch_that_nobody_works_on_is_encoded_at_its_end);
    tcase_add_test(threads, a_batch_does_not_end_while_somebody_is_at_work);
    suite_add_tcase(suite, threads);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(encode_suite());
}
