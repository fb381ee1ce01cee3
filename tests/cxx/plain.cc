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

int main()
{
    pools();
    runs();
    maps();
    ranges();
    arenas();
    return broken;
}
