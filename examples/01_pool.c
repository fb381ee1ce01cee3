/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include <ashlar.h>
#include <stdio.h>

int main(void)
{
    struct ashlar_pool *pool;
    void *maps[1000]; /* each will point to room for one CUtensorMap */

    if (ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) != 0 ||
        ashlar_pool_reserve(pool, 1000) != 0 ||
        ashlar_pool_get_bulk(pool, maps, 1000) != 0) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    printf("residue of the last: %d of 128\n", (int)((size_t)maps[999] % 128));
    /* cuTensorMapEncodeTiled(maps[i], ...), launches; and when all is over: */
    ashlar_pool_put_bulk(pool, maps, 1000, NULL);
    ashlar_pool_destroy(pool, 0);
    return 0;
}

/*
 * Output:
 * residue of the last: 0 of 128
 */
