/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "suggest.h"

#include <ctype.h>
#include <string.h>

#define WORD_MOST 48

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Levenshtein's distance, upper and lower case the same. */
static size_t distance(const char *a, const char *b)
{
    size_t row[WORD_MOST + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    size_t i, j;

    if (a_length > WORD_MOST || b_length > WORD_MOST)
        return WORD_MOST;
    for (j = 0; j <= b_length; j++)
        row[j] = j;
    for (i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (j = 1; j <= b_length; j++) {
            size_t above = row[j];
            int differ = tolower((unsigned char)a[i - 1]) !=
                         tolower((unsigned char)b[j - 1]);

            row[j] = least(above + 1, row[j - 1] + 1, diagonal + differ);
            diagonal = above;
        }
    }
    return row[b_length];
}

void suggest_consider(struct suggestion *suggestion, const char *known)
{
    size_t away = distance(suggestion->word, known);
    size_t near = strlen(known) / 3;

    if (away > (near > 0 ? near : 1))
        return;
    if (suggestion->best != NULL && away >= suggestion->distance)
        return;
    suggestion->best = known;
    suggestion->distance = away;
}
