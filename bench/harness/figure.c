/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "measure.h"

int bench_figure_wants(const struct bench_figure *figure)
{
    return figure->count < BENCH_WINDOWS && figure->tries < BENCH_TRIES;
}

void bench_figure_add(struct bench_figure *figure, double ns, int disturbed)
{
    figure->tries++;
    figure->last = ns;
    if (!disturbed)
        figure->undisturbed[figure->count++] = ns;
}

double bench_figure_ns(const struct bench_figure *figure)
{
    double a = figure->undisturbed[0], b = figure->undisturbed[1];
    double c = figure->undisturbed[2], low, high;

    if (figure->count == 0)
        return figure->last;
    low = a < b ? a : b;
    high = a < b ? b : a;
    if (figure->count == 1)
        return a;
    if (figure->count == 2)
        return low;
    return c < low ? low : c > high ? high : c;
}
