/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "progress.h"

#include <stddef.h>
#include <stdio.h>

#include "clock.h"
#include "human.h"

#define DELAY_NS  UINT64_C(500000000)
#define REDRAW_NS UINT64_C(100000000)
#define BAR_MOST  40

void progress_start(struct progress *progress, enum progress_when when)
{
    progress->when = when;
    progress->look = look_at(stderr);
    progress->what = NULL;
    progress->drawn_ns = 0;
    if (when == PROGRESS_AUTO && !progress->look.terminal)
        progress->when = PROGRESS_NEVER;
}

void progress_phase(struct progress *progress, const char *what, uint64_t total)
{
    progress_end(progress);
    progress->what = what;
    progress->total = total;
    progress->started_ns = clock_ns();
}

static void draw_bar(const struct progress *progress, double part)
{
    size_t room =
        progress->look.columns > 50 ? progress->look.columns - 40 : 10;
    size_t width = room < BAR_MOST ? room : BAR_MOST;
    size_t full = (size_t)(part * (double)width);
    size_t i;

    fputc('[', stderr);
    for (i = 0; i < width; i++)
        fputc(i < full ? '#' : '-', stderr);
    fputc(']', stderr);
}

static void draw_time_left(const struct progress *progress, double ns)
{
    if (ns < 120e9)
        fprintf(stderr, "  %.0f s left", ns / 1e9);
    else
        fprintf(stderr, "  %s left", human_time(ns, &progress->look).s);
}

static void draw(const struct progress *progress, uint64_t done, uint64_t now)
{
    double part = (double)done / (double)progress->total;
    double spent = (double)(now - progress->started_ns);

    fprintf(stderr, "\r%-10s ", progress->what);
    if (progress->total == 0) {
        fprintf(stderr, "%s\033[K", human_count(done).s);
    } else {
        draw_bar(progress, part < 1 ? part : 1);
        fprintf(stderr, " %3.0f %%", part < 1 ? part * 100 : 100);
        if (done != 0 && part < 1)
            draw_time_left(progress, spent * (1 - part) / part);
        fputs("\033[K", stderr);
    }
    fflush(stderr);
}

void progress_step(struct progress *progress, uint64_t done)
{
    uint64_t now;

    if (progress->when == PROGRESS_NEVER || progress->what == NULL)
        return;
    now = clock_ns();
    if (progress->when == PROGRESS_AUTO &&
        now - progress->started_ns < DELAY_NS)
        return;
    if (progress->drawn_ns != 0 && now - progress->drawn_ns < REDRAW_NS)
        return;
    progress->drawn_ns = now;
    draw(progress, done, now);
}

void progress_end(struct progress *progress)
{
    if (progress->drawn_ns != 0)
        fputs("\r\033[K", stderr);
    progress->drawn_ns = 0;
    progress->what = NULL;
}
