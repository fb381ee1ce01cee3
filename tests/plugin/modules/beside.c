/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* It scatters to the place behind. */
#include "device.h"

static enum ashlar_status scatter_behind(void *state, uint64_t table,
                                         uint64_t staging, uint64_t indices,
                                         uint32_t count, uint64_t stream)
{
    (void)stream, (void)scatter;
    return scatter_at(state, table, staging, indices, count, 1);
}

DEVICE("beside", .scatter = scatter_behind);
