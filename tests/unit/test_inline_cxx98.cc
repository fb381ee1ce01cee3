/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "unit/test_inline.h"

#if __cplusplus >= 201103L
#error "this file is there to be compiled as C++98"
#endif

INLINE_CALLS(inline_cxx98, "C++98")
