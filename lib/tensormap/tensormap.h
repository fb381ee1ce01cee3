/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Floor 5: tensor maps, and how its files hang together.
 *
 *     names.c      settings and their names
 *     pack.c       strides without gaps, and how far strides lead
 *     check.c      a spec against its encoder's rules (check.h)
 *     explain.c    a finding in a sentence
 *     encode.c     one map                  ┐
 *     array.c      those of an array        ┼─> the source's encoder
 *     map_cache.c  by spec (map_cache.h)    ┘   key.c: a spec as a key
 *     batch.c      many, by threads         ──> array.c
 *     map_table.h  slots of the host, mirrored on a device
 *
 * A spec is copied once, by the size that its caller knows, and only the copy
 * is looked at. Of the copy nothing is trusted: a rank may be any number, so
 * arrays are walked up to spec_rank(), and sums are made in 64 bits with their
 * overflow seen.
 *
 * Invariants:
 *   - names, pack, check and explain allocate nothing, lock nothing, and call no
 *     source;
 *   - a source's encoder sees only whole specs of the library's own version, and
 *     may leave anything where it failed: what is the caller's is as it was then.
 */
#ifndef ASHLAR_TENSORMAP_TENSORMAP_H
#define ASHLAR_TENSORMAP_TENSORMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ashlar/tensormap.h>

#include "source/source.h"

/** Values of each enum in a spec. */
#define SPEC_MODES       3u
#define SPEC_DTYPES      16u
#define SPEC_INTERLEAVES 3u
#define SPEC_SWIZZLES    7u
#define SPEC_PROMOTIONS  4u
#define SPEC_OOB_FILLS   2u
#define SPEC_WIDE_MODES  2u

/** What a floor of the library knows of a dtype. */
struct spec_dtype {
    uint8_t bits;      /* of an element in global memory */
    bool is_float;     /* NaN may fill it */
    uint8_t dim_step;  /* what dims[0] is a multiple of */
    bool packed_in_16; /* sixteen elements fill 16 bytes of shared memory */
    uint8_t swizzles;  /* bit by enum ashlar_spec_swizzle: what it may have */
};

/** No address of a tensor is that high. */
#define ADDRESS_BEYOND (UINT64_C(1) << 57)

/** By enum ashlar_spec_dtype. */
extern const struct spec_dtype spec_dtypes[SPEC_DTYPES];

/** Copy a caller's spec; refuses NULL, and one without its size. */
enum ashlar_status spec_read(struct ashlar_spec *own,
                             const struct ashlar_spec *given);

/** Say which rule is broken, where a source's encoder says that something is. */
enum ashlar_status encode_explain(const struct ashlar_source *source,
                                  const struct ashlar_spec *spec,
                                  enum ashlar_status status);

/** encode_into() of a spec of another version. */
enum ashlar_status encode_otherwise(struct ashlar_source *source,
                                    const struct ashlar_spec *spec, void *map);

/** What is wrong with a spec whose size is not that of the first. */
enum ashlar_status encode_refuse_size(const struct ashlar_spec *spec,
                                      size_t step);

/** Encode into memory that nobody looks at unless it went well. */
static inline enum ashlar_status encode_into(struct ashlar_source *source,
                                             const struct ashlar_spec *spec,
                                             void *map)
{
    enum ashlar_status status;

    if (ASHLAR_UNLIKELY(spec->size != sizeof(*spec)))
        return encode_otherwise(source, spec, map);
    status = source->ops.encode(source->state, spec, map);
    return ASHLAR_LIKELY(status == ASHLAR_OK)
               ? status
               : encode_explain(source, spec, status);
}

/** The same of an array, where spec i lies i steps behind the first. */
static inline enum ashlar_status encode_element(struct ashlar_source *source,
                                                const struct ashlar_spec *spec,
                                                size_t step, void *map)
{
    return ASHLAR_LIKELY(spec->size == step) ? encode_into(source, spec, map)
                                             : encode_refuse_size(spec, step);
}

/** Shapes that an array's last maps were of. */
#define ENCODE_PATTERNS 4

/** A spec that was encoded, and its map. */
struct encode_pattern {
    uint64_t key;                   /* of the spec, to look for it */
    const struct ashlar_spec *spec; /* NULL: none */
    const void *map;
};

/** Specs that lie side by side, while they are encoded, by one thread. */
struct encode_array {
    struct ashlar_source *source;
    const struct ashlar_spec *specs;
    size_t step;     /* bytes from one to the next: the first's size */
    size_t n;        /* behind the last of them no pattern is needed */
    bool write_back; /* each map, as a device is to read it */
    unsigned next_pattern;
    struct encode_pattern patterns[ENCODE_PATTERNS];
};

/** Begin; nothing is encoded yet. */
void encode_array_begin(struct encode_array *array,
                        struct ashlar_source *source,
                        const struct ashlar_spec *specs, size_t step, size_t n,
                        bool write_back);

/**
 * Encode some of an array, in order, until one is refused.
 *
 * @param from      The index of the first.
 * @param maps      Where each is to be, of these; they stay while the array is
 *                  encoded.
 * @param n         How many.
 * @param done_out  Receives how many were encoded; written also on failure.
 */
enum ashlar_status encode_array(struct encode_array *array, size_t from,
                                void *const *maps, size_t n, size_t *done_out);

/** Refuse what can be no encoder. */
enum ashlar_status encode_check(struct ashlar_source *source, const char *call);

/** Entries of the arrays that are looked at, whatever rank says. */
static inline uint32_t spec_rank(const struct ashlar_spec *spec)
{
    return spec->rank < ASHLAR_SPEC_RANK_MAX ? spec->rank
                                             : ASHLAR_SPEC_RANK_MAX;
}

/**
 * The bytes from the first row, of so many bytes, to behind the last.
 *
 * @return False when they do not fit 64 bits.
 */
bool spec_extent(const struct ashlar_spec *spec, uint64_t row,
                 uint64_t *bytes_out);

/** Whether a row of dtype elements has whole bytes, and how many. */
static inline bool spec_row_bytes(uint32_t dtype, uint64_t elements,
                                  uint64_t *bytes_out)
{
    uint64_t bits;

    if (__builtin_mul_overflow(elements, spec_dtypes[dtype].bits, &bits))
        return false;
    *bytes_out = bits / 8;
    return bits % 8 == 0;
}

#endif
