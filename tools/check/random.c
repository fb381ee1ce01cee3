/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Steps at random, right ones and wrong ones, each held against the model. */
#include "config.h"

#include "check/trial.h"

#include <pthread.h>
#include <stdlib.h>

#include "check/content.h"
#include "check/host.h"
#include "must.h"

static uint64_t granules(struct model *model, uint64_t most)
{
    return (1 + model_random(model, most)) * model->granule;
}

/* --- space ---------------------------------------------------------------- */

/* Nowhere, behind a reservation, or on top of one. */
static uint64_t random_hint(struct model *model, uint64_t alignment)
{
    const struct model_space *space;
    uint64_t hint;

    if (model->space_count == 0 || model_random(model, 2) == 0)
        return 0;
    space = &model->spaces[model_random(model, model->space_count)];
    hint = space->address;
    if (model_random(model, 2) == 0)
        hint += space->bytes;
    return hint / alignment * alignment;
}

static void step_reserve(struct model *model)
{
    uint64_t alignment = model->granule << model_random(model, 4);

    if (model->space_count < MODEL_SPACES)
        (void)model_reserve(model, granules(model, MODEL_SPACE_GRANULES),
                            alignment, random_hint(model, alignment));
}

static void step_release(struct model *model)
{
    if (model->space_count != 0)
        (void)model_release(model,
                            (uint32_t)model_random(model, model->space_count));
}

/* --- chunks --------------------------------------------------------------- */

static void step_create(struct model *model)
{
    uint64_t bytes = granules(model, MODEL_CHUNK_GRANULES);
    bool export = subject_can(model->subject, ASHLAR_CAN_EXPORT);
    uint64_t group = export ? model_random(model, 3) : 0;
    uint32_t chunk;

    if (model_chunk_room(model) < MODEL_CHUNKS &&
        bytes <= model->most_bytes - model->bytes)
        (void)model_create(model, bytes, group, &chunk);
}

/* A chunk that there is; MODEL_CHUNKS when there is none at hand. */
static uint32_t random_chunk(struct model *model)
{
    uint32_t from = (uint32_t)model_random(model, MODEL_CHUNKS);
    uint32_t i;

    for (i = 0; i < MODEL_CHUNKS; i++)
        if (model->chunks[(from + i) % MODEL_CHUNKS].bytes != 0)
            return (from + i) % MODEL_CHUNKS;
    return MODEL_CHUNKS;
}

static void step_destroy(struct model *model)
{
    uint32_t chunk = random_chunk(model);

    if (chunk < MODEL_CHUNKS && model->chunks[chunk].mappings == 0)
        (void)model_destroy(model, chunk);
}

/* --- mappings ------------------------------------------------------------- */

static void step_map(struct model *model)
{
    uint32_t chunk = random_chunk(model);
    const struct model_space *space;
    uint64_t address, bytes;

    if (chunk == MODEL_CHUNKS || model->space_count == 0 ||
        model->mapping_count == MODEL_MAPPINGS)
        return;
    space = &model->spaces[model_random(model, model->space_count)];
    address =
        space->address +
        model_random(model, space->bytes / model->granule) * model->granule;
    bytes = model->chunks[chunk].bytes;
    switch (model_random(model, 16)) {
    case 0:
        address += model->granule / 2;
        break;
    case 1:
        bytes += model->granule;
        break;
    case 2:
        bytes -= bytes > model->granule ? model->granule : 0;
        break;
    default:
        break;
    }
    (void)model_map(model, address, chunk, bytes);
}

static bool is_reserved(const struct model *model, uint64_t address)
{
    uint32_t i;

    for (i = 0; i < model->space_count; i++)
        if (address >= model->spaces[i].address &&
            address - model->spaces[i].address < model->spaces[i].bytes)
            return true;
    return false;
}

/* A mapping, with some neighbours behind it; at times not quite. */
static bool random_stretch(struct model *model, uint64_t *address_out,
                           uint64_t *bytes_out)
{
    const struct model_mapping *mapping;
    uint32_t more, i;

    if (model->mapping_count == 0)
        return false;
    mapping = &model->mappings[model_random(model, model->mapping_count)];
    *address_out = mapping->address;
    *bytes_out = mapping->bytes;
    for (more = (uint32_t)model_random(model, 4); more != 0; more--)
        for (i = 0; i < model->mapping_count; i++)
            if (model->mappings[i].address == *address_out + *bytes_out)
                *bytes_out += model->mappings[i].bytes;
    /* Behind its own spaces are other threads' mappings, perhaps. */
    if (model_random(model, 8) == 0 &&
        is_reserved(model, *address_out + *bytes_out))
        *bytes_out += model->granule;
    if (model_random(model, 8) == 0 && *bytes_out > model->granule) {
        *address_out += model->granule;
        *bytes_out -= model->granule;
    }
    return true;
}

static void step_unmap(struct model *model)
{
    enum model_cover cover;
    uint64_t address, bytes;

    if (!random_stretch(model, &address, &bytes))
        return;
    cover = model_cover(model, address, bytes);
    if (cover == COVER_WHOLE || cover == COVER_PART)
        (void)model_unmap(model, address, bytes);
}

static void step_allow(struct model *model)
{
    static const uint32_t rights[] = {ASHLAR_RIGHTS_READ_WRITE,
                                      ASHLAR_RIGHTS_READ_WRITE,
                                      ASHLAR_RIGHTS_READ, ASHLAR_RIGHTS_NONE};
    uint64_t address, bytes;

    if (random_stretch(model, &address, &bytes))
        (void)model_allow(model, address, bytes,
                          rights[model_random(model, 4)]);
}

/*
 * Another location may be out of reach here, and refused; home's rights are not
 * touched by it either way.
 */
static void step_allow_other(struct model *model)
{
    struct subject *subject = model->subject;
    struct ashlar_access access = {0, ASHLAR_RIGHTS_READ};
    uint64_t address, bytes;
    uint32_t i;

    if (subject->info.location_count < 2 ||
        !random_stretch(model, &address, &bytes) ||
        model_cover(model, address, bytes) != COVER_WHOLE)
        return;
    access.location =
        (uint32_t)model_random(model, subject->info.location_count - 1);
    access.location += access.location >= subject->info.home_location;
    for (i = 0; i < subject->info.access_count; i++)
        if (access.location == subject->info.access[i].location)
            return;
    (void)CALL(subject, allow, address, bytes, &access, 1);
    for (i = 0; i < model->mapping_count && !model->broken; i++)
        content_check_rights(model, i);
}

/* --- contents ------------------------------------------------------------- */

static uint32_t random_mapping(struct model *model)
{
    return (uint32_t)model_random(model, model->mapping_count);
}

static void step_stamp(struct model *model)
{
    if (model->mapping_count != 0)
        content_stamp(model, random_mapping(model));
}

static void step_check(struct model *model)
{
    uint32_t i;

    if (model->mapping_count == 0)
        return;
    i = random_mapping(model);
    content_check_rights(model, i);
    content_check(model, i);
}

static void step_copy(struct model *model)
{
    if (model->mapping_count > 1 &&
        subject_can(model->subject, ASHLAR_CAN_COPY))
        content_copy(model, random_mapping(model), random_mapping(model));
}

/* --- fences --------------------------------------------------------------- */

static void step_fence(struct model *model)
{
    struct subject *subject = model->subject;
    uint64_t fence;

    if (!subject_can(subject, ASHLAR_CAN_FENCE))
        return;
    if (model->fence_count < MODEL_FENCES && model_random(model, 2) == 0) {
        if (model_expect(model, CHECK_FENCES,
                         CALL(subject, fence_record, 0, &fence),
                         "fence_record() on stream 0"))
            model->fences[model->fence_count++] = fence;
    } else if (model->fence_count != 0) {
        subject_begin(subject, "fence_drop");
        subject->ops.fence_drop(subject->state,
                                model->fences[--model->fence_count]);
    }
}

/* --- the walk ------------------------------------------------------------- */

static const struct {
    unsigned weight; /* of 100 */
    void (*step)(struct model *model);
} steps_of_walk[] = {
    {8, step_reserve},     {6, step_release}, {14, step_create},
    {6, step_destroy},     {18, step_map},    {10, step_unmap},
    {12, step_allow},      {8, step_stamp},   {8, step_check},
    {2, step_copy},        {2, step_fence},   {4, trial_share},
    {2, step_allow_other},
};

static void one_step(struct model *model)
{
    uint64_t at = model_random(model, 100);
    size_t i = 0;

    while (at >= steps_of_walk[i].weight)
        at -= steps_of_walk[i++].weight;
    steps_of_walk[i].step(model);
}

static void walk(struct model *model, uint64_t steps)
{
    for (; steps != 0 && !model->broken; steps--) {
        model->starved = model_random(model, 16) == 0;
        host_fail_nth(model->starved ? 1 + (unsigned)model_random(model, 2)
                                     : 0);
        one_step(model);
        host_fail_nth(0);
    }
}

/* With `share` of the memory that there is for all. */
static bool walk_alone(struct subject *subject, uint64_t seed, uint64_t steps,
                       unsigned share)
{
    struct model *model = must_alloc(1, sizeof(*model));
    bool good = model_start(model, subject, seed);

    model->most_bytes /= share;
    if (good)
        walk(model, steps);
    good = good && !model->broken;
    model_end(model);
    free(model);
    return good;
}

bool trial_random(struct subject *subject, uint64_t seed, uint64_t steps)
{
    return walk_alone(subject, seed, steps, 1);
}

/* --- by several threads --------------------------------------------------- */

struct walker {
    pthread_t thread;
    struct subject *subject;
    uint64_t seed;
    uint64_t steps;
    unsigned share;
    bool good;
};

static void *run_walker(void *argument)
{
    struct walker *walker = argument;
    struct subject *subject = walker->subject;

    walker->good = true;
    if (subject_can(subject, ASHLAR_CAN_BLOCKS))
        walker->good = trial_blocks(subject, walker->seed, walker->steps);
    if (subject_can(subject, ASHLAR_CAN_RANGES))
        walker->good &=
            walk_alone(subject, walker->seed, walker->steps, walker->share);
    return NULL;
}

void trial_threads(struct subject *subject, uint64_t seed, uint64_t steps,
                   unsigned threads)
{
    struct walker *walkers = must_alloc(threads, sizeof(*walkers));
    unsigned started = 0, i;

    for (i = 0; i < threads; i++) {
        walkers[i] = (struct walker){.subject = subject,
                                     .seed = seed + 1000003 * (i + 1),
                                     .steps = steps / threads,
                                     .share = threads};
        if (pthread_create(&walkers[i].thread, NULL, run_walker, &walkers[i]) !=
            0)
            break;
        started++;
    }
    for (i = 0; i < started; i++) {
        (void)pthread_join(walkers[i].thread, NULL);
        check_that(subject->report, CHECK_THREADS, walkers[i].good,
                   "with %u threads at once, what one of them had was not as "
                   "it should be",
                   threads);
    }
    free(walkers);
}
