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
static ashlar::source *device;
static ashlar::tensormap_cache<CUtensorMap> *encoded;
static ashlar::tensormap_table<CUtensorMap> *mirrored;

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

/* A tensor map is put together, and goes where the compiler cannot see. */
static ashlar_spec spec_by_c(std::uint64_t tensor)
{
    ashlar_spec spec = ASHLAR_SPEC_INIT;

    spec.address = tensor;
    spec.dtype = ASHLAR_SPEC_FLOAT32;
    spec.rank = 2;
    spec.dims[0] = 2048;
    spec.dims[1] = 1024;
    spec.box[0] = 32;
    spec.box[1] = 128;
    spec.element_strides[0] = spec.element_strides[1] = 1;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
    if (ashlar_spec_pack(&spec) != ASHLAR_OK)
        std::abort();
    return spec;
}

LOOP spec_c(struct ashlar_source *source)
{
    alignas(128) CUtensorMap map;

    for (std::uint64_t i = 0; i < ROUNDS; i++) {
        ashlar_spec spec = spec_by_c(i * 4096);

        if (ashlar_tensormap_encode(source, &spec, &map) != ASHLAR_OK)
            std::abort();
    }
}

LOOP spec_cxx(ashlar::source &source)
{
    alignas(128) CUtensorMap map;

    for (std::uint64_t i = 0; i < ROUNDS; i++)
        ashlar::encode(
            source,
            ashlar::tiled<float>(i * 4096, ashlar::row_major(1024, 2048))
                .box(ashlar::row_major(128, 32))
                .swizzle(ASHLAR_SPEC_SWIZZLE_128B),
            map);
}

LOOP encode_c(struct ashlar_source *source, struct ashlar_pool *pool,
              const ashlar_spec &spec)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto *map = static_cast<CUtensorMap *>(or_die(ashlar_pool_get(pool)));

        if (ashlar_tensormap_encode(source, &spec, map) != ASHLAR_OK)
            std::abort();
        use(map);
        (void)ashlar_pool_put(pool, map);
    }
}

LOOP encode_cxx(ashlar::source &source, ashlar::pool<CUtensorMap> &pool,
                const ashlar::spec &spec)
{
    for (int i = 0; i < ROUNDS; i++)
        use(ashlar::encode(source, pool, spec).get());
}

using specs_of_many = ashlar::spec[MANY];

LOOP many_c(struct ashlar_source *source, struct ashlar_pool *pool,
            const specs_of_many &specs)
{
    for (int i = 0; i < ROUNDS; i++) {
        void **slots = new void *[MANY];
        std::size_t culprit = MANY;

        if (ashlar_tensormap_encode_many(source, pool, specs, MANY, slots,
                                         &culprit) != ASHLAR_OK)
            std::abort();
        for (int j = 0; j < MANY; j++)
            use(static_cast<CUtensorMap *>(slots[j]));
        (void)ashlar_pool_put_bulk(pool, slots, MANY, nullptr);
        delete[] slots;
    }
}

LOOP many_cxx(ashlar::source &source, ashlar::pool<CUtensorMap> &pool,
              const specs_of_many &specs)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto batch = ashlar::encode_many(source, pool, specs);

        for (std::size_t j = 0; j < MANY; j++)
            use(&batch[j]);
    }
}

/* What a caller does with a map that is not to be written. */
static void look(const CUtensorMap *map)
{
    (void)*static_cast<const volatile std::uint64_t *>(map->opaque);
}

LOOP held_c(struct ashlar_tensormap_cache *cache, const ashlar_spec &spec)
{
    const void *map;

    for (int i = 0; i < ROUNDS; i++) {
        if (ashlar_tensormap_cache_get(cache, &spec, 0, &map) != ASHLAR_OK)
            std::abort();
        look(static_cast<const CUtensorMap *>(map));
        (void)ashlar_tensormap_cache_put(cache, map);
    }
}

LOOP held_cxx(ashlar::tensormap_cache<CUtensorMap> &cache,
              const ashlar::spec &spec)
{
    for (int i = 0; i < ROUNDS; i++)
        look(cache.get(spec).get());
}

LOOP leased_c(struct ashlar_tensormap_table *table, const void *map)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto *handles = new struct ashlar_tensormap_handle[MANY];

        if (ashlar_tensormap_table_lease(table, MANY, handles) != ASHLAR_OK)
            std::abort();
        for (int j = 0; j < MANY; j++)
            if (ashlar_tensormap_table_fill(table, handles[j], map) !=
                ASHLAR_OK)
                std::abort();
        if (ashlar_tensormap_table_publish(table, handles, MANY, 0) !=
            ASHLAR_OK)
            std::abort();
        (void)ashlar_tensormap_table_retire(table, handles, MANY, ASHLAR_QUIET,
                                            1);
        delete[] handles;
    }
}

LOOP leased_cxx(ashlar::tensormap_table<CUtensorMap> &table,
                const CUtensorMap *map)
{
    for (int i = 0; i < ROUNDS; i++) {
        auto lease = table.lease(MANY);

        for (std::size_t j = 0; j < MANY; j++)
            lease.fill(j, *map);
        lease.publish(0);
    }
}

static void all(const specs_of_many &specs)
{
    slot_c(maps->handle());
    slot_cxx(*maps);
    run_c(maps->handle());
    run_cxx(*maps);
    batch_c(maps->handle());
    batch_cxx(*maps);
    cache_c(kept->handle());
    cache_cxx(*kept);
    spec_c(device->handle());
    spec_cxx(*device);
    encode_c(device->handle(), maps->handle(), specs[0]);
    encode_cxx(*device, *maps, specs[0]);
    many_c(device->handle(), maps->handle(), specs);
    many_cxx(*device, *maps, specs);
    held_c(encoded->handle(), specs[0]);
    held_cxx(*encoded, specs[0]);
    leased_c(mirrored->handle(), encoded->get(specs[0]).get());
    leased_cxx(*mirrored, encoded->get(specs[0]).get());
}

int main()
{
    ashlar::pool_options options;
    options.flags = ASHLAR_POOL_UNCHECKED;
    ashlar::pool<CUtensorMap> pool(options);
    ashlar::cache<CUtensorMap> cache(pool);
    ashlar::source source("device"); /* a plug-in of the tests */
    ashlar::tensormap_cache<CUtensorMap> tensormap_cache(source);
    ashlar::source memory("vm");
    ashlar::tensormap_table<CUtensorMap> table(memory);
    specs_of_many specs;

    maps = &pool;
    kept = &cache;
    device = &source;
    encoded = &tensormap_cache;
    mirrored = &table;
    for (ashlar::spec &spec : specs)
        spec = spec_by_c(4096);
    all(specs); /* so that the counted ones find all bound and grown */
    all(specs);
    return 0;
}
