/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A source that encodes tensor maps: by the rules of the check, into bytes of
 * its own that depend on the whole spec; and fails when it is told to. It
 * writes to the map before it refuses, as drivers do.
 */
#ifndef ASHLAR_TESTS_SUPPORT_ENCODE_SOURCE_H
#define ASHLAR_TESTS_SUPPORT_ENCODE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/tensormap.h>

#include "source/source.h"

struct encode_source {
    uint64_t encodes; /* atomic */
    uint64_t rebases; /* atomic */
    /* Fail the nth encode or rebase from now on; 0: none. */
    uint64_t fail_at;
    enum ashlar_status fail_with;
    void (*during)(void); /* called inside each encode; NULL: nothing */
};

extern struct encode_source encoder;
extern struct ashlar_source encode_source;

/* As new: nothing counted, nothing fails. */
void encode_source_reset(void);

/* The bytes that a spec is encoded to. */
void encode_expected(const struct ashlar_spec *spec,
                     unsigned char bytes[ASHLAR_TENSOR_MAP_BYTES]);

/* Whether a map holds what a spec is encoded to. */
bool encode_is(const void *map, const struct ashlar_spec *spec);

/* The ith of many specs that are right, and all different. */
struct ashlar_spec encode_spec(uint64_t i);

#endif
