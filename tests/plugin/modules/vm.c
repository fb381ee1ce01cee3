/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/*
 * The vm source, as a plug-in: so that ashlar check-plugin can try it. It is
 * built in, where nobody but libashlar reaches its operations.
 */
#include "config.h"

#include "source/source.h"

extern struct ashlar_plugin ashlar_plugin_v1;

struct ashlar_plugin ashlar_plugin_v1;

__attribute__((constructor)) static void fill(void)
{
    ashlar_plugin_v1 = vm_plugin;
}
