/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * Plays a trace of allocations (tests/gpu/arena_traces.py) on an arena, and says
 * how much memory there was under it at most, and what that took.
 *
 *     arena_replay TRACE SOURCE [OPTIONS]
 *
 * Prints "name value" a line. With "-" for a trace, a block is allocated and
 * freed over and over instead, of some sizes, and the best nanoseconds of each
 * are told.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ashlar.h>

#define BLOCKS    1000000
#define ALIGNMENT 512

static void *blocks[BLOCKS];

static void die(const char *what)
{
    fprintf(stderr, "arena_replay: %s: %s\n", what,
            ashlar_last_error_message());
    exit(1);
}

static double now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct ashlar_arena *make_arena(struct ashlar_source *source)
{
    struct ashlar_arena_options options = ASHLAR_ARENA_OPTIONS_INIT;
    struct ashlar_arena *arena = NULL;

    options.source = source;
    if (ashlar_arena_create(&options, &arena) != ASHLAR_OK)
        die("no arena");
    return arena;
}

/* --- a trace -------------------------------------------------------------- */

/* One line; its bytes, 0 for a free. */
static size_t play_line(struct ashlar_arena *arena, const char *line)
{
    unsigned long number;
    size_t size = 0;
    char verb;

    if (sscanf(line, "%c %lu %zu", &verb, &number, &size) < 2 ||
        number >= BLOCKS) {
        fprintf(stderr, "arena_replay: not a line of a trace: %s", line);
        exit(1);
    }
    if (verb == 'a') {
        blocks[number] = ashlar_arena_alloc(arena, size, ALIGNMENT);
        if (blocks[number] == NULL)
            die("a block");
    } else if (ashlar_arena_free(arena, blocks[number]) != ASHLAR_OK) {
        die("a free");
    }
    return size;
}

static void play(const char *path, struct ashlar_source *source)
{
    struct ashlar_arena_stats stats = ASHLAR_ARENA_STATS_INIT;
    struct ashlar_source_calls calls = ASHLAR_SOURCE_CALLS_INIT;
    struct ashlar_arena *arena = make_arena(source);
    FILE *trace = fopen(path, "r");
    uint64_t count = 0;
    char line[128];
    double start;

    if (trace == NULL) {
        perror(path);
        exit(1);
    }
    start = now_ns();
    for (; fgets(line, sizeof(line), trace) != NULL; count++)
        (void)play_line(arena, line);
    start = now_ns() - start;
    (void)fclose(trace);
    if (ashlar_arena_query(arena, &stats) != ASHLAR_OK ||
        ashlar_source_query_calls(source, &calls) != ASHLAR_OK)
        die("figures");
    printf("calls %" PRIu64 "\n", count);
    printf("ns_per_call %.0f\n", start / (double)count);
    printf("peak_committed_bytes %" PRIu64 "\n", stats.peak_committed_bytes);
    printf("commits %" PRIu64 "\n", stats.commits);
    printf("releases %" PRIu64 "\n", stats.releases);
    printf("chunks_created %" PRIu64 "\n", calls.create.count);
    printf("bookkeeping_bytes %" PRIu64 "\n", stats.bookkeeping_bytes);
    if (ashlar_arena_destroy(arena, ASHLAR_ARENA_FORCE) != ASHLAR_OK)
        die("destroy");
}

/* --- a steady loop -------------------------------------------------------- */

static double time_size(struct ashlar_arena *arena, size_t size)
{
    double best = 1e18;
    int round;
    int i;

    for (round = 0; round < 20; round++) {
        double start = now_ns();
        double taken;

        for (i = 0; i < 1000; i++) {
            void *block = ashlar_arena_alloc(arena, size, ALIGNMENT);

            if (block == NULL || ashlar_arena_free(arena, block) != ASHLAR_OK)
                die("a block");
        }
        taken = (now_ns() - start) / 1000;
        best = taken < best ? taken : best;
    }
    return best;
}

static void loop(struct ashlar_source *source)
{
    struct ashlar_arena *arena = make_arena(source);
    size_t size;

    for (size = 512; size <= (size_t)1 << 30; size *= 8)
        printf("ns_%zu %.0f\n", size, time_size(arena, size));
    if (ashlar_arena_destroy(arena, 0) != ASHLAR_OK)
        die("destroy");
}

int main(int argc, char **argv)
{
    struct ashlar_source *source = NULL;

    if (argc < 3) {
        fputs("usage: arena_replay TRACE|- SOURCE [OPTIONS]\n", stderr);
        return 2;
    }
    if (ashlar_source_open(argv[2], argc > 3 ? argv[3] : NULL, &source) !=
        ASHLAR_OK)
        die("no source");
    if (strcmp(argv[1], "-") == 0)
        loop(source);
    else
        play(argv[1], source);
    if (ashlar_source_close(source) != ASHLAR_OK)
        die("close");
    return 0;
}
