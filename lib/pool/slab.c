/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/slab.h"

#include <string.h>
#include <unistd.h>

#include "base/align.h"
#include "base/error.h"
#include "base/memory.h"

#define HUGE_BYTES    ((size_t)2 << 20)
#define WORD_BITS     64u
#define PREFAULT_STEP 4096u

static uint32_t words_for(uint32_t bits)
{
    return bits / WORD_BITS + (bits % WORD_BITS != 0);
}

/*
 * A block that spans pages starts at one, so that a trim finds whole pages in
 * it.
 */
static size_t block_alignment(const struct slab_plan *plan, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t alignment = max_size(plan->alignment, sizeof(void *));

    if (bytes >= page)
        alignment = max_size(alignment, page);
    if (plan->huge)
        alignment = max_size(alignment, HUGE_BYTES);
    return alignment;
}

/* The slots' memory. Fills base, count and block of the slab. */
static int block_create(const struct slab_plan *plan, struct slab *slab,
                        uint32_t count, uint32_t most)
{
    const struct ashlar_plugin *ops = &plan->source->ops;
    void *state = plan->source->state;
    size_t stride = plan->geometry.stride;
    size_t usable;
    size_t bytes;

    if (!multiply_size(stride, count, &bytes) || bytes > SIZE_MAX / 4)
        return -1;
    if (plan->huge)
        bytes = align_up(bytes, HUGE_BYTES);
    slab->block_alignment = block_alignment(plan, bytes);
    usable = ops->block_usable(state, bytes, slab->block_alignment);
    if (usable == 0)
        return -1;
    slab->block = ops->block_alloc(state, usable, slab->block_alignment);
    if (slab->block == NULL)
        return -1;
    slab->block_bytes = usable;
    slab->base = slab->block;
    slab->count = (uint32_t)min_size(usable / stride, most);
    if (plan->huge)
        ops->block_prefer_huge(state, slab->block, usable);
    return 0;
}

static void *no_records(uint32_t count)
{
    return error_null(ASHLAR_ERR_NO_MEMORY,
                      "no host memory for the records of %lu slots",
                      (unsigned long)count);
}

/*
 * The slots' memory as the next part of the pool's range: slot i of the pool is
 * at base + i * stride, so a slab starts where the one before ended.
 */
static int part_create(struct slab_plan *plan, struct slab *slab,
                       uint32_t count, uint32_t most)
{
    struct ashlar_range_result result = ASHLAR_RANGE_RESULT_INIT;
    size_t stride = plan->geometry.stride;
    uint64_t bytes;

    if (__builtin_mul_overflow(plan->placed + count, (uint64_t)stride,
                               &bytes)) {
        (void)error_set(ASHLAR_ERR_NO_ADDRESS_SPACE,
                        "%lu slots of %zu bytes are more than any machine can "
                        "address",
                        (unsigned long)(plan->placed + count), stride);
        return -1;
    }
    if (ashlar_range_grow_to(plan->range, bytes, &result) != ASHLAR_OK)
        return -1;
    slab->base = (char *)(uintptr_t)result.base + plan->placed * stride;
    /* Chunks come in granules: take what came with it. */
    slab->count = (uint32_t)min_size(
        result.committed_bytes / stride - plan->placed, most);
    bytes = (plan->placed + slab->count) * stride;
    if (ashlar_range_grow_to(plan->range, bytes, NULL) != ASHLAR_OK)
        return -1;
    slab->block_bytes = slab->count * stride;
    plan->placed += slab->count;
    return 0;
}

/* The records beside the slots: bitmaps in one block, states in another. */
static int bitmaps_create(struct slab *slab, bool checked)
{
    uint32_t summary_words;

    slab->words = words_for(slab->count);
    summary_words = words_for(slab->words);
    slab->free =
        memory_zalloc(((size_t)slab->words + summary_words) * sizeof(uint64_t));
    if (slab->free == NULL)
        return -1;
    slab->summary = slab->free + slab->words;
    slab->low = summary_words;
    if (!checked)
        return 0;
    slab->state = memory_zalloc(align_up(slab->count, 8));
    return slab->state == NULL ? -1 : 0;
}

/* All records of a slab. The error is set as slab_create() says. */
static int records_create(const struct slab_plan *plan, struct slab *slab)
{
    if (bitmaps_create(slab, plan->checked) == 0 &&
        (slab->kind != SLAB_RUNS || slab_make_tags(slab) == 0))
        return 0;
    if (plan->range != NULL)
        (void)no_records(slab->count);
    return -1;
}

struct slab *slab_create(struct slab_plan *plan, uint32_t count, uint32_t most,
                         enum slab_kind kind)
{
    struct slab *slab = memory_zalloc(sizeof(*slab));

    if (slab == NULL)
        return plan->range == NULL ? NULL : no_records(count);
    slab->kind = kind;
    if ((plan->range == NULL ? block_create(plan, slab, count, most)
                             : part_create(plan, slab, count, most)) != 0 ||
        records_create(plan, slab) != 0) {
        slab_undo(plan, slab);
        return NULL;
    }
    if (kind == SLAB_SINGLES)
        slab_set_all_free(slab, true);
    return slab;
}

void slab_destroy(const struct slab_plan *plan, struct slab *slab)
{
    memory_free(slab->tags);
    memory_free(slab->state);
    memory_free(slab->free);
    if (slab->block != NULL)
        plan->source->ops.block_free(plan->source->state, slab->block,
                                     slab->block_bytes, slab->block_alignment);
    memory_free(slab);
}

void slab_undo(struct slab_plan *plan, struct slab *slab)
{
    struct error before;

    if (plan->range != NULL && slab->count != 0) {
        error_copy(&before);
        plan->placed -= slab->count;
        (void)range_shrink(plan->range, plan->placed * plan->geometry.stride,
                           NULL);
        error_restore(&before);
    }
    slab_destroy(plan, slab);
}

enum ashlar_status slab_refill(struct slab_plan *plan, struct slab *slab)
{
    uint64_t placed = slab->first + slab->count;
    enum ashlar_status status;

    status =
        ashlar_range_grow_to(plan->range, placed * plan->geometry.stride, NULL);
    if (status == ASHLAR_OK)
        plan->placed = placed;
    return status;
}

enum ashlar_status slab_cut(struct slab_plan *plan, struct slab *slab,
                            uint64_t *bytes_out)
{
    enum ashlar_status status;

    status = range_shrink(plan->range, slab->first * plan->geometry.stride,
                          bytes_out);
    if (status == ASHLAR_OK)
        plan->placed = slab->first;
    return status;
}

int slab_make_tags(struct slab *slab)
{
    if (slab->tags == NULL)
        slab->tags = memory_zalloc((size_t)slab->count * sizeof(*slab->tags));
    return slab->tags == NULL ? -1 : 0;
}

void slab_set_all_free(struct slab *slab, bool is_free)
{
    uint32_t summary_words = words_for(slab->words);
    uint32_t rest = slab->count % WORD_BITS;

    memset(slab->free, is_free ? 0xff : 0, slab->words * sizeof(uint64_t));
    memset(slab->summary, is_free ? 0xff : 0, summary_words * sizeof(uint64_t));
    if (is_free && rest != 0)
        slab->free[slab->words - 1] = (UINT64_C(1) << rest) - 1;
    rest = slab->words % WORD_BITS;
    if (is_free && rest != 0)
        slab->summary[summary_words - 1] = (UINT64_C(1) << rest) - 1;
    slab->low = is_free ? 0 : summary_words;
    slab->free_slots = is_free ? slab->count : 0;
}

size_t slab_record_bytes(const struct slab *slab)
{
    size_t bytes = sizeof(*slab);

    bytes += ((size_t)slab->words + words_for(slab->words)) * sizeof(uint64_t);
    bytes += slab->state != NULL ? slab->count : 0;
    bytes += slab->tags != NULL ? slab->count * sizeof(*slab->tags) : 0;
    return bytes;
}

void slab_prefault(struct slab *slab)
{
    uint32_t i;

    if (slab->prefaulted || slab->state == NULL)
        return;
    for (i = 0; i < slab->count; i += PREFAULT_STEP)
        __atomic_fetch_or(&slab->state[i], 0, __ATOMIC_RELAXED);
    slab->prefaulted = true;
}

/* Number the slab behind the last one. */
static void slab_number(struct slab *slab, const struct slab_map *map)
{
    const struct slab *last;

    slab->number = 0;
    slab->first = 0;
    if (map == NULL)
        return;
    last = map->order[map->count - 1];
    slab->number = map->count;
    slab->first = last->first + last->count;
}

struct slab_map *slab_map_with(struct slab_map *map, struct slab *slab,
                               size_t stride)
{
    uint32_t count = map == NULL ? 0 : map->count;
    uintptr_t base = (uintptr_t)slab->base;
    struct slab_map *larger;
    struct slab_place *place;
    uint32_t i;

    larger = memory_alloc(sizeof(*larger) +
                          (count + (size_t)1) * (sizeof(*larger->places) +
                                                 sizeof(*larger->order)));
    if (larger == NULL)
        return NULL;
    larger->count = count + 1;
    larger->older = map;
    larger->order = (struct slab **)(void *)(larger->places + count + 1);
    place = larger->places;
    for (i = 0; i < count && map->places[i].base < base; i++)
        *place++ = map->places[i];
    place->base = base;
    place->end = base + slab->count * stride;
    place->slab = slab;
    for (place++; i < count; i++)
        *place++ = map->places[i];
    for (i = 0; i < count; i++)
        larger->order[i] = map->order[i];
    larger->order[count] = slab;
    slab_number(slab, map);
    return larger;
}

void slab_map_free(struct slab_map *map)
{
    struct slab_map *older;

    for (; map != NULL; map = older) {
        older = map->older;
        memory_free(map);
    }
}

struct slab *slab_map_find(const struct slab_map *map, uintptr_t address)
{
    uint32_t low = 0;
    uint32_t high = map == NULL ? 0 : map->count;
    uint32_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (address < map->places[middle].base)
            high = middle;
        else if (address >= map->places[middle].end)
            low = middle + 1;
        else
            return map->places[middle].slab;
    }
    return NULL;
}

struct slab *slab_map_at(const struct slab_map *map, uint64_t index)
{
    uint32_t low = 0;
    uint32_t high = map == NULL ? 0 : map->count;
    uint32_t middle;

    while (low < high) {
        middle = low + (high - low) / 2;
        if (index < map->order[middle]->first)
            high = middle;
        else if (index >= map->order[middle]->first + map->order[middle]->count)
            low = middle + 1;
        else
            return map->order[middle];
    }
    return NULL;
}
