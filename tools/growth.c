/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "growth.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <ashlar/status.h>

#include "clock.h"
#include "must.h"

const char *growth_path_text(uint32_t path)
{
    static const char *const texts[] = {
        [ASHLAR_RANGE_PATH_NONE] = "none",
        [ASHLAR_RANGE_PATH_IN_RESERVATION] = "reserved",
        [ASHLAR_RANGE_PATH_ADJACENT] = "adjacent",
        [ASHLAR_RANGE_PATH_MOVED] = "moved",
    };

    return path < sizeof(texts) / sizeof(texts[0]) ? texts[path] : "unknown";
}

/* --- measuring ------------------------------------------------------------ */

static struct ashlar_source_calls calls_now(struct ashlar_source *source)
{
    struct ashlar_source_calls calls = ASHLAR_SOURCE_CALLS_INIT;

    (void)ashlar_source_query_calls(source, &calls);
    return calls;
}

static void subtract(struct ashlar_source_call *call,
                     const struct ashlar_source_call *before)
{
    call->count -= before->count;
    call->refused -= before->refused;
    call->ns -= before->ns;
}

static void step_begin(struct growth_step *step, struct ashlar_source *source)
{
    step->calls = calls_now(source);
    step->ns = clock_ns();
}

static bool step_end(struct growth_step *step, struct ashlar_source *source,
                     enum ashlar_status status)
{
    uint64_t end = clock_ns();
    struct ashlar_source_calls before = step->calls;

    step->ns = end - step->ns;
    step->calls = calls_now(source);
    subtract(&step->calls.reserve, &before.reserve);
    subtract(&step->calls.release, &before.release);
    subtract(&step->calls.create, &before.create);
    subtract(&step->calls.destroy, &before.destroy);
    subtract(&step->calls.map, &before.map);
    subtract(&step->calls.unmap, &before.unmap);
    subtract(&step->calls.allow, &before.allow);
    if (status != ASHLAR_OK)
        step->refusal = must_copy(ashlar_last_error_message());
    return status == ASHLAR_OK;
}

uint64_t growth_source_ns(const struct growth_step *step)
{
    const struct ashlar_source_calls *calls = &step->calls;

    return calls->reserve.ns + calls->release.ns + calls->create.ns +
           calls->destroy.ns + calls->map.ns + calls->unmap.ns +
           calls->allow.ns;
}

/* --- doing ---------------------------------------------------------------- */

static void grow(const struct growth_options *options, struct growth *growth,
                 struct ashlar_source *source, struct ashlar_range *range)
{
    struct growth_step *step;
    enum ashlar_status status;
    bool good = true;
    size_t i;

    for (i = 0; i < options->count && good; i++) {
        step = &growth->grows[growth->count++];
        step->total = options->totals[i];
        step->result.size = sizeof(step->result);
        step_begin(step, source);
        status = ashlar_range_grow_to(range, step->total, &step->result);
        good = step_end(step, source, status);
    }
}

/* With an open source: false when there can be no range. */
static bool run(const struct growth_options *options, struct growth *growth,
                struct ashlar_source *source)
{
    struct ashlar_range *range;
    enum ashlar_status status;

    step_begin(&growth->create, source);
    status = ashlar_range_create(source, &options->range, &range);
    if (!step_end(&growth->create, source, status))
        return false;
    growth->range.size = sizeof(growth->range);
    (void)ashlar_range_query(range, &growth->range);
    grow(options, growth, source, range);
    step_begin(&growth->destroy, source);
    status = ashlar_range_destroy(range, ASHLAR_QUIET, 1);
    (void)step_end(&growth->destroy, source, status);
    return true;
}

static void keep_source(struct growth *growth, struct ashlar_source *source)
{
    struct ashlar_source_info *info = &growth->source;

    info->size = sizeof(*info);
    (void)ashlar_source_query(source, info);
    info->name = must_copy(info->name);
    info->version = must_copy(info->version);
    info->path = must_copy(info->path);
    info->description = must_copy(info->description);
}

char *growth_run(const struct growth_options *options, struct growth *growth)
{
    struct ashlar_source *source;
    char *said = NULL;

    memset(growth, 0, sizeof(*growth));
    if (ashlar_source_open(options->source, options->source_options, &source) !=
        ASHLAR_OK)
        return must_copy(ashlar_last_error_message());
    keep_source(growth, source);
    ashlar_source_time_calls(source, 1);
    if (!run(options, growth, source))
        said = must_copy(growth->create.refusal);
    (void)ashlar_source_close(source);
    return said;
}

void growth_clear(struct growth *growth)
{
    size_t i;

    free((char *)growth->source.name);
    free((char *)growth->source.version);
    free((char *)growth->source.path);
    free((char *)growth->source.description);
    free(growth->create.refusal);
    for (i = 0; i < growth->count; i++)
        free(growth->grows[i].refusal);
    free(growth->destroy.refusal);
}
