/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Runs: all descriptors of a kernel side by side, behind one pointer. */
#include <ashlar.h>
#include <stdio.h>

#define KERNELS 10
#define MAPS    6 /* per kernel */

int main(void)
{
    struct ashlar_pool *pool;
    char *runs[KERNELS];

    if (ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) != 0 ||
        ashlar_pool_reserve_runs(pool, MAPS, KERNELS) != 0) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    for (int i = 0; i < KERNELS; i++) {
        runs[i] = ashlar_pool_get_run(pool, MAPS);
        if (runs[i] == NULL) {
            fprintf(stderr, "%s\n", ashlar_last_error_message());
            return 1;
        }
        /* Map j of kernel i is runs[i] + 128 * j, until its run is put. */
    }

    /* A run goes back whole: a part of it is refused, and changes nothing. */
    printf("5 of 6: %s\n",
           ashlar_status_name(ashlar_pool_put_run(pool, runs[0], MAPS - 1)));
    printf("6 of 6: %s\n",
           ashlar_status_name(ashlar_pool_put_run(pool, runs[0], MAPS)));
    printf("again: %s\n",
           ashlar_status_name(ashlar_pool_put_run(pool, runs[0], MAPS)));
    for (int i = 1; i < KERNELS; i++)
        ashlar_pool_put_run(pool, runs[i], MAPS);
    return ashlar_pool_destroy(pool, 0) == ASHLAR_OK ? 0 : 1;
}

/*
 * Output:
 * 5 of 6: ASHLAR_ERR_INVALID
 * 6 of 6: ASHLAR_OK
 * again: ASHLAR_ERR_NOT_LIVE
 */
