/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* The symbol of another major version. */
#include "minimal.h"

const struct ashlar_plugin ashlar_plugin_v2 = {MINIMAL("no_symbol")};
