/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/caches.h"

#include "base/memory.h"
#include "support/encode_source.h"
#include "support/suite.h"

struct ashlar_tensormap_cache *cache;

struct ashlar_tensormap_cache *caches_make(size_t slots)
{
    struct ashlar_tensormap_cache_options options =
        ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT;
    struct ashlar_tensormap_cache *made = NULL;

    options.slots = slots;
    ck_assert_int_eq(
        ashlar_tensormap_cache_create(&encode_source, &options, &made),
        ASHLAR_OK);
    return made;
}

void caches_begin(size_t slots)
{
    memory_fail_nth(0, false);
    encode_source_reset();
    cache = caches_make(slots);
}

void caches_end(void)
{
    ck_assert_int_eq(ashlar_tensormap_cache_destroy(cache), ASHLAR_OK);
    ck_assert_uint_eq(encode_source.holders, 0);
}

struct ashlar_tensormap_cache_stats caches_stats(void)
{
    struct ashlar_tensormap_cache_stats read =
        ASHLAR_TENSORMAP_CACHE_STATS_INIT;

    ck_assert_int_eq(ashlar_tensormap_cache_query(cache, &read), ASHLAR_OK);
    return read;
}

const void *caches_get(const struct ashlar_spec *spec)
{
    const void *map = NULL;

    ck_assert_msg(ashlar_tensormap_cache_get(cache, spec, 0, &map) == ASHLAR_OK,
                  "%s", ashlar_last_error_message());
    ck_assert(encode_is(map, spec));
    return map;
}

void caches_put(const void *map)
{
    ck_assert_msg(ashlar_tensormap_cache_put(cache, map) == ASHLAR_OK, "%s",
                  ashlar_last_error_message());
}

const void *caches_touch(uint64_t i)
{
    struct ashlar_spec spec = encode_spec(i);
    const void *map = caches_get(&spec);

    caches_put(map);
    return map;
}

bool caches_has(uint64_t i)
{
    uint64_t before = encoder.encodes;

    (void)caches_touch(i);
    return encoder.encodes == before;
}
