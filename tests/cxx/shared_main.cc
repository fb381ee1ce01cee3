/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Two shared objects, loaded apart, which use the allocator of one type: one
 * fills a vector, the other empties it. Argument: their files.
 */
#include "cxx/shared.hpp"

#include <cstdio>
#include <dlfcn.h>

template <typename Function>
static Function *function_of(const char *file, const char *name)
{
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

    return library == nullptr
               ? nullptr
               : reinterpret_cast<Function *>(dlsym(library, name));
}

int main(int, char **argv)
{
    fill_fn *fill = function_of<fill_fn>(argv[1], "fill");
    drop_fn *drop = function_of<drop_fn>(argv[2], "drop");
    struct ashlar_pool *pool = nullptr;
    struct ashlar_pool_stats stats = ASHLAR_POOL_STATS_INIT;
    int pools = 0;
    objects given;

    if (fill == nullptr || drop == nullptr) {
        std::puts(dlerror());
        return 1;
    }
    for (int i = 0; i < 10; i++) {
        fill(given);
        drop(given);
    }
    while ((pool = ashlar_pool_next(pool)) != nullptr) {
        pools++;
        (void)ashlar_pool_query(pool, &stats);
    }
    std::printf("%d pools, %zu live\n", pools, stats.live_slots);
    return pools != 1 || stats.live_slots != 0;
}
