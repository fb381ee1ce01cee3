/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The same loops by the C functions and by the C++ classes, ROUNDS times each,
 * for callgrind to count. Functions NAME_c and NAME_cxx are a pair.
 */
#include <ashlar.hpp>

#include <cstdlib>

#include "support/cuda12_tensormap.h"

#define ROUNDS 1000
#define MANY   16
#define LOOP   extern "C" [[gnu::noinline]] void

static ashlar::pool<CUtensorMap> *maps;
static ashlar::cache<CUtensorMap> *kept;

/* What a caller does with a slot: one store that the compiler must make. */
static void use(CUtensorMap *map)
{
    *static_cast<volatile std::uint64_t *>(map->opaque) = 1;
}

/* What C does where C++ throws. */
static void *or_die(void *made)
{
    if (ASHLAR_UNLIKELY(made == nullptr))
        std::abort();
    return made;
}

LOOP slot_c(struct ashlar_pool *pool)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto *map = static_cast<CUtensorMap *>(or_die(ashlar_pool_get(pool)));

        use(map);
        (void)ashlar_pool_put(pool, map);
    }
}

LOOP slot_cxx(ashlar::pool<CUtensorMap> &pool)
{
    for (int i = 0; i < ROUNDS; i++)
        use(pool.get().get());
}

LOOP run_c(struct ashlar_pool *pool)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto *run =
            static_cast<CUtensorMap *>(or_die(ashlar_pool_get_run(pool, MANY)));

        for (int j = 0; j < MANY; j++)
            use(&run[j]);
        (void)ashlar_pool_put_run(pool, run, MANY);
    }
}

LOOP run_cxx(ashlar::pool<CUtensorMap> &pool)
{
    for (int i = 0; i < ROUNDS; i++)
        for (CUtensorMap &map : pool.get_run(MANY))
            use(&map);
}

LOOP batch_c(struct ashlar_pool *pool)
{
    for (int i = 0; i < ROUNDS; i++) {
        void **slots = new void *[MANY];

        if (ashlar_pool_get_bulk(pool, slots, MANY) != ASHLAR_OK)
            std::abort();
        for (int j = 0; j < MANY; j++)
            use(static_cast<CUtensorMap *>(slots[j]));
        (void)ashlar_pool_put_bulk(pool, slots, MANY, nullptr);
        delete[] slots;
    }
}

LOOP batch_cxx(ashlar::pool<CUtensorMap> &pool)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto batch = pool.get_batch(MANY);

        for (std::size_t j = 0; j < MANY; j++)
            use(&batch[j]);
    }
}

LOOP cache_c(struct ashlar_cache *cache)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto *map = static_cast<CUtensorMap *>(or_die(ashlar_cache_get(cache)));

        use(map);
        if (ashlar_cache_put(cache, map) != ASHLAR_OK)
            std::abort();
    }
}

LOOP cache_cxx(ashlar::cache<CUtensorMap> &cache)
{
    for (int i = 0; i < ROUNDS; i++) {
        CUtensorMap *map = cache.get();

        use(map);
        cache.put(map);
    }
}

static void all()
{
    slot_c(maps->handle());
    slot_cxx(*maps);
    run_c(maps->handle());
    run_cxx(*maps);
    batch_c(maps->handle());
    batch_cxx(*maps);
    cache_c(kept->handle());
    cache_cxx(*kept);
}

int main()
{
    ashlar::pool_options options;
    options.flags = ASHLAR_POOL_UNCHECKED;
    ashlar::pool<CUtensorMap> pool(options);
    ashlar::cache<CUtensorMap> cache(pool);

    maps = &pool;
    kept = &cache;
    all(); /* so that the counted ones find everything bound and grown */
    all();
    return 0;
}
