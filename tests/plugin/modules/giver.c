/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* The library that ashlar_shallow.so is linked to, which has the symbol. */
#include "minimal.h"

int giver_number(void);

int giver_number(void)
{
    return 7;
}

const struct ashlar_plugin ashlar_plugin_v1 = {MINIMAL("shallow")};
