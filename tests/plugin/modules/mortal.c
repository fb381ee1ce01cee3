/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* It does not outlive being asked to release what is mapped. */
#include "broken.h"

#include <stdlib.h>

static enum ashlar_status die(void *state, uint64_t address, uint64_t bytes)
{
    enum ashlar_status status = release(state, address, bytes);

    if (status != ASHLAR_OK)
        abort();
    return status;
}

BROKEN("mortal", .release = die);
