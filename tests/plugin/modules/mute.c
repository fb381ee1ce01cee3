/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* What it refuses it does not explain. */
#include "broken.h"

static enum ashlar_status refuse_silently(void *state, uint64_t address,
                                          uint64_t bytes,
                                          const struct ashlar_access *access,
                                          size_t access_count)
{
    return access_count == 0
               ? ASHLAR_ERR_INVALID
               : allow(state, address, bytes, access, access_count);
}

BROKEN("mute", .allow = refuse_silently);
