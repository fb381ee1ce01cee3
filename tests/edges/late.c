/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The library comes late and is closed early: by dlopen() and dlclose(), while
 * threads that used it have still to end. $LIBASHLAR is its file.
 */
#include "config.h"

#include "edges/edges.h"

#include <ashlar.h>

#include <dlfcn.h>
#include <pthread.h>

/* What is used of it, found by name. */
static struct {
    void *handle;
    __typeof__(&ashlar_pool_create) pool_create;
    __typeof__(&ashlar_pool_find) pool_find;
    __typeof__(&ashlar_pool_get) pool_get;
    __typeof__(&ashlar_pool_put) pool_put;
    __typeof__(&ashlar_pool_query) pool_query;
    __typeof__(&ashlar_type_find) type_find;
    __typeof__(&ashlar_last_error_message) last_error_message;
} lib;

static void *symbol(const char *name)
{
    void *address = dlsym(lib.handle, name);

    HOLDS(address != NULL);
    return address;
}

static void load(void)
{
    lib.handle = dlopen(getenv("LIBASHLAR"), RTLD_NOW | RTLD_LOCAL);
    if (lib.handle == NULL)
        fprintf(stderr, "%s\n", dlerror());
    HOLDS(lib.handle != NULL);
    lib.pool_create =
        (__typeof__(&ashlar_pool_create))symbol("ashlar_pool_create");
    lib.pool_find = (__typeof__(&ashlar_pool_find))symbol("ashlar_pool_find");
    lib.pool_get = (__typeof__(&ashlar_pool_get))symbol("ashlar_pool_get");
    lib.pool_put = (__typeof__(&ashlar_pool_put))symbol("ashlar_pool_put");
    lib.pool_query =
        (__typeof__(&ashlar_pool_query))symbol("ashlar_pool_query");
    lib.type_find = (__typeof__(&ashlar_type_find))symbol("ashlar_type_find");
    lib.last_error_message = (__typeof__(&ashlar_last_error_message))symbol(
        "ashlar_last_error_message");
}

static void unload(void)
{
    HOLDS(dlclose(lib.handle) == 0);
}

static struct ashlar_pool *make(const char *name)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool *pool;

    options.name = name;
    HOLDS(lib.pool_create(lib.type_find("CUtensorMap"), &options, &pool) ==
          ASHLAR_OK);
    return pool;
}

static struct ashlar_pool_stats stats(struct ashlar_pool *pool)
{
    struct ashlar_pool_stats now = ASHLAR_POOL_STATS_INIT;

    HOLDS(lib.pool_query(pool, &now) == ASHLAR_OK);
    return now;
}

static pthread_barrier_t used;
static pthread_barrier_t closed;

/* Uses the pool, and the last error, and ends when the library is closed. */
static void *use_and_stay(void *argument)
{
    struct ashlar_pool *pool = argument;
    void *slot = lib.pool_get(pool);

    HOLDS(slot != NULL && lib.pool_put(pool, slot) == ASHLAR_OK);
    HOLDS(lib.pool_put(pool, slot) == ASHLAR_ERR_NOT_LIVE);
    HOLDS(lib.last_error_message()[0] != '\0');
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return NULL;
}

static void barriers(unsigned threads)
{
    HOLDS(pthread_barrier_init(&used, NULL, threads) == 0);
    HOLDS(pthread_barrier_init(&closed, NULL, threads) == 0);
}

static int threads_end_after_it_is_closed(void)
{
    pthread_t threads[8];
    struct ashlar_pool *pool;
    unsigned i;

    barriers(9);
    load();
    pool = make("late");
    for (i = 0; i < 8; i++)
        HOLDS(pthread_create(&threads[i], NULL, use_and_stay, pool) == 0);
    pthread_barrier_wait(&used);
    unload();
    pthread_barrier_wait(&closed);
    for (i = 0; i < 8; i++)
        HOLDS(pthread_join(threads[i], NULL) == 0);
    load();
    HOLDS(lib.pool_find("late") == pool);
    HOLDS(stats(pool).live_slots == 0 && stats(pool).cached_slots == 0 &&
          stats(pool).caches == 0);
    return 0;
}

static int it_is_the_same_when_loaded_again(void)
{
    struct ashlar_pool *pool;
    void *slot;
    int i;

    load();
    pool = make("kept");
    slot = lib.pool_get(pool);
    HOLDS(slot != NULL);
    memset(slot, 7, 128);
    for (i = 0; i < 100; i++) {
        unload();
        load();
        HOLDS(lib.pool_find("kept") == pool);
        HOLDS(((unsigned char *)slot)[127] == 7);
    }
    HOLDS(stats(pool).live_slots == 1);
    HOLDS(lib.pool_put(pool, slot) == ASHLAR_OK);
    return 0;
}

static void *load_use_and_close(void *argument)
{
    struct ashlar_pool **pool = argument;
    void *slot;

    load();
    *pool = make("of a thread");
    slot = lib.pool_get(*pool);
    HOLDS(slot != NULL && lib.pool_put(*pool, slot) == ASHLAR_OK);
    unload();
    return NULL;
}

static int a_thread_that_loaded_it_may_end(void)
{
    struct ashlar_pool *pool;
    pthread_t thread;

    HOLDS(pthread_create(&thread, NULL, load_use_and_close, &pool) == 0);
    HOLDS(pthread_join(thread, NULL) == 0);
    load();
    HOLDS(lib.pool_find("of a thread") == pool);
    HOLDS(stats(pool).caches == 0);
    return 0;
}

/* Nobody joins them: they end while the process does, or not at all. */
static int the_process_ends_while_threads_have_used_it(void)
{
    pthread_t thread;
    struct ashlar_pool *pool;
    unsigned i;

    barriers(5);
    load();
    pool = make("late");
    for (i = 0; i < 4; i++)
        HOLDS(pthread_create(&thread, NULL, use_and_stay, pool) == 0);
    pthread_barrier_wait(&used);
    unload();
    pthread_barrier_wait(&closed);
    return 0;
}

static const struct situation situations[] = {
    {"threads_end_after_it_is_closed", threads_end_after_it_is_closed},
    {"it_is_the_same_when_loaded_again", it_is_the_same_when_loaded_again},
    {"a_thread_that_loaded_it_may_end", a_thread_that_loaded_it_may_end},
    {"the_process_ends_while_threads_have_used_it",
     the_process_ends_while_threads_have_used_it},
};

int main(int argc, char **argv)
{
    return situation_run(situations, sizeof(situations) / sizeof(*situations),
                         argc, argv);
}
