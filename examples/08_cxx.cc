/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * In C++17: a pool registers its type by itself, slots go back by themselves,
 * a vector is aligned, and what is refused is thrown.
 */
#include <ashlar.hpp>

#include <cstdio>
#include <utility>
#include <vector>

struct alignas(128) descriptor { /* as CUtensorMap */
    unsigned long opaque[16];
};

static unsigned residue(const descriptor &object)
{
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(&object) %
                                 128);
}

int main()
{
    std::vector<descriptor, ashlar::allocator<descriptor>> vector(3);
    ashlar::pool_options options;
    options.max_slots = 1000;

    try {
        ashlar::pool<descriptor> pool(options);
        pool.reserve(100);
        auto one = pool.make();         /* zeroed */
        auto maps = pool.get_batch(99); /* as they are */
        auto six = pool.get_run(6);     /* side by side */
        auto kept = std::move(one);     /* goes back at the end */

        std::printf("residues: %u %u %u %u\n", residue(*kept),
                    residue(maps[98]), residue(six[5]), residue(vector[2]));
        std::printf("live: %zu of 1000\n", pool.stats().live_slots);
        (void)pool.get_run(2000);
    } catch (const ashlar::error &error) {
        std::printf("%s\n%s\n", ashlar_status_name(error.status()),
                    error.what());
    }
    return 0;
}

/*
 * Output:
 * residues: 0 0 0 0
 * live: 106 of 1000
 * ASHLAR_ERR_INVALID
 * a run of 2000 slots was asked of pool "descriptor"; give 1 to 1000
 */
