/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* A type of your own, and what becomes of a type that is known already. */
#include <ashlar.h>
#include <stdio.h>

/* 48 bytes of members, which must start at a multiple of 64. */
struct tile {
    _Alignas(64) float corner[4];
    float extent[4];
    int index[4];
};

static void show(const struct ashlar_type *type)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    ashlar_type_query(type, &info);
    printf("%-12s size %3zu, alignment %3zu, stride %3zu\n", info.name,
           info.object_size, info.alignment, info.stride);
}

int main(void)
{
    const struct ashlar_type *tile;
    const struct ashlar_type *map;
    struct ashlar_pool *pool;
    struct tile *one;

    /* Size and alignment come from the compiler that reads this line. */
    if (ASHLAR_REGISTER_AS("tile", struct tile, &tile) != ASHLAR_OK)
        return 1;
    show(tile);

    /* What CUDA 12 declares: the alignment served is the stronger one. */
    if (ashlar_type_register("CUtensorMap", 128, 64, &map) != ASHLAR_OK)
        return 1;
    show(map);

    /* Another size under a known name is refused. */
    if (ashlar_type_register("CUtensorMap", 64, 64, &map) != ASHLAR_OK)
        printf("%s\n", ashlar_status_name(ashlar_last_error()));

    if (ashlar_pool_create(tile, NULL, &pool) != ASHLAR_OK)
        return 1;
    one = ashlar_pool_get(pool);
    if (one == NULL)
        return 1;
    printf("residue of a tile: %d of 64\n", (int)((size_t)one % 64));
    ashlar_pool_put(pool, one);
    ashlar_pool_destroy(pool, 0);
    return 0;
}

/*
 * Output:
 * tile         size  64, alignment  64, stride  64
 * CUtensorMap  size 128, alignment 128, stride 128
 * ASHLAR_ERR_CONFLICT
 * residue of a tile: 0 of 64
 */
