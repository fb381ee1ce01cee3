/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* Built before any optional member was thought of, and not in whole members. */
#include "minimal.h"

static size_t never_called(void *state, size_t bytes, size_t alignment)
{
    (void)state, (void)bytes, (void)alignment;
    return 0;
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = offsetof(struct ashlar_plugin, block_usable) + 4,
    .name = "older",
    .version = "0.9",
    .open = minimal_open,
    .close = minimal_close,
    /* Behind the struct's end: not to be seen. */
    .block_usable = never_called,
};
