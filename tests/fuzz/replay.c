/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * Gives a fuzz target the files that are its arguments, and after each the file
 * cut short at some places.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <string.h>

#define BYTES_MOST ((size_t)1 << 20)
#define CUTS       8

/* In memory of just its length, so that a sanitizer sees who reads beyond. */
static void give(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n + (n == 0));

    HOLDS(copy != NULL);
    memcpy(copy, bytes, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void replay(const char *name)
{
    static uint8_t bytes[BYTES_MOST];
    FILE *file = fopen(name, "rb");
    size_t i, n;

    HOLDS(file != NULL);
    n = fread(bytes, 1, sizeof(bytes), file);
    fclose(file);
    for (i = 0; i < CUTS; i++)
        give(bytes, n * i / CUTS);
    give(bytes, n);
}

int main(int argc, char **argv)
{
    int i;

    HOLDS(argc > 1);
    for (i = 1; i < argc; i++) {
        printf("%s\n", argv[i]);
        fflush(stdout);
        replay(argv[i]);
    }
    return 0;
}
