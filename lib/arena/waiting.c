/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "arena/waiting.h"

#include "arena/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "range/range.h"

/* How many an allocation looks at: a query of an event is not free. */
#define GLANCE 4

static void waiting_block_free(struct waiting_block *one)
{
    if (one->fences != NULL)
        retire_item_drop(one->fences);
    memory_free(one);
}

/* With the lock held: take the block behind `previous` out of the list. */
static struct waiting_block *take_out(struct waiting *waiting,
                                      struct waiting_block *previous)
{
    struct waiting_block *one =
        previous == NULL ? waiting->first : previous->next;

    if (previous == NULL)
        waiting->first = one->next;
    else
        previous->next = one->next;
    if (waiting->last == one)
        waiting->last = previous;
    __atomic_fetch_sub(&waiting->count, 1, __ATOMIC_RELAXED);
    return one;
}

/* With the lock held: up to so many that have not passed are passed over. */
static bool collect(struct ashlar_arena *arena, uint64_t glances)
{
    struct waiting *waiting = &arena->waiting;
    struct waiting_block *previous = NULL;
    struct waiting_block *one = waiting->first;
    bool given = false;

    while (one != NULL && glances != 0) {
        if (!retire_item_passed(one->fences)) {
            previous = one;
            one = one->next;
            glances--;
            continue;
        }
        (void)take_out(waiting, previous);
        arena_return(arena, one->block);
        waiting_block_free(one);
        given = true;
        one = previous == NULL ? waiting->first : previous->next;
    }
    return given;
}

void waiting_glance(struct ashlar_arena *arena)
{
    lock_take(&arena->waiting.lock);
    (void)collect(arena, GLANCE);
    lock_give(&arena->waiting.lock);
}

bool waiting_collect(struct ashlar_arena *arena)
{
    bool given;

    if (waiting_count(&arena->waiting) == 0)
        return false;
    lock_take(&arena->waiting.lock);
    given = collect(arena, UINT64_MAX);
    lock_give(&arena->waiting.lock);
    return given;
}

void waiting_recover(struct ashlar_arena *arena)
{
    struct waiting_block *one;

    while (arena->waiting.first != NULL) {
        one = take_out(&arena->waiting, NULL);
        arena_return(arena, one->block);
        memory_free(one);
    }
}

/* A record with its fences recorded; NULL with the error set. */
static struct waiting_block *
waiting_block_create(struct ashlar_arena *arena,
                     const struct ashlar_fence *fences, size_t n)
{
    struct waiting_block *one = memory_zalloc(sizeof(*one));

    if (one != NULL)
        one->fences = retire_item_create(0, 0, (uint32_t)n);
    if (one == NULL || one->fences == NULL) {
        memory_free(one);
        return error_null(ASHLAR_ERR_NO_MEMORY,
                          "no host memory to note a block of arena \"%s\" "
                          "that waits for fences",
                          arena->name);
    }
    if (fences_record(arena->source, fences, n, one->fences) == ASHLAR_OK)
        return one;
    waiting_block_free(one);
    return NULL;
}

static void queue(struct waiting *waiting, struct waiting_block *one)
{
    lock_take(&waiting->lock);
    if (waiting->last == NULL)
        waiting->first = one;
    else
        waiting->last->next = one;
    waiting->last = one;
    __atomic_fetch_add(&waiting->count, 1, __ATOMIC_RELAXED);
    lock_give(&waiting->lock);
}

enum ashlar_status ashlar_arena_free_after(struct ashlar_arena *arena,
                                           void *block,
                                           const struct ashlar_fence *fences,
                                           size_t n)
{
    enum ashlar_status status = arena_check(arena, "ashlar_arena_free_after()");
    struct waiting_block *one;

    if (status != ASHLAR_OK)
        return status;
    status = fences_check(fences, n, "ashlar_arena_free_after()");
    if (status != ASHLAR_OK)
        return arena_refuse(arena, status);
    one = waiting_block_create(arena, fences, n);
    if (one == NULL)
        return arena_refuse(arena, ashlar_last_error());
    status = arena_take_back(arena, block, "ashlar_arena_free_after()");
    if (status != ASHLAR_OK) {
        waiting_block_free(one);
        return status;
    }
    one->block = block;
    queue(&arena->waiting, one);
    waiting_glance(arena);
    return ASHLAR_OK;
}
