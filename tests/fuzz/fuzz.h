/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * A fuzz target: one function that is given bytes and must bear them.
 *
 *     clang -fsanitize=fuzzer    libFuzzer has the main, and makes up bytes
 *     replay.c                   has one that reads files, for any compiler
 */
#ifndef ASHLAR_TESTS_FUZZ_FUZZ_H
#define ASHLAR_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Called for each input, any number of times in one process. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What must be true, whatever the bytes are. */
#define HOLDS(_condition)                                                      \
    do {                                                                       \
        if (!(_condition)) {                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_condition);   \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
