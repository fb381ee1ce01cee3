/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* What it encodes differs from time to time. */
#include "device.h"

static enum ashlar_status
encode_anew(void *state, const struct ashlar_spec *spec, void *map_out)
{
    static unsigned char times;
    enum ashlar_status status = encode(state, spec, map_out);

    if (status == ASHLAR_OK)
        ((unsigned char *)map_out)[127] = times++;
    return status;
}

DEVICE("fickle", .encode = encode_anew);
