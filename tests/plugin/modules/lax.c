/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* It unmaps whatever it is told to. */
#include "broken.h"

static enum ashlar_status unmap_anything(void *state, uint64_t address,
                                         uint64_t bytes)
{
    struct memfd *memfd = state;
    enum ashlar_status status = unmap(state, address, bytes);

    if (status == ASHLAR_OK || bytes == 0)
        return status;
    pthread_mutex_lock(&memfd->lock);
    (void)mmap(pages(address), bytes, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return done(memfd, 1, "unmap");
}

BROKEN("lax", .unmap = unmap_anything);
