/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* One chunk in many it forgets to close. */
#include "broken.h"

static enum ashlar_status forget_chunk(void *state, uint64_t chunk,
                                       uint64_t bytes)
{
    static int forgotten;

    if (__atomic_fetch_add(&forgotten, 1, __ATOMIC_RELAXED) == 7)
        return ASHLAR_OK;
    return chunk_destroy(state, chunk, bytes);
}

BROKEN("leaky", .chunk_destroy = forget_chunk);
