/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "arena/extent.h"

#include "base/align.h"

/* Where an extent could begin; false when none fits any more. */
static bool find_place(const struct extents *extents, uint64_t next,
                       size_t bytes, size_t alignment, uint64_t *at_out)
{
    *at_out = align_up(next, alignment);
    return *at_out >= next && *at_out <= extents->end &&
           bytes <= extents->end - *at_out;
}

/*
 * `commit` says that there is memory, which is what jemalloc is to believe;
 * `zero` stays as it is, since it never asks for zeros here. It may ask for an
 * address: the one behind what it got last.
 */
static void *extent_alloc(extent_hooks_t *hooks, void *wanted, size_t bytes,
                          size_t alignment, bool *zero, bool *commit,
                          unsigned index)
{
    struct extents *extents = (struct extents *)hooks;
    uint64_t next = __atomic_load_n(&extents->next, __ATOMIC_RELAXED);
    uint64_t at;

    (void)index;
    do {
        if (*zero || !find_place(extents, next, bytes, alignment, &at) ||
            (wanted != NULL && (uint64_t)(uintptr_t)wanted != at)) {
            __atomic_fetch_add(&extents->refused, 1, __ATOMIC_RELAXED);
            return NULL;
        }
    } while (!__atomic_compare_exchange_n(&extents->next, &next, at + bytes,
                                          false, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    *commit = true;
    return (void *)(uintptr_t)at;
}

static bool extent_split(extent_hooks_t *hooks, void *address, size_t bytes,
                         size_t first_bytes, size_t second_bytes,
                         bool committed, unsigned index)
{
    (void)hooks;
    (void)address;
    (void)bytes;
    (void)first_bytes;
    (void)second_bytes;
    (void)committed;
    (void)index;
    return false; /* it was done */
}

static bool extent_merge(extent_hooks_t *hooks, void *first, size_t first_bytes,
                         void *second, size_t second_bytes, bool committed,
                         unsigned index)
{
    (void)hooks;
    (void)first;
    (void)first_bytes;
    (void)second;
    (void)second_bytes;
    (void)committed;
    (void)index;
    return false;
}

/* A hook that is missing has refused: jemalloc keeps its addresses, and never
 * asks for memory or gives it back. */
void extents_start(struct extents *extents, uint64_t base, uint64_t bytes)
{
    *extents = (struct extents){
        .hooks = {.alloc = extent_alloc,
                  .split = extent_split,
                  .merge = extent_merge},
        .base = base,
        .end = base + bytes,
        .next = base,
    };
}

uint64_t extents_refused(const struct extents *extents)
{
    return __atomic_load_n(&extents->refused, __ATOMIC_RELAXED);
}

uint64_t extents_handed_out(const struct extents *extents)
{
    return __atomic_load_n(&extents->next, __ATOMIC_RELAXED) - extents->base;
}
