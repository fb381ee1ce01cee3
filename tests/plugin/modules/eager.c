/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 */
/* Of many specs it encodes also what lies behind one that it refuses. */
#include "device.h"

static enum ashlar_status encode_all(void *state,
                                     const struct ashlar_spec *specs,
                                     size_t step, void *const *maps, size_t n,
                                     size_t *done_out)
{
    size_t behind;
    enum ashlar_status status =
        encode_many(state, specs, step, maps, n, done_out);

    if (status != ASHLAR_OK && *done_out + 1 < n)
        (void)encode_many(state, &specs[*done_out + 1], step,
                          maps + *done_out + 1, n - *done_out - 1, &behind);
    return status;
}

DEVICE("eager", .encode_many = encode_all);
