/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/retire.h"

#include <sched.h>
#include <time.h>

#include "base/error.h"
#include "base/memory.h"
#include "source/call.h"

/* How many that still wait a queuing looks at: it is no collection. */
#define GLANCE 8

/* How long somebody waits for what others are giving back, and how long for
 * more of it when there is some already. */
#define PATIENCE_NS UINT64_C(1000000000)
#define SLICE_NS    UINT64_C(1000000)

uint64_t retire_owner(void)
{
    static uint64_t last;

    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

struct retire_item *retire_item_create(uint64_t owner, uint32_t steps,
                                       uint32_t fences)
{
    struct retire_item *item;
    size_t bytes = sizeof(*item) + steps * sizeof(*item->steps) +
                   fences * sizeof(*item->fences);

    item = memory_zalloc(bytes);
    if (item == NULL)
        return NULL;
    item->owner = owner;
    item->references = 1;
    item->step_room = steps;
    item->fences = (struct retire_fence *)(void *)(item->steps + steps);
    return item;
}

static void drop_fences(struct retire_item *item)
{
    struct retire_fence *fence;

    while (item->fence_count != 0) {
        fence = &item->fences[--item->fence_count];
        fence->source->ops.fence_drop(fence->source->state, fence->fence);
        source_drop(fence->source);
    }
}

void retire_item_drop(struct retire_item *item)
{
    if (__atomic_sub_fetch(&item->references, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    drop_fences(item);
    memory_free(item);
}

void retire_item_add(struct retire_item *item, enum retire_kind kind,
                     uint64_t what, uint64_t bytes)
{
    item->steps[item->step_count++] =
        (struct retire_step){kind, what, bytes, {0, 0}};
}

/*
 * Whether a fence says that its work is done, or never will be: a failed
 * context runs none. A query that fails otherwise says nothing.
 */
static bool has_passed(const struct retire_fence *fence)
{
    enum ashlar_status status =
        fence->source->ops.fence_query(fence->source->state, fence->fence);

    return status == ASHLAR_OK || source_is_gone(status);
}

bool retire_item_passed(struct retire_item *item)
{
    struct retire_fence *fence;

    while (item->fence_count != 0) {
        fence = &item->fences[item->fence_count - 1];
        if (!has_passed(fence))
            return false;
        item->fence_count--;
        fence->source->ops.fence_drop(fence->source->state, fence->fence);
        source_drop(fence->source);
    }
    return true;
}

/* --- working off ---------------------------------------------------------- */

static void make_call(const struct retire_step *step)
{
    struct retire_call *call = (struct retire_call *)(uintptr_t)step->what;

    call->call(call);
}

static enum ashlar_status do_step(struct ashlar_source *source,
                                  const struct retire_step *step)
{
    switch (step->kind) {
    case RETIRE_UNMAP:
        return source_unmap(source, step->what, step->bytes);
    case RETIRE_DESTROY:
        return source_destroy(source, step->what, step->bytes);
    case RETIRE_RELEASE:
        return source_release(source, step->what, step->bytes);
    case RETIRE_ALLOW:
        return source_allow(source, step->what, step->bytes, &step->access, 1);
    case RETIRE_CALL:
        make_call(step);
        return ASHLAR_OK;
    }
    return ASHLAR_ERR_INVALID;
}

/* A step done, or given up: what was counted for it is counted no more. */
static void count_step(struct ashlar_source *source,
                       const struct retire_step *step, bool given_up)
{
    if (step->kind == RETIRE_DESTROY)
        __atomic_fetch_sub(&source->retire.bytes, step->bytes,
                           __ATOMIC_RELAXED);
    if (given_up)
        __atomic_fetch_add(&source->retire.dropped, 1, __ATOMIC_RELAXED);
    else if (step->kind == RETIRE_DESTROY || step->kind == RETIRE_RELEASE)
        __atomic_fetch_add(&source->retire.given_back, 1, __ATOMIC_RELEASE);
}

/* Whether none of the steps to come touches a mapping. */
static bool no_mapping_left(const struct retire_item *item)
{
    enum retire_kind kind;

    if (item->next_step == item->step_count)
        return true;
    kind = item->steps[item->next_step].kind;
    return kind == RETIRE_DESTROY || kind == RETIRE_RELEASE;
}

/* Give up what is left of an item; the driver is not called. */
static void drop_steps(struct ashlar_source *source, struct retire_item *item)
{
    const struct retire_step *step;

    while (item->next_step < item->step_count) {
        step = &item->steps[item->next_step++];
        if (step->kind == RETIRE_RELEASE)
            source_forget(step->bytes);
        if (step->kind == RETIRE_CALL)
            make_call(step);
        count_step(source, step, true);
    }
}

/* Work an item off as far as it goes; true when it is done. */
static bool work_off(struct ashlar_source *source, struct retire_item *item)
{
    const struct retire_step *step;
    enum ashlar_status status = ASHLAR_OK;

    if (!retire_item_passed(item))
        return false;
    while (item->next_step < item->step_count) {
        step = &item->steps[item->next_step];
        status = do_step(source, step);
        if (status != ASHLAR_OK && !source_is_gone(status))
            return false;
        count_step(source, step, status != ASHLAR_OK);
        item->next_step++;
        if (status != ASHLAR_OK)
            drop_steps(source, item);
        if (no_mapping_left(item))
            __atomic_store_n(&item->unmapped, 1, __ATOMIC_RELEASE);
    }
    return true;
}

/* --- the list ------------------------------------------------------------- */

/* With the lock held. */
static void link_item(struct retire *retire, struct retire_item *item)
{
    struct retire_item *earlier = retire->last;

    while (earlier != NULL && earlier->owner != item->owner)
        earlier = earlier->previous;
    item->queued = true;
    item->blocked = earlier != NULL;
    if (earlier != NULL)
        earlier->follower = item;
    item->previous = retire->last;
    item->next = NULL;
    if (retire->last == NULL)
        retire->first = item;
    else
        retire->last->next = item;
    retire->last = item;
    __atomic_fetch_add(&retire->items, 1, __ATOMIC_RELEASE);
}

/* With the lock held: take a finished item out of the list. */
static void unlink_item(struct retire *retire, struct retire_item *item)
{
    item->queued = false;
    if (item->follower != NULL)
        item->follower->blocked = false;
    if (item->previous == NULL)
        retire->first = item->next;
    else
        item->previous->next = item->next;
    if (item->next == NULL)
        retire->last = item->previous;
    else
        item->next->previous = item->previous;
    __atomic_fetch_sub(&retire->items, 1, __ATOMIC_RELEASE);
}

/*
 * With the lock held, which is given up meanwhile: work on an item, which stays
 * in the list, and its followers with it. Returns whether it is done and gone;
 * *next_out is the one behind it.
 */
static bool handle_item(struct ashlar_source *source, struct retire_item *item,
                        struct retire_item **next_out)
{
    struct retire *retire = &source->retire;
    bool done;

    item->busy = true;
    item->taken = ++retire->takings;
    lock_give(&retire->lock);
    done = work_off(source, item);
    lock_take(&retire->lock);
    item->busy = false;
    *next_out = item->next;
    if (done) {
        unlink_item(retire, item);
        retire_item_drop(item);
    }
    return done;
}

/* Whether a call is the next thing to be done for an item. */
static bool is_call(const struct retire_item *item)
{
    return item->next_step < item->step_count &&
           item->steps[item->next_step].kind == RETIRE_CALL;
}

/*
 * With the lock held: work off what can be, until so many had to wait. Not with
 * `calls`: no item that makes one, since a call may queue items, and would make
 * the next call before it returns, as deep as there are calls.
 */
static void collect(struct ashlar_source *source, uint64_t patience, bool calls)
{
    struct retire_item *item = source->retire.first;
    bool done;

    while (item != NULL && patience != 0) {
        if (item->busy || item->blocked) {
            item = item->next;
            continue;
        }
        done = false;
        if (calls || !is_call(item))
            done = handle_item(source, item, &item);
        else
            item = item->next;
        patience -= !done;
    }
}

bool retire_collect(struct ashlar_source *source)
{
    struct retire *retire = &source->retire;
    struct error before;
    bool done;

    if (retire_is_empty(retire))
        return true;
    error_copy(&before);
    lock_take(&retire->lock);
    collect(source, UINT64_MAX, true);
    done = retire->first == NULL;
    lock_give(&retire->lock);
    error_restore(&before);
    return done;
}

void retire_item_queue(struct ashlar_source *source, struct retire_item *item)
{
    struct retire *retire = &source->retire;
    struct retire_item *next;
    struct error before;
    bool mine;
    uint32_t i;

    for (i = 0; i < item->step_count; i++)
        if (item->steps[i].kind == RETIRE_DESTROY)
            __atomic_fetch_add(&retire->bytes, item->steps[i].bytes,
                               __ATOMIC_RELAXED);
    if (no_mapping_left(item))
        item->unmapped = 1;
    error_copy(&before);
    __atomic_fetch_add(&item->references, 1, __ATOMIC_RELAXED);
    lock_take(&retire->lock);
    link_item(retire, item);
    /* In hand from the start, so that nobody else's pace decides when. */
    mine = !item->blocked;
    item->busy = mine;
    collect(source, GLANCE, false);
    if (item->queued && !item->blocked && item->busy == mine)
        (void)handle_item(source, item, &next);
    lock_give(&retire->lock);
    retire_item_drop(item);
    error_restore(&before);
}

/* Whether an item of an owner is in hand that was taken by then. */
static bool is_in_hand(struct retire *retire, uint64_t owner, uint64_t then)
{
    const struct retire_item *item;
    bool found = false;

    lock_take(&retire->lock);
    for (item = retire->first; item != NULL && !found; item = item->next)
        found = item->owner == owner && item->busy && item->taken <= then;
    lock_give(&retire->lock);
    return found;
}

static uint64_t takings(struct retire *retire)
{
    uint64_t count;

    lock_take(&retire->lock);
    count = retire->takings;
    lock_give(&retire->lock);
    return count;
}

void retire_settle(struct ashlar_source *source, uint64_t owner)
{
    uint64_t now;

    if (retire_is_empty(&source->retire))
        return;
    now = takings(&source->retire);
    while (is_in_hand(&source->retire, owner, now))
        (void)sched_yield();
}

/* Whether some thread has an item in hand that gives back what may be lacking. */
static bool is_giving_back(struct retire *retire)
{
    const struct retire_item *item;
    bool found = false;

    lock_take(&retire->lock);
    for (item = retire->first; item != NULL && !found; item = item->next)
        found = item->busy && item->step_count != 0 &&
                item->steps[item->step_count - 1].kind != RETIRE_ALLOW;
    lock_give(&retire->lock);
    return found;
}

bool retire_await(struct ashlar_source *source,
                  struct retire_patience *patience)
{
    static const struct timespec pause = {0, 20000};
    const uint64_t seen = patience->given_back;
    uint64_t now = source_clock_ns();
    uint64_t slice = now + SLICE_NS;

    if (patience->deadline == 0)
        patience->deadline = now + PATIENCE_NS;
    (void)retire_collect(source);
    while (now < patience->deadline && is_giving_back(&source->retire) &&
           (now < slice || retire_given_back(source) == seen)) {
        (void)nanosleep(&pause, NULL);
        now = source_clock_ns();
    }
    patience->given_back = retire_given_back(source);
    return now < patience->deadline && patience->given_back != seen;
}

uint64_t retire_given_back(struct ashlar_source *source)
{
    return __atomic_load_n(&source->retire.given_back, __ATOMIC_ACQUIRE);
}

uint64_t retire_bytes(struct ashlar_source *source)
{
    return __atomic_load_n(&source->retire.bytes, __ATOMIC_RELAXED);
}
