/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* The public calls on blocks. */
#include "config.h"

#include "arena/arena.h"

#include <string.h>

#include "base/align.h"
#include "base/error.h"
#include "base/memory.h"
#include "source/je.h"
#include "type/type.h"

/* No address of any machine we know has more bits; jemalloc has fewer. */
#define SIZE_MOST ((size_t)1 << 56)

/* Of those that go the shortest way. */
#define SHORTEST_SIZE_BITS 55

enum ashlar_status arena_refuse_handle(struct ashlar_arena *arena,
                                       const char *call)
{
    if (arena == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for arena",
                         call);
    if (__atomic_load_n(&arena->life, __ATOMIC_ACQUIRE) == ARENA_FORKED)
        return error_set(ASHLAR_ERR_FORKED,
                         "%s: arena \"%s\" stands on memory of the parent "
                         "process, and is not usable after fork",
                         call, arena->name);
    return error_set(ASHLAR_ERR_STALE,
                     "%s was given the handle of an arena that was destroyed",
                     call);
}

enum ashlar_status arena_refuse(struct ashlar_arena *arena,
                                enum ashlar_status status)
{
    __atomic_fetch_add(&arena->refusals, 1, __ATOMIC_RELAXED);
    return status;
}

/* --- counting ------------------------------------------------------------- */

/* A count for the thread's number; NULL when there cannot be one. */
static struct arena_count *make_count(struct ashlar_arena *arena)
{
    const struct thread *self = thread_record();
    struct arena_count *count;

    if (self == NULL || self->number >= THREAD_NUMBERS)
        return NULL;
    if (arena->counts[self->number] != NULL)
        return arena->counts[self->number];
    count = memory_zalloc_aligned(sizeof(*count), _Alignof(struct arena_count));
    /* For those who add them up. */
    __atomic_store_n(&arena->counts[self->number], count, __ATOMIC_RELEASE);
    if (arena->kind == ASHLAR_ARENA_KIND_SHARED)
        __atomic_store_n(&arena->quick[self->number], count, __ATOMIC_RELAXED);
    return count;
}

void arena_count_first(struct ashlar_arena *arena, uint64_t change)
{
    struct arena_count *count = make_count(arena);

    if (count != NULL)
        __atomic_store_n(&count->live, count->live + change, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(&arena->common.live, change, __ATOMIC_RELAXED);
}

uint64_t arena_live(const struct ashlar_arena *arena)
{
    uint64_t live = __atomic_load_n(&arena->common.live, __ATOMIC_RELAXED);
    const struct arena_count *count;
    size_t i;

    for (i = 0; i < THREAD_NUMBERS; i++) {
        count = __atomic_load_n(&arena->counts[i], __ATOMIC_ACQUIRE);
        if (count != NULL)
            live += __atomic_load_n(&count->live, __ATOMIC_RELAXED);
    }
    return live;
}

void arena_forget_live(struct ashlar_arena *arena)
{
    size_t i;

    arena->common.live = 0;
    for (i = 0; i < THREAD_NUMBERS; i++)
        if (arena->counts[i] != NULL)
            arena->counts[i]->live = 0;
}

void arena_free_counts(struct ashlar_arena *arena)
{
    size_t i;

    for (i = 0; i < THREAD_NUMBERS; i++)
        memory_free(arena->counts[i]);
}

/* --- allocating ----------------------------------------------------------- */

static enum ashlar_status refuse_shape(struct ashlar_arena *arena, size_t size,
                                       size_t alignment)
{
    if (size == 0 || size > SIZE_MOST)
        return arena_refuse(arena,
                            error_set(ASHLAR_ERR_INVALID,
                                      "size is %zu; a block has 1 to %zu bytes",
                                      size, SIZE_MOST));
    return arena_refuse(
        arena, error_set(ASHLAR_ERR_INVALID,
                         "alignment is %zu; it must be a power of two up to "
                         "%zu, or 0 for the default",
                         alignment, ASHLAR_ARENA_ALIGN_MAX));
}

/* Whether a block can have them; alignment 0 is none. */
static inline bool shape_is_good(size_t size, size_t alignment)
{
    return size - 1 < SIZE_MOST && (alignment & (alignment - 1)) == 0 &&
           alignment <= ASHLAR_ARENA_ALIGN_MAX;
}

static inline int flags_for(const struct ashlar_arena *arena, size_t alignment)
{
    if (alignment <= arena->alignment_min)
        return arena->flags;
    return arena->flags | je_flags(alignment);
}

/* jemalloc's smallest class is not at its quantum. */
static inline size_t size_for(size_t size)
{
    return max_size(size, JE_QUANTUM);
}

static enum ashlar_status refuse_memory(struct ashlar_arena *arena, size_t size,
                                        bool for_addresses)
{
    if (for_addresses)
        return error_set(ASHLAR_ERR_NO_ADDRESS_SPACE,
                         "arena \"%s\" has no stretch of addresses for %zu "
                         "bytes among its %lu; give it more reserve_bytes",
                         arena->name, size,
                         (unsigned long)arena->backing.bytes);
    return error_set(ASHLAR_ERR_NO_MEMORY,
                     "the host has no memory left for a block of %zu bytes in "
                     "arena \"%s\"",
                     size, arena->name);
}

/* The same with what waits, which may be why. */
static enum ashlar_status mention_waiting(struct ashlar_arena *arena,
                                          enum ashlar_status status)
{
    uint64_t waiting = waiting_count(&arena->waiting);
    char sentence[ERROR_MESSAGE_BYTES];
    struct error error;

    if (waiting == 0)
        return status;
    error_copy(&error);
    (void)error_format(&error, sentence, sizeof(sentence));
    return error_set(status, "%s; %lu freed blocks wait for their fences",
                     sentence, (unsigned long)waiting);
}

/* A block of jemalloc's: first from what it keeps, then from what comes back. */
static void *alloc_address(struct ashlar_arena *arena, size_t size, int flags)
{
    void *block;

    if (arena_has_range(arena) && memory_may_fail()) /* in tests */
        return NULL;
    block = je_block_alloc(size, flags);
    if (ASHLAR_LIKELY(block != NULL))
        return block;
    (void)waiting_collect(arena);
    if (arena_has_range(arena))
        (void)je_own_purge(arena->index); /* it joins what it keeps apart */
    return je_block_alloc(size, flags);
}

static enum ashlar_status fill(struct ashlar_arena *arena, const void *block,
                               size_t size)
{
    enum ashlar_status status = backing_fill(&arena->backing, block, size);

    if (status == ASHLAR_ERR_NO_DEVICE_MEMORY && waiting_collect(arena))
        status = backing_fill(&arena->backing, block, size);
    return status;
}

static void *alloc_in_range(struct ashlar_arena *arena, size_t size, int flags)
{
    struct backing *backing = &arena->backing;
    uint64_t refused = extents_refused(&arena->extents);
    size_t bytes = je_block_class(size, flags);
    enum ashlar_status status;
    void *block;

    if (ASHLAR_UNLIKELY(waiting_count(&arena->waiting) != 0))
        waiting_glance(arena);
    block = bytes == 0 ? NULL : alloc_address(arena, size, flags);
    if (ASHLAR_UNLIKELY(block == NULL)) {
        status = refuse_memory(arena, size,
                               extents_refused(&arena->extents) != refused);
        goto err_refuse;
    }
    backing_pin(backing, block, bytes);
    status = fill(arena, block, size);
    if (ASHLAR_UNLIKELY(status != ASHLAR_OK))
        goto err_return;
    (void)backing_enter(backing, block);
    arena_count_by(arena, 1);
    return block;

err_return:
    arena_return(arena, block);
err_refuse:
    (void)arena_refuse(arena, mention_waiting(arena, status));
    return NULL;
}

/* The long way, for all; what is wrong is found out and told. */
static __attribute__((noinline)) void *alloc_slowly(struct ashlar_arena *arena,
                                                    size_t size,
                                                    size_t alignment,
                                                    const char *call)
{
    void *block;

    if (arena_check(arena, call) != ASHLAR_OK)
        return NULL;
    if (!shape_is_good(size, alignment)) {
        (void)refuse_shape(arena, size, alignment);
        return NULL;
    }
    if (arena_has_range(arena))
        return alloc_in_range(arena, size, flags_for(arena, alignment));
    block = alloc_address(arena, size_for(size), flags_for(arena, alignment));
    if (block == NULL)
        (void)arena_refuse(
            arena, mention_waiting(arena, refuse_memory(arena, size, false)));
    else
        arena_count_by(arena, 1);
    return block;
}

/* The short way: on the heap, where the alignment is anyway. */
static inline bool is_short(const struct ashlar_arena *arena, size_t size,
                            size_t alignment)
{
    return arena_is_on_heap(arena) && ASHLAR_LIKELY(alignment <= JE_QUANTUM) &&
           ASHLAR_LIKELY(shape_is_good(size, alignment));
}

/*
 * The shortest: where jemalloc takes a size as it is, and nothing else; and the
 * count is there. NULL: another way is to be gone, as by all who hold the handle
 * of an arena that was destroyed. What is left out for the sake of a shorter
 * comparison, the smallest and the largest sizes, is short.
 */
static inline struct arena_count *shortest(struct ashlar_arena *arena,
                                           size_t size, size_t alignment)
{
    if (ASHLAR_UNLIKELY(arena == NULL || alignment > JE_QUANTUM ||
                        (alignment & (alignment - 1)) != 0 ||
                        (size - JE_QUANTUM) >> SHORTEST_SIZE_BITS != 0))
        return NULL;
    return __atomic_load_n(&arena->quick[thread_number], __ATOMIC_RELAXED);
}

/* What takes not the shortest way. */
static __attribute__((noinline)) void *
alloc_otherwise(struct ashlar_arena *arena, size_t size, size_t alignment)
{
    void *block;

    if (!is_short(arena, size, alignment))
        return alloc_slowly(arena, size, alignment, "ashlar_arena_alloc()");
    block = je_block_alloc(size_for(size), arena->flags);
    if (ASHLAR_UNLIKELY(block == NULL)) /* any block has such an alignment */
        return alloc_slowly(arena, size, 0, "ashlar_arena_alloc()");
    arena_count_by(arena, 1);
    return block;
}

/* jemalloc had no block for the shortest way, where it was counted already. */
static __attribute__((noinline)) void *alloc_again(struct ashlar_arena *arena,
                                                   size_t size)
{
    arena_count_by(arena, UINT64_MAX);
    return alloc_slowly(arena, size, 0, "ashlar_arena_alloc()");
}

/*
 * Kept for alloc_again() are two words on the stack, which is why they are
 * volatile: as registers they would have to be saved and restored in each call.
 */
void *ashlar_arena_alloc(struct ashlar_arena *arena, size_t size,
                         size_t alignment)
{
    struct arena_count *count = shortest(arena, size, alignment);
    struct ashlar_arena *volatile kept_arena;
    volatile size_t kept_size;
    void *block;

    if (ASHLAR_UNLIKELY(count == NULL))
        return alloc_otherwise(arena, size, alignment);
    kept_arena = arena;
    kept_size = size;
    arena_count_add(count, 1);
    block = je_block_alloc_plain(size);
    return ASHLAR_LIKELY(block != NULL) ? block
                                        : alloc_again(kept_arena, kept_size);
}

void *ashlar_arena_calloc(struct ashlar_arena *arena, size_t size,
                          size_t alignment)
{
    void *block;

    if (arena_check(arena, "ashlar_arena_calloc()") != ASHLAR_OK)
        return NULL;
    if (!arena->host_writes) {
        (void)arena_refuse(
            arena, error_set(ASHLAR_ERR_UNSUPPORTED,
                             "the host cannot write the memory of arena "
                             "\"%s\", on the source \"%s\"; allocate without "
                             "zeros, and set them by the device",
                             arena->name, arena->source->name));
        return NULL;
    }
    block = alloc_slowly(arena, size, alignment, "ashlar_arena_calloc()");
    if (block != NULL)
        memset(block, 0, size);
    return block;
}

static enum ashlar_status check_type(const struct ashlar_type *type)
{
    if (type == NULL)
        return error_set(ASHLAR_ERR_INVALID, "ashlar_arena_alloc_type() was "
                                             "given NULL for type");
    if (type_is_known(type))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID,
                     "type is %p, which is no type that ashlar_type_register() "
                     "or ashlar_type_find() gave",
                     (const void *)type);
}

static enum ashlar_status bytes_of_type(size_t n, size_t stride,
                                        size_t *bytes_out)
{
    if (n != 0 && multiply_size(n, stride, bytes_out))
        return ASHLAR_OK;
    return error_set(ASHLAR_ERR_INVALID,
                     "n is %zu; give 1 or more, and no more than can be "
                     "addressed at %zu bytes each",
                     n, stride);
}

/* Its alignment may have got stronger meanwhile: then once more. */
void *ashlar_arena_alloc_type(struct ashlar_arena *arena,
                              const struct ashlar_type *type, size_t n)
{
    static const char call[] = "ashlar_arena_alloc_type()";
    enum ashlar_status status = arena_check(arena, call);
    size_t object_bytes;
    size_t alignment;
    size_t bytes = 0;
    size_t stride;
    void *block;

    if (status != ASHLAR_OK)
        return NULL;
    status = check_type(type);
    while (status == ASHLAR_OK) {
        type_layout(type, &object_bytes, &alignment, &stride);
        status = bytes_of_type(n, stride, &bytes);
        if (status != ASHLAR_OK)
            break;
        block = alloc_slowly(arena, bytes, alignment, call);
        if (block == NULL || type_freeze(type, alignment))
            return block;
        (void)ashlar_arena_free(arena, block);
    }
    (void)arena_refuse(arena, status);
    return NULL;
}

/* --- freeing -------------------------------------------------------------- */

static enum ashlar_status refuse_dead(const struct ashlar_arena *arena,
                                      const void *block)
{
    return error_set(ASHLAR_ERR_NOT_LIVE,
                     "no live block of arena \"%s\" begins at %p: it was freed "
                     "before, or this is the middle of one",
                     arena->name, block);
}

/* On a range: a live block begins there. */
static enum ashlar_status check_block(struct ashlar_arena *arena,
                                      const void *block, const char *call)
{
    if (block == NULL)
        return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for block",
                         call);
    if (!arena_has_range(arena))
        return ASHLAR_OK;
    if (!backing_spans(&arena->backing, block))
        return error_set(ASHLAR_ERR_WRONG_OWNER,
                         "%p is no address of arena \"%s\"", block,
                         arena->name);
    if (backing_is_live(&arena->backing, block))
        return ASHLAR_OK;
    return refuse_dead(arena, block);
}

enum ashlar_status arena_take_back(struct ashlar_arena *arena,
                                   const void *block, const char *call)
{
    enum ashlar_status status = check_block(arena, block, call);

    if (status == ASHLAR_OK && arena_has_range(arena) &&
        !backing_leave(&arena->backing, block)) /* another thread was quicker */
        status = refuse_dead(arena, block);
    if (status != ASHLAR_OK)
        return arena_refuse(arena, status);
    arena_count_by(arena, UINT64_MAX);
    return ASHLAR_OK;
}

void arena_return(struct ashlar_arena *arena, void *block)
{
    if (arena_has_range(arena))
        backing_unpin(&arena->backing, block,
                      je_block_bytes(block, arena->flags));
    je_block_free(block, arena->flags);
}

static __attribute__((noinline)) enum ashlar_status
free_slowly(struct ashlar_arena *arena, void *block, const char *call)
{
    enum ashlar_status status = arena_check(arena, call);

    if (status == ASHLAR_OK)
        status = arena_take_back(arena, block, call);
    if (status == ASHLAR_OK)
        arena_return(arena, block);
    return status;
}

/*
 * What takes not the shortest way. With a stronger alignment the size is looked
 * up.
 */
static __attribute__((noinline)) enum ashlar_status
free_sized_otherwise(struct ashlar_arena *arena, void *block, size_t size,
                     size_t alignment)
{
    enum ashlar_status status;

    if (is_short(arena, size, alignment) && ASHLAR_LIKELY(block != NULL)) {
        arena_count_by(arena, UINT64_MAX);
        je_block_free_sized(block, size_for(size), arena->flags);
        return ASHLAR_OK;
    }
    status = arena_check(arena, "ashlar_arena_free_sized()");
    if (status == ASHLAR_OK && !shape_is_good(size, alignment))
        status = refuse_shape(arena, size, alignment);
    return status == ASHLAR_OK
               ? free_slowly(arena, block, "ashlar_arena_free_sized()")
               : status;
}

enum ashlar_status ashlar_arena_free(struct ashlar_arena *arena, void *block)
{
    if (!arena_is_on_heap(arena) || ASHLAR_UNLIKELY(block == NULL))
        return free_slowly(arena, block, "ashlar_arena_free()");
    arena_count_by(arena, UINT64_MAX);
    je_block_free(block, arena->flags);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_arena_free_sized(struct ashlar_arena *arena,
                                           void *block, size_t size,
                                           size_t alignment)
{
    struct arena_count *count = shortest(arena, size, alignment);

    if (ASHLAR_UNLIKELY(count == NULL || block == NULL))
        return free_sized_otherwise(arena, block, size, alignment);
    arena_count_add(count, UINT64_MAX);
    je_block_free_sized(block, size, 0);
    return ASHLAR_OK;
}

/* --- resizing ------------------------------------------------------------- */

static enum ashlar_status no_room(struct ashlar_arena *arena, size_t size)
{
    return arena_refuse(
        arena,
        error_set(ASHLAR_ERR_NO_ROOM,
                  "the block cannot have %zu bytes where it is, in arena "
                  "\"%s\"; allocate another, and copy",
                  size, arena->name));
}

/*
 * The tail is given up before jemalloc may hand it to somebody else. If it does
 * not give it to anybody, there must be memory under it still: so nothing is
 * released meanwhile. False when the block stayed as it was.
 */
static bool shrink_in_range(struct ashlar_arena *arena, void *block,
                            size_t before, size_t size, int flags)
{
    struct backing *backing = &arena->backing;
    size_t wanted = je_block_class(size, flags);
    size_t now;

    lock_take(&backing->lock);
    backing_repin(backing, block, before, wanted);
    now = je_block_resize(block, size, flags);
    if (now != wanted)
        backing_repin(backing, block, wanted, now);
    lock_give(&backing->lock);
    return now == wanted;
}

static enum ashlar_status grow_in_range(struct ashlar_arena *arena, void *block,
                                        size_t before, size_t size, int flags)
{
    size_t now = je_block_resize(block, size, flags);
    enum ashlar_status status;

    if (now < size)
        return no_room(arena, size);
    backing_repin(&arena->backing, block, before, now);
    status = fill(arena, block, size);
    if (status == ASHLAR_OK)
        return ASHLAR_OK;
    (void)shrink_in_range(arena, block, now, before, flags);
    return arena_refuse(arena, mention_waiting(arena, status));
}

static enum ashlar_status resize_in_range(struct ashlar_arena *arena,
                                          void *block, size_t size, int flags)
{
    size_t before = je_block_bytes(block, flags);
    size_t wanted = je_block_class(size, flags);
    enum ashlar_status status;

    if (wanted > before)
        return grow_in_range(arena, block, before, size, flags);
    if (wanted < before)
        return shrink_in_range(arena, block, before, size, flags)
                   ? ASHLAR_OK
                   : no_room(arena, size);
    status = fill(arena, block, size);
    return status == ASHLAR_OK
               ? ASHLAR_OK
               : arena_refuse(arena, mention_waiting(arena, status));
}

/* What a block is freed with later has to be of the class that it has. */
static enum ashlar_status resize_on_heap(struct ashlar_arena *arena,
                                         void *block, size_t size, int flags)
{
    size_t wanted = je_block_class(size, flags);

    if (wanted == 0 || (je_block_bytes(block, flags) != wanted &&
                        je_block_resize(block, size, flags) != wanted))
        return no_room(arena, size);
    return ASHLAR_OK;
}

enum ashlar_status ashlar_arena_resize(struct ashlar_arena *arena, void *block,
                                       size_t size, size_t alignment)
{
    enum ashlar_status status = arena_check(arena, "ashlar_arena_resize()");
    int flags;

    if (status != ASHLAR_OK)
        return status;
    if (!shape_is_good(size, alignment))
        return refuse_shape(arena, size, alignment);
    status = check_block(arena, block, "ashlar_arena_resize()");
    if (status != ASHLAR_OK)
        return arena_refuse(arena, status);
    flags = flags_for(arena, alignment);
    if (arena_has_range(arena))
        return resize_in_range(arena, block, size, flags);
    return resize_on_heap(arena, block, size_for(size), flags);
}

size_t ashlar_arena_usable(struct ashlar_arena *arena, const void *block)
{
    enum ashlar_status status = arena_check(arena, "ashlar_arena_usable()");
    size_t bytes;

    if (status != ASHLAR_OK)
        return 0;
    if (check_block(arena, block, "ashlar_arena_usable()") != ASHLAR_OK) {
        (void)arena_refuse(arena, ashlar_last_error());
        return 0;
    }
    bytes = je_block_bytes(block, arena->flags);
    if (arena_has_range(arena))
        bytes = backing_reach(&arena->backing, block, bytes);
    return bytes;
}
