/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The life of pools: making, destroying, listing them, and fork(2).
 *
 *     first ─> oldest pool <─> ... <─> youngest       alive
 *     dead  ─> longest dead ─> ... ─> just destroyed  records to be used again
 *
 * A record is never freed, so that a stale handle is told from a good one; it
 * is used again only when RECORDS_KEPT others have died since.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/align.h"
#include "base/error.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/thread.h"
#include "pool/address.h"
#include "pool/attach.h"
#include "pool/grow.h"
#include "pool/pool.h"
#include "pool/spare.h"
#include "pool/watch.h"
#include "source/je.h"
#include "type/type.h"

#define RECORDS_KEPT 1024u
/* Addresses for a pool on a range without max_slots; it grows on behind. */
#define RESERVE_BYTES ((uint64_t)1 << 30)
#define KNOWN_FLAGS   (ASHLAR_POOL_UNCHECKED | ASHLAR_POOL_HUGE_PAGES)

static struct lock list_lock = LOCK_INIT;
static struct ashlar_pool *first;
static struct ashlar_pool *last;
static struct ashlar_pool *dead_first;
static struct ashlar_pool *dead_last;
static uint32_t dead_count;
static uint32_t next_key;
static bool started; /* atomic */

void life_lock(void)
{
    lock_take(&list_lock);
}

void life_unlock(void)
{
    lock_give(&list_lock);
}

static void before_fork(void)
{
    struct ashlar_pool *pool;

    life_lock();
    for (pool = first; pool != NULL; pool = pool->next) {
        lock_take(&pool->grow);
        lock_take(&pool->pending.lock);
        lock_take(&pool->lock);
    }
}

static void after_fork(void)
{
    struct ashlar_pool *pool;

    for (pool = first; pool != NULL; pool = pool->next) {
        lock_give(&pool->lock);
        lock_give(&pool->pending.lock);
        lock_give(&pool->grow);
    }
    life_unlock();
}

/*
 * While there is one thread only: nobody can be inside a call. Costs some
 * nanoseconds for 64 slots, which is little beside a fork of their pages.
 */
static void after_fork_in_child(void)
{
    struct ashlar_pool *pool;

    for (pool = first; pool != NULL; pool = pool->next) {
        if (pool->plan.range == NULL) {
            attach_recover(pool);
            continue;
        }
        /* Its memory is the parent's: no thread may find its cache here. */
        __atomic_store_n(&pool->life, POOL_FORKED, __ATOMIC_RELEASE);
        attach_end_all(pool);
    }
    after_fork();
}

int life_start(void)
{
    static struct lock start_lock = LOCK_INIT;
    int result = 0;

    /* Not under the lock: a fork may leave that one taken for ever. */
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        return 0;
    lock_take(&start_lock);
    if (!started) {
        je_start();
        (void)address_choose(32);
        thread_set_exit_hook(attach_thread_exit);
        result = thread_set_fork_part(THREAD_FORK_POOL, before_fork, after_fork,
                                      after_fork_in_child);
        __atomic_store_n(&started, result == 0, __ATOMIC_RELEASE);
    }
    lock_give(&start_lock);
    return result;
}

static enum ashlar_status no_record(void)
{
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory for a pool's record of %zu bytes",
                     sizeof(struct ashlar_pool));
}

/* A record that no pool has, zeroed but for its key; NULL: no memory. */
static struct ashlar_pool *record_take(void)
{
    struct ashlar_pool *pool = NULL;
    uint32_t key;

    life_lock();
    if (dead_count > RECORDS_KEPT) {
        pool = dead_first;
        dead_first = pool->next;
        dead_count--;
    }
    key = pool != NULL ? pool->key : next_key;
    if (pool == NULL) {
        pool = memory_zalloc_aligned(sizeof(*pool), 64);
        next_key += pool != NULL ? POOL_KEYS : 0;
    } else {
        memset(pool, 0, sizeof(*pool));
    }
    if (pool != NULL)
        pool->key = key;
    life_unlock();
    return pool;
}

/* The record of a dead pool joins the queue for another life. */
static void record_give(struct ashlar_pool *pool)
{
    life_lock();
    pool->next = NULL;
    if (dead_count == 0)
        dead_first = pool;
    else
        dead_last->next = pool;
    dead_last = pool;
    dead_count++;
    life_unlock();
}

static void list_append(struct ashlar_pool *pool)
{
    life_lock();
    pool->previous = last;
    pool->next = NULL;
    if (last != NULL)
        last->next = pool;
    else
        first = pool;
    last = pool;
    life_unlock();
}

/* The life lock is held. */
static void list_remove(struct ashlar_pool *pool)
{
    if (pool->previous != NULL)
        pool->previous->next = pool->next;
    else
        first = pool->next;
    if (pool->next != NULL)
        pool->next->previous = pool->previous;
    else
        last = pool->previous;
}

static enum ashlar_status
check_counts(const struct ashlar_pool_options *options)
{
    if (options->max_slots > ASHLAR_POOL_SLOTS_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "max_slots is %zu; a pool has at most %zu slots",
                         options->max_slots, ASHLAR_POOL_SLOTS_MAX);
    if (options->max_slots != 0 && options->initial_slots > options->max_slots)
        return error_set(ASHLAR_ERR_INVALID,
                         "initial_slots is %zu, which is above max_slots, %zu",
                         options->initial_slots, options->max_slots);
    if (options->initial_slots > ASHLAR_POOL_SLOTS_MAX)
        return error_set(ASHLAR_ERR_INVALID,
                         "initial_slots is %zu; a pool has at most %zu slots",
                         options->initial_slots, ASHLAR_POOL_SLOTS_MAX);
    if (options->cache_slots > ASHLAR_POOL_CACHE_MAX &&
        options->cache_slots != ASHLAR_POOL_CACHE_NONE)
        return error_set(ASHLAR_ERR_INVALID,
                         "cache_slots is %zu; a cache keeps at most %zu, and "
                         "ASHLAR_POOL_CACHE_NONE means none",
                         options->cache_slots, ASHLAR_POOL_CACHE_MAX);
    return ASHLAR_OK;
}

static enum ashlar_status
check_options(const struct ashlar_pool_options *options)
{
    if ((options->flags & ~KNOWN_FLAGS) != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "flags is 0x%x; known are 0x1 (unchecked) and 0x2 "
                         "(huge pages)",
                         options->flags);
    if (options->reserved != 0)
        return error_set(ASHLAR_ERR_INVALID, "reserved is %u; it must be 0",
                         options->reserved);
    if (options->name != NULL && strlen(options->name) >= POOL_NAME_BYTES)
        return error_set(ASHLAR_ERR_INVALID,
                         "the name \"%s\" has %zu bytes; a pool's name has at "
                         "most %d",
                         options->name, strlen(options->name),
                         POOL_NAME_BYTES - 1);
    return check_counts(options);
}

static uint32_t cache_slots_of(const struct ashlar_pool_options *options,
                               size_t stride, bool watched)
{
    if (watched || options->cache_slots == ASHLAR_POOL_CACHE_NONE)
        return 0;
    if (options->cache_slots == 0)
        return cache_default(stride);
    return (uint32_t)options->cache_slots;
}

static void copy_name(struct ashlar_pool *pool, const char *name)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;

    if (name == NULL) {
        (void)ashlar_type_query(pool->type, &info);
        name = info.name;
    }
    strncpy(pool->name, name, POOL_NAME_BYTES - 1);
}

static void fill(struct ashlar_pool *pool, const struct ashlar_type *type,
                 const struct ashlar_pool_options *options)
{
    size_t stride;

    type_layout(type, &pool->object_bytes, &pool->plan.alignment, &stride);
    pool->type = type;
    pool->flags = options->flags;
    pool->checked = (options->flags & ASHLAR_POOL_UNCHECKED) == 0;
    pool->plan.source = source_hold(options->source);
    pool->watched =
        watch_wanted() && source_can(pool->plan.source, ASHLAR_CAN_HOST_ACCESS);
    pool->cache_slots = cache_slots_of(options, stride, pool->watched);
    pool->max_slots =
        options->max_slots == 0 ? ASHLAR_POOL_SLOTS_MAX : options->max_slots;
    pool->plan.geometry = geometry_of(stride);
    pool->plan.checked = pool->checked;
    pool->plan.huge = (options->flags & ASHLAR_POOL_HUGE_PAGES) != 0;
    lock_init(&pool->grow);
    lock_init(&pool->lock);
    lock_init(&pool->pending.lock);
    copy_name(pool, options->name);
    watch_create(pool);
}

/* What the caller counts on, if anything, as the type is laid out now. */
static enum ashlar_status check_stride(const struct ashlar_pool *pool,
                                       size_t counted_on)
{
    struct ashlar_type_info info = ASHLAR_TYPE_INFO_INIT;
    size_t stride = pool->plan.geometry.stride;

    if (counted_on == 0 || counted_on == stride)
        return ASHLAR_OK;
    (void)ashlar_type_query(pool->type, &info);
    return error_set(ASHLAR_ERR_CONFLICT,
                     "slots of type \"%s\" lie %zu bytes apart, since its "
                     "alignment is %zu; an array of objects of %zu bytes needs "
                     "the type declared with that alignment",
                     info.name, stride, pool->plan.alignment, counted_on);
}

/*
 * A pool whose source has no blocks stands on a range of its own, which never
 * moves: one array, slot i at base + i * stride for ever.
 */
static enum ashlar_status make_home(struct ashlar_pool *pool)
{
    struct ashlar_range_options options = ASHLAR_RANGE_OPTIONS_INIT;
    struct ashlar_source *source = pool->plan.source;
    size_t stride = pool->plan.geometry.stride;
    enum ashlar_status status;

    if (source_can(source, ASHLAR_CAN_BLOCKS))
        return ASHLAR_OK;
    if (!source_can(source, ASHLAR_CAN_RANGES))
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "the source \"%s\" can hold no pools: it has neither "
                         "blocks nor ranges",
                         source->name);
    options.reserve_bytes = pool->max_slots == ASHLAR_POOL_SLOTS_MAX
                                ? RESERVE_BYTES
                                : pool->max_slots * stride;
    options.alignment =
        is_power_of_two(pool->plan.alignment) ? pool->plan.alignment : 0;
    status = ashlar_range_create(source, &options, &pool->plan.range);
    if (status == ASHLAR_OK)
        __atomic_fetch_add(&pool->plan.range->holders, 1, __ATOMIC_RELAXED);
    return status;
}

static void leave_home(struct ashlar_pool *pool)
{
    if (pool->plan.range == NULL)
        return;
    __atomic_fetch_sub(&pool->plan.range->holders, 1, __ATOMIC_RELEASE);
    (void)ashlar_range_destroy(pool->plan.range, ASHLAR_QUIET, 1);
    pool->plan.range = NULL;
}

/* Memory back to the source; the record waits for another life. */
static void dismantle(struct ashlar_pool *pool)
{
    struct slab_map *map = pool->map;
    uint32_t i;

    pending_drop(pool);
    watch_destroy(pool);
    for (i = 0; map != NULL && i < map->count; i++)
        slab_destroy(&pool->plan, map->order[i]);
    leave_home(pool);
    slab_map_free(map);
    memory_free(pool->runs.bins);
    source_drop(pool->plan.source);
    pool->map = NULL;
    record_give(pool);
}

/* A pool as the type is now, which is not fixed yet; not in the list. */
static enum ashlar_status make(const struct ashlar_type *type,
                               const struct ashlar_pool_options *options,
                               struct ashlar_pool **pool_out)
{
    struct ashlar_pool *pool = record_take();
    enum ashlar_status status;

    if (pool == NULL)
        return no_record();
    fill(pool, type, options);
    status = check_stride(pool, options->stride);
    if (status == ASHLAR_OK)
        status = make_home(pool);
    if (status == ASHLAR_OK)
        status = grow_singles_to(pool, options->initial_slots);
    if (status == ASHLAR_OK)
        *pool_out = pool;
    else
        dismantle(pool);
    return status;
}

/* Fix the type. False: it was made stronger meanwhile, and the pool is gone. */
static bool settle(const struct ashlar_type *type, struct ashlar_pool *pool)
{
    if (type_freeze(type, pool->plan.alignment))
        return true;
    dismantle(pool);
    return false;
}

enum ashlar_status ashlar_pool_create(const struct ashlar_type *type,
                                      const struct ashlar_pool_options *options,
                                      struct ashlar_pool **pool_out)
{
    static const struct ashlar_pool_options defaults = ASHLAR_POOL_OPTIONS_INIT;
    struct ashlar_pool_options own = defaults;
    struct ashlar_pool *pool = NULL;
    enum ashlar_status status;

    if (type == NULL || pool_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_pool_create() was given NULL for %s",
                         type == NULL ? "type" : "pool_out");
    if (options != NULL) {
        status = options_read(&own, sizeof(own), options,
                              "struct ashlar_pool_options");
        if (status != ASHLAR_OK)
            return status;
    }
    status = check_options(&own);
    if (status != ASHLAR_OK)
        return status;
    if (life_start() != 0)
        return no_record();
    do
        status = make(type, &own, &pool);
    while (status == ASHLAR_OK && !settle(type, pool));
    if (status != ASHLAR_OK)
        return status;
    __atomic_store_n(&pool->life, POOL_LIVE, __ATOMIC_RELEASE);
    list_append(pool);
    *pool_out = pool;
    return ASHLAR_OK;
}

/* With both locks held, and no run spare: slots that are with callers. */
static uint64_t live_slots(const struct ashlar_pool *pool)
{
    uint64_t out = pool->singles - pool->store.free;
    uint64_t kept = attach_kept(pool);

    /* Racing puts may have given a slot to two caches. */
    return (out > kept ? out - kept : 0) + pool->runs.out_slots;
}

/* Take a pool out of the world, unless it is busy. */
static enum ashlar_status retire(struct ashlar_pool *pool, uint32_t flags)
{
    enum ashlar_status status;
    uint64_t waiting;
    uint64_t live;

    if (pool != NULL && pool->life == POOL_LIVE)
        (void)pending_collect(pool);
    life_lock();
    status = pool_check(pool, "ashlar_pool_destroy()");
    if (status != ASHLAR_OK) {
        life_unlock();
        return status;
    }
    pool_lock(pool);
    spare_call_in(pool);
    live = live_slots(pool);
    waiting = __atomic_load_n(&pool->pending.waiting, __ATOMIC_RELAXED);
    if (live != 0 && (flags & ASHLAR_POOL_FORCE) == 0) {
        status = error_set(ASHLAR_ERR_BUSY,
                           "pool \"%s\" has %lu live slots, and %lu that wait "
                           "for fences; put them back, or destroy it with "
                           "ASHLAR_POOL_FORCE",
                           pool->name, (unsigned long)(live - waiting),
                           (unsigned long)waiting);
    } else {
        __atomic_store_n(&pool->life, POOL_DEAD, __ATOMIC_RELEASE);
        attach_end_all(pool);
        list_remove(pool);
    }
    pool_unlock(pool);
    life_unlock();
    return status == ASHLAR_OK ? ASHLAR_OK : pool_refuse(pool, status);
}

enum ashlar_status ashlar_pool_destroy(struct ashlar_pool *pool, uint32_t flags)
{
    enum ashlar_status status;

    if ((flags & ~ASHLAR_POOL_FORCE) != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "flags is 0x%x; known is 0x1 (force)", flags);
    status = retire(pool, flags);
    if (status == ASHLAR_OK)
        dismantle(pool);
    return status;
}

struct ashlar_pool *ashlar_pool_next(struct ashlar_pool *pool)
{
    struct ashlar_pool *next;

    life_lock();
    if (pool == NULL)
        next = first;
    else
        next = pool->life == POOL_LIVE ? pool->next : NULL;
    life_unlock();
    return next;
}

struct ashlar_pool *ashlar_pool_find(const char *name)
{
    struct ashlar_pool *pool;

    if (name == NULL)
        return error_null(ASHLAR_ERR_INVALID,
                          "ashlar_pool_find() was given NULL for name");
    life_lock();
    for (pool = first; pool != NULL; pool = pool->next)
        if (strcmp(pool->name, name) == 0)
            break;
    life_unlock();
    if (pool == NULL)
        return error_null(ASHLAR_ERR_NOT_FOUND, "no pool is called \"%s\"",
                          name);
    return pool;
}
