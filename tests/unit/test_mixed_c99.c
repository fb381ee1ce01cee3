/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "unit/test_mixed.h"

#include "support/cuda12_tensormap.h"

#if __STDC_VERSION__ != 199901L
#error "this file is there to be compiled as C99"
#endif

void mixed_c99(struct mixed *mixed)
{
    MIXED_REGISTER(mixed, "C99, CUDA 12");
}
