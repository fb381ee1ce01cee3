/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The C++ classes in a program without exceptions. It ends with 0 when all is
 * well, and else says what is not.
 */
#include <ashlar.hpp>

#include <cstdint>
#include <cstdio>
#include <utility>

#include "cxx/counted.hpp"
#include "support/cuda12_tensormap.h"

#ifndef ASHLAR_NO_EXCEPTIONS
#error "this file is there to be compiled without exceptions"
#endif

static int broken;

#define REQUIRE(_condition)                                                    \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            std::printf("line %d: %s\n", __LINE__, #_condition);               \
            broken = 1;                                                        \
        }                                                                      \
    } while (0)

static void pools()
{
    ashlar::pool_options options;
    options.max_slots = 2;
    options.cache_slots = ASHLAR_POOL_CACHE_NONE;
    ashlar::pool<counted> pool(std::nothrow, options);

    REQUIRE(pool && pool.reserve(std::nothrow, 2) == ASHLAR_OK);
    {
        auto one = pool.make(std::nothrow, 5);
        auto two = pool.make(std::nothrow);

        REQUIRE(one && one->value == 5 && two && two->value == 7);
        REQUIRE(!pool.make(std::nothrow, 1));
        REQUIRE(ashlar_last_error() == ASHLAR_ERR_LIMIT);
        REQUIRE(pool.for_each_live(std::nothrow,
                                   [](counted *, std::size_t) {}) == ASHLAR_OK);
        REQUIRE(pool.destroy(std::nothrow) == ASHLAR_ERR_BUSY && pool);
    }
    REQUIRE(counted::alive == 0);
    REQUIRE(pool.destroy(std::nothrow) == ASHLAR_OK && !pool);
}

static void runs()
{
    ashlar::pool<counted> pool(std::nothrow);

    REQUIRE(pool.reserve_runs(std::nothrow, 3, 1) == ASHLAR_OK);
    {
        auto run = pool.make_run(std::nothrow, 3, 6);

        REQUIRE(run && run.size() == 3 && run[2].value == 6);
        REQUIRE(counted::alive == 3);
    }
    REQUIRE(counted::alive == 0 && !pool.make_run(std::nothrow, 0));
}

static void maps()
{
    ashlar::pool<CUtensorMap> pool(std::nothrow);
    auto batch = pool.get_batch(std::nothrow, 100);
    auto run = pool.get_run(std::nothrow, 6);
    ashlar::cache<CUtensorMap> cache(std::nothrow, pool);
    CUtensorMap *map = cache.get(std::nothrow);

    REQUIRE(batch && run && cache && map != nullptr);
    REQUIRE(reinterpret_cast<std::uintptr_t>(&batch[99]) % 128 == 0);
    REQUIRE(cache.put(std::nothrow, map) == ASHLAR_OK);
    REQUIRE(cache.put(std::nothrow, map) == ASHLAR_ERR_NOT_LIVE);
    REQUIRE(!pool.get_run(std::nothrow, 0));
}

static void ranges()
{
    ashlar::source none(std::nothrow, "no_such_source");
    ashlar::source source(std::nothrow, "vm");
    ashlar::range_result result;

    REQUIRE(!none && ashlar_last_error() == ASHLAR_ERR_NO_PLUGIN);
    {
        ashlar::range range(std::nothrow, source);

        REQUIRE(range);
        REQUIRE(range.grow_to(std::nothrow, 4096, result) == ASHLAR_OK);
        REQUIRE(range.grow_to(std::nothrow, 0, result) == ASHLAR_ERR_INVALID);
    }
    REQUIRE(source.close(std::nothrow) == ASHLAR_OK && !source);
}

static void arenas()
{
    ashlar::arena arena(std::nothrow);
    void *block = arena.alloc(std::nothrow, 100, 256);

    REQUIRE(arena && block != nullptr);
    REQUIRE(arena.alloc(std::nothrow, 0) == nullptr);
    REQUIRE(arena.destroy(std::nothrow) == ASHLAR_ERR_BUSY);
    REQUIRE(arena.free(std::nothrow, block) == ASHLAR_OK);
    REQUIRE(arena.destroy(std::nothrow) == ASHLAR_OK && !arena);
}

/* On a plug-in of the tests, which encodes. */
static void tensor_maps()
{
    ashlar::source device(std::nothrow, "device");
    ashlar::pool<CUtensorMap> pool(std::nothrow);
    auto tile = ashlar::tiled<float>(std::uint64_t(1) << 40,
                                     ashlar::row_major(64, 1024))
                    .box({32, 64});
    ashlar::spec specs[3] = {tile, tile, tile};
    std::size_t culprit = 9;

    REQUIRE(ashlar::check(std::nothrow, tile, 90).empty());
    {
        auto slot = ashlar::encode(std::nothrow, device, pool, tile);
        auto batch = ashlar::encode_many(std::nothrow, device, pool, specs);
        auto run = ashlar::encode_run(std::nothrow, device, pool, specs);
        ashlar::encoding<CUtensorMap> job(std::nothrow, device, pool, specs);

        REQUIRE(slot && slot->opaque[0] == std::uint64_t(1) << 40);
        REQUIRE(batch.size() == 3 && run.size() == 3);
        REQUIRE(job.work(std::nothrow) == ASHLAR_OK);
        REQUIRE(job.finish(std::nothrow, &culprit).size() == 3);
        REQUIRE(ashlar::rebase(std::nothrow, device, *slot, 32) == ASHLAR_OK);
    }
    specs[1].rank = 9;
    for (const ashlar::finding &finding : ashlar::check(std::nothrow, specs[1]))
        REQUIRE(finding.is_error() && *finding.explain().c_str() != '\0');
    REQUIRE(!ashlar::encode_many(std::nothrow, device, pool, specs, &culprit));
    REQUIRE(culprit == 1 && ashlar_last_error() == ASHLAR_ERR_INVALID);
    REQUIRE(pool.stats().live_slots == 0);
}

static void held_maps()
{
    ashlar::source device(std::nothrow, "device");
    ashlar::tensormap_cache<CUtensorMap> cache(std::nothrow, device);
    ashlar::spec spec = ashlar::tiled<float>(4096, ashlar::dims{64}).box(64);
    std::size_t dropped = 0;

    {
        auto map = cache.get(std::nothrow, spec);

        REQUIRE(map && map->opaque[0] == 4096);
        REQUIRE(cache.destroy(std::nothrow) == ASHLAR_ERR_BUSY && cache);
    }
    REQUIRE(cache.invalidate(std::nothrow, 4096, 1, &dropped) == ASHLAR_OK);
    spec.rank = 9;
    REQUIRE(dropped == 1 && !cache.get(std::nothrow, spec));
    REQUIRE(cache.destroy(std::nothrow) == ASHLAR_OK && !cache);
}

static void tables()
{
    ashlar::source device(std::nothrow, "device");
    ashlar::tensormap_table<CUtensorMap> table(std::nothrow, device);
    ashlar::spec spec = ashlar::tiled<float>(4096, ashlar::dims{64}).box(64);

    REQUIRE(table && table.reserve(std::nothrow, 4) == ASHLAR_OK);
    {
        auto lease = table.lease(std::nothrow, 1);

        REQUIRE(lease && lease.encode(std::nothrow, 0, spec) == ASHLAR_OK);
        REQUIRE(lease.publish(std::nothrow, 0) == ASHLAR_OK);
        REQUIRE(lease.map(std::nothrow, 0)->opaque[0] == 4096);
        REQUIRE(lease.retire(std::nothrow, {}) == ASHLAR_ERR_INVALID && lease);
    }
    REQUIRE(table.destroy(std::nothrow, {}) == ASHLAR_OK && !table);
}

int main()
{
    pools();
    runs();
    maps();
    ranges();
    arenas();
    tensor_maps();
    held_maps();
    tables();
    return broken;
}
