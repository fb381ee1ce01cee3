/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * As much of the text of a module as the simulation reads: what it is written for,
 * and the heads of its kernels.
 *
 *     .version 8.3                     83
 *     .target sm_90                    90
 *     .visible .entry scale(           "scale"
 *         .param .u64 to,              8
 *         .param .align 64 .b8 by[128] 128
 *     )
 */
#ifndef CUDASIM_PTX_H
#define CUDASIM_PTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

struct ptx {
    unsigned version; /* 83 is 8.3 */
    unsigned target;  /* 90 is sm_90 */
    const char *rest; /* of the text */
};

struct ptx_entry {
    const char *name; /* in the text */
    size_t length;
    unsigned parameters;
    uint64_t bytes[KERNEL_PARAMETERS_MOST]; /* of the first of them */
};

/* Begin to read a text. False: it is no PTX, or says no target, which is 0 then. */
bool ptx_begin(struct ptx *ptx, const char *text);

/* The next kernel. False: there is none any more. */
bool ptx_next(struct ptx *ptx, struct ptx_entry *entry);

#endif
