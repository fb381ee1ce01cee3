/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/runs.h"

#include "base/memory.h"
#include "pool/pool.h"
#include "pool/spare.h"

#define FIRST_BINS 8u

/*
 * A place names a run's start for ever, by the slab's number and the index in it;
 * the highest bit tells it from an address.
 */
#define PLACE_MARK (UINT64_C(1) << 63)

static uint64_t place_of(const struct slab *slab, uint32_t index)
{
    return PLACE_MARK | (uint64_t)slab->number << 32 | index;
}

static struct slab *place_slab(const struct ashlar_pool *pool, uint64_t place)
{
    return pool->map->order[(place & ~PLACE_MARK) >> 32];
}

static struct run_tag *place_tag(const struct ashlar_pool *pool, uint64_t place)
{
    return &place_slab(pool, place)->tags[(uint32_t)place];
}

static unsigned class_of(uint32_t length)
{
    return 31u - (unsigned)__builtin_clz(length);
}

static void rest_push(struct ashlar_pool *pool, struct slab *slab,
                      uint32_t index, uint32_t length)
{
    uint64_t *head = &pool->runs.rest[class_of(length)];

    run_set_length(&slab->tags[index], length);
    run_set_state(&slab->tags[index], RUN_FREE);
    run_set_link(&slab->tags[index], *head);
    *head = place_of(slab, index);
}

static void bin_push(struct run_bin *bin, struct slab *slab, uint32_t index)
{
    run_set_length(&slab->tags[index], bin->length);
    run_set_state(&slab->tags[index], RUN_FREE);
    run_set_link(&slab->tags[index], bin->head);
    bin->head = place_of(slab, index);
    bin->free++;
}

/* Where a length stands among the bins, or would. */
static uint32_t bin_position(const struct runs *runs, uint32_t length)
{
    uint32_t low = 0;
    uint32_t high = runs->bin_count;
    uint32_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (runs->bins[middle].length < length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool bin_is(const struct runs *runs, uint32_t position, uint32_t length)
{
    return position < runs->bin_count && runs->bins[position].length == length;
}

static struct run_bin *bin_insert(struct runs *runs, uint32_t position,
                                  uint32_t length)
{
    struct run_bin *bins = runs->bins;
    uint32_t room = runs->bin_room;
    uint32_t i;

    if (runs->bin_count == room) {
        room = room == 0 ? FIRST_BINS : room * 2;
        bins = memory_realloc(bins, room * sizeof(*bins));
        if (bins == NULL)
            return NULL;
        runs->bins = bins;
        runs->bin_room = room;
    }
    for (i = runs->bin_count; i > position; i--)
        bins[i] = bins[i - 1];
    runs->bin_count++;
    bins[position] = (struct run_bin){.length = length};
    return &bins[position];
}

struct run_bin *runs_bin_search(struct ashlar_pool *pool, uint32_t length)
{
    struct runs *runs = &pool->runs;
    uint32_t position = bin_position(runs, length);

    if (!bin_is(runs, position, length) &&
        bin_insert(runs, position, length) == NULL)
        return NULL;
    runs->hints[length % RUNS_HINTS] = position;
    return &runs->bins[position];
}

/*
 * Unlink and return the first stretch of a class that is long enough; in the
 * classes above the length's own every one is.
 */
static uint64_t rest_unlink(struct ashlar_pool *pool, unsigned class,
                            uint32_t length)
{
    uint64_t *link = &pool->runs.rest[class];
    struct run_tag *tag;
    uint64_t place;

    for (place = *link; place != 0; place = *link) {
        tag = place_tag(pool, place);
        if (tag->length >= length) {
            __atomic_store_n(link, tag->link, __ATOMIC_RELAXED);
            return place;
        }
        link = &tag->link;
    }
    return 0;
}

/* Cut `length` slots off a stretch of the rest: 0, or the place. */
static uint64_t rest_cut(struct ashlar_pool *pool, uint32_t length)
{
    unsigned class;
    uint64_t place = 0;
    struct slab *slab;
    uint32_t index;
    uint32_t whole;

    for (class = class_of(length); class < RUNS_CLASSES && place == 0; class ++)
        place = rest_unlink(pool, class, length);
    if (place == 0)
        return 0;
    slab = place_slab(pool, place);
    index = (uint32_t)place;
    whole = slab->tags[index].length;
    run_set_length(&slab->tags[index], length);
    if (whole > length)
        rest_push(pool, slab, index + length, whole - length);
    return place;
}

struct slab *runs_take(struct ashlar_pool *pool, struct run_bin *bin,
                       uint32_t *index_out)
{
    struct run_tag *tag;
    uint64_t place = bin->head;
    struct slab *slab;

    if (place == 0) {
        place = rest_cut(pool, bin->length);
        if (place == 0)
            return NULL;
        slab = place_slab(pool, place);
        tag = &slab->tags[(uint32_t)place];
    } else {
        slab = place_slab(pool, place);
        tag = &slab->tags[(uint32_t)place];
        bin->head = tag->link;
        bin->free--;
    }
    run_set_link(tag, (uintptr_t)slab_slot(slab, pool->plan.geometry.stride,
                                           (uint32_t)place));
    run_set_state(tag, RUN_LIVE);
    bin->out++;
    pool->runs.out_runs++;
    pool->runs.out_slots += bin->length;
    pool_note_peak(pool);
    *index_out = (uint32_t)place;
    return slab;
}

void runs_give(struct ashlar_pool *pool, struct slab *slab, uint32_t index)
{
    struct run_bin *bin = runs_bin(pool, slab->tags[index].length);

    bin->out--;
    pool->runs.out_runs--;
    pool->runs.out_slots -= bin->length;
    pool->runs.loose = true;
    bin_push(bin, slab, index);
}

bool runs_stock(struct ashlar_pool *pool, struct run_bin *bin)
{
    uint64_t place = rest_cut(pool, bin->length);

    if (place == 0)
        return false;
    bin_push(bin, place_slab(pool, place), (uint32_t)place);
    return true;
}

uint64_t runs_in_rest(struct ashlar_pool *pool, uint32_t length)
{
    uint64_t count = 0;
    unsigned class;
    uint64_t place;

    for (class = class_of(length); class < RUNS_CLASSES; class ++)
        for (place = pool->runs.rest[class]; place != 0;
             place = place_tag(pool, place)->link)
            count += place_tag(pool, place)->length / length;
    return count;
}

/* Whether a free run may be joined, or a promise keeps it in its bin. */
static bool bin_keeps(struct runs *runs, uint32_t length)
{
    uint32_t position = bin_position(runs, length);

    return bin_is(runs, position, length) &&
           runs->bins[position].out + runs->bins[position].free <
               runs->bins[position].keep;
}

/* Relist a slab's free runs, joined; returns the longest stretch made. */
static uint32_t slab_join(struct ashlar_pool *pool, struct slab *slab)
{
    struct run_tag *tags = slab->tags;
    uint32_t longest = 0;
    uint32_t begin = 0; /* of the stretch that is being joined */
    uint32_t length = 0;
    bool is_free;
    uint32_t i;
    uint32_t next;

    for (i = 0; i < slab->count; i = next) {
        next = i + tags[i].length;
        is_free = run_state_of(&tags[i]) == RUN_FREE;
        if (is_free && !bin_keeps(&pool->runs, tags[i].length)) {
            if (length == 0)
                begin = i;
            length += tags[i].length;
            run_set_length(&tags[i], 0);
            continue;
        }
        if (length != 0)
            rest_push(pool, slab, begin, length);
        longest = length > longest ? length : longest;
        length = 0;
        if (is_free)
            bin_push(runs_bin(pool, tags[i].length), slab, i);
    }
    if (length != 0)
        rest_push(pool, slab, begin, length);
    return length > longest ? length : longest;
}

uint32_t runs_join(struct ashlar_pool *pool)
{
    struct runs *runs = &pool->runs;
    uint32_t longest = 0;
    uint32_t slab_longest;
    uint32_t i;

    spare_call_in(pool);
    for (i = 0; i < runs->bin_count; i++) {
        runs->bins[i].head = 0;
        runs->bins[i].free = 0;
    }
    for (i = 0; i < RUNS_CLASSES; i++)
        runs->rest[i] = 0;
    for (i = 0; pool->map != NULL && i < pool->map->count; i++) {
        if (pool->map->order[i]->kind != SLAB_RUNS)
            continue;
        slab_longest = slab_join(pool, pool->map->order[i]);
        longest = slab_longest > longest ? slab_longest : longest;
    }
    runs->loose = false;
    return longest;
}

void runs_add_slab(struct ashlar_pool *pool, struct slab *slab)
{
    pool->runs.slots += slab->count;
    rest_push(pool, slab, 0, slab->count);
}

void runs_remove_slab(struct ashlar_pool *pool, struct slab *slab)
{
    uint64_t place = place_of(slab, 0);
    uint64_t *link = &pool->runs.rest[class_of(slab->count)];

    while (*link != place)
        link = &place_tag(pool, *link)->link;
    __atomic_store_n(link, slab->tags[0].link, __ATOMIC_RELAXED);
    run_set_length(&slab->tags[0], 0);
    pool->runs.slots -= slab->count;
}

bool runs_slab_is_free(const struct ashlar_pool *pool, const struct slab *slab)
{
    uint64_t place = place_of(slab, 0);
    uint64_t at;

    if (run_state_of(&slab->tags[0]) != RUN_FREE || slab->tags[0].length != slab->count)
        return false;
    at = pool->runs.rest[class_of(slab->count)];
    while (at != 0 && at != place)
        at = place_tag(pool, at)->link;
    return at == place;
}
