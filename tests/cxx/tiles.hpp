/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A tensor, and many tiles of it, for the tests of specs and of maps.
 */
#ifndef ASHLAR_TESTS_CXX_TILES_HPP
#define ASHLAR_TESTS_CXX_TILES_HPP

#include <ashlar.hpp>

#include <cstdint>

static constexpr std::uint64_t tensor = 0x7f0000000000;

/* As CUDA names its own. */
struct __half {
    unsigned short bits;
};

/* A tile of a tensor of 1,024 by 2,048, the ith of many. */
inline auto tile(std::uint64_t i = 0)
{
    return ashlar::tiled<__half>(tensor + i * 4096,
                                 ashlar::row_major(1024, 2048))
        .box(ashlar::row_major(128, 64))
        .swizzle(ASHLAR_SPEC_SWIZZLE_128B);
}

#endif
