/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* Whoever maps may read and write at once. */
#include "broken.h"

static enum ashlar_status map_for_all(void *state, uint64_t address,
                                      uint64_t chunk, uint64_t bytes)
{
    enum ashlar_status status = map(state, address, chunk, bytes);

    if (status == ASHLAR_OK)
        (void)mprotect(pages(address), bytes, PROT_READ | PROT_WRITE);
    return status;
}

BROKEN("generous", .map = map_for_all);
