/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A range that grows, step by step, with what each step did and what it cost.
 *
 * The library counts and times the calls into the source
 * (ashlar_source_query_calls()); what is left of a verb's time is its own, and
 * the two readings of the clock that each timed call takes.
 */
#ifndef ASHLAR_TOOLS_GROWTH_H
#define ASHLAR_TOOLS_GROWTH_H

#include <stddef.h>
#include <stdint.h>

#include <ashlar/range.h>
#include <ashlar/source.h>

#define GROWTH_STEPS_MOST 64

/** One verb. */
struct growth_step {
    uint64_t total; /* what a grow was asked for */
    struct ashlar_range_result result;
    char *refusal; /* what the library said; NULL when it succeeded */
    uint64_t ns;
    struct ashlar_source_calls calls; /* of this verb alone */
};

struct growth_options {
    const char *source;
    const char *source_options;
    struct ashlar_range_options range;
    uint64_t totals[GROWTH_STEPS_MOST];
    size_t count;
};

struct growth {
    struct ashlar_source_info source; /* its strings are copies */
    struct ashlar_range_info range;   /* as it was created */
    struct growth_step create;
    struct growth_step grows[GROWTH_STEPS_MOST];
    size_t count; /* of grows that were tried */
    struct growth_step destroy;
};

/**
 * Do it all. A grow that is refused ends the growing.
 *
 * @param growth  Receives what was done; growth_clear() frees it.
 *
 * @return NULL; or what the library said when there could be no range, which
 *         the caller frees.
 */
char *growth_run(const struct growth_options *options, struct growth *growth);
void growth_clear(struct growth *growth);

/** The nanoseconds of a verb that were spent in the source. */
uint64_t growth_source_ns(const struct growth_step *step);

/** "none", "reserved", "adjacent", "moved". */
const char *growth_path_text(uint32_t path);

#endif
