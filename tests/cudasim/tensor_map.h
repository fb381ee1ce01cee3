/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Tensor maps: what an encoder is given, and whether the driver takes it.
 *
 * The rules are those of an H200's driver, 580.159.04, for a device of compute
 * capability 9.0; of im2col-wide, which such a device cannot use, only a few.
 */
#ifndef CUDASIM_TENSOR_MAP_H
#define CUDASIM_TENSOR_MAP_H

#include "machine.h"

enum map_kind { MAP_TILED, MAP_IM2COL, MAP_IM2COL_WIDE };

/* The parameters of one, as numbers; arrays are the caller's. */
struct map_request {
    enum map_kind kind;
    unsigned dtype, rank, interleave, swizzle, promotion, fill, wide;
    uint64_t address;
    const cuuint64_t *dims, *strides;
    const cuuint32_t *box, *steps;
    int lower[3], upper[3]; /* as many as the rank has */
    unsigned channels, pixels;
};

bool map_is_allowed(const struct map_request *request);

/* Which addresses a map may get that was encoded with these settings. */
bool map_address_is_allowed(uint64_t address, unsigned dtype,
                            unsigned interleave);

#endif
