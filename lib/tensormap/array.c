/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Specs of an array, encoded in order.
 *
 *     specs   A  B  C  B' C' D  B"        ' and ": another address, and no more
 *             └──────┘       └┘
 *             by the source's encode_many, or one by one
 *                      └───┘    └┘
 *             copied from the last map of that shape, and rebased
 *
 * A launcher's tensors are mostly of a few shapes, that of each operand, and a
 * map is had from another of its shape in less than half of the time that an
 * encoder takes (on an H200; see doc/measurements.md). The bytes are the same,
 * which plugin.h promises of encode_rebase().
 */
#include "config.h"

#include "tensormap/tensormap.h"

#include <string.h>

#include "base/align.h"
#include "base/write_back.h"

/* What address and strides are a multiple of, for any map. */
#define ADDRESS_STEP_MOST 32u

/* Specs that go to the encoder at once, at most. */
#define STRETCH ((size_t)64)

/* What follows size and address in a spec, sixteen bytes at a time. */
typedef uint64_t pair
    __attribute__((vector_size(16), aligned(sizeof(uint64_t)), may_alias));

#define PAIRS 11

_Static_assert(offsetof(struct ashlar_spec, dims) ==
                       offsetof(struct ashlar_spec, address) +
                           sizeof(uint64_t) &&
                   offsetof(struct ashlar_spec, dims) + PAIRS * sizeof(pair) ==
                       sizeof(struct ashlar_spec),
               "a spec is its size, its address, and as many pairs");

static const struct ashlar_spec *spec_at(const struct encode_array *array,
                                         size_t i)
{
    return (const void *)((const char *)array->specs + i * array->step);
}

/* --- patterns --------------------------------------------------------------- */

/* Whether there is nothing about an address that an encoder might refuse. */
static bool is_plain(uint64_t address)
{
    return address % ADDRESS_STEP_MOST == 0 && address - 1 < ADDRESS_BEYOND - 1;
}

/* Mostly another one where shapes differ; of a spec of this version. */
static uint64_t key_of(const struct ashlar_spec *spec)
{
    return spec->dims[0] ^ (spec->dims[1] << 21) ^ (spec->strides[0] << 42);
}

/* Where three pairs differ. */
static inline pair differ(const pair *a, const pair *b)
{
    return (a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]);
}

/*
 * Whether two specs of this version differ in no more than their addresses.
 * Written out, as gcc -O2 unrolls no loop; memcmp() takes longer.
 */
static inline bool are_alike(const struct ashlar_spec *one,
                             const struct ashlar_spec *other)
{
    const pair *a = (const pair *)one->dims;
    const pair *b = (const pair *)other->dims;
    pair all = differ(a, b) | differ(a + 3, b + 3) | differ(a + 6, b + 6) |
               (a[9] ^ b[9]) | (a[10] ^ b[10]);

    return (all[0] | all[1]) == 0;
}

/* What a spec's map is had from; NULL: it is the encoder's. */
static inline const struct encode_pattern *
find_pattern(const struct encode_array *array, const struct ashlar_spec *spec)
{
    const struct encode_pattern *pattern = array->patterns;
    const struct encode_pattern *end = pattern + ENCODE_PATTERNS;
    uint64_t key;

    if (ASHLAR_UNLIKELY(spec->size != sizeof(*spec) ||
                        !is_plain(spec->address)))
        return NULL;
    for (key = key_of(spec); pattern < end; pattern++)
        if (pattern->key == key && pattern->spec != NULL &&
            are_alike(spec, pattern->spec))
            return pattern;
    return NULL;
}

/* The oldest makes place. A map without an address is no pattern. */
static void add_pattern(struct encode_array *array,
                        const struct ashlar_spec *spec, const void *map)
{
    struct encode_pattern *pattern = &array->patterns[array->next_pattern];

    if (spec->size != sizeof(*spec) || spec->address == 0)
        return;
    *pattern = (struct encode_pattern){key_of(spec), spec, map};
    array->next_pattern = (array->next_pattern + 1) % ENCODE_PATTERNS;
}

/* --- encoding --------------------------------------------------------------- */

/* How many are of this version's size: by fours, as gcc -O2 unrolls no loop. */
static size_t count_whole(const struct ashlar_spec *spec, size_t most)
{
    const size_t size = sizeof(*spec);
    size_t count = 0;

    while (count + 4 <= most &&
           ((spec[count].size ^ size) | (spec[count + 1].size ^ size) |
            (spec[count + 2].size ^ size) | (spec[count + 3].size ^ size)) == 0)
        count += 4;
    while (count < most && spec[count].size == size)
        count++;
    return count;
}

/*
 * How many specs, the first among them, come before one of the first few that has
 * the key of a pattern: of one that is there, or will be of one of these.
 */
static size_t count_new_keys(const struct encode_array *array,
                             const struct ashlar_spec *spec, size_t most)
{
    uint64_t keys[ENCODE_PATTERNS], key = key_of(spec);
    unsigned next = array->next_pattern, i;
    size_t count;

    for (i = 0; i < ENCODE_PATTERNS; i++)
        keys[i] = array->patterns[i].key;
    for (count = 1; count < most && count <= ENCODE_PATTERNS; count++) {
        keys[next] = key;
        next = (next + 1) % ENCODE_PATTERNS;
        key = key_of(spec + count);
        for (i = 0; i < ENCODE_PATTERNS; i++)
            if (keys[i] == key)
                return count;
    }
    return most;
}

/*
 * How many specs from one on, which has no pattern, go to the encoder: up to one
 * of another size, or one of the first few that has a pattern. Where these are
 * of different shapes the rest is mostly, too, and is not looked at.
 */
static size_t count_unlike(const struct encode_array *array, size_t from,
                           size_t n)
{
    const struct ashlar_spec *spec = spec_at(array, from);

    if (array->step != sizeof(*spec) || spec->size != sizeof(*spec))
        return 1;
    return count_new_keys(array, spec, count_whole(spec, min_size(n, STRETCH)));
}

/* By a call of the source's, if nothing is to be done for each. */
static enum ashlar_status call_encoder(struct encode_array *array, size_t from,
                                       void *const *maps, size_t count,
                                       size_t *done_out)
{
    struct ashlar_source *source = array->source;
    enum ashlar_status status = ASHLAR_OK;
    size_t i;

    if (count > 1 && !array->write_back) {
        status = source->ops.encode_many(source->state, spec_at(array, from),
                                         array->step, maps, count, done_out);
        return ASHLAR_LIKELY(status == ASHLAR_OK)
                   ? status
                   : encode_explain(source, spec_at(array, from + *done_out),
                                    status);
    }
    for (i = 0; i < count; i++) {
        status = encode_element(source, spec_at(array, from + i), array->step,
                                maps[i]);
        if (status != ASHLAR_OK)
            break;
        if (array->write_back)
            write_back(maps[i], ASHLAR_TENSOR_MAP_BYTES);
    }
    *done_out = i;
    return status;
}

/* The last few of those that go to the encoder are patterns for what follows. */
static enum ashlar_status encode_unlike(struct encode_array *array, size_t from,
                                        void *const *maps, size_t n,
                                        size_t *done_out)
{
    size_t count = count_unlike(array, from, n);
    enum ashlar_status status =
        call_encoder(array, from, maps, count, done_out);
    size_t i = count - min_size(count, ENCODE_PATTERNS);

    if (from + count == array->n)
        return status;
    for (; i < *done_out; i++)
        add_pattern(array, spec_at(array, from + i), maps[i]);
    return status;
}

/* The encoder has the last word where an address is refused. */
static enum ashlar_status encode_like(struct encode_array *array,
                                      const struct encode_pattern *pattern,
                                      const struct ashlar_spec *spec, void *map)
{
    struct ashlar_source *source = array->source;
    enum ashlar_status status;

    memcpy(map, pattern->map, ASHLAR_TENSOR_MAP_BYTES);
    status = source->ops.encode_rebase(source->state, map, spec->address);
    if (ASHLAR_UNLIKELY(status == ASHLAR_ERR_INVALID))
        status = encode_into(source, spec, map);
    if (array->write_back)
        write_back(map, ASHLAR_TENSOR_MAP_BYTES);
    return status;
}

void encode_array_begin(struct encode_array *array,
                        struct ashlar_source *source,
                        const struct ashlar_spec *specs, size_t step, size_t n,
                        bool write_back)
{
    *array = (struct encode_array){
        .source = source,
        .specs = specs,
        .step = step,
        .n = n,
        .write_back = write_back,
    };
}

enum ashlar_status encode_array(struct encode_array *array, size_t from,
                                void *const *maps, size_t n, size_t *done_out)
{
    const struct encode_pattern *pattern;
    const struct ashlar_spec *spec;
    enum ashlar_status status = ASHLAR_OK;
    size_t i, done;

    for (i = 0; i < n && status == ASHLAR_OK; i += done) {
        spec = spec_at(array, from + i);
        pattern = find_pattern(array, spec);
        if (pattern != NULL) {
            status = encode_like(array, pattern, spec, maps[i]);
            done = status == ASHLAR_OK;
        } else {
            status = encode_unlike(array, from + i, maps + i, n - i, &done);
        }
    }
    *done_out = i;
    return status;
}
