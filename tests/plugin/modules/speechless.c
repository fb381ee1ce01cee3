/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* open() fails, and does not say why. */
#include "minimal.h"

static enum ashlar_status fail_open(const struct ashlar_host *host,
                                    const struct ashlar_plugin_option *options,
                                    size_t option_count,
                                    struct ashlar_plugin_info *info,
                                    void **state_out)
{
    (void)host, (void)options, (void)option_count, (void)info, (void)state_out;
    return ASHLAR_ERR_DRIVER;
}

const struct ashlar_plugin ashlar_plugin_v1 = {
    .abi = ASHLAR_PLUGIN_ABI,
    .struct_size = sizeof(struct ashlar_plugin),
    .name = "speechless",
    .version = "1",
    .open = fail_open,
    .close = minimal_close,
};
