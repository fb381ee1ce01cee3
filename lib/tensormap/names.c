/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* What settings are called: here, by CUDA, and by the people who use them. */
#include "config.h"

#include "tensormap/tensormap.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

#define GROUPS_MOST 2

struct alias {
    const char *text;
    uint32_t value;
};

struct names {
    uint32_t count;
    const char *const *values;
    size_t alias_count;
    const struct alias *aliases;
    const char *groups[GROUPS_MOST]; /* prefixes that may be left out */
};

static const char *const modes[SPEC_MODES] = {"tiled", "im2col", "im2col_wide"};

static const char *const dtypes[SPEC_DTYPES] = {
    "uint8",        "uint16",       "uint32",        "int32",
    "uint64",       "int64",        "float16",       "float32",
    "float64",      "bfloat16",     "float32_ftz",   "tfloat32",
    "tfloat32_ftz", "16u4_align8b", "16u4_align16b", "16u6_align16b"};

/* The map moves bytes: eight-bit types without a name of their own there go
 * as uint8, which is how frameworks encode them. */
static const struct alias dtype_aliases[] = {
    {"bf16", ASHLAR_SPEC_BFLOAT16},     {"f16", ASHLAR_SPEC_FLOAT16},
    {"fp16", ASHLAR_SPEC_FLOAT16},      {"half", ASHLAR_SPEC_FLOAT16},
    {"f32", ASHLAR_SPEC_FLOAT32},       {"fp32", ASHLAR_SPEC_FLOAT32},
    {"float", ASHLAR_SPEC_FLOAT32},     {"f64", ASHLAR_SPEC_FLOAT64},
    {"fp64", ASHLAR_SPEC_FLOAT64},      {"double", ASHLAR_SPEC_FLOAT64},
    {"tf32", ASHLAR_SPEC_TFLOAT32},     {"int8", ASHLAR_SPEC_UINT8},
    {"float8_e4m3", ASHLAR_SPEC_UINT8}, {"float8_e4m3fn", ASHLAR_SPEC_UINT8},
    {"float8_e5m2", ASHLAR_SPEC_UINT8}};

static const char *const interleaves[SPEC_INTERLEAVES] = {
    "none", "interleave_16B", "interleave_32B"};

static const char *const swizzles[SPEC_SWIZZLES] = {
    "none",
    "swizzle_32B",
    "swizzle_64B",
    "swizzle_128B",
    "swizzle_128B_atom_32B",
    "swizzle_128B_atom_32B_flip_8B",
    "swizzle_128B_atom_64B"};

static const char *const promotions[SPEC_PROMOTIONS] = {"none", "l2_64B",
                                                        "l2_128B", "l2_256B"};

static const char *const oob_fills[SPEC_OOB_FILLS] = {"none",
                                                      "nan_request_zero_fma"};

static const struct alias oob_fill_aliases[] = {
    {"zero", ASHLAR_SPEC_OOB_ZERO},
    {"zeros", ASHLAR_SPEC_OOB_ZERO},
    {"nan", ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA}};

static const char *const wide_modes[SPEC_WIDE_MODES] = {"w", "w128"};

#define COUNT_OF(_array) (sizeof(_array) / sizeof((_array)[0]))

static const struct names *names_of(enum ashlar_spec_field field)
{
    static const struct names mode = {SPEC_MODES, modes, 0, NULL, {NULL}};
    static const struct names dtype = {SPEC_DTYPES,
                                       dtypes,
                                       COUNT_OF(dtype_aliases),
                                       dtype_aliases,
                                       {"data_type_"}};
    static const struct names interleave = {
        SPEC_INTERLEAVES, interleaves, 0, NULL, {"interleave_"}};
    static const struct names swizzle = {
        SPEC_SWIZZLES, swizzles, 0, NULL, {"swizzle_"}};
    static const struct names promotion = {
        SPEC_PROMOTIONS, promotions, 0, NULL, {"l2_promotion_", "l2_"}};
    static const struct names oob_fill = {SPEC_OOB_FILLS,
                                          oob_fills,
                                          COUNT_OF(oob_fill_aliases),
                                          oob_fill_aliases,
                                          {"float_oob_fill_"}};
    static const struct names wide_mode = {
        SPEC_WIDE_MODES, wide_modes, 0, NULL, {"im2col_wide_mode_"}};

    switch (field) {
    case ASHLAR_SPEC_FIELD_MODE:
        return &mode;
    case ASHLAR_SPEC_FIELD_DTYPE:
        return &dtype;
    case ASHLAR_SPEC_FIELD_INTERLEAVE:
        return &interleave;
    case ASHLAR_SPEC_FIELD_SWIZZLE:
        return &swizzle;
    case ASHLAR_SPEC_FIELD_L2_PROMOTION:
        return &promotion;
    case ASHLAR_SPEC_FIELD_OOB_FILL:
        return &oob_fill;
    case ASHLAR_SPEC_FIELD_WIDE_MODE:
        return &wide_mode;
    default:
        return NULL;
    }
}

const char *ashlar_spec_name(enum ashlar_spec_field field, uint32_t value)
{
    const struct names *names = names_of(field);

    return names == NULL || value >= names->count ? NULL : names->values[value];
}

const char *ashlar_spec_alias(enum ashlar_spec_field field, size_t i)
{
    const struct names *names = names_of(field);

    return names == NULL || i >= names->alias_count ? NULL
                                                    : names->aliases[i].text;
}

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

/* False when the name is not known. */
static bool find(const struct names *names, const char *name,
                 uint32_t *value_out)
{
    const char *wanted = core(names, name);
    uint32_t i;

    for (i = 0; i < names->count; i++) {
        if (strcasecmp(wanted, core(names, names->values[i])) == 0) {
            *value_out = i;
            return true;
        }
    }
    for (i = 0; i < names->alias_count; i++) {
        if (strcasecmp(wanted, names->aliases[i].text) == 0) {
            *value_out = names->aliases[i].value;
            return true;
        }
    }
    return false;
}

enum ashlar_status ashlar_spec_value(enum ashlar_spec_field field,
                                     const char *name, uint32_t *value_out)
{
    const struct names *names = names_of(field);

    if (name == NULL || value_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_spec_value() was given NULL for %s",
                         name == NULL ? "name" : "value_out");
    if (names == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "field is %d, %s; only enums have names: mode, dtype, "
                         "interleave, swizzle, l2_promotion, oob_fill, "
                         "wide_mode",
                         (int)field, ashlar_spec_field_name(field));
    if (!find(names, name, value_out))
        return error_set(ASHLAR_ERR_NOT_FOUND,
                         "no %s is called \"%s\"; ashlar_spec_name() tells "
                         "them all, from %s on",
                         ashlar_spec_field_name(field), name, names->values[0]);
    return ASHLAR_OK;
}

const char *ashlar_spec_field_name(enum ashlar_spec_field field)
{
    static const char *const names[] = {
        "?",        "address",         "dims",         "strides",
        "box",      "element_strides", "lower_corner", "upper_corner",
        "channels", "pixels",          "rank",         "mode",
        "dtype",    "interleave",      "swizzle",      "l2_promotion",
        "oob_fill", "wide_mode"};

    return (size_t)field < COUNT_OF(names) ? names[field] : names[0];
}
