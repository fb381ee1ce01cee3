/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* Every group, and nothing wrong with it. */
#include "device.h"

DEVICE("device", .version = "2");
