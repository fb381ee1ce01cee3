/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A cache held by the caller: get and put inline, a few instructions each,
 * for one slot at a time on the shortest path.
 */
#include <ashlar.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    struct ashlar_cache *cache;
    struct ashlar_pool *pool;
    size_t launches = 0;

    if (ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) != 0 ||
        ashlar_cache_open(pool, 64, ASHLAR_CACHE_LAYOUT, &cache) != 0 ||
        ashlar_pool_reserve(pool, 64) != 0) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    for (int i = 0; i < 1000000; i++) {
        void *map = ashlar_cache_get(cache);

        if (map == NULL)
            break;
        memset(map, 0, 128); /* encode, and launch with the map by value */
        if (ashlar_cache_put(cache, map) == ASHLAR_OK)
            launches++;
    }
    ashlar_cache_close(cache); /* what it kept goes back to the pool */
    ashlar_pool_query(pool, &stats);
    printf("%zu launches, %zu slots live\n", launches, stats.live_slots);
    ashlar_pool_destroy(pool, 0);
    return 0;
}

/*
 * Output:
 * 1000000 launches, 0 slots live
 */
