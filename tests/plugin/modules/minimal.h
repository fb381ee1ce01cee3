/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * What a plug-in needs at least: it opens, and can do nothing. The modules of
 * this folder are this, and one thing more or less.
 */
#ifndef ASHLAR_TESTS_PLUGIN_MINIMAL_H
#define ASHLAR_TESTS_PLUGIN_MINIMAL_H

#include <ashlar/plugin.h>

static inline enum ashlar_status
minimal_open(const struct ashlar_host *host,
             const struct ashlar_plugin_option *options, size_t option_count,
             struct ashlar_plugin_info *info, void **state_out)
{
    (void)info;
    if (option_count != 0)
        return host->fail(ASHLAR_ERR_INVALID, "there is no option \"%s\"",
                          options[0].key);
    *state_out = NULL;
    return ASHLAR_OK;
}

static inline void minimal_close(void *state)
{
    (void)state;
}

#define MINIMAL(_name)                                                         \
    .abi = ASHLAR_PLUGIN_ABI, .struct_size = sizeof(struct ashlar_plugin),     \
    .name = _name, .version = "1", .open = minimal_open,                       \
    .close = minimal_close

#endif
