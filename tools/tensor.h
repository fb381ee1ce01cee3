/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * One tensor of a manifest: the fields of a tensor map, as CUDA's encoders
 * cuTensorMapEncodeTiled(), ...Im2col() and ...Im2colWide() take them.
 *
 *     field                    CUDA's parameter          integers
 *     dtype                    tensorDataType
 *     address                  globalAddress             may be left out
 *     shape                    globalDim                 rank, innermost first
 *     strides                  globalStrides             rank - 1, bytes
 *     box                      boxDim            tiled   rank
 *     element_strides          elementStrides            rank
 *     interleave, swizzle, l2_promotion, oob_fill
 *     pixel_box_lower_corner   pixelBoxLower...  im2col  rank - 2
 *     pixel_box_upper_corner   pixelBoxUpper...  im2col  rank - 2
 *     (the same)               ...CornerWidth    wide    1
 *     channels_per_pixel       channelsPerPixel  im2col, wide
 *     pixels_per_column        pixelsPerColumn   im2col, wide
 *     wide_mode                mode              wide
 */
#ifndef ASHLAR_TOOLS_TENSOR_H
#define ASHLAR_TOOLS_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field.h"

#define TENSOR_RANK_MAX 5

enum tensor_mode {
    TENSOR_TILED = 0,
    TENSOR_IM2COL = 1,
    TENSOR_IM2COL_WIDE = 2
};

struct tensor {
    char *name;
    enum tensor_mode mode;
    uint32_t dtype;
    bool has_address;
    int64_t address;
    size_t rank;
    int64_t shape[TENSOR_RANK_MAX];
    size_t stride_count; /* 0: packed */
    int64_t strides[TENSOR_RANK_MAX];
    size_t box_count; /* 0: left to the encoder's caller */
    int64_t box[TENSOR_RANK_MAX];
    int64_t element_strides[TENSOR_RANK_MAX]; /* all 1 when not given */
    uint32_t interleave;
    uint32_t swizzle;
    uint32_t l2_promotion;
    uint32_t oob_fill;
    size_t corner_count;
    int64_t lower_corner[TENSOR_RANK_MAX];
    int64_t upper_corner[TENSOR_RANK_MAX];
    int64_t channels_per_pixel;
    int64_t pixels_per_column;
    uint32_t wide_mode;
};

/**
 * Read a tensor, and note what is wrong with it.
 *
 * @param tensor  Receives it; to be given to tensor_clear() in any case.
 */
void tensor_read(const struct place *place, struct tensor *tensor);

void tensor_clear(struct tensor *tensor);

#endif
