/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * The life of arenas: making, emptying, destroying, listing them, and fork(2).
 *
 *     first ─> oldest arena <─> ... <─> youngest      alive
 *     dead  ─> longest dead ─> ... ─> just destroyed  records to be used again
 *
 * A record is never freed, so that a stale handle is told from a good one; it
 * is used again only when RECORDS_KEPT others have died since.
 */
#include "config.h"

#include <errno.h>
#include <string.h>

#include "arena/arena.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/options.h"
#include "range/range.h"
#include "source/je.h"

#define RECORDS_KEPT   1024u
#define CHUNK_GRANULES 32

static struct lock list_lock = LOCK_INIT;
static struct ashlar_arena *first;
static struct ashlar_arena *last;
static struct ashlar_arena *dead_first;
static struct ashlar_arena *dead_last;
static uint32_t dead_count;

/* --- fork ----------------------------------------------------------------- */

static void before_fork(void)
{
    struct ashlar_arena *arena;

    lock_take(&list_lock);
    for (arena = first; arena != NULL; arena = arena->next)
        lock_take(&arena->waiting.lock);
}

static void after_fork(void)
{
    struct ashlar_arena *arena;

    for (arena = first; arena != NULL; arena = arena->next)
        lock_give(&arena->waiting.lock);
    lock_give(&list_lock);
}

static void after_fork_in_child(void)
{
    struct ashlar_arena *arena;

    for (arena = first; arena != NULL; arena = arena->next) {
        if (arena_has_range(arena))
            __atomic_store_n(&arena->life, ARENA_FORKED, __ATOMIC_RELEASE);
        else
            waiting_recover(arena);
    }
    after_fork();
}

/* jemalloc first, so that our locks are taken before its own: thread.h. */
static int start(void)
{
    static bool started;

    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE))
        return 0;
    je_start();
    if (thread_set_fork_part(THREAD_FORK_ARENA, before_fork, after_fork,
                             after_fork_in_child) != 0)
        return -1;
    __atomic_store_n(&started, true, __ATOMIC_RELEASE);
    return 0;
}

/* --- records -------------------------------------------------------------- */

/* A record that no arena has, zeroed; NULL: no memory. */
static struct ashlar_arena *record_take(void)
{
    struct ashlar_arena *arena = NULL;

    lock_take(&list_lock);
    if (dead_count > RECORDS_KEPT) {
        arena = dead_first;
        dead_first = arena->next;
        dead_count--;
    }
    lock_give(&list_lock);
    if (arena == NULL)
        return memory_zalloc_aligned(sizeof(*arena),
                                     _Alignof(struct ashlar_arena));
    memset(arena, 0, sizeof(*arena));
    return arena;
}

static void record_give(struct ashlar_arena *arena)
{
    lock_take(&list_lock);
    arena->next = NULL;
    if (dead_count == 0)
        dead_first = arena;
    else
        dead_last->next = arena;
    dead_last = arena;
    dead_count++;
    lock_give(&list_lock);
}

static void list_append(struct ashlar_arena *arena)
{
    lock_take(&list_lock);
    arena->next = NULL;
    arena->previous = last;
    if (last != NULL)
        last->next = arena;
    else
        first = arena;
    last = arena;
    __atomic_store_n(&arena->life, ARENA_LIVE, __ATOMIC_RELEASE);
    __atomic_store_n(&arena->on_heap, !arena_has_range(arena),
                     __ATOMIC_RELEASE);
    lock_give(&list_lock);
}

static void list_remove(struct ashlar_arena *arena)
{
    size_t i;

    lock_take(&list_lock);
    for (i = 0; i <= THREAD_NUMBERS; i++)
        __atomic_store_n(&arena->quick[i], NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&arena->on_heap, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&arena->life, ARENA_DEAD, __ATOMIC_RELEASE);
    if (arena->previous != NULL)
        arena->previous->next = arena->next;
    else
        first = arena->next;
    if (arena->next != NULL)
        arena->next->previous = arena->previous;
    else
        last = arena->previous;
    lock_give(&list_lock);
}

/* --- create: what is asked for -------------------------------------------- */

/* The source that an arena will stand on; NULL is the heap's. */
static struct ashlar_source *
source_of(const struct ashlar_arena_options *options)
{
    if (options->range != NULL)
        return options->range->source;
    return options->source != NULL ? options->source : source_heap();
}

static enum ashlar_status
check_range(const struct ashlar_arena_options *options)
{
    struct ashlar_range *range = options->range;
    enum ashlar_status status = range_check_own(range, "ashlar_arena_create()");

    if (status != ASHLAR_OK)
        return status;
    if (options->source != NULL && options->source != range->source)
        return error_set(ASHLAR_ERR_INVALID,
                         "the range given is of the source \"%s\", and another "
                         "source is given beside it; give one of the two",
                         range->source->name);
    if (range->may_move)
        return error_set(ASHLAR_ERR_INVALID,
                         "the range at 0x%lx may move, which an arena's must "
                         "not; make it without ASHLAR_RANGE_MAY_MOVE",
                         (unsigned long)range->base);
    return range_check_unused(range);
}

static enum ashlar_status
check_source(const struct ashlar_arena_options *options)
{
    struct ashlar_source *source = source_of(options);

    if (options->range != NULL)
        return check_range(options);
    if (source_can(source, ASHLAR_CAN_RANGES))
        return source_check(source, "ashlar_arena_create()");
    if (source->ops.block_alloc == heap_plugin.block_alloc)
        return ASHLAR_OK;
    return error_set(
        ASHLAR_ERR_UNSUPPORTED,
        "the source \"%s\" can hold no arenas: it is not the heap, "
        "and has no ranges",
        source->name);
}

static enum ashlar_status
check_options(const struct ashlar_arena_options *options)
{
    bool makes_range = options->range == NULL &&
                       source_can(source_of(options), ASHLAR_CAN_RANGES);

    if ((options->flags & ~ASHLAR_ARENA_ISOLATED) != 0)
        return error_set(ASHLAR_ERR_INVALID,
                         "flags is 0x%x; known is 0x1 (isolated)",
                         options->flags);
    if (options->reserved != 0)
        return error_set(ASHLAR_ERR_INVALID, "reserved is %u; it must be 0",
                         options->reserved);
    if (options->name != NULL && strlen(options->name) >= ARENA_NAME_BYTES)
        return error_set(ASHLAR_ERR_INVALID,
                         "the name \"%s\" has %zu bytes; an arena's name has "
                         "at most %d",
                         options->name, strlen(options->name),
                         ARENA_NAME_BYTES - 1);
    if (!makes_range &&
        (options->reserve_bytes != 0 || options->chunk_max_bytes != 0))
        return error_set(ASHLAR_ERR_INVALID,
                         "reserve_bytes is %lu and chunk_max_bytes is %lu; "
                         "they are for the range that an arena makes itself, "
                         "and this one makes none: give 0",
                         (unsigned long)options->reserve_bytes,
                         (unsigned long)options->chunk_max_bytes);
    return check_source(options);
}

static enum ashlar_status read_options(const struct ashlar_arena_options *given,
                                       struct ashlar_arena_options *own)
{
    static const struct ashlar_arena_options defaults =
        ASHLAR_ARENA_OPTIONS_INIT;
    enum ashlar_status status = ASHLAR_OK;

    *own = defaults;
    if (given != NULL)
        status = options_read(own, sizeof(*own), given,
                              "struct ashlar_arena_options");
    return status == ASHLAR_OK ? check_options(own) : status;
}

/* --- create: an arena of jemalloc's --------------------------------------- */

static enum ashlar_status refuse_arena(int err)
{
    if (err == EAGAIN)
        return error_set(ASHLAR_ERR_LIMIT,
                         "the process has all the arenas of their own that "
                         "jemalloc can have, some 4,000; ordinary arenas on "
                         "the heap need none");
    if (err == ENOENT)
        return error_set(ASHLAR_ERR_UNSUPPORTED,
                         "jemalloc %s cannot keep its records apart from an "
                         "arena's memory; use the private build that "
                         "./bootstrap makes",
                         je_version());
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "no host memory for an arena of jemalloc's own (error %d)",
                     err);
}

static enum ashlar_status own_arena(struct ashlar_arena *arena,
                                    extent_hooks_t *hooks)
{
    int err = ENOMEM;

    lock_take(&list_lock);
    if (!memory_may_fail())
        err = je_own_create(hooks, &arena->index);
    lock_give(&list_lock);
    if (err != 0)
        return refuse_arena(err);
    arena->flags = je_flags_of_arena(arena->index, arena->alignment_min);
    return ASHLAR_OK;
}

static void leave_own_arena(struct ashlar_arena *arena)
{
    bool dropped = arena->dropped || arena_live(arena) != 0;

    lock_take(&list_lock);
    (void)je_own_destroy(arena->index, dropped);
    lock_give(&list_lock);
}

static enum ashlar_status check_settings(void)
{
    const char *value;
    const char *setting = je_setting_that_touches(&value);

    if (setting == NULL)
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_UNSUPPORTED,
                     "jemalloc's setting \"%s\" is %s, so it would write to "
                     "memory that may be out of the host's reach; take it out "
                     "of the environment variable %s (or say \"%s:%s\" there)",
                     setting, value, ASHLAR_JE_CONF_VARIABLE, setting,
                     strcmp(setting, "lg_san_uaf_align") == 0 ? "-1" : "false");
}

/* --- create: a range ------------------------------------------------------ */

/*
 * Twice the memory of the source, so that holes between blocks need not be
 * filled while there is memory; if there are no such addresses, what is there.
 */
static enum ashlar_status make_range(struct ashlar_source *source,
                                     const struct ashlar_arena_options *options,
                                     struct ashlar_range **range_out)
{
    struct ashlar_range_options own = ASHLAR_RANGE_OPTIONS_INIT;
    enum ashlar_status status;
    struct error before;

    own.chunk_max_bytes = options->chunk_max_bytes != 0
                              ? options->chunk_max_bytes
                              : CHUNK_GRANULES * source->info.granule;
    own.reserve_bytes = options->reserve_bytes;
    if (own.reserve_bytes == 0 && source->info.memory_bytes < UINT64_MAX / 4)
        own.reserve_bytes = source->info.memory_bytes * 2;
    error_copy(&before);
    status = ashlar_range_create(source, &own, range_out);
    if (status != ASHLAR_ERR_NO_ADDRESS_SPACE || options->reserve_bytes != 0)
        return status;
    own.reserve_bytes = 0;
    status = ashlar_range_create(source, &own, range_out);
    if (status == ASHLAR_OK)
        error_restore(&before);
    return status;
}

/* Whether calloc() can write the range's memory. */
static bool host_writes(const struct ashlar_range *range)
{
    const struct ashlar_access *access = range->access.items;
    uint32_t i;

    for (i = 0; i < range->access.count; i++)
        if (access[i].location == range->source->info.home_location)
            return source_can(range->source, ASHLAR_CAN_HOST_ACCESS) &&
                   access[i].rights == ASHLAR_RIGHTS_READ_WRITE;
    return false;
}

/*
 * The range of the options, or one of the arena's own. That one can be given
 * up again whatever happens: what this takes is made before it.
 */
static enum ashlar_status stand_on(struct ashlar_arena *arena,
                                   const struct ashlar_arena_options *options)
{
    struct ashlar_range *range = options->range;
    struct retire_item *way_back = NULL;
    enum ashlar_status status = ASHLAR_OK;

    if (range == NULL) {
        way_back = retire_item_create(0, 1, 0);
        status = way_back != NULL ? make_range(arena->source, options, &range)
                                  : error_set(ASHLAR_ERR_NO_MEMORY,
                                              "no host memory to note a range");
    }
    if (status == ASHLAR_OK)
        status = backing_open(&arena->backing, range, options->range == NULL);
    if (status == ASHLAR_OK) {
        arena->host_writes = host_writes(range);
        extents_start(&arena->extents, range->base, range->reserved);
    } else if (way_back != NULL && range != NULL) {
        way_back->owner = range->owner;
        range_abandon(range, way_back);
        return status;
    }
    if (way_back != NULL)
        retire_item_drop(way_back);
    return status;
}

static enum ashlar_status
stand_on_range(struct ashlar_arena *arena,
               const struct ashlar_arena_options *options)
{
    enum ashlar_status status = check_settings();

    arena->kind = ASHLAR_ARENA_KIND_RANGE;
    arena->alignment_min = ASHLAR_ARENA_ALIGN_RANGE;
    extents_start(&arena->extents, 0, 0);
    if (status == ASHLAR_OK)
        status = own_arena(arena, &arena->extents.hooks);
    if (status != ASHLAR_OK)
        return status;
    status = stand_on(arena, options);
    if (status != ASHLAR_OK)
        leave_own_arena(arena);
    return status;
}

static enum ashlar_status
stand_on_heap(struct ashlar_arena *arena,
              const struct ashlar_arena_options *options)
{
    arena->kind = ASHLAR_ARENA_KIND_SHARED;
    arena->alignment_min = JE_QUANTUM;
    arena->host_writes = true;
    if ((options->flags & ASHLAR_ARENA_ISOLATED) == 0)
        return ASHLAR_OK;
    arena->kind = ASHLAR_ARENA_KIND_ISOLATED;
    return own_arena(arena, NULL);
}

enum ashlar_status
ashlar_arena_create(const struct ashlar_arena_options *options,
                    struct ashlar_arena **arena_out)
{
    struct ashlar_arena_options own;
    enum ashlar_status status;
    struct ashlar_arena *arena;

    if (arena_out == NULL)
        return error_set(ASHLAR_ERR_INVALID,
                         "ashlar_arena_create() was given NULL for arena_out");
    status = read_options(options, &own);
    if (status != ASHLAR_OK)
        return status;
    arena = start() == 0 ? record_take() : NULL;
    if (arena == NULL)
        return error_set(ASHLAR_ERR_NO_MEMORY,
                         "no host memory for an arena's record of %zu bytes",
                         sizeof(*arena));
    arena->source = source_hold(source_of(&own));
    lock_init(&arena->waiting.lock);
    strncpy(arena->name, own.name == NULL ? "arena" : own.name,
            ARENA_NAME_BYTES - 1);
    status = source_can(arena->source, ASHLAR_CAN_RANGES)
                 ? stand_on_range(arena, &own)
                 : stand_on_heap(arena, &own);
    if (status != ASHLAR_OK) {
        source_drop(arena->source);
        record_give(arena);
        return status;
    }
    list_append(arena);
    *arena_out = arena;
    return ASHLAR_OK;
}

/* --- destroy, reset, trim ------------------------------------------------- */

/* That nothing waits, nor is live, unless that is to be dropped. */
static enum ashlar_status check_idle(struct ashlar_arena *arena, bool drop)
{
    uint64_t live = arena_live(arena);
    uint64_t waiting;

    (void)waiting_collect(arena);
    waiting = waiting_count(&arena->waiting);
    if ((live == 0 || drop) && waiting == 0)
        return ASHLAR_OK;
    return arena_refuse(
        arena,
        error_set(ASHLAR_ERR_BUSY,
                  "arena \"%s\" has %lu live blocks, and %lu that wait for "
                  "fences; %s once nothing waits",
                  arena->name, (unsigned long)live, (unsigned long)waiting,
                  drop ? "try again" : "free them, or force it,"));
}

enum ashlar_status ashlar_arena_destroy(struct ashlar_arena *arena,
                                        uint32_t flags)
{
    enum ashlar_status status = arena_check(arena, "ashlar_arena_destroy()");

    if (status != ASHLAR_OK)
        return status;
    if ((flags & ~ASHLAR_ARENA_FORCE) != 0)
        return arena_refuse(
            arena, error_set(ASHLAR_ERR_INVALID,
                             "flags is 0x%x; known is 0x1 (force)", flags));
    status = check_idle(arena, (flags & ASHLAR_ARENA_FORCE) != 0);
    if (status == ASHLAR_OK && arena_has_range(arena))
        status = backing_close(&arena->backing);
    if (status != ASHLAR_OK)
        return status;
    list_remove(arena);
    if (arena->kind != ASHLAR_ARENA_KIND_SHARED)
        leave_own_arena(arena);
    arena_free_counts(arena);
    source_drop(arena->source);
    record_give(arena);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_arena_reset(struct ashlar_arena *arena)
{
    enum ashlar_status status = arena_check(arena, "ashlar_arena_reset()");

    if (status != ASHLAR_OK)
        return status;
    if (arena->kind == ASHLAR_ARENA_KIND_SHARED)
        return arena_refuse(
            arena,
            error_set(ASHLAR_ERR_UNSUPPORTED,
                      "arena \"%s\" shares jemalloc's arenas, so its blocks "
                      "cannot be freed at once; make it with "
                      "ASHLAR_ARENA_ISOLATED",
                      arena->name));
    status = check_idle(arena, true);
    if (status != ASHLAR_OK)
        return status;
    if (arena_has_range(arena))
        backing_reset(&arena->backing, extents_handed_out(&arena->extents));
    arena->dropped = arena->dropped || arena_live(arena) != 0;
    (void)je_own_reset(arena->index);
    arena_forget_live(arena);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_arena_trim(struct ashlar_arena *arena,
                                     uint64_t *released_out)
{
    enum ashlar_status status = arena_check(arena, "ashlar_arena_trim()");
    uint64_t released = 0;

    if (status != ASHLAR_OK)
        return status;
    (void)waiting_collect(arena);
    if (arena->kind != ASHLAR_ARENA_KIND_SHARED)
        (void)je_own_purge(arena->index);
    if (arena_has_range(arena))
        status = backing_release(&arena->backing, &released);
    if (status != ASHLAR_OK)
        return arena_refuse(arena, status);
    if (released_out != NULL)
        *released_out = released;
    return ASHLAR_OK;
}

/* --- the list ------------------------------------------------------------- */

struct ashlar_arena *ashlar_arena_next(struct ashlar_arena *arena)
{
    struct ashlar_arena *next = NULL;

    lock_take(&list_lock);
    if (arena == NULL)
        next = first;
    else if (__atomic_load_n(&arena->life, __ATOMIC_RELAXED) != ARENA_DEAD)
        next = arena->next;
    while (next != NULL && next->life == ARENA_FORKED)
        next = next->next;
    lock_give(&list_lock);
    return next;
}

const char *ashlar_arena_name(struct ashlar_arena *arena)
{
    if (arena == NULL ||
        __atomic_load_n(&arena->life, __ATOMIC_ACQUIRE) == ARENA_DEAD)
        return NULL;
    return arena->name;
}

struct ashlar_range *ashlar_arena_range(struct ashlar_arena *arena)
{
    if (arena_check(arena, "ashlar_arena_range()") != ASHLAR_OK)
        return NULL;
    if (!arena_has_range(arena))
        return error_null(ASHLAR_ERR_UNSUPPORTED,
                          "arena \"%s\" is on the heap, and stands on no range",
                          arena->name);
    return arena->backing.range;
}
