/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A tensor map in C++: its parameters by name, all that is wrong with them in
 * one exception, and where there is a device, encoded into an aligned slot.
 */
#include <ashlar.hpp>

#include <cstdio>

struct alignas(128) CUtensorMap_st { /* as cuda.h declares it */
    unsigned long opaque[16];
};
typedef struct CUtensorMap_st CUtensorMap;

/* Tiles of 64 rows of 32 floats, as shared memory is to have them. */
static ashlar::spec tile_of(std::uint64_t tensor, int rows, int columns)
{
    return ashlar::tiled<float>(tensor, ashlar::row_major(rows, columns))
        .box(ashlar::row_major(64, 32))
        .swizzle(ASHLAR_SPEC_SWIZZLE_128B);
}

static void tell(const ashlar::spec &spec)
{
    try {
        for (const ashlar::finding &warning : ashlar::check(spec))
            std::printf("warning: %s\n", warning.explain().c_str());
    } catch (const ashlar::spec_error &error) {
        std::printf("%s\n", error.what());
    }
}

/* Where there is no device, there is no encoder. */
static void encode(const ashlar::spec &spec)
{
    ashlar::source device(std::nothrow, "cuda");

    if (!device)
        return;
    try {
        ashlar::pool<CUtensorMap> pool;
        ashlar::tensormap_cache<CUtensorMap> cache(device);
        auto map = ashlar::encode(device, pool, spec); /* into a slot */
        auto held = cache.get(spec);                   /* or once for all */
        /* launches that take *map or *held by value */
    } catch (const ashlar::error &error) {
        std::fprintf(stderr, "%s\n", error.what());
    }
}

int main()
{
    const std::uint64_t tensor = 0x7f0000000000; /* of a buffer on the device */

    tell(tile_of(tensor, 4096, 4096));
    tell(tile_of(tensor, 16, 4096));
    tell(tile_of(tensor + 8, 4096, 4097));
    encode(tile_of(tensor, 4096, 4096));
    return 0;
}

/*
 * Output:
 * warning: box[1] is 64; the rest is out of bounds, as the tensor has elements there: 16
 * address is 0x7f0000000008; it must be a multiple of 16: move the tensor to 0x7f0000000010
 * strides[0] is 16388 bytes; it must be a multiple of 16: pad it to 16400 bytes
 */
