/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "minimal.h"

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI + 1,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "wrong_abi",
    .version = "1",
    .open = minimal_open,
    .close = minimal_close,
};
