/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "names.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "must.h"
#include "suggest.h"

#define VALUES_MOST  16
#define ALIASES_MOST 16
#define GROUPS_MOST  2

struct names {
    const char *values[VALUES_MOST + 1]; /* ended by NULL */
    const char *groups[GROUPS_MOST];     /* prefixes that may be left out */
    struct {
        const char *text;
        unsigned value;
    } aliases[ALIASES_MOST + 1];
};

const struct names names_mode = {
    .values = {"tiled", "im2col", "im2col_wide"},
};

/* The map moves bytes: eight-bit types without a name of their own there go
 * as uint8, which is how frameworks encode them. */
const struct names names_dtype = {
    .values = {"uint8", "uint16", "uint32", "int32", "uint64", "int64",
               "float16", "float32", "float64", "bfloat16", "float32_ftz",
               "tfloat32", "tfloat32_ftz", "16u4_align8b", "16u4_align16b",
               "16u6_align16b"},
    .groups = {"data_type_"},
    .aliases = {{"bf16", 9},
                {"f16", 6},
                {"fp16", 6},
                {"half", 6},
                {"f32", 7},
                {"fp32", 7},
                {"float", 7},
                {"f64", 8},
                {"fp64", 8},
                {"double", 8},
                {"tf32", 11},
                {"int8", 0},
                {"float8_e4m3", 0},
                {"float8_e4m3fn", 0},
                {"float8_e5m2", 0}},
};

const struct names names_interleave = {
    .values = {"none", "interleave_16B", "interleave_32B"},
    .groups = {"interleave_"},
};

const struct names names_swizzle = {
    .values = {"none", "swizzle_32B", "swizzle_64B", "swizzle_128B",
               "swizzle_128B_atom_32B", "swizzle_128B_atom_32B_flip_8B",
               "swizzle_128B_atom_64B"},
    .groups = {"swizzle_"},
};

const struct names names_l2_promotion = {
    .values = {"none", "l2_64B", "l2_128B", "l2_256B"},
    .groups = {"l2_promotion_", "l2_"},
};

const struct names names_oob_fill = {
    .values = {"none", "nan_request_zero_fma"},
    .groups = {"float_oob_fill_"},
    .aliases = {{"zero", 0}, {"zeros", 0}, {"nan", 1}},
};

const struct names names_wide_mode = {
    .values = {"w", "w128"},
    .groups = {"im2col_wide_mode_"},
};

static const char *skip_prefix(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);

    return strncasecmp(text, prefix, length) == 0 ? text + length : text;
}

/* The name without what may be left out. */
static const char *core(const struct names *names, const char *text)
{
    size_t i;

    text = skip_prefix(text, "CU_TENSOR_MAP_");
    for (i = 0; i < GROUPS_MOST && names->groups[i] != NULL; i++)
        text = skip_prefix(text, names->groups[i]);
    return text;
}

bool names_find(const struct names *names, const char *text,
                unsigned *value_out)
{
    const char *wanted = core(names, text);
    unsigned i;

    for (i = 0; names->values[i] != NULL; i++) {
        if (strcasecmp(wanted, core(names, names->values[i])) == 0) {
            *value_out = i;
            return true;
        }
    }
    for (i = 0; names->aliases[i].text != NULL; i++) {
        if (strcasecmp(wanted, names->aliases[i].text) == 0) {
            *value_out = names->aliases[i].value;
            return true;
        }
    }
    return false;
}

const char *names_text(const struct names *names, unsigned value)
{
    return names->values[value];
}

char *names_list(const struct names *names)
{
    char *list = must_copy("one of ");
    unsigned i;

    for (i = 0; names->values[i] != NULL; i++) {
        char *longer =
            must_format("%s%s%s", list, i == 0 ? "" : ", ", names->values[i]);

        free(list);
        list = longer;
    }
    return list;
}

const char *names_nearest(const struct names *names, const char *text)
{
    struct suggestion suggestion = {text, NULL, 0};
    unsigned i;

    for (i = 0; names->values[i] != NULL; i++)
        suggest_consider(&suggestion, names->values[i]);
    for (i = 0; names->aliases[i].text != NULL; i++)
        suggest_consider(&suggestion, names->aliases[i].text);
    return suggestion.best;
}
