/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * A manifest: which kernels a program launches, and the tensors of each.
 *
 * A file of JSON Lines, one kernel a line; empty lines are skipped:
 *
 *     {"kernel": "gemm", "instances": 32, "tensors": [
 *       {"name": "A", "dtype": "bfloat16", "shape": [4096, 128]}, ...]}
 *
 * Each tensor is a tensor map's fields (tensor.h). Their form is checked first:
 * names, types, and lists as long as the rank. Where that is right, the library
 * says what the encoder would refuse (tensor_spec.h).
 */
#ifndef ASHLAR_TOOLS_MANIFEST_H
#define ASHLAR_TOOLS_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "mistakes.h"
#include "progress.h"
#include "tensor.h"

struct kernel {
    char *name;
    uint64_t instances;  /* how often it stands in the model */
    size_t tensor_count; /* descriptors of one instance; may be 0 */
    struct tensor *tensors;
};

struct manifest {
    size_t kernel_count;
    struct kernel *kernels;
    uint64_t instances;   /* of all kernels */
    uint64_t descriptors; /* of all instances */
};

/**
 * Read a manifest to its end, whatever is wrong with it.
 *
 * @param stream    At its start.
 * @param bytes     Its length for the progress bar; 0 when not known.
 * @param progress  Shown meanwhile.
 * @param mistakes  Receives what is wrong.
 * @param manifest  Receives the kernels; of use only when there were no
 *                  mistakes; to be given to manifest_clear() in any case.
 *
 * @return False when stop_wanted() ended it before the end of the file.
 */
bool manifest_read(FILE *stream, uint64_t bytes, struct progress *progress,
                   struct mistakes *mistakes, struct manifest *manifest);

void manifest_clear(struct manifest *manifest);

#endif
