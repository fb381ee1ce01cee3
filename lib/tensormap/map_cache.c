/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_cache.h"

#include "base/error.h"
#include "tensormap/tensormap.h"

/* --- chains --------------------------------------------------------------- */

static struct cache_entry **bucket_of(struct ashlar_tensormap_cache *cache,
                                      uint64_t hash)
{
    return &cache->buckets[hash & cache->bucket_mask];
}

static struct cache_entry *find(struct ashlar_tensormap_cache *cache,
                                const struct spec_key *key)
{
    struct cache_entry *entry = *bucket_of(cache, key->hash);

    while (entry != NULL &&
           (entry->key.hash != key->hash || !key_is(&entry->key, key)))
        entry = cache_next(entry);
    return entry;
}

void cache_unlink(struct ashlar_tensormap_cache *cache,
                  struct cache_entry *entry)
{
    struct cache_entry **at = bucket_of(cache, entry->key.hash);

    while (*at != entry)
        at = &(*at)->next;
    cache_link(at, cache_next(entry));
}

/* --- hits, without a lock ------------------------------------------------- */

/* Chains are short; who has strayed into another, as its entries went, stops. */
#define STEPS_MOST 8

/* Keys are written and read as words: what a torn one leads to is refused by the
 * entry's word. */
static void write_key(struct spec_key *to, const struct spec_key *from)
{
    uint32_t i;

    __atomic_store_n(&to->hash, from->hash, __ATOMIC_RELAXED);
    __atomic_store_n(&to->count, from->count, __ATOMIC_RELAXED);
    for (i = 0; i < from->count; i++)
        __atomic_store_n(&to->words[i], from->words[i], __ATOMIC_RELAXED);
}

static bool key_looks_like(const struct spec_key *there,
                           const struct spec_key *key)
{
    uint32_t i = 0;

    if (__atomic_load_n(&there->hash, __ATOMIC_RELAXED) != key->hash ||
        __atomic_load_n(&there->count, __ATOMIC_RELAXED) != key->count)
        return false;
    while (i < key->count &&
           __atomic_load_n(&there->words[i], __ATOMIC_RELAXED) == key->words[i])
        i++;
    return i == key->count;
}

static void note_use(struct cache_entry *entry)
{
    if (!__atomic_load_n(&entry->used, __ATOMIC_RELAXED))
        __atomic_store_n(&entry->used, true, __ATOMIC_RELAXED);
}

/* A map that is there, held; NULL when it takes a closer look. */
static struct cache_entry *take_at_once(struct ashlar_tensormap_cache *cache,
                                        const struct spec_key *key)
{
    struct cache_entry *entry =
        __atomic_load_n(bucket_of(cache, key->hash), __ATOMIC_ACQUIRE);
    uint64_t seen;
    int steps;

    for (steps = 0; entry != NULL && steps < STEPS_MOST; steps++) {
        seen = word_read(&entry->word);
        if (key_looks_like(&entry->key, key)) {
            if (!word_take(&entry->word, seen))
                return NULL;
            note_use(entry);
            return entry;
        }
        entry = cache_next(entry);
    }
    return NULL;
}

/* --- get ------------------------------------------------------------------ */

/* One get, while it goes on. */
struct request {
    struct ashlar_tensormap_cache *cache;
    const struct ashlar_spec *spec;
    struct spec_key key;
    struct cache_stripe *stripe;
    struct cache_entry *spare; /* FREE, this get's; NULL: none yet */
};

/* Behind the last byte; all there is when that cannot be told. */
static uint64_t end_of(const struct ashlar_spec *spec)
{
    uint64_t row, bytes, end;

    if (spec->dtype >= SPEC_DTYPES ||
        spec->interleave != ASHLAR_SPEC_INTERLEAVE_NONE ||
        !spec_row_bytes(spec->dtype, spec->dims[0], &row) ||
        !spec_extent(spec, row, &bytes) ||
        __builtin_add_overflow(spec->address, bytes, &end))
        return UINT64_MAX;
    return end;
}

/* Put the spare in its chain, as being encoded. The stripe's lock is held. */
static struct cache_entry *enter(struct request *request)
{
    struct ashlar_tensormap_cache *cache = request->cache;
    struct cache_entry *entry = request->spare;
    struct cache_entry **bucket = bucket_of(cache, request->key.hash);

    request->spare = NULL;
    write_key(&entry->key, &request->key);
    entry->end = end_of(request->spec);
    entry->doomed = false;
    note_use(entry);
    cache_set_state(entry, CACHE_ENCODING);
    __atomic_store_n(&entry->stripe,
                     (uint32_t)(request->stripe - cache->stripes),
                     __ATOMIC_RELAXED);
    cache_link(&entry->next, *bucket);
    cache_link(bucket, entry);
    request->stripe->misses++;
    return entry;
}

/* The first hold is of the get that encoded it. */
static void open_entry(struct cache_entry *entry)
{
    uint64_t word = word_read(&entry->word) + WORD_TIME + 1;

    entry->first_time = word_times(word);
    cache_set_state(entry, entry->doomed ? CACHE_DOOMED : CACHE_READY);
    word_write(&entry->word, entry->doomed ? word : word | WORD_OPEN);
}

/* What was encoded, or was not, is to be seen by those who wait. */
static void settle(struct request *request, struct cache_entry *entry,
                   bool good)
{
    struct cache_stripe *stripe = request->stripe;

    lock_take(&stripe->lock);
    if (good) {
        open_entry(entry);
    } else {
        if (!entry->doomed)
            cache_unlink(request->cache, entry);
        cache_set_state(entry, CACHE_FREE);
        stripe->refusals++;
    }
    (void)pthread_cond_broadcast(&stripe->encoded);
    lock_give(&stripe->lock);
}

static enum ashlar_status encode(struct request *request,
                                 struct cache_entry *entry,
                                 struct cache_entry **entry_out)
{
    enum ashlar_status status =
        encode_into(request->cache->source, request->spec,
                    cache_map_of(request->cache, entry));

    settle(request, entry, status == ASHLAR_OK);
    if (status != ASHLAR_OK)
        cache_give(request->cache, entry);
    else
        *entry_out = entry;
    return status;
}

/* Under the stripe's lock it stays open, whoever else takes it. */
static bool hit(struct cache_entry *entry)
{
    uint64_t seen;

    note_use(entry);
    do {
        seen = word_read(&entry->word);
        if ((seen & WORD_HOLDS) == WORD_HOLDS)
            return false;
    } while (!word_take(&entry->word, seen));
    return true;
}

/* The stripe's lock is held, and given back. */
static enum ashlar_status refuse_holds(struct request *request)
{
    request->stripe->refusals++;
    lock_give(&request->stripe->lock);
    return error_set(
        ASHLAR_ERR_LIMIT,
        "this map is held %lu times, and cannot be held more often",
        (unsigned long)WORD_HOLDS);
}

/* The stripe's lock is held, and given back. */
static enum ashlar_status refuse_full(struct request *request)
{
    request->stripe->refusals++;
    lock_give(&request->stripe->lock);
    return error_set(ASHLAR_ERR_LIMIT,
                     "all %zu maps of the cache are held; put what is not used "
                     "any more, or give the cache more slots",
                     request->cache->slots);
}

/*
 * The entry of a key, held: found, waited for, or encoded. A spare is taken with
 * no stripe locked, so whoever comes back with one looks again.
 */
static enum ashlar_status obtain(struct request *request,
                                 struct cache_entry **entry_out)
{
    struct cache_stripe *stripe = request->stripe;
    struct cache_entry *entry;
    bool waited = false, full = false;

    lock_take(&stripe->lock);
    for (;;) {
        entry = find(request->cache, &request->key);
        if (entry != NULL && entry->state == CACHE_READY) {
            if (!hit(entry))
                return refuse_holds(request);
            lock_give(&stripe->lock);
            *entry_out = entry;
            return ASHLAR_OK;
        }
        if (entry != NULL) {
            stripe->waits += !waited;
            waited = true;
            (void)pthread_cond_wait(&stripe->encoded, &stripe->lock.mutex);
        } else if (request->spare != NULL) {
            entry = enter(request);
            lock_give(&stripe->lock);
            return encode(request, entry, entry_out);
        } else if (full) {
            return refuse_full(request);
        } else {
            lock_give(&stripe->lock);
            request->spare = cache_take(request->cache);
            full = request->spare == NULL;
            lock_take(&stripe->lock);
        }
    }
}

/* The encoder refuses it, too: by its own word, or by the rules. */
static enum ashlar_status refuse_spec(struct ashlar_tensormap_cache *cache,
                                      const struct ashlar_spec *spec)
{
    _Alignas(128) unsigned char map[ASHLAR_TENSOR_MAP_BYTES];
    enum ashlar_status status = encode_into(cache->source, spec, map);
    struct cache_stripe *stripe = &cache->stripes[0];

    lock_take(&stripe->lock);
    stripe->refusals++;
    lock_give(&stripe->lock);
    if (status != ASHLAR_OK)
        return status;
    return error_set(ASHLAR_ERR_UNSUPPORTED,
                     "the encoder takes this spec, and ashlar's rules do not: "
                     "it cannot be cached");
}

static enum ashlar_status get(struct ashlar_tensormap_cache *cache,
                              const struct ashlar_spec *spec, uint64_t context,
                              const void **map_out)
{
    struct request request; /* its key is too long to be zeroed for nothing */
    struct cache_entry *entry = NULL;
    enum ashlar_status status;

    if (!key_make(spec, context, &request.key))
        return refuse_spec(cache, spec);
    entry = take_at_once(cache, &request.key);
    if (entry != NULL) {
        *map_out = cache_map_of(cache, entry);
        return ASHLAR_OK;
    }
    request.cache = cache;
    request.spec = spec;
    request.spare = NULL;
    request.stripe = &cache->stripes[request.key.hash % CACHE_STRIPES];
    status = obtain(&request, &entry);
    if (request.spare != NULL)
        cache_give(cache, request.spare);
    if (status == ASHLAR_OK)
        *map_out = cache_map_of(cache, entry);
    return status;
}

static enum ashlar_status refuse_null(const char *call, const char *name)
{
    return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for %s", call,
                     name);
}

enum ashlar_status
ashlar_tensormap_cache_get(struct ashlar_tensormap_cache *cache,
                           const struct ashlar_spec *spec, uint64_t context,
                           const void **map_out)
{
    static const char call[] = "ashlar_tensormap_cache_get()";
    struct ashlar_spec own;
    enum ashlar_status status = cache_check(cache, call);

    if (status != ASHLAR_OK)
        return status;
    if (spec == NULL || map_out == NULL)
        return refuse_null(call, spec == NULL ? "spec" : "map_out");
    if (spec->size == sizeof(own))
        return get(cache, spec, context, map_out);
    status = spec_read(&own, spec);
    return status == ASHLAR_OK ? get(cache, &own, context, map_out) : status;
}

/* --- put ------------------------------------------------------------------ */

static enum ashlar_status entry_of(struct ashlar_tensormap_cache *cache,
                                   const void *map,
                                   struct cache_entry **entry_out)
{
    uintptr_t offset = (uintptr_t)map - (uintptr_t)cache->maps;

    if (offset >= cache->slots * ASHLAR_TENSOR_MAP_BYTES)
        return error_set(
            ASHLAR_ERR_WRONG_OWNER,
            "%p is no map of this cache, whose maps lie at %p to "
            "%p",
            map, (void *)cache->maps,
            (void *)(cache->maps + cache->slots * ASHLAR_TENSOR_MAP_BYTES));
    if (offset % ASHLAR_TENSOR_MAP_BYTES != 0)
        return error_set(ASHLAR_ERR_MISALIGNED,
                         "%p lies %zu bytes inside a map", map,
                         (size_t)(offset % ASHLAR_TENSOR_MAP_BYTES));
    *entry_out = &cache->entries[offset / ASHLAR_TENSOR_MAP_BYTES];
    return ASHLAR_OK;
}

/*
 * One hold less of a map that no get finds any more; false when there was none.
 * With the last hold the entry is FREE.
 */
static bool drop_doomed(struct ashlar_tensormap_cache *cache,
                        struct cache_entry *entry)
{
    struct cache_stripe *stripe = cache_stripe_of(cache, entry);
    bool held = false, freed = false;
    uint64_t word;

    lock_take(&stripe->lock);
    if (cache_state_under(cache, entry, stripe) == CACHE_DOOMED) {
        word = word_read(&entry->word);
        held = (word & WORD_HOLDS) != 0;
        freed = (word & WORD_HOLDS) == 1;
        if (held)
            word_write(&entry->word, word - 1);
        if (freed)
            cache_set_state(entry, CACHE_FREE);
    }
    lock_give(&stripe->lock);
    if (freed)
        cache_give(cache, entry);
    return held;
}

static bool drop_hold(struct ashlar_tensormap_cache *cache,
                      struct cache_entry *entry)
{
    enum word_drop drop = word_drop(&entry->word);

    return drop == WORD_DROPPED ||
           (drop == WORD_CLOSED && drop_doomed(cache, entry));
}

enum ashlar_status
ashlar_tensormap_cache_put(struct ashlar_tensormap_cache *cache,
                           const void *map)
{
    static const char call[] = "ashlar_tensormap_cache_put()";
    struct cache_entry *entry = NULL;
    enum ashlar_status status = cache_check(cache, call);

    if (status == ASHLAR_OK && map == NULL)
        status = refuse_null(call, "map");
    if (status == ASHLAR_OK)
        status = entry_of(cache, map, &entry);
    if (status != ASHLAR_OK)
        return status;
    if (!drop_hold(cache, entry))
        return error_set(ASHLAR_ERR_NOT_LIVE,
                         "nobody holds the map at %p: it was put as often as "
                         "it was got",
                         map);
    return ASHLAR_OK;
}

/* --- invalidate ----------------------------------------------------------- */

/*
 * Take an entry out of its chain, for ever. True when nobody holds it: it is
 * FREE then, and the caller's.
 */
static bool doom(struct ashlar_tensormap_cache *cache,
                 struct cache_stripe *stripe, struct cache_entry *entry)
{
    bool held;

    cache_unlink(cache, entry);
    stripe->invalidations++;
    if (entry->state == CACHE_ENCODING) {
        entry->doomed = true;
        return false;
    }
    held = (word_close(&entry->word) & WORD_HOLDS) != 0;
    cache_count_hits(stripe, entry);
    cache_set_state(entry, held ? CACHE_DOOMED : CACHE_FREE);
    return !held;
}

/* Of one chain; what is free then is put in front of a list. */
static size_t doom_chain(struct ashlar_tensormap_cache *cache,
                         struct cache_stripe *stripe, size_t bucket,
                         uint64_t address, uint64_t end,
                         struct cache_entry **freed)
{
    struct cache_entry *entry = cache->buckets[bucket], *next;
    size_t count = 0;

    for (; entry != NULL; entry = next) {
        next = cache_next(entry);
        if (entry->key.words[1] >= end || entry->end <= address)
            continue;
        count++;
        if (doom(cache, stripe, entry)) {
            cache_link(&entry->next, *freed);
            *freed = entry;
        }
    }
    return count;
}

static size_t invalidate(struct ashlar_tensormap_cache *cache, uint64_t address,
                         uint64_t end)
{
    struct cache_entry *freed, *entry;
    size_t bucket, count = 0;

    for (bucket = 0; bucket <= cache->bucket_mask; bucket++) {
        struct cache_stripe *stripe = &cache->stripes[bucket % CACHE_STRIPES];

        freed = NULL;
        lock_take(&stripe->lock);
        count += doom_chain(cache, stripe, bucket, address, end, &freed);
        lock_give(&stripe->lock);
        while ((entry = freed) != NULL) {
            freed = cache_next(entry);
            cache_give(cache, entry);
        }
    }
    return count;
}

enum ashlar_status
ashlar_tensormap_cache_invalidate(struct ashlar_tensormap_cache *cache,
                                  uint64_t address, uint64_t bytes,
                                  size_t *dropped_out)
{
    enum ashlar_status status =
        cache_check(cache, "ashlar_tensormap_cache_invalidate()");
    uint64_t end;
    size_t count = 0;

    if (status != ASHLAR_OK)
        return status;
    if (__builtin_add_overflow(address, bytes, &end))
        return error_set(ASHLAR_ERR_INVALID,
                         "0x%llx and %llu bytes end beyond the last address",
                         (unsigned long long)address,
                         (unsigned long long)bytes);
    if (bytes != 0)
        count = invalidate(cache, address, end);
    if (dropped_out != NULL)
        *dropped_out = count;
    return ASHLAR_OK;
}
