/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "pool/address.h"

static void narrow_write(void **slots_out, char *first, size_t n, size_t stride)
{
    address_write(slots_out, first, n, stride);
}

static size_t narrow_count(void *const *slots, size_t n, size_t stride)
{
    return address_count(slots, n, stride);
}

struct address_rows address_rows = {narrow_write, narrow_count};

#ifdef __x86_64__

#include <cpuid.h>
#include <immintrin.h>

#define WIDE_BYTES       32
#define WIDE_TARGET      "avx2"
#define WIDE(_name)      avx2_##_name
#define WIDE_IS_ZERO(_v) _mm256_testz_si256((__m256i)(_v), (__m256i)(_v))
#include "pool/address_wide.h"
#undef WIDE_BYTES
#undef WIDE_TARGET
#undef WIDE
#undef WIDE_IS_ZERO

#define WIDE_BYTES       64
#define WIDE_TARGET      "avx512f"
#define WIDE(_name)      avx512_##_name
#define WIDE_IS_ZERO(_v)                                                       \
    (_mm512_test_epi64_mask((__m512i)(_v), (__m512i)(_v)) == 0)
#include "pool/address_wide.h"

/* Bits of cpuid leaf 7, and of what the kernel saves at a task switch. */
#define LEAF_1_ECX_OSXSAVE (1u << 27)
#define LEAF_7_EBX_AVX2    (1u << 5)
#define LEAF_7_EBX_AVX512F (1u << 16)
#define LEAF_7_ECX_VBMI2   (1u << 6)
#define SAVED_AVX          0x06u
#define SAVED_AVX512       0xe6u

static unsigned saved_state(void)
{
    unsigned low;
    unsigned high;

    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

/*
 * By hand, since the compiler's own test brings a constructor along. 64-byte
 * registers only where they do not slow the core down: machines that have VBMI2
 * (Ice Lake, Zen 4 and later).
 */
static unsigned register_bytes(void)
{
    unsigned a, b, c, d;
    unsigned saved;

    if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & LEAF_1_ECX_OSXSAVE) == 0 ||
        __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0)
        return 16;
    saved = saved_state();
    if ((saved & SAVED_AVX512) == SAVED_AVX512 &&
        (b & LEAF_7_EBX_AVX512F) != 0 && (c & LEAF_7_ECX_VBMI2) != 0)
        return 64;
    if ((saved & SAVED_AVX) == SAVED_AVX && (b & LEAF_7_EBX_AVX2) != 0)
        return 32;
    return 16;
}

unsigned address_choose(unsigned most_bytes)
{
    unsigned bytes = register_bytes();

    if (bytes > most_bytes)
        bytes = most_bytes;
    if (bytes == 64)
        address_rows = (struct address_rows){avx512_write, avx512_count};
    else if (bytes == 32)
        address_rows = (struct address_rows){avx2_write, avx2_count};
    else
        address_rows = (struct address_rows){narrow_write, narrow_count};
    return bytes;
}

#else

unsigned address_choose(unsigned most_bytes)
{
    (void)most_bytes;
    return 16;
}

#endif
