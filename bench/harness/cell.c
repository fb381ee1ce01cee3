/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "cell.h"

#include <stdlib.h>
#include <string.h>

static int parse_pattern(const char *word, enum bench_pattern *pattern_out)
{
    static const char *const names[] = {"1t", "2t", "pc", "run"};

    for (int i = 0; i < 4; i++) {
        if (strcmp(word, names[i]) == 0) {
            *pattern_out = (enum bench_pattern)i;
            return 1;
        }
    }
    return 0;
}

static int parse_count(const char *word, const struct bench_cell *cell,
                       unsigned *n_out)
{
    char *end;
    unsigned long n = strtoul(word, &end, 10);

    if (cell->pattern == BENCH_RUN && strcmp(word, "mix") == 0) {
        *n_out = 0;
        return 1;
    }
    if (*end != '\0' || n < 1 || n > BENCH_BATCH_MAX)
        return 0;
    *n_out = (unsigned)n;
    if (cell->pattern == BENCH_RUN)
        return 1;
    for (size_t i = 0; i < BENCH_BATCHES; i++) {
        if (bench_batches[i] == n)
            return 1;
    }
    return 0;
}

int bench_cell_parse(const char *text, struct bench_cell *cell_out)
{
    struct bench_cell cell = {BENCH_ALONE, 0, 0, 0};
    char line[128], *word, *rest;

    if (strlen(text) >= sizeof(line))
        return 0;
    strcpy(line, text);
    word = strtok_r(line, " ", &rest);
    if (word == NULL || !parse_pattern(word, &cell.pattern))
        return 0;
    word = strtok_r(NULL, " ", &rest);
    if (word == NULL || !parse_count(word, &cell, &cell.n))
        return 0;
    while ((word = strtok_r(NULL, " ", &rest)) != NULL) {
        if (strcmp(word, "filled") == 0)
            cell.filled = 1;
        else if (strcmp(word, "shuffled") == 0 && cell.n > 1)
            cell.shuffled = 1;
        else
            return 0;
    }
    *cell_out = cell;
    return 1;
}
