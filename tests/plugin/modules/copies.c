/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* A chunk that is mapped anew is another copy of what it was. */
#include "broken.h"

static enum ashlar_status map_a_copy(void *state, uint64_t address,
                                     uint64_t chunk, uint64_t bytes)
{
    enum ashlar_status status = map(state, address, chunk, bytes);

    if (status == ASHLAR_OK)
        (void)mmap(pages(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_FIXED,
                   (int)chunk, 0);
    return status;
}

BROKEN("copies", .map = map_a_copy);
