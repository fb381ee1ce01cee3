/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* Launcher threads on one pool: reserve once, then no allocator call. */
#include <ashlar.h>
#include <pthread.h>
#include <stdio.h>

#define THREADS  4
#define LAUNCHES 10000
#define MAPS     100 /* per launch */

static void *launcher(void *argument)
{
    struct ashlar_pool *pool = argument;
    void *maps[MAPS];

    for (int i = 0; i < LAUNCHES; i++) {
        if (ashlar_pool_get_bulk(pool, maps, MAPS) != ASHLAR_OK)
            return pool;
        /* encode and launch */
        if (ashlar_pool_put_bulk(pool, maps, MAPS, NULL) != ASHLAR_OK)
            return pool;
    }
    return NULL; /* all went well; the thread's cache goes back to the pool */
}

int main(void)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    pthread_t threads[THREADS];
    struct ashlar_pool *pool;

    if (ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) != 0 ||
        ashlar_pool_reserve(pool, (size_t)THREADS * MAPS) != 0) {
        fprintf(stderr, "%s\n", ashlar_last_error_message());
        return 1;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, launcher, pool) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++) {
        void *trouble = NULL;

        pthread_join(threads[i], &trouble);
        printf("thread %d: %s\n", i, trouble == NULL ? "done" : "failed");
    }
    ashlar_pool_query(pool, &stats);
    printf("live %zu, refused %d\n", stats.live_slots, (int)stats.refusals);
    ashlar_pool_destroy(pool, 0);
    return 0;
}

/*
 * Output:
 * thread 0: done
 * thread 1: done
 * thread 2: done
 * thread 3: done
 * live 0, refused 0
 */
