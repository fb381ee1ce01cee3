/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "histogram.h"

#include <math.h>

void histogram_merge(struct histogram *into, const struct histogram *from)
{
    uint32_t i;

    for (i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
    into->count += from->count;
    if (from->max > into->max)
        into->max = from->max;
}

/* The largest value that falls into a bucket. */
static uint64_t bucket_last(uint32_t bucket)
{
    uint32_t octave;
    uint64_t first;

    if (bucket < HISTOGRAM_STEPS)
        return bucket;
    octave = bucket / HISTOGRAM_STEPS - 1;
    first = (uint64_t)(bucket - octave * HISTOGRAM_STEPS) << octave;
    return first + (((uint64_t)1 << octave) - 1);
}

uint64_t histogram_percentile(const struct histogram *histogram, double percent)
{
    double rank = ceil((double)histogram->count * percent / 100);
    uint64_t wanted = rank < 1 ? 1 : (uint64_t)rank;
    uint64_t seen = 0;
    uint32_t i;

    for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= wanted) {
            uint64_t last = bucket_last(i);

            return last < histogram->max ? last : histogram->max;
        }
    }
    return histogram->max;
}
