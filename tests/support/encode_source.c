/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "support/encode_source.h"

#include <string.h>

#include "base/error.h"

struct encode_source encoder;

void encode_expected(const struct ashlar_spec *spec,
                     unsigned char bytes[ASHLAR_TENSOR_MAP_BYTES])
{
    struct ashlar_spec rest = *spec;
    uint64_t hash = UINT64_C(14695981039346656037);
    const unsigned char *from = (const unsigned char *)&rest;
    size_t i;

    rest.address = 0;
    for (i = 0; i < sizeof(rest); i++)
        hash = (hash ^ from[i]) * UINT64_C(1099511628211);
    memcpy(bytes, &spec->address, sizeof(spec->address));
    for (i = sizeof(spec->address); i < ASHLAR_TENSOR_MAP_BYTES; i++) {
        hash = (hash ^ i) * UINT64_C(1099511628211);
        bytes[i] = (unsigned char)(hash >> 32);
    }
}

bool encode_is(const void *map, const struct ashlar_spec *spec)
{
    unsigned char bytes[ASHLAR_TENSOR_MAP_BYTES];

    encode_expected(spec, bytes);
    return memcmp(map, bytes, sizeof(bytes)) == 0;
}

struct ashlar_spec encode_spec(uint64_t i)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;

    spec.address = UINT64_C(0x7f0000000000) + i * 4096;
    spec.rank = 2;
    spec.dtype = ASHLAR_SPEC_BFLOAT16;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
    spec.dims[0] = spec.dims[1] = 1024;
    spec.strides[0] = 2048;
    spec.box[0] = spec.box[1] = 64;
    spec.element_strides[0] = spec.element_strides[1] = 1;
    return spec;
}

/* The nth call since it was told to fails. */
static bool fails(void)
{
    uint64_t at = __atomic_load_n(&encoder.fail_at, __ATOMIC_RELAXED);

    return at != 0 &&
           __atomic_sub_fetch(&encoder.fail_at, 1, __ATOMIC_RELAXED) == 0;
}

static enum ashlar_status refuse(enum ashlar_status status)
{
    return error_set(status, "the encoder says no");
}

static enum ashlar_status encode(void *state, const struct ashlar_spec *spec,
                                 void *map_out)
{
    (void)state;
    __atomic_fetch_add(&encoder.encodes, 1, __ATOMIC_RELAXED);
    if (encoder.during != NULL)
        encoder.during();
    memset(map_out, 0xdd, ASHLAR_TENSOR_MAP_BYTES);
    if (fails())
        return refuse(encoder.fail_with);
    if (ashlar_spec_check(spec, 0, NULL, 0, NULL) != ASHLAR_OK)
        return refuse(ASHLAR_ERR_INVALID);
    encode_expected(spec, map_out);
    return ASHLAR_OK;
}

static enum ashlar_status encode_many(void *state,
                                      const struct ashlar_spec *specs,
                                      size_t step, void *const *maps, size_t n,
                                      size_t *done_out)
{
    enum ashlar_status status = ASHLAR_OK;
    const char *spec = (const char *)specs;
    size_t i;

    for (i = 0; i < n; i++) {
        status = encode(state, (const void *)(spec + i * step), maps[i]);
        if (status != ASHLAR_OK)
            break;
    }
    *done_out = i;
    return status;
}

static enum ashlar_status encode_rebase(void *state, void *map,
                                        uint64_t address)
{
    (void)state;
    __atomic_fetch_add(&encoder.rebases, 1, __ATOMIC_RELAXED);
    memcpy(map, &address, sizeof(address));
    if (fails())
        return refuse(encoder.fail_with);
    if (address == 0 || address % 16 != 0 || address >= UINT64_C(1) << 57)
        return refuse(ASHLAR_ERR_INVALID);
    return ASHLAR_OK;
}

struct ashlar_source encode_source = {
    .ops = {.name = "encoder",
            .encode = encode,
            .encode_many = encode_many,
            .encode_rebase = encode_rebase},
    .info = {.can = ASHLAR_CAN_ENCODE},
    .name = "encoder",
};

void encode_source_reset(void)
{
    memset(&encoder, 0, sizeof(encoder));
    encode_source.holders = 0;
}
