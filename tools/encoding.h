/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * The descriptors of a manifest, encoded into the runs that were prepared.
 */
#ifndef ASHLAR_TOOLS_ENCODING_H
#define ASHLAR_TOOLS_ENCODING_H

#include <stdbool.h>
#include <stdint.h>

#include "mistakes.h"
#include "preparation.h"

struct encoding {
    char *driver;  /* which encoded them, such as "NVIDIA H200"; NULL: none */
    char *reason;  /* why none did; NULL when one did */
    char *failure; /* what ended it, by no tensor's fault; NULL: nothing */
    struct mistakes mistakes; /* tensors that this driver refused */
    uint64_t maps;
    uint64_t ns;
};

/**
 * Encode each descriptor of each run that is in hand.
 *
 * @param file      What to call the manifest.
 * @param driver    "auto", the machine's, if there is one; "sim", the simulated
 *                  one; "none"; or a driver's file.
 * @param encoding  Receives what was done; to be given to encoding_end() in any
 *                  case.
 *
 * @return False when the driver refused tensors, or failed, or one that was
 *         asked for is not there.
 */
bool encoding_do(const struct preparation *preparation, const char *file,
                 const char *driver, struct encoding *encoding);

void encoding_end(struct encoding *encoding);

#endif
