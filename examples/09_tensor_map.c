/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/* A tensor map: what is wrong with its parameters, and how it is encoded. */
#include <ashlar.h>
#include <stdio.h>

static struct ashlar_spec spec_of(uint64_t rows, uint64_t columns)
{
    struct ashlar_spec spec = ASHLAR_SPEC_INIT;

    spec.dtype = ASHLAR_SPEC_FLOAT16;
    spec.swizzle = ASHLAR_SPEC_SWIZZLE_128B;
    spec.rank = 2;
    spec.address = UINT64_C(0x7f0000000000); /* of a buffer on the device */
    spec.dims[0] = columns;
    spec.dims[1] = rows;
    spec.box[0] = 64;
    spec.box[1] = 128;
    spec.element_strides[0] = spec.element_strides[1] = 1;
    ashlar_spec_pack(&spec);
    return spec;
}

static void tell(const struct ashlar_spec *spec)
{
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
    char sentence[256];
    size_t count, i;

    ashlar_spec_check(spec, 90, found, ASHLAR_SPEC_FINDINGS_MAX, &count);
    for (i = 0; i < count; i++) {
        ashlar_spec_explain(&found[i], NULL, sentence, sizeof(sentence));
        printf("%s\n", sentence);
    }
    printf("%s\n", count == 0 ? "nothing is wrong" : "--");
}

/* Into a slot of a pool; where there is no device, there is no encoder. */
static void encode(const struct ashlar_spec *spec)
{
    struct ashlar_source *source;
    struct ashlar_pool *pool;
    void *map;

    if (ashlar_source_open("cuda", NULL, &source) != ASHLAR_OK)
        return;
    if (ashlar_pool_create(ashlar_type_find("CUtensorMap"), NULL, &pool) ==
        ASHLAR_OK) {
        map = ashlar_pool_get(pool);
        if (ashlar_tensormap_encode(source, spec, map) != ASHLAR_OK)
            fprintf(stderr, "%s\n", ashlar_last_error_message());
        /* launches that take *map by value; and then: */
        ashlar_pool_put(pool, map);
        ashlar_pool_destroy(pool, 0);
    }
    ashlar_source_close(source);
}

int main(void)
{
    struct ashlar_spec wrong = spec_of(64, 1025), right = spec_of(1024, 1024);

    wrong.box[0] = 128;
    tell(&wrong);
    tell(&right);
    encode(&right);
    return 0;
}

/*
 * Output:
 * strides[0] is 2050 bytes; it must be a multiple of 16: pad it to 2064 bytes
 * box[0] is 128; its bytes must be at most 128, as swizzle is swizzle_128B: make it at most 64
 * box[1] is 128; the rest is out of bounds, as the tensor has elements there: 64
 * --
 * nothing is wrong
 */
