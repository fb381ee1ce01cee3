/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "minimal.h"

void nothing_has_this_function(void);

static void close_source(void *state)
{
    (void)state;
    nothing_has_this_function();
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "undefined",
    .version = "1",
    .open = minimal_open,
    .close = close_source,
};
