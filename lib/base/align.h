/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * Powers of two and checked sums.
 */
#ifndef ASHLAR_BASE_ALIGN_H
#define ASHLAR_BASE_ALIGN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool is_power_of_two(size_t n)
{
    return n != 0 && (n & (n - 1)) == 0;
}

/** Round up to a multiple of a power of two; the caller excludes overflow. */
static inline size_t align_up(size_t n, size_t alignment)
{
    return (n + (alignment - 1)) & ~(alignment - 1);
}

static inline size_t align_down(size_t n, size_t alignment)
{
    return n & ~(alignment - 1);
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/** False on overflow, and then *result is unspecified. */
static inline bool add_size(size_t a, size_t b, size_t *result)
{
    return !__builtin_add_overflow(a, b, result);
}

static inline bool multiply_size(size_t a, size_t b, size_t *result)
{
    return !__builtin_mul_overflow(a, b, result);
}

#endif
