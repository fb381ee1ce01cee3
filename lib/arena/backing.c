/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "arena/backing.h"

#include <string.h>

#include "arena/arena.h"
#include "base/align.h"
#include "base/error.h"
#include "base/memory.h"
#include "range/range.h"

/* What may be idle in a range whose chunks are of any size. */
#define SLACK_GRANULES 32

/* The slack doubles when so many times the peak's bytes came and went. */
#define PATIENCE 16

/* Granules from first to last, both included. */
struct granules {
    uint64_t first;
    uint64_t last;
};

static struct granules granules_of(const struct backing *backing,
                                   const void *block, uint64_t bytes)
{
    uint64_t at = (uint64_t)(uintptr_t)block - backing->base;

    return (struct granules){at >> backing->granule_shift,
                             (at + bytes - 1) >> backing->granule_shift};
}

static uint64_t bytes_of(const struct backing *backing, uint64_t granules)
{
    return granules << backing->granule_shift;
}

/* --- the life of it ------------------------------------------------------- */

static uint64_t words_for(uint64_t bits)
{
    return (bits + 63) / 64;
}

static void free_records(struct backing *backing)
{
    memory_free(backing->pins);
    memory_free(backing->whole);
    memory_free(backing->mapped);
    memory_free(backing->starts);
}

/* Large and mostly never touched: zeroed pages of the kernel's. */
static enum ashlar_status make_records(struct backing *backing)
{
    uint64_t granules = backing->bytes >> backing->granule_shift;
    uint64_t starts = words_for(backing->bytes / ARENA_QUANTUM);

    backing->pins = memory_zalloc(granules * sizeof(*backing->pins));
    backing->whole =
        memory_zalloc(words_for(granules) * sizeof(*backing->whole));
    backing->mapped =
        memory_zalloc(words_for(granules) * sizeof(*backing->mapped));
    backing->starts = memory_zalloc(starts * sizeof(*backing->starts));
    if (backing->pins != NULL && backing->whole != NULL &&
        backing->mapped != NULL && backing->starts != NULL)
        return ASHLAR_OK;
    free_records(backing);
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory for the records of an arena on %lu bytes "
                     "of addresses; set reserve_bytes to fewer",
                     (unsigned long)backing->bytes);
}

enum ashlar_status backing_open(struct backing *backing,
                                struct ashlar_range *range, bool owned)
{
    enum ashlar_status status;

    *backing = (struct backing){
        .range = range,
        .owned = owned,
        .base = range->base,
        .bytes = range->reserved,
        .granule_shift = (unsigned)__builtin_ctzll(range->granule),
        .slack = range->chunk_max != 0 ? range->chunk_max
                                       : SLACK_GRANULES * range->granule,
    };
    lock_init(&backing->lock);
    status = make_records(backing);
    if (status != ASHLAR_OK)
        return status;
    status = range_occupy(range); /* another may have been quicker */
    if (status != ASHLAR_OK)
        free_records(backing);
    return status;
}

enum ashlar_status backing_close(struct backing *backing)
{
    struct ashlar_range *range = backing->range;
    enum ashlar_status status;

    __atomic_fetch_sub(&range->holders, 1, __ATOMIC_RELEASE);
    status = backing->owned ? ashlar_range_destroy(range, ASHLAR_QUIET, 1)
                            : range_shrink(range, 0, NULL);
    if (status != ASHLAR_OK) {
        __atomic_fetch_add(&range->holders, 1, __ATOMIC_RELAXED);
        return status;
    }
    free_records(backing);
    backing->range = NULL;
    return ASHLAR_OK;
}

void backing_reset(struct backing *backing, uint64_t handed_out)
{
    uint64_t granules =
        align_up(handed_out, bytes_of(backing, 1)) >> backing->granule_shift;

    memset(backing->pins, 0, granules * sizeof(*backing->pins));
    memset(backing->whole, 0, words_for(granules) * sizeof(*backing->whole));
    memset(backing->starts, 0,
           words_for(handed_out / ARENA_QUANTUM) * sizeof(*backing->starts));
    __atomic_store_n(&backing->idle, true, __ATOMIC_RELEASE);
}

/* --- which blocks are live ------------------------------------------------ */

static uint64_t *start_word(const struct backing *backing, const void *block,
                            uint64_t *bit_out)
{
    uint64_t at = ((uint64_t)(uintptr_t)block - backing->base) / ARENA_QUANTUM;

    *bit_out = UINT64_C(1) << (at % 64);
    return backing->starts + at / 64;
}

bool backing_enter(struct backing *backing, const void *block)
{
    uint64_t bit;
    uint64_t *word = start_word(backing, block, &bit);

    return (__atomic_fetch_or(word, bit, __ATOMIC_RELAXED) & bit) == 0;
}

bool backing_leave(struct backing *backing, const void *block)
{
    uint64_t bit;
    uint64_t *word = start_word(backing, block, &bit);

    return (uintptr_t)block % ARENA_QUANTUM == 0 &&
           (__atomic_fetch_and(word, ~bit, __ATOMIC_ACQ_REL) & bit) != 0;
}

bool backing_is_live(const struct backing *backing, const void *block)
{
    uint64_t bit;
    const uint64_t *word = start_word(backing, block, &bit);

    return (uintptr_t)block % ARENA_QUANTUM == 0 &&
           (__atomic_load_n(word, __ATOMIC_RELAXED) & bit) != 0;
}

/* --- a bit for each granule ----------------------------------------------- */

/* The bits of a word that lie in [from, to), which begins in it. */
static uint64_t mask_of(uint64_t from, uint64_t to)
{
    uint64_t bits = min_size(to - from, 64 - from % 64);

    return (bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1) << (from % 64);
}

static uint64_t next_word(uint64_t from)
{
    return (from / 64 + 1) * 64;
}

static void set_bits(uint64_t *bits, uint64_t from, uint64_t to, bool value)
{
    uint64_t *word;

    for (; from < to; from = next_word(from)) {
        word = &bits[from / 64];
        if (value)
            __atomic_fetch_or(word, mask_of(from, to), __ATOMIC_RELEASE);
        else
            __atomic_fetch_and(word, ~mask_of(from, to), __ATOMIC_RELEASE);
    }
}

static bool has_bit(const uint64_t *bits, uint64_t from, uint64_t to)
{
    for (; from < to; from = next_word(from))
        if ((__atomic_load_n(&bits[from / 64], __ATOMIC_ACQUIRE) &
             mask_of(from, to)) != 0)
            return true;
    return false;
}

/* --- pins ----------------------------------------------------------------- */

/* A granule that the block shares with others, perhaps. */
static void pin_edge(struct backing *backing, uint64_t granule)
{
    __atomic_fetch_add(&backing->pins[granule], 1, __ATOMIC_RELAXED);
}

static void unpin_edge(struct backing *backing, uint64_t granule)
{
    if (__atomic_fetch_sub(&backing->pins[granule], 1, __ATOMIC_RELEASE) == 1)
        __atomic_store_n(&backing->idle, true, __ATOMIC_RELEASE);
}

/* Granules that are the block's alone. */
static void set_middle(struct backing *backing, uint64_t from, uint64_t to,
                       bool whole)
{
    set_bits(backing->whole, from, to, whole);
}

void backing_pin(struct backing *backing, const void *block, uint64_t bytes)
{
    struct granules on = granules_of(backing, block, bytes);

    pin_edge(backing, on.first);
    set_middle(backing, on.first + 1, on.last, true);
    if (on.last != on.first)
        pin_edge(backing, on.last);
}

void backing_unpin(struct backing *backing, const void *block, uint64_t bytes)
{
    struct granules on = granules_of(backing, block, bytes);

    if (on.last != on.first)
        unpin_edge(backing, on.first);
    set_middle(backing, on.first + 1, on.last, false);
    unpin_edge(backing, on.last);
    if (on.last - on.first > 1)
        __atomic_store_n(&backing->idle, true, __ATOMIC_RELEASE);
}

/* At no time is a granule of the block without either. */
void backing_repin(struct backing *backing, const void *block, uint64_t before,
                   uint64_t after)
{
    uint64_t first = granules_of(backing, block, 1).first;
    uint64_t last = granules_of(backing, block, before).last;
    uint64_t now = granules_of(backing, block, after).last;

    if (now > last) {
        pin_edge(backing, now);
        set_middle(backing, max_size(last, first + 1), now, true);
        if (last != first)
            unpin_edge(backing, last);
    } else if (now < last) {
        if (now != first)
            pin_edge(backing, now);
        set_middle(backing, max_size(now, first + 1), last, false);
        unpin_edge(backing, last);
        __atomic_store_n(&backing->idle, true, __ATOMIC_RELEASE);
    }
}

/*
 * Whether no block lies in a stretch's granules. Of a block that grows, the pin
 * of its last granule becomes a bit; so bits are looked at after the pins, too.
 */
static bool is_idle(const struct backing *backing, uint64_t from, uint64_t to)
{
    uint64_t granule;

    if (has_bit(backing->whole, from, to))
        return false;
    for (granule = from; granule < to; granule++)
        if (__atomic_load_n(&backing->pins[granule], __ATOMIC_ACQUIRE) != 0)
            return false;
    return !has_bit(backing->whole, from, to);
}

/* --- where there is memory ------------------------------------------------ */

/* Granules in [from, to) that have no memory. */
static uint64_t count_missing(const struct backing *backing, uint64_t from,
                              uint64_t to)
{
    uint64_t missing = 0;
    uint64_t word;

    for (; from < to; from = next_word(from)) {
        word = __atomic_load_n(&backing->mapped[from / 64], __ATOMIC_ACQUIRE);
        missing += (uint64_t)__builtin_popcountll(~word & mask_of(from, to));
    }
    return missing;
}

static void set_mapped(struct backing *backing, uint64_t from, uint64_t to,
                       bool mapped)
{
    set_bits(backing->mapped, from, to, mapped);
}

/* With the lock held. */
static uint64_t reach(const struct backing *backing, const void *block,
                      struct granules on)
{
    uint64_t granule = on.first;

    while (granule <= on.last &&
           count_missing(backing, granule, granule + 1) == 0)
        granule++;
    return backing->base + bytes_of(backing, granule) -
           (uint64_t)(uintptr_t)block;
}

/* What seems to have none may be about to get its bit back: see vacate(). */
uint64_t backing_reach(struct backing *backing, const void *block,
                       uint64_t limit)
{
    struct granules on = granules_of(backing, block, limit);
    uint64_t bytes;

    if (count_missing(backing, on.first, on.last + 1) == 0)
        return limit;
    lock_take(&backing->lock);
    bytes = reach(backing, block, on);
    lock_give(&backing->lock);
    return min_size(limit, bytes);
}

/* --- taking away ---------------------------------------------------------- */

/* The first chunk from an offset on, as granules; false: no more. */
static bool next_chunk(const struct backing *backing, uint64_t from,
                       struct granules *chunk_out)
{
    struct ashlar_range_chunk chunk;

    if (!range_chunk_from(backing->range, bytes_of(backing, from), &chunk))
        return false;
    chunk_out->first = chunk.offset >> backing->granule_shift;
    chunk_out->last =
        ((chunk.offset + chunk.bytes) >> backing->granule_shift) - 1;
    return true;
}

/*
 * Idle chunks side by side, from a granule on, until they are so many bytes or
 * end; false: no more.
 */
static bool next_idle(const struct backing *backing, uint64_t from,
                      uint64_t bytes, struct granules *idle_out)
{
    struct granules chunk;

    while (next_chunk(backing, from, &chunk) &&
           !is_idle(backing, chunk.first, chunk.last + 1))
        from = chunk.last + 1;
    if (!next_chunk(backing, from, &chunk))
        return false;
    *idle_out = chunk;
    while (bytes_of(backing, idle_out->last + 1 - idle_out->first) < bytes &&
           next_chunk(backing, idle_out->last + 1, &chunk) &&
           chunk.first == idle_out->last + 1 &&
           is_idle(backing, chunk.first, chunk.last + 1))
        idle_out->last = chunk.last;
    return true;
}

/* With the lock held: what was idle goes, unless it is pinned just now. */
static enum ashlar_status vacate(struct backing *backing, struct granules idle)
{
    uint64_t count = idle.last + 1 - idle.first;
    enum ashlar_status status = ASHLAR_OK;

    set_mapped(backing, idle.first, idle.last + 1, false);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (is_idle(backing, idle.first, idle.last + 1)) {
        status = range_vacate(backing->range, bytes_of(backing, idle.first),
                              bytes_of(backing, count));
        backing->releases += status == ASHLAR_OK;
        if (status == ASHLAR_OK)
            return ASHLAR_OK;
    }
    __atomic_store_n(&backing->idle, true, __ATOMIC_RELEASE);
    set_mapped(backing, idle.first, idle.last + 1, true);
    return status;
}

/* With the lock held: so many bytes, or what there is. */
static enum ashlar_status release(struct backing *backing, uint64_t bytes)
{
    const struct ashlar_range *range = backing->range;
    uint64_t goal = range->committed > bytes ? range->committed - bytes : 0;
    enum ashlar_status status = ASHLAR_OK;
    struct granules idle = {0, 0};
    uint64_t from = 0;

    if (!__atomic_exchange_n(&backing->idle, false, __ATOMIC_ACQ_REL))
        return ASHLAR_OK;
    while (status == ASHLAR_OK && range->committed > goal &&
           next_idle(backing, from, range->committed - goal, &idle)) {
        status = vacate(backing, idle);
        from = idle.last + 1;
    }
    if (range->committed <= goal) /* there may be more */
        __atomic_store_n(&backing->idle, true, __ATOMIC_RELEASE);
    return status;
}

enum ashlar_status backing_release(struct backing *backing,
                                   uint64_t *released_out)
{
    enum ashlar_status status;
    uint64_t before;

    lock_take(&backing->lock);
    before = backing->range->committed;
    status = release(backing, UINT64_MAX);
    *released_out = before - backing->range->committed;
    lock_give(&backing->lock);
    return status;
}

/* --- committing ----------------------------------------------------------- */

/* Bytes of memory without a pin. */
static uint64_t idle_bytes(const struct backing *backing)
{
    uint64_t idle = 0;
    uint64_t mapped;
    uint64_t granule;
    uint64_t w;

    for (w = 0; w < words_for(backing->top); w++) {
        mapped = __atomic_load_n(&backing->mapped[w], __ATOMIC_RELAXED) &
                 ~__atomic_load_n(&backing->whole[w], __ATOMIC_RELAXED);
        for (; mapped != 0; mapped &= mapped - 1) {
            granule = w * 64 + (uint64_t)__builtin_ctzll(mapped);
            idle +=
                __atomic_load_n(&backing->pins[granule], __ATOMIC_RELAXED) == 0;
        }
    }
    return bytes_of(backing, idle);
}

/*
 * Bytes went so that others could come. A loop whose blocks fall into so many
 * holes would have that happen in every round; it shall come to an end.
 */
static void note_exchange(struct backing *backing, uint64_t bytes)
{
    backing->exchanged += bytes;
    if (backing->exchanged / PATIENCE < backing->peak)
        return;
    backing->slack *= 2;
    backing->exchanged = 0;
}

/*
 * What is kept idle is kept for such a moment: it shall not cost memory that
 * there was never need of before. That it cannot be given back is no failure.
 */
static void make_good(struct backing *backing, uint64_t missing)
{
    uint64_t committed = backing->range->committed;
    uint64_t needed = committed + missing;
    struct error before;
    uint64_t idle;

    if (needed <= backing->peak ||
        !__atomic_load_n(&backing->idle, __ATOMIC_ACQUIRE))
        return;
    idle = idle_bytes(backing);
    if (idle <= backing->slack)
        return;
    error_copy(&before);
    (void)release(backing,
                  min_size(needed - backing->peak, idle - backing->slack));
    error_restore(&before);
    note_exchange(backing, committed - backing->range->committed);
}

/* With the lock held. */
static enum ashlar_status commit(struct backing *backing, struct granules on)
{
    uint64_t offset = bytes_of(backing, on.first);
    uint64_t bytes = bytes_of(backing, on.last + 1 - on.first);
    uint64_t missing =
        bytes_of(backing, count_missing(backing, on.first, on.last + 1));
    enum ashlar_status status;

    if (missing == 0)
        return ASHLAR_OK;
    make_good(backing, missing);
    status = ashlar_range_commit(backing->range, offset, bytes, NULL);
    if (status == ASHLAR_ERR_NO_DEVICE_MEMORY &&
        __atomic_load_n(&backing->idle, __ATOMIC_ACQUIRE) &&
        release(backing, missing) == ASHLAR_OK)
        status = ashlar_range_commit(backing->range, offset, bytes, NULL);
    if (status != ASHLAR_OK)
        return status;
    set_mapped(backing, on.first, on.last + 1, true);
    backing->top = max_size(backing->top, on.last + 1);
    backing->commits++;
    backing->peak = max_size(backing->peak, backing->range->committed);
    return ASHLAR_OK;
}

enum ashlar_status backing_fill(struct backing *backing, const void *block,
                                uint64_t bytes)
{
    struct granules on = granules_of(backing, block, bytes);
    enum ashlar_status status;

    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (ASHLAR_LIKELY(count_missing(backing, on.first, on.last + 1) == 0))
        return ASHLAR_OK;
    lock_take(&backing->lock);
    status = commit(backing, on);
    lock_give(&backing->lock);
    return status;
}
