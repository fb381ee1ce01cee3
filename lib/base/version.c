/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include <ashlar/version.h>

uint32_t ashlar_version(void)
{
    return ASHLAR_VERSION;
}

const char *ashlar_version_string(void)
{
    return ASHLAR_VERSION_STRING;
}
