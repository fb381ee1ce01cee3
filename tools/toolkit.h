/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * CUDA toolkits on this machine: where their cuda.h is, and what its text
 * says about CUtensorMap. Nothing is compiled or run.
 */
#ifndef ASHLAR_TOOLS_TOOLKIT_H
#define ASHLAR_TOOLS_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>

struct toolkit {
    char *header;       /* its cuda.h */
    unsigned version;   /* CUDA_VERSION, 13000 for 13.0; 0: not found in it */
    bool has_map;       /* it declares CUtensorMap */
    unsigned alignment; /* that it declares for it in C11 and C++11; or 0 */
    /* Which file it is: the same one is found by several names. */
    unsigned long long device;
    unsigned long long inode;
};

/** All zero: none found. */
struct toolkits {
    size_t count;
    struct toolkit *list;
};

/**
 * Look in a folder: DIR/include/cuda.h, DIR/targets/.../include/cuda.h, or
 * DIR/cuda.h.
 *
 * @return Whether there was one, also one already in the list.
 */
bool toolkits_look_in(struct toolkits *toolkits, const char *folder);

/** Look where toolkits usually are, and where the environment says. */
void toolkits_look_around(struct toolkits *toolkits);

void toolkits_clear(struct toolkits *toolkits);

#endif
