/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "unit/test_mixed.h"

#ifdef HAVE_CUDA_H
#include <cuda.h>
#else
#include "support/cuda12_tensormap.h"
#endif

#if __cplusplus < 201703L
#error "this file is there to be compiled as C++17"
#endif

void mixed_cxx17(struct mixed *mixed)
{
#ifdef HAVE_CUDA_H
    MIXED_REGISTER(mixed, "C++17, the installed cuda.h");
#else
    MIXED_REGISTER(mixed, "C++17, CUDA 12");
#endif
}
