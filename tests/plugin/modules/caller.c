/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* It calls libashlar, which plug-ins must not. */
#include "minimal.h"

static void close_source(void *state)
{
    (void)state;
    ashlar_clear_error();
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "caller",
    .version = "1",
    .open = minimal_open,
    .close = close_source,
};
