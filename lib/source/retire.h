/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * What is to be taken away, when its fences have passed.
 *
 *     source->retire ─> item ─> item ─> ...       in the order of retiring
 *                        fences   [source, fence] ...
 *                        steps    unmap ... destroy ... release ...
 *
 * There is no thread of the library's: verbs that need memory or addresses, and
 * ashlar_source_drain(), collect. An item whose fences have all passed is
 * worked off step by step; what fails stays, and is tried again by the next
 * collection, so nothing is lost. When the driver is gone or the context has
 * failed, what is left of an item is dropped and counted, and no call made.
 *
 * Invariants:
 *   - items of one owner are worked off in their order: addresses are released
 *     after what was mapped there. An item is blocked while an earlier one of
 *     its owner is in the list, whose `follower` it is or one of those behind;
 *   - an item is in hand of one thread at a time, and stays in the list
 *     meanwhile, so whoever waits sees it;
 *   - steps below `next_step` are done; `unmapped` is set when none that are
 *     left touches a mapping;
 *   - bytes is the memory of the chunks that still wait.
 */
#ifndef ASHLAR_SOURCE_RETIRE_H
#define ASHLAR_SOURCE_RETIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/plugin.h>
#include <ashlar/status.h>

#include "base/lock.h"

struct ashlar_source;

enum retire_kind {
    RETIRE_UNMAP = 1,   /* address, bytes */
    RETIRE_DESTROY = 2, /* a chunk, bytes */
    RETIRE_RELEASE = 3, /* a reservation: address, bytes */
    RETIRE_ALLOW = 4,   /* rights to be put back: address, bytes, access */
    RETIRE_CALL = 5     /* a struct retire_call */
};

struct retire_step {
    enum retire_kind kind;
    uint64_t what;
    uint64_t bytes;
    struct ashlar_access access;
};

/**
 * What is not the source's to take away, such as records that work still reads.
 * It is called once, by whoever collects, also when the driver is gone; it may
 * queue items, and takes no other lock, for any may be held.
 */
struct retire_call {
    void (*call)(struct retire_call *self);
};

struct retire_fence {
    struct ashlar_source *source; /* held */
    uint64_t fence;
};

struct retire_item {
    struct retire_item *next;
    struct retire_item *previous;
    struct retire_item *follower; /* the next of its owner */
    uint64_t owner;               /* items of one owner keep their order */
    uint64_t taken;               /* which of retire's takings was its last */
    unsigned references;          /* the list's, and the owner's; atomic */
    unsigned unmapped;            /* atomic: no mapping of it is left */
    bool queued;                  /* in the list */
    bool busy;                    /* in hand of a thread */
    bool blocked;                 /* an earlier one of its owner is there */
    uint32_t fence_count;
    uint32_t step_count;
    uint32_t step_room;
    uint32_t next_step;
    struct retire_fence *fences; /* in the same block, behind steps */
    struct retire_step steps[];
};

struct retire {
    struct lock lock;
    struct retire_item *first;
    struct retire_item *last;
    uint64_t takings;    /* of items in hand, so far */
    uint64_t bytes;      /* of chunks that wait; atomic */
    uint64_t items;      /* atomic */
    uint64_t dropped;    /* steps given up since the driver was gone; atomic */
    uint64_t given_back; /* chunks and reservations so far; atomic */
};

/** How long an operation is tried again: see retire_await(). */
struct retire_patience {
    uint64_t given_back; /* retire_given_back() before it was tried */
    uint64_t deadline;   /* of source_clock_ns(); 0: not set yet */
};

/** A number that no other owner has, for the life of the process. */
uint64_t retire_owner(void);

/**
 * An item with room for steps and fences; NULL: no memory, no error set. Owner
 * 0 is for items that are never queued.
 */
struct retire_item *retire_item_create(uint64_t owner, uint32_t steps,
                                       uint32_t fences);

/** Drop a reference; the last frees the item, and drops its fences. */
void retire_item_drop(struct retire_item *item);

/** Whether all fences have passed; those that have are dropped. */
bool retire_item_passed(struct retire_item *item);

/** Append a step; there is room. Mappings first, chunks, then addresses. */
void retire_item_add(struct retire_item *item, enum retire_kind kind,
                     uint64_t what, uint64_t bytes);

/**
 * Queue an item, which the list owns from then on, and work it off if that can
 * be done at once; also some that waited before it and make no call.
 */
void retire_item_queue(struct ashlar_source *source, struct retire_item *item);

/** Work off what can be; returns whether nothing waits any more. */
bool retire_collect(struct ashlar_source *source);

/**
 * Wait until other threads have laid down the items of that owner that they have
 * in hand now. Who has one asks its fences or takes its steps, and waits for
 * nobody meanwhile; what is taken in hand later is not waited for.
 */
void retire_settle(struct ashlar_source *source, uint64_t owner);

/**
 * After an operation found no memory or addresses: collect, and wait while
 * another thread is giving some back, but no longer than a second all in all.
 *
 * @return Whether anything has been given back since the operation was tried,
 *         so that it is worth trying again.
 */
bool retire_await(struct ashlar_source *source,
                  struct retire_patience *patience);

/** Chunks destroyed and reservations released so far. */
uint64_t retire_given_back(struct ashlar_source *source);

/** Bytes of memory that wait. */
uint64_t retire_bytes(struct ashlar_source *source);

/** Whether items wait at all: one load. */
static inline bool retire_is_empty(const struct retire *retire)
{
    return __atomic_load_n(&retire->items, __ATOMIC_ACQUIRE) == 0;
}

#endif
