/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/*
 * A plug-in by the name of a source that is built in: that one comes first, and
 * this one is hidden.
 */
#include "config.h"

#include "source/source.h"

extern struct ashlar_plugin ashlar_plugin_v1;

struct ashlar_plugin ashlar_plugin_v1;

__attribute__((constructor)) static void fill(void)
{
    ashlar_plugin_v1 = vm_plugin;
}
