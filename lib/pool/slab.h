/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The slab: a stretch of slots, and the map from addresses to slabs.
 *
 *     a block from the source, or a
 *     part of the pool's range         records, from libc
 *     base ─> [slot 0][slot 1] ...     struct slab ─> state[count]  1 B a slot
 *                                                  ├> free[]        1 bit
 *                                                  ├> summary[]     1 bit a word
 *                                                  └> tags[count]   runs only
 *
 * Invariants:
 *   - a slab is never taken away before its pool is destroyed (a trim takes
 *     pages from under it), so a pointer to one, or to its state, stays good;
 *   - base, count, first and number never change;
 *   - singles: bit i of free is set iff slot i is in the shared store;
 *     bit w of summary is set iff free[w] is not 0;
 *   - runs: tags[i].length is not 0 iff a run, live or free, starts at i, and
 *     the runs tile the slab;
 *   - the map is replaced, never changed, when a slab comes; old maps live
 *     until the pool is destroyed, so reading needs no lock.
 *
 * free, summary, tags, kind and free_slots change under the pool's lock, but
 * for the tag of a run that a thread has; kind and tags are read without it.
 */
#ifndef ASHLAR_POOL_SLAB_H
#define ASHLAR_POOL_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pool/geometry.h"
#include "pool/state.h"
#include "range/range.h"
#include "source/source.h"

enum slab_kind {
    SLAB_SINGLES = 0,
    SLAB_RUNS = 1,
    SLAB_VACANT = 2 /* its memory was trimmed away: see vacate.h */
};

/** Where a run is. */
enum run_state {
    RUN_FREE = 0,
    RUN_LIVE = 1, /* with a caller */
    RUN_SPARE = 2 /* put, and kept by a thread: see spare.h */
};

/**
 * Where a run starts: see runs.h. Written by whoever has the run, and read by
 * anybody, so all of it is atomic.
 */
struct run_tag {
    uint64_t link;   /* free: place of the next in its list; else its address */
    uint32_t length; /* slots; 0: no run starts here */
    uint32_t state;  /* enum run_state */
};

struct slab {
    char *base;
    uint32_t count;
    uint32_t number; /* place in the order of making */
    uint64_t first;  /* pool index of slot 0 */
    unsigned kind;   /* enum slab_kind; atomic */
    uint32_t free_slots;
    uint32_t low; /* no summary word below this one has a bit */
    uint32_t words;
    unsigned char *state; /* NULL in an unchecked pool */
    uint64_t *free;
    uint64_t *summary;
    struct run_tag *tags; /* NULL until the slab first holds runs */
    bool prefaulted;
    void *block; /* what the source gave; NULL on a range */
    size_t block_bytes;
    size_t block_alignment;
};

/** Some neighbouring slots of one slab: begin to end - 1. */
struct extent {
    struct slab *slab;
    uint32_t begin;
    uint32_t end;
};

struct slab_place {
    uintptr_t base;
    uintptr_t end;
    struct slab *slab;
};

/** The slabs of a pool, by address and in the order of making. */
struct slab_map {
    uint32_t count;
    struct slab_map *older;
    struct slab **order;        /* count of them, in the same block */
    struct slab_place places[]; /* count of them, by address */
};

/** How slabs of a pool are made. */
struct slab_plan {
    struct ashlar_source *source;
    struct ashlar_range *range; /* the pool's own; NULL: blocks */
    uint64_t placed;            /* slots of all slabs in the range */
    struct geometry geometry;
    size_t alignment;
    bool checked;
    bool huge;
};

/**
 * Make a slab of `count` slots or a few more, no more than most. It belongs to
 * no map yet.
 *
 * @return NULL when there is no memory. With a range the error is set, since it
 *         may say more; without one it is not.
 */
struct slab *slab_create(struct slab_plan *plan, uint32_t count, uint32_t most,
                         enum slab_kind kind);

void slab_destroy(const struct slab_plan *plan, struct slab *slab);

/** Destroy the slab made last: the range is as it was before. */
void slab_undo(struct slab_plan *plan, struct slab *slab);

/** Give a vacant slab memory again: as ashlar_range_grow_to(). */
enum ashlar_status slab_refill(struct slab_plan *plan, struct slab *slab);

/** Take the memory of the range's last slabs away, from this one on. */
enum ashlar_status slab_cut(struct slab_plan *plan, struct slab *slab,
                            uint64_t *bytes_out);

/** A new map with one slab more; numbers the slab. NULL: no memory. */
struct slab_map *slab_map_with(struct slab_map *map, struct slab *slab,
                               size_t stride);

/** Free a map and all its older ones. */
void slab_map_free(struct slab_map *map);

/** The slab that an address lies in; NULL for none. map may be NULL. */
struct slab *slab_map_find(const struct slab_map *map, uintptr_t address);

/** The slab that a pool index lies in; NULL for none. map may be NULL. */
struct slab *slab_map_at(const struct slab_map *map, uint64_t index);

/** Give a singles slab all its slots as free ones, or none. */
void slab_set_all_free(struct slab *slab, bool is_free);

/** Make room for the tags of runs: 0, or -1 when there is no memory. */
int slab_make_tags(struct slab *slab);

/** Bytes of the library's own records for a slab. */
size_t slab_record_bytes(const struct slab *slab);

/** Touch the state bytes, so that a get meets no page fault. */
void slab_prefault(struct slab *slab);

static inline char *slab_slot(const struct slab *slab, size_t stride,
                              uint32_t index)
{
    return slab->base + (size_t)index * stride;
}

/** Mark one slot live; returns its address. */
static inline char *slab_hand_out(const struct slab *slab, size_t stride,
                                  uint32_t index)
{
    if (slab->state != NULL)
        state_set(slab->state + index, SLOT_LIVE);
    return slab_slot(slab, stride, index);
}

static inline enum slab_kind slab_kind_of(const struct slab *slab)
{
    return (enum slab_kind)__atomic_load_n(&slab->kind, __ATOMIC_ACQUIRE);
}

/** From now on whoever reads the kind sees what was made for it, as tags. */
static inline void slab_set_kind(struct slab *slab, enum slab_kind kind)
{
    __atomic_store_n(&slab->kind, kind, __ATOMIC_RELEASE);
}

static inline uint64_t run_link(const struct run_tag *tag)
{
    return __atomic_load_n(&tag->link, __ATOMIC_RELAXED);
}

static inline void run_set_link(struct run_tag *tag, uint64_t link)
{
    __atomic_store_n(&tag->link, link, __ATOMIC_RELAXED);
}

static inline uint32_t run_length(const struct run_tag *tag)
{
    return __atomic_load_n(&tag->length, __ATOMIC_RELAXED);
}

static inline void run_set_length(struct run_tag *tag, uint32_t length)
{
    __atomic_store_n(&tag->length, length, __ATOMIC_RELAXED);
}

static inline enum run_state run_state_of(const struct run_tag *tag)
{
    return (enum run_state)__atomic_load_n(&tag->state, __ATOMIC_RELAXED);
}

static inline void run_set_state(struct run_tag *tag, enum run_state state)
{
    __atomic_store_n(&tag->state, state, __ATOMIC_RELEASE);
}

/**
 * Take a live run from its caller, to be put somewhere; false when it is not
 * live. Of several who try at once one does.
 */
static inline bool run_claim(struct run_tag *tag)
{
    uint32_t live = RUN_LIVE;

    return __atomic_compare_exchange_n(&tag->state, &live, RUN_SPARE, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#endif
