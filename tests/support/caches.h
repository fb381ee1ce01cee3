/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What the tests of caches of tensor maps share: a cache on the encoder of
 * support/encode_source.h, and specs that are told by a number.
 */
#ifndef ASHLAR_TESTS_SUPPORT_CACHES_H
#define ASHLAR_TESTS_SUPPORT_CACHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar.h>

/* The one that is tested. */
extern struct ashlar_tensormap_cache *cache;

/* Begin with a cache of so many slots, and an encoder that is as new. */
void caches_begin(size_t slots);

/* It goes, and has held nothing of its source's. */
void caches_end(void);

/* Make another; fails the test case when it cannot, as do those below. */
struct ashlar_tensormap_cache *caches_make(size_t slots);

struct ashlar_tensormap_cache_stats caches_stats(void);

/* The map of a spec, as it should be, until it is put. */
const void *caches_get(const struct ashlar_spec *spec);
void caches_put(const void *map);

/* Get the ith spec, and hold it no longer. */
const void *caches_touch(uint64_t i);

/* Whether the ith spec is found; it is from then on. */
bool caches_has(uint64_t i);

#endif
