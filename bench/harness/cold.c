/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The ashlar authors */
#include "config.h"

#include "measure.h"

#include "system.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* In the trim, one slot stays live in every so many pages. */
#define PAGES_PER_KEPT 10u

/* A step of the measurement: what is printed, and per slot. */
static void print_time(const char *name, double start)
{
    printf("%s_ns %.3f\n", name,
           (bench_now_ns() - start) / (double)BENCH_COLD_SLOTS);
}

static struct bench_resident print_resident(const char *name,
                                            struct bench_resident before)
{
    struct bench_resident now = bench_resident();

    printf("%s_bytes %.2f\n", name,
           ((double)now.bytes - (double)before.bytes) /
               (double)BENCH_COLD_SLOTS);
    return now;
}

static void fill_all(void **slots)
{
    for (size_t i = 0; i < BENCH_COLD_SLOTS; i++)
        memset(slots[i], 0x5a, BENCH_SLOT);
}

/* create, get and touch, and their sum */
static void create_and_touch(const struct bench_driver *driver, void **slots,
                             unsigned n)
{
    double start = bench_now_ns(), step = start;

    driver->begin(BENCH_COLD_SLOTS + 2 * BENCH_BATCH_MAX);
    driver->thread_begin();
    print_time("create", step);
    step = bench_now_ns();
    driver->take(slots, BENCH_COLD_SLOTS, n);
    print_time("get", step);
    step = bench_now_ns();
    fill_all(slots);
    print_time("touch", step);
    print_time("total", start);
}

/* Puts the slots to be kept, sorted, behind the others; returns how many are
 * to go, and the pages on which no slot is kept. */
static size_t choose_kept(void **slots, void **kept, size_t *pages_out)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE), page = 0;
    size_t going = 0, kept_count = 0, pages = 0;

    *pages_out = 0;
    for (size_t i = 0; i < BENCH_COLD_SLOTS; i++) {
        int first = (uintptr_t)slots[i] / page_bytes != page;

        if (first) {
            page = (uintptr_t)slots[i] / page_bytes;
            pages++;
        }
        if (first && pages % PAGES_PER_KEPT == 0) {
            kept[kept_count++] = slots[i];
        } else {
            slots[going++] = slots[i];
        }
    }
    *pages_out = pages - kept_count;
    memcpy(slots + going, kept, kept_count * sizeof(void *));
    return going;
}

/* How much of the wholly free pages a trim gives back, while slots are live
 * here and there. */
static void trim_among_live(const struct bench_driver *driver, void **slots,
                            void **scratch, unsigned n)
{
    size_t pages, going;
    double freed, start;
    struct bench_resident before;

    bench_check_slots(slots, BENCH_COLD_SLOTS);
    going = choose_kept(slots, scratch, &pages);
    before = bench_resident();
    driver->give(slots, going, n);
    start = bench_now_ns();
    driver->trim();
    print_time("trim", start);
    freed = (double)before.bytes - (double)bench_resident().bytes;
    printf("trim_share %.4f\n",
           freed / ((double)pages * (double)sysconf(_SC_PAGESIZE)));
    driver->give(slots + going, BENCH_COLD_SLOTS - going, n);
}

void bench_cold(const struct bench_driver *driver, unsigned n, int check)
{
    void **slots = bench_map(BENCH_COLD_SLOTS * sizeof(void *));
    void **scratch = bench_map(BENCH_COLD_SLOTS * sizeof(void *));
    struct bench_resident before = bench_resident(), now;
    double start;

    create_and_touch(driver, slots, n);
    now = print_resident("live", before);
    printf("huge_bytes %.2f\n",
           (double)now.huge_bytes / (double)BENCH_COLD_SLOTS);
    if (check) {
        memcpy(scratch, slots, BENCH_COLD_SLOTS * sizeof(void *));
        bench_check_slots(scratch, BENCH_COLD_SLOTS);
    }
    start = bench_now_ns();
    driver->give(slots, BENCH_COLD_SLOTS, n);
    print_time("put", start);
    print_resident("free", before);
    start = bench_now_ns();
    driver->take(slots, BENCH_COLD_SLOTS, n);
    print_time("get_again", start);
    start = bench_now_ns();
    fill_all(slots);
    print_time("touch_again", start);
    if (driver->trim != NULL) {
        trim_among_live(driver, slots, scratch, n);
        driver->trim();
        print_resident("trimmed", before);
    }
}
