/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * What a plug-in has to refuse, one by one, beside two chunks that stand at the
 * begin of a reservation and must not notice:
 *
 *     space  [ A A ][ B B B ]. . . . . . . . . . .
 */
#include "config.h"

#include "check/trial.h"

#include <stdlib.h>
#include <string.h>

#include "check/content.h"
#include "must.h"

#define SPACE 16u /* granules */

struct scene {
    struct model model;
    uint64_t base;
    uint64_t granule;
    uint64_t released; /* addresses that were reserved once */
    uint32_t a, b, loose;
};

static bool scene_start(struct scene *scene, struct subject *subject,
                        uint64_t seed)
{
    struct model *model = &scene->model;
    uint64_t g = subject->info.granule;

    scene->granule = g;
    if (!model_start(model, subject, seed) ||
        !model_reserve(model, SPACE * g, g, 0) ||
        !model_reserve(model, SPACE * g, g, 0))
        return false;
    scene->released = model->spaces[1].address;
    scene->base = model->spaces[0].address;
    return model_release(model, 1) &&
           model_create(model, 2 * g, 0, &scene->a) &&
           model_create(model, 3 * g, 0, &scene->b) &&
           model_create(model, 2 * g, 0, &scene->loose) &&
           model_map(model, scene->base, scene->a, 2 * g) &&
           model_map(model, scene->base + 2 * g, scene->b, 3 * g) &&
           model_allow(model, scene->base, 5 * g, ASHLAR_RIGHTS_READ_WRITE);
}

/* --- reserve and release -------------------------------------------------- */

static enum ashlar_status reserve(struct scene *scene, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint)
{
    uint64_t address;

    return CALL(scene->model.subject, reserve, bytes, alignment, hint,
                &address);
}

static enum ashlar_status reserve_nothing(struct scene *scene)
{
    return reserve(scene, 0, scene->granule, 0);
}

static enum ashlar_status reserve_half(struct scene *scene)
{
    return reserve(scene, scene->granule / 2, scene->granule, 0);
}

static enum ashlar_status reserve_oddly(struct scene *scene)
{
    return reserve(scene, scene->granule, 3 * scene->granule, 0);
}

static enum ashlar_status reserve_at_odd_hint(struct scene *scene)
{
    return reserve(scene, scene->granule, 2 * scene->granule,
                   scene->base / (2 * scene->granule) * 2 * scene->granule +
                       scene->granule);
}

static enum ashlar_status release(struct scene *scene, uint64_t address,
                                  uint64_t granules)
{
    return CALL(scene->model.subject, release, address,
                granules * scene->granule);
}

static enum ashlar_status release_mapped(struct scene *scene)
{
    return release(scene, scene->base, SPACE);
}

static enum ashlar_status release_half(struct scene *scene)
{
    return release(scene, scene->base + SPACE / 2 * scene->granule, SPACE / 2);
}

static enum ashlar_status release_too_much(struct scene *scene)
{
    return release(scene, scene->base, SPACE + 1);
}

static enum ashlar_status release_twice(struct scene *scene)
{
    return release(scene, scene->released, SPACE);
}

/* --- chunks --------------------------------------------------------------- */

static enum ashlar_status create(struct scene *scene, uint64_t bytes)
{
    struct ashlar_chunk_request request = {sizeof(request), bytes, 0};
    uint64_t handle;

    return CALL(scene->model.subject, chunk_create, &request, &handle);
}

static enum ashlar_status create_nothing(struct scene *scene)
{
    return create(scene, 0);
}

static enum ashlar_status create_one_and_a_half(struct scene *scene)
{
    return create(scene, scene->granule + scene->granule / 2);
}

/* --- map ------------------------------------------------------------------ */

static enum ashlar_status map(struct scene *scene, uint64_t address,
                              uint64_t granules)
{
    return CALL(scene->model.subject, map, address,
                scene->model.chunks[scene->loose].handle,
                granules * scene->granule);
}

static enum ashlar_status map_part(struct scene *scene)
{
    return map(scene, scene->base + 8 * scene->granule, 1);
}

static enum ashlar_status map_more(struct scene *scene)
{
    return map(scene, scene->base + 8 * scene->granule, 3);
}

static enum ashlar_status map_over(struct scene *scene)
{
    return map(scene, scene->base + scene->granule, 2);
}

static enum ashlar_status map_over_the_end_of_one(struct scene *scene)
{
    return map(scene, scene->base + 4 * scene->granule, 2);
}

static enum ashlar_status map_beyond(struct scene *scene)
{
    return map(scene, scene->base + (SPACE - 1) * scene->granule, 2);
}

static enum ashlar_status map_unreserved(struct scene *scene)
{
    return map(scene, scene->released, 2);
}

static enum ashlar_status map_off_the_granule(struct scene *scene)
{
    return map(scene, scene->base + 8 * scene->granule + scene->granule / 2, 2);
}

/* --- unmap ---------------------------------------------------------------- */

static enum ashlar_status unmap(struct scene *scene, uint64_t first,
                                uint64_t granules)
{
    return CALL(scene->model.subject, unmap,
                scene->base + first * scene->granule,
                granules * scene->granule);
}

static enum ashlar_status unmap_front(struct scene *scene)
{
    return unmap(scene, 2, 1);
}

static enum ashlar_status unmap_back(struct scene *scene)
{
    return unmap(scene, 4, 1);
}

static enum ashlar_status unmap_one_and_a_half(struct scene *scene)
{
    return unmap(scene, 0, 3);
}

static enum ashlar_status unmap_nothing(struct scene *scene)
{
    return unmap(scene, 0, 0);
}

/* --- rights --------------------------------------------------------------- */

static enum ashlar_status allow(struct scene *scene, uint64_t granules,
                                uint32_t location, uint32_t rights)
{
    struct ashlar_access access = {location, rights};

    return CALL(scene->model.subject, allow, scene->base,
                granules * scene->granule, &access, 1);
}

static uint32_t home(const struct scene *scene)
{
    return scene->model.subject->info.home_location;
}

static enum ashlar_status allow_part(struct scene *scene)
{
    return allow(scene, 1, home(scene), ASHLAR_RIGHTS_NONE);
}

static enum ashlar_status allow_gap(struct scene *scene)
{
    return allow(scene, 6, home(scene), ASHLAR_RIGHTS_NONE);
}

static enum ashlar_status allow_nobody(struct scene *scene)
{
    return CALL(scene->model.subject, allow, scene->base, 5 * scene->granule,
                NULL, 0);
}

static enum ashlar_status allow_nowhere(struct scene *scene)
{
    return allow(scene, 5, scene->model.subject->info.location_count,
                 ASHLAR_RIGHTS_NONE);
}

static enum ashlar_status allow_writing_alone(struct scene *scene)
{
    return allow(scene, 5, home(scene), 2);
}

static enum ashlar_status allow_unknown(struct scene *scene)
{
    return allow(scene, 5, home(scene), 4);
}

/* --- all of them ---------------------------------------------------------- */

static const struct {
    const char *what;
    enum ashlar_status (*call)(struct scene *scene);
} refusals[] = {
    {"reserve() of 0 bytes", reserve_nothing},
    {"reserve() of half a granule", reserve_half},
    {"reserve() at an alignment of three granules", reserve_oddly},
    {"reserve() with a hint off its alignment", reserve_at_odd_hint},
    {"release() with something mapped", release_mapped},
    {"release() of a half", release_half},
    {"release() of more than a reservation", release_too_much},
    {"release() of what was released before", release_twice},
    {"chunk_create() of 0 bytes", create_nothing},
    {"chunk_create() of one and a half granules", create_one_and_a_half},
    {"map() of a part of a chunk", map_part},
    {"map() of more than a chunk", map_more},
    {"map() over mappings", map_over},
    {"map() over the end of a mapping", map_over_the_end_of_one},
    {"map() beyond the end of a reservation", map_beyond},
    {"map() where nothing is reserved", map_unreserved},
    {"map() off the granule", map_off_the_granule},
    {"unmap() of the front of a mapping", unmap_front},
    {"unmap() of the back of a mapping", unmap_back},
    {"unmap() of one and a half mappings", unmap_one_and_a_half},
    {"unmap() of 0 bytes", unmap_nothing},
    {"allow() on a part of a mapping", allow_part},
    {"allow() on mappings and what is behind them", allow_gap},
    {"allow() of no rights at all", allow_nobody},
    {"allow() for a location that is not there", allow_nowhere},
    {"allow() of the rights 2", allow_writing_alone},
    {"allow() of the rights 4", allow_unknown},
};

/* The two chunks have noticed nothing. */
static void check_scene(struct scene *scene)
{
    uint32_t i;

    for (i = 0; i < scene->model.mapping_count && !scene->model.broken; i++) {
        content_check_rights(&scene->model, i);
        content_check(&scene->model, i);
    }
}

static void check_refusals(struct scene *scene)
{
    size_t i;

    for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        if (!model_expect_refusal(&scene->model, refusals[i].call(scene), "%s",
                                  refusals[i].what))
            return;
        check_scene(scene);
    }
}

/* --- limits --------------------------------------------------------------- */

static void check_limits(struct scene *scene)
{
    struct subject *subject = scene->model.subject;
    uint64_t most = subject->info.memory_bytes;
    enum ashlar_status status;

    status = reserve(scene, UINT64_C(1) << 60, scene->granule, 0);
    scene->model.broken |= !check_that(
        subject->report, CHECK_LIMITS, status == ASHLAR_ERR_NO_ADDRESS_SPACE,
        "reserve() of 2^60 bytes was answered with %s, not "
        "ASHLAR_ERR_NO_ADDRESS_SPACE",
        ashlar_status_name(status));
    if (most == 0 || most > UINT64_MAX / 4)
        return;
    most = (most / scene->granule + 1) * 2 * scene->granule;
    status = create(scene, most);
    scene->model.broken |= !check_that(
        subject->report, CHECK_LIMITS, status == ASHLAR_ERR_NO_DEVICE_MEMORY,
        "chunk_create() of twice its memory was answered with %s, not "
        "ASHLAR_ERR_NO_DEVICE_MEMORY",
        ashlar_status_name(status));
}

/* --- neighbours ----------------------------------------------------------- */

/*
 * One chunk may not be mapped across two reservations that touch; but two may
 * be unmapped, and be given rights, in one call.
 */
static void check_neighbours(struct scene *scene)
{
    struct model *model = &scene->model;
    uint64_t g = scene->granule;
    uint64_t end = scene->base + SPACE * g;
    uint32_t chunk;

    if (!model_reserve(model, 4 * g, g, end) ||
        model->spaces[model->space_count - 1].address != end)
        return;
    if (!model_expect_refusal(model, map(scene, end - g, 2),
                              "map() into the neighbouring reservation") ||
        !model_create(model, 2 * g, 0, &chunk))
        return;
    if (model_map(model, end - 2 * g, scene->loose, 2 * g) &&
        model_map(model, end, chunk, 2 * g) &&
        model_allow(model, end - 2 * g, 4 * g, ASHLAR_RIGHTS_READ_WRITE)) {
        content_stamp(model, model->mapping_count - 1);
        content_stamp(model, model->mapping_count - 2);
        check_scene(scene);
        if (!model->broken)
            (void)model_unmap(model, end - 2 * g, 4 * g);
    }
}

void trial_refusals(struct subject *subject, uint64_t seed)
{
    struct scene *scene = must_alloc(1, sizeof(*scene));

    if (scene_start(scene, subject, seed)) {
        content_stamp(&scene->model, 0);
        content_stamp(&scene->model, 1);
        check_refusals(scene);
        if (!scene->model.broken)
            check_limits(scene);
        if (!scene->model.broken)
            check_neighbours(scene);
    }
    model_end(&scene->model);
    free(scene);
}
