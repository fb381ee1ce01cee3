/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Specs that nothing is wrong with, one of each kind; a member of one set to
 * another value; and what the check says of it.
 */
#ifndef ASHLAR_TESTS_SUPPORT_SPECS_H
#define ASHLAR_TESTS_SUPPORT_SPECS_H

#include <stddef.h>
#include <stdint.h>

#include <ashlar/tensormap.h>

#define COUNT_OF(_array) (sizeof(_array) / sizeof((_array)[0]))

enum base {
    TILED,      /* rank 2, bfloat16, swizzle_128B */
    TILED5,     /* rank 5, float32 */
    BYTES,      /* rank 2, uint8, no swizzle */
    BETWEEN_16, /* rank 3, interleave_16B */
    BETWEEN_32, /* rank 3, interleave_32B */
    U4_IN_8,    /* rank 2, 16u4_align8b */
    U4_IN_16,   /* rank 2, 16u4_align16b */
    U6_IN_16,   /* rank 2, 16u6_align16b */
    IM2COL3,    /* rank 3 to 5, float16 */
    IM2COL4,
    IM2COL5,
    IM2COL_U4, /* rank 3, 16u4_align16b */
    WIDE,      /* rank 5, float16 */
    WIDE_128,
    BASES
};

/* On a base, a member is good with one value, and with another breaks one
 * rule. */
struct limit {
    enum base base;
    enum ashlar_spec_field field;
    uint32_t index;
    int64_t good;
    int64_t bad;
    enum ashlar_spec_rule rule;
};

#define LIMIT(_base, _field, _index, _good, _bad, _rule)                       \
    {                                                                          \
        _base, ASHLAR_SPEC_FIELD_##_field, _index, _good, _bad,                \
            ASHLAR_RULE_##_rule                                                \
    }

#define T32 (INT64_C(1) << 32)
#define T40 (INT64_C(1) << 40)
#define T57 (INT64_C(1) << 57)
#define AT  INT64_C(0x7f0000001000)

struct verdict {
    enum ashlar_status status;
    size_t count;
    size_t errors;
    struct ashlar_spec_finding found[ASHLAR_SPEC_FINDINGS_MAX];
};

/* One of each kind, right in everything. */
struct ashlar_spec specs_of(enum base base);

/* Set a member, by its number. */
void specs_set(struct ashlar_spec *spec, enum ashlar_spec_field field,
               uint32_t i, int64_t value);

/* Check it; what the call says of itself is right, or the case fails. */
struct verdict specs_check_for(const struct ashlar_spec *spec,
                               uint32_t capability);
struct verdict specs_check(const struct ashlar_spec *spec);

/* In a static buffer. */
const char *specs_sentence(const struct ashlar_spec_finding *finding);

/* A spec of a base, with a member set. */
struct ashlar_spec specs_changed(const struct limit *limit, int64_t value);

#endif
