/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * CUtensorMap as the headers of CUDA 12 declare it: 128 bytes, aligned to 64
 * where the language has a word for it, and to 8 in C99 and C++98.
 */
#ifndef ASHLAR_TESTS_SUPPORT_CUDA12_TENSORMAP_H
#define ASHLAR_TESTS_SUPPORT_CUDA12_TENSORMAP_H

#include <stdint.h>

typedef struct CUtensorMap_st {
#if defined(__cplusplus) && __cplusplus >= 201103L
    alignas(64)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
    _Alignas(64)
#endif
        uint64_t opaque[16];
} CUtensorMap;

#endif
