/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "unit/test_inline.h"

#if __STDC_VERSION__ != 199901L
#error "this file is there to be compiled as C99"
#endif

INLINE_CALLS(inline_c99, "C99")
