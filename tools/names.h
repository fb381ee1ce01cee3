/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The names that a tensor map's settings have, numbered as in CUDA's enums.
 *
 * A name is taken in any case, with CUDA's prefixes or without: "swizzle_128B",
 * "128B" and "CU_TENSOR_MAP_SWIZZLE_128B" are one. Some have names that people
 * use elsewhere: "bf16" is "bfloat16".
 */
#ifndef ASHLAR_TOOLS_NAMES_H
#define ASHLAR_TOOLS_NAMES_H

#include <stdbool.h>

/** One enum's names. */
struct names;

extern const struct names names_mode; /* not CUDA's: enum tensor_mode */
extern const struct names names_dtype;
extern const struct names names_interleave;
extern const struct names names_swizzle;
extern const struct names names_l2_promotion;
extern const struct names names_oob_fill;
extern const struct names names_wide_mode;

/** False when the name is not known; then *value_out is left as it was. */
bool names_find(const struct names *names, const char *text,
                unsigned *value_out);

/** The name of a value. */
const char *names_text(const struct names *names, unsigned value);

/** "one of a, b, c", to be freed. */
char *names_list(const struct names *names);

/** The name nearest to a text; NULL when none is near. */
const char *names_nearest(const struct names *names, const char *text);

#endif
