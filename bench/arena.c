/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Arenas: a block allocated and freed, over and over, by one thread.
 *
 * On the heap beside what jemalloc itself takes with the same flags: windows of
 * the two alternate, since a machine changes its speed from one second to the
 * next, and each figure is the median of its windows. On ranges (vm) the loops
 * are steady: memory is there before the first block that is timed. The windows
 * of all sizes take turns, so that no size has all of its own in a slow stretch.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include <jemalloc/jemalloc.h>

#include <ashlar.h>

#include "arena/arena.h"
#include "harness/system.h"

#define WINDOWS   31
#define WINDOW_NS 1e6

#define RANGE_SIZES     8 /* 512 bytes to 1 GiB, times 8 each */
#define RANGE_SMALLEST  512
#define RANGE_ALIGNMENT 512

struct subject {
    struct ashlar_arena *arena;
    int flags; /* jemalloc's, for the bare loop */
    size_t size;
    size_t alignment;
};

static void must(enum ashlar_status status)
{
    if (status != ASHLAR_OK)
        bench_die("%s", ashlar_last_error_message());
}

/* --- the loops ------------------------------------------------------------ */

typedef void loop_fn(const struct subject *subject, long count);

static void loop_bare(const struct subject *subject, long count)
{
    while (count-- > 0) {
        void *block = JE_(mallocx)(subject->size, subject->flags);

        JE_(sdallocx)(block, subject->size, subject->flags);
    }
}

static void loop_ashlar(const struct subject *subject, long count)
{
    while (count-- > 0) {
        void *block = ashlar_arena_alloc(subject->arena, subject->size,
                                         subject->alignment);

        (void)ashlar_arena_free_sized(subject->arena, block, subject->size,
                                      subject->alignment);
    }
}

static double time_loop(loop_fn *loop, const struct subject *subject,
                        long count)
{
    double start = bench_now_ns();

    loop(subject, count);
    return (bench_now_ns() - start) / (double)count;
}

static long calibrate(loop_fn *loop, const struct subject *subject)
{
    long count = 16;

    while (time_loop(loop, subject, count) * (double)count < WINDOW_NS)
        count *= 2;
    return count;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, WINDOWS, sizeof(*values), compare);
    return values[WINDOWS / 2];
}

/* --- the rows ------------------------------------------------------------- */

static void compare_heap(const char *name, const struct subject *subject)
{
    long count = calibrate(loop_ashlar, subject);
    double bare[WINDOWS];
    double ours[WINDOWS];
    double floor;
    int i;

    for (i = 0; i < WINDOWS; i++) {
        bare[i] = time_loop(loop_bare, subject, count);
        ours[i] = time_loop(loop_ashlar, subject, count);
    }
    floor = median(bare);
    printf("%-10s %11zu %9.1f %9.1f %7.2f\n", name, subject->size, floor,
           median(ours), median(ours) / floor);
}

static void show_heap(uint32_t flags)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct subject subject = {NULL, 0, 0, 0};

    options.flags = flags;
    must(ashlar_arena_create(&options, &subject.arena));
    subject.flags = subject.arena->flags;
    for (subject.size = 128; subject.size <= 4096; subject.size *= 2)
        compare_heap(flags == 0 ? "shared" : "isolated", &subject);
    must(ashlar_arena_destroy(subject.arena, 0));
}

/* An arena on a range, with memory under the block that it will give. */
static struct ashlar_arena *make_steady(struct ashlar_source *source,
                                        size_t size)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct subject subject = {NULL, 0, size, RANGE_ALIGNMENT};

    options.source = source;
    must(ashlar_arena_create(&options, &subject.arena));
    loop_ashlar(&subject, 16);
    return subject.arena;
}

static void show_ranges(void)
{
    struct subject subjects[RANGE_SIZES];
    double ours[RANGE_SIZES][WINDOWS];
    struct ashlar_source *source;
    long counts[RANGE_SIZES];
    size_t size = RANGE_SMALLEST;
    int i;
    int w;

    must(ashlar_source_open("vm", "memory=4G", &source));
    for (i = 0; i < RANGE_SIZES; i++, size *= 8) {
        subjects[i] = (struct subject){make_steady(source, size), 0, size,
                                       RANGE_ALIGNMENT};
        counts[i] = calibrate(loop_ashlar, &subjects[i]);
    }
    for (w = 0; w < WINDOWS; w++)
        for (i = 0; i < RANGE_SIZES; i++)
            ours[i][w] = time_loop(loop_ashlar, &subjects[i], counts[i]);
    for (i = 0; i < RANGE_SIZES; i++) {
        printf("%-10s %11zu %9s %9.1f\n", "range", subjects[i].size, "",
               median(ours[i]));
        must(ashlar_arena_destroy(subjects[i].arena, 0));
    }
    must(ashlar_source_close(source));
}

int main(void)
{
    puts("arena            bytes   bare ns ashlar ns   ratio");
    show_heap(0);
    show_heap(ASHLAR_ARENA_ISOLATED);
    show_ranges();
    return 0;
}
