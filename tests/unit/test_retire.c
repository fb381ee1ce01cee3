/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/retire.h"

#include "support/ranges.h"
#include "support/stress.h"

#include <string.h>
#include <time.h>

static struct ashlar_source *source; /* a wrapped one */
static struct wrap *wrap;
static uint64_t granule;
static uint64_t budget;

static void open_source(void)
{
    budget = source_budget_left();
    source = wrap_open(NULL);
    wrap = wrap_of(source);
    granule = source->info.granule;
}

static void close_source(void)
{
    OK(ashlar_source_drain(source, 0));
    wrap_close(source);
    ck_assert_uint_eq(source_budget_left(), budget);
}

/* A reservation with one chunk mapped, to be taken away. */
struct piece {
    uint64_t address;
    uint64_t chunk;
};

static struct piece make_piece(void)
{
    const struct ashlar_chunk_request request = {sizeof(request), granule, 0};
    struct piece piece = {0, 0};

    OK(source_reserve(source, granule, granule, 0, &piece.address));
    OK(source->ops.chunk_create(source->state, &request, &piece.chunk));
    OK(source->ops.map(source->state, piece.address, piece.chunk, granule));
    return piece;
}

static struct retire_item *item_for(struct piece piece, uint64_t owner)
{
    struct retire_item *item = retire_item_create(owner, 3, 1);

    ck_assert_ptr_nonnull(item);
    retire_item_add(item, RETIRE_UNMAP, piece.address, granule);
    retire_item_add(item, RETIRE_DESTROY, piece.chunk, granule);
    retire_item_add(item, RETIRE_RELEASE, piece.address, granule);
    return item;
}

/* Behind the work of a stream of the vm source. */
static struct retire_item *item_behind(struct piece piece, uint64_t owner,
                                       uint64_t stream)
{
    struct retire_item *item = item_for(piece, owner);
    uint64_t fence = 0;

    OK(source->ops.fence_record(source->state, stream, &fence));
    item->fences[item->fence_count++] =
        (struct retire_fence){source_hold(source), fence};
    return item;
}

static uint64_t waiting(void)
{
    return source->retire.items;
}

/* --- order ---------------------------------------------------------------- */

START_TEST(an_item_without_fences_is_worked_off_at_once)
{
    retire_item_queue(source, item_for(make_piece(), 1));
    ck_assert_uint_eq(waiting(), 0);
    ck_assert_uint_eq(retire_bytes(source), 0);
    ck_assert(model_is_empty(&wrap->model));
}
END_TEST

START_TEST(items_of_one_owner_keep_their_order_and_others_pass)
{
    uint64_t owner = retire_owner();

    OK(ashlar_vm_hold(&wrap->inner, 1));
    retire_item_queue(source, item_behind(make_piece(), owner, 1));
    retire_item_queue(source, item_for(make_piece(), owner));
    retire_item_queue(source, item_for(make_piece(), owner));
    ck_assert_uint_eq(waiting(), 3);
    retire_item_queue(source, item_for(make_piece(), retire_owner()));
    ck_assert_uint_eq(waiting(), 3);
    ck_assert_uint_eq(retire_bytes(source), 3 * granule);
    ck_assert_uint_eq(wrap->calls[WRAP_UNMAP], 1);
    OK(ashlar_vm_finish(&wrap->inner, 1));
    ck_assert(retire_collect(source));
    ck_assert_uint_eq(waiting(), 0);
}
END_TEST

START_TEST(a_chain_of_followers_is_worked_off_in_one_pass)
{
    uint64_t owner = retire_owner();
    unsigned i;

    OK(ashlar_vm_hold(&wrap->inner, 1));
    for (i = 0; i < 100; i++) {
        retire_item_queue(source, item_behind(make_piece(), owner, 1));
        if (i % 3 == 0)
            retire_item_queue(source, item_behind(make_piece(), 7, 1));
    }
    OK(ashlar_vm_finish(&wrap->inner, 1));
    ck_assert(retire_collect(source));
}
END_TEST

START_TEST(what_can_go_is_not_kept_by_many_that_wait)
{
    unsigned i;

    OK(ashlar_vm_hold(&wrap->inner, 1));
    for (i = 0; i < 50; i++)
        retire_item_queue(source, item_behind(make_piece(), retire_owner(), 1));
    retire_item_queue(source, item_for(make_piece(), retire_owner()));
    ck_assert_uint_eq(waiting(), 50);
    OK(ashlar_vm_finish(&wrap->inner, 1));
    /* A release goes on with those before it, too. */
    retire_item_queue(source, item_for(make_piece(), retire_owner()));
    ck_assert_uint_eq(waiting(), 0);
}
END_TEST

/* --- failures ------------------------------------------------------------- */

START_TEST(what_fails_stays_and_is_tried_again_from_there)
{
    struct piece piece;
    unsigned n;

    for (n = 1; n <= 3; n++) {
        piece = make_piece();
        wrap_arm(source, (struct wrap_fault){.at = n, .for_ever = true});
        retire_item_queue(source, item_for(piece, retire_owner()));
        (void)wrap_lift(source);
        ck_assert_uint_eq(waiting(), 1);
        ck_assert_uint_eq(retire_bytes(source), n == 3 ? 0 : granule);
        ck_assert(retire_collect(source));
    }
    ck_assert_str_eq(wrap->model.wrong, "");
}
END_TEST

START_TEST(an_error_of_the_caller_stays_his_last)
{
    struct piece piece = make_piece();

    ck_assert_int_eq(ashlar_range_grow_to(NULL, 1, NULL), ASHLAR_ERR_INVALID);
    wrap_arm(source, (struct wrap_fault){.at = 2, .for_ever = true});
    retire_item_queue(source, item_for(piece, retire_owner()));
    ck_assert(!retire_collect(source));
    (void)wrap_lift(source);
    ck_assert(ranges_error_is(ASHLAR_ERR_INVALID, "ashlar_range_grow_to()"));
}
END_TEST

/* When the driver is gone its records are dropped, and it is not called. */
static void lose(enum ashlar_status status, unsigned n)
{
    struct piece piece = make_piece();
    struct ashlar_source_info info = ASHLAR_SOURCE_INFO_INIT;
    uint64_t calls;
    uint64_t dropped;

    OK(ashlar_source_query(source, &info));
    dropped = info.dropped_items;
    wrap_arm(source,
             (struct wrap_fault){.at = n, .for_ever = true, .status = status});
    calls = wrap_calls(source);
    retire_item_queue(source, item_for(piece, retire_owner()));
    (void)wrap_lift(source);
    ck_assert_uint_eq(wrap_calls(source), calls + n);
    ck_assert_uint_eq(waiting(), 0);
    ck_assert_uint_eq(retire_bytes(source), 0);
    ck_assert_uint_eq(source_budget_left(), budget);
    OK(ashlar_source_query(source, &info));
    ck_assert_uint_eq(info.dropped_items, dropped + 4 - n);
    /* The driver is not gone really: tidy up. */
    if (n == 1)
        OK(source->ops.unmap(source->state, piece.address, granule));
    if (n <= 2)
        OK(source->ops.chunk_destroy(source->state, piece.chunk, granule));
    OK(source->ops.release(source->state, piece.address, granule));
}

START_TEST(when_the_driver_is_gone_the_rest_is_dropped_and_counted)
{
    unsigned n;

    for (n = 1; n <= 3; n++) {
        lose(ASHLAR_ERR_NO_DRIVER, n);
        lose(ASHLAR_ERR_CONTEXT_FAILED, n);
    }
}
END_TEST

/* --- calls ---------------------------------------------------------------- */

struct counted_call {
    struct retire_call call;
    unsigned calls;
};

/* It may queue what is another's to take away. */
static void count_call(struct retire_call *self)
{
    ((struct counted_call *)(void *)self)->calls++;
    retire_item_queue(source, item_for(make_piece(), retire_owner()));
}

/* A call, and a piece behind it. */
static struct retire_item *item_with(struct counted_call *counted,
                                     uint64_t stream)
{
    struct retire_item *item = retire_item_create(retire_owner(), 2, 1);
    struct piece piece = make_piece();
    uint64_t fence = 0;

    ck_assert_ptr_nonnull(item);
    OK(source->ops.unmap(source->state, piece.address, granule));
    OK(source->ops.chunk_destroy(source->state, piece.chunk, granule));
    retire_item_add(item, RETIRE_CALL, (uint64_t)(uintptr_t)&counted->call, 0);
    retire_item_add(item, RETIRE_RELEASE, piece.address, granule);
    OK(source->ops.fence_record(source->state, stream, &fence));
    item->fences[item->fence_count++] =
        (struct retire_fence){source_hold(source), fence};
    return item;
}

START_TEST(a_call_is_made_once_when_its_fences_have_passed)
{
    struct counted_call counted = {{count_call}, 0};

    OK(ashlar_vm_hold(&wrap->inner, 1));
    retire_item_queue(source, item_with(&counted, 1));
    ck_assert(!retire_collect(source));
    ck_assert_uint_eq(counted.calls, 0);
    OK(ashlar_vm_finish(&wrap->inner, 1));
    /* What comes behind it fails, and is tried again. */
    wrap_arm(source, (struct wrap_fault){.at = 2, .only = 1 << WRAP_RELEASE});
    (void)retire_collect(source);
    ck_assert_uint_eq(counted.calls, 1);
    ck_assert_uint_eq(wrap_lift(source), 1);
    ck_assert(retire_collect(source));
    ck_assert_uint_eq(counted.calls, 1);
    ck_assert(model_is_empty(&wrap->model));
}
END_TEST

struct nested_call {
    struct retire_call call;
    unsigned *depth; /* of calls that are being made */
};

static void nest_call(struct retire_call *self)
{
    struct nested_call *nested = (struct nested_call *)(void *)self;

    ck_assert_uint_eq(++*nested->depth, 1);
    retire_item_queue(source, item_for(make_piece(), retire_owner()));
    --*nested->depth;
}

/* As deep as there are calls that wait, and any stack has an end. */
START_TEST(a_call_that_queues_makes_no_other_call)
{
    struct nested_call nested[20];
    struct retire_item *item;
    unsigned depth = 0;
    uint64_t fence;
    unsigned i;

    OK(ashlar_vm_hold(&wrap->inner, 1));
    for (i = 0; i < 20; i++) {
        nested[i] = (struct nested_call){{nest_call}, &depth};
        item = retire_item_create(retire_owner(), 1, 1);
        ck_assert_ptr_nonnull(item);
        retire_item_add(item, RETIRE_CALL, (uint64_t)(uintptr_t)&nested[i].call,
                        0);
        OK(source->ops.fence_record(source->state, 1, &fence));
        item->fences[item->fence_count++] =
            (struct retire_fence){source_hold(source), fence};
        retire_item_queue(source, item);
    }
    OK(ashlar_vm_finish(&wrap->inner, 1));
    ck_assert(retire_collect(source));
    ck_assert(model_is_empty(&wrap->model));
}
END_TEST

START_TEST(a_fence_of_a_failed_context_is_waited_for_no_more)
{
    static const enum ashlar_status gone[] = {ASHLAR_ERR_CONTEXT_FAILED,
                                              ASHLAR_ERR_NO_DRIVER};
    unsigned i;

    for (i = 0; i < 2; i++) {
        OK(ashlar_vm_hold(&wrap->inner, 1));
        wrap_arm(source, (struct wrap_fault){.at = 1,
                                             .for_ever = true,
                                             .status = gone[i],
                                             .only = 1 << WRAP_FENCE_QUERY});
        retire_item_queue(source, item_behind(make_piece(), retire_owner(), 1));
        (void)wrap_lift(source);
        ck_assert_uint_eq(waiting(), 0);
        ck_assert_uint_eq(wrap->model.fences.count, 0);
        OK(ashlar_vm_finish(&wrap->inner, 1));
    }
}
END_TEST

START_TEST(a_fence_that_cannot_be_asked_is_waited_for)
{
    static const enum ashlar_status odd[] = {
        ASHLAR_ERR_DRIVER, ASHLAR_ERR_CAPTURE, ASHLAR_ERR_INVALID};
    unsigned i;

    for (i = 0; i < 3; i++) {
        OK(ashlar_vm_hold(&wrap->inner, 1));
        wrap_arm(source, (struct wrap_fault){.at = 1,
                                             .for_ever = true,
                                             .status = odd[i],
                                             .only = 1 << WRAP_FENCE_QUERY});
        retire_item_queue(source, item_behind(make_piece(), retire_owner(), 1));
        (void)wrap_lift(source);
        ck_assert_uint_eq(waiting(), 1);
        OK(ashlar_vm_finish(&wrap->inner, 1));
        ck_assert(retire_collect(source));
    }
}
END_TEST

/* --- drain ---------------------------------------------------------------- */

static void finish_soon(unsigned number, void *user)
{
    static const struct timespec pause = {0, 20000000};

    (void)user;
    if (number == 0)
        OK(ashlar_source_drain(source, UINT64_C(30000000000)));
    else {
        (void)nanosleep(&pause, NULL);
        OK(ashlar_vm_finish(&wrap->inner, 1));
    }
}

START_TEST(drain_waits_for_the_work)
{
    OK(ashlar_vm_hold(&wrap->inner, 1));
    retire_item_queue(source, item_behind(make_piece(), retire_owner(), 1));
    stress_threads(2, finish_soon, NULL);
    ck_assert_uint_eq(waiting(), 0);
}
END_TEST

START_TEST(drain_waits_no_longer_than_it_was_told)
{
    struct timespec begin, end;

    OK(ashlar_vm_hold(&wrap->inner, 1));
    retire_item_queue(source, item_behind(make_piece(), retire_owner(), 1));
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    REFUSED(ASHLAR_ERR_BUSY, "in 1 items",
            ashlar_source_drain(source, 2000000));
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    ck_assert_int_ge((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec -
                         begin.tv_nsec,
                     2000000);
    OK(ashlar_vm_finish(&wrap->inner, 1));
}
END_TEST

/* --- threads -------------------------------------------------------------- */

#define ROUNDS 400

/* All collect what all retire; whoever settles sees his own gone. */
static void retire_and_settle(unsigned number, void *user)
{
    uint64_t owner = retire_owner();
    struct retire_item *item;
    unsigned i;

    (void)user;
    for (i = 0; i < ROUNDS; i++) {
        item = i % 4 == 0 ? item_behind(make_piece(), owner, 100 + number)
                          : item_for(make_piece(), owner);
        item->references++;
        retire_item_queue(source, item);
        (void)retire_collect(source);
        retire_settle(source, owner);
        STRESS_EXPECT(item->next_step == 3, "an item was left behind");
        retire_item_drop(item);
    }
}

START_TEST(threads_collect_each_others_items_and_miss_none)
{
    stress_threads(4, retire_and_settle, NULL);
    stress_verdict();
    ck_assert_uint_eq(waiting(), 0);
    ck_assert(model_is_empty(&wrap->model));
}
END_TEST

/* -------------------------------------------------------------------------- */

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *test = tcase_create(name);

    tcase_add_checked_fixture(test, open_source, close_source);
    suite_add_tcase(suite, test);
    return test;
}

static Suite *retire_suite(void)
{
    Suite *suite = suite_create("retire");
    TCase *test = add_case(suite, "order");

    tcase_add_test(test, an_item_without_fences_is_worked_off_at_once);
    tcase_add_test(test, items_of_one_owner_keep_their_order_and_others_pass);
    tcase_add_test(test, a_chain_of_followers_is_worked_off_in_one_pass);
    tcase_add_test(test, what_can_go_is_not_kept_by_many_that_wait);

    test = add_case(suite, "failures");
    tcase_add_test(test, what_fails_stays_and_is_tried_again_from_there);
    tcase_add_test(test, an_error_of_the_caller_stays_his_last);
    tcase_add_test(test,
                   when_the_driver_is_gone_the_rest_is_dropped_and_counted);
    tcase_add_test(test, a_call_is_made_once_when_its_fences_have_passed);
    tcase_add_test(test, a_call_that_queues_makes_no_other_call);
    tcase_add_test(test, a_fence_of_a_failed_context_is_waited_for_no_more);
    tcase_add_test(test, a_fence_that_cannot_be_asked_is_waited_for);

    test = add_case(suite, "drain");
    tcase_add_test(test, drain_waits_for_the_work);
    tcase_add_test(test, drain_waits_no_longer_than_it_was_told);

    test = add_case(suite, "threads");
    tcase_add_test(test, threads_collect_each_others_items_and_miss_none);
    return suite;
}

int main(void)
{
    stress_begin();
    return suite_run(retire_suite());
}
