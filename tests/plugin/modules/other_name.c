/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
#include "minimal.h"

const struct ashlar_plugin ashlar_plugin_v1 = {MINIMAL("somebody_else")};
