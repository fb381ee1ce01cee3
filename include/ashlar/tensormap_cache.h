/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A cache of encoded tensor maps: a spec leads to a slot that holds its map.
 *
 *     spec, context ──> ashlar_tensormap_cache_get() ──> slot, held
 *                          encodes at a miss               │
 *                          ashlar_tensormap_cache_put() <──┘
 *
 * The key is the spec's values, as far as its encoder reads them, and a number
 * of the caller's; never the bytes of a map, and never a pointer to a spec. So
 * equal specs find one map, wherever they lie and whatever else is in them.
 *
 * Invariants:
 *   - a map that somebody holds stays as it is, where it is;
 *   - there are never more maps than slots: where there is none left, one goes
 *     that nobody holds and that was not asked for lately (CLOCK);
 *   - a spec that several threads ask for at once is encoded once.
 */
#ifndef ASHLAR_TENSORMAP_CACHE_H
#define ASHLAR_TENSORMAP_CACHE_H

#include <ashlar/export.h>
#include <ashlar/source.h>
#include <ashlar/spec.h>
#include <ashlar/status.h>

ASHLAR_BEGIN_DECLS

/** A cache of tensor maps. Opaque. */
struct ashlar_tensormap_cache;

/** The most slots a cache may have. */
#define ASHLAR_TENSORMAP_CACHE_SLOTS_MAX ((size_t)1 << 20)
/** What ashlar_tensormap_cache_options::slots of 0 means. */
#define ASHLAR_TENSORMAP_CACHE_SLOTS_DEFAULT ((size_t)4096)

/** How a cache is made. Zero means the default everywhere but in size. */
struct ashlar_tensormap_cache_options {
    /** sizeof(struct ashlar_tensormap_cache_options). */
    size_t size;
    /** Slots, all made at once: the most maps it ever has. */
    size_t slots;
    /** Up to 63 bytes, copied: the name of its pool. NULL: "tensor maps". */
    const char *name;
};

/** Initialiser for struct ashlar_tensormap_cache_options: all defaults. */
#define ASHLAR_TENSORMAP_CACHE_OPTIONS_INIT                                    \
    {                                                                          \
        sizeof(struct ashlar_tensormap_cache_options), 0, NULL                 \
    }

/**
 * Make a cache.
 *
 * @param source     A source with ASHLAR_CAN_ENCODE: of one device, and so are
 *                   all maps. Must stay open.
 * @param options    Borrowed for the call; NULL for all defaults.
 * @param cache_out  Receives the cache, owned by the caller until
 *                   ashlar_tensormap_cache_destroy(); written only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument, options without their size,
 *                                 too many slots, a name too long;
 *         ASHLAR_ERR_UNSUPPORTED  the source has no encoder;
 *         ASHLAR_ERR_NO_MEMORY    no host memory for slots or records;
 *         ASHLAR_ERR_FORKED       the source is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status ashlar_tensormap_cache_create(
    struct ashlar_source *source,
    const struct ashlar_tensormap_cache_options *options,
    struct ashlar_tensormap_cache **cache_out);

/**
 * Destroy a cache and its maps.
 *
 * @param cache  The cache; gone after success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID  cache is NULL;
 *         ASHLAR_ERR_BUSY     maps are held; the sentence has the count;
 *         ASHLAR_ERR_FORKED   the cache is the parent's.
 *
 * @par Threads  Any thread, once no other uses the cache.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_destroy(struct ashlar_tensormap_cache *cache);

/**
 * The map of a spec, encoded if it is not there, and held.
 *
 * The map is good to be passed to a launch by value, which reads it before it
 * returns, or to be copied; it is not to be written.
 *
 * @param cache    The cache.
 * @param spec     Borrowed for the call.
 * @param context  A number that goes into the key, such as the id of the
 *                 context that the address belongs to; 0 where there is one.
 * @param map_out  Receives the slot, to be given to
 *                 ashlar_tensormap_cache_put() as often as it was got; written
 *                 only on success.
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_LIMIT  all slots are held, or this map 16,777,215 times;
 *         what ashlar_tensormap_encode() says of the source and the spec, and
 *         nothing of that spec is kept.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_get(struct ashlar_tensormap_cache *cache,
                           const struct ashlar_spec *spec, uint64_t context,
                           const void **map_out);

/**
 * Hold a map no longer. It stays in the cache, for the next who asks.
 *
 * @param cache  The cache.
 * @param map    From ashlar_tensormap_cache_get().
 *
 * @return ASHLAR_OK;
 *         ASHLAR_ERR_INVALID      a NULL argument;
 *         ASHLAR_ERR_WRONG_OWNER  map is not of this cache;
 *         ASHLAR_ERR_MISALIGNED   map lies inside a slot;
 *         ASHLAR_ERR_NOT_LIVE     nobody holds it;
 *         ASHLAR_ERR_FORKED       the cache is the parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_put(struct ashlar_tensormap_cache *cache,
                           const void *map);

/**
 * Forget the maps of tensors that have bytes in a stretch of addresses, of any
 * context: to be called when a buffer is freed, since another may get its
 * address.
 *
 * Maps that are held stay as they are until they are put, and no get finds them
 * any more. Where interleaved tensors end is not known: those that begin before
 * the stretch's end are forgotten.
 *
 * @param cache        The cache.
 * @param address      Where the stretch starts.
 * @param bytes        Its length; 0 forgets nothing.
 * @param dropped_out  Receives how many maps were forgotten; may be NULL.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  cache is NULL, or the stretch ends
 *         beyond the last address; ASHLAR_ERR_FORKED  the cache is the
 *         parent's.
 *
 * @par Threads  Any thread at any time.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_invalidate(struct ashlar_tensormap_cache *cache,
                                  uint64_t address, uint64_t bytes,
                                  size_t *dropped_out);

/** What a cache did and has. */
struct ashlar_tensormap_cache_stats {
    /** sizeof(struct ashlar_tensormap_cache_stats), set by the caller. */
    size_t size;
    uint64_t slots;
    /** Maps that are there, and those of them that somebody holds. */
    uint64_t maps;
    uint64_t held;
    /** Gets that found their map, also those that waited for it. */
    uint64_t hits;
    /** Gets that encoded it, or tried to. */
    uint64_t misses;
    /** Gets that waited for another thread to encode it. */
    uint64_t waits;
    /** Maps that went for others. */
    uint64_t evictions;
    /** Maps that ashlar_tensormap_cache_invalidate() forgot. */
    uint64_t invalidations;
    /** Gets that were refused. */
    uint64_t refusals;
};

/** Initialiser for struct ashlar_tensormap_cache_stats. */
#define ASHLAR_TENSORMAP_CACHE_STATS_INIT                                      \
    {                                                                          \
        sizeof(struct ashlar_tensormap_cache_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0 \
    }

/**
 * Read what a cache did and has.
 *
 * @param cache  The cache.
 * @param stats  Its size member says how much the caller knows of the struct;
 *               no more than that is written.
 *
 * @return ASHLAR_OK; ASHLAR_ERR_INVALID  a NULL argument, or a size that is 0;
 *         ASHLAR_ERR_FORKED  the cache is the parent's.
 *
 * @par Threads  Any thread at any time; what others do meanwhile may be counted
 *               or not.
 * @since 0.1
 */
ASHLAR_API enum ashlar_status
ashlar_tensormap_cache_query(struct ashlar_tensormap_cache *cache,
                             struct ashlar_tensormap_cache_stats *stats);

ASHLAR_END_DECLS

#endif
