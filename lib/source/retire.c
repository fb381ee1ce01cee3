/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "source/retire.h"

#include "base/error.h"
#include "base/memory.h"
#include "source/call.h"

struct retire_item *retire_item_create(const void *owner, uint32_t steps,
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
    item->steps[item->step_count++] = (struct retire_step){kind, what, bytes};
}

bool retire_item_passed(struct retire_item *item)
{
    struct retire_fence *fence;
    enum ashlar_status status;

    while (item->fence_count != 0) {
        fence = &item->fences[item->fence_count - 1];
        status =
            fence->source->ops.fence_query(fence->source->state, fence->fence);
        if (status == ASHLAR_ERR_BUSY)
            return false;
        /* A failed context never finishes its work, but runs none either. */
        item->fence_count--;
        fence->source->ops.fence_drop(fence->source->state, fence->fence);
        source_drop(fence->source);
    }
    return true;
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
    }
    return ASHLAR_ERR_INVALID;
}

/* Whether no mapping is left among the steps to come. */
static bool no_mapping_left(const struct retire_item *item)
{
    return item->next_step == item->step_count ||
           item->steps[item->next_step].kind != RETIRE_UNMAP;
}

/* Work an item off as far as it goes; true when it is done. */
static bool work_off(struct ashlar_source *source, struct retire_item *item)
{
    const struct retire_step *step;
    enum ashlar_status status;

    if (!retire_item_passed(item))
        return false;
    item->failed = false;
    while (item->next_step < item->step_count) {
        step = &item->steps[item->next_step];
        status = do_step(source, step);
        if (status != ASHLAR_OK && status != ASHLAR_ERR_NO_DRIVER) {
            item->failed = true;
            return false;
        }
        if (status == ASHLAR_ERR_NO_DRIVER)
            __atomic_fetch_add(&source->retire.dropped, 1, __ATOMIC_RELAXED);
        if (step->kind == RETIRE_DESTROY)
            __atomic_fetch_sub(&source->retire.bytes, step->bytes,
                               __ATOMIC_RELAXED);
        item->next_step++;
        if (no_mapping_left(item))
            __atomic_store_n(&item->unmapped, true, __ATOMIC_RELEASE);
    }
    return true;
}

/* With the lock held: whether an earlier item of its owner still waits. */
static bool is_blocked(const struct retire *retire,
                       const struct retire_item *item)
{
    const struct retire_item *earlier;

    for (earlier = retire->first; earlier != item; earlier = earlier->next)
        if (earlier->owner == item->owner)
            return true;
    return false;
}

/* With the lock held: take a finished item out of the list. */
static void unlink_item(struct retire *retire, struct retire_item *item)
{
    struct retire_item *previous = NULL;
    struct retire_item *at = retire->first;

    for (; at != item; at = at->next)
        previous = at;
    if (previous == NULL)
        retire->first = item->next;
    else
        previous->next = item->next;
    if (retire->last == item)
        retire->last = previous;
    __atomic_fetch_sub(&retire->items, 1, __ATOMIC_RELEASE);
}

/* With the lock held: the next item that may be worked on. */
static struct retire_item *next_ready(const struct retire *retire,
                                      struct retire_item *item)
{
    while (item != NULL && (item->busy || is_blocked(retire, item)))
        item = item->next;
    return item;
}

bool retire_collect(struct ashlar_source *source)
{
    struct retire *retire = &source->retire;
    struct error before;
    struct retire_item *item;
    struct retire_item *next;
    bool done;

    if (retire_is_empty(retire))
        return true;
    error_copy(&before);
    lock_take(&retire->lock);
    for (item = next_ready(retire, retire->first); item != NULL;
         item = next_ready(retire, next)) {
        /* In hand, so it stays in the list and its follower with it. */
        item->busy = true;
        lock_give(&retire->lock);
        done = work_off(source, item);
        lock_take(&retire->lock);
        item->busy = false;
        next = item->next;
        if (done) {
            unlink_item(retire, item);
            retire_item_drop(item);
        }
    }
    done = retire->first == NULL;
    lock_give(&retire->lock);
    error_restore(&before);
    return done;
}

void retire_item_queue(struct ashlar_source *source, struct retire_item *item)
{
    struct retire *retire = &source->retire;
    uint32_t i;

    for (i = 0; i < item->step_count; i++)
        if (item->steps[i].kind == RETIRE_DESTROY)
            __atomic_fetch_add(&retire->bytes, item->steps[i].bytes,
                               __ATOMIC_RELAXED);
    if (no_mapping_left(item))
        item->unmapped = true;
    lock_take(&retire->lock);
    item->next = NULL;
    if (retire->first == NULL)
        retire->first = item;
    else
        retire->last->next = item;
    retire->last = item;
    __atomic_fetch_add(&retire->items, 1, __ATOMIC_RELEASE);
    lock_give(&retire->lock);
    (void)retire_collect(source);
}

uint64_t retire_bytes(struct ashlar_source *source)
{
    return __atomic_load_n(&source->retire.bytes, __ATOMIC_RELAXED);
}
