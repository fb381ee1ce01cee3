/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* Its close() frees nothing. */
#include "broken.h"

static void close_nothing(void *state)
{
    (void)state;
    (void)close_source;
}

BROKEN("hoarder", .close = close_nothing);
