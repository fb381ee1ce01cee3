/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors
 *
 * The reader of manifests.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include "manifest.h"

#include <string.h>

/* Without mistakes: counts that add up, and no list that is not there. */
static void check(const struct manifest *manifest)
{
    uint64_t descriptors = 0;
    uint64_t instances = 0;
    size_t i;

    for (i = 0; i < manifest->kernel_count; i++) {
        const struct kernel *kernel = &manifest->kernels[i];

        HOLDS(kernel->name != NULL);
        HOLDS(kernel->tensor_count == 0 || kernel->tensors != NULL);
        instances += kernel->instances;
        descriptors += kernel->instances * kernel->tensor_count;
    }
    HOLDS(instances == manifest->instances);
    HOLDS(descriptors == manifest->descriptors);
}

/* Each mistake that was kept is a sentence on one line. */
static void check_mistakes(const struct mistakes *mistakes)
{
    size_t i;

    for (i = 0; i < mistakes->count && i < MISTAKES_KEPT; i++) {
        HOLDS(mistakes->sentences[i][0] != '\0');
        HOLDS(strchr(mistakes->sentences[i], '\n') == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct manifest manifest;
    struct mistakes mistakes;
    struct progress progress;
    FILE *stream;

    if (n == 0)
        return 0; /* fmemopen() has no empty files */
    stream = fmemopen((void *)(uintptr_t)bytes, n, "r");
    HOLDS(stream != NULL);
    progress_start(&progress, PROGRESS_NEVER);
    mistakes_start(&mistakes, "m.jsonl");
    HOLDS(manifest_read(stream, n, &progress, &mistakes, &manifest));
    fclose(stream);
    if (mistakes.count == 0)
        check(&manifest);
    check_mistakes(&mistakes);
    mistakes_end(&mistakes);
    manifest_clear(&manifest);
    return 0;
}
