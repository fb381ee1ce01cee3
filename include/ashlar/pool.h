/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The pool: slots of one type, got and put one, many, or side by side.
 *
 *     pool ─┬─ slab ─ [slot][slot][slot] ...      book-keeping lies apart, so
 *           ├─ slab ─ [slot][slot] ...            a stray write through a slot
 *           └─ slab ─ [run of 3   ][run of 2] ... cannot corrupt the pool
 *
 * Invariants:
 *   - every slot starts at a multiple of the type's alignment, and its address
 *     never changes while the pool lives: growth adds slabs, trim takes pages
 *     away under them, neither moves anything;
 *   - a slot is live (with the caller), cached (with a thread's or a caller's
 *     cache) or free, and the three add up to the capacity;
 *   - a refused call changed nothing.
 *
 * Every put is checked, in release builds too: a slot that is not live, not of
 * this pool, not at a slot's start, or twice in one batch is refused with its
 * reason. A put that is ordered after an earlier put of the same slot is always
 * caught. Two puts of one slot that race are the caller's data race; they never
 * corrupt the pool, and one of them is reported to the log when both have
 * reached the shared store. ASHLAR_POOL_UNCHECKED turns this off.
 *
 * A thread that gets or puts is attached to the pool by its first call and has
 * a cache from then on, which goes back when the thread ends. With the reserve
 * made, get and put make no system call, except that a contended lock may have
 * to sleep.
 *
 * After fork(2) the child may use its heap pools. Slots that were live, with
 * whichever thread, stay live; what was in caches (of threads and of callers,
 * the forking thread's too) or waited for fences is free, and caches start
 * empty. In an unchecked pool, slots that another thread was just moving may be
 * lost to the child. A pool on a range is refused there (ASHLAR_ERR_FORKED).
 */
#ifndef ASHLAR_POOL_H
#define ASHLAR_POOL_H

#include <ashlar/export.h>
#include <ashlar/range.h>
#include <ashlar/source.h>
#include <ashlar/status.h>
#include <ashlar/type.h>

ASHLAR_BEGIN_DECLS

/** A pool. Opaque. A handle of a destroyed pool is refused, not followed. */
struct ashlar_pool;

/** ashlar_pool_options::flags: do not check puts, and do not track live slots. */
#define ASHLAR_POOL_UNCHECKED (1u << 0)
/**
 * ashlar_pool_options::flags: ask the kernel for huge pages (slabs of 2 MiB
 * and more, at multiples of 2 MiB). A wish: where it is refused, small pages
 * serve.
 */
#define ASHLAR_POOL_HUGE_PAGES (1u << 1)

/** The most slots a pool may have. */
#define ASHLAR_POOL_SLOTS_MAX ((size_t)UINT32_MAX)
/**
 * What ashlar_pool_options::cache_slots of 0 means: so many, or as many as make
 * ASHLAR_POOL_CACHE_DEFAULT_BYTES if that is fewer, and 1 at least.
 */
#define ASHLAR_POOL_CACHE_DEFAULT ((size_t)4096)
/** Bytes of slots that such a cache keeps at most. */
#define ASHLAR_POOL_CACHE_DEFAULT_BYTES ((size_t)512 << 10)
/** The most slots one cache may keep. */
#define ASHLAR_POOL_CACHE_MAX ((size_t)65536)
/** ashlar_pool_options::cache_slots: threads have no cache. */
#define ASHLAR_POOL_CACHE_NONE SIZE_MAX

/** How a pool is made. Zero means the default everywhere but in size. */
struct ashlar_pool_options {
    /** sizeof(struct ashlar_pool_options). */
    size_t size;
    /** Borrowed; must stay open while the pool lives. NULL: the heap. */
    struct ashlar_source *source;
    /** Up to 63 bytes, copied; need not be unique. NULL: the type's name. */
    const char *name;
    /** Slots to make at once. 0: none before they are asked for. */
    size_t initial_slots;
    /**
     * The most slots the pool may ever have, live, cached and free together.
     * 0: ASHLAR_POOL_SLOTS_MAX. Leave room for caches (see
     * ashlar_pool_reserve()), or they stay small and gets take the lock.
     */
    size_t max_slots;
    /** The most slots a thread's cache keeps. 0: ASHLAR_POOL_CACHE_DEFAULT. */
    size_t cache_slots;
    /** ASHLAR_POOL_UNCHECKED, ASHLAR_POOL_HUGE_PAGES. */
    uint32_t flags;
    /** Must be 0. */
    uint32_t reserved;
    /**
     * Bytes from slot to slot that the caller counts on: sizeof(T) where a run
     * is used as an array of T. 0: whatever the type has. Another stride than
     * the type's is refused.
     */
    size_t stride;
};

/** Initialiser for struct ashlar_pool_options: all defaults. */
#define ASHLAR_POOL_OPTIONS_INIT                                               \
    {                                                                          \
        sizeof(struct ashlar_pool_options), NULL, NULL, 0, 0, 0, 0, 0, 0       \
    }

/**
 * Make a pool.
 *
 * From the first pool on the type's alignment is fixed for ever.
 *
 * @param type      A registered type.
 * @param options   Borrowed for the call; NULL for all defaults.
 * @param pool_out  Receives the pool, owned by the caller until
 *                  ashlar_pool_destroy(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument, options without their size,
 *                                 an unknown flag, a name too long,
 *                                 initial_slots above max_slots, max_slots or
 *                                 cache_slots above its maximum;
 *         ASHLAR_ERR_CONFLICT     the type's stride is not the one counted on;
 *         ASHLAR_ERR_UNSUPPORTED  the source cannot hold pools;
 *         ASHLAR_ERR_NO_MEMORY    no host memory for the records or for the
 *                                 initial slots.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_pool_create(const struct ashlar_type *type,
                   const struct ashlar_pool_options *options,
                   struct ashlar_pool **pool_out);

/** ashlar_pool_destroy(): destroy even when slots are live. */
#define ASHLAR_POOL_FORCE (1u << 0)

/**
 * Destroy a pool and give its memory back.
 *
 * Threads' caches of this pool are taken back, whichever threads they belong
 * to; a caller-held cache stays the caller's to close, and gives nothing more.
 * The handle is refused afterwards (ASHLAR_ERR_STALE), as long as its record
 * has not been taken for another pool, which happens as late as possible.
 *
 * @param pool   The pool.
 * @param flags  0, or ASHLAR_POOL_FORCE: live slots become invalid.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  pool is NULL, or an unknown flag;
 *         ASHLAR_ERR_STALE    the pool was destroyed before;
 *         ASHLAR_ERR_BUSY     slots are live and flags is 0; the sentence has
 *                             their count, and nothing was destroyed.
 *
 * @par Threads  Any thread, while no other is inside a call on this pool.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_destroy(struct ashlar_pool *pool,
                                                  uint32_t flags);

/**
 * Make sure that the next n gets succeed, without a call into the source.
 *
 * Afterwards n slots more than are live now can be got, by any attached
 * threads together. What caches may keep from each other is counted in: the
 * pool grows to live + n + the sizes of all caches, and a thread that attaches
 * later does its growing when it attaches. Only near max_slots is there less:
 * then caches get smaller, down to none. Book-keeping is touched, so that a
 * get meets no page fault of ours.
 *
 * The promise holds until ashlar_pool_trim(). A caller-held cache may keep up
 * to its size from the others beyond it.
 *
 * @param pool  The pool. The calling thread is attached.
 * @param n     Slots.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    pool is NULL, or n above
 *                               ASHLAR_POOL_SLOTS_MAX;
 *         ASHLAR_ERR_STALE      the pool was destroyed;
 *         ASHLAR_ERR_LIMIT      max_slots does not allow it; the sentence says
 *                               how many it would allow;
 *         ASHLAR_ERR_NO_MEMORY  the source has no memory left.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_reserve(struct ashlar_pool *pool,
                                                  size_t n);

/**
 * Make sure that the next `count` runs of n slots can be got, without a call
 * into the source.
 *
 * The pool then keeps that many runs of this length, live or free, and cuts
 * none of them up for another length. The promise holds until
 * ashlar_pool_trim().
 *
 * @param pool   The pool.
 * @param n      Slots of one run, 1 or more.
 * @param count  Runs.
 *
 * @return As ashlar_pool_reserve(), and ASHLAR_ERR_INVALID when n is 0;
 *         ASHLAR_ERR_FRAGMENTED  max_slots is reached and what is free has not
 *                                so many neighbours.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_reserve_runs(struct ashlar_pool *pool,
                                                       size_t n, size_t count);

/**
 * Get one slot.
 *
 * @param pool  The pool.
 *
 * @return The slot, its bytes unspecified, owned by the caller until it is
 *         put; NULL on failure, and then ashlar_last_error() gives one of
 *         ASHLAR_ERR_INVALID    pool is NULL,
 *         ASHLAR_ERR_STALE      the pool was destroyed,
 *         ASHLAR_ERR_LIMIT      max_slots are there, and none is free here,
 *         ASHLAR_ERR_NO_MEMORY  the source has no memory left.
 *
 * @par Threads  Any thread at any time; the slot may be put by any other.
 * @par Never    pass the result to free(3).
 * @since 0.1
 */
ASHLAR_API void *
ashlar_pool_get(struct ashlar_pool *pool) ASHLAR_MUST_USE ASHLAR_NO_PLT;

/**
 * Put one slot back.
 *
 * @param pool  The pool it came from.
 * @param slot  A live slot; the caller's no more after success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument;
 *         ASHLAR_ERR_STALE        the pool was destroyed;
 *         ASHLAR_ERR_WRONG_OWNER  not an address of this pool, or of a run;
 *         ASHLAR_ERR_MISALIGNED   inside a slot, not at its start;
 *         ASHLAR_ERR_NOT_LIVE     it was put already, or never handed out.
 *         With ASHLAR_POOL_UNCHECKED, a slot that is not live or is one of a
 *         run may pass unnoticed, and then the pool hands it out twice.
 *
 * @par Threads  Any thread at any time, also another than the one that got it.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_put(struct ashlar_pool *pool,
                                              void *slot) ASHLAR_NO_PLT;

/**
 * Get n slots, all or none.
 *
 * Their order is unspecified, though neighbours tend to come together; putting
 * them back in the order given is the fastest.
 *
 * @param pool       The pool.
 * @param slots_out  Room for n pointers; on failure its contents are
 *                   unspecified and no slot is the caller's.
 * @param n          Slots; 0 succeeds.
 *
 * @return ASHLAR_OK; else as ashlar_pool_get(), and ASHLAR_ERR_INVALID when
 *         slots_out is NULL and n is not 0.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_get_bulk(struct ashlar_pool *pool,
                                                   void **slots_out,
                                                   size_t n) ASHLAR_NO_PLT;

/**
 * Put n slots back, all or none.
 *
 * @param pool         The pool they came from.
 * @param slots        n live slots, in any order.
 * @param n            Slots; 0 succeeds.
 * @param culprit_out  Where a slot is refused: receives its index. May be
 *                     NULL. Written only when an element is at fault.
 *
 * @return As ashlar_pool_put(), and ASHLAR_ERR_INVALID when slots is NULL and
 *         n is not 0, or when an element is NULL. A slot that stands twice in
 *         the batch is ASHLAR_ERR_NOT_LIVE at its second place.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_pool_put_bulk(struct ashlar_pool *pool, void *const *slots, size_t n,
                     size_t *culprit_out) ASHLAR_NO_PLT;

/**
 * Put n slots back when the work that still reads them is done: for slots that
 * an asynchronous copy or a kernel reads. (A launch that takes a descriptor by
 * value has read it when it returns: ashlar_pool_put() does.)
 *
 * From the call on they are not the caller's, though the work may read them
 * until then. They come back when a call needs slots, or
 * ashlar_pool_trim() or another put_after comes by, after the fences have
 * passed.
 *
 * @param pool         The pool they came from.
 * @param slots        n live slots, in any order.
 * @param n            Slots; 0 succeeds.
 * @param fences       What must be done before. A fence that names no source is
 *                     of the pool's; on a heap pool each names one.
 * @param m            Fences, 1 or more.
 * @param culprit_out  Receives the index of a slot at fault; may be NULL.
 *
 * @return As ashlar_pool_put_bulk();
 *         ASHLAR_ERR_INVALID      no fences, or a bad one;
 *         ASHLAR_ERR_UNSUPPORTED  the source has no fences of that kind;
 *         ASHLAR_ERR_CAPTURE      a stream is being captured, and cannot be a
 *                                 fence of kind ASHLAR_FENCE_STREAM; what a
 *                                 graph reads waits for ASHLAR_FENCE_CAPTURE;
 *         ASHLAR_ERR_CONTEXT_FAILED  a stream's context has failed, and takes
 *                                 no fence;
 *         ASHLAR_ERR_NO_MEMORY    no host memory for the record.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_pool_put_after(struct ashlar_pool *pool, void *const *slots, size_t n,
                      const struct ashlar_fence *fences, size_t m,
                      size_t *culprit_out);

/**
 * The range that a pool stands on, to be asked, allowed and exported.
 *
 * @param pool  The pool.
 *
 * @return The range, the pool's own: it cannot be shrunk or destroyed; NULL for
 *         a pool on blocks of a heap (ASHLAR_ERR_UNSUPPORTED), or when pool is
 *         NULL or was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API struct ashlar_range *ashlar_pool_range(struct ashlar_pool *pool);

/**
 * Get as many slots as there are, up to n; the pool grows if it may.
 *
 * @param pool       The pool.
 * @param slots_out  Room for n pointers; the first so many as the result says
 *                   are written.
 * @param n          Slots.
 *
 * @return How many slots were got. Fewer than n leaves the reason as the last
 *         error, as for ashlar_pool_get_bulk().
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API size_t ashlar_pool_get_up_to(struct ashlar_pool *pool,
                                        void **slots_out,
                                        size_t n) ASHLAR_NO_PLT;

/**
 * Get n slots side by side.
 *
 * Where max_slots leaves no room, single slots make way if all neighbours are
 * free; what the calling thread's own cache keeps counts as free.
 *
 * @param pool  The pool.
 * @param n     Slots, 1 or more.
 *
 * @return The first slot; slot i starts i strides behind it. Owned by the
 *         caller until ashlar_pool_put_run(); NULL on failure, and then
 *         ashlar_last_error() gives one of
 *         ASHLAR_ERR_INVALID     pool is NULL, n is 0 or above max_slots,
 *         ASHLAR_ERR_STALE       the pool was destroyed,
 *         ASHLAR_ERR_LIMIT       fewer than n slots are left below max_slots;
 *                                what other caches keep is not left,
 *         ASHLAR_ERR_FRAGMENTED  n are left, but not side by side; the
 *                                sentence says how long the longest run is,
 *         ASHLAR_ERR_NO_MEMORY   the source has no memory left.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API void *ashlar_pool_get_run(struct ashlar_pool *pool,
                                     size_t n) ASHLAR_MUST_USE ASHLAR_NO_PLT;

/**
 * Put a run back, whole.
 *
 * The thread keeps its last few runs of a length at hand, so that its next get of
 * that length takes no lock. To all others they are free.
 *
 * @param pool  The pool it came from.
 * @param run   What ashlar_pool_get_run() gave.
 * @param n     Its length in slots.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument, or n is not the run's
 *                                 length; the sentence has both;
 *         ASHLAR_ERR_STALE        the pool was destroyed;
 *         ASHLAR_ERR_WRONG_OWNER  not an address of this pool, or a slot that
 *                                 was not got as a run;
 *         ASHLAR_ERR_MISALIGNED   inside a run, not at its start;
 *         ASHLAR_ERR_NOT_LIVE     it was put already, or never handed out.
 *         Runs are checked with ASHLAR_POOL_UNCHECKED too: it costs nothing.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_put_run(struct ashlar_pool *pool,
                                                  void *run,
                                                  size_t n) ASHLAR_NO_PLT;

/**
 * Whether an address lies in a slot of this pool, live or not.
 *
 * @param pool     The pool.
 * @param address  Any value; never read through.
 *
 * @return 1 when it does; 0 when not, or when pool is NULL or was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API int ashlar_pool_owns(struct ashlar_pool *pool, const void *address);

/**
 * The index of the slot that an address lies in: 0 to capacity - 1, the same
 * as long as the pool lives.
 *
 * @param pool       The pool.
 * @param address    An address in a slot, also behind its start.
 * @param index_out  Receives the index; written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument;
 *         ASHLAR_ERR_STALE        the pool was destroyed;
 *         ASHLAR_ERR_WRONG_OWNER  not an address of this pool.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_index(struct ashlar_pool *pool,
                                                const void *address,
                                                size_t *index_out);

/**
 * The slot of an index: what ashlar_pool_index() counts.
 *
 * @param pool   The pool.
 * @param index  0 to capacity - 1.
 *
 * @return The slot's address, whether it is live or not; NULL on failure, and
 *         then ashlar_last_error() gives one of
 *         ASHLAR_ERR_INVALID  pool is NULL, or index is not below the capacity,
 *         ASHLAR_ERR_STALE    the pool was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API void *ashlar_pool_at(struct ashlar_pool *pool, size_t index);

/**
 * Sees one live slot or one live run.
 *
 * @param first  The slot, or the run's first.
 * @param n      1 for a slot; a run's length.
 * @param user   What was given to ashlar_pool_for_each_live().
 *
 * @return 0 to go on; anything else ends the walk.
 */
typedef int ashlar_pool_live_fn(void *first, size_t n, void *user);

/**
 * Call a function for each live slot and each live run.
 *
 * No lock is held while the function runs, and it may call the library. What
 * is got or put meanwhile may or may not be seen.
 *
 * @param pool  The pool.
 * @param fn    The function.
 * @param user  Handed to fn as it is.
 *
 * @return ASHLAR_OK, also when fn ended the walk;
 *         ASHLAR_ERR_INVALID      a NULL argument;
 *         ASHLAR_ERR_STALE        the pool was destroyed;
 *         ASHLAR_ERR_UNSUPPORTED  the pool is unchecked: it does not know.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_pool_for_each_live(struct ashlar_pool *pool, ashlar_pool_live_fn *fn,
                          void *user);

/**
 * Give the memory of free slots back.
 *
 * On a heap, that is whole pages of free slots, and capacity stays: such a slot
 * reads as zero when it is next touched. On a range, it is the far end: what
 * lies behind the last slot that is not free, in whole slabs and chunks, and
 * capacity shrinks by that; growth comes back to the same addresses and
 * indexes. The calling thread's cache is emptied; those of other threads are
 * not. Ends what ashlar_pool_reserve() and ashlar_pool_reserve_runs() promised.
 *
 * @param pool       The pool.
 * @param bytes_out  Receives the bytes given back, of pages that may or may
 *                   not have been touched before. May be NULL.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID    pool is NULL;
 *         ASHLAR_ERR_STALE      the pool was destroyed;
 *         ASHLAR_ERR_NO_MEMORY  no host memory to note what a range is to give
 *                               back; promises have ended all the same.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_trim(struct ashlar_pool *pool,
                                               size_t *bytes_out);

/**
 * Give the calling thread's cache of this pool, and the runs that it keeps, back
 * at once, rather than when the thread ends.
 *
 * @param pool  The pool.
 *
 * @return ASHLAR_OK, also when the thread had none;
 *         ASHLAR_ERR_INVALID  pool is NULL;
 *         ASHLAR_ERR_STALE    the pool was destroyed.
 *
 * @par Threads  Any thread; it concerns the calling one.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_pool_detach(struct ashlar_pool *pool);

/**
 * The type of a pool's slots.
 *
 * @param pool  The pool.
 *
 * @return The type; NULL when pool is NULL or was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const struct ashlar_type *ashlar_pool_type(struct ashlar_pool *pool);

/**
 * The name of a pool.
 *
 * @param pool  The pool.
 *
 * @return A string that lives as long as the pool; NULL when pool is NULL or
 *         was destroyed.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API const char *ashlar_pool_name(struct ashlar_pool *pool);

/**
 * Find a pool by name.
 *
 * @param name  As given when the pool was made.
 *
 * @return The oldest pool of that name; NULL when there is none
 *         (ASHLAR_ERR_NOT_FOUND) or name is NULL (ASHLAR_ERR_INVALID).
 *
 * @par Threads  Any thread at any time; the caller sees to it that nobody
 *               destroys the pool meanwhile.
 * @since 0.1
 */
ASHLAR_API struct ashlar_pool *ashlar_pool_find(const char *name);

/**
 * Walk through all pools of the process, oldest first.
 *
 * @param pool  The previous pool, or NULL for the first. A pool destroyed
 *              since ends the walk.
 *
 * @return The next pool, or NULL after the last.
 *
 * @par Threads  Any thread at any time; the caller sees to it that nobody
 *               destroys the pools it looks at meanwhile.
 * @since 0.1
 */
ASHLAR_API struct ashlar_pool *ashlar_pool_next(struct ashlar_pool *pool);

ASHLAR_END_DECLS

#endif
