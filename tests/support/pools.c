/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "config.h"

#include "support/pools.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/watch.h"

#ifdef HAVE_VALGRIND
#include <valgrind/valgrind.h>
#else
#define RUNNING_ON_VALGRIND 0
#endif

#if defined(__SANITIZE_THREAD__)
#define PACE 50
#elif defined(__SANITIZE_ADDRESS__)
#define PACE 5
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define PACE 50
#elif __has_feature(address_sanitizer)
#define PACE 5
#endif
#endif
#ifndef PACE
#define PACE 1
#endif

unsigned pools_pace(void)
{
    return RUNNING_ON_VALGRIND ? 50 : PACE;
}

static const char *home_name = "heap";

void pools_start(const char *source)
{
    home_name = source;
}

static bool on_range(void)
{
    return strcmp(home_name, "heap") != 0;
}

/* Opened by the process that uses it: a child of fork may not. It stays open. */
static struct ashlar_source *home(void)
{
    static struct ashlar_source *source;
    static pid_t owner;

    if (on_range() && owner != getpid()) {
        if (ashlar_source_open(home_name, "granule=64K", &source) != ASHLAR_OK)
            ck_abort_msg("%s: %s", home_name, ashlar_last_error_message());
        owner = getpid();
    }
    return source;
}

const struct ashlar_type *pools_type(size_t bytes, size_t alignment)
{
    const struct ashlar_type *type;
    char name[64];

    (void)snprintf(name, sizeof(name), "%zu bytes at %zu", bytes, alignment);
    REQUIRE(ashlar_type_register(name, bytes, alignment, &type) == ASHLAR_OK);
    return type;
}

struct ashlar_pool_options pools_options(size_t initial_slots, size_t max_slots,
                                         size_t cache_slots, uint32_t flags)
{
    struct ashlar_pool_options options = ASHLAR_POOL_OPTIONS_INIT;

    options.initial_slots = initial_slots;
    options.max_slots = max_slots;
    options.cache_slots = cache_slots;
    options.flags = flags;
    return options;
}

struct ashlar_pool *pools_make(const struct ashlar_type *type,
                               const struct ashlar_pool_options *options)
{
    struct ashlar_pool_options own = ASHLAR_POOL_OPTIONS_INIT;
    size_t initial_slots;
    struct ashlar_pool *pool;
    bool at_home;

    if (options != NULL)
        own = *options;
    at_home = own.source == NULL;
    if (at_home)
        own.source = home();
    initial_slots = own.initial_slots;
    own.initial_slots = 0;
    REQUIRE(ashlar_pool_create(type, &own, &pool) == ASHLAR_OK);
    REQUIRE(!at_home || (pool->plan.range != NULL) == on_range());
    watch_destroy(pool);
    pool->watched = false;
    if (own.cache_slots == 0)
        pool->cache_slots = (uint32_t)ASHLAR_POOL_CACHE_DEFAULT;
    else if (own.cache_slots != ASHLAR_POOL_CACHE_NONE)
        pool->cache_slots = (uint32_t)own.cache_slots;
    REQUIRE(grow_singles_to(pool, initial_slots) == ASHLAR_OK);
    return pool;
}

void pools_end(struct ashlar_pool *pool)
{
    if (ashlar_pool_destroy(pool, 0) != ASHLAR_OK)
        ck_abort_msg("destroy: %s", ashlar_last_error_message());
}

struct ashlar_pool_stats pools_stats(struct ashlar_pool *pool)
{
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;

    REQUIRE(ashlar_pool_query(pool, &stats) == ASHLAR_OK);
    if (stats.live_slots + stats.cached_slots + stats.free_slots +
            stats.waiting_slots !=
        stats.capacity_slots)
        ck_abort_msg(
            "%zu live + %zu cached + %zu free + %zu waiting is not %zu",
            stats.live_slots, stats.cached_slots, stats.free_slots,
            stats.waiting_slots, stats.capacity_slots);
    return stats;
}

/* --- snapshots ------------------------------------------------------------ */

struct collection {
    struct snapshot *snapshot;
    size_t room;
};

static int collect(void *first, size_t n, void *user)
{
    struct collection *collection = user;
    struct snapshot *snapshot = collection->snapshot;

    if (snapshot->count == collection->room) {
        collection->room = collection->room == 0 ? 256 : collection->room * 2;
        snapshot->pieces = realloc(
            snapshot->pieces, collection->room * sizeof(*snapshot->pieces));
        REQUIRE(snapshot->pieces != NULL);
    }
    snapshot->pieces[snapshot->count++] = (struct piece){first, n};
    return 0;
}

static int compare_pieces(const void *a, const void *b)
{
    const struct piece *left = a;
    const struct piece *right = b;

    if (left->first != right->first)
        return left->first < right->first ? -1 : 1;
    return 0;
}

struct snapshot snapshot_take(struct ashlar_pool *pool)
{
    struct snapshot snapshot = {.stats = pools_stats(pool)};
    struct collection collection = {&snapshot, 0};

    if (pool->checked)
        REQUIRE(ashlar_pool_for_each_live(pool, collect, &collection) ==
                ASHLAR_OK);
    if (snapshot.count != 0)
        qsort(snapshot.pieces, snapshot.count, sizeof(*snapshot.pieces),
              compare_pieces);
    return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
    free(snapshot->pieces);
    snapshot->pieces = NULL;
    snapshot->count = 0;
}

static bool same_pieces(const struct snapshot *a, const struct snapshot *b)
{
    size_t i;

    if (a->count != b->count)
        return false;
    for (i = 0; i < a->count; i++)
        if (a->pieces[i].first != b->pieces[i].first ||
            a->pieces[i].n != b->pieces[i].n)
            return false;
    return true;
}

#define COMPARE(_member)                                                       \
    do {                                                                       \
        if (a->_member != b->_member)                                          \
            return #_member;                                                   \
    } while (0)

static const char *stats_differ(const struct ashlar_pool_stats *a,
                                const struct ashlar_pool_stats *b)
{
    COMPARE(live_slots);
    COMPARE(cached_slots);
    COMPARE(free_slots);
    COMPARE(waiting_slots);
    COMPARE(capacity_slots);
    COMPARE(max_slots);
    COMPARE(promised_slots);
    COMPARE(live_runs);
    COMPARE(stride);
    COMPARE(slab_bytes);
    COMPARE(waste_bytes);
    COMPARE(slabs);
    COMPARE(caches);
    COMPARE(duplicates);
    return NULL;
}

static const char *work_differs(const struct ashlar_pool_stats *a,
                                const struct ashlar_pool_stats *b)
{
    COMPARE(peak_slots);
    COMPARE(free_runs);
    COMPARE(bookkeeping_bytes);
    COMPARE(source_calls);
    COMPARE(store_takes);
    COMPARE(store_gives);
    return NULL;
}

#undef COMPARE

const char *snapshot_differs(const struct snapshot *before,
                             struct ashlar_pool *pool)
{
    struct snapshot now = snapshot_take(pool);
    const char *what = stats_differ(&before->stats, &now.stats);

    if (what == NULL && !same_pieces(before, &now))
        what = "the live slots";
    snapshot_free(&now);
    return what;
}

const char *snapshot_differs_at_all(const struct snapshot *before,
                                    struct ashlar_pool *pool)
{
    struct ashlar_pool_stats now = pools_stats(pool);
    const char *what = work_differs(&before->stats, &now);

    return what != NULL ? what : snapshot_differs(before, pool);
}

/* --- the last error ------------------------------------------------------- */

bool last_error_is(enum ashlar_status status, const char *text)
{
    return ashlar_last_error() == status &&
           strstr(ashlar_last_error_message(), text) != NULL;
}

bool last_error_names(enum ashlar_status status, const void *address)
{
    char text[32];

    if (address == NULL)
        return last_error_is(status, "NULL");
    (void)snprintf(text, sizeof(text), "%#llx",
                   (unsigned long long)(uintptr_t)address);
    return last_error_is(status, text);
}

uint64_t last_error_number(unsigned nth)
{
    const char *at = ashlar_last_error_message();
    char *end;
    uint64_t number;

    for (at += strcspn(at, "0123456789"); *at != '\0';
         at += strcspn(at, "0123456789")) {
        number = strtoull(at, &end, 0);
        if (nth-- == 0)
            return number;
        at = end;
    }
    return UINT64_MAX;
}

/* --- threads and seeds ---------------------------------------------------- */

void in_thread(void *(*work)(void *), void *argument)
{
    pthread_t thread;

    REQUIRE(pthread_create(&thread, NULL, work, argument) == 0);
    REQUIRE(pthread_join(thread, NULL) == 0);
}

struct dice dice_from(uint64_t seed)
{
    /* Small seeds are to differ from the first number on; 0 has no orbit. */
    struct dice dice = {(seed + 1) * UINT64_C(0x9e3779b97f4a7c15)};

    if (dice.state == 0)
        dice.state = 1;
    return dice;
}

uint64_t dice_roll(struct dice *dice)
{
    dice->state ^= dice->state >> 12;
    dice->state ^= dice->state << 25;
    dice->state ^= dice->state >> 27;
    return dice->state * UINT64_C(0x2545f4914f6cdd1d);
}

uint64_t dice_below(struct dice *dice, uint64_t limit)
{
    return (dice_roll(dice) >> 11) % limit;
}

void dice_shuffle(struct dice *dice, void **pointers, size_t n)
{
    size_t i, j;

    for (i = n; i > 1; i--) {
        void *kept = pointers[i - 1];

        j = dice_below(dice, i);
        pointers[i - 1] = pointers[j];
        pointers[j] = kept;
    }
}
