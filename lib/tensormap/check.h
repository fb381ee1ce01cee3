/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * One check of a spec, while it goes on.
 *
 *     check.c     the call: errors, then warnings
 *     rules.c     what the encoder refuses
 *     warnings.c  what it takes, and people regret
 *
 * Invariants:
 *   - findings[0, min(count, room)) are filled in; count goes on beyond room;
 *   - first is the first finding, wherever the caller's room ends.
 */
#ifndef ASHLAR_TENSORMAP_CHECK_H
#define ASHLAR_TENSORMAP_CHECK_H

#include "tensormap/tensormap.h"

#define DIM_MOST      (UINT64_C(1) << 32)
#define BOX_MOST      256u
#define CHANNELS_MOST 256u
#define PIXELS_MOST   1024u

struct check {
    const struct ashlar_spec *spec;
    const struct spec_dtype *dtype; /* NULL: not known */
    uint32_t capability;
    uint32_t severity; /* of what is found now */
    struct ashlar_spec_finding *findings;
    size_t room;
    size_t count;
    struct ashlar_spec_finding first;
};

/** Note a finding of the severity that is looked for now. */
void check_found(struct check *check, const struct ashlar_spec_finding *what);

/** Try every rule; a finding each. */
void check_rules(struct check *check);

/** Try everything that the encoder does not mind. */
void check_warnings(struct check *check);

/** Note a finding about a field, with what else is to be said of it. */
#define CHECK_FOUND(_check, _rule, _field, ...)                                \
    check_found(_check, &(const struct ashlar_spec_finding){                   \
                            .rule = ASHLAR_RULE_##_rule,                       \
                            .field = ASHLAR_SPEC_FIELD_##_field,               \
                            __VA_ARGS__})

static inline uint64_t up_to_multiple(uint64_t value, uint64_t step)
{
    return value > UINT64_MAX - (step - 1) ? UINT64_MAX / step * step
                                           : (value + step - 1) / step * step;
}

static inline uint64_t nearest(uint64_t value, uint64_t least, uint64_t most)
{
    return value < least ? least : value > most ? most : value;
}

static inline bool is_tiled(const struct check *check)
{
    return check->spec->mode == ASHLAR_SPEC_TILED;
}

static inline bool is_im2col(const struct check *check)
{
    return check->spec->mode == ASHLAR_SPEC_IM2COL ||
           check->spec->mode == ASHLAR_SPEC_IM2COL_WIDE;
}

static inline bool is_wide(const struct check *check)
{
    return check->spec->mode == ASHLAR_SPEC_IM2COL_WIDE;
}

static inline bool is_interleaved(const struct check *check)
{
    return check->spec->interleave != ASHLAR_SPEC_INTERLEAVE_NONE;
}

/** Corners that the encoder looks at. */
static inline uint32_t corner_count(const struct check *check)
{
    uint32_t rank = spec_rank(check->spec);

    if (!is_im2col(check) || rank < 3)
        return 0;
    return is_wide(check) ? 1 : rank - 2;
}

/** Behind the channels comes the width; interleaved, they come last. */
static inline uint32_t corner_dim(const struct check *check, uint32_t corner)
{
    return is_interleaved(check) ? corner : corner + 1;
}

/** Where the box ends along the dimension of a corner, seen from its start. */
static inline int64_t corner_end(const struct check *check, uint32_t i)
{
    return (int64_t)check->spec->dims[corner_dim(check, i)] +
           check->spec->upper_corner[i];
}

static inline bool is_packed_in_16(const struct check *check)
{
    return check->dtype != NULL && check->dtype->packed_in_16;
}

#endif
