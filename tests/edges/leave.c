/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The process ends in one way or another, with pools, ranges, caches and slots
 * as they are. It ends with LEFT, without a word, and does not hang.
 */
#include "config.h"

#include "edges/edges.h"

#include <ashlar.h>

#include <pthread.h>
#include <signal.h>

#define LEFT 42

static struct ashlar_pool *pool;
static struct ashlar_pool *mapped;
static struct ashlar_range *range;
static struct ashlar_source *source;
static struct ashlar_cache *cache;

/* Something of everything, and nothing given back. */
static void hold_everything(void)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;
    const struct ashlar_type *type = ashlar_type_find("CUtensorMap");

    HOLDS(ashlar_source_open("vm", "granule=64K,memory=16M", &source) ==
          ASHLAR_OK);
    HOLDS(ashlar_range_create(source, NULL, &range) == ASHLAR_OK);
    HOLDS(ashlar_range_grow_to(range, 1 << 20, NULL) == ASHLAR_OK);
    HOLDS(ashlar_pool_create(type, NULL, &pool) == ASHLAR_OK);
    options.source = source;
    HOLDS(ashlar_pool_create(type, &options, &mapped) == ASHLAR_OK);
    HOLDS(ashlar_cache_open(pool, 0, ASHLAR_CACHE_LAYOUT, &cache) == ASHLAR_OK);
    HOLDS(ashlar_pool_get(pool) != NULL && ashlar_pool_get(mapped) != NULL);
    HOLDS(ashlar_pool_get_run(pool, 6) != NULL);
    HOLDS(ashlar_cache_get(cache) != NULL);
}

static void use(void)
{
    void *slot = ashlar_pool_get(pool);

    HOLDS(slot != NULL && ashlar_pool_put(pool, slot) == ASHLAR_OK);
    slot = ashlar_pool_get(mapped);
    HOLDS(slot != NULL && ashlar_pool_put(mapped, slot) == ASHLAR_OK);
    HOLDS(ashlar_range_grow_to(range, 2 << 20, NULL) == ASHLAR_OK);
}

static void destroy_everything(void)
{
    HOLDS(ashlar_cache_close(cache) == ASHLAR_OK);
    HOLDS(ashlar_pool_destroy(pool, ASHLAR_POOL_FORCE) == ASHLAR_OK);
    HOLDS(ashlar_pool_destroy(mapped, ASHLAR_POOL_FORCE) == ASHLAR_OK);
    HOLDS(ashlar_range_destroy(range, ASHLAR_QUIET, 1) == ASHLAR_OK);
    HOLDS(ashlar_source_close(source) == ASHLAR_OK);
}

static int main_returns(void)
{
    hold_everything();
    return LEFT;
}

static int exit_handlers_use_it(void)
{
    HOLDS(atexit(use) == 0); /* runs last: before the library was used */
    hold_everything();
    HOLDS(atexit(use) == 0);
    return LEFT;
}

static int an_exit_handler_destroys_everything(void)
{
    HOLDS(atexit(destroy_everything) == 0);
    hold_everything();
    HOLDS(atexit(use) == 0);
    return LEFT;
}

static int it_is_used_first_in_an_exit_handler(void)
{
    HOLDS(atexit(hold_everything) == 0);
    return LEFT;
}

static pthread_barrier_t busy;

/* Gets and puts until the process is gone. */
static void *never_stop(void *unused)
{
    void *slot;

    (void)unused;
    use();
    pthread_barrier_wait(&busy);
    while ((slot = ashlar_pool_get(pool)) != NULL)
        (void)ashlar_pool_put(pool, slot);
    return NULL;
}

static void start_threads(void)
{
    pthread_t thread;
    int i;

    HOLDS(pthread_barrier_init(&busy, NULL, 5) == 0);
    hold_everything();
    for (i = 0; i < 4; i++)
        HOLDS(pthread_create(&thread, NULL, never_stop, NULL) == 0);
    pthread_barrier_wait(&busy);
}

static int main_returns_while_threads_go_on(void)
{
    start_threads();
    return LEFT;
}

static void *exit_here(void *unused)
{
    (void)unused;
    use();
    exit(LEFT);
}

static int a_thread_exits_while_others_go_on(void)
{
    pthread_t thread;

    start_threads();
    HOLDS(pthread_create(&thread, NULL, exit_here, NULL) == 0);
    pthread_join(thread, NULL);
    return 1;
}

static int exit_handlers_use_it_while_threads_go_on(void)
{
    HOLDS(atexit(use) == 0);
    start_threads();
    HOLDS(atexit(use) == 0);
    return LEFT;
}

/* A key of ours, made first, whose destructor comes before the library's or
 * after it, and uses the library either way. */
static pthread_key_t key;

static void use_at_the_end(void *rounds)
{
    int *left = rounds;

    use();
    if (--*left > 0)
        (void)pthread_setspecific(key, left);
}

static void *use_until_the_end(void *unused)
{
    static int rounds = 3;

    (void)unused;
    HOLDS(pthread_setspecific(key, &rounds) == 0);
    use();
    return NULL;
}

/* The main thread goes first; the last one takes the process with it. */
static int the_main_thread_ends_before_the_last(void)
{
    pthread_t thread;

    HOLDS(pthread_key_create(&key, use_at_the_end) == 0);
    hold_everything();
    HOLDS(pthread_create(&thread, NULL, use_until_the_end, NULL) == 0);
    use();
    pthread_exit(NULL); /* the status is then 0 */
}

static int quick_exit_skips_the_handlers(void)
{
    HOLDS(atexit(destroy_everything) == 0);
    HOLDS(at_quick_exit(use) == 0);
    start_threads();
    quick_exit(LEFT);
}

static void leave_by_signal(int number)
{
    (void)number;
    _exit(LEFT);
}

/* In the middle of whatever the thread does. */
static int a_signal_ends_it(void)
{
    HOLDS(signal(SIGALRM, leave_by_signal) != SIG_ERR);
    start_threads();
    alarm(1);
    for (;;)
        use();
}

static const struct situation situations[] = {
    {"main_returns", main_returns},
    {"exit_handlers_use_it", exit_handlers_use_it},
    {"an_exit_handler_destroys_everything",
     an_exit_handler_destroys_everything},
    {"it_is_used_first_in_an_exit_handler",
     it_is_used_first_in_an_exit_handler},
    {"main_returns_while_threads_go_on", main_returns_while_threads_go_on},
    {"a_thread_exits_while_others_go_on", a_thread_exits_while_others_go_on},
    {"exit_handlers_use_it_while_threads_go_on",
     exit_handlers_use_it_while_threads_go_on},
    {"the_main_thread_ends_before_the_last",
     the_main_thread_ends_before_the_last},
    {"quick_exit_skips_the_handlers", quick_exit_skips_the_handlers},
    {"a_signal_ends_it", a_signal_ends_it},
};

int main(int argc, char **argv)
{
    return situation_run(situations, sizeof(situations) / sizeof(*situations),
                         argc, argv);
}
