/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A source that counts, checks and refuses: what comes back must be what was
 * given, with the size and alignment it was asked for.
 */
#ifndef ASHLAR_TESTS_SUPPORT_STUB_SOURCE_H
#define ASHLAR_TESTS_SUPPORT_STUB_SOURCE_H

#include <stddef.h>

#include "source/source.h"

#define STUB_BLOCKS 4096

struct stub_block {
    void *block;
    size_t bytes;
    size_t alignment;
};

struct stub {
    struct stub_block blocks[STUB_BLOCKS]; /* those that are out */
    size_t count;
    size_t bytes;       /* of those that are out */
    size_t bytes_limit; /* refuse a block beyond so many; 0: no limit */
    size_t extra;       /* usable() gives so much more than asked */
    unsigned allocs;    /* calls, refused ones included */
    unsigned frees;
    unsigned purges;
    unsigned huges;
    size_t last_alignment;
    const char *wrong; /* the first thing a caller did wrong; NULL: nothing */
};

/* The one stub of the process, empty again. */
extern struct stub stub;
extern struct ashlar_source stub_source;

void stub_reset(void);

#endif
