/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/key.h"

#include "tensormap/tensormap.h"

static bool settings_fit(const struct ashlar_spec *spec)
{
    return spec->mode < SPEC_MODES && spec->dtype < SPEC_DTYPES &&
           spec->interleave < SPEC_INTERLEAVES &&
           spec->swizzle < SPEC_SWIZZLES &&
           spec->l2_promotion < SPEC_PROMOTIONS &&
           spec->oob_fill < SPEC_OOB_FILLS && spec->rank >= 1 &&
           spec->rank <= ASHLAR_SPEC_RANK_MAX &&
           (spec->mode != ASHLAR_SPEC_IM2COL_WIDE ||
            spec->wide_mode < SPEC_WIDE_MODES) &&
           (spec->mode == ASHLAR_SPEC_TILED || spec->rank >= 3);
}

static uint64_t settings(const struct ashlar_spec *spec)
{
    uint64_t wide = spec->mode == ASHLAR_SPEC_IM2COL_WIDE ? spec->wide_mode : 0;

    return spec->mode | (uint64_t)spec->rank << 8 |
           (uint64_t)spec->dtype << 16 | (uint64_t)spec->interleave << 24 |
           (uint64_t)spec->swizzle << 32 | (uint64_t)spec->l2_promotion << 40 |
           (uint64_t)spec->oob_fill << 48 | wide << 56;
}

/* Element strides are 1 to 8: half a byte each, above what else is there. */
static bool pack_steps(const struct ashlar_spec *spec, uint64_t *word)
{
    uint32_t i;

    for (i = 0; i < spec->rank; i++) {
        if (spec->element_strides[i] > 15)
            return false;
        *word |= (uint64_t)spec->element_strides[i] << (40 + 4 * i);
    }
    return true;
}

/* 1 to 256 in a byte. */
static bool pack_box(const struct ashlar_spec *spec, uint64_t *word)
{
    uint32_t i;

    for (i = 0; i < spec->rank; i++) {
        if (spec->box[i] - 1 > 255)
            return false;
        *word |= (uint64_t)(spec->box[i] - 1) << 8 * i;
    }
    return true;
}

static bool pack_pixels(const struct ashlar_spec *spec, uint64_t *word)
{
    if (spec->channels > 0xffff || spec->pixels > 0xffff)
        return false;
    *word = spec->channels | (uint64_t)spec->pixels << 16;
    return true;
}

/* Sixteen bits each; false when one has more. */
static bool pack_corners(const int32_t *corners, uint32_t count, uint64_t *word)
{
    uint32_t i;

    *word = 0;
    for (i = 0; i < count; i++) {
        if (corners[i] < INT16_MIN || corners[i] > INT16_MAX)
            return false;
        *word |= (uint64_t)(uint16_t)corners[i] << 16 * i;
    }
    return true;
}

static bool pack_im2col(const struct ashlar_spec *spec, struct spec_key *key)
{
    uint32_t corners = spec->mode == ASHLAR_SPEC_IM2COL ? spec->rank - 2 : 1;

    if (!pack_corners(spec->lower_corner, corners, &key->words[key->count]) ||
        !pack_corners(spec->upper_corner, corners, &key->words[key->count + 1]))
        return false;
    key->count += 2;
    return true;
}

/*
 * A sum of products, so that no word waits for the one before; the products'
 * upper halves, where all bits of a word arrive, are folded down at the end.
 */
static uint64_t hash_of(const struct spec_key *key)
{
    static const uint64_t odd[KEY_WORDS_MOST] = {
        UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbf58476d1ce4e5b9),
        UINT64_C(0x94d049bb133111eb), UINT64_C(0xd6e8feb86659fd93),
        UINT64_C(0xa0761d6478bd642f), UINT64_C(0xe7037ed1a0b428db),
        UINT64_C(0x8ebc6af09c88c6e3), UINT64_C(0x589965cc75374cc3),
        UINT64_C(0x1d8e4e27c47d124f), UINT64_C(0xeb44accab455d165),
        UINT64_C(0x2127599bf4325c37), UINT64_C(0x880355f21e6d1965),
        UINT64_C(0xff51afd7ed558ccd), UINT64_C(0xc4ceb9fe1a85ec53),
        UINT64_C(0x87c37b91114253d5)};
    uint64_t hash = 0;
    uint32_t i;

    for (i = 0; i < key->count; i++)
        hash += (key->words[i] ^ key->words[i] >> 32) * odd[i];
    hash = (hash ^ hash >> 32) * odd[0];
    return hash ^ hash >> 29;
}

bool key_make(const struct ashlar_spec *spec, uint64_t context,
              struct spec_key *key)
{
    uint64_t extent = 0;
    uint32_t i, n = 3;

    if (!settings_fit(spec))
        return false;
    if (!(spec->mode == ASHLAR_SPEC_TILED ? pack_box(spec, &extent)
                                          : pack_pixels(spec, &extent)) ||
        !pack_steps(spec, &extent))
        return false;
    key->words[0] = settings(spec);
    key->words[1] = spec->address;
    key->words[2] = context;
    for (i = 0; i < spec->rank; i++)
        key->words[n++] = spec->dims[i];
    for (i = 0; i + 1 < spec->rank; i++)
        key->words[n++] = spec->strides[i];
    key->words[n++] = extent;
    key->count = n;
    if (spec->mode != ASHLAR_SPEC_TILED && !pack_im2col(spec, key))
        return false;
    key->hash = hash_of(key);
    return true;
}
