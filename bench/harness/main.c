/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
/*
 * A benchmark program: one allocator, which it measures as it is told.
 *
 *     bench-NAME COMMAND       does one, and ends
 *     bench-NAME               reads commands from stdin, one a line
 *
 *     facts                    what it can do, and how it was compiled
 *     check                    are slots aligned and apart?
 *     CELL                     see cell.h: prints ns
 *     cold N [check]           a million fresh slots, N (1, 250) at a time;
 *                              the first and only command of a process
 *
 * An answer is lines of a name and a value, the last line is "end"; "cannot" is
 * the answer to what this allocator, or this machine, is unable to do.
 */
#include "config.h"

#include "measure.h"

#include "system.h"

#include <stdio.h>
#include <stdlib.h>

static struct bench_driver driver;
static int begun;

static void begin(void)
{
    if (begun)
        return;
    begun = 1;
    driver.begin(BENCH_SLOTS);
    driver.thread_begin();
}

static void print_facts(void)
{
    int cpus[2], count = bench_processors(cpus);

    printf("version %s\n", driver.version());
    printf("compiler %s\n", __VERSION__);
#ifdef __OPTIMIZE__
    printf("optimized 1\n");
#else
    printf("optimized 0\n");
#endif
    printf("threads %d\n", (driver.can & BENCH_CAN_THREADS) != 0);
    printf("hands_over %d\n", (driver.can & BENCH_CAN_HAND_OVER) != 0);
    printf("runs %d\n", (driver.can & BENCH_CAN_RUN) != 0);
    printf("cold %d\n", (driver.can & BENCH_CAN_COLD) != 0);
    printf("processors %d\n", count);
    printf("share_core %d\n", count > 1 && bench_share_core(cpus[0], cpus[1]));
}

static int can_measure(const struct bench_cell *cell)
{
    int cpus[2], many = bench_processors(cpus) > 1;

    switch (cell->pattern) {
    case BENCH_ALONE:
        return 1;
    case BENCH_BESIDE:
        return many && (driver.can & BENCH_CAN_THREADS) != 0;
    case BENCH_HANDED:
        return many && (driver.can & BENCH_CAN_HAND_OVER) != 0;
    case BENCH_RUN:
        return (driver.can & BENCH_CAN_RUN) != 0;
    }
    return 0;
}

static void measure(const struct bench_cell *cell)
{
    struct bench_figure figure;

    begin();
    if (cell->pattern == BENCH_BESIDE || cell->pattern == BENCH_HANDED)
        figure = bench_pair(&driver, cell);
    else
        figure = bench_alone(&driver, cell);
    printf("ns %.4f\n", bench_figure_ns(&figure));
    if (figure.count == 0)
        printf("disturbed 1\n");
}

static void do_cold(const char *command)
{
    unsigned n;

    if (sscanf(command, "cold %u", &n) != 1 || (n != 1 && n != 250))
        bench_die("cold takes 1 or 250 at a time");
    if (begun)
        bench_die("cold must be a process's first command");
    begun = 1;
    bench_cold(&driver, n, strstr(command, " check") != NULL);
}

static void do_command(const char *command)
{
    struct bench_cell cell;

    if (strcmp(command, "facts") == 0) {
        print_facts();
    } else if (strcmp(command, "check") == 0) {
        begin();
        bench_check(&driver);
    } else if (strncmp(command, "cold ", 5) == 0) {
        if ((driver.can & BENCH_CAN_COLD) != 0)
            do_cold(command);
        else
            printf("cannot\n");
    } else if (!bench_cell_parse(command, &cell)) {
        bench_die("no such command: %s", command);
    } else if (can_measure(&cell)) {
        measure(&cell);
    } else {
        printf("cannot\n");
    }
    printf("end\n");
    fflush(stdout);
}

/* The arguments are the words of one command. */
static void join(char *line, size_t room, char **words)
{
    size_t used = 0;

    for (; *words != NULL && used < room; words++) {
        int added = snprintf(line + used, room - used, "%s%s",
                             used == 0 ? "" : " ", *words);

        if (added < 0)
            break;
        used += (size_t)added;
    }
}

int main(int argc, char **argv)
{
    char line[256];
    int cpus[2];

    bench_describe(&driver);
    bench_processors(cpus);
    bench_pin(cpus[0]);
    if (argc > 1) {
        join(line, sizeof(line), argv + 1);
        do_command(line);
    } else {
        while (fgets(line, sizeof(line), stdin) != NULL) {
            line[strcspn(line, "\n")] = '\0';
            do_command(line);
        }
    }
    bench_pair_stop();
    return 0;
}
