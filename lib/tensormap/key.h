/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A spec as a key: what its encoder reads, in words, and nothing else.
 *
 *     word 0   rank, mode
 *     1, 2     address, context
 *     3 to 5   the other settings
 *     6 ...    dims, strides            rank, rank - 1 of them
 *     next     element strides, box     two in a word
 *     next     channels, pixels, lower corners, upper corners: im2col
 *
 * Two keys are of one length when their words 0 are the same, so comparing as
 * many words as the first key has is enough.
 */
#ifndef ASHLAR_TENSORMAP_KEY_H
#define ASHLAR_TENSORMAP_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include <ashlar/spec.h>

#define KEY_WORDS_MOST 23

struct spec_key {
    uint64_t hash;
    uint32_t count; /* of words */
    uint64_t words[KEY_WORDS_MOST];
};

/**
 * Make the key of a spec of the library's own version.
 *
 * @return False when rank or mode is none that an encoder takes.
 */
bool key_make(const struct ashlar_spec *spec, uint64_t context,
              struct spec_key *key);

/** Whether two keys, of one hash, are the same. */
static inline bool key_is(const struct spec_key *a, const struct spec_key *b)
{
    uint32_t i = 0;

    while (i < a->count && a->words[i] == b->words[i])
        i++;
    return i == a->count;
}

#endif
