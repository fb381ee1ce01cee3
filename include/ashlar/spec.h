/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The parameters of one tensor map, as a plain struct.
 *
 * The values of the enums are those of the driver's (cuda.h of CUDA 12 and 13),
 * so a plug-in may pass them on; no header of CUDA is needed to write one. The
 * same struct serves the three encoders, chosen by `mode`.
 */
#ifndef ASHLAR_SPEC_H
#define ASHLAR_SPEC_H

#include <ashlar/export.h>

/** Bytes of an encoded tensor map, and the alignment of a slot for one. */
#define ASHLAR_TENSOR_MAP_BYTES ((size_t)128)

/** The most dimensions a tensor map has. */
#define ASHLAR_SPEC_RANK_MAX 5

/** Which encoder a spec is for. */
enum ashlar_spec_mode {
    ASHLAR_SPEC_TILED = 0,
    ASHLAR_SPEC_IM2COL = 1,
    ASHLAR_SPEC_IM2COL_WIDE = 2
};

/** The type of an element: CUtensorMapDataType. */
enum ashlar_spec_dtype {
    ASHLAR_SPEC_UINT8 = 0,
    ASHLAR_SPEC_UINT16 = 1,
    ASHLAR_SPEC_UINT32 = 2,
    ASHLAR_SPEC_INT32 = 3,
    ASHLAR_SPEC_UINT64 = 4,
    ASHLAR_SPEC_INT64 = 5,
    ASHLAR_SPEC_FLOAT16 = 6,
    ASHLAR_SPEC_FLOAT32 = 7,
    ASHLAR_SPEC_FLOAT64 = 8,
    ASHLAR_SPEC_BFLOAT16 = 9,
    ASHLAR_SPEC_FLOAT32_FTZ = 10,
    ASHLAR_SPEC_TFLOAT32 = 11,
    ASHLAR_SPEC_TFLOAT32_FTZ = 12,
    ASHLAR_SPEC_16U4_ALIGN8B = 13,
    ASHLAR_SPEC_16U4_ALIGN16B = 14,
    ASHLAR_SPEC_16U6_ALIGN16B = 15
};

/** The interleaved layout: CUtensorMapInterleave. */
enum ashlar_spec_interleave {
    ASHLAR_SPEC_INTERLEAVE_NONE = 0,
    ASHLAR_SPEC_INTERLEAVE_16B = 1,
    ASHLAR_SPEC_INTERLEAVE_32B = 2
};

/** How shared memory banks are swizzled: CUtensorMapSwizzle. */
enum ashlar_spec_swizzle {
    ASHLAR_SPEC_SWIZZLE_NONE = 0,
    ASHLAR_SPEC_SWIZZLE_32B = 1,
    ASHLAR_SPEC_SWIZZLE_64B = 2,
    ASHLAR_SPEC_SWIZZLE_128B = 3,
    ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B = 4,
    ASHLAR_SPEC_SWIZZLE_128B_ATOM_32B_FLIP_8B = 5,
    ASHLAR_SPEC_SWIZZLE_128B_ATOM_64B = 6
};

/** What the second level cache fetches: CUtensorMapL2promotion. */
enum ashlar_spec_l2_promotion {
    ASHLAR_SPEC_L2_NONE = 0,
    ASHLAR_SPEC_L2_64B = 1,
    ASHLAR_SPEC_L2_128B = 2,
    ASHLAR_SPEC_L2_256B = 3
};

/** What elements out of bounds read as: CUtensorMapFloatOOBfill. */
enum ashlar_spec_oob_fill {
    ASHLAR_SPEC_OOB_ZERO = 0,
    ASHLAR_SPEC_OOB_NAN_REQUEST_ZERO_FMA = 1
};

/** Which columns an im2col-wide map walks: CUtensorMapIm2ColWideMode. */
enum ashlar_spec_wide_mode {
    ASHLAR_SPEC_WIDE_W = 0,
    ASHLAR_SPEC_WIDE_W128 = 1
};

/**
 * One tensor map. Arrays are held here, not pointed to, so a spec can be
 * copied, compared and kept. Entries from `rank` on are ignored.
 */
struct ashlar_spec {
    /** sizeof(struct ashlar_spec). */
    size_t size;
    /** Device address of element 0. */
    uint64_t address;
    /** Elements along each dimension, the innermost first. */
    uint64_t dims[ASHLAR_SPEC_RANK_MAX];
    /** Bytes from one to the next, for dimensions 1 to rank - 1. */
    uint64_t strides[ASHLAR_SPEC_RANK_MAX - 1];
    /** Tiled: elements of the box along each dimension. */
    uint32_t box[ASHLAR_SPEC_RANK_MAX];
    /** Elements from one taken to the next along each dimension; 1: all. */
    uint32_t element_strides[ASHLAR_SPEC_RANK_MAX];
    /** Im2col: the pixel box, W first (im2col-wide: W alone). */
    int32_t lower_corner[ASHLAR_SPEC_RANK_MAX - 2];
    int32_t upper_corner[ASHLAR_SPEC_RANK_MAX - 2];
    /** Im2col: channels of a pixel, and pixels of a column. */
    uint32_t channels;
    uint32_t pixels;
    /** 1 to ASHLAR_SPEC_RANK_MAX; im2col 3 or more. */
    uint32_t rank;
    /** enum ashlar_spec_mode. */
    uint32_t mode;
    /** enum ashlar_spec_dtype. */
    uint32_t dtype;
    /** enum ashlar_spec_interleave. */
    uint32_t interleave;
    /** enum ashlar_spec_swizzle. */
    uint32_t swizzle;
    /** enum ashlar_spec_l2_promotion. */
    uint32_t l2_promotion;
    /** enum ashlar_spec_oob_fill. */
    uint32_t oob_fill;
    /** enum ashlar_spec_wide_mode. */
    uint32_t wide_mode;
};

#endif
