/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "unit/test_mixed.h"

#include "support/cuda12_tensormap.h"

#if __cplusplus != 199711L
#error "this file is there to be compiled as C++98"
#endif

void mixed_cxx98(struct mixed *mixed)
{
    MIXED_REGISTER(mixed, "C++98, CUDA 12");
}
