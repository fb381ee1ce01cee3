/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* Built with a later ashlar/plugin.h: it has members that nobody here knows. */
#include "minimal.h"

struct later_plugin {
    struct ashlar_plugin now;
    void (*more)(void);
    void (*still_more)(void);
};

extern const struct later_plugin ashlar_plugin_v1;

static void more(void)
{
}

const struct later_plugin ashlar_plugin_v1 = {
    .now = {.abi = ASHLAR_PLUGIN_ABI,
            .struct_size = sizeof(struct later_plugin),
            .name = "future",
            .version = "9",
            .open = minimal_open,
            .close = minimal_close},
    .more = more,
    .still_more = more,
};
