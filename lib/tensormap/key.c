/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/key.h"

#include <string.h>

#include "tensormap/tensormap.h"

static void add(struct spec_key *key, uint64_t word)
{
    key->words[key->count++] = word;
}

static void add_longs(struct spec_key *key, const uint64_t *from, uint32_t n)
{
    uint32_t i;

    for (i = 0; i < n; i++)
        add(key, from[i]);
}

/* Two in a word. */
static void add_ints(struct spec_key *key, const uint32_t *from, uint32_t n)
{
    uint32_t i;

    for (i = 0; i + 1 < n; i += 2)
        add(key, from[i] | (uint64_t)from[i + 1] << 32);
    if (i < n)
        add(key, from[i]);
}

static void add_corners(struct spec_key *key, const int32_t *from, uint32_t n)
{
    uint32_t corners[ASHLAR_SPEC_RANK_MAX - 2];

    memcpy(corners, from, n * sizeof(corners[0]));
    add_ints(key, corners, n);
}

static void add_im2col(struct spec_key *key, const struct ashlar_spec *spec)
{
    uint32_t corners =
        spec->mode == ASHLAR_SPEC_IM2COL_WIDE ? 1 : spec->rank - 2;

    add(key, spec->channels | (uint64_t)spec->pixels << 32);
    add_corners(key, spec->lower_corner, corners);
    add_corners(key, spec->upper_corner, corners);
}

/*
 * A sum of products, so that no word waits for the one before; the products'
 * upper halves, where all bits of a word arrive, are folded down at the end.
 */
static uint64_t hash_of(const struct spec_key *key)
{
    /* Odd, and nothing else to be seen in them: splitmix64 from 1. */
    static const uint64_t odd[KEY_WORDS_MOST] = {
        UINT64_C(0x910a2dec89025cc1), UINT64_C(0xbeeb8da1658eec67),
        UINT64_C(0xf893a2eefb32555f), UINT64_C(0x71c18690ee42c90b),
        UINT64_C(0x71bb54d8d101b5b9), UINT64_C(0xc34d0bff90150281),
        UINT64_C(0xe099ec6cd7363ca5), UINT64_C(0x85e7bb0f12278575),
        UINT64_C(0x491718de357e3da9), UINT64_C(0xcb435c8e74616797),
        UINT64_C(0x6775dc7701564f61), UINT64_C(0x9afcd44d14cf8bff),
        UINT64_C(0x7476cf8a4baa5dc1), UINT64_C(0x87b341d690d7a28b),
        UINT64_C(0x6f9b6dae6f4c57a9), UINT64_C(0x2ac2ce17a5794a3b),
        UINT64_C(0xa534a6a6b7fd0b63), UINT64_C(0xd0bad0da572baaf1),
        UINT64_C(0xae84379630af89ef), UINT64_C(0xe263183773ef6509),
        UINT64_C(0x10e2c46865e98747), UINT64_C(0x14d7973c5c2a449d),
        UINT64_C(0x7ef1fd0ed1548fcd)};
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
    uint32_t rank = spec->rank;

    if (spec->mode >= SPEC_MODES || rank > ASHLAR_SPEC_RANK_MAX ||
        rank < (spec->mode == ASHLAR_SPEC_TILED ? 1 : 3))
        return false;
    key->count = 0;
    add(key, rank | (uint64_t)spec->mode << 32);
    add(key, spec->address);
    add(key, context);
    add(key, spec->dtype | (uint64_t)spec->interleave << 32);
    add(key, spec->swizzle | (uint64_t)spec->l2_promotion << 32);
    add(key, spec->oob_fill | (spec->mode == ASHLAR_SPEC_IM2COL_WIDE
                                   ? (uint64_t)spec->wide_mode << 32
                                   : 0));
    add_longs(key, spec->dims, rank);
    add_longs(key, spec->strides, rank - 1);
    add_ints(key, spec->element_strides, rank);
    if (spec->mode == ASHLAR_SPEC_TILED)
        add_ints(key, spec->box, rank);
    else
        add_im2col(key, spec);
    key->hash = hash_of(key);
    return true;
}
