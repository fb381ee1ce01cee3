/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/key.h"

#include "tensormap/tensormap.h"

__extension__ typedef unsigned __int128 uint128;

static inline uint64_t pair(uint32_t low, uint32_t high)
{
    return low | (uint64_t)high << 32;
}

/* --- the hash ------------------------------------------------------------- */

/* What arrives in a product's upper half is folded down. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    uint128 product = (uint128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Words two by two, each pair by a product of its own: none waits for another.
 * The numbers are odd, with nothing else to be seen in them: splitmix64 from 1. */
static inline uint64_t hash_short(const uint64_t *words)
{
    return fold(words[0] ^ UINT64_C(0x910a2dec89025cc1),
                words[1] ^ UINT64_C(0xbeeb8da1658eec67)) +
           fold(words[2] ^ UINT64_C(0xf893a2eefb32555f),
                words[3] ^ UINT64_C(0x71c18690ee42c90b)) +
           fold(words[4] ^ UINT64_C(0x71bb54d8d101b5b9),
                words[5] ^ UINT64_C(0xc34d0bff90150281)) +
           fold(words[6] ^ UINT64_C(0xe099ec6cd7363ca5),
                UINT64_C(0x85e7bb0f12278575));
}

static inline uint64_t hash_long(const uint64_t *words)
{
    return hash_short(words) +
           fold(words[7] ^ UINT64_C(0x491718de357e3da9),
                words[8] ^ UINT64_C(0xcb435c8e74616797)) +
           fold(words[9] ^ UINT64_C(0x6775dc7701564f61),
                words[10] ^ UINT64_C(0x9afcd44d14cf8bff)) +
           fold(words[11] ^ UINT64_C(0x7476cf8a4baa5dc1),
                words[12] ^ UINT64_C(0x87b341d690d7a28b)) +
           fold(words[13] ^ UINT64_C(0x6f9b6dae6f4c57a9),
                UINT64_C(0x2ac2ce17a5794a3b));
}

/*
 * Keys of one shape differ in one factor of one product, and mostly by even
 * steps, so that product goes round the buckets by even steps, too, and may meet
 * few of them. So what comes out is multiplied once more.
 */
void key_add_hash(struct spec_key *key)
{
    uint64_t sum = key->count == KEY_WORDS_SHORT ? hash_short(key->words)
                                                 : hash_long(key->words);

    key->hash = fold(sum, UINT64_C(0xa534a6a6b7fd0b63));
}

/* --- the words ------------------------------------------------------------ */

/* Each adds to beyond what it finds of bits that have no place in a key. */

static inline uint64_t settings_of(const struct ashlar_spec *spec,
                                   uint64_t *beyond)
{
    bool is_wide = spec->mode == ASHLAR_SPEC_IM2COL_WIDE;
    uint64_t first = pair(spec->rank, spec->mode);
    uint64_t second = pair(spec->dtype, spec->interleave);
    uint64_t third = pair(spec->swizzle, spec->l2_promotion);
    uint64_t fourth = pair(spec->oob_fill, is_wide ? spec->wide_mode : 0);

    *beyond |= (first | second | third | fourth) & ~pair(0xff, 0xff);
    return first | second << 8 | third << 16 | fourth << 24;
}

/* Of one dimension. */
static inline uint64_t box_of(const struct ashlar_spec *spec, uint32_t i,
                              uint64_t *beyond)
{
    uint32_t edge = i < spec->rank ? spec->box[i] - 1 : 0;
    uint32_t step = i < spec->rank ? spec->element_strides[i] : 0;

    *beyond |= edge >> 8 | step >> 4;
    return (uint64_t)(step << 8 | edge) << (12 * i);
}

static inline uint64_t boxes_of(const struct ashlar_spec *spec,
                                uint64_t *beyond)
{
    return box_of(spec, 0, beyond) | box_of(spec, 1, beyond) |
           box_of(spec, 2, beyond) | box_of(spec, 3, beyond) |
           box_of(spec, 4, beyond);
}

/* Pixels as they are: W128 takes any number of them. */
static uint64_t column_of(const struct ashlar_spec *spec, uint64_t *beyond)
{
    uint64_t word = pair(spec->pixels, spec->channels);
    uint32_t i, step;

    *beyond |= spec->channels >> 12;
    for (i = 0; i < spec->rank; i++) {
        step = spec->element_strides[i];
        *beyond |= step >> 4;
        word |= (uint64_t)step << (44 + 4 * i);
    }
    return word;
}

/* Three corners are small ones; im2col-wide has one, whatever the rank. */
static uint64_t corners_of(const struct ashlar_spec *spec, uint64_t *beyond)
{
    uint32_t n = spec->mode == ASHLAR_SPEC_IM2COL_WIDE ? 1 : spec->rank - 2;
    unsigned bits = n > 2 ? 10 : 16;
    uint32_t half = UINT32_C(1) << (bits - 1), i, lower, upper;
    uint64_t word = 0;

    for (i = 0; i < n; i++) {
        lower = (uint32_t)spec->lower_corner[i] + half;
        upper = (uint32_t)spec->upper_corner[i] + half;
        *beyond |= (lower | upper) >> bits;
        word = word << 2 * bits | (uint64_t)lower << bits | upper;
    }
    return word;
}

/* Of rank 1 or 2, and tiled. */
static inline uint64_t make_short(const struct ashlar_spec *spec,
                                  struct spec_key *key)
{
    uint64_t *words = key->words, beyond = 0;
    bool is_flat = spec->rank == 2;

    key->count = KEY_WORDS_SHORT;
    words[1] = settings_of(spec, &beyond);
    words[3] = box_of(spec, 0, &beyond) | box_of(spec, 1, &beyond);
    words[4] = spec->dims[0];
    words[5] = is_flat ? spec->dims[1] : 0;
    words[6] = is_flat ? spec->strides[0] : 0;
    return beyond;
}

/* Of rank 3 or more. */
static inline uint64_t make_long(const struct ashlar_spec *spec,
                                 struct spec_key *key)
{
    uint64_t *words = key->words, beyond = 0;
    bool is_tiled = spec->mode == ASHLAR_SPEC_TILED;
    bool has_fourth = spec->rank > 3, has_fifth = spec->rank > 4;

    key->count = KEY_WORDS_MOST;
    words[1] = settings_of(spec, &beyond);
    words[3] = is_tiled ? boxes_of(spec, &beyond) : column_of(spec, &beyond);
    words[4] = spec->dims[0];
    words[5] = spec->dims[1];
    words[6] = spec->strides[0];
    words[7] = spec->dims[2];
    words[8] = spec->strides[1];
    words[9] = has_fourth ? spec->dims[3] : 0;
    words[10] = has_fourth ? spec->strides[2] : 0;
    words[11] = has_fifth ? spec->dims[4] : 0;
    words[12] = has_fifth ? spec->strides[3] : 0;
    words[13] = is_tiled ? 0 : corners_of(spec, &beyond);
    return beyond;
}

bool key_make(const struct ashlar_spec *spec, uint64_t context,
              struct spec_key *key)
{
    bool is_tiled = spec->mode == ASHLAR_SPEC_TILED;

    if (spec->mode >= SPEC_MODES || spec->rank > ASHLAR_SPEC_RANK_MAX ||
        spec->rank < (is_tiled ? 1 : 3))
        return false;
    key->words[KEY_ADDRESS] = spec->address;
    key->words[2] = context;
    return (spec->rank <= 2 ? make_short(spec, key) : make_long(spec, key)) ==
           0;
}
