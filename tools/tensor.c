/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "must.h"
#include "suggest.h"

#define IN_TILED  (1u << TENSOR_TILED)
#define IN_IM2COL (1u << TENSOR_IM2COL)
#define IN_WIDE   (1u << TENSOR_IM2COL_WIDE)
#define IN_ALL    (IN_TILED | IN_IM2COL | IN_WIDE)

/* Every field, and the modes it belongs to. */
static const struct {
    const char *name;
    unsigned modes;
} fields[] = {
    {"name", IN_ALL},
    {"mode", IN_ALL},
    {"dtype", IN_ALL},
    {"address", IN_ALL},
    {"shape", IN_ALL},
    {"strides", IN_ALL},
    {"box", IN_TILED},
    {"element_strides", IN_ALL},
    {"interleave", IN_ALL},
    {"swizzle", IN_ALL},
    {"l2_promotion", IN_ALL},
    {"oob_fill", IN_ALL},
    {"pixel_box_lower_corner", IN_IM2COL | IN_WIDE},
    {"pixel_box_upper_corner", IN_IM2COL | IN_WIDE},
    {"channels_per_pixel", IN_IM2COL | IN_WIDE},
    {"pixels_per_column", IN_IM2COL | IN_WIDE},
    {"wide_mode", IN_WIDE},
};

#define FIELD_COUNT (sizeof(fields) / sizeof(fields[0]))

/* The limits of one value alone; the library tells those that are beyond. */
static const struct bounds address_bounds = {0, INT64_MAX, 0, INT64_MAX};
static const struct bounds shape_bounds = {1, INT64_C(1) << 32, 0, INT64_MAX};
static const struct bounds stride_bounds = {1, (INT64_C(1) << 40) - 1, 0,
                                            INT64_MAX};
static const struct bounds box_bounds = {1, 256, 0, UINT32_MAX};
static const struct bounds element_stride_bounds = {1, 8, 0, UINT32_MAX};
static const struct bounds channel_bounds = {1, 256, 0, UINT32_MAX};
static const struct bounds pixel_bounds = {1, 1024, 0, UINT32_MAX};
static const struct bounds wide_corner_bounds = {-32768, 32767, INT32_MIN,
                                                 INT32_MAX};

/* A corner has fewer bits the more numbers it has. */
static struct bounds corner_bounds(const struct tensor *tensor)
{
    static const struct bounds four = {-128, 127, INT32_MIN, INT32_MAX};
    static const struct bounds five = {-16, 15, INT32_MIN, INT32_MAX};

    if (tensor->mode == TENSOR_IM2COL && tensor->rank == 4)
        return four;
    if (tensor->mode == TENSOR_IM2COL && tensor->rank == 5)
        return five;
    return wide_corner_bounds;
}

static void refuse_stranger(const struct place *place, const char *name)
{
    struct suggestion suggestion = {name, NULL, 0};
    size_t i;

    for (i = 0; i < FIELD_COUNT; i++)
        suggest_consider(&suggestion, fields[i].name);
    field_refuse_name(place, name, suggestion.best);
}

/* Names that no field has, and fields of another mode. */
static void check_names(const struct place *place, enum tensor_mode mode)
{
    const char *name;
    json_t *value;

    json_object_foreach(place->object, name, value)
    {
        size_t i = 0;

        while (i < FIELD_COUNT && strcmp(name, fields[i].name) != 0)
            i++;
        if (i == FIELD_COUNT)
            refuse_stranger(place, name);
        else if ((fields[i].modes & (1u << mode)) == 0)
            field_refuse(place, name, value, "left out, as \"mode\" is \"%s\"",
                         ashlar_spec_name(ASHLAR_SPEC_FIELD_MODE, mode));
    }
}

/* A list as long as the rank says, or of any length while that is unknown. */
static struct length rank_length(const struct tensor *tensor, size_t less,
                                 const char *why)
{
    struct length length = {0, TENSOR_RANK_MAX, why};

    if (tensor->rank > less)
        length.min = length.max = tensor->rank - less;
    else if (tensor->rank != 0)
        length.min = length.max = 0;
    return length;
}

static void read_shape(const struct place *place, struct tensor *tensor)
{
    static const struct length any = {1, TENSOR_RANK_MAX,
                                      "one for each dimension"};
    static const struct length im2col = {
        3, TENSOR_RANK_MAX, "one for each dimension of an im2col tensor"};

    field_integers(place, "shape", FIELD_NEEDED,
                   tensor->mode == TENSOR_TILED ? any : im2col, shape_bounds,
                   tensor->shape, &tensor->rank);
}

static void read_lists(const struct place *place, struct tensor *tensor)
{
    struct length each =
        rank_length(tensor, 0, "one for each dimension of \"shape\"");
    size_t count, i;

    for (i = 0; i < TENSOR_RANK_MAX; i++)
        tensor->element_strides[i] = 1;
    field_integers(place, "strides", FIELD_OPTIONAL,
                   rank_length(tensor, 1,
                               "the bytes of a step in each dimension of "
                               "\"shape\" but the first"),
                   stride_bounds, tensor->strides, &tensor->stride_count);
    if (tensor->mode == TENSOR_TILED)
        field_integers(place, "box", FIELD_OPTIONAL, each, box_bounds,
                       tensor->box, &tensor->box_count);
    field_integers(place, "element_strides", FIELD_OPTIONAL, each,
                   element_stride_bounds, tensor->element_strides, &count);
}

static void read_choices(const struct place *place, struct tensor *tensor)
{
    field_name(place, "dtype", FIELD_NEEDED, ASHLAR_SPEC_FIELD_DTYPE,
               &tensor->dtype);
    field_name(place, "interleave", FIELD_OPTIONAL,
               ASHLAR_SPEC_FIELD_INTERLEAVE, &tensor->interleave);
    field_name(place, "swizzle", FIELD_OPTIONAL, ASHLAR_SPEC_FIELD_SWIZZLE,
               &tensor->swizzle);
    field_name(place, "l2_promotion", FIELD_OPTIONAL,
               ASHLAR_SPEC_FIELD_L2_PROMOTION, &tensor->l2_promotion);
    field_name(place, "oob_fill", FIELD_OPTIONAL, ASHLAR_SPEC_FIELD_OOB_FILL,
               &tensor->oob_fill);
}

static void read_im2col(const struct place *place, struct tensor *tensor)
{
    struct length wide = {1, 1, "along the width"};
    struct length length =
        tensor->mode == TENSOR_IM2COL_WIDE
            ? wide
            : rank_length(tensor, 2,
                          "one for each dimension of \"shape\" but the "
                          "first and the last");

    field_integers(place, "pixel_box_lower_corner", FIELD_NEEDED, length,
                   corner_bounds(tensor), tensor->lower_corner,
                   &tensor->corner_count);
    field_integers(place, "pixel_box_upper_corner", FIELD_NEEDED, length,
                   corner_bounds(tensor), tensor->upper_corner,
                   &tensor->corner_count);
    field_integer(place, "channels_per_pixel", FIELD_NEEDED, channel_bounds,
                  &tensor->channels_per_pixel);
    field_integer(place, "pixels_per_column", FIELD_NEEDED, pixel_bounds,
                  &tensor->pixels_per_column);
    if (tensor->mode == TENSOR_IM2COL_WIDE)
        field_name(place, "wide_mode", FIELD_OPTIONAL,
                   ASHLAR_SPEC_FIELD_WIDE_MODE, &tensor->wide_mode);
}

void tensor_read(const struct place *place, struct tensor *tensor)
{
    uint32_t mode = TENSOR_TILED;
    bool mode_known = json_object_get(place->object, "mode") == NULL;
    const char *name;

    memset(tensor, 0, sizeof(*tensor));
    if (field_text(place, "name", &name))
        tensor->name = must_copy(name);
    mode_known |= field_name(place, "mode", FIELD_OPTIONAL,
                             ASHLAR_SPEC_FIELD_MODE, &mode);
    tensor->mode = (enum tensor_mode)mode;
    read_choices(place, tensor);
    /* What else is right or wrong depends on the mode. */
    if (!mode_known)
        return;
    check_names(place, tensor->mode);
    tensor->has_address = field_integer(place, "address", FIELD_OPTIONAL,
                                        address_bounds, &tensor->address);
    read_shape(place, tensor);
    read_lists(place, tensor);
    if (tensor->mode != TENSOR_TILED)
        read_im2col(place, tensor);
}

void tensor_clear(struct tensor *tensor)
{
    free(tensor->name);
    tensor->name = NULL;
}
