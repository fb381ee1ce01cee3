/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "minimal.h"

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = 16,
    .name = "short_struct",
    .version = "1",
    .open = minimal_open,
    .close = minimal_close,
};
