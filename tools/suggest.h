/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/**
 * @file
 * "Did you mean ...?": the known word nearest to one that is not known.
 *
 *     struct suggestion suggestion = {word, NULL, 0};
 *     suggest_consider(&suggestion, "swizzle");  ... for all known words
 *     if (suggestion.best != NULL) ...
 */
#ifndef ASHLAR_TOOLS_SUGGEST_H
#define ASHLAR_TOOLS_SUGGEST_H

#include <stddef.h>

struct suggestion {
    const char *word;
    const char *best; /* NULL while none was near enough */
    size_t distance;  /* of best */
};

/** Take a known word, which is borrowed, into account. */
void suggest_consider(struct suggestion *suggestion, const char *known);

#endif
