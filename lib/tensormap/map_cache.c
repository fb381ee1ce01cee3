/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "tensormap/map_cache.h"

#include "base/error.h"
#include "tensormap/tensormap.h"

/* --- chains and guesses --------------------------------------------------- */

static struct cache_entry **bucket_of(struct ashlar_tensormap_cache *cache,
                                      const struct spec_key *key)
{
    return &cache->buckets[key->hash & cache->bucket_mask];
}

static struct cache_entry *find(struct ashlar_tensormap_cache *cache,
                                const struct spec_key *key)
{
    struct cache_entry *entry = *bucket_of(cache, key);

    while (entry != NULL && !key_is(entry->key, key))
        entry = cache_detail_of(cache, entry)->next;
    return entry;
}

static uint32_t *guesses_of(struct ashlar_tensormap_cache *cache, uint64_t hash)
{
    return cache->guesses[hash & cache->bucket_mask].of;
}

/* The bits of a hash that are in a guess. */
static inline uint32_t guess_mark(uint64_t hash)
{
    return (uint32_t)(hash >> 32) & ~CACHE_GUESS_NUMBER;
}

static uint32_t guess_at(const struct ashlar_tensormap_cache *cache,
                         const struct cache_entry *entry)
{
    return guess_mark(entry->hash) | (uint32_t)(entry - cache->entries);
}

/* Put a guess in the place of another; false when that one is not there. */
static bool guess_anew(uint32_t *guesses, uint32_t old, uint32_t guess)
{
    unsigned i;

    for (i = 0; i < CACHE_GUESSES; i++)
        if (guesses[i] == old) {
            __atomic_store_n(&guesses[i], guess, __ATOMIC_RELAXED);
            return true;
        }
    return false;
}

/* Let hits find an entry, whatever has to make room. */
static void leave_guess(struct ashlar_tensormap_cache *cache,
                        const struct cache_entry *entry)
{
    uint32_t *guesses = guesses_of(cache, entry->hash);
    uint32_t guess = guess_at(cache, entry);

    if (!guess_anew(guesses, guess, guess) && !guess_anew(guesses, 0, guess))
        __atomic_store_n(&guesses[guess % CACHE_GUESSES], guess,
                         __ATOMIC_RELAXED);
}

void cache_unlink(struct ashlar_tensormap_cache *cache,
                  struct cache_entry *entry)
{
    struct cache_entry **at = &cache->buckets[entry->hash & cache->bucket_mask];

    while (*at != entry)
        at = &cache_detail_of(cache, *at)->next;
    *at = cache_detail_of(cache, entry)->next;
    (void)guess_anew(guesses_of(cache, entry->hash), guess_at(cache, entry), 0);
}

/* --- hits, without a lock ------------------------------------------------- */

/* The entry to try: some entry in any case. There is no branch to be foreseen. */
static inline struct cache_entry *guess(struct ashlar_tensormap_cache *cache,
                                        uint64_t hash)
{
    const uint32_t *guesses = guesses_of(cache, hash);
    uint32_t best = __atomic_load_n(&guesses[0], __ATOMIC_RELAXED), other;
    uint32_t mark = guess_mark(hash);
    unsigned i;

    for (i = 1; i < CACHE_GUESSES; i++) {
        other = __atomic_load_n(&guesses[i], __ATOMIC_RELAXED);
        best = (other ^ mark) > CACHE_GUESS_NUMBER ? best : other;
    }
    return &cache->entries[best & CACHE_GUESS_NUMBER];
}

/*
 * Hold an entry if it is of a key. One that is torn, as another writes it, is
 * refused by the entry's word.
 */
static inline bool take_if(struct cache_entry *entry,
                           const struct spec_key *key)
{
    uint64_t seen = word_read(&entry->word);

    return key_is(entry->key, key) && word_take(&entry->word, seen);
}

/* The thread's own; NULL: it has none. */
static inline struct cache_place *
place_here(const struct ashlar_tensormap_cache *cache)
{
    const struct thread *self = thread_peek();

    if (ASHLAR_UNLIKELY(self == NULL))
        self = thread_record();
    return ASHLAR_LIKELY(self != NULL && self->number < THREAD_NUMBERS)
               ? &cache->places[self->number]
               : NULL;
}

static inline uint32_t place_read(const uint32_t *member)
{
    return __atomic_load_n(member, __ATOMIC_RELAXED);
}

static inline void expect_behind(const struct ashlar_tensormap_cache *cache,
                                 struct cache_place *place, uint32_t number)
{
    __atomic_store_n(&place->next, number + 1 == cache->slots ? 0 : number + 1,
                     __ATOMIC_RELAXED);
}

/* The entry that is expected, held if it is of the key; else NULL. */
static inline struct cache_entry *
take_expected(const struct ashlar_tensormap_cache *cache,
              struct cache_place *place, const struct spec_key *key)
{
    uint32_t number;

    if (place == NULL || !place_read(&place->sure))
        return NULL;
    number = place_read(&place->next);
    if (!take_if(&cache->entries[number], key))
        return NULL;
    expect_behind(cache, place, number);
    return &cache->entries[number];
}

/* The entry that its hash leads to, in the same way. */
static inline struct cache_entry *
take_guessed(struct ashlar_tensormap_cache *cache, struct cache_place *place,
             const struct spec_key *key)
{
    struct cache_entry *entry = guess(cache, key->hash);
    uint32_t number = (uint32_t)(entry - cache->entries);

    if (!take_if(entry, key))
        return NULL;
    if (place != NULL) {
        __atomic_store_n(&place->sure, place_read(&place->next) == number,
                         __ATOMIC_RELAXED);
        expect_behind(cache, place, number);
    }
    return entry;
}

/* --- get ------------------------------------------------------------------ */

/* One get, while it goes on. */
struct request {
    struct ashlar_tensormap_cache *cache;
    const struct ashlar_spec *spec;
    const struct spec_key *key;
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
    struct cache_detail *detail = cache_detail_of(cache, entry);
    struct cache_entry **bucket = bucket_of(cache, request->key);

    request->spare = NULL;
    key_write(entry->key, request->key);
    __atomic_store_n(&entry->hash, request->key->hash, __ATOMIC_RELAXED);
    detail->end = end_of(request->spec);
    detail->doomed = false;
    detail->next = *bucket;
    *bucket = entry;
    cache_set_state(cache, entry, CACHE_ENCODING);
    leave_guess(cache, entry);
    request->stripe->misses++;
    return entry;
}

/* The first hold is of the get that encoded it. */
static void open_entry(struct ashlar_tensormap_cache *cache,
                       struct cache_entry *entry)
{
    struct cache_detail *detail = cache_detail_of(cache, entry);
    bool doomed = detail->doomed;

    cache_set_state(cache, entry, doomed ? CACHE_DOOMED : CACHE_READY);
    detail->first_time = word_times(word_settle(&entry->word, !doomed));
}

/* What was encoded, or was not, is to be seen by those who wait. */
static void settle(struct request *request, struct cache_entry *entry,
                   bool good)
{
    struct ashlar_tensormap_cache *cache = request->cache;
    struct cache_stripe *stripe = request->stripe;

    lock_take(&stripe->lock);
    if (good) {
        open_entry(cache, entry);
    } else {
        if (!cache_detail_of(cache, entry)->doomed)
            cache_unlink(cache, entry);
        cache_set_state(cache, entry, CACHE_FREE);
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

    do {
        seen = word_read_sound(&entry->word);
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

/* Have a spare, or have none any more. The stripe's lock is held again at the
 * end; what was true before need not be. */
static bool take_spare(struct request *request)
{
    lock_give(&request->stripe->lock);
    request->spare = cache_take(request->cache);
    lock_take(&request->stripe->lock);
    return request->spare != NULL;
}

static void give_spare(struct request *request)
{
    lock_give(&request->stripe->lock);
    cache_give(request->cache, request->spare);
    request->spare = NULL;
    lock_take(&request->stripe->lock);
}

/*
 * The entry of a key, held: found, waited for, or encoded. A spare is taken with
 * no stripe locked, so whoever comes back with one looks again; and nobody waits
 * who has one, as others may be waiting for it.
 */
static enum ashlar_status obtain(struct request *request,
                                 struct cache_entry **entry_out)
{
    struct cache_stripe *stripe = request->stripe;
    struct cache_entry *entry;
    bool waited = false, full = false;

    lock_take(&stripe->lock);
    for (;;) {
        entry = find(request->cache, request->key);
        if (entry != NULL &&
            cache_state_of(request->cache, entry) == CACHE_READY) {
            if (!hit(entry))
                return refuse_holds(request);
            leave_guess(request->cache, entry);
            lock_give(&stripe->lock);
            *entry_out = entry;
            return ASHLAR_OK;
        }
        if (entry != NULL && request->spare != NULL) {
            give_spare(request);
        } else if (entry != NULL) {
            stripe->waits += !waited;
            waited = true;
            (void)pthread_cond_wait(&stripe->encoded, &stripe->lock.mutex);
            full = false;
        } else if (request->spare != NULL) {
            entry = enter(request);
            lock_give(&stripe->lock);
            return encode(request, entry, entry_out);
        } else if (full) {
            return refuse_full(request);
        } else {
            full = !take_spare(request);
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

/* No guess led there: the stripe's lock tells. */
static __attribute__((noinline)) enum ashlar_status
get_by_lock(struct ashlar_tensormap_cache *cache,
            const struct ashlar_spec *spec, const struct spec_key *key,
            const void **map_out)
{
    struct request request = {.cache = cache, .spec = spec, .key = key};
    struct cache_entry *entry = NULL;
    enum ashlar_status status;

    request.stripe = &cache->stripes[key->hash % CACHE_STRIPES];
    status = obtain(&request, &entry);
    if (request.spare != NULL)
        cache_give(cache, request.spare);
    if (status == ASHLAR_OK)
        *map_out = cache_map_of(cache, entry);
    return status;
}

static inline enum ashlar_status get(struct ashlar_tensormap_cache *cache,
                                     const struct ashlar_spec *spec,
                                     uint64_t context, const void **map_out)
{
    struct cache_place *place = place_here(cache);
    struct cache_entry *entry;
    struct spec_key key;

    if (ASHLAR_UNLIKELY(!key_make(spec, context, &key)))
        return refuse_spec(cache, spec);
    entry = take_expected(cache, place, &key);
    if (entry == NULL) {
        key_add_hash(&key);
        entry = take_guessed(cache, place, &key);
    }
    if (ASHLAR_UNLIKELY(entry == NULL))
        return get_by_lock(cache, spec, &key, map_out);
    *map_out = cache_map_of(cache, entry);
    return ASHLAR_OK;
}

static enum ashlar_status refuse_null(const char *call, const char *name)
{
    return error_set(ASHLAR_ERR_INVALID, "%s was given NULL for %s", call,
                     name);
}

/* What is wrong with the arguments, or a spec of another version. */
static __attribute__((noinline)) enum ashlar_status
get_otherwise(struct ashlar_tensormap_cache *cache,
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
    status = spec_read(&own, spec);
    return status == ASHLAR_OK ? get(cache, &own, context, map_out) : status;
}

enum ashlar_status
ashlar_tensormap_cache_get(struct ashlar_tensormap_cache *cache,
                           const struct ashlar_spec *spec, uint64_t context,
                           const void **map_out)
{
    if (ASHLAR_UNLIKELY(!cache_is_usable(cache) || spec == NULL ||
                        map_out == NULL || spec->size != sizeof(*spec)))
        return get_otherwise(cache, spec, context, map_out);
    return get(cache, spec, context, map_out);
}

/* --- put ------------------------------------------------------------------ */

/* From the first map; beyond the last for what lies elsewhere. */
static inline size_t offset_of(const struct ashlar_tensormap_cache *cache,
                               const void *map)
{
    return (size_t)((uintptr_t)map - (uintptr_t)cache->maps);
}

static inline bool is_map(const struct ashlar_tensormap_cache *cache,
                          const void *map)
{
    size_t offset = offset_of(cache, map);

    return offset < cache->slots * ASHLAR_TENSOR_MAP_BYTES &&
           offset % ASHLAR_TENSOR_MAP_BYTES == 0;
}

/*
 * With its last hold, a map that no get finds any more is FREE. Who closed it
 * may have to say that it is DOOMED still, and has the lock until then.
 */
static __attribute__((noinline)) enum ashlar_status
free_doomed(struct ashlar_tensormap_cache *cache, struct cache_entry *entry)
{
    struct cache_stripe *stripe = cache_stripe_of(cache, entry);

    lock_take(&stripe->lock);
    cache_set_state(cache, entry, CACHE_FREE);
    lock_give(&stripe->lock);
    cache_give(cache, entry);
    return ASHLAR_OK;
}

static __attribute__((noinline)) enum ashlar_status
refuse_put(struct ashlar_tensormap_cache *cache, const void *map)
{
    static const char call[] = "ashlar_tensormap_cache_put()";
    enum ashlar_status status = cache_check(cache, call);

    if (status != ASHLAR_OK)
        return status;
    if (map == NULL)
        return refuse_null(call, "map");
    if (offset_of(cache, map) >= cache->slots * ASHLAR_TENSOR_MAP_BYTES)
        return error_set(
            ASHLAR_ERR_WRONG_OWNER,
            "%p is no map of this cache, whose maps lie at %p to %p", map,
            (void *)cache->maps,
            (void *)(cache->maps + cache->slots * ASHLAR_TENSOR_MAP_BYTES));
    if (offset_of(cache, map) % ASHLAR_TENSOR_MAP_BYTES != 0)
        return error_set(ASHLAR_ERR_MISALIGNED,
                         "%p lies %zu bytes inside a map", map,
                         offset_of(cache, map) % ASHLAR_TENSOR_MAP_BYTES);
    return error_set(ASHLAR_ERR_NOT_LIVE,
                     "nobody holds the map at %p: it was put as often as it "
                     "was got",
                     map);
}

enum ashlar_status
ashlar_tensormap_cache_put(struct ashlar_tensormap_cache *cache,
                           const void *map)
{
    struct cache_entry *entry;
    enum word_drop drop;

    if (ASHLAR_UNLIKELY(!cache_is_usable(cache) || !is_map(cache, map)))
        return refuse_put(cache, map);
    entry = &cache->entries[offset_of(cache, map) / ASHLAR_TENSOR_MAP_BYTES];
    drop = word_drop(&entry->word);
    if (ASHLAR_LIKELY(drop == WORD_DROPPED))
        return ASHLAR_OK;
    return drop == WORD_NOT_HELD ? refuse_put(cache, map)
                                 : free_doomed(cache, entry);
}

/* --- invalidate ----------------------------------------------------------- */

/* Whether bytes of its tensor are among these. The stripe's lock is held. */
static bool is_among(const struct ashlar_tensormap_cache *cache,
                     const struct cache_entry *entry, uint64_t address,
                     uint64_t end)
{
    return entry->key[KEY_ADDRESS] < end &&
           cache_detail_of(cache, entry)->end > address;
}

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
    if (cache_state_of(cache, entry) == CACHE_ENCODING) {
        cache_detail_of(cache, entry)->doomed = true;
        return false;
    }
    held = (word_close(&entry->word) & WORD_HOLDS) != 0;
    stripe->hits += cache_hits_of(cache, entry);
    cache_set_state(cache, entry, held ? CACHE_DOOMED : CACHE_FREE);
    return !held;
}

/* Whether an entry was in a chain, and is not any more. */
static bool doom_if_among(struct ashlar_tensormap_cache *cache,
                          struct cache_entry *entry, uint64_t address,
                          uint64_t end)
{
    struct cache_stripe *stripe = cache_stripe_of(cache, entry);
    bool doomed = false, freed = false;
    enum cache_state state;

    lock_take(&stripe->lock);
    state = cache_state_under(cache, entry, stripe);
    if (state == CACHE_READY ||
        (state == CACHE_ENCODING && !cache_detail_of(cache, entry)->doomed))
        doomed = is_among(cache, entry, address, end);
    if (doomed)
        freed = doom(cache, stripe, entry);
    lock_give(&stripe->lock);
    if (freed)
        cache_give(cache, entry);
    return doomed;
}

/* The last slots first, so that the first will be taken first again. */
static size_t invalidate(struct ashlar_tensormap_cache *cache, uint64_t address,
                         uint64_t end)
{
    struct cache_entry *entry;
    size_t i, count = 0;

    for (i = cache->slots; i-- > 0;) {
        entry = &cache->entries[i];
        if (cache_state_of(cache, entry) != CACHE_FREE)
            count += doom_if_among(cache, entry, address, end);
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
