/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A spec as a key: what its encoder reads, packed, and nothing else.
 *
 *     word  0        address
 *           1        rank, mode and the other settings, a byte each
 *           2        context
 *           3        tiled: 12 bits a dimension, box less 1 and element stride
 *                    im2col: 32 bits pixels, 12 channels, 4 an element stride
 *           4, 5, 6  dims[0], dims[1], strides[0]
 *           7 to 12  dims[2], strides[1], dims[3], strides[2] ...
 *          13        im2col: corners
 *
 * A word that the rank has no use for is 0. Keys of rank 1 and 2 end before word
 * 7, all others have all words, so neither is walked word by word: a loop that
 * ends after seven turns here and thirteen there costs more than its work. Word
 * 1 tells long from short.
 *
 * What does not fit its bits no encoder takes, and it has no key. So a short key
 * and a number beside it are one line of memory, where a spec is three: a hit of
 * the cache waits for each of them.
 */
#ifndef ASHLAR_TENSORMAP_KEY_H
#define ASHLAR_TENSORMAP_KEY_H

#include <stdbool.h>
#include <stdint.h>

#include <ashlar/spec.h>

#define KEY_WORDS_SHORT 7
#define KEY_WORDS_MOST  14

/** The word that is the address. */
#define KEY_ADDRESS 0

struct spec_key {
    uint64_t hash;
    uint32_t count; /* of words: one of the two above */
    uint64_t words[KEY_WORDS_MOST];
};

/**
 * Make the key of a spec of the library's own version, but for its hash.
 *
 * @return False when the spec has values that no encoder takes, and no key.
 */
bool key_make(const struct ashlar_spec *spec, uint64_t context,
              struct spec_key *key);

/** Give a key its hash. */
void key_add_hash(struct spec_key *key);

/** Keep a key's words where others may be reading. */
static inline void key_write(uint64_t *words, const struct spec_key *key)
{
    uint32_t i;

    for (i = 0; i < key->count; i++)
        __atomic_store_n(&words[i], key->words[i], __ATOMIC_RELAXED);
}

/** Bits that differ between KEY_WORDS_SHORT words and others. */
static inline uint64_t key_difference(const uint64_t *there,
                                      const uint64_t *words)
{
#define DIFFERENCE(_i)                                                         \
    (__atomic_load_n(&there[_i], __ATOMIC_RELAXED) ^ words[_i])
    return DIFFERENCE(0) | DIFFERENCE(1) | DIFFERENCE(2) | DIFFERENCE(3) |
           DIFFERENCE(4) | DIFFERENCE(5) | DIFFERENCE(6);
#undef DIFFERENCE
}

/** Whether a key's words are these, of which another may be writing some. */
static inline bool key_is(const uint64_t *there, const struct spec_key *key)
{
    const uint64_t *words = key->words;

    return key_difference(there, words) == 0 &&
           (key->count == KEY_WORDS_SHORT ||
            key_difference(there + KEY_WORDS_SHORT, words + KEY_WORDS_SHORT) ==
                0);
}

#endif
