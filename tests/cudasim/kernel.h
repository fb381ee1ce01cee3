/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Kernels that the simulation knows by name: what their threads do, it does on the
 * host. Of any other kernel it knows no more than that it is there.
 */
#ifndef CUDASIM_KERNEL_H
#define CUDASIM_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include <cuda.h>

#define KERNEL_PARAMETERS_MOST 4

struct launch;

struct kernel {
    const char *name;
    unsigned parameters;
    uint64_t bytes[KERNEL_PARAMETERS_MOST]; /* of each */
    CUresult (*run)(const struct launch *launch, int device);
};

/* One launch: all that its threads see. Without a kernel: none. */
struct launch {
    const struct kernel *kernel;
    uint64_t threads; /* of all blocks, along x */
    uint64_t arguments[KERNEL_PARAMETERS_MOST];
};

/* A kernel with that name, so many characters; NULL: it is not known. */
const struct kernel *kernel_find(const char *name, size_t length);

/* Do what its threads do. An error is the context's failure. */
CUresult kernel_run(const struct launch *launch, int device);

#endif
