/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * How often each value was seen: exact below 32, then 32 steps an octave, so
 * that a percentile is right within 3.2 %, in 15 KiB.
 */
#ifndef ASHLAR_TOOLS_HISTOGRAM_H
#define ASHLAR_TOOLS_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEP_BITS 5
#define HISTOGRAM_STEPS     (1u << HISTOGRAM_STEP_BITS)
#define HISTOGRAM_BUCKETS   ((64 - HISTOGRAM_STEP_BITS + 1) * HISTOGRAM_STEPS)

/** All zero: nothing seen. */
struct histogram {
    uint64_t count;
    uint64_t max;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

/** The bucket of a value. */
static inline uint32_t histogram_bucket(uint64_t value)
{
    uint32_t octave;

    if (value < HISTOGRAM_STEPS)
        return (uint32_t)value;
    octave = 63 - (uint32_t)__builtin_clzll(value) - HISTOGRAM_STEP_BITS;
    return octave * HISTOGRAM_STEPS + (uint32_t)(value >> octave);
}

static inline void histogram_add(struct histogram *histogram, uint64_t value)
{
    histogram->buckets[histogram_bucket(value)]++;
    histogram->count++;
    if (value > histogram->max)
        histogram->max = value;
}

void histogram_merge(struct histogram *into, const struct histogram *from);

/**
 * The value that `percent` of all values do not exceed: the upper end of its
 * bucket, and never more than the largest value seen. 0 when there are none.
 */
uint64_t histogram_percentile(const struct histogram *histogram,
                              double percent);

#endif
