/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* It can reserve, and cannot release. */
#include "minimal.h"

static enum ashlar_status reserve(void *state, uint64_t bytes,
                                  uint64_t alignment, uint64_t hint,
                                  uint64_t *address_out)
{
    (void)state, (void)bytes, (void)alignment, (void)hint;
    *address_out = 0;
    return ASHLAR_OK;
}

const struct ashlar_plugin ashlar_plugin_v1 = {MINIMAL("half_group"),
                                               .reserve = reserve};
