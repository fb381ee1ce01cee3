/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* It says that it can copy, and has no function for it. */
#include "minimal.h"

static enum ashlar_status boast(const struct ashlar_host *host,
                                const struct ashlar_plugin_option *options,
                                size_t option_count,
                                struct ashlar_plugin_info *info,
                                void **state_out)
{
    (void)host, (void)options, (void)option_count;
    info->can = ASHLAR_CAN_COPY;
    *state_out = NULL;
    return ASHLAR_OK;
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "boaster",
    .version = "1",
    .open = boast,
    .close = minimal_close,
};
